/* SPDX-License-Identifier: Apache-2.0 */
/* What the twin's parts share. One thread owns all of it. */
#ifndef HXB_TWIN_NODE_H
#define HXB_TWIN_NODE_H

#include <errno.h>
#include <stdlib.h>

#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>
#include <rte_prefetch.h>

#include "frame.h"
#include "twin.h"

#define TWIN_API __attribute__((visibility("default")))

enum { BURST = 32, QUEUE = 1024, RELEASES = 64, PREFETCH_AHEAD = 4, LEAST_HELD = 8, FLOWS_LOG2 = 8 };

/* Unacknowledged bytes that one path to one peer may have at first, and never fewer: of a ring (PathState in Java). */
#define PATH_BYTES_MAX (256u * 1024u)

/* Who answers for a buffer: kind | holder, with the references in the high half. */
enum owner_kind {
    OWNER_FREE = 0,
    OWNER_NODE = 1 << 24,
    OWNER_PORT = 2 << 24,
    OWNER_WINDOW = 3 << 24,
    OWNER_REORDER = 4 << 24,
    OWNER_INBOX = 5 << 24,
    OWNER_APPLICATION = 6 << 24,
};

/* What became of a received frame's buffer. */
enum verdict { DROPPED, DONE, KEPT };

/* The receiving side of a channel (section 6). */
struct in_lane {
    uint16_t src_endpoint, dst_endpoint;
    uint32_t granted, received, consumed, advertised;
    struct in_lane *next;
};

/* The sending side of a channel. */
struct out_lane {
    uint16_t endpoint, dst_endpoint;
    uint32_t limit, used;
    uint64_t settled;
};

/*
 * A frame that is held for resend. Which frames of a path were sent before others (section 5.5) counts
 * once one is lost: the Java node links them then, and the twin never gets there.
 */
struct held {
    struct rte_mbuf *mbuf; /* NULL: acknowledged */
    uint64_t sent_ns;
    uint32_t bytes;
    uint32_t path_index;
    uint8_t path;
    uint8_t copies;
};

/* As DelayWindow in Java: bytes that may be unacknowledged, and what makes them more or fewer. */
struct delay_window {
    int64_t bytes, cut_ns, round_ns, limit_ns, crowded_rounds, tolerated_ns, queue_ns, allowed_ns;
    bool starting, used;
};

struct path {
    uint64_t mac;
    uint64_t evidence_ns, waiting_from_ns, evidence_gap_ns, arrived_sent_ns;
    uint64_t smoothed_rtt_ns, rtt_variation_ns, least_rtt_ns;
    uint64_t fresh_bytes, fresh_rtt_ns; /* of the acknowledgement that is being read */
    uint32_t fresh_frames, loss_share;
    uint32_t code;
    uint32_t next_index, settled_index; /* of the next frame, and of the last that is settled */
    uint32_t settled;                   /* frames */
    struct delay_window window;
};

/* Since when a sign of life is owed. */
static inline uint64_t owed_since(const struct path *path)
{
    return RTE_MAX(path->waiting_from_ns, path->evidence_ns);
}

/* What the choice of a path reads of each; what follows of round trips as in Java's SendWindow.terms. */
struct terms {
    uint64_t bytes;     /* unacknowledged */
    uint64_t byte_time; /* 1/1024 ns */
    uint32_t window;    /* bytes that may be */
    uint32_t longer_ns; /* than others */
};

struct peer {
    uint32_t node, session;
    /* receiving */
    uint32_t next, highest, news, duplicates, granted;
    uint32_t kept; /* frames that wait for their turn */
    uint32_t watched; /* one bit a path: frames may be on their way, so the timer looks after it */
    bool ack_at_once, gap_known, on_due_list, on_urgent_list;
    uint64_t heard_at, first_news_ns, peer_gap_ns;
    /* One word a slot: the sequence number that it holds | buffer ID, 0 = empty. */
    uint64_t *slots;
    struct in_lane *lanes;
    /* sending */
    struct held *held; /* as many as its traffic took so far, up to the window */
    uint32_t held_mask;
    uint32_t unacknowledged, next_out, duplicates_reported;
    uint32_t fresh; /* one bit a path: the acknowledgement that is being read tells of it */
    uint32_t received_at_settling; /* whether data came too since the last one */
    uint8_t next_control_path, chosen; /* path of the last new frame */
    int32_t stripe_bytes; /* that may follow on it before the next choice */
    uint64_t stripe_ns;   /* when it was chosen */
    struct out_lane out;
    struct in_lane first_lane;
    struct terms terms[TWIN_RAILS_MAX]; /* by path, as the next */
    struct path paths[];
} __rte_cache_aligned;

struct queue {
    struct rte_mbuf *mbufs[QUEUE];
    uint32_t put, taken;
};

struct rail {
    uint16_t port;
    uint64_t mac;
    uint64_t local_bytes;
    struct queue control, transit, local; /* local: the window goes on holding each */
};

/* Whose frame is the next one when several rails brought some; as RailTurns in Java. */
struct turns {
    uint32_t head[TWIN_RAILS_MAX], end[TWIN_RAILS_MAX]; /* of the rails that brought frames */
    uint32_t rails, live;         /* live: those with frames left */
    uint32_t rail;                /* whose turn it is */
    uint32_t stripe, stripe_left; /* frames of one rail in a row; until it is another one's turn */
    int last_rail;                /* whose turn ended last */
    int passed_from;              /* whose frame was the first to be passed over */
};

/* What a relay found out about a flow; as TransitCache in Java. One that finds its place taken takes it over. */
struct flow {
    uint64_t ends; /* rail << 56 | src << 32 | dst: with the path, all that its way depends on */
    uint64_t rest; /* bytes 16-23 of the last frame that went on, the path among them; as received */
    uint32_t hop;  /* bytes 12-15 of it; 0: none has gone on */
    uint32_t egress;
    uint64_t front[3]; /* bytes 0-23 of it, as it went on */
} __rte_cache_aligned;

struct message {
    struct rte_mbuf *mbuf;
    uint32_t source;
    uint16_t source_endpoint, length;
};

struct twin {
    uint64_t base, reciprocal; /* of the region; of the stride: 2^64 / bytes, rounded up */
    uint32_t self, nodes, key, window, endpoint, rails, peer_count, frame_bytes;
    uint64_t now_ns, patience_ns, poll_gap_ns, timer_due_ns, least_rtt_ns;
    uint32_t timer_round;
    struct rte_mempool *mempool;
    struct rte_mbuf *const *mbufs; /* by buffer ID */
    uint64_t *owners;              /* by buffer ID: references << 32 | owner */
    struct peer **peers;           /* by node */
    struct peer **active;
    struct peer **due, **urgent;
    uint32_t due_count, urgent_count;
    struct message *inbox;
    uint64_t inbox_put, inbox_taken, inbox_mask;
    uint64_t digest;
    bool contents;
    uint32_t released, stashed, stash_most, unsealed;
    struct rte_mbuf *releases[RELEASES];
    struct rte_mbuf **stash; /* what was sent and is free, up to half the pool; of others RELEASES */
    uint8_t *unsealed_frames[BURST]; /* headers written, no CRC yet */
    uint32_t unsealed_lengths[BURST];
    uint64_t counters[TWIN_COUNTERS];
    struct rail rail[TWIN_RAILS_MAX];
    struct turns turns;
    /* relaying */
    uint32_t relay_rails;
    uint32_t *positions; /* by node: a byte per dimension */
    int8_t *steps;       /* by order, hops, remaining: ingress << 2 | egress, or -1 */
    uint64_t *neighbours[TWIN_DIMENSIONS]; /* by coordinate and rail */
    struct flow flows[1 << FLOWS_LOG2];
};

static inline void count(struct twin *t, enum twin_counter counter, uint64_t by)
{
    t->counters[counter] += by;
}

/* ---- pool.c: owner entries, batches ------------------------------------------------------------ */

void pool_flush(struct twin *t);
bool pool_refill(struct twin *t);

static inline uint8_t *frame_of(struct rte_mbuf *m)
{
    return (uint8_t *)m->buf_addr + HXB_FRAME_OFFSET;
}

static inline uint32_t id_of(const struct twin *t, const struct rte_mbuf *m)
{
    __extension__ typedef unsigned __int128 wide;

    return (uint32_t)((wide)((uint64_t)(uintptr_t)m->buf_addr - t->base) * t->reciprocal >> 64);
}

/* The one function through which every hand-over passes. */
static inline void transfer(struct twin *t, const struct rte_mbuf *m, uint32_t from, uint32_t to)
{
    uint64_t *owner = &t->owners[id_of(t, m)];
    if (unlikely((uint32_t)*owner != from)) {
        count(t, TWIN_TROUBLE, 1);
    }
    *owner = (*owner & ~(uint64_t)UINT32_MAX) | to;
}

/* A burst gave the buffer, which stays the port's until it is known who gets it. */
static inline void arrived(struct twin *t, const struct rte_mbuf *m, uint32_t to)
{
    uint64_t *owner = &t->owners[id_of(t, m)];
    uint32_t was = (uint32_t)*owner;
    if (unlikely(was != OWNER_FREE && was != OWNER_PORT)) {
        count(t, TWIN_TROUBLE, 1);
    }
    *owner = UINT64_C(1) << 32 | to;
}

/* A burst gave the buffer, and another one gets it in the same round: its entry stays. */
static inline void goes_on(struct twin *t, const struct rte_mbuf *m)
{
    uint64_t owner = t->owners[id_of(t, m)];
    if (unlikely(owner != OWNER_FREE && owner != OWNER_PORT)) {
        count(t, TWIN_TROUBLE, 1);
    }
}

/* A burst took the buffer with its reference. */
static inline void left(struct twin *t, const struct rte_mbuf *m)
{
    uint64_t *owner = &t->owners[id_of(t, m)];
    if (unlikely(*owner != (UINT64_C(1) << 32 | OWNER_NODE))) {
        count(t, TWIN_TROUBLE, 1);
    }
    *owner = OWNER_PORT;
}

static inline struct rte_mbuf *allocate(struct twin *t, uint32_t owner)
{
    if (unlikely(t->stashed == 0 && !pool_refill(t))) {
        return NULL;
    }
    struct rte_mbuf *m = t->stash[--t->stashed];
    t->owners[id_of(t, m)] = UINT64_C(1) << 32 | owner;
    return m;
}

static inline void release(struct twin *t, struct rte_mbuf *m, uint32_t owner)
{
    uint64_t *entry = &t->owners[id_of(t, m)];
    if (unlikely(*entry != (UINT64_C(1) << 32 | owner))) {
        count(t, TWIN_TROUBLE, 1);
    }
    *entry = OWNER_FREE;
    t->releases[t->released++] = m;
    if (t->released == RELEASES) {
        pool_flush(t);
    }
}

/* A frame that was sent; what nobody else has any more is what the next allocations take. */
static inline void release_held(struct twin *t, struct rte_mbuf *m, uint32_t owner)
{
    uint64_t *entry = &t->owners[id_of(t, m)];
    if (unlikely(*entry != (UINT64_C(1) << 32 | owner) ||
                 t->stashed == t->stash_most || rte_mbuf_refcnt_read(m) != 1)) {
        release(t, m, owner);
        return;
    }
    *entry = OWNER_FREE;
    t->stash[t->stashed++] = m;
}

/* ---- queues ------------------------------------------------------------------------------------ */

static inline bool queue_put(struct queue *q, struct rte_mbuf *m)
{
    if (unlikely(q->put - q->taken == QUEUE)) {
        return false;
    }
    q->mbufs[q->put++ & (QUEUE - 1)] = m;
    return true;
}

static inline void set_length(struct rte_mbuf *m, uint32_t bytes)
{
    m->data_len = (uint16_t)bytes;
    m->pkt_len = bytes;
}

static inline struct held *held_of(const struct peer *p, uint32_t seq)
{
    return &p->held[seq & p->held_mask];
}

/* ---- many peers: what frames need of them is in no cache of the processor's own ------------------ */

enum { MANY_PEERS = 1024, PARTS_OF_MANY = 8 };

static inline bool has_many_peers(const struct twin *t)
{
    return t->peer_count > MANY_PEERS;
}

/* ---- between the parts ------------------------------------------------------------------------- */

int receive(struct twin *t);
int poll_inbox(struct twin *t);
enum verdict relay(struct twin *t, uint32_t rail, struct rte_mbuf *m, uint8_t *frame);
int relay_create(struct twin *t, const struct twin_config *config);
void relay_destroy(struct twin *t);

void seal(struct twin *t);
void note(struct twin *t, struct peer *p);
void flush_acks(struct twin *t);
enum verdict read_ack(struct twin *t, struct peer *p, const uint8_t *frame, uint32_t length);
bool acknowledge_up_to(struct twin *t, struct peer *p, uint32_t ack);
void path_begin(struct path *path, uint64_t mac, uint32_t code, uint64_t now_ns);
void path_acknowledged(struct twin *t, struct peer *p, const struct held *h);
void settle_paths(struct twin *t, struct peer *p);
void credit(struct peer *p, uint32_t own_endpoint, uint32_t peer_endpoint, uint32_t limit);

static inline struct in_lane *in_lane_of(struct peer *p, uint32_t src, uint32_t dst)
{
    struct in_lane *lane = p->lanes;
    while (lane != NULL && (lane->src_endpoint != src || lane->dst_endpoint != dst)) {
        lane = lane->next;
    }
    return lane;
}

static inline uint32_t lane_limit(const struct in_lane *lane)
{
    return lane->consumed + lane->granted;
}

static inline bool slot_holds(const struct twin *t, const struct peer *p, uint32_t seq)
{
    uint64_t slot = p->slots[seq & (t->window - 1)];
    return (uint32_t)(slot >> 32) == seq && (uint32_t)slot != 0;
}

#endif
