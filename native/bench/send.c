/* SPDX-License-Identifier: Apache-2.0 */
/* Data frames on their way out: claim, number, header, path, hold (section 5.3). */
#include "node.h"

/* A peer has at most 64 paths. */
enum { TURN_BITS = 6 };

/* Bytes of new frames that follow one another on a path. */
enum { STRIPE_BYTES = 8192 };

/* Bursts that wait on a rail before earlier choices of it are made again. */
enum { CHOICE_BURSTS = 4 };

/* Times of delivery that count as equal, and how long it is one path's turn: powers of two of ns. */
enum { EQUAL_NS_BITS = 8, TURN_NS_BITS = 18 };

/* Payload of what follows on a choice; as Sealer.SHORT_BYTES in Java. */
enum { SHORT_BYTES = 448 };

/* Of the time, as LocalQueue.standingMask in Java; a ring tells of no backlog. */
static inline uint64_t standing_mask(const struct twin *t, uint32_t path)
{
    const struct queue *queue = &t->rail[path].local;
    uint32_t most = t->rails > 1 ? CHOICE_BURSTS * BURST : QUEUE;
    return queue->put - queue->taken < most ? (UINT64_C(1) << TURN_NS_BITS) - 1 : 0;
}

/* The first of equals, as Paths.turn in Java. */
static uint32_t turn_of(const struct twin *t)
{
    return (((uint32_t)(t->now_ns >> TURN_NS_BITS) + t->self) & INT32_MAX) % t->rails;
}

/* By the terms of each, as Paths.chooseByTerms in Java. UINT64_MAX: none has room. */
static uint64_t choose_by_terms(const struct twin *t, const struct peer *p, uint32_t turn)
{
    uint64_t least = UINT64_MAX; /* time of delivery and, below it, how soon it is the path's turn */
    uint32_t path = turn;

    for (uint32_t i = 0; i < t->rails; i++) {
        const struct terms *terms = &p->terms[path];
        uint64_t unequal = ~standing_mask(t, path) & (1 << EQUAL_NS_BITS);
        uint64_t before = RTE_MAX(terms->bytes, t->rail[path].local_bytes);
        uint64_t delivery_ns = (terms->byte_time * before >> 10) + terms->longer_ns + unequal;
        uint64_t key = terms->bytes < terms->window ? delivery_ns >> EQUAL_NS_BITS << TURN_BITS | i : UINT64_MAX;
        least = RTE_MIN(least, key);
        path = path + 1 == t->rails ? 0 : path + 1;
    }
    return least;
}

/* A window of which half is in use may grow. */
static void note_use(struct twin *t, struct peer *p)
{
    for (uint32_t i = 0; i < t->rails; i++) {
        if (unlikely(p->terms[i].bytes << 1 >= p->terms[i].window)) {
            p->paths[i].window.used = true;
        }
    }
}

/*
 * The path that will deliver a new frame first: the time of what is in front of it, and by how much the
 * path is longer than others. An only path is asked for room alone.
 */
static int choose_path(struct twin *t, struct peer *p)
{
    bool only = t->rails == 1;
    uint32_t turn = only ? 0 : turn_of(t);
    uint64_t least = only ? (p->terms[0].bytes < p->terms[0].window ? 0 : UINT64_MAX) : choose_by_terms(t, p, turn);
    note_use(t, p);
    uint32_t best = only ? 0 : turn + (uint32_t)(least & ((1 << TURN_BITS) - 1));
    best -= best >= t->rails ? t->rails : 0;
    if (unlikely(least == UINT64_MAX || p->paths[best].mac == 0 ||
                 t->rail[best].local.put - t->rail[best].local.taken == QUEUE)) {
        count(t, TWIN_TROUBLE, 1);
        return -1;
    }
    return (int)best;
}

/* As Sender.chooseWay in Java: once for so many bytes, and some rounds; a ring tells of no backlog. */
static bool choose_stripe(struct twin *t, struct peer *p)
{
    int chosen = choose_path(t, p);
    if (chosen < 0) {
        p->stripe_bytes = 0;
        return false;
    }
    const struct terms *terms = &p->terms[chosen];
    uint64_t room = terms->window - terms->bytes;
    p->chosen = (uint8_t)chosen;
    p->stripe_bytes = (int32_t)RTE_MIN(room, (uint64_t)STRIPE_BYTES);
    p->stripe_ns = t->now_ns;
    return true;
}

static inline bool choice_stands(const struct twin *t, const struct peer *p)
{
    const struct queue *queue = &t->rail[p->chosen].local;
    return p->stripe_bytes > 0 && t->now_ns <= (p->stripe_ns | standing_mask(t, p->chosen)) &&
           queue->put - queue->taken != QUEUE;
}

static bool dispatch(struct twin *t, struct peer *p, struct held *h)
{
    if (unlikely(h->bytes > FRAME_HEADER + SHORT_BYTES)) {
        p->stripe_bytes = 0; /* Its path is worth a choice of its own. */
    }
    if (!choice_stands(t, p) && unlikely(!choose_stripe(t, p))) {
        return false;
    }
    uint32_t chosen = p->chosen;
    struct path *path = &p->paths[chosen];
    struct rail *rail = &t->rail[chosen];
    write_front(frame_of(h->mbuf), path->mac, rail->mac, 1, path->code);
    queue_put(&rail->local, h->mbuf);
    rail->local_bytes += h->bytes;
    struct terms *terms = &p->terms[chosen];
    if (terms->bytes == 0) {
        path->waiting_from_ns = t->now_ns;
        p->watched |= UINT32_C(1) << chosen;
    }
    h->copies = 1;
    h->path_index = path->next_index++;
    h->sent_ns = t->now_ns;
    h->path = (uint8_t)chosen;
    terms->bytes += h->bytes;
    p->stripe_bytes -= (int32_t)h->bytes;
    return true;
}

/*
 * The CRCs of the frames that have none yet. Not one by one: the processor would wait for the stores
 * of each header, and for its own chain.
 */
void seal(struct twin *t)
{
    uint32_t crcs[BURST];

    frame_crcs(t->unsealed_frames, t->unsealed_lengths, (int)t->unsealed, crcs);
    for (uint32_t i = 0; i < t->unsealed; i++) {
        store32(t->unsealed_frames[i], FRAME_CRC, crcs[i]);
    }
    t->unsealed = 0;
}

/* Twice as many places for frames that are held. Rare: they stay. */
static bool grow_held(struct peer *p)
{
    uint32_t mask = 2 * p->held_mask + 1;
    struct held *held = calloc(mask + 1, sizeof(*held));

    if (held == NULL) {
        return false;
    }
    for (uint32_t seq = p->unacknowledged; seq != p->next_out; seq++) {
        held[seq & mask] = *held_of(p, seq);
    }
    free(p->held);
    p->held = held;
    p->held_mask = mask;
    return true;
}

/* One message: credit, buffer, payload, number, header, path. */
static bool send_one(struct twin *t, uint32_t dst, uint32_t length, uint64_t word)
{
    struct peer *p = likely(dst < t->nodes) ? t->peers[dst] : NULL;
    if (unlikely(p == NULL || p->next_out - p->unacknowledged >= t->window ||
                 !before(p->out.used, p->out.limit))) {
        return false;
    }
    if (unlikely(p->next_out - p->unacknowledged > p->held_mask && !grow_held(p))) {
        return false;
    }
    struct rte_mbuf *m = allocate(t, OWNER_APPLICATION | t->endpoint);
    if (unlikely(m == NULL)) {
        return false;
    }
    p->out.used++;
    uint8_t *frame = frame_of(m);
    memcpy(frame + FRAME_HEADER, &word, sizeof(word)); /* what the program writes */

    transfer(t, m, OWNER_APPLICATION | t->endpoint, OWNER_WINDOW | p->node);
    uint32_t seq = p->next_out++;
    struct held *h = held_of(p, seq);
    h->mbuf = m;
    h->bytes = FRAME_HEADER + length;
    struct in_lane *back = in_lane_of(p, p->out.dst_endpoint, p->out.endpoint);
    uint32_t flags = 0, limit = 0;
    if (back != NULL) {
        limit = lane_limit(back);
        back->advertised = limit;
        flags = FLAG_CREDIT;
    }
    write_end_to_end(frame, (uint32_t)KIND_DATA << 24 | t->self, flags << 24 | p->node, t->key,
                     p->session, seq, p->next, limit,
                     (uint32_t)p->out.endpoint << 16 | p->out.dst_endpoint, length);
    t->unsealed_frames[t->unsealed] = frame;
    t->unsealed_lengths[t->unsealed++] = length;
    if (t->unsealed == BURST) {
        seal(t);
    }
    set_length(m, h->bytes);
    count(t, TWIN_DATA_SENT, 1);
    if (p->highest == p->next) {
        p->news = 0;
    }
    return dispatch(t, p, h);
}

TWIN_API int twin_send(struct twin *t, uint64_t now_ns, const int32_t *dst, int n, int length,
              uint64_t first)
{
    int sent = 0;

    while (sent < n && send_one(t, (uint32_t)dst[sent], (uint32_t)length, first + (uint64_t)sent)) {
        sent++;
    }
    for (int i = 0; i < n; i += BURST) {
        twin_cycle(t, now_ns);
    }
    return sent;
}
