/* SPDX-License-Identifier: Apache-2.0 */
/* The wire between rings: who gets a copy, what is dropped for which reason, and whose buffers. */
#include <errno.h>
#include <string.h>

#include <rte_mbuf.h>
#include <rte_ring.h>

#include "test.h"

#define STATIONS 3
#define BUFFERS 63
#define ROOM 40

static const uint64_t BROADCAST = UINT64_C(0xffffffffffff);

struct net {
    struct hxb_wire *wire;
    struct test_pool pools[STATIONS];
    struct hxb_ring *tx[STATIONS], *rx[STATIONS];
};

static uint64_t mac_of(int station)
{
    return UINT64_C(0x020000000100) | (uint64_t)station;
}

/* Stations 0 to 2 of nodes 0 to 2 on line 0; the buffers of the last are the shortest. */
static void make_net(struct net *net)
{
    char name[16];

    test_start_eal();
    CHECK_EQ(hxb_wire_create(&net->wire), 0);
    for (int i = 0; i < STATIONS; i++) {
        snprintf(name, sizeof(name), "p%d", i);
        test_make_pool(&net->pools[i], name, i == 2 ? STRIDE_SMALL / 2 : STRIDE_JUMBO, BUFFERS, 0);
        snprintf(name, sizeof(name), "tx%d", i);
        CHECK_EQ(hxb_ring_create(name, 2 * ROOM, HXB_RING_SP | HXB_RING_SC, &net->tx[i]), 0);
        snprintf(name, sizeof(name), "rx%d", i);
        CHECK_EQ(hxb_ring_create(name, ROOM, HXB_RING_SP | HXB_RING_SC, &net->rx[i]), 0);
        CHECK_EQ(hxb_wire_attach(net->wire, 0, i, net->tx[i], net->rx[i], mac_of(i),
                                 net->pools[i].pool),
                 0);
    }
}

static void free_net(struct net *net)
{
    CHECK_EQ(hxb_wire_destroy(net->wire), 0);
    for (int i = 0; i < STATIONS; i++) {
        CHECK_EQ(hxb_ring_free(net->tx[i]), 0);
        CHECK_EQ(hxb_ring_free(net->rx[i]), 0);
    }
    for (int i = 0; i < STATIONS; i++) {
        test_free_pool(&net->pools[i]);
    }
}

static void address(struct net *net, int from, uint64_t desc, uint64_t mac)
{
    uint8_t *frame = test_frame(&net->pools[from], desc);

    for (int i = 0; i < 6; i++) {
        frame[i] = (uint8_t)(mac >> (40 - 8 * i));
    }
}

/* Sends n frames of that length, which tell their number, counted from `first`. */
static void send_frames(struct net *net, int from, uint64_t mac, int n, int first, uint32_t length)
{
    uint64_t descs[HXB_BURST_MAX];

    test_fill(&net->pools[from], descs, n, length);
    for (int i = 0; i < n; i++) {
        address(net, from, descs[i], mac);
        for (uint32_t b = 14; b < length; b++) {
            test_frame(&net->pools[from], descs[i])[b] = (uint8_t)b;
        }
        test_frame(&net->pools[from], descs[i])[length - 1] = (uint8_t)(first + i);
    }
    CHECK_EQ(hxb_ring_enqueue(net->tx[from], net->pools[from].pool, descs, n), n);
}

/* n frames of that length and no more have come, in order from number `first` on. */
static void expect(struct net *net, int at, int n, int first, uint32_t length)
{
    uint64_t descs[HXB_BURST_MAX];

    CHECK_EQ(hxb_ring_dequeue(net->rx[at], net->pools[at].pool, descs, HXB_BURST_MAX), n);
    for (int i = 0; i < n; i++) {
        CHECK_EQ(descs[i] >> HXB_DESC_LENGTH_SHIFT, length);
        CHECK_EQ(test_frame(&net->pools[at], descs[i])[length - 1], (uint8_t)(first + i));
        for (uint32_t b = 14; b < length - 1; b++) {
            CHECK_EQ(test_frame(&net->pools[at], descs[i])[b], (uint8_t)b);
        }
        CHECK_EQ(hxb_pool_refcnt(net->pools[at].pool, descs[i] & HXB_DESC_ID_MASK), 1);
    }
    test_release(&net->pools[at], descs, n);
}

static void expect_counts(const struct net *net, const int64_t expected[HXB_WIRE_COUNTS])
{
    for (int i = 0; i < HXB_WIRE_COUNTS; i++) {
        CHECK_EQ(hxb_wire_count(net->wire, i), expected[i]);
    }
}

/* Carries a frame of station 0 that its sender holds, which writes the number in it again behind that. */
static void hold_and_carry(struct net *net, uint64_t mac, int number, uint32_t length)
{
    enum { SEEN = 1000 };
    struct test_pool *pool = &net->pools[0];
    uint8_t before[SEEN];
    uint64_t desc;

    test_fill(pool, &desc, 1, length);
    uint8_t *frame = test_frame(pool, desc);
    for (uint32_t b = 14; b < SEEN; b++) {
        frame[b] = (uint8_t)b;
    }
    address(net, 0, desc, mac);
    frame[length - 1] = (uint8_t)number;
    memcpy(before, frame, SEEN);
    uint64_t held = desc | HXB_DESC_HOLD;
    CHECK_EQ(hxb_ring_enqueue(net->tx[0], pool->pool, &held, 1), 1);
    CHECK_EQ(hxb_pool_refcnt(pool->pool, desc & HXB_DESC_ID_MASK), 2);
    CHECK_EQ(hxb_wire_carry(net->wire, 0), 1);
    CHECK_EQ(hxb_pool_refcnt(pool->pool, desc & HXB_DESC_ID_MASK), 1);
    CHECK_EQ(memcmp(before, frame, SEEN), 0);
    frame[length - 1] = (uint8_t)(number + 1);
    test_release(pool, &desc, 1);
}

void test_wire(void)
{
    struct net net;

    make_net(&net);
    CHECK_EQ(hxb_wire_carry(net.wire, 0), 0);

    /* A frame goes to its address alone, of any length; the last station is reached, too. */
    const uint32_t lengths[] = {14, 63, 64, 65, 95, 96, 97, 127, 128, 129, 800};
    for (int i = 0; i < 11; i++) {
        send_frames(&net, 0, mac_of(2), 1, i, lengths[i]);
        CHECK_EQ(hxb_wire_carry(net.wire, 1), 0);
        CHECK_EQ(hxb_wire_carry(net.wire, 0), 1);
        expect(&net, 2, 1, i, lengths[i]);
        expect(&net, 0, 0, 0, 0);
        expect(&net, 1, 0, 0, 0);
        CHECK_EQ(hxb_pool_avail(net.pools[0].pool), BUFFERS);
    }
    send_frames(&net, 1, mac_of(1), 1, 9, 9014);
    CHECK_EQ(hxb_wire_carry(net.wire, 1), 1);
    expect(&net, 1, 1, 9, 9014);

    /* Mixed destinations: each gets its own in order; 32 leave at a time. */
    for (int i = 0; i < 40; i++) {
        send_frames(&net, 1, mac_of(i % 4 == 3 ? 2 : 0), 1, i % 4 == 3 ? i / 4 : i - i / 4, 64);
    }
    CHECK_EQ(hxb_wire_carry(net.wire, 1), 32);
    CHECK_EQ(hxb_wire_carry(net.wire, 1), 8);
    expect(&net, 0, 30, 0, 64);
    expect(&net, 2, 10, 0, 64);

    /* A broadcast reaches all others, amid frames for one. */
    send_frames(&net, 0, mac_of(1), 2, 0, 64);
    send_frames(&net, 0, BROADCAST, 1, 2, 64);
    send_frames(&net, 0, mac_of(1), 1, 3, 64);
    CHECK_EQ(hxb_wire_carry(net.wire, 0), 4);
    expect(&net, 1, 4, 0, 64);
    expect(&net, 2, 1, 2, 64);
    expect(&net, 0, 0, 0, 0);

    /* A frame that its sender holds, short, long and to all: not a byte of it changes, nor behind
     * its end; it stays the sender's, and what the sender writes next is not seen by who got the
     * copy. */
    const uint32_t held_lengths[] = {60, 96, 97, 800};
    for (int i = 0; i < 8; i++) {
        hold_and_carry(&net, i < 4 ? mac_of(1) : BROADCAST, 5 + i, held_lengths[i % 4]);
        expect(&net, 1, 1, 5 + i, held_lengths[i % 4]);
        expect(&net, 2, i < 4 ? 0 : 1, 5 + i, held_lengths[i % 4]);
    }

    int64_t bytes = 14 + 63 + 64 + 65 + 95 + 96 + 97 + 127 + 128 + 129 + 800 + 9014 +
                    64 * (40 + 3 + 2) + 3 * (60 + 96 + 97 + 800);
    expect_counts(&net, (int64_t[]){11 + 1 + 40 + 5 + 12, bytes, 0, 0, 0, 0});
    free_net(&net);
}

void test_wire_drops(void)
{
    struct net net;
    uint64_t hoard[BUFFERS];
    struct hxb_wire *none = NULL;
    struct hxb_ring *shared;
    struct hxb_pool *pool;

    make_net(&net);
    pool = net.pools[0].pool;

    /* An address that nobody has; one that another line's station has. */
    CHECK_EQ(hxb_wire_attach(net.wire, 1, 3, net.tx[1], net.rx[1], mac_of(3), pool), 0);
    send_frames(&net, 0, mac_of(9), 1, 0, 64);
    send_frames(&net, 0, mac_of(3), 2, 0, 64);
    send_frames(&net, 0, mac_of(1), 1, 7, 64);
    CHECK_EQ(hxb_wire_carry(net.wire, 0), 4);
    expect(&net, 1, 1, 7, 64);
    expect_counts(&net, (int64_t[]){1, 64, 0, 0, 0, 3});

    /* A full ring: those in front get in. */
    send_frames(&net, 0, mac_of(1), ROOM + 10, 0, 64);
    CHECK_EQ(hxb_wire_carry(net.wire, 0), 32);
    CHECK_EQ(hxb_wire_carry(net.wire, 0), ROOM + 10 - 32);
    CHECK_EQ(hxb_wire_carry(net.wire, 0), 0);
    expect(&net, 1, ROOM, 0, 64);
    expect_counts(&net, (int64_t[]){1 + ROOM, 64 * (1 + ROOM), 0, 0, 10, 3});

    /* A pool with three buffers left; then with none, for a broadcast. */
    test_fill(&net.pools[1], hoard, BUFFERS - 3, 64);
    send_frames(&net, 0, mac_of(1), 8, 20, 64);
    CHECK_EQ(hxb_wire_carry(net.wire, 0), 8);
    send_frames(&net, 0, BROADCAST, 1, 33, 64);
    CHECK_EQ(hxb_wire_carry(net.wire, 0), 1);
    expect(&net, 1, 3, 20, 64);
    expect(&net, 2, 1, 33, 64);
    test_release(&net.pools[1], hoard, BUFFERS - 3);
    expect_counts(&net, (int64_t[]){5 + ROOM, 64 * (5 + ROOM), 0, 6, 10, 3});

    /* Longer than the buffers of the station that it is for, alone and of a broadcast. */
    send_frames(&net, 0, mac_of(2), 1, 0, 2000);
    send_frames(&net, 0, BROADCAST, 1, 1, 2000);
    CHECK_EQ(hxb_wire_carry(net.wire, 0), 2);
    expect(&net, 2, 0, 0, 0);
    expect(&net, 1, 1, 1, 2000);
    expect_counts(&net, (int64_t[]){6 + ROOM, 64 * (5 + ROOM) + 2000, 0, 8, 10, 3});

    /* A line that is cut loses all, one that is mended nothing. */
    CHECK_EQ(hxb_wire_cut(net.wire, 0, 1), 0);
    send_frames(&net, 0, mac_of(1), 3, 0, 64);
    CHECK_EQ(hxb_wire_carry(net.wire, 0), 3);
    expect(&net, 1, 0, 0, 0);
    CHECK_EQ(hxb_wire_cut(net.wire, 0, 0), 0);
    send_frames(&net, 0, mac_of(1), 2, 4, 64);
    CHECK_EQ(hxb_wire_carry(net.wire, 0), 2);
    expect(&net, 1, 2, 4, 64);
    expect_counts(&net, (int64_t[]){8 + ROOM, 64 * (7 + ROOM) + 2000, 3, 8, 10, 3});

    /* What the rings' contract refuses is freed and counted with the sender's pool. */
    CHECK_EQ(hxb_pool_ring_refusals(pool), 0);
    test_fill(&net.pools[1], hoard, 1, 64);
    CHECK_EQ(hxb_ring_enqueue(net.tx[0], net.pools[1].pool, hoard, 1), 1); /* another's buffer */
    test_fill(&net.pools[0], hoard, 1, 64);
    struct rte_mbuf *m =
        (struct rte_mbuf *)(uintptr_t)hxb_pool_mbufs(pool)[hoard[0] & HXB_DESC_ID_MASK];
    CHECK_EQ(hxb_ring_enqueue(net.tx[0], pool, hoard, 1), 1);
    m->data_off = HXB_FRAME_OFFSET + 2;
    send_frames(&net, 0, mac_of(1), 1, 6, 64);
    CHECK_EQ(hxb_wire_carry(net.wire, 0), 3);
    expect(&net, 1, 1, 6, 64);
    CHECK_EQ(hxb_pool_ring_refusals(pool), 2);
    expect_counts(&net, (int64_t[]){9 + ROOM, 64 * (8 + ROOM) + 2000, 3, 8, 10, 3});

    /* A broadcast on a line of one. */
    CHECK_EQ(hxb_wire_carry(net.wire, 3), 0);
    test_fill(&net.pools[0], hoard, 1, 64);
    CHECK_EQ(hxb_ring_enqueue(net.tx[1], pool, hoard, 1), 1);
    CHECK_EQ(hxb_wire_carry(net.wire, 3), 1);
    expect_counts(&net, (int64_t[]){9 + ROOM, 64 * (8 + ROOM) + 2000, 3, 8, 10, 4});

    CHECK_EQ(hxb_wire_create(NULL), -EINVAL);
    CHECK_EQ(hxb_wire_destroy(NULL), -EINVAL);
    CHECK_EQ(hxb_wire_carry(none, 0), -EINVAL);
    CHECK_EQ(hxb_wire_carry(net.wire, -1), -EINVAL);
    CHECK_EQ(hxb_wire_carry(net.wire, HXB_WIRE_STATIONS_MAX), -EINVAL);
    CHECK_EQ(hxb_wire_carry(net.wire, HXB_WIRE_STATIONS_MAX - 1), 0);
    CHECK_EQ(hxb_wire_cut(net.wire, HXB_WIRE_STATIONS_MAX, 1), -EINVAL);
    CHECK_EQ(hxb_wire_cut(none, 0, 1), -EINVAL);
    CHECK_EQ(hxb_wire_count(net.wire, HXB_WIRE_COUNTS), -EINVAL);
    CHECK_EQ(hxb_wire_count(net.wire, -1), -EINVAL);
    CHECK_EQ(hxb_wire_attach(none, 0, 0, net.tx[0], net.rx[0], 1, pool), -EINVAL);
    CHECK_EQ(hxb_wire_attach(net.wire, -1, 0, net.tx[0], net.rx[0], 1, pool), -EINVAL);
    CHECK_EQ(hxb_wire_attach(net.wire, 0, HXB_WIRE_STATIONS_MAX, net.tx[0], net.rx[0], 1, pool),
             -EINVAL);
    CHECK_EQ(hxb_wire_attach(net.wire, 0, 0, NULL, net.rx[0], 1, pool), -EINVAL);
    CHECK_EQ(hxb_wire_attach(net.wire, 0, 0, net.tx[0], NULL, 1, pool), -EINVAL);
    CHECK_EQ(hxb_wire_attach(net.wire, 0, 0, net.tx[0], net.rx[0], BROADCAST, pool), -EINVAL);
    CHECK_EQ(hxb_wire_attach(net.wire, 0, 0, net.tx[0], net.rx[0], 1, NULL), -EINVAL);
    CHECK_EQ(hxb_ring_create("shared", 4, 0, &shared), 0);
    CHECK_EQ(hxb_wire_attach(net.wire, 0, 0, net.tx[0], shared, 1, pool), -EINVAL);
    CHECK_EQ(hxb_wire_attach(net.wire, 0, 0, shared, net.rx[0], 1, pool), -EINVAL);
    CHECK_EQ(hxb_ring_free(shared), 0);
    /* An address is one station's of a line, and another's of another line. */
    for (int i = 0; i < STATIONS; i++) {
        CHECK_EQ(hxb_wire_attach(net.wire, 0, 4, net.tx[0], net.rx[0], mac_of(i), pool), -EEXIST);
    }
    CHECK_EQ(hxb_wire_attach(net.wire, 1, 4, net.tx[0], net.rx[0], mac_of(3), pool), -EEXIST);
    for (int i = STATIONS + 1; i < HXB_WIRE_STATIONS_MAX; i++) {
        CHECK_EQ(hxb_wire_attach(net.wire, 5, 5, net.tx[0], net.rx[0], (uint64_t)i, pool), 0);
    }
    CHECK_EQ(hxb_wire_attach(net.wire, 5, 5, net.tx[0], net.rx[0], mac_of(0), pool), -ENOSPC);
    free_net(&net);
}
