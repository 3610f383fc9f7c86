/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libpmhxb: the small C side of PM/Ethernet-HXB for Java.
 *
 * It holds what DPDK offers only as inline functions or macros (burst calls, mbuf and ring access),
 * what must be done next to the C library (EAL start, affinity, memfd, AF_PACKET sockets), and the
 * sizes and offsets of every struct that Java reads; and the switches between rings of one process,
 * which are no part of a node. It holds no protocol.
 *
 * Conventions, valid for every function here:
 *  - Results are >= 0; failures are a negative errno. Nothing exits and nothing prints.
 *  - Pointers passed in must be valid for the call; none is kept after it unless said so.
 *  - "Control path" functions may block, allocate and make system calls. "Packet path" functions
 *    never allocate and take no lock of their own.
 *  - -ENODEV also: EAL does not run, which pools, rings, ports and registered threads need.
 *  - One receive queue and one transmit queue has one thread at a time.
 */
#ifndef PMHXB_H
#define PMHXB_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Raised by every change that an older caller would not survive. */
#define HXB_ABI_VERSION 9

/* ---- Packet descriptors -------------------------------------------------------------------------
 * One 64-bit word per frame:
 *   bits 0-23 buffer ID | bits 24-31 flags | bits 32-47 frame length in bytes | bits 48-63 zero
 * The length counts from the destination MAC to the end of the payload, without FCS.
 */
#define HXB_DESC_ID_MASK 0xffffffu
#define HXB_DESC_LENGTH_SHIFT 32
#define HXB_DESC_LENGTH_MASK 0xffffu
/* Transmit only: the caller keeps its own reference beside the one that the port takes. */
#define HXB_DESC_HOLD (1u << 24)
/* hxb_seal only: the frame has no CRC yet. Others do not look at it. */
#define HXB_DESC_SEAL (1u << 25)
/* Written by hxb_rx_bursts only: the frame carries its own CRC32C. Others do not look at it. */
#define HXB_DESC_INTACT (1u << 26)

/* From the beginning of a buffer to byte 0 of its Ethernet header: RTE_PKTMBUF_HEADROOM. */
#define HXB_FRAME_OFFSET 128
/*
 * Bytes from buffer to buffer: a multiple of HXB_STRIDE_UNIT, HXB_STRIDE_MIN to HXB_STRIDE_MAX
 * (DPDK's element size has 16 bits). An odd multiple puts the frames of neighbours into different
 * sets of caches and translation buffers; a power of two puts those of a burst into one set of a
 * first-level cache.
 */
#define HXB_STRIDE_UNIT 128
#define HXB_STRIDE_MIN 256
#define HXB_STRIDE_MAX 32768
/* Longest frame that a buffer holds. */
#define HXB_FRAME_MAX(stride_bytes) ((uint32_t)(stride_bytes) - HXB_FRAME_OFFSET)
/* A burst call moves at most this many frames; a longer request is cut to it. */
#define HXB_BURST_MAX 256
/* Queues of one port (limit of net_ring) and buffers of one pool (24-bit IDs, ID 0 = none). */
#define HXB_QUEUES_MAX 16
#define HXB_BUFFERS_MAX 0xffffff
#define HXB_MIN_FRAME 14

/* ---- Version and layout ---------------------------------------------------------------------- */

/* What hxb_layout() answers; a value is the sizeof or offsetof in bytes named by the constant. */
enum hxb_layout_item {
    HXB_LAYOUT_MBUF_SIZE = 0,
    HXB_LAYOUT_MBUF_BUF_ADDR = 1,
    HXB_LAYOUT_MBUF_DATA_OFF = 2,
    HXB_LAYOUT_MBUF_REFCNT = 3,
    HXB_LAYOUT_MBUF_PKT_LEN = 4,
    HXB_LAYOUT_MBUF_DATA_LEN = 5,
    HXB_LAYOUT_HEADROOM = 6,
    HXB_LAYOUT_REGION_SIZE = 7,
    HXB_LAYOUT_POOL_CONFIG_SIZE = 8,
    HXB_LAYOUT_POOL_CONFIG_NAME = 9,
    HXB_LAYOUT_PORT_INFO_SIZE = 10,
    HXB_LAYOUT_PORT_INFO_DRIVER = 11,
    HXB_LAYOUT_PORT_STATS_SIZE = 12,
    HXB_LAYOUT_PORT_CONFIG_SIZE = 13,
    HXB_LAYOUT_MAX_PORTS = 14, /* RTE_MAX_ETHPORTS of the DPDK compiled against, not bytes */
    HXB_LAYOUT_ETH_STATS_SIZE = 15,
    HXB_LAYOUT_POINTER_SIZE = 16,
    HXB_LAYOUT_ITEMS = 17
};

int hxb_abi_version(void);
/* Static text, e.g. "DPDK 22.11.11": the DPDK that this library was compiled against. */
const char *hxb_dpdk_built(void);
/* Static text: the DPDK that the process runs. */
const char *hxb_dpdk_running(void);
/* sizeof/offsetof as named by enum hxb_layout_item; -EINVAL for an unknown item. */
int hxb_layout(int item);

/* ---- EAL (control path) ---------------------------------------------------------------------- */

/*
 * rte_eal_init, once per process (-EALREADY after the first call, also after a failed one: EAL does
 * not come back from a failed start). args[0] is the program name. One lcore, on the first CPU of
 * the caller's affinity unless args choose otherwise. The caller's CPU affinity is kept. DPDK's log
 * goes to a memory ring (hxb_eal_log) and nowhere else.
 */
int hxb_eal_init(int argc, const char *const *argv);
int hxb_eal_cleanup(void);
/* Copies the newest log text, NUL-terminated, oldest line first; returns its length. */
int hxb_eal_log(char *text, int capacity);
/* Forgets the log so far, so that a later hxb_eal_log shows one call's lines only. */
void hxb_eal_log_clear(void);

/* ---- Threads (control path) ------------------------------------------------------------------ */

/* Gives the calling thread a DPDK lcore number, hence the mempools' per-thread cache. */
int hxb_thread_register(void);
void hxb_thread_unregister(void);
/* Pins the calling thread to one CPU. */
int hxb_thread_pin(int cpu);
/* The calling thread's CPUs: bit c of words[c / 64]; returns how many are set. */
int hxb_thread_affinity(uint64_t *words, int word_count);
int hxb_thread_set_affinity(const uint64_t *words, int word_count);

/* ---- Memory (control path) ------------------------------------------------------------------- */

/* A memfd, mapped once; the kernel takes it back when the last process that maps it ends. */
struct hxb_region {
    uint64_t address;
    uint64_t length;     /* bytes, rounded up to whole pages */
    uint64_t page_bytes; /* 2 MiB or the system's small page */
    int32_t fd;
    int32_t huge; /* 1: hugepages */
};

/*
 * Maps at least `length` bytes. huge != 0 asks for 2 MiB pages: -ENOMEM when too few are free (the
 * caller may try again without). All pages are present on return.
 */
int hxb_region_map(uint64_t length, int huge, struct hxb_region *region);
int hxb_region_unmap(struct hxb_region *region);

/* ---- Pool ------------------------------------------------------------------------------------ */

struct hxb_pool; /* opaque */

struct hxb_pool_config {
    uint64_t base;         /* address of the region; buffer i lies at base + i * stride_bytes */
    uint64_t region_bytes; /* whole region, a multiple of page_bytes */
    uint64_t page_bytes;   /* page size of the mapping */
    uint32_t stride_bytes; /* see HXB_STRIDE_UNIT */
    uint32_t count;        /* buffers; IDs 1..count; (count + 1) strides fit in the region */
    uint32_t cache;        /* mempool cache per registered thread, 0..512 */
    int32_t socket;        /* NUMA node of the mbuf structs, -1 = any */
    char name[24];         /* unique in the process, NUL-terminated */
};

/* Control path. Registers the memory with DPDK and verifies the place of every buffer. */
int hxb_pool_create(const struct hxb_pool_config *config, struct hxb_pool **pool);
/* Control path. -EBUSY, and nothing is freed, while buffers are still out. */
int hxb_pool_destroy(struct hxb_pool *pool);
/* Control path. As hxb_pool_destroy, also with buffers out (nobody may touch them again). */
int hxb_pool_destroy_forced(struct hxb_pool *pool);

/*
 * Packet path. Takes up to n buffers, each with one reference; returns how many. Either all n or,
 * when fewer are left, as many as could be had.
 */
int hxb_pool_alloc_bulk(struct hxb_pool *pool, uint32_t *ids, int n);
/*
 * Packet path. Drops one reference of each ID (one may appear repeatedly); those that reach zero
 * go home. Stops at the first ID outside 1..count: returns how many were done, or -EINVAL if none.
 */
int hxb_pool_release_bulk(struct hxb_pool *pool, const uint32_t *ids, int n);
/*
 * Packet path. Drops one reference of each ID as hxb_pool_release_bulk does, but up to `keep` of those that nobody has any more stay with
 * the caller, as if hxb_pool_alloc_bulk had given them: in ids[0, result).
 */
int hxb_pool_recycle(struct hxb_pool *pool, uint32_t *ids, int n, int keep);
/* Packet path. Adds delta references (may be negative, not below 1); returns the new count. */
int hxb_pool_ref(struct hxb_pool *pool, uint32_t id, int delta);
/*
 * The mbuf's reference count. It means something only for a buffer that somebody holds: DPDK keeps
 * the count of a free buffer at 1.
 */
int hxb_pool_refcnt(const struct hxb_pool *pool, uint32_t id);
/* Control path: walks all caches. Free buffers, approximate while others allocate. */
int hxb_pool_avail(const struct hxb_pool *pool);
/*
 * Control path. Frames that hxb_ring_dequeue or hxb_wire_carry freed instead of handing them up, plus calls of
 * hxb_ring_enqueue cut short by a descriptor out of range; of all rings used with this pool.
 */
int64_t hxb_pool_ring_refusals(const struct hxb_pool *pool);
/* The table of mbuf pointers, indexed by ID (entry 0 is NULL); lives as the pool does. */
const uint64_t *hxb_pool_mbufs(const struct hxb_pool *pool);

/* ---- Ports (control path) -------------------------------------------------------------------- */

struct hxb_port_config {
    uint16_t queues;  /* receive and transmit queues, 1..HXB_QUEUES_MAX */
    uint16_t rx_desc; /* descriptors per queue at most; 0: the driver's choice. -ERANGE: a NIC needs more */
    uint16_t tx_desc;
    uint16_t mtu; /* bytes after the Ethernet header; 0: the driver's choice. -ERANGE: the device has not as many */
};

struct hxb_port_info {
    uint32_t if_index;      /* kernel interface, 0 = none */
    uint32_t max_rx_packet; /* bytes with FCS, as the driver says (af_packet: always 1518) */
    uint16_t mtu;           /* as DPDK has it, not the kernel's */
    uint16_t max_queues;    /* the lesser of receive and transmit */
    uint16_t queues;        /* configured */
    uint16_t reserved;
    int32_t socket;    /* NUMA node, -1 = any */
    char driver[32];   /* e.g. "net_ring"; NUL-terminated */
    char device[64];   /* device name; NUL-terminated */
};

struct hxb_port_stats {
    uint64_t rx_packets, tx_packets, rx_bytes, tx_bytes;
    uint64_t rx_missed;   /* dropped by the NIC: ring full */
    uint64_t rx_errors;   /* erroneous frames */
    uint64_t rx_no_mbuf;  /* dropped: pool empty */
    uint64_t tx_errors;
    /* Frames that hxb_rx_burst or hxb_ring_dequeue freed instead of handing them up: */
    uint64_t rx_refused_segments; /* more than one segment */
    uint64_t rx_refused_foreign;  /* buffer of another pool */
    uint64_t rx_refused_offset;   /* does not begin at HXB_FRAME_OFFSET */
    uint64_t rx_refused_length;   /* shorter than an Ethernet header, or longer than 65,535 or the line's */
    uint64_t tx_refused;          /* burst calls cut short by a descriptor out of range; of memif, frames, too, for which
                                     the peer's buffers can never do, and which are lost */
};

/*
 * Creates a virtual device ("net_null0", "size=64"); returns its port number.
 *
 * A name that begins with "shm_" or "memif_" makes an end of a shared-memory line, of which the other is in
 * another process or in this one. Arguments: "role=server" or "role=client", "socket=" and the line's name, the same at
 * both ends and unique within the network namespace, 97 bytes at most, "mac=" and its address in hexadecimal. Numbers
 * follow DPDK's ports, up to 64 ends. One queue; descriptor counts and MTU are not looked at. Both processes are of one
 * user, else there is no line; Linux 5.1 or later. The peer is not trusted: whatever it writes, frames are received
 * whole and within this end's buffers, or counted as refused by length. -EINVAL: an argument; -EEXIST: the name;
 * -EADDRINUSE, when started: another server has that socket; -ETIMEDOUT: EAL's interrupt thread, to which these ports
 * belong, does not answer in 5 s.
 *
 *   shm_    this library's own. Both pools' frames must be of one length.
 *   memif_  as DPDK's net_memif, VPP and libmemif speak it, any of which may be the other end; further arguments "id="
 *           and the interface's number (0), "rsize=" and a client's ring size as a power of two (8, 1 to 14).
 *           A frame may lie in several of a foreign client's buffers. Of a client's memory each file must be sealed
 *           against shrinking and of small pages, as net_memif's are without zero-copy; 1,025 MiB in all at most.
 *
 * A name that is a PCI address, "0000:03:00.0", is that device, if EAL was started with "-a" and some address.
 */
int hxb_port_attach(const char *name, const char *args);
/*
 * Sets up queue q with pools[q]. No offloads; RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE stays off, because
 * it would ignore references held for resend.
 */
int hxb_port_configure(int port, const struct hxb_port_config *config,
                       struct hxb_pool *const *pools);
/*
 * -EIO: the driver's log (hxb_eal_log) says why. A client of shared memory starts also while there is no
 * server: its link is down until the first connection, and again from the loss of one to the next;
 * it looks for its server every 50 ms.
 */
int hxb_port_start(int port);
/* After this the burst calls answer -ENETDOWN. */
int hxb_port_stop(int port);
/* Stops, closes, and removes the device; the number is free for another port. */
int hxb_port_close(int port);
/* MAC address in the low 48 bits, first byte highest; or a negative errno. */
int64_t hxb_port_mac(int port);
/* 0 = down; else the speed in Mbit/s, or 1 when the driver knows none. */
int hxb_port_link(int port);
int hxb_port_info(int port, struct hxb_port_info *info);
/* Driver's counters plus the shim's own for all queues of the port. */
int hxb_port_stats(int port, struct hxb_port_stats *stats);

/* ---- Bursts (packet path) -------------------------------------------------------------------- */

/*
 * -ENETDOWN: the port is stopped, or an end of a line without a connection; what a peer sent over such
 * a line before it went can still be received. While a line is being changed, bursts on all of them move
 * nothing. -EINVAL on a line: another pool than that of hxb_port_configure.
 */

/*
 * Receives up to n frames into descs[0, result). Each belongs to the caller, with one reference.
 * Frames with more than one segment, of a foreign pool, or not at HXB_FRAME_OFFSET are freed and
 * counted, never handed up.
 */
int hxb_rx_burst(int port, int queue, struct hxb_pool *pool, uint64_t *descs, int n);
/*
 * Sends a prefix of descs; returns its length; the caller keeps the rest. Without HXB_DESC_HOLD the
 * caller's reference passes to the port; with it the port gets a reference of its own (taken back
 * for the frames that were not taken). A descriptor whose ID or length is out of range ends the
 * prefix; -EINVAL when it is the first.
 */
int hxb_tx_burst(int port, int queue, struct hxb_pool *pool, const uint64_t *descs, int n);

/*
 * A burst of each of `count` queues, in turn: hxb_rx_burst, hxb_tx_burst; or, where hxb_packet_queue names it, those of
 * the packet socket, whose send bursts make system calls. HXB_QUEUE_BURST_WORDS words for each: port | queue << 32 or
 * hxb_packet_queue's; address of its descriptors; frames at most, in the lower half, the upper one is the caller's; and,
 * written, what that burst returned, signed. Returns the frames that all of them moved.
 * hxb_rx_bursts also writes where each frame begins, in as many words as may be moved, behind the descriptors.
 *
 * only: NULL, or what it is to find out of a frame that is all that came, HXB_ONLY_WORDS words:
 *   from:16 | at << 16 | word << 32 | most << 48, mask:32 | value << 32
 * When the frame's 4 bytes at `word` are `value` under `mask`, as they lie in memory, and its length is in [from,
 * most], and it carries the CRC32C of its bytes [from, length) as hxb_crc32c_holds has it, then its descriptor gets
 * HXB_DESC_INTACT. It gets none unless at + 4 <= from and word + 4 <= HXB_FRAME_MAX(HXB_STRIDE_MIN): so much of a buffer
 * exists behind the beginning of a shorter frame, too. One call for both, because each takes as long as a third of what
 * is asked; the caller bounds by `most` how long it may take.
 */
#define HXB_QUEUE_BURST_WORDS 4
#define HXB_ONLY_WORDS 2
int hxb_rx_bursts(struct hxb_pool *pool, uint64_t *bursts, int count, const uint64_t *only);
int hxb_tx_bursts(struct hxb_pool *pool, uint64_t *bursts, int count);
/*
 * hxb_tx_burst of the queue port | queue << 32, or hxb_packet_tx_burst of hxb_packet_queue's, behind hxb_seal of the
 * same frames: one call for both, as above.
 * sealing: from:16 | at << 16, without a trailer; 0: nothing is sealed. -EINVAL, and nothing is sent, when hxb_seal
 * refuses one of them. For short frames: it delays safepoints until all are done.
 */
int hxb_tx_sealed(struct hxb_pool *pool, uint64_t queue, const uint64_t *descs, int n, uint64_t sealing);

/*
 * Packet path. How many of n frames, from the first on, carry their own CRC32C (RFC 3720: reflected, all
 * ones before and after): that of their bytes [from, length) at byte `at`, in network byte order;
 * at + 4 <= from. frames: where each begins; descs: the length of each. A frame that is shorter than
 * `from` or does not lie in the pool's buffers carries none. For short frames: it takes about 1 ns per
 * 16 bytes, and returns when all are done.
 */
int hxb_crc32c_holds(const struct hxb_pool *pool, const uint64_t *descs, const uint64_t *frames, int n,
                     uint32_t from, uint32_t at);
/*
 * Packet path. Writes the CRC32C of the bytes [from, length - trailer) into those frames of descs[0, n)
 * that have HXB_DESC_SEAL, at byte `at` in network byte order; at + 4 <= from. Returns n;
 * -EINVAL at the first descriptor that is out of range, and those before it are sealed.
 */
int hxb_seal(const struct hxb_pool *pool, const uint64_t *descs, int n, uint32_t from,
             uint32_t trailer, uint32_t at);

/* ---- Rings: the in-process fabric ------------------------------------------------------------ */

struct hxb_ring; /* opaque; a DPDK ring of mbufs */

#define HXB_RING_SP 1 /* one producer thread */
#define HXB_RING_SC 2 /* one consumer thread */
#define HXB_RING_NAME_MAX 28 /* characters */
#define HXB_RING_PORT_NAME_MAX 22

/* Control path. capacity frames exactly; the name is unique in the process. */
int hxb_ring_create(const char *name, int capacity, int flags, struct hxb_ring **ring);
/* Control path. Frees the frames left in it. No port may use it any more. */
int hxb_ring_free(struct hxb_ring *ring);
/* Control path. A net_ring port that receives from rx[0, n) and sends to tx[0, n). */
int hxb_ring_port(const char *name, struct hxb_ring *const *rx, struct hxb_ring *const *tx, int n);
/* Packet path; contract of hxb_rx_burst. Refusals: hxb_pool_ring_refusals. */
int hxb_ring_dequeue(struct hxb_ring *ring, struct hxb_pool *pool, uint64_t *descs, int n);
/* Packet path; contract of hxb_tx_burst. */
int hxb_ring_enqueue(struct hxb_ring *ring, struct hxb_pool *pool, const uint64_t *descs, int n);
int hxb_ring_count(const struct hxb_ring *ring);
int hxb_ring_free_count(const struct hxb_ring *ring);

/* ---- Wire: software switches between such rings ---------------------------------------------- */

/* Opaque. Stations of nodes on lines: a frame goes to those of its line that its address names. */
struct hxb_wire;

/* Stations of one wire; lines and nodes are numbered from 0 to this less one. */
#define HXB_WIRE_STATIONS_MAX 512

/* Control path. */
int hxb_wire_create(struct hxb_wire **wire);
/* Control path. Call it before rings and pools go; frames in rings stay there. */
int hxb_wire_destroy(struct hxb_wire *wire);
/*
 * Control path. Plugs a station in: from_node is what the node sends (HXB_RING_SC), to_node what it
 * receives (HXB_RING_SP); this wire is the one at their other ends. mac is its address, first byte
 * highest; frames for it get buffers of the pool. Nobody may carry meanwhile. -EEXIST: a station of
 * the line has that address. -ENOSPC: HXB_WIRE_STATIONS_MAX are there.
 */
int hxb_wire_attach(struct hxb_wire *wire, int line, int node, struct hxb_ring *from_node,
                    struct hxb_ring *to_node, uint64_t mac, struct hxb_pool *pool);
/* Any thread. Cuts a line: what is sent on it is lost; or mends it (cut = 0). */
int hxb_wire_cut(struct hxb_wire *wire, int line, int cut);
/*
 * Packet path. Carries up to 32 frames from each of the node's stations; returns how many left the
 * node. Each is copied into a buffer of the station's pool that it is for, of a broadcast each other
 * one's on the line, and the sender's reference is dropped; its frame is never written. One thread
 * carries for all nodes, or one after the other: the other nodes' pools and rings are used too.
 * -EINVAL: no such node number.
 */
int hxb_wire_carry(struct hxb_wire *wire, int node);
/*
 * Control path. One of the counts since the wire was made, by the thread that carries. A frame that
 * a ring refuses is in hxb_pool_ring_refusals of the sender's pool and in none of these.
 */
int64_t hxb_wire_count(const struct hxb_wire *wire, int what);
#define HXB_WIRE_COPIES 0 /* frames, once per receiver */
#define HXB_WIRE_BYTES 1 /* of these frames */
#define HXB_WIRE_LOST 2 /* frames sent on cut lines */
#define HXB_WIRE_NO_BUFFER 3 /* dropped: the receiver's pool is empty, or its buffers too short */
#define HXB_WIRE_RING_FULL 4 /* dropped: the receiver's ring is full */
#define HXB_WIRE_UNKNOWN 5 /* dropped: no station has the address */
#define HXB_WIRE_COUNTS 6

/* ---- AF_PACKET (the driver hides its socket) ------------------------------------------------- */

/* Bytes that the kernel accounts for a queued frame beside its own, rounded up. */
#define HXB_AFPACKET_FRAME_OVERHEAD 1024

/*
 * Control path. The descriptor of this process's packet socket bound to the interface, the
 * `queue`th in order of descriptor numbers; -ENODEV: no such interface, -ENOENT: no such socket. It
 * remains the driver's: do not close it.
 */
int hxb_afpacket_fd(const char *interface, int queue);
/*
 * Bytes of the socket's frames still in the kernel (the interface's qdisc), by the kernel's own
 * account: length + HXB_AFPACKET_FRAME_OVERHEAD at most (measured: length + 818 on Linux 6.18). The
 * kernel takes a frame while this is below the send buffer; beyond that a send burst may block, and
 * leaves accepted frames lying in the socket's ring. One system call.
 */
int hxb_afpacket_outq(int fd);
/*
 * Sends what earlier bursts left in the socket's ring; 0, or -EAGAIN while the send buffer is full,
 * -ENETDOWN while the interface is down.
 */
int hxb_afpacket_kick(int fd);
/* Control path. Frames that found the socket's receive ring full since the last such call. */
int64_t hxb_afpacket_drops(int fd);
/* Control path. Sets the send buffer (SO_SNDBUFFORCE, else SO_SNDBUF); returns the size in use. */
int hxb_afpacket_sndbuf(int fd, int bytes);
/* Control path. The interface's MTU in bytes. */
int hxb_interface_mtu(const char *interface);
/* Control path. Its Ethernet address in the low 48 bits, first byte highest. */
int64_t hxb_interface_mac(const char *interface);
/*
 * Control path. 1: the interface is up and has a carrier, else 0. For af_packet ports, whose driver
 * (22.11) goes on to report "up" through hxb_port_link.
 */
int hxb_interface_up(const char *interface);

/* ---- Packet sockets of our own: kernel interfaces without a DPDK driver ----------------------- */

struct hxb_packet; /* opaque; one interface, one receive ring; outlived by its pool */

#define HXB_PACKET_SLOTS_MAX 65536

/*
 * Control path. A packet socket on an interface for frames of one EtherType, with a receive ring of
 * `slots` frames (a power of two, 2 or more) of at most frame_max bytes. -ENODEV: no such interface;
 * -EPERM: no CAP_NET_RAW in this network namespace; -ENOMEM: no memory for the ring.
 */
int hxb_packet_open(const char *interface, int ether_type, int slots, int frame_max,
                    struct hxb_pool *pool, struct hxb_packet **opened);
/* Control path. Frames left in its ring are lost. */
int hxb_packet_close(struct hxb_packet *socket);
/* Its descriptor: readable when a frame waits; for hxb_afpacket_outq and hxb_afpacket_sndbuf. */
int hxb_packet_fd(const struct hxb_packet *socket);
/* What names it, until it is closed, where a queue is asked for (hxb_rx_bursts, hxb_tx_bursts, hxb_tx_sealed). */
uint64_t hxb_packet_queue(const struct hxb_packet *socket);
/* Control path. 1: its interface is up and has a carrier, else 0. From any network namespace. */
int hxb_packet_up(const struct hxb_packet *socket);
/*
 * Control path. The name that its interface has now, in its network namespace, ending with 0: at most
 * 16 bytes. -ENODEV: the interface is gone.
 */
int hxb_packet_name(const struct hxb_packet *socket, char *name, int capacity);
/* Control path. Received frames lost: ring full, or too long for a slot. Cumulative. */
int64_t hxb_packet_dropped(struct hxb_packet *socket);
/* Frames taken for sending that the interface refused, as one that is down does. Cumulative. */
int64_t hxb_packet_lost(const struct hxb_packet *socket);
/*
 * Packet path, no system call. Contract of hxb_rx_burst. Frames for another Ethernet address than
 * the interface's and those of a VLAN are passed over, as a NIC's filter does.
 */
int hxb_packet_rx_burst(struct hxb_packet *socket, uint64_t *descs, int n);
/*
 * Packet path, one system call per 32 frames; it never waits. Contract of hxb_tx_burst; every frame
 * taken has left the caller's buffer when it returns. 0: send buffer or queueing discipline full.
 */
int hxb_packet_tx_burst(struct hxb_packet *socket, const uint64_t *descs, int n);

/* ---- Bells of shared-memory lines ------------------------------------------------------------------
 *
 * A peer of a memif line that sleeps is rung for as well; who receives by memif polls.
 *
 * To sleep until a frame comes, the thread that receives calls hxb_port_sleep for each of its lines, then
 * hxb_barrier if one of them says so, receives once more, and, if nothing came and nothing may have been missed
 * (hxb_pool_bells), waits for hxb_port_wake_fd's descriptors (hxb_wait). Then it calls hxb_port_wake, for each.
 * Who has sent to it meanwhile rings, by hxb_ring_bells right behind its bursts. A thread that is to be busy for a
 * while calls hxb_port_rouse: till then each burst to it has a memory fence.
 *
 * Called by the thread of the bursts. They wait while ports of shared memory are being changed, some
 * microseconds; hxb_port_wake with `rung`, hxb_barrier and hxb_ring_bells are system calls. -ENODEV: no such line.
 * A memif peer that fills its eventfd as it is rung for makes hxb_ring_bells wait, and nothing else.
 */

/* Control path. The descriptor that becomes readable when the peer rings, or when the line is another. It is the
 * port's, from attach to close. -ENOTSUP: another driver's port, or this kernel has no hxb_barrier. */
int hxb_port_wake_fd(int port);
/* From now on the peer rings behind its frames. 1: an hxb_barrier has to follow; 0: it need not. */
int hxb_port_sleep(int port);
/* The peer need not ring, but may soon again. rung: the descriptor may be readable; takes that from it. */
int hxb_port_wake(int port, int rung);
/* The peer need not ring, nor look. Also where an hxb_barrier was to follow and failed. */
int hxb_port_rouse(int port);
/* A memory barrier on the running threads of all processes that have ports of shared memory. */
int hxb_barrier(void);
/*
 * Two words of the thread that sends and receives with this pool. The first is not 0 when hxb_tx_burst had
 * frames for a peer that sleeps. The second is another when a receive burst since may have left frames that
 * were there: no buffer was free, or ports were being changed.
 */
const uint64_t *hxb_pool_bells(const struct hxb_pool *pool);
/* Rings for all those peers; returns how many slept. */
int hxb_ring_bells(struct hxb_pool *pool);

/* ---- Waiting (may block) --------------------------------------------------------------------- */

/* Descriptors of one hxb_wait at most, but for the event. */
#define HXB_WAIT_MAX 128
/*
 * Waits until one of the descriptors is readable or the event (hxb_event_create) is set, at most timeout_us microseconds
 * (< 0: for ever); negative ones are passed over. An event that is set is unset: who was woken by a frame makes no
 * further system call for that. Returns how many were readable or set; 0 = time is up or a signal came. A socket with a
 * pending error (a packet socket whose interface went down) counts once: the error is taken from it.
 */
int hxb_wait(const int *fds, int n, int event, int64_t timeout_us);
/* A doorbell: created unset, non-blocking; unset by hxb_wait. */
int hxb_event_create(void);
int hxb_event_signal(int fd);
int hxb_event_close(int fd);

#ifdef __cplusplus
}
#endif
#endif
