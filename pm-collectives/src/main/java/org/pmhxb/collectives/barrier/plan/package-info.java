/**
 * What each node does in a barrier, before any frame is sent: who takes part ({@link
 * org.pmhxb.collectives.barrier.plan.Participants}), which algorithm ({@link
 * org.pmhxb.collectives.barrier.plan.BarrierSpec}), and the steps that follow for each node ({@link
 * org.pmhxb.collectives.barrier.plan.Planner}). Pure: no node, no time.
 */
package org.pmhxb.collectives.barrier.plan;
