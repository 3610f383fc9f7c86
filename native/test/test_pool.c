/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers: place, allocation, references. */
#include <errno.h>
#include <string.h>

#include <rte_mbuf.h>

#include "internal.h"
#include "test.h"

static struct hxb_pool_config config_of(const struct test_pool *p, const char *name)
{
    struct hxb_pool_config c = {.base = p->region.address,
                                .region_bytes = p->region.length,
                                .page_bytes = p->region.page_bytes,
                                .stride_bytes = p->stride,
                                .count = p->count,
                                .socket = -1};
    snprintf(c.name, sizeof(c.name), "%s", name);
    return c;
}

/* Every stride, the largest pool: the first and the last byte of buffers belong to them. */
static void check_index(void)
{
    for (uint32_t stride = HXB_STRIDE_MIN; stride <= HXB_STRIDE_MAX; stride += HXB_STRIDE_UNIT) {
        uint64_t reciprocal = hxb_reciprocal(stride);
        for (uint64_t id = 0; id <= HXB_BUFFERS_MAX; id += id < 70 ? 1 : id / 64) {
            CHECK_EQ(hxb_index(id * stride, reciprocal), id);
            CHECK_EQ(hxb_index(id * stride + stride - 1, reciprocal), id);
        }
        CHECK_EQ(hxb_index((uint64_t)HXB_BUFFERS_MAX * stride, reciprocal), HXB_BUFFERS_MAX);
        CHECK_EQ(hxb_index((uint64_t)HXB_BUFFERS_MAX * stride - 1, reciprocal), HXB_BUFFERS_MAX - 1);
    }
}

#define MANY 150

/* More than DPDK has places for regions of others' memory. */
void test_pools(void)
{
    static struct test_pool pools[MANY];
    char name[16];

    test_start_eal();
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof(name), "p%d", i);
        test_make_pool(&pools[i], name, STRIDE_SMALL, 7, 0);
    }
    for (int i = 0; i < MANY; i++) {
        test_free_pool(&pools[i]);
    }
}

void test_pool(void)
{
    struct test_pool p, q;
    struct hxb_pool *none = NULL;

    check_index();
    test_start_eal();
    /* 255 buffers of 10 KB reach over several pages of either size. */
    test_make_pool(&p, "p", STRIDE_JUMBO, 255, 0);
    CHECK_EQ(hxb_pool_avail(p.pool), 255);
    const uint64_t *mbufs = hxb_pool_mbufs(p.pool);
    CHECK_EQ(mbufs[0], 0);
    for (uint32_t id = 1; id <= p.count; id++) {
        const struct rte_mbuf *m = (const struct rte_mbuf *)(uintptr_t)mbufs[id];
        CHECK_EQ((uintptr_t)m->buf_addr, p.region.address + (uint64_t)id * STRIDE_JUMBO);
        CHECK_EQ(m->buf_len, STRIDE_JUMBO);
        CHECK(RTE_MBUF_HAS_PINNED_EXTBUF(m));
    }
    /* Other strides, beside the first pool. */
    test_make_pool(&q, "q", STRIDE_SMALL, 40, 8);
    CHECK_EQ(((const struct rte_mbuf *)(uintptr_t)hxb_pool_mbufs(q.pool)[7])->buf_len,
             STRIDE_SMALL);
    test_free_pool(&q);
    test_make_pool(&q, "q", HXB_STRIDE_MAX, 5, 0);
    test_free_pool(&q);

    struct hxb_pool_config c = config_of(&p, "p");
    CHECK_EQ(hxb_pool_create(&c, &none), -EEXIST);
    c = config_of(&p, "");
    CHECK_EQ(hxb_pool_create(&c, &none), -EINVAL);
    c = config_of(&p, "x");
    const uint32_t bad_strides[] = {0, HXB_STRIDE_UNIT, STRIDE_SMALL + HXB_STRIDE_UNIT / 2,
                                    HXB_STRIDE_MAX + HXB_STRIDE_UNIT};
    for (unsigned int i = 0; i < RTE_DIM(bad_strides); i++) {
        c.stride_bytes = bad_strides[i];
        CHECK_EQ(hxb_pool_create(&c, &none), -EINVAL);
    }
    c = config_of(&p, "x");
    c.count = (uint32_t)(p.region.length / STRIDE_JUMBO); /* no room for the unused ID 0 */
    CHECK_EQ(hxb_pool_create(&c, &none), -ERANGE);
    c = config_of(&p, "x");
    c.base += 64;
    CHECK_EQ(hxb_pool_create(&c, &none), -EINVAL);
    c = config_of(&p, "x");
    memset(c.name, 'n', sizeof(c.name));
    CHECK_EQ(hxb_pool_create(&c, &none), -EINVAL);
    CHECK_EQ(hxb_pool_create(NULL, &none), -EINVAL);
    CHECK_EQ(hxb_pool_destroy(NULL), -EINVAL);
    /* What the refused attempts had registered is unregistered: a second pool still fits there. */
    c = config_of(&p, "x");
    CHECK_EQ(hxb_pool_create(&c, &none), 0);
    CHECK_EQ(hxb_pool_destroy(none), 0);
    test_free_pool(&p);
}

void test_alloc_release(void)
{
    struct test_pool p;
    uint32_t ids[700], seen[700] = {0};

    test_start_eal();
    test_make_pool(&p, "p", STRIDE_SMALL, 600, 0);
    /* More than there are: as many as could be had, each once. */
    CHECK_EQ(hxb_pool_alloc_bulk(p.pool, ids, 700), 600);
    for (int i = 0; i < 600; i++) {
        CHECK(ids[i] >= 1 && ids[i] <= 600);
        CHECK_EQ(seen[ids[i]]++, 0);
    }
    CHECK_EQ(hxb_pool_alloc_bulk(p.pool, ids, 1), 0);
    CHECK_EQ(hxb_pool_destroy(p.pool), -EBUSY);
    CHECK_EQ(hxb_pool_release_bulk(p.pool, ids, 600), 600);
    CHECK_EQ(hxb_pool_alloc_bulk(p.pool, ids, 0), 0);
    CHECK_EQ(hxb_pool_release_bulk(p.pool, ids, 0), 0);

    uint32_t bad[3] = {0, 601, 0xffffffff};
    for (int i = 0; i < 3; i++) {
        CHECK_EQ(hxb_pool_release_bulk(p.pool, &bad[i], 1), -EINVAL);
        CHECK_EQ(hxb_pool_ref(p.pool, bad[i], 1), -EINVAL);
        CHECK_EQ(hxb_pool_refcnt(p.pool, bad[i]), -EINVAL);
    }
    /* A bad ID in the middle: the ones before it are home, the caller learns how many. */
    CHECK_EQ(hxb_pool_alloc_bulk(p.pool, ids, 4), 4);
    uint32_t mixed[4] = {ids[0], ids[1], 0, ids[2]};
    CHECK_EQ(hxb_pool_release_bulk(p.pool, mixed, 4), 2);
    CHECK_EQ(hxb_pool_avail(p.pool), 598);
    CHECK_EQ(hxb_pool_release_bulk(p.pool, ids + 2, 2), 2);
    test_free_pool(&p);
}

/* What is free after a release stays with the caller, as many as it wants. */
void test_recycle(void)
{
    struct test_pool p;
    uint32_t ids[20];

    test_start_eal();
    test_make_pool(&p, "p", STRIDE_SMALL, 20, 0);
    CHECK_EQ(hxb_pool_alloc_bulk(p.pool, ids, 20), 20);
    /* A driver has the second, too: it goes home from there. */
    CHECK_EQ(hxb_pool_ref(p.pool, ids[1], 1), 2);
    uint32_t some[4] = {ids[0], ids[1], ids[2], ids[3]};
    CHECK_EQ(hxb_pool_recycle(p.pool, some, 4, 2), 2);
    CHECK_EQ(some[0], ids[0]);
    CHECK_EQ(some[1], ids[2]);
    CHECK_EQ(hxb_pool_refcnt(p.pool, ids[0]), 1);
    CHECK_EQ(hxb_pool_refcnt(p.pool, ids[1]), 1);
    CHECK_EQ(hxb_pool_avail(p.pool), 1);
    CHECK_EQ(hxb_pool_release_bulk(p.pool, &ids[1], 1), 1);
    /* Both references of one buffer: it is kept once. */
    CHECK_EQ(hxb_pool_ref(p.pool, ids[4], 1), 2);
    uint32_t twice[2] = {ids[4], ids[4]};
    CHECK_EQ(hxb_pool_recycle(p.pool, twice, 2, 2), 1);
    CHECK_EQ(twice[0], ids[4]);
    CHECK_EQ(hxb_pool_recycle(p.pool, some, 0, 2), 0);
    uint32_t bad[2] = {0, 21};
    CHECK_EQ(hxb_pool_recycle(p.pool, bad, 2, 2), 0);
    CHECK_EQ(hxb_pool_recycle(p.pool, some, 2, 0), 0);
    CHECK_EQ(hxb_pool_avail(p.pool), 4);
    CHECK_EQ(hxb_pool_release_bulk(p.pool, ids + 4, 16), 16);
    test_free_pool(&p);
}

void test_references(void)
{
    struct test_pool p;
    uint32_t id;

    test_start_eal();
    test_make_pool(&p, "p", STRIDE_SMALL, 10, 0);
    CHECK_EQ(hxb_pool_alloc_bulk(p.pool, &id, 1), 1);
    CHECK_EQ(hxb_pool_refcnt(p.pool, id), 1);
    CHECK_EQ(hxb_pool_ref(p.pool, id, 2), 3);
    CHECK_EQ(hxb_pool_ref(p.pool, id, -1), 2);
    CHECK_EQ(hxb_pool_ref(p.pool, id, -2), -ERANGE);
    CHECK_EQ(hxb_pool_ref(p.pool, id, 65534), -ERANGE);
    CHECK_EQ(hxb_pool_refcnt(p.pool, id), 2);
    /* Java reads the count in place. */
    const uint64_t *mbufs = hxb_pool_mbufs(p.pool);
    const uint8_t *m = (const uint8_t *)(uintptr_t)mbufs[id];
    uint16_t count;
    memcpy(&count, m + hxb_layout(HXB_LAYOUT_MBUF_REFCNT), sizeof(count));
    CHECK_EQ(count, 2);
    CHECK_EQ(hxb_pool_release_bulk(p.pool, &id, 1), 1);
    CHECK_EQ(hxb_pool_avail(p.pool), 9);
    CHECK_EQ(hxb_pool_release_bulk(p.pool, &id, 1), 1);
    CHECK_EQ(hxb_pool_avail(p.pool), 10);
    /* One ID twice in one call: two references. */
    CHECK_EQ(hxb_pool_alloc_bulk(p.pool, &id, 1), 1);
    CHECK_EQ(hxb_pool_ref(p.pool, id, 1), 2);
    uint32_t twice[2] = {id, id};
    CHECK_EQ(hxb_pool_release_bulk(p.pool, twice, 2), 2);
    test_free_pool(&p);
}

/* CRC32C by definition, bit by bit. */
static uint32_t crc_by_definition(const uint8_t *at, uint32_t bytes)
{
    uint32_t crc = UINT32_MAX;

    for (uint32_t i = 0; i < bytes; i++) {
        crc ^= at[i];
        for (int bit = 0; bit < 8; bit++) {
            crc = crc >> 1 ^ (crc & 1 ? UINT32_C(0x82f63b78) : 0);
        }
    }
    return ~crc;
}

static void put_field(uint8_t *at, uint32_t value)
{
    for (int i = 0; i < 4; i++) {
        at[i] = (uint8_t)(value >> (24 - 8 * i));
    }
}

void test_crc(void)
{
    enum { FROM = 28, AT = 24 };
    struct test_pool p;
    uint64_t descs[HXB_BURST_MAX];
    uint64_t frames[HXB_BURST_MAX];
    uint32_t state = 1;

    test_start_eal();
    test_make_pool(&p, "p", STRIDE_JUMBO, HXB_BURST_MAX, 0);
    test_fill(&p, descs, HXB_BURST_MAX, 64);
    /* RFC 3720 B.4: 32 bytes of zeros. */
    memset(test_frame(&p, descs[0]), 0, 64);
    put_field(test_frame(&p, descs[0]) + AT, 0x8a9136aau);
    descs[0] = test_desc((uint32_t)(descs[0] & HXB_DESC_ID_MASK), 60);
    frames[0] = (uint64_t)(uintptr_t)test_frame(&p, descs[0]);
    CHECK_EQ(hxb_crc32c_holds(p.pool, descs, frames, 1, FROM, AT), 1);
    /* Bursts of every size up to 9 and a full one, of frames of like and unlike lengths, any bytes. */
    for (int n = 1; n <= HXB_BURST_MAX; n = n < 9 ? n + 1 : n < 10 ? HXB_BURST_MAX : n + 1) {
        for (int i = 0; i < n; i++) {
            state = state * 1664525 + 1013904223;
            uint32_t length = n % 2 == 0 ? FROM + 36 + (uint32_t)n : FROM + (state >> 16) % 300;
            descs[i] = test_desc((uint32_t)(descs[i] & HXB_DESC_ID_MASK), length);
            uint8_t *frame = test_frame(&p, descs[i]);
            for (uint32_t b = 0; b < length; b++) {
                state = state * 1664525 + 1013904223;
                frame[b] = (uint8_t)(state >> 24);
            }
        }
        for (int i = 0; i < n; i++) {
            uint32_t length = (uint32_t)(descs[i] >> HXB_DESC_LENGTH_SHIFT);
            uint8_t *frame = test_frame(&p, descs[i]);
            frames[i] = (uint64_t)(uintptr_t)frame;
            put_field(frame + AT, crc_by_definition(frame + FROM, length - FROM));
        }
        CHECK_EQ(hxb_crc32c_holds(p.pool, descs, frames, n, FROM, AT), n);
        /* One wrong bit in each of them in turn, of its field or of what it covers. */
        for (int i = 0; i < n; i++) {
            uint32_t length = (uint32_t)(descs[i] >> HXB_DESC_LENGTH_SHIFT);
            uint32_t wrong = AT + (uint32_t)i * 7 % (length - AT);
            uint8_t *frame = test_frame(&p, descs[i]);
            frame[wrong] ^= (uint8_t)(1 << i % 8);
            CHECK_EQ(hxb_crc32c_holds(p.pool, descs, frames, n, FROM, AT), i);
            frame[wrong] ^= (uint8_t)(1 << i % 8);
        }
    }
    CHECK_EQ(hxb_crc32c_holds(p.pool, descs, frames, 0, FROM, AT), 0);
    CHECK_EQ(hxb_crc32c_holds(p.pool, descs, frames, 1, FROM, FROM - 3), 0);
    /* Nothing outside the buffers is read: below, above, across the end, too short, too long. */
    uint64_t first = p.region.address + STRIDE_JUMBO;
    uint64_t end = first + ((uint64_t)HXB_BURST_MAX * STRIDE_JUMBO);
    const struct {
        uint64_t frame;
        uint32_t length;
    } bad[] = {{0, 64},          {first - 1, 64},       {end, 64},
               {end - 63, 64},   {frames[1], FROM - 1}, {frames[1], HXB_FRAME_MAX(STRIDE_JUMBO) + 1},
               {UINT64_MAX, 64}, {first - 65, 64}};
    for (unsigned int i = 0; i < RTE_DIM(bad); i++) {
        for (int n = 1; n <= 8; n++) {
            uint64_t was_frame = frames[n - 1], was_desc = descs[n - 1];
            frames[n - 1] = bad[i].frame;
            descs[n - 1] = test_desc((uint32_t)(descs[n - 1] & HXB_DESC_ID_MASK), bad[i].length);
            CHECK_EQ(hxb_crc32c_holds(p.pool, descs, frames, n, FROM, AT), n - 1);
            frames[n - 1] = was_frame;
            descs[n - 1] = was_desc;
        }
    }
    test_release(&p, descs, HXB_BURST_MAX);
    test_free_pool(&p);
}

/* CRCs written into the frames that ask for it, and into no others. */
void test_seal(void)
{
    enum { FROM = 28, AT = 24, TRAILER = 16, N = 70 };
    struct test_pool p;
    uint64_t descs[HXB_BURST_MAX];
    uint32_t state = 7;

    test_start_eal();
    test_make_pool(&p, "p", STRIDE_JUMBO, HXB_BURST_MAX, 0);
    test_fill(&p, descs, HXB_BURST_MAX, 64);
    for (int n = 0; n <= N; n++) {
        for (int i = 0; i < n; i++) {
            state = state * 1664525 + 1013904223;
            uint32_t length = FROM + TRAILER + (state >> 16) % 300;
            descs[i] = test_desc((uint32_t)(descs[i] & HXB_DESC_ID_MASK), length) |
                       (state & 0x700 ? HXB_DESC_SEAL | HXB_DESC_HOLD : 0);
            uint8_t *frame = test_frame(&p, descs[i]);
            for (uint32_t b = 0; b < length; b++) {
                state = state * 1664525 + 1013904223;
                frame[b] = (uint8_t)(state >> 24);
            }
            memset(frame + AT, 0xA5, 4);
        }
        CHECK_EQ(hxb_seal(p.pool, descs, n, FROM, TRAILER, AT), n);
        for (int i = 0; i < n; i++) {
            uint32_t bytes = (uint32_t)(descs[i] >> HXB_DESC_LENGTH_SHIFT) - FROM - TRAILER;
            const uint8_t *frame = test_frame(&p, descs[i]);
            uint32_t field = (uint32_t)frame[AT] << 24 | (uint32_t)frame[AT + 1] << 16 |
                             (uint32_t)frame[AT + 2] << 8 | frame[AT + 3];
            CHECK_EQ(field, descs[i] & HXB_DESC_SEAL ? crc_by_definition(frame + FROM, bytes)
                                                     : 0xA5A5A5A5u);
        }
    }
    /* Nothing outside a buffer is touched; what asks for nothing may be no frame at all. */
    uint64_t bad[] = {test_desc(0, 64) | HXB_DESC_SEAL, test_desc(HXB_BUFFERS_MAX, 64) | HXB_DESC_SEAL,
                      test_desc(1, FROM + TRAILER - 1) | HXB_DESC_SEAL,
                      test_desc(1, HXB_FRAME_MAX(STRIDE_JUMBO) + TRAILER + 1) | HXB_DESC_SEAL};
    for (unsigned int i = 0; i < RTE_DIM(bad); i++) {
        CHECK_EQ(hxb_seal(p.pool, &bad[i], 1, FROM, TRAILER, AT), -EINVAL);
    }
    bad[0] = 0;
    CHECK_EQ(hxb_seal(p.pool, bad, 1, FROM, TRAILER, AT), 1);
    /* One bad descriptor: what stands before it is sealed, what stands behind it is not. */
    uint64_t mixed[] = {descs[0], descs[1], bad[1], descs[2]};
    for (unsigned int i = 0; i < RTE_DIM(mixed); i++) {
        if (i != 2) {
            mixed[i] = test_desc((uint32_t)(mixed[i] & HXB_DESC_ID_MASK), FROM + TRAILER + 9) | HXB_DESC_SEAL;
            memset(test_frame(&p, mixed[i]) + AT, 0xA5, 4);
        }
    }
    CHECK_EQ(hxb_seal(p.pool, mixed, RTE_DIM(mixed), FROM, TRAILER, AT), -EINVAL);
    for (unsigned int i = 0; i < RTE_DIM(mixed); i++) {
        if (i != 2) {
            const uint8_t *frame = test_frame(&p, mixed[i]);
            uint32_t field = (uint32_t)frame[AT] << 24 | (uint32_t)frame[AT + 1] << 16 |
                             (uint32_t)frame[AT + 2] << 8 | frame[AT + 3];
            CHECK_EQ(field, i < 2 ? crc_by_definition(frame + FROM, 9) : 0xA5A5A5A5u);
        }
    }
    CHECK_EQ(hxb_seal(p.pool, descs, 1, FROM, TRAILER, FROM - 3), -EINVAL);
    test_release(&p, descs, HXB_BURST_MAX);
    test_free_pool(&p);
}
