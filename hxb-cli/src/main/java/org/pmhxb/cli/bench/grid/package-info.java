/**
 * The bottleneck experiment of the GridMPI paper in the simulator: two clusters of eight nodes,
 * joined by four links, by one, and by one with a millisecond each way.
 */
package org.pmhxb.cli.bench.grid;
