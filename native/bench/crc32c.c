/* SPDX-License-Identifier: Apache-2.0 */
/* CRC32C by the processor's instruction: short frames side by side, a long one in three chains. */
#include "frame.h"

#if defined(__x86_64__)
#include <nmmintrin.h>
#define STEP8(crc, word) ((uint32_t)_mm_crc32_u64((crc), (word)))
#define STEP4(crc, word) _mm_crc32_u32((crc), (word))
#define STEP1(crc, byte) _mm_crc32_u8((crc), (byte))
#elif defined(__aarch64__)
#include <arm_acle.h>
#define STEP8(crc, word) __crc32cd((crc), (word))
#define STEP4(crc, word) __crc32cw((crc), (word))
#define STEP1(crc, byte) __crc32cb((crc), (byte))
#endif

/* Bytes of each of the three chains: the instruction has a latency of three and a throughput of one. */
enum { LANE = 256 };

/* Advances a CRC over LANE zero bytes: linear, so one table per byte of the CRC. */
static uint32_t over_zeros[4][256];

static inline uint64_t word_at(const uint8_t *data)
{
    uint64_t word;
    memcpy(&word, data, sizeof(word));
    return word;
}

__attribute__((constructor)) static void make_tables(void)
{
    for (int place = 0; place < 4; place++) {
        for (uint32_t value = 0; value < 256; value++) {
            uint32_t crc = value << (place << 3);
            for (int i = 0; i < LANE; i += 8) {
                crc = STEP8(crc, 0);
            }
            over_zeros[place][value] = crc;
        }
    }
}

static inline uint32_t skip_lane(uint32_t crc)
{
    return over_zeros[0][crc & 0xFF] ^ over_zeros[1][crc >> 8 & 0xFF] ^
           over_zeros[2][crc >> 16 & 0xFF] ^ over_zeros[3][crc >> 24];
}

static uint32_t long_part(uint32_t crc, const uint8_t **data, uint32_t *bytes)
{
    const uint8_t *at = *data;
    for (; *bytes >= 3 * LANE; *bytes -= 3 * LANE, at += 3 * LANE) {
        uint32_t b = 0, c = 0;
        for (int i = 0; i < LANE; i += 8) {
            crc = STEP8(crc, word_at(at + i));
            b = STEP8(b, word_at(at + LANE + i));
            c = STEP8(c, word_at(at + 2 * LANE + i));
        }
        crc = skip_lane(skip_lane(crc) ^ b) ^ c;
    }
    *data = at;
    return crc;
}

static inline uint32_t rest_of(uint32_t crc, const uint8_t *data, uint32_t bytes)
{
    for (; bytes >= 8; bytes -= 8, data += 8) {
        crc = STEP8(crc, word_at(data));
    }
    if (bytes >= 4) {
        uint32_t word;
        memcpy(&word, data, sizeof(word));
        crc = STEP4(crc, word);
        data += 4;
        bytes -= 4;
    }
    for (; bytes > 0; bytes--, data++) {
        crc = STEP1(crc, *data);
    }
    return ~crc;
}

uint32_t crc32c(const uint8_t *data, uint32_t bytes)
{
    uint32_t crc = UINT32_MAX;
    if (bytes >= 3 * LANE) {
        crc = long_part(crc, &data, &bytes);
    }
    return rest_of(crc, data, bytes);
}

/* Four frames at a time as far as the shortest goes, the rest of each alone. */
void frame_crcs(uint8_t *const *frames, const uint32_t *lengths, int n, uint32_t *crcs)
{
    int i = 0;

    for (; i + 4 <= n; i += 4) {
        const uint8_t *a = frames[i] + FRAME_KIND_SRC, *b = frames[i + 1] + FRAME_KIND_SRC;
        const uint8_t *c = frames[i + 2] + FRAME_KIND_SRC, *d = frames[i + 3] + FRAME_KIND_SRC;
        uint32_t w = UINT32_MAX, x = w, y = w, z = w, common = UINT32_MAX;
        for (int k = 0; k < 4; k++) {
            uint32_t bytes = FRAME_HEADER - FRAME_KIND_SRC + lengths[i + k];
            common = bytes < common ? bytes : common;
        }
        if (common >= 3 * LANE) {
            for (int k = 0; k < 4; k++) {
                crcs[i + k] = frame_crc(frames[i + k], lengths[i + k]);
            }
            continue;
        }
        uint32_t done = common & ~7u;
        uint32_t from = 0;
        for (; from + 32 <= done; from += 32) {
            for (uint32_t j = from; j < from + 32; j += 8) {
                w = STEP8(w, word_at(a + j));
                x = STEP8(x, word_at(b + j));
                y = STEP8(y, word_at(c + j));
                z = STEP8(z, word_at(d + j));
            }
        }
        for (; from < done; from += 8) {
            w = STEP8(w, word_at(a + from));
            x = STEP8(x, word_at(b + from));
            y = STEP8(y, word_at(c + from));
            z = STEP8(z, word_at(d + from));
        }
        const uint32_t begun[4] = {w, x, y, z};
        for (int k = 0; k < 4; k++) {
            const uint8_t *at = frames[i + k] + FRAME_KIND_SRC + done;
            uint32_t bytes = FRAME_HEADER - FRAME_KIND_SRC + lengths[i + k] - done;
            if (bytes == 4) {
                uint32_t word;
                memcpy(&word, at, sizeof(word));
                crcs[i + k] = ~STEP4(begun[k], word);
            } else {
                crcs[i + k] = rest_of(begun[k], at, bytes);
            }
        }
    }
    for (; i < n; i++) {
        crcs[i] = frame_crc(frames[i], lengths[i]);
    }
}
