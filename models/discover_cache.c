/* discover_cache.c - the weight of cached input.
 *
 * Published: a prefix of 200k tokens is warmed, and calls with 200 more are sent at 1, 2, 4 and 8 x r_tok; a step
 * counts where 9 of 10 answers prove that 0.9 of the prefix was cached; the weight is r_tok/R of the last clean one.
 * That can say 1, 0.5, 0.25 and 0.125 and nothing between, and 60 such calls are often fewer than what the pool had
 * saved. So, unless `rules: published`, the pool is drained first, and the rate is counted as in the ramp, from 20 x
 * r_tok down, which is the least weight that a pacer takes. It cannot be told where requests bind first, nor where the
 * pool takes so many tokens of a second for a burst: then R is as much as those let in, and the weight an upper bound.
 */
#include <math.h>

#include "models/discover_private.h"

#define WEIGHT_LEAST 0.05 /* of cached input, as the pacer takes it */
#define CACHED_CALLS 60   /* a step, as the pool may have a part of a context left when it begins */
#define SECOND_SHARE 0.3  /* of the edge in a second: above, a pool that punishes bursts may refuse it */
#define SHORT_PAUSE (20 * SIM_SECOND)
#define DRAIN_MOST 512 /* calls */

static struct rate cache_rate(const struct prober *prober, uint64_t counted)
{
    const struct discover_spec *asked = prober->asked;
    int64_t suffix = asked->suffix, most = prober->found->context - suffix, prefix = asked->prefix;
    struct discover_shape shape = {.output = asked->output};

    if (prefix > most && most > 0) /* a pool that lets in less at once */
        prefix = most;
    shape.input = prefix + suffix;
    shape.cached = prefix;
    return (struct rate){.phase = DISCOVER_CACHE,
                         .what = "rate",
                         .shape = shape,
                         .unit = (double)shape.input,
                         .latency = sim_seconds(prober->found->latency),
                         .least = counted > 0 ? CACHED_CALLS : 0,
                         .counted = counted};
}

/* The prefix is sent once, and its answer waited for. */
static bool warm(struct prober *prober, const struct rate *rate)
{
    struct discover_shape shape = {.input = rate->shape.input, .output = rate->shape.output};
    struct discover_step *step = prober_step(prober, DISCOVER_CACHE, "warm", shape, 0);

    prober_send(prober, step);
    prober_settle(prober);
    prober_judge(prober, step, step->admitted > 0 ? "clean" : "429");
    return step->answered > 0;
}

static bool counts(const struct discover_step *step)
{
    return 10 * step->proven >= 9 * (step->answered + step->failed);
}

static struct discover_found weight_of(const struct discovery *out, double cached_rate, enum discover_bound bound,
                                       const char *why)
{
    return discover_found_as(bound, fmin(fmax(out->rate.value / cached_rate, WEIGHT_LEAST), 1), why);
}

static const char not_in_cache[] = "the prefix was not in the cache";

/* 1, 2, 4 and 8 x r_tok; the last that ran clean and counts. */
static struct discover_found cache_published(struct prober *prober)
{
    struct discovery *out = prober->found;
    struct rate rate = cache_rate(prober, 0);
    double clean = 0;

    if (!warm(prober, &rate))
        return discover_found_as(FOUND_NOT, 0, "the prefix was refused");
    for (int times = 1; times <= 8; times *= 2) {
        struct paced paced = rate_step(prober, &rate, times * out->rate.value);

        if (paced.strain == STRAIN_UNKNOWN)
            return clean > 0 ? weight_of(out, clean, FOUND_UPPER, "it was ended before a step was strained")
                             : discover_found_as(FOUND_NOT, 0, "it was ended before a step ran clean");
        if (paced.strain != STRAIN_NONE)
            return clean > 0 ? weight_of(out, clean, FOUND_EXACT, NULL)
                             : discover_found_as(FOUND_EXACT, 1, "cached input ran no faster than other input");
        if (!counts(paced.step)) {
            prober_judge(prober, paced.step, "missed");
            return clean > 0 ? weight_of(out, clean, FOUND_UPPER, not_in_cache)
                             : discover_found_as(FOUND_NOT, 0, not_in_cache);
        }
        clean = times * out->rate.value;
    }
    return weight_of(out, clean, FOUND_UPPER, "no step was strained");
}

/* The fastest that requests allow, in units of so many tokens a call. */
static double requests_most(const struct discovery *out, double unit)
{
    return discover_measured(&out->request_rate) ? 0.9 * out->request_rate.value * unit : INFINITY;
}

/* Full contexts, nothing of them cached, faster than the pool gives and slower than it punishes, until a 429: what it
 * had saved would answer for the cached calls. What is left of a context goes by sixteenths. */
static bool drain(struct prober *prober)
{
    struct discovery *out = prober->found;
    struct discover_shape shape = {.input = out->full, .output = prober->asked->output};
    double context = (double)out->full;
    double r = fmin(fmax(2 * out->rate.value, out->edge.value / 4), requests_most(out, context));
    struct discover_step *step = prober_step(prober, DISCOVER_CACHE, "drain", shape, r / context);

    while (prober_going(prober) && step->refused == 0 && step->sent < DRAIN_MOST && r > 1.1 * out->rate.value) {
        prober_pause(prober, sim_from_seconds(context / r));
        prober_send(prober, step);
    }
    prober_judge(prober, step, step->refused > 0 ? "429" : "clean");
    if (step->refused == 0 || !prober_going(prober))
        return false;
    shape.input = (shape.input + 15) / 16;
    step = prober_step(prober, DISCOVER_CACHE, "drain", shape, 0);
    while (prober_going(prober) && step->refused == 0 && step->sent < 16)
        prober_send(prober, step);
    prober_judge(prober, step, step->refused > 0 ? "429" : "clean");
    return prober_going(prober);
}

/* Cached calls at so much a second ran clean and more did not: was that by their weight, or does a pool that has just
 * refused calls take any tokens of a second for a burst? It is made to refuse some, and given the time to fill for more
 * calls than came in a second, not the time to forget. */
static bool weighed(struct prober *prober, const struct rate *rate, double carried)
{
    const struct discovery *out = prober->found;
    struct burst burst = {.phase = DISCOVER_CACHE, .shape = rate->shape};
    struct rate longer = *rate;
    double calls = carried / rate->unit, fast = fmin(2 * carried, requests_most(out, rate->unit));
    double saved = out->edge.value + (double)out->full, a_call = rate->unit * out->rate.value / carried;

    if (carried + rate->unit <= SECOND_SHARE * out->edge.value)
        return true;
    if (fast < 1.1 * carried)
        return false;
    longer.least = (uint64_t)(1.2 * saved / (a_call * (1 - carried / fast))) + CACHED_CALLS;
    if (rate_step(prober, &longer, fast).strain != STRAIN_HARD)
        return false;
    prober_pause(prober, SHORT_PAUSE);
    return (double)burst_send(prober, &burst, (uint64_t)(2 * calls) + 3) > 4 * calls / 3 + 1;
}

/* From above: 20 x r_tok is as much as the least weight allows. */
static struct discover_found cache_counted(struct prober *prober)
{
    struct discovery *out = prober->found;
    struct rate rate = cache_rate(prober, DISCOVER_COUNTED);
    double top = out->rate.value / WEIGHT_LEAST, most = requests_most(out, rate.unit);
    struct rate_search search = {.start = fmin(top, most), .climbs = 0, .ratio = DISCOVER_NEAR};
    struct discover_found carried;

    if (!discover_measured(&out->rate))
        return discover_found_as(FOUND_NOT, 0, "it is measured against r_tok, which is a lower bound");
    if (!warm(prober, &rate))
        return discover_found_as(FOUND_NOT, 0, "the prefix was refused");
    if (!drain(prober))
        return discover_found_as(FOUND_NOT, 0, "the pool could not be brought to its edge");
    carried = rate_search(prober, &rate, &search);
    if (carried.bound == FOUND_NOT)
        return discover_found_as(FOUND_NOT, 0, carried.why);
    if (!prober_going(prober))
        return weight_of(out, carried.value, FOUND_UPPER, carried.why);
    if (carried.bound == FOUND_LOWER && top <= most)
        return weight_of(out, carried.value, FOUND_EXACT, NULL);
    if (carried.bound == FOUND_LOWER)
        return weight_of(out, carried.value, FOUND_UPPER, "requests bound before cached input did");
    if (!weighed(prober, &rate, carried.value))
        return weight_of(out, carried.value, FOUND_UPPER, "so much in a second may be what the burst edge refuses");
    return weight_of(out, carried.value, FOUND_EXACT, NULL);
}

void discover_cache(struct prober *prober)
{
    struct discovery *out = prober->found;

    if (out->rate.bound == FOUND_NOT)
        out->cached_weight = discover_found_as(FOUND_NOT, 0, "it is measured against r_tok, which is not known");
    else
        out->cached_weight = prober->asked->rules == RULES_COUNTED ? cache_counted(prober) : cache_published(prober);
}
