/* describe.c - the sentences of `weir check`: what the numbers of a scenario come to before anything is run. */
#include "models/describe.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "models/client.h"
#include "models/demand.h"
#include "models/describe_provider.h"
#include "models/describe_turns.h"
#include "models/input.h"
#include "models/memory_bounds.h"
#include "models/memory_use.h"
#include "sim/io/quote.h"
#include "sim/io/unit.h"

/* Sentences that have been said; each is said once, at the first point that it holds for. */
struct speaker {
    struct arena arena;
    const char **said;
    size_t count, room;
    const char *where; /* how the point at hand differs from the first: "", or " (agents.coder.think = 9 s)" */
    FILE *out;
};

static void say(struct speaker *speaker, const char *sentence)
{
    for (size_t i = 0; i < speaker->count; i++)
        if (strcmp(speaker->said[i], sentence) == 0)
            return;
    if (speaker->count == speaker->room) {
        const char **said = arena_zeroed(&speaker->arena, 2 * speaker->room + 16, sizeof *said);
        if (speaker->count > 0)
            memcpy(said, speaker->said, speaker->count * sizeof *said);
        speaker->said = said;
        speaker->room = 2 * speaker->room + 16;
    }
    speaker->said[speaker->count++] = sentence;
    fprintf(speaker->out, "# %s%s.\n", sentence, speaker->where);
}

static const char *digits(struct speaker *speaker, double value)
{
    char text[40];
    if (isinf(value))
        return "infinite";
    unit_format(text, sizeof text, "%.4g", value);
    return arena_text(&speaker->arena, text);
}

static const char *with_unit(struct speaker *speaker, double value, const char *unit)
{
    return arena_format(&speaker->arena, isinf(value) ? "%s" : "%s %s", digits(speaker, value), unit);
}

static void say_distribution(struct speaker *speaker, const char *name, const char *what, const struct dist *dist,
                             const char *unit)
{
    if (!dist)
        return;
    struct arena *arena = &speaker->arena;
    double mean = dist_mean(dist), cv = dist_cv(dist);
    const char *spread = isnan(cv) ? "" : arena_format(arena, ", CV %s", digits(speaker, cv));
    if (dist_is_constant(dist))
        say(speaker, arena_format(arena, "%s, %s: always %s", name, what, with_unit(speaker, mean, unit)));
    else
        say(speaker, arena_format(arena, "%s, %s: mean %s%s, p99 %s", name, what, with_unit(speaker, mean, unit),
                                  spread, with_unit(speaker, dist_quantile(dist, 0.99), unit)));
}

/* How well the line through the points of `throughput` fits them; "" where there are none. */
static const char *fit_words(struct speaker *speaker, const struct backend *backend)
{
    switch (backend->fit_points) {
    case 0:
        return "";
    case 1:
        return ": throughput has one point, taken as a constant rate";
    case 2:
        return ", fitted to two points of throughput, which always fit exactly";
    default:
        return arena_format(&speaker->arena, ", fitted to %u points of throughput with a largest error of %s %%",
                            (unsigned)backend->fit_points,
                            digits(speaker, backend->fit_error < 1e-9 ? 0 : 100 * backend->fit_error));
    }
}

static void say_cards(struct speaker *speaker, const struct backend *backend)
{
    static const char *const signals[] = {"utilisation", "queue length", "token velocity"};
    const struct cards_spec *cards = backend->cards;
    struct arena *arena = &speaker->arena;
    const char *name = backend->name;

    if (!cards)
        return;
    if (cards->min == cards->max) {
        say(speaker,
            arena_format(arena, "%s: %u cards of so many servers each, all of them always up", name, cards->max));
        return;
    }
    say(speaker, arena_format(arena,
                              "%s: %u to %u cards of so many servers each, by %s; bounds take all %u as up, and no "
                              "formula holds",
                              name, cards->min, cards->max, signals[cards->signal], cards->max));
    say_distribution(speaker, name, "cold start of a card", cards->cold_start, "s");
}

static void say_backend(struct speaker *speaker, const struct scenario *scenario, const struct backend *backend)
{
    struct arena *arena = &speaker->arena;
    if (backend->provider) {
        for (const char **sentence = provider_sentences(scenario, backend, arena); *sentence; sentence++)
            say(speaker, *sentence);
        return;
    }
    const char *servers = arena_format(arena, "%s: %u server%s", backend->name, (unsigned)backend->servers,
                                       backend->servers == 1 ? "" : "s");
    if (backend->service) {
        say_cards(speaker, backend);
        say_distribution(speaker, servers, "service time", backend->service, "s");
        return;
    }
    say_cards(speaker, backend);
    const char *fit = fit_words(speaker, backend);
    if (backend->fit_points > 0 && backend->fit_most < backend->servers)
        say(speaker,
            arena_format(arena, "%s: throughput was measured up to %u busy slot%s; from %u on it is extrapolated",
                         backend->name, (unsigned)backend->fit_most, backend->fit_most == 1 ? "" : "s",
                         (unsigned)backend->fit_most + 1));
    if (backend->constant) {
        say(speaker,
            arena_format(arena, "%s, each at %s tokens/s%s", servers, digits(speaker, backend->speed[1]), fit));
        return;
    }
    say(speaker,
        arena_format(arena, "%s: a token takes %s ms and %s ms more for each busy slot%s", servers,
                     digits(speaker, 1e3 * backend->step_base), digits(speaker, 1e3 * backend->step_per_busy), fit));
    say(speaker, arena_format(arena, "%s: one busy slot makes %s tokens/s, each of %u busy ones %s", backend->name,
                              digits(speaker, backend->speed[1]), (unsigned)backend->servers,
                              digits(speaker, backend->speed[backend->servers])));
}

static void say_input(struct speaker *speaker, const struct agent_class *class)
{
    if (!class->input)
        return;
    if (class->input->sessions)
        say(speaker,
            arena_format(&speaker->arena, "%s: runs are %zu recorded sessions of %s turns on average", class->name,
                         class->input->sessions->count, digits(speaker, input_session_turns(class->input->sessions))));
    say_distribution(speaker, class->name, "input of a run's first turn", class->input->start, "tokens");
    say_distribution(speaker, class->name, "input that each further turn adds", class->input->per_turn, "tokens");
    if (isinf(input_mean(class)))
        say(speaker, arena_format(&speaker->arena, "%s: the input of an endless run without `most` grows for ever",
                                  class->name));
    else
        say(speaker,
            arena_format(&speaker->arena, "%s, input of a turn: %s tokens on average, %s of them new", class->name,
                         digits(speaker, input_mean(class)), digits(speaker, input_new_mean(class))));
}

static void say_deadlines(struct speaker *speaker, const struct agent_class *class)
{
    struct arena *arena = &speaker->arena;
    if (class->turn_within < SIM_LONGEST)
        say(speaker, arena_format(arena, "%s: a turn is to be %s within %s s of %s", class->name,
                                  class->fan_out ? "answered, with as many parts as suffice," : "answered",
                                  digits(speaker, sim_seconds(class->turn_within)),
                                  class->schedule ? "when it is due" : "its first attempt"));
    if (class->run_within < SIM_LONGEST)
        say(speaker, arena_format(arena, "%s: a run is to be done within %s s of its first attempt at the door%s",
                                  class->name, digits(speaker, sim_seconds(class->run_within)),
                                  class->gives_up ? ", and is given up then" : ""));
}

/* Of what does not come one by one at a rate. */
static void say_pattern(struct speaker *speaker, const struct agent_class *class)
{
    struct arena *arena = &speaker->arena;
    if (class->source == SOURCE_BATCH)
        say(speaker,
            arena_format(arena, "%s: %s triggers an hour start %s runs each, within %s s", class->name,
                         digits(speaker, 3600 * class->arrival_rate), digits(speaker, (double)class->pattern->batch),
                         digits(speaker, sim_seconds(class->pattern->within))));
    else if (class->source == SOURCE_PROFILE && class->pattern->of_day)
        say(speaker, arena_format(arena, "%s: %s runs arrive an hour, averaged over a day of %zu parts", class->name,
                                  digits(speaker, 3600 * class->pattern->rate), class->pattern->count));
}

/* What the backend's memory, and its time to read, mean to a class. */
static void say_memory(struct speaker *speaker, const struct agent_class *class, const struct backend *backend)
{
    struct arena *arena = &speaker->arena;
    const struct memory_use use = memory_use_of(class, backend);
    if (isfinite(use.contexts))
        say(speaker, arena_format(arena, "%s on %s: kv holds %s contexts of the mean size, %s tokens", class->name,
                                  backend->name, digits(speaker, use.contexts), digits(speaker, use.context)));
    if (use.prefill_cold > 0)
        say(speaker, arena_format(arena,
                                  "%s on %s: prefill takes %s s for the new part of the mean input, and %s s for the "
                                  "whole of it",
                                  class->name, backend->name, digits(speaker, use.prefill_warm),
                                  digits(speaker, use.prefill_cold)));
}

/* Past what the memory keeps, the knee of kept contexts is past the cliff. */
static void say_cold(struct speaker *speaker, const struct scenario *scenario, size_t index)
{
    const struct agent_class *class = &scenario->classes[index];
    struct memory_bounds bounds;
    if (!memory_bounds_of(scenario, index, &bounds) || class->source != SOURCE_POPULATION ||
        bounds.contexts >= bounds.knee_slots || bounds.service_cold <= bounds.service_warm)
        return;
    say(speaker, arena_format(&speaker->arena,
                              "%s on %s: more than %s agents cannot all keep their contexts; where all are gone the "
                              "capacity is %s turns/s",
                              class->name, scenario->backends[class->backend].name, digits(speaker, bounds.contexts),
                              digits(speaker, bounds.capacity_cold)));
}

static void say_capacity(struct speaker *speaker, const struct scenario *scenario, size_t index)
{
    const struct agent_class *class = &scenario->classes[index];
    const struct backend *backend = &scenario->backends[class->backend];
    struct arena *arena = &speaker->arena;
    const struct demand demand = demand_of(scenario, index);
    if (!(demand.service > 0) || isinf(demand.service))
        return;
    if (backend->provider) {
        say(speaker, arena_format(arena, "%s on %s: an answer takes %s s on average", class->name, backend->name,
                                  digits(speaker, demand.service)));
        return;
    }
    const char *alone = demand_alone(scenario, index) ? "" : " if it is alone there";
    const char *kept = demand.service_most > demand.service ? " while contexts are kept" : "";
    const char *busy = demand.busy_most < demand.servers
                           ? arena_format(arena, "%s slots", digits(speaker, demand.busy_most))
                           : "all slots";
    const char *greatest = !backend->service && !backend->constant
                               ? arena_format(arena, " with %s busy and %s s at the greatest speed", busy,
                                              digits(speaker, demand.service_least))
                               : "";
    say(speaker, arena_format(arena, "%s on %s: service takes %s s on average%s%s, so the capacity is %s turns/s%s",
                              class->name, backend->name, digits(speaker, demand.service), kept, greatest,
                              digits(speaker, demand.capacity), alone));
    if (class->source == SOURCE_POPULATION && isfinite(demand.think))
        say(speaker, arena_format(arena, "%s on %s: the knee is at %s agents%s%s", class->name, backend->name,
                                  digits(speaker, demand_knee(&demand)), kept, alone));
    say_cold(speaker, scenario, index);
    if (isfinite(class_rate(class))) {
        double turns = class->turns ? dist_mean(class->turns) : 1;
        say(speaker, arena_format(arena, "%s on %s: arrivals ask for %s %% of the capacity", class->name, backend->name,
                                  digits(speaker, 100 * class_rate(class) * turns / demand.capacity)));
    }
}

/* "3 x 3": the most tries of each layer of a call; "" of a single one. */
static const char *layer_words(struct speaker *speaker, const struct client_bounds *bounds, uint32_t layers)
{
    const char *words = "";
    for (uint32_t i = 0; i < layers && layers > 1; i++)
        words = arena_format(&speaker->arena, "%s%s%s", words, i > 0 ? " x " : " (", digits(speaker, bounds->tries[i]));
    return layers > 1 ? arena_format(&speaker->arena, "%s)", words) : "";
}

static void say_client(struct speaker *speaker, const struct agent_class *class)
{
    struct arena *arena = &speaker->arena;
    const struct client_bounds bounds = client_bounds(&class->client);
    uint32_t layers = client_call_layers(&class->client);
    const char *many = layer_words(speaker, &bounds, layers), *words;
    if (isinf(bounds.attempts))
        words = arena_format(arena, "%s: a turn makes any number of attempts%s", class->name, many);
    else
        words = arena_format(arena, "%s: a turn makes at most %s%s%s", class->name,
                             with_unit(speaker, bounds.attempts, "attempt"), bounds.attempts > 1 ? "s" : "", many);
    if (isfinite(bounds.seconds))
        words = arena_format(arena, "%s and takes at most %s", words, with_unit(speaker, bounds.seconds, "s"));
    if (layers < class->client.layer_count)
        words = arena_format(arena,
                             isinf(bounds.tries[layers]) ? "%s; a run may begin any number of times"
                                                         : "%s; a run may begin %s times at most",
                             words, digits(speaker, bounds.tries[layers]));
    say(speaker, words);
    if (class->client.dies > 0)
        say(speaker, arena_format(arena, "%s: %s %% of the services lose their client, which tells nobody", class->name,
                                  digits(speaker, 100 * class->client.dies)));
}

/* What a class asks of its backend in units of what the backend could do for it alone, so that it adds up over classes:
 * what arrives, or what a population would ask for if nobody waited, which is 1 at its knee. NAN where that is not
 * known. */
static double asked(const struct scenario *scenario, size_t index)
{
    const struct agent_class *class = &scenario->classes[index];
    const struct demand demand = demand_of(scenario, index);
    double share = NAN;
    if (class->source == SOURCE_POPULATION)
        share = (double)class->population / demand_knee(&demand);
    if (isfinite(class_rate(class)))
        share = class_rate(class) * (class->turns ? dist_mean(class->turns) : 1) / demand.capacity;
    return scenario->backends[class->backend].kind == BACKEND_SLOTS && isfinite(share) ? share : NAN;
}

/* Of the classes that share a backend. */
static void say_together(struct speaker *speaker, const struct scenario *scenario, size_t backend)
{
    struct arena *arena = &speaker->arena;
    double open = 0, closed = 0;
    const char *names = "";
    size_t count = 0, populations = 0;
    for (size_t i = 0; i < scenario->class_count; i++) {
        bool population = scenario->classes[i].source == SOURCE_POPULATION;
        double share = scenario->classes[i].backend == backend ? asked(scenario, i) : NAN;
        if (isnan(share))
            continue;
        *(population ? &closed : &open) += share;
        populations += population;
        names = arena_format(arena, "%s%s%s", names, count++ > 0 ? ", " : "", scenario->classes[i].name);
    }
    if (count < 2)
        return;
    names = arena_format(arena, "%s on %s, together", names, scenario->backends[backend].name);
    if (populations == 0)
        say(speaker, arena_format(arena, "%s: arrivals ask for %s %% of the capacity%s", names,
                                  digits(speaker, 100 * open), open < 1 ? "" : ", so the line grows without end"));
    else
        say(speaker, arena_format(arena, "%s: if nobody waited they would ask for %s %% of the capacity%s", names,
                                  digits(speaker, 100 * (open + closed)),
                                  populations == count ? ""
                                                       : arena_format(arena, ", arrivals alone for %s %%",
                                                                      digits(speaker, 100 * open))));
}

static void say_point(struct speaker *speaker, const struct scenario *scenario)
{
    for (size_t i = 0; i < scenario->backend_count; i++) {
        const char *prices = price_sentence(&scenario->backends[i], &speaker->arena);
        say_backend(speaker, scenario, &scenario->backends[i]);
        if (prices)
            say(speaker, prices);
    }
    for (size_t i = 0; i < scenario->class_count; i++) {
        const struct agent_class *class = &scenario->classes[i];
        say_distribution(speaker, class->name, "turns a run", class->turns, "turns");
        say_distribution(speaker, class->name, "boot time", class->boot, "s");
        say_distribution(speaker, class->name, "think time", class->think, "s");
        say_input(speaker, class);
        say_distribution(speaker, class->name, "output", class->output, "tokens");
        say_memory(speaker, class, &scenario->backends[class->backend]);
        say_capacity(speaker, scenario, i);
        say_pattern(speaker, class);
        say_deadlines(speaker, class);
        for (const char **parts = class->fan_out ? fan_out_sentences(scenario, class, &speaker->arena) : NULL;
             parts && *parts; parts++)
            say(speaker, *parts);
        if (class->spill != SPILL_NONE)
            say(speaker, spill_sentence(scenario, class, &speaker->arena));
        say_client(speaker, class);
    }
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
