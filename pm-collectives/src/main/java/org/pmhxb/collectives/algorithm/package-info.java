/**
 * The standard algorithms: patterns of messages among some ranks (trees, chains, rings, exchanges),
 * and what is put together from them for flat networks, for the lines of the crossbar and for
 * clusters joined by slow links (docs/COLLECTIVES.md). They know nothing of frames, credit or time.
 */
package org.pmhxb.collectives.algorithm;
