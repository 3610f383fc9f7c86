/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The two directions of a shared-memory line as one end has them: shm.c begins and ends them with the gate
 * of control.c closed, shm_burst.c moves frames. What lies in the shared memory:
 *
 *   head   consumed: frames that the receiver has copied, written now and then by it
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

/* By number of the end. */
extern struct hxb_ways {
    struct hxb_way rx;
    struct hxb_way tx;
} hxb_shm_ways[HXB_SHM_ENDS];

#endif
