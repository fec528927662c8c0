/* budgets.c - the sum over keys is read from parameters; a ceiling from the planner's own first decisions, in a trial
 * of some ticks, and what a task asks for from one that is let in whatever the ceiling says. */
#include "sim/cli/budgets.h"

#include <math.h>
#include <string.h>

#include "models/metrics.h"
#include "models/trial.h"
#include "sim/cli/session.h"
#include "sim/io/param.h"
#include "sim/io/unit.h"

#define EVENTS_MOST 20000
#define POINTS_MOST 64

struct speaker {
    FILE *out;
    struct arena arena;
    const char **said;
    size_t count, room;
};

static void say(struct speaker *speaker, const char *sentence)
{
    for (size_t i = 0; i < speaker->count; i++)
        if (strcmp(speaker->said[i], sentence) == 0)
            return;
    if (speaker->count < speaker->room)
        speaker->said[speaker->count++] = sentence;
    fprintf(speaker->out, "# %s.\n", sentence);
}

static const char *number(struct speaker *speaker, double value)
{
    char text[40];

    unit_format(text, sizeof text, "%.4g", value);
    if (fabs(value) >= 1000)
        unit_format(text, sizeof text, "%.0f", value);
    return arena_text(&speaker->arena, text);
}

/* NAN: it has no such parameter. */
static double param_of(const struct member *member, const char *key)
{
    const struct option *option = member->ops->params ? param_find(member->ops->params, key) : NULL;

    return option ? param_get_number(option, member->params) : NAN;
}

/* --- keys of one pool --------------------------------------------------------------------------------------------- */

static bool stands_at(const struct member *member, size_t gate)
{
    return member->at < 0 || (size_t)member->at == gate;
}

/* Copies of a member at several keys of a pool, each with the whole of its budgets. */
static void keys(struct speaker *speaker, const struct scenario *scenario, const struct member *member, uint32_t pool)
{
    double each = param_of(member, "r_tok"), count = 0;
    const char *names = "";

    if (isnan(each) || isinf(each) || member->scope != SCOPE_GATE)
        return;
    for (size_t i = 0; i < scenario->backend_count; i++) {
        const struct backend *backend = &scenario->backends[i];

        if (backend->kind != BACKEND_PROVIDER || backend->pool != pool || !stands_at(member, i))
            continue;
        names = arena_format(&speaker->arena, "%s%s%s", names, count > 0 ? ", " : "", backend->name);
        count++;
    }
    if (count < 2)
        return;
    say(speaker,
        arena_format(
            &speaker->arena,
            "WARNING: %s, %s: %s are keys of one pool, and each has buckets of its own with all of the budgets: "
            "%s x r_tok %s is %s tokens/s at %s. Expected scope: all, one bucket for all keys; or a member "
            "for each, at: KEY, with its part, as in seeds: {KEY: {%s: {r_tok: ...}}}",
            scenario->chain.label, member->name, names, number(speaker, count), number(speaker, each),
            number(speaker, count * each), scenario->backends[pool].name, member->ops->name));
}

static const struct node *below(const struct node *map, const char *key)
{
    const struct node *value = map && map->kind == NODE_MAP ? node_get(map, key) : NULL;

    return value && value->kind == NODE_MAP ? value : NULL;
}

/* A member at one key that takes the seeds of the pool, beside another at another key that has them too. */
static void seeded(struct speaker *speaker, const struct plan *plan, const struct scenario *scenario, size_t index)
{
    const struct member *member = &scenario->chain.members[index];
    const struct backend *key = member->at < 0 ? NULL : &scenario->backends[member->at];
    const struct node *seeds = below(plan->root, "seeds");
    const char *pool = key && key->kind == BACKEND_PROVIDER ? scenario->backends[key->pool].name : NULL;

    if (!pool || key->pool == (size_t)member->at || below(below(seeds, key->name), member->ops->name) ||
        !below(below(seeds, pool), member->ops->name))
        return;
    for (size_t i = 0; i < scenario->chain.count; i++) {
        const struct member *other = &scenario->chain.members[i];

        if (i == index || other->ops != member->ops || other->at < 0 || scenario->backends[other->at].pool != key->pool)
            continue;
        say(speaker,
            arena_format(&speaker->arena,
                         "WARNING: %s, %s: %s is a key of %s and takes the seeds of %s in full, as %s does at %s. "
                         "Expected seeds of its own, its part of them: seeds: {%s: {%s: {r_tok: ...}}}",
                         scenario->chain.label, member->name, key->name, pool, pool, other->name,
                         scenario->backends[other->at].name, key->name, member->ops->name));
        return;
    }
}

/* --- ceilings ----------------------------------------------------------------------------------------------------- */

enum column {
    GATE,
    MODE,
    EXTRA,
    AXIS,
    RUNNING,
    BOOTING,
    TOKENS,
    IN_FLIGHT,
    CALLS,
    R_TOK,
    K_INFLIGHT,
    R_QPS,
    SEED_AGE,
    COLUMNS
};
static const char *const column_names[COLUMNS] = {
    [GATE] = "gate",        [MODE] = "mode",       [EXTRA] = "extra",           [AXIS] = "axis",
    [RUNNING] = "running",  [BOOTING] = "booting", [TOKENS] = "peak",           [IN_FLIGHT] = "in_flight_peak",
    [CALLS] = "calls_peak", [R_TOK] = "r_tok",     [K_INFLIGHT] = "k_inflight", [R_QPS] = "r_qps",
    [SEED_AGE] = "seed_age"};

/* What the rows of one member say of one gate. */
struct looking {
    size_t member;
    size_t places[COLUMNS];
    double planned; /* the word of `mode` for a ceiling that rests on budgets */
    double gate;
    double tasks;           /* a row with so many is wanted */
    double values[COLUMNS]; /* of the first such row */
    bool found;
    uint32_t gates_full[16], full; /* gates with no room for a first task */
};

static bool find_columns(const struct policy_ops *ops, size_t *places)
{
    for (size_t i = 0; i < COLUMNS; i++) {
        size_t at = 0;

        while (ops->columns && ops->columns[at].name && strcmp(ops->columns[at].name, column_names[i]) != 0)
            at++;
        if (!ops->columns || !ops->columns[at].name)
            return false;
        places[i] = at;
    }
    return true;
}

static void on_row(void *context, const struct decision *decision)
{
    struct looking *looking = context;
    double values[COLUMNS], tasks;

    if (decision->member != looking->member)
        return;
    for (size_t i = 0; i < COLUMNS; i++)
        values[i] = decision->values[looking->places[i]];
    tasks = values[RUNNING] + values[BOOTING];
    if (looking->tasks == 0 && decision->at == 0 && values[MODE] == looking->planned && tasks == 0 &&
        values[EXTRA] == 0 && looking->full < 16)
        looking->gates_full[looking->full++] = (uint32_t)values[GATE];
    if (looking->tasks > 0 && !looking->found && values[GATE] == looking->gate && tasks == looking->tasks) {
        memcpy(looking->values, values, sizeof values);
        looking->found = true;
    }
}

/* The first ticks of a trial, at whose door the planner lets in so many, whatever it plans; 0: what it would. */
static void watch_rows(const struct scenario *scenario, struct looking *looking, const char *override)
{
    struct arena arena = {0};
    struct diag diag = {0};
    struct member *members = arena_zeroed(&arena, scenario->chain.count, sizeof *members);
    struct scenario ticks = *scenario;
    const struct member *planner = &scenario->chain.members[looking->member];
    const struct option *option = param_find(planner->ops->params, "override");
    double tick = param_of(planner, "tick");
    double *values = arena_zeroed(&arena, trial_row_count(scenario) * METRIC_COUNT, sizeof *values);
    struct trial_watch watch = {.stop = &cli_stop, .events_most = EVENTS_MOST, .decided = on_row, .context = looking};

    memcpy(members, scenario->chain.members, scenario->chain.count * sizeof *members);
    if (override && option) {
        void *params = arena_zeroed(&arena, 1, planner->ops->params_size);

        memcpy(params, planner->params, planner->ops->params_size);
        param_set(option, planner->name, params, override, (struct place){0}, &arena, &diag);
        members[looking->member].params = params;
    }
    ticks.chain.members = members;
    ticks.study.until_done = false;
    ticks.study.warmup = 0;
    ticks.study.horizon = override ? sim_from_seconds(fmax(isnan(tick) ? 15 : tick, 1) * 8) : 0;
    trial_simulate(&ticks, 1, &watch, values);
    diag_fini(&diag);
    arena_free(&arena);
}

/* The value of a word; NAN: it has none. */
static double word_of(const struct member *member, size_t column, const char *word)
{
    const char *const *words = member->ops->columns[column].words;

    for (size_t i = 0; words && words[i]; i++)
        if (strcmp(words[i], word) == 0)
            return (double)i;
    return NAN;
}

/* What of the prompts would have to be cached for one task to fit; NAN: no share is enough. */
static double share_needed(const struct scenario *scenario, const struct looking *looking, const struct member *planner,
                           double asked, double limit)
{
    const struct chain *chain = &scenario->chain;
    double share = param_of(planner, "cached_share"), weight = NAN, needed;

    for (size_t i = 0; i < chain->count; i++)
        if (stands_at(&chain->members[i], (size_t)looking->gate) &&
            !isnan(param_of(&chain->members[i], "cached_weight")))
            weight = param_of(&chain->members[i], "cached_weight");
    needed = (1 - limit / (asked / (1 - share * (1 - weight)))) / (1 - weight);
    return needed <= 1 ? needed : NAN;
}

static void no_room(struct speaker *speaker, const struct scenario *scenario, struct looking *looking, uint32_t gate)
{
    static const struct {
        const char *words, *unit, *budget, *margin;
        enum column asked, limit;
    } axes[] = {{"tokens", "tokens/s", "r_tok", "token_margin", TOKENS, R_TOK},
                {"in_flight", "tokens in flight", "k_inflight", "in_flight_margin", IN_FLIGHT, K_INFLIGHT},
                {"requests", "calls/s", "r_qps", "request_margin", CALLS, R_QPS}};
    const struct member *planner = &scenario->chain.members[looking->member];
    double stale, share;
    size_t axis = 0;
    const char *what;

    looking->tasks = 1;
    looking->gate = gate;
    looking->found = false;
    watch_rows(scenario, looking, "1");
    what = arena_format(&speaker->arena, "WARNING: %s, %s at %s: its ceiling is 0, no run is ever let in",
                        scenario->chain.label, planner->name, scenario->backends[gate].name);
    if (!looking->found) {
        say(speaker, what);
        return;
    }
    while (axis < 2 && word_of(planner, looking->places[AXIS], axes[axis].words) != looking->values[AXIS])
        axis++;
    stale = looking->values[SEED_AGE] > param_of(planner, "stale_after") ? param_of(planner, "stale_margin") : 1;
    double margin = param_of(planner, axes[axis].margin) * stale, budget = looking->values[axes[axis].limit];
    double asked = looking->values[axes[axis].asked];

    what = arena_format(&speaker->arena, "%s: a task grows to %s %s, and %s x %s %s is %s", what,
                        number(speaker, asked), axes[axis].unit, number(speaker, margin), axes[axis].budget,
                        number(speaker, budget), number(speaker, margin * budget));
    share = axes[axis].limit == R_TOK ? share_needed(scenario, looking, planner, asked, margin * budget) : NAN;
    if (axes[axis].limit == R_TOK && isnan(share))
        what = arena_format(&speaker->arena,
                            "%s; no cached_share is enough at this cached_weight of the pacer: expected other seeds",
                            what);
    else if (axes[axis].limit == R_TOK)
        what = arena_format(&speaker->arena, "%s; one fits from a cached_share of %s on, here it is %s", what,
                            number(speaker, ceil(share * 1000) / 1000),
                            number(speaker, param_of(planner, "cached_share")));
    say(speaker, what);
}

static bool begins_at(const struct scenario *scenario, uint32_t gate)
{
    for (size_t i = 0; i < scenario->class_count; i++)
        if (scenario->classes[i].backend == gate)
            return true;
    return false;
}

static void ceilings(struct speaker *speaker, const struct scenario *scenario, size_t member)
{
    const struct member *planner = &scenario->chain.members[member];
    struct looking looking = {.member = member};

    if (!planner->ops->params || !find_columns(planner->ops, looking.places) || !isinf(param_of(planner, "override")))
        return;
    looking.planned = word_of(planner, looking.places[MODE], "planned");
    watch_rows(scenario, &looking, NULL);
    for (uint32_t i = 0; i < looking.full; i++)
        if (begins_at(scenario, looking.gates_full[i]))
            no_room(speaker, scenario, &looking, looking.gates_full[i]);
}

void budgets_sentences(const struct plan *plan, FILE *out)
{
    struct speaker speaker = {.out = out, .room = POINTS_MOST};

    speaker.said = arena_zeroed(&speaker.arena, speaker.room, sizeof *speaker.said);
    for (size_t point = 0; point < plan->point_count && point < POINTS_MOST && !cli_stop; point++) {
        const struct scenario *scenario = plan->points[point].scenario;

        for (size_t i = 0; i < scenario->chain.count; i++) {
            for (uint32_t k = 0; k < scenario->backend_count; k++)
                if (scenario->backends[k].kind == BACKEND_PROVIDER && scenario->backends[k].pool == k)
                    keys(&speaker, scenario, &scenario->chain.members[i], k);
            seeded(&speaker, plan, scenario, i);
            if (scenario->class_count > 0)
                ceilings(&speaker, scenario, i);
        }
    }
    arena_free(&speaker.arena);
}
