/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A line between two processes of one host, or within one, through memory of both. Beside net_memif a
 * frame waits for fewer of the other processor's cache lines: it lies in the slot itself, behind one
 * word that says that it is there and how long it is; net_memif has a head, a descriptor, the frame,
 * and behind each burst a tail. And its peer is not trusted: whatever it writes, this end copies at
 * most one frame out of a slot and looks at the length once.
 *
 * The line is a memfd: two heads and two rings of slots, one of each for either direction (shm.h).
 *
 * The server makes a memfd for each client, maps it and sends it over an abstract Unix socket, with one end
 * of a bell (shm_bell.c). The client takes it if it is laid out as its own would be, maps it, seals it for
 * good, and answers with a byte; then both have a line, and neither can take memory away from under the
 * other. The socket stays open: its end is how either knows that the other is gone. Nothing of a line
 * has a name in a file system.
 *
 * All of an end belongs to EAL's interrupt thread; its two ways belong to the threads in the bursts, and
 * are changed with the gate of control.c closed.
 */
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <rte_alarm.h>
#include <rte_interrupts.h>

#include "shm_hello.h"

#define NAME_PREFIX "shm_"
#define NAME_MAX_BYTES 64
#define SOCKET_PREFIX "pmhxb-shm/"
#define RETRY_US 50000
#define HELLO_TIMEOUT_NS INT64_C(1000000000)

struct end {
    bool attached;
    bool server;
    bool wanted;  /* started and not stopped since */
    atomic_bool up;
    bool armed;   /* an alarm to try again is set */
    char name[NAME_MAX_BYTES];
    struct sockaddr_un address;
    socklen_t address_bytes;
    int64_t mac;
    const struct hxb_pool *pool;
    struct hxb_hello layout; /* of each line of this end; the pool may be gone before it is */
    int listener;
    int channel;
    int64_t since_ns; /* of a channel without a line yet, else 0 */
    uint8_t *memory; /* NULL or the line, mapped */
    /* A server's, from its offer to the client's answer. */
    uint8_t *offered;
    int offered_fd;
    int offered_bell; /* this end's of it */
};

static struct end ends[HXB_SHM_ENDS];

static void on_listener(void *arg);
static void on_channel(void *arg);
static void arm_retry(struct end *e);

static struct hxb_ways *ways_of(const struct end *e)
{
    return &hxb_shm_ways[e - ends];
}

static int port_of(const struct end *e)
{
    return HXB_SHM_FIRST + (int)(e - ends);
}

static struct end *end_of(int port)
{
    struct end *e = hxb_is_shm(port) ? &ends[port - HXB_SHM_FIRST] : NULL;

    return e != NULL && e->attached ? e : NULL;
}

/* ---- Lines ---------------------------------------------------------------------------------------- */

static void begin_way(struct hxb_way *w, const struct end *e, int number)
{
    w->pool = e->pool;
    hxb_hello_find(&e->layout, e->memory, number, w);
    w->next = 0;
    w->told = 0;
    memset(&w->copying, 0, sizeof(w->copying));
}

static void close_if_open(int *fd)
{
    if (*fd >= 0) {
        close(*fd);
    }
    *fd = -1;
}

static void close_bell(const struct end *e)
{
    close_if_open(&ways_of(e)->bell);
    close_if_open(&ways_of(e)->silent);
}

/* Takes another descriptor for the end's bell, which keeps its number; -1: the silent one. Who waits on the one
 * before, silent or not, is woken by a ring or by its end, and looks at the new one, which therefore begins with a
 * ring. */
static void change_bell(const struct end *e, int bell)
{
    const struct hxb_ways *ways = ways_of(e);

    eventfd_write(ways->silent, 1);
    shutdown(ways->bell, SHUT_RDWR);
    dup3(bell < 0 ? ways->silent : bell, ways->bell, O_CLOEXEC);
    if (bell >= 0) {
        close(bell);
    }
}

/* Takes `memory`, a line's or NULL, for the one before, and the line's bell, or -1. */
static void change_line(struct end *e, uint8_t *memory, int bell)
{
    uint8_t *old = e->memory;

    hxb_close_gate();
    change_bell(e, bell);
    e->memory = memory;
    if (memory != NULL) {
        /* The server sends on ring 0. */
        begin_way(&ways_of(e)->tx, e, e->server ? 0 : 1);
        begin_way(&ways_of(e)->rx, e, e->server ? 1 : 0);
    } else {
        ways_of(e)->tx.slots = NULL;
        ways_of(e)->rx.slots = NULL;
    }
    atomic_store(&e->up, memory != NULL);
    hxb_open_gate();
    hxb_hello_unmap(&e->layout, old);
}

/* The peer is gone; what it sent before can be received until there is another. */
static void lose_peer(struct end *e)
{
    if (!atomic_load(&e->up)) {
        return;
    }
    hxb_close_gate();
    ways_of(e)->tx.slots = NULL;
    atomic_store(&e->up, false);
    hxb_open_gate();
}

/* ---- Sockets ------------------------------------------------------------------------------------- */

static int watch(int fd, rte_intr_callback_fn fn, struct end *e)
{
    struct rte_intr_handle *handle = rte_intr_instance_alloc(RTE_INTR_INSTANCE_F_PRIVATE);

    if (handle == NULL) {
        return -ENOMEM;
    }
    rte_intr_type_set(handle, RTE_INTR_HANDLE_EXT);
    rte_intr_fd_set(handle, fd);
    int rc = rte_intr_callback_register(handle, fn, e);
    rte_intr_instance_free(handle);
    return rc;
}

static void close_behind(struct rte_intr_handle *handle, void *arg)
{
    RTE_SET_USED(arg);
    close(rte_intr_fd_get(handle));
}

/* Closes a watched descriptor; also from within its own callback, where EAL takes it out later. */
static void unwatch(int *fd, rte_intr_callback_fn fn, struct end *e)
{
    struct rte_intr_handle *handle;

    if (*fd < 0) {
        return;
    }
    /* At once for the peer: EAL may need a while until it closes the descriptor. */
    shutdown(*fd, SHUT_RDWR);
    handle = rte_intr_instance_alloc(RTE_INTR_INSTANCE_F_PRIVATE);
    if (handle != NULL) {
        rte_intr_type_set(handle, RTE_INTR_HANDLE_EXT);
        rte_intr_fd_set(handle, *fd);
    }
    if (handle == NULL || rte_intr_callback_unregister(handle, fn, e) != -EAGAIN) {
        close(*fd);
    } else {
        rte_intr_callback_unregister_pending(handle, fn, e, close_behind);
    }
    rte_intr_instance_free(handle);
    *fd = -1;
}

/* Only a process of the same user shares memory with us. */
static bool is_ours(int fd)
{
    struct ucred peer;
    socklen_t bytes = sizeof(peer);

    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) == 0 &&
           peer.uid == geteuid();
}

/* A server's offer is answered, or over. */
static void end_offer(struct end *e)
{
    close_if_open(&e->offered_fd);
    close_if_open(&e->offered_bell);
    e->offered = NULL;
}

static void hang_up(struct end *e)
{
    unwatch(&e->channel, on_channel, e);
    e->since_ns = 0;
    hxb_hello_unmap(&e->layout, e->offered);
    end_offer(e);
    lose_peer(e);
}

static bool is_overdue(const struct end *e)
{
    return e->since_ns != 0 && hxb_now_ns() - e->since_ns > HELLO_TIMEOUT_NS;
}

static bool is_dead(int fd)
{
    char byte;
    ssize_t bytes = recv(fd, &byte, 1, MSG_DONTWAIT | MSG_PEEK);

    return bytes == 0 || (bytes < 0 && errno != EAGAIN && errno != EINTR);
}

/* A server's first step: it offers the client a line; 0, or why not. */
static int offer_line(struct end *e, int channel)
{
    int bell[2];
    uint8_t *memory = NULL;
    int rc = hxb_hello_make_bell(bell);

    if (rc < 0) {
        return rc;
    }
    int fd = hxb_hello_make_memory(&e->layout);
    if (fd < 0) {
        rc = fd;
    } else {
        /* Before the client seals it, after which nobody can. */
        memory = hxb_hello_map(&e->layout, fd);
        rc = memory == NULL ? -ENOMEM : hxb_hello_send(channel, &e->layout, (int[]){fd, bell[1]});
    }
    if (rc == 0) {
        rc = watch(channel, on_channel, e);
    }
    close_if_open(&bell[1]);
    if (rc < 0) {
        hxb_hello_unmap(&e->layout, memory);
        close_if_open(&bell[0]);
        close_if_open(&fd);
        return rc;
    }
    e->channel = channel;
    e->since_ns = hxb_now_ns();
    e->offered = memory;
    e->offered_fd = fd;
    e->offered_bell = bell[0];
    return 0;
}

static void on_listener(void *arg)
{
    struct end *e = arg;
    int channel = accept4(e->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

    if (channel < 0) {
        if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED) {
            /* Out of descriptors or memory. Who waits stays in front of the listener, of which EAL would be told
             * again and again; refused, it tries again as well. */
            unwatch(&e->listener, on_listener, e);
            arm_retry(e);
        }
        return;
    }
    hxb_hello_refuse_descriptors(channel);
    if (e->channel >= 0 && (is_dead(e->channel) || is_overdue(e))) {
        hang_up(e);
    }
    /* A line has two ends: a further client is refused while there is one. */
    if (e->channel >= 0 || !is_ours(channel) || offer_line(e, channel) < 0) {
        close(channel);
    }
}

/* A server's second step: the client has answered. False: it has not as it should. */
static bool accept_answer(struct end *e)
{
    char byte[2];

    if (e->offered == NULL || recv(e->channel, byte, sizeof(byte), MSG_DONTWAIT) != 1 ||
        !hxb_hello_is_sealed(e->offered_fd)) {
        return false;
    }
    uint8_t *memory = e->offered;
    int bell = e->offered_bell;
    e->offered_bell = -1;
    end_offer(e);
    change_line(e, memory, bell);
    return true;
}

/* A client's only step. False: it was offered nothing that it can use. */
static bool take_offer(struct end *e)
{
    int fds[HXB_HELLO_DESCRIPTORS];

    if (e->since_ns == 0 || !hxb_hello_receive(e->channel, &e->layout, fds)) {
        return false;
    }
    uint8_t *memory = hxb_hello_map(&e->layout, fds[0]);
    bool taken = memory != NULL && hxb_hello_seal(fds[0]) &&
                 send(e->channel, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL) == 1;
    close(fds[0]);
    if (taken) {
        hxb_hello_refuse_descriptors(fds[1]);
        change_line(e, memory, fds[1]);
    } else {
        hxb_hello_unmap(&e->layout, memory);
        close(fds[1]);
    }
    return taken;
}

static void on_channel(void *arg)
{
    struct end *e = arg;
    struct pollfd ready = {.fd = e->channel, .events = POLLIN};

    /* EAL calls for a descriptor's number: in one round of events it may have passed from a connection
     * that was closed to this one. */
    if (e->channel < 0 || poll(&ready, 1, 0) <= 0) {
        return;
    }
    if (e->server ? accept_answer(e) : take_offer(e)) {
        e->since_ns = 0;
    } else {
        /* It ended, or said what nobody should say. */
        hang_up(e);
    }
    arm_retry(e);
}

static int listen_at(struct end *e)
{
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    if (fd < 0) {
        return -errno;
    }
    int rc = bind(fd, (struct sockaddr *)&e->address, e->address_bytes) == 0 && listen(fd, 1) == 0
                 ? watch(fd, on_listener, e)
                 : -errno;
    if (rc < 0) {
        close(fd);
        return rc;
    }
    e->listener = fd;
    return 0;
}

/* A client's. Without a server nothing has happened; an alarm tries again. */
static int connect_to(struct end *e)
{
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    if (fd < 0) {
        return -errno;
    }
    if (connect(fd, (struct sockaddr *)&e->address, e->address_bytes) != 0 || !is_ours(fd) ||
        watch(fd, on_channel, e) < 0) {
        close(fd);
        return 0;
    }
    e->channel = fd;
    e->since_ns = hxb_now_ns();
    return 0;
}

static void retry(void *arg)
{
    struct end *e = arg;

    e->armed = false;
    if (!e->wanted) {
        return;
    }
    if (e->server) {
        if (e->listener < 0) {
            listen_at(e);
        }
    } else {
        if (e->channel >= 0 && is_overdue(e)) {
            hang_up(e);
        }
        if (e->channel < 0) {
            connect_to(e);
        }
    }
    arm_retry(e);
}

/* Looks again later when a client should have a line and has none, or a server cannot hear of one. */
static void arm_retry(struct end *e)
{
    bool due = e->server ? e->listener < 0 : !atomic_load(&e->up);

    if (due && e->wanted && !e->armed) {
        e->armed = rte_eal_alarm_set(RETRY_US, retry, e) == 0;
    }
}

/* ---- Ports ---------------------------------------------------------------------------------------- */

struct call {
    const char *name;
    const char *args;
};

bool hxb_names_shm(const char *name)
{
    return strncmp(name, NAME_PREFIX, strlen(NAME_PREFIX)) == 0;
}

static int attach(void *arg)
{
    const struct call *call = arg;
    char role[16], line[sizeof(ends[0].address.sun_path)], mac[32], *end;
    struct end *e = NULL;

    for (int i = HXB_SHM_ENDS - 1; i >= 0; i--) {
        if (!ends[i].attached) {
            e = &ends[i];
        } else if (strcmp(ends[i].name, call->name) == 0) {
            return -EEXIST;
        }
    }
    if (e == NULL) {
        return -ENOSPC;
    }
    hxb_argument(call->args, "role=", "", role, sizeof(role));
    hxb_argument(call->args, "socket=", "", line, sizeof(line));
    hxb_argument(call->args, "mac=", "", mac, sizeof(mac));
    bool server = strcmp(role, "server") == 0;
    int64_t address = strtoll(mac, &end, 16);
    size_t line_bytes = strlen(line), path_bytes = 1 + strlen(SOCKET_PREFIX) + line_bytes;
    if ((!server && strcmp(role, "client") != 0) || line_bytes == 0 ||
        path_bytes > sizeof(e->address.sun_path) || strlen(call->name) >= sizeof(e->name) ||
        address <= 0 || address >> 48 != 0 || *end != '\0') {
        return -EINVAL;
    }
    memset(e, 0, sizeof(*e));
    memset(ways_of(e), 0, sizeof(struct hxb_ways));
    ways_of(e)->silent = eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);
    ways_of(e)->bell = ways_of(e)->silent < 0 ? -1 : fcntl(ways_of(e)->silent, F_DUPFD_CLOEXEC, 0);
    if (ways_of(e)->bell < 0) {
        int error = -errno;
        close_bell(e);
        return error;
    }
    e->attached = true;
    e->server = server;
    e->mac = address;
    e->listener = -1;
    e->channel = -1;
    e->offered_fd = -1;
    e->offered_bell = -1;
    snprintf(e->name, sizeof(e->name), "%s", call->name);
    e->address.sun_family = AF_UNIX;
    /* Abstract: behind a zero. */
    memcpy(e->address.sun_path + 1, SOCKET_PREFIX, strlen(SOCKET_PREFIX));
    memcpy(e->address.sun_path + 1 + strlen(SOCKET_PREFIX), line, line_bytes);
    e->address_bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + path_bytes);
    return port_of(e);
}

int hxb_shm_attach(const char *name, const char *args)
{
    struct call call = {.name = name, .args = args};

    return hxb_on_interrupt_thread(attach, &call);
}

int hxb_shm_configure(int port, const struct hxb_port_config *config, struct hxb_pool *const *pools)
{
    struct end *e = end_of(port);

    if (e == NULL) {
        return -ENODEV;
    }
    if (config->queues != 1) {
        return -EINVAL;
    }
    if (e->wanted) {
        return -EBUSY;
    }
    e->pool = pools[0];
    hxb_hello_lay_out(&e->layout, pools[0]->frame_max);
    return 0;
}

static int start(void *arg)
{
    struct end *e = arg;

    int rc = e->wanted ? 0 : e->server ? listen_at(e) : connect_to(e);
    e->wanted = rc == 0;
    arm_retry(e);
    return rc;
}

int hxb_shm_start(int port)
{
    struct end *e = end_of(port);

    if (e == NULL) {
        return -ENODEV;
    }
    return e->pool == NULL ? -EINVAL : hxb_on_interrupt_thread(start, e);
}

static int stop(void *arg)
{
    struct end *e = arg;

    e->wanted = false;
    rte_eal_alarm_cancel(retry, e);
    e->armed = false;
    unwatch(&e->listener, on_listener, e);
    hang_up(e);
    change_line(e, NULL, -1);
    return 0;
}

int hxb_shm_stop(int port)
{
    struct end *e = end_of(port);

    return e == NULL ? -ENODEV : hxb_on_interrupt_thread(stop, e);
}

static int close_end(void *arg)
{
    struct end *e = arg;
    int rc = stop(e);

    hxb_close_gate();
    close_bell(e);
    hxb_open_gate();
    e->attached = false;
    return rc;
}

int hxb_shm_close(int port)
{
    struct end *e = end_of(port);

    return e == NULL ? -ENODEV : hxb_on_interrupt_thread(close_end, e);
}

int hxb_shm_wake_fd(int port)
{
    const struct end *e = end_of(port);

    return e == NULL ? -ENODEV : hxb_barrier() < 0 ? -ENOTSUP : ways_of(e)->bell;
}

int64_t hxb_shm_mac(int port)
{
    const struct end *e = end_of(port);

    return e == NULL ? -ENODEV : e->mac;
}

int hxb_shm_link(int port)
{
    const struct end *e = end_of(port);

    return e == NULL ? -ENODEV : atomic_load(&e->up) ? 1 : 0;
}

int hxb_shm_info(int port, struct hxb_port_info *info)
{
    const struct end *e = end_of(port);

    if (e == NULL) {
        return -ENODEV;
    }
    if (info == NULL) {
        return -EINVAL;
    }
    memset(info, 0, sizeof(*info));
    info->max_queues = 1;
    info->queues = e->pool != NULL ? 1 : 0;
    info->socket = -1;
    if (e->pool != NULL) {
        info->max_rx_packet = e->layout.frame_max + RTE_ETHER_CRC_LEN;
        info->mtu = (uint16_t)(e->layout.frame_max - RTE_ETHER_HDR_LEN);
    }
    snprintf(info->driver, sizeof(info->driver), "shm");
    snprintf(info->device, sizeof(info->device), "%s", e->name);
    return 0;
}

static uint64_t read_counter(const atomic_ullong *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

int hxb_shm_stats(int port, struct hxb_port_stats *stats)
{
    const struct end *e = end_of(port);

    if (e == NULL) {
        return -ENODEV;
    }
    if (stats == NULL) {
        return -EINVAL;
    }
    memset(stats, 0, sizeof(*stats));
    stats->rx_packets = read_counter(&ways_of(e)->rx.frames);
    stats->rx_bytes = read_counter(&ways_of(e)->rx.bytes);
    stats->tx_packets = read_counter(&ways_of(e)->tx.frames);
    stats->tx_bytes = read_counter(&ways_of(e)->tx.bytes);
    stats->rx_refused_length = read_counter(&ways_of(e)->rx.refused);
    stats->tx_refused = read_counter(&ways_of(e)->tx.refused);
    return 0;
}
