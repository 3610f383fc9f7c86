/* SPDX-License-Identifier: Apache-2.0 */
/*
 * net_af_packet on a veth pair in a network namespace of this process's own, which ends with it.
 * Both ends are ports of this process.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "test.h"

#define JUMBO 9014
#define SEND_BUFFER 262144
/* Blocks are whole pages, and the driver takes frames to lie one after the other across blocks: two
 * frames fill a block of five pages. 9,014 bytes need a framesz of 9,088 at least. */
#define RING_ARGS "framesz=10240,blocksz=20480,framecnt=512,qdisc_bypass=0"

static int open_port(const char *name, const char *interface, struct test_pool *p)
{
    struct hxb_port_config config = {.queues = 1};
    char args[128];

    snprintf(args, sizeof(args), "iface=%s,%s", interface, RING_ARGS);
    int port = hxb_port_attach(name, args);
    CHECK(port >= 0);
    CHECK_EQ(hxb_port_configure(port, &config, &p->pool), 0);
    CHECK_EQ(hxb_port_start(port), 0);
    return port;
}

static int receive(int port, struct test_pool *p, uint32_t length)
{
    uint64_t descs[32];
    int n = hxb_rx_burst(port, 0, p->pool, descs, 32);

    CHECK(n >= 0);
    for (int i = 0; i < n; i++) {
        uint8_t *frame = test_frame(p, descs[i]);
        CHECK_EQ(descs[i] >> HXB_DESC_LENGTH_SHIFT, length);
        CHECK_EQ(frame[12] << 8 | frame[13], 0x88b5);
        CHECK_EQ(frame[length - 1], frame[14]);
    }
    test_release(p, descs, n);
    return n;
}

void test_afpacket(void)
{
    struct test_pool p;
    uint64_t descs[8];

    test_make_veth();
    test_start_eal();
    test_make_pool(&p, "p", STRIDE_JUMBO, 255, 0);
    int a = open_port("net_af_packet0", "hxbt0", &p);
    int b = open_port("net_af_packet1", "hxbt1", &p);
    CHECK_EQ(hxb_interface_mtu("hxbt0"), 9000);
    CHECK_EQ(hxb_interface_mtu("nosuch"), -ENODEV);
    CHECK_EQ(hxb_afpacket_fd("nosuch", 0), -ENODEV);
    CHECK_EQ(hxb_afpacket_fd("lo", 0), -ENOENT);
    int fa = hxb_afpacket_fd("hxbt0", 0);
    int fb = hxb_afpacket_fd("hxbt1", 0);
    CHECK(fa >= 0 && fb >= 0 && fa != fb);
    CHECK_EQ(hxb_afpacket_fd("hxbt0", 1), -ENOENT);
    CHECK_EQ(hxb_afpacket_sndbuf(fa, SEND_BUFFER), SEND_BUFFER);
    CHECK_EQ(hxb_afpacket_sndbuf(fa, 0), -EINVAL);
    CHECK_EQ(hxb_afpacket_outq(-1), -EBADF);

    /* The socket is the wake-up of the receiver: readable after a frame, not before. */
    CHECK_EQ(hxb_wait(&fb, 1, -1, 0), 0);
    test_fill(&p, descs, 3, JUMBO);
    CHECK_EQ(hxb_tx_burst(a, 0, p.pool, descs, 3), 3);
    CHECK_EQ(hxb_wait(&fb, 1, -1, 1000000), 1);
    int got = 0;
    for (int tries = 0; got < 3; tries++) {
        CHECK(tries < 1000);
        got += receive(b, &p, JUMBO);
        usleep(1000);
    }
    CHECK_EQ(hxb_wait(&fb, 1, -1, 0), 0);

    /* Frames that find the receive ring full are the kernel's to count. */
    CHECK_EQ(hxb_afpacket_drops(fb), 0);
    for (int i = 0; i < 75; i++) {
        test_fill(&p, descs, 8, 64);
        CHECK_EQ(hxb_tx_burst(a, 0, p.pool, descs, 8), 8);
    }
    usleep(50000);
    CHECK_EQ(hxb_afpacket_drops(fb), 600 - 512);
    CHECK_EQ(hxb_afpacket_drops(fb), 0);
    for (got = 0; got < 512;) {
        int n = receive(b, &p, 64);
        CHECK(n > 0);
        got += n;
    }

    /* The interface goes down: waiters wake once and not for ever, bursts take frames into the ring
     * without blocking; they leave when it is up again. */
    CHECK_EQ(hxb_interface_up("hxbt0"), 1);
    CHECK_EQ(hxb_interface_up("nosuch"), -ENODEV);
    int64_t down_ns = test_now_ns();
    CHECK_EQ(system("ip link set hxbt0 down"), 0);
    CHECK_EQ(hxb_interface_up("hxbt0"), 0);
    CHECK_EQ(hxb_wait(&fa, 1, -1, 1000000), 1);
    CHECK_EQ(hxb_wait(&fa, 1, -1, 0), 0);
    test_fill(&p, descs, 8, 64);
    CHECK_EQ(hxb_tx_burst(a, 0, p.pool, descs, 8), 8);
    CHECK_EQ(receive(b, &p, 64), 0);
    CHECK_EQ(hxb_afpacket_kick(fa), -ENETDOWN);
    CHECK_EQ(system("ip link set hxbt0 up"), 0);
    hxb_afpacket_kick(fa); /* may still answer for the time before */
    for (got = 0; got < 8;) {
        hxb_afpacket_kick(fa);
        hxb_wait(&fb, 1, -1, 100000);
        got += receive(b, &p, 64);
        CHECK(test_now_ns() - down_ns < INT64_C(10000000000));
    }
    CHECK_EQ(hxb_port_close(a), 0);
    CHECK_EQ(hxb_port_close(b), 0);
    CHECK_EQ(hxb_afpacket_fd("hxbt0", 0), -ENOENT);
    test_free_pool(&p);
}

static long voluntary_switches(void)
{
    struct rusage usage;

    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nvcsw;
}

/* Processor time of this thread: what others take meanwhile is not in it. */
static int64_t thread_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/*
 * On a shaped link: while what is offered fits by hxb_afpacket_outq, no burst blocks and no
 * accepted frame is left lying.
 */
void test_afpacket_shaped(void)
{
    struct test_pool p;
    uint64_t descs[8];
    int sent = 0, got = 0, most = 0;
    long slept = 0;
    int64_t spent = 0;

    test_make_veth();
    if (system("tc qdisc add dev hxbt0 root tbf rate 200mbit burst 32k limit 400k") != 0) {
        test_skip("no tbf; is iproute2's tc installed and the sch_tbf module loaded?");
    }
    test_start_eal();
    test_make_pool(&p, "p", STRIDE_JUMBO, 255, 0);
    int a = open_port("net_af_packet0", "hxbt0", &p);
    int b = open_port("net_af_packet1", "hxbt1", &p);
    int fd = hxb_afpacket_fd("hxbt0", 0);
    int wake = hxb_afpacket_fd("hxbt1", 0);
    CHECK(fd >= 0 && wake >= 0);
    int buffer = hxb_afpacket_sndbuf(fd, SEND_BUFFER);
    CHECK_EQ(buffer, SEND_BUFFER);

    int64_t start = test_now_ns();
    while (sent < 300) {
        int queued = hxb_afpacket_outq(fd);
        int room = (buffer - queued) / (JUMBO + HXB_AFPACKET_FRAME_OVERHEAD);
        most = queued > most ? queued : most;
        int n = room < 8 ? room : 8;
        n = n < 300 - sent ? n : 300 - sent;
        if (n <= 0) {
            got += receive(b, &p, JUMBO);
            hxb_wait(&wake, 1, -1, 500);
            continue;
        }
        test_fill(&p, descs, n, JUMBO);
        long before = voluntary_switches();
        int64_t t = thread_ns();
        CHECK_EQ(hxb_tx_burst(a, 0, p.pool, descs, n), n);
        spent += thread_ns() - t;
        slept += voluntary_switches() - before;
        sent += n;
    }
    int64_t offered = test_now_ns() - start;
    /* A burst that waits in poll() goes to sleep; one that asks over and over takes this thread's time, nearly all of
     * it. What interrupts it on a busy machine counts as its own, in single bursts. */
    CHECK_EQ(slept, 0);
    CHECK(spent < offered / 4);
    CHECK(most > buffer / 2);
    /* No further traffic, and all of them arrive. */
    for (int tries = 0; got < 300; tries++) {
        CHECK(tries < 2000);
        hxb_wait(&wake, 1, -1, 1000);
        got += receive(b, &p, JUMBO);
    }
    int64_t took = test_now_ns() - start;
    /* The shaping bites: 300 frames less the bucket at 200 Mbit/s take 106 ms. */
    CHECK(took > INT64_C(100000000));
    CHECK_EQ(hxb_afpacket_outq(fd), 0);
    CHECK_EQ(hxb_afpacket_kick(fd), 0);
    CHECK_EQ(hxb_port_close(a), 0);
    CHECK_EQ(hxb_port_close(b), 0);
    test_free_pool(&p);
}
