/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Buffers by ID over memory of our own. DPDK's mbuf structs are allocated by DPDK; their data
 * buffers lie in the caller's region at a constant stride, so that ID and address convert by a
 * multiplication each and the ID -> mbuf table is one array.
 */
#include <stdlib.h>
#include <string.h>

#include <rte_eal.h>
#include <rte_mbuf_pool_ops.h>
#include <rte_memory.h>

#include "internal.h"

static int check_config(const struct hxb_pool_config *c)
{
    if (c->base == 0 || c->count == 0 || c->count > HXB_BUFFERS_MAX ||
        c->stride_bytes % HXB_STRIDE_UNIT != 0 || c->stride_bytes < HXB_STRIDE_MIN ||
        c->stride_bytes > HXB_STRIDE_MAX || c->cache > RTE_MEMPOOL_CACHE_MAX_SIZE) {
        return -EINVAL;
    }
    if (memchr(c->name, '\0', sizeof(c->name)) == NULL || c->name[0] == '\0') {
        return -EINVAL;
    }
    if (c->page_bytes == 0 || (c->page_bytes & (c->page_bytes - 1)) != 0 ||
        c->base % c->page_bytes != 0 || c->region_bytes % c->page_bytes != 0) {
        return -EINVAL;
    }
    uint64_t needed = ((uint64_t)c->count + 1) * c->stride_bytes;
    return needed <= c->region_bytes ? 0 : -ERANGE;
}

struct table_walk {
    struct hxb_pool *pool;
    uint32_t filled;
    bool misplaced;
};

static void enter_mbuf(struct rte_mempool *mempool, void *opaque, void *object, unsigned int index)
{
    struct table_walk *walk = opaque;
    struct hxb_pool *pool = walk->pool;
    struct rte_mbuf *m = object;
    uint64_t offset = (uint64_t)(uintptr_t)m->buf_addr - pool->base;
    uint64_t id = offset / pool->stride_bytes;

    (void)mempool;
    (void)index;
    if (id == 0 || id > pool->count || offset != id * pool->stride_bytes ||
        pool->mbufs[id] != NULL) {
        walk->misplaced = true;
        return;
    }
    pool->mbufs[id] = m;
    walk->filled++;
}

static int create_mempool(const struct hxb_pool_config *c, struct hxb_pool *pool)
{
    struct rte_pktmbuf_extmem memory = {
        .buf_ptr = (void *)(uintptr_t)pool->first,
        /* IOVA as VA is what this library starts EAL with; virtual devices never look at it. */
        .buf_iova = rte_eal_iova_mode() == RTE_IOVA_VA ? pool->first : RTE_BAD_IOVA,
        .buf_len = (size_t)c->count * c->stride_bytes,
        .elt_size = (uint16_t)c->stride_bytes,
    };

    /* The buffer that came home last goes out first: its header and its mbuf are in the cache yet. By
     * a ring, DPDK's choice, each buffer of the pool would have its turn before. -EEXIST: chosen
     * already, by an earlier pool or by whoever started EAL. */
    rte_mbuf_set_platform_mempool_ops("stack");
    pool->mempool = rte_pktmbuf_pool_create_extbuf(c->name, c->count, c->cache, 0,
                                                   (uint16_t)c->stride_bytes,
                                                   c->socket, &memory, 1);
    return pool->mempool != NULL ? 0 : hxb_rte_error(ENOMEM);
}

static int fill_table(struct hxb_pool *pool)
{
    struct table_walk walk = {.pool = pool};

    rte_mempool_obj_iter(pool->mempool, enter_mbuf, &walk);
    /* A DPDK that places external buffers otherwise must not run at all with this library. */
    return walk.misplaced || walk.filled != pool->count ? -EFAULT : 0;
}

static void free_pool(struct hxb_pool *pool)
{
    rte_mempool_free(pool->mempool);
    free(pool->mbufs);
    free(pool);
}

HXB_API int hxb_pool_create(const struct hxb_pool_config *config, struct hxb_pool **out)
{
    if (config == NULL || out == NULL) {
        return -EINVAL;
    }
    int rc = hxb_eal_runs() ? check_config(config) : -ENODEV;
    if (rc < 0) {
        return rc;
    }
    struct hxb_pool *pool = aligned_alloc(RTE_CACHE_LINE_SIZE, sizeof(*pool));
    if (pool == NULL) {
        return -ENOMEM;
    }
    memset(pool, 0, sizeof(*pool));
    pool->base = config->base;
    pool->stride_bytes = config->stride_bytes;
    pool->reciprocal = hxb_reciprocal(config->stride_bytes);
    pool->first = config->base + config->stride_bytes;
    pool->span = (uint64_t)config->count * config->stride_bytes;
    pool->count = config->count;
    pool->frame_max = HXB_FRAME_MAX(config->stride_bytes);
    pool->region_bytes = config->region_bytes;
    pool->page_bytes = config->page_bytes;
    pool->mbufs = calloc((size_t)config->count + 1, sizeof(*pool->mbufs));
    rc = pool->mbufs == NULL ? -ENOMEM : create_mempool(config, pool);
    if (rc == 0) {
        rc = fill_table(pool);
    }
    if (rc < 0) {
        free_pool(pool);
        return rc;
    }
    *out = pool;
    return 0;
}

HXB_API int hxb_pool_destroy(struct hxb_pool *pool)
{
    if (pool == NULL) {
        return -EINVAL;
    }
    if (rte_mempool_avail_count(pool->mempool) != pool->count) {
        return -EBUSY;
    }
    free_pool(pool);
    return 0;
}

HXB_API int hxb_pool_destroy_forced(struct hxb_pool *pool)
{
    if (pool == NULL) {
        return -EINVAL;
    }
    free_pool(pool);
    return 0;
}

/* The ID of an mbuf that is known to be of this pool. */
static inline uint32_t own_id(const struct hxb_pool *pool, const struct rte_mbuf *m)
{
    return hxb_index((uint64_t)(uintptr_t)m->buf_addr - pool->base, pool->reciprocal);
}

HXB_API int hxb_pool_alloc_bulk(struct hxb_pool *pool, uint32_t *ids, int n)
{
    struct rte_mbuf *got[HXB_BURST_MAX];
    int done = 0;

    while (done < n) {
        unsigned int want = RTE_MIN((unsigned int)(n - done), (unsigned int)HXB_BURST_MAX);
        unsigned int taken = hxb_take_mbufs(pool->mempool, got, want);
        for (unsigned int i = 0; i < taken; i++) {
            const char *frame = (const char *)got[i]->buf_addr + HXB_FRAME_OFFSET;
            /* Whoever takes a buffer writes header and payload next. */
            __builtin_prefetch(frame, 1);
            __builtin_prefetch(frame + RTE_CACHE_LINE_SIZE, 1);
            ids[done++] = own_id(pool, got[i]);
        }
        if (taken < want) {
            break;
        }
    }
    return done;
}

/*
 * The mbufs of up to HXB_BURST_MAX buffers, up to the first ID that is none of this pool; how many.
 * All are on their way into the cache before the first is looked at.
 */
static inline int find_mbufs(const struct hxb_pool *pool, const uint32_t *ids, int n,
                             struct rte_mbuf **mbufs)
{
    int known = 0;

    for (; known < n; known++) {
        struct rte_mbuf *m = hxb_mbuf(pool, ids[known]);
        if (unlikely(m == NULL)) {
            break;
        }
        rte_prefetch0(m);
        mbufs[known] = m;
    }
    return known;
}

HXB_API int hxb_pool_release_bulk(struct hxb_pool *pool, const uint32_t *ids, int n)
{
    struct rte_mbuf *home[HXB_BURST_MAX];
    int done = 0;

    while (done < n) {
        int most = RTE_MIN(n - done, HXB_BURST_MAX);
        int known = find_mbufs(pool, ids + done, most, home);
        uint32_t waiting = 0;
        for (int i = 0; i < known; i++) {
            struct rte_mbuf *m = home[i];
            if (likely(hxb_drop_reference(m))) {
                home[waiting++] = m;
            }
        }
        if (waiting > 0) {
            rte_mempool_put_bulk(pool->mempool, (void **)home, waiting);
        }
        done += known;
        if (known < most) {
            break;
        }
    }
    return done > 0 || n <= 0 ? done : -EINVAL;
}

HXB_API int hxb_pool_recycle(struct hxb_pool *pool, uint32_t *ids, int n, int keep)
{
    struct rte_mbuf *home[HXB_BURST_MAX];
    int kept = 0;

    for (int done = 0, known; done < n; done += known) {
        int most = RTE_MIN(n - done, HXB_BURST_MAX);
        uint32_t waiting = 0;
        known = find_mbufs(pool, ids + done, most, home);
        for (int i = 0; i < known; i++) {
            struct rte_mbuf *m = home[i];
            if (unlikely(!hxb_drop_reference(m))) {
                continue;
            }
            if (kept < keep) {
                const char *frame = (const char *)m->buf_addr + HXB_FRAME_OFFSET;
                /* As in hxb_pool_alloc_bulk. */
                __builtin_prefetch(frame, 1);
                __builtin_prefetch(frame + RTE_CACHE_LINE_SIZE, 1);
                ids[kept++] = ids[done + i];
            } else {
                home[waiting++] = m;
            }
        }
        if (waiting > 0) {
            rte_mempool_put_bulk(pool->mempool, (void **)home, waiting);
        }
        if (known < most) {
            break;
        }
    }
    return kept;
}

HXB_API int hxb_pool_ref(struct hxb_pool *pool, uint32_t id, int delta)
{
    struct rte_mbuf *m = hxb_mbuf(pool, id);

    if (unlikely(m == NULL)) {
        return -EINVAL;
    }
    int count = rte_mbuf_refcnt_read(m) + delta;
    if (unlikely(count < 1 || count > UINT16_MAX)) {
        return -ERANGE;
    }
    return rte_mbuf_refcnt_update(m, (int16_t)delta);
}

HXB_API int hxb_pool_refcnt(const struct hxb_pool *pool, uint32_t id)
{
    const struct rte_mbuf *m = hxb_mbuf(pool, id);

    return m != NULL ? rte_mbuf_refcnt_read(m) : -EINVAL;
}

HXB_API int hxb_pool_avail(const struct hxb_pool *pool)
{
    return (int)rte_mempool_avail_count(pool->mempool);
}

HXB_API int64_t hxb_pool_ring_refusals(const struct hxb_pool *pool)
{
    const struct hxb_refusals *r = &pool->rings;

    return (int64_t)(r->segments + r->foreign + r->offset + r->length + r->tx);
}

HXB_API const uint64_t *hxb_pool_mbufs(const struct hxb_pool *pool)
{
    return (const uint64_t *)pool->mbufs;
}

HXB_API const uint64_t *hxb_pool_bells(const struct hxb_pool *pool)
{
    return pool->bells;
}
