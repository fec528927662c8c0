/* discover_seeds.c - from what was found to what a pacer is told: always a little less. */
#include <math.h>

#include "models/discover.h"
#include "sim/io/unit.h"

const char *const discover_seed_names[] = {
    [SEED_R_TOK] = "r_tok", [SEED_C_BURST] = "c_burst", [SEED_K_INFLIGHT] = "k_inflight",
    [SEED_C_REQ] = "c_req", [SEED_R_QPS] = "r_qps",     [SEED_CACHED_WEIGHT] = "cached_weight",
    [SEEDS] = NULL,
};

struct discover_found discover_seed(const struct discovery *discovery, const struct discover_spec *spec,
                                    enum discover_seed seed)
{
    const struct discover_found *found[SEEDS] = {
        [SEED_R_TOK] = &discovery->rate,         [SEED_C_BURST] = &discovery->edge,
        [SEED_K_INFLIGHT] = &discovery->edge,    [SEED_C_REQ] = &discovery->requests,
        [SEED_R_QPS] = &discovery->request_rate, [SEED_CACHED_WEIGHT] = &discovery->cached_weight,
    };
    static const double shares[SEEDS] = {1, 0.5, 0.95, 0.8, 0.8, 1};
    struct discover_found value = *found[seed];
    double least = 0;

    if (value.bound == FOUND_NOT)
        return value;
    value.value *= shares[seed];
    if (seed == SEED_C_BURST || seed == SEED_K_INFLIGHT)
        least = (double)spec->context;
    else if (seed == SEED_C_REQ)
        least = 1;
    value.raised = value.value < least;
    value.value = fmax(value.value, least);
    return value;
}

/* To so many parts of a unit. */
static const char *parts(double value, double of, struct arena *arena)
{
    char text[40];

    unit_digits(value / of, text, sizeof text);
    return arena_text(arena, text);
}

const char *discover_seed_text(enum discover_seed seed, double value, struct arena *arena)
{
    const double whole = 1, fine = 1e4, finest = 1e9;
    double of = value < 0.1 ? finest : seed == SEED_R_TOK && value >= 100 ? whole : fine;

    if (seed == SEED_CACHED_WEIGHT)
        return parts(ceil(value * fine), fine, arena);
    if (seed == SEED_R_TOK)
        return arena_format(arena, "%s tokens/s", parts(floor(value * of), of, arena));
    if (seed == SEED_R_QPS)
        return arena_format(arena, "%s/s", parts(floor(value * of), of, arena));
    return parts(floor(value), whole, arena);
}
