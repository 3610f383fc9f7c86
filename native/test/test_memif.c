/* SPDX-License-Identifier: Apache-2.0 */
/* Two processes over net_memif, each with a pool of its own. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

#define FRAMES 200
#define LENGTH 9014

static int open_port(struct test_pool *p, const char *role, const char *socket)
{
    struct hxb_port_config config = {.queues = 1};
    char args[256];

    test_start_eal();
    test_make_pool(p, "p", 14, 511, 0);
    /* An abstract socket: nothing of it is left after a kill, so no later client can wait for a
     * dead server's. bsize: one frame, one memif buffer. zero-copy would move data out of the
     * pool's strides. */
    snprintf(args, sizeof(args), "role=%s,id=0,socket=%s,socket-abstract=yes,bsize=9216,rsize=8,"
             "zero-copy=no", role, socket);
    int port = hxb_port_attach("net_memif0", args);
    CHECK(port >= 0);
    CHECK_EQ(hxb_port_configure(port, &config, &p->pool), 0);
    /* The client cannot start before the server has made its socket. */
    int rc = hxb_port_start(port);
    for (int i = 0; rc == -EIO && role[0] == 'c'; i++) {
        CHECK(i < 1000);
        usleep(10000);
        rc = hxb_port_start(port);
    }
    CHECK_EQ(rc, 0);
    for (int i = 0; hxb_port_link(port) == 0; i++) {
        CHECK(i < 1000);
        usleep(10000);
    }
    return port;
}

static void send_all(int port, struct test_pool *p)
{
    uint64_t descs[20];

    for (int sent = 0; sent < FRAMES; sent += 20) {
        test_fill(p, descs, 20, LENGTH);
        for (int done = 0, tries = 0; done < 20; tries++) {
            int n = hxb_tx_burst(port, 0, p->pool, descs + done, 20 - done);
            CHECK(n >= 0);
            done += n;
            if (n == 0) {
                CHECK(tries < 10000);
                usleep(1000);
            }
        }
    }
}

static void receive_all(int port, struct test_pool *p)
{
    uint64_t descs[32];
    int got = 0;

    for (int tries = 0; got < FRAMES; tries++) {
        int n = hxb_rx_burst(port, 0, p->pool, descs, 32);
        CHECK(n >= 0);
        for (int i = 0; i < n; i++) {
            uint8_t *frame = test_frame(p, descs[i]);
            CHECK_EQ(descs[i] >> HXB_DESC_LENGTH_SHIFT, LENGTH);
            CHECK_EQ(frame[12] << 8 | frame[13], 0x88b5);
            CHECK_EQ(frame[LENGTH - 1], frame[14]);
        }
        test_release(p, descs, n);
        got += n;
        if (n == 0) {
            CHECK(tries < 10000);
            usleep(1000);
        }
    }
}

void test_memif(void)
{
    char socket[64];
    struct test_pool p;
    int status;

    snprintf(socket, sizeof(socket), "pmhxb-test-%d", getpid());
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        int port = open_port(&p, "client", socket);
        send_all(port, &p);
        receive_all(port, &p);
        CHECK_EQ(hxb_port_close(port), 0);
        test_free_pool(&p);
        _exit(0);
    }
    int port = open_port(&p, "server", socket);
    receive_all(port, &p);
    send_all(port, &p);
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK_EQ(hxb_port_close(port), 0);
    test_free_pool(&p);
}
