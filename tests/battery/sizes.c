/* sizes.c - the battery's study of `weir size`: the card's population under many seeds. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sim/cli/sizing.h"
#include "tests/battery/battery.h"

static const char card[] =
    "study: {horizon: 20000 s, warmup: 1000 s}\n"
    "backends: {card: {kind: slots, servers: 8, rate: 39 tokens/s}}\n"
    "agents: {coder: {population: 24, think: exponential(4.5 s), output: mixture(0.7 lognormal(120 cv 0.45) | 0.3 "
    "lognormal(900 cv 0.35))}}\n"
    "size: {vary: agents.coder.population, within: 1..64, goal: wait_p99 <= 10 s}\n";

/* What one seed finds. */
struct found {
    bool twelve, holds; /* 12 is the answer; it lies between the answer and the first that misses */
    unsigned replications;
};

static bool find(const char *path, unsigned seed, struct found *found)
{
    const char *operands[] = {path};
    const struct cli_words words = {.operands = operands, .count = 1};
    struct arena arena = {0};
    struct node *none = NULL, *sweep;
    const char *set = arena_format(&arena, "study.seed=%u", seed);
    struct session_more as_is = {.sweep = &none}, more = {.sets = &set, .set_count = 1, .sweep = &sweep};
    struct session base = {0};
    struct sizing sizing = {0};
    bool good = session_open_with(&base, &words, &as_is);

    sweep = good ? sizing_sweep(base.plan.size, false, &arena) : NULL;
    good = good && sizing_open(&sizing, &words, 0, base.plan.size, &more) && sizing_search(&sizing) == EXIT_DONE;
    if (good) {
        const struct search *search = &sizing.groups[0].search;

        found->twelve = search->answer == 11;
        found->holds = search->answer <= 11 && search->miss > 11;
        found->replications = sizing_replications(&sizing);
    }
    sizing_close(&sizing);
    session_close(&base);
    arena_free(&arena);
    return good;
}

/* A dense sweep would look at each of the 64 sizes at least as often as this looks at an easy one, 10 times. */
bool battery_size(unsigned seeds)
{
    char path[64];
    unsigned twelve = 0, holds = 0, most = 0;
    bool good = battery_file(card, path, sizeof path);

    for (unsigned seed = 1; seed <= seeds && good; seed++) {
        struct found found;

        good = find(path, seed, &found);
        twelve += good && found.twelve;
        holds += good && found.holds;
        most = good && found.replications > most ? found.replications : most;
    }
    if (path[0])
        unlink(path);
    printf(
        "agents that the card carries at a p99 wait of 10 s, %u seeds: 12 in %u, between answer and first miss in %u; "
        "at the most %u replications, of at least 640 of a dense sweep\n",
        seeds, twelve, holds, most);
    return good && twelve * 100 >= 95 * seeds && holds * 100 >= 90 * seeds && 3 * most <= 640;
}
