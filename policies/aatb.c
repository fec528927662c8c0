/* aatb - assisted adaptive token bucket: clients that tell one another what they sent and how often they were refused.
 *
 * Idea: a token bucket a client (see atb), whose rate r is moved by reports. Every `report` a client tells the others
 * s, the calls it has sent since its last one, and is told of the last `report` what all have sent (a mean m an active
 * client) and how many were refused, and of the last two how many clients have reported.
 *   a report, refused > 0   nothing is sent for `report` -+ 2 s
 *   a report else           r := max(r + 0.01/s, x r), x = 1.4 if s < 0.75 m or it is alone, else 1.2
 *   a refusal               (429, shed, displaced) is a report at once; refused counts it too. Nothing is sent for
 *                           refused / server_rate + U(0, 1) s; r := max(0.01/s, r / 2 if s < m / 2, else r / 3);
 *                           tokens := 1.1; no regular report for a `report`
 * Rates are whole hundredths, half up. Of two pauses the later end counts. Begins with one token.
 *
 * Source: AATB of arXiv:2510.04516, read so that it cannot get stuck (0.01 * 1.2 would round to 0.01). The telemetry is
 * what copies share, in cells of report / 30. A refused call is taken back; its client never hears of it.
 *
 * Parameters: bucket, initial_rate, server_rate (the quota of all, known to them), report. Preset `published`: a copy
 * an agent; one copy for several is a client that is alone. Known to fail: who was not refused pauses for the others,
 * and a pause grows with every refusal of half a minute, also those of a limit that has risen since. */
#include "policies/adaptive_bucket.h"

#define PAUSE_MOST (INT64_C(1000000000)) /* seconds */

enum { CELLS = 30, CLIENT_CELLS = 2 * CELLS };

struct aatb_params {
    struct adaptive_params adaptive;
    double server_rate;
    policy_time report;
};

struct aatb_vars {
    struct adaptive_bucket bucket;
    bool refused; /* ever */
    policy_time refused_at, next_report, pause_until;
    int64_t sent;        /* since the last report */
    int64_t reported_in; /* the cell of the last report, + 1; 0: none yet */
    uint64_t held_by, pause_by, active;
};

struct aatb_stats {
    uint64_t holds, refusals, reports;
};

/* The telemetry of a gate: rings of cells up to the running one, and their sums. A client is counted in the cell of its
 * last report. */
struct aatb_shared {
    int64_t cell;
    int64_t sent[CELLS], refused[CELLS], clients[CLIENT_CELLS];
    int64_t all_sent, all_refused, all_clients;
};

/* What a report is answered. */
struct answer {
    int64_t own, sent, refused, clients; /* own: what the report told */
};

enum { HELD_BY_NOTHING, HELD_BY_TOKENS, HELD_BY_OWN_REFUSAL, HELD_BY_REPORT };
static const char *const reasons[] = {NULL, "tokens", "refused", "report"};

/* --- telemetry --------------------------------------------------------------------------------------------------- */

static void empty(int64_t *cell, int64_t *sum)
{
    *sum -= *cell;
    *cell = 0;
}

static void advance(struct aatb_shared *shared, int64_t cell)
{
    int64_t last = cell - shared->cell > CLIENT_CELLS ? shared->cell + CLIENT_CELLS : cell;
    for (int64_t i = shared->cell + 1; i <= last; i++) {
        empty(&shared->sent[i % CELLS], &shared->all_sent);
        empty(&shared->refused[i % CELLS], &shared->all_refused);
        empty(&shared->clients[i % CLIENT_CELLS], &shared->all_clients);
    }
    shared->cell = cell;
}

static struct answer report(struct policy *self, policy_time now, bool refused)
{
    const struct aatb_params *params = self->params;
    struct aatb_vars *vars = self->vars;
    struct aatb_stats *stats = self->stats;
    struct aatb_shared *shared = self->shared;
    int64_t cell = now / (params->report / CELLS), before = vars->reported_in - 1, own = vars->sent;
    advance(shared, cell);
    if (before >= 0 && cell - before < CLIENT_CELLS) {
        shared->clients[before % CLIENT_CELLS]--;
        shared->all_clients--;
    }
    shared->clients[cell % CLIENT_CELLS]++;
    shared->all_clients++;
    shared->sent[cell % CELLS] += own;
    shared->all_sent += own;
    shared->refused[cell % CELLS] += refused;
    shared->all_refused += refused;
    vars->reported_in = cell + 1;
    vars->sent = 0;
    vars->active = (uint64_t)shared->all_clients;
    stats->reports++;
    return (struct answer){own, shared->all_sent, shared->all_refused, shared->all_clients};
}

/* --- the bucket, and pauses --------------------------------------------------------------------------------------- */

static void fill(struct aatb_vars *vars, const struct aatb_params *params, policy_time now)
{
    if (adaptive_fill(&vars->bucket, &params->adaptive, now))
        vars->next_report = now + params->report;
}

/* Nothing is sent for so long; what was said before stands if it is longer. */
static void pause(struct aatb_vars *vars, policy_time now, double seconds, uint64_t by)
{
    policy_time until = now + (policy_time)((seconds < PAUSE_MOST ? seconds : (double)PAUSE_MOST) * 1e9 + 0.5);
    if (until <= vars->pause_until)
        return;
    vars->pause_until = until;
    vars->pause_by = by;
}

/* --- what moves the rate ----------------------------------------------------------------------------------------- */

static void was_refused(struct policy *self, policy_time now)
{
    const struct aatb_params *params = self->params;
    struct aatb_vars *vars = self->vars;
    struct aatb_stats *stats = self->stats;
    struct answer answer = report(self, now, true);
    bool sends_little = 2 * answer.own * answer.clients < answer.sent;
    struct adaptive_bucket *bucket = &vars->bucket;
    int64_t full = adaptive_full(&params->adaptive), level = TOKEN + TOKEN / 10;
    pause(vars, now, (double)answer.refused / params->server_rate + self->host->uniform(self), HELD_BY_OWN_REFUSAL);
    adaptive_set_rate(bucket, sends_little ? (bucket->hundredths + 1) / 2 : (2 * bucket->hundredths + 3) / 6);
    bucket->level = level < full ? level : full;
    vars->refused = true;
    vars->refused_at = now;
    stats->refusals++;
}

/* The published rule asks that r has stood for a `report`. It has: the last regular one was that long ago, and after a
 * refusal there is none for as long. */
static void regular_report(struct policy *self, policy_time now)
{
    const struct aatb_params *params = self->params;
    struct aatb_vars *vars = self->vars;
    struct answer answer = report(self, now, false);
    bool sends_little = 4 * answer.own * answer.clients < 3 * answer.sent;
    if (answer.refused > 0) {
        pause(vars, now, (double)params->report / 1e9 - 2 + 4 * self->host->uniform(self), HELD_BY_REPORT);
        return;
    }
    adaptive_raise(&vars->bucket, sends_little || answer.clients == 1 ? 14 : 12);
}

/* --- callbacks --------------------------------------------------------------------------------------------------- */

static struct policy_answer aatb_admit(struct policy *self, const struct policy_view *view, struct policy_call *call)
{
    struct aatb_vars *vars = self->vars;
    struct aatb_stats *stats = self->stats;
    policy_time now = view->now, wait;
    (void)call;
    fill(vars, self->params, now);
    vars->held_by = HELD_BY_NOTHING;
    if (now >= vars->pause_until && vars->bucket.level >= TOKEN)
        return policy_admit();
    stats->holds++;
    if (now < vars->pause_until) {
        vars->held_by = vars->pause_by;
        wait = vars->pause_until - now;
    } else {
        vars->held_by = HELD_BY_TOKENS;
        wait = adaptive_wait(&vars->bucket);
        if (now < vars->next_report && vars->next_report - now < wait) /* then r may be larger */
            wait = vars->next_report - now;
    }
    return policy_hold(wait > POLICY_LEAST ? wait : POLICY_LEAST, reasons[vars->held_by]);
}

static policy_time aatb_admitted(struct policy *self, const struct policy_view *view, struct policy_call *call)
{
    struct aatb_vars *vars = self->vars;
    (void)call;
    fill(vars, self->params, view->now);
    adaptive_take(&vars->bucket);
    vars->sent++;
    return 0;
}

static policy_time aatb_finish(struct policy *self, const struct policy_view *view, struct policy_call *call,
                               const struct policy_outcome *outcome)
{
    const struct aatb_params *params = self->params;
    struct aatb_vars *vars = self->vars;

    (void)call;
    if (outcome->end != POLICY_OVERLOAD && outcome->end != POLICY_SHED && outcome->end != POLICY_DISPLACED)
        return POLICY_NONE;
    fill(vars, params, view->now);
    was_refused(self, view->now);
    adaptive_show(&vars->bucket);
    return params->adaptive.retries == RETRIES_OWN ? POLICY_LEAST
                                                   : POLICY_NONE; /* then it is held as long as it takes */
}

static policy_time aatb_tick(struct policy *self, const struct policy_view *view)
{
    const struct aatb_params *params = self->params;
    struct aatb_vars *vars = self->vars;
    policy_time now = view->now;
    fill(vars, params, now);
    if (now >= vars->next_report) {
        if (!vars->refused || now - vars->refused_at >= params->report)
            regular_report(self, now);
        vars->next_report = now + params->report;
        adaptive_show(&vars->bucket);
    }
    return vars->next_report;
}

static const struct option aatb_options[] = {
    {ADAPTIVE_RETRIES},
    {ADAPTIVE_BUCKET},
    {ADAPTIVE_INITIAL_RATE},
    {.key = "server_rate",
     .type = OPTION_RATE,
     .offset = offsetof(struct aatb_params, server_rate),
     .least = "1/d",
     .most = "inf",
     .measures = "calls",
     .live = true,
     .help = "what the backend lets in a second, of all clients together, as they know it"},
    {.key = "report",
     .type = OPTION_TIME,
     .offset = offsetof(struct aatb_params, report),
     .initial = "30 s",
     .least = "5 s",
     .most = "1 d",
     .help = "between two reports; calls sent and refused are counted over it, active clients over twice as long"},
    {.key = NULL},
};

static const char *const aatb_published[] = {"bucket", "40",    "initial_rate", "0.67/s", "report",
                                             "30 s",   "scope", "agent",        NULL};
static const struct policy_preset aatb_presets[] = {
    {.name = "published", .settings = aatb_published, .help = "AATB of arXiv:2510.04516, a bucket an agent"},
    {.name = NULL},
};

static const struct policy_gauge aatb_gauges[] = {
    {ADAPTIVE_RATE(struct aatb_vars)},
    {ADAPTIVE_TOKENS(struct aatb_vars)},
    {.name = "held_by",
     .type = POLICY_GAUGE_UINT64,
     .offset = offsetof(struct aatb_vars, held_by),
     .unit = "",
     .help = "why the call that asked last was held: 0 it was not, 1 no token, 2 a refusal, 3 refusals in a report"},
    {.name = "active",
     .type = POLICY_GAUGE_UINT64,
     .offset = offsetof(struct aatb_vars, active),
     .unit = "clients",
     .help = "active clients, as the last report was told"},
    {.name = "holds",
     .type = POLICY_GAUGE_UINT64,
     .in_stats = true,
     .offset = offsetof(struct aatb_stats, holds),
     .unit = "",
     .help = "answers of hold so far"},
    {.name = "refusals",
     .type = POLICY_GAUGE_UINT64,
     .in_stats = true,
     .offset = offsetof(struct aatb_stats, refusals),
     .unit = "calls",
     .help = "refusals by the backend so far"},
    {.name = "reports",
     .type = POLICY_GAUGE_UINT64,
     .in_stats = true,
     .offset = offsetof(struct aatb_stats, reports),
     .unit = "",
     .help = "reports so far"},
    {.name = NULL},
};

const struct policy_ops weir_policy = {
    POLICY_HEADER,
    .name = "aatb",
    .summary = "holds calls by a token bucket whose rate follows what all clients report of calls and refusals",
    .params = aatb_options,
    .presets = aatb_presets,
    .gauges = aatb_gauges,
    .params_size = sizeof(struct aatb_params),
    .vars_size = sizeof(struct aatb_vars),
    .stats_size = sizeof(struct aatb_stats),
    .shared_size = sizeof(struct aatb_shared),
    .admit = aatb_admit,
    .admitted = aatb_admitted,
    .finish = aatb_finish,
    .tick = aatb_tick,
};
