/* SPDX-License-Identifier: Apache-2.0 */
/* Ports: set-up and tear-down of Ethernet devices, and their burst calls. */
#include <ctype.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include <rte_dev.h>
#include <rte_eal.h>

#include "line.h"

/* What the burst calls must know of a port beyond DPDK's own table. */
static struct {
    /* Queues while started, else 0: a burst on a stopped port would make DPDK log a stack trace. */
    uint16_t live_queues;
    uint16_t queues;
    /* See device_of. */
    struct rte_device *device;
    struct hxb_refusals refusals[HXB_QUEUES_MAX];
    struct hxb_seats seats[HXB_QUEUES_MAX];
} ports[HXB_PORTS];

/* Drivers say -1 when they mean "did not work, see the log"; as an errno it would read EPERM. */
static int driver_error(int rc)
{
    return rc == -1 ? -EIO : rc;
}

static int check_port(int port)
{
    return port >= 0 && port < RTE_MAX_ETHPORTS && rte_eth_dev_is_valid_port((uint16_t)port)
               ? 0
               : -ENODEV;
}

bool hxb_port_number_free(void)
{
    for (uint16_t port = 0; port < RTE_MAX_ETHPORTS; port++) {
        if (!rte_eth_dev_is_valid_port(port)) {
            return true;
        }
    }
    return false;
}

/*
 * What the port is made on. Remembered: one that is gone says nothing of itself when its port is closed. Not every
 * port is attached here: EAL itself looks for PCI devices when it starts.
 */
static struct rte_device *device_of(int port)
{
    struct rte_eth_dev_info info;

    if (ports[port].device == NULL && check_port(port) == 0 &&
        rte_eth_dev_info_get((uint16_t)port, &info) == 0) {
        ports[port].device = info.device;
    }
    return ports[port].device;
}

void hxb_port_reset(int port)
{
    memset(&ports[port], 0, sizeof(ports[port]));
    device_of(port);
}

static void await_empty(const atomic_int *seat)
{
    while (atomic_load(seat) != 0) {
        sched_yield();
    }
}

void hxb_await_bursts(void)
{
    for (int port = HXB_LINE_FIRST; port < HXB_PORTS; port++) {
        for (int q = 0; q < HXB_QUEUES_MAX; q++) {
            await_empty(&ports[port].seats[q].rx);
            await_empty(&ports[port].seats[q].tx);
        }
    }
}

/* As EAL writes it: domain, bus, device, function. */
static bool is_pci_address(const char *name)
{
    static const char like[] = "xxxx:xx:xx.x";

    for (size_t i = 0; i < sizeof(like); i++) {
        if (like[i] == 'x' ? !isxdigit((unsigned char)name[i]) : name[i] != like[i]) {
            return false;
        }
    }
    return true;
}

HXB_API int hxb_port_attach(const char *name, const char *args)
{
    uint16_t port;

    if (name == NULL || args == NULL) {
        return -EINVAL;
    }
    if (!hxb_eal_runs()) {
        return -ENODEV;
    }
    if (hxb_names_line(name)) {
        return driver_error(hxb_line_attach(name, args));
    }
    if (!hxb_port_number_free()) {
        return -ENOSPC;
    }
    const char *bus = is_pci_address(name) ? "pci" : "vdev";
    int rc = rte_eal_hotplug_add(bus, name, args);
    if (rc < 0) {
        return driver_error(rc);
    }
    rc = rte_eth_dev_get_port_by_name(name, &port);
    if (rc < 0) {
        /* A device that has no Ethernet port. */
        rte_eal_hotplug_remove(bus, name);
        return rc;
    }
    hxb_port_reset(port);
    return port;
}

/* A device fits a number of descriptors to its limits. More than were asked for would take buffers that nobody
 * has counted. */
static int fit_descriptors(uint16_t port, const struct hxb_port_config *config,
                           const struct rte_eth_dev_info *info, uint16_t *rx, uint16_t *tx)
{
    *rx = config->rx_desc != 0 ? config->rx_desc : info->default_rxportconf.ring_size;
    *tx = config->tx_desc != 0 ? config->tx_desc : info->default_txportconf.ring_size;
    if (hxb_is_virtual(info->device)) {
        return 0; /* their limits are often none, and theirs is what they are given */
    }
    int rc = rte_eth_dev_adjust_nb_rx_tx_desc(port, rx, tx);
    if (rc < 0) {
        return driver_error(rc);
    }
    return (config->rx_desc != 0 && *rx > config->rx_desc) ||
                   (config->tx_desc != 0 && *tx > config->tx_desc)
               ? -ERANGE
               : 0;
}

static int setup_queues(uint16_t port, const struct hxb_port_config *config,
                        const struct rte_eth_dev_info *info, struct hxb_pool *const *pools)
{
    int socket = rte_eth_dev_socket_id(port);
    uint16_t rx_desc, tx_desc;
    int fits = fit_descriptors(port, config, info, &rx_desc, &tx_desc);

    if (fits < 0) {
        return fits;
    }
    for (uint16_t q = 0; q < config->queues; q++) {
        int rc = hxb_dma_map(port, q, info->device, pools[q]);
        if (rc == 0) {
            rc = rte_eth_rx_queue_setup(port, q, rx_desc, (unsigned int)socket, NULL,
                                        pools[q]->mempool);
        }
        if (rc == 0) {
            rc = rte_eth_tx_queue_setup(port, q, tx_desc, (unsigned int)socket, NULL);
        }
        if (rc < 0) {
            return driver_error(rc);
        }
    }
    return 0;
}

/* Some drivers say what they carry by the frame alone. */
static uint32_t largest_mtu(const struct rte_eth_dev_info *info)
{
    return info->max_mtu != UINT16_MAX ? info->max_mtu
                                       : info->max_rx_pktlen - RTE_ETHER_HDR_LEN - RTE_ETHER_CRC_LEN;
}

/* Some drivers take the MTU when they are configured, some by this call alone, and some carry any. */
static int set_mtu(uint16_t port, uint16_t mtu)
{
    int rc = rte_eth_dev_set_mtu(port, mtu);

    return rc == -ENOTSUP ? 0 : driver_error(rc);
}

HXB_API int hxb_port_configure(int port, const struct hxb_port_config *config,
                               struct hxb_pool *const *pools)
{
    struct rte_eth_dev_info info;
    struct rte_eth_conf conf;

    if (!hxb_is_line(port) && check_port(port) < 0) {
        return -ENODEV;
    }
    if (config == NULL || pools == NULL || config->queues == 0 ||
        config->queues > HXB_QUEUES_MAX) {
        return -EINVAL;
    }
    for (uint16_t q = 0; q < config->queues; q++) {
        if (pools[q] == NULL) {
            return -EINVAL;
        }
    }
    if (hxb_is_line(port)) {
        return hxb_line_configure(port, config, pools);
    }
    int rc = rte_eth_dev_info_get((uint16_t)port, &info);
    if (rc < 0) {
        return rc;
    }
    ports[port].device = info.device;
    if (config->mtu != 0 && (config->mtu < info.min_mtu || config->mtu > largest_mtu(&info))) {
        return -ERANGE;
    }
    memset(&conf, 0, sizeof(conf));
    conf.rxmode.mtu = config->mtu;
    rc = rte_eth_dev_configure((uint16_t)port, config->queues, config->queues, &conf);
    if (rc == 0 && config->mtu != 0) {
        rc = set_mtu((uint16_t)port, config->mtu);
    }
    if (rc == 0) {
        rc = setup_queues((uint16_t)port, config, &info, pools);
    }
    if (rc < 0) {
        return rc;
    }
    ports[port].queues = config->queues;
    return 0;
}

HXB_API int hxb_port_start(int port)
{
    if (hxb_is_line(port)) {
        return hxb_line_start(port);
    }
    if (check_port(port) < 0) {
        return -ENODEV;
    }
    if (ports[port].queues == 0) {
        return -EINVAL;
    }
    int rc = rte_eth_dev_start((uint16_t)port);
    if (rc < 0) {
        return driver_error(rc);
    }
    ports[port].live_queues = ports[port].queues;
    return 0;
}

HXB_API int hxb_port_stop(int port)
{
    if (hxb_is_line(port)) {
        return hxb_line_stop(port);
    }
    if (check_port(port) < 0) {
        return -ENODEV;
    }
    ports[port].live_queues = 0;
    return driver_error(rte_eth_dev_stop((uint16_t)port));
}

HXB_API int hxb_port_close(int port)
{
    if (hxb_is_line(port)) {
        return hxb_line_close(port);
    }
    if (check_port(port) < 0) {
        return -ENODEV;
    }
    struct rte_device *device = device_of(port);
    ports[port].live_queues = 0;
    ports[port].queues = 0;
    ports[port].device = NULL;
    rte_eth_dev_stop((uint16_t)port);
    int rc = rte_eth_dev_close((uint16_t)port);
    for (int q = 0; q < HXB_QUEUES_MAX; q++) {
        hxb_dma_unmap(port, q, device);
    }
    int removed = device != NULL ? rte_dev_remove(device) : 0;
    return rc < 0 ? rc : removed;
}

HXB_API int64_t hxb_port_mac(int port)
{
    struct rte_ether_addr address;
    int64_t mac = 0;

    if (hxb_is_line(port)) {
        return hxb_line_mac(port);
    }
    if (check_port(port) < 0) {
        return -ENODEV;
    }
    int rc = rte_eth_macaddr_get((uint16_t)port, &address);
    if (rc < 0) {
        return rc;
    }
    for (int i = 0; i < RTE_ETHER_ADDR_LEN; i++) {
        mac = mac << 8 | address.addr_bytes[i];
    }
    return mac;
}

HXB_API int hxb_port_link(int port)
{
    struct rte_eth_link link;

    if (hxb_is_line(port)) {
        return hxb_line_link(port);
    }
    if (check_port(port) < 0) {
        return -ENODEV;
    }
    memset(&link, 0, sizeof(link));
    int rc = rte_eth_link_get_nowait((uint16_t)port, &link);
    if (rc < 0) {
        return rc;
    }
    if (link.link_status == RTE_ETH_LINK_DOWN) {
        return 0;
    }
    return link.link_speed == RTE_ETH_SPEED_NUM_NONE ||
                   link.link_speed == (uint32_t)RTE_ETH_SPEED_NUM_UNKNOWN
               ? 1
               : (int)link.link_speed;
}

HXB_API int hxb_port_info(int port, struct hxb_port_info *out)
{
    struct rte_eth_dev_info info;

    if (hxb_is_line(port)) {
        return hxb_line_info(port, out);
    }
    if (check_port(port) < 0) {
        return -ENODEV;
    }
    if (out == NULL) {
        return -EINVAL;
    }
    int rc = rte_eth_dev_info_get((uint16_t)port, &info);
    if (rc < 0) {
        return rc;
    }
    memset(out, 0, sizeof(*out));
    out->if_index = info.if_index;
    out->max_rx_packet = info.max_rx_pktlen;
    rte_eth_dev_get_mtu((uint16_t)port, &out->mtu);
    out->max_queues = RTE_MIN(info.max_rx_queues, info.max_tx_queues);
    out->queues = ports[port].queues;
    out->socket = rte_eth_dev_socket_id((uint16_t)port);
    snprintf(out->driver, sizeof(out->driver), "%s",
             info.driver_name != NULL ? info.driver_name : "");
    char name[RTE_ETH_NAME_MAX_LEN];
    if (rte_eth_dev_get_name_by_port((uint16_t)port, name) == 0) {
        snprintf(out->device, sizeof(out->device), "%s", name);
    }
    return 0;
}

HXB_API int hxb_port_stats(int port, struct hxb_port_stats *out)
{
    struct rte_eth_stats stats;

    if (hxb_is_line(port)) {
        return hxb_line_stats(port, out);
    }
    if (check_port(port) < 0) {
        return -ENODEV;
    }
    if (out == NULL) {
        return -EINVAL;
    }
    int rc = rte_eth_stats_get((uint16_t)port, &stats);
    if (rc < 0) {
        return rc;
    }
    memset(out, 0, sizeof(*out));
    out->rx_packets = stats.ipackets;
    out->tx_packets = stats.opackets;
    out->rx_bytes = stats.ibytes;
    out->tx_bytes = stats.obytes;
    out->rx_missed = stats.imissed;
    out->rx_errors = stats.ierrors;
    out->rx_no_mbuf = stats.rx_nombuf;
    out->tx_errors = stats.oerrors;
    for (int q = 0; q < HXB_QUEUES_MAX; q++) {
        const struct hxb_refusals *r = &ports[port].refusals[q];
        out->rx_refused_segments += r->segments;
        out->rx_refused_foreign += r->foreign;
        out->rx_refused_offset += r->offset;
        out->rx_refused_length += r->length;
        out->tx_refused += r->tx;
    }
    return 0;
}

/* 0, or why a burst on this (port, queue) cannot be. */
static inline int check_burst(int port, int queue)
{
    if (unlikely((unsigned int)port >= RTE_MAX_ETHPORTS)) {
        return -ENODEV;
    }
    if (unlikely((unsigned int)queue >= ports[port].live_queues)) {
        return ports[port].live_queues == 0 ? -ENETDOWN : -EINVAL;
    }
    return 0;
}

/* addresses: NULL, or n words for where the frames begin. */
static __rte_always_inline int rx_burst(int port, int queue, struct hxb_pool *pool, uint64_t *descs,
                                        uint64_t *addresses, int n)
{
    struct rte_mbuf *frames[HXB_BURST_MAX];
    int rc = check_burst(port, queue);

    if (unlikely(rc < 0 || n <= 0)) {
        return rc;
    }
    int got = rte_eth_rx_burst((uint16_t)port, (uint16_t)queue, frames,
                               (uint16_t)RTE_MIN(n, HXB_BURST_MAX));
    return got == 0 ? 0 : hxb_accept(pool, frames, got, descs, addresses, &ports[port].refusals[queue]);
}

static int tx_burst(int port, int queue, struct hxb_pool *pool, const uint64_t *descs, int n)
{
    struct rte_mbuf *frames[HXB_BURST_MAX];
    int rc = check_burst(port, queue);

    if (unlikely(rc < 0 || n <= 0)) {
        return rc;
    }
    int ready = hxb_prepare(pool, descs, RTE_MIN(n, HXB_BURST_MAX), frames,
                            &ports[port].refusals[queue]);
    if (unlikely(ready <= 0)) {
        return ready;
    }
    int sent = rte_eth_tx_burst((uint16_t)port, (uint16_t)queue, frames, (uint16_t)ready);
    if (unlikely(sent < ready)) {
        hxb_take_back(descs, frames, sent, ready);
    }
    return sent;
}

/* Behind the gate, which is closed while lines change. */
static int line_rx_burst(int port, int queue, struct hxb_pool *pool, uint64_t *descs,
                         uint64_t *addresses, int n)
{
    hxb_line_rx *burst = hxb_ways_at(port)->rx_burst;

    if (unlikely(burst == NULL || (unsigned int)queue >= HXB_QUEUES_MAX)) {
        return burst == NULL ? -ENODEV : -EINVAL;
    }
    atomic_int *seat = &ports[port].seats[queue].rx;
    if (unlikely(!hxb_gate_enter(seat))) {
        pool->bells[1]++;
        return 0;
    }
    int got = burst(port, queue, pool, descs, addresses, n);
    hxb_gate_leave(seat);
    return got;
}

static int line_tx_burst(int port, int queue, struct hxb_pool *pool, const uint64_t *descs, int n)
{
    hxb_line_tx *burst = hxb_ways_at(port)->tx_burst;

    if (unlikely(burst == NULL || (unsigned int)queue >= HXB_QUEUES_MAX)) {
        return burst == NULL ? -ENODEV : -EINVAL;
    }
    atomic_int *seat = &ports[port].seats[queue].tx;
    if (unlikely(!hxb_gate_enter(seat))) {
        return 0;
    }
    int sent = burst(port, queue, pool, descs, n);
    hxb_gate_leave(seat);
    return sent;
}

static __rte_always_inline int any_rx_burst(int port, int queue, struct hxb_pool *pool, uint64_t *descs,
                                            uint64_t *addresses, int n)
{
    return likely(!hxb_is_line(port)) ? rx_burst(port, queue, pool, descs, addresses, n)
                                      : line_rx_burst(port, queue, pool, descs, addresses, n);
}

HXB_API int hxb_rx_burst(int port, int queue, struct hxb_pool *pool, uint64_t *descs, int n)
{
    return any_rx_burst(port, queue, pool, descs, NULL, n);
}

HXB_API int hxb_tx_burst(int port, int queue, struct hxb_pool *pool, const uint64_t *descs, int n)
{
    return likely(!hxb_is_line(port)) ? tx_burst(port, queue, pool, descs, n)
                                      : line_tx_burst(port, queue, pool, descs, n);
}

/* ---- Bells ----------------------------------------------------------------------------------------- */

HXB_API int hxb_port_wake_fd(int port)
{
    return hxb_is_line(port) ? hxb_line_wake_fd(port) : check_port(port) < 0 ? -ENODEV : -ENOTSUP;
}

/* The receiver's seat at a line with a bell, entered; NULL: there is none. */
static atomic_int *enter_line(int port)
{
    if (!hxb_is_line(port)) {
        return NULL;
    }
    atomic_int *seat = &ports[port].seats[0].rx;
    hxb_gate_await(seat);
    if (hxb_ways_at(port)->bell >= 0) {
        return seat;
    }
    hxb_gate_leave(seat);
    return NULL;
}

HXB_API int hxb_port_sleep(int port)
{
    atomic_int *seat = enter_line(port);

    if (seat == NULL) {
        return -ENODEV;
    }
    int rc = hxb_shm_sleep(port);
    hxb_gate_leave(seat);
    return rc;
}

HXB_API int hxb_port_wake(int port, int rung)
{
    atomic_int *seat = enter_line(port);

    if (seat == NULL) {
        return -ENODEV;
    }
    hxb_shm_wake(port, rung != 0);
    hxb_gate_leave(seat);
    return 0;
}

HXB_API int hxb_port_rouse(int port)
{
    atomic_int *seat = enter_line(port);

    if (seat == NULL) {
        return -ENODEV;
    }
    hxb_shm_rouse(port);
    hxb_gate_leave(seat);
    return 0;
}

/* A peer that is kicked keeps its thread waiting at most, not whoever changes lines. */
static int ring_bell(int port)
{
    const struct hxb_ways *ways = hxb_ways_at(port);
    atomic_int *seat = &ports[port].seats[0].tx;
    int rung = 0, kick = -1;

    hxb_gate_await(seat);
    if (ways->bell >= 0) {
        rung = hxb_shm_ring(port);
    } else if (ways->kick >= 0) {
        kick = fcntl(ways->kick, F_DUPFD_CLOEXEC, 0);
    }
    hxb_gate_leave(seat);
    if (kick >= 0) {
        rung = hxb_memif_kick(kick);
        close(kick);
    }
    return rung;
}

HXB_API int hxb_ring_bells(struct hxb_pool *pool)
{
    int rung = 0;

    for (; pool->bells[0] != 0; pool->bells[0] &= pool->bells[0] - 1) {
        rung += ring_bell(HXB_LINE_FIRST + __builtin_ctzll(pool->bells[0]));
    }
    return rung;
}

/* One queue's burst; moves b[3] frames, which it returns. */
static __rte_always_inline int rx_into(struct hxb_pool *pool, uint64_t *b)
{
    uint64_t *descs = (uint64_t *)(uintptr_t)b[1];
    int most = (int32_t)b[2];
    uint64_t *addresses = descs + RTE_MAX(most, 0);
    struct hxb_packet *socket = hxb_socket_named(b[0]);
    int moved = likely(socket == NULL)
                    ? any_rx_burst((int32_t)b[0], (int32_t)(b[0] >> 32), pool, descs, addresses, most)
                    : hxb_packet_receive(socket, descs, addresses, most);

    b[3] = (uint64_t)(int64_t)moved;
    return moved;
}

/* Says of the only frame whether what every frame of its kind has in common holds. */
static __rte_always_inline void judge_only(const uint64_t *b, const uint64_t *only)
{
    uint64_t *desc = (uint64_t *)(uintptr_t)b[1];
    const uint8_t *frame = (const uint8_t *)(uintptr_t)desc[(int32_t)b[2]];

    if (only != NULL && likely(hxb_only_holds(only, frame, (uint32_t)(*desc >> HXB_DESC_LENGTH_SHIFT)))) {
        *desc |= HXB_DESC_INTACT;
    }
}

HXB_API int hxb_rx_bursts(struct hxb_pool *pool, uint64_t *bursts, int count, const uint64_t *only)
{
    uint64_t *some = NULL;
    int all = 0;

    /* A node of one rail spends nothing on a loop. */
    if (count == 1) {
        all = RTE_MAX(rx_into(pool, bursts), 0);
        if (all == 1) {
            judge_only(bursts, only);
        }
        return all;
    }
    for (uint64_t *b = bursts; b != bursts + (size_t)count * HXB_QUEUE_BURST_WORDS;
         b += HXB_QUEUE_BURST_WORDS) {
        int moved = rx_into(pool, b);
        if (moved > 0) {
            all += moved;
            some = b;
        }
    }
    if (all == 1) {
        judge_only(some, only);
    }
    return all;
}

static __rte_always_inline int tx_from(struct hxb_pool *pool, uint64_t queue, const uint64_t *descs, int n)
{
    struct hxb_packet *socket = hxb_socket_named(queue);

    return likely(socket == NULL) ? hxb_tx_burst((int32_t)queue, (int32_t)(queue >> 32), pool, descs, n)
                                  : hxb_packet_tx_burst(socket, descs, n);
}

HXB_API int hxb_tx_bursts(struct hxb_pool *pool, uint64_t *bursts, int count)
{
    int all = 0;

    for (uint64_t *b = bursts; b != bursts + (size_t)count * HXB_QUEUE_BURST_WORDS;
         b += HXB_QUEUE_BURST_WORDS) {
        int moved = tx_from(pool, b[0], (const uint64_t *)(uintptr_t)b[1], (int32_t)b[2]);
        b[3] = (uint64_t)(int64_t)moved;
        all += RTE_MAX(moved, 0);
    }
    return all;
}

HXB_API int hxb_tx_sealed(struct hxb_pool *pool, uint64_t queue, const uint64_t *descs, int n,
                          uint64_t sealing)
{
    if (sealing != 0 && unlikely(hxb_seal(pool, descs, n, (uint16_t)sealing, 0,
                                          (uint16_t)(sealing >> 16)) < 0)) {
        return -EINVAL;
    }
    return tx_from(pool, queue, descs, n);
}
