/* discover_burst.c - how much is let in at once.
 *
 * Published (`two_step`): 12 full contexts, a pause of 90 s, then 24 if that was clean, else 12 again; or (`double`)
 * twice as many each time until the first 429. The edge is the smallest volume that was let in of a burst with a 429.
 *
 * That is wrong on two kinds of pools. One that lets 24 in is never strained by the two steps. And 90 s do not fill a
 * bucket that holds more than 90 s of its rate: the second burst finds what has flowed in meanwhile, not what the pool
 * holds, and the smallest volume is then of the pause and not of the pool. So, unless `rules: published`, a burst that
 * was refused is sent once more; one that then gets less says how fast the pool fills, and the next pause is long
 * enough for twice the largest volume so far. Where not even one context is let in, half of it is tried. */
#include "models/discover_private.h"

#define PAUSE_MOST (86400 * SIM_SECOND)
#define BURSTS_MOST 24
#define INPUT_LEAST 1000 /* tokens; a pool that lets in no such call is said to let in nothing */

uint64_t burst_send(struct prober *prober, const struct burst *burst, uint64_t calls)
{
    struct discover_step *step = prober_step(prober, burst->phase, "burst", burst->shape, 0);

    for (uint64_t i = 0; i < calls && prober_going(prober); i++)
        prober_send(prober, step);
    prober_judge(prober, step, step->refused > 0 ? "429" : "clean");
    prober_settle(prober);
    return step->admitted;
}

static struct discover_found lower(uint64_t calls, const char *why)
{
    return discover_found_as(calls > 0 ? FOUND_LOWER : FOUND_NOT, (double)calls, why);
}

static const char unstrained[] = "the pool let in all that were sent at once";
static const char nothing[] = "the pool let in not one call";

/* It was ended; `refused` is how many calls had been when the phase began. */
static struct discover_found cut_off(const struct prober *prober, uint64_t refused, uint64_t calls)
{
    return lower(calls, prober->found->refused > refused ? "it was ended before the edge was known"
                                                         : "it was ended before a 429");
}

static struct discover_found first_429(struct prober *prober, const struct burst *burst)
{
    uint64_t clean = 0, refused = prober->found->refused;

    for (uint64_t calls = burst->first; calls <= burst->most; calls *= 2) {
        uint64_t admitted = burst_send(prober, burst, calls);

        if (!prober_going(prober))
            return cut_off(prober, refused, admitted > clean ? admitted : clean);
        if (admitted < calls)
            return admitted > 0 ? discover_found_as(FOUND_EXACT, (double)admitted, NULL) : lower(clean, nothing);
        clean = admitted;
        if (2 * calls <= burst->most)
            prober_pause(prober, DISCOVER_PAUSE);
    }
    return lower(clean, unstrained);
}

struct discover_found burst_two_step(struct prober *prober, struct burst *burst)
{
    uint64_t refused = prober->found->refused;
    uint64_t one = burst_send(prober, burst, burst->first), calls = burst->first, other;

    if (!prober_going(prober))
        return cut_off(prober, refused, one);
    if (one == calls)
        calls *= 2;
    prober_pause(prober, DISCOVER_PAUSE);
    other = burst_send(prober, burst, calls);
    if (!prober_going(prober))
        return one < burst->first && one > 0 ? discover_found_as(FOUND_EXACT, (double)one, NULL)
                                             : cut_off(prober, refused, one > other ? one : other);
    if (one == burst->first && other == calls)
        return lower(other, unstrained);
    if (one < burst->first && one < other)
        other = one;
    return other > 0 ? discover_found_as(FOUND_EXACT, (double)other, NULL) : discover_found_as(FOUND_NOT, 0, nothing);
}

struct discover_found burst_once(struct prober *prober, struct burst *burst)
{
    uint64_t refused = prober->found->refused, admitted = burst_send(prober, burst, burst->first);

    if (!prober_going(prober))
        return cut_off(prober, refused, admitted);
    if (admitted == burst->first)
        return lower(admitted, unstrained);
    return admitted > 0 ? discover_found_as(FOUND_EXACT, (double)admitted, NULL)
                        : discover_found_as(FOUND_NOT, 0, nothing);
}

/* What is known while bursts are repeated. */
struct repeats {
    uint64_t calls;   /* of the next burst */
    uint64_t best;    /* the most that any has let in */
    int strained;     /* how many bursts in a row had a 429; behind one the level is below one call */
    uint64_t refused; /* what the first of them let in */
    uint64_t filled;  /* calls that were let in `filling` after a 429; 0: not known */
    sim_time filling;
    bool less;      /* a burst that should have found a full pool was let in less than others before it */
    sim_time pause; /* before the next burst */
};

/* Half the input, as not one call is let in: nothing was taken, so the pool is as it was. */
static bool halve(struct burst *burst, struct repeats *at)
{
    if (!burst->halves || at->best > 0 || burst->shape.input / 2 < INPUT_LEAST)
        return false;
    burst->shape.input /= 2;
    at->calls = burst->first;
    return true;
}

/* Twice the largest so far, and one more for the rest of a call that was there. */
static sim_time pause_for(const struct repeats *at)
{
    sim_sum pause = at->filled > 1 ? (sim_sum)at->filling * (2 * (sim_sum)at->best + 1) / ((sim_sum)at->filled - 1)
                                   : 4 * (sim_sum)at->pause;

    if (pause > PAUSE_MOST)
        return PAUSE_MOST;
    return pause > DISCOVER_PAUSE ? (sim_time)pause : DISCOVER_PAUSE;
}

/* Fewer than have flowed in since the burst before. */
static bool was_full(const struct repeats *at, uint64_t admitted, sim_time since)
{
    return at->filled > 1 && (sim_sum)(admitted + 1) * at->filling <= ((sim_sum)at->filled - 1) * since;
}

/* A burst with a 429, so long after the one before. True: the edge is known. */
static bool strained(struct repeats *at, uint64_t admitted, sim_time since, struct discover_found *edge)
{
    if (was_full(at, admitted, since)) {
        /* Less than before: the 429 that the pool was thought to be empty behind came from something else; or, when
         * that happens twice, the pool has become smaller. */
        if (admitted >= at->best || (at->less && admitted > 0)) {
            *edge = discover_found_as(FOUND_EXACT, (double)admitted, NULL);
            return true;
        }
        at->less = true;
    }
    /* As much again after a pause that was no longer: it was full both times, and the smaller one counts. */
    if (at->strained == 1 && at->filled == 0 && admitted >= at->refused && at->refused >= at->best) {
        *edge = discover_found_as(FOUND_EXACT, (double)at->refused, NULL);
        return true;
    }
    if (at->strained > 0) {
        at->filled = admitted;
        at->filling = since;
    } else {
        at->refused = admitted;
    }
    at->strained++;
    return false;
}

struct discover_found burst_double(struct prober *prober, struct burst *burst)
{
    struct repeats at = {.calls = burst->first, .pause = DISCOVER_PAUSE};
    struct discover_found edge;
    uint64_t refused = prober->found->refused;
    sim_time last = 0;

    if (prober->asked->rules == RULES_PUBLISHED)
        return first_429(prober, burst);
    for (int i = 0; i < BURSTS_MOST && at.calls <= burst->most; i++) {
        uint64_t admitted;
        sim_time began;

        if (i > 0)
            prober_pause(prober, at.pause);
        began = calendar_now(&prober->calendar);
        admitted = burst_send(prober, burst, at.calls);
        if (!prober_going(prober))
            return cut_off(prober, refused, admitted > at.best ? admitted : at.best);
        if (admitted == 0 && halve(burst, &at))
            continue;
        if (admitted == 0 && at.best == 0)
            return discover_found_as(FOUND_NOT, 0, nothing);
        if (admitted < at.calls && strained(&at, admitted, began - last, &edge))
            return edge;
        at.best = admitted > at.best ? admitted : at.best;
        if (admitted == at.calls) {
            at.strained = 0;
            at.calls *= 2;
        }
        if (at.strained > 1 || at.filled > 0)
            at.pause = pause_for(&at);
        last = began;
    }
    return lower(at.best, at.calls > burst->most ? unstrained : "the pool had not the time to fill");
}
