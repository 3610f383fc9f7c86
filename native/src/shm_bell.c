/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sleeping until a frame comes through a shared-memory line. Behind the gate of control.c.
 *
 * The bell is a pair of datagram sockets, one of each end, of which neither's state is the other's, as counter
 * and flags of an eventfd would be. An end that keeps ringing costs the other one processor time, and
 * nothing else. Descriptors among the rings, whose closing may take as long as their sender likes, the
 * kernel refuses (hxb_take_descriptors), but for those that a server has put in before it offered the line.
 */
#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "shm.h"

/* Rings that are heard at once: a queue of such sockets holds net.unix.max_dgram_qlen, 10 or a few hundred. */
#define RINGS 16
/* A bell is looked at more closely when it may have ended so many sleeps and had no ring. */
#define SILENT_WAKES 16

int hxb_shm_sleep(int port)
{
    const struct hxb_way *w = &hxb_ways_at(port)->rx;

    if (!w->open) {
        return 0;
    }
    uint32_t was = __atomic_exchange_n(w->shm.doze, HXB_ASLEEP, __ATOMIC_SEQ_CST);
    /* S6: the word before the last look for frames; pairs with S5 and S7. */
    atomic_thread_fence(memory_order_seq_cst);
    return was == HXB_AWAKE ? 1 : 0;
}

/* Of a bell that the peer has shut, for good, and which would end every later sleep at once: a silent one takes its
 * place. */
static void silence(const struct hxb_ways *ways)
{
    struct pollfd shut = {.fd = ways->bell, .events = POLLRDHUP};

    if (poll(&shut, 1, 0) == 1 && (shut.revents & (POLLRDHUP | POLLHUP)) != 0) {
        dup3(ways->silent, ways->bell, O_CLOEXEC);
    }
}

/* Takes the rings out of a bell that may have some. */
static void hear(struct hxb_ways *ways)
{
    char byte;
    ssize_t n;
    int rings = 0;

    while ((n = recv(ways->bell, &byte, 1, MSG_DONTWAIT)) >= 0 && ++rings < RINGS) {
    }
    if (n < 0 && errno == ENOTSOCK) {
        eventfd_t count;
        (void)eventfd_read(ways->bell, &count);
    }
    ways->silent_wakes = rings > 0 ? 0 : ways->silent_wakes + 1;
    if (ways->silent_wakes >= SILENT_WAKES) {
        ways->silent_wakes = 0;
        silence(ways);
    }
}

void hxb_shm_wake(int port, bool rung)
{
    struct hxb_ways *ways = hxb_ways_at(port);
    const struct hxb_way *w = &ways->rx;

    /* AWAKE: of a line that is new since. Only behind a barrier may that change. */
    if (w->open && __atomic_load_n(w->shm.doze, __ATOMIC_RELAXED) != HXB_AWAKE) {
        __atomic_store_n(w->shm.doze, HXB_DROWSY, __ATOMIC_RELAXED);
    }
    if (rung) {
        hear(ways);
    }
}

void hxb_shm_rouse(int port)
{
    const struct hxb_way *w = &hxb_ways_at(port)->rx;

    if (w->open) {
        __atomic_store_n(w->shm.doze, HXB_AWAKE, __ATOMIC_RELAXED);
    }
}

bool hxb_shm_ring(int port)
{
    const struct hxb_ways *ways = hxb_ways_at(port);
    uint32_t rung = HXB_DROWSY;

    /* Who finds it asleep rings, and once: it is drowsy from now on. */
    if (!ways->tx.open ||
        __atomic_exchange_n(ways->tx.shm.doze, HXB_DROWSY, __ATOMIC_SEQ_CST) != HXB_ASLEEP) {
        return false;
    }
    /* EAGAIN: it rings already. */
    if (send(ways->bell, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL) == 1 || errno == EAGAIN) {
        return true;
    }
    /* Else the next burst tries again. */
    __atomic_compare_exchange_n(ways->tx.shm.doze, &rung, HXB_ASLEEP, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
    return false;
}
