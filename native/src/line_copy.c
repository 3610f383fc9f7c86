/* SPDX-License-Identifier: Apache-2.0 */
/* Long frames between a pool and the memory of a line. */
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include <rte_cycles.h>

#include "line.h"

/* A frame is copied as one that was so long at least was faster lately; shorter ones find room for all their
 * stores in front of the cache, and seem to take no time. Every TRIAL_FRAMES-th of these is copied the other way. */
#define TIMED_FRAME 4096
#define TRIAL_FRAMES 128
/* How far ahead of a long frame's copying its lines are asked for, and how many bytes at once. */
#define COPY_AHEAD 1024
#define COPY_STEP 256

_Static_assert(HXB_LONG_FRAME >= COPY_AHEAD, "what is asked for first is the frame's");

static inline void prefetch_step(const uint8_t *at)
{
    for (int line = 0; line < COPY_STEP / RTE_CACHE_LINE_SIZE; line++) {
        rte_prefetch0(at + line * RTE_CACHE_LINE_SIZE);
    }
}

/* More lines are asked for at a time than a copy of this length asks for by itself. */
void hxb_copy_ahead(char *to, const uint8_t *from, uint32_t length)
{
    uint32_t at;

    for (at = 0; at < COPY_AHEAD; at += COPY_STEP) {
        prefetch_step(from + at);
    }
    for (at = 0; at + COPY_STEP <= length; at += COPY_STEP) {
        if (at + COPY_AHEAD + COPY_STEP <= length) {
            prefetch_step(from + at + COPY_AHEAD);
        }
        memcpy(to + at, from + at, COPY_STEP);
    }
    memcpy(to + at, from + at, length - at);
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
    /* Streaming stores are in no order with what says that the frame is there otherwise. */
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
 * Ordinary stores wait for each line until the receiver's processor has given it up: a fifth of a microsecond
 * per KB where both share a cache, which they then leave the frame in, five times that where they do not.
 * Streaming stores take the same everywhere, but leave the frame in memory, so they must be four times as fast
 * to pay.
 */
void hxb_copy_long(struct hxb_copying *c, uint8_t *to, const char *from, uint32_t length)
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
