/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sleeping until a frame comes through a shared-memory line. Behind the gate of control.c.
 *
 * The bell is a pair of datagram sockets, one of each end: nothing that the peer does to its own makes a call on
 * ours wait, where both would share an eventfd, counter and flags. An end that keeps ringing costs the
 * other one processor time, and nothing else.
 */
#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "shm.h"

/* Rings that are heard at once: a queue of such sockets holds net.unix.max_dgram_qlen, 10 or a few hundred. */
#define RINGS 16

int hxb_shm_sleep(int port)
{
    const struct hxb_way *w = &hxb_shm_ways[port - HXB_SHM_FIRST].rx;

    if (w->slots == NULL) {
        return 0;
    }
    uint32_t was = __atomic_exchange_n(w->doze, HXB_ASLEEP, __ATOMIC_SEQ_CST);
    /* S6: the word before the last look for frames; pairs with S5 and S7. */
    atomic_thread_fence(memory_order_seq_cst);
    return was == HXB_AWAKE ? 1 : 0;
}

/* Of one that the peer has shut, for good: it would end every later sleep at once. A silent one takes its place. */
static void silence(int bell)
{
    struct pollfd shut = {.fd = bell, .events = POLLRDHUP};

    if (poll(&shut, 1, 0) == 1 && (shut.revents & (POLLRDHUP | POLLHUP)) != 0) {
        int silent = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        if (silent >= 0) {
            dup3(silent, bell, O_CLOEXEC);
            close(silent);
        }
    }
}

/* Takes the rings out of a bell that may have some. */
static void hear(int bell)
{
    char byte;
    ssize_t n;
    int rings = 0;

    while ((n = recv(bell, &byte, 1, MSG_DONTWAIT)) >= 0 && ++rings < RINGS) {
    }
    if (n < 0 && errno == ENOTSOCK) {
        eventfd_t count;
        (void)eventfd_read(bell, &count);
    } else if (rings == 0) {
        silence(bell);
    }
}

void hxb_shm_wake(int port, bool rung)
{
    const struct hxb_ways *ways = &hxb_shm_ways[port - HXB_SHM_FIRST];

    if (ways->rx.slots != NULL) {
        __atomic_store_n(ways->rx.doze, HXB_DROWSY, __ATOMIC_RELAXED);
    }
    if (rung) {
        hear(ways->bell);
    }
}

void hxb_shm_rouse(int port)
{
    const struct hxb_way *w = &hxb_shm_ways[port - HXB_SHM_FIRST].rx;

    if (w->slots != NULL) {
        __atomic_store_n(w->doze, HXB_AWAKE, __ATOMIC_RELAXED);
    }
}

void hxb_shm_ring(int port)
{
    const struct hxb_ways *ways = &hxb_shm_ways[port - HXB_SHM_FIRST];

    /* Who finds it asleep rings, and once: it is drowsy from now on. */
    if (ways->tx.slots != NULL &&
        __atomic_exchange_n(ways->tx.doze, HXB_DROWSY, __ATOMIC_SEQ_CST) == HXB_ASLEEP) {
        /* Not sent: it rings already, or the peer is gone. */
        (void)send(ways->bell, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
    }
}
