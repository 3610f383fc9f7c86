/* SPDX-License-Identifier: Apache-2.0 */
/* The twin as a whole: set-up, duty cycle, rails. */
#include "node.h"

enum { TIMER_NS = 100000, PATIENCE_STEP_NS = 20000000, PROBE_FLOOR_NS = 200000 };
#define FIRST_PROBE_NS 5000000u

/* ---- set-up ------------------------------------------------------------------------------------ */

TWIN_API int twin_config_bytes(int which)
{
    return which == 0 ? (int)sizeof(struct twin_config) : (int)sizeof(struct twin_peer_config);
}

TWIN_API struct twin *twin_create(const struct twin_config *c)
{
    if (c == NULL || c->frame_bytes == 0 || c->rails == 0 || c->rails > TWIN_RAILS_MAX || c->nodes == 0 ||
        !rte_is_power_of_2(c->window) || !rte_is_power_of_2(c->inbox)) {
        return NULL;
    }
    struct twin *t = aligned_alloc(RTE_CACHE_LINE_SIZE, RTE_ALIGN(sizeof(*t), RTE_CACHE_LINE_SIZE));
    if (t == NULL) {
        return NULL;
    }
    memset(t, 0, sizeof(*t));
    t->base = c->base;
    t->reciprocal = UINT64_MAX / c->stride_bytes + 1;
    t->self = c->self;
    t->nodes = c->nodes;
    t->key = c->key;
    t->window = c->window;
    t->endpoint = c->endpoint;
    t->frame_bytes = c->frame_bytes;
    t->turns.stripe = 1;
    t->rails = c->rails;
    t->now_ns = c->now_ns;
    t->least_rtt_ns = UINT32_MAX;
    t->poll_gap_ns = c->poll_gap_ns;
    t->mbufs = (struct rte_mbuf *const *)(uintptr_t)hxb_pool_mbufs(
        (const struct hxb_pool *)(uintptr_t)c->pool);
    t->mempool = t->mbufs[1]->pool;
    t->inbox_mask = c->inbox - 1;
    t->owners = calloc((size_t)c->buffers + 1, sizeof(*t->owners));
    t->stash_most = RTE_MAX((uint32_t)RELEASES, c->buffers / 2);
    t->stash = calloc(t->stash_most, sizeof(*t->stash));
    t->peers = calloc(c->nodes, sizeof(*t->peers));
    t->active = calloc(c->nodes, sizeof(*t->active));
    t->due = calloc(c->nodes, sizeof(*t->due));
    t->urgent = calloc(c->nodes, sizeof(*t->urgent));
    t->inbox = calloc(c->inbox, sizeof(*t->inbox));
    for (uint32_t r = 0; r < c->rails; r++) {
        t->rail[r].port = c->port[r];
        t->rail[r].mac = c->mac[r];
    }
    if (t->owners == NULL || t->stash == NULL || t->peers == NULL || t->active == NULL ||
        t->due == NULL || t->urgent == NULL || t->inbox == NULL || relay_create(t, c) < 0) {
        twin_destroy(t);
        return NULL;
    }
    return t;
}

TWIN_API void twin_destroy(struct twin *t)
{
    for (uint32_t i = 0; i < t->peer_count; i++) {
        free(t->active[i]->slots);
        free(t->active[i]->held);
        free(t->active[i]);
    }
    relay_destroy(t);
    free(t->owners);
    free(t->stash);
    free(t->peers);
    free(t->active);
    free(t->due);
    free(t->urgent);
    free(t->inbox);
    free(t);
}

TWIN_API int twin_add_peer(struct twin *t, const struct twin_peer_config *c)
{
    struct peer *p;

    if (c->node >= t->nodes || t->peers[c->node] != NULL) {
        return -EINVAL;
    }
    size_t bytes = RTE_ALIGN(sizeof(*p) + t->rails * sizeof(p->paths[0]), RTE_CACHE_LINE_SIZE);
    p = aligned_alloc(RTE_CACHE_LINE_SIZE, bytes);
    if (p == NULL) {
        return -ENOMEM;
    }
    memset(p, 0, bytes);
    p->node = c->node;
    p->session = c->session;
    p->next = p->highest = c->next_in;
    p->unacknowledged = p->next_out = c->next_out;
    p->granted = c->granted;
    p->first_lane = (struct in_lane){.src_endpoint = (uint16_t)t->endpoint,
                                     .dst_endpoint = (uint16_t)t->endpoint,
                                     .granted = c->granted,
                                     .advertised = c->granted};
    p->lanes = &p->first_lane;
    p->out = (struct out_lane){.endpoint = (uint16_t)t->endpoint,
                               .dst_endpoint = (uint16_t)t->endpoint,
                               .limit = c->limit};
    p->slots = calloc(t->window, sizeof(*p->slots));
    p->held_mask = RTE_MIN(t->window, (uint32_t)LEAST_HELD) - 1;
    p->held = calloc(p->held_mask + 1, sizeof(*p->held));
    t->peers[c->node] = p;
    t->active[t->peer_count++] = p;
    if (p->slots == NULL || p->held == NULL) {
        return -ENOMEM;
    }
    for (uint32_t r = 0; r < t->rails; r++) {
        path_begin(&p->paths[r], c->mac[r], r << 8, t->now_ns);
        p->terms[r] = (struct terms){.window = PATH_BYTES_MAX};
    }
    return 0;
}

/* ---- rails ------------------------------------------------------------------------------------- */

/* Of control frames, which have none so far. */
static void write_crcs(struct rte_mbuf *const *mbufs, uint32_t n)
{
    uint8_t *frames[BURST];
    uint32_t lengths[BURST], crcs[BURST];

    for (uint32_t i = 0; i < n; i++) {
        frames[i] = frame_of(mbufs[i]);
        lengths[i] = mbufs[i]->pkt_len - FRAME_HEADER;
    }
    frame_crcs(frames, lengths, (int)n, crcs);
    for (uint32_t i = 0; i < n; i++) {
        store32(frames[i], FRAME_CRC, crcs[i]);
    }
}

/* Nothing but relayed frames: they leave from where they lie, at the queue's end by two bursts. */
static void flush_transit(struct twin *t, struct rail *rail, uint32_t n)
{
    uint32_t first = rail->transit.taken & (QUEUE - 1);
    uint32_t before_end = RTE_MIN(n, QUEUE - first);
    struct rte_mbuf **mbufs = rail->transit.mbufs;
    uint32_t sent = rte_eth_tx_burst(rail->port, 0, mbufs + first, (uint16_t)before_end);

    if (unlikely(before_end < n)) {
        sent += rte_eth_tx_burst(rail->port, 0, mbufs, (uint16_t)(n - before_end));
    }
    if (unlikely(sent != n)) {
        count(t, TWIN_TROUBLE, 1);
    }
    rail->transit.taken += n;
    count(t, TWIN_FRAMES_SENT, n);
}

/* Control frames first, then relayed ones, then the node's own. */
static void flush_rail(struct twin *t, struct rail *rail)
{
    struct rte_mbuf *burst[BURST];
    uint32_t c = RTE_MIN(rail->control.put - rail->control.taken, (uint32_t)BURST);
    uint32_t r = RTE_MIN(rail->transit.put - rail->transit.taken, BURST - c);
    uint32_t l = RTE_MIN(rail->local.put - rail->local.taken, BURST - c - r);
    uint32_t n = 0;

    if (c + r + l == 0) {
        return;
    }
    if (c + l == 0) {
        flush_transit(t, rail, r);
        return;
    }
    for (uint32_t i = 0; i < c; i++) {
        burst[n++] = rail->control.mbufs[(rail->control.taken + i) & (QUEUE - 1)];
    }
    if (c > 0) {
        write_crcs(burst, c);
    }
    for (uint32_t i = 0; i < r; i++) {
        burst[n++] = rail->transit.mbufs[(rail->transit.taken + i) & (QUEUE - 1)];
    }
    for (uint32_t i = 0; i < l; i++) {
        struct rte_mbuf *m = rail->local.mbufs[(rail->local.taken + i) & (QUEUE - 1)];
        rte_mbuf_refcnt_update(m, 1); /* the window's reference stays */
        rail->local_bytes -= m->pkt_len;
        burst[n++] = m;
    }
    /* Control frames pass to the port with their only reference; relayed ones are a port's yet. */
    for (uint32_t i = 0; i < c; i++) {
        left(t, burst[i]);
    }
    if (unlikely(rte_eth_tx_burst(rail->port, 0, burst, (uint16_t)n) != n)) {
        count(t, TWIN_TROUBLE, 1);
    }
    rail->control.taken += c;
    rail->transit.taken += r;
    rail->local.taken += l;
    count(t, TWIN_FRAMES_SENT, n);
}

/* ---- duty cycle -------------------------------------------------------------------------------- */

/* Every 100 us: who is silent, which path owes a sign of life; of many peers one part each time. */
static void run_timers(struct twin *t)
{
    uint32_t step = has_many_peers(t) ? PARTS_OF_MANY : 1;

    for (uint32_t i = t->timer_round++ & (step - 1); i < t->peer_count; i += step) {
        struct peer *p = t->active[i];
        uint64_t floor_ns = RTE_MAX(t->poll_gap_ns + p->peer_gap_ns, (uint64_t)PROBE_FLOOR_NS);
        if (unlikely(t->patience_ns - p->heard_at >= UINT64_C(12000000000))) {
            count(t, TWIN_TROUBLE, 1);
        }
        for (uint32_t watched = p->watched; watched != 0; watched &= watched - 1) {
            uint32_t r = (uint32_t)__builtin_ctz(watched);
            const struct path *path = &p->paths[r];
            uint64_t base_ns = path->smoothed_rtt_ns == 0
                                   ? FIRST_PROBE_NS
                                   : path->smoothed_rtt_ns + 4 * path->rtt_variation_ns;
            if (p->terms[r].bytes == 0) {
                p->watched &= ~(UINT32_C(1) << r);
            } else if (t->now_ns - owed_since(path) >= RTE_MAX(floor_ns, base_ns)) {
                count(t, TWIN_TROUBLE, 1);
            }
        }
    }
}

TWIN_API int twin_cycle(struct twin *t, uint64_t now_ns)
{
    uint64_t gap = now_ns - t->now_ns, decayed = t->poll_gap_ns - (t->poll_gap_ns >> 10);

    t->now_ns = now_ns;
    t->patience_ns += RTE_MIN(gap, (uint64_t)PATIENCE_STEP_NS);
    t->poll_gap_ns = RTE_MAX(gap, decayed);
    int received = receive(t);
    if ((int64_t)(now_ns - t->timer_due_ns) >= 0) {
        t->timer_due_ns = now_ns + TIMER_NS;
        run_timers(t);
    }
    flush_acks(t);
    seal(t);
    for (uint32_t r = 0; r < t->rails; r++) {
        flush_rail(t, &t->rail[r]);
    }
    return received;
}

TWIN_API int twin_receive(struct twin *t, uint64_t now_ns, int n)
{
    int got = 0;

    for (int cycles = 0; got < n && cycles < n; cycles++) {
        twin_cycle(t, now_ns);
        got += poll_inbox(t);
    }
    return got;
}

/* ---- what it says of itself -------------------------------------------------------------------- */

TWIN_API uint64_t twin_counter(const struct twin *t, int counter)
{
    return counter >= 0 && counter < TWIN_COUNTERS ? t->counters[counter] : 0;
}

TWIN_API uint64_t twin_digest(const struct twin *t)
{
    return t->digest;
}

TWIN_API void twin_contents(struct twin *t, int contents)
{
    t->contents = contents != 0;
}

TWIN_API void twin_flush(struct twin *t)
{
    pool_flush(t);
    rte_mempool_put_bulk(t->mempool, (void **)t->stash, t->stashed);
    t->stashed = 0;
}
