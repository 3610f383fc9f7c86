/* SPDX-License-Identifier: Apache-2.0 */
/* Rings of mbufs: both ends of the in-process fabric, whose wire is in wire.c. */
#include <string.h>

#include <rte_eth_ring.h>

#include "internal.h"

_Static_assert(HXB_RING_NAME_MAX < RTE_RING_NAMESIZE, "ring names fit");

/* A DPDK ring is used as it is; the opaque type only keeps callers from mixing handles. */
static inline struct rte_ring *ring_of(const struct hxb_ring *ring)
{
    return (struct rte_ring *)(uintptr_t)ring;
}

HXB_API int hxb_ring_create(const char *name, int capacity, int flags, struct hxb_ring **out)
{
    if (name == NULL || out == NULL || capacity < 1 || capacity > (1 << 20) ||
        (flags & ~(HXB_RING_SP | HXB_RING_SC)) != 0) {
        return -EINVAL;
    }
    if (strlen(name) > HXB_RING_NAME_MAX) {
        return -ENAMETOOLONG;
    }
    if (!hxb_eal_runs()) {
        return -ENODEV;
    }
    unsigned int ring_flags = RING_F_EXACT_SZ;
    ring_flags |= (flags & HXB_RING_SP) != 0 ? RING_F_SP_ENQ : 0;
    ring_flags |= (flags & HXB_RING_SC) != 0 ? RING_F_SC_DEQ : 0;
    struct rte_ring *ring =
        rte_ring_create(name, (unsigned int)capacity, SOCKET_ID_ANY, ring_flags);
    if (ring == NULL) {
        return hxb_rte_error(ENOMEM);
    }
    *out = (struct hxb_ring *)ring;
    return 0;
}

HXB_API int hxb_ring_free(struct hxb_ring *ring)
{
    struct rte_mbuf *left[HXB_BURST_MAX];
    unsigned int n;

    if (ring == NULL) {
        return -EINVAL;
    }
    while ((n = rte_ring_dequeue_burst(ring_of(ring), (void **)left, HXB_BURST_MAX, NULL)) > 0) {
        rte_pktmbuf_free_bulk(left, n);
    }
    rte_ring_free(ring_of(ring));
    return 0;
}

HXB_API int hxb_ring_port(const char *name, struct hxb_ring *const *rx, struct hxb_ring *const *tx,
                          int n)
{
    struct rte_ring *receive[HXB_QUEUES_MAX], *send[HXB_QUEUES_MAX];

    if (name == NULL || rx == NULL || tx == NULL || n < 1 || n > HXB_QUEUES_MAX) {
        return -EINVAL;
    }
    /* net_ring prefixes the name with "net_ring_" and cuts it at 31 characters without a word. */
    if (strlen(name) > HXB_RING_PORT_NAME_MAX) {
        return -ENAMETOOLONG;
    }
    if (!hxb_port_number_free()) {
        return -ENOSPC;
    }
    for (int i = 0; i < n; i++) {
        if (rx[i] == NULL || tx[i] == NULL) {
            return -EINVAL;
        }
        receive[i] = ring_of(rx[i]);
        send[i] = ring_of(tx[i]);
    }
    int port = rte_eth_from_rings(name, receive, (unsigned int)n, send, (unsigned int)n, 0);
    if (port < 0) {
        return hxb_rte_error(EINVAL);
    }
    /* net_ring answers "no port" with this number rather than with an error. */
    if (port >= RTE_MAX_ETHPORTS) {
        return -ENODEV;
    }
    hxb_port_reset(port);
    return port;
}

HXB_API int hxb_ring_dequeue(struct hxb_ring *ring, struct hxb_pool *pool, uint64_t *descs, int n)
{
    struct rte_mbuf *frames[HXB_BURST_MAX];

    if (unlikely(n <= 0)) {
        return 0;
    }
    unsigned int got = rte_ring_dequeue_burst(ring_of(ring), (void **)frames,
                                              (unsigned int)RTE_MIN(n, HXB_BURST_MAX), NULL);
    return got == 0 ? 0 : hxb_accept(pool, frames, (int)got, descs, NULL, &pool->rings);
}

HXB_API int hxb_ring_enqueue(struct hxb_ring *ring, struct hxb_pool *pool, const uint64_t *descs,
                             int n)
{
    struct rte_mbuf *frames[HXB_BURST_MAX];

    if (unlikely(n <= 0)) {
        return 0;
    }
    int ready = hxb_prepare(pool, descs, RTE_MIN(n, HXB_BURST_MAX), frames, &pool->rings);
    if (unlikely(ready <= 0)) {
        return ready;
    }
    int put =
        (int)rte_ring_enqueue_burst(ring_of(ring), (void **)frames, (unsigned int)ready, NULL);
    if (unlikely(put < ready)) {
        hxb_take_back(descs, frames, put, ready);
    }
    return put;
}

HXB_API int hxb_ring_count(const struct hxb_ring *ring)
{
    return (int)rte_ring_count(ring_of(ring));
}

HXB_API int hxb_ring_free_count(const struct hxb_ring *ring)
{
    return (int)rte_ring_free_count(ring_of(ring));
}
