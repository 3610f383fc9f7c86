/* SPDX-License-Identifier: Apache-2.0 */
#include <sched.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "test.h"

bool test_huge;

static const struct {
    const char *name;
    void (*run)(void);
} tests[] = {
    {"layout", test_layout},
    {"eal", test_eal},
    {"sweep", test_sweep},
    {"affinity", test_affinity},
    {"region", test_region},
    {"wait", test_wait},
    {"pool", test_pool},
    {"pools", test_pools},
    {"alloc_release", test_alloc_release},
    {"references", test_references},
    {"recycle", test_recycle},
    {"crc", test_crc},
    {"seal", test_seal},
    {"ring", test_ring},
    {"ring_port", test_ring_port},
    {"tx_sealed", test_tx_sealed},
    {"wire", test_wire},
    {"wire_drops", test_wire_drops},
    {"null_port", test_null_port},
    {"found_port", test_found_port},
    {"mtu", test_mtu},
    {"refusals", test_refusals},
    {"stripped_tag", test_stripped_tag},
    {"limits", test_limits},
    {"full_heap", test_full_heap},
    {"no_eal", test_no_eal},
    {"line_before_eal", test_line_before_eal},
    {"shm_first_line", test_shm_first_line},
    {"shm_contended_descriptors", test_shm_contended_descriptors},
    {"eal_leaves", test_eal_leaves},
    {"port_errors", test_port_errors},
    {"memif", test_memif},
    {"memif_order", test_memif_order},
    {"memif_close", test_memif_close},
    {"memif_killed_client", test_memif_killed_client},
    {"memif_killed_server", test_memif_killed_server},
    {"memif_arguments", test_memif_arguments},
    {"memif_wrap", test_memif_wrap},
    {"memif_dpdk", test_memif_dpdk},
    {"memif_dpdk_returns", test_memif_dpdk_returns},
    {"memif_hostile_client", test_memif_hostile_client},
    {"memif_hostile_memory", test_memif_hostile_memory},
    {"memif_hostile_server", test_memif_hostile_server},
    {"memif_interrupts", test_memif_interrupts},
    {"memif_no_memory", test_memif_no_memory},
    {"shm", test_shm},
    {"shm_order", test_shm_order},
    {"shm_close", test_shm_close},
    {"shm_killed_client", test_shm_killed_client},
    {"shm_killed_server", test_shm_killed_server},
    {"line_gifts", test_line_gifts},
    {"shm_hostile_peer", test_shm_hostile_peer},
    {"shm_hostile_server", test_shm_hostile_server},
    {"shm_sizes", test_shm_sizes},
    {"shm_bell", test_shm_bell},
    {"shm_no_descriptors", test_shm_no_descriptors},
    {"shm_no_memory", test_shm_no_memory},
    {"shm_sleepers", test_shm_sleepers},
    {"shm_falling_asleep", test_shm_falling_asleep},
    {"afpacket", test_afpacket},
    {"afpacket_shaped", test_afpacket_shaped},
    {"packet", test_packet},
    {"packet_shaped", test_packet_shaped},
};

void test_fail(const char *file, int line, const char *what)
{
    char log[8192];

    fprintf(stderr, "%s:%d: failed: %s\n", file, line, what);
    if (hxb_eal_log(log, sizeof(log)) > 0) {
        fprintf(stderr, "DPDK says:\n%s\n", log);
    }
    _exit(1);
}

void test_skip(const char *why)
{
    printf("skipped: %s\n", why);
    exit(TEST_SKIPPED);
}

static int free_hugepages(void)
{
    int pages = 0;
    FILE *f = fopen("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages", "r");

    if (f != NULL) {
        if (fscanf(f, "%d", &pages) != 1) {
            pages = 0;
        }
        fclose(f);
    }
    return pages;
}

void test_make_veth(void)
{
    if (unshare(CLONE_NEWNET) != 0) {
        test_skip("no right to make a network namespace; run as root");
    }
    /* Without IPv6, so that the kernel sends nothing of its own. */
    if (system("ip link add hxbt0 mtu 9000 type veth peer name hxbt1 mtu 9000 && "
               "{ f=/proc/sys/net/ipv6/conf/all/disable_ipv6; test ! -e $f || echo 1 > $f; } && "
               "ip link set hxbt0 up && ip link set hxbt1 up") != 0) {
        test_skip("no veth pair; is iproute2 installed and the veth module loaded?");
    }
}

void test_start_eal(void)
{
    const char *huge[] = {"test", "--no-pci", "--no-telemetry", "--iova-mode=va", "--in-memory"};
    const char *small[] = {"test",      "--no-pci",    "--no-telemetry", "--iova-mode=va",
                           "--no-huge", "--no-shconf", "-m",             "64"};

    CHECK_EQ(test_huge ? hxb_eal_init(5, huge) : hxb_eal_init(8, small), 0);
}

void test_make_pool(struct test_pool *p, const char *name, uint32_t stride, uint32_t count,
                    uint32_t cache)
{
    struct hxb_pool_config config = {
        .stride_bytes = stride, .count = count, .cache = cache, .socket = -1};

    CHECK_EQ(hxb_region_map((uint64_t)(count + 1) * stride, test_huge, &p->region), 0);
    config.base = p->region.address;
    config.region_bytes = p->region.length;
    config.page_bytes = p->region.page_bytes;
    snprintf(config.name, sizeof(config.name), "%s", name);
    CHECK_EQ(hxb_pool_create(&config, &p->pool), 0);
    p->stride = stride;
    p->count = count;
}

void test_free_pool(struct test_pool *p)
{
    CHECK_EQ(hxb_pool_avail(p->pool), p->count);
    CHECK_EQ(hxb_pool_destroy(p->pool), 0);
    CHECK_EQ(hxb_region_unmap(&p->region), 0);
}

uint8_t *test_frame(const struct test_pool *p, uint64_t desc)
{
    uint64_t id = desc & HXB_DESC_ID_MASK;

    return (uint8_t *)(uintptr_t)(p->region.address + id * p->stride + HXB_FRAME_OFFSET);
}

void test_fill(const struct test_pool *p, uint64_t *descs, int n, uint32_t length)
{
    uint32_t ids[HXB_BURST_MAX];

    CHECK(n <= HXB_BURST_MAX);
    CHECK_EQ(hxb_pool_alloc_bulk(p->pool, ids, n), n);
    for (int i = 0; i < n; i++) {
        descs[i] = test_desc(ids[i], length);
        uint8_t *frame = test_frame(p, descs[i]);
        memset(frame, (int)(ids[i] & 0xff), length);
        memset(frame, 0xff, 6);
        frame[12] = 0x88; /* an EtherType for experiments, so that no stack takes it up */
        frame[13] = 0xb5;
    }
}

void test_release(const struct test_pool *p, const uint64_t *descs, int n)
{
    for (int i = 0; i < n; i++) {
        uint32_t id = descs[i] & HXB_DESC_ID_MASK;
        CHECK_EQ(hxb_pool_release_bulk(p->pool, &id, 1), 1);
    }
}

int64_t test_now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: %s TEST huge|nohuge\n", argv[0]);
        return 2;
    }
    test_huge = strcmp(argv[2], "huge") == 0;
    if (test_huge && free_hugepages() < 64) {
        test_skip("fewer than 64 free hugepages of 2 MB; sysctl -w vm.nr_hugepages=512");
    }
    for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
        if (strcmp(tests[i].name, argv[1]) == 0) {
            tests[i].run();
            return 0;
        }
    }
    fprintf(stderr, "no test %s\n", argv[1]);
    return 2;
}
