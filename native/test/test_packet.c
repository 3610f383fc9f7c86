/* SPDX-License-Identifier: Apache-2.0 */
/* Packet sockets of our own on a veth pair of this process's own network namespace. */
#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "test.h"

#define ETHER_TYPE 0x88b5
#define JUMBO 9014
#define SLOTS 64

static struct hxb_packet *open_end(const char *interface, struct test_pool *p)
{
    struct hxb_packet *end = NULL;

    CHECK_EQ(hxb_packet_open(interface, ETHER_TYPE, SLOTS, JUMBO, p->pool, &end), 0);
    CHECK(end != NULL);
    return end;
}

static int receive(struct hxb_packet *end, struct test_pool *p, uint32_t length)
{
    uint64_t descs[32];
    int n = hxb_packet_rx_burst(end, descs, 32);

    CHECK(n >= 0);
    for (int i = 0; i < n; i++) {
        uint8_t *frame = test_frame(p, descs[i]);
        CHECK_EQ(descs[i] >> HXB_DESC_LENGTH_SHIFT, length);
        CHECK_EQ(frame[12] << 8 | frame[13], ETHER_TYPE);
        CHECK_EQ(frame[length - 1], frame[14]);
    }
    test_release(p, descs, n);
    return n;
}

static void receive_all(struct hxb_packet *end, struct test_pool *p, int frames, uint32_t length)
{
    int wake = hxb_packet_fd(end);
    int got = 0;

    for (int tries = 0; got < frames; tries++) {
        CHECK(tries < 5000);
        hxb_wait(&wake, 1, -1, 1000);
        got += receive(end, p, length);
    }
    CHECK_EQ(got, frames);
    CHECK_EQ(receive(end, p, length), 0);
}

static void refuse_wrong_arguments(struct test_pool *p)
{
    struct hxb_packet *end;

    CHECK_EQ(hxb_packet_open("nosuch", ETHER_TYPE, SLOTS, JUMBO, p->pool, &end), -ENODEV);
    CHECK_EQ(hxb_packet_open("hxbt0", 0, SLOTS, JUMBO, p->pool, &end), -EINVAL);
    CHECK_EQ(hxb_packet_open("hxbt0", ETHER_TYPE, 48, JUMBO, p->pool, &end), -EINVAL);
    CHECK_EQ(hxb_packet_open("hxbt0", ETHER_TYPE, 1, JUMBO, p->pool, &end), -EINVAL);
    CHECK_EQ(hxb_packet_open("hxbt0", ETHER_TYPE, SLOTS, 1 << 20, p->pool, &end), -EINVAL);
    CHECK_EQ(hxb_interface_mac("nosuch"), -ENODEV);
    CHECK(hxb_interface_mac("hxbt0") > 0);
    CHECK(hxb_interface_mac("hxbt0") != hxb_interface_mac("hxbt1"));
}

/* Frames for another address and frames of a VLAN are not this network's; those of a device on top of the interface
 * neither, although the kernel says that they are for this host. */
static void pass_over_others(struct hxb_packet *a, struct hxb_packet *b, struct test_pool *p, bool stacked)
{
    uint64_t descs[3];
    int wake = hxb_packet_fd(b);

    if (stacked && system("ip link add link hxbt1 name hxbm address 02:00:00:00:00:77 type macvlan mode bridge"
                          " && ip link set hxbm up") != 0) {
        fprintf(stderr, "no macvlan: frames of a device on top of another are not tried\n");
        return;
    }
    int64_t before = hxb_packet_dropped(b);

    test_fill(p, descs, 3, 128);
    uint8_t *frame = test_frame(p, descs[0]);
    memcpy(frame, "\x02\x00\x00\x00\x00\x77", 6);
    frame = test_frame(p, descs[1]);
    memcpy(frame + 12, "\x81\x00\x00\x07\x88\xb5", 6);
    frame = test_frame(p, descs[2]);
    int64_t mac = hxb_interface_mac("hxbt1");
    for (int i = 0; i < 6; i++) {
        frame[i] = (uint8_t)(mac >> (40 - 8 * i));
    }
    CHECK_EQ(hxb_packet_tx_burst(a, descs, 3), 3);
    CHECK_EQ(hxb_wait(&wake, 1, -1, 1000000), 1);
    /* The last of them, behind which nothing is: the first may be there before it. */
    receive_all(b, p, 1, 128);
    CHECK_EQ(hxb_packet_dropped(b), before);
    if (stacked) {
        CHECK_EQ(system("ip link del hxbm"), 0);
    }
}

/* What of both ends' rings comes by one call, n frames: flags of all. Where a frame begins stands behind 8 descriptors. */
static uint64_t receive_both(struct hxb_packet *const *ends, struct test_pool *p, const int *frames, const uint64_t *only)
{
    uint64_t got[2][16], bursts[2 * HXB_QUEUE_BURST_WORDS], flags = 0;
    int seen[2] = {0, 0};

    for (int tries = 0; seen[0] < frames[0] || seen[1] < frames[1]; tries++) {
        CHECK(tries < 5000);
        int wakes[] = {hxb_packet_fd(ends[0]), hxb_packet_fd(ends[1])};
        hxb_wait(wakes, 2, -1, 1000);
        for (int e = 0; e < 2; e++) {
            uint64_t *b = &bursts[e * HXB_QUEUE_BURST_WORDS];
            b[0] = hxb_packet_queue(ends[e]);
            b[1] = (uint64_t)(uintptr_t)got[e];
            b[2] = 8;
        }
        int all = hxb_rx_bursts(p->pool, bursts, 2, only);
        for (int e = 0; e < 2; e++) {
            int n = (int)bursts[e * HXB_QUEUE_BURST_WORDS + 3];
            for (int i = 0; i < n; i++) {
                CHECK_EQ(got[e][8 + i], (uint64_t)(uintptr_t)test_frame(p, got[e][i]));
                CHECK_EQ(test_frame(p, got[e][i])[89], test_frame(p, got[e][i])[14]);
                flags |= got[e][i];
            }
            test_release(p, got[e], n);
            seen[e] += n;
            all -= n;
        }
        CHECK_EQ(all, 0);
    }
    CHECK(seen[0] == frames[0] && seen[1] == frames[1]);
    return flags;
}

/* Named by words, sockets send and receive as ports do: several by one call, sealed, and judged when one came alone. */
static void as_queues(struct hxb_packet *a, struct hxb_packet *b, struct test_pool *p)
{
    enum { FROM = 28, AT = 24 };
    const uint64_t sealing = FROM | (uint64_t)AT << 16;
    const uint64_t only[HXB_ONLY_WORDS] = {FROM | (uint64_t)AT << 16 | (uint64_t)32 << 32 | (uint64_t)90 << 48, 0};
    struct hxb_packet *const ends[] = {a, b};
    uint64_t descs[2][4], bursts[2 * HXB_QUEUE_BURST_WORDS];

    for (int e = 0; e < 2; e++) {
        test_fill(p, descs[e], 3 - e, 90);
        uint64_t *words = &bursts[e * HXB_QUEUE_BURST_WORDS];
        words[0] = hxb_packet_queue(ends[e]);
        words[1] = (uint64_t)(uintptr_t)descs[e];
        words[2] = (uint64_t)(3 - e);
    }
    CHECK_EQ(hxb_tx_bursts(p->pool, bursts, 2), 5);
    CHECK_EQ(bursts[3], 3);
    CHECK_EQ(bursts[HXB_QUEUE_BURST_WORDS + 3], 2);
    receive_both(ends, p, (int[]){2, 3}, NULL);

    for (int sealed = 0; sealed < 2; sealed++) {
        test_fill(p, descs[0], 1, 90);
        descs[0][0] |= HXB_DESC_SEAL;
        CHECK_EQ(hxb_tx_sealed(p->pool, hxb_packet_queue(a), descs[0], 1, sealed ? sealing : 0), 1);
        uint64_t flags = receive_both(ends, p, (int[]){0, 1}, only);
        CHECK_EQ(flags & HXB_DESC_INTACT, sealed ? HXB_DESC_INTACT : 0);
    }
    /* Of one that cannot be sealed nothing is sent. */
    test_fill(p, descs[0], 1, 90);
    uint64_t bad = test_desc(0, 90) | HXB_DESC_SEAL;
    CHECK_EQ(hxb_tx_sealed(p->pool, hxb_packet_queue(a), &bad, 1, sealing), -EINVAL);
    CHECK_EQ(hxb_tx_sealed(p->pool, hxb_packet_queue(a), descs[0], 0, sealing), 0);
    test_release(p, descs[0], 1);
    CHECK_EQ(receive(b, p, 90), 0);
}

/* References: with HOLD the caller keeps its own, without it the frame's buffer goes home. */
static void keep_what_is_held(struct hxb_packet *a, struct hxb_packet *b, struct test_pool *p)
{
    uint64_t descs[40];
    uint64_t held;

    test_fill(p, descs, 40, 200);
    int free_before = hxb_pool_avail(p->pool);
    held = descs[33];
    descs[33] |= HXB_DESC_HOLD;
    CHECK_EQ(hxb_packet_tx_burst(a, descs, 40), 40);
    CHECK_EQ(hxb_pool_avail(p->pool), free_before + 39);
    CHECK_EQ(hxb_pool_refcnt(p->pool, (uint32_t)(held & HXB_DESC_ID_MASK)), 1);
    test_release(p, &held, 1);
    receive_all(b, p, 40, 200);
    /* What is out of range ends the prefix. */
    test_fill(p, descs, 3, 200);
    uint64_t good = descs[2];
    descs[2] = test_desc(p->count + 1, 200);
    CHECK_EQ(hxb_packet_tx_burst(a, descs, 3), 2);
    CHECK_EQ(hxb_packet_tx_burst(a, descs + 2, 1), -EINVAL);
    test_release(p, &good, 1);
    receive_all(b, p, 2, 200);
}

/* A full ring drops, which the kernel counts; an empty pool leaves frames in the ring. */
static void overflow(struct hxb_packet *a, struct hxb_packet *b, struct test_pool *p)
{
    uint64_t descs[SLOTS + 16];
    uint64_t rest[256];
    uint64_t one;
    int64_t before = hxb_packet_dropped(b);

    test_fill(p, descs, SLOTS + 16, 64);
    CHECK_EQ(hxb_packet_tx_burst(a, descs, SLOTS + 16), SLOTS + 16);
    int wake = hxb_packet_fd(b);
    CHECK_EQ(hxb_wait(&wake, 1, -1, 1000000), 1);
    /* The kernel may be at it on another processor: a slot that is read before the last has come takes one more. */
    for (int tries = 0; hxb_packet_dropped(b) < before + 16; tries++) {
        CHECK(tries < 5000);
        usleep(1000);
    }
    receive_all(b, p, SLOTS, 64);
    CHECK_EQ(hxb_packet_dropped(b), before + 16);

    test_fill(p, descs, 1, 64);
    CHECK_EQ(hxb_packet_tx_burst(a, descs, 1), 1);
    int all = hxb_pool_avail(p->pool);
    CHECK(all <= 256);
    test_fill(p, rest, all, 64);
    CHECK_EQ(hxb_wait(&wake, 1, -1, 1000000), 1);
    CHECK_EQ(hxb_packet_rx_burst(b, &one, 1), 0);
    test_release(p, rest, all);
    receive_all(b, p, 1, 64);
    CHECK_EQ(hxb_packet_dropped(b), before + 16);
}

static void be_renamed(struct hxb_packet *a)
{
    char name[16] = "";

    CHECK_EQ(hxb_packet_name(a, name, 15), -EINVAL);
    CHECK_EQ(hxb_packet_name(a, NULL, 16), -EINVAL);
    CHECK_EQ(hxb_packet_name(a, name, sizeof(name)), 0);
    CHECK_EQ(strcmp(name, "hxbt0"), 0);
    CHECK_EQ(system("ip link set hxbt0 down && ip link set hxbt0 name hxbt9"), 0);
    CHECK_EQ(hxb_packet_name(a, name, sizeof(name)), 0);
    CHECK_EQ(strcmp(name, "hxbt9"), 0);
    CHECK_EQ(system("ip link set hxbt9 name hxbt0 && ip link set hxbt0 up"), 0);
}

/* An interface that goes down takes frames and loses them; up again, it carries the next. */
static void go_down(struct hxb_packet *a, struct hxb_packet *b, struct test_pool *p)
{
    uint64_t descs[8];
    int fd = hxb_packet_fd(a);

    CHECK_EQ(hxb_packet_lost(a), 0);
    CHECK_EQ(hxb_packet_up(a), 1);
    CHECK_EQ(system("ip link set hxbt0 down"), 0);
    CHECK_EQ(hxb_packet_up(a), 0);
    /* The other end loses its carrier; the kernel takes note of that up to a second later. */
    for (int tries = 0; hxb_packet_up(b) != 0; tries++) {
        CHECK(tries < 5000);
        usleep(1000);
    }
    CHECK_EQ(hxb_wait(&fd, 1, -1, 1000000), 1);
    CHECK_EQ(hxb_wait(&fd, 1, -1, 0), 0);
    test_fill(p, descs, 8, 64);
    CHECK_EQ(hxb_packet_tx_burst(a, descs, 8), 8);
    CHECK_EQ(hxb_packet_lost(a), 8);
    CHECK_EQ(system("ip link set hxbt0 up"), 0);
    int64_t up_ns = test_now_ns();
    int got = 0;
    do { /* the carrier takes a moment */
        CHECK(test_now_ns() - up_ns < INT64_C(10000000000));
        test_fill(p, descs, 1, 64);
        CHECK_EQ(hxb_packet_tx_burst(a, descs, 1), 1);
        usleep(1000);
        got = receive(b, p, 64);
    } while (got == 0);
}

void test_packet(void)
{
    struct test_pool p;
    uint64_t descs[8];
    char name[16];

    test_make_veth();
    test_start_eal();
    test_make_pool(&p, "p", STRIDE_JUMBO, 255, 0);
    refuse_wrong_arguments(&p);
    struct hxb_packet *a = open_end("hxbt0", &p);
    struct hxb_packet *b = open_end("hxbt1", &p);
    int wake = hxb_packet_fd(b);
    CHECK_EQ(hxb_wait(&wake, 1, -1, 0), 0);
    test_fill(&p, descs, 8, JUMBO);
    CHECK_EQ(hxb_packet_tx_burst(a, descs, 8), 8);
    CHECK_EQ(hxb_wait(&wake, 1, -1, 1000000), 1);
    receive_all(b, &p, 8, JUMBO);
    CHECK_EQ(hxb_wait(&wake, 1, -1, 0), 0);
    /* What one end sends it does not see itself. */
    CHECK_EQ(receive(a, &p, JUMBO), 0);
    as_queues(a, b, &p);
    keep_what_is_held(a, b, &p);
    pass_over_others(a, b, &p, false);
    pass_over_others(a, b, &p, true);
    overflow(a, b, &p);
    go_down(a, b, &p);
    be_renamed(a);
    CHECK_EQ(system("ip link del hxbt0"), 0);
    CHECK_EQ(hxb_packet_up(a), 0);
    CHECK_EQ(hxb_packet_name(a, name, sizeof(name)), -ENODEV);
    CHECK_EQ(hxb_packet_close(a), 0);
    CHECK_EQ(hxb_packet_close(b), 0);
    CHECK_EQ(hxb_packet_close(NULL), -EINVAL);
    test_free_pool(&p);
}

/* On a shaped link a burst takes what the send buffer has room for, never waits, and leaves nothing. */
void test_packet_shaped(void)
{
    struct test_pool p;
    struct rusage before, after;
    uint64_t descs[8];
    int sent = 0, cut = 0;

    test_make_veth();
    if (system("tc qdisc add dev hxbt0 root tbf rate 50mbit burst 10k limit 20m") != 0) {
        test_skip("no tbf; is iproute2's tc installed and the sch_tbf module loaded?");
    }
    test_start_eal();
    test_make_pool(&p, "p", STRIDE_JUMBO, 255, 0);
    struct hxb_packet *a = open_end("hxbt0", &p);
    struct hxb_packet *b = open_end("hxbt1", &p);
    int fd = hxb_packet_fd(a);
    /* Room for five frames, and the bucket lets one through: a burst of eight is cut. */
    CHECK_EQ(hxb_afpacket_sndbuf(fd, 65536), 65536);
    int64_t start = test_now_ns();
    /* 40 frames: fewer than the receiver's ring has slots. */
    while (sent < 40) {
        int n = 40 - sent < 8 ? 40 - sent : 8;
        test_fill(&p, descs, n, JUMBO);
        getrusage(RUSAGE_THREAD, &before);
        int taken = hxb_packet_tx_burst(a, descs, n);
        getrusage(RUSAGE_THREAD, &after);
        CHECK_EQ(after.ru_nvcsw, before.ru_nvcsw); /* who waits goes to sleep */
        CHECK(taken >= 0 && taken <= n);
        test_release(&p, descs + taken, n - taken);
        cut += taken < n;
        sent += taken;
        usleep(taken < n ? 1000 : 0);
    }
    CHECK(cut > 0);
    receive_all(b, &p, 40, JUMBO);
    /* The shaping bites: 40 frames less the bucket at 50 Mbit/s take 56 ms. */
    CHECK(test_now_ns() - start > INT64_C(50000000));
    CHECK_EQ(hxb_afpacket_outq(fd), 0);
    CHECK_EQ(hxb_packet_lost(a), 0);
    CHECK_EQ(hxb_packet_close(a), 0);
    CHECK_EQ(hxb_packet_close(b), 0);
    test_free_pool(&p);
}
