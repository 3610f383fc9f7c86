/* SPDX-License-Identifier: Apache-2.0 */
/* Between packet descriptors and mbufs: what ports and rings share on the packet path. */
#include <stddef.h>
#include <string.h>

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

/* data_off, refcnt, nb_segs and port lie in one word of the mbuf, DPDK's rearm data. */
static inline uint64_t rearm_word(const void *data_off)
{
    uint64_t word;

    memcpy(&word, data_off, sizeof(word));
    return word;
}

/* Whether it is as a claim leaves it: where we put frames, one reference, one segment. */
static inline bool is_usual(const struct rte_mbuf *m)
{
    const uint16_t usual[] = {HXB_FRAME_OFFSET, 1, 1, 0}, compared[] = {0xFFFF, 0xFFFF, 0xFFFF, 0};
    const char *at = (const char *)m + offsetof(struct rte_mbuf, data_off);

    _Static_assert(offsetof(struct rte_mbuf, refcnt) == offsetof(struct rte_mbuf, data_off) + 2 &&
                       offsetof(struct rte_mbuf, nb_segs) == offsetof(struct rte_mbuf, data_off) + 4,
                   "data_off, refcnt and nb_segs follow each other");
    return (rearm_word(at) & rearm_word(compared)) == rearm_word(usual);
}

/* Makes it usual but for its references. */
static void make_usual(struct rte_mbuf *m)
{
    m->data_off = HXB_FRAME_OFFSET;
    /* `next` shares no cache line with the rest. It is NULL for every single-segment mbuf: freeing
     * resets it, and receive refuses chains. */
    if (m->nb_segs != 1) {
        m->nb_segs = 1;
        m->next = NULL;
    }
}

/* False: its length is out of range, and it stays as it is. */
static inline bool prepare_frame(struct rte_mbuf *m, uint64_t d, uint32_t lengths)
{
    uint32_t length = (uint32_t)(d >> HXB_DESC_LENGTH_SHIFT);

    /* One comparison for both ends. */
    if (unlikely(length - HXB_MIN_FRAME > lengths)) {
        return false;
    }
    if (unlikely(!is_usual(m))) {
        make_usual(m);
        if (d & HXB_DESC_HOLD) {
            rte_mbuf_refcnt_update(m, 1);
        }
    } else if (d & HXB_DESC_HOLD) {
        rte_mbuf_refcnt_set(m, 2);
    }
    m->data_len = (uint16_t)length;
    m->pkt_len = length;
    /* EXTERNAL says where the data buffer lies and must stay; receive flags must not be taken
     * for requests to the transmitter. */
    m->ol_flags &= RTE_MBUF_F_EXTERNAL;
    return true;
}

static __rte_noinline int prepare_some(const struct hxb_pool *pool, const uint64_t *descs, int n,
                                       struct rte_mbuf **frames)
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
    while (ready < known && prepare_frame(frames[ready], descs[ready], lengths)) {
        ready++;
    }
    return ready;
}

int hxb_prepare(const struct hxb_pool *pool, const uint64_t *descs, int n,
                struct rte_mbuf **frames, struct hxb_refusals *refusals)
{
    int ready;

    /* Most bursts are of one frame where nothing is in a hurry but that one. */
    if (n == 1) {
        frames[0] = hxb_mbuf(pool, (uint32_t)(descs[0] & HXB_DESC_ID_MASK));
        ready = frames[0] != NULL &&
                prepare_frame(frames[0], descs[0], pool->frame_max - HXB_MIN_FRAME);
    } else {
        ready = prepare_some(pool, descs, n, frames);
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
