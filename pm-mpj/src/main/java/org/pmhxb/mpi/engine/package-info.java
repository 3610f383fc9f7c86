/**
 * Two-sided messages over a {@link org.pmhxb.pm.PmEndpoint}: matching, eager and rendezvous
 * transfer (docs/MPI.md). Knows neither MPJ nor coordinates: bytes, ranks, tags and contexts only,
 * so that it serves any MPI above and is tested without one.
 *
 * <p>Everything but {@link org.pmhxb.mpi.engine.Operation} belongs to the node's poll thread. A
 * program's thread makes an operation, posts it, and waits for it.
 */
package org.pmhxb.mpi.engine;
