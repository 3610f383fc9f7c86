/* SPDX-License-Identifier: Apache-2.0 */
/* Versions, and the sizes and offsets that the Java side checks before its first other call. */
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>

#include <rte_version.h>

#include "internal.h"

_Static_assert(HXB_FRAME_OFFSET == RTE_PKTMBUF_HEADROOM, "frames begin at the mbuf headroom");
_Static_assert(sizeof(void *) == 8, "descriptors and tables assume 64-bit pointers");

static char built[48];
static pthread_once_t built_once = PTHREAD_ONCE_INIT;

static void write_built(void)
{
    /* The same words as rte_version(), so that the two compare as text. */
    snprintf(built, sizeof(built), "%s %d.%02d.%d", RTE_VER_PREFIX, RTE_VER_YEAR, RTE_VER_MONTH,
             RTE_VER_MINOR);
}

HXB_API int hxb_abi_version(void)
{
    return HXB_ABI_VERSION;
}

HXB_API const char *hxb_dpdk_built(void)
{
    pthread_once(&built_once, write_built);
    return built;
}

HXB_API const char *hxb_dpdk_running(void)
{
    return rte_version();
}

HXB_API int hxb_layout(int item)
{
    switch (item) {
    case HXB_LAYOUT_MBUF_SIZE: return sizeof(struct rte_mbuf);
    case HXB_LAYOUT_MBUF_BUF_ADDR: return offsetof(struct rte_mbuf, buf_addr);
    case HXB_LAYOUT_MBUF_DATA_OFF: return offsetof(struct rte_mbuf, data_off);
    case HXB_LAYOUT_MBUF_REFCNT: return offsetof(struct rte_mbuf, refcnt);
    case HXB_LAYOUT_MBUF_PKT_LEN: return offsetof(struct rte_mbuf, pkt_len);
    case HXB_LAYOUT_MBUF_DATA_LEN: return offsetof(struct rte_mbuf, data_len);
    case HXB_LAYOUT_HEADROOM: return RTE_PKTMBUF_HEADROOM;
    case HXB_LAYOUT_REGION_SIZE: return sizeof(struct hxb_region);
    case HXB_LAYOUT_POOL_CONFIG_SIZE: return sizeof(struct hxb_pool_config);
    case HXB_LAYOUT_POOL_CONFIG_NAME: return offsetof(struct hxb_pool_config, name);
    case HXB_LAYOUT_PORT_INFO_SIZE: return sizeof(struct hxb_port_info);
    case HXB_LAYOUT_PORT_INFO_DRIVER: return offsetof(struct hxb_port_info, driver);
    case HXB_LAYOUT_PORT_STATS_SIZE: return sizeof(struct hxb_port_stats);
    case HXB_LAYOUT_PORT_CONFIG_SIZE: return sizeof(struct hxb_port_config);
    case HXB_LAYOUT_MAX_PORTS: return RTE_MAX_ETHPORTS;
    case HXB_LAYOUT_ETH_STATS_SIZE: return sizeof(struct rte_eth_stats);
    case HXB_LAYOUT_POINTER_SIZE: return sizeof(void *);
    default: return -EINVAL;
    }
}
