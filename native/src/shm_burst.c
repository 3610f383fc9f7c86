/* SPDX-License-Identifier: Apache-2.0 */
/* Frames through a shared-memory line; see shm.h for what lies where, and whose it is. */
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include <rte_cycles.h>

#include "shm.h"

/* Cache lines behind the first of a slot in which a frame of up to 184 bytes lies. */
#define SHORT_FRAME_LINES 2
/* From this length on a frame is copied as one that was TIMED_FRAME long at least was faster lately; shorter
 * ones find room for all their stores in front of the cache, and seem to take no time. Every TRIAL_FRAMES-th
 * of the longer ones is copied the other way. */
#define LONG_FRAME 1024
#define TIMED_FRAME 4096
#define TRIAL_FRAMES 128
/* How far ahead of a long frame's copying its lines are asked for, and how many bytes at once. */
#define COPY_AHEAD 1024
#define COPY_STEP 256

struct hxb_ways hxb_shm_ways[HXB_SHM_ENDS];

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

static inline const char *frame_of(const struct hxb_pool *pool, uint32_t id)
{
    return (const char *)(uintptr_t)(pool->base + (uint64_t)id * pool->stride_bytes) + HXB_FRAME_OFFSET;
}

static inline void prefetch_step(const uint8_t *at)
{
    for (int line = 0; line < COPY_STEP / RTE_CACHE_LINE_SIZE; line++) {
        rte_prefetch0(at + line * RTE_CACHE_LINE_SIZE);
    }
}

/* Out of a slot. The sender's processor may have all of its lines: more are asked for at a time than a copy
 * of this length asks for by itself. */
static void copy_ahead(char *to, const uint8_t *from, uint32_t n)
{
    uint32_t at;

    for (at = 0; at < COPY_AHEAD; at += COPY_STEP) {
        prefetch_step(from + at);
    }
    for (at = 0; at + COPY_STEP <= n; at += COPY_STEP) {
        if (at + COPY_AHEAD + COPY_STEP <= n) {
            prefetch_step(from + at + COPY_AHEAD);
        }
        memcpy(to + at, from + at, COPY_STEP);
    }
    memcpy(to + at, from + at, n - at);
}

int hxb_shm_rx_burst(int port, int queue, struct hxb_pool *pool, uint64_t *descs, uint64_t *addresses,
                     int n)
{
    struct hxb_way *w = &hxb_shm_ways[port - HXB_SHM_FIRST].rx;
    uint32_t ids[HXB_BURST_MAX], lengths[HXB_BURST_MAX];

    if (unlikely(w->slots == NULL || w->pool != pool || queue != 0)) {
        return w->slots == NULL ? -ENETDOWN : -EINVAL;
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
        char *frame = (char *)(uintptr_t)frame_of(pool, ids[taken]);
        if (likely(lengths[i] < LONG_FRAME)) {
            memcpy(frame, slot + WORD_BYTES, lengths[i]);
        } else {
            copy_ahead(frame, slot + WORD_BYTES, lengths[i]);
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
        __atomic_store_n(w->consumed, w->next, __ATOMIC_RELEASE);
    }
    hxb_add(&w->frames, (uint64_t)taken);
    hxb_add(&w->bytes, bytes);
    return taken;
}

#ifdef __SSE2__
/* Past the caches, whose lines of the slot the receiver's processor has: no line is waited for. */
static void copy_streaming(uint8_t *to, const char *from, uint32_t n)
{
    uint32_t head = (uint32_t)(-(uintptr_t)to & (RTE_CACHE_LINE_SIZE - 1));

    memcpy(to, from, head);
    for (to += head, from += head, n -= head; n >= RTE_CACHE_LINE_SIZE; n -= RTE_CACHE_LINE_SIZE) {
        for (int i = 0; i < RTE_CACHE_LINE_SIZE; i += 16) {
            _mm_stream_si128((__m128i *)(void *)(to + i),
                             _mm_loadu_si128((const __m128i *)(const void *)(from + i)));
        }
        to += RTE_CACHE_LINE_SIZE;
        from += RTE_CACHE_LINE_SIZE;
    }
    memcpy(to, from, n);
    /* Streaming stores are in no order with the slot's word otherwise. */
    _mm_sfence();
}
#else
static void copy_streaming(uint8_t *to, const char *from, uint32_t n)
{
    memcpy(to, from, n);
}
#endif

/* A moving mean that follows a lesser figure at once: what is above may be a pause of ours. */
static inline void learn(uint32_t *ticks, uint64_t measured)
{
    uint32_t now = (uint32_t)RTE_MIN(measured, (uint64_t)UINT16_MAX);

    if (*ticks == 0 || now < *ticks) {
        *ticks = now;
    } else {
        *ticks += (RTE_MIN(now, 2 * *ticks) - *ticks + 7) / 8;
    }
}

/*
 * Copies a long frame into its slot by that kind of stores that was faster lately. Ordinary stores wait
 * for each line until the receiver's processor has given it up: a fifth of a microsecond per KB where
 * both share a cache, which they then leave the frame in, five times that where they do not. Streaming stores
 * take the same everywhere, but leave the frame in memory, so they must be four times as fast to pay.
 */
static void copy_long(struct hxb_copying *c, uint8_t *to, const char *from, uint32_t length)
{
    bool timed = length >= TIMED_FRAME;
    bool streaming = c->streaming != (timed && c->frames++ % TRIAL_FRAMES == 0);
    uint64_t begin = rte_rdtsc();

    if (streaming) {
        copy_streaming(to, from, length);
    } else {
        memcpy(to, from, length);
    }
    if (!timed) {
        return;
    }
    learn(&c->ticks[streaming], (rte_rdtsc() - begin) * 1024 / length);
    c->streaming = c->ticks[0] / 4 > c->ticks[1] && c->ticks[1] != 0;
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
    if (likely(__atomic_load_n(w->doze, __ATOMIC_RELAXED) == HXB_AWAKE)) {
        return false;
    }
    /* S7: the same; pairs with S6. */
    atomic_thread_fence(memory_order_seq_cst);
    return __atomic_load_n(w->doze, __ATOMIC_RELAXED) == HXB_ASLEEP;
}

/* Frames that find a slot, at most n. */
static inline int room(struct hxb_way *w, int n)
{
    uint64_t slots = w->mask + 1;

    if (unlikely(slots - (w->next - w->told) < (uint64_t)n)) {
        /* S4: before the slots are written again; pairs with S3. What a peer writes there without
         * having read is its own loss; what it cannot have read is no answer. */
        uint64_t told = __atomic_load_n(w->consumed, __ATOMIC_ACQUIRE);
        if (w->next - told <= slots) {
            w->told = told;
        }
        return (int)RTE_MIN(slots - (w->next - w->told), (uint64_t)n);
    }
    return n;
}

int hxb_shm_tx_burst(int port, int queue, struct hxb_pool *pool, const uint64_t *descs, int n)
{
    struct hxb_way *w = &hxb_shm_ways[port - HXB_SHM_FIRST].tx;
    uint32_t gone[HXB_BURST_MAX];
    int sent = 0, mine = 0;
    uint64_t bytes = 0;

    if (unlikely(w->slots == NULL || w->pool != pool || queue != 0)) {
        return w->slots == NULL ? -ENETDOWN : -EINVAL;
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
        if (likely(length < LONG_FRAME)) {
            memcpy(slot + WORD_BYTES, frame_of(pool, id), length);
        } else {
            copy_long(&w->copying, slot + WORD_BYTES, frame_of(pool, id), length);
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
        pool->bells[0] |= UINT64_C(1) << (port - HXB_SHM_FIRST);
    }
    hxb_add(&w->frames, (uint64_t)sent);
    hxb_add(&w->bytes, bytes);
    return sent;
}
