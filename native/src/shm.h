/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines of our own. Beside memif a frame waits for fewer of the other processor's cache lines: it lies in the slot
 * itself, behind one word that says that it is there and how long it is; memif has an index, a descriptor, the
 * frame, and an index for what is done. What lies in the shared memory, a head and a ring of slots of each
 * direction:
 *
 *   head   consumed: frames that the receiver has copied, written now and then by it;
 *          doze: whether the receiver sleeps, or may soon (below)
 *   slot   word: (frames before this one + 1) << 16 | length in bytes; then the frame
 *
 * A slot belongs to its sender until its word is written, then to its receiver until `consumed` has
 * passed it. Numbers count modulo 2^48, more than slots a power of two, so slots need not be cleared.
 *
 * The peer is not trusted: whatever it writes, this end copies at most one frame out of a slot and looks at
 * the length once.
 */
#ifndef HXB_SHM_H
#define HXB_SHM_H

#include "line.h"

#define WORD_BYTES 8
#define LENGTH_BITS 16

/*
 * What a receiver says of itself, so that it can sleep until a frame comes. Of one that is awake a sender
 * only reads this word behind its frames, with no fence between: who falls asleep first has all
 * processors pass a barrier (hxb_barrier), behind which every sender finds the word changed, and looks
 * again behind a fence. To be drowsy spares a thread that sleeps often the barrier, and costs its senders the fence.
 */
enum hxb_doze { HXB_AWAKE, HXB_DROWSY, HXB_ASLEEP };

/* shm_burst.c: behind the gate. */
hxb_line_rx hxb_shm_rx_burst;
hxb_line_tx hxb_shm_tx_burst;

#endif
