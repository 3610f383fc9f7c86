/* SPDX-License-Identifier: Apache-2.0 */
/* Dimension order: the very buffer that was received goes on (section 2.5). */
#include "node.h"

enum { ORDERS = 6, STEPS = ORDERS * 64, STAYS = -1 };

/* Which path fields may not be set: bits between the order and the rails. */
#define PATH_RESERVED 0x1FFFF000u

static const uint8_t orders[ORDERS][TWIN_DIMENSIONS] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                                        {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};

static inline uint32_t rail_shift(uint32_t dimension)
{
    return 8 - 4 * dimension;
}

static inline uint32_t differing(uint32_t a, uint32_t b)
{
    uint32_t d = a ^ b;
    return ((d & 0xFF) != 0) | ((d & 0xFF00) != 0) << 1 | ((d & 0xFF0000) != 0) << 2;
}

/* Where a frame that has these hops, and these still to go, came from and goes to. */
static int8_t step(uint32_t order, uint32_t hops, uint32_t remaining)
{
    int ingress = -1;

    for (int i = 0; i < TWIN_DIMENSIONS; i++) {
        uint32_t d = orders[order][i];
        if ((hops >> d & 1) == 0) {
            continue;
        }
        if ((remaining >> d & 1) == 0) {
            ingress = (int)d;
            continue;
        }
        /* All further hops of the order must remain too. */
        for (int j = i; j < TWIN_DIMENSIONS; j++) {
            uint32_t later = orders[order][j];
            if ((hops >> later & 1) != (remaining >> later & 1)) {
                return STAYS;
            }
        }
        return ingress < 0 || (remaining & ~hops) != 0 ? STAYS : (int8_t)(ingress << 2 | (int)d);
    }
    return STAYS;
}

int relay_create(struct twin *t, const struct twin_config *c)
{
    t->relay_rails = c->relay_rails;
    if (c->relay_rails == 0) {
        return 0;
    }
    t->positions = calloc(c->nodes, sizeof(*t->positions));
    t->steps = calloc(STEPS, sizeof(*t->steps));
    if (t->positions == NULL || t->steps == NULL) {
        return -ENOMEM;
    }
    for (uint32_t node = 0; node < c->nodes; node++) {
        uint32_t x = node % c->extent[0], rest = node / c->extent[0];
        t->positions[node] = x | rest % c->extent[1] << 8 | rest / c->extent[1] << 16;
    }
    for (uint32_t i = 0; i < STEPS; i++) {
        t->steps[i] = step(i >> 6, i >> 3 & 7, i & 7);
    }
    for (int d = 0; d < TWIN_DIMENSIONS; d++) {
        t->neighbours[d] = calloc((size_t)c->extent[d] * c->relay_rails, sizeof(uint64_t));
        if (t->neighbours[d] == NULL) {
            return -ENOMEM;
        }
    }
    return 0;
}

void relay_destroy(struct twin *t)
{
    free(t->positions);
    free(t->steps);
    for (int d = 0; d < TWIN_DIMENSIONS; d++) {
        free(t->neighbours[d]);
    }
}

TWIN_API int twin_add_neighbour(struct twin *t, int dimension, int coordinate, int rail, uint64_t mac)
{
    if (t->relay_rails == 0 || dimension < 0 || dimension >= TWIN_DIMENSIONS || coordinate < 0 ||
        rail < 0 || (uint32_t)rail >= t->relay_rails) {
        return -EINVAL;
    }
    t->neighbours[dimension][(uint32_t)coordinate * t->relay_rails + (uint32_t)rail] = mac;
    return 0;
}

/* Whether the frame says what the last one said that went on. */
static inline bool says_the_same(const struct flow *f, uint64_t ends, uint32_t hop, uint64_t rest)
{
    return f->ends == ends && f->hop == hop && f->rest == rest;
}

/* Enters what a frame is to say when it goes on, or does not: false. */
static bool work_out(struct twin *t, struct flow *f, uint64_t ends, const uint8_t *frame)
{
    uint32_t src = ends >> 32 & 0xFFFFFF, dst = ends & 0xFFFFFF, rail = (uint32_t)(ends >> 56);

    if (t->relay_rails == 0 || dst >= t->nodes || src >= t->nodes) {
        return false;
    }
    uint64_t path_word = load64(frame, FRAME_COPY);
    uint32_t path = (uint32_t)path_word, order = path >> 29;
    uint32_t to = t->positions[dst], from = t->positions[src], here = t->positions[t->self];
    uint32_t hops = differing(to, from), remaining = differing(to, here);
    uint32_t idle = ((hops & 1) ? 0 : 0xF00u) | ((hops & 2) ? 0 : 0xF0u) | ((hops & 4) ? 0 : 0xFu);
    if (order >= ORDERS || (path & (PATH_RESERVED | idle)) != 0) {
        return false;
    }
    int8_t s = t->steps[order << 6 | hops << 3 | remaining];
    /* Dimensions still to be travelled must be the source's: else this is not a place of the path. */
    if (s < 0 || (differing(from, here) & remaining) != 0) {
        return false;
    }
    uint32_t in = (uint32_t)s >> 2, out = (uint32_t)s & 3;
    uint32_t in_index = path >> rail_shift(in) & 0xF, out_index = path >> rail_shift(out) & 0xF;
    if (in_index >= t->relay_rails || out_index >= t->relay_rails ||
        rail != in * t->relay_rails + in_index) {
        return false;
    }
    uint32_t coordinate = to >> (out << 3) & 0xFF;
    uint64_t next = t->neighbours[out][coordinate * t->relay_rails + out_index];
    uint32_t hop_word = (uint32_t)load64(frame, FRAME_ETHER_WORD) << 16 | path_word >> 48;
    if (next == 0 || (hop_word >> 16 & 0xFF) < 2) {
        return false;
    }
    f->ends = ends;
    f->rest = raw64(frame, FRAME_COPY);
    f->hop = raw32(frame, FRAME_ETHER_TYPE);
    f->egress = out * t->relay_rails + out_index;
    uint8_t front[FRAME_CRC];
    write_forward(front, next, t->rail[f->egress].mac, hop_word, path);
    memcpy(f->front, front, sizeof(f->front));
    return true;
}

enum verdict relay(struct twin *t, uint32_t rail, struct rte_mbuf *m, uint8_t *frame)
{
    uint64_t dst_word = load64(frame, FRAME_FLAGS_DST);
    uint64_t ends = (uint64_t)rail << 56 | (uint64_t)(load32(frame, FRAME_KIND_SRC) & 0xFFFFFF) << 32 |
                    (dst_word >> 32 & 0xFFFFFF);
    uint64_t rest = raw64(frame, FRAME_COPY);
    uint32_t hop = raw32(frame, FRAME_ETHER_TYPE);

    if (unlikely((uint32_t)dst_word != t->key)) {
        return DROPPED;
    }
    uint64_t mix = UINT64_C(0x9E3779B97F4A7C15);
    struct flow *f = &t->flows[(ends + (rest >> 32) * mix) * mix >> (64 - FLOWS_LOG2)];
    if (unlikely(!says_the_same(f, ends, hop, rest) && !work_out(t, f, ends, frame))) {
        return DROPPED;
    }
    memcpy(frame, f->front, sizeof(f->front));
    if (unlikely(!queue_put(&t->rail[f->egress].transit, m))) {
        return DROPPED;
    }
    goes_on(t, m);
    count(t, TWIN_RELAYED, 1);
    return KEPT;
}
