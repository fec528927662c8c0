/* discover_read.c - the mapping `discover:`. */
#include <math.h>
#include <string.h>

#include "models/discover.h"
#include "models/readers.h"
#include "sim/io/param.h"
#include "sim/io/unit.h"

static const char *const form_choices[] = {[FORM_DOUBLE] = "double", [FORM_TWO_STEP] = "two_step", NULL};
static const char *const ramp_choices[] = {[RAMP_TARGET] = "target", [RAMP_EDGE] = "edge", NULL};
static const char *const rules_choices[] = {[RULES_COUNTED] = "counted", [RULES_PUBLISHED] = "published", NULL};

struct discover_keys {
    const char *backend;
    int64_t context, output, target;
    int burst, ramp, rules;
    int64_t prefix, suffix;
    double hits;
    const char *spend;
    int64_t seed;
};

enum { KEY_BACKEND, KEY_SPEND = 10, KEYS = 12 };

#define AT(member) .offset = offsetof(struct discover_keys, member)
#define TOKENS_MOST "1000M"

const struct option discover_options[] = {
    {"backend", OPTION_TEXT, AT(backend), .initial = "",
     .help = "the provider that is probed, or an alias of it; may be left out where there is one pool"},
    {"context", OPTION_COUNT, AT(context), .initial = "262144", .least = "1000", .most = TOKENS_MOST,
     .measures = "tokens", .help = "input of a full-context call: the window of the model"},
    {"output", OPTION_COUNT, AT(output), .initial = "1", .least = "1", .most = TOKENS_MOST, .measures = "tokens",
     .help = "answered to a probe"},
    {"target", OPTION_COUNT, AT(target), .initial = "", .least = "1", .most = "1M", .measures = "calls",
     .help = "calls at once that the ramp begins from; unless given what the burst edge let in"},
    {"burst", OPTION_CHOICE, AT(burst), .initial = "double", .choices = form_choices,
     .help = "full contexts at once: 12, then twice as many each time until the first 429; or two_step: 12, and 90 s "
             "later 24 if that was clean, else 12 again"},
    {"ramp", OPTION_CHOICE, AT(ramp), .initial = "target", .choices = ramp_choices,
     .help = "where the ramp begins: at target/(latency + 4 s) calls a second; or, from the bottom up, at half the "
             "burst edge in a latency"},
    {"rules", OPTION_CHOICE, AT(rules), .initial = "counted", .choices = rules_choices,
     .help = "counted: pauses as long as the pool takes to fill, and after a 429 the rate that came through is next; "
             "published: pauses of 90 s, and ladders whose steps end with their first 429"},
    {"prefix", OPTION_COUNT, AT(prefix), .initial = "200k", .least = "1", .most = TOKENS_MOST, .measures = "tokens",
     .help = "of a cached call, sent once beforehand"},
    {"suffix", OPTION_COUNT, AT(suffix), .initial = "200", .least = "0", .most = TOKENS_MOST, .measures = "tokens",
     .help = "of a cached call, new each time"},
    {"hits", OPTION_SHARE, AT(hits), .initial = "100 %",
     .help = "of cached calls find the prefix in the pool's cache; a step counts where 9 of 10 prove it"},
    {"spend", OPTION_TEXT, AT(spend), .initial = "inf",
     .help = "the most that is spent: tokens of input and output, as 50M tokens; or money by the backend's prices, a "
             "bare number"},
    {"seed", OPTION_COUNT, AT(seed), .initial = "", .least = "0", .most = "1000000000000",
     .help = "of its random numbers; that of the study unless given"},
    {.key = NULL},
};

const char *const discover_others[] = {"phases", NULL};

/* What each phase stands on; itself: nothing. */
static const enum discover_phase stands_on[DISCOVER_PHASES] = {
    [DISCOVER_BURST] = DISCOVER_BURST,
    [DISCOVER_RAMP] = DISCOVER_BURST,
    [DISCOVER_REQUESTS] = DISCOVER_REQUESTS,
    [DISCOVER_CACHE] = DISCOVER_RAMP,
};

static bool read_phase(const struct reader *reader, const struct node *item, struct discover_spec *spec)
{
    const char *const *names = discover_phase_names;

    for (int i = 0; item->kind == NODE_SCALAR && i < DISCOVER_PHASES; i++)
        if (strcmp(item->text, names[i]) == 0) {
            spec->wanted[i] = true;
            return true;
        }
    diag_error(reader->diag, item->place, "discover: phases: %s: expected one of %s%s",
               item->kind == NODE_SCALAR ? item->text : node_kind_name(item),
               reader_list(reader, names, DISCOVER_PHASES),
               item->kind == NODE_SCALAR ? reader_nearest(reader, item->text, names, DISCOVER_PHASES) : "");
    return false;
}

static bool read_phases(const struct reader *reader, const struct node *node, struct discover_spec *spec)
{
    size_t count = node && node->kind == NODE_LIST ? node->count : 1;
    bool good = true;

    for (int i = 0; i < DISCOVER_PHASES; i++)
        spec->wanted[i] = !node;
    if (!node)
        return true;
    for (size_t i = 0; i < count; i++)
        good &= read_phase(reader, node->kind == NODE_LIST ? node->items[i] : node, spec);
    if (good && count == 0) {
        diag_error(reader->diag, node->place, "discover: phases: expected a list, such as [burst, ramp]");
        return false;
    }
    for (int i = 0; good && i < DISCOVER_PHASES; i++) {
        if (!spec->wanted[i] || spec->wanted[stands_on[i]])
            continue;
        diag_error(reader->diag, node->place, "discover: phases: %s stands on %s: expected both",
                   discover_phase_names[i], discover_phase_names[stands_on[i]]);
        good = false;
    }
    return good;
}

/* 50M tokens, 25, or inf. */
static bool read_spend(const struct reader *reader, const char *text, struct place place, struct discover_spec *spec)
{
    struct number number = {0};
    const char *end = text, *why = "";
    bool good = unit_read(text, &end, &number, &why) && *end == '\0';
    bool tokens = good && number.quantity == QUANTITY_COUNT && strcmp(number.noun, "tokens") == 0;

    spec->spend_tokens = INT64_MAX;
    spec->spend_money = INFINITY;
    spec->spend_place = place;
    if (tokens && number.value < 0x1p62)
        spec->spend_tokens = (int64_t)number.value;
    else if (good && number.quantity == QUANTITY_NUMBER)
        spec->spend_money = number.value;
    else if (!tokens)
        diag_error(reader->diag, place,
                   "discover: spend: %s: expected tokens, such as 50M tokens, or money, a bare number", text);
    return tokens || (good && number.quantity == QUANTITY_NUMBER);
}

bool discover_read(const struct reader *reader, const struct node *map, struct discover_spec *spec)
{
    struct discover_keys keys = {0};
    struct place places[KEYS] = {{0}};
    const struct node nothing = {.kind = NODE_MAP};

    _Static_assert(sizeof discover_options / sizeof *discover_options == KEYS + 1, "a place for each key");
    param_defaults(discover_options, &keys, reader->arena);
    if (map && !reader_expects_map(reader, map, "discover"))
        return false;
    if (!map)
        map = &nothing;
    if (!param_read(discover_options, "discover", &keys, map, discover_others, places, reader->arena, reader->diag))
        return false;
    *spec = (struct discover_spec){
        .backend = keys.backend ? keys.backend : "",
        .backend_place = places[KEY_BACKEND],
        .context = keys.context,
        .output = keys.output,
        .target = keys.target,
        .form = keys.burst,
        .ramp = keys.ramp,
        .rules = keys.rules,
        .prefix = keys.prefix,
        .suffix = keys.suffix,
        .hits = keys.hits,
        .seed = node_get(map, "seed") ? keys.seed : -1,
    };
    return read_phases(reader, node_get(map, "phases"), spec) &&
           read_spend(reader, keys.spend, places[KEY_SPEND], spec);
}
