/* discover.c - the phases, one after the other, and the seeds that come of them.
 *
 * In the published rules L is the base latency, R the rate of a step in tokens a second and T the tokens of a call;
 * only where the ramp begins "from the target" T is the target, calls at once: R = T/(L + 4.0 s) calls a second. So 3 R
 * L/T calls a step are those of three latencies, by Little's law, and with the edge at ten calls the bottom-up begin of
 * 0.5 edge/L makes 15 of them, the least that a step has. */
#include "models/discover.h"

#include <math.h>
#include <stdlib.h>

#include "models/discover_private.h"

#define TOOLS 4.0       /* seconds between an answer and the next call of whom the ramp is for */
#define FULL_AT_ONCE 12 /* full contexts in the first burst */
#define FULL_MOST 192
#define TINY_AT_ONCE 225
#define TINY_MOST 3600
#define TINY_INPUT 10 /* tokens */
#define TINY_COUNTED 60
#define CLIMBS 5

const char *const discover_phase_names[] = {[DISCOVER_BURST] = "burst",
                                            [DISCOVER_RAMP] = "ramp",
                                            [DISCOVER_REQUESTS] = "requests",
                                            [DISCOVER_CACHE] = "cache",
                                            [DISCOVER_PHASES] = NULL};

/* --- A: what is let in at once ------------------------------------------------------------------------------------ */

/* The median of all answers to full contexts, of the shape that was let in. */
static sim_time base_latency(const struct discovery *discovery, int64_t input)
{
    sim_time *all = NULL, median;
    size_t count = 0;

    for (size_t i = 0; i < discovery->count; i++) {
        const struct discover_step *step = discovery->steps[i];

        if (step->shape.input != input)
            continue;
        all = mem_resized(all, count + step->answered + 1, sizeof *all);
        for (size_t k = 0; k < step->answered; k++)
            all[count++] = step->latencies[k];
    }
    median = discover_median(all, count);
    free(all);
    return median;
}

static void phase_burst(struct prober *prober)
{
    const struct discover_spec *asked = prober->asked;
    struct discovery *out = prober->found;
    struct burst burst = {.phase = DISCOVER_BURST,
                          .shape = {.input = asked->context, .output = asked->output},
                          .first = FULL_AT_ONCE,
                          .most = FULL_MOST,
                          .halves = true};

    out->edge = asked->form == FORM_TWO_STEP ? burst_two_step(prober, &burst) : burst_double(prober, &burst);
    out->edge.value *= (double)burst.shape.input;
    out->full = out->context = burst.shape.input;
    if (out->edge.bound == FOUND_EXACT && out->edge.value < 2 * (double)burst.shape.input)
        out->context /= 2; /* for what follows: a bucket that holds two calls fills while one waits */
    out->latency = base_latency(out, burst.shape.input);
}

/* --- B: what is carried for long ---------------------------------------------------------------------------------- */

static struct rate ramp_rate(const struct prober *prober, uint64_t counted)
{
    const struct discovery *out = prober->found;

    return (struct rate){.phase = DISCOVER_RAMP,
                         .what = "rate",
                         .shape = {.input = out->context, .output = prober->asked->output},
                         .unit = (double)out->context,
                         .latency = sim_seconds(out->latency),
                         .counted = counted,
                         .base = out->latency};
}

static double ramp_start(const struct prober *prober)
{
    const struct discovery *out = prober->found;
    double context = (double)out->context, latency = sim_seconds(out->latency);
    double calls = prober->asked->target > 0 ? (double)prober->asked->target : out->edge.value / context;

    if (prober->asked->ramp == RAMP_TARGET)
        return calls / (latency + TOOLS) * context;
    return 0.5 * out->edge.value / fmax(latency, 0.001);
}

/* From the target down: one clean step proves it; x 0.75, at most 4 steps. */
static struct discover_found ramp_down(struct prober *prober)
{
    struct rate rate = ramp_rate(prober, 0);
    double r = ramp_start(prober);

    for (int i = 0; i < 4; i++) {
        struct paced paced = rate_step(prober, &rate, r);

        if (paced.strain == STRAIN_UNKNOWN)
            return discover_found_as(FOUND_NOT, 0, "it was ended before a step ran clean");
        if (paced.strain == STRAIN_NONE)
            return discover_found_as(i > 0 ? FOUND_EXACT : FOUND_LOWER, r,
                                     i > 0 ? NULL : "the target itself ran clean");
        if (paced.strain == STRAIN_SOFT)
            return discover_found_as(FOUND_EXACT, 0.85 * r, NULL);
        if (i < 3)
            r *= 0.75;
    }
    return discover_found_as(FOUND_EXACT, r / 2, "no step ran clean: half of the last");
}

/* From half the edge up: x 1.5, at most 5 steps. */
static struct discover_found ramp_up(struct prober *prober)
{
    struct rate rate = ramp_rate(prober, 0);
    double r = ramp_start(prober), clean = 0;

    for (int i = 0; i < 5; i++, r *= 1.5) {
        struct paced paced = rate_step(prober, &rate, r);

        if (paced.strain == STRAIN_UNKNOWN)
            return discover_found_as(clean > 0 ? FOUND_LOWER : FOUND_NOT, clean,
                                     "it was ended before a step was strained");
        if (paced.strain == STRAIN_SOFT)
            return discover_found_as(FOUND_EXACT, clean > 0 ? fmin(0.85 * r, clean) : 0.85 * r, NULL);
        if (paced.strain == STRAIN_HARD)
            return clean > 0 ? discover_found_as(FOUND_EXACT, clean, NULL)
                             : discover_found_as(FOUND_EXACT, r / 2, "no step ran clean: half of the last");
        clean = r;
    }
    return discover_found_as(FOUND_LOWER, clean, "no step was strained");
}

static void phase_ramp(struct prober *prober)
{
    const struct discover_spec *asked = prober->asked;
    struct discovery *out = prober->found;
    struct rate rate = ramp_rate(prober, DISCOVER_COUNTED);
    struct rate_search search = {.climbs = CLIMBS, .ratio = DISCOVER_NEAR, .saved = DISCOVER_SAVED};

    if (out->edge.bound == FOUND_NOT || out->latency < 0) {
        out->rate = discover_found_as(FOUND_NOT, 0, "it begins from the burst edge, which is not known");
        return;
    }
    search.start = ramp_start(prober);
    if (asked->rules == RULES_COUNTED)
        out->rate = rate_search(prober, &rate, &search);
    else
        out->rate = asked->ramp == RAMP_TARGET ? ramp_down(prober) : ramp_up(prober);
    if (asked->rules == RULES_COUNTED && out->rate.bound == FOUND_EXACT && flight_binds(prober, out->rate.value)) {
        out->rate.bound = FOUND_LOWER;
        out->rate.why = "so many tokens are in flight then as the pool lets in at once";
    }
}

/* --- C: requests -------------------------------------------------------------------------------------------------- */

static const double request_rates[] = {5, 10};

/* 5/s for a minute, then 10/s if that was clean. */
static struct discover_found requests_published(struct prober *prober, const struct rate *rate)
{
    double clean = 0;

    for (int i = 0; i < 2; i++) {
        struct paced paced = rate_step(prober, rate, request_rates[i]);

        if (paced.strain == STRAIN_UNKNOWN)
            return discover_found_as(clean > 0 ? FOUND_LOWER : FOUND_NOT, clean,
                                     "it was ended before a step was strained");
        if (paced.strain != STRAIN_NONE)
            return clean > 0 ? discover_found_as(FOUND_EXACT, clean, NULL)
                             : discover_found_as(FOUND_NOT, 0, "5/s did not run clean");
        clean = request_rates[i];
    }
    return discover_found_as(FOUND_LOWER, clean, "no step was strained");
}

/* As many full contexts at once as calls of any kind: it was not their tokens that strained the pool. */
static void doubt_edge(struct discovery *out)
{
    if (!discover_measured(&out->edge) || !discover_measured(&out->requests) ||
        out->edge.value / (double)out->full * DISCOVER_NEAR < out->requests.value)
        return;
    out->edge.bound = FOUND_LOWER;
    out->edge.why = "so many full contexts are as many requests as the pool lets in at once";
}

static void phase_requests(struct prober *prober)
{
    bool counted = prober->asked->rules == RULES_COUNTED;
    struct discovery *out = prober->found;
    struct discover_shape tiny = {.input = TINY_INPUT, .output = 1};
    struct burst burst = {.phase = DISCOVER_REQUESTS, .shape = tiny, .first = TINY_AT_ONCE, .most = TINY_MOST};
    struct rate rate = {.phase = DISCOVER_REQUESTS,
                        .what = "rate",
                        .shape = tiny,
                        .unit = 1,
                        .seconds = 60,
                        .counted = counted ? TINY_COUNTED : 0};
    struct rate_search search = {
        .start = request_rates[0], .climbs = CLIMBS, .ratio = DISCOVER_NEAR, .saved = DISCOVER_SAVED};

    out->requests = counted ? burst_double(prober, &burst) : burst_once(prober, &burst);
    if (counted)
        doubt_edge(out);
    if (!prober_going(prober))
        return;
    out->request_rate = counted ? rate_search(prober, &rate, &search) : requests_published(prober, &rate);
    if (discover_measured(&out->request_rate) && out->rate.bound == FOUND_EXACT &&
        out->rate.value / (double)out->context * DISCOVER_NEAR * DISCOVER_NEAR >= out->request_rate.value) {
        out->rate.bound = FOUND_LOWER;
        out->rate.why = "so many full contexts are as many requests as the pool lets in";
    }
}

/* --- all of them -------------------------------------------------------------------------------------------------- */

void discover_run(const struct discover_spec *spec, const struct scenario *scenario, size_t backend,
                  const atomic_int *stop, struct discovery *discovery)
{
    static void (*const phases[DISCOVER_PHASES])(struct prober *) = {
        [DISCOVER_BURST] = phase_burst,
        [DISCOVER_RAMP] = phase_ramp,
        [DISCOVER_REQUESTS] = phase_requests,
        [DISCOVER_CACHE] = discover_cache,
    };
    struct prober prober;
    bool first = true;

    prober_init(&prober, spec, scenario, backend, stop, discovery);
    for (int i = 0; i < DISCOVER_PHASES; i++) {
        if (!spec->wanted[i] || !prober_going(&prober))
            continue;
        if (!first)
            prober_pause(&prober, DISCOVER_PAUSE);
        first = false;
        if (prober_going(&prober))
            phases[i](&prober);
        if (!prober_going(&prober))
            discovery->ended_in = (enum discover_phase)i;
    }
    prober_fini(&prober);
}
