/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The two directions of a shared-memory line as one end has them: shm.c begins and ends them with the gate
 * of control.c closed, shm_burst.c moves frames. What lies in the shared memory:
 *
 *   head   consumed: frames that the receiver has copied, written now and then by it;
 *          doze: whether the receiver sleeps, or may soon (below)
 *   slot   word: (frames before this one + 1) << 16 | length in bytes; then the frame
 *
 * A slot belongs to its sender until its word is written, then to its receiver until `consumed` has
 * passed it. Numbers count modulo 2^48, more than slots a power of two, so slots need not be cleared.
 */
#ifndef HXB_SHM_H
#define HXB_SHM_H

#include "internal.h"

#define WORD_BYTES 8
#define LENGTH_BITS 16

/*
 * What a receiver says of itself, so that it can sleep until a frame comes. Of one that is awake a sender
 * only reads this word behind its frames, with no fence between: who falls asleep first has all
 * processors pass a barrier (hxb_barrier), behind which every sender finds the word changed, and looks
 * again behind a fence. To be drowsy spares a thread that sleeps often the barrier, and costs its senders the fence.
 */
enum hxb_doze { HXB_AWAKE, HXB_DROWSY, HXB_ASLEEP };

/* How a sender writes long frames; copy_long in shm_burst.c. */
struct hxb_copying {
    uint32_t ticks[2]; /* per KB: by ordinary stores, by streaming ones */
    uint32_t frames;
    bool streaming;
};

/* One direction, as one end has it. */
struct hxb_way {
    uint8_t *slots; /* NULL: no line */
    const struct hxb_pool *pool;
    uint64_t *consumed; /* in the shared head */
    uint32_t *doze;     /* likewise: of enum hxb_doze; the receiver's, but its peer may write it */
    uint64_t next;      /* frames so far */
    uint64_t told;      /* rx: as it was last written there; tx: as it was last read */
    uint64_t mask;      /* slots - 1 */
    uint32_t stride_bytes;
    uint32_t frame_max;
    struct hxb_copying copying;
    /* Written by the thread in the burst, read by any. */
    atomic_ullong frames;
    atomic_ullong bytes;
    atomic_ullong refused;
} __rte_cache_aligned;

_Static_assert(HXB_SHM_ENDS <= 64, "a bit each in hxb_pool_bells' word");

/* By number of the end. */
extern struct hxb_ways {
    struct hxb_way rx;
    struct hxb_way tx;
    /* Of the end, as long as it is attached: readable when the peer has rung. A line has two sockets joined
     * to each other, one end's each, which this descriptor then is; without one, an eventfd. Who rings, and who
     * hears it, are the threads in the bursts, behind the gate. */
    int bell;
    int silent;       /* likewise: an eventfd, in the bell's place where there is none */
    int silent_wakes; /* for which the bell had no ring */
} hxb_shm_ways[HXB_SHM_ENDS];

#endif
