/**
 * What a packet costs: the loops that drive the production node, and beside it its twin in C
 * (native/bench), over the same rings and buffers. JMH (jmh/) wraps them, {@code hxb bench
 * packet-cost} runs them in turn and prints the ratio. Nothing here is part of the product.
 */
package org.pmhxb.cost;
