/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines by memif, version 2.0 of its protocol, as DPDK's net_memif, VPP and libmemif speak it; the layout below is
 * theirs. In shared memory that the client makes lie two rings of descriptors, one for each direction, and the buffers
 * that these name:
 *
 *   client to server   the client publishes frames by `head`; the server is done with those below `tail`
 *   server to client   the client publishes empty buffers by `head`; the server those it has filled by `tail`
 *
 * So in either ring one index is what the sender has published and the other what the receiver has released, in the
 * second ring by the ring's size more. Indices count modulo 2^16. A descriptor belongs to the sender until it is
 * published, then to the receiver until it is released.
 *
 * The peer is not trusted: whatever it writes, this end reads an index and a descriptor once, looks whether what the
 * descriptor names lies within the memory, and copies a frame of this end's length at most. The memory
 * can be neither shortened nor, once both ends have mapped it, written into through its file, which makes holes.
 */
#ifndef HXB_MEMIF_H
#define HXB_MEMIF_H

#include "line.h"

#define MEMIF_COOKIE 0x3E31F20u
#define MEMIF_VERSION 0x0200
#define MEMIF_NAME_BYTES 32
#define MEMIF_MESSAGE_BYTES 128
#define MEMIF_SLOTS_LOG2_MAX 14

/* One message goes each way in turn, of 128 bytes each; all of a client's but the last are answered by an ACK. */
enum memif_type {
    MEMIF_ACK = 1,
    MEMIF_HELLO,
    MEMIF_INIT,
    MEMIF_ADD_REGION, /* with its descriptor */
    MEMIF_ADD_RING,   /* with the descriptor of an eventfd */
    MEMIF_CONNECT,
    MEMIF_CONNECTED,
    MEMIF_DISCONNECT,
};

#define MEMIF_MODE_ETHERNET 0
#define MEMIF_RING_UP 1 /* client to server */

struct memif_message {
    uint16_t type;
    union {
        struct __attribute__((packed)) {
            char name[MEMIF_NAME_BYTES];
            uint16_t version_min;
            uint16_t version_max;
            uint16_t region_last;
            uint16_t ring_down_last;
            uint16_t ring_up_last;
            uint8_t slots_log2_max;
        } hello;
        struct __attribute__((packed)) {
            uint16_t version;
            uint32_t id;
            uint8_t mode;
            char secret[24];
            char name[MEMIF_NAME_BYTES];
        } init;
        struct __attribute__((packed)) {
            uint16_t index;
            uint64_t bytes;
        } add_region;
        struct __attribute__((packed)) {
            uint16_t flags;
            uint16_t index;
            uint16_t region;
            uint32_t offset;
            uint8_t slots_log2;
            uint16_t private_bytes;
        } add_ring;
        struct {
            char name[MEMIF_NAME_BYTES];
        } connect; /* and connected */
        struct __attribute__((packed)) {
            uint32_t code;
            char reason[96];
        } disconnect;
        uint8_t all[MEMIF_MESSAGE_BYTES - sizeof(uint16_t)];
    };
} __attribute__((packed));

_Static_assert(sizeof(struct memif_message) == MEMIF_MESSAGE_BYTES, "as it is sent");

/* Two words: flags, region and length; offset and what nobody here uses. */
struct memif_descriptor {
    uint64_t what;
    uint64_t where;
};

#define MEMIF_NEXT UINT64_C(1) /* in `what`: the frame goes on in the next */
#define MEMIF_REGION_SHIFT 16
#define MEMIF_LENGTH_SHIFT 32

#define MEMIF_MASK_INTERRUPTS 1 /* in flags: its receiver polls */

struct hxb_memif_ring {
    uint32_t cookie;
    uint16_t flags;
    uint16_t head;
    uint8_t to_tail[56];
    uint16_t tail;
    uint8_t to_descriptors[62];
    struct memif_descriptor descriptors[];
};

_Static_assert(offsetof(struct hxb_memif_ring, tail) == 64 &&
                   offsetof(struct hxb_memif_ring, descriptors) == 128,
               "as it lies in memory");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "a descriptor's halves are read as words");

/* memif_burst.c: behind the gate. */
hxb_line_rx hxb_memif_rx_burst;
hxb_line_tx hxb_memif_tx_burst;

#endif
