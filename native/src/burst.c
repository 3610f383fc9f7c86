/* SPDX-License-Identifier: Apache-2.0 */
/* Between packet descriptors and mbufs: what ports and rings share on the packet path. */
#include "internal.h"

#include <rte_ether.h>

void hxb_restore_tag_type(struct rte_mbuf *m)
{
    struct rte_ether_hdr *header = rte_pktmbuf_mtod(m, struct rte_ether_hdr *);

    header->ether_type = rte_cpu_to_be_16(RTE_ETHER_TYPE_VLAN);
}

void hxb_refuse(const struct hxb_pool *pool, struct rte_mbuf *m, struct hxb_refusals *refusals)
{
    if ((uint64_t)(uintptr_t)m->buf_addr - pool->first >= pool->span) {
        refusals->foreign++;
    } else if (m->nb_segs != 1) {
        refusals->segments++;
    } else if (m->data_off != HXB_FRAME_OFFSET) {
        refusals->offset++;
    } else {
        refusals->length++;
    }
    rte_pktmbuf_free(m);
}

int hxb_prepare(const struct hxb_pool *pool, const uint64_t *descs, int n,
                struct rte_mbuf **frames, struct hxb_refusals *refusals)
{
    uint32_t lengths = pool->frame_max - HXB_MIN_FRAME;
    int known = 0, ready = 0;

    /* All are on their way into the cache before the first is written. */
    for (; known < n; known++) {
        struct rte_mbuf *m = hxb_mbuf(pool, (uint32_t)(descs[known] & HXB_DESC_ID_MASK));
        if (unlikely(m == NULL)) {
            break;
        }
        rte_prefetch0(m);
        frames[known] = m;
    }
    for (; ready < known; ready++) {
        uint64_t d = descs[ready];
        struct rte_mbuf *m = frames[ready];
        uint32_t length = (uint32_t)(d >> HXB_DESC_LENGTH_SHIFT);

        /* One comparison for both ends. */
        if (unlikely(length - HXB_MIN_FRAME > lengths)) {
            break;
        }
        if (d & HXB_DESC_HOLD) {
            if (likely(rte_mbuf_refcnt_read(m) == 1)) {
                rte_mbuf_refcnt_set(m, 2);
            } else {
                rte_mbuf_refcnt_update(m, 1);
            }
        }
        m->data_off = HXB_FRAME_OFFSET;
        m->data_len = (uint16_t)length;
        m->pkt_len = length;
        /* EXTERNAL says where the data buffer lies and must stay; receive flags must not be taken
         * for requests to the transmitter. */
        m->ol_flags &= RTE_MBUF_F_EXTERNAL;
        /* `next` shares no cache line with the rest. It is NULL for every single-segment mbuf:
         * freeing resets it, and receive refuses chains. */
        if (unlikely(m->nb_segs != 1)) {
            m->nb_segs = 1;
            m->next = NULL;
        }
    }
    refusals->tx += ready < n;
    return ready > 0 || n <= 0 ? ready : -EINVAL;
}

void hxb_take_back(const uint64_t *descs, struct rte_mbuf **frames, int from, int to)
{
    for (int i = from; i < to; i++) {
        if (descs[i] & HXB_DESC_HOLD) {
            rte_mbuf_refcnt_update(frames[i], -1);
        }
    }
}
