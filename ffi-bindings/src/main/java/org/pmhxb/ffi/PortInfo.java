package org.pmhxb.ffi;

/**
 * What DPDK says of a port.
 *
 * @param driver for example {@code net_ring}
 * @param device device name
 * @param interfaceIndex kernel interface, 0 = none
 * @param maxRxPacketBytes with FCS, as the driver says; net_af_packet always says 1,518
 * @param mtu as DPDK has it, which for net_af_packet is not the kernel's
 * @param maxQueues receive and transmit queues that the driver offers
 * @param queues configured ones
 * @param socket NUMA node, -1 = any
 */
public record PortInfo(
    String driver,
    String device,
    int interfaceIndex,
    long maxRxPacketBytes,
    int mtu,
    int maxQueues,
    int queues,
    int socket) {}
