/* discover_rate.c - calls at an even pace, and the search for the largest rate that runs clean.
 *
 * Published are ladders: x 0.75 down or x 1.5 up (tokens), 5/s and 10/s (requests), x 2 (cached input), where one clean
 * step proves a rate. A ladder is as coarse as its steps, and a clean step proves little: 15 to 60 calls may come out
 * of what the pool had saved. So, unless `rules: published`, rates are counted. While no step is strained the rate
 * doubles. A step that meets a 429 goes on at its rate until enough calls came through: from one 429 to another the
 * pool's level is below one call at both ends, so with m calls let in and T between them its own rate lies between (m -
 * 1)/T and (m + 1)/T, whatever it had saved and however much too fast the step was. The next step is made at the lower
 * of the two, and follows at once, with the pool at its edge: if that runs clean, it is proved. A step that was far too
 * fast is left as soon as that is seen, for one at twice what came through.
 *
 * Where no step is strained the last one proves less than its rate, as all of it may have been saved up: it is taken
 * that a pool saves no more than a minute of its limit, so n calls in T without a 429 make at least n/(T + 60 s).
 *
 * Known to fail: where refused calls count too, a step that goes on digs a hole that no lower rate fills in time. That
 * nothing at all came through shows it, and is said. Where a pool punishes bursts, or requests bind, at hardly more
 * than the rate of a bucket that is far from empty, the rate found is that of the other limit. */
#include <math.h>

#include "models/discover_private.h"

#define CALLS_LEAST 15
#define CALLS_MOST 60
#define FAR 8        /* times too fast is far too fast, */
#define FAR_SEEN 6   /* once so many calls came through */
#define PATIENCE 960 /* calls behind the first 429 at the most */
#define STEPS_MOST 16
#define RATE_LEAST (1.0 / 86400) /* calls a second */

static uint64_t calls_of(const struct rate *rate, double r)
{
    double calls = ceil(rate->latency > 0 ? 3 * r * rate->latency / rate->unit : r / rate->unit * rate->seconds);

    if (rate->latency > 0)
        calls = fmin(calls, CALLS_MOST);
    return (uint64_t)fmax(calls, fmax(CALLS_LEAST, (double)rate->least));
}

/* From the first 429 on. */
struct count {
    bool begun, last_refused;
    sim_time since, until; /* the first 429; the last call */
    uint64_t sent, admitted;
};

static bool enough(const struct rate *rate, const struct count *count, uint64_t sent, uint64_t calls)
{
    if (!count->begun)
        return sent == calls;
    if (count->admitted >= FAR_SEEN && count->sent >= FAR * count->admitted && count->last_refused)
        return true;
    return count->sent >= PATIENCE || count->admitted >= 2 * rate->counted ||
           (count->admitted >= rate->counted && count->last_refused) || rate->counted == 0;
}

static void count_call(struct count *count, bool admitted, sim_time now)
{
    if (!count->begun) {
        count->begun = !admitted;
        count->since = count->until = now;
        return;
    }
    count->sent++;
    count->admitted += admitted;
    count->until = now;
    count->last_refused = !admitted;
}

/* What was counted says where the pool's own rate lies; `r` is too much. */
static void bounds_of(const struct rate *rate, const struct count *count, double r, struct paced *paced)
{
    double seconds = sim_seconds(count->until - count->since), through = (double)count->admitted;

    paced->least = 0;
    paced->most = r;
    if (count->sent == 0)
        return;
    if (through > 1)
        paced->least = (through - 1) * rate->unit / seconds;
    if (count->last_refused && (through + 1) * rate->unit / seconds < r)
        paced->most = (through + 1) * rate->unit / seconds;
}

static bool is_slow(const struct rate *rate, struct discover_step *step)
{
    sim_time median = discover_median(step->latencies, step->answered);

    return rate->base > 0 && median >= 0 && (sim_sum)median * 10 >= (sim_sum)rate->base * 12;
}

struct paced rate_step(struct prober *prober, const struct rate *rate, double r)
{
    struct discover_step *step = prober_step(prober, rate->phase, rate->what, rate->shape, r / rate->unit);
    sim_time spacing = sim_from_seconds(rate->unit / r), begin = calendar_now(&prober->calendar);
    uint64_t calls = calls_of(rate, r);
    struct paced paced = {.strain = STRAIN_UNKNOWN, .step = step};
    struct count count = {0};

    for (uint64_t sent = 1; !enough(rate, &count, sent - 1, calls); sent++) {
        bool admitted;

        prober_wait(prober, begin + (sim_time)sent * spacing);
        admitted = prober_send(prober, step);
        if (!prober_going(prober))
            break;
        count_call(&count, admitted, calendar_now(&prober->calendar));
    }
    if (!count.begun)
        prober_settle(prober);
    if (!prober_going(prober)) {
        prober_judge(prober, step, "ended");
        return paced;
    }
    bounds_of(rate, &count, r, &paced);
    paced.blocked = count.sent >= PATIENCE && count.admitted == 0;
    paced.strain = count.begun ? STRAIN_HARD : is_slow(rate, step) ? STRAIN_SOFT : STRAIN_NONE;
    prober_judge(prober, step, paced.strain == STRAIN_HARD ? "429" : paced.strain == STRAIN_SOFT ? "slow" : "clean");
    return paced;
}

/* --- the search --------------------------------------------------------------------------------------------------- */

/* Between what ran clean and what was too much. */
struct between {
    double clean, much; /* 0: nothing ran clean; INFINITY: nothing was too much */
};

/* What ran clean before the first 429 may have come out of what the pool had saved. */
static void forget(struct between *between)
{
    if (isinf(between->much))
        between->clean = 0;
}

static double next_rate(const struct between *between, const struct paced *paced, double r, double ratio)
{
    if (isinf(between->much))
        return 2 * between->clean;
    if (paced->strain == STRAIN_HARD && paced->most > ratio * paced->least && 4 * paced->most <= r)
        return 2 * paced->most;
    if (paced->strain == STRAIN_HARD && paced->least > between->clean)
        return paced->least;
    return between->clean > 0 ? (between->clean + between->much) / 2 : between->much / 4;
}

static void learn(struct between *between, const struct paced *paced, double r)
{
    if (paced->strain == STRAIN_NONE) {
        between->clean = r;
        return;
    }
    forget(between);
    between->much = fmin(between->much, fmin(paced->most, r));
    if (between->clean >= between->much)
        between->clean = 0;
}

/* Of all answers so far fewer than nine in ten prove that the prefix was cached. */
static bool missed(const struct prober *prober, const struct rate *rate)
{
    uint64_t answered = 0, proven = 0;

    for (size_t i = 0; rate->shape.cached > 0 && i < prober->found->count; i++) {
        const struct discover_step *step = prober->found->steps[i];

        answered += step->shape.cached > 0 ? step->answered + step->failed : 0;
        proven += step->proven;
    }
    return answered >= CALLS_LEAST && 10 * proven < 9 * answered;
}

/* What the steps without a 429 up to now prove, as many of them as prove the most. */
static double carried(const struct prober *prober, const struct rate *rate, double saved)
{
    const struct discovery *found = prober->found;
    double most = 0, amount = 0;

    for (size_t i = found->count; i-- > 0 && found->steps[i]->refused == 0;) {
        const struct discover_step *step = found->steps[i];
        double tokens = (double)(step->shape.input - step->shape.cached);

        amount += (double)step->admitted * (rate->unit > 1 ? tokens : 1);
        most = fmax(most, amount / (sim_seconds(found->steps[found->count - 1]->last - step->at) + saved));
    }
    return most;
}

/* A lower bound; without a 429 it rests on what the pool may have saved. */
static struct discover_found at_least(const struct prober *prober, const struct rate *rate,
                                      const struct rate_search *search, const struct between *between, const char *why)
{
    struct discover_found found = discover_found_as(FOUND_LOWER, between->clean, why);

    if (isinf(between->much) && search->saved > 0) {
        found.value = fmin(found.value, carried(prober, rate, search->saved));
        found.why = "no step was strained; it is one if the pool saves up a minute of its limit at most";
    }
    return found;
}

struct discover_found rate_search(struct prober *prober, const struct rate *rate, struct rate_search *search)
{
    struct between between = {.clean = 0, .much = INFINITY};
    double r = search->start;
    unsigned climbs = 0;
    bool blocked = false;

    for (int i = 0; i < STEPS_MOST; i++) {
        struct paced paced = rate_step(prober, rate, r);

        if (paced.strain == STRAIN_UNKNOWN)
            return between.clean > 0
                       ? at_least(prober, rate, search, &between, "it was ended before the rate was known")
                       : discover_found_as(FOUND_NOT, 0, "it was ended before a step ran clean");
        if (missed(prober, rate)) {
            paced.step->verdict = "missed";
            return discover_found_as(FOUND_NOT, 0, "the prefix was not in the cache");
        }
        if (paced.strain == STRAIN_SOFT)
            return discover_found_as(FOUND_EXACT, between.clean > 0 ? fmin(0.85 * r, between.clean) : 0.85 * r, NULL);
        blocked |= paced.blocked;
        learn(&between, &paced, r);
        if (between.clean > 0 && between.much <= search->ratio * between.clean)
            return blocked ? discover_found_as(FOUND_LOWER, between.clean,
                                               "nothing came through for long: refused calls may count")
                           : discover_found_as(FOUND_EXACT, between.clean, NULL);
        if (isinf(between.much) && climbs++ == search->climbs)
            return at_least(prober, rate, search, &between, "no step was strained");
        r = next_rate(&between, &paced, r, search->ratio);
        if (r < RATE_LEAST * rate->unit)
            return discover_found_as(FOUND_NOT, 0, "not even one call a day ran clean");
    }
    if (between.clean > 0)
        return at_least(prober, rate, search, &between, "its steps were used up");
    return discover_found_as(FOUND_EXACT, r / 2, "no step ran clean: half of the last");
}
