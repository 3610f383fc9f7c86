/** Measures streams that compete for links, and what relays add. */
package org.pmhxb.cli.bench.contention;
