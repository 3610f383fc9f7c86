/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The wire of the in-process fabric: software switches between rings of mbufs. A frame is copied
 * once, into a buffer of the receiving node's pool. The sender's buffer is read alone and let go:
 * the sender may hold it for resend, and a receiver may edit what it got.
 */
#include <stddef.h>
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

/* The station of that address on the line of another; NULL: there is none. */
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
    if (wire->lines[line].first != NULL && find(wire->lines[line].first, mac) != NULL) {
        return -EEXIST;
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

/*
 * Short frames, which most are, without a call and with what lies behind their end, which is nobody's: every
 * buffer has room for it.
 */
static inline void copy_bytes(void *to, const void *from, uint32_t length)
{
    enum { SHORT_FRAME = 96 };
    _Static_assert(HXB_FRAME_MAX(HXB_STRIDE_MIN) >= SHORT_FRAME, "it fits buffers of the least stride");

    if (likely(length <= SHORT_FRAME)) {
        memcpy(to, from, SHORT_FRAME);
    } else {
        memcpy(to, from, length);
    }
}

/* Where a frame that is whole begins. */
static inline char *begin_of(const struct rte_mbuf *frame)
{
    return (char *)frame->buf_addr + HXB_FRAME_OFFSET;
}

/* What the mbuf of a copy of that length says, in three stores. */
static inline void describe(struct rte_mbuf *copy, uint32_t length)
{
    const uint16_t rearm[] = {HXB_FRAME_OFFSET, 1, 1, 0}; /* data_off, refcnt, nb_segs, port */
    const uint32_t lengths[] = {length, length};          /* pkt_len; data_len and vlan_tci */

    _Static_assert(offsetof(struct rte_mbuf, nb_segs) == offsetof(struct rte_mbuf, data_off) + 4 &&
                       offsetof(struct rte_mbuf, port) == offsetof(struct rte_mbuf, data_off) + 6,
                   "data_off, refcnt, nb_segs and port follow each other");
    _Static_assert(offsetof(struct rte_mbuf, data_len) == offsetof(struct rte_mbuf, pkt_len) + 4 &&
                       RTE_BYTE_ORDER == RTE_LITTLE_ENDIAN,
                   "data_len is the lower half of the word behind pkt_len");
    memcpy((char *)copy + offsetof(struct rte_mbuf, data_off), rearm, sizeof(rearm));
    copy->ol_flags = RTE_MBUF_F_EXTERNAL;
    memcpy((char *)copy + offsetof(struct rte_mbuf, pkt_len), lengths, sizeof(lengths));
}

/* Copies a frame into a buffer that was taken for it; returns its bytes. */
static inline uint32_t copy_frame(struct rte_mbuf *copy, const struct rte_mbuf *from)
{
    uint32_t length = from->pkt_len;

    describe(copy, length);
    copy_bytes(begin_of(copy), begin_of(from), length);
    return length;
}

/* Frames whose last reference was dropped, on their way home. */
struct home {
    struct rte_mbuf *frames[WIRE_BURST];
    unsigned int count;
};

static __rte_always_inline void drop_all(struct home *home, struct rte_mbuf *const *frames,
                                         unsigned int n)
{
    unsigned int count = home->count;

    for (unsigned int i = 0; i < n; i++) {
        if (hxb_drop_reference(frames[i])) {
            home->frames[count++] = frames[i];
        }
    }
    home->count = count;
}

/* Copies frames to a station; what finds no place or no buffer there is counted. */
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
        bytes += copy_frame(copies[i], frames[i]);
    }
    rte_ring_sp_enqueue_bulk(to->to_node, (void *const *)copies, taken, NULL);
    wire->counts[HXB_WIRE_COPIES] += taken;
    wire->counts[HXB_WIRE_BYTES] += bytes;
}

/* Bytes 0 to 7 as they lie in the frame. */
static inline uint64_t first_word(const struct rte_mbuf *frame)
{
    uint64_t word;

    memcpy(&word, begin_of(frame), sizeof(word));
    return word;
}

/* The destination's address, first byte highest. */
static inline uint64_t destination(const struct rte_mbuf *frame)
{
    return rte_be_to_cpu_64(first_word(frame)) >> 16;
}

static void broadcast(struct hxb_wire *wire, const struct station *from, struct rte_mbuf *frame)
{
    if (from->next_on_line == from) {
        wire->counts[HXB_WIRE_UNKNOWN]++;
    }
    for (const struct station *s = from->next_on_line; s != from; s = s->next_on_line) {
        if (frame->pkt_len <= s->pool->frame_max) {
            deliver(wire, s, &frame, 1);
        } else {
            wire->counts[HXB_WIRE_NO_BUFFER]++;
        }
    }
}

/* A frame to all, to nobody, or too long for whom it is for. */
static void carry_other(struct hxb_wire *wire, const struct station *from, struct rte_mbuf *frame,
                        struct home *home)
{
    uint64_t mac = destination(frame);

    if (mac == BROADCAST) {
        broadcast(wire, from, frame);
    } else {
        wire->counts[find(from, mac) == NULL ? HXB_WIRE_UNKNOWN : HXB_WIRE_NO_BUFFER]++;
    }
    drop_all(home, &frame, 1);
}

/* How many frames, from the first on, are whole, for that station, and not too long for it. */
static __rte_noinline unsigned int run_of(const struct station *to, const struct hxb_pool *pool,
                           struct rte_mbuf *const *frames, unsigned int n)
{
    const uint64_t first = pool->first, span = pool->span;
    /* As it lies in a frame, for a comparison without turning each frame's bytes about. */
    const uint64_t mac = rte_cpu_to_be_64(to->mac << 16), others = ~rte_cpu_to_be_64(UINT64_C(0xffff));
    uint32_t frame_max = RTE_MIN(pool->frame_max, to->pool->frame_max);
    unsigned int i = 0;

    while (i < n && hxb_is_whole(frames[i], first, span, frame_max) &&
           ((first_word(frames[i]) ^ mac) & others) == 0) {
        i++;
    }
    return i;
}

/* Those behind each other to the same station at a time. */
static void carry_all(struct hxb_wire *wire, const struct station *from,
                      struct rte_mbuf *const *frames, unsigned int n, struct home *home)
{
    struct hxb_pool *pool = from->pool;
    bool cut = atomic_load_explicit(&from->line->cut, memory_order_relaxed);
    unsigned int i = 0;

    while (i < n) {
        /* What the contract of a ring refuses is freed and counted. */
        if (unlikely(!hxb_is_whole(frames[i], pool->first, pool->span, pool->frame_max))) {
            hxb_refuse(pool, frames[i++], &pool->rings);
            continue;
        }
        if (unlikely(cut)) {
            wire->counts[HXB_WIRE_LOST]++;
            drop_all(home, frames + i++, 1);
            continue;
        }
        const struct station *to = find(from, destination(frames[i]));
        unsigned int run = to != NULL ? run_of(to, pool, frames + i, n - i) : 0;
        if (unlikely(run == 0)) {
            carry_other(wire, from, frames[i++], home);
            continue;
        }
        deliver(wire, to, frames + i, run);
        drop_all(home, frames + i, run);
        i += run;
    }
}

static int carry_from(struct hxb_wire *wire, const struct station *from)
{
    struct rte_mbuf *frames[WIRE_BURST];
    unsigned int n =
        rte_ring_sc_dequeue_burst(from->from_node, (void **)frames, WIRE_BURST, NULL);

    if (likely(n == 0)) {
        return 0;
    }
    struct home home;
    home.count = 0;
    carry_all(wire, from, frames, n, &home);
    if (home.count > 0) {
        rte_mempool_put_bulk(from->pool->mempool, (void *const *)home.frames, home.count);
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
