/* SPDX-License-Identifier: Apache-2.0 */
/* How a line by memif is made (memif.h). */
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/memfd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "memif.h"

#define SLOTS_LOG2 "8"
#define RING_HEAD_BYTES offsetof(struct hxb_memif_ring, descriptors)
/* Of a client's memory: the longest rings with the longest frames. It is made as it is mapped, by the interrupt thread,
 * whatever of its files the client has filled. */
#define MEMORY_MAX (UINT64_C(1025) << 20)

/* Its length stays, and holes are memory taken away as well. Once both ends have mapped it: from then on nobody can. */
#define SEALS (F_SEAL_SHRINK | F_SEAL_FUTURE_WRITE)

/* Steps of a client: the request that is answered next. */
enum { INIT, ADD_REGION, ADD_RING_UP, ADD_RING_DOWN, CONNECT, STEPS };

/* ---- Messages ------------------------------------------------------------------------------------- */

union descriptor {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(sizeof(int))];
};

/* fd: goes with it, or -1. */
static bool send_message(int channel, const struct memif_message *m, int fd)
{
    union descriptor control = {0};
    struct iovec part = {.iov_base = (void *)(uintptr_t)m, .iov_len = sizeof(*m)};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};

    if (fd >= 0) {
        message.msg_control = control.bytes;
        message.msg_controllen = sizeof(control.bytes);
        control.header.cmsg_level = SOL_SOCKET;
        control.header.cmsg_type = SCM_RIGHTS;
        control.header.cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
    }
    return sendmsg(channel, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)sizeof(*m);
}

/* The descriptor that came with a message, or -1; further ones are closed here, or by the kernel. */
static int descriptor_of(const struct msghdr *message)
{
    int fds[2] = {-1, -1};
    const struct cmsghdr *c = CMSG_FIRSTHDR(message);

    if (c != NULL && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS) {
        /* As many as the room that alignment leaves. */
        memcpy(fds, CMSG_DATA(c), RTE_MIN(c->cmsg_len - CMSG_LEN(0), sizeof(fds)));
    }
    hxb_close_if_open(&fds[1]);
    return fds[0];
}

/* fd: -1, or the caller's to close. False: the peer has gone, or it is no message. */
static bool receive_message(int channel, struct memif_message *m, int *fd)
{
    union descriptor control = {0};
    struct iovec part = {.iov_base = m, .iov_len = sizeof(*m)};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = sizeof(control.bytes)};
    ssize_t bytes = recvmsg(channel, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

    *fd = bytes < 0 ? -1 : descriptor_of(&message);
    return bytes == (ssize_t)sizeof(*m) && (message.msg_flags & MSG_TRUNC) == 0;
}

static enum hxb_heard refuse(int channel, const char *reason)
{
    struct memif_message m = {.type = MEMIF_DISCONNECT};

    snprintf(m.disconnect.reason, sizeof(m.disconnect.reason), "%s", reason);
    (void)send_message(channel, &m, -1);
    return HXB_FAILS;
}

/* ---- Rings and buffers ------------------------------------------------------------------------------ */

static uint64_t ring_bytes(uint32_t slots_log2)
{
    uint64_t bytes = RING_HEAD_BYTES + (sizeof(struct memif_descriptor) << slots_log2);

    return RTE_ALIGN_CEIL(bytes, (uint64_t)RTE_CACHE_LINE_SIZE);
}

static uint64_t buffers_at(const struct hxb_line *l)
{
    return HXB_MEMIF_RINGS * ring_bytes(l->memif.slots_log2);
}

/* From one of its buffers to the next. */
static uint32_t stride_of(const struct hxb_line *l)
{
    return hxb_slot_stride(l->frame_max);
}

/* Where ring `number` lies, or NULL: not within a region of `regions`. */
static struct hxb_memif_ring *ring_at(const struct hxb_memif_end *m, const struct hxb_regions *regions, int number)
{
    const struct hxb_memif_place *place = &m->rings[number];

    if (!place->given || place->region >= regions->count) {
        return NULL;
    }
    const struct hxb_region_map *region = &regions->of[place->region];
    uint64_t bytes = RING_HEAD_BYTES + (sizeof(struct memif_descriptor) << place->slots_log2);
    if (place->offset % sizeof(uint64_t) != 0 || bytes > region->bytes ||
        place->offset > region->bytes - bytes) {
        return NULL;
    }
    return (struct hxb_memif_ring *)(void *)(region->at + place->offset);
}

/* A client's: rings and buffers, as they are before the first frame. */
static void fill_memory(const struct hxb_line *l)
{
    uint32_t slots = UINT32_C(1) << l->memif.slots_log2, stride = stride_of(l);

    for (int number = 0; number < HXB_MEMIF_RINGS; number++) {
        struct hxb_memif_ring *ring = ring_at(&l->memif, &l->offered, number);
        ring->cookie = MEMIF_COOKIE;
        ring->flags = number == HXB_MEMIF_DOWN ? MEMIF_MASK_INTERRUPTS : 0;
        /* All buffers of the ring that the server fills are there for it. */
        ring->head = number == HXB_MEMIF_DOWN ? (uint16_t)slots : 0;
        ring->tail = 0;
        for (uint32_t i = 0; i < slots; i++) {
            ring->descriptors[i].what = (uint64_t)l->frame_max << MEMIF_LENGTH_SHIFT;
            ring->descriptors[i].where = buffers_at(l) + ((uint64_t)number * slots + i) * stride;
        }
    }
}

/* A client's, for each connection; false: no memory. */
static bool make_memory(struct hxb_line *l)
{
    struct hxb_memif_end *m = &l->memif;
    uint64_t bytes = buffers_at(l) + ((uint64_t)HXB_MEMIF_RINGS * stride_of(l) << m->slots_log2);

    m->memory = memfd_create("pmhxb-memif", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (m->memory < 0 || ftruncate(m->memory, (off_t)bytes) != 0 ||
        fcntl(m->memory, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) != 0 ||
        !hxb_regions_add(&l->offered, m->memory, bytes)) {
        return false;
    }
    /* The mapping does not say whether there were pages; a store to one that is not there ends the process. */
    if (hxb_populate(l->offered.of[l->offered.count - 1].at, bytes) < 0) {
        return false;
    }
    for (int number = 0; number < HXB_MEMIF_RINGS; number++) {
        m->rings[number] =
            (struct hxb_memif_place){.given = true,
                                     .offset = (uint32_t)((uint64_t)number * ring_bytes(m->slots_log2)),
                                     .slots_log2 = m->slots_log2,
                                     .kick = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
        if (m->rings[number].kick < 0) {
            return false;
        }
    }
    fill_memory(l);
    return true;
}

static void forget(struct hxb_line *l)
{
    struct hxb_memif_end *m = &l->memif;

    m->step = INIT;
    hxb_close_if_open(&m->memory);
    for (int number = 0; number < HXB_MEMIF_RINGS; number++) {
        hxb_close_if_open(&m->rings[number].kick);
        m->rings[number].given = false;
    }
}

static int begin(struct hxb_line *l, const char *args)
{
    char id[16], slots[16], *id_end, *slots_end;

    hxb_argument(args, "id=", "0", id, sizeof(id));
    hxb_argument(args, "rsize=", SLOTS_LOG2, slots, sizeof(slots));
    unsigned long number = strtoul(id, &id_end, 10), log2 = strtoul(slots, &slots_end, 10);
    if (*id == '\0' || *id_end != '\0' || number > UINT32_MAX || *slots_end != '\0' || log2 == 0 ||
        log2 > MEMIF_SLOTS_LOG2_MAX) {
        return -EINVAL;
    }
    l->memif.id = (uint32_t)number;
    l->memif.slots_log2 = (uint32_t)log2;
    l->memif.memory = -1;
    for (int i = 0; i < HXB_MEMIF_RINGS; i++) {
        l->memif.rings[i].kick = -1;
    }
    return 0;
}

/* ---- The client's side ------------------------------------------------------------------------------- */

/* Sends the request of step m->step. */
static bool request(struct hxb_line *l)
{
    struct hxb_memif_end *m = &l->memif;
    struct memif_message message = {0};
    const struct hxb_memif_place *ring = &m->rings[m->step == ADD_RING_UP ? HXB_MEMIF_UP : HXB_MEMIF_DOWN];
    int fd = -1;

    switch (m->step) {
    case INIT:
        message.type = MEMIF_INIT;
        message.init.version = MEMIF_VERSION;
        message.init.id = m->id;
        message.init.mode = MEMIF_MODE_ETHERNET;
        snprintf(message.init.name, sizeof(message.init.name), "pmhxb");
        break;
    case ADD_REGION:
        message.type = MEMIF_ADD_REGION;
        message.add_region.bytes = l->offered.of[0].bytes;
        fd = m->memory;
        break;
    case ADD_RING_UP:
    case ADD_RING_DOWN:
        message.type = MEMIF_ADD_RING;
        message.add_ring.flags = m->step == ADD_RING_UP ? MEMIF_RING_UP : 0;
        message.add_ring.offset = ring->offset;
        message.add_ring.slots_log2 = (uint8_t)ring->slots_log2;
        fd = ring->kick;
        break;
    default:
        message.type = MEMIF_CONNECT;
        snprintf(message.connect.name, sizeof(message.connect.name), "%.31s", l->name);
        break;
    }
    return send_message(l->channel, &message, fd);
}

static enum hxb_heard hear_hello(struct hxb_line *l, const struct memif_message *message)
{
    if (l->offered.count != 0 || message->hello.version_min > MEMIF_VERSION ||
        message->hello.version_max < MEMIF_VERSION) {
        return refuse(l->channel, "pmhxb speaks memif 2.0 alone");
    }
    if (message->hello.slots_log2_max < l->memif.slots_log2) {
        return refuse(l->channel, "longer rings wanted");
    }
    if (!make_memory(l)) {
        return refuse(l->channel, "no memory");
    }
    return request(l) ? HXB_GOES_ON : HXB_FAILS;
}

static enum hxb_heard client_hears(struct hxb_line *l, const struct memif_message *message)
{
    struct hxb_memif_end *m = &l->memif;

    if (l->since_ns == 0) {
        return HXB_FAILS; /* the line stands: a last word, or none that is due */
    }
    if (message->type == MEMIF_HELLO) {
        return hear_hello(l, message);
    }
    if (l->offered.count == 0) {
        return HXB_FAILS;
    }
    if (message->type == MEMIF_ACK && m->step < CONNECT) {
        m->step++;
        return request(l) ? HXB_GOES_ON : HXB_FAILS;
    }
    if (message->type != MEMIF_CONNECTED || m->step != CONNECT) {
        return HXB_FAILS;
    }
    return hxb_regions_seal(&l->offered, m->memory, SEALS) ? HXB_STANDS : refuse(l->channel, "no memory");
}

/* ---- The server's side ------------------------------------------------------------------------------- */

static int greet(struct hxb_line *l, int channel)
{
    struct memif_message hello = {.type = MEMIF_HELLO};

    RTE_SET_USED(l);
    /* Its memory is the client's. */
    hxb_take_descriptors(channel, true);
    snprintf(hello.hello.name, sizeof(hello.hello.name), "pmhxb");
    hello.hello.version_min = MEMIF_VERSION;
    hello.hello.version_max = MEMIF_VERSION;
    hello.hello.region_last = HXB_REGIONS_MAX - 1;
    hello.hello.slots_log2_max = MEMIF_SLOTS_LOG2_MAX;
    return send_message(channel, &hello, -1) ? 0 : -EPIPE;
}

static enum hxb_heard acknowledge(const struct hxb_line *l)
{
    struct memif_message ack = {.type = MEMIF_ACK};

    return send_message(l->channel, &ack, -1) ? HXB_GOES_ON : HXB_FAILS;
}

static enum hxb_heard hear_init(struct hxb_line *l, const struct memif_message *message)
{
    if (l->memif.step != INIT) {
        return refuse(l->channel, "a second INIT");
    }
    if (message->init.version != MEMIF_VERSION || message->init.mode != MEMIF_MODE_ETHERNET) {
        return refuse(l->channel, "pmhxb speaks memif 2.0 with Ethernet frames alone");
    }
    if (message->init.id != l->memif.id) {
        return refuse(l->channel, "no interface of this id");
    }
    l->memif.step = ADD_REGION;
    return acknowledge(l);
}

/* A memory file that nobody can make shorter. Into holes of one with hugepages none may come back: who touches them is
 * ended (SIGBUS). */
static bool is_lasting(int fd)
{
    struct statfs system;

    return hxb_is_sealed(fd, F_SEAL_SHRINK) && fstatfs(fd, &system) == 0 && system.f_type != HUGETLBFS_MAGIC;
}

static enum hxb_heard hear_region(struct hxb_line *l, const struct memif_message *message, int fd)
{
    uint64_t left = MEMORY_MAX;

    for (int i = 0; i < l->offered.count; i++) {
        left -= l->offered.of[i].bytes;
    }
    if (message->add_region.index != l->offered.count) {
        return refuse(l->channel, "a region out of turn");
    }
    if (!is_lasting(fd)) {
        return refuse(l->channel, "a region's file must be of small pages, and sealed against shrinking");
    }
    if (message->add_region.bytes > left || !hxb_regions_add(&l->offered, fd, message->add_region.bytes)) {
        return refuse(l->channel, "a region cannot be mapped");
    }
    if (!hxb_regions_seal(&l->offered, fd, SEALS)) {
        return refuse(l->channel, "a region's file cannot be sealed against writing, by which holes are made");
    }
    return acknowledge(l);
}

/* Other kinds of descriptors may block whoever writes, or end the process (SIGPIPE). */
static bool is_eventfd(int fd)
{
    static const char kind[] = "anon_inode:[eventfd]";
    char path[32], target[sizeof(kind)];

    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    return readlink(path, target, sizeof(target)) == (ssize_t)sizeof(kind) - 1 &&
           memcmp(target, kind, sizeof(kind) - 1) == 0;
}

/* Takes the descriptor, if it accepts the ring. */
static enum hxb_heard hear_ring(struct hxb_line *l, const struct memif_message *message, int *fd)
{
    bool up = (message->add_ring.flags & MEMIF_RING_UP) != 0;
    struct hxb_memif_place *place = &l->memif.rings[up ? HXB_MEMIF_UP : HXB_MEMIF_DOWN];
    uint32_t log2 = message->add_ring.slots_log2;

    if (message->add_ring.index != 0 || place->given || log2 == 0 || log2 > MEMIF_SLOTS_LOG2_MAX ||
        *fd < 0) {
        return refuse(l->channel, "one ring a direction, of 2 to 16384 descriptors");
    }
    if (!is_eventfd(*fd) || fcntl(*fd, F_SETFL, O_NONBLOCK) != 0) {
        return refuse(l->channel, "no eventfd");
    }
    *place = (struct hxb_memif_place){.given = true,
                                      .region = message->add_ring.region,
                                      .offset = message->add_ring.offset,
                                      .slots_log2 = log2,
                                      .kick = *fd};
    *fd = -1;
    return acknowledge(l);
}

static enum hxb_heard hear_connect(struct hxb_line *l)
{
    struct memif_message connected = {.type = MEMIF_CONNECTED};

    for (int number = 0; number < HXB_MEMIF_RINGS; number++) {
        const struct hxb_memif_ring *ring = ring_at(&l->memif, &l->offered, number);
        if (ring == NULL || ring->cookie != MEMIF_COOKIE) {
            return refuse(l->channel, "a ring is missing, or not where it is said to be");
        }
    }
    snprintf(connected.connect.name, sizeof(connected.connect.name), "%.31s", l->name);
    return send_message(l->channel, &connected, -1) ? HXB_STANDS : HXB_FAILS;
}

static enum hxb_heard server_hears(struct hxb_line *l, const struct memif_message *message, int *fd)
{
    if (l->since_ns == 0) {
        return HXB_FAILS;
    }
    if (message->type == MEMIF_INIT) {
        return hear_init(l, message);
    }
    if (l->memif.step == INIT) {
        return HXB_FAILS;
    }
    switch (message->type) {
    case MEMIF_ADD_REGION:
        return hear_region(l, message, *fd);
    case MEMIF_ADD_RING:
        return hear_ring(l, message, fd);
    case MEMIF_CONNECT:
        return hear_connect(l);
    default:
        return HXB_FAILS;
    }
}

/* ---- Both ------------------------------------------------------------------------------------------- */

static enum hxb_heard hear(struct hxb_line *l)
{
    struct memif_message message;
    enum hxb_heard heard = HXB_FAILS;
    int fd;

    if (receive_message(l->channel, &message, &fd)) {
        heard = l->server ? server_hears(l, &message, &fd) : client_hears(l, &message);
    }
    hxb_close_if_open(&fd);
    return heard;
}

static void find(const struct hxb_line *l, int number, struct hxb_way *w)
{
    struct hxb_memif_ring *ring = ring_at(&l->memif, &l->memory, number);
    uint32_t slots = UINT32_C(1) << l->memif.rings[number].slots_log2;

    w->mask = slots - 1;
    w->slots = NULL;
    if (!l->server) {
        w->stride_bytes = stride_of(l);
        w->slots = l->memory.of[0].at + buffers_at(l) + (uint64_t)number * slots * w->stride_bytes;
    }
    w->memif.ring = ring;
    w->memif.regions = &l->memory;
    w->memif.published = number == HXB_MEMIF_UP ? &ring->head : &ring->tail;
    w->memif.released = number == HXB_MEMIF_UP ? &ring->tail : &ring->head;
    w->memif.lead = number == HXB_MEMIF_UP ? 0 : (uint16_t)slots;
    if (number == HXB_MEMIF_DOWN && l->server) {
        /* No buffer is known to be there: net_memif's client publishes its own with its first look. */
        w->told -= slots;
    } else if (number == HXB_MEMIF_DOWN) {
        /* All are: net_memif's server, as it connects, sets both indices to zero. */
        __atomic_store_n(w->memif.released, w->memif.lead, __ATOMIC_RELEASE);
    }
}

static void change(struct hxb_line *l, struct hxb_ways *ways, bool stands)
{
    int sends = l->server ? HXB_MEMIF_DOWN : HXB_MEMIF_UP;

    hxb_close_if_open(&ways->kick);
    if (stands) {
        find(l, sends, &ways->tx);
        find(l, 1 - sends, &ways->rx);
        ways->kick = l->memif.rings[sends].kick;
        l->memif.rings[sends].kick = -1;
        __atomic_store_n(&ways->rx.memif.ring->flags, MEMIF_MASK_INTERRUPTS, __ATOMIC_RELAXED);
    }
    forget(l);
}

const struct hxb_line_kind hxb_memif_kind = {
    .driver = "memif",
    .socket_prefix = "",
    .bells = false,
    .rx_burst = hxb_memif_rx_burst,
    .tx_burst = hxb_memif_tx_burst,
    .begin = begin,
    .greet = greet,
    .hear = hear,
    .forget = forget,
    .change = change,
};
