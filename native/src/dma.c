/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What physical devices reach of the pools' memory. DPDK keeps a place for each region that it is told of, 128 in
 * all, so it is told when the first device asks that needs it, and untold with the last: virtual devices look at
 * addresses alone.
 *
 * Control path, by one thread at a time, as the calls on ports are.
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <rte_bus.h>
#include <rte_dev.h>
#include <rte_eal.h>
#include <rte_memory.h>

#include "internal.h"

/* A test has a folder of its own. */
#ifndef HXB_PCI_DEVICES
#define HXB_PCI_DEVICES "/sys/bus/pci/devices"
#endif

/* What maps for one device of it maps for all: VFIO's container; else a driver's own, by its port's number. */
#define CONTAINER (-1)

/* Of which pool a port's queue has the region mapped. */
static struct mapping {
    uint64_t base; /* 0: none */
    uint64_t bytes;
    int domain;
} mappings[RTE_MAX_ETHPORTS][HXB_QUEUES_MAX];

/* ANY: whatever the domain. */
#define ANY (-2)

static bool is_mapped(uint64_t base, int domain)
{
    for (int port = 0; port < RTE_MAX_ETHPORTS; port++) {
        for (int q = 0; q < HXB_QUEUES_MAX; q++) {
            const struct mapping *m = &mappings[port][q];
            if (m->base == base && (domain == ANY || m->domain == domain)) {
                return true;
            }
        }
    }
    return false;
}

bool hxb_is_virtual(const struct rte_device *device)
{
    return device == NULL || strcmp(rte_bus_name(rte_dev_bus(device)), "vdev") == 0;
}

/* Whether the kernel's vfio-pci has the device, and no driver of its own. */
static bool is_of_vfio(const struct rte_device *device)
{
    char path[PATH_MAX], target[PATH_MAX];

    snprintf(path, sizeof(path), HXB_PCI_DEVICES "/%s/driver", rte_dev_name(device));
    ssize_t n = readlink(path, target, sizeof(target) - 1);
    if (n < 0) {
        return false;
    }
    target[n] = '\0';
    const char *name = strrchr(target, '/');
    return strcmp(name != NULL ? name + 1 : target, "vfio-pci") == 0;
}

/*
 * Once in a domain: EAL keeps each mapping that it is asked for, also of what is mapped already, and maps them all
 * anew when a container gets its first device again. It would be asked for memory that is there no more.
 */
int hxb_dma_map(int port, int queue, struct rte_device *device, const struct hxb_pool *pool)
{
    struct mapping *m = &mappings[port][queue];
    void *address = (void *)(uintptr_t)pool->base;

    if (hxb_is_virtual(device) || m->base == pool->base) {
        return 0;
    }
    /* Physical addresses, which another starter of EAL may have chosen: buffers have none. */
    if (rte_eal_iova_mode() != RTE_IOVA_VA) {
        return -ENOTSUP;
    }
    hxb_dma_unmap(port, queue, device);
    int domain = is_of_vfio(device) ? CONTAINER : port;
    bool first = !is_mapped(pool->base, ANY);
    if (first &&
        rte_extmem_register(address, pool->region_bytes, NULL, 0, pool->page_bytes) != 0) {
        return hxb_rte_error(EINVAL);
    }
    /* Drivers that fail may leave it as it was. ENOTSUP: a bus without an IOMMU. EEXIST: another device of the
     * group has done it. */
    rte_errno = 0;
    if (!is_mapped(pool->base, domain) &&
        rte_dev_dma_map(device, address, pool->base, pool->region_bytes) != 0 &&
        rte_errno != ENOTSUP && rte_errno != EEXIST) {
        int error = hxb_rte_error(EIO);
        if (first) {
            rte_extmem_unregister(address, pool->region_bytes);
        }
        return error;
    }
    *m = (struct mapping){pool->base, pool->region_bytes, domain};
    return 0;
}

void hxb_dma_unmap(int port, int queue, struct rte_device *device)
{
    struct mapping m = mappings[port][queue];
    void *address = (void *)(uintptr_t)m.base;

    mappings[port][queue].base = 0;
    if (m.base == 0) {
        return;
    }
    if (!is_mapped(m.base, m.domain)) {
        rte_dev_dma_unmap(device, address, m.base, m.bytes);
    }
    if (!is_mapped(m.base, ANY)) {
        rte_extmem_unregister(address, m.bytes);
    }
}
