/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The C twin: one node of PM/Ethernet-HXB as a C author would write it, straight over DPDK, for the
 * four paths whose cost per packet is budgeted: receive, send, relay, acknowledgement.
 *
 * It takes the same steps as the Java node, in the order of PROTOCOL.md, over the same ring ports and
 * the same buffers, so that the ratio of the two says what the language costs. Whether the steps are
 * the same is checked: for equal input both deliver equal messages and emit equal frames. What the
 * four paths do not need (opening sessions, probes, resends) is not here: sessions are given, and an
 * event that would need it is counted as trouble, which voids a run.
 *
 * One thread; nothing allocates but twin_create.
 */
#ifndef HXB_TWIN_H
#define HXB_TWIN_H

#include <stdint.h>

#include "pmhxb.h"

#define TWIN_RAILS_MAX 18 /* two dimensions of nine */
#define TWIN_DIMENSIONS 3

struct twin; /* opaque */

struct twin_config {
    uint64_t pool;         /* struct hxb_pool * */
    uint64_t base;         /* address of the region that the pool lies in */
    uint32_t stride_bytes;
    uint32_t buffers;
    uint32_t self;         /* own node number */
    uint32_t nodes;
    uint32_t key;
    uint32_t window;       /* frames in flight to one peer, a power of two */
    uint32_t inbox;        /* messages that wait for the program, a power of two */
    uint32_t endpoint;     /* the one that is open */
    uint32_t rails;
    uint32_t relay_rails;  /* rails of each dimension; 0: a line, which relays nothing */
    uint32_t extent[TWIN_DIMENSIONS];
    uint32_t frame_bytes;  /* of the longest data frame */
    uint64_t now_ns;       /* of the last duty cycle before the first */
    uint64_t poll_gap_ns;  /* worst gap so far */
    uint16_t port[TWIN_RAILS_MAX];
    uint64_t mac[TWIN_RAILS_MAX]; /* own addresses, low 48 bits */
};

/* A session that is up, nothing in flight either way. */
struct twin_peer_config {
    uint32_t node;
    uint32_t session;
    uint32_t next_in;   /* sequence number that its next data frame has */
    uint32_t next_out;  /* that ours will have */
    uint32_t granted;   /* credit that it has here, none of it used */
    uint32_t limit;     /* credit that we have there */
    uint64_t mac[TWIN_RAILS_MAX];
};

enum twin_counter {
    TWIN_FRAMES_RECEIVED,
    TWIN_DATA_DELIVERED,
    TWIN_BYTES_DELIVERED,
    TWIN_RELAYED,
    TWIN_DATA_SENT,
    TWIN_ACKS_SENT,
    TWIN_ACKS_RECEIVED,
    TWIN_OUT_OF_ORDER,
    TWIN_FRAMES_SENT,
    TWIN_DROPPED, /* of all reasons */
    TWIN_TROUBLE, /* a probe due, a loss, a full queue, a buffer of another owner: the run is void */
    TWIN_COUNTERS
};

/* sizeof(struct twin_config) for 0, of struct twin_peer_config for 1: callers check theirs. */
int twin_config_bytes(int which);
/* NULL: no memory, or a value out of range. */
struct twin *twin_create(const struct twin_config *config);
void twin_destroy(struct twin *t);
/* 0, or -EINVAL, -ENOMEM. */
int twin_add_peer(struct twin *t, const struct twin_peer_config *config);
/* A neighbour's address on a rail of a dimension, for relaying. */
int twin_add_neighbour(struct twin *t, int dimension, int coordinate, int rail, uint64_t mac);

/* Duty cycles until n messages went to the handler; how many did (fewer: trouble). */
int twin_receive(struct twin *t, uint64_t now_ns, int n);
/*
 * Claims, writes and sends n messages of `length` bytes, message i to dst[i] with the word first + i
 * in front; then as many duty cycles as bursts of 32. How many were sent (fewer: trouble).
 */
int twin_send(struct twin *t, uint64_t now_ns, const int32_t *dst, int n, int length,
              uint64_t first);
/* One duty cycle, for frames that no program sees: relayed ones, acknowledgements. Frames received. */
int twin_cycle(struct twin *t, uint64_t now_ns);

uint64_t twin_counter(const struct twin *t, int counter);
/* What the handler has seen; with `contents` of twin_contents also the payloads. */
uint64_t twin_digest(const struct twin *t);
/* 1: the handler reads all of every message from now on. */
void twin_contents(struct twin *t, int contents);
/* Control path: gives home what the release batch keeps back. */
void twin_flush(struct twin *t);

#endif
