/* SPDX-License-Identifier: Apache-2.0 */
/* Rings and ports: the descriptor contract, partial bursts, refusals, errors. */
#include <errno.h>
#include <string.h>

#include <rte_mbuf.h>
#include <rte_ring.h>

#include "test.h"

void test_ring(void)
{
    struct test_pool p;
    struct hxb_ring *ring, *other;
    uint64_t descs[20], out[20];

    test_start_eal();
    test_make_pool(&p, "p", STRIDE_SMALL, 31, 0);
    CHECK_EQ(hxb_ring_create("r", 10, HXB_RING_SP | HXB_RING_SC, &ring), 0);
    CHECK_EQ(hxb_ring_create("r", 10, 0, &other), -EEXIST);
    CHECK_EQ(hxb_ring_create("s", 0, 0, &other), -EINVAL);
    CHECK_EQ(hxb_ring_create("s", 4, 8, &other), -EINVAL);
    CHECK_EQ(hxb_ring_create("a-name-that-is-longer-than-28", 4, 0, &other), -ENAMETOOLONG);
    CHECK_EQ(hxb_ring_free_count(ring), 10);

    /* Ten fit exactly; the caller keeps the rest. */
    test_fill(&p, descs, 14, 100);
    CHECK_EQ(hxb_ring_enqueue(ring, p.pool, descs, 14), 10);
    CHECK_EQ(hxb_ring_count(ring), 10);
    CHECK_EQ(hxb_ring_free_count(ring), 0);
    CHECK_EQ(hxb_ring_enqueue(ring, p.pool, descs + 10, 4), 0);
    test_release(&p, descs + 10, 4);
    CHECK_EQ(hxb_ring_dequeue(ring, p.pool, out, 20), 10);
    CHECK_EQ(memcmp(descs, out, 10 * sizeof(descs[0])), 0);
    CHECK_EQ(hxb_ring_dequeue(ring, p.pool, out, 20), 0);
    test_release(&p, out, 10);

    CHECK_EQ(hxb_pool_ring_refusals(p.pool), 0);
    const uint64_t none = test_desc(32, 100);
    CHECK_EQ(hxb_ring_enqueue(ring, p.pool, &none, 1), -EINVAL);
    CHECK_EQ(hxb_pool_ring_refusals(p.pool), 1);

    /* Frames left in a ring come home with it. */
    test_fill(&p, descs, 3, 100);
    CHECK_EQ(hxb_ring_enqueue(ring, p.pool, descs, 3), 3);
    CHECK_EQ(hxb_ring_free(ring), 0);
    CHECK_EQ(hxb_ring_free(NULL), -EINVAL);
    test_free_pool(&p);
}

struct ring_port {
    struct hxb_ring *rx[HXB_QUEUES_MAX];
    struct hxb_ring *tx[HXB_QUEUES_MAX];
    int port;
    int queues;
};

static void make_ring_port(struct ring_port *r, const char *name, struct hxb_pool *pool, int queues,
                           int capacity)
{
    struct hxb_port_config config = {.queues = (uint16_t)queues};
    struct hxb_pool *pools[HXB_QUEUES_MAX];
    char ring_name[24];

    for (int q = 0; q < queues; q++) {
        pools[q] = pool;
        snprintf(ring_name, sizeof(ring_name), "%s-rx%d", name, q);
        CHECK_EQ(hxb_ring_create(ring_name, capacity, HXB_RING_SP | HXB_RING_SC, &r->rx[q]), 0);
        snprintf(ring_name, sizeof(ring_name), "%s-tx%d", name, q);
        CHECK_EQ(hxb_ring_create(ring_name, capacity, HXB_RING_SP | HXB_RING_SC, &r->tx[q]), 0);
    }
    r->queues = queues;
    r->port = hxb_ring_port(name, r->rx, r->tx, queues);
    CHECK(r->port >= 0);
    CHECK_EQ(hxb_port_configure(r->port, &config, pools), 0);
    CHECK_EQ(hxb_port_start(r->port), 0);
}

static void free_ring_port(struct ring_port *r)
{
    CHECK_EQ(hxb_port_close(r->port), 0);
    for (int q = 0; q < r->queues; q++) {
        CHECK_EQ(hxb_ring_free(r->rx[q]), 0);
        CHECK_EQ(hxb_ring_free(r->tx[q]), 0);
    }
}

/*
 * What the last of queues 0 and 1, so many, bring of n frames of 90 bytes with their CRC at byte 24:
 * all flags.
 */
static uint64_t receive_from(struct test_pool *p, struct ring_port *r, int queues, int n, int damaged,
                             uint64_t only0, uint64_t only1)
{
    uint64_t sent[2], got[2][4], only[HXB_ONLY_WORDS] = {only0, only1};
    uint64_t bursts[2 * HXB_QUEUE_BURST_WORDS], all = 0;
    int first = 2 - n;

    test_fill(p, sent, n, 90);
    for (int i = 0; i < n; i++) {
        memcpy(test_frame(p, sent[i]) + 32, "node", 4);
        sent[i] |= HXB_DESC_SEAL;
    }
    CHECK_EQ(hxb_seal(p->pool, sent, n, 28, 0, 24), n);
    test_frame(p, sent[0])[89] ^= (uint8_t)damaged;
    for (int i = 0; i < n; i++) {
        CHECK_EQ(hxb_ring_enqueue(r->rx[first + i], p->pool, &sent[i], 1), 1);
    }
    for (int q = 0; q < 2; q++) {
        uint64_t *b = &bursts[q * HXB_QUEUE_BURST_WORDS];
        b[0] = (uint64_t)r->port | (uint64_t)q << 32;
        b[1] = (uint64_t)(uintptr_t)got[q];
        b[2] = 2;
    }
    /* Of one queue alone by another way. */
    CHECK_EQ(hxb_rx_bursts(p->pool, &bursts[(2 - queues) * HXB_QUEUE_BURST_WORDS], queues, only), n);
    for (int i = 0; i < n; i++) {
        uint64_t *of = got[first + i];
        CHECK_EQ(of[0] & HXB_DESC_ID_MASK, sent[i] & HXB_DESC_ID_MASK);
        CHECK_EQ(of[2], (uint64_t)(uintptr_t)test_frame(p, of[0]));
        all |= of[0];
        test_release(p, of, 1);
    }
    return all;
}

/* The same of both queues and, where one has all of it, of that one: the flags are the same. */
static uint64_t receive_sealed(struct test_pool *p, struct ring_port *r, int n, int damaged,
                               uint64_t only0, uint64_t only1)
{
    uint64_t flags = receive_from(p, r, 2, n, damaged, only0, only1) & HXB_DESC_INTACT;

    if (n == 1) {
        CHECK_EQ(receive_from(p, r, 1, n, damaged, only0, only1) & HXB_DESC_INTACT, flags);
    }
    return flags;
}

/* Sealed and sent in one call: one frame, several, and none beyond a descriptor that is out of range. */
void test_tx_sealed(void)
{
    enum { FROM = 28, AT = 24, N = 6 };
    const uint64_t sealing = FROM | (uint64_t)AT << 16;
    struct test_pool p;
    struct ring_port r;
    uint64_t sent[N], got[N], at[N];

    test_start_eal();
    test_make_pool(&p, "sealed", STRIDE_JUMBO, 64, 0);
    make_ring_port(&r, "net_sealed", p.pool, 2, 32);
    for (int n = 1; n <= N; n++) {
        for (int asked = 0; asked < 2; asked++) {
            test_fill(&p, sent, n, 90);
            for (int i = 0; i < n; i++) {
                memset(test_frame(&p, sent[i]) + AT, 0xA5, 4);
                sent[i] |= HXB_DESC_SEAL;
            }
            /* The queue is named by the upper half. */
            CHECK_EQ(hxb_tx_sealed(p.pool, (uint64_t)r.port | UINT64_C(1) << 32, sent, n, asked ? sealing : 0), n);
            CHECK_EQ(hxb_ring_dequeue(r.tx[1], p.pool, got, N), n);
            for (int i = 0; i < n; i++) {
                at[i] = (uint64_t)(uintptr_t)test_frame(&p, got[i]);
            }
            CHECK_EQ(hxb_crc32c_holds(p.pool, got, at, n, FROM, AT), asked ? n : 0);
            test_release(&p, got, n);
        }
    }
    /* Nothing is sent when one cannot be sealed: no frame, too short, a CRC in what it covers. */
    test_fill(&p, sent, 3, 90);
    uint64_t bad[] = {sent[0] | HXB_DESC_SEAL, test_desc(0, 90) | HXB_DESC_SEAL, sent[1]};
    CHECK_EQ(hxb_tx_sealed(p.pool, (uint64_t)r.port, bad, 3, sealing), -EINVAL);
    CHECK_EQ(hxb_tx_sealed(p.pool, (uint64_t)r.port, &bad[1], 2, sealing), -EINVAL);
    bad[1] = test_desc((uint32_t)(sent[2] & HXB_DESC_ID_MASK), FROM - 1) | HXB_DESC_SEAL;
    CHECK_EQ(hxb_tx_sealed(p.pool, (uint64_t)r.port, &bad[1], 1, sealing), -EINVAL);
    CHECK_EQ(hxb_tx_sealed(p.pool, (uint64_t)r.port, &sent[1], 1, FROM | (uint64_t)(FROM - 3) << 16), -EINVAL);
    CHECK_EQ(hxb_tx_sealed(p.pool, (uint64_t)r.port, sent, 0, sealing), 0);
    CHECK_EQ(hxb_tx_sealed(p.pool, UINT32_MAX, &sent[1], 1, 0), -ENODEV);
    CHECK_EQ(hxb_ring_dequeue(r.tx[0], p.pool, got, N), 0);
    test_release(&p, sent, 3);
    free_ring_port(&r);
    test_free_pool(&p);
}

/* A frame that is all that came is marked when it is for whom it has to be, short, and intact. Frames received. */
static int check_only(struct test_pool *p, struct ring_port *r)
{
    uint64_t places = 28 | (uint64_t)24 << 16 | (uint64_t)32 << 32;
    uint64_t mask = 0xffff, word;
    uint32_t w;

    memcpy(&w, "node", sizeof(w));
    word = mask | (uint64_t)(w & mask) << 32;

    CHECK_EQ(receive_sealed(p, r, 1, 0, places | (uint64_t)90 << 48, word) & HXB_DESC_INTACT,
             HXB_DESC_INTACT);
    CHECK_EQ(receive_sealed(p, r, 1, 1, places | (uint64_t)90 << 48, word) & HXB_DESC_INTACT, 0);
    CHECK_EQ(receive_sealed(p, r, 1, 0, places | (uint64_t)89 << 48, word) & HXB_DESC_INTACT, 0);
    CHECK_EQ(receive_sealed(p, r, 1, 0, places | (uint64_t)90 << 48, word ^ UINT64_C(1) << 32) &
                 HXB_DESC_INTACT,
             0);
    CHECK_EQ(receive_sealed(p, r, 1, 0, (places & ~(uint64_t)0xffff) | 91 | (uint64_t)95 << 48,
                            word) &
                 HXB_DESC_INTACT,
             0);
    CHECK_EQ(receive_sealed(p, r, 1, 0, 0, 0) & HXB_DESC_INTACT, 0);
    /* A CRC within what it covers, a word where the least buffer has ended. */
    CHECK_EQ(receive_sealed(p, r, 1, 0, 28 | (uint64_t)25 << 16 | (uint64_t)90 << 48, 0) &
                 HXB_DESC_INTACT,
             0);
    CHECK_EQ(receive_sealed(p, r, 1, 0, 28 | (uint64_t)24 << 16 | (uint64_t)124 << 32 |
                                            (uint64_t)90 << 48, 0) & HXB_DESC_INTACT,
             HXB_DESC_INTACT);
    CHECK_EQ(receive_sealed(p, r, 1, 0, 28 | (uint64_t)24 << 16 | (uint64_t)125 << 32 |
                                            (uint64_t)90 << 48, 0) & HXB_DESC_INTACT,
             0);
    CHECK_EQ(receive_sealed(p, r, 2, 0, places | (uint64_t)90 << 48, word) & HXB_DESC_INTACT, 0);
    /* One queue, which is not there. */
    uint64_t room[2], burst[HXB_QUEUE_BURST_WORDS] = {
        (uint64_t)r->port | (uint64_t)HXB_QUEUES_MAX << 32, (uint64_t)(uintptr_t)room, 1};
    CHECK_EQ(hxb_rx_bursts(p->pool, burst, 1, NULL), 0);
    CHECK_EQ(burst[3], (uint64_t)-EINVAL);
    return 2 * 9 + 2;
}

void test_ring_port(void)
{
    struct test_pool p;
    struct ring_port r;
    uint64_t descs[16], out[16];
    struct hxb_port_info info;
    struct hxb_port_stats stats;

    test_start_eal();
    test_make_pool(&p, "p", STRIDE_JUMBO, 63, 0);
    make_ring_port(&r, "port", p.pool, HXB_QUEUES_MAX, 8);
    CHECK_EQ(hxb_port_info(r.port, &info), 0);
    CHECK_EQ(strcmp(info.driver, "net_ring"), 0);
    CHECK_EQ(info.queues, HXB_QUEUES_MAX);
    CHECK(hxb_port_link(r.port) > 0);
    CHECK(hxb_port_mac(r.port) >= 0);

    /* There and back on every queue: the same buffers, the same bytes. */
    for (int q = 0; q < HXB_QUEUES_MAX; q++) {
        test_fill(&p, descs, 4, 9014);
        CHECK_EQ(hxb_tx_burst(r.port, q, p.pool, descs, 4), 4);
        CHECK_EQ(hxb_ring_dequeue(r.tx[q], p.pool, out, 16), 4);
        CHECK_EQ(hxb_ring_enqueue(r.rx[q], p.pool, out, 4), 4);
        CHECK_EQ(hxb_rx_burst(r.port, q, p.pool, out, 16), 4);
        CHECK_EQ(memcmp(descs, out, 4 * sizeof(descs[0])), 0);
        for (int i = 0; i < 4; i++) {
            CHECK_EQ(test_frame(&p, out[i])[9013], out[i] & 0xff);
        }
        test_release(&p, out, 4);
    }

    /* The same of all queues by one call each way; one that is none moves nothing. */
    uint64_t bursts[(HXB_QUEUES_MAX + 1) * HXB_QUEUE_BURST_WORDS];
    uint64_t all[HXB_QUEUES_MAX + 1][8];
    for (int q = 0; q <= HXB_QUEUES_MAX; q++) {
        uint64_t *b = &bursts[q * HXB_QUEUE_BURST_WORDS];
        b[0] = (uint64_t)r.port | (uint64_t)q << 32;
        b[1] = (uint64_t)(uintptr_t)all[q];
        b[2] = (uint64_t)(q % 4);
        test_fill(&p, all[q], q % 4, 64);
    }
    int moved = HXB_QUEUES_MAX / 4 * 6;
    CHECK_EQ(HXB_QUEUES_MAX % 4, 0);
    CHECK_EQ(hxb_tx_bursts(p.pool, bursts, HXB_QUEUES_MAX + 1), moved);
    for (int q = 0; q < HXB_QUEUES_MAX; q++) {
        CHECK_EQ(bursts[q * HXB_QUEUE_BURST_WORDS + 3], q % 4);
        CHECK_EQ(hxb_ring_dequeue(r.tx[q], p.pool, out, 16), q % 4);
        CHECK_EQ(memcmp(all[q], out, (size_t)(q % 4) * sizeof(out[0])), 0);
        CHECK_EQ(hxb_ring_enqueue(r.rx[q], p.pool, out, q % 4), q % 4);
        bursts[q * HXB_QUEUE_BURST_WORDS + 2] = 2;
    }
    CHECK_EQ((int)bursts[HXB_QUEUES_MAX * HXB_QUEUE_BURST_WORDS + 3], -EINVAL);
    CHECK_EQ(hxb_rx_bursts(p.pool, bursts, HXB_QUEUES_MAX + 1, NULL), HXB_QUEUES_MAX / 4 * 5);
    for (int q = 0; q < HXB_QUEUES_MAX; q++) {
        int got = RTE_MIN(q % 4, 2);
        CHECK_EQ(bursts[q * HXB_QUEUE_BURST_WORDS + 3], got);
        for (int i = 0; i < got; i++) {
            /* Where they begin stands behind the two descriptors. */
            CHECK_EQ(all[q][2 + i], (uint64_t)(uintptr_t)test_frame(&p, all[q][i]));
        }
        test_release(&p, all[q], got);
    }
    CHECK_EQ(hxb_rx_bursts(p.pool, bursts, 0, NULL), 0);
    CHECK_EQ(hxb_rx_bursts(p.pool, bursts, HXB_QUEUES_MAX, NULL), HXB_QUEUES_MAX / 4);
    for (int q = 3; q < HXB_QUEUES_MAX; q += 4) {
        test_release(&p, all[q], 1);
    }
    CHECK_EQ(hxb_tx_bursts(p.pool, bursts, 0), 0);
    int only = check_only(&p, &r);

    /* HOLD: the caller keeps a reference of each, and the added one is taken back for the tail. */
    test_fill(&p, descs, 10, 64);
    for (int i = 0; i < 10; i++) {
        descs[i] |= HXB_DESC_HOLD;
    }
    CHECK_EQ(hxb_tx_burst(r.port, 0, p.pool, descs, 10), 8);
    CHECK_EQ(hxb_pool_refcnt(p.pool, descs[7] & HXB_DESC_ID_MASK), 2);
    CHECK_EQ(hxb_pool_refcnt(p.pool, descs[8] & HXB_DESC_ID_MASK), 1);
    CHECK_EQ(hxb_ring_dequeue(r.tx[0], p.pool, out, 16), 8);
    test_release(&p, out, 8);
    CHECK_EQ(hxb_pool_avail(p.pool), 53);
    test_release(&p, descs, 10);

    CHECK_EQ(hxb_port_stats(r.port, &stats), 0);
    CHECK_EQ(stats.tx_packets, (uint64_t)(4 * HXB_QUEUES_MAX + moved + 8));
    CHECK_EQ(stats.rx_packets, (uint64_t)(4 * HXB_QUEUES_MAX + moved + only));
    CHECK_EQ(stats.tx_refused, 0);
    CHECK_EQ(hxb_port_stop(r.port), 0);
    CHECK_EQ(hxb_rx_burst(r.port, 0, p.pool, out, 1), -ENETDOWN);
    CHECK_EQ(hxb_port_start(r.port), 0);
    CHECK_EQ(hxb_rx_burst(r.port, 0, p.pool, out, 1), 0);
    free_ring_port(&r);

    /* The number is free again, and nothing of the old port shows in the new one. */
    int number = r.port;
    make_ring_port(&r, "port", p.pool, 1, 8);
    CHECK_EQ(r.port, number);
    CHECK_EQ(hxb_port_stats(r.port, &stats), 0);
    CHECK_EQ(stats.rx_packets + stats.tx_packets, 0);
    free_ring_port(&r);
    test_free_pool(&p);
}

void test_null_port(void)
{
    struct test_pool p;
    struct hxb_port_config config = {.queues = 1};
    uint64_t descs[32];

    test_start_eal();
    test_make_pool(&p, "p", STRIDE_SMALL, 63, 0);
    int port = hxb_port_attach("net_null0", "size=60,copy=1");
    CHECK(port >= 0);
    CHECK_EQ(hxb_port_configure(port, &config, &p.pool), 0);
    CHECK_EQ(hxb_port_start(port), 0);
    /* net_null frees what it sends and invents what it receives. */
    test_fill(&p, descs, 20, 60);
    for (int i = 0; i < 20; i += 2) {
        descs[i] |= HXB_DESC_HOLD;
    }
    CHECK_EQ(hxb_tx_burst(port, 0, p.pool, descs, 20), 20);
    CHECK_EQ(hxb_pool_avail(p.pool), 53);
    for (int i = 0; i < 20; i += 2) {
        CHECK_EQ(hxb_pool_refcnt(p.pool, descs[i] & HXB_DESC_ID_MASK), 1);
        test_release(&p, &descs[i], 1);
    }
    CHECK_EQ(hxb_rx_burst(port, 0, p.pool, descs, 32), 32);
    for (int i = 0; i < 32; i++) {
        CHECK_EQ(descs[i] >> HXB_DESC_LENGTH_SHIFT, 60);
    }
    CHECK_EQ(hxb_pool_avail(p.pool), 31);
    test_release(&p, descs, 32);
    CHECK_EQ(hxb_port_close(port), 0);
    test_free_pool(&p);
}

/* EAL makes ports of devices that it finds when it starts. One that is closed is gone, and can be had again. */
void test_found_port(void)
{
    const char *args[] = {"test",      "--no-pci",    "--no-telemetry", "--iova-mode=va",  "--no-huge",
                          "--no-shconf", "-m",          "64",             "--vdev=net_null7", "--vdev=net_null8"};
    struct hxb_port_config config = {.queues = 1};
    struct test_pool p;

    CHECK_EQ(hxb_eal_init(10, args), 0);
    test_make_pool(&p, "found", STRIDE_SMALL, 1023, 0);
    struct hxb_pool *pools[] = {p.pool};
    CHECK_EQ(hxb_port_configure(0, &config, pools), 0);
    CHECK_EQ(hxb_port_start(0), 0);
    CHECK_EQ(hxb_port_close(0), 0);
    /* Also if it was never set up. */
    CHECK_EQ(hxb_port_close(1), 0);
    for (int i = 7; i <= 8; i++) {
        char name[16];
        snprintf(name, sizeof(name), "net_null%d", i);
        int port = hxb_port_attach(name, "");
        CHECK(port >= 0);
        CHECK_EQ(hxb_port_close(port), 0);
    }
    test_free_pool(&p);
}

/* What a NIC's driver does with MTU and descriptors, by one that carries both to a kernel interface. */
void test_mtu(void)
{
    struct test_pool p;
    struct hxb_port_config config = {.queues = 1, .mtu = 1400, .rx_desc = 64, .tx_desc = 64};
    struct hxb_port_info info;

    test_make_veth();
    test_start_eal();
    test_make_pool(&p, "p", STRIDE_SMALL, 255, 0);
    int port = hxb_port_attach("net_tap0", "iface=hxbtap");
    CHECK(port >= 0);
    CHECK_EQ(hxb_port_configure(port, &config, &p.pool), 0);
    CHECK_EQ(hxb_interface_mtu("hxbtap"), 1400);
    CHECK_EQ(hxb_port_info(port, &info), 0);
    CHECK_EQ(info.mtu, 1400);
    config.mtu = 9000;
    CHECK_EQ(hxb_port_configure(port, &config, &p.pool), -ERANGE);
    CHECK_EQ(hxb_interface_mtu("hxbtap"), 1400);
    CHECK_EQ(hxb_port_start(port), 0);
    CHECK_EQ(hxb_port_close(port), 0);
    test_free_pool(&p);
    /* EAL was told to look at no such bus. */
    CHECK(hxb_port_attach("0000:00:1f.7", "") < 0);
}

void test_refusals(void)
{
    struct test_pool p, q;
    struct ring_port r;
    uint64_t descs[4];
    struct hxb_port_stats stats;

    test_start_eal();
    test_make_pool(&p, "p", STRIDE_SMALL, 15, 0);
    test_make_pool(&q, "q", STRIDE_SMALL, 15, 0);
    make_ring_port(&r, "port", p.pool, 1, 8);
    const uint64_t *mbufs = hxb_pool_mbufs(p.pool);

    /* A foreign buffer, by the ring's back door. */
    test_fill(&q, descs, 1, 64);
    CHECK_EQ(hxb_ring_enqueue(r.rx[0], q.pool, descs, 1), 1);
    /* A chain of two, a frame that begins elsewhere, a runt, and one good frame. */
    test_fill(&p, descs, 4, 64);
    struct rte_mbuf *m[4];
    for (int i = 0; i < 4; i++) {
        m[i] = (struct rte_mbuf *)(uintptr_t)mbufs[descs[i] & HXB_DESC_ID_MASK];
    }
    CHECK_EQ(hxb_ring_enqueue(r.rx[0], p.pool, descs, 4), 4);
    m[0]->nb_segs = 2;
    uint64_t extra[1];
    test_fill(&p, extra, 1, 64);
    m[0]->next = (struct rte_mbuf *)(uintptr_t)mbufs[extra[0] & HXB_DESC_ID_MASK];
    m[1]->data_off = 0;
    m[2]->pkt_len = 13;
    uint64_t good = descs[3];
    CHECK_EQ(hxb_rx_burst(r.port, 0, p.pool, descs, 4), 0);
    CHECK_EQ(hxb_rx_burst(r.port, 0, p.pool, descs, 4), 1);
    CHECK_EQ(descs[0], good);
    CHECK_EQ(hxb_port_stats(r.port, &stats), 0);
    CHECK_EQ(stats.rx_refused_foreign, 1);
    CHECK_EQ(stats.rx_refused_segments, 1);
    CHECK_EQ(stats.rx_refused_offset, 1);
    CHECK_EQ(stats.rx_refused_length, 1);
    test_release(&p, descs, 1);
    /* All are home: the chain's second buffer too, and the foreign one in its own pool. */
    CHECK_EQ(hxb_pool_avail(p.pool), 15);
    CHECK_EQ(hxb_pool_avail(q.pool), 15);

    /* A buffer that was received crooked leaves straight. */
    test_fill(&p, descs, 1, 64);
    struct rte_mbuf *crooked = (struct rte_mbuf *)(uintptr_t)mbufs[descs[0] & HXB_DESC_ID_MASK];
    crooked->data_off = 7;
    crooked->ol_flags |= RTE_MBUF_F_RX_VLAN_STRIPPED;
    CHECK_EQ(hxb_tx_burst(r.port, 0, p.pool, descs, 1), 1);
    CHECK_EQ(crooked->data_off, HXB_FRAME_OFFSET);
    CHECK_EQ(crooked->data_len, 64);
    CHECK_EQ(crooked->pkt_len, 64);
    CHECK_EQ(crooked->ol_flags, RTE_MBUF_F_EXTERNAL);
    free_ring_port(&r);
    test_free_pool(&p);
    test_free_pool(&q);
}

/* Of n frames the one at `tagged` had a VLAN's tag, which the driver took off: the tag's EtherType stands in it. */
static void receive_tagged(struct test_pool *p, struct ring_port *r, int n, int tagged)
{
    const uint64_t *mbufs = hxb_pool_mbufs(p->pool);
    uint64_t descs[8], out[8];
    uint8_t wire[64];

    test_fill(p, descs, n, sizeof(wire));
    CHECK_EQ(hxb_ring_enqueue(r->rx[0], p->pool, descs, n), n);
    struct rte_mbuf *m = (struct rte_mbuf *)(uintptr_t)mbufs[descs[tagged] & HXB_DESC_ID_MASK];
    m->ol_flags |= RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_VLAN_STRIPPED;
    CHECK_EQ(hxb_rx_burst(r->port, 0, p->pool, out, 8), n);
    CHECK_EQ(memcmp(descs, out, (size_t)n * sizeof(descs[0])), 0);
    for (int i = 0; i < n; i++) {
        memset(wire, (int)(descs[i] & 0xff), sizeof(wire));
        memset(wire, 0xff, 6);
        memcpy(wire + 12, i == tagged ? "\x81\x00" : "\x88\xb5", 2);
        CHECK_EQ(memcmp(test_frame(p, out[i]), wire, sizeof(wire)), 0);
    }
    test_release(p, out, n);
}

/* Alone, and anywhere in a burst. */
void test_stripped_tag(void)
{
    struct test_pool p;
    struct ring_port r;

    test_start_eal();
    test_make_pool(&p, "p", STRIDE_SMALL, 15, 0);
    make_ring_port(&r, "port", p.pool, 1, 8);
    receive_tagged(&p, &r, 1, 0);
    for (int i = 0; i < 6; i++) {
        receive_tagged(&p, &r, 6, i);
    }
    free_ring_port(&r);
    test_free_pool(&p);
}

void test_limits(void)
{
    struct test_pool p;
    struct ring_port r;
    uint64_t descs[4];
    struct hxb_port_stats stats;

    test_start_eal();
    test_make_pool(&p, "p", STRIDE_SMALL, 15, 0);
    make_ring_port(&r, "port", p.pool, 1, 8);
    const uint64_t bad[] = {test_desc(0, 64), test_desc(16, 64), test_desc(0xffffff, 64),
                            test_desc(1, 13), test_desc(1, HXB_FRAME_MAX(STRIDE_SMALL) + 1),
                            UINT64_C(1) << 60 | test_desc(1, 64)};
    for (int i = 0; i < 6; i++) {
        CHECK_EQ(hxb_tx_burst(r.port, 0, p.pool, &bad[i], 1), -EINVAL);
    }
    CHECK_EQ(hxb_port_stats(r.port, &stats), 0);
    CHECK_EQ(stats.tx_refused, 6);
    /* A bad one in the middle ends the prefix. */
    test_fill(&p, descs, 4, HXB_FRAME_MAX(STRIDE_SMALL));
    uint64_t keep = descs[2];
    descs[2] = bad[0];
    CHECK_EQ(hxb_tx_burst(r.port, 0, p.pool, descs, 4), 2);
    descs[2] = keep;
    test_release(&p, descs + 2, 2);
    CHECK_EQ(hxb_tx_burst(r.port, 0, p.pool, descs, 0), 0);
    CHECK_EQ(hxb_tx_burst(r.port, 0, p.pool, descs, -1), 0);
    free_ring_port(&r);
    test_free_pool(&p);
}

void test_port_errors(void)
{
    struct test_pool p;
    struct hxb_port_config config = {.queues = 1};
    struct hxb_port_stats stats;
    struct hxb_port_info info;
    uint64_t desc;
    char name[16];
    int ports[64], n = 0;

    test_start_eal();
    test_make_pool(&p, "p", STRIDE_SMALL, 15, 0);
    CHECK_EQ(hxb_port_attach(NULL, ""), -EINVAL);
    CHECK(hxb_port_attach("net_nosuchdriver0", "") < 0);
    const int none[] = {-1, 0, 31, 32, 1 << 20};
    for (int i = 0; i < 5; i++) {
        CHECK_EQ(hxb_port_configure(none[i], &config, &p.pool), -ENODEV);
        CHECK_EQ(hxb_port_start(none[i]), -ENODEV);
        CHECK_EQ(hxb_port_stop(none[i]), -ENODEV);
        CHECK_EQ(hxb_port_close(none[i]), -ENODEV);
        CHECK_EQ(hxb_port_mac(none[i]), -ENODEV);
        CHECK_EQ(hxb_port_link(none[i]), -ENODEV);
        CHECK_EQ(hxb_port_info(none[i], &info), -ENODEV);
        CHECK_EQ(hxb_port_stats(none[i], &stats), -ENODEV);
        CHECK(hxb_rx_burst(none[i], 0, p.pool, &desc, 1) < 0);
        CHECK(hxb_tx_burst(none[i], 0, p.pool, &desc, 1) < 0);
    }
    CHECK_EQ(hxb_ring_port("x", NULL, NULL, 1), -EINVAL);

    /* Ports until there are no more, then one freed makes room for one. */
    int port = 0;
    while (n < 64) {
        snprintf(name, sizeof(name), "net_null%d", n);
        port = hxb_port_attach(name, "");
        if (port < 0) {
            break;
        }
        ports[n++] = port;
    }
    CHECK_EQ(n, hxb_layout(HXB_LAYOUT_MAX_PORTS));
    CHECK_EQ(port, -ENOSPC);
    CHECK_EQ(hxb_port_start(ports[0]), -EINVAL);
    struct hxb_port_config no_queue = {.queues = 0};
    struct hxb_port_config many = {.queues = HXB_QUEUES_MAX + 1};
    struct hxb_pool *null_pool = NULL;
    CHECK_EQ(hxb_port_configure(ports[0], &no_queue, &p.pool), -EINVAL);
    CHECK_EQ(hxb_port_configure(ports[0], &many, &p.pool), -EINVAL);
    CHECK_EQ(hxb_port_configure(ports[0], &config, &null_pool), -EINVAL);
    CHECK_EQ(hxb_port_close(ports[5]), 0);
    CHECK_EQ(hxb_port_attach("net_null5", ""), ports[5]);
    for (int i = 0; i < n; i++) {
        CHECK_EQ(hxb_port_close(ports[i]), 0);
    }
    test_free_pool(&p);
}

/* EAL's heap is full when the first port is made: an error, and not the end of the process. */
void test_full_heap(void)
{
    struct hxb_region region;
    struct hxb_ring *ring, *last = NULL;
    char name[HXB_RING_NAME_MAX + 1];
    int made = 0;

    if (test_huge) {
        test_skip("its heap grows by the machine's hugepages, which other tests want");
    }
    test_start_eal();
    /* From large to small, until nothing fits. */
    for (int capacity = 1 << 20; capacity > 0; capacity /= 2) {
        int rc;
        do {
            snprintf(name, sizeof(name), "fill%d", made++);
            rc = hxb_ring_create(name, capacity, 0, &ring);
            last = rc == 0 ? ring : last;
        } while (rc == 0 && made < 4096);
        CHECK_EQ(rc, -ENOMEM);
    }
    CHECK(hxb_port_attach("net_null0", "") < 0);
    CHECK(hxb_ring_port("r", &last, &last, 1) < 0);
    /* What is needed of a line is not there. */
    int port = hxb_port_attach("shm_0", "role=client,socket=full,mac=02000000000a");
    CHECK(port >= 0);
    CHECK_EQ(hxb_port_close(port), 0);
    CHECK_EQ(hxb_region_map(1 << 20, 0, &region), 0);
    CHECK_EQ(hxb_region_unmap(&region), 0);
    CHECK_EQ(hxb_ring_free(last), 0);
}

/* Before EAL is started, and when it has failed to: each call that needs it says so; DPDK does not end the process. */
void test_no_eal(void)
{
    struct hxb_pool_config config = {.stride_bytes = STRIDE_SMALL, .count = 15, .socket = -1, .name = "p"};
    struct hxb_region region;
    struct hxb_pool *pool;
    struct hxb_ring *ring;

    for (int failed = 0; failed < 2; failed++) {
        CHECK_EQ(hxb_port_attach("net_null0", ""), -ENODEV);
        CHECK_EQ(hxb_port_attach("shm_0", "role=client,socket=none,mac=02000000000a"), -ENODEV);
        CHECK_EQ(hxb_port_attach("memif_0", "role=client,socket=none,mac=02000000000a"), -ENODEV);
        CHECK_EQ(hxb_port_attach("0000:03:00.0", ""), -ENODEV);
        CHECK_EQ(hxb_ring_create("r", 16, 0, &ring), -ENODEV);
        CHECK_EQ(hxb_region_map(1 << 20, 0, &region), 0);
        config.base = region.address;
        config.region_bytes = region.length;
        config.page_bytes = region.page_bytes;
        CHECK_EQ(hxb_pool_create(&config, &pool), -ENODEV);
        CHECK_EQ(hxb_region_unmap(&region), 0);
        CHECK_EQ(hxb_thread_register(), -ENODEV);
        if (!failed) {
            const char *wrong[] = {"test", "--no-pci", "--no-huge", "--no-shconf", "--lcores=9999"};
            CHECK(hxb_eal_init(5, wrong) < 0);
        }
    }
}
