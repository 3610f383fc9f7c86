/* SPDX-License-Identifier: Apache-2.0 */
/* Frames through a shared-memory line; see shm.h for what lies where, and whose it is. */
#include <string.h>

#include "shm.h"

/* Cache lines behind the first of a slot in which a frame of up to 184 bytes lies. */
#define SHORT_FRAME_LINES 2

static inline uint8_t *slot_at(const struct hxb_way *w, uint64_t number)
{
    return w->slots + (number & w->mask) * w->stride_bytes;
}

static inline void prefetch_frame(const uint8_t *slot)
{
    for (int line = 1; line <= SHORT_FRAME_LINES; line++) {
        rte_prefetch0(slot + line * RTE_CACHE_LINE_SIZE);
    }
}

/* The length of the frame that is in a slot, or 0: the sender has not come to it. S1: pairs with S2. */
static inline uint32_t length_in(const struct hxb_way *w, uint64_t number)
{
    uint64_t word = __atomic_load_n((const uint64_t *)slot_at(w, number), __ATOMIC_ACQUIRE);
    uint64_t beyond = word - ((number + 1) << LENGTH_BITS);

    return beyond <= UINT16_MAX ? (uint32_t)beyond : 0;
}

/* Frames that are there, at most n; their lengths. */
static inline int look(const struct hxb_way *w, uint32_t *lengths, int n)
{
    int ready = 0;

    while (ready < n && (lengths[ready] = length_in(w, w->next + (uint64_t)ready)) != 0) {
        ready++;
    }
    return ready;
}

int hxb_shm_rx_burst(int port, int queue, struct hxb_pool *pool, uint64_t *descs, uint64_t *addresses,
                     int n)
{
    struct hxb_way *w = &hxb_ways_at(port)->rx;
    uint32_t ids[HXB_BURST_MAX], lengths[HXB_BURST_MAX];

    if (unlikely(!hxb_way_takes(w, pool, queue))) {
        return hxb_way_refuses(w);
    }
    /* A short frame's lines are asked for with its word: the sender's processor has all of them. */
    prefetch_frame(slot_at(w, w->next));
    int ready = look(w, lengths, RTE_MIN(n, HXB_BURST_MAX));
    if (ready <= 0) {
        return 0;
    }
    /* Without a buffer, frames stay in their slots, and the sender keeps what finds none. */
    ready = hxb_pool_alloc_bulk(pool, ids, ready);
    pool->bells[1] += ready <= 0;
    int taken = 0;
    uint64_t bytes = 0;
    for (int i = 0; i < ready; i++) {
        const uint8_t *slot = slot_at(w, w->next + (uint64_t)i);
        if (i + 1 < ready) {
            prefetch_frame(slot_at(w, w->next + (uint64_t)i + 1));
        }
        if (unlikely(lengths[i] - HXB_MIN_FRAME > w->frame_max - HXB_MIN_FRAME)) {
            hxb_add(&w->refused, 1);
            continue;
        }
        char *frame = hxb_frame_of(pool, ids[taken]);
        if (likely(lengths[i] < HXB_LONG_FRAME)) {
            memcpy(frame, slot + WORD_BYTES, lengths[i]);
        } else {
            hxb_copy_ahead(frame, slot + WORD_BYTES, lengths[i]);
        }
        if (addresses != NULL) {
            addresses[taken] = (uint64_t)(uintptr_t)frame;
        }
        descs[taken] = ids[taken] | (uint64_t)lengths[i] << HXB_DESC_LENGTH_SHIFT;
        taken++;
        bytes += lengths[i];
    }
    if (unlikely(taken < ready)) {
        hxb_pool_release_bulk(pool, ids + taken, ready - taken);
    }
    w->next += (uint64_t)ready;
    /* Seldom, and never behind each frame: the sender has the line that this is in, and every store
     * of the answer would wait behind this one. */
    if (w->next - w->told > w->mask / 4) {
        w->told = w->next;
        /* S3: behind the copies; pairs with S4. */
        __atomic_store_n(w->shm.consumed, w->next, __ATOMIC_RELEASE);
    }
    hxb_add(&w->frames, (uint64_t)taken);
    hxb_add(&w->bytes, bytes);
    return taken;
}

/* Behind its frames: whether the receiver of the line is to be rung for. */
static inline bool must_ring(const struct hxb_way *w)
{
    /* S5: the slot's word before the look; pairs with S6, by the receiver's barrier on all processors,
     * or, where this process has no part in that, by itself. */
    if (unlikely(atomic_load_explicit(&hxb_gate.unheard, memory_order_relaxed))) {
        atomic_thread_fence(memory_order_seq_cst);
    } else {
        atomic_signal_fence(memory_order_seq_cst);
    }
    if (likely(__atomic_load_n(w->shm.doze, __ATOMIC_RELAXED) == HXB_AWAKE)) {
        return false;
    }
    /* S7: the same; pairs with S6. */
    atomic_thread_fence(memory_order_seq_cst);
    return __atomic_load_n(w->shm.doze, __ATOMIC_RELAXED) == HXB_ASLEEP;
}

/* Frames that find a slot, at most n. */
static inline int room(struct hxb_way *w, int n)
{
    uint64_t slots = w->mask + 1;

    if (unlikely(slots - (w->next - w->told) < (uint64_t)n)) {
        /* S4: before the slots are written again; pairs with S3. What a peer writes there without
         * having read is its own loss; what it cannot have read is no answer. */
        uint64_t told = __atomic_load_n(w->shm.consumed, __ATOMIC_ACQUIRE);
        if (w->next - told <= slots) {
            w->told = told;
        }
        return (int)RTE_MIN(slots - (w->next - w->told), (uint64_t)n);
    }
    return n;
}

int hxb_shm_tx_burst(int port, int queue, struct hxb_pool *pool, const uint64_t *descs, int n)
{
    struct hxb_way *w = &hxb_ways_at(port)->tx;
    uint32_t gone[HXB_BURST_MAX];
    int sent = 0, mine = 0;
    uint64_t bytes = 0;

    if (unlikely(!hxb_way_takes(w, pool, queue))) {
        return hxb_way_refuses(w);
    }
    if (unlikely(n <= 0)) {
        return 0;
    }
    n = room(w, RTE_MIN(n, HXB_BURST_MAX));
    for (; sent < n; sent++) {
        uint32_t id = (uint32_t)(descs[sent] & HXB_DESC_ID_MASK);
        uint32_t length = (uint32_t)(descs[sent] >> HXB_DESC_LENGTH_SHIFT);
        if (unlikely(id - 1 >= pool->count || length - HXB_MIN_FRAME > w->frame_max - HXB_MIN_FRAME)) {
            hxb_add(&w->refused, 1);
            if (sent == 0) {
                return -EINVAL;
            }
            break;
        }
        uint8_t *slot = slot_at(w, w->next);
        if (likely(length < HXB_LONG_FRAME)) {
            memcpy(slot + WORD_BYTES, hxb_frame_of(pool, id), length);
        } else {
            hxb_copy_long(&w->copying, slot + WORD_BYTES, hxb_frame_of(pool, id), length);
        }
        w->next++;
        /* S2: behind the frame; pairs with S1. */
        __atomic_store_n((uint64_t *)slot, w->next << LENGTH_BITS | length, __ATOMIC_RELEASE);
        bytes += length;
        if (!(descs[sent] & HXB_DESC_HOLD)) {
            gone[mine++] = id;
        }
    }
    /* What is held has been copied, so nobody needed a reference for it. */
    if (mine > 0) {
        hxb_pool_release_bulk(pool, gone, mine);
    }
    if (unlikely(must_ring(w))) {
        pool->bells[0] |= UINT64_C(1) << (port - HXB_LINE_FIRST);
    }
    hxb_add(&w->frames, (uint64_t)sent);
    hxb_add(&w->bytes, bytes);
    return sent;
}
