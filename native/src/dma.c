/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What physical devices reach of the pools' memory. DPDK keeps a place for each region that it is told of, 128 in
 * all, so it is told when the first device asks that needs it, and untold with the last: virtual devices look at
 * addresses alone.
 *
 * Control path, by one thread at a time, as the calls on ports are.
 */
#include <string.h>

#include <rte_bus.h>
#include <rte_dev.h>
#include <rte_eal.h>
#include <rte_memory.h>

#include "internal.h"

/* Of which pool a port's queue has the region mapped. */
static struct mapping {
    uint64_t base; /* 0: none */
    uint64_t bytes;
} mappings[RTE_MAX_ETHPORTS][HXB_QUEUES_MAX];

static bool is_mapped(uint64_t base)
{
    for (int port = 0; port < RTE_MAX_ETHPORTS; port++) {
        for (int q = 0; q < HXB_QUEUES_MAX; q++) {
            if (mappings[port][q].base == base) {
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
    bool first = !is_mapped(pool->base);
    if (first &&
        rte_extmem_register(address, pool->region_bytes, NULL, 0, pool->page_bytes) != 0) {
        return hxb_rte_error(EINVAL);
    }
    /* Drivers that fail may leave it as it was. ENOTSUP: a bus without an IOMMU. EEXIST: another device of the
     * group has done it. */
    rte_errno = 0;
    if (rte_dev_dma_map(device, address, pool->base, pool->region_bytes) != 0 &&
        rte_errno != ENOTSUP && rte_errno != EEXIST) {
        int error = hxb_rte_error(EIO);
        if (first) {
            rte_extmem_unregister(address, pool->region_bytes);
        }
        return error;
    }
    m->base = pool->base;
    m->bytes = pool->region_bytes;
    return 0;
}

void hxb_dma_unmap(int port, int queue, struct rte_device *device)
{
    struct mapping m = mappings[port][queue];

    mappings[port][queue].base = 0;
    /* Devices of one VFIO container share what one of them has mapped. */
    if (m.base != 0 && !is_mapped(m.base)) {
        void *address = (void *)(uintptr_t)m.base;
        rte_dev_dma_unmap(device, address, m.base, m.bytes);
        rte_extmem_unregister(address, m.bytes);
    }
}
