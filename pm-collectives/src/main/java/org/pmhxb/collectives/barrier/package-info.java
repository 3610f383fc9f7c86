/**
 * Barriers over COLLECTIVE frames (PROTOCOL.md section 13): {@link
 * org.pmhxb.collectives.barrier.Barriers} opens them on a node, an algorithm's {@link
 * org.pmhxb.collectives.barrier.plan.BarrierPlan} says who awaits whom, {@code Machine} runs one
 * plan on the poll thread, {@link org.pmhxb.collectives.barrier.Barrier} is what a program holds.
 * See docs/COLLECTIVES.md.
 */
package org.pmhxb.collectives.barrier;
