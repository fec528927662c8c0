/* search.c - ladder, bracket, and the sides of an interval. */
#include "sim/study/search.h"

#include <math.h>

bool search_try(struct search *search, size_t size)
{
    struct search_rung *rung = &search->rungs[size];

    return rung->verdict != SEARCH_UNTRIED || search->judge(search->context, size, rung);
}

static bool meets(const struct search *search, size_t size)
{
    return search->rungs[size].verdict == SEARCH_MEETS;
}

/* Up the ladder until there are two neighbours on it of which one meets the goals and the other, on the side that is
 * looked towards, does not. `good` and `bad`: count, if there is none. */
static bool climb(struct search *search, size_t *good, size_t *bad)
{
    size_t rung = 0, before = search->count;

    *good = *bad = search->count;
    for (;;) {
        if (!search_try(search, rung))
            return false;
        if (meets(search, rung))
            *good = rung;
        else if (search->largest && *good < search->count)
            *bad = rung;
        if (!search->largest && *good < search->count)
            *bad = before;
        if (*bad < search->count || rung == search->count - 1 || (!search->largest && *good < search->count))
            return true;
        before = rung;
        rung = 2 * rung + 1 < search->count ? 2 * rung + 1 : search->count - 1;
    }
}

/* Between two rungs that miss different goals. What meets all of them, if anything is found that does. */
static bool between(struct search *search, size_t low, size_t high, size_t *good)
{
    uint32_t of_low = search->rungs[low].missed, of_high = search->rungs[high].missed;

    while (high - low > 1 && *good == search->count) {
        size_t middle = low + (high - low) / 2;
        uint32_t missed;

        if (!search_try(search, middle))
            return false;
        missed = search->rungs[middle].missed;
        if (meets(search, middle))
            *good = middle;
        else if (missed & of_low && !(missed & of_high))
            low = middle;
        else if (missed & of_high && !(missed & of_low))
            high = middle;
        else
            return true;
    }
    return true;
}

/* Where no rung of the ladder meets the goals. `bad` is the rung on the side that is looked towards. */
static bool look_between(struct search *search, size_t *good, size_t *bad)
{
    size_t low = 0;

    for (size_t high = 1; high < search->count && *good == search->count; high++) {
        const struct search_rung *one = &search->rungs[low], *other = &search->rungs[high];

        if (other->verdict == SEARCH_UNTRIED)
            continue;
        if (one->verdict == SEARCH_MISSES && other->verdict == SEARCH_MISSES && !(one->missed & other->missed)) {
            if (!between(search, low, high, good))
                return false;
            *bad = search->largest ? high : low;
        }
        low = high;
    }
    return true;
}

/* Halves the bracket until the two are neighbours. */
static bool halve(struct search *search, size_t *good, size_t *bad)
{
    while ((*good < *bad ? *bad - *good : *good - *bad) > 1) {
        size_t middle = *good / 2 + *bad / 2 + (*good % 2 + *bad % 2) / 2;

        if (!search_try(search, middle))
            return false;
        if (meets(search, middle))
            *good = middle;
        else
            *bad = middle;
    }
    return true;
}

/* From `bad`, away from the answer, the first size that misses for sure. Undecided ones are few: they are passed one by
 * one. */
static bool find_miss(struct search *search, size_t bad)
{
    while (bad < search->count) {
        if (!search_try(search, bad))
            return false;
        if (search->rungs[bad].verdict == SEARCH_MISSES)
            break;
        bad = search->largest ? bad + 1 : bad == 0 ? search->count : bad - 1;
    }
    search->miss = bad;
    return true;
}

bool search_run(struct search *search)
{
    size_t good, bad;

    search->answer = search->miss = search->count;
    if (!climb(search, &good, &bad))
        return false;
    if (good == search->count && !look_between(search, &good, &bad))
        return false;
    if (good == search->count)
        return true;
    if (bad < search->count && (!halve(search, &good, &bad) || !find_miss(search, bad)))
        return false;
    search->answer = good;
    return true;
}

double search_half_width(struct estimate estimate, double level)
{
    if (estimate.count < 2)
        return NAN;
    return estimate.half_width / output_t(OUTPUT_LEVEL, estimate.count - 1) * output_t(level, estimate.count - 1);
}

enum search_verdict search_side(struct estimate estimate, double level, const struct search_goal *goal)
{
    double half = search_half_width(estimate, level), low = estimate.mean - half, high = estimate.mean + half;

    if (goal->at_most ? high <= goal->value : low >= goal->value)
        return SEARCH_MEETS;
    if (goal->at_most ? low > goal->value : high < goal->value)
        return SEARCH_MISSES;
    return half <= goal->resolution ? SEARCH_UNDECIDED : SEARCH_UNTRIED;
}
