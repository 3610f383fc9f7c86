/**
 * Collective operations over a {@link org.pmhxb.pm.PmEndpoint}: broadcast, reduction, gathering,
 * scattering and all-to-all among the nodes of a group (docs/COLLECTIVES.md). State machines that
 * their endpoint's thread polls: they block nobody and read no clock, so that the simulator runs
 * them too.
 */
package org.pmhxb.collectives;
