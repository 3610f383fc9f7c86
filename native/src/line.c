/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ends of lines, whatever their kind (line.h).
 *
 * The server listens at an abstract Unix socket, so that nothing of a line has a name in a file system; the client
 * comes, and looks again every 50 ms while there is no server. What they say to each other until both have a line is
 * the kind's. The socket stays open: its end is how either knows that the other is gone.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <rte_alarm.h>
#include <rte_interrupts.h>

#include "line.h"

#ifndef SO_PASSRIGHTS
#define SO_PASSRIGHTS 83
#endif

#define RETRY_US 50000
#define HELLO_TIMEOUT_NS INT64_C(1000000000)
#define WATCHED_TIMEOUT_NS INT64_C(5000000000)

static const struct hxb_line_kind *const kinds[] = {&hxb_shm_kind, &hxb_memif_kind};

struct hxb_ways hxb_line_ways[HXB_LINE_ENDS] = {[0 ... HXB_LINE_ENDS - 1] = {.bell = -1, .silent = -1, .kick = -1}};
static struct hxb_line lines[HXB_LINE_ENDS];

static void on_listener(struct hxb_line *l);
static void on_channel(struct hxb_line *l);
static void arm_retry(struct hxb_line *l);

static struct hxb_ways *ways_of(const struct hxb_line *l)
{
    return &hxb_line_ways[l - lines];
}

static int port_of(const struct hxb_line *l)
{
    return HXB_LINE_FIRST + (int)(l - lines);
}

static struct hxb_line *line_of(int port)
{
    struct hxb_line *l = hxb_is_line(port) ? &lines[port - HXB_LINE_FIRST] : NULL;

    return l != NULL && l->attached ? l : NULL;
}

/* ---- Memory --------------------------------------------------------------------------------------- */

bool hxb_is_sealed(int fd, int seals)
{
    int has = fcntl(fd, F_GET_SEALS);

    return has >= 0 && (has & seals) == seals;
}

bool hxb_regions_add(struct hxb_regions *regions, int fd, uint64_t bytes)
{
    struct stat st;

    if (regions->count == HXB_REGIONS_MAX || bytes == 0 || fstat(fd, &st) != 0 ||
        (uint64_t)st.st_size < bytes) {
        return false;
    }
    /* Populated here and not by the first frames. */
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
    if (at == MAP_FAILED) {
        return false;
    }
    regions->of[regions->count++] = (struct hxb_region_map){.at = at, .bytes = bytes};
    return true;
}

bool hxb_regions_seal(const struct hxb_regions *regions, int fd, int seals)
{
    const struct hxb_region_map *last = &regions->of[regions->count - 1];

    return (hxb_is_sealed(fd, seals) || fcntl(fd, F_ADD_SEALS, seals) == 0) &&
           hxb_populate(last->at, last->bytes) == 0;
}

void hxb_regions_unmap(struct hxb_regions *regions)
{
    for (int i = 0; i < regions->count; i++) {
        munmap(regions->of[i].at, regions->of[i].bytes);
    }
    regions->count = 0;
}

/* ---- Lines ---------------------------------------------------------------------------------------- */

static void begin_way(struct hxb_way *w, const struct hxb_line *l)
{
    w->pool = l->pool;
    w->frame_max = l->frame_max;
    w->next = 0;
    w->told = 0;
    memset(&w->copying, 0, sizeof(w->copying));
}

/* To the line that has been offered, or to none. */
static void change_line(struct hxb_line *l, bool stands)
{
    struct hxb_ways *ways = ways_of(l);
    struct hxb_regions old = l->memory;

    hxb_close_gate();
    l->memory.count = 0;
    if (stands) {
        l->memory = l->offered;
        l->offered.count = 0;
        begin_way(&ways->tx, l);
        begin_way(&ways->rx, l);
    }
    l->kind->change(l, ways, stands);
    ways->tx.open = stands;
    ways->rx.open = stands;
    hxb_open_gate();
    /* Behind the gate: who sees that the line is up finds it open. */
    atomic_store(&l->up, stands);
    hxb_regions_unmap(&old);
}

/* The peer is gone; what it sent before can be received until there is another. */
static void lose_peer(struct hxb_line *l)
{
    if (!atomic_load(&l->up)) {
        return;
    }
    hxb_close_gate();
    ways_of(l)->tx.open = false;
    atomic_store(&l->up, false);
    hxb_open_gate();
}

static void close_bell(const struct hxb_line *l)
{
    hxb_close_if_open(&ways_of(l)->bell);
    hxb_close_if_open(&ways_of(l)->silent);
}

void hxb_close_if_open(int *fd)
{
    if (*fd >= 0) {
        close(*fd);
    }
    *fd = -1;
}

/* ---- Sockets ------------------------------------------------------------------------------------- */

void hxb_take_descriptors(int socket, bool take)
{
    const int value = take;

    (void)setsockopt(socket, SOL_SOCKET, SO_PASSRIGHTS, &value, sizeof(value));
}

/* Of all sockets of lines, from the first port on, for good: what EAL itself watches stays as it is while peers come
 * and go. For each change there it makes its own epoll instance anew, some time later, and where another thread was
 * first to have the process's last descriptor, it ends the process. */
static int watcher = -1;
/* An event of it that says that EAL has done so, and whether it was seen. */
static int first_event = -1;
static atomic_bool is_watched;

#define FIRST_EVENT UINT32_MAX

static void on_watcher(void *arg)
{
    struct epoll_event ready;

    RTE_SET_USED(arg);
    /* One at a time: who is called may close another's. */
    if (epoll_wait(watcher, &ready, 1, 0) != 1) {
        return;
    }
    if (ready.data.u32 == FIRST_EVENT) {
        hxb_close_if_open(&first_event);
        atomic_store(&is_watched, true);
        return;
    }
    struct hxb_line *l = &lines[ready.data.u32 / 2];
    if (ready.data.u32 % 2 != 0) {
        on_listener(l);
    } else {
        on_channel(l);
    }
}

static int begin_watcher(void)
{
    if (watcher >= 0) {
        return 0;
    }
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = FIRST_EVENT};
    struct rte_intr_handle *handle = NULL;
    int fd = epoll_create1(EPOLL_CLOEXEC);
    first_event = fd < 0 ? -1 : eventfd(1, EFD_CLOEXEC);
    bool made = first_event >= 0 && epoll_ctl(fd, EPOLL_CTL_ADD, first_event, &event) == 0;
    int rc = made ? -ENOMEM : -errno;
    if (made) {
        handle = rte_intr_instance_alloc(RTE_INTR_INSTANCE_F_PRIVATE);
    }
    if (handle != NULL) {
        rte_intr_type_set(handle, RTE_INTR_HANDLE_EXT);
        rte_intr_fd_set(handle, fd);
        rc = rte_intr_callback_register(handle, on_watcher, NULL);
        rte_intr_instance_free(handle);
    }
    if (rc < 0) {
        hxb_close_if_open(&first_event);
        hxb_close_if_open(&fd);
        return rc;
    }
    watcher = fd;
    return 0;
}

static int watch(int fd, struct hxb_line *l, bool listens)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP,
                                .data.u32 = (uint32_t)(l - lines) * 2 + (listens ? 1 : 0)};

    return epoll_ctl(watcher, EPOLL_CTL_ADD, fd, &event) == 0 ? 0 : -errno;
}

/* Closes a watched descriptor; also from within its own callback. */
static void unwatch(int *fd)
{
    if (*fd < 0) {
        return;
    }
    /* Whoever else may have it. */
    epoll_ctl(watcher, EPOLL_CTL_DEL, *fd, NULL);
    shutdown(*fd, SHUT_RDWR);
    hxb_close_if_open(fd);
}

/* Only a process of the same user shares memory with us. */
static bool is_ours(int fd)
{
    struct ucred peer;
    socklen_t bytes = sizeof(peer);

    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) == 0 &&
           peer.uid == geteuid();
}

/* Of a connection that is being made, or is over. */
static void forget_offer(struct hxb_line *l)
{
    l->since_ns = 0;
    hxb_regions_unmap(&l->offered);
    l->kind->forget(l);
}

static void hang_up(struct hxb_line *l)
{
    /* First: a peer that sees the channel's end finds no line behind it. */
    lose_peer(l);
    unwatch(&l->channel);
    forget_offer(l);
}

static bool is_overdue(const struct hxb_line *l)
{
    return l->since_ns != 0 && hxb_now_ns() - l->since_ns > HELLO_TIMEOUT_NS;
}

static bool is_dead(int fd)
{
    char byte;
    ssize_t bytes = recv(fd, &byte, 1, MSG_DONTWAIT | MSG_PEEK);

    return bytes == 0 || (bytes < 0 && errno != EAGAIN && errno != EINTR);
}

/* A server's, of a client that has come. */
static int begin_channel(struct hxb_line *l, int channel)
{
    int rc = l->kind->greet(l, channel);

    if (rc == 0) {
        rc = watch(channel, l, false);
    }
    if (rc < 0) {
        forget_offer(l);
        return rc;
    }
    l->channel = channel;
    l->since_ns = hxb_now_ns();
    return 0;
}

static void on_listener(struct hxb_line *l)
{
    int channel = accept4(l->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

    if (channel < 0) {
        if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED) {
            /* Out of descriptors or memory. Who waits stays in front of the listener, of which EAL would be told
             * again and again; refused, it tries again as well. */
            unwatch(&l->listener);
            arm_retry(l);
        }
        return;
    }
    if (l->channel >= 0 && (is_dead(l->channel) || is_overdue(l))) {
        hang_up(l);
    }
    /* A line has two ends: a further client is refused while there is one. */
    if (l->channel >= 0 || !is_ours(channel) || begin_channel(l, channel) < 0) {
        close(channel);
    }
}

static void on_channel(struct hxb_line *l)
{
    switch (l->kind->hear(l)) {
    case HXB_GOES_ON:
        return;
    case HXB_STANDS:
        l->since_ns = 0;
        change_line(l, true);
        break;
    default:
        /* It ended, or said what nobody should say. */
        hang_up(l);
        break;
    }
    arm_retry(l);
}

static int listen_at(struct hxb_line *l)
{
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    if (fd < 0) {
        return -errno;
    }
    /* Before anybody connects, of whichever user: what waits at the listener is not known yet. */
    hxb_take_descriptors(fd, false);
    int rc = bind(fd, (struct sockaddr *)&l->address, l->address_bytes) == 0 && listen(fd, 1) == 0
                 ? watch(fd, l, true)
                 : -errno;
    if (rc < 0) {
        close(fd);
        return rc;
    }
    l->listener = fd;
    return 0;
}

/* A client's. Without a server nothing has happened; an alarm tries again. */
static int connect_to(struct hxb_line *l)
{
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    if (fd < 0) {
        return -errno;
    }
    if (connect(fd, (struct sockaddr *)&l->address, l->address_bytes) != 0 || !is_ours(fd) ||
        watch(fd, l, false) < 0) {
        close(fd);
        return 0;
    }
    l->channel = fd;
    l->since_ns = hxb_now_ns();
    return 0;
}

static void retry(void *arg)
{
    struct hxb_line *l = arg;

    l->armed = false;
    if (!l->wanted) {
        return;
    }
    if (l->server) {
        if (l->listener < 0) {
            listen_at(l);
        }
    } else {
        if (l->channel >= 0 && is_overdue(l)) {
            hang_up(l);
        }
        if (l->channel < 0) {
            connect_to(l);
        }
    }
    arm_retry(l);
}

/* Looks again later when a client should have a line and has none, or a server cannot hear of one. */
static void arm_retry(struct hxb_line *l)
{
    bool due = l->server ? l->listener < 0 : !atomic_load(&l->up);

    if (due && l->wanted && !l->armed) {
        l->armed = rte_eal_alarm_set(RETRY_US, retry, l) == 0;
    }
}

/* ---- Ports ---------------------------------------------------------------------------------------- */

struct call {
    const char *name;
    const char *args;
};

/* The kind of which a device's name tells, or NULL. */
static const struct hxb_line_kind *kind_named(const char *name)
{
    for (size_t i = 0; i < RTE_DIM(kinds); i++) {
        size_t n = strlen(kinds[i]->driver);
        if (strncmp(name, kinds[i]->driver, n) == 0 && name[n] == '_') {
            return kinds[i];
        }
    }
    return NULL;
}

bool hxb_names_line(const char *name)
{
    return kind_named(name) != NULL;
}

static int begin_bell(struct hxb_ways *ways)
{
    ways->silent = eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);
    ways->bell = ways->silent < 0 ? -1 : fcntl(ways->silent, F_DUPFD_CLOEXEC, 0);
    return ways->bell < 0 ? -errno : 0;
}

static int attach(void *arg)
{
    const struct call *call = arg;
    /* With room for what is too long. */
    char role[16], name[sizeof(lines[0].address.sun_path) + 1], mac[32], *end;
    struct hxb_line *l = NULL;

    for (int i = HXB_LINE_ENDS - 1; i >= 0; i--) {
        if (!lines[i].attached) {
            l = &lines[i];
        } else if (strcmp(lines[i].name, call->name) == 0) {
            return -EEXIST;
        }
    }
    if (l == NULL) {
        return -ENOSPC;
    }
    const struct hxb_line_kind *kind = kind_named(call->name);
    hxb_argument(call->args, "role=", "", role, sizeof(role));
    hxb_argument(call->args, "socket=", "", name, sizeof(name));
    hxb_argument(call->args, "mac=", "", mac, sizeof(mac));
    bool server = strcmp(role, "server") == 0;
    int64_t address = strtoll(mac, &end, 16);
    size_t name_bytes = strlen(name), prefix_bytes = strlen(kind->socket_prefix);
    size_t path_bytes = 1 + prefix_bytes + name_bytes;
    if ((!server && strcmp(role, "client") != 0) || name_bytes == 0 ||
        path_bytes > sizeof(l->address.sun_path) || strlen(call->name) >= sizeof(l->name) ||
        address <= 0 || address >> 48 != 0 || *end != '\0') {
        return -EINVAL;
    }
    memset(l, 0, sizeof(*l));
    l->kind = kind;
    l->server = server;
    l->mac = address;
    l->listener = -1;
    l->channel = -1;
    snprintf(l->name, sizeof(l->name), "%s", call->name);
    l->address.sun_family = AF_UNIX;
    /* Abstract: behind a zero. */
    memcpy(l->address.sun_path + 1, kind->socket_prefix, prefix_bytes);
    memcpy(l->address.sun_path + 1 + prefix_bytes, name, name_bytes);
    l->address_bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + path_bytes);
    struct hxb_ways *ways = ways_of(l);
    memset(ways, 0, sizeof(*ways));
    ways->bell = ways->silent = ways->kick = -1;
    ways->rx_burst = kind->rx_burst;
    ways->tx_burst = kind->tx_burst;
    int rc = begin_watcher();
    if (rc == 0) {
        rc = kind->begin(l, call->args);
    }
    if (rc == 0 && kind->bells) {
        rc = begin_bell(ways);
    }
    if (rc < 0) {
        close_bell(l);
        return rc;
    }
    l->attached = true;
    return port_of(l);
}

int hxb_line_attach(const char *name, const char *args)
{
    struct call call = {.name = name, .args = args};
    int port = hxb_on_interrupt_thread(attach, &call);
    int64_t end = hxb_now_ns() + WATCHED_TIMEOUT_NS;

    /* Also where it was refused, by its arguments, say. */
    while (watcher >= 0 && !atomic_load(&is_watched) && hxb_now_ns() < end) {
        usleep(50);
    }
    if (port >= 0 && !atomic_load(&is_watched)) {
        hxb_line_close(port);
        port = -ETIMEDOUT;
    }
    return port;
}

int hxb_line_configure(int port, const struct hxb_port_config *config, struct hxb_pool *const *pools)
{
    struct hxb_line *l = line_of(port);

    if (l == NULL) {
        return -ENODEV;
    }
    if (config->queues != 1) {
        return -EINVAL;
    }
    if (l->wanted) {
        return -EBUSY;
    }
    l->pool = pools[0];
    l->frame_max = pools[0]->frame_max;
    if (l->kind->lay_out != NULL) {
        l->kind->lay_out(l);
    }
    return 0;
}

static int start(void *arg)
{
    struct hxb_line *l = arg;

    int rc = l->wanted ? 0 : l->server ? listen_at(l) : connect_to(l);
    l->wanted = rc == 0;
    arm_retry(l);
    return rc;
}

int hxb_line_start(int port)
{
    struct hxb_line *l = line_of(port);

    if (l == NULL) {
        return -ENODEV;
    }
    return l->pool == NULL ? -EINVAL : hxb_on_interrupt_thread(start, l);
}

static int stop(void *arg)
{
    struct hxb_line *l = arg;

    l->wanted = false;
    rte_eal_alarm_cancel(retry, l);
    l->armed = false;
    unwatch(&l->listener);
    hang_up(l);
    change_line(l, false);
    return 0;
}

int hxb_line_stop(int port)
{
    struct hxb_line *l = line_of(port);

    return l == NULL ? -ENODEV : hxb_on_interrupt_thread(stop, l);
}

static int close_line(void *arg)
{
    struct hxb_line *l = arg;
    int rc = stop(l);

    hxb_close_gate();
    close_bell(l);
    hxb_open_gate();
    l->attached = false;
    return rc;
}

int hxb_line_close(int port)
{
    struct hxb_line *l = line_of(port);

    return l == NULL ? -ENODEV : hxb_on_interrupt_thread(close_line, l);
}

int hxb_line_wake_fd(int port)
{
    const struct hxb_line *l = line_of(port);

    return l == NULL ? -ENODEV : !l->kind->bells || hxb_barrier() < 0 ? -ENOTSUP : ways_of(l)->bell;
}

int64_t hxb_line_mac(int port)
{
    const struct hxb_line *l = line_of(port);

    return l == NULL ? -ENODEV : l->mac;
}

int hxb_line_link(int port)
{
    const struct hxb_line *l = line_of(port);

    return l == NULL ? -ENODEV : atomic_load(&l->up) ? 1 : 0;
}

int hxb_line_info(int port, struct hxb_port_info *info)
{
    const struct hxb_line *l = line_of(port);

    if (l == NULL) {
        return -ENODEV;
    }
    if (info == NULL) {
        return -EINVAL;
    }
    memset(info, 0, sizeof(*info));
    info->max_queues = 1;
    info->queues = l->pool != NULL ? 1 : 0;
    info->socket = -1;
    if (l->pool != NULL) {
        info->max_rx_packet = l->frame_max + RTE_ETHER_CRC_LEN;
        info->mtu = (uint16_t)(l->frame_max - RTE_ETHER_HDR_LEN);
    }
    snprintf(info->driver, sizeof(info->driver), "%s", l->kind->driver);
    snprintf(info->device, sizeof(info->device), "%s", l->name);
    return 0;
}

static uint64_t read_counter(const atomic_ullong *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

int hxb_line_stats(int port, struct hxb_port_stats *stats)
{
    const struct hxb_line *l = line_of(port);

    if (l == NULL) {
        return -ENODEV;
    }
    if (stats == NULL) {
        return -EINVAL;
    }
    memset(stats, 0, sizeof(*stats));
    stats->rx_packets = read_counter(&ways_of(l)->rx.frames);
    stats->rx_bytes = read_counter(&ways_of(l)->rx.bytes);
    stats->tx_packets = read_counter(&ways_of(l)->tx.frames);
    stats->tx_bytes = read_counter(&ways_of(l)->tx.bytes);
    stats->rx_refused_length = read_counter(&ways_of(l)->rx.refused);
    stats->tx_refused = read_counter(&ways_of(l)->tx.refused);
    return 0;
}
