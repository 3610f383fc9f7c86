/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of shared memory, memif's and our own: between two processes, each with a pool of its own; ends that close or
 * die; and, of our own, strangers and peers that write what they should not. Memif's strangers: test_memif.c. */
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "internal.h"
#include "test.h"

#ifndef SO_PASSRIGHTS
#define SO_PASSRIGHTS 83
#endif

#define FRAMES 200
#define LENGTH 9014

/* The two drivers: what a device's name begins with, what a socket's, and further arguments. */
struct driver {
    const char *device;
    const char *socket;
    const char *args;
};

static const struct driver memif = {
    .device = "memif_",
    .socket = "",
    .args = "id=0,rsize=8,mac=02000000000b",
};
static const struct driver shm = {
    .device = "shm_", .socket = "pmhxb-shm/", .args = "mac=02000000000a"};

/* Of this test, which is this process. */
static const struct driver *driver;

int test_attach_line(struct test_pool *p, const char *device, const char *args)
{
    struct hxb_port_config config = {.queues = 1};

    int port = hxb_port_attach(device, args);
    CHECK(port >= 0);
    CHECK_EQ(hxb_port_configure(port, &config, &p->pool), 0);
    CHECK_EQ(hxb_port_start(port), 0);
    return port;
}

static int attach_port(struct test_pool *p, const char *name, const char *role, const char *socket)
{
    char args[256], device[64];

    snprintf(args, sizeof(args), "role=%s,socket=%s,%s", role, socket, driver->args);
    snprintf(device, sizeof(device), "%s%s", driver->device, name);
    return test_attach_line(p, device, args);
}

/* Of a link to a process of ours (peer > 0): one that is dead is told by its status, not by the wait. */
void test_await_link_to(pid_t peer, int port, bool up)
{
    for (int i = 0; (hxb_port_link(port) != 0) != up; i++) {
        int status = 0;
        CHECK(peer <= 0 || waitpid(peer, &status, WNOHANG) >= 0);
        CHECK_EQ(status, 0);
        CHECK(i < 10000);
        usleep(1000);
    }
}

void test_await_link(int port, bool up)
{
    test_await_link_to(0, port, up);
}

/* In a process whose EAL has started. */
static int join_line(struct test_pool *p, const char *role, const char *socket)
{
    test_make_pool(p, "p", STRIDE_JUMBO, 511, 0);
    int port = attach_port(p, "0", role, socket);
    test_await_link(port, true);
    return port;
}

static int open_port(struct test_pool *p, const char *role, const char *socket)
{
    test_start_eal();
    return join_line(p, role, socket);
}

/* Whether any process has an abstract socket of this name. */
static bool socket_exists(const char *name)
{
    char line[512], wanted[80];
    bool found = false;
    FILE *f = fopen("/proc/net/unix", "r");

    CHECK(f != NULL);
    snprintf(wanted, sizeof(wanted), "@%s%s\n", driver->socket, name);
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

static void both_ways(void)
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
static void close_ends(void)
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
        ports[0] = attach_port(&pools[0], "a", "server", socket);
        ports[1] = attach_port(&pools[1], "b", "client", socket);
        test_await_link(ports[0], true);
        test_await_link(ports[1], true);
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
static void any_order(void)
{
    struct test_pool p;
    int status, go[2], got[2];
    char socket[64], byte;

    snprintf(socket, sizeof(socket), "pmhxb-order-%d", getpid());
    CHECK_EQ(pipe(go), 0);
    CHECK_EQ(pipe(got), 0);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        CHECK_EQ(read(go[0], &byte, 1), 1);
        int port = open_port(&p, "server", socket);
        receive_all(port, &p);
        CHECK_EQ(write(got[1], "g", 1), 1);
        test_await_link(port, false);
        usleep(200000);
        CHECK_EQ(hxb_port_link(port), 0);
        CHECK_EQ(hxb_port_close(port), 0);
        test_free_pool(&p);
        _exit(0);
    }
    close(got[1]);
    test_start_eal();
    test_make_pool(&p, "p", STRIDE_JUMBO, 511, 0);
    int port = attach_port(&p, "0", "client", socket);
    usleep(120000);
    CHECK_EQ(hxb_port_link(port), 0);
    CHECK_EQ(write(go[1], "g", 1), 1);
    test_await_link(port, true);
    send_all(port, &p);
    /* The server has seen the link, however late it is given a processor. */
    CHECK_EQ(read(got[0], &byte, 1), 1);
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
    test_start_eal(); /* all at once, before the survivor's flood takes a processor */
    CHECK_EQ(read(go, &byte, 1), 1);
    int port = join_line(&p, role, socket);
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
    port = attach_port(&p, "0", role, socket);
    struct flood f = {.pools = &p, .ports = &port, .count = 1};
    flood_start(&f);
    for (int i = 0; i < VICTIMS; i++) {
        CHECK_EQ(write(go[i][1], "g", 1), 1);
        test_await_link_to(victims[i], port, true);
        await_frames(&f, 1000);
        CHECK_EQ(kill(victims[i], SIGKILL), 0);
        test_await_link(port, false);
        CHECK_EQ(waitpid(victims[i], NULL, 0), victims[i]);
    }
    flood_stop(&f);
    CHECK_EQ(hxb_port_close(port), 0);
    CHECK(!socket_exists(socket));
    test_free_pool(&p);
}

void test_memif(void)
{
    driver = &memif;
    both_ways();
}

void test_memif_close(void)
{
    driver = &memif;
    close_ends();
}

void test_memif_order(void)
{
    driver = &memif;
    any_order();
}

void test_memif_killed_client(void)
{
    driver = &memif;
    survive("server", "client");
}

void test_memif_killed_server(void)
{
    driver = &memif;
    survive("client", "server");
}

void test_shm(void)
{
    driver = &shm;
    both_ways();
}

void test_shm_close(void)
{
    driver = &shm;
    close_ends();
}

void test_shm_order(void)
{
    driver = &shm;
    any_order();
}

void test_shm_killed_client(void)
{
    driver = &shm;
    survive("server", "client");
}

void test_shm_killed_server(void)
{
    driver = &shm;
    survive("client", "server");
}

/* ---- Our own lines: strangers ------------------------------------------------------------------ */

/* As in shm.c. */
struct hello {
    char magic[8];
    uint32_t slots;
    uint32_t stride_bytes;
    uint32_t frame_max;
    uint32_t head_bytes;
    uint64_t bytes;
};

#define PAGE 4096u
#define LENGTH_SEALS (F_SEAL_SHRINK | F_SEAL_GROW)
#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL)
#define WORD(number, length) (((uint64_t)(number) + 1) << 16 | (length))

int test_line_socket(const char *prefix, const char *line, struct sockaddr_un *address, socklen_t *bytes)
{
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

    CHECK(fd >= 0);
    memset(address, 0, sizeof(*address));
    address->sun_family = AF_UNIX;
    int n = snprintf(address->sun_path + 1, sizeof(address->sun_path) - 1, "%s%s", prefix, line);
    *bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
    return fd;
}

int test_dial(const char *prefix, const char *line)
{
    struct sockaddr_un address;
    socklen_t bytes;
    int fd = test_line_socket(prefix, line, &address, &bytes);

    for (int i = 0; connect(fd, (struct sockaddr *)&address, bytes) != 0; i++) {
        CHECK(i < 10000);
        usleep(1000);
    }
    return fd;
}

static int dial(const char *line)
{
    return test_dial(shm.socket, line);
}

/* What a client is given: the memory, and its end of the bell; -1: the connection was closed instead. */
static int take_line(int channel, struct hello *h, int *bell)
{
    char control[CMSG_SPACE(2 * sizeof(int))] = {0};
    struct iovec part = {.iov_base = h, .iov_len = sizeof(*h)};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control,
                             .msg_controllen = sizeof(control)};
    int fds[2] = {-1, -1};

    if (recvmsg(channel, &message, 0) == (ssize_t)sizeof(*h)) {
        CHECK(CMSG_FIRSTHDR(&message) != NULL);
        CHECK_EQ(CMSG_FIRSTHDR(&message)->cmsg_len, CMSG_LEN(sizeof(fds)));
        memcpy(fds, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(fds));
    }
    *bell = fds[1];
    return fds[0];
}

void test_send_with(int channel, const void *m, size_t bytes, const int *fds, int count)
{
    char control[CMSG_SPACE(3 * sizeof(int))] = {0};
    struct iovec part = {.iov_base = (void *)(uintptr_t)m, .iov_len = bytes};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};

    if (count > 0) {
        message.msg_control = control;
        message.msg_controllen = CMSG_SPACE((size_t)count * sizeof(int));
        struct cmsghdr *c = CMSG_FIRSTHDR(&message);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN((size_t)count * sizeof(int));
        memcpy(CMSG_DATA(c), fds, (size_t)count * sizeof(int));
    }
    CHECK(sendmsg(channel, &message, MSG_NOSIGNAL) >= 0 || errno == EPIPE || errno == ECONNRESET);
}

/* But for epoll instances: EAL's interrupt thread closes its own and opens another one after each change of what it
 * watches, so that it would be missing at times; that of lines begins with the first. */
static bool is_counted(int fd)
{
    static const char epoll[] = "anon_inode:[eventpoll]";
    char path[32];
    char target[sizeof(epoll)];

    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    ssize_t bytes = readlink(path, target, sizeof(target));
    return bytes >= 0 && (bytes != sizeof(epoll) - 1 || memcmp(target, epoll, sizeof(epoll) - 1) != 0);
}

int test_open_descriptors(void)
{
    int count = 0;

    for (int fd = 0; fd < 1024; fd++) {
        count += fcntl(fd, F_GETFD) >= 0 && is_counted(fd);
    }
    return count;
}

void test_await_end(int channel)
{
    char byte;

    CHECK_EQ(recv(channel, &byte, 1, 0) > 0, 0);
}

/* Rings that are none: they cost this end a wake-up, and no call waits. */
static void spoil_bell(int port, int bell, uint32_t *doze)
{
    int fd = hxb_port_wake_fd(port);

    CHECK(fd >= 0);
    CHECK_EQ(hxb_port_wake(port, 1), 0);
    for (int kind = 0; kind < 4; kind++) {
        __atomic_store_n(doze, kind == 0 ? 0xffffffffu : (uint32_t)kind - 1, __ATOMIC_RELEASE);
        CHECK(hxb_port_sleep(port) >= 0);
        int rings = 0;
        while (rings < 100000 && send(bell, "0123456789", kind == 2 ? 10 : kind == 3 ? 0 : 1, MSG_DONTWAIT) >= 0) {
            rings++;
        }
        CHECK(rings > 0);
        CHECK_EQ(hxb_wait(&fd, 1, -1, 1000000), 1);
        for (int i = 0; i <= rings; i++) {
            CHECK_EQ(hxb_port_wake(port, 1), 0);
        }
        CHECK_EQ(hxb_wait(&fd, 1, -1, 0), 0);
    }
    CHECK_EQ(shutdown(bell, SHUT_RDWR), 0);
    CHECK_EQ(hxb_wait(&fd, 1, -1, 0), 0);
    close(bell);
}

/* Sends a message with a descriptor; returns errno. */
static int give(int channel)
{
    char control[CMSG_SPACE(sizeof(int))] = {0};
    struct iovec part = {.iov_base = "", .iov_len = 1};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control,
                             .msg_controllen = sizeof(control)};
    struct cmsghdr *c = CMSG_FIRSTHDR(&message);

    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof(channel));
    memcpy(CMSG_DATA(c), &channel, sizeof(channel));
    return sendmsg(channel, &message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? errno : 0;
}

/* What waits at a listener, of whichever user, holds nothing that EAL's thread would have to close. */
void test_line_gifts(void)
{
    static const struct driver *const kinds[] = {&shm, &memif};
    const int none = 0;
    int probe = socket(AF_UNIX, SOCK_SEQPACKET, 0), status;
    char line[64];

    if (setsockopt(probe, SOL_SOCKET, SO_PASSRIGHTS, &none, sizeof(none)) != 0) {
        test_skip("this kernel is older than Linux 6.16, which refuses descriptors");
    }
    close(probe);
    snprintf(line, sizeof(line), "gifts-%d", getpid());
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        struct test_pool p;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        test_start_eal();
        test_make_pool(&p, "p", STRIDE_SMALL, 255, 0);
        for (size_t i = 0; i < RTE_DIM(kinds); i++) {
            driver = kinds[i];
            attach_port(&p, "0", "server", line);
        }
        /* So that none of its threads is there to accept. */
        raise(SIGSTOP);
        _exit(1);
    }
    CHECK_EQ(waitpid(child, &status, WUNTRACED), child);
    CHECK(WIFSTOPPED(status));
    for (size_t i = 0; i < RTE_DIM(kinds); i++) {
        int channel = test_dial(kinds[i]->socket, line);
        CHECK_EQ(give(channel), EPERM);
        close(channel);
    }
    CHECK_EQ(kill(child, SIGKILL), 0);
    CHECK_EQ(waitpid(child, &status, 0), child);
}

/* A peer that writes whatever it likes into the line. */
void test_shm_hostile_peer(void)
{
    struct test_pool p;
    struct hello h;
    struct hxb_port_stats stats;
    char line[64];
    uint64_t descs[32], random = 88172645463325252u;
    static const uint32_t lengths[] = {1, 13, 14, 60, 9014, 10240, 10241, 16384, 65535};

    snprintf(line, sizeof(line), "hostile-%d", getpid());
    driver = &shm;
    test_start_eal();
    test_make_pool(&p, "p", STRIDE_JUMBO, 511, 0);
    int port = attach_port(&p, "0", "server", line);
    /* Who does not seal the memory, or says anything else, has no line. */
    for (int i = 0; i < 3; i++) {
        int bell, silly = dial(line), its = take_line(silly, &h, &bell);
        CHECK(its >= 0);
        CHECK_EQ(hxb_port_link(port), 0);
        CHECK(i != 1 || fcntl(its, F_ADD_SEALS, SEALS) == 0);
        CHECK(send(silly, "xy", i == 1 ? 2 : i / 2, 0) >= 0);
        test_await_end(silly);
        CHECK_EQ(hxb_port_link(port), 0);
        close(silly);
        close(its);
        close(bell);
    }
    int channel = dial(line), bell;
    int fd = take_line(channel, &h, &bell);
    CHECK(fd >= 0);
    uint8_t *memory = mmap(NULL, h.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    CHECK(memory != MAP_FAILED);
    CHECK_EQ(fcntl(fd, F_ADD_SEALS, SEALS), 0);
    CHECK_EQ(send(channel, "", 1, 0), 1);
    test_await_link(port, true);
    /* Nobody may take memory away: touching it would end both processes. */
    CHECK(ftruncate(fd, 0) != 0);
    CHECK(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, PAGE) != 0);
    uint8_t *from_us = memory + PAGE + (size_t)h.slots * h.stride_bytes;

    /* Every length there is to say, each slot in turn: what is out of range is counted. */
    long good = 0, bad = 0;
    uint64_t number = 0;
    for (int round = 0; round < 100; round++) {
        for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++, number++) {
            uint64_t *slot = (uint64_t *)(void *)(from_us + number % h.slots * h.stride_bytes);
            memset(slot + 1, (int)number, 64);
            __atomic_store_n(slot, WORD(number, lengths[i]), __ATOMIC_RELEASE);
            int n = hxb_rx_burst(port, 0, p.pool, descs, 32);
            bool fits = lengths[i] >= HXB_MIN_FRAME && lengths[i] <= h.frame_max;
            CHECK_EQ(n, fits ? 1 : 0);
            good += fits;
            bad += !fits;
            if (n == 1) {
                CHECK_EQ(descs[0] >> HXB_DESC_LENGTH_SHIFT, lengths[i]);
                test_release(&p, descs, 1);
            }
        }
    }
    CHECK_EQ(hxb_port_stats(port, &stats), 0);
    CHECK_EQ(stats.rx_packets, good);
    CHECK_EQ(stats.rx_refused_length, bad);

    /* Consumed what was never sent, or far behind: no slot is written beyond what can be. */
    uint64_t *consumed = (uint64_t *)(void *)memory;
    static const uint64_t claims[] = {1, 1u << 20, UINT64_MAX, UINT64_MAX - 255, 1ull << 63};
    int sent = 0;
    for (size_t i = 0; i < sizeof(claims) / sizeof(claims[0]); i++) {
        __atomic_store_n(consumed, claims[i], __ATOMIC_RELEASE);
        for (int k = 0; k < 40; k++) {
            test_fill(&p, descs, 8, 60);
            int n = hxb_tx_burst(port, 0, p.pool, descs, 8);
            CHECK(n >= 0 && n <= 8);
            test_release(&p, descs + n, 8 - n);
            sent += n;
        }
    }
    CHECK(sent >= (int)h.slots && sent <= 2 * (int)h.slots);

    /* Noise everywhere, and what may come of it: no crash, no frame out of range. */
    for (int round = 0; round < 200; round++) {
        for (size_t at = 0; at + 8 <= h.bytes; at += 8 + random % 512 / 8 * 8) {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            memcpy(memory + at, &random, 8);
        }
        for (uint64_t i = 0; i < h.slots; i += 1 + random % 3) {
            uint64_t *slot = (uint64_t *)(void *)(from_us + (number + i) % h.slots * h.stride_bytes);
            __atomic_store_n(slot, WORD(number + i, (random >> 16 ^ i * 977) & 0xffff), __ATOMIC_RELEASE);
        }
        for (int n; (n = hxb_rx_burst(port, 0, p.pool, descs, 32)) != 0;) {
            CHECK(n > 0);
            for (int i = 0; i < n; i++) {
                uint64_t length = descs[i] >> HXB_DESC_LENGTH_SHIFT;
                CHECK(length >= HXB_MIN_FRAME && length <= h.frame_max);
            }
            test_release(&p, descs, n);
        }
        test_fill(&p, descs, 8, 9014);
        int n = hxb_tx_burst(port, 0, p.pool, descs, 8);
        test_release(&p, descs + n, 8 - n);
        CHECK_EQ(hxb_port_stats(port, &stats), 0);
        number = stats.rx_packets + stats.rx_refused_length;
    }

    spoil_bell(port, bell, (uint32_t *)(void *)(memory + 256 + 128));

    /* Another client has no line while there is one; and whoever speaks loses it. */
    int second = dial(line);
    test_await_end(second);
    close(second);
    CHECK_EQ(hxb_port_link(port), 1);
    CHECK_EQ(send(channel, "x", 1, 0), 1);
    test_await_end(channel);
    test_await_link(port, false);
    test_fill(&p, descs, 1, 60);
    CHECK_EQ(hxb_tx_burst(port, 0, p.pool, descs, 1), -ENETDOWN);
    test_release(&p, descs, 1);
    close(channel);
    close(fd);
    munmap(memory, h.bytes);
    CHECK_EQ(hxb_port_close(port), 0);
    test_free_pool(&p);
}

int test_sealed(uint64_t bytes, int seals)
{
    int fd = memfd_create("test-line", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    CHECK(fd >= 0);
    CHECK_EQ(ftruncate(fd, (off_t)bytes), 0);
    CHECK_EQ(fcntl(fd, F_ADD_SEALS, seals), 0);
    return fd;
}

/* Servers that offer what is no line: the client leaves each, keeps no descriptor, and looks again. */
void test_shm_hostile_server(void)
{
    struct test_pool p;
    struct sockaddr_un address;
    socklen_t bytes;
    char name[64];

    snprintf(name, sizeof(name), "bad-server-%d", getpid());
    driver = &shm;
    test_start_eal();
    test_make_pool(&p, "p", STRIDE_JUMBO, 511, 0);
    int listener = test_line_socket(shm.socket, name, &address, &bytes);
    CHECK_EQ(bind(listener, (struct sockaddr *)&address, bytes), 0);
    CHECK_EQ(listen(listener, 4), 0);
    int port = attach_port(&p, "0", "client", name);

    const struct hello good = {.magic = "HXBSHM02",
                               .slots = 256,
                               .stride_bytes = 161 * 64,
                               .frame_max = HXB_FRAME_MAX(STRIDE_JUMBO),
                               .head_bytes = 256,
                               .bytes = PAGE + 2ull * 256 * 161 * 64};
    struct hello offers[14];
    for (int i = 0; i < 14; i++) {
        offers[i] = good;
    }
    offers[0].magic[7] = '9';
    offers[1].slots = 0;
    offers[2].slots = 255;
    offers[3].slots = 1u << 31;
    offers[4].stride_bytes = 64;
    offers[5].stride_bytes = UINT32_MAX - 63;
    offers[6].frame_max = UINT32_MAX;
    offers[7].frame_max = 13;
    offers[8].frame_max = 1514; /* not as long as this end's */
    offers[9].bytes = 0;
    offers[10].bytes = UINT64_MAX;
    offers[11].slots = 65536; /* in itself in order, but an hour's work to map */
    offers[11].bytes = PAGE + 2ull * 65536 * 161 * 64;
    offers[12].head_bytes = 0;
    /* 13: in order, but for the memory. */
    int before = test_open_descriptors();
    for (int i = 0; i < 14 + 9; i++) {
        int channel = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        CHECK(channel >= 0);
        const struct hello *h = &offers[i < 13 ? i : 13];
        uint64_t length = i == 14 ? good.bytes / 2 : i < 13 && h->bytes < 1ull << 40 ? h->bytes : good.bytes;
        int memory = test_sealed(length, i == 13 ? 0 : LENGTH_SEALS);
        int null = open("/dev/null", O_RDWR | O_CLOEXEC), pair[2], stream[2];
        CHECK_EQ(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, pair), 0);
        CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, stream), 0);
        int fds[3] = {memory, pair[1], null};
        switch (i) {
        case 15: /* no descriptor */
            test_send_with(channel, h, sizeof(*h), NULL, 0);
            break;
        case 16: /* three */
            test_send_with(channel, h, sizeof(*h), fds, 3);
            break;
        case 17: /* not all of it */
            test_send_with(channel, h, sizeof(*h) - 1, fds, 2);
            break;
        case 18: /* nothing of it */
            test_send_with(channel, h, 0, fds, 2);
            break;
        case 19: /* no memory */
            test_send_with(channel, h, sizeof(*h), (int[]){null, pair[1]}, 2);
            break;
        case 20: /* no bell */
            test_send_with(channel, h, sizeof(*h), fds, 1);
            break;
        case 21: /* one that is no socket */
            test_send_with(channel, h, sizeof(*h), (int[]){memory, null}, 2);
            break;
        case 22: /* one of another kind */
            test_send_with(channel, h, sizeof(*h), (int[]){memory, stream[1]}, 2);
            break;
        default:
            test_send_with(channel, h, sizeof(*h), fds, 2);
        }
        test_await_end(channel);
        CHECK_EQ(hxb_port_link(port), 0);
        close(channel);
        close(memory);
        close(null);
        for (int k = 0; k < 2; k++) {
            close(pair[k]);
            close(stream[k]);
        }
    }
    for (int i = 0; test_open_descriptors() > before; i++) {
        CHECK(i < 1000); /* of a connection that the client has begun again */
        usleep(10);
        if (i % 100 == 99) {
            int channel = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
            close(channel);
        }
    }
    int channel = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    int fd = test_sealed(good.bytes, LENGTH_SEALS), bells[2];
    CHECK(channel >= 0);
    CHECK_EQ(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, bells), 0);
    test_send_with(channel, &good, sizeof(good), (int[]){fd, bells[1]}, 2);
    test_await_link(port, true);
    char byte;
    CHECK_EQ(recv(channel, &byte, 1, 0), 1);
    CHECK_EQ(fcntl(fd, F_GET_SEALS) & SEALS, SEALS);
    /* A server that shuts the client's end of the bell for it: a few wake-ups later it is silent. */
    int its = hxb_port_wake_fd(port);
    CHECK_EQ(hxb_wait(&its, 1, -1, 0), 0);
    CHECK_EQ(shutdown(bells[1], SHUT_RDWR), 0);
    CHECK_EQ(hxb_wait(&its, 1, -1, 0), 1);
    for (int i = 0; i < 32; i++) {
        CHECK_EQ(hxb_port_wake(port, 1), 0);
    }
    CHECK_EQ(hxb_wait(&its, 1, -1, 0), 0);
    close(bells[0]);
    close(bells[1]);
    close(channel);
    close(fd);
    test_await_link(port, false);
    CHECK_EQ(hxb_port_close(port), 0);
    close(listener);
    test_free_pool(&p);
}

/* ---- Sleeping -------------------------------------------------------------------------------------- */

static void send_one(int port, struct test_pool *p, int expected_rings)
{
    uint64_t desc;

    test_fill(p, &desc, 1, 60);
    CHECK_EQ(hxb_tx_burst(port, 0, p->pool, &desc, 1), 1);
    CHECK_EQ(*hxb_pool_bells(p->pool) != 0, expected_rings != 0);
    CHECK_EQ(hxb_ring_bells(p->pool), expected_rings);
}

static void receive_one(int port, struct test_pool *p)
{
    uint64_t desc;

    CHECK_EQ(hxb_rx_burst(port, 0, p->pool, &desc, 1), 1);
    test_release(p, &desc, 1);
}

/* What the wait said; 0: it was the clock that ended it, whatever is there by then. */
static void *wait_long(void *arg)
{
    int64_t until_ns = test_now_ns() + INT64_C(10000000000);
    int ready = hxb_wait(arg, 1, -1, 10000000);

    return (void *)(intptr_t)(test_now_ns() < until_ns ? ready : 0);
}

/* Who rings when, and that a line's end and beginning wake who waits for it. */
void test_shm_bell(void)
{
    struct test_pool p;
    char line[64];
    pthread_t sleeper;
    void *woken;

    snprintf(line, sizeof(line), "bell-%d", getpid());
    driver = &shm;
    test_start_eal();
    test_make_pool(&p, "p", STRIDE_SMALL, 255, 0);
    int b = attach_port(&p, "b", "client", line);
    int fd = hxb_port_wake_fd(b);
    CHECK(fd >= 0);
    /* Who waits before there is a line is told of the first. */
    CHECK_EQ(hxb_port_wake(b, 1), 0);
    CHECK_EQ(hxb_wait(&fd, 1, -1, 0), 0);
    CHECK_EQ(pthread_create(&sleeper, NULL, wait_long, &fd), 0);
    usleep(20000);
    int a = attach_port(&p, "a", "server", line);
    CHECK_EQ(pthread_join(sleeper, &woken), 0);
    CHECK_EQ((intptr_t)woken, 1);
    CHECK(hxb_port_wake_fd(a) >= 0);
    CHECK_EQ(hxb_port_wake_fd(HXB_LINE_FIRST + HXB_LINE_ENDS - 1), -ENODEV);
    CHECK_EQ(hxb_port_sleep(0), -ENODEV);
    CHECK_EQ(hxb_port_wake(HXB_LINE_FIRST + HXB_LINE_ENDS - 1, 1), -ENODEV);
    CHECK_EQ(hxb_port_rouse(HXB_PORTS), -ENODEV);
    test_await_link(a, true);
    test_await_link(b, true);
    CHECK_EQ(hxb_port_wake(b, 1), 0); /* the line's beginning */
    CHECK_EQ(hxb_port_rouse(b), 0);

    send_one(a, &p, 0);
    for (int round = 0; round < 3; round++) {
        CHECK_EQ(hxb_port_sleep(b), round == 0);
        CHECK_EQ(hxb_barrier(), 0);
        CHECK_EQ(hxb_wait(&fd, 1, -1, 0), 0);
        send_one(a, &p, 1);
        send_one(a, &p, 0); /* it rings already */
        CHECK_EQ(hxb_wait(&fd, 1, -1, 1000000), 1);
        CHECK_EQ(hxb_port_wake(b, 1), 0);
        CHECK_EQ(hxb_wait(&fd, 1, -1, 0), 0);
        send_one(a, &p, 0); /* it is drowsy */
        receive_one(b, &p);
        receive_one(b, &p);
        receive_one(b, &p);
    }
    receive_one(b, &p);
    CHECK_EQ(hxb_port_rouse(b), 0);
    CHECK_EQ(hxb_port_sleep(b), 1);
    CHECK_EQ(hxb_port_wake(b, 0), 0);

    /* The server goes and another comes: each is told, on the same descriptor. */
    for (int i = 0; i < 2; i++) {
        /* Of a new line nobody has passed a barrier. */
        CHECK_EQ(hxb_port_sleep(b), i);
        CHECK_EQ(pthread_create(&sleeper, NULL, wait_long, &fd), 0);
        CHECK_EQ(hxb_port_close(a), 0);
        test_await_link(b, false);
        a = attach_port(&p, "a", "server", line);
        test_await_link(b, true);
        CHECK_EQ(pthread_join(sleeper, &woken), 0);
        CHECK_EQ((intptr_t)woken, 1);
        CHECK_EQ(hxb_port_wake_fd(b), fd);
        CHECK_EQ(hxb_port_wake(b, 1), 0);
        CHECK_EQ(hxb_wait(&fd, 1, -1, 0), 0);
    }
    CHECK_EQ(hxb_port_close(a), 0);
    CHECK_EQ(hxb_port_close(b), 0);
    test_free_pool(&p);
}

static int64_t processor_time_ns(void)
{
    struct timespec t;

    CHECK_EQ(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t), 0);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static void limit_descriptors(rlim_t most)
{
    struct rlimit limit;

    CHECK_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = most;
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

/* The process can open so many descriptors more; the limit before. */
static rlim_t leave_descriptors(rlim_t count)
{
    struct rlimit limit;
    int first_free = dup(0);

    CHECK(first_free >= 0);
    close(first_free);
    CHECK_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit_descriptors((rlim_t)first_free + count);
    return limit.rlim_cur;
}

/* A server whose process has no descriptor left costs no processor, and serves who waits when it has some again. */
void test_shm_no_descriptors(void)
{
    struct test_pool p;
    struct hello h;
    char line[64];
    int status, bell;

    snprintf(line, sizeof(line), "none-%d", getpid());
    driver = &shm;
    test_start_eal();
    test_make_pool(&p, "p", STRIDE_SMALL, 255, 0);
    int a = attach_port(&p, "a", "server", line);
    rlim_t before = leave_descriptors(0);
    CHECK_EQ(hxb_port_attach("shm_z", "role=client,socket=z,mac=02000000000b"), -EMFILE);
    pid_t client = fork();
    if (client == 0) {
        limit_descriptors(before);
        /* The listener, too: it is closed when both have closed it. */
        for (int fd = 3; fd < 1024; fd++) {
            close(fd);
        }
        /* Refused, it tries again, as an end of ours does. */
        while (take_line(dial(line), &h, &bell) < 0) {
            usleep(1000);
        }
        _exit(0);
    }
    CHECK(client > 0);
    usleep(100000);
    int64_t spent_ns = processor_time_ns();
    usleep(500000);
    spent_ns = processor_time_ns() - spent_ns;
    CHECK(spent_ns < 100000000);
    CHECK_EQ(waitpid(client, &status, WNOHANG), 0);
    limit_descriptors(before);
    CHECK_EQ(waitpid(client, &status, 0), client);
    CHECK_EQ(status, 0);
    CHECK_EQ(hxb_port_close(a), 0);
    test_free_pool(&p);
}

#define ROUNDS 10000

static void send_and_ring(int port, struct test_pool *p)
{
    uint64_t desc;

    test_fill(p, &desc, 1, 60);
    CHECK_EQ(hxb_tx_burst(port, 0, p->pool, &desc, 1), 1);
    /* None, where the peer has woken since it was seen asleep: at its last look, by this very frame. */
    CHECK(hxb_ring_bells(p->pool) <= 1);
    CHECK_EQ(*hxb_pool_bells(p->pool), 0);
}

/* Sends a frame and waits for its answer, or the other way round; whoever has none sleeps, some at once and some
 * after a look or two, and now and then is roused in between. */
static void toss(int port, struct test_pool *p, bool first)
{
    uint64_t desc, random = (uint64_t)getpid() * 0x9E3779B97F4A7C15u;
    int fd = hxb_port_wake_fd(port), sleeps = 0;

    for (int round = 0; round < ROUNDS; round++) {
        if (first || round > 0) {
            send_and_ring(port, p);
        }
        random = random * 6364136223846793005u + 1442695040888963407u;
        int looks = (int)(random >> 60), got = 0;
        while (looks-- > 0 && (got = hxb_rx_burst(port, 0, p->pool, &desc, 1)) == 0) {
        }
        while (got == 0) {
            if (hxb_port_sleep(port) == 1) {
                CHECK_EQ(hxb_barrier(), 0);
            }
            got = hxb_rx_burst(port, 0, p->pool, &desc, 1);
            int woken = 0;
            if (got == 0) {
                woken = hxb_wait(&fd, 1, -1, 5000000);
                CHECK_EQ(woken, 1); /* else a frame came that nobody rang for */
                sleeps++;
            }
            CHECK_EQ(hxb_port_wake(port, woken), 0);
            if ((random >> 50 & 3) == 0) {
                CHECK_EQ(hxb_port_rouse(port), 0);
            }
        }
        CHECK_EQ(got, 1);
        test_release(p, &desc, 1);
    }
    CHECK(sleeps > ROUNDS / 100);
}

/* No frame comes unheard: two processes, of which each sleeps until the other has sent. */
void test_shm_sleepers(void)
{
    char line[64];
    struct test_pool p;
    int status;

    snprintf(line, sizeof(line), "sleepers-%d", getpid());
    driver = &shm;
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        int port = open_port(&p, "client", line);
        toss(port, &p, true);
        CHECK_EQ(hxb_port_close(port), 0);
        _exit(0);
    }
    int port = open_port(&p, "server", line);
    toss(port, &p, false);
    /* The last answer. */
    send_and_ring(port, &p);
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK_EQ(hxb_port_close(port), 0);
    test_free_pool(&p);
}

/* Both ends of a line in this process, each with a pool; the server's of that stride, the client's of the small one. */
static void open_ends(struct test_pool *pools, uint32_t server_stride, int *ports)
{
    char line[64];

    snprintf(line, sizeof(line), "ends-%d", getpid());
    driver = &shm;
    test_start_eal();
    test_make_pool(&pools[0], "a", server_stride, 63, 0);
    test_make_pool(&pools[1], "b", STRIDE_SMALL, 63, 0);
    ports[0] = attach_port(&pools[0], "a", "server", line);
    ports[1] = attach_port(&pools[1], "b", "client", line);
}

static void close_ends_of(struct test_pool *pools, const int *ports)
{
    for (int i = 0; i < 2; i++) {
        CHECK_EQ(hxb_port_close(ports[i]), 0);
    }
    for (int i = 0; i < 2; i++) {
        test_free_pool(&pools[i]);
    }
}

/* Two threads that meet at the very moment at which the one falls asleep and the other sends. */
struct meeting {
    struct test_pool *p;
    int port;
    atomic_int begun, done; /* rounds; begun is -1 at the end */
};

/* Spins: the other thread has a processor of its own, or is given this one. */
static int await_other(const atomic_int *round, int before)
{
    int now;

    for (int i = 1; (now = atomic_load(round)) == before; i++) {
        if (i % 10000 == 0) {
            sched_yield();
        }
    }
    return now;
}

static void pause_for(int steps)
{
    for (volatile int i = steps; i > 0; i--) {
    }
}

static void *send_at_each(void *arg)
{
    struct meeting *m = arg;
    uint64_t desc, held;

    test_fill(m->p, &desc, 1, 60);
    /* Given back, a buffer takes locked instructions, which are fences. */
    held = desc | HXB_DESC_HOLD;
    for (int round = 0; (round = await_other(&m->begun, round)) > 0;) {
        pause_for(256 + round % 64);
        int sent;
        while ((sent = hxb_tx_burst(m->port, 0, m->p->pool, &held, 1)) == 0) {
        }
        CHECK_EQ(sent, 1);
        /* The other one sleeps until this round is done. */
        if (*hxb_pool_bells(m->p->pool) != 0) {
            CHECK_EQ(hxb_ring_bells(m->p->pool), 1);
        }
        atomic_store(&m->done, round);
    }
    test_release(m->p, &desc, 1);
    return NULL;
}

/* Either sees the other: the frame is there at the last look, or the bell rings. The pause before the sleep follows
 * the sender's, so that now the one and now the other is first: each `meetings` times at least. */
static int meet(struct meeting *m, int b, struct test_pool *p, bool awake, int meetings, int64_t ns)
{
    uint64_t desc;
    int fd = hxb_port_wake_fd(b), early = 0, refused = 0, pause = 0, rounds = 0;
    int64_t end = test_now_ns() + ns;
    pthread_t sender;

    atomic_store(&m->begun, 0);
    atomic_store(&m->done, 0);
    CHECK_EQ(pthread_create(&sender, NULL, send_at_each, m), 0);
    /* On a machine with other work they may take longer to meet. */
    for (int round = 1; test_now_ns() < end ||
                        (RTE_MIN(early, rounds - early) < meetings && test_now_ns() < end + 10000000000);
         round++) {
        atomic_store(&m->begun, round);
        pause_for(pause);
        uint64_t missed = hxb_pool_bells(p->pool)[1];
        int barrier = hxb_port_sleep(b);
        CHECK(barrier == 1 || !awake);
        CHECK(!barrier || hxb_barrier() == 0);
        int got = hxb_rx_burst(b, 0, p->pool, &desc, 1);
        bool unseen = hxb_pool_bells(p->pool)[1] != missed;
        await_other(&m->done, round - 1);
        int rings = hxb_wait(&fd, 1, -1, 0);
        CHECK(got == 1 || rings == 1 || unseen);
        refused += unseen;
        rounds++;
        CHECK_EQ(hxb_port_wake(b, rings), 0);
        CHECK(!awake || hxb_port_rouse(b) == 0);
        early += got;
        pause += got == 0 ? 1 : -1;
        if (got == 0) {
            while ((got = hxb_rx_burst(b, 0, p->pool, &desc, 1)) == 0) {
            }
            CHECK_EQ(got, 1);
        }
        test_release(p, &desc, 1);
    }
    atomic_store(&m->begun, -1);
    CHECK_EQ(pthread_join(sender, NULL), 0);
    printf("%d of %d before the last look, %d unseen\n", early, rounds, refused);
    CHECK(rounds > 0 && RTE_MIN(early, rounds - early) >= meetings);
    return refused;
}

struct coming {
    struct test_pool *p;
    atomic_bool stop;
};

/* Ports of shared memory are being changed nearly all the time. */
static void *come_and_go(void *arg)
{
    struct coming *c = arg;
    char line[64];

    snprintf(line, sizeof(line), "coming-%d", getpid());
    while (!atomic_load(&c->stop)) {
        CHECK_EQ(hxb_port_close(attach_port(c->p, "coming", "server", line)), 0);
    }
    return NULL;
}

void test_shm_falling_asleep(void)
{
    struct test_pool pools[2];
    int ports[2];

    open_ends(pools, STRIDE_SMALL, ports);
    int a = ports[0], b = ports[1];
    test_await_link(a, true);
    test_await_link(b, true);
    CHECK_EQ(hxb_port_wake(b, 1), 0);
    CHECK_EQ(hxb_port_rouse(b), 0);
    struct meeting m = {.p = &pools[0], .port = a};
    CHECK_EQ(meet(&m, b, &pools[1], true, 0, 500 * 1000 * 1000), 0);
    CHECK_EQ(meet(&m, b, &pools[1], false, 100, 2000 * 1000 * 1000), 0);
    /* While another line comes and goes, a last look may see nothing, and says so. */
    struct coming c = {.p = &pools[0]};
    pthread_t changer;
    CHECK_EQ(pthread_create(&changer, NULL, come_and_go, &c), 0);
    meet(&m, b, &pools[1], false, 0, 500 * 1000 * 1000);
    uint64_t desc, missed = hxb_pool_bells(pools[1].pool)[1];
    for (int64_t end = test_now_ns() + 10000000000; hxb_pool_bells(pools[1].pool)[1] == missed;) {
        CHECK_EQ(hxb_rx_burst(b, 0, pools[1].pool, &desc, 1), 0);
        CHECK(test_now_ns() < end);
    }
    atomic_store(&c.stop, true);
    CHECK_EQ(pthread_join(changer, NULL), 0);
    close_ends_of(pools, ports);
}

/* Ends whose buffers are not of one size: neither has a line. */
void test_shm_sizes(void)
{
    struct test_pool pools[2];
    int ports[2];

    open_ends(pools, STRIDE_JUMBO, ports);
    int a = ports[0], b = ports[1];
    for (int i = 0; i < 300; i++) {
        CHECK_EQ(hxb_port_link(a) + hxb_port_link(b), 0);
        usleep(1000);
    }
    close_ends_of(pools, ports);
}

/* A port of shared memory that is made too early leaves nothing behind that runs later, or that later ones wait for. */
void test_line_before_eal(void)
{
    CHECK(hxb_port_attach("shm_0", "role=client,socket=early,mac=02000000000a") < 0);
    test_start_eal();
    int64_t begin_ns = test_now_ns();
    int port = hxb_port_attach("shm_0", "role=client,socket=early,mac=02000000000a");
    CHECK(port >= 0);
    CHECK(test_now_ns() - begin_ns < INT64_C(1000000000));
    CHECK_EQ(hxb_port_close(port), 0);
}

static void on_abort(int signal)
{
    (void)signal;
    test_fail(__FILE__, __LINE__, "DPDK ended the process");
}

/* Takes each descriptor that is free, at once, for a while. */
static void *take_descriptors(void *arg)
{
    const struct coming *c = arg;
    int taken[64], count = 0, turns = 0;

    while (!atomic_load(&c->stop)) {
        int fd = count < 64 ? dup(0) : -1;
        if (fd >= 0) {
            taken[count++] = fd;
        } else if (++turns % 2000 == 0) {
            while (count > 0) {
                close(taken[--count]);
            }
        }
    }
    while (count > 0) {
        close(taken[--count]);
    }
    return NULL;
}

/* EAL's interrupt thread: it alone. */
static pid_t interrupt_thread(void)
{
    DIR *tasks = opendir("/proc/self/task");
    pid_t found = 0;

    CHECK(tasks != NULL);
    for (struct dirent *task; found == 0 && (task = readdir(tasks)) != NULL;) {
        char path[300], name[32] = "";
        snprintf(path, sizeof(path), "/proc/self/task/%s/comm", task->d_name);
        FILE *file = fopen(path, "r");
        if (file != NULL) {
            found = fgets(name, sizeof(name), file) != NULL && strncmp(name, "eal-intr", 8) == 0 ? atoi(task->d_name) : 0;
            fclose(file);
        }
    }
    closedir(tasks);
    CHECK(found > 0);
    return found;
}

/* To the last processor that we may use. */
static void pin_to_last(pid_t thread)
{
    cpu_set_t cpus, last;

    CHECK_EQ(sched_getaffinity(getpid(), sizeof(cpus), &cpus), 0);
    CPU_ZERO(&last);
    for (int cpu = CPU_SETSIZE - 1; CPU_COUNT(&last) == 0; cpu--) {
        if (CPU_ISSET(cpu, &cpus)) {
            CPU_SET(cpu, &last);
        }
    }
    CHECK_EQ(sched_setaffinity(thread, sizeof(last), &last), 0);
}

/* Once its first port of shared memory is made, a process may open as many descriptors as it likes, however late EAL's
 * interrupt thread is given a processor. */
void test_shm_first_line(void)
{
    struct coming c = {.p = NULL};
    struct sched_param none = {.sched_priority = 0};
    pthread_t taker;

    test_start_eal();
    /* It runs while we do not. */
    pid_t late = interrupt_thread();
    CHECK_EQ(sched_setscheduler(late, SCHED_IDLE, &none), 0);
    pin_to_last(late);
    cpu_set_t all;
    CHECK_EQ(sched_getaffinity(0, sizeof(all), &all), 0);
    pin_to_last(0);
    int port = hxb_port_attach("shm_0", "role=client,socket=first,mac=02000000000a");
    CHECK(port >= 0);
    rlim_t before = leave_descriptors(8);
    signal(SIGABRT, on_abort);
    pthread_attr_t attributes;
    CHECK_EQ(pthread_attr_init(&attributes), 0);
    CHECK_EQ(pthread_attr_setaffinity_np(&attributes, sizeof(all), &all), 0);
    CHECK_EQ(pthread_create(&taker, &attributes, take_descriptors, &c), 0);
    usleep(200000);
    atomic_store(&c.stop, true);
    CHECK_EQ(pthread_join(taker, NULL), 0);
    limit_descriptors(before);
    CHECK_EQ(hxb_port_close(port), 0);
}

static atomic_int refusals_to_watch;

/* In front of the C library's, for the shim too. EAL, which ends the process where it is refused, watches with
 * descriptors as data; the lines' first one is none. */
__attribute__((visibility("default"))) int epoll_ctl(int epoll, int what, int fd, struct epoll_event *event)
{
    if (what == EPOLL_CTL_ADD && event->data.u32 == UINT32_MAX && atomic_load(&refusals_to_watch) > 0) {
        atomic_fetch_sub(&refusals_to_watch, 1);
        errno = ENOMEM;
        return -1;
    }
    return (int)syscall(SYS_epoll_ctl, epoll, what, fd, event);
}

/* The kernel has no memory for a moment, in which the process's first line is attached: the next one is as if it were. */
void test_shm_no_memory(void)
{
    test_start_eal();
    atomic_store(&refusals_to_watch, 1);
    CHECK_EQ(hxb_port_attach("shm_0", "role=client,socket=first,mac=02000000000a"), -ENOMEM);
    CHECK_EQ(atomic_load(&refusals_to_watch), 0);
    int port = hxb_port_attach("shm_0", "role=client,socket=first,mac=02000000000a");
    CHECK(port >= 0);
    CHECK_EQ(hxb_port_close(port), 0);
}

/* Peers come and go while the process has hardly a descriptor left, and other threads want them, too. */
void test_shm_contended_descriptors(void)
{
    struct test_pool p;
    struct coming c = {.p = NULL};
    struct sockaddr_un address;
    socklen_t bytes;
    char line[64];
    pthread_t taker;
    int status;

    snprintf(line, sizeof(line), "contended-%d", getpid());
    driver = &shm;
    pid_t client = fork();
    CHECK(client >= 0);
    if (client == 0) {
        /* Comes and goes. */
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (int64_t end = test_now_ns() + INT64_C(4000000000); test_now_ns() < end; usleep(200)) {
            int fd = test_line_socket(shm.socket, line, &address, &bytes);
            (void)connect(fd, (struct sockaddr *)&address, bytes);
            usleep(300);
            close(fd);
        }
        _exit(0);
    }
    test_start_eal();
    test_make_pool(&p, "p", STRIDE_SMALL, 255, 0);
    int a = attach_port(&p, "a", "server", line);
    rlim_t before = leave_descriptors(8);
    signal(SIGABRT, on_abort);
    CHECK_EQ(pthread_create(&taker, NULL, take_descriptors, &c), 0);
    CHECK_EQ(waitpid(client, &status, 0), client);
    CHECK_EQ(status, 0);
    atomic_store(&c.stop, true);
    CHECK_EQ(pthread_join(taker, NULL), 0);
    limit_descriptors(before);
    CHECK_EQ(hxb_port_close(a), 0);
    test_free_pool(&p);
}
