/* SPDX-License-Identifier: Apache-2.0
 *
 * What Measure.java measures, for a C MPI: one-way and both-ways bandwidth and half round trips between two ranks.
 * hxb bench mpi compiles it with mpicc and runs it over Open MPI's TCP on the same links.
 *
 *   measure { unexpected COUNT ROUNDS | latency SIZE ROUNDS | oneway SIZE WARMUP COUNT | both SIZE WARMUP COUNT } ...
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WINDOW = 16 };

static int rank, other;

struct ticks {
    double busy, all;
};

/* The machine's processor time up to now. */
static struct ticks processors(void)
{
    struct ticks t = {0, 0};
    FILE *f = fopen("/proc/stat", "r");
    if (f == NULL || fscanf(f, "cpu") != 0)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 1; i < 9; i++) {
        double v = 0;
        if (fscanf(f, "%lf", &v) != 1)
            break;
        t.all += v;
        t.busy += i == 4 || i == 5 ? 0 : v;
    }
    fclose(f);
    return t;
}

static void result(const char *kind, int size, double value, struct ticks before)
{
    struct ticks now = processors();
    double all = now.all - before.all;
    if (rank == 0)
        printf("RESULT %s %d %.3f %.3f\n", kind, size, value, (now.busy - before.busy) / (all < 1 ? 1 : all));
    fflush(stdout);
}

static void latency(int size, int rounds)
{
    char *data = calloc(1, size + 1);
    double start = 0;
    struct ticks before = {0, 0};
    for (int i = -rounds / 2; i < rounds; i++) {
        if (i == 0) {
            start = MPI_Wtime();
            before = processors();
        }
        if (rank == 0) {
            MPI_Send(data, size, MPI_BYTE, other, 1, MPI_COMM_WORLD);
            MPI_Recv(data, size, MPI_BYTE, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(data, size, MPI_BYTE, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(data, size, MPI_BYTE, other, 1, MPI_COMM_WORLD);
        }
    }
    result("latency", size, (MPI_Wtime() - start) * 1e6 / 2 / rounds, before);
    free(data);
}

/* Messages of 8 bytes that wait, with different tags, received in the reverse order: us per receive. */
static void unexpected(int count, int rounds)
{
    double best = 1e9, theirs = 0;
    struct ticks before = processors();
    for (int round = 0; round < rounds; round++) {
        long data = 0;
        for (int tag = 10; rank == 0 && tag < 10 + count; tag++) {
            data = tag;
            MPI_Send(&data, 1, MPI_LONG, other, tag, MPI_COMM_WORLD);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        double start = MPI_Wtime();
        for (int tag = 9 + count; rank == 1 && tag >= 10; tag--) {
            MPI_Recv(&data, 1, MPI_LONG, other, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            if (data != tag)
                MPI_Abort(MPI_COMM_WORLD, 3);
        }
        double us = (MPI_Wtime() - start) * 1e6 / count;
        best = us < best ? us : best;
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Sendrecv(&best, 1, MPI_DOUBLE, other, 3, &theirs, 1, MPI_DOUBLE, other, 3, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    result("unexpected", count, theirs, before);
}

/* Sends or receives so many messages, or both; seconds until the last was complete here. */
static double transfer(int both, int size, int count)
{
    int sends = both || rank == 0, receives = both || rank == 1, longs = size / 8;
    long *out[WINDOW], *in[WINDOW];
    MPI_Request sent[WINDOW], received[WINDOW];
    for (int i = 0; i < WINDOW; i++) {
        out[i] = calloc(longs, 8);
        in[i] = calloc(longs, 8);
        sent[i] = received[i] = MPI_REQUEST_NULL;
        if (receives)
            MPI_Irecv(in[i], longs, MPI_LONG, other, 2, MPI_COMM_WORLD, &received[i]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    /* What is received lags behind what is sent by a window: both ways have as much under way as one. */
    int lag = both ? WINDOW - 1 : 0;
    for (int i = 0; i < count + lag; i++) {
        int slot = i % WINDOW, next = i - lag, at = next % WINDOW;
        if (sends && i < count) {
            MPI_Wait(&sent[slot], MPI_STATUS_IGNORE);
            out[slot][0] = i;
            out[slot][longs - 1] = ~(long)i;
            MPI_Isend(out[slot], longs, MPI_LONG, other, 2, MPI_COMM_WORLD, &sent[slot]);
        }
        if (receives && next >= 0) {
            MPI_Wait(&received[at], MPI_STATUS_IGNORE);
            if (in[at][0] != next || in[at][longs - 1] != ~(long)next)
                MPI_Abort(MPI_COMM_WORLD, 2);
            if (next + WINDOW < count)
                MPI_Irecv(in[at], longs, MPI_LONG, other, 2, MPI_COMM_WORLD, &received[at]);
        }
    }
    MPI_Waitall(WINDOW, sent, MPI_STATUSES_IGNORE);
    double seconds = MPI_Wtime() - start;
    for (int i = 0; i < WINDOW; i++) {
        free(out[i]);
        free(in[i]);
    }
    return seconds;
}

static void stream(int both, int size, int warm_up, int count)
{
    transfer(both, size, warm_up);
    /* Nothing is under way when the clock starts: a backlog of the warm-up would count as speed. */
    MPI_Barrier(MPI_COMM_WORLD);
    struct ticks before = processors();
    double mine = transfer(both, size, count), theirs = 0;
    MPI_Sendrecv(&mine, 1, MPI_DOUBLE, other, 3, &theirs, 1, MPI_DOUBLE, other, 3, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    double longest = mine > theirs ? mine : theirs;
    result(both ? "both" : "oneway", size, (double)size * count * (both ? 2 : 1) / longest, before);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    other = 1 - rank;
    for (int i = 1; i < argc;) {
        if (strcmp(argv[i], "unexpected") == 0 && i + 2 < argc) {
            unexpected(atoi(argv[i + 1]), atoi(argv[i + 2]));
            i += 3;
        } else if (strcmp(argv[i], "latency") == 0 && i + 2 < argc) {
            latency(atoi(argv[i + 1]), atoi(argv[i + 2]));
            i += 3;
        } else if (i + 3 < argc) {
            stream(strcmp(argv[i], "both") == 0, atoi(argv[i + 1]), atoi(argv[i + 2]), atoi(argv[i + 3]));
            i += 4;
        } else {
            break;
        }
    }
    MPI_Finalize();
    return 0;
}
