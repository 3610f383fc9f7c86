/* SPDX-License-Identifier: Apache-2.0 */
/* Writes and reads acknowledgements (sections 3 and 5.4). */
#include "node.h"

enum { ACK_FIXED = 16, CREDIT_ENTRY = 8, GRANT_MAX = 32768, ACK_DELAY_NS = 30000 };

static bool has_gap(const struct peer *p)
{
    return p->highest != p->next;
}

/* A quarter of what the peer may have on its way. */
static uint32_t quarter_window(const struct twin *t, const struct peer *p)
{
    uint32_t quarter = RTE_MIN(t->window, p->granted) >> 2;
    return quarter > 0 ? quarter : 1;
}

static bool is_urgent(const struct twin *t, const struct peer *p)
{
    return p->ack_at_once || p->news >= quarter_window(t, p) || has_gap(p);
}

void note(struct twin *t, struct peer *p)
{
    if (!p->on_due_list) {
        p->on_due_list = true;
        t->due[t->due_count++] = p;
    }
    if (!p->on_urgent_list && is_urgent(t, p)) {
        p->on_urgent_list = true;
        t->urgent[t->urgent_count++] = p;
    }
}

static bool is_due(const struct twin *t, const struct peer *p)
{
    if (p->ack_at_once || p->news >= quarter_window(t, p)) {
        return true;
    }
    return has_gap(p) && p->news > 0 && t->now_ns - p->first_news_ns >= ACK_DELAY_NS;
}

/* The state of a peer's flow as payload; its bytes. */
static uint32_t write_state(struct twin *t, struct peer *p, uint8_t *frame)
{
    uint32_t beyond = p->highest - p->next, words = (beyond + 63) >> 6, credits = 0;
    int at = FRAME_HEADER + ACK_FIXED;

    store32(frame, FRAME_HEADER, p->highest);
    store32(frame, FRAME_HEADER + 4, p->duplicates);
    store32(frame, FRAME_HEADER + 8, (uint32_t)(t->poll_gap_ns / 1000));
    for (uint32_t w = 0; w < words; w++, at += 8) {
        uint64_t bits = 0;
        uint32_t base = p->next + (w << 6), n = RTE_MIN(64u, p->highest - base);
        for (uint32_t i = 0; i < n; i++) {
            bits |= (uint64_t)slot_holds(t, p, base + i) << i;
        }
        store64(frame, at, bits);
    }
    for (struct in_lane *lane = p->lanes; lane != NULL; lane = lane->next) {
        uint32_t limit = lane_limit(lane);
        if (limit != lane->advertised) {
            lane->advertised = limit;
            store32(frame, at, (uint32_t)lane->src_endpoint << 16 | lane->dst_endpoint);
            store32(frame, at + 4, limit);
            at += CREDIT_ENTRY;
            credits++;
        }
    }
    store32(frame, FRAME_HEADER + 12, words << 19 | credits);
    p->news = 0;
    p->ack_at_once = false;
    p->gap_known = beyond > 0;
    return (uint32_t)at - FRAME_HEADER;
}

static void send_ack(struct twin *t, struct peer *p)
{
    struct rte_mbuf *m = allocate(t, OWNER_NODE);
    if (unlikely(m == NULL)) {
        return;
    }
    uint8_t *frame = frame_of(m);
    uint32_t length = write_state(t, p, frame);
    write_end_to_end(frame, (uint32_t)KIND_ACK << 24 | t->self, p->node, t->key, p->session, 0,
                     p->next, 0, 0, length);
    uint32_t path = p->next_control_path;
    p->next_control_path = (uint8_t)(path + 1 >= t->rails ? 0 : path + 1);
    struct rail *rail = &t->rail[path];
    write_front(frame, p->paths[path].mac, rail->mac, 1, p->paths[path].code);
    set_length(m, FRAME_HEADER + length);
    if (unlikely(!queue_put(&rail->control, m))) {
        count(t, TWIN_TROUBLE, 1);
        release(t, m, OWNER_NODE);
        return;
    }
    count(t, TWIN_ACKS_SENT, 1);
}

/* Those that must not wait until this node is idle. */
void flush_acks(struct twin *t)
{
    uint32_t kept = 0;

    if (has_many_peers(t)) {
        for (uint32_t i = 0; i < t->urgent_count; i++) {
            const struct peer *p = t->urgent[i];
            rte_prefetch0(&p->paths[p->next_control_path]);
        }
    }
    for (uint32_t i = 0; i < t->urgent_count; i++) {
        struct peer *p = t->urgent[i];
        if (is_due(t, p)) {
            send_ack(t, p);
        }
        if (is_urgent(t, p)) {
            t->urgent[kept++] = p;
        } else {
            p->on_urgent_list = false;
        }
    }
    t->urgent_count = kept;
}

void credit(struct peer *p, uint32_t own_endpoint, uint32_t peer_endpoint, uint32_t limit)
{
    struct out_lane *lane = &p->out;

    if (lane->endpoint == own_endpoint && lane->dst_endpoint == peer_endpoint &&
        before(lane->limit, limit) && limit - lane->limit <= GRANT_MAX) {
        lane->limit = limit;
    }
}

/* One frame is stored by the peer, in order or not. */
static void acknowledge_one(struct twin *t, struct peer *p, uint32_t seq)
{
    struct held *h = held_of(p, seq);
    if (h->mbuf == NULL) {
        return;
    }
    if (likely(h->copies == 1)) {
        path_acknowledged(t, p, h);
    }
    release_held(t, h->mbuf, OWNER_WINDOW | p->node);
    h->mbuf = NULL;
}

bool acknowledge_up_to(struct twin *t, struct peer *p, uint32_t ack)
{
    if (before(p->next_out, ack)) {
        return false;
    }
    while (before(p->unacknowledged, ack)) {
        acknowledge_one(t, p, p->unacknowledged);
        p->out.settled++;
        p->unacknowledged++;
    }
    return true;
}

enum verdict read_ack(struct twin *t, struct peer *p, const uint8_t *frame, uint32_t length)
{
    count(t, TWIN_ACKS_RECEIVED, 1);
    if (unlikely(length < ACK_FIXED)) {
        return DROPPED;
    }
    uint32_t ack = load32(frame, FRAME_ACK), highest = load32(frame, FRAME_HEADER);
    uint32_t counts = load32(frame, FRAME_HEADER + 12);
    uint32_t bitmap = counts >> 16, credits = counts & 0xFFFF;
    if (unlikely((bitmap & 7) != 0 || ACK_FIXED + bitmap + credits * CREDIT_ENTRY > length ||
                 before(p->next_out, highest) || before(highest, ack) ||
                 highest - ack > bitmap << 3 || !acknowledge_up_to(t, p, ack))) {
        return DROPPED;
    }
    int at = FRAME_HEADER + ACK_FIXED;
    for (uint32_t w = 0; w < bitmap >> 3; w++, at += 8) {
        for (uint64_t bits = load64(frame, at); bits != 0; bits &= bits - 1) {
            uint32_t seq = ack + (w << 6) + (uint32_t)__builtin_ctzll(bits);
            if (!before(seq, p->unacknowledged) && before(seq, highest)) {
                acknowledge_one(t, p, seq);
            }
        }
    }
    for (uint32_t i = 0; i < credits; i++, at += CREDIT_ENTRY) {
        uint32_t endpoints = load32(frame, at);
        credit(p, endpoints >> 16, endpoints & 0xFFFF, load32(frame, at + 4));
    }
    uint32_t duplicates = load32(frame, FRAME_HEADER + 4);
    if (before(p->duplicates_reported, duplicates)) {
        p->duplicates_reported = duplicates;
    }
    p->peer_gap_ns = RTE_MIN(load32(frame, FRAME_HEADER + 8), 1000000u) * UINT64_C(1000);
    settle_paths(t, p);
    return DONE;
}
