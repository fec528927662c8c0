/* size_search.c - sizes as design points of which few are simulated, each for as long as it takes to judge it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/metrics.h"
#include "sim/cli/pilot.h"
#include "sim/cli/sizing.h"
#include "sim/stats/steady.h"
#include "sim/study/compare.h"
#include "sim/study/sequential.h"

#define LEVEL 0.95

/* --- sizes -------------------------------------------------------------------------------------------------------- */

static bool is_population(const char *address)
{
    static const char end[] = ".population";
    size_t length = strlen(address), tail = sizeof end - 1;

    return length > tail && strcmp(address + length - tail, end) == 0;
}

struct node *sizing_sweep(const struct size_spec *spec, bool but_populations, struct arena *arena)
{
    struct node *map = arena_zeroed(arena, 1, sizeof *map);

    *map = (struct node){.kind = NODE_MAP, .place = spec->place};
    for (size_t i = 0; i < spec->knob_count; i++)
        if (!but_populations || !is_population(spec->knobs[i].address))
            node_put(map, spec->knobs[i].address, spec->knobs[i].place, spec->knobs[i].within, arena);
    return map->count > 0 ? map : NULL;
}

/* Points belong together that have all in common but the last factor. An alternative that has not got that one has no
 * sizes. */
static void find_groups(struct sizing *sizing)
{
    const struct plan *plan = &sizing->session.plan;
    size_t last = plan->factor_count - 1;

    sizing->groups = mem_zeroed(plan->point_count, sizeof *sizing->groups);
    for (size_t point = 0; point < plan->point_count; point++) {
        const struct plan_point *one = &plan->points[point], *before = point > 0 ? one - 1 : NULL;
        bool same = before && before->scenario->chain.label == one->scenario->chain.label && before->factors[last];

        if (!one->factors[last])
            continue;
        for (size_t i = 0; same && i < last; i++)
            same = (!before->factors[i] && !one->factors[i]) ||
                   (before->factors[i] && one->factors[i] && strcmp(before->factors[i], one->factors[i]) == 0);
        if (!same)
            sizing->groups[sizing->group_count++] = (struct size_group){.first = point, .sizing = sizing};
        sizing->groups[sizing->group_count - 1].count++;
    }
}

/* Bonferroni: at every look and of every goal an interval that is right so often that all are, 95 times in 100. */
static double level_of(const struct size_spec *spec)
{
    size_t goals = spec->goal_count > 0 ? spec->goal_count : 1;

    return 1 - (1 - LEVEL) / (sequential_looks((unsigned)spec->least, (unsigned)spec->most) * (double)goals);
}

bool sizing_open(struct sizing *sizing, const struct cli_words *words, unsigned threads, const struct size_spec *spec,
                 const struct session_more *more)
{
    *sizing = (struct sizing){.words = words, .threads = threads, .spec = spec, .level = level_of(spec)};
    if (!session_open_with(&sizing->session, words, more))
        return false;
    for (size_t i = 0; i < sizing->session.plan.point_count; i++)
        sizing->session.plan.points[i].study->replications = spec->most;
    sizing->wanted = mem_zeroed(sizing->session.plan.point_count, sizeof *sizing->wanted);
    sizing->unsettled = mem_zeroed(sizing->session.plan.point_count, sizeof *sizing->unsettled);
    if (sizing->session.plan.factor_count > 0)
        find_groups(sizing);
    return true;
}

void sizing_close(struct sizing *sizing)
{
    for (size_t i = 0; i < sizing->group_count; i++)
        free(sizing->groups[i].search.rungs);
    free(sizing->groups);
    free(sizing->wanted);
    free(sizing->unsettled);
    session_close(&sizing->session);
}

const char *sizing_size(const struct sizing *sizing, const struct size_group *group, size_t size)
{
    const struct plan *plan = &sizing->session.plan;

    return plan->points[group->first + size].factors[plan->factor_count - 1];
}

size_t sizing_find(const struct sizing *sizing, const struct size_group *group, const char *text)
{
    size_t size = 0;

    while (size < group->count && strcmp(sizing_size(sizing, group, size), text) != 0)
        size++;
    return size;
}

/* --- judging ------------------------------------------------------------------------------------------------------ */

/* A size without a steady state has no warm-up: half the horizon is taken, and that is said. */
static int warm_up(struct sizing *sizing, size_t point)
{
    struct study *study = sizing->session.plan.points[point].study;
    size_t parts = 0;
    int status;

    if (!study->warmup_auto || sizing->wanted[point] > 0)
        return EXIT_DONE;
    status = pilot_parts(&sizing->session, sizing->threads, point, &parts);
    sizing->unsettled[point] = parts > STEADY_BATCHES / 2;
    if (sizing->unsettled[point])
        parts = STEADY_BATCHES / 2;
    study->warmup = (sim_time)((sim_sum)study->horizon * (sim_sum)parts / STEADY_BATCHES);
    return status;
}

int sizing_extend(struct sizing *sizing, size_t point, unsigned replications)
{
    int status = warm_up(sizing, point);

    sizing->wanted[point] = replications;
    if (status == EXIT_DONE)
        status = session_extend(&sizing->session, sizing->threads, sizing->wanted);
    sizing->status = status;
    return status;
}

/* What the replications so far say of all goals; UNTRIED: more of them would say more. */
static enum search_verdict verdict_of(const struct sizing *sizing, size_t point, uint32_t *missed)
{
    const struct size_spec *spec = sizing->spec;
    bool met = true, open = false;

    *missed = 0;
    for (size_t i = 0; i < spec->goal_count; i++) {
        const struct size_goal *goal = &spec->goals[i];
        struct search_goal asked = {goal->at_most, goal->value, spec->resolution * fabs(goal->value)};
        struct estimate estimate = compare_estimate(&sizing->session.results, point, goal->metric);
        enum search_verdict side = search_side(estimate, sizing->level, &asked);

        met = met && side == SEARCH_MEETS;
        open = open || (side == SEARCH_UNTRIED && estimate.count > 0);
        if (side == SEARCH_MISSES)
            *missed |= UINT32_C(1) << (i % 32);
    }
    return *missed ? SEARCH_MISSES : met ? SEARCH_MEETS : open ? SEARCH_UNTRIED : SEARCH_UNDECIDED;
}

static bool judge(void *context, size_t size, struct search_rung *rung)
{
    const struct size_group *group = context;
    struct sizing *sizing = group->sizing;
    unsigned replications = (unsigned)sizing->spec->least, most = (unsigned)sizing->spec->most;
    size_t point = group->first + size;

    for (;;) {
        if (sizing_extend(sizing, point, replications) != EXIT_DONE)
            return false;
        rung->verdict = verdict_of(sizing, point, &rung->missed);
        if (rung->verdict != SEARCH_UNTRIED)
            return true;
        if (replications == most) {
            rung->verdict = SEARCH_UNDECIDED;
            return true;
        }
        replications = sequential_next(replications, most);
    }
}

void sizing_begin(struct sizing *sizing, struct size_group *group)
{
    group->search = (struct search){.count = group->count,
                                    .largest = sizing->spec->largest,
                                    .judge = judge,
                                    .context = group,
                                    .rungs = mem_zeroed(group->count, sizeof *group->search.rungs)};
}

int sizing_search(struct sizing *sizing)
{
    for (size_t i = 0; i < sizing->group_count; i++) {
        sizing_begin(sizing, &sizing->groups[i]);
        if (!search_run(&sizing->groups[i].search))
            return sizing->status;
    }
    return EXIT_DONE;
}

int sizing_climb(struct sizing *sizing)
{
    for (size_t i = 0; i < sizing->group_count; i++) {
        const struct size_group *group = &sizing->groups[i];

        for (size_t rung = 0;; rung = 2 * rung + 1 < group->count ? 2 * rung + 1 : group->count - 1) {
            int status = sizing_extend(sizing, group->first + rung, (unsigned)sizing->spec->least);

            if (status != EXIT_DONE)
                return status;
            if (rung == group->count - 1)
                break;
        }
    }
    return EXIT_DONE;
}

unsigned sizing_replications(const struct sizing *sizing)
{
    unsigned sum = 0;

    for (size_t i = 0; i < sizing->session.plan.point_count; i++)
        sum += sizing->wanted[i];
    return sum;
}
