/* SPDX-License-Identifier: Apache-2.0 */
/* What jextract reads for the DPDK functions that are called without the shim (dpdk.allow). */
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_lcore.h>
#include <rte_mempool.h>
#include <rte_version.h>
