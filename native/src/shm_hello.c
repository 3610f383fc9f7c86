/* SPDX-License-Identifier: Apache-2.0 */
/* A line's memory, its bell, and the hello by which a server hands both to its client (shm_hello.h). */
#include <fcntl.h>
#include <linux/memfd.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shm_hello.h"

#ifndef SO_PASSRIGHTS
#define SO_PASSRIGHTS 83
#endif

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

void hxb_hello_lay_out(struct hxb_hello *h, uint32_t frame_max)
{
    uint32_t bytes = frame_max + WORD_BYTES;

    memset(h, 0, sizeof(*h));
    memcpy(h->magic, MAGIC, sizeof(MAGIC));
    h->slots = SLOTS;
    h->stride_bytes = (bytes + RTE_CACHE_LINE_SIZE - 1) / RTE_CACHE_LINE_SIZE * RTE_CACHE_LINE_SIZE;
    /* Odd in lines: else the beginnings of slots, all that short frames use, share sets of a cache. */
    if (h->stride_bytes / RTE_CACHE_LINE_SIZE % 2 == 0) {
        h->stride_bytes += RTE_CACHE_LINE_SIZE;
    }
    h->frame_max = frame_max;
    h->head_bytes = HEAD_BYTES;
    h->bytes = slots_at() + 2 * ring_bytes(h);
}

int hxb_hello_make_memory(const struct hxb_hello *h)
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

static bool is_sealed(int fd, int seals)
{
    int has = fcntl(fd, F_GET_SEALS);

    return has >= 0 && (has & seals) == seals;
}

static bool has_length(int fd, uint64_t bytes)
{
    struct stat st;

    return fstat(fd, &st) == 0 && (uint64_t)st.st_size == bytes;
}

uint8_t *hxb_hello_map(const struct hxb_hello *h, int fd)
{
    /* Populated here and not by the first frames. */
    void *memory = mmap(NULL, h->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);

    return memory == MAP_FAILED ? NULL : memory;
}

void hxb_hello_unmap(const struct hxb_hello *h, uint8_t *memory)
{
    if (memory != NULL) {
        munmap(memory, h->bytes);
    }
}

bool hxb_hello_seal(int fd)
{
    return fcntl(fd, F_ADD_SEALS, SEALS) == 0;
}

bool hxb_hello_is_sealed(int fd)
{
    return is_sealed(fd, SEALS);
}

void hxb_hello_find(const struct hxb_hello *h, uint8_t *memory, int number, struct hxb_way *w)
{
    uint8_t *head = memory + (size_t)number * HEAD_BYTES;

    w->slots = memory + slots_at() + (size_t)number * ring_bytes(h);
    w->consumed = (uint64_t *)head;
    w->doze = (uint32_t *)(head + DOZE_AT);
    w->mask = h->slots - 1;
    w->stride_bytes = h->stride_bytes;
    w->frame_max = h->frame_max;
}

union descriptors {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(HXB_HELLO_DESCRIPTORS * sizeof(int))];
};

int hxb_hello_send(int channel, const struct hxb_hello *h, const int *fds)
{
    union descriptors control = {0};
    struct iovec part = {.iov_base = (void *)(uintptr_t)h, .iov_len = sizeof(*h)};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = sizeof(control.bytes)};

    control.header.cmsg_level = SOL_SOCKET;
    control.header.cmsg_type = SCM_RIGHTS;
    control.header.cmsg_len = CMSG_LEN(HXB_HELLO_DESCRIPTORS * sizeof(int));
    memcpy(CMSG_DATA(&control.header), fds, HXB_HELLO_DESCRIPTORS * sizeof(int));
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
    size_t count = RTE_MIN((c->cmsg_len - CMSG_LEN(0)) / sizeof(int), (size_t)HXB_HELLO_DESCRIPTORS);
    memcpy(fds, CMSG_DATA(c), count * sizeof(int));
    if (count == HXB_HELLO_DESCRIPTORS && (message->msg_flags & MSG_CTRUNC) == 0) {
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

bool hxb_hello_receive(int channel, const struct hxb_hello *wanted, int *fds)
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
        has_length(fds[0], h.bytes) && is_sealed(fds[0], LENGTH_SEALS) && is_bell(fds[1])) {
        return true;
    }
    close(fds[0]);
    close(fds[1]);
    return false;
}

void hxb_hello_refuse_descriptors(int fd)
{
    const int none = 0;

    (void)setsockopt(fd, SOL_SOCKET, SO_PASSRIGHTS, &none, sizeof(none));
}

int hxb_hello_make_bell(int *ends_of_it)
{
    if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends_of_it) != 0) {
        return -errno;
    }
    for (int i = 0; i < 2; i++) {
        hxb_hello_refuse_descriptors(ends_of_it[i]);
        (void)send(ends_of_it[i], "", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
    }
    return 0;
}
