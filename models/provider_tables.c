/* provider_tables.c - every key of a provider, an alias and of prices, declared once: see models/tables.c. */
#include "models/provider_tables.h"

#include "models/tables.h"

/* Amounts end here, so that 10^-6 of them can be counted in 63 bits. */
#define AMOUNT_MOST "1000000M"

static const char *const counts_choices[] = {"estimate", "max_tokens", "after", NULL};

#define AT(keys, member) .offset = offsetof(struct keys, member)

const struct option provider_options[] = {
    {"kind", OPTION_CHOICE, AT(provider_keys, kind), .initial = NULL, .choices = kind_choices,
     .help = "provider: a metered pool, whose limits may be hidden and may move"},
    {"preset", OPTION_TEXT, AT(provider_keys, preset), .initial = "",
     .help = "published limits by their name, see `weir list providers`; keys beside it go before it"},
    {"retry_after", OPTION_TEXT, AT(provider_keys, retry_after), .initial = "exact", .live = true,
     .help = "what a 429 tells: exact, rounded (up, to whole seconds), none, or constant(30 s)"},
    {"errors", OPTION_SHARE, AT(provider_keys, errors), .initial = "0 %", .live = true,
     .help = "of admitted calls, fail after their latency"},
    {.key = NULL},
};

const struct option alias_options[] = {
    {"kind", OPTION_CHOICE, AT(alias_keys, kind), .initial = NULL, .choices = kind_choices,
     .help = "alias: another key of a pool, with a gate of its own before the same meters"},
    {"of", OPTION_TEXT, AT(alias_keys, of), .initial = NULL,
     .help = "the provider whose meters it shares; without prices of its own it has those, but for the hour"},
    {.key = NULL},
};

const struct option meter_options[] = {
    {"limit", OPTION_TEXT, AT(meter_keys, limit), .initial = "", .live = true,
     .help = "a rate, 50/min or 2M tokens/min; of what is in flight a count; or moves. METER: LIMIT says it alone"},
    {"moves", OPTION_DIST, AT(meter_keys, moves), .initial = "",
     .help = "a limit that moves: steps(0 s 50/min 10 min 30/min), two_level(50/min 40/min every 30 s), walk(50/min "
             "least 40/min most 60/min step 2/min every 30 s), or day(FILE COLUMN), whose rows are equal parts of a "
             "day, in amounts a minute"},
    {"burst", OPTION_TEXT, AT(meter_keys, burst), .initial = "", .live = true,
     .help = "what a full bucket holds; unless given what the limit gives in one window, the first one of a limit that "
             "moves"},
    {"fill", OPTION_TEXT, AT(meter_keys, fill), .initial = "continuous",
     .help = "continuous: a bucket that fills all the time; window: so much in each window from t = 0; step: a bucket "
             "that gets a window's worth as the window begins; sub(1 s): windows that are shorter than a minute"},
    {"window", OPTION_TIME, AT(meter_keys, window), .initial = "", .least = "1 ms", .most = "366 d",
     .help = "of fill and of burst: 1 min unless given"},
    {"counts", OPTION_CHOICE, AT(meter_keys, counts), .initial = "estimate", .choices = counts_choices,
     .help = "what a call is charged: at admission what it is expected to need, or the larger of that output and its "
             "max_tokens; or after its answer what it took, and it is admitted while anything is left"},
    {"settle", OPTION_FLAG, AT(meter_keys, settle), .initial = "",
     .help = "the charge at admission is corrected with the answer; true unless given"},
    {"cached_weight", OPTION_SHARE, AT(meter_keys, cached_weight), .initial = "1",
     .help = "of a token of cached input, beside 1 of any other: 0 where cached input is free"},
    {"refused_count", OPTION_FLAG, AT(meter_keys, refused_count), .initial = "false",
     .help = "calls that are refused are charged too"},
    {.key = NULL},
};

#define RATE_OF(noun) \
    { \
        "limit", OPTION_RATE, 0, .initial = NULL, .least = "1 " noun "/d", .most = "100M " noun "/s", \
                                 .measures = noun, .help = "what the meter gives" \
    }
#define COUNT_OF(name, noun) \
    { \
        name, OPTION_COUNT, 0, .initial = NULL, .least = "1", .most = AMOUNT_MOST, .measures = noun, .help = "at once" \
    }

const struct option limit_options[METER_KINDS] = {
    [METER_REQUESTS] = RATE_OF("requests"),
    [METER_INPUT] = RATE_OF("tokens"),
    [METER_OUTPUT] = RATE_OF("tokens"),
    [METER_TOTAL] = RATE_OF("tokens"),
    [METER_IN_FLIGHT] = COUNT_OF("limit", "requests"),
    [METER_TOKENS_IN_FLIGHT] = COUNT_OF("limit", "tokens"),
};

const struct option burst_options[METER_KINDS] = {
    [METER_REQUESTS] = COUNT_OF("burst", "requests"),  [METER_INPUT] = COUNT_OF("burst", "tokens"),
    [METER_OUTPUT] = COUNT_OF("burst", "tokens"),      [METER_TOTAL] = COUNT_OF("burst", "tokens"),
    [METER_IN_FLIGHT] = COUNT_OF("burst", "requests"), [METER_TOKENS_IN_FLIGHT] = COUNT_OF("burst", "tokens"),
};

const struct option latency_options[] = {
    {"base", OPTION_TIME, AT(latency_keys, base), .initial = NULL, .least = "0 s", .most = "1 d", .live = true,
     .help = "of every answer"},
    {"per_input", OPTION_TIME, AT(latency_keys, per_input), .initial = "0 s", .least = "0 s", .most = "1 h",
     .live = true, .help = "and for each token of input that is not cached, such as 50 us"},
    {"per_cached", OPTION_TIME, AT(latency_keys, per_cached), .initial = "0 s", .least = "0 s", .most = "1 h",
     .live = true, .help = "and for each token of cached input"},
    {"per_output", OPTION_TIME, AT(latency_keys, per_output), .initial = "0 s", .least = "0 s", .most = "1 h",
     .live = true, .help = "and for each token of output, such as 6.31 ms"},
    {"noise", OPTION_DIST, AT(latency_keys, noise), .initial = "",
     .help = "a factor of mean 1, drawn for each call, such as lognormal(1 cv 0.3)"},
    {.key = NULL},
};

const struct option strangers_options[] = {
    {"calls", OPTION_DIST, AT(strangers_keys, calls), .initial = NULL, .live = true,
     .help = "poisson(60/min): calls of other keys, which take from the meters and never try again"},
    {"input", OPTION_DIST, AT(strangers_keys, input), .initial = NULL, .measures = "tokens", .help = "of such a call"},
    {"cached", OPTION_SHARE, AT(strangers_keys, cached), .initial = "0 %", .help = "of its input"},
    {"output", OPTION_DIST, AT(strangers_keys, output), .initial = NULL, .measures = "tokens",
     .help = "of such a call"},
    {.key = NULL},
};

const struct option simultaneous_options[] = {
    {"cold", OPTION_COUNT, AT(simultaneous_keys, cold), .initial = NULL, .least = "1", .most = AMOUNT_MOST,
     .measures = "tokens", .help = "admitted within so short a time at the most"},
    {"hot", OPTION_COUNT, AT(simultaneous_keys, hot), .initial = "", .least = "1", .most = AMOUNT_MOST,
     .measures = "tokens", .help = "the same until `recovery` has passed since it last refused; cold unless given"},
    {"within", OPTION_TIME, AT(simultaneous_keys, within), .initial = "1 s", .least = "1 ms", .most = "1 h",
     .help = "the time within which calls count as simultaneous"},
    {"recovery", OPTION_DIST, AT(simultaneous_keys, recovery), .initial = "uniform(60 s 90 s)", .measures = "time",
     .help = "how long a pool that refused stays hot"},
    {.key = NULL},
};

const struct option acceleration_options[] = {
    {"times", OPTION_REAL, AT(acceleration_keys, times), .initial = NULL, .least = "1", .most = "1000000",
     .help = "refuses what lifts the tokens of the last minute above so many times the mean minute; nobody publishes "
             "values"},
    {"over", OPTION_TIME, AT(acceleration_keys, over), .initial = "10 min", .least = "1 min", .most = "1 d",
     .help = "the mean minute is that of so long"},
    {"free", OPTION_COUNT, AT(acceleration_keys, free), .initial = NULL, .least = "1", .most = AMOUNT_MOST,
     .measures = "tokens", .help = "so many in a minute are never refused: from nothing, nothing could grow"},
    {.key = NULL},
};

const struct option price_options[] = {
    {"input", OPTION_REAL, AT(price_keys, input), .initial = "0", .least = "0", .most = "1000000000",
     .help = "money for a million tokens of input that is not cached"},
    {"cached", OPTION_REAL, AT(price_keys, cached), .initial = "", .least = "0", .most = "1000000000",
     .help = "money for a million tokens of cached input; as input unless given"},
    {"output", OPTION_REAL, AT(price_keys, output), .initial = "0", .least = "0", .most = "1000000000",
     .help = "money for a million tokens of output"},
    {"request", OPTION_REAL, AT(price_keys, request), .initial = "0", .least = "0", .most = "1000000000",
     .help = "money for each request"},
    {"hour", OPTION_REAL, AT(price_keys, hour), .initial = "0", .least = "0", .most = "1000000000",
     .help =
         "money for each hour of simulated time, as of a card; of a backend with `cards` for each hour of each card"},
    {.key = NULL},
};

const char *const provider_others[] = {"meters", "latency", "strangers", "simultaneous", "acceleration", NULL};

const char *const fill_names[] = {
    [FILL_CONTINUOUS] = "continuous", [FILL_WINDOW] = "window", [FILL_STEP] = "step", [FILL_SUB] = "sub", NULL,
};

const char *meter_noun(enum meter_kind kind)
{
    return limit_options[kind].measures;
}

bool meter_takes(enum meter_kind kind, int row)
{
    bool requests = kind == METER_REQUESTS || kind == METER_IN_FLIGHT;
    switch (row) {
    case METER_LIMIT:
    case METER_MOVES:
        return true;
    case METER_COUNTS:
        return kind != METER_IN_FLIGHT;
    case METER_SETTLE:
        return meter_is_rate(kind) && !requests;
    case METER_CACHED_WEIGHT:
        return !requests && kind != METER_OUTPUT;
    default:
        return meter_is_rate(kind);
    }
}
