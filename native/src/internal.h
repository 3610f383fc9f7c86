/* SPDX-License-Identifier: Apache-2.0 */
/* What the sources of libpmhxb share; not part of the ABI. */
#ifndef HXB_INTERNAL_H
#define HXB_INTERNAL_H

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <rte_branch_prediction.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>
#include <rte_prefetch.h>
#include <rte_ring.h>

#include "pmhxb.h"

#define HXB_API __attribute__((visibility("default")))

/* How many mbufs ahead a loop asks for: within what a first-level cache has misses under way. */
#define HXB_PREFETCH_AHEAD 4

/* Of a counter with one writer, which any thread may read: no read-modify-write is needed. */
static inline void hxb_add(atomic_ullong *counter, uint64_t n)
{
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + n,
                          memory_order_relaxed);
}

/* eal.c: some of DPDK's calls end the process, or leave something behind that ends it later, while EAL does not run. */
bool hxb_eal_runs(void);

/* DPDK mixes "-1 and rte_errno" with "-errno"; this library knows the latter only. */
static inline int hxb_rte_error(int fallback)
{
    return rte_errno > 0 ? -rte_errno : -fallback;
}

/* Why a received frame was not handed up. One writer: the thread that polls the queue. */
struct hxb_refusals {
    uint64_t segments;
    uint64_t foreign;
    uint64_t offset;
    uint64_t length;
    uint64_t tx;
} __rte_cache_aligned;

struct hxb_pool {
    /* Read by every burst: kept together at the front. */
    struct rte_mbuf **mbufs; /* by ID; [0] is NULL */
    uint64_t base;
    uint64_t first; /* address of buffer 1 */
    uint64_t span;  /* bytes from buffer 1 to the end of the last buffer */
    uint32_t count;
    uint32_t stride_bytes;
    uint32_t frame_max;  /* HXB_FRAME_MAX */
    uint64_t reciprocal; /* of the stride, for hxb_index */
    struct rte_mempool *mempool;
    uint64_t bells[2]; /* hxb_pool_bells */
    uint64_t region_bytes;
    uint64_t page_bytes;
    struct hxb_refusals rings; /* of hxb_ring_dequeue and hxb_ring_enqueue */
};

/* 2^64 / stride, rounded up. */
static inline uint64_t hxb_reciprocal(uint32_t stride_bytes)
{
    return UINT64_MAX / stride_bytes + 1;
}

/*
 * offset / stride, rounded down, by a multiplication. Exact: with HXB_STRIDE_MAX and HXB_BUFFERS_MAX
 * an offset is below 2^39, and reciprocal x stride is above 2^64 by less than the stride, 2^15; their
 * product stays below 2^54, where it is 2^64 that would be too much.
 */
static inline uint32_t hxb_index(uint64_t offset, uint64_t reciprocal)
{
    __extension__ typedef unsigned __int128 wide;

    return (uint32_t)((wide)offset * reciprocal >> 64);
}

/* The mbuf of an ID, or NULL when the ID is none of this pool. */
static inline struct rte_mbuf *hxb_mbuf(const struct hxb_pool *pool, uint32_t id)
{
    /* id - 1 wraps for 0, so that one comparison refuses both ends. */
    return likely(id - 1 < pool->count) ? pool->mbufs[id] : NULL;
}

/*
 * Whether a received mbuf is a frame by the contract of hxb_rx_burst: first, span and frame_max are
 * its pool's, which a loop that stores reads once.
 */
static __rte_always_inline bool hxb_is_whole(const struct rte_mbuf *m, uint64_t first, uint64_t span,
                                             uint32_t frame_max)
{
    return (uint64_t)(uintptr_t)m->buf_addr - first < span && m->nb_segs == 1 &&
           m->data_off == HXB_FRAME_OFFSET &&
           m->pkt_len - HXB_MIN_FRAME <= frame_max - HXB_MIN_FRAME;
}

/* Up to n free mbufs of a mempool, each with one reference; fewer when it has no more. */
static inline unsigned int hxb_take_mbufs(struct rte_mempool *mempool, struct rte_mbuf **mbufs,
                                          unsigned int n)
{
    unsigned int taken = 0;

    while (taken < n) {
        unsigned int want = n - taken;
        /* The mempool gives all or none: halve until the remainder fits. */
        while (want > 0 && rte_mempool_get_bulk(mempool, (void **)(mbufs + taken), want) != 0) {
            want /= 2;
        }
        if (want == 0) {
            break;
        }
        taken += want;
    }
    return taken;
}

/*
 * Drops one reference; true when the mbuf may go home by rte_mempool_put, with the fields that a
 * free mbuf must have (rte_mbuf_raw_free's contract). The usual case reads and writes the mbuf's
 * first cache line alone: rte_pktmbuf_prefree_seg would look at `next` and at the shared info of the
 * external buffer, two more lines. Both need no look in a pool of ours: a single segment has no
 * `next` (see hxb_prepare), and nothing here attaches a second mbuf to a buffer, so the shared
 * info's count stays 1.
 */
static __rte_always_inline bool hxb_drop_reference(struct rte_mbuf *m)
{
    if (likely(rte_mbuf_refcnt_read(m) == 1 && m->nb_segs == 1)) {
        m->ol_flags = RTE_MBUF_F_EXTERNAL;
        return true;
    }
    return rte_pktmbuf_prefree_seg(m) != NULL;
}

/* net_af_packet takes a VLAN tag off, because the kernel did. The frame is another network's: the
 * tag's EtherType stands where it stood, so that nobody takes the frame for an untagged one. */
void hxb_restore_tag_type(struct rte_mbuf *m);
/* Frees and counts a received mbuf that the contract refuses. */
void hxb_refuse(const struct hxb_pool *pool, struct rte_mbuf *m, struct hxb_refusals *refusals);

/* The descriptor of a received mbuf that is a frame. address: where it begins is written there, unless it is NULL. */
static __rte_always_inline uint64_t hxb_describe(const struct rte_mbuf *m, uint64_t first,
                                                 uint64_t reciprocal, uint64_t *address)
{
    uint64_t buffer = (uint64_t)(uintptr_t)m->buf_addr, length = m->pkt_len;

    /* The caller reads the header next, of every frame of a burst. */
    rte_prefetch0((const void *)(uintptr_t)(buffer + HXB_FRAME_OFFSET));
    if (address != NULL) {
        *address = buffer + HXB_FRAME_OFFSET;
    }
    return ((uint64_t)hxb_index(buffer - first, reciprocal) + 1) | length << HXB_DESC_LENGTH_SHIFT;
}

/*
 * Turns received mbufs into descriptors, frees and counts what the contract refuses. addresses: where
 * each frame begins is written there, unless it is NULL.
 * Returns how many descriptors were written. In the caller's code: a burst may be of one frame.
 */
static __rte_always_inline int hxb_accept(const struct hxb_pool *pool, struct rte_mbuf **frames,
                                          int n, uint64_t *descs, uint64_t *addresses,
                                          struct hxb_refusals *refusals)
{
    /* Once: for all that the compiler knows, a descriptor that is written lies in the pool's struct. */
    const uint64_t first = pool->first, span = pool->span;
    const uint64_t reciprocal = pool->reciprocal;
    const uint32_t frame_max = pool->frame_max;
    int taken = 0;

    /* The only frame: to set the loop up would cost more than it does. */
    if (n == 1 && likely(hxb_is_whole(frames[0], first, span, frame_max) &&
                         (frames[0]->ol_flags & RTE_MBUF_F_RX_VLAN_STRIPPED) == 0)) {
        descs[0] = hxb_describe(frames[0], first, reciprocal, addresses);
        return 1;
    }
    for (int i = 0; i < n; i++) {
        if (i + HXB_PREFETCH_AHEAD < n) {
            rte_prefetch0(frames[i + HXB_PREFETCH_AHEAD]);
        }
        struct rte_mbuf *m = frames[i];

        if (unlikely(!hxb_is_whole(m, first, span, frame_max))) {
            hxb_refuse(pool, m, refusals);
            continue;
        }
        if (unlikely(m->ol_flags & RTE_MBUF_F_RX_VLAN_STRIPPED)) {
            hxb_restore_tag_type(m);
        }
        descs[taken] =
            hxb_describe(m, first, reciprocal, addresses != NULL ? &addresses[taken] : NULL);
        taken++;
    }
    return taken;
}
/*
 * Prepares the mbufs of up to HXB_BURST_MAX descriptors, adding the references that HXB_DESC_HOLD
 * asks for.
 * Returns how many are ready, or -EINVAL when the first descriptor is out of range.
 */
int hxb_prepare(const struct hxb_pool *pool, const uint64_t *descs, int n,
                struct rte_mbuf **frames, struct hxb_refusals *refusals);
/* Takes back the added references of prepared frames [from, to) that nobody took. */
void hxb_take_back(const uint64_t *descs, struct rte_mbuf **frames, int from, int to);

/* dma.c: lets a port's device reach the memory of the queue's pool, where its bus has an IOMMU, and no longer. */
int hxb_dma_map(int port, int queue, struct rte_device *device, const struct hxb_pool *pool);
void hxb_dma_unmap(int port, int queue, struct rte_device *device);
/* A device of DPDK's own, behind no bus. */
bool hxb_is_virtual(const struct rte_device *device);

/* crc.c: whether a frame within the pool's buffers is as hxb_rx_bursts' `only` says. */
bool hxb_only_holds(const uint64_t *only, const uint8_t *frame, uint32_t length);

/* packet.c. A queue's word with this bit names the packet socket at the address in the others: no port's number has it,
 * and no address of a program. */
#define HXB_QUEUE_OF_SOCKET ((uint64_t)1 << 63)

/* NULL: it names a port's queue. */
static inline struct hxb_packet *hxb_socket_named(uint64_t queue)
{
    return queue & HXB_QUEUE_OF_SOCKET ? (struct hxb_packet *)(uintptr_t)(queue & ~HXB_QUEUE_OF_SOCKET) : NULL;
}

/* hxb_packet_rx_burst; addresses: NULL, or n words for where the frames begin. */
int hxb_packet_receive(struct hxb_packet *socket, uint64_t *descs, uint64_t *addresses, int n);

/* Whether DPDK has a port number left: its drivers answer a full table with all sorts of errors. */
bool hxb_port_number_free(void);
/* Forgets what an earlier port of this number left: counters, queues. */
void hxb_port_reset(int port);

/* ---- The gate of lines: control.c ------------------------------------------------------------- */

/* Who is in a burst; one writer each: the thread that polls, the thread that sends. */
struct hxb_seats {
    atomic_int rx;
    atomic_int tx;
} __rte_cache_aligned;

/* Writer: EAL's interrupt thread. */
extern struct hxb_gate {
    /* 1 while ports change. */
    atomic_int closed;
    /* Bursts put a fence between seat and gate themselves, because the kernel gives no barrier for
     * all threads of a process at once. Written before the first such port exists, too. */
    atomic_bool fences;
    /* The kernel's barrier on the threads of several processes (hxb_barrier) leaves this one out. */
    atomic_bool unheard;
} __rte_cache_aligned hxb_gate;

static inline bool hxb_gate_enter(atomic_int *seat)
{
    /* G1: before the gate is read; pairs with G2 in hxb_close_gate. A fence would wait, in every
     * poll, until the other processor has given up the lines that the burst before wrote. */
    atomic_store_explicit(seat, 1, memory_order_relaxed);
    if (unlikely(atomic_load_explicit(&hxb_gate.fences, memory_order_relaxed))) {
        atomic_thread_fence(memory_order_seq_cst);
    } else {
        atomic_signal_fence(memory_order_seq_cst);
    }
    /* Pairs with G3 in hxb_open_gate. */
    if (likely(atomic_load_explicit(&hxb_gate.closed, memory_order_acquire) == 0)) {
        return true;
    }
    atomic_store_explicit(seat, 0, memory_order_release);
    return false;
}

static inline void hxb_gate_leave(atomic_int *seat)
{
    /* The burst is over before the seat is seen empty; pairs with the load in await_empty. */
    atomic_store_explicit(seat, 0, memory_order_release);
}

/* The same for calls that may wait: until the gate is open. */
void hxb_gate_await(atomic_int *seat);

/* On EAL's interrupt thread alone: from the one to the other no burst is on a port with a gate. */
void hxb_close_gate(void);
void hxb_open_gate(void);
/* port.c: until each burst that was beyond the gate has left. */
void hxb_await_bursts(void);

/* Calls run(arg) on EAL's interrupt thread and waits: what it returned, or -ETIMEDOUT when that thread
 * has not come to it in 5 s. Not from that thread itself. */
int hxb_on_interrupt_thread(int (*run)(void *arg), void *arg);
/* CLOCK_MONOTONIC. */
int64_t hxb_now_ns(void);
/* The value of "key=" among a device's arguments, with commas between them, or `fallback`. */
void hxb_argument(const char *args, const char *key, const char *fallback, char *out, size_t n);

/* line.c: lines through memory of two processes, whose port numbers follow DPDK's. */
#define HXB_LINE_FIRST RTE_MAX_ETHPORTS
#define HXB_LINE_ENDS 64
#define HXB_PORTS (HXB_LINE_FIRST + HXB_LINE_ENDS)

static inline bool hxb_is_line(int port)
{
    return port >= HXB_LINE_FIRST && port < HXB_PORTS;
}

/* Whether hxb_port_attach is to make such a line. */
bool hxb_names_line(const char *name);
int hxb_line_attach(const char *name, const char *args);
/* Of all others: -ENODEV when there is no such end. */
int hxb_line_configure(int port, const struct hxb_port_config *config, struct hxb_pool *const *pools);
int hxb_line_start(int port);
int hxb_line_stop(int port);
int hxb_line_close(int port);
int64_t hxb_line_mac(int port);
int hxb_line_link(int port);
int hxb_line_info(int port, struct hxb_port_info *info);
int hxb_line_stats(int port, struct hxb_port_stats *stats);
int hxb_line_wake_fd(int port);
/* shm_bell.c: behind the gate. What hxb_port_sleep, _wake and _rouse say of a line of shm's; rings for its peer if
 * that sleeps. Of other kinds' nothing. */
int hxb_shm_sleep(int port);
void hxb_shm_wake(int port, bool rung);
void hxb_shm_rouse(int port);
bool hxb_shm_ring(int port);
/* memif_burst.c. Behind the bursts, and not behind the gate: a peer that fills the eventfd at that very moment can make
 * it wait. */
bool hxb_memif_kick(int fd);
/* Makes all pages present. What mmap reserved may yet be refused when a page is touched, and then by SIGBUS: by a
 * control group's limit of hugepages, or where a file has holes. */
int hxb_populate(void *address, uint64_t bytes);

#endif
