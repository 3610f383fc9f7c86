/* SPDX-License-Identifier: Apache-2.0 */
/* Batches between the twin and the mempool. */
#include "node.h"

/* As in libpmhxb's pool.c: the usual case touches the mbuf's first cache line alone. */
static inline bool drop_reference(struct rte_mbuf *m)
{
    if (likely(rte_mbuf_refcnt_read(m) == 1 && m->nb_segs == 1)) {
        m->ol_flags = RTE_MBUF_F_EXTERNAL;
        return true;
    }
    return rte_pktmbuf_prefree_seg(m) != NULL;
}

void pool_flush(struct twin *t)
{
    struct rte_mbuf *home[RELEASES];
    unsigned int n = 0;

    for (uint32_t i = 0; i < t->released; i++) {
        if (i + PREFETCH_AHEAD < t->released) {
            rte_prefetch0(t->releases[i + PREFETCH_AHEAD]);
        }
        struct rte_mbuf *m = t->releases[i];
        if (unlikely(!drop_reference(m))) {
            continue;
        }
        /* What is free is what the next allocations take. */
        if (t->stashed < RELEASES) {
            t->stash[t->stashed++] = m;
        } else {
            home[n++] = m;
        }
    }
    t->released = 0;
    rte_mempool_put_bulk(t->mempool, (void **)home, n);
}

bool pool_refill(struct twin *t)
{
    if (rte_mempool_get_bulk(t->mempool, (void **)t->stash, RELEASES) != 0) {
        count(t, TWIN_TROUBLE, 1);
        return false;
    }
    t->stashed = RELEASES;
    return true;
}
