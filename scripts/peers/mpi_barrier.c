/*
 * Times of MPI_Barrier, for "hxb bench barrier".
 *
 *   mpi_barrier WARM_UP COUNT
 *
 * Rank 0 prints one JSON object: its times from entering to leaving, one barrier after the other.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

int main(int argc, char **argv) {
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int warm_up = argc == 3 ? atoi(argv[1]) : -1, count = argc == 3 ? atoi(argv[2]) : 0;
  if (warm_up < 0 || count < 1) {
    fprintf(stderr, "usage: mpi_barrier WARM_UP COUNT\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  double *us = calloc(count, sizeof *us);
  if (!us) MPI_Abort(MPI_COMM_WORLD, 1);
  for (int i = 0; i < warm_up; i++) MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < count; i++) {
    double began = MPI_Wtime();
    MPI_Barrier(MPI_COMM_WORLD);
    us[i] = (MPI_Wtime() - began) * 1e6;
  }
  if (rank == 0) {
    qsort(us, count, sizeof *us, by_value);
    printf("{\"ranks\":%d,\"minUs\":%.3f,\"p50Us\":%.3f,\"p99Us\":%.3f,\"maxUs\":%.3f}\n", ranks, us[0], us[count / 2],
           us[(int)(count * 0.99)], us[count - 1]);
    fflush(stdout);
  }
  free(us);
  MPI_Finalize();
  return 0;
}
