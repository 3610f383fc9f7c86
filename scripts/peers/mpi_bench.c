/*
 * Streams and ping-pongs between two MPI ranks, for "hxb bench peers".
 *
 *   mpi_bench stream SIZE WINDOW BOTH WARM_UP_S SECONDS
 *   mpi_bench ping   SIZE 1      0    WARM_UP_S SECONDS
 *
 * Rank 0 prints one JSON object. A stream keeps WINDOW non-blocking messages under way; what a receiver got within
 * SECONDS after the warm-up counts. Where those are few, so that one more or less would show, the rate is the slope of
 * the straight line through their times: long messages complete several at once, which it does not mind. Processor time
 * is that of both ranks within SECONDS (getrusage).
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { DATA = 1, END = 2, WINDOW_MAX = 1024, SAMPLES_MAX = 1 << 20, FEW = 1000 };

static int rank, other, size, window, both;
static double warm_up, seconds;

static double cpu_seconds(void) {
  struct rusage u;
  getrusage(RUSAGE_SELF, &u);
  return u.ru_utime.tv_sec + u.ru_stime.tv_sec + 1e-6 * (u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

static MPI_Request sends[WINDOW_MAX], receives[WINDOW_MAX], end_request = MPI_REQUEST_NULL;
static int done[WINDOW_MAX];
static MPI_Status states[WINDOW_MAX];
static char *out, *in;

/* Sends again what has left; returns 1 when nothing is under way any more. */
static int send_on(int more) {
  int count;
  MPI_Testsome(window, sends, &count, done, states);
  if (count == MPI_UNDEFINED && !more) return 1;
  for (int i = 0; more && i < count; i++)
    MPI_Isend(out + (size_t)done[i] * size, size, MPI_BYTE, other, DATA, MPI_COMM_WORLD, &sends[done[i]]);
  return 0;
}

/* Times at which messages came, and their numbers: sums for the line through them. */
static struct {
  double count, times, numbers, times_squared, products;
} line;

static void note(double time, int messages) {
  for (int i = 0; i < messages; i++) {
    line.count++;
    line.times += time;
    line.numbers += line.count;
    line.times_squared += time * time;
    line.products += time * line.count;
  }
}

static double slope(void) {
  return (line.count * line.products - line.times * line.numbers) /
         (line.count * line.times_squared - line.times * line.times);
}

/* Returns how many messages came; sets *ended when the last one did. */
static int receive_on(int *ended) {
  int count, messages = 0;
  MPI_Testsome(window, receives, &count, done, states);
  for (int i = 0; count != MPI_UNDEFINED && i < count; i++) {
    if (states[i].MPI_TAG == END) {
      *ended = 1;
    } else {
      messages++;
      MPI_Irecv(in + (size_t)done[i] * size, size, MPI_BYTE, other, MPI_ANY_TAG, MPI_COMM_WORLD, &receives[done[i]]);
    }
  }
  return messages;
}

static void stream(void) {
  int sending = rank == 0 || both, receiving = rank == 1 || both;
  int ended = !receiving, sent = !sending, ending = 0;
  double cpu = -1, used = 0, first = 0, last = 0, sums[2];
  out = calloc(window, size);
  in = calloc(window, size);
  for (int i = 0; i < window; i++) {
    sends[i] = receives[i] = MPI_REQUEST_NULL;
    if (receiving)
      MPI_Irecv(in + (size_t)i * size, size, MPI_BYTE, other, MPI_ANY_TAG, MPI_COMM_WORLD, &receives[i]);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  double from = MPI_Wtime() + warm_up, to = from + seconds;
  if (sending)
    for (int i = 0; i < window; i++)
      MPI_Isend(out + (size_t)i * size, size, MPI_BYTE, other, DATA, MPI_COMM_WORLD, &sends[i]);
  while (!ended || !sent || cpu >= 0) {
    double now = MPI_Wtime();
    if (cpu < 0 && used == 0 && now >= from) cpu = cpu_seconds();
    if (cpu >= 0 && now >= to) {
      used = cpu_seconds() - cpu;
      cpu = -1;
    }
    if (!sent && !ending && send_on(now < to)) {
      MPI_Isend(out, 0, MPI_BYTE, other, END, MPI_COMM_WORLD, &end_request);
      ending = 1;
    }
    if (ending && !sent) MPI_Test(&end_request, &sent, MPI_STATUS_IGNORE);
    if (!ended) {
      int came = receive_on(&ended);
      if (came > 0 && now >= from && now < to) {
        if (first == 0) first = now;
        last = now;
        note(now - from, came);
      }
    }
  }
  for (int i = 0; i < window; i++) {
    if (receives[i] != MPI_REQUEST_NULL) {
      MPI_Cancel(&receives[i]);
      MPI_Wait(&receives[i], MPI_STATUS_IGNORE);
    }
  }
  /* Messages that came in a burst, with nothing before or after, are no reason to take the burst's rate. */
  int steady = line.count < FEW && last - first > seconds / 2;
  double rate = steady ? slope() : line.count / seconds;
  double own[2] = {rate, used};
  MPI_Reduce(own, sums, 2, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0)
    printf("{\"messagesPerSecond\":%.3f,\"cpuSeconds\":%.6f,\"seconds\":%.6f}\n", sums[0], sums[1], seconds);
  fflush(stdout);
}

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void ping(void) {
  static double half_us[SAMPLES_MAX];
  int count = 0, go = 1;
  char *message = calloc(1, size);
  double cpu = -1, used = 0, cpu_all;
  MPI_Barrier(MPI_COMM_WORLD);
  double from = MPI_Wtime() + warm_up, to = from + seconds;
  while (go) {
    double began = MPI_Wtime();
    if (cpu < 0 && began >= from) cpu = cpu_seconds();
    if (rank == 0) {
      go = began < to;
      message[0] = (char)go;
      MPI_Send(message, size, MPI_BYTE, 1, DATA, MPI_COMM_WORLD);
      MPI_Recv(message, size, MPI_BYTE, 1, DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      if (began >= from && count < SAMPLES_MAX) half_us[count++] = (MPI_Wtime() - began) * 0.5e6;
    } else {
      MPI_Recv(message, size, MPI_BYTE, 0, DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      go = message[0];
      MPI_Send(message, size, MPI_BYTE, 0, DATA, MPI_COMM_WORLD);
    }
  }
  used = cpu_seconds() - cpu;
  MPI_Reduce(&used, &cpu_all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    qsort(half_us, count, sizeof *half_us, by_value);
    printf("{\"messagesPerSecond\":%.3f,\"cpuSeconds\":%.6f,\"seconds\":%.6f,\"minUs\":%.3f,\"p50Us\":%.3f,\"p99Us\":%.3f}\n",
           count / seconds, cpu_all, seconds, half_us[0], half_us[count / 2], half_us[(int)(count * 0.99)]);
    fflush(stdout);
  }
}

int main(int argc, char **argv) {
  int ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  other = 1 - rank;
  size = argc == 7 ? atoi(argv[2]) : 0;
  window = argc == 7 ? atoi(argv[3]) : 0;
  if (ranks != 2 || size < 1 || window < 1 || window > WINDOW_MAX) {
    fprintf(stderr, "usage: mpi_bench stream|ping SIZE WINDOW BOTH WARM_UP_S SECONDS, on 2 ranks\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  both = atoi(argv[4]);
  warm_up = atof(argv[5]);
  seconds = atof(argv[6]);
  if (strcmp(argv[1], "stream") == 0)
    stream();
  else
    ping();
  MPI_Finalize();
  return 0;
}
