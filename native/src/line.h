/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A line between two processes of one host, or within one, through memory of both. line.c has what its ends do
 * whatever lies in that memory, with the gate of control.c closed where a burst could be beside it; a kind says the
 * rest: of which messages the connection consists, where frames lie, and how a burst moves them.
 *
 *   shm     lines of our own: shm.h, shm_hello.c, shm_burst.c, shm_bell.c
 *   memif   as spoken by DPDK's net_memif, VPP and libmemif: memif.h, memif_hello.c, memif_burst.c
 *
 * All of an end belongs to EAL's interrupt thread; its two ways belong to the threads in the bursts.
 */
#ifndef HXB_LINE_H
#define HXB_LINE_H

#include <stddef.h>
#include <sys/un.h>

#include "internal.h"

#define HXB_LINE_NAME_BYTES 64
/* Pieces of memory of which a line may consist. */
#define HXB_REGIONS_MAX 16

struct hxb_region_map {
    uint8_t *at;
    uint64_t bytes;
};

struct hxb_regions {
    int count;
    struct hxb_region_map of[HXB_REGIONS_MAX];
};

/* Maps all of a file; false: it cannot be mapped, or there are too many. */
bool hxb_regions_add(struct hxb_regions *regions, int fd, uint64_t bytes);
/* Of the last that was added: its file is sealed, if it has not these seals yet, and what was taken out of it before is
 * there again. False: it cannot be sealed, or there is no memory. */
bool hxb_regions_seal(const struct hxb_regions *regions, int fd, int seals);
void hxb_regions_unmap(struct hxb_regions *regions);
/* Whether a memory file has these seals. */
bool hxb_is_sealed(int fd, int seals);
void hxb_close_if_open(int *fd);
/*
 * Whether a socket, and those that connect to it from now on, may be sent descriptors. They are closed by who
 * receives the message, or closes the socket, and may be what takes long to close. Linux 6.16; before, whoever can
 * connect is trusted not to.
 */
void hxb_take_descriptors(int socket, bool take);

/* ---- Copying ------------------------------------------------------------------------------------- */

/* From this length on frames are copied as below; shorter ones by memcpy. */
#define HXB_LONG_FRAME 1024

/* How a sender writes long frames. */
struct hxb_copying {
    uint32_t ticks[2]; /* per KB: by ordinary stores, by streaming ones */
    uint32_t frames;
    bool streaming;
};

/* Into shared memory, by that kind of stores that was faster lately. Behind it a release store orders all. */
void hxb_copy_long(struct hxb_copying *c, uint8_t *to, const char *from, uint32_t length);
/* Out of shared memory, of which the sender's processor may have all lines. */
void hxb_copy_ahead(char *to, const uint8_t *from, uint32_t length);

/* From one slot of so many bytes to the next. Odd in lines: else the beginnings of slots, all that short frames
 * use, share sets of a cache. */
static inline uint32_t hxb_slot_stride(uint32_t bytes)
{
    return ((bytes + RTE_CACHE_LINE_SIZE - 1) / RTE_CACHE_LINE_SIZE | 1) * RTE_CACHE_LINE_SIZE;
}

static inline char *hxb_frame_of(const struct hxb_pool *pool, uint32_t id)
{
    return (char *)(uintptr_t)(pool->base + (uint64_t)id * pool->stride_bytes) + HXB_FRAME_OFFSET;
}

/* ---- Ways ---------------------------------------------------------------------------------------- */

/* A way of memif's: memif.h. */
struct hxb_memif_way {
    struct hxb_memif_ring *ring;
    /* Indices in the shared ring: how far the sender has come, how far the receiver is done. */
    uint16_t *published;
    uint16_t *released;
    uint16_t lead; /* what `released` is ahead of frames that were received */
    uint32_t idle; /* rx: polls since the last frame */
    uint32_t wary; /* tx: bursts to come that look for a sleeping peer behind a fence */
    const struct hxb_regions *regions;
};

/* A way of shm's: shm.h. */
struct hxb_shm_way {
    uint64_t *consumed; /* in the shared head */
    uint32_t *doze;     /* likewise: of enum hxb_doze; the receiver's, but its peer may write it */
};

/* One direction, as one end has it. */
struct hxb_way {
    bool open; /* there is a line */
    const struct hxb_pool *pool;
    /* shm: of a word and a frame each; memif: the client's buffers, NULL at a server. */
    uint8_t *slots;
    uint64_t next; /* slots so far */
    uint64_t told; /* rx: as it was last written there; tx: as it was last read */
    uint64_t mask; /* slots - 1 */
    uint32_t stride_bytes;
    uint32_t frame_max;
    union {
        struct hxb_shm_way shm;
        struct hxb_memif_way memif;
    };
    struct hxb_copying copying;
    /* Written by the thread in the burst, read by any. */
    atomic_ullong frames;
    atomic_ullong bytes;
    atomic_ullong refused;
} __rte_cache_aligned;

typedef int hxb_line_rx(int port, int queue, struct hxb_pool *pool, uint64_t *descs, uint64_t *addresses, int n);
typedef int hxb_line_tx(int port, int queue, struct hxb_pool *pool, const uint64_t *descs, int n);

/* By number of the end. */
extern struct hxb_ways {
    struct hxb_way rx;
    struct hxb_way tx;
    hxb_line_rx *rx_burst;
    hxb_line_tx *tx_burst;
    /* Of the end, as long as it is attached, where its kind has bells, else -1: readable when the peer has rung.
     * Who rings, and who hears it, are the threads in the bursts, behind the gate. */
    int bell;
    int silent;       /* likewise: an eventfd, in the bell's place where there is none */
    int silent_wakes; /* for which the bell had no ring */
    int kick;         /* memif: the eventfd by which the peer is woken, or -1 */
} hxb_line_ways[HXB_LINE_ENDS];

_Static_assert(HXB_LINE_ENDS <= 64, "a bit each in hxb_pool_bells' word");

static inline struct hxb_ways *hxb_ways_at(int port)
{
    return &hxb_line_ways[port - HXB_LINE_FIRST];
}

/* Whether a burst may use it, and what it answers when not. */
static inline bool hxb_way_takes(const struct hxb_way *w, const struct hxb_pool *pool, int queue)
{
    return w->open && w->pool == pool && queue == 0;
}

static inline int hxb_way_refuses(const struct hxb_way *w)
{
    return w->open ? -EINVAL : -ENETDOWN;
}

/* ---- Ends ---------------------------------------------------------------------------------------- */

/* What the server of a line of our own tells with its memory. */
struct hxb_hello {
    char magic[8];
    uint32_t slots;
    uint32_t stride_bytes;
    uint32_t frame_max;
    uint32_t head_bytes;
    uint64_t bytes;
};

struct hxb_shm_end {
    struct hxb_hello layout; /* of each line of this end */
    /* A server's, from its offer to the client's answer; -1: none. */
    int offered_fd;
    int offered_bell; /* this end's of it, or a client's, as it is offered one */
};

/* Of client to server, and of server to client. */
enum { HXB_MEMIF_UP, HXB_MEMIF_DOWN, HXB_MEMIF_RINGS };

struct hxb_memif_end {
    uint32_t id;
    uint32_t slots_log2;
    int step; /* of the connection that is being made: a client's requests so far, what a server has been told */
    struct hxb_memif_place {
        bool given;
        uint16_t region;
        uint32_t offset;
        uint32_t slots_log2;
        int kick; /* -1: none */
    } rings[HXB_MEMIF_RINGS];
    int memory; /* a client's, until it has been told */
};

struct hxb_line {
    const struct hxb_line_kind *kind;
    bool attached;
    bool server;
    bool wanted; /* started and not stopped since */
    atomic_bool up;
    bool armed; /* an alarm to try again is set */
    char name[HXB_LINE_NAME_BYTES];
    struct sockaddr_un address;
    socklen_t address_bytes;
    int64_t mac;
    const struct hxb_pool *pool;
    uint32_t frame_max;
    int listener;
    int channel;
    int64_t since_ns;           /* of a channel without a line yet, else 0 */
    struct hxb_regions memory;  /* of the line */
    struct hxb_regions offered; /* of the one that is being made */
    union {
        struct hxb_shm_end shm;
        struct hxb_memif_end memif;
    };
};

enum hxb_heard { HXB_FAILS, HXB_GOES_ON, HXB_STANDS };

struct hxb_line_kind {
    const char *driver;        /* with an underscore: what its devices' names begin with */
    const char *socket_prefix; /* of the abstract socket's name */
    bool bells;
    hxb_line_rx *rx_burst;
    hxb_line_tx *tx_burst;
    /* Of a new end: further arguments; 0 or a negative errno. */
    int (*begin)(struct hxb_line *l, const char *args);
    /* Behind pool and frame_max; NULL: they tell nothing. */
    void (*lay_out)(struct hxb_line *l);
    /* A server's, of a client that has come: what it is told first; 0 or a negative errno. */
    int (*greet)(struct hxb_line *l, int channel);
    /* One message on the channel. HXB_STANDS: the line is to change to `offered`. */
    enum hxb_heard (*hear)(struct hxb_line *l);
    /* Forgets the connection that was being made; `offered` apart. */
    void (*forget)(struct hxb_line *l);
    /* With the gate closed, `memory` being the new line's, or none (stands is false). Both ways begin with zeros, open, with
     * their pool and length. */
    void (*change)(struct hxb_line *l, struct hxb_ways *ways, bool stands);
};

extern const struct hxb_line_kind hxb_shm_kind;
extern const struct hxb_line_kind hxb_memif_kind;

#endif
