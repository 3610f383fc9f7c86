/** Measures collectives: operations whose results are known, and runs of them. */
package org.pmhxb.cli.bench.collective;
