/* SPDX-License-Identifier: Apache-2.0 */
/* Memif with strangers: DPDK's net_memif, and clients and servers that say and write what they should not. What two
 * ends of ours do with each other is in test_line.c. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rte_dev.h>

#include "memif.h"
#include "test.h"

#define MAC "mac=02000000000b"

/* One of our ends; `more`: further arguments. */
static int attach(struct test_pool *p, const char *role, const char *socket, const char *more)
{
    char args[256], device[64];

    snprintf(device, sizeof(device), "memif_%.6s_%.40s", role, socket);
    snprintf(args, sizeof(args), "role=%.6s,socket=%.40s," MAC "%s%.64s", role, socket, *more != '\0' ? "," : "", more);
    return test_attach_line(p, device, args);
}

static uint64_t next_random(uint64_t *random)
{
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    return *random;
}

/* Byte `at` of frame `number`. */
static uint8_t byte_of(uint32_t number, uint32_t at)
{
    return (uint8_t)(number * 131 + at * 7 + (at >> 8));
}

/* A frame that tells its number. */
static void write_frame(const struct test_pool *p, uint64_t desc, uint32_t number)
{
    uint8_t *frame = test_frame(p, desc);

    for (uint32_t at = 0; at < desc >> HXB_DESC_LENGTH_SHIFT; at++) {
        frame[at] = byte_of(number, at);
    }
}

static void check_frame(const struct test_pool *p, uint64_t desc, uint32_t number, uint32_t length)
{
    const uint8_t *frame = test_frame(p, desc);

    CHECK_EQ(desc >> HXB_DESC_LENGTH_SHIFT, length);
    for (uint32_t at = 0; at < length; at++) {
        if (frame[at] != byte_of(number, at)) {
            fprintf(stderr, "frame %u of %u bytes, byte %u\n", number, length, at);
            CHECK_EQ(frame[at], byte_of(number, at));
        }
    }
}

/* Sends one, and keeps it where it finds no room: false. */
static bool send_one(int port, const struct test_pool *p, uint32_t number, uint32_t length)
{
    uint32_t id;

    if (hxb_pool_alloc_bulk(p->pool, &id, 1) != 1) {
        return false;
    }
    uint64_t desc = test_desc(id, length);
    write_frame(p, desc, number);
    int sent = hxb_tx_burst(port, 0, p->pool, &desc, 1);
    CHECK(sent >= 0);
    if (sent == 0) {
        test_release(p, &desc, 1);
    }
    return sent == 1;
}

/* ---- Arguments --------------------------------------------------------------------------------------- */

/* What is no id or ring size is refused, and a refusal costs no descriptor of anybody's. */
void test_memif_arguments(void)
{
    static const char *const wrong[] = {"rsize=0",  "rsize=15",      "rsize=99", "rsize=",   "rsize=x",  "rsize=4x",
                                        "rsize=-1", "id=4294967296", "id=",      "id=-1",    "id=7x",    "id=x"};
    static const char *const right[] = {"rsize=1", "rsize=14", "id=4294967295", "id=0"};
    char args[160];

    test_start_eal();
    int before = test_open_descriptors();
    for (size_t i = 0; i < RTE_DIM(wrong); i++) {
        snprintf(args, sizeof(args), "role=server,socket=arguments," MAC ",%s", wrong[i]);
        CHECK_EQ(hxb_port_attach("memif_a", args), -EINVAL);
        CHECK_EQ(test_open_descriptors(), before);
    }
    /* In whatever their socket's name says. */
    CHECK_EQ(hxb_port_attach("memif_a", "role=server,socket=grid=1," MAC ",rsize=4,id=4294967296"), -EINVAL);
    /* A name is taken whole or not at all. */
    snprintf(args, sizeof(args), "role=server," MAC ",socket=%0108d", 0);
    CHECK_EQ(hxb_port_attach("memif_a", args), -EINVAL);
    CHECK_EQ(test_open_descriptors(), before);
    for (size_t i = 0; i < RTE_DIM(right); i++) {
        snprintf(args, sizeof(args), "role=server,socket=arguments," MAC ",%s", right[i]);
        int port = hxb_port_attach("memif_a", args);
        CHECK(port >= 0);
        CHECK_EQ(hxb_port_close(port), 0);
    }
    CHECK_EQ(test_open_descriptors(), before);
}

/* ---- Indices ----------------------------------------------------------------------------------------- */

#define WRAP_FRAMES 70000u

/* More frames than an index of 16 bits counts, each way, in order. */
static void pass_many(const char *rsize)
{
    struct test_pool pools[2];
    char socket[40];
    int ports[2];
    uint32_t sent[2] = {0, 0}, got[2] = {0, 0};
    uint64_t descs[64];
    struct hxb_port_stats stats;

    snprintf(socket, sizeof(socket), "wrap-%d", getpid());
    test_make_pool(&pools[0], "a", STRIDE_SMALL, 255, 0);
    test_make_pool(&pools[1], "b", STRIDE_SMALL, 255, 0);
    ports[0] = attach(&pools[0], "server", socket, "");
    ports[1] = attach(&pools[1], "client", socket, rsize);
    test_await_link(ports[0], true);
    test_await_link(ports[1], true);
    while (RTE_MIN(got[0], got[1]) < WRAP_FRAMES) {
        uint32_t before = got[0] + got[1];
        for (int i = 0; i < 2; i++) {
            /* Bursts of many lengths, so that none ends where a ring does each time. */
            uint32_t ids[64], most = RTE_MIN(1 + sent[i] % 61, WRAP_FRAMES - sent[i]);
            int n = hxb_pool_alloc_bulk(pools[i].pool, ids, (int)most);
            for (int k = 0; k < n; k++) {
                descs[k] = test_desc(ids[k], 60);
                memcpy(test_frame(&pools[i], descs[k]) + 20, &(uint32_t){sent[i] + (uint32_t)k}, 4);
            }
            int gone = hxb_tx_burst(ports[i], 0, pools[i].pool, descs, n);
            CHECK(gone >= 0);
            test_release(&pools[i], descs + gone, n - gone);
            sent[i] += (uint32_t)gone;
        }
        for (int i = 0; i < 2; i++) {
            int n = hxb_rx_burst(ports[i], 0, pools[i].pool, descs, 1 + (int)(got[i] % 64));
            CHECK(n >= 0);
            for (int k = 0; k < n; k++) {
                uint32_t number;
                memcpy(&number, test_frame(&pools[i], descs[k]) + 20, 4);
                CHECK_EQ(number, got[i] + (uint32_t)k);
                CHECK_EQ(descs[k] >> HXB_DESC_LENGTH_SHIFT, 60);
            }
            test_release(&pools[i], descs, n);
            got[i] += (uint32_t)n;
        }
        CHECK(got[0] + got[1] > before);
    }
    for (int i = 0; i < 2; i++) {
        CHECK_EQ(hxb_port_stats(ports[i], &stats), 0);
        CHECK_EQ(stats.rx_packets, WRAP_FRAMES);
        CHECK_EQ(stats.tx_packets, WRAP_FRAMES);
        CHECK_EQ(stats.rx_bytes, WRAP_FRAMES * 60);
        CHECK_EQ(stats.rx_refused_length + stats.tx_refused, 0);
        /* Nothing to send or to receive is no error. */
        CHECK_EQ(hxb_tx_burst(ports[i], 0, pools[i].pool, descs, 0), 0);
        CHECK_EQ(hxb_rx_burst(ports[i], 0, pools[i].pool, descs, 0), 0);
        CHECK_EQ(hxb_tx_burst(ports[i], 0, pools[i].pool, descs, -1), 0);
    }
    CHECK_EQ(hxb_port_close(ports[0]), 0);
    CHECK_EQ(hxb_port_close(ports[1]), 0);
    test_free_pool(&pools[0]);
    test_free_pool(&pools[1]);
}

void test_memif_wrap(void)
{
    test_start_eal();
    pass_many("rsize=1");
    pass_many("rsize=5");
    pass_many("rsize=14");
}

/* Mappings of a file that are to be made yet, of which none has pages. */
static atomic_int pageless;

/* In front of the C library's, for the shim too. */
__attribute__((visibility("default"))) void *mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset)
{
    if ((flags & MAP_POPULATE) != 0 && fd >= 0 && atomic_load(&pageless) > 0) {
        atomic_fetch_sub(&pageless, 1);
        int empty = memfd_create("pageless", MFD_CLOEXEC);
        void *none = (void *)syscall(SYS_mmap, NULL, bytes, protection, MAP_SHARED, empty, 0L);
        close(empty);
        return none;
    }
    return (void *)syscall(SYS_mmap, at, bytes, protection, flags, fd, offset);
}

/* As with strict accounting of memory: the mapping is made, and no page is there. A store would end the process. */
void test_memif_no_memory(void)
{
    struct test_pool pools[2];
    char socket[40];

    test_start_eal();
    snprintf(socket, sizeof(socket), "pageless-%d", getpid());
    test_make_pool(&pools[0], "a", STRIDE_SMALL, 255, 0);
    test_make_pool(&pools[1], "b", STRIDE_SMALL, 255, 0);
    int server = attach(&pools[0], "server", socket, "");
    atomic_store(&pageless, 2);
    int client = attach(&pools[1], "client", socket, "rsize=14");
    /* It tries again until there is memory. */
    test_await_link(client, true);
    CHECK_EQ(atomic_load(&pageless), 0);
    CHECK_EQ(hxb_port_close(client), 0);
    CHECK_EQ(hxb_port_close(server), 0);
    test_free_pool(&pools[0]);
    test_free_pool(&pools[1]);
}

/* ---- DPDK's driver ------------------------------------------------------------------------------------- */

/* A device of DPDK's with one queue pair. */
static uint16_t start_theirs(const struct test_pool *p, const char *args)
{
    struct rte_eth_conf conf = {0};
    uint16_t port;

    CHECK_EQ(rte_eal_hotplug_add("vdev", "net_memif0", args), 0);
    CHECK_EQ(rte_eth_dev_get_port_by_name("net_memif0", &port), 0);
    CHECK_EQ(rte_eth_dev_configure(port, 1, 1, &conf), 0);
    CHECK_EQ(rte_eth_rx_queue_setup(port, 0, 0, 0, NULL, p->pool->mempool), 0);
    CHECK_EQ(rte_eth_tx_queue_setup(port, 0, 0, 0, NULL), 0);
    CHECK_EQ(rte_eth_dev_start(port), 0);
    return port;
}

/* A server's socket stays open until its process ends. */
static void stop_theirs(uint16_t port)
{
    CHECK_EQ(rte_eth_dev_stop(port), 0);
    CHECK_EQ(rte_eth_dev_close(port), 0);
    CHECK_EQ(rte_eal_hotplug_remove("vdev", "net_memif0"), 0);
}

/* Sends back what comes, in order; false: nothing came. */
static bool echo(uint16_t port)
{
    struct rte_mbuf *frames[32];
    uint16_t n = rte_eth_rx_burst(port, 0, frames, 32);

    for (uint16_t sent = 0, tries = 0; sent < n; tries++) {
        uint16_t gone = rte_eth_tx_burst(port, 0, frames + sent, 1);
        sent += gone;
        if (gone == 0) {
            CHECK(tries < 10000);
            usleep(100);
        }
    }
    return n > 0;
}

/* What is asked of a child, byte by byte. */
enum { BEGIN = 'b', STOP = 's', LEAVE = 'l', FINISH = 'f' };

struct peer {
    pid_t pid;
    int orders;
    int answers;
};

/* A process with DPDK's driver that waits for its orders; before this process's EAL starts. Each is answered. */
static struct peer spawn_peer(const char *args)
{
    struct test_pool p;
    struct peer peer;
    int orders[2], answers[2];
    pid_t parent = getpid();
    bool running = false;
    uint16_t port = 0;
    char what;

    CHECK_EQ(pipe(orders), 0);
    CHECK_EQ(pipe(answers), 0);
    peer = (struct peer){.pid = fork(), .orders = orders[1], .answers = answers[0]};
    CHECK(peer.pid >= 0);
    if (peer.pid != 0) {
        close(orders[0]);
        close(answers[1]);
        return peer;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    CHECK(getppid() == parent);
    CHECK_EQ(read(orders[0], &what, 1), 1);
    test_start_eal();
    test_make_pool(&p, "theirs", STRIDE_JUMBO, 511, 0);
    CHECK_EQ(fcntl(orders[0], F_SETFL, O_NONBLOCK), 0);
    for (ssize_t heard = 1;; heard = read(orders[0], &what, 1)) {
        if (heard > 0) {
            if (what == BEGIN) {
                port = start_theirs(&p, args);
                running = true;
            } else if (what == FINISH) {
                while (echo(port)) {
                }
            } else if (running) {
                stop_theirs(port);
                running = false;
            }
            if (what == LEAVE) {
                test_free_pool(&p);
            }
            CHECK_EQ(write(answers[1], &what, 1), 1);
            if (what == LEAVE) {
                _exit(0);
            }
        }
        if (!running || !echo(port)) {
            usleep(50);
        }
    }
}

static void order(const struct peer *peer, char what)
{
    char answer;

    CHECK_EQ(write(peer->orders, &what, 1), 1);
    CHECK_EQ(read(peer->answers, &answer, 1), 1);
    CHECK_EQ(answer, what);
}

static void end_peer(struct peer *peer)
{
    int status;

    order(peer, LEAVE);
    close(peer->orders);
    CHECK_EQ(waitpid(peer->pid, &status, 0), peer->pid);
    CHECK_EQ(status, 0);
    close(peer->answers);
}

static uint32_t some_length(uint32_t number, uint32_t least)
{
    static const uint32_t lengths[] = {60, 64, 128, 1023, 1024, 1514, 2047, 2048, 2049, 4096, 4097, 6144, 9000, 9014};

    return RTE_MAX(lengths[(number * 5 + number / 14) % RTE_DIM(lengths)], least);
}

/* So many frames there and back, `window` at most on their way. */
static void through_echo(int port, const struct test_pool *p, uint32_t frames, uint32_t window, uint32_t least)
{
    uint64_t descs[32];
    uint32_t sent = 0, got = 0;

    for (int tries = 0; got < frames; tries++) {
        uint32_t before = sent + got;
        while (sent < frames && sent - got < window && send_one(port, p, sent, some_length(sent, least))) {
            sent++;
        }
        int n = hxb_rx_burst(port, 0, p->pool, descs, 32);
        CHECK(n >= 0);
        for (int i = 0; i < n; i++) {
            check_frame(p, descs[i], got, some_length(got, least));
            got++;
        }
        test_release(p, descs, n);
        if (sent + got != before) {
            tries = 0;
        } else {
            CHECK(tries < 10000);
            usleep(50);
        }
    }
}

/* More than fits: its driver then writes beyond the free part of its ring. Some is lost, but not the line. */
static void overrun_echo(const struct peer *peer, int port, const struct test_pool *p)
{
    const char finish = FINISH;
    uint64_t descs[32];
    char answer;

    for (uint32_t sent = 0, tries = 0; sent < 2000 && tries < 20000; tries++) {
        sent += send_one(port, p, sent, some_length(sent, 60));
        if (sent % 8 == 7) {
            usleep(10);
        }
        int n = hxb_rx_burst(port, 0, p->pool, descs, 1);
        CHECK(n >= 0);
        test_release(p, descs, n);
    }
    /* Until it has sent back all that it has, and that is here: there is room for it meanwhile. */
    CHECK_EQ(write(peer->orders, &finish, 1), 1);
    for (int idle = 0, tries = 0; idle < 40; tries++) {
        int n = hxb_rx_burst(port, 0, p->pool, descs, 32);
        CHECK(n >= 0 && tries < 20000);
        test_release(p, descs, n);
        idle = n == 0 && hxb_wait(&peer->answers, 1, -1, 0) == 1 ? idle + 1 : 0;
        usleep(1000);
    }
    CHECK_EQ(read(peer->answers, &answer, 1), 1);
    CHECK_EQ(answer, finish);
    through_echo(port, p, 200, 1, 60);
}

void test_memif_dpdk(void)
{
    static const struct {
        const char *ours, *theirs, *our_args, *their_args;
        uint32_t window;
        uint32_t least; /* bytes of the shortest frames */
        bool overruns;
    } pairs[] = {
        {"client", "server", "id=0,rsize=8", "id=0", 64, 60, false},
        {"client", "server", "id=4294967295,rsize=4", "id=4294967295,bsize=9216", 64, 60, false},
        {"server", "client", "id=7", "id=7,bsize=9216,rsize=9", 64, 60, false},
        {"server", "client", "id=65536", "id=65536,bsize=9216,rsize=4", 64, 60, false},
        /* A frame in several buffers, both ways. */
        {"server", "client", "", "id=0,bsize=2048,rsize=9", 64, 9014, false},
        {"server", "client", "", "id=0,bsize=2048,rsize=9", 64, 60, false},
        {"server", "client", "", "id=0,bsize=2048,rsize=4", 2, 60, true},
        {"server", "client", "", "id=0,bsize=100,rsize=9", 2, 60, false},
        /* One that needs all of the ring. */
        {"server", "client", "", "id=0,bsize=1200,rsize=3", 1, 60, false},
    };
    struct test_pool p;
    struct peer peers[RTE_DIM(pairs)];
    struct hxb_port_stats stats;
    char sockets[RTE_DIM(pairs)][40], args[512];

    for (size_t i = 0; i < RTE_DIM(pairs); i++) {
        snprintf(sockets[i], sizeof(sockets[i]), "dpdk-%d-%zu", getpid(), i);
        snprintf(args, sizeof(args), "role=%s,socket=%s,socket-abstract=yes,mac=02:00:00:00:00:0a,%s", pairs[i].theirs,
                 sockets[i], pairs[i].their_args);
        peers[i] = spawn_peer(args);
    }
    test_start_eal();
    test_make_pool(&p, "ours", STRIDE_JUMBO, 511, 0);
    for (size_t i = 0; i < RTE_DIM(pairs); i++) {
        int port = attach(&p, pairs[i].ours, sockets[i], pairs[i].our_args);
        order(&peers[i], BEGIN);
        test_await_link_to(peers[i].pid, port, true);
        printf("%s, theirs: %s\n", pairs[i].ours, pairs[i].their_args);
        fflush(stdout);
        through_echo(port, &p, 400, pairs[i].window, pairs[i].least);
        CHECK_EQ(hxb_port_stats(port, &stats), 0);
        CHECK_EQ(stats.tx_packets, 400);
        CHECK_EQ(stats.rx_packets, 400);
        CHECK_EQ(stats.rx_bytes, stats.tx_bytes);
        CHECK_EQ(stats.rx_refused_length + stats.tx_refused, 0);
        if (pairs[i].overruns) {
            overrun_echo(&peers[i], port, &p);
            CHECK_EQ(hxb_port_stats(port, &stats), 0);
            printf("%llu refused\n", (unsigned long long)stats.rx_refused_length);
        }
        end_peer(&peers[i]);
        test_await_link(port, false);
        CHECK_EQ(hxb_port_close(port), 0);
    }
    test_free_pool(&p);
}

#define GENERATIONS 3

/* Peers that stop and come again, are killed, and leave, each followed by another: this end stays. */
static void come_again(const char *ours, const char *theirs, struct test_pool *p, struct peer *peers,
                       const char *socket)
{
    bool client = strcmp(theirs, "client") == 0;
    int port = attach(p, ours, socket, "rsize=6");

    for (int i = 0; i < GENERATIONS; i++) {
        order(&peers[i], BEGIN);
        test_await_link_to(peers[i].pid, port, true);
        through_echo(port, p, 100, 16, 60);
        if (client) {
            order(&peers[i], STOP);
            test_await_link(port, false);
            order(&peers[i], BEGIN);
            test_await_link_to(peers[i].pid, port, true);
            through_echo(port, p, 100, 16, 60);
        }
        if (i == 0) {
            CHECK_EQ(kill(peers[i].pid, SIGKILL), 0);
            CHECK_EQ(waitpid(peers[i].pid, NULL, 0), peers[i].pid);
        } else {
            end_peer(&peers[i]);
        }
        test_await_link(port, false);
        /* And this end. */
        CHECK_EQ(hxb_port_stop(port), 0);
        CHECK_EQ(hxb_port_start(port), 0);
    }
    CHECK_EQ(hxb_port_close(port), 0);
}

void test_memif_dpdk_returns(void)
{
    static const char *const roles[] = {"client", "server"};
    struct test_pool p;
    struct peer peers[2][GENERATIONS];
    char sockets[2][40], args[256];

    for (int i = 0; i < 2; i++) {
        snprintf(sockets[i], sizeof(sockets[i]), "again-%d-%d", getpid(), i);
        snprintf(args, sizeof(args), "role=%s,socket=%s,socket-abstract=yes,bsize=9216,rsize=8", roles[i], sockets[i]);
        for (int k = 0; k < GENERATIONS; k++) {
            peers[i][k] = spawn_peer(args);
        }
    }
    test_start_eal();
    test_make_pool(&p, "ours", STRIDE_JUMBO, 511, 0);
    for (int i = 0; i < 2; i++) {
        come_again(roles[1 - i], roles[i], &p, peers[i], sockets[i]);
    }
    test_free_pool(&p);
}

/* ---- A client by hand ---------------------------------------------------------------------------------- */

#define SLOTS_LOG2 4
#define SLOTS (1u << SLOTS_LOG2)
#define BUFFER 2048u
#define RING_BYTES (sizeof(struct hxb_memif_ring) + SLOTS * sizeof(struct memif_descriptor))
#define BUFFERS_AT (2 * RING_BYTES)
/* What is said of the memory; behind it, in its last page, nothing is to be written. */
#define REGION_BYTES (BUFFERS_AT + 2 * SLOTS * BUFFER)
#define FILE_BYTES ((REGION_BYTES + 4095) / 4096 * 4096)

_Static_assert(REGION_BYTES % 4096 != 0, "there is something behind it");

struct stranger {
    int channel;
    int memory;
    int kicks[HXB_MEMIF_RINGS];
    uint8_t *at;
    struct hxb_memif_ring *rings[HXB_MEMIF_RINGS];
};

static struct memif_descriptor describe(uint32_t region, uint32_t offset, uint32_t length, bool more)
{
    return (struct memif_descriptor){
        .what = (uint64_t)length << MEMIF_LENGTH_SHIFT | (uint64_t)region << MEMIF_REGION_SHIFT | more,
        .where = offset};
}

static uint32_t buffer_at(int ring, uint32_t slot)
{
    return (uint32_t)BUFFERS_AT + ((uint32_t)ring * SLOTS + slot % SLOTS) * BUFFER;
}

static void make_stranger(struct stranger *s, int channel)
{
    s->channel = channel;
    s->memory = test_sealed(FILE_BYTES, F_SEAL_SHRINK);
    s->at = mmap(NULL, FILE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, s->memory, 0);
    CHECK(s->at != MAP_FAILED);
    for (int i = 0; i < HXB_MEMIF_RINGS; i++) {
        s->kicks[i] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        s->rings[i] = (struct hxb_memif_ring *)(void *)(s->at + (size_t)i * RING_BYTES);
        s->rings[i]->cookie = MEMIF_COOKIE;
        for (uint32_t slot = 0; slot < SLOTS; slot++) {
            s->rings[i]->descriptors[slot] = describe(0, buffer_at(i, slot), BUFFER, false);
        }
    }
}

static void drop_stranger(struct stranger *s)
{
    close(s->channel);
    close(s->memory);
    munmap(s->at, FILE_BYTES);
    for (int i = 0; i < HXB_MEMIF_RINGS; i++) {
        close(s->kicks[i]);
    }
}

static void say_to(int channel, const struct memif_message *m, int fd)
{
    test_send_with(channel, m, sizeof(*m), &fd, fd >= 0);
}

/* The type of what came, with its descriptor, if one is asked for; 0: the end. */
static int listen_to(int channel, struct memif_message *m, int *fd)
{
    char control[CMSG_SPACE(sizeof(int))] = {0};
    struct iovec part = {.iov_base = m, .iov_len = sizeof(*m)};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control,
                             .msg_controllen = fd != NULL ? sizeof(control) : 0};

    if (recvmsg(channel, &message, 0) != (ssize_t)sizeof(*m)) {
        return 0;
    }
    if (fd != NULL) {
        CHECK(CMSG_FIRSTHDR(&message) != NULL);
        memcpy(fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(*fd));
    }
    return m->type;
}

/* What a client says. */
enum { SAY_INIT, SAY_REGION, SAY_UP, SAY_DOWN, SAY_CONNECT, SAYINGS };

struct saying {
    struct memif_message m;
    size_t bytes;
    int fds[3];
    int count;
};

static void prepare(const struct stranger *s, int step, struct saying *say)
{
    memset(say, 0, sizeof(*say));
    say->bytes = sizeof(say->m);
    switch (step) {
    case SAY_INIT:
        say->m.type = MEMIF_INIT;
        say->m.init.version = MEMIF_VERSION;
        break;
    case SAY_REGION:
        say->m.type = MEMIF_ADD_REGION;
        say->m.add_region.bytes = REGION_BYTES;
        say->fds[0] = s->memory;
        say->count = 1;
        break;
    case SAY_UP:
    case SAY_DOWN:
        say->m.type = MEMIF_ADD_RING;
        say->m.add_ring.flags = step == SAY_UP ? MEMIF_RING_UP : 0;
        say->m.add_ring.offset = (uint32_t)(step - SAY_UP) * (uint32_t)RING_BYTES;
        say->m.add_ring.slots_log2 = SLOTS_LOG2;
        say->fds[0] = s->kicks[step - SAY_UP];
        say->count = 1;
        break;
    default:
        say->m.type = MEMIF_CONNECT;
        break;
    }
}

/* A file of as many costs nothing, and its mapping the machine's memory. */
#define HUGE_BYTES (UINT64_C(1100) << 20)

/* What a client does wrong: at which step, and whether it is told so there or only at the end. */
enum wrong {
    NOTHING, SHORT, LONG, EMPTY, TYPE_0, TYPE_ACK, TYPE_HELLO, TYPE_CONNECTED, TYPE_GOES, TYPE_65535, VERSION, MODE, ID,
    TWICE, NO_INIT, REGION_1, REGION_65535, NO_SEAL, OTHER_SEAL, LAST_SEAL, HUGEPAGES, NO_FILE, A_PIPE, LONGER, LONGEST,
    NO_BYTES, TOO_MANY, HUGE, RING_1, LOG_0, LOG_15, LOG_255, NO_FD, NO_EVENT, OUTSIDE, OUTSIDE_64, ODD, NO_REGION,
    NO_RINGS, NO_DOWN, COOKIE, AT_END
};

static const struct {
    int step;
    enum wrong wrong;
    int refused; /* step */
} mistakes[] = {
    {SAY_INIT, SHORT, SAY_INIT}, {SAY_INIT, EMPTY, SAY_INIT}, {SAY_INIT, LONG, SAY_INIT}, {SAY_INIT, TYPE_0, SAY_INIT},
    {SAY_INIT, TYPE_ACK, SAY_INIT}, {SAY_INIT, TYPE_HELLO, SAY_INIT}, {SAY_INIT, TYPE_CONNECTED, SAY_INIT},
    {SAY_INIT, TYPE_GOES, SAY_INIT}, {SAY_INIT, TYPE_65535, SAY_INIT}, {SAY_INIT, VERSION, SAY_INIT},
    {SAY_INIT, MODE, SAY_INIT}, {SAY_INIT, ID, SAY_INIT}, {SAY_REGION, TWICE, SAY_REGION},
    {SAY_INIT, NO_INIT, SAY_REGION}, {SAY_REGION, SHORT, SAY_REGION}, {SAY_REGION, LONG, SAY_REGION},
    {SAY_REGION, EMPTY, SAY_REGION}, {SAY_REGION, TYPE_ACK, SAY_REGION}, {SAY_REGION, REGION_1, SAY_REGION},
    {SAY_REGION, REGION_65535, SAY_REGION}, {SAY_REGION, NO_SEAL, SAY_REGION}, {SAY_REGION, OTHER_SEAL, SAY_REGION},
    {SAY_REGION, LAST_SEAL, SAY_REGION}, {SAY_REGION, HUGEPAGES, SAY_REGION},
    {SAY_REGION, NO_FILE, SAY_REGION}, {SAY_REGION, A_PIPE, SAY_REGION}, {SAY_REGION, NO_FD, SAY_REGION},
    {SAY_REGION, LONGER, SAY_REGION}, {SAY_REGION, LONGEST, SAY_REGION}, {SAY_REGION, NO_BYTES, SAY_REGION},
    {SAY_REGION, HUGE, SAY_REGION}, {SAY_UP, TOO_MANY, SAY_UP}, {SAY_UP, RING_1, SAY_UP}, {SAY_UP, LOG_0, SAY_UP},
    {SAY_UP, LOG_15, SAY_UP}, {SAY_DOWN, LOG_255, SAY_DOWN}, {SAY_UP, NO_FD, SAY_UP}, {SAY_DOWN, NO_FD, SAY_DOWN},
    {SAY_DOWN, TWICE, SAY_DOWN}, {SAY_UP, NO_EVENT, SAY_UP}, {SAY_UP, A_PIPE, SAY_UP}, {SAY_UP, SHORT, SAY_UP},
    {SAY_UP, OUTSIDE, SAY_CONNECT}, {SAY_DOWN, OUTSIDE_64, SAY_CONNECT}, {SAY_DOWN, ODD, SAY_CONNECT},
    {SAY_UP, NO_REGION, SAY_CONNECT}, {SAY_CONNECT, COOKIE, SAY_CONNECT}, {SAY_REGION, NO_RINGS, SAY_REGION},
    {SAY_DOWN, NO_DOWN, SAY_DOWN}, {SAY_CONNECT, LONG, SAY_CONNECT}, {SAY_CONNECT, EMPTY, SAY_CONNECT},
    {SAY_DOWN, AT_END, SAYINGS}, /* none */
};

/* A descriptor of that kind; its other end, of a pipe, is closed. */
static int other_fd(enum wrong wrong)
{
    int ends[2], fd;

    switch (wrong) {
    case HUGEPAGES:
        fd = memfd_create("test-line", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_HUGETLB);
        CHECK(fd < 0 || (ftruncate(fd, 2 << 20) == 0 && fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK) == 0));
        return fd;
    case NO_SEAL:
        return test_sealed(FILE_BYTES, 0);
    case OTHER_SEAL:
        return test_sealed(FILE_BYTES, F_SEAL_GROW);
    case LAST_SEAL:
        return test_sealed(FILE_BYTES, F_SEAL_SHRINK | F_SEAL_SEAL);
    case HUGE:
        return test_sealed(HUGE_BYTES, F_SEAL_SHRINK);
    case A_PIPE:
        CHECK_EQ(pipe(ends), 0);
        close(ends[0]);
        return ends[1];
    default:
        return open("/dev/null", O_RDWR | O_CLOEXEC);
    }
}

/* Makes the mistake; `other`: a descriptor that is to be closed, or -1. */
static void mistake(struct stranger *s, enum wrong wrong, struct saying *say, int *other)
{
    struct memif_message *m = &say->m;

    switch (wrong) {
    case SHORT: say->bytes = sizeof(*m) - 1; break;
    case EMPTY: say->bytes = 0; break;
    case LONG: say->bytes = sizeof(*m) + 1; break;
    case TYPE_0: m->type = 0; break;
    case TYPE_ACK: m->type = MEMIF_ACK; break;
    case TYPE_HELLO: m->type = MEMIF_HELLO; break;
    case TYPE_CONNECTED: m->type = MEMIF_CONNECTED; break;
    case TYPE_GOES: m->type = MEMIF_DISCONNECT; break;
    case TYPE_65535: m->type = UINT16_MAX; break;
    case VERSION: m->init.version = MEMIF_VERSION + 1; break;
    case MODE: m->init.mode = 1; break;
    case ID: m->init.id = 1; break;
    case REGION_1: m->add_region.index = 1; break;
    case REGION_65535: m->add_region.index = UINT16_MAX; break;
    case LONGER: m->add_region.bytes = FILE_BYTES + 1; break;
    case LONGEST: m->add_region.bytes = UINT64_MAX; break;
    case NO_BYTES: m->add_region.bytes = 0; break;
    case RING_1: m->add_ring.index = 1; break;
    case LOG_0: m->add_ring.slots_log2 = 0; break;
    case LOG_15: m->add_ring.slots_log2 = 15; break;
    case LOG_255: m->add_ring.slots_log2 = 255; break;
    case OUTSIDE: m->add_ring.offset = (uint32_t)(REGION_BYTES - RING_BYTES + 8) / 8 * 8; break;
    case OUTSIDE_64: m->add_ring.offset = UINT32_MAX - 7; break;
    case ODD:
        m->add_ring.offset += 4;
        memcpy(s->at + m->add_ring.offset, &(uint32_t){MEMIF_COOKIE}, sizeof(uint32_t));
        break;
    case NO_REGION: m->add_ring.region = 1; break;
    case NO_FD: say->count = 0; break;
    case COOKIE: s->rings[HXB_MEMIF_DOWN]->cookie++; break;
    case AT_END:
        m->add_ring.slots_log2 = 1;
        m->add_ring.offset =
            (uint32_t)(REGION_BYTES - sizeof(struct hxb_memif_ring) - 2 * sizeof(struct memif_descriptor));
        memcpy(s->at + m->add_ring.offset, &(uint32_t){MEMIF_COOKIE}, sizeof(uint32_t));
        break;
    case NO_RINGS: case NO_DOWN: m->type = MEMIF_CONNECT; say->count = 0; break;
    case HUGE: m->add_region.bytes = HUGE_BYTES;
        /* fall through */
    case NO_SEAL: case OTHER_SEAL: case LAST_SEAL: case HUGEPAGES: case NO_FILE: case A_PIPE: case NO_EVENT:
        *other = say->fds[0] = other_fd(wrong);
        break;
    default: break;
    }
}

static void close_if_open(int fd)
{
    if (fd >= 0) {
        close(fd);
    }
}

/* Converses as far as the server does; returns at which step it ended: SAYINGS, there is a line. */
static int converse(struct stranger *s, int step_of_it, enum wrong wrong)
{
    struct memif_message heard;
    struct saying say;

    CHECK_EQ(listen_to(s->channel, &heard, NULL), MEMIF_HELLO);
    CHECK_EQ(heard.hello.version_min, MEMIF_VERSION);
    for (int step = wrong == NO_INIT ? SAY_REGION : SAY_INIT; step < SAYINGS; step++) {
        int other = -1, times = 1;
        prepare(s, step, &say);
        if (step == step_of_it) {
            if (wrong == TWICE) {
                prepare(s, step - (step != SAY_DOWN), &say);
                times += step == SAY_DOWN;
            } else if (wrong == TOO_MANY) {
                prepare(s, SAY_REGION, &say);
                times = HXB_REGIONS_MAX;
            }
            mistake(s, wrong, &say, &other);
        }
        for (int i = 0; i < times; i++) {
            if (wrong == TOO_MANY && step == step_of_it) {
                say.m.add_region.index = (uint16_t)(i + 1);
            }
            struct { struct memif_message m; char more; } longer = {.m = say.m};
            test_send_with(s->channel, &longer, say.bytes, say.fds, say.count);
            int type = listen_to(s->channel, &heard, NULL);
            if (type == 0 || type == MEMIF_DISCONNECT) {
                close_if_open(other);
                return step;
            }
            CHECK_EQ(type, step == SAY_CONNECT ? MEMIF_CONNECTED : MEMIF_ACK);
        }
        close_if_open(other);
    }
    return SAYINGS;
}

/* Mappings of the memory that test_sealed makes. */
static int mappings(void)
{
    char line[512];
    int count = 0;
    FILE *f = fopen("/proc/self/maps", "r");

    CHECK(f != NULL);
    while (fgets(line, sizeof(line), f) != NULL) {
        count += strstr(line, "memfd:test-line") != NULL;
    }
    fclose(f);
    return count;
}

static void await_count(int (*count)(void), int expected)
{
    for (int i = 0; count() != expected; i++) {
        if (i == 2000) {
            CHECK_EQ(count(), expected);
        }
        usleep(1000);
    }
}

static void await_descriptors(int expected)
{
    await_count(test_open_descriptors, expected);
}

static void open_stranger(struct stranger *s, int port, const char *socket)
{
    make_stranger(s, test_dial("", socket));
    CHECK_EQ(converse(s, 0, NOTHING), SAYINGS);
    test_await_link(port, true);
}

/* Clients that say what they should not have no line, leave nothing behind, and are in nobody's way. */
void test_memif_hostile_client(void)
{
    struct test_pool p;
    struct stranger s;
    struct memif_message hello;
    char socket[40];

    snprintf(socket, sizeof(socket), "hostile-%d", getpid());
    test_start_eal();
    test_make_pool(&p, "p", STRIDE_JUMBO, 511, 0);
    int port = attach(&p, "server", socket, "");
    int before = test_open_descriptors();
    for (size_t i = 0; i < RTE_DIM(mistakes); i++) {
        make_stranger(&s, test_dial("", socket));
        int refused = converse(&s, mistakes[i].step, mistakes[i].wrong);
        if (refused != mistakes[i].refused) {
            fprintf(stderr, "mistake %zu\n", i);
            CHECK_EQ(refused, mistakes[i].refused);
        }
        if (refused == SAYINGS) {
            test_await_link(port, true);
            CHECK_EQ(hxb_port_stop(port), 0);
            CHECK_EQ(hxb_port_start(port), 0);
        }
        test_await_end(s.channel);
        CHECK_EQ(hxb_port_link(port), 0);
        drop_stranger(&s);
        await_descriptors(before);
        /* A channel ends before its memory does. */
        await_count(mappings, 0);
    }
    /* Descriptors where none are due, or more than one: a line all the same, and none of them stays. */
    for (int more = 0; more < 3; more++) {
        struct memif_message heard;
        struct saying say;
        make_stranger(&s, test_dial("", socket));
        CHECK_EQ(listen_to(s.channel, &heard, NULL), MEMIF_HELLO);
        for (int step = SAY_INIT; step < SAYINGS; step++) {
            prepare(&s, step, &say);
            while (say.count < more) {
                say.fds[say.count++] = s.memory;
            }
            test_send_with(s.channel, &say.m, say.bytes, say.fds, say.count);
            CHECK_EQ(listen_to(s.channel, &heard, NULL), step == SAY_CONNECT ? MEMIF_CONNECTED : MEMIF_ACK);
        }
        test_await_link(port, true);
        /* Ours: the channel, and the eventfd of the ring on which it sends. Theirs: one more each, and the memory. */
        await_descriptors(before + 2 + 4);
        /* Another has none meanwhile; and whoever speaks loses it. */
        int second = test_dial("", socket);
        test_await_end(second);
        close(second);
        CHECK_EQ(hxb_port_link(port), 1);
        say.m.type = more == 0 ? MEMIF_DISCONNECT : more == 1 ? MEMIF_INIT : MEMIF_ADD_REGION;
        test_send_with(s.channel, &say.m, say.bytes, say.fds, say.count);
        test_await_end(s.channel);
        test_await_link(port, false);
        drop_stranger(&s);
        /* The kick and the line's memory are kept to the next line. */
        await_descriptors(before + 1);
        CHECK_EQ(mappings(), 1);
        CHECK_EQ(hxb_port_stop(port), 0);
        await_descriptors(before - 1);
        CHECK_EQ(mappings(), 0);
        CHECK_EQ(hxb_port_start(port), 0);
    }
    /* Who says nothing is in the way for a second at most, from when the server has greeted it. */
    int silent = test_dial("", socket);
    CHECK_EQ(listen_to(silent, &hello, NULL), MEMIF_HELLO);
    usleep(1100000);
    open_stranger(&s, port, socket);
    drop_stranger(&s);
    close(silent);
    CHECK_EQ(hxb_port_close(port), 0);
    test_free_pool(&p);
}
/* ---- Nonsense in a line's memory ----------------------------------------------------------------------- */

#define FRAME_MAX HXB_FRAME_MAX(STRIDE_JUMBO)
#define CANARY 0xEE

static void publish(uint16_t *index, int by)
{
    __atomic_store_n(index, (uint16_t)(*index + by), __ATOMIC_RELEASE);
}

/* The end under test, and what it is to have counted. */
struct subject {
    struct test_pool *p;
    int port;
    uint64_t received, refused;
};

/* It receives so many frames, and refuses so many. */
static void expect(struct subject *t, uint64_t *descs, int frames, int refused)
{
    struct hxb_port_stats stats;
    int n = hxb_rx_burst(t->port, 0, t->p->pool, descs, 32);

    CHECK_EQ(n, frames);
    for (int i = 0; i < n; i++) {
        CHECK((descs[i] & HXB_DESC_ID_MASK) - 1 < t->p->count);
    }
    t->received += (uint64_t)frames;
    t->refused += (uint64_t)refused;
    CHECK_EQ(hxb_port_stats(t->port, &stats), 0);
    CHECK_EQ(stats.rx_packets, t->received);
    CHECK_EQ(stats.rx_refused_length, t->refused);
}

/* Of a stranger: the next descriptor that it publishes. */
static struct memif_descriptor *next_up(const struct stranger *s, uint32_t ahead)
{
    return &s->rings[HXB_MEMIF_UP]->descriptors[(s->rings[HXB_MEMIF_UP]->head + ahead) % SLOTS];
}

/* A good frame of that stranger's comes through. */
static void expect_good(struct subject *t, const struct stranger *s)
{
    struct hxb_memif_ring *up = s->rings[HXB_MEMIF_UP];
    uint64_t desc;
    uint32_t number = up->head, offset = buffer_at(HXB_MEMIF_UP, number);

    for (uint32_t at = 0; at < 100; at++) {
        s->at[offset + at] = byte_of(number, at);
    }
    *next_up(s, 0) = describe(0, offset, 100, false);
    publish(&up->head, 1);
    expect(t, &desc, 1, 0);
    check_frame(t->p, desc, number, 100);
    test_release(t->p, &desc, 1);
}

static void spoil_descriptors(struct subject *t, const struct stranger *s)
{
    static const struct {
        uint32_t region, offset, length;
        bool good;
    } cases[] = {
        {0, 0, 14, true},
        {0, REGION_BYTES - 60, 60, true},
        {0, REGION_BYTES - 14, 14, true},
        {0, 1, FRAME_MAX, true},
        {0, REGION_BYTES - FRAME_MAX, FRAME_MAX, true},
        {1, 0, 60, false},
        {15, 0, 60, false},
        {16, 0, 60, false},
        {UINT16_MAX, 0, 60, false},
        {0, REGION_BYTES - 59, 60, false},
        {0, REGION_BYTES - FRAME_MAX + 1, FRAME_MAX, false},
        {0, REGION_BYTES, 60, false},
        {0, UINT32_MAX, 60, false},
        {0, UINT32_MAX - 59, 60, false},
        {0, UINT32_MAX, UINT32_MAX, false},
        {0, 60, UINT32_MAX - 59, false},
        {0, 0, UINT32_MAX, false},
        {0, 0, 0, false},
        {0, 0, 13, false},
        {0, 0, FRAME_MAX + 1, false},
        {0, 0, UINT16_MAX + 61, false},
    };
    uint64_t desc;

    for (size_t i = 0; i < RTE_DIM(cases); i++) {
        *next_up(s, 0) = describe(cases[i].region, cases[i].offset, cases[i].length, false);
        publish(&s->rings[HXB_MEMIF_UP]->head, 1);
        expect(t, &desc, cases[i].good, !cases[i].good);
        if (cases[i].good) {
            CHECK_EQ(desc >> HXB_DESC_LENGTH_SHIFT, cases[i].length);
            CHECK_EQ(memcmp(test_frame(t->p, desc), s->at + cases[i].offset, 14), 0);
            test_release(t->p, &desc, 1);
        }
        /* Its own index, which the stranger may write, is none of its business. */
        s->rings[HXB_MEMIF_UP]->tail = (uint16_t)(i * 4099);
        expect_good(t, s);
    }
}

/* Frames in several parts: their lengths, 0 behind the last; -1 and below: parts that are not of the line. */
static void spoil_chains(struct subject *t, const struct stranger *s)
{
    static const struct {
        int32_t parts[8];
        int32_t length; /* 0: refused */
    } cases[] = {
        {{60, 60}, 120},
        {{7, 7}, 14},
        {{6, 7}, 0},
        {{2048, 2048, 2048, 2048, 2048}, FRAME_MAX},
        {{2048, 2048, 2048, 2048, 2048, 1}, 0},
        {{2048, 2048, 2048, 2048, 2048, 2048, 2048, 2048}, 0},
        {{-1, 60}, 0},
        {{-2, 60}, 0},
        {{60, -1}, 0},
        {{60, -2}, 0},
        {{60, -3, 60}, 0},
        {{60, -1, 60}, 0},
        {{-3, 60}, 0},
    };
    struct hxb_memif_ring *up = s->rings[HXB_MEMIF_UP];
    uint64_t descs[32];

    for (size_t i = 0; i < RTE_DIM(cases); i++) {
        uint32_t parts = 0;
        while (parts < 8 && cases[i].parts[parts] != 0) {
            int32_t length = cases[i].parts[parts];
            bool more = parts < 7 && cases[i].parts[parts + 1] != 0;
            *next_up(s, parts) = length == -1   ? describe(1, 0, 60, more)
                                 : length == -2 ? describe(0, REGION_BYTES - 59, 60, more)
                                 : length == -3 ? describe(0, 0, UINT32_MAX - 100, more)
                                                : describe(0, (uint32_t)BUFFERS_AT, (uint32_t)length, more);
            parts++;
        }
        /* And a good one in the same burst. */
        *next_up(s, parts) = describe(0, (uint32_t)BUFFERS_AT, 61, false);
        publish(&up->head, (int)parts + 1);
        expect(t, descs, 1 + (cases[i].length != 0), cases[i].length == 0);
        if (cases[i].length != 0) {
            CHECK_EQ(descs[0] >> HXB_DESC_LENGTH_SHIFT, cases[i].length);
        }
        CHECK_EQ(descs[cases[i].length != 0] >> HXB_DESC_LENGTH_SHIFT, 61);
        test_release(t->p, descs, 1 + (cases[i].length != 0));
    }
    /* Without an end; published in part; with parts of nothing. */
    for (uint32_t i = 0; i < SLOTS; i++) {
        *next_up(s, i) = describe(0, (uint32_t)BUFFERS_AT, 60, true);
    }
    publish(&up->head, SLOTS);
    expect(t, descs, 0, 1);
    *next_up(s, 0) = describe(0, (uint32_t)BUFFERS_AT, 60, true);
    publish(&up->head, 1);
    expect(t, descs, 0, 1);
    for (uint32_t i = 0; i < SLOTS; i++) {
        *next_up(s, i) = describe(0, (uint32_t)BUFFERS_AT, i == SLOTS - 1 ? 60 : 0, i < SLOTS - 1);
    }
    publish(&up->head, SLOTS);
    expect(t, descs, 1, 0);
    CHECK_EQ(descs[0] >> HXB_DESC_LENGTH_SHIFT, 60);
    test_release(t->p, descs, 1);
    /* A flag that is left where a longer frame was is taken away. */
    for (uint32_t i = 0; i < SLOTS; i++) {
        CHECK_EQ(up->descriptors[i].what & MEMIF_NEXT, 0);
    }
}

static void spoil_index(struct subject *t, const struct stranger *s)
{
    static const int steps[] = {SLOTS + 1, -1, 1000, -(int)SLOTS, 32768, SLOTS + 2};
    struct hxb_memif_ring *up = s->rings[HXB_MEMIF_UP];
    uint64_t descs[32];

    for (size_t i = 0; i < RTE_DIM(steps); i++) {
        for (uint32_t slot = 0; slot < SLOTS; slot++) {
            up->descriptors[slot] = describe(0, (uint32_t)BUFFERS_AT, 60, true);
        }
        publish(&up->head, steps[i]);
        expect(t, descs, 0, 1);
        /* All is given back, so that the stranger can go on, and no flag is left for what it sends next. */
        CHECK_EQ(up->tail, up->head);
        for (uint32_t slot = 0; slot < SLOTS; slot++) {
            CHECK_EQ(up->descriptors[slot].what & MEMIF_NEXT, 0);
        }
        expect(t, descs, 0, 0);
        expect_good(t, s);
    }
}

/* Sends one frame of that length; whether it was taken. */
static bool send_to(const struct subject *t, uint32_t length)
{
    return send_one(t->port, t->p, 1, length);
}

static bool is_untouched(const struct stranger *s, uint64_t from, uint64_t to)
{
    while (from < to && s->at[from] == CANARY) {
        from++;
    }
    return from == to;
}

static uint64_t lost_by(const struct subject *t)
{
    struct hxb_port_stats stats;

    CHECK_EQ(hxb_port_stats(t->port, &stats), 0);
    return stats.tx_refused;
}

/* Frames that are taken and go nowhere. */
static void lose(const struct subject *t, uint32_t length, int frames)
{
    uint64_t before = lost_by(t);

    for (int i = 0; i < frames; i++) {
        CHECK(send_to(t, length));
    }
    CHECK_EQ(lost_by(t) - before, frames);
}

static void spoil_buffers(const struct subject *t, const struct stranger *s)
{
    static const struct memif_descriptor wrong[] = {
        {.what = UINT64_C(60) << 32 | 1 << 16, .where = 0},
        {.what = UINT64_C(60) << 32 | 0xFFFFu << 16, .where = 0},
        {.what = UINT64_C(60) << 32, .where = REGION_BYTES - 59},
        {.what = UINT64_C(2048) << 32, .where = REGION_BYTES - 2047},
        {.what = UINT64_C(60) << 32, .where = REGION_BYTES},
        {.what = UINT64_C(60) << 32, .where = UINT32_MAX},
        {.what = UINT64_C(0xFFFFFFFF) << 32, .where = BUFFERS_AT},
        {.what = UINT64_C(0xFFFFFFFF) << 32, .where = UINT32_MAX},
        {.what = 0, .where = BUFFERS_AT},
    };
    static const int claims[] = {SLOTS + 1, -1, 1000, 32768, -(int)SLOTS};
    struct hxb_memif_ring *down = s->rings[HXB_MEMIF_DOWN];
    uint16_t tail = down->tail;

    CHECK_EQ(down->head, tail);
    CHECK(!send_to(t, 60)); /* no buffer was given */
    for (size_t i = 0; i < RTE_DIM(wrong); i++, tail++) {
        memset(s->at + BUFFERS_AT, CANARY, FILE_BYTES - BUFFERS_AT);
        down->descriptors[tail % SLOTS] = wrong[i];
        publish(&down->head, 1);
        /* Waiting would not help: lost, and counted. */
        lose(t, 60, 3);
        CHECK(is_untouched(s, BUFFERS_AT, FILE_BYTES));
        CHECK_EQ(down->tail, tail);
        down->descriptors[tail % SLOTS] = describe(0, REGION_BYTES - 60, 60, false);
        CHECK(send_to(t, 60));
        CHECK(is_untouched(s, BUFFERS_AT, REGION_BYTES - 60));
        CHECK(is_untouched(s, REGION_BYTES, FILE_BYTES));
        CHECK_EQ(s->at[REGION_BYTES - 1], byte_of(1, 59));
        CHECK_EQ(down->tail, tail + 1);
    }
    /* Too short, and the only one: another may come. */
    memset(s->at + BUFFERS_AT, CANARY, FILE_BYTES - BUFFERS_AT);
    down->descriptors[tail % SLOTS] = describe(0, BUFFERS_AT, 1, false);
    publish(&down->head, 1);
    for (int tries = 0; tries < 3; tries++) {
        CHECK(!send_to(t, 60));
    }
    CHECK(is_untouched(s, BUFFERS_AT + 1, FILE_BYTES));
    CHECK_EQ(down->tail, tail);
    /* All of the ring, and one byte less than the frame: none can come. A shorter one goes. */
    for (uint32_t i = 1; i < SLOTS; i++) {
        down->descriptors[(tail + i) % SLOTS] = describe(0, buffer_at(1, i), i < SLOTS - 1 ? 4 : 2, false);
    }
    publish(&down->head, SLOTS - 1);
    lose(t, 60, 3);
    CHECK_EQ(down->tail, tail);
    CHECK(send_to(t, 59));
    tail += SLOTS;
    CHECK_EQ(down->tail, tail);
    CHECK(is_untouched(s, REGION_BYTES, FILE_BYTES));
    /* In parts, of which one is wrong first. */
    memset(s->at + BUFFERS_AT, CANARY, FILE_BYTES - BUFFERS_AT);
    for (uint32_t i = 0; i < 3; i++) {
        down->descriptors[(tail + i) % SLOTS] = describe(i == 1 ? 7 : 0, buffer_at(1, i), 25, false);
    }
    publish(&down->head, 3);
    lose(t, 60, 1);
    down->descriptors[(tail + 1) % SLOTS] = describe(0, buffer_at(1, 1), 25, false);
    CHECK(!send_to(t, 76));
    CHECK(send_to(t, 60));
    CHECK_EQ((uint16_t)(down->tail - tail), 3);
    for (uint32_t i = 0, at = 0; i < 3; i++) {
        uint64_t what = down->descriptors[(tail + i) % SLOTS].what;
        CHECK_EQ(what >> 32, i == 2 ? 10 : 25);
        CHECK_EQ(what & MEMIF_NEXT, i < 2);
        for (uint32_t k = 0; k < what >> 32; k++, at++) {
            CHECK_EQ(s->at[buffer_at(1, i) + k], byte_of(1, at));
        }
        CHECK(is_untouched(s, buffer_at(1, i) + 25, buffer_at(1, i) + BUFFER));
    }
    /* Given what cannot be: no frame is written. */
    for (size_t i = 0; i < RTE_DIM(claims); i++) {
        publish(&down->head, claims[i]);
        CHECK(!send_to(t, 60));
        publish(&down->head, -claims[i]);
    }
    for (uint32_t slot = 0; slot < SLOTS; slot++) {
        down->descriptors[slot] = describe(0, buffer_at(1, slot), BUFFER, false);
    }
    publish(&down->head, SLOTS);
    for (uint32_t i = 0; i < SLOTS; i++) {
        CHECK(send_to(t, 60));
    }
    CHECK(!send_to(t, 60));
}

/* ---- Noise ---------------------------------------------------------------------------------------------- */

/* What a peer says by its indices: which frames it has published, and which of ours it has released. */
struct noise {
    struct subject t;
    struct hxb_memif_ring *rings[HXB_MEMIF_RINGS];
    uint32_t slots;
    uint64_t bytes; /* of the region */
    uint16_t *publishes, *releases, *ours;
    uint32_t lead;
    uint64_t random;
};

static uint32_t below(struct noise *n, uint32_t limit)
{
    return (uint32_t)((next_random(&n->random) >> 16) % limit);
}

static uint32_t noisy_length(struct noise *n)
{
    static const uint32_t lengths[] = {0, 1, 13, 14, 60, 100, 2048, FRAME_MAX, FRAME_MAX + 1, 65535, 65536, UINT32_MAX};
    uint32_t kind = below(n, 20);

    return kind < RTE_DIM(lengths) ? lengths[kind] : kind < 19 ? below(n, 4096) : (uint32_t)next_random(&n->random);
}

/* Much of it is nearly right: what is all wrong is refused at the first look. */
static void make_noise(struct noise *n)
{
    struct hxb_memif_ring *ring = n->rings[below(n, 2)];
    struct memif_descriptor *d = &ring->descriptors[below(n, n->slots)];

    switch (below(n, 16)) {
    case 0:
        d->what = next_random(&n->random);
        break;
    case 1:
        d->where = next_random(&n->random);
        break;
    case 2:
        ring->flags = (uint16_t)next_random(&n->random);
        break;
    case 3:
        if (below(n, 16) == 0) {
            *n->publishes = (uint16_t)next_random(&n->random);
        }
        break;
    case 4:
        if (below(n, 4) == 0) {
            *n->releases = (uint16_t)next_random(&n->random);
        }
        break;
    case 5:
        ring->head = (uint16_t)(ring->head + (below(n, 8) == 0));
        ring->tail = (uint16_t)(ring->tail + (below(n, 8) == 0));
        break;
    default:
        d->where = below(n, (uint32_t)n->bytes + 64);
        d->what = (uint64_t)noisy_length(n) << MEMIF_LENGTH_SHIFT | (below(n, 16) == 0 ? below(n, 20) << 16 : 0) |
                  (below(n, 3) == 0 ? MEMIF_NEXT : 0);
    }
    *n->publishes = (uint16_t)(*n->publishes + below(n, 4));
    *n->releases = (uint16_t)(*n->ours + n->lead - below(n, 3));
}

/* Our end in the midst of it: each frame is one, whole, and nobody else's. */
static void withstand(struct noise *n, int rounds)
{
    struct test_pool *p = n->t.p;
    uint64_t held[64] = {0}, descs[32];
    bool is_held[512] = {false};
    uint32_t next = 0, got = 0, sent = 0;

    CHECK(p->count < RTE_DIM(is_held));
    /* Between frames. */
    for (uint32_t id = 1; id <= p->count; id++) {
        memset(test_frame(p, id) - HXB_FRAME_OFFSET, CANARY, HXB_FRAME_OFFSET);
    }
    for (int round = 0; round < rounds; round++) {
        for (uint32_t k = below(n, 3); k < 3; k++) {
            make_noise(n);
        }
        int most = 1 + (int)below(n, 32), frames = hxb_rx_burst(n->t.port, 0, p->pool, descs, most);
        CHECK(frames >= 0 && frames <= most);
        for (int i = 0; i < frames; i++) {
            uint32_t id = descs[i] & HXB_DESC_ID_MASK;
            uint64_t length = descs[i] >> HXB_DESC_LENGTH_SHIFT;
            CHECK(id >= 1 && id <= p->count);
            CHECK(length >= HXB_MIN_FRAME && length <= FRAME_MAX);
            CHECK_EQ(descs[i] >> 24 & 0xff, 0);
            CHECK(!is_held[id]);
            is_held[id] = true;
            uint64_t *place = &held[next++ % RTE_DIM(held)];
            if (*place != 0) {
                is_held[*place & HXB_DESC_ID_MASK] = false;
                test_release(p, place, 1);
            }
            *place = descs[i];
        }
        got += (uint32_t)frames;
        uint32_t ids[4];
        int filled = hxb_pool_alloc_bulk(p->pool, ids, (int)below(n, 4));
        for (int i = 0; i < filled; i++) {
            CHECK(!is_held[ids[i]]);
            descs[i] = test_desc(ids[i], 14 + below(n, below(n, 8) == 0 ? FRAME_MAX - 13 : 200));
        }
        int gone = hxb_tx_burst(n->t.port, 0, p->pool, descs, filled);
        CHECK(gone >= 0);
        test_release(p, descs + gone, filled - gone);
        sent += (uint32_t)gone;
    }
    for (size_t i = 0; i < RTE_DIM(held); i++) {
        test_release(p, &held[i], held[i] != 0);
    }
    for (uint32_t id = 1; id <= p->count; id++) {
        for (int at = 1; at <= HXB_FRAME_OFFSET; at++) {
            CHECK_EQ(test_frame(p, id)[-at], CANARY);
        }
    }
    printf("%u frames received, %u sent in %d rounds\n", got, sent, rounds);
    CHECK(got > (uint32_t)rounds / 50 && sent > (uint32_t)rounds / 50);
    /* None is lost. */
    uint32_t ids[HXB_BURST_MAX], all = 0;
    for (uint32_t i = 0; i < 2; i++) {
        int k = hxb_pool_alloc_bulk(p->pool, ids, HXB_BURST_MAX);
        all += (uint32_t)k;
        for (int j = 0; j < k; j++) {
            CHECK(!is_held[ids[j]] || held[0] != 0);
            is_held[ids[j]] = true;
        }
    }
    CHECK_EQ(all, p->count);
    for (uint32_t id = 1; id <= p->count; id++) {
        uint64_t desc = id;
        test_release(p, &desc, 1);
    }
}

/* Another thread that changes descriptors between an end's looks; a frame of so many bytes takes a while to copy. */
#define LONG_ONE 9000
struct flicker {
    struct hxb_memif_ring *ring;
    uint32_t slots;
    uint64_t bytes;
    atomic_bool stop;
    atomic_uint turns;
};

static void *run_flicker(void *arg)
{
    struct flicker *f = arg;
    const uint64_t wrong[] = {UINT64_C(0xFFFFFFFF) << 32, (uint64_t)LONG_ONE << 32 | 0xFF << 16,
                              (uint64_t)(FRAME_MAX + 1) << 32};

    for (uint32_t i = 0; !atomic_load_explicit(&f->stop, memory_order_relaxed); i++) {
        struct memif_descriptor *d = &f->ring->descriptors[i % f->slots];
        __atomic_store_n(&d->what, (uint64_t)LONG_ONE << 32, __ATOMIC_RELAXED);
        __atomic_store_n(&d->where, 0, __ATOMIC_RELAXED);
        /* Some stay right, so that frames come however long this thread gets no processor. */
        if (i % 5 != 0) {
            __atomic_store_n(&d->what, wrong[i % RTE_DIM(wrong)], __ATOMIC_RELAXED);
            __atomic_store_n(&d->where, i % 2 == 0 ? UINT32_MAX : f->bytes - 60, __ATOMIC_RELAXED);
        }
        atomic_store_explicit(&f->turns, i, memory_order_relaxed);
    }
    return NULL;
}

static void withstand_flicker(struct noise *n, struct hxb_memif_ring *up)
{
    struct flicker f = {.ring = up, .slots = n->slots, .bytes = n->bytes};
    uint64_t descs[32];
    pthread_t thread;

    for (uint32_t i = 0; i < n->slots; i++) {
        up->descriptors[i] = describe(0, 0, LONG_ONE, false);
    }
    CHECK_EQ(pthread_create(&thread, NULL, run_flicker, &f), 0);
    uint32_t got = 0;
    int64_t end = test_now_ns() + 2000000000;
    while ((atomic_load(&f.turns) < 100000 || got < 1000) && test_now_ns() < end) {
        publish(n->publishes, 8);
        int frames = hxb_rx_burst(n->t.port, 0, n->t.p->pool, descs, 32);
        for (int i = 0; i < frames; i++) {
            uint64_t length = descs[i] >> HXB_DESC_LENGTH_SHIFT;
            /* A client writes its buffers' own length. */
            CHECK(length == LONG_ONE || (length == FRAME_MAX && n->lead == 0));
        }
        test_release(n->t.p, descs, frames);
        got += (uint32_t)frames;
    }
    CHECK(got > 0);
    atomic_store(&f.stop, true);
    CHECK_EQ(pthread_join(thread, NULL), 0);
}

static bool is_kept(int memory)
{
    return ftruncate(memory, 0) != 0 && fallocate(memory, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096) != 0;
}

void test_memif_hostile_memory(void)
{
    struct test_pool p;
    struct stranger s;
    char socket[40];

    snprintf(socket, sizeof(socket), "memory-%d", getpid());
    test_start_eal();
    test_make_pool(&p, "p", STRIDE_JUMBO, 511, 0);
    int port = attach(&p, "server", socket, "");
    /* One that had more regions, which are none any more. */
    make_stranger(&s, test_dial("", socket));
    CHECK_EQ(converse(&s, SAY_UP, TOO_MANY), SAY_UP);
    drop_stranger(&s);
    open_stranger(&s, port, socket);
    CHECK(is_kept(s.memory));
    struct subject t = {.p = &p, .port = port};
    expect_good(&t, &s);
    spoil_descriptors(&t, &s);
    spoil_chains(&t, &s);
    spoil_index(&t, &s);
    spoil_buffers(&t, &s);
    memset(s.at + REGION_BYTES, CANARY, FILE_BYTES - REGION_BYTES);
    struct noise n = {.t = t,
                      .rings = {s.rings[0], s.rings[1]},
                      .slots = SLOTS,
                      .bytes = REGION_BYTES,
                      .publishes = &s.rings[HXB_MEMIF_UP]->head,
                      .releases = &s.rings[HXB_MEMIF_DOWN]->head,
                      .ours = &s.rings[HXB_MEMIF_DOWN]->tail,
                      .lead = SLOTS,
                      .random = 88172645463325252u};
    withstand(&n, 200000);
    withstand_flicker(&n, s.rings[HXB_MEMIF_UP]);
    CHECK(is_untouched(&s, REGION_BYTES, FILE_BYTES));
    drop_stranger(&s);
    test_await_link(port, false);
    /* And the next one has its line. */
    open_stranger(&s, port, socket);
    CHECK_EQ(hxb_port_close(port), 0);
    drop_stranger(&s);
    test_free_pool(&p);
}

/* ---- A server by hand ---------------------------------------------------------------------------------- */

#define CLIENT_LOG2 4
#define CLIENT_ARGS "rsize=4,id=9"

static int listen_at(const char *socket)
{
    struct sockaddr_un address;
    socklen_t bytes;
    int fd = test_line_socket("", socket, &address, &bytes);

    CHECK_EQ(bind(fd, (struct sockaddr *)&address, bytes), 0);
    CHECK_EQ(listen(fd, 4), 0);
    return fd;
}

/* What our client has said: the memory, two rings and their eventfds. */
struct heard {
    int channel;
    int memory;
    int kicks[HXB_MEMIF_RINGS];
    uint32_t offsets[HXB_MEMIF_RINGS];
    uint64_t bytes;
    uint8_t *at;
    struct hxb_memif_ring *rings[HXB_MEMIF_RINGS];
};

static void say_hello(int channel)
{
    struct memif_message m = {.type = MEMIF_HELLO};

    m.hello.version_min = m.hello.version_max = MEMIF_VERSION;
    m.hello.slots_log2_max = 14;
    say_to(channel, &m, -1);
}

/* Hears what is said at that step. */
static void hear_step(struct heard *h, int step)
{
    struct memif_message m;

    switch (step) {
    case SAY_INIT:
        CHECK_EQ(listen_to(h->channel, &m, NULL), MEMIF_INIT);
        CHECK_EQ(m.init.version, MEMIF_VERSION);
        CHECK_EQ(m.init.id, 9);
        CHECK_EQ(m.init.mode, MEMIF_MODE_ETHERNET);
        break;
    case SAY_REGION:
        CHECK_EQ(listen_to(h->channel, &m, &h->memory), MEMIF_ADD_REGION);
        CHECK_EQ(m.add_region.index, 0);
        h->bytes = m.add_region.bytes;
        CHECK((fcntl(h->memory, F_GET_SEALS) & F_SEAL_SHRINK) != 0);
        break;
    case SAY_UP:
    case SAY_DOWN:
        CHECK_EQ(listen_to(h->channel, &m, &h->kicks[step - SAY_UP]), MEMIF_ADD_RING);
        CHECK_EQ(m.add_ring.flags & MEMIF_RING_UP, step == SAY_UP);
        CHECK_EQ(m.add_ring.slots_log2, CLIENT_LOG2);
        CHECK_EQ(m.add_ring.index | m.add_ring.region, 0);
        h->offsets[step - SAY_UP] = m.add_ring.offset;
        break;
    default:
        CHECK_EQ(listen_to(h->channel, &m, NULL), MEMIF_CONNECT);
    }
}

static void drop_heard(struct heard *h)
{
    close_if_open(h->memory);
    close_if_open(h->kicks[0]);
    close_if_open(h->kicks[1]);
    close(h->channel);
    if (h->at != NULL) {
        munmap(h->at, h->bytes);
    }
}

static struct heard accept_client(int listener)
{
    struct heard h = {.channel = accept4(listener, NULL, NULL, SOCK_CLOEXEC), .memory = -1, .kicks = {-1, -1}};

    CHECK(h.channel >= 0);
    return h;
}

/* All that is due up to that step. */
static void serve(struct heard *h, int steps)
{
    const struct memif_message ack = {.type = MEMIF_ACK}, connected = {.type = MEMIF_CONNECTED};

    say_hello(h->channel);
    for (int step = SAY_INIT; step < steps; step++) {
        hear_step(h, step);
        say_to(h->channel, step == SAY_CONNECT ? &connected : &ack, -1);
    }
}

static void open_server(struct heard *h, int listener, int port)
{
    const struct memif_message connected = {.type = MEMIF_CONNECTED};

    *h = accept_client(listener);
    serve(h, SAY_CONNECT);
    hear_step(h, SAY_CONNECT);
    h->at = mmap(NULL, h->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, h->memory, 0);
    CHECK(h->at != MAP_FAILED);
    for (int i = 0; i < HXB_MEMIF_RINGS; i++) {
        h->rings[i] = (struct hxb_memif_ring *)(void *)(h->at + h->offsets[i]);
        CHECK_EQ(h->rings[i]->cookie, MEMIF_COOKIE);
    }
    say_to(h->channel, &connected, -1);
    test_await_link(port, true);
    CHECK(is_kept(h->memory));
}

/* One word of what a server says, wrong; it comes in the place of what is due at `step`: HELLO before the first. */
static void say_wrong(int channel, int which)
{
    struct memif_message m = {.type = MEMIF_HELLO};
    struct { struct memif_message m; char more; } longer;
    size_t bytes = sizeof(m);
    int fds[2], count = 0, times = 1;

    m.hello.version_min = m.hello.version_max = MEMIF_VERSION;
    m.hello.slots_log2_max = 14;
    switch (which) {
    case 0: bytes = sizeof(m) - 1; break;
    case 1: bytes = sizeof(m) + 1; break;
    case 2: bytes = 0; break;
    case 3: m.hello.version_min = MEMIF_VERSION + 1; break;
    case 4: m.hello.version_max = MEMIF_VERSION - 1; break;
    case 5: m.hello.slots_log2_max = CLIENT_LOG2 - 1; break;
    case 6: m.type = 0; break;
    case 7: m.type = MEMIF_CONNECTED; break;
    case 8: m.type = MEMIF_DISCONNECT; break;
    case 9: m.type = MEMIF_INIT; break;
    case 10: memset(&m, 0xA5, sizeof(m)); break;
    case 11: m.type = MEMIF_ACK; times = 6; break;
    case 12: m.type = 0; fds[count++] = channel; fds[count++] = channel; break;
    default: break; /* a second HELLO */
    }
    longer.m = m;
    for (int i = 0; i < times; i++) {
        test_send_with(channel, &longer, bytes, fds, count);
    }
}

/* The client says no more than that it goes; `ahead`: than what it was asked for too early, each once. */
static void await_last(int channel, bool ahead)
{
    struct memif_message m;
    int type, said = 0;

    /* An error comes before what was said: that it has not read all. */
    while ((errno = 0, type = listen_to(channel, &m, NULL)) != 0 || errno == ECONNRESET) {
        said += type != 0 && type != MEMIF_DISCONNECT;
    }
    CHECK(said <= (ahead ? SAYINGS - SAY_REGION : 0));
}

/* Nonsense in the memory that our client has made: it knows itself where its buffers are. */
static void spoil_client(struct subject *t, const struct heard *h)
{
    static const uint32_t lengths[] = {14, 60, FRAME_MAX, 0, 13, FRAME_MAX + 1, 65535, UINT32_MAX, 60};
    static const int steps[] = {SLOTS + 1, -1, 1000, 32768};
    struct hxb_memif_ring *down = h->rings[HXB_MEMIF_DOWN], *up = h->rings[HXB_MEMIF_UP];
    uint32_t buffers[SLOTS];
    uint64_t descs[32];

    CHECK_EQ(down->head, SLOTS);
    for (uint32_t i = 0; i < SLOTS; i++) {
        buffers[i] = (uint32_t)down->descriptors[i].where;
        CHECK_EQ(down->descriptors[i].what >> MEMIF_LENGTH_SHIFT, FRAME_MAX);
        down->descriptors[i].where = UINT64_MAX;
    }
    for (uint32_t round = 0; round < 4; round++) {
        for (size_t i = 0; i < RTE_DIM(lengths); i++) {
            uint32_t slot = down->tail % SLOTS;
            bool good = lengths[i] >= HXB_MIN_FRAME && lengths[i] <= FRAME_MAX;
            for (uint32_t at = 0; good && at < lengths[i]; at++) {
                h->at[buffers[slot] + at] = byte_of(slot, at);
            }
            down->descriptors[slot] = describe(round % 2 == 0 ? 0 : 0xFFFF, UINT32_MAX, lengths[i], false);
            publish(&down->tail, 1);
            expect(t, descs, good, !good);
            if (good) {
                check_frame(t->p, descs[0], slot, lengths[i]);
                test_release(t->p, descs, 1);
            }
        }
        /* Chains: whole within a frame's length, else none. */
        for (uint32_t i = 0; i < 2; i++) {
            down->descriptors[(down->tail + i) % SLOTS] = describe(0, 0, 5000, i == 0);
        }
        publish(&down->tail, 2);
        expect(t, descs, 1, 0);
        CHECK_EQ(descs[0] >> HXB_DESC_LENGTH_SHIFT, 10000);
        test_release(t->p, descs, 1);
        for (uint32_t i = 0; i < SLOTS; i++) {
            down->descriptors[i] = describe(0, 0, 5000, true);
        }
        publish(&down->tail, SLOTS);
        expect(t, descs, 0, 1);
        publish(&down->tail, steps[round]);
        expect(t, descs, 0, 1);
        CHECK_EQ(down->head, (uint16_t)(down->tail + SLOTS));
    }
    /* It sends as many as the ring has, whatever its server says to have received. */
    int sent = 0;
    for (size_t i = 0; i < RTE_DIM(steps); i++) {
        while (send_to(t, 60)) {
            sent++;
        }
        CHECK_EQ(up->head, sent);
        up->tail = (uint16_t)(up->head + (steps[i] == -1 ? 1 : steps[i]));
        CHECK(!send_to(t, 60));
        up->tail = up->head;
    }
    CHECK_EQ(sent, RTE_DIM(steps) * SLOTS);
    /* Into its own buffers, wherever the descriptors point. */
    up->descriptors[up->head % SLOTS] = describe(9, UINT32_MAX, UINT32_MAX, true);
    uint32_t slot = up->head % SLOTS;
    CHECK(send_to(t, 60));
    CHECK_EQ(up->descriptors[slot].what, UINT64_C(60) << MEMIF_LENGTH_SHIFT);
    up->tail = up->head;
}

void test_memif_hostile_server(void)
{
    struct test_pool p;
    struct heard h;
    char socket[40];
    int before = 0;

    snprintf(socket, sizeof(socket), "server-%d", getpid());
    test_start_eal();
    test_make_pool(&p, "p", STRIDE_JUMBO, 511, 0);
    int listener = listen_at(socket);
    int port = attach(&p, "client", socket, CLIENT_ARGS);
    for (int which = 0; which < 14; which++) {
        /* In the place of HELLO; of the answer to INIT, where a wrong HELLO is wrong as well; of that to CONNECT. */
        static const int due[] = {-1, SAY_INIT, SAY_CONNECT};
        for (size_t i = which == 13; i < RTE_DIM(due); i++) {
            if (which == 7 && due[i] == SAY_CONNECT) {
                continue; /* CONNECTED, as it should be */
            }
            h = accept_client(listener);
            /* Each time the same: its channel and ours. */
            if (before == 0) {
                before = test_open_descriptors();
            }
            await_descriptors(before);
            if (due[i] >= 0) {
                serve(&h, due[i]);
                hear_step(&h, due[i]);
            }
            say_wrong(h.channel, which);
            await_last(h.channel, which == 11 && due[i] == SAY_INIT);
            CHECK_EQ(hxb_port_link(port), 0);
            drop_heard(&h);
        }
    }
    /* One that says nothing is left after a second. */
    h = accept_client(listener);
    await_last(h.channel, false);
    drop_heard(&h);
    open_server(&h, listener, port);
    struct subject t = {.p = &p, .port = port};
    spoil_client(&t, &h);
    struct noise n = {.t = t,
                      .rings = {h.rings[0], h.rings[1]},
                      .slots = SLOTS,
                      .bytes = h.bytes,
                      .publishes = &h.rings[HXB_MEMIF_DOWN]->tail,
                      .releases = &h.rings[HXB_MEMIF_UP]->tail,
                      .ours = &h.rings[HXB_MEMIF_UP]->head,
                      .random = 88172645463325252u};
    withstand(&n, 200000);
    withstand_flicker(&n, h.rings[HXB_MEMIF_DOWN]);
    /* Whoever speaks once there is a line loses it; and what was sent before can be received. */
    say_hello(h.channel);
    await_last(h.channel, false);
    test_await_link(port, false);
    drop_heard(&h);
    open_server(&h, listener, port);
    CHECK_EQ(hxb_port_close(port), 0);
    drop_heard(&h);
    close(listener);
    test_free_pool(&p);
}

/* ---- Interrupts ---------------------------------------------------------------------------------------- */

static uint64_t taken_from(int kick)
{
    uint64_t count = 0;

    return read(kick, &count, sizeof(count)) == (ssize_t)sizeof(count) ? count : 0;
}

/* Behind a burst, which does not kick by itself. */
static void ring_for(const struct subject *t, int eventfd_of_it, bool sleeps, uint64_t kicks)
{
    CHECK_EQ(taken_from(eventfd_of_it), 0);
    CHECK_EQ(hxb_pool_bells(t->p->pool)[0] != 0, sleeps);
    CHECK_EQ(hxb_ring_bells(t->p->pool), kicks);
    CHECK_EQ(hxb_pool_bells(t->p->pool)[0], 0);
    CHECK_EQ(taken_from(eventfd_of_it), kicks);
}

/* A peer that sleeps is kicked once a burst, one that polls never; and none keeps its sender waiting. */
static void kick(const struct subject *t, struct hxb_memif_ring *ring, int eventfd_of_it, uint16_t *released,
                 const uint16_t *published, uint32_t lead)
{
    uint64_t descs[8];

    for (int round = 0; round < 10; round++) {
        *released = (uint16_t)(*published + lead);
        ring->flags = round % 2 == 0 ? 0 : MEMIF_MASK_INTERRUPTS;
        test_fill(t->p, descs, 8, 60);
        CHECK_EQ(hxb_tx_burst(t->port, 0, t->p->pool, descs, 8), 8);
        ring_for(t, eventfd_of_it, round % 2 == 0, round % 2 == 0);
    }
    /* Nothing is sent: no kick. */
    ring->flags = 0;
    CHECK_EQ(hxb_tx_burst(t->port, 0, t->p->pool, descs, 0), 0);
    ring_for(t, eventfd_of_it, false, 0);
    /* Full, and made one on which writers wait, after the line was made. */
    for (int blocking = 0; blocking < 2; blocking++) {
        const uint64_t full = UINT64_MAX - 1;
        CHECK_EQ(write(eventfd_of_it, &full, sizeof(full)), sizeof(full));
        CHECK_EQ(fcntl(eventfd_of_it, F_SETFL, blocking ? 0 : O_NONBLOCK), 0);
        for (int round = 0; round < 3; round++) {
            *released = (uint16_t)(*published + lead);
            CHECK(send_to(t, 60));
            CHECK_EQ(hxb_ring_bells(t->p->pool), 0);
        }
        CHECK_EQ(taken_from(eventfd_of_it), full);
    }
    CHECK_EQ(fcntl(eventfd_of_it, F_SETFL, O_NONBLOCK), 0);
}

void test_memif_interrupts(void)
{
    struct test_pool p;
    struct stranger s;
    struct heard h;
    struct memif_message heard;
    struct saying say;
    char socket[40];

    alarm(20); /* of whoever waits in a burst */
    snprintf(socket, sizeof(socket), "kick-%d", getpid());
    test_start_eal();
    test_make_pool(&p, "p", STRIDE_JUMBO, 511, 0);
    struct subject t = {.p = &p, .port = attach(&p, "server", socket, "")};
    /* Eventfds that block, one of them full. */
    make_stranger(&s, test_dial("", socket));
    close(s.kicks[HXB_MEMIF_DOWN]);
    s.kicks[HXB_MEMIF_DOWN] = eventfd(0, EFD_CLOEXEC);
    CHECK_EQ(eventfd_write(s.kicks[HXB_MEMIF_DOWN], UINT64_MAX - 1), 0);
    CHECK_EQ(listen_to(s.channel, &heard, NULL), MEMIF_HELLO);
    for (int step = SAY_INIT; step < SAYINGS; step++) {
        prepare(&s, step, &say);
        test_send_with(s.channel, &say.m, say.bytes, say.fds, say.count);
        CHECK_EQ(listen_to(s.channel, &heard, NULL), step == SAY_CONNECT ? MEMIF_CONNECTED : MEMIF_ACK);
    }
    test_await_link(t.port, true);
    struct hxb_memif_ring *down = s.rings[HXB_MEMIF_DOWN];
    down->head = SLOTS;
    CHECK(send_to(&t, 60));
    CHECK_EQ(hxb_ring_bells(p.pool), 0);
    CHECK_EQ(taken_from(s.kicks[HXB_MEMIF_DOWN]), UINT64_MAX - 1);
    /* It polls itself. */
    CHECK_EQ(s.rings[HXB_MEMIF_UP]->flags & MEMIF_MASK_INTERRUPTS, MEMIF_MASK_INTERRUPTS);
    kick(&t, down, s.kicks[HXB_MEMIF_DOWN], &down->head, &down->tail, SLOTS);
    CHECK_EQ(taken_from(s.kicks[HXB_MEMIF_UP]), 0);
    CHECK_EQ(hxb_port_close(t.port), 0);
    drop_stranger(&s);

    int listener = listen_at(socket);
    t.port = attach(&p, "client", socket, CLIENT_ARGS);
    open_server(&h, listener, t.port);
    struct hxb_memif_ring *up = h.rings[HXB_MEMIF_UP];
    CHECK_EQ(h.rings[HXB_MEMIF_DOWN]->flags & MEMIF_MASK_INTERRUPTS, MEMIF_MASK_INTERRUPTS);
    kick(&t, up, h.kicks[HXB_MEMIF_UP], &up->tail, &up->head, 0);
    CHECK_EQ(taken_from(h.kicks[HXB_MEMIF_DOWN]), 0);
    CHECK_EQ(hxb_port_close(t.port), 0);
    drop_heard(&h);
    close(listener);
    test_free_pool(&p);
}
