/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The wire of the in-process fabric: software switches between rings of mbufs. A frame is copied
 * once, into a buffer of the receiving node's pool. The sender's buffer is read alone and let go:
 * the sender may hold it for resend, and a receiver may edit what it got.
 */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* Frames that one station may send at a time. */
#define WIRE_BURST 32

#define BROADCAST UINT64_C(0xffffffffffff)

struct line {
    struct station *first;
    /* Writer: any; reader: who carries. */
    atomic_bool cut;
};

/* One end of a cable. What an idle one is asked lies in one cache line. */
struct station {
    struct rte_ring *from_node;
    struct rte_ring *to_node;
    struct hxb_pool *pool;
    struct line *line;
    struct station *next_on_line; /* in a circle */
    struct station *next_of_node; /* NULL: the last */
    uint64_t mac;                 /* first byte highest */
} __rte_cache_aligned;

struct hxb_wire {
    uint64_t counts[HXB_WIRE_COUNTS];
    struct station *nodes[HXB_WIRE_STATIONS_MAX]; /* the first of each */
    struct line lines[HXB_WIRE_STATIONS_MAX];
    struct station stations[HXB_WIRE_STATIONS_MAX];
    int attached;
};

HXB_API int hxb_wire_create(struct hxb_wire **out)
{
    if (out == NULL) {
        return -EINVAL;
    }
    struct hxb_wire *wire = aligned_alloc(RTE_CACHE_LINE_SIZE, sizeof(*wire));
    if (wire == NULL) {
        return -ENOMEM;
    }
    memset(wire, 0, sizeof(*wire));
    *out = wire;
    return 0;
}

HXB_API int hxb_wire_destroy(struct hxb_wire *wire)
{
    if (wire == NULL) {
        return -EINVAL;
    }
    free(wire);
    return 0;
}

static bool is_number(int number)
{
    return number >= 0 && number < HXB_WIRE_STATIONS_MAX;
}

HXB_API int hxb_wire_attach(struct hxb_wire *wire, int line, int node, struct hxb_ring *from_node,
                            struct hxb_ring *to_node, uint64_t mac, struct hxb_pool *pool)
{
    if (wire == NULL || !is_number(line) || !is_number(node) || from_node == NULL ||
        to_node == NULL || mac >= BROADCAST || pool == NULL) {
        return -EINVAL;
    }
    if (!rte_ring_is_cons_single((struct rte_ring *)from_node) ||
        !rte_ring_is_prod_single((struct rte_ring *)to_node)) {
        return -EINVAL;
    }
    if (wire->attached == HXB_WIRE_STATIONS_MAX) {
        return -ENOSPC;
    }
    struct station *made = &wire->stations[wire->attached++];
    *made = (struct station){
        .from_node = (struct rte_ring *)from_node,
        .to_node = (struct rte_ring *)to_node,
        .pool = pool,
        .line = &wire->lines[line],
        .mac = mac,
    };
    /* As the last on its line and of its node. */
    struct station *first = made->line->first;
    made->next_on_line = first != NULL ? first : made;
    if (first == NULL) {
        made->line->first = made;
    } else {
        struct station *last = first;
        while (last->next_on_line != first) {
            last = last->next_on_line;
        }
        last->next_on_line = made;
    }
    struct station **end = &wire->nodes[node];
    while (*end != NULL) {
        end = &(*end)->next_of_node;
    }
    *end = made;
    return 0;
}

HXB_API int hxb_wire_cut(struct hxb_wire *wire, int line, int cut)
{
    if (wire == NULL || !is_number(line)) {
        return -EINVAL;
    }
    atomic_store_explicit(&wire->lines[line].cut, cut != 0, memory_order_relaxed);
    return 0;
}

HXB_API int64_t hxb_wire_count(const struct hxb_wire *wire, int what)
{
    return wire != NULL && what >= 0 && what < HXB_WIRE_COUNTS ? (int64_t)wire->counts[what]
                                                               : -EINVAL;
}

/* Short frames, which most are, without a call: by two pieces that overlap. */
static inline void copy_bytes(void *to, const void *from, uint32_t length)
{
    enum { PIECE = 64 };

    if (likely(length - PIECE <= PIECE)) {
        memcpy(to, from, PIECE);
        memcpy((char *)to + length - PIECE, (const char *)from + length - PIECE, PIECE);
    } else {
        memcpy(to, from, length);
    }
}

/* Copies frames to a station; what finds no place or no buffer there is dropped and counted. */
static void deliver(struct hxb_wire *wire, const struct station *to, struct rte_mbuf *const *frames,
                    unsigned int n)
{
    struct rte_mbuf *copies[WIRE_BURST];
    /* This is the ring's only producer: what is free now is free when it is put there. */
    unsigned int fit = RTE_MIN(n, rte_ring_free_count(to->to_node));
    unsigned int taken = hxb_take_mbufs(to->pool->mempool, copies, fit);
    uint64_t bytes = 0;

    wire->counts[HXB_WIRE_RING_FULL] += n - fit;
    wire->counts[HXB_WIRE_NO_BUFFER] += fit - taken;
    for (unsigned int i = 0; i < taken; i++) {
        rte_prefetch0(copies[i]);
    }
    for (unsigned int i = 0; i < taken; i++) {
        const struct rte_mbuf *from = frames[i];
        struct rte_mbuf *copy = copies[i];
        uint32_t length = from->pkt_len;

        copy->data_off = HXB_FRAME_OFFSET;
        copy->data_len = (uint16_t)length;
        copy->pkt_len = length;
        copy->ol_flags &= RTE_MBUF_F_EXTERNAL;
        copy_bytes(rte_pktmbuf_mtod(copy, void *), rte_pktmbuf_mtod(from, const void *), length);
        bytes += length;
    }
    rte_ring_sp_enqueue_bulk(to->to_node, (void *const *)copies, taken, NULL);
    wire->counts[HXB_WIRE_COPIES] += taken;
    wire->counts[HXB_WIRE_BYTES] += bytes;
}

/* The destination's address, first byte highest. */
static inline uint64_t destination(const struct rte_mbuf *frame)
{
    uint64_t word;

    memcpy(&word, rte_pktmbuf_mtod(frame, const void *), sizeof(word));
    return rte_be_to_cpu_64(word) >> 16;
}

/* The station of that address on the line; NULL: there is none. */
static const struct station *find(const struct station *from, uint64_t mac)
{
    const struct station *s = from;

    do {
        s = s->next_on_line;
        if (s->mac == mac) {
            return s;
        }
    } while (s != from);
    return NULL;
}

static void broadcast(struct hxb_wire *wire, const struct station *from, struct rte_mbuf *const *frame)
{
    if (from->next_on_line == from) {
        wire->counts[HXB_WIRE_UNKNOWN]++;
    }
    for (const struct station *s = from->next_on_line; s != from; s = s->next_on_line) {
        if ((*frame)->pkt_len <= s->pool->frame_max) {
            deliver(wire, s, frame, 1);
        } else {
            wire->counts[HXB_WIRE_NO_BUFFER]++;
        }
    }
}

/* Copies each frame to whom it is for: those behind each other to the same station at a time. */
static void sort(struct hxb_wire *wire, const struct station *from, struct rte_mbuf *const *frames,
                 unsigned int n)
{
    unsigned int begin = 0;
    const struct station *to = NULL;

    for (unsigned int i = 0; i < n; i++) {
        uint64_t mac = destination(frames[i]);
        if (likely(to != NULL && to->mac == mac && frames[i]->pkt_len <= to->pool->frame_max)) {
            continue;
        }
        if (to != NULL) {
            deliver(wire, to, frames + begin, i - begin);
        }
        begin = i;
        to = NULL;
        if (mac == BROADCAST) {
            broadcast(wire, from, frames + i);
            continue;
        }
        to = find(from, mac);
        if (to == NULL) {
            wire->counts[HXB_WIRE_UNKNOWN]++;
        } else if (unlikely(frames[i]->pkt_len > to->pool->frame_max)) {
            wire->counts[HXB_WIRE_NO_BUFFER]++;
            to = NULL;
        }
    }
    if (to != NULL) {
        deliver(wire, to, frames + begin, n - begin);
    }
}

/* Frees and counts what the contract of a ring refuses; how many are left, in order. */
static unsigned int inspect(struct hxb_pool *pool, struct rte_mbuf **frames, unsigned int n)
{
    unsigned int left = 0;

    for (unsigned int i = 0; i < n; i++) {
        if (i + HXB_PREFETCH_AHEAD < n) {
            rte_prefetch0(frames[i + HXB_PREFETCH_AHEAD]);
        }
        struct rte_mbuf *m = frames[i];
        if (unlikely(!hxb_is_whole(m, pool->first, pool->span, pool->frame_max))) {
            hxb_refuse(pool, m, &pool->rings);
            continue;
        }
        rte_prefetch0(rte_pktmbuf_mtod(m, const void *));
        frames[left++] = m;
    }
    return left;
}

static int carry_from(struct hxb_wire *wire, const struct station *from)
{
    struct rte_mbuf *frames[WIRE_BURST];
    unsigned int n =
        rte_ring_sc_dequeue_burst(from->from_node, (void **)frames, WIRE_BURST, NULL);

    if (likely(n == 0)) {
        return 0;
    }
    unsigned int whole = inspect(from->pool, frames, n), home = 0;
    if (unlikely(atomic_load_explicit(&from->line->cut, memory_order_relaxed))) {
        wire->counts[HXB_WIRE_LOST] += whole;
    } else {
        sort(wire, from, frames, whole);
    }
    for (unsigned int i = 0; i < whole; i++) {
        if (hxb_drop_reference(frames[i])) {
            frames[home++] = frames[i];
        }
    }
    if (home > 0) {
        rte_mempool_put_bulk(from->pool->mempool, (void *const *)frames, home);
    }
    return (int)n;
}

HXB_API int hxb_wire_carry(struct hxb_wire *wire, int node)
{
    int carried = 0;

    if (unlikely(wire == NULL || !is_number(node))) {
        return -EINVAL;
    }
    for (const struct station *s = wire->nodes[node]; s != NULL; s = s->next_of_node) {
        carried += carry_from(wire, s);
    }
    return carried;
}
