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
#define CRC_LONG(crc, v) ((uint32_t)_mm_crc32_u64(crc, v))
#elif defined(__ARM_FEATURE_CRC32)
#include <arm_acle.h>
#define CRC_BYTE(crc, v) __crc32cb(crc, v)
#define CRC_WORD(crc, v) __crc32cw(crc, v)
#define CRC_LONG(crc, v) __crc32cd(crc, v)
#else
/* By the polynomial, bit by bit: right everywhere, for processors without the instruction. */
static uint32_t crc_bits(uint32_t crc, uint64_t v, int bytes)
{
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

static uint32_t finish(uint32_t crc, const uint8_t *at, uint32_t bytes)
{
    for (; bytes >= 8; bytes -= 8, at += 8) {
        crc = CRC_LONG(crc, long_at(at));
    }
    if (bytes >= 4) {
        uint32_t word;
        memcpy(&word, at, sizeof(word));
        crc = CRC_WORD(crc, word);
        at += 4;
        bytes -= 4;
    }
    while (bytes-- > 0) {
        crc = CRC_BYTE(crc, *at++);
    }
    return ~crc;
}

/* CRC32C of up to LANES pieces of memory; at[] and bytes[] are filled to the end when lanes > 1. */
static inline void side_by_side(const uint8_t *const *at, const uint32_t *bytes, int lanes,
                                uint32_t *crcs)
{
    if (lanes == 1) {
        crcs[0] = finish(UINT32_MAX, at[0], bytes[0]);
        return;
    }
    uint32_t common = RTE_MIN(RTE_MIN(bytes[0], bytes[1]), RTE_MIN(bytes[2], bytes[3])) & ~7u;
    uint32_t c0 = UINT32_MAX, c1 = UINT32_MAX, c2 = UINT32_MAX, c3 = UINT32_MAX;
    for (uint32_t b = 0; b < common; b += 8) {
        c0 = CRC_LONG(c0, long_at(at[0] + b));
        c1 = CRC_LONG(c1, long_at(at[1] + b));
        c2 = CRC_LONG(c2, long_at(at[2] + b));
        c3 = CRC_LONG(c3, long_at(at[3] + b));
    }
    const uint32_t begun[LANES] = {c0, c1, c2, c3};
    for (int k = 0; k < lanes; k++) {
        crcs[k] = finish(begun[k], at[k] + common, bytes[k] - common);
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

HXB_API int hxb_crc32c(const struct hxb_pool *pool, const uint64_t *descs, int n, uint32_t from,
                       uint32_t *crcs)
{
    const uint8_t *at[LANES];
    uint32_t bytes[LANES];
    int lanes;

    for (int i = 0; i < n; i += lanes) {
        lanes = RTE_MIN(LANES, n - i);
        for (int k = 0; k < LANES; k++) {
            /* The last group of a burst computes its first frame again where one is missing. */
            uint64_t d = descs[k < lanes ? i + k : i];
            uint32_t length = (uint32_t)(d >> HXB_DESC_LENGTH_SHIFT);
            const uint8_t *frame = frame_of(pool, d, from, length);
            if (unlikely(frame == NULL)) {
                return -EINVAL;
            }
            at[k] = frame + from;
            bytes[k] = length - from;
        }
        side_by_side(at, bytes, lanes, &crcs[i]);
    }
    return n;
}

HXB_API int hxb_seal(const struct hxb_pool *pool, const uint64_t *descs, int n, uint32_t from,
                     uint32_t trailer, uint32_t at)
{
    const uint8_t *data[LANES];
    uint8_t *field[LANES];
    uint32_t bytes[LANES], crcs[LANES];
    int lanes;

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
                return -EINVAL;
            }
            data[lanes] = frame + from;
            field[lanes] = frame + at;
            bytes[lanes++] = length - from;
        }
        if (unlikely(lanes == 0)) {
            break;
        }
        for (int k = lanes; k < LANES; k++) {
            data[k] = data[0];
            bytes[k] = bytes[0];
        }
        side_by_side(data, bytes, lanes, crcs);
        for (int k = 0; k < lanes; k++) {
            uint32_t crc = rte_cpu_to_be_32(crcs[k]);
            memcpy(field[k], &crc, sizeof(crc));
        }
    }
    return n;
}
