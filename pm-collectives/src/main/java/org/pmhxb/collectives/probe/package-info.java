/**
 * Measures what a running fabric costs by LogP, with frames that belong to no barrier ({@link
 * org.pmhxb.collectives.probe.FabricProbe}). See docs/COLLECTIVES.md.
 */
package org.pmhxb.collectives.probe;
