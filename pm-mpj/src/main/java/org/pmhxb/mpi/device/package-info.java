/**
 * MPJ Express's {@code xdev.Device} over {@link org.pmhxb.mpi.engine.Engine}. The only package that
 * knows MPJ's classes; each rank of a JVM loads it anew, beside its own MPJ (docs/MPI.md).
 */
package org.pmhxb.mpi.device;
