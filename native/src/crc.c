/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CRC32C of many short frames. The processor's instruction takes 8 bytes, has a latency of 3 cycles
 * and a throughput of one a cycle: one frame alone waits for itself two cycles of three, so four are
 * computed side by side.
 */
#include <string.h>

#include <rte_byteorder.h>

#include "internal.h"

#if defined(__SSE4_2__)
#include <nmmintrin.h>
#define CRC_BYTE(crc, v) _mm_crc32_u8(crc, v)
#define CRC_WORD(crc, v) _mm_crc32_u32(crc, v)
#define CRC_LONG(crc, v) _mm_crc32_u64(crc, v)
#elif defined(__ARM_FEATURE_CRC32)
#include <arm_acle.h>
#define CRC_BYTE(crc, v) __crc32cb(crc, v)
#define CRC_WORD(crc, v) __crc32cw(crc, v)
#define CRC_LONG(crc, v) __crc32cd((uint32_t)(crc), v)
#else
/* By the polynomial, bit by bit: right everywhere, for processors without the instruction. */
static uint32_t crc_bits(uint64_t seed, uint64_t v, int bytes)
{
    uint32_t crc = (uint32_t)seed;

    for (int i = 0; i < bytes; i++, v >>= 8) {
        crc ^= (uint8_t)v;
        for (int bit = 0; bit < 8; bit++) {
            crc = crc >> 1 ^ (crc & 1 ? UINT32_C(0x82f63b78) : 0);
        }
    }
    return crc;
}
#define CRC_BYTE(crc, v) crc_bits(crc, v, 1)
#define CRC_WORD(crc, v) crc_bits(crc, v, 4)
#define CRC_LONG(crc, v) crc_bits(crc, v, 8)
#endif

#define LANES 4

static inline uint64_t long_at(const uint8_t *at)
{
    uint64_t v;

    memcpy(&v, at, sizeof(v));
    return v;
}

static inline uint32_t word_at(const uint8_t *at)
{
    uint32_t v;

    memcpy(&v, at, sizeof(v));
    return v;
}

/* The rest of one frame, or all of it. */
static inline uint32_t finish(uint64_t crc, const uint8_t *at, uint32_t bytes)
{
    for (; bytes >= 32; bytes -= 32, at += 32) {
        crc = CRC_LONG(crc, long_at(at));
        crc = CRC_LONG(crc, long_at(at + 8));
        crc = CRC_LONG(crc, long_at(at + 16));
        crc = CRC_LONG(crc, long_at(at + 24));
    }
    for (; bytes >= 8; bytes -= 8, at += 8) {
        crc = CRC_LONG(crc, long_at(at));
    }
    uint32_t rest = (uint32_t)crc;
    if (bytes >= 4) {
        rest = CRC_WORD(rest, word_at(at));
        at += 4;
        bytes -= 4;
    }
    while (bytes-- > 0) {
        rest = CRC_BYTE(rest, *at++);
    }
    return ~rest;
}

/* Four frames side by side, as far as the shortest goes. */
static inline void four_crcs(const uint8_t *const *at, const uint32_t *bytes, uint32_t *crcs)
{
    uint32_t least = RTE_MIN(RTE_MIN(bytes[0], bytes[1]), RTE_MIN(bytes[2], bytes[3]));
    uint32_t done = least & ~7u;
    /* One pointer moves; where the others are from it stays. */
    const uint8_t *a = at[0];
    uintptr_t b = (uintptr_t)at[1] - (uintptr_t)a;
    uintptr_t c = (uintptr_t)at[2] - (uintptr_t)a;
    uintptr_t d = (uintptr_t)at[3] - (uintptr_t)a;
    uint64_t w = UINT32_MAX, x = w, y = w, z = w;

    for (const uint8_t *end = a + done; a != end; a += 8) {
        w = CRC_LONG(w, long_at(a));
        x = CRC_LONG(x, long_at((const uint8_t *)((uintptr_t)a + b)));
        y = CRC_LONG(y, long_at((const uint8_t *)((uintptr_t)a + c)));
        z = CRC_LONG(z, long_at((const uint8_t *)((uintptr_t)a + d)));
    }
    const uint64_t begun[LANES] = {w, x, y, z};
    /* Of 64 bytes of payload and of 8,192 the cover leaves four bytes. */
    if (likely(least - done == 4 && ((bytes[0] ^ bytes[1]) | (bytes[0] ^ bytes[2]) |
                                     (bytes[0] ^ bytes[3])) == 0)) {
        for (int k = 0; k < LANES; k++) {
            crcs[k] = ~CRC_WORD((uint32_t)begun[k], word_at(at[k] + done));
        }
        return;
    }
    for (int k = 0; k < LANES; k++) {
        crcs[k] = finish(begun[k], at[k] + done, bytes[k] - done);
    }
}

/* Of up to LANES pieces of memory. */
static inline void crcs_of(const uint8_t *const *at, const uint32_t *bytes, int n, uint32_t *crcs)
{
    if (likely(n == LANES)) {
        four_crcs(at, bytes, crcs);
        return;
    }
    for (int k = 0; k < n; k++) {
        crcs[k] = finish(UINT32_MAX, at[k], bytes[k]);
    }
}

/* The frame of a descriptor whose bytes [from, length) exist, or NULL. */
static inline uint8_t *frame_of(const struct hxb_pool *pool, uint64_t d, uint32_t from,
                                uint32_t length)
{
    uint32_t id = (uint32_t)(d & HXB_DESC_ID_MASK);

    if (unlikely(id - 1 >= pool->count || length > pool->frame_max || length < from)) {
        return NULL;
    }
    return (uint8_t *)(uintptr_t)(pool->base + ((uint64_t)id << pool->stride_shift) +
                                  HXB_FRAME_AT(id, pool->stride_shift));
}

/* The only frame of a burst: without what four side by side need. */
static int one_crc(const struct hxb_pool *pool, uint64_t d, uint32_t from, uint32_t *crc)
{
    uint32_t length = (uint32_t)(d >> HXB_DESC_LENGTH_SHIFT);
    const uint8_t *frame = frame_of(pool, d, from, length);

    if (unlikely(frame == NULL)) {
        return -EINVAL;
    }
    *crc = finish(UINT32_MAX, frame + from, length - from);
    return 1;
}

HXB_API int hxb_crc32c(const struct hxb_pool *pool, const uint64_t *descs, int n, uint32_t from,
                       uint32_t *crcs)
{
    const uint8_t *at[LANES];
    uint32_t bytes[LANES];

    if (n == 1) {
        return one_crc(pool, descs[0], from, crcs);
    }
    for (int i = 0; i < n; i += LANES) {
        int lanes = RTE_MIN(LANES, n - i);
        for (int k = 0; k < lanes; k++) {
            uint32_t length = (uint32_t)(descs[i + k] >> HXB_DESC_LENGTH_SHIFT);
            const uint8_t *frame = frame_of(pool, descs[i + k], from, length);
            if (unlikely(frame == NULL)) {
                return -EINVAL;
            }
            at[k] = frame + from;
            bytes[k] = length - from;
        }
        crcs_of(at, bytes, lanes, &crcs[i]);
    }
    return n;
}

HXB_API int hxb_seal(const struct hxb_pool *pool, const uint64_t *descs, int n, uint32_t from,
                     uint32_t trailer, uint32_t at)
{
    const uint8_t *data[LANES];
    uint8_t *field[LANES];
    uint32_t bytes[LANES], crcs[LANES];
    int lanes, rc = n;

    if (unlikely(at + sizeof(uint32_t) > from)) {
        return -EINVAL;
    }
    for (int i = 0; i < n;) {
        for (lanes = 0; i < n && lanes < LANES; i++) {
            uint64_t d = descs[i];
            uint32_t length = (uint32_t)(d >> HXB_DESC_LENGTH_SHIFT) - trailer;
            if (unlikely((d & HXB_DESC_SEAL) == 0)) {
                continue;
            }
            uint8_t *frame = frame_of(pool, d, from, length);
            if (unlikely(frame == NULL)) {
                /* Those before it are sealed all the same. */
                n = i;
                rc = -EINVAL;
                break;
            }
            data[lanes] = frame + from;
            field[lanes] = frame + at;
            bytes[lanes++] = length - from;
        }
        crcs_of(data, bytes, lanes, crcs);
        for (int k = 0; k < lanes; k++) {
            uint32_t crc = rte_cpu_to_be_32(crcs[k]);
            memcpy(field[k], &crc, sizeof(crc));
        }
    }
    return rc;
}
