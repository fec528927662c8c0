/* describe.c - the sentences of `weir check`: what the numbers of a scenario come to before anything is run. */
#include "models/describe.h"

#include <string.h>

#include "models/describe_private.h"
#include "models/describe_provider.h"
#include "sim/io/quote.h"
#include "sim/io/unit.h"

static void say_point(struct speaker *speaker, const struct scenario *scenario)
{
    for (size_t i = 0; i < scenario->backend_count; i++) {
        const char *prices = price_sentence(&scenario->backends[i], &speaker->arena);
        say_backend(speaker, scenario, &scenario->backends[i]);
        if (prices)
            say(speaker, prices);
    }
    for (size_t i = 0; i < scenario->class_count; i++)
        say_class(speaker, scenario, i);
    for (size_t i = 0; i < scenario->backend_count; i++)
        say_together(speaker, scenario, i);
}

/* The factors in which a point differs from the first, as words; *count of them. */
static const char *difference(struct speaker *speaker, const struct plan *plan, const struct plan_point *point,
                              size_t *count)
{
    const char *words = "";
    *count = 0;
    for (size_t i = 0; i < plan->factor_count; i++) {
        const char *first = plan->points[0].factors[i], *here = point->factors[i];
        if (!first || !here || strcmp(first, here) == 0)
            continue;
        words = arena_format(&speaker->arena, "%s%s%s = %s", words, *count > 0 ? ", " : "", plan->factor_names[i],
                             quote_terminal(here, &speaker->arena));
        ++*count;
    }
    return *count > 0 ? arena_format(&speaker->arena, " (%s)", words) : "";
}

/* Without `policies:` there is one alternative, which nobody wrote. */
static void say_policies(struct speaker *speaker, const struct plan *plan)
{
    const struct node *policies = node_get(plan->root, "policies");
    if (!policies->place.file && plan->label_count == 1 && strcmp(plan->labels[0], "unbounded") == 0)
        say(speaker, "there is no `policies:`, so everything is admitted: unbounded");
}

/* The timeline of all design points. */
static void say_changes(struct speaker *speaker, const struct plan *plan)
{
    struct arena *arena = &speaker->arena;
    for (size_t i = 0; i < plan->point_count; i++) {
        const struct scenario *scenario = plan->points[i].scenario;
        for (size_t k = 0; k < scenario->change_count; k++) {
            const struct change *change = &scenario->changes[k];
            char at[40];
            unit_digits(sim_seconds(change->at), at, sizeof at);
            say(speaker,
                arena_format(arena, "at %s s, %s goes from %s to %s%s%s", at, quote_terminal(change->key, arena),
                             quote_terminal(change->old, arena), quote_terminal(change->text, arena),
                             change->reason[0] ? ": " : "", quote_terminal(change->reason, arena)));
        }
    }
}

/* What the sentences say of pools and classes is true until the first of these. */
static void say_until(struct speaker *speaker, const struct plan *plan)
{
    for (size_t i = 0; i < plan->point_count; i++)
        if (scenario_moves(plan->points[i].scenario)) {
            say(speaker, "what is said of pools and classes is true until the first change of them");
            return;
        }
}

static void say_size(struct speaker *speaker, const struct plan *plan)
{
    const struct study *study = &plan->points[0].scenario->study;
    char length[40];
    unit_digits(sim_seconds(study->horizon), length, sizeof length);
    say(speaker, arena_format(&speaker->arena, "%zu design point%s x %s%lld replication%s x %s%s s", plan->point_count,
                              plan->point_count == 1 ? "" : "s", study->precision ? "at most " : "",
                              (long long)study->replications, study->replications == 1 ? "" : "s",
                              study->until_done ? "at most " : "", length));
}

/* Points of the first alternative, since policies change none of these numbers. In a large product, only those that
 * differ from the first point in one factor: they show all that a factor does. */
void describe_sentences(const struct plan *plan, FILE *out)
{
    enum { POINTS_FEW = 500 };
    struct speaker speaker = {.out = out};
    const char *label = plan->points[0].scenario->chain.label;
    for (size_t i = 0; i < plan->point_count && plan->points[i].scenario->chain.label == label; i++) {
        size_t differing;
        speaker.where = difference(&speaker, plan, &plan->points[i], &differing);
        if (differing <= 1 || plan->point_count <= POINTS_FEW)
            say_point(&speaker, plan->points[i].scenario);
    }
    speaker.where = "";
    say_policies(&speaker, plan);
    say_changes(&speaker, plan);
    say_until(&speaker, plan);
    if (plan->points[0].scenario->class_count > 0) /* else pools alone */
        say_size(&speaker, plan);
    arena_free(&speaker.arena);
}
