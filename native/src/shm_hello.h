/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a line consists of, and how a server hands it to its client: a memfd with two heads and two rings of slots,
 * one of each for either direction (shm.h), and a bell, two sockets joined to each other, one end's each.
 */
#ifndef HXB_SHM_HELLO_H
#define HXB_SHM_HELLO_H

#include "shm.h"

/* What the server tells with the memfd. */
struct hxb_hello {
    char magic[8];
    uint32_t slots;
    uint32_t stride_bytes;
    uint32_t frame_max;
    uint32_t head_bytes;
    uint64_t bytes;
};

/* What goes with the hello: first the memory, then the client's end of the bell. */
#define HXB_HELLO_DESCRIPTORS 2

/* For frames of up to so many bytes. */
void hxb_hello_lay_out(struct hxb_hello *h, uint32_t frame_max);
/* Its descriptor, or a negative errno. The server's. */
int hxb_hello_make_memory(const struct hxb_hello *h);
/* NULL: it cannot be mapped. */
uint8_t *hxb_hello_map(const struct hxb_hello *h, int fd);
void hxb_hello_unmap(const struct hxb_hello *h, uint8_t *memory);
/* Seals it for good, so that neither end can take memory away from under the other. The client's, which has it mapped;
 * then the server asks. */
bool hxb_hello_seal(int fd);
bool hxb_hello_is_sealed(int fd);
/* Where direction `number` of a line has what `w` says of it. */
void hxb_hello_find(const struct hxb_hello *h, uint8_t *memory, int number, struct hxb_way *w);
/* Both ends of a bell, each rung already; 0 or a negative errno. */
int hxb_hello_make_bell(int *ends_of_it);
/* What a peer sends as a message's descriptors is closed by who receives the message, or closes the socket, and
 * may be what takes long to close. Linux 6.16; before, the peer is trusted not to. */
void hxb_hello_refuse_descriptors(int fd);
/* The server's: the offer, with its two descriptors; 0 or a negative errno. */
int hxb_hello_send(int channel, const struct hxb_hello *h, const int *fds);
/* The client's: the two descriptors of what is offered; false: it is no line, or not what `wanted` says. */
bool hxb_hello_receive(int channel, const struct hxb_hello *wanted, int *fds);

#endif
