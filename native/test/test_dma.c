/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What EAL is told of the pools' memory for physical devices, of which this machine has none: EAL is played here.
 * Each map that it was asked for has to be taken back before the memory goes, for it remembers them.
 */
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <rte_dev.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_memory.h>

#include "internal.h"

#define CHECK_EQ(actual, expected)                                                                            \
    do {                                                                                                      \
        long actual_ = (long)(actual), expected_ = (long)(expected);                                          \
        if (actual_ != expected_) {                                                                           \
            fprintf(stderr, "line %d: %s is %ld, not %ld\n", __LINE__, #actual, actual_, expected_);          \
            exit(1);                                                                                          \
        }                                                                                                     \
    } while (0)

/* ---- EAL --------------------------------------------------------------------------------------------- */

struct rte_device {
    const char *name;
    const char *bus;
    int maps;
};

__thread int per_lcore__rte_errno;
static enum rte_iova_mode mode = RTE_IOVA_VA;
static int registered, refusal;

const char *rte_dev_name(const struct rte_device *device)
{
    return device->name;
}

const struct rte_bus *rte_dev_bus(const struct rte_device *device)
{
    return (const void *)device->bus;
}

const char *rte_bus_name(const struct rte_bus *bus)
{
    return (const char *)bus;
}

enum rte_iova_mode rte_eal_iova_mode(void)
{
    return mode;
}

int rte_dev_dma_map(struct rte_device *device, void *address, uint64_t iova, size_t bytes)
{
    (void)address, (void)iova, (void)bytes;
    if (refusal != 0) {
        per_lcore__rte_errno = refusal;
        return -1;
    }
    device->maps++;
    return 0;
}

int rte_dev_dma_unmap(struct rte_device *device, void *address, uint64_t iova, size_t bytes)
{
    (void)address, (void)iova, (void)bytes;
    device->maps--;
    return 0;
}

int rte_extmem_register(void *address, size_t bytes, rte_iova_t *iovas, unsigned int pages, size_t page_bytes)
{
    (void)address, (void)bytes, (void)iovas, (void)pages, (void)page_bytes;
    registered++;
    return 0;
}

int rte_extmem_unregister(void *address, size_t bytes)
{
    (void)address, (void)bytes;
    registered--;
    return 0;
}

/* ---- The machine's devices --------------------------------------------------------------------------- */

static void driver_of(const char *device, const char *driver)
{
    char path[PATH_MAX];

    snprintf(path, sizeof(path), HXB_PCI_DEVICES "/%s", device);
    mkdir(path, 0700);
    snprintf(path, sizeof(path), HXB_PCI_DEVICES "/%s/driver", device);
    unlink(path);
    CHECK_EQ(symlink(driver, path), 0);
}

int main(void)
{
    struct hxb_pool pool = {.base = 1 << 21, .region_bytes = 1 << 21, .page_bytes = 1 << 21};
    struct rte_device a = {"0000:01:00.0", "pci", 0}, b = {"0000:01:00.1", "pci", 0};
    struct rte_device own = {"0000:02:00.0", "pci", 0}, ring = {"net_ring0", "vdev", 0};

    mkdir(HXB_PCI_DEVICES, 0700);
    driver_of(a.name, "../../../bus/pci/drivers/vfio-pci");
    driver_of(b.name, "../../../bus/pci/drivers/vfio-pci");
    driver_of(own.name, "../../../bus/pci/drivers/mlx5_core");

    /* Two of one container, one of them with two queues. */
    CHECK_EQ(hxb_dma_map(0, 0, &a, &pool), 0);
    CHECK_EQ(hxb_dma_map(0, 1, &a, &pool), 0);
    CHECK_EQ(hxb_dma_map(1, 0, &b, &pool), 0);
    CHECK_EQ(a.maps + b.maps, 1);
    CHECK_EQ(registered, 1);
    /* A driver that maps by itself, once whatever its queues. */
    CHECK_EQ(hxb_dma_map(2, 0, &own, &pool), 0);
    CHECK_EQ(hxb_dma_map(2, 1, &own, &pool), 0);
    CHECK_EQ(own.maps, 1);
    CHECK_EQ(registered, 1);
    /* Virtual ones look at addresses. */
    CHECK_EQ(hxb_dma_map(3, 0, &ring, &pool), 0);
    CHECK_EQ(ring.maps, 0);

    hxb_dma_unmap(0, 0, &a);
    hxb_dma_unmap(0, 1, &a);
    CHECK_EQ(a.maps + b.maps, 1);
    hxb_dma_unmap(1, 0, &b);
    CHECK_EQ(a.maps + b.maps, 0);
    CHECK_EQ(own.maps, 1);
    CHECK_EQ(registered, 1);
    hxb_dma_unmap(2, 1, &own);
    CHECK_EQ(own.maps, 1);
    hxb_dma_unmap(2, 0, &own);
    CHECK_EQ(own.maps, 0);
    CHECK_EQ(registered, 0);

    /* Nothing of what is refused is left. */
    refusal = ENOMEM;
    CHECK_EQ(hxb_dma_map(0, 0, &a, &pool), -ENOMEM);
    CHECK_EQ(registered, 0);
    refusal = 0;
    mode = RTE_IOVA_PA;
    CHECK_EQ(hxb_dma_map(0, 0, &a, &pool), -ENOTSUP);
    CHECK_EQ(a.maps + b.maps, 0);
    CHECK_EQ(registered, 0);
    return 0;
}
