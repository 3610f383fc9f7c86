/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A kernel interface through a packet socket of this library's own. Beside DPDK's net_af_packet it
 * leaves out what that driver costs a frame: the fan-out over one member (flow hash, room check), the
 * transmit ring (whose pages veth copies, and from which a frame can be left behind), and the kernel's
 * look at each frame that leaves. Frames arrive in a ring shared with the kernel (packet(7),
 * TPACKET_V2) and leave by sendmmsg from the pool's own buffers.
 */
#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "internal.h"

/* Slots are multiples of it, and as many as this divides a page make a block of whole pages without
 * a gap between one slot and the next. */
#define SLOT_UNIT 2048u
/* What of a slot is the kernel's: its header, the address, alignment. The kernel puts the network
 * header at the next multiple of 16 behind header and room for 16 bytes of link-layer header. */
#define SLOT_HEADER 96u
/* Cache lines behind the first of a slot in which a frame of up to 128 bytes lies. */
#define SHORT_FRAME_LINES 3
/* Frames that one system call takes: their descriptions fit the stack. */
#define SEND_CHUNK 32

struct hxb_packet {
    struct hxb_pool *pool;
    uint8_t *ring;
    uint32_t slot_bytes;
    uint32_t slots;
    uint32_t next; /* slot that the kernel fills next, or has filled */
    int fd;
    int if_index;
    /* Of a bond: the kernel says of its frames that they came by the bond. */
    bool is_slave;
    size_t ring_bytes;
    /* Writers: the polling thread; readers: any. */
    atomic_ullong refused;
    atomic_ullong lost;
    /* Writers: any, as the kernel sets its own count back to zero with each answer. */
    atomic_ullong dropped;
};

static int round_up(int value, int unit)
{
    return (value + unit - 1) / unit * unit;
}

static int map_ring(struct hxb_packet *p, int slots, int frame_max)
{
    int version = TPACKET_V2;
    uint32_t page = (uint32_t)sysconf(_SC_PAGESIZE);
    struct tpacket_req ring = {.tp_frame_nr = (uint32_t)slots};

    ring.tp_frame_size = (uint32_t)round_up(frame_max + (int)SLOT_HEADER, (int)SLOT_UNIT);
    uint32_t in_block = page / SLOT_UNIT < 1 ? 1 : page / SLOT_UNIT;
    if ((uint32_t)slots < in_block) {
        return -EINVAL;
    }
    ring.tp_block_size = ring.tp_frame_size * in_block;
    ring.tp_block_nr = ring.tp_frame_nr / in_block;
    if (setsockopt(p->fd, SOL_PACKET, PACKET_VERSION, &version, sizeof(version)) != 0 ||
        setsockopt(p->fd, SOL_PACKET, PACKET_RX_RING, &ring, sizeof(ring)) != 0) {
        return -errno;
    }
    p->slots = ring.tp_frame_nr;
    p->slot_bytes = ring.tp_frame_size;
    p->ring_bytes = (size_t)ring.tp_block_size * ring.tp_block_nr;
    p->ring = mmap(NULL, p->ring_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, p->fd, 0);
    return p->ring == MAP_FAILED ? -errno : 0;
}

static int bind_to(int fd, int if_index, int ether_type)
{
    struct sockaddr_ll address = {
        .sll_family = AF_PACKET,
        .sll_protocol = htons((uint16_t)ether_type),
        .sll_ifindex = if_index,
    };

    return bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0 ? 0 : -errno;
}

static int open_socket(struct hxb_packet *p, int ether_type, int slots, int frame_max)
{
    /* Protocol 0: it takes no frame of any interface before it is bound to the right one. */
    p->fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (p->fd < 0) {
        return -errno;
    }
    int rc = map_ring(p, slots, frame_max);
    return rc < 0 ? rc : bind_to(p->fd, p->if_index, ether_type);
}

/* 0: the interface is gone. */
static int flags_of(const struct hxb_packet *p)
{
    struct ifreq answer = {.ifr_ifindex = p->if_index};

    /* Asked of the socket itself: the calling thread may be in another network namespace. */
    if (ioctl(p->fd, SIOCGIFNAME, &answer) != 0 || ioctl(p->fd, SIOCGIFFLAGS, &answer) != 0) {
        return 0;
    }
    return answer.ifr_flags;
}

HXB_API int hxb_packet_open(const char *interface, int ether_type, int slots, int frame_max,
                            struct hxb_pool *pool, struct hxb_packet **opened)
{
    if (interface == NULL || pool == NULL || opened == NULL || ether_type <= 0 ||
        ether_type > UINT16_MAX || slots < 2 || slots > HXB_PACKET_SLOTS_MAX ||
        (slots & (slots - 1)) != 0 || frame_max < HXB_MIN_FRAME ||
        (uint32_t)frame_max > pool->frame_max) {
        return -EINVAL;
    }
    int if_index = (int)if_nametoindex(interface);
    if (if_index == 0) {
        return -ENODEV;
    }
    struct hxb_packet *p = calloc(1, sizeof(*p));
    if (p == NULL) {
        return -ENOMEM;
    }
    p->pool = pool;
    p->ring = MAP_FAILED;
    p->if_index = if_index;
    int rc = open_socket(p, ether_type, slots, frame_max);
    if (rc < 0) {
        hxb_packet_close(p);
        return rc;
    }
    p->is_slave = (flags_of(p) & IFF_SLAVE) != 0;
    *opened = p;
    return 0;
}

HXB_API int hxb_packet_close(struct hxb_packet *p)
{
    if (p == NULL) {
        return -EINVAL;
    }
    if (p->ring != MAP_FAILED) {
        munmap(p->ring, p->ring_bytes);
    }
    if (p->fd >= 0) {
        close(p->fd);
    }
    free(p);
    return 0;
}

HXB_API int hxb_packet_fd(const struct hxb_packet *p)
{
    return p->fd;
}

HXB_API uint64_t hxb_packet_queue(const struct hxb_packet *p)
{
    return HXB_QUEUE_OF_SOCKET | (uint64_t)(uintptr_t)p;
}

HXB_API int hxb_packet_up(const struct hxb_packet *p)
{
    return (flags_of(p) & (IFF_UP | IFF_RUNNING)) == (IFF_UP | IFF_RUNNING);
}

HXB_API int hxb_packet_name(const struct hxb_packet *p, char *name, int capacity)
{
    struct ifreq answer = {.ifr_ifindex = p->if_index};

    if (name == NULL || capacity < IFNAMSIZ) {
        return -EINVAL;
    }
    if (ioctl(p->fd, SIOCGIFNAME, &answer) != 0) {
        return -errno;
    }
    memcpy(name, answer.ifr_name, IFNAMSIZ);
    return 0;
}

HXB_API int64_t hxb_packet_dropped(struct hxb_packet *p)
{
    int64_t fresh = hxb_afpacket_drops(p->fd);

    if (fresh < 0) {
        return fresh;
    }
    return (int64_t)(atomic_fetch_add(&p->dropped, (unsigned long long)fresh) +
                     (unsigned long long)fresh +
                     atomic_load_explicit(&p->refused, memory_order_relaxed));
}

HXB_API int64_t hxb_packet_lost(const struct hxb_packet *p)
{
    return (int64_t)atomic_load_explicit(&p->lost, memory_order_relaxed);
}

/* ---- Receive --------------------------------------------------------------------------------- */

static struct tpacket2_hdr *slot_at(const struct hxb_packet *p, uint32_t slot)
{
    return (struct tpacket2_hdr *)(p->ring + (size_t)slot * p->slot_bytes);
}

static uint32_t after(const struct hxb_packet *p, uint32_t slot)
{
    return (slot + 1) & (p->slots - 1);
}

/*
 * Fetches a short frame's lines while its status is on the way: the kernel writes both on the sender's
 * processor, and the frame would else be asked for only when the status has arrived. Until the slot is
 * filled these are the lines of a frame read earlier, which this processor mostly has still.
 */
static void prefetch_frame(const struct hxb_packet *p, uint32_t slot)
{
    const char *at = (const char *)slot_at(p, slot);

    for (int line = 1; line <= SHORT_FRAME_LINES; line++) {
        rte_prefetch0(at + line * RTE_CACHE_LINE_SIZE);
    }
}

/* Slots from the next one that the kernel has filled, at most n. */
static int filled(const struct hxb_packet *p, int n)
{
    uint32_t slot = p->next;
    int ready = 0;

    /* Pairs with the kernel's barrier between the frame and its status. */
    while (ready < n &&
           (__atomic_load_n(&slot_at(p, slot)->tp_status, __ATOMIC_ACQUIRE) & TP_STATUS_USER)) {
        slot = after(p, slot);
        ready++;
    }
    return ready;
}

/*
 * A frame for another address, which a bridge floods; or of a VLAN: the kernel takes the tag off
 * before it looks for sockets of an EtherType, but says that the frame is not this host's. Unless it
 * is: of a VLAN's or macvlan's device on top of the interface, whose own sockets get it, too.
 */
static bool is_for_others(const struct hxb_packet *p, const struct tpacket2_hdr *slot)
{
    const struct sockaddr_ll *from =
        (const void *)((const char *)slot + TPACKET_ALIGN(sizeof(struct tpacket2_hdr)));

    return from->sll_pkttype == PACKET_OTHERHOST || (from->sll_ifindex != p->if_index && !p->is_slave);
}

static bool is_whole(const struct hxb_packet *p, const struct tpacket2_hdr *slot)
{
    return slot->tp_len == slot->tp_snaplen && slot->tp_snaplen >= HXB_MIN_FRAME &&
           slot->tp_snaplen <= p->pool->frame_max;
}

int hxb_packet_receive(struct hxb_packet *p, uint64_t *descs, uint64_t *addresses, int n)
{
    uint32_t ids[HXB_BURST_MAX];

    prefetch_frame(p, p->next);
    /* A slot is looked at once: behind the last one lies the first again. */
    int ready = filled(p, RTE_MIN(n, RTE_MIN(HXB_BURST_MAX, (int)p->slots)));

    if (ready == 0) {
        return 0;
    }
    /* Without a buffer, frames stay in the ring: it is what overflows, and the kernel counts. */
    ready = hxb_pool_alloc_bulk(p->pool, ids, ready);
    int taken = 0;
    for (int i = 0; i < ready; i++) {
        struct tpacket2_hdr *slot = slot_at(p, p->next);
        if (unlikely(!is_whole(p, slot))) {
            hxb_add(&p->refused, 1);
        } else if (likely(!is_for_others(p, slot))) {
            uint32_t id = ids[taken];
            char *frame = (char *)p->pool->mbufs[id]->buf_addr + HXB_FRAME_OFFSET;
            memcpy(frame, (const char *)slot + slot->tp_mac, slot->tp_snaplen);
            if (addresses != NULL) {
                addresses[taken] = (uint64_t)(uintptr_t)frame;
            }
            descs[taken++] = id | (uint64_t)slot->tp_snaplen << HXB_DESC_LENGTH_SHIFT;
        }
        /* The frame is read; pairs with the kernel's barrier before it fills the slot again. */
        __atomic_store_n(&slot->tp_status, TP_STATUS_KERNEL, __ATOMIC_RELEASE);
        p->next = after(p, p->next);
    }
    if (unlikely(taken < ready)) {
        hxb_pool_release_bulk(p->pool, ids + taken, ready - taken);
    }
    return taken;
}

HXB_API int hxb_packet_rx_burst(struct hxb_packet *p, uint64_t *descs, int n)
{
    return hxb_packet_receive(p, descs, NULL, n);
}

/* ---- Transmit -------------------------------------------------------------------------------- */

/* Describes a prefix of descs to the kernel; returns its length. */
static int gather(const struct hxb_pool *pool, const uint64_t *descs, int n, struct iovec *parts)
{
    int ready = 0;

    for (; ready < n; ready++) {
        struct rte_mbuf *m = hxb_mbuf(pool, (uint32_t)(descs[ready] & HXB_DESC_ID_MASK));
        uint32_t length = (uint32_t)(descs[ready] >> HXB_DESC_LENGTH_SHIFT);
        if (unlikely(m == NULL || length < HXB_MIN_FRAME || length > pool->frame_max)) {
            break;
        }
        parts[ready].iov_base = (char *)m->buf_addr + HXB_FRAME_OFFSET;
        parts[ready].iov_len = length;
    }
    return ready;
}

/* Frames that the kernel took, or a negative errno for the first. */
static int hand_over(int fd, struct iovec *parts, int n)
{
    struct mmsghdr messages[SEND_CHUNK];

    if (n == 1) {
        return send(fd, parts[0].iov_base, parts[0].iov_len, MSG_DONTWAIT) >= 0 ? 1 : -errno;
    }
    memset(messages, 0, (size_t)n * sizeof(messages[0]));
    for (int i = 0; i < n; i++) {
        messages[i].msg_hdr.msg_iov = &parts[i];
        messages[i].msg_hdr.msg_iovlen = 1;
    }
    int sent = sendmmsg(fd, messages, (unsigned int)n, MSG_DONTWAIT);
    return sent >= 0 ? sent : -errno;
}

/* The send buffer or the queueing discipline is full: the frame can be offered again. */
static bool is_full(int error)
{
    return error == -EAGAIN || error == -ENOBUFS || error == -EINTR || error == -ENOMEM;
}

/* The kernel has its copy: the references that came with the frames go home. */
static void let_go(struct hxb_pool *pool, const uint64_t *descs, int n)
{
    uint32_t ids[SEND_CHUNK];
    int mine = 0;

    for (int i = 0; i < n; i++) {
        if (!(descs[i] & HXB_DESC_HOLD)) {
            ids[mine++] = (uint32_t)(descs[i] & HXB_DESC_ID_MASK);
        }
    }
    hxb_pool_release_bulk(pool, ids, mine);
}

HXB_API int hxb_packet_tx_burst(struct hxb_packet *p, const uint64_t *descs, int n)
{
    struct iovec parts[SEND_CHUNK];
    int done = 0;

    n = RTE_MIN(n, HXB_BURST_MAX);
    while (done < n) {
        int ready = gather(p->pool, descs + done, RTE_MIN(n - done, SEND_CHUNK), parts);
        if (unlikely(ready == 0)) {
            return done > 0 ? done : -EINVAL;
        }
        int sent = hand_over(p->fd, parts, ready);
        if (unlikely(sent < 0)) {
            if (is_full(sent)) {
                break;
            }
            /* An interface that is down loses frames, as a cable that is cut does. */
            hxb_add(&p->lost, 1);
            sent = 1;
        }
        let_go(p->pool, descs + done, sent);
        done += sent;
    }
    return done;
}
