/**
 * Starts the ranks of a job: which rank is at which node, a program's main class beside the device,
 * output labelled by rank.
 */
package org.pmhxb.mpi.launch;
