/* size_read.c - the mapping `size:`. That its addresses are those of values is said when they are swept. */
#include "models/size.h"

#include <math.h>
#include <string.h>

#include "models/address.h"
#include "models/metrics.h"
#include "models/readers.h"
#include "sim/io/param.h"
#include "sim/io/unit.h"

static const char *const prefer_choices[] = {"largest", "smallest", NULL};

struct size_keys {
    int prefer;
    double resolution;
    int64_t least, most;
};

enum { KEY_PREFER, KEY_RESOLUTION, KEY_LEAST, KEY_MOST, KEYS };

#define AT(member) .offset = offsetof(struct size_keys, member)

const struct option size_options[] = {
    {"prefer", OPTION_CHOICE, AT(prefer), .initial = "", .choices = prefer_choices,
     .help = "which of the values that meet all goals is looked for; unless given the largest of a population, the "
             "smallest of all else"},
    {"resolution", OPTION_SHARE, AT(resolution), .initial = "2 %", .least = "0.0001", .most = "1",
     .help =
         "a size whose interval is no wider than this part of the goal to either side, and still holds the goal, is "
         "left undecided"},
    {"least", OPTION_COUNT, AT(least), .initial = "10", .least = "2", .most = "100k",
     .help = "replications of a size before the first look"},
    {"most", OPTION_COUNT, AT(most), .initial = "200", .least = "2", .most = "100k",
     .help = "replications of a size at the most, decided or not"},
    {.key = NULL},
};

const char *const size_others[] = {"vary", "within", "goal", "ranges", NULL};

static const char example[] = "{vary: agents.coder.population, within: 1..64, goal: wait_p99 <= 15 s}";

/* --- goals -------------------------------------------------------------------------------------------------------- */

/* Seconds in what a rate is counted in; 0: the unit is no rate. */
static double per_of(const char *unit)
{
    const char *slash = strrchr(unit, '/');
    return slash ? unit_time(slash + 1) : 0;
}

/* A number in the unit of the metric: with that unit or another of its kind; bare where it has no name of its own. */
static bool value_of(const char *unit, const char *text, double *value)
{
    struct number number;
    const char *end, *why;
    double per = per_of(unit);
    if (!unit_read(text, &end, &number, &why) || *end || isnan(number.value))
        return false;
    *value = number.value * (per > 0 && number.quantity == QUANTITY_RATE ? per : 1);
    if (strcmp(unit, "s") == 0 || strcmp(unit, "h") == 0) {
        *value = number.value / (unit[0] == 'h' ? 3600 : 1);
        return number.quantity == QUANTITY_TIME;
    }
    if (unit[0] == '\0')
        return number.quantity == QUANTITY_SHARE || number.quantity == QUANTITY_NUMBER;
    if (per > 0 && number.quantity == QUANTITY_RATE)
        return !number.noun || strncmp(number.noun, unit, strlen(number.noun)) == 0;
    return number.quantity == QUANTITY_NUMBER && strncmp(unit, "money", 5) == 0
               ? true
               : per <= 0 && (number.quantity == QUANTITY_NUMBER || number.quantity == QUANTITY_COUNT);
}

static bool read_goal(const struct reader *reader, const struct node *node, struct size_goal *goal)
{
    const char *relation = node->kind == NODE_SCALAR ? strpbrk(node->text, "<>") : NULL;
    if (!relation || relation[1] != '=') {
        diag_error(reader->diag, node->place,
                   "size: goal: expected METRIC <= VALUE or METRIC >= VALUE, such as wait_p99 <= 15 s");
        return false;
    }
    size_t length = (size_t)(relation - node->text);
    while (length > 0 && node->text[length - 1] == ' ')
        length--;
    const char *value = relation + 2 + strspn(relation + 2, " ");
    goal->text = node->text;
    goal->at_most = *relation == '<';
    goal->metric = metric_find(reader, arena_text_of(reader->arena, node->text, length), "size: goal", node->place);
    if (goal->metric == METRIC_COUNT)
        return false;
    const struct metric *metric = &metrics[goal->metric];
    if (value_of(metric->unit, value, &goal->value) && isfinite(goal->value))
        return true;
    diag_error(reader->diag, node->place, "size: goal: %s: expected a value of %s%s, such as %s", node->text,
               metric->name, metric->unit[0] ? arena_format(reader->arena, " in %s", metric->unit) : "",
               strcmp(metric->unit, "s") == 0 ? "15 s"
               : metric->unit[0] == '\0'      ? "30 %"
                                              : arena_format(reader->arena, "2 %s", metric->unit));
    return false;
}

/* One, or a list of them. */
static bool read_goals(const struct reader *reader, struct node *node, struct size_spec *spec)
{
    struct node *const *items = node->kind == NODE_LIST ? node->items : &node;
    bool good = true;
    spec->goal_count = node->kind == NODE_LIST ? node->count : 1;
    spec->goals = arena_zeroed(reader->arena, spec->goal_count, sizeof *spec->goals);
    for (size_t i = 0; i < spec->goal_count; i++)
        good &= read_goal(reader, items[i], &spec->goals[i]);
    return good;
}

/* --- knobs -------------------------------------------------------------------------------------------------------- */

/* Of one knob the values are those of `within`; of several, `within` is a mapping of them. */
static bool read_knobs(const struct reader *reader, struct node *vary, struct node *within, struct size_spec *spec)
{
    struct node *const *items = vary->kind == NODE_LIST ? vary->items : &vary;
    struct diag *diag = reader->diag;
    spec->knob_count = vary->kind == NODE_LIST ? vary->count : 1;
    if (spec->knob_count == 0 || spec->knob_count > SIZE_KNOBS_MOST) {
        diag_error(diag, vary->place, "size: vary: expected the address of a value, or a list of two");
        return false;
    }
    for (size_t i = 0; i < spec->knob_count; i++) {
        struct size_knob *knob = &spec->knobs[i];
        if (items[i]->kind != NODE_SCALAR) {
            diag_error(diag, items[i]->place, "size: vary: expected the address of a value, not %s",
                       node_kind_name(items[i]));
            return false;
        }
        *knob = (struct size_knob){items[i]->text, items[i]->place, within, NULL};
        if (spec->knob_count == 1)
            break;
        knob->within = within->kind == NODE_MAP ? node_get(within, knob->address) : NULL;
        if (!knob->within) {
            diag_error(diag, within->place,
                       "size: within: expected a mapping with the values of each: {%s: 1..64, ...}", knob->address);
            return false;
        }
    }
    return true;
}

/* NULL after an error. */
static struct size_range *read_ranges(const struct reader *reader, const struct node *map, const char *what)
{
    if (!reader_expects_map(reader, map, arena_format(reader->arena, "%s: ranges", what)))
        return NULL;
    struct size_range *ranges = arena_zeroed(reader->arena, map->count + 1, sizeof *ranges);
    for (size_t i = 0; i < map->count; i++) {
        const struct node_entry *entry = &map->entries[i];
        const struct node *ends = entry->value;
        struct size_range *range = &ranges[i];
        if (ends->kind != NODE_LIST || ends->count != 2 || ends->items[0]->kind != NODE_SCALAR ||
            ends->items[1]->kind != NODE_SCALAR) {
            diag_error(reader->diag, ends->place, "%s: ranges: %s: expected its two ends, such as [30k, 60k]", what,
                       entry->key);
            return NULL;
        }
        *range = (struct size_range){entry->key, entry->place, {ends->items[0], ends->items[1]}};
    }
    return ranges;
}

static bool is_population(const char *address)
{
    static const char end[] = ".population";
    size_t length = strlen(address), tail = strlen(end);
    return length > tail && strcmp(address + length - tail, end) == 0;
}

bool size_read(const struct reader *reader, const struct node *root, const struct node *map, struct size_spec *spec)
{
    struct size_keys keys = {0};
    struct place places[KEYS] = {{0}};
    struct diag *diag = reader->diag;
    param_defaults(size_options, &keys, reader->arena);
    if (!reader_expects_map(reader, map, "size") ||
        !param_read(size_options, "size", &keys, map, size_others, places, reader->arena, diag))
        return false;
    struct node *vary = node_get(map, "vary"), *within = node_get(map, "within");
    struct node *goal = node_get(map, "goal"), *ranges = node_get(map, "ranges");
    *spec =
        (struct size_spec){.place = map->place, .resolution = keys.resolution, .least = keys.least, .most = keys.most};
    if (!vary || !within) {
        diag_error(diag, map->place, "size: expected what is varied and its values, such as %s", example);
        return false;
    }
    if (keys.least > keys.most) {
        diag_error(diag, places[KEY_LEAST].file ? places[KEY_LEAST] : places[KEY_MOST],
                   "size: least is %lld and most %lld: expected the least not to be above the most",
                   (long long)keys.least, (long long)keys.most);
        return false;
    }
    bool good = read_knobs(reader, vary, within, spec);
    good = (!goal || read_goals(reader, goal, spec)) && good;
    if (ranges) {
        spec->ranges = read_ranges(reader, ranges, "size");
        spec->range_count = spec->ranges ? ranges->count : 0;
        good = good && spec->ranges;
    }
    if (!good)
        return false;
    for (size_t i = 0; i < spec->knob_count; i++) {
        const struct node *now = address_get(root, spec->knobs[i].address);
        spec->knobs[i].now = now && now->kind == NODE_SCALAR ? now->text : NULL;
    }
    spec->largest =
        places[KEY_PREFER].file ? keys.prefer == 0 : is_population(spec->knobs[spec->knob_count - 1].address);
    return true;
}

/* --- tornado ------------------------------------------------------------------------------------------------------ */

struct tornado_keys {
    const char *metric;
};

const struct option tornado_options[] = {
    {"metric", OPTION_TEXT, .offset = offsetof(struct tornado_keys, metric), .initial = "wait_p99",
     .help = "whose swing is shown, in the row of all classes, tenants and backends"},
    {.key = NULL},
};

const char *const tornado_others[] = {"ranges", NULL};

bool tornado_read(const struct reader *reader, const struct node *map, struct tornado_spec *spec)
{
    struct tornado_keys keys = {0};
    struct place places[1] = {{0}};
    param_defaults(tornado_options, &keys, reader->arena);
    if (!reader_expects_map(reader, map, "tornado") ||
        !param_read(tornado_options, "tornado", &keys, map, tornado_others, places, reader->arena, reader->diag))
        return false;
    const struct node *ranges = node_get(map, "ranges");
    if (!ranges || ranges->kind != NODE_MAP || ranges->count == 0) {
        diag_error(reader->diag, map->place,
                   "tornado: expected what is moved, such as ranges: {agents.coder.population: [8, 24]}");
        return false;
    }
    spec->metric = metric_find(reader, keys.metric, "tornado", places[0]);
    spec->ranges = read_ranges(reader, ranges, "tornado");
    spec->range_count = ranges->count;
    return spec->metric < METRIC_COUNT && spec->ranges;
}
