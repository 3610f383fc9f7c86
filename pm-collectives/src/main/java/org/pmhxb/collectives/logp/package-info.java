/**
 * What barriers take by LogP (Culler et al. 1993; Iwasaki et al., section 5.1), extended to rails,
 * relays and nodes that share a thread, and the choice of an algorithm by it. See
 * docs/COLLECTIVES.md.
 */
package org.pmhxb.collectives.logp;
