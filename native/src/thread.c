/* SPDX-License-Identifier: Apache-2.0 */
/* DPDK's view of the caller's threads, and CPU affinity. */
#include <pthread.h>
#include <sched.h>

#include <rte_lcore.h>

#include "internal.h"

HXB_API int hxb_thread_register(void)
{
    if (rte_lcore_id() != LCORE_ID_ANY) {
        return 0;
    }
    if (!hxb_eal_runs()) {
        return -ENODEV;
    }
    return rte_thread_register() < 0 ? hxb_rte_error(ENOMEM) : 0;
}

HXB_API void hxb_thread_unregister(void)
{
    /* DPDK ignores threads that are its own lcores or not registered. */
    rte_thread_unregister();
}

HXB_API int hxb_thread_pin(int cpu)
{
    cpu_set_t cpus;

    if (cpu < 0 || cpu >= CPU_SETSIZE) {
        return -EINVAL;
    }
    CPU_ZERO(&cpus);
    CPU_SET(cpu, &cpus);
    return -pthread_setaffinity_np(pthread_self(), sizeof(cpus), &cpus);
}

HXB_API int hxb_thread_affinity(uint64_t *words, int word_count)
{
    cpu_set_t cpus;

    if (words == NULL || word_count <= 0) {
        return -EINVAL;
    }
    int rc = pthread_getaffinity_np(pthread_self(), sizeof(cpus), &cpus);
    if (rc != 0) {
        return -rc;
    }
    for (int i = 0; i < word_count; i++) {
        words[i] = 0;
    }
    for (int cpu = 0; cpu < CPU_SETSIZE && cpu < word_count * 64; cpu++) {
        if (CPU_ISSET(cpu, &cpus)) {
            words[cpu / 64] |= UINT64_C(1) << (cpu % 64);
        }
    }
    return CPU_COUNT(&cpus);
}

HXB_API int hxb_thread_set_affinity(const uint64_t *words, int word_count)
{
    cpu_set_t cpus;

    if (words == NULL || word_count <= 0) {
        return -EINVAL;
    }
    CPU_ZERO(&cpus);
    for (int cpu = 0; cpu < CPU_SETSIZE && cpu < word_count * 64; cpu++) {
        if ((words[cpu / 64] >> (cpu % 64)) & 1) {
            CPU_SET(cpu, &cpus);
        }
    }
    return -pthread_setaffinity_np(pthread_self(), sizeof(cpus), &cpus);
}
