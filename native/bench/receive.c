/* SPDX-License-Identifier: Apache-2.0 */
/* From the receive burst to the program: validate, relay, order, deliver (sections 2.4 and 5.2). */
#include "node.h"

static void count_news(struct twin *t, struct peer *p, uint32_t seq)
{
    if (p->news++ == 0) {
        p->first_news_ns = t->now_ns;
    }
    if (!before(seq, p->highest)) {
        p->highest = seq + 1;
    }
}

/* Whether a frame has credit beside those that wait for their turn (section 6). */
static bool may_keep(const struct peer *p, const struct in_lane *lane)
{
    uint32_t left = 0;

    if (unlikely(lane == NULL)) {
        return false;
    }
    if (likely(p->kept < lane_limit(lane) - lane->received)) {
        return true;
    }
    for (lane = p->lanes; lane != NULL; lane = lane->next) {
        left += lane_limit(lane) - lane->received;
    }
    return p->kept < left;
}

static void deliver(struct twin *t, struct peer *p, struct rte_mbuf *m, const uint8_t *frame,
                    uint32_t owner)
{
    uint64_t endpoints = load64(frame, FRAME_ENDPOINTS);
    uint32_t src = (uint32_t)(endpoints >> 48), dst = endpoints >> 32 & 0xFFFF;
    struct in_lane *lane = in_lane_of(p, src, dst);

    if (unlikely(lane == NULL || dst != t->endpoint ||
                 before(lane_limit(lane), lane->received + 1) || (p->kept > 0 && !may_keep(p, lane)) ||
                 t->inbox_put - t->inbox_taken > t->inbox_mask)) {
        count(t, TWIN_TROUBLE, 1);
        return;
    }
    lane->received++;
    uint32_t length = endpoints >> 16 & 0xFFFF;
    count(t, TWIN_DATA_DELIVERED, 1);
    count(t, TWIN_BYTES_DELIVERED, length);
    if (owner == OWNER_PORT) {
        arrived(t, m, OWNER_INBOX | dst);
    } else {
        transfer(t, m, owner, OWNER_INBOX | dst);
    }
    t->inbox[t->inbox_put++ & t->inbox_mask] =
        (struct message){.mbuf = m, .source = p->node, .source_endpoint = (uint16_t)src,
                         .length = (uint16_t)length};
}

/* A frame went to its endpoint: those that waited for it follow. */
static void deliver_next(struct twin *t, struct peer *p)
{
    while (p->highest != p->next) {
        uint64_t *slot = &p->slots[p->next & (t->window - 1)];
        uint32_t id = (uint32_t)*slot;
        if (id == 0) {
            break;
        }
        *slot = 0;
        p->next++;
        p->kept--;
        struct rte_mbuf *m = t->mbufs[id];
        deliver(t, p, m, frame_of(m), OWNER_REORDER | p->node);
    }
    if (p->highest == p->next) {
        p->gap_known = false;
    }
    note(t, p);
}

static enum verdict order(struct twin *t, struct peer *p, struct rte_mbuf *m, const uint8_t *frame,
                          uint32_t seq)
{
    /* Nothing waits: the slots are not even looked at. */
    if (likely(seq == p->next && seq == p->highest)) {
        p->next = seq + 1;
        count_news(t, p, seq);
        deliver(t, p, m, frame, OWNER_PORT);
        deliver_next(t, p);
        return KEPT;
    }
    uint64_t *slot = &p->slots[seq & (t->window - 1)];
    int32_t ahead = (int32_t)(seq - p->next);
    if (ahead >= (int32_t)t->window) {
        return DROPPED;
    }
    if (ahead < 0 || (uint32_t)*slot != 0) {
        p->duplicates++;
        p->ack_at_once = true;
        note(t, p);
        return DROPPED;
    }
    if (ahead == 0) {
        p->next = seq + 1;
        count_news(t, p, seq);
        deliver(t, p, m, frame, OWNER_PORT);
        deliver_next(t, p);
        return KEPT;
    }
    uint32_t endpoints = load32(frame, FRAME_ENDPOINTS);
    if (unlikely(!may_keep(p, in_lane_of(p, endpoints >> 16, endpoints & 0xFFFF)))) {
        return DROPPED;
    }
    p->kept++;
    *slot = (uint64_t)seq << 32 | id_of(t, m);
    arrived(t, m, OWNER_REORDER | p->node);
    count_news(t, p, seq);
    count(t, TWIN_OUT_OF_ORDER, 1);
    if (!p->gap_known) {
        p->gap_known = true;
        p->ack_at_once = true;
    }
    note(t, p);
    return KEPT;
}

static bool is_fragment(const uint8_t *frame, uint32_t length)
{
    if (length < 8) {
        return false;
    }
    uint64_t message = load32(frame, FRAME_HEADER), offset = load32(frame, FRAME_HEADER + 4);
    return offset + length - 8 <= message;
}

static enum verdict data(struct twin *t, struct peer *p, struct rte_mbuf *m, const uint8_t *frame,
                         uint32_t flags, uint32_t seq, uint32_t length)
{
    uint32_t ack = load32(frame, FRAME_ACK);

    if (unlikely((flags & (FLAG_COALESCED | FLAG_TAG)) != 0 ||
                 ((flags & FLAG_FRAGMENT) != 0 && !is_fragment(frame, length)))) {
        return DROPPED;
    }
    if (ack != p->unacknowledged) {
        if (!acknowledge_up_to(t, p, ack)) {
            return DROPPED;
        }
        settle_paths(t, p);
    }
    if ((flags & FLAG_CREDIT) != 0) {
        uint32_t endpoints = load32(frame, FRAME_ENDPOINTS);
        credit(p, endpoints & 0xFFFF, endpoints >> 16, load32(frame, FRAME_CREDIT));
    }
    return order(t, p, m, frame, seq);
}

/* ---- two passes over the rails' bursts, each in the order of section 2.4 ------------------------ */

/* The frames of the bursts that are for this node. */
struct local {
    struct rte_mbuf *mbufs[BURST * TWIN_RAILS_MAX];
    uint8_t *frames[BURST * TWIN_RAILS_MAX];
    uint32_t lengths[BURST * TWIN_RAILS_MAX];
    int n;
};

/* Steps 1 to 6: the hop part; transit goes on. */
static enum verdict sort(struct twin *t, uint32_t rail, struct rte_mbuf *m, struct local *local)
{
    uint8_t *frame = frame_of(m);
    uint32_t bytes = m->pkt_len;

    if (unlikely(bytes < FRAME_HEADER || m->nb_segs != 1 || m->data_off != HXB_FRAME_OFFSET)) {
        return DROPPED;
    }
    uint64_t ether = load64(frame, FRAME_ETHER_WORD);
    if (unlikely((ether >> 16 & 0xFFFF) != ETHER_TYPE_PM ||
                 (ether >> 12 & 0xF) != VERSION_MAJOR ||
                 !hop_check_holds(ether, load64(frame, FRAME_COPY)))) {
        return DROPPED;
    }
    uint32_t length = load32(frame, FRAME_LENGTH) >> 16;
    if (unlikely(FRAME_HEADER + length > bytes)) {
        return DROPPED;
    }
    uint32_t dst = load32(frame, FRAME_FLAGS_DST) & 0xFFFFFF;
    if (dst != t->self) {
        return dst == EVERY_NODE ? DROPPED : relay(t, rail, m, frame);
    }
    local->mbufs[local->n] = m;
    local->frames[local->n] = frame;
    local->lengths[local->n++] = length;
    return KEPT;
}

/* Steps 7 to 13: what is for this node. */
static enum verdict take(struct twin *t, struct rte_mbuf *m, const uint8_t *frame, uint32_t length,
                         uint32_t crc)
{
    uint64_t crc_word = load64(frame, FRAME_CRC), dst_word = load64(frame, FRAME_FLAGS_DST);
    if (unlikely((uint32_t)(crc_word >> 32) != crc || (uint32_t)dst_word != t->key)) {
        return DROPPED;
    }
    uint32_t src = crc_word & 0xFFFFFF;
    struct peer *p = likely(src < t->nodes) ? t->peers[src] : NULL;
    uint64_t session_word = load64(frame, FRAME_SESSION);
    if (unlikely(p == NULL || (uint32_t)(session_word >> 32) != p->session)) {
        return DROPPED;
    }
    p->heard_at = t->patience_ns;
    uint32_t kind = (uint32_t)crc_word >> 24;
    if (likely(kind == KIND_DATA)) {
        return data(t, p, m, frame, (uint32_t)(dst_word >> 56), (uint32_t)session_word, length);
    }
    return kind == KIND_ACK ? read_ack(t, p, frame, length) : DROPPED;
}

static void finish(struct twin *t, struct rte_mbuf *m, enum verdict v)
{
    if (v != KEPT) {
        count(t, TWIN_DROPPED, v == DROPPED);
        arrived(t, m, OWNER_NODE);
        release(t, m, OWNER_NODE);
    }
}

/* ---- the rails take turns ------------------------------------------------------------------------ */

enum { PASSED_NONE = -1, PASSED_ALL = -2, STRIPE_UNKNOWN = INT32_MAX };

static void advance(struct turns *u)
{
    do {
        u->rail = u->rail + 1 < u->rails ? u->rail + 1 : 0;
    } while (u->head[u->rail] == u->end[u->rail]);
    u->stripe_left = u->stripe;
}

static void taken(struct turns *u)
{
    uint32_t from = u->rail;
    bool exhausted = ++u->head[from] == u->end[from];

    u->passed_from = PASSED_NONE;
    if (exhausted && --u->live == 0) {
        return;
    }
    if (--u->stripe_left == 0 || exhausted) {
        u->last_rail = (int)from;
        advance(u);
    }
}

/* The first frame of the rail is early: another rail's turn; false when that is so of each. */
static bool pass(struct turns *u)
{
    if (u->passed_from == PASSED_ALL) {
        return false;
    }
    if (u->passed_from == PASSED_NONE) {
        u->passed_from = (int)u->rail;
        if (u->stripe_left < u->stripe) {
            /* The stripe was shorter than was thought. */
            u->stripe -= u->stripe_left;
            u->last_rail = PASSED_NONE;
        }
    }
    advance(u);
    if ((int)u->rail == u->passed_from) {
        u->passed_from = PASSED_ALL;
        return false;
    }
    if ((int)u->rail == u->last_rail) {
        /* It was longer: it goes on. */
        u->stripe_left = STRIPE_UNKNOWN - u->stripe;
        u->stripe = STRIPE_UNKNOWN;
    }
    return true;
}

/* A data frame ahead of its turn in a flow from which nothing is missing yet. */
static bool is_early(const struct twin *t, const uint8_t *frame)
{
    uint32_t kind_src = load32(frame, FRAME_KIND_SRC), src = kind_src & 0xFFFFFF;
    const struct peer *p = src < t->nodes ? t->peers[src] : NULL;

    return kind_src >> 24 == KIND_DATA && p != NULL && p->highest == p->next &&
           before(p->next, load32(frame, FRAME_SEQ));
}

/* Which frame is the next one. */
static uint32_t whose_turn(struct twin *t, const struct local *local)
{
    struct turns *u = &t->turns;

    while (is_early(t, local->frames[u->head[u->rail]]) && pass(u)) {
    }
    return u->head[u->rail];
}

/* What the peers of the burst are about to be asked: all on its way into the cache at a time. */
static void fetch_sources(const struct twin *t, const struct local *local)
{
    for (int i = 0; i < local->n; i++) {
        uint32_t src = load32(local->frames[i], FRAME_KIND_SRC) & 0xFFFFFF;
        const struct peer *p = src < t->nodes ? t->peers[src] : NULL;
        if (p != NULL) {
            rte_prefetch0(p);
            rte_prefetch0((const char *)p + RTE_CACHE_LINE_SIZE);
            rte_prefetch0(&p->first_lane);
        }
    }
}

/* One burst from every rail; frames received. */
int receive(struct twin *t)
{
    struct rte_mbuf *burst[BURST];
    struct local local;
    struct turns *u = &t->turns;
    uint32_t crcs[BURST * TWIN_RAILS_MAX];
    int total = 0;

    local.n = 0;
    u->rails = u->live = u->rail = 0;
    u->stripe_left = u->stripe;
    u->last_rail = u->passed_from = PASSED_NONE;

    for (uint32_t r = 0; r < t->rails; r++) {
        uint16_t n = rte_eth_rx_burst(t->rail[r].port, 0, burst, BURST);
        for (uint16_t i = 0; i < n; i++) {
            if (i + PREFETCH_AHEAD < n) {
                rte_prefetch0(burst[i + PREFETCH_AHEAD]);
            }
            rte_prefetch0(frame_of(burst[i]));
        }
        int before = local.n;
        for (uint16_t i = 0; i < n; i++) {
            finish(t, burst[i], sort(t, r, burst[i], &local));
        }
        if (local.n > before) {
            u->head[u->rails] = (uint32_t)before;
            u->end[u->rails++] = (uint32_t)local.n;
            u->live++;
        }
        total += n;
    }
    frame_crcs(local.frames, local.lengths, local.n, crcs);
    if (has_many_peers(t)) {
        fetch_sources(t, &local);
    }
    /* One loop for both cases: all of it is inlined where it is called once. */
    bool several = u->rails > 1;
    for (int i = 0; i < local.n; i++) {
        uint32_t at = several ? whose_turn(t, &local) : (uint32_t)i;
        struct rte_mbuf *m = local.mbufs[at];
        finish(t, m, take(t, m, local.frames[at], local.lengths[at], crcs[at]));
        if (several) {
            taken(u);
        }
    }
    count(t, TWIN_FRAMES_RECEIVED, (uint64_t)total);
    return total;
}

/* The program's handler: the same sum as ReceiveDigest in Java. */
static void on_message(struct twin *t, const struct message *m)
{
    t->digest = (t->digest << 5 | t->digest >> 59) + ((uint64_t)m->source << 16 | m->length);
    if (unlikely(t->contents)) {
        t->digest ^= crc32c(frame_of(m->mbuf) + FRAME_HEADER, m->length);
    }
}

/* The handler has returned: buffer and credit go back. */
static void consumed(struct twin *t, const struct message *m)
{
    struct peer *p = t->peers[m->source];
    struct in_lane *lane = in_lane_of(p, m->source_endpoint, t->endpoint);

    release(t, m->mbuf, OWNER_INBOX | t->endpoint);
    lane->consumed++;
    uint32_t news = lane_limit(lane) - lane->advertised;
    if ((int32_t)news > 0 && news >= lane->granted >> 2) {
        if (news >= lane->granted >> 1) {
            p->ack_at_once = true;
        }
        note(t, p);
    }
}

int poll_inbox(struct twin *t)
{
    int n = 0;

    for (; t->inbox_taken != t->inbox_put && n < 2 * BURST; n++) {
        const struct message *m = &t->inbox[t->inbox_taken & t->inbox_mask];
        on_message(t, m);
        consumed(t, m);
        t->inbox_taken++;
    }
    return n;
}
