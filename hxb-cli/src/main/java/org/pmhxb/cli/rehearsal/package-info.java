/** What takes a node's code through its life before it is anybody's node. */
package org.pmhxb.cli.rehearsal;
