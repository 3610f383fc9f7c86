/* SPDX-License-Identifier: Apache-2.0 */
/* What acknowledgements tell of paths: that they live, round trips, congestion windows (sections 5.3 and 5.5). */
#include "node.h"

/* Round trips that differ by this, or by a factor of two, belong to paths that are alike. */
#define ALIKE_NS 20000u
/* What exceeds it tells of a stall. */
#define RTT_MAX_NS UINT64_C(1000000000)

/* As DelayWindow in Java. */
enum { QUEUE_FRAMES = 6, QUEUE_FRAMES_LEAST = 3, LEAST_SHARE = 64, MOST_ROUND_TRIPS = 32 };
#define QUEUE_NS_MIN INT64_C(100000)
#define QUEUE_NS_MAX INT64_C(2000000)
#define NOISE_NS_MAX INT64_C(8000000)
#define WINDOW_BYTES_MAX (INT64_C(4) << 20)

/* Frames over which a path's share of losses is forgotten; one in sixteen is lossy. */
enum { LOSS_MEMORY_FRAMES = 64, LOSSY_SHARE = 64 };

void path_begin(struct path *path, uint64_t mac, uint32_t code, uint64_t now_ns)
{
    *path = (struct path){.mac = mac,
                          .code = code,
                          .evidence_ns = now_ns,
                          .waiting_from_ns = now_ns,
                          .least_rtt_ns = UINT32_MAX,
                          .window = {.bytes = PATH_BYTES_MAX,
                                     .starting = true,
                                     .limit_ns = QUEUE_NS_MAX,
                                     .allowed_ns = QUEUE_NS_MIN}};
}

static void sample_rtt(struct path *path, uint64_t rtt)
{
    path->least_rtt_ns = RTE_MIN(path->least_rtt_ns, rtt);
    if (path->smoothed_rtt_ns == 0) {
        path->smoothed_rtt_ns = rtt;
        path->rtt_variation_ns = rtt / 2;
        return;
    }
    /* RFC 6298: alpha 1/8, beta 1/4. */
    int64_t error = (int64_t)(rtt - path->smoothed_rtt_ns);
    path->rtt_variation_ns +=
        (uint64_t)((int64_t)((uint64_t)llabs(error) - path->rtt_variation_ns) >> 2);
    path->smoothed_rtt_ns += (uint64_t)(error >> 3);
}

/* A sign of life: how far they were apart of late, at worst. */
static void evidence(struct path *path, uint64_t now_ns)
{
    int64_t gap = (int64_t)(now_ns - owed_since(path));
    int64_t worst = (int64_t)path->evidence_gap_ns;

    path->evidence_gap_ns = (uint64_t)(gap > worst ? gap : worst - ((worst - gap) >> 3));
    path->evidence_ns = now_ns;
}

/* ---- the window: Swift's, with a target of some frames at the path's own rate ------------------- */

static int64_t allowed_ns(const struct twin *t, const struct delay_window *w, int64_t smoothed_ns,
                          bool both_ways)
{
    int64_t frames_ns = QUEUE_FRAMES * (int64_t)t->frame_bytes * smoothed_ns / w->bytes;
    int64_t share_ns = RTE_MAX(w->limit_ns >> 1,
                               RTE_MIN(w->limit_ns * (int64_t)t->frame_bytes / w->bytes, w->limit_ns));
    int64_t one_way_ns =
        RTE_MAX(QUEUE_NS_MIN, RTE_MIN(frames_ns, RTE_MAX(QUEUE_NS_MIN, share_ns)));
    return (both_ways ? 2 * one_way_ns : one_way_ns) + w->tolerated_ns;
}

static void grow(const struct twin *t, struct delay_window *w, int64_t acked)
{
    int64_t frame = t->frame_bytes;

    if (w->starting) {
        w->bytes += acked;
    } else if (w->bytes >= frame) {
        w->bytes += RTE_MAX(INT64_C(1), acked * frame / (2 * w->bytes));
    } else {
        w->bytes += RTE_MAX(INT64_C(1), w->queue_ns < w->allowed_ns >> 2 ? w->bytes : w->bytes >> 3);
    }
    w->bytes = RTE_MIN(w->bytes, WINDOW_BYTES_MAX);
}

static void shrink(struct delay_window *w, int64_t rtt, int64_t smoothed_ns, int64_t now_ns)
{
    w->starting = false;
    if (now_ns - w->cut_ns >= smoothed_ns) {
        w->cut_ns = now_ns;
        int64_t cut = 4 * w->bytes * (w->queue_ns - w->allowed_ns) / (5 * rtt);
        int64_t least = w->crowded_rounds > 0 ? PATH_BYTES_MAX : RTE_MIN(w->bytes, (int64_t)PATH_BYTES_MAX);
        w->bytes = RTE_MAX(least, w->bytes - RTE_MIN(cut, w->bytes >> 1));
    }
}

static void on_acknowledged(const struct twin *t, struct path *path, int64_t least_ns, bool both_ways,
                            int64_t noise_ns)
{
    struct delay_window *w = &path->window;
    int64_t now_ns = (int64_t)t->now_ns, smoothed_ns = (int64_t)path->smoothed_rtt_ns;

    w->tolerated_ns = RTE_MIN(noise_ns, NOISE_NS_MAX);
    w->queue_ns = (int64_t)path->fresh_rtt_ns - least_ns;
    int64_t least_allowed_ns = QUEUE_NS_MIN + w->tolerated_ns;
    w->allowed_ns = w->queue_ns <= least_allowed_ns && w->bytes >= (int64_t)t->frame_bytes
                        ? least_allowed_ns
                        : allowed_ns(t, w, smoothed_ns, both_ways);
    if (now_ns - w->round_ns >= smoothed_ns) {
        w->round_ns = now_ns;
        int64_t round_trips =
            w->bytes >= (int64_t)t->frame_bytes
                ? 1
                : RTE_MIN((int64_t)t->frame_bytes / w->bytes, (int64_t)MOST_ROUND_TRIPS);
        /* A ring has no rate, so the time of a frame on the link is not in it. */
        w->limit_ns = RTE_MIN(w->limit_ns + (w->limit_ns >> 7) * round_trips, QUEUE_NS_MAX);
        w->crowded_rounds = RTE_MAX(INT64_C(0), w->crowded_rounds - round_trips);
    }
    if (w->queue_ns > w->allowed_ns) {
        shrink(w, (int64_t)path->fresh_rtt_ns, smoothed_ns, now_ns);
    } else if (w->used && path->fresh_bytes > 0) {
        w->used = false;
        grow(t, w, (int64_t)path->fresh_bytes);
    }
}

/* ---- an acknowledgement is read ----------------------------------------------------------------- */

/* A frame that was sent once has arrived. */
void path_acknowledged(struct twin *t, struct peer *p, const struct held *h)
{
    struct path *path = &p->paths[h->path];

    path->fresh_bytes += h->bytes;
    path->fresh_frames++;
    path->settled++;
    if (before(path->settled_index, h->path_index) || !(p->fresh >> h->path & 1)) {
        path->settled_index = h->path_index;
        path->fresh_rtt_ns = t->now_ns - h->sent_ns;
    }
    p->fresh |= UINT32_C(1) << h->path;
    p->terms[h->path].bytes -= h->bytes;
}

/* What the choice of a path reads, where there is a choice. */
static void enter_terms(const struct twin *t, const struct path *path, struct terms *terms)
{
    uint64_t most_ns = 2 * t->least_rtt_ns + ALIKE_NS;

    terms->window = (uint32_t)path->window.bytes;
    terms->byte_time = (path->smoothed_rtt_ns << 10) / terms->window;
    terms->longer_ns = (uint32_t)(path->least_rtt_ns > most_ns ? path->least_rtt_ns - most_ns : 0);
}

static void enter(struct twin *t, struct peer *p, uint32_t i, bool both_ways)
{
    struct path *path = &p->paths[i];

    evidence(path, t->now_ns);
    if (likely(path->fresh_rtt_ns <= RTT_MAX_NS)) {
        sample_rtt(path, path->fresh_rtt_ns);
        path->arrived_sent_ns = t->now_ns - path->fresh_rtt_ns;
        t->least_rtt_ns = RTE_MIN(t->least_rtt_ns, path->least_rtt_ns);
        uint64_t scatter_ns = path->loss_share >= LOSSY_SHARE ? 2 * path->rtt_variation_ns : 0;
        on_acknowledged(t, path, (int64_t)t->least_rtt_ns, both_ways,
                        (int64_t)(t->poll_gap_ns + p->peer_gap_ns + scatter_ns));
        if (t->rails > 1) {
            enter_terms(t, path, &p->terms[i]);
        }
    }
    if (unlikely(path->loss_share != 0)) {
        path->loss_share -= path->loss_share * RTE_MIN(path->fresh_frames, (uint32_t)LOSS_MEMORY_FRAMES) /
                            LOSS_MEMORY_FRAMES;
    }
    path->fresh_frames = 0;
    path->fresh_bytes = 0;
}

/*
 * Ends the reading of an acknowledgement. A path is FIFO: what was sent on it before a frame that
 * arrived, and did not, is lost. Then fewer frames are settled than their numbers tell; which ones, only
 * a resend would have to know.
 */
void settle_paths(struct twin *t, struct peer *p)
{
    uint32_t received = p->highest + p->next;
    bool both_ways = received != p->received_at_settling;

    p->received_at_settling = received;
    for (uint32_t fresh = p->fresh; fresh != 0; fresh &= fresh - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(fresh);
        enter(t, p, i, both_ways);
        if (unlikely(p->paths[i].settled != p->paths[i].settled_index + 1)) {
            count(t, TWIN_TROUBLE, 1);
        }
    }
    p->fresh = 0;
}
