/* SPDX-License-Identifier: Apache-2.0 */
/* The frame header (PROTOCOL.md section 2): offsets, whole-word loads and stores. */
#ifndef HXB_TWIN_FRAME_H
#define HXB_TWIN_FRAME_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <rte_byteorder.h>

/*
 *  0 dstMac:48 | 6 srcMac:48 | 12 etherType:16
 * 14 version:8 | 15 hopLimit:8 | 16 copy:8 | 17 mark:8 | 18 hopCheck:16 | 20 path:32
 * 24 crc:32 | 28 kind:8 src:24 | 32 flags:8 dst:24 | 36 key:32 | 40 session:32
 * 44 seq:32 | 48 ack:32 | 52 credit:32 | 56 srcEndpoint:16 | 58 dstEndpoint:16 | 60 length:16 | 62 beyond:16
 */
enum {
    FRAME_ETHER_WORD = 8,
    FRAME_ETHER_TYPE = 12,
    FRAME_COPY = 16,
    FRAME_CRC = 24,
    FRAME_KIND_SRC = 28,
    FRAME_FLAGS_DST = 32,
    FRAME_KEY = 36,
    FRAME_SESSION = 40,
    FRAME_SEQ = 44,
    FRAME_ACK = 48,
    FRAME_CREDIT = 52,
    FRAME_ENDPOINTS = 56,
    FRAME_LENGTH = 60,
    FRAME_HEADER = 64,
};

enum { ETHER_TYPE_PM = 0x88B5, VERSION_MAJOR = 1, VERSION_BYTE = VERSION_MAJOR << 4 | 2 };
enum { KIND_DATA = 1, KIND_ACK = 2 };
enum { FLAG_FRAGMENT = 0x01, FLAG_COALESCED = 0x02, FLAG_TAG = 0x04, FLAG_CREDIT = 0x10 };
enum { EVERY_NODE = 0xFFFFFF };

/* As they lie in the frame. */
static inline uint64_t raw64(const uint8_t *frame, int at)
{
    uint64_t v;
    memcpy(&v, frame + at, sizeof(v));
    return v;
}

static inline uint32_t raw32(const uint8_t *frame, int at)
{
    uint32_t v;
    memcpy(&v, frame + at, sizeof(v));
    return v;
}

static inline uint64_t load64(const uint8_t *frame, int at)
{
    uint64_t v;
    memcpy(&v, frame + at, sizeof(v));
    return rte_be_to_cpu_64(v);
}

static inline uint32_t load32(const uint8_t *frame, int at)
{
    uint32_t v;
    memcpy(&v, frame + at, sizeof(v));
    return rte_be_to_cpu_32(v);
}

static inline void store64(uint8_t *frame, int at, uint64_t value)
{
    uint64_t v = rte_cpu_to_be_64(value);
    memcpy(frame + at, &v, sizeof(v));
}

static inline void store32(uint8_t *frame, int at, uint32_t value)
{
    uint32_t v = rte_cpu_to_be_32(value);
    memcpy(frame + at, &v, sizeof(v));
}

/* Section 2.1: over bytes 14-17 and 20-23. */
static inline uint16_t hop_check(uint32_t first, uint32_t path)
{
    uint64_t m = ((uint64_t)first << 32 | path) * UINT64_C(0x9E3779B97F4A7C15);
    return (uint16_t)((m >> 48) ^ (m >> 16));
}

/* ether_word: bytes 8-15; path_word: bytes 16-23. */
static inline bool hop_check_holds(uint64_t ether_word, uint64_t path_word)
{
    uint32_t first = (uint32_t)ether_word << 16 | (uint32_t)(path_word >> 48);
    return hop_check(first, (uint32_t)path_word) == (uint16_t)(path_word >> 32);
}

/* Bytes 0-23: addresses, hop part and its check. */
static inline void write_front(uint8_t *frame, uint64_t dst_mac, uint64_t src_mac,
                               uint32_t hop_limit, uint32_t path)
{
    uint32_t first = (uint32_t)VERSION_BYTE << 24 | hop_limit << 16;
    store64(frame, 0, dst_mac << 16 | src_mac >> 32);
    store64(frame, 8, src_mac << 32 | (uint64_t)ETHER_TYPE_PM << 16 | first >> 16);
    store64(frame, 16, (uint64_t)hop_check(first, path) << 32 | path);
}

/* Bytes 0-23 as a relay rewrites them: addresses, one hop less, hop check; the path stays. */
static inline void write_forward(uint8_t *frame, uint64_t dst_mac, uint64_t src_mac,
                                 uint32_t hop_word, uint32_t path)
{
    uint32_t first = hop_word - (1u << 16);
    store64(frame, 0, dst_mac << 16 | src_mac >> 32);
    store64(frame, 8, src_mac << 32 | (uint64_t)ETHER_TYPE_PM << 16 | first >> 16);
    store64(frame, 16, (uint64_t)(first << 16 | hop_check(first, path)) << 32 | path);
}

/* Bytes 28-63. */
static inline void write_end_to_end(uint8_t *frame, uint32_t kind_src, uint32_t flags_dst,
                                    uint32_t key, uint32_t session, uint32_t seq, uint32_t ack,
                                    uint32_t credit, uint32_t endpoints, uint32_t length)
{
    store64(frame, FRAME_KIND_SRC, (uint64_t)kind_src << 32 | flags_dst);
    store64(frame, FRAME_KEY, (uint64_t)key << 32 | session);
    store64(frame, FRAME_SEQ, (uint64_t)seq << 32 | ack);
    store64(frame, FRAME_CREDIT, (uint64_t)credit << 32 | endpoints);
    store32(frame, FRAME_LENGTH, length << 16);
}

/* Sequence numbers, limits and indices are compared by difference (section 5.1). */
static inline bool before(uint32_t a, uint32_t b)
{
    return (int32_t)(a - b) < 0;
}

/* CRC32C (section 2.2) of `bytes` bytes. */
uint32_t crc32c(const uint8_t *data, uint32_t bytes);

/* The same of n frames' end-to-end parts, several side by side. */
void frame_crcs(uint8_t *const *frames, const uint32_t *lengths, int n, uint32_t *crcs);

static inline uint32_t frame_crc(const uint8_t *frame, uint32_t length)
{
    return crc32c(frame + FRAME_KIND_SRC, FRAME_HEADER - FRAME_KIND_SRC + length);
}

#endif
