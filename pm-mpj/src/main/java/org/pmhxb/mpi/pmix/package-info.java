/**
 * A client of PMIx, the interface by which a launcher (Open MPI's mpirun, PRRTE, Slurm) tells its
 * processes who they are and lets them exchange data: the few calls of {@code libpmix} that ranks
 * need to find each other.
 */
package org.pmhxb.mpi.pmix;
