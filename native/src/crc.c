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

/* Begins the CRCs of four pieces of memory, side by side, over `done` bytes: a multiple of 8. */
static __rte_always_inline void four_longs(const uint8_t *a, const uint8_t *second,
                                           const uint8_t *third, const uint8_t *fourth,
                                           uint32_t done, uint64_t begun[LANES])
{
    /* One pointer moves; where the others are from it stays. */
    uintptr_t b = (uintptr_t)second - (uintptr_t)a;
    uintptr_t c = (uintptr_t)third - (uintptr_t)a;
    uintptr_t d = (uintptr_t)fourth - (uintptr_t)a;
    uint64_t w = UINT32_MAX, x = w, y = w, z = w;

#define FOUR_CRCS(i)                                                                               \
    do {                                                                                           \
        w = CRC_LONG(w, long_at(a + (i)));                                                         \
        x = CRC_LONG(x, long_at((const uint8_t *)((uintptr_t)a + b) + (i)));                       \
        y = CRC_LONG(y, long_at((const uint8_t *)((uintptr_t)a + c) + (i)));                       \
        z = CRC_LONG(z, long_at((const uint8_t *)((uintptr_t)a + d) + (i)));                       \
    } while (0)
    for (const uint8_t *end = a + (done & ~31u); a != end; a += 32) {
        FOUR_CRCS(0);
        FOUR_CRCS(8);
        FOUR_CRCS(16);
        FOUR_CRCS(24);
    }
    for (const uint8_t *end = a + (done & 24u); a != end; a += 8) {
        FOUR_CRCS(0);
    }
#undef FOUR_CRCS
    begun[0] = w;
    begun[1] = x;
    begun[2] = y;
    begun[3] = z;
}

/* Four pieces of memory side by side, as far as the shortest goes. */
static inline void four_crcs(const uint8_t *const *at, const uint32_t *bytes, uint32_t *crcs)
{
    uint32_t least = RTE_MIN(RTE_MIN(bytes[0], bytes[1]), RTE_MIN(bytes[2], bytes[3]));
    uint32_t done = least & ~7u;
    uint64_t begun[LANES];

    four_longs(at[0], at[1], at[2], at[3], done, begun);
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
    return (uint8_t *)(uintptr_t)(pool->base + (uint64_t)id * pool->stride_bytes +
                                  HXB_FRAME_OFFSET);
}

/* Whether the bytes [from, length) of a frame lie in the pool's buffers. */
static inline bool is_within(const struct hxb_pool *pool, uint64_t frame, uint32_t from,
                             uint32_t length)
{
    return length >= from && length <= pool->frame_max &&
           frame - pool->first <= pool->span - length;
}

static inline bool field_is(uint64_t frame, uint32_t at, uint32_t crc)
{
    return word_at((const uint8_t *)(uintptr_t)frame + at) == rte_cpu_to_be_32(crc);
}

static inline bool one_holds(const struct hxb_pool *pool, uint64_t d, uint64_t frame, uint32_t from,
                             uint32_t at)
{
    uint32_t length = (uint32_t)(d >> HXB_DESC_LENGTH_SHIFT);

    return likely(is_within(pool, frame, from, length)) &&
           field_is(frame, at,
                    finish(UINT32_MAX, (const uint8_t *)(uintptr_t)frame + from, length - from));
}

bool hxb_only_holds(const uint64_t *only, const uint8_t *frame, uint32_t length)
{
    uint32_t from = (uint16_t)only[0], at = (uint16_t)(only[0] >> 16);
    uint32_t word = (uint16_t)(only[0] >> 32), most = (uint32_t)(only[0] >> 48);
    uint32_t mask = (uint32_t)only[1], value = (uint32_t)(only[1] >> 32);

    /* On each call: the words are plain memory of the caller's, and nothing here sees them set. */
    return at + sizeof(uint32_t) <= from &&
           word + sizeof(uint32_t) <= HXB_FRAME_MAX(HXB_STRIDE_MIN) && length >= from &&
           length <= most && (word_at(frame + word) & mask) == value &&
           field_is((uint64_t)(uintptr_t)frame, at,
                    finish(UINT32_MAX, frame + from, length - from));
}

/* Whether four frames do: of one length, and four bytes of the cover follow whole longs. */
static __rte_always_inline bool four_alike_hold(const uint64_t *frames, uint32_t length,
                                                uint32_t from, uint32_t at)
{
    const uint8_t *a = (const uint8_t *)(uintptr_t)frames[0];
    const uint8_t *b = (const uint8_t *)(uintptr_t)frames[1];
    const uint8_t *c = (const uint8_t *)(uintptr_t)frames[2];
    const uint8_t *d = (const uint8_t *)(uintptr_t)frames[3];
    uint64_t begun[LANES];
    uint32_t last = length - 4, wrong;

    four_longs(a + from, b + from, c + from, d + from, last - from, begun);
    wrong = rte_be_to_cpu_32(word_at(a + at)) ^ ~CRC_WORD((uint32_t)begun[0], word_at(a + last));
    wrong |= rte_be_to_cpu_32(word_at(b + at)) ^ ~CRC_WORD((uint32_t)begun[1], word_at(b + last));
    wrong |= rte_be_to_cpu_32(word_at(c + at)) ^ ~CRC_WORD((uint32_t)begun[2], word_at(c + last));
    wrong |= rte_be_to_cpu_32(word_at(d + at)) ^ ~CRC_WORD((uint32_t)begun[3], word_at(d + last));
    return wrong == 0;
}

/* How many of up to LANES frames do, from the first on. */
static __rte_noinline int few_hold(const struct hxb_pool *pool, const uint64_t *descs,
                                   const uint64_t *frames, int n, uint32_t from, uint32_t at)
{
    const uint8_t *data[LANES];
    uint32_t bytes[LANES], crcs[LANES];
    int within = 0, i = 0;

    for (; within < n; within++) {
        uint32_t length = (uint32_t)(descs[within] >> HXB_DESC_LENGTH_SHIFT);
        if (unlikely(!is_within(pool, frames[within], from, length))) {
            break;
        }
        data[within] = (const uint8_t *)(uintptr_t)frames[within] + from;
        bytes[within] = length - from;
    }
    crcs_of(data, bytes, within, crcs);
    while (i < within && field_is(frames[i], at, crcs[i])) {
        i++;
    }
    return i;
}

/* Apart from the only frame of a burst, which needs none of these registers. */
static __rte_noinline int many_hold(const struct hxb_pool *pool, const uint64_t *descs,
                                    const uint64_t *frames, int n, uint32_t from, uint32_t at)
{
    for (int i = 0; i < n; i += LANES) {
        int lanes = RTE_MIN(LANES, n - i);
        if (likely(lanes == LANES)) {
            uint64_t d = descs[i];
            uint32_t length = (uint32_t)(d >> HXB_DESC_LENGTH_SHIFT);
            uint64_t unlike = (d ^ descs[i + 1]) | (d ^ descs[i + 2]) | (d ^ descs[i + 3]);
            uint64_t first = pool->first, room = pool->span - length;
            /* Of 64 bytes of payload and of 8,192 the cover leaves four bytes. */
            if (likely(unlike >> HXB_DESC_LENGTH_SHIFT == 0 && ((length - from) & 7) == 4 &&
                       length > from && length <= pool->frame_max && frames[i] - first <= room &&
                       frames[i + 1] - first <= room && frames[i + 2] - first <= room &&
                       frames[i + 3] - first <= room) &&
                likely(four_alike_hold(&frames[i], length, from, at))) {
                continue;
            }
        }
        int hold = few_hold(pool, &descs[i], &frames[i], lanes, from, at);
        if (unlikely(hold < lanes)) {
            return i + hold;
        }
    }
    return n;
}

HXB_API int hxb_crc32c_holds(const struct hxb_pool *pool, const uint64_t *descs,
                             const uint64_t *frames, int n, uint32_t from, uint32_t at)
{
    if (unlikely(at + sizeof(uint32_t) > from)) {
        return 0;
    }
    return n == 1 ? one_holds(pool, descs[0], frames[0], from, at)
                  : many_hold(pool, descs, frames, n, from, at);
}

/* What the addresses of a pool's frames are made of, for a loop over many. */
struct frames {
    uint64_t base; /* of buffer 0, were there one */
    struct rte_mbuf *const *mbufs;
    uint32_t stride_bytes, count;
};

static inline uint8_t *frame_in(const struct frames *in, uint32_t id)
{
    return (uint8_t *)(uintptr_t)(in->base + (uint64_t)id * in->stride_bytes);
}

static inline void write_crc(uint8_t *field, uint64_t begun, const uint8_t *at, uint32_t rest)
{
    /* Of 64 bytes of payload the cover leaves four bytes. */
    uint32_t crc = likely(rest == 4) ? ~CRC_WORD((uint32_t)begun, word_at(at))
                                     : finish(begun, at, rest);

    crc = rte_cpu_to_be_32(crc);
    memcpy(field, &crc, sizeof(crc));
}

/*
 * Four frames that differ in nothing but their buffer, as nearly all do: what is asked of a
 * descriptor is asked once. False: they are not, and nothing was done.
 */
static __rte_always_inline bool seal_four(const struct frames *in, const uint64_t *descs,
                                          uint32_t from, uint32_t length_max, uint32_t trailer,
                                          uint32_t at)
{
    uint64_t d = descs[0], begun[LANES];
    uint64_t unlike = (d ^ descs[1]) | (d ^ descs[2]) | (d ^ descs[3]);
    uint32_t length = (uint32_t)(d >> HXB_DESC_LENGTH_SHIFT) - trailer;
    uint32_t i = (uint32_t)d & HXB_DESC_ID_MASK, j = (uint32_t)descs[1] & HXB_DESC_ID_MASK;
    uint32_t k = (uint32_t)descs[2] & HXB_DESC_ID_MASK, l = (uint32_t)descs[3] & HXB_DESC_ID_MASK;

    if (unlikely((unlike & ~(uint64_t)HXB_DESC_ID_MASK) != 0 || (d & HXB_DESC_SEAL) == 0 ||
                 length > length_max || length < from || i - 1 >= in->count ||
                 j - 1 >= in->count || k - 1 >= in->count || l - 1 >= in->count)) {
        return false;
    }
    /* What sends them writes their mbufs next, of several queues a few at a time. */
    rte_prefetch0(in->mbufs[i]);
    rte_prefetch0(in->mbufs[j]);
    rte_prefetch0(in->mbufs[k]);
    rte_prefetch0(in->mbufs[l]);
    uint8_t *a = frame_in(in, i), *b = frame_in(in, j), *c = frame_in(in, k), *e = frame_in(in, l);
    uint32_t rest = (length - from) & 7, last = length - rest;
    four_longs(a + from, b + from, c + from, e + from, last - from, begun);
    write_crc(a + at, begun[0], a + last, rest);
    write_crc(b + at, begun[1], b + last, rest);
    write_crc(c + at, begun[2], c + last, rest);
    write_crc(e + at, begun[3], e + last, rest);
    return true;
}

/* The only frame of a burst, without what several need. */
static inline bool seal_one(const struct hxb_pool *pool, uint64_t d, uint32_t from, uint32_t trailer,
                            uint32_t at)
{
    uint32_t length = (uint32_t)(d >> HXB_DESC_LENGTH_SHIFT) - trailer;

    if (unlikely((d & HXB_DESC_SEAL) == 0)) {
        return true;
    }
    uint8_t *frame = frame_of(pool, d, from, length);
    if (unlikely(frame == NULL)) {
        return false;
    }
    write_crc(frame + at, UINT32_MAX, frame + from, length - from);
    return true;
}

/* How many of n descriptors, from the first on, are within range: their frames are sealed. */
static __rte_noinline int seal_some(const struct hxb_pool *pool, const uint64_t *descs, int n,
                                    uint32_t from, uint32_t trailer, uint32_t at)
{
    const uint8_t *data[LANES];
    uint8_t *field[LANES];
    uint32_t bytes[LANES], crcs[LANES];
    int lanes;
    const struct frames in = {
        .base = pool->base + HXB_FRAME_OFFSET,
        .mbufs = pool->mbufs,
        .stride_bytes = pool->stride_bytes,
        .count = pool->count,
    };

    for (int i = 0; i < n;) {
        if (n - i >= LANES &&
            likely(seal_four(&in, &descs[i], from, pool->frame_max, trailer, at))) {
            i += LANES;
            continue;
        }
        for (lanes = 0; i < n && lanes < LANES; i++) {
            uint64_t d = descs[i];
            uint32_t length = (uint32_t)(d >> HXB_DESC_LENGTH_SHIFT) - trailer;
            if (unlikely((d & HXB_DESC_SEAL) == 0)) {
                continue;
            }
            uint8_t *frame = frame_of(pool, d, from, length);
            if (unlikely(frame == NULL)) {
                n = i;
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
    return n;
}

HXB_API int hxb_seal(const struct hxb_pool *pool, const uint64_t *descs, int n, uint32_t from,
                     uint32_t trailer, uint32_t at)
{
    if (unlikely(at + sizeof(uint32_t) > from)) {
        return -EINVAL;
    }
    if (n == 1) {
        return seal_one(pool, descs[0], from, trailer, at) ? 1 : -EINVAL;
    }
    return seal_some(pool, descs, n, from, trailer, at) < n ? -EINVAL : n;
}
