/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a line of our own is made. The server makes a memfd for each client, with two heads and two rings of slots, one
 * of each for either direction (shm.h), and a bell, two sockets joined to each other, one end's each; maps the memory,
 * and sends it over the socket with the client's end of the bell. The client takes it if it is laid out as its own
 * would be, maps it, seals it for good, and answers with a byte; then both have a line, and neither can take memory
 * away from under the other.
 */
#include <fcntl.h>
#include <linux/memfd.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shm.h"

/* What goes with the hello: first the memory, then the client's end of the bell. */
#define DESCRIPTORS 2

/* Frames that wait for a receiver: of a burst of short ones each is in the caches yet, and of long ones
 * a millisecond's worth. */
#define SLOTS 256
/* Its length stays; holes are memory taken away as well, and a write's seal forbids them. */
#define LENGTH_SEALS (F_SEAL_SHRINK | F_SEAL_GROW)
#define SEALS (LENGTH_SEALS | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL)
/* Of one direction; neighbouring lines of a cache come in pairs. */
#define HEAD_BYTES 256
#define DOZE_AT 128

_Static_assert(SLOTS % 2 == 0 && (SLOTS & (SLOTS - 1)) == 0, "a power of two");

static const char MAGIC[8] = {'H', 'X', 'B', 'S', 'H', 'M', '0', '2'};

static size_t ring_bytes(const struct hxb_hello *h)
{
    return (size_t)h->slots * h->stride_bytes;
}

static size_t slots_at(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

static int begin(struct hxb_line *l, const char *args)
{
    RTE_SET_USED(args);
    l->shm.offered_fd = -1;
    l->shm.offered_bell = -1;
    return 0;
}

static void lay_out(struct hxb_line *l)
{
    struct hxb_hello *h = &l->shm.layout;
    uint32_t bytes = l->frame_max + WORD_BYTES;

    memset(h, 0, sizeof(*h));
    memcpy(h->magic, MAGIC, sizeof(MAGIC));
    h->slots = SLOTS;
    h->stride_bytes = hxb_slot_stride(bytes);
    h->frame_max = l->frame_max;
    h->head_bytes = HEAD_BYTES;
    h->bytes = slots_at() + 2 * ring_bytes(h);
}

/* A descriptor, or a negative errno. */
static int make_memory(const struct hxb_hello *h)
{
    int fd = memfd_create("pmhxb-line", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    if (fd < 0) {
        return -errno;
    }
    if (ftruncate(fd, (off_t)h->bytes) != 0 || fcntl(fd, F_ADD_SEALS, LENGTH_SEALS) != 0) {
        int error = -errno;
        close(fd);
        return error;
    }
    return fd;
}

static bool has_length(int fd, uint64_t bytes)
{
    struct stat st;

    return fstat(fd, &st) == 0 && (uint64_t)st.st_size == bytes;
}

union descriptors {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(DESCRIPTORS * sizeof(int))];
};

/* The offer, with its two descriptors; 0 or a negative errno. */
static int send_offer(int channel, const struct hxb_hello *h, const int *fds)
{
    union descriptors control = {0};
    struct iovec part = {.iov_base = (void *)(uintptr_t)h, .iov_len = sizeof(*h)};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = sizeof(control.bytes)};

    control.header.cmsg_level = SOL_SOCKET;
    control.header.cmsg_type = SCM_RIGHTS;
    control.header.cmsg_len = CMSG_LEN(DESCRIPTORS * sizeof(int));
    memcpy(CMSG_DATA(&control.header), fds, DESCRIPTORS * sizeof(int));
    return sendmsg(channel, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)sizeof(*h) ? 0
                                                                                           : -errno;
}

/* The descriptors of a message; false: they are fewer or more, and those that came are closed. */
static bool descriptors_of(const struct msghdr *message, int *fds)
{
    const struct cmsghdr *c = CMSG_FIRSTHDR(message);

    if (c == NULL || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) {
        return false;
    }
    size_t count = RTE_MIN((c->cmsg_len - CMSG_LEN(0)) / sizeof(int), (size_t)DESCRIPTORS);
    memcpy(fds, CMSG_DATA(c), count * sizeof(int));
    if (count == DESCRIPTORS && (message->msg_flags & MSG_CTRUNC) == 0) {
        return true;
    }
    for (size_t i = 0; i < count; i++) {
        close(fds[i]);
    }
    return false;
}

/* A kind of descriptor of which no call with MSG_DONTWAIT waits. */
static bool is_bell(int fd)
{
    int domain = 0, type = 0;
    socklen_t bytes = sizeof(int);

    return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &bytes) == 0 && domain == AF_UNIX &&
           getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &bytes) == 0 && type == SOCK_DGRAM;
}

/* The two descriptors of what is offered; false: it is no line, or not what `wanted` says. */
static bool receive_offer(int channel, const struct hxb_hello *wanted, int *fds)
{
    union descriptors control = {0};
    struct hxb_hello h;
    struct iovec part = {.iov_base = &h, .iov_len = sizeof(h)};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = sizeof(control.bytes)};
    ssize_t bytes = recvmsg(channel, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

    if (bytes < 0 || !descriptors_of(&message, fds)) {
        return false;
    }
    if (bytes == (ssize_t)sizeof(h) && memcmp(&h, wanted, sizeof(h)) == 0 &&
        has_length(fds[0], h.bytes) && hxb_is_sealed(fds[0], LENGTH_SEALS) && is_bell(fds[1])) {
        return true;
    }
    close(fds[0]);
    close(fds[1]);
    return false;
}

/* Both ends of a bell, each rung already; 0 or a negative errno. */
static int make_bell(int *ends_of_it)
{
    if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends_of_it) != 0) {
        return -errno;
    }
    for (int i = 0; i < 2; i++) {
        hxb_take_descriptors(ends_of_it[i], false);
        (void)send(ends_of_it[i], "", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
    }
    return 0;
}

/* ---- A line is offered and taken ------------------------------------------------------------------- */

static void forget(struct hxb_line *l)
{
    hxb_close_if_open(&l->shm.offered_fd);
    hxb_close_if_open(&l->shm.offered_bell);
}

/* A server's first step: it offers the client a line. */
static int greet(struct hxb_line *l, int channel)
{
    int bell[2];

    int rc = make_bell(bell);
    if (rc < 0) {
        return rc;
    }
    l->shm.offered_bell = bell[0];
    l->shm.offered_fd = make_memory(&l->shm.layout);
    if (l->shm.offered_fd < 0) {
        rc = l->shm.offered_fd;
        l->shm.offered_fd = -1;
    } else if (!hxb_regions_add(&l->offered, l->shm.offered_fd, l->shm.layout.bytes)) {
        /* Mapped before the client seals it, after which nobody can. */
        rc = -ENOMEM;
    } else {
        rc = send_offer(channel, &l->shm.layout, (int[]){l->shm.offered_fd, bell[1]});
    }
    close(bell[1]);
    return rc;
}

/* A server's second step: the client has answered. */
static bool is_answered(struct hxb_line *l)
{
    char byte[2];

    return l->offered.count == 1 && recv(l->channel, byte, sizeof(byte), MSG_DONTWAIT) == 1 &&
           hxb_is_sealed(l->shm.offered_fd, SEALS) && hxb_regions_seal(&l->offered, l->shm.offered_fd, SEALS);
}

/* A client's only step. False: it was offered nothing that it can use. */
static bool take_offer(struct hxb_line *l)
{
    int fds[DESCRIPTORS];

    if (l->since_ns == 0 || !receive_offer(l->channel, &l->shm.layout, fds)) {
        return false;
    }
    hxb_take_descriptors(fds[1], false);
    l->shm.offered_bell = fds[1];
    bool taken = hxb_regions_add(&l->offered, fds[0], l->shm.layout.bytes) &&
                 hxb_regions_seal(&l->offered, fds[0], SEALS) &&
                 send(l->channel, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL) == 1;
    close(fds[0]);
    return taken;
}

static enum hxb_heard hear(struct hxb_line *l)
{
    return (l->server ? is_answered(l) : take_offer(l)) ? HXB_STANDS : HXB_FAILS;
}

/* Where direction `number` of a line has what `w` says of it. */
static void find(const struct hxb_line *l, int number, struct hxb_way *w)
{
    const struct hxb_hello *h = &l->shm.layout;
    uint8_t *memory = l->memory.of[0].at, *head = memory + (size_t)number * HEAD_BYTES;

    w->slots = memory + slots_at() + (size_t)number * ring_bytes(h);
    w->shm.consumed = (uint64_t *)head;
    w->shm.doze = (uint32_t *)(head + DOZE_AT);
    w->mask = h->slots - 1;
    w->stride_bytes = h->stride_bytes;
}

/* Takes another descriptor for the end's bell, which keeps its number; -1: the silent one. Who waits on the one
 * before, silent or not, is woken by a ring or by its end, and looks at the new one, which therefore begins with a
 * ring. */
static void change_bell(const struct hxb_ways *ways, int bell)
{
    eventfd_write(ways->silent, 1);
    shutdown(ways->bell, SHUT_RDWR);
    dup3(bell < 0 ? ways->silent : bell, ways->bell, O_CLOEXEC);
}

static void change(struct hxb_line *l, struct hxb_ways *ways, bool stands)
{
    change_bell(ways, stands ? l->shm.offered_bell : -1);
    forget(l);
    if (stands) {
        /* The server sends on ring 0. */
        find(l, l->server ? 0 : 1, &ways->tx);
        find(l, l->server ? 1 : 0, &ways->rx);
    }
}

const struct hxb_line_kind hxb_shm_kind = {
    .driver = "shm",
    .socket_prefix = "pmhxb-shm/",
    .bells = true,
    .rx_burst = hxb_shm_rx_burst,
    .tx_burst = hxb_shm_tx_burst,
    .begin = begin,
    .lay_out = lay_out,
    .greet = greet,
    .hear = hear,
    .forget = forget,
    .change = change,
};
