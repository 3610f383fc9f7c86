/*
 * Times of MPI_Barrier, for "hxb bench barrier".
 *
 *   mpi_barrier WARM_UP_SECONDS SECONDS
 *
 * Rank 0 prints one JSON object: its times from entering to leaving, one barrier after the other.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

/* Barriers between two looks at rank 0's clock. */
enum { RUN = 64 };

static double *times_us;
static long count, room;

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void barrier(void) {
  double began = MPI_Wtime();
  MPI_Barrier(MPI_COMM_WORLD);
  times_us[count++] = (MPI_Wtime() - began) * 1e6;
}

/* Runs of barriers until rank 0 says that the time is over. */
static void repeat(double seconds, int rank) {
  double began = MPI_Wtime();
  int more = 1;
  for (count = 0; more;) {
    if (room < count + RUN) {
      room = 2 * room + RUN;
      times_us = realloc(times_us, room * sizeof *times_us);
      if (!times_us) MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Barrier(MPI_COMM_WORLD); /* everyone is back from the broadcast */
    for (int i = 0; i < RUN; i++) barrier();
    more = rank == 0 && MPI_Wtime() - began < seconds;
    MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
}

int main(int argc, char **argv) {
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  double warm_up = argc == 3 ? atof(argv[1]) : -1, seconds = argc == 3 ? atof(argv[2]) : 0;
  if (warm_up < 0 || seconds <= 0) {
    fprintf(stderr, "usage: mpi_barrier WARM_UP_SECONDS SECONDS\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  repeat(warm_up, rank);
  repeat(seconds, rank);
  if (rank == 0) {
    qsort(times_us, count, sizeof *times_us, by_value);
    printf("{\"ranks\":%d,\"barriers\":%ld,\"minUs\":%.3f,\"p50Us\":%.3f,\"p99Us\":%.3f,\"maxUs\":%.3f}\n", ranks, count,
           times_us[0], times_us[count / 2], times_us[(long)(count * 0.99)], times_us[count - 1]);
    fflush(stdout);
  }
  free(times_us);
  MPI_Finalize();
  return 0;
}
