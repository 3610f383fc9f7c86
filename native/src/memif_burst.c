/* SPDX-License-Identifier: Apache-2.0 */
/* Frames through a line by memif; see memif.h for what lies where, and whose it is. */
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "memif.h"

/* Lines of a buffer in which a frame of up to 192 bytes lies. */
#define SHORT_FRAME_LINES 3
/* Polls without a frame, more than a round trip takes, behind which all is given back that was received. */
#define IDLE_POLLS 64
/* Bursts behind the last for which a peer was woken: then it polls. */
#define WARY_BURSTS 1024
#define DESCRIPTORS_A_LINE (RTE_CACHE_LINE_SIZE / sizeof(struct memif_descriptor))

/* What a descriptor names. */
struct part {
    uint8_t *at;
    uint32_t length;
    bool more; /* the frame goes on in the next */
};

static inline struct memif_descriptor *descriptor_at(const struct hxb_way *w, uint64_t number)
{
    return &w->memif.ring->descriptors[number & w->mask];
}

/* A client's own buffer, whatever the descriptor says of it. */
static inline uint8_t *buffer_at(const struct hxb_way *w, uint64_t number)
{
    return w->slots + (number & w->mask) * w->stride_bytes;
}

/* False: it names what is not of the line. Each of its words is read once, as its other end may write them. */
static inline bool read_descriptor(const struct hxb_way *w, uint64_t number, struct part *p)
{
    const struct memif_descriptor *d = descriptor_at(w, number);
    uint64_t what = __atomic_load_n(&d->what, __ATOMIC_RELAXED);

    p->length = (uint32_t)(what >> MEMIF_LENGTH_SHIFT);
    p->more = (what & MEMIF_NEXT) != 0;
    if (w->slots != NULL) {
        p->at = buffer_at(w, number);
        return p->length <= w->frame_max;
    }
    uint32_t offset = (uint32_t)__atomic_load_n(&d->where, __ATOMIC_RELAXED);
    uint32_t index = (uint16_t)(what >> MEMIF_REGION_SHIFT);
    if (unlikely(index >= (uint32_t)w->memif.regions->count)) {
        return false;
    }
    const struct hxb_region_map *region = &w->memif.regions->of[index];
    p->at = region->at + offset;
    return (uint64_t)offset + p->length <= region->bytes;
}

/* A short frame's lines are asked for with the index and the descriptor: the sender's processor has all of them. A
 * server knows the place from the descriptor, as it was: clients name the same buffer again and again. */
static inline void prefetch_frame(const struct hxb_way *w, uint64_t number)
{
    struct part p;

    if (w->slots != NULL) {
        rte_prefetch0(descriptor_at(w, number));
        p.at = buffer_at(w, number);
    } else if (!read_descriptor(w, number, &p)) {
        return;
    }
    for (int line = 0; line < SHORT_FRAME_LINES; line++) {
        rte_prefetch0(p.at + line * RTE_CACHE_LINE_SIZE);
    }
}

/* ---- Receiving -------------------------------------------------------------------------------------- */

static inline void copy_out(char *to, const uint8_t *from, uint32_t length)
{
    if (likely(length < HXB_LONG_FRAME)) {
        memcpy(to, from, length);
    } else {
        hxb_copy_ahead(to, from, length);
    }
}

/* Of a client's part that is behind us. DPDK 22.11's net_memif takes no flag away where a frame begins, so that the next
 * one from there would seem to go on. */
static inline void clear_more(const struct hxb_way *w, uint64_t number)
{
    /* At once: who has overrun its ring may be writing it. */
    __atomic_fetch_and(&descriptor_at(w, number)->what, ~MEMIF_NEXT, __ATOMIC_RELAXED);
}

/* Of a frame of several parts, of which `p` is the first: copies it and goes on to the frame behind it. 0: refused.
 * whole: the first is of the line. */
static __rte_noinline uint32_t copy_parts(struct hxb_way *w, uint64_t end, struct part p, bool whole, char *to)
{
    uint32_t length = 0;
    bool more = true;

    while (more) {
        if (whole && p.length <= w->frame_max - length) {
            copy_out(to + length, p.at, p.length);
            length += p.length;
        } else {
            whole = false;
        }
        clear_more(w, w->next);
        w->next++;
        more = p.more;
        if (more && w->next == end) {
            return 0; /* published in part, as nobody should */
        }
        if (more && !read_descriptor(w, w->next, &p)) {
            whole = false;
        }
    }
    return whole && length >= HXB_MIN_FRAME ? length : 0;
}

/* The next frame's length, 0: refused. It is behind us then. */
static inline uint32_t copy_frame(struct hxb_way *w, uint64_t end, char *to)
{
    struct part p;
    bool known = read_descriptor(w, w->next, &p);

    if (unlikely(p.more)) {
        return copy_parts(w, end, p, known, to);
    }
    w->next++;
    if (unlikely(!known || p.length - HXB_MIN_FRAME > w->frame_max - HXB_MIN_FRAME)) {
        return 0;
    }
    copy_out(to, p.at, p.length);
    return p.length;
}

/* Gives what has been received back to the sender: a client its buffers, with their length. Seldom, and never behind
 * each frame: the sender has the lines that this is in, and every store of the answer would wait behind it. */
static inline void release(struct hxb_way *w)
{
    for (; w->slots != NULL && w->told != w->next; w->told++) {
        __atomic_store_n(&descriptor_at(w, w->told)->what, (uint64_t)w->frame_max << MEMIF_LENGTH_SHIFT,
                         __ATOMIC_RELAXED);
    }
    w->told = w->next;
    /* R1: behind the copies; pairs with R2. */
    __atomic_store_n(w->memif.released, (uint16_t)(w->next + w->memif.lead), __ATOMIC_RELEASE);
}

/* More is published than the ring has: some is overwritten, and nobody knows what. All of it is refused as one, so that
 * the line goes on. DPDK's net_memif does so with frames in several buffers when its ring is nearly full. */
static __rte_noinline void skip(struct hxb_way *w, uint16_t ready)
{
    for (uint64_t i = 0; i <= w->mask; i++) {
        clear_more(w, i);
    }
    w->next += ready;
    release(w);
    hxb_add(&w->refused, 1);
}

/* A sender may need more of its ring for one frame, in parts, than it has been given back. */
static inline void idle(struct hxb_way *w)
{
    if (unlikely(w->told != w->next) && ++w->memif.idle == IDLE_POLLS) {
        release(w);
    }
}

int hxb_memif_rx_burst(int port, int queue, struct hxb_pool *pool, uint64_t *descs, uint64_t *addresses, int n)
{
    struct hxb_way *w = &hxb_ways_at(port)->rx;
    uint32_t ids[HXB_BURST_MAX];
    uint64_t bytes = 0;
    int taken = 0;

    if (unlikely(!hxb_way_takes(w, pool, queue))) {
        return hxb_way_refuses(w);
    }
    prefetch_frame(w, w->next);
    /* P1: pairs with P2. */
    uint16_t ready = (uint16_t)(__atomic_load_n(w->memif.published, __ATOMIC_ACQUIRE) - (uint16_t)w->next);
    if (likely(ready == 0) || unlikely(n <= 0)) {
        idle(w);
        return 0;
    }
    w->memif.idle = 0;
    if (unlikely(ready > w->mask + 1)) {
        skip(w, ready);
        return 0;
    }
    uint64_t end = w->next + ready;
    /* Without a buffer, frames stay where they are, and the sender keeps what finds no room. */
    int frames = hxb_pool_alloc_bulk(pool, ids, RTE_MIN(RTE_MIN(n, (int)ready), HXB_BURST_MAX));
    pool->bells[1] += frames <= 0;
    for (int i = 0; i < frames && w->next != end; i++) {
        char *frame = hxb_frame_of(pool, ids[taken]);
        uint32_t length = copy_frame(w, end, frame);
        if (w->next != end) {
            prefetch_frame(w, w->next);
        }
        if (unlikely(length == 0)) {
            hxb_add(&w->refused, 1);
            continue;
        }
        if (addresses != NULL) {
            addresses[taken] = (uint64_t)(uintptr_t)frame;
        }
        descs[taken] = ids[taken] | (uint64_t)length << HXB_DESC_LENGTH_SHIFT;
        taken++;
        bytes += length;
    }
    if (unlikely(taken < frames)) {
        hxb_pool_release_bulk(pool, ids + taken, frames - taken);
    }
    if (unlikely(w->next - w->told > w->mask / 4)) {
        release(w);
    }
    hxb_add(&w->frames, (uint64_t)taken);
    hxb_add(&w->bytes, bytes);
    return taken;
}

/* ---- Sending ---------------------------------------------------------------------------------------- */

/* Descriptors that may be written, at least `wanted` if there are as many. */
static inline uint64_t room(struct hxb_way *w, uint64_t wanted)
{
    uint64_t slots = w->mask + 1;

    if (unlikely(slots - (w->next - w->told) < wanted)) {
        /* R2: before they are written again; pairs with R1. What a peer releases without having read is its own loss; what
         * it cannot have read is no answer. */
        uint16_t released = __atomic_load_n(w->memif.released, __ATOMIC_ACQUIRE);
        uint16_t out = (uint16_t)((uint16_t)w->next - (uint16_t)(released - w->memif.lead));
        if (out <= slots) {
            w->told = w->next - out;
        }
    }
    return slots - (w->next - w->told);
}

static inline void publish(const struct hxb_way *w)
{
    /* P2: behind descriptors and frames; pairs with P1. */
    __atomic_store_n(w->memif.published, (uint16_t)w->next, __ATOMIC_RELEASE);
}

static inline void copy_in(struct hxb_way *w, uint8_t *to, const char *from, uint32_t length)
{
    if (likely(length < HXB_LONG_FRAME)) {
        memcpy(to, from, length);
    } else {
        hxb_copy_long(&w->copying, to, from, length);
    }
}

static inline void write_descriptor(const struct hxb_way *w, uint64_t number, uint32_t length, bool more)
{
    struct memif_descriptor *d = descriptor_at(w, number);
    uint64_t region = w->slots != NULL ? 0 : __atomic_load_n(&d->what, __ATOMIC_RELAXED) & (UINT64_C(0xFFFF) << MEMIF_REGION_SHIFT);

    __atomic_store_n(&d->what, (uint64_t)length << MEMIF_LENGTH_SHIFT | region | (more ? MEMIF_NEXT : 0),
                     __ATOMIC_RELAXED);
}

/* What becomes of a frame. NEVER: it is longer than all buffers of the client, or they are not of the line. */
enum written { WRITTEN, NO_ROOM, NEVER };

/* Into buffers of a client that are shorter than the frame. */
static __rte_noinline enum written write_parts(struct hxb_way *w, const char *frame, uint32_t length)
{
    uint64_t at = w->next, end = w->next + room(w, w->mask + 1);
    struct part p;

    do {
        if (at == end) {
            return end - w->next > w->mask ? NEVER : NO_ROOM;
        }
        if (!read_descriptor(w, at, &p) || p.length == 0) {
            return NEVER;
        }
        uint32_t part = RTE_MIN(length, p.length);
        copy_in(w, p.at, frame, part);
        frame += part;
        length -= part;
        write_descriptor(w, at, part, length > 0);
        at++;
    } while (length > 0);
    w->next = at;
    return WRITTEN;
}

/* There is room for one descriptor. */
static inline enum written write_frame(struct hxb_way *w, const char *frame, uint32_t length)
{
    struct part p;

    if (w->slots != NULL) {
        p.at = buffer_at(w, w->next);
    } else if (unlikely(!read_descriptor(w, w->next, &p) || p.length < length)) {
        return write_parts(w, frame, length);
    }
    copy_in(w, p.at, frame, length);
    write_descriptor(w, w->next, length, false);
    w->next++;
    return WRITTEN;
}

/* Behind its frames: whether the peer sleeps. A fence stands between as long as it may, by what it did lately. Of one
 * that has polled for long the first sleep may begin unseen; the next burst wakes it then. */
static inline bool must_kick(struct hxb_way *w)
{
    if (unlikely(w->memif.wary != 0)) {
        w->memif.wary--;
        /* K1: the index before the look; pairs with the fence of a peer that takes the flag away, then looks again. */
        atomic_thread_fence(memory_order_seq_cst);
    }
    if (likely((__atomic_load_n(&w->memif.ring->flags, __ATOMIC_RELAXED) & MEMIF_MASK_INTERRUPTS) != 0)) {
        return false;
    }
    w->memif.wary = WARY_BURSTS;
    return true;
}

bool hxb_memif_kick(int fd)
{
    const uint64_t one = 1;
    struct pollfd room = {.fd = fd, .events = POLLOUT};

    /* The peer has the eventfd, too, and may have filled it, or made it one on which writers wait. */
    return poll(&room, 1, 0) == 1 && (room.revents & POLLOUT) != 0 && write(fd, &one, sizeof(one)) == sizeof(one);
}

int hxb_memif_tx_burst(int port, int queue, struct hxb_pool *pool, const uint64_t *descs, int n)
{
    struct hxb_way *w = &hxb_ways_at(port)->tx;
    uint32_t gone[HXB_BURST_MAX];
    int sent = 0, lost = 0, mine = 0;
    uint64_t bytes = 0;

    if (unlikely(!hxb_way_takes(w, pool, queue))) {
        return hxb_way_refuses(w);
    }
    if (unlikely(n <= 0)) {
        return 0;
    }
    n = RTE_MIN(n, HXB_BURST_MAX);
    n = (int)RTE_MIN(room(w, (uint64_t)n), (uint64_t)n);
    for (; sent < n && room(w, 1) > 0; sent++) {
        uint32_t id = (uint32_t)(descs[sent] & HXB_DESC_ID_MASK);
        uint32_t length = (uint32_t)(descs[sent] >> HXB_DESC_LENGTH_SHIFT);
        if (unlikely(id - 1 >= pool->count || length - HXB_MIN_FRAME > w->frame_max - HXB_MIN_FRAME)) {
            hxb_add(&w->refused, 1);
            if (sent == 0) {
                return -EINVAL;
            }
            break;
        }
        enum written written = write_frame(w, hxb_frame_of(pool, id), length);
        if (unlikely(written != WRITTEN)) {
            if (written == NO_ROOM) {
                break;
            }
            /* It would stand before all others. */
            length = 0;
            lost++;
        }
        /* A long frame takes as long to copy as the receiver needs for it. */
        if (length >= HXB_LONG_FRAME) {
            publish(w);
        }
        bytes += length;
        if (!(descs[sent] & HXB_DESC_HOLD)) {
            gone[mine++] = id;
        }
    }
    if (likely(sent > 0)) {
        publish(w);
        if (unlikely(must_kick(w))) {
            pool->bells[0] |= UINT64_C(1) << (port - HXB_LINE_FIRST);
        }
        /* A client has given its buffers back by these lines: the next is on its way while nobody waits for it. */
        if (w->slots == NULL && w->next % DESCRIPTORS_A_LINE == 0) {
            __builtin_prefetch(descriptor_at(w, w->next), 1);
        }
    }
    /* What is held has been copied, so nobody needed a reference for it. */
    if (mine > 0) {
        hxb_pool_release_bulk(pool, gone, mine);
    }
    if (unlikely(lost > 0)) {
        hxb_add(&w->refused, (uint64_t)lost);
    }
    hxb_add(&w->frames, (uint64_t)(sent - lost));
    hxb_add(&w->bytes, bytes);
    return sent;
}
