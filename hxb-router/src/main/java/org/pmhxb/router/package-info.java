/**
 * Coordinates, shape, dimension-order routes, relays, discovery and node configuration: all that
 * knows of the hyper-crossbar. The protocol below sees node numbers and opaque paths only.
 */
package org.pmhxb.router;
