/* size_ranges.c - what the answer owes to values that are not known well.
 *
 * At both ends of a range the same search is made anew, with the same random numbers. Where the size that the scenario
 * itself asks for does not meet the goals, values between the ends are judged at that size: the two neighbours between
 * which the verdict turns are the break-even. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/cli/sizing.h"
#include "sim/io/unit.h"

enum { STEPS = 16 }; /* a range is divided into, for its break-even */

struct swing {
    const char *policy, *range, *ends[2], *answers[2], *even;
    double width; /* of the answers; NAN: one of them is missing */
};

/* The size as a number, where sizes are; else its place. */
static double number_of(const struct sizing *sizing, const struct size_group *group, size_t size)
{
    const char *text = sizing_size(sizing, group, size), *end, *why;
    struct number number;

    return unit_read(text, &end, &number, &why) && !*end ? number.value : (double)size;
}

/* The answers at one end: of each group a text, which outlives its session, and a number. */
static int size_at(const struct sizing *sizing, const char *set, struct arena *arena, const char **texts,
                   double *numbers)
{
    struct node *sweep = sizing_sweep(sizing->spec, false, arena);
    struct session_more more = {.sets = &set, .set_count = 1, .sweep = &sweep};
    struct sizing other;
    int status =
        sizing_open(&other, sizing->words, sizing->threads, sizing->spec, &more) ? sizing_search(&other) : EXIT_USAGE;

    for (size_t i = 0; i < sizing->group_count && i < other.group_count && status == EXIT_DONE; i++) {
        const struct size_group *group = &other.groups[i];
        bool found = group->search.answer < group->count;

        texts[i] = found ? arena_text(arena, sizing_size(&other, group, group->search.answer)) : "none";
        numbers[i] = found ? number_of(&other, group, group->search.answer) : NAN;
    }
    sizing_close(&other);
    return status;
}

/* --- break-even --------------------------------------------------------------------------------------------------- */

/* The digits that a value begins with, and the unit behind them. */
static const char *unit_of(const char *text, double *number)
{
    size_t length = strspn(text, "0123456789.");
    char digits[64];

    if (length == 0 || length >= sizeof digits)
        return NULL;
    snprintf(digits, sizeof digits, "%.*s", (int)length, text);
    *number = unit_decimal(digits);
    return text + length;
}

/* Values from one end to the other, in equal steps; of whole numbers the nearest, each once. NULL: the ends are no
 * numbers with the same unit. */
static struct node *values_between(const struct size_range *range, struct arena *arena)
{
    double low, high, last = NAN;
    const char *unit = unit_of(range->ends[0]->text, &low), *other = unit_of(range->ends[1]->text, &high);
    struct node *list = arena_zeroed(arena, 1, sizeof *list);
    bool whole;

    if (!unit || !other || strcmp(unit, other) != 0 || low == high)
        return NULL;
    whole = !*unit && low == floor(low) && high == floor(high);
    *list = (struct node){.kind = NODE_LIST, .place = range->ends[0]->place};
    list->items = arena_zeroed(arena, STEPS + 1, sizeof *list->items);
    for (int i = 0; i <= STEPS; i++) {
        double value = low + (high - low) * i / STEPS;
        char digits[40];

        if (whole)
            value = floor(value + 0.5);
        if (value == last)
            continue;
        last = value;
        unit_digits(value, digits, sizeof digits);
        list->items[list->count++] =
            node_scalar(arena_format(arena, "%s%s", digits, unit), range->ends[0]->place, arena);
    }
    return list;
}

/* Of each group where the size that is asked for misses at one end and meets at the other: between which values. */
static int break_even(const struct sizing *sizing, const struct size_range *range, const char *asked,
                      struct arena *arena, const char **texts)
{
    struct node *list = values_between(range, arena), *sweep = arena_zeroed(arena, 1, sizeof *sweep);
    const char *set = arena_format(arena, "%s=%s", sizing->spec->knobs[0].address, asked);
    struct session_more more = {.sets = &set, .set_count = 1, .sweep = &sweep};
    struct sizing other;
    int status = EXIT_DONE;

    if (!list)
        return EXIT_DONE;
    *sweep = (struct node){.kind = NODE_MAP, .place = range->place};
    node_put(sweep, range->address, range->place, list, arena);
    if (!sizing_open(&other, sizing->words, sizing->threads, sizing->spec, &more))
        status = EXIT_USAGE;
    for (size_t i = 0; i < other.group_count && i < sizing->group_count && status == EXIT_DONE; i++) {
        struct size_group *group = &other.groups[i];
        size_t low = 0, high = group->count - 1;
        bool met;

        sizing_begin(&other, group);
        status = search_try(&group->search, low) && search_try(&group->search, high) ? EXIT_DONE : other.status;
        met = group->search.rungs[low].verdict == SEARCH_MEETS;
        if (status != EXIT_DONE || met == (group->search.rungs[high].verdict == SEARCH_MEETS)) {
            texts[i] = met ? "" : "none in the range";
            continue;
        }
        while (high - low > 1 && status == EXIT_DONE) {
            size_t middle = (low + high) / 2;

            if (!search_try(&group->search, middle))
                status = other.status;
            else if ((group->search.rungs[middle].verdict == SEARCH_MEETS) == met)
                low = middle;
            else
                high = middle;
        }
        texts[i] = arena_format(arena, "%s to %s", sizing_size(&other, group, low), sizing_size(&other, group, high));
    }
    sizing_close(&other);
    return status;
}

/* The size that the scenario itself has, if it is a value of one knob among the sizes, and does not surely meet the
 * goals under some alternative; NULL otherwise. */
static const char *asked_for(struct sizing *sizing, int *status)
{
    const char *own = sizing->spec->knob_count == 1 ? sizing->spec->knobs[0].now : NULL;
    bool missed = false;

    for (size_t i = 0; own && i < sizing->group_count; i++) {
        struct size_group *group = &sizing->groups[i];
        size_t size = sizing_find(sizing, group, own);

        if (size == group->count)
            continue;
        if (!search_try(&group->search, size)) {
            *status = sizing->status;
            return NULL;
        }
        missed = missed || group->search.rungs[size].verdict != SEARCH_MEETS;
    }
    return missed ? own : NULL;
}

/* --- the table ---------------------------------------------------------------------------------------------------- */

static int widest_first(const void *left, const void *right)
{
    const struct swing *a = left, *b = right;
    double wide = isnan(a->width) ? INFINITY : a->width, other = isnan(b->width) ? INFINITY : b->width;

    if (wide != other)
        return wide < other ? 1 : -1;
    return a->range < b->range ? -1 : a->range > b->range; /* texts of one arena: in the order of the file */
}

static void fill(const struct sizing *sizing, struct swing *swings, size_t count, const char *asked,
                 struct table *table)
{
    table_column(table, "policy", "", "", "the alternative under `policies:`", TABLE_KEY, true);
    table_column(table, "range", "", "", "what is not known well", TABLE_KEY, true);
    table_column(table, "from", "", "", "one end of it", TABLE_KEY, true);
    table_column(table, "to", "", "", "the other end", TABLE_KEY, true);
    table_column(table, "at_from", "", "", "the answer there", TABLE_KEY, true);
    table_column(table, "at_to", "", "", "the answer there", TABLE_KEY, true);
    table_column(table, "break_even", "", "", "between which values the size that was asked for begins to meet",
                 TABLE_KEY, asked != NULL);
    table_column(table, "swing", "", "", "difference of the two answers", TABLE_VALUE, true);
    qsort(swings, count, sizeof *swings, widest_first);
    for (size_t i = 0; i < count; i++) {
        const char *texts[] = {swings[i].policy,     swings[i].range,      swings[i].ends[0], swings[i].ends[1],
                               swings[i].answers[0], swings[i].answers[1], swings[i].even};
        size_t row = table_row(table);

        for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
            table_text(table, row, k, texts[k] ? texts[k] : "");
        table_at(table, row, sizeof texts / sizeof *texts)->number = swings[i].width;
    }
    table_note(table, "Ranges, widest swing first, each alone, all else as the scenario has it.");
    if (asked)
        table_note(table,
                   "break_even: the scenario asks for %s %s, which does not surely meet the goals; between these "
                   "values, of %d steps, it begins or ceases to.",
                   sizing->spec->knobs[0].address, asked, STEPS);
}

int size_ranges(struct sizing *sizing, struct table *table)
{
    const struct size_spec *spec = sizing->spec;
    struct arena arena = {0};
    size_t count = spec->range_count * sizing->group_count;
    struct swing *swings = arena_zeroed(&arena, count, sizeof *swings);
    int status = EXIT_DONE;
    const char *asked = asked_for(sizing, &status);

    for (size_t i = 0; i < spec->range_count && status == EXIT_DONE; i++) {
        const struct size_range *range = &spec->ranges[i];
        const char **texts[2], **even = arena_zeroed(&arena, sizing->group_count, sizeof *even);
        double *numbers[2];

        for (int end = 0; end < 2 && status == EXIT_DONE; end++) {
            texts[end] = arena_zeroed(&arena, sizing->group_count, sizeof **texts);
            numbers[end] = arena_zeroed(&arena, sizing->group_count, sizeof **numbers);
            status = size_at(sizing, arena_format(&arena, "%s=%s", range->address, range->ends[end]->text), &arena,
                             texts[end], numbers[end]);
        }
        if (status == EXIT_DONE && asked)
            status = break_even(sizing, range, asked, &arena, even);
        for (size_t g = 0; g < sizing->group_count && status == EXIT_DONE; g++)
            swings[i * sizing->group_count + g] =
                (struct swing){.policy = sizing->session.plan.points[sizing->groups[g].first].scenario->chain.label,
                               .range = range->address,
                               .ends = {range->ends[0]->text, range->ends[1]->text},
                               .answers = {texts[0][g], texts[1][g]},
                               .even = even[g],
                               .width = fabs(numbers[0][g] - numbers[1][g])};
    }
    if (status == EXIT_DONE)
        fill(sizing, swings, count, asked, table);
    arena_free(&arena);
    return status;
}
