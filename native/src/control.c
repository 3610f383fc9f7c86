/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All that changes a shared-memory line runs on EAL's interrupt thread, so it needs no lock; and never
 * beside a burst on one: around it stands a gate, which that thread closes and then waits until no burst
 * is inside. A burst that finds it closed moves no frame; it never waits.
 */
#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <rte_alarm.h>

#include "internal.h"

#define CALL_TIMEOUT_S 5
#define VISIT_TIMEOUT_NS INT64_C(2000000000)

/* ---- The gate ---------------------------------------------------------------------------------- */

struct hxb_gate hxb_gate = {.fences = true, .unheard = true};

static long membarrier(int command)
{
    return syscall(SYS_membarrier, command, 0, 0);
}

/* A copy of this process that runs on each processor for a moment; in it nothing but system calls. */
static void visit_processors(void)
{
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        /* One that is not there, or not ours, is refused. */
        syscall(SYS_sched_setaffinity, 0, sizeof(one), &one);
    }
    syscall(SYS_exit_group, 0);
}

/* Registering tells the processors that run this process, not those that have nothing to do since they did: these keep
 * its address space at hand, and find it unchanged when they run it again (Linux's membarrier_switch_mm). Where another
 * one was in between they look. Without that hxb_barrier left out whoever next ran there, and frames came unheard. */
static bool have_all_processors_look(void)
{
    int status;
    pid_t ended = 0, copy = (pid_t)syscall(SYS_clone, 0, NULL, NULL, NULL, NULL);

    if (copy == 0) {
        visit_processors();
    }
    int64_t until = hxb_now_ns() + VISIT_TIMEOUT_NS;
    /* It sends no signal when it ends, and nobody else waits for it. */
    while (copy > 0 && (ended = waitpid(copy, &status, __WALL | WNOHANG)) == 0) {
        if (hxb_now_ns() > until) {
            /* It ends when that processor has time for it, and is this process's to forget when both end. */
            kill(copy, SIGKILL);
            break;
        }
        usleep(100);
    }
    return ended > 0 && WIFEXITED(status);
}

static void find_barrier(void)
{
    atomic_store(&hxb_gate.fences, membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) < 0);
    atomic_store(&hxb_gate.unheard,
                 membarrier(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED) < 0 || !have_all_processors_look());
}

HXB_API int hxb_barrier(void)
{
    return membarrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED) < 0 ? -errno : 0;
}

/* A full barrier on every thread that runs, so that each has its seat written or sees the gate. */
static void barrier_on_all_threads(void)
{
    const struct timespec drained = {.tv_nsec = 10 * 1000 * 1000};

    while (!atomic_load(&hxb_gate.fences) && membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) < 0) {
        if (errno == ENOMEM) {
            sched_yield();
            continue;
        }
        /* Forbidden since it was registered. From now on bursts fence themselves; one that began
         * without a fence has its seat out of the store buffer long before this has slept. */
        atomic_store(&hxb_gate.fences, true);
        nanosleep(&drained, NULL);
    }
}

void hxb_gate_await(atomic_int *seat)
{
    while (!hxb_gate_enter(seat)) {
        sched_yield();
    }
}

void hxb_close_gate(void)
{
    /* G2: before the seats are read; pairs with G1 in hxb_gate_enter: one of both sees the other. */
    atomic_store(&hxb_gate.closed, 1);
    barrier_on_all_threads();
    hxb_await_bursts();
}

void hxb_open_gate(void)
{
    /* G3: publishes what was changed; pairs with the load in hxb_gate_enter. */
    atomic_store(&hxb_gate.closed, 0);
}

/* ---- Calls on the interrupt thread -------------------------------------------------------------- */

struct call {
    int (*run)(void *arg);
    void *arg;
    int rc;
    sem_t done;
};

static void run_call(void *arg)
{
    struct call *call = arg;

    call->rc = call->run(call->arg);
    sem_post(&call->done);
}

int hxb_on_interrupt_thread(int (*run)(void *arg), void *arg)
{
    static pthread_once_t barrier_once = PTHREAD_ONCE_INIT;
    struct call call = {.run = run, .arg = arg, .rc = -ETIMEDOUT};
    struct timespec until;

    /* Every port that passes the gate is made by such a call. */
    pthread_once(&barrier_once, find_barrier);
    sem_init(&call.done, 0, 0);
    int rc = rte_eal_alarm_set(1, run_call, &call);
    if (rc < 0) {
        /* EAL may have kept it all the same. */
        rte_eal_alarm_cancel(run_call, &call);
        sem_destroy(&call.done);
        return rc;
    }
    /* A second at a time: a process that was frozen comes back to one that is over, not to all of them. */
    rc = -1;
    for (int second = 0; second < CALL_TIMEOUT_S && rc != 0; second++) {
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_sec++;
        do {
            rc = sem_clockwait(&call.done, CLOCK_MONOTONIC, &until);
        } while (rc != 0 && errno == EINTR);
    }
    if (rc != 0 && rte_eal_alarm_cancel(run_call, &call) <= 0) {
        /* Not taken back, so it has begun; cancelling has waited for its end. */
        sem_wait(&call.done);
    }
    sem_destroy(&call.done);
    return call.rc;
}

int64_t hxb_now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

void hxb_argument(const char *args, const char *key, const char *fallback, char *out, size_t n)
{
    const char *at = strstr(args, key);

    /* Not within another's key or value: a socket may be named "grid=1". */
    while (at != NULL && at != args && at[-1] != ',') {
        at = strstr(at + 1, key);
    }
    const char *value = at != NULL ? at + strlen(key) : fallback;

    snprintf(out, n, "%.*s", (int)strcspn(value, ","), value);
}
