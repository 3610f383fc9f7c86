/* SPDX-License-Identifier: Apache-2.0 */
/* Versions, layout, EAL start, memory and waiting. */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rte_mbuf.h>

#include "test.h"

void test_layout(void)
{
    CHECK_EQ(hxb_abi_version(), HXB_ABI_VERSION);
    CHECK_EQ(strncmp(hxb_dpdk_built(), "DPDK ", 5), 0);
    CHECK_EQ(strcmp(hxb_dpdk_built(), hxb_dpdk_running()), 0);
    CHECK_EQ(hxb_layout(HXB_LAYOUT_MBUF_SIZE), sizeof(struct rte_mbuf));
    CHECK_EQ(hxb_layout(HXB_LAYOUT_MBUF_REFCNT), offsetof(struct rte_mbuf, refcnt));
    CHECK_EQ(hxb_layout(HXB_LAYOUT_HEADROOM), HXB_FRAME_OFFSET);
    for (int item = 0; item < HXB_LAYOUT_ITEMS; item++) {
        CHECK(hxb_layout(item) >= 0);
    }
    CHECK_EQ(hxb_layout(HXB_LAYOUT_ITEMS), -EINVAL);
    CHECK_EQ(hxb_layout(-1), -EINVAL);
}

void test_eal(void)
{
    const char *leaves[] = {"test", "--help"};
    const char *again[] = {"test", "--no-huge"};
    char log[4096];

    CHECK_EQ(hxb_eal_cleanup(), -ENODEV);
    CHECK_EQ(hxb_eal_init(0, NULL), -EINVAL);
    /* EAL would print its usage and leave the process. */
    CHECK_EQ(hxb_eal_init(2, leaves), -EINVAL);
    test_start_eal();
    CHECK(hxb_eal_log(log, sizeof(log)) > 0);
    CHECK(strstr(log, "EAL: ") != NULL);
    CHECK_EQ(hxb_eal_log(log, 5), 4);
    CHECK_EQ(strlen(log), 4);
    hxb_eal_log_clear();
    CHECK_EQ(hxb_eal_log(log, sizeof(log)), 0);
    CHECK_EQ(hxb_eal_log(log, 0), -EINVAL);
    CHECK_EQ(hxb_eal_init(2, again), -EALREADY);
    CHECK_EQ(hxb_eal_cleanup(), 0);
    CHECK_EQ(hxb_eal_cleanup(), -ENODEV);
}

void test_affinity(void)
{
    uint64_t before[16], after[16];

    int cpus = hxb_thread_affinity(before, 16);
    CHECK(cpus >= 1);
    test_start_eal();
    CHECK_EQ(hxb_thread_affinity(after, 16), cpus);
    CHECK_EQ(memcmp(before, after, sizeof(before)), 0);
    /* The EAL thread is registered from the start. */
    CHECK_EQ(hxb_thread_register(), 0);
    CHECK_EQ(hxb_thread_pin(-1), -EINVAL);
    int first = 0;
    while (((before[first / 64] >> (first % 64)) & 1) == 0) {
        first++;
    }
    CHECK_EQ(hxb_thread_pin(first), 0);
    CHECK_EQ(hxb_thread_affinity(after, 16), 1);
    CHECK_EQ(hxb_thread_set_affinity(before, 16), 0);
    CHECK_EQ(hxb_thread_affinity(after, 16), cpus);
}

void test_region(void)
{
    struct hxb_region r;

    CHECK_EQ(hxb_region_map(0, test_huge, &r), -EINVAL);
    CHECK_EQ(hxb_region_map(4096, test_huge, NULL), -EINVAL);
    CHECK_EQ(hxb_region_map(5000, test_huge, &r), 0);
    CHECK_EQ(r.page_bytes, test_huge ? 2 << 20 : sysconf(_SC_PAGESIZE));
    CHECK_EQ(r.length % r.page_bytes, 0);
    CHECK_EQ(r.address % r.page_bytes, 0);
    CHECK(r.length >= 5000);
    memset((void *)(uintptr_t)r.address, 0x5a, r.length);
    struct stat s;
    CHECK_EQ(fstat(r.fd, &s), 0);
    CHECK_EQ(s.st_size, r.length);
    int fd = r.fd;
    CHECK_EQ(hxb_region_unmap(&r), 0);
    CHECK_EQ(fstat(fd, &s), -1);
    CHECK_EQ(hxb_region_unmap(&r), -EINVAL);
    if (test_huge) {
        /* More hugepages than any machine has: a clean error, not a signal at the first touch. */
        CHECK_EQ(hxb_region_map(UINT64_C(1) << 45, 1, &r), -ENOMEM);
    }
}

void test_wait(void)
{
    int bell = hxb_event_create();
    CHECK(bell >= 0);
    int fds[2] = {-1, bell};

    int64_t start = test_now_ns();
    CHECK_EQ(hxb_wait(fds, 2, -1, 2000), 0);
    CHECK(test_now_ns() - start >= 2000000);
    CHECK_EQ(hxb_event_signal(bell), 0);
    CHECK_EQ(hxb_event_signal(bell), 0);
    /* As one of the descriptors it stays set; as the event it does not. */
    CHECK_EQ(hxb_wait(fds, 2, -1, -1), 1);
    CHECK_EQ(hxb_wait(fds, 1, bell, -1), 1);
    CHECK_EQ(hxb_wait(fds, 2, bell, 0), 0);
    CHECK_EQ(hxb_wait(NULL, 0, -1, 0), 0);
    CHECK_EQ(hxb_wait(fds, HXB_WAIT_MAX + 1, bell, 0), -EINVAL);
    /* What else is readable leaves it as it is. */
    int other = hxb_event_create();
    CHECK_EQ(hxb_event_signal(other), 0);
    CHECK_EQ(hxb_wait(&other, 1, bell, -1), 1);
    CHECK_EQ(hxb_event_signal(bell), 0);
    CHECK_EQ(hxb_wait(&other, 1, bell, -1), 2);
    CHECK_EQ(hxb_wait(&other, 1, bell, -1), 1);
    CHECK_EQ(hxb_event_close(other), 0);
    CHECK_EQ(hxb_event_close(bell), 0);
    CHECK_EQ(hxb_event_signal(bell), -EBADF);
}

static bool exists(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0;
}

/* A process killed while EAL starts leaves an empty directory: the next one takes it away. */
void test_sweep(void)
{
    char mine[32], prefix[64], dead[64], alive[64], other[64];
    int status;

    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        _exit(0);
    }
    CHECK_EQ(waitpid(child, &status, 0), child);
    /* Of this process alone: another run of this test may have the same parent. */
    snprintf(mine, sizeof(mine), "hxbsweep%d", getpid());
    snprintf(prefix, sizeof(prefix), "--file-prefix=%s-%d", mine, getpid());
    snprintf(dead, sizeof(dead), "/var/run/dpdk/%s-%d", mine, child);
    snprintf(alive, sizeof(alive), "/var/run/dpdk/%s-%d", mine, getppid());
    snprintf(other, sizeof(other), "/var/run/dpdk/%s-x%d", mine, child);
    if (geteuid() != 0) {
        test_skip("EAL's directory is /var/run/dpdk for root only");
    }
    mkdir("/var/run/dpdk", 0700);
    CHECK_EQ(mkdir(dead, 0700), 0);
    CHECK_EQ(mkdir(alive, 0700), 0);
    CHECK_EQ(mkdir(other, 0700), 0);
    const char *args[] = {"test", "--no-pci", "--no-telemetry", "--no-huge", "--no-shconf",
                          "-m", "64", prefix};
    int rc = hxb_eal_init(8, args);
    bool dead_left = exists(dead), alive_left = exists(alive), other_left = exists(other);
    rmdir(dead);
    rmdir(alive);
    rmdir(other);
    CHECK_EQ(rc, 0);
    CHECK(!dead_left);
    CHECK(alive_left);
    CHECK(other_left);
}

/* Whatever EAL would print its usage for and leave the process. */
void test_eal_leaves(void)
{
    static const char *const leaves[] = {"-h", "-hv", "-Vh", "--help", "--hel", "--he", "--log-level=help", "--log=help"};

    for (size_t i = 0; i < sizeof(leaves) / sizeof(leaves[0]); i++) {
        const char *args[] = {"test", "--no-huge", leaves[i]};
        int status;
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            int rc = hxb_eal_init(3, args);
            _exit(rc == -EINVAL ? 7 : 8);
        }
        CHECK_EQ(waitpid(child, &status, 0), child);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 7) {
            fprintf(stderr, "%s: status %x\n", leaves[i], status);
            CHECK_EQ(status, 7 << 8);
        }
    }
}
