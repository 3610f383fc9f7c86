/* SPDX-License-Identifier: Apache-2.0 */
/* net_memif: between two processes, each with a pool of its own; and ends that close or die. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

#define FRAMES 200
#define LENGTH 9014

static int attach_port(struct test_pool *p, const char *name, const char *role, const char *socket)
{
    struct hxb_port_config config = {.queues = 1};
    char args[256];

    /* An abstract socket: nothing of it is left after a kill, so no later client can wait for a
     * dead server's. bsize: one frame, one memif buffer. zero-copy would move data out of the
     * pool's strides. */
    snprintf(args, sizeof(args), "role=%s,id=0,socket=%s,socket-abstract=yes,bsize=9216,rsize=8,"
             "zero-copy=no", role, socket);
    int port = hxb_port_attach(name, args);
    CHECK(port >= 0);
    CHECK_EQ(hxb_port_configure(port, &config, &p->pool), 0);
    CHECK_EQ(hxb_port_start(port), 0);
    return port;
}

/* Of a link to a process of ours (peer > 0): one that is dead is told by its status, not by the wait. */
static void await_link_to(pid_t peer, int port, bool up)
{
    for (int i = 0; (hxb_port_link(port) != 0) != up; i++) {
        int status = 0;
        CHECK(peer <= 0 || waitpid(peer, &status, WNOHANG) >= 0);
        CHECK_EQ(status, 0);
        CHECK(i < 10000);
        usleep(1000);
    }
}

static void await_link(int port, bool up)
{
    await_link_to(0, port, up);
}

static int open_port(struct test_pool *p, const char *role, const char *socket)
{
    test_start_eal();
    test_make_pool(p, "p", STRIDE_JUMBO, 511, 0);
    int port = attach_port(p, "net_memif0", role, socket);
    await_link(port, true);
    return port;
}

/* Whether any process has an abstract socket of this name. */
static bool socket_exists(const char *name)
{
    char line[512], wanted[80];
    bool found = false;
    FILE *f = fopen("/proc/net/unix", "r");

    CHECK(f != NULL);
    snprintf(wanted, sizeof(wanted), "@%s\n", name);
    while (!found && fgets(line, sizeof(line), f) != NULL) {
        found = strstr(line, wanted) != NULL;
    }
    fclose(f);
    return found;
}

static void send_all(int port, struct test_pool *p)
{
    uint64_t descs[20];

    for (int sent = 0; sent < FRAMES; sent += 20) {
        test_fill(p, descs, 20, LENGTH);
        for (int done = 0, tries = 0; done < 20; tries++) {
            int n = hxb_tx_burst(port, 0, p->pool, descs + done, 20 - done);
            CHECK(n >= 0);
            done += n;
            if (n == 0) {
                CHECK(tries < 10000);
                usleep(1000);
            }
        }
    }
}

static void receive_all(int port, struct test_pool *p)
{
    uint64_t descs[32];
    int got = 0;

    for (int tries = 0; got < FRAMES; tries++) {
        int n = hxb_rx_burst(port, 0, p->pool, descs, 32);
        CHECK(n >= 0);
        for (int i = 0; i < n; i++) {
            uint8_t *frame = test_frame(p, descs[i]);
            CHECK_EQ(descs[i] >> HXB_DESC_LENGTH_SHIFT, LENGTH);
            CHECK_EQ(frame[12] << 8 | frame[13], 0x88b5);
            CHECK_EQ(frame[LENGTH - 1], frame[14]);
        }
        test_release(p, descs, n);
        got += n;
        if (n == 0) {
            CHECK(tries < 10000);
            usleep(1000);
        }
    }
}

void test_memif(void)
{
    char socket[64];
    struct test_pool p;
    int status;

    snprintf(socket, sizeof(socket), "pmhxb-test-%d", getpid());
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        int port = open_port(&p, "client", socket);
        send_all(port, &p);
        receive_all(port, &p);
        CHECK_EQ(hxb_port_close(port), 0);
        test_free_pool(&p);
        _exit(0);
    }
    int port = open_port(&p, "server", socket);
    receive_all(port, &p);
    send_all(port, &p);
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK_EQ(hxb_port_close(port), 0);
    test_free_pool(&p);
}

/* Sends and receives on some ports without pause, as a node's poll thread does. */
struct flood {
    struct test_pool *pools;
    const int *ports;
    int count;
    atomic_bool stop;
    atomic_long received;
    atomic_long wrong;
    pthread_t thread;
};

static bool flood_once(struct flood *f, int port, struct test_pool *p)
{
    uint64_t descs[32];
    uint32_t ids[32];

    int n = hxb_rx_burst(port, 0, p->pool, descs, 32);
    for (int i = 0; i < n; i++) {
        const uint8_t *frame = test_frame(p, descs[i]);
        if (descs[i] >> HXB_DESC_LENGTH_SHIFT != LENGTH || frame[LENGTH - 1] != frame[14]) {
            atomic_fetch_add(&f->wrong, 1);
        }
    }
    if (n > 0) {
        test_release(p, descs, n);
        atomic_fetch_add(&f->received, n);
    }
    int filled = hxb_pool_alloc_bulk(p->pool, ids, 32);
    for (int i = 0; i < filled; i++) {
        descs[i] = test_desc(ids[i], LENGTH);
        memset(test_frame(p, descs[i]) + 14, (int)(ids[i] & 0xff), LENGTH - 14);
    }
    int sent = hxb_tx_burst(port, 0, p->pool, descs, filled);
    if (sent < 0) {
        sent = 0; /* -ENETDOWN: no connection */
    }
    test_release(p, descs + sent, filled - sent);
    return n > 0 || sent > 0;
}

static void *flood_run(void *arg)
{
    struct flood *f = arg;
    int idle = 0;

    while (!atomic_load(&f->stop)) {
        for (int i = 0; i < f->count; i++) {
            idle = flood_once(f, f->ports[i], &f->pools[i]) ? 0 : idle + 1;
        }
        /* Seldom: the more often a burst is under way when the peer dies, the better. */
        if (idle >= 1000) {
            sched_yield();
            idle = 0;
        }
    }
    return NULL;
}

static void flood_start(struct flood *f)
{
    atomic_store(&f->stop, false);
    CHECK_EQ(pthread_create(&f->thread, NULL, flood_run, f), 0);
}

static void flood_stop(struct flood *f)
{
    atomic_store(&f->stop, true);
    CHECK_EQ(pthread_join(f->thread, NULL), 0);
    CHECK_EQ(atomic_load(&f->wrong), 0);
}

static void await_frames(struct flood *f, long frames)
{
    long until = atomic_load(&f->received) + frames;

    for (int i = 0; atomic_load(&f->received) < until; i++) {
        CHECK(i < 10000);
        usleep(1000);
    }
}

/* Both ends in one process, closed one upon the other, in either order, in mid-traffic. */
void test_memif_close(void)
{
    struct test_pool pools[2];
    int ports[2];
    struct flood f = {.pools = pools, .ports = ports, .count = 2};
    char socket[64];

    snprintf(socket, sizeof(socket), "pmhxb-close-%d", getpid());
    test_start_eal();
    test_make_pool(&pools[0], "a", STRIDE_JUMBO, 127, 0);
    test_make_pool(&pools[1], "b", STRIDE_JUMBO, 127, 0);
    for (int round = 0; round < 50; round++) {
        ports[0] = attach_port(&pools[0], "net_memif_a", "server", socket);
        ports[1] = attach_port(&pools[1], "net_memif_b", "client", socket);
        await_link(ports[0], true);
        await_link(ports[1], true);
        flood_start(&f);
        await_frames(&f, 100);
        if (round % 4 < 2) {
            flood_stop(&f);
        }
        CHECK_EQ(hxb_port_close(ports[round % 2]), 0);
        CHECK_EQ(hxb_port_close(ports[1 - round % 2]), 0);
        if (round % 4 >= 2) {
            flood_stop(&f);
        }
        CHECK(!socket_exists(socket));
    }
    test_free_pool(&pools[0]);
    test_free_pool(&pools[1]);
}

/* A client that starts before its server finds it; one that is stopped leaves it alone. */
void test_memif_order(void)
{
    struct test_pool p;
    int status, go[2];
    char socket[64], byte;

    snprintf(socket, sizeof(socket), "pmhxb-order-%d", getpid());
    CHECK_EQ(pipe(go), 0);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        CHECK_EQ(read(go[0], &byte, 1), 1);
        int port = open_port(&p, "server", socket);
        receive_all(port, &p);
        await_link(port, false);
        usleep(200000);
        CHECK_EQ(hxb_port_link(port), 0);
        CHECK_EQ(hxb_port_close(port), 0);
        test_free_pool(&p);
        _exit(0);
    }
    test_start_eal();
    test_make_pool(&p, "p", STRIDE_JUMBO, 511, 0);
    int port = attach_port(&p, "net_memif0", "client", socket);
    usleep(120000);
    CHECK_EQ(hxb_port_link(port), 0);
    CHECK_EQ(write(go[1], "g", 1), 1);
    await_link(port, true);
    send_all(port, &p);
    usleep(200000);
    CHECK_EQ(hxb_port_stop(port), 0);
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK_EQ(hxb_port_close(port), 0);
    test_free_pool(&p);
}

/* A process that floods until it is killed; it starts when a byte comes down the pipe. */
static pid_t spawn_victim(const char *role, const char *socket, int go)
{
    struct test_pool p;
    char byte;
    pid_t parent = getpid();
    pid_t child = fork();

    CHECK(child >= 0);
    if (child != 0) {
        return child;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) {
        _exit(1);
    }
    CHECK_EQ(read(go, &byte, 1), 1);
    int port = open_port(&p, role, socket);
    struct flood f = {.pools = &p, .ports = &port, .count = 1};
    flood_run(&f);
    _exit(1);
}

#define VICTIMS 10

/* The peer is killed in mid-traffic again and again; this end lives and talks to the next one. */
static void survive(const char *role, const char *victim_role)
{
    struct test_pool p;
    pid_t victims[VICTIMS];
    int go[VICTIMS][2], port;
    char socket[64];

    snprintf(socket, sizeof(socket), "pmhxb-kill-%d", getpid());
    /* EAL starts once per process and does not outlive a fork: all forks come first. */
    for (int i = 0; i < VICTIMS; i++) {
        CHECK_EQ(pipe(go[i]), 0);
        victims[i] = spawn_victim(victim_role, socket, go[i][0]);
    }
    test_start_eal();
    test_make_pool(&p, "p", STRIDE_JUMBO, 511, 0);
    port = attach_port(&p, "net_memif0", role, socket);
    struct flood f = {.pools = &p, .ports = &port, .count = 1};
    flood_start(&f);
    for (int i = 0; i < VICTIMS; i++) {
        CHECK_EQ(write(go[i][1], "g", 1), 1);
        await_link_to(victims[i], port, true);
        await_frames(&f, 1000);
        CHECK_EQ(kill(victims[i], SIGKILL), 0);
        await_link(port, false);
        CHECK_EQ(waitpid(victims[i], NULL, 0), victims[i]);
    }
    flood_stop(&f);
    CHECK_EQ(hxb_port_close(port), 0);
    CHECK(!socket_exists(socket));
    test_free_pool(&p);
}

void test_memif_killed_client(void)
{
    survive("server", "client");
}

void test_memif_killed_server(void)
{
    survive("client", "server");
}
