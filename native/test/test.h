/* SPDX-License-Identifier: Apache-2.0 */
/* The little that plain C tests need. A failed check ends the process with status 1. */
#ifndef HXB_TEST_H
#define HXB_TEST_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

#include "pmhxb.h"

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            test_fail(__FILE__, __LINE__, #condition);                                             \
        }                                                                                          \
    } while (0)

#define CHECK_EQ(actual, expected)                                                                 \
    do {                                                                                           \
        long long actual_ = (long long)(actual), expected_ = (long long)(expected);                \
        if (actual_ != expected_) {                                                                \
            fprintf(stderr, "%s is %lld, not %lld\n", #actual, actual_, expected_);                \
            test_fail(__FILE__, __LINE__, #actual " == " #expected);                               \
        }                                                                                          \
    } while (0)

#define TEST_SKIPPED 77

/* Whether this run is to use hugepages. */
extern bool test_huge;

_Noreturn void test_fail(const char *file, int line, const char *what);
/* Ends the process as skipped. */
_Noreturn void test_skip(const char *why);
void test_start_eal(void);
/* A network namespace of this process's own with a veth pair hxbt0, hxbt1, MTU 9,000; before EAL. */
void test_make_veth(void);

/* Strides in bytes: as nodes have it, and of short frames. */
enum { STRIDE_JUMBO = 81 * HXB_STRIDE_UNIT, STRIDE_SMALL = 2048 };

/* A region with a pool of `count` buffers. */
struct test_pool {
    struct hxb_region region;
    struct hxb_pool *pool;
    uint32_t stride;
    uint32_t count;
};
void test_make_pool(struct test_pool *p, const char *name, uint32_t stride, uint32_t count,
                    uint32_t cache);
/* Checks that every buffer is home. */
void test_free_pool(struct test_pool *p);
uint8_t *test_frame(const struct test_pool *p, uint64_t desc);
static inline uint64_t test_desc(uint32_t id, uint32_t length)
{
    return id | (uint64_t)length << HXB_DESC_LENGTH_SHIFT;
}
/* Allocates n buffers and writes their descriptors; every payload byte tells its buffer. */
void test_fill(const struct test_pool *p, uint64_t *descs, int n, uint32_t length);
void test_release(const struct test_pool *p, const uint64_t *descs, int n);
int64_t test_now_ns(void);

/* ---- Lines of shared memory: test_line.c ---- */

/* A started end with one queue. */
int test_attach_line(struct test_pool *p, const char *device, const char *args);
void test_await_link(int port, bool up);
/* Of a link to a process of ours (peer > 0): one that is dead is told by its status, not by the wait. */
void test_await_link_to(pid_t peer, int port, bool up);
/* A socket for a line's abstract address; and one that has been connected to its server. */
int test_line_socket(const char *prefix, const char *line, struct sockaddr_un *address, socklen_t *bytes);
int test_dial(const char *prefix, const char *line);
/* One message, with up to three descriptors; the peer may have gone. */
void test_send_with(int channel, const void *m, size_t bytes, const int *fds, int count);
/* Until the other end has closed it. */
void test_await_end(int channel);
int test_open_descriptors(void);
/* A memory file with these seals. */
int test_sealed(uint64_t bytes, int seals);

void test_layout(void);
void test_eal(void);
void test_sweep(void);
void test_affinity(void);
void test_region(void);
void test_wait(void);
void test_pool(void);
void test_pools(void);
void test_alloc_release(void);
void test_references(void);
void test_recycle(void);
void test_crc(void);
void test_seal(void);
void test_ring(void);
void test_ring_port(void);
void test_tx_sealed(void);
void test_wire(void);
void test_wire_drops(void);
void test_null_port(void);
void test_found_port(void);
void test_mtu(void);
void test_refusals(void);
void test_stripped_tag(void);
void test_limits(void);
void test_full_heap(void);
void test_no_eal(void);
void test_line_before_eal(void);
void test_shm_first_line(void);
void test_shm_contended_descriptors(void);
void test_eal_leaves(void);
void test_port_errors(void);
void test_memif(void);
void test_memif_order(void);
void test_memif_close(void);
void test_memif_killed_client(void);
void test_memif_killed_server(void);
void test_memif_arguments(void);
void test_memif_wrap(void);
void test_memif_dpdk(void);
void test_memif_dpdk_returns(void);
void test_memif_hostile_client(void);
void test_memif_hostile_memory(void);
void test_memif_hostile_server(void);
void test_memif_interrupts(void);
void test_memif_no_memory(void);
void test_shm(void);
void test_shm_order(void);
void test_shm_close(void);
void test_shm_killed_client(void);
void test_shm_killed_server(void);
void test_line_gifts(void);
void test_shm_hostile_peer(void);
void test_shm_hostile_server(void);
void test_shm_sizes(void);
void test_shm_bell(void);
void test_shm_no_descriptors(void);
void test_shm_no_memory(void);
void test_shm_sleepers(void);
void test_shm_falling_asleep(void);
void test_afpacket(void);
void test_afpacket_shaped(void);
void test_packet(void);
void test_packet_shaped(void);

#endif
