/* discover_fixture.h - what tests of discovery have: pools written by hand, and what a prober finds of them. */
#ifndef TESTS_DISCOVER_FIXTURE_H
#define TESTS_DISCOVER_FIXTURE_H

#include <check.h>
#include <math.h>
#include <string.h>

#include "models/discover_private.h"
#include "models/readers.h"

#define CONTEXT 262144.0
#define LIMIT_AT(rate) \
    { \
        .law = LIMIT_CONSTANT, .values = &(rate), .count = 1 \
    }

/* A bucket of tokens, one of requests, and answers that take `latency` whatever their tokens. */
struct hidden {
    double tokens, burst, weight;
    double requests, at_once; /* requests 0: unlimited */
    double latency;
    double cold, hot; /* 0: bursts are not punished */
    bool total;       /* output counts too */
};

static struct discovery discovery;
static struct discover_spec spec;
static struct arena arena;
static atomic_int stop;

static inline void setup(void)
{
    struct diag diag = {0};
    struct reader reader = {.arena = &arena, .diag = &diag};

    ck_assert(discover_read(&reader, NULL, &spec));
    diag_fini(&diag);
}

static inline void teardown(void)
{
    discovery_fini(&discovery);
    arena_free(&arena);
}

static const struct dist hidden_recovery = {.kind = DIST_UNIFORM, .a = 60, .b = 90, .most = INFINITY};

/* Lives in the arena. */
static inline struct scenario *scenario_of(const struct hidden *hidden)
{
    struct meter_spec *meters = arena_zeroed(&arena, 2, sizeof *meters);
    struct hidden *kept = arena_zeroed(&arena, 1, sizeof *kept);
    struct provider_spec *provider = arena_zeroed(&arena, 1, sizeof *provider);
    struct backend *backend = arena_zeroed(&arena, 1, sizeof *backend);
    struct scenario *scenario = arena_zeroed(&arena, 1, sizeof *scenario);

    *kept = *hidden;
    meters[0] = (struct meter_spec){.kind = hidden->total ? METER_TOTAL : METER_INPUT,
                                    .limit = LIMIT_AT(kept->tokens),
                                    .burst = hidden->burst,
                                    .settle = true,
                                    .cached_weight = hidden->weight};
    meters[1] =
        (struct meter_spec){.kind = METER_REQUESTS, .limit = LIMIT_AT(kept->requests), .burst = hidden->at_once};
    *provider = (struct provider_spec){.meters = meters,
                                       .meter_count = hidden->requests > 0 ? 2 : 1,
                                       .latency = {.base = hidden->latency},
                                       .retry_after = RETRY_NONE};
    if (hidden->cold > 0)
        provider->simultaneous = (struct simultaneous_spec){
            .cold = hidden->cold, .hot = hidden->hot, .within = SIM_SECOND, .recovery = &hidden_recovery};
    *backend = (struct backend){.name = "pool", .kind = BACKEND_PROVIDER, .provider = provider};
    *scenario = (struct scenario){.backends = backend, .backend_count = 1, .study = {.seed = 1}};
    return scenario;
}

static inline void probe(const struct scenario *scenario)
{
    discovery_fini(&discovery);
    discover_run(&spec, scenario, 0, &stop, &discovery);
}

static inline void only(enum discover_phase last)
{
    for (int i = 0; i < DISCOVER_PHASES; i++)
        spec.wanted[i] = i <= (int)last;
}

/* The index-th step of a phase. */
static inline const struct discover_step *step_of(enum discover_phase phase, const char *what, int index)
{
    for (size_t i = 0; i < discovery.count; i++)
        if (discovery.steps[i]->phase == phase && strcmp(discovery.steps[i]->what, what) == 0 && index-- == 0)
            return discovery.steps[i];
    return NULL;
}

/* Ten full contexts at once, and 100k tokens a second. */
static const struct hidden ten = {
    .tokens = 100e3, .burst = 10 * CONTEXT, .weight = 0.25, .requests = 4, .at_once = 60, .latency = 10};

static inline void expect_near(double value, double expected)
{
    ck_assert_msg(fabs(value - expected) <= 1e-9 * fabs(expected), "%.12g, expected %.12g", value, expected);
}

static inline struct hidden with_burst(double contexts)
{
    struct hidden hidden = ten;

    hidden.burst = contexts * CONTEXT;
    return hidden;
}

/* What was sent in the bursts of a phase: "12 24 24". */
static inline const char *bursts(enum discover_phase phase)
{
    const struct discover_step *step;
    const char *text = "";

    for (int i = 0; (step = step_of(phase, "burst", i)); i++)
        text = arena_format(&arena, "%s%s%d", text, i ? " " : "", (int)step->sent);
    return text;
}

static inline void expect_found(struct discover_found found, enum discover_bound bound, double value)
{
    ck_assert_msg(found.bound == bound, "bound %d, expected %d (%s)", found.bound, bound, found.why ? found.why : "");
    expect_near(found.value, value);
}

static inline void probe_hidden(struct hidden hidden)
{
    probe(scenario_of(&hidden));
}

#endif
