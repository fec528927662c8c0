/* codel - controlled delay: sheds when the wait of the calls that reach a server has stood too high for too long.
 *
 * Idea: a burst makes a wait that goes away, overload one that stays. So look at the sojourn (time in line) of each
 * call as a server takes it. Below `target`, or with nobody left in line, a timer is cleared; otherwise it runs, and
 * after one `interval` the line is called standing. Then, by `law`,
 *   persist   every call is refused until the timer is cleared;
 *   rfc8289   one call is refused at once and the next ones at now >= drop_next, drop_next += interval / sqrt(count),
 *             with count + 1 a refusal. Entering anew starts from the refusals of the last time, count - lastcount, if
 *             they were more than 1 and now - drop_next < 16 * interval, else from 1;
 * and by `sheds_at` it is those that leave the line that are refused (dequeue) or those that ask to join (submission).
 *
 * Source: RFC 8289 (rfc8289 at dequeue, 5 ms / 100 ms: `published`); `persist` at submission is what a card's
 * published table was made with. `slots` scales to turns of seconds: 8 s / 15 s.
 *
 * It cannot lock up: who finds nobody waiting is let in (servers may be idle beside a line, for want of memory), the
 * last in line is served, and an empty line clears the timer however it emptied. At a metered pool nobody waits, so it
 * never sheds. Known to fail: at dequeue it refuses calls that have waited; in a closed loop the wait it cuts returns
 * as backoff; 5 ms / 100 ms sheds whole lines of slow calls. */
#include "policies/codel_law.h"

enum { LAW_PERSIST, LAW_RFC8289 };
enum { SHEDS_AT_SUBMISSION, SHEDS_AT_DEQUEUE };

struct codel_params {
    int law, sheds_at;
    policy_time target, interval;
};

struct codel_vars {
    struct codel_law law;
    double sojourn;         /* of the call taken last, in seconds */
    policy_time refused_at; /* the last time */
    uint64_t at_once;       /* calls refused then */
};

struct codel_stats {
    uint64_t refused, most_at_once;
};

/* A call was taken from the line, `left` wait behind it. */
static void observe(struct codel_vars *vars, const struct codel_params *params, policy_time now, policy_time joined,
                    uint64_t left)
{
    policy_time sojourn = joined == POLICY_NONE ? 0 : now - joined;
    vars->sojourn = (double)sojourn / (double)POLICY_SECOND;
    codel_observe(&vars->law, params->target, now, sojourn, left);
}

static void note_refusal(struct codel_vars *vars, struct codel_stats *stats, policy_time now)
{
    vars->at_once = vars->refused_at == now ? vars->at_once + 1 : 1;
    vars->refused_at = now;
    if (vars->at_once > stats->most_at_once)
        stats->most_at_once = vars->at_once;
    stats->refused++;
}

static struct policy_answer decide(struct policy *self, policy_time now)
{
    const struct codel_params *params = self->params;
    struct codel_vars *vars = self->vars;
    if (!codel_stands(&vars->law, params->interval, now))
        return policy_admit();
    if (params->law == LAW_PERSIST)
        vars->law.refusing = 1;
    else if (!codel_refuses(&vars->law, params->interval, now))
        return policy_admit();
    note_refusal(vars, self->stats, now);
    return policy_defer(POLICY_NONE, "codel");
}

/* A metered pool: never a line, and what is known of another gate's (scope all) stays as it is. */
static bool has_no_line(const struct policy_view *view)
{
    return view->servers == 0;
}

static struct policy_answer codel_admit(struct policy *self, const struct policy_view *view, struct policy_call *call)
{
    const struct codel_params *params = self->params;
    struct codel_vars *vars = self->vars;
    (void)call;
    if (has_no_line(view))
        return policy_admit();
    /* A line may empty by timeouts, displacement or withdrawal too. Whoever joins an empty line asks here first. */
    if (view->waiting.calls == 0)
        codel_clear(&vars->law);
    if (params->sheds_at != SHEDS_AT_SUBMISSION)
        return policy_admit();
    return decide(self, view->now);
}

static struct policy_answer codel_start(struct policy *self, const struct policy_view *view, struct policy_call *call)
{
    const struct codel_params *params = self->params;
    if (has_no_line(view))
        return policy_admit();
    observe(self->vars, params, view->now, call->joined, view->waiting.calls);
    if (params->sheds_at != SHEDS_AT_DEQUEUE)
        return policy_admit();
    return decide(self, view->now);
}

static const char *const codel_laws[] = {[LAW_PERSIST] = "persist", [LAW_RFC8289] = "rfc8289", NULL};
static const char *const codel_places[] = {[SHEDS_AT_SUBMISSION] = "submission", [SHEDS_AT_DEQUEUE] = "dequeue", NULL};

static const struct option codel_options[] = {
    {.key = "law",
     .type = OPTION_CHOICE,
     .offset = offsetof(struct codel_params, law),
     .initial = "rfc8289",
     .choices = codel_laws,
     .help = "what is refused while the line stands: every call, or one now and then by interval / sqrt(count)"},
    {.key = "sheds_at",
     .type = OPTION_CHOICE,
     .offset = offsetof(struct codel_params, sheds_at),
     .initial = "dequeue",
     .choices = codel_places,
     .help = "which calls are refused: those that ask to join the line, or those that leave it"},
    {.key = "target",
     .type = OPTION_TIME,
     .offset = offsetof(struct codel_params, target),
     .initial = "5 ms",
     .least = "1 us",
     .most = "inf",
     .live = true,
     .help = "a time in line that is fine to have for good"},
    {.key = "interval",
     .type = OPTION_TIME,
     .offset = offsetof(struct codel_params, interval),
     .initial = "100 ms",
     .least = "1 us",
     .most = "inf",
     .live = true,
     .help = "how long the time in line may stay at or above the target"},
    {.key = NULL},
};

static const char *const codel_published[] = {"law",  "rfc8289",  "sheds_at", "dequeue", "target",
                                              "5 ms", "interval", "100 ms",   NULL};
static const char *const codel_slots[] = {"target", "8 s", "interval", "15 s", NULL};
static const struct policy_preset codel_presets[] = {
    {.name = "published", .settings = codel_published, .help = "RFC 8289, for packets"},
    {.name = "slots", .settings = codel_slots, .help = "for slots that serve turns of some ten seconds"},
    {.name = NULL},
};

static const struct policy_gauge codel_gauges[] = {
    {.name = "sojourn",
     .type = POLICY_GAUGE_DOUBLE,
     .offset = offsetof(struct codel_vars, sojourn),
     .unit = "s",
     .help = "time in line of the call taken last"},
    {.name = "refusing",
     .type = POLICY_GAUGE_UINT64,
     .offset = offsetof(struct codel_vars, law.refusing),
     .unit = "",
     .help = "1 in the dropping state, else 0"},
    {.name = "count",
     .type = POLICY_GAUGE_UINT64,
     .offset = offsetof(struct codel_vars, law.count),
     .unit = "calls",
     .help = "the control law's count"},
    {.name = "refused",
     .type = POLICY_GAUGE_UINT64,
     .in_stats = true,
     .offset = offsetof(struct codel_stats, refused),
     .unit = "calls",
     .help = "calls refused so far"},
    {.name = "most_at_once",
     .type = POLICY_GAUGE_UINT64,
     .in_stats = true,
     .offset = offsetof(struct codel_stats, most_at_once),
     .unit = "calls",
     .help = "most calls refused at one moment"},
    {.name = NULL},
};

const struct policy_ops weir_policy = {
    POLICY_HEADER,
    .name = "codel",
    .summary = "refuses calls while the time in line has stayed above a target for an interval",
    .params = codel_options,
    .presets = codel_presets,
    .gauges = codel_gauges,
    .params_size = sizeof(struct codel_params),
    .vars_size = sizeof(struct codel_vars),
    .stats_size = sizeof(struct codel_stats),
    .admit = codel_admit,
    .start = codel_start,
};
