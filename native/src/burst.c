/* SPDX-License-Identifier: Apache-2.0 */
/* Between packet descriptors and mbufs: what ports and rings share on the packet path. */
#include "internal.h"

#include <rte_ether.h>

/* net_af_packet takes a VLAN tag off, because the kernel did. The frame is another network's: the
 * tag's EtherType stands where it stood, so that nobody takes the frame for an untagged one. */
static void restore_tag_type(struct rte_mbuf *m)
{
    struct rte_ether_hdr *header = rte_pktmbuf_mtod(m, struct rte_ether_hdr *);

    header->ether_type = rte_cpu_to_be_16(RTE_ETHER_TYPE_VLAN);
}

int hxb_accept(const struct hxb_pool *pool, struct rte_mbuf **frames, int n, uint64_t *descs,
               struct hxb_refusals *refusals)
{
    int taken = 0;

    for (int i = 0; i < n; i++) {
        if (i + HXB_PREFETCH_AHEAD < n) {
            rte_prefetch0(frames[i + HXB_PREFETCH_AHEAD]);
        }
        struct rte_mbuf *m = frames[i];
        uint64_t offset = (uint64_t)(uintptr_t)m->buf_addr - pool->first;
        uint32_t length = m->pkt_len;

        if (likely(offset < pool->span && m->nb_segs == 1 && m->data_off == HXB_FRAME_OFFSET &&
                   length >= HXB_MIN_FRAME && length <= pool->frame_max)) {
            uint64_t id = (offset >> pool->stride_shift) + 1;
            if (unlikely(m->ol_flags & RTE_MBUF_F_RX_VLAN_STRIPPED)) {
                restore_tag_type(m);
            }
            /* The caller reads the header next, of every frame of the burst. */
            rte_prefetch0(rte_pktmbuf_mtod(m, const void *));
            descs[taken++] = id | (uint64_t)length << HXB_DESC_LENGTH_SHIFT;
            continue;
        }
        if (offset >= pool->span) {
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
    return taken;
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
