/* SPDX-License-Identifier: Apache-2.0 */
/* The pool's memory: one memfd, mapped once, gone with the last process that maps it. */
#include <linux/memfd.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "internal.h"

#define HUGE_BYTES (UINT64_C(2) << 20)
/* Where the next region is asked for: an IOMMU may know no more than 39 bits of an address, and mmap's own choice
 * has 47. Behind the JVM's heap and EAL's memory; where something is already, mmap goes elsewhere. */
static atomic_ullong wished_address = UINT64_C(1) << 37;

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif

int hxb_populate(void *address, uint64_t bytes)
{
    if (madvise(address, bytes, MADV_POPULATE_WRITE) == 0) {
        return 0;
    }
    /* EFAULT: what would be SIGBUS. EINVAL: an older kernel; MAP_POPULATE did what can be done there. */
    return errno == EINVAL ? 0 : errno == EFAULT ? -ENOMEM : -errno;
}

HXB_API int hxb_region_map(uint64_t length, int huge, struct hxb_region *region)
{
    if (region == NULL || length == 0 || length > (UINT64_C(1) << 46)) {
        return -EINVAL;
    }
    uint64_t page = huge ? HUGE_BYTES : (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t bytes = (length + page - 1) & ~(page - 1);
    unsigned int flags = MFD_CLOEXEC | (huge ? MFD_HUGETLB | MFD_HUGE_2MB : 0);
    int fd = memfd_create("pmhxb-pool", flags);

    if (fd < 0) {
        /* A kernel without 2 MiB pages says EINVAL or ENODEV: to the caller that is "none free". */
        return huge && (errno == EINVAL || errno == ENODEV) ? -ENOMEM : -errno;
    }
    if (ftruncate(fd, (off_t)bytes) != 0) {
        int error = -errno;
        close(fd);
        return error;
    }
    /* Hugepages that are not free: ENOMEM here. */
    uint64_t wished = atomic_fetch_add(&wished_address, (bytes + HUGE_BYTES - 1) & ~(HUGE_BYTES - 1));
    void *address = mmap((void *)(uintptr_t)wished, bytes, PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_POPULATE, fd, 0);
    if (address == MAP_FAILED) {
        int error = -errno;
        close(fd);
        return error;
    }
    int rc = hxb_populate(address, bytes);
    if (rc < 0) {
        munmap(address, bytes);
        close(fd);
        return rc;
    }
    memset(region, 0, sizeof(*region));
    region->address = (uint64_t)(uintptr_t)address;
    region->length = bytes;
    region->page_bytes = page;
    region->fd = fd;
    region->huge = huge ? 1 : 0;
    return 0;
}

HXB_API int hxb_region_unmap(struct hxb_region *region)
{
    if (region == NULL || region->address == 0) {
        return -EINVAL;
    }
    if (munmap((void *)(uintptr_t)region->address, region->length) != 0) {
        return -errno;
    }
    close(region->fd);
    memset(region, 0, sizeof(*region));
    region->fd = -1;
    return 0;
}
