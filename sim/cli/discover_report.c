/* discover_report.c - the steps as a table, the findings as another, and the seeds as YAML. */
#include "sim/cli/discover_report.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "sim/cli/version.h"
#include "sim/io/quote.h"
#include "sim/io/table.h"
#include "sim/io/unit.h"

static const struct {
    const char *name, *unit, *help;
    enum table_role role;
} columns[] = {
    {"step", "", "number of the step", TABLE_KEY},
    {"phase", "", "burst, ramp, requests or cache", TABLE_KEY},
    {"what", "",
     "burst: all at once; rate: evenly spaced; again: one more, before the first answer; drain: what the pool had "
     "saved; warm: the prefix, once",
     TABLE_KEY},
    {"at", "s", "when it began, in simulated time", TABLE_VALUE},
    {"input", "tokens", "of each call", TABLE_VALUE},
    {"cached", "tokens", "of its input, expected to be in the pool's cache", TABLE_VALUE},
    {"rate", "calls/s", "at which they were sent; empty: all at once", TABLE_VALUE},
    {"sent", "calls", "that were sent", TABLE_VALUE},
    {"admitted", "calls", "that were let in", TABLE_VALUE},
    {"refused", "calls", "that got a 429", TABLE_VALUE},
    {"told", "calls", "of those, with a retry-after", TABLE_VALUE},
    {"failed", "calls", "let in, but failed", TABLE_VALUE},
    {"latency", "s", "median of the answers", TABLE_VALUE},
    {"spent", "tokens", "of input and output, so far; refused calls cost nothing", TABLE_VALUE},
    {"money", "", "the same by the backend's prices", TABLE_VALUE},
    {"result", "",
     "clean; 429: at least one; slow: a median latency of 1.2 x the base or more; missed: too few found "
     "the prefix in the cache",
     TABLE_VALUE},
};

enum {
    STEP,
    PHASE,
    WHAT,
    AT,
    INPUT,
    CACHED,
    RATE,
    SENT,
    ADMITTED,
    REFUSED,
    TOLD,
    FAILED,
    LATENCY,
    SPENT,
    MONEY,
    RESULT,
    COLUMNS
};
_Static_assert(COLUMNS == sizeof columns / sizeof *columns, "each column has its row");

const char *discover_report_column(size_t index, const char **unit, const char **help)
{
    if (index >= COLUMNS)
        return NULL;
    *unit = columns[index].unit;
    *help = columns[index].help;
    return columns[index].name;
}

/* Columns that say nothing here are for CSV alone. */
static bool shown(const struct discover_report *report, size_t column)
{
    const struct discovery *discovery = report->discovery;
    uint64_t cached = 0, failed = 0;

    for (size_t i = 0; i < discovery->count; i++) {
        cached += discovery->steps[i]->shape.cached > 0;
        failed += discovery->steps[i]->failed;
    }
    return column == CACHED   ? cached > 0
           : column == TOLD   ? false
           : column == FAILED ? failed > 0
           : column == MONEY  ? !isinf(report->plan->discover->spend_money)
           : column == SPENT  ? isinf(report->plan->discover->spend_money)
                              : column != SENT;
}

static void add_step(const struct discover_step *step, size_t number, struct table *table)
{
    size_t row = table_row(table);
    const double values[COLUMNS] = {
        [AT] = sim_seconds(step->at),          [INPUT] = (double)step->shape.input,
        [CACHED] = (double)step->shape.cached, [RATE] = step->rate > 0 ? step->rate : NAN,
        [SENT] = (double)step->sent,           [ADMITTED] = (double)step->admitted,
        [REFUSED] = (double)step->refused,     [TOLD] = (double)step->told,
        [FAILED] = (double)step->failed,       [LATENCY] = step->latency >= 0 ? sim_seconds(step->latency) : NAN,
        [SPENT] = (double)step->tokens,        [MONEY] = step->money,
    };

    table_text(table, row, STEP, arena_format(&table->arena, "%zu", number));
    table_text(table, row, PHASE, discover_phase_names[step->phase]);
    table_text(table, row, WHAT, step->what);
    for (size_t i = AT; i < RESULT; i++)
        table_at(table, row, i)->number = values[i];
    table_text(table, row, RESULT, step->verdict);
}

/* --- what was found ----------------------------------------------------------------------------------------------- */

static const char *bound_of(const struct discover_found *found)
{
    static const char *const bounds[] = {[FOUND_NOT] = "not found",
                                         [FOUND_EXACT] = "measured",
                                         [FOUND_LOWER] = "lower bound",
                                         [FOUND_UPPER] = "upper bound"};

    return bounds[found->bound];
}

/* What each seed is made of. */
struct finding {
    const char *name, *unit;
    struct discover_found found;
    enum discover_seed seeds[2]; /* the second SEEDS: there is one */
};

enum { FINDINGS = 5 };

static void findings_of(const struct discovery *discovery, struct finding findings[FINDINGS])
{
    const struct finding all[FINDINGS] = {
        {"burst edge", "tokens", discovery->edge, {SEED_C_BURST, SEED_K_INFLIGHT}},
        {"rate", "tokens/s", discovery->rate, {SEED_R_TOK, SEEDS}},
        {"requests at once", "calls", discovery->requests, {SEED_C_REQ, SEEDS}},
        {"requests", "calls/s", discovery->request_rate, {SEED_R_QPS, SEEDS}},
        {"weight of cached input", "", discovery->cached_weight, {SEED_CACHED_WEIGHT, SEEDS}},
    };

    memcpy(findings, all, sizeof all);
}

static const char *seed_words(const struct discover_report *report, enum discover_seed seed, struct arena *arena)
{
    struct discover_found value = discover_seed(report->discovery, report->plan->discover, seed);

    return arena_format(arena, "%s %s%s", discover_seed_names[seed], discover_seed_text(seed, value.value, arena),
                        value.raised ? "*" : "");
}

static const char *raised_to(enum discover_seed seed)
{
    return seed == SEED_C_REQ ? "one request" : "one full context";
}

/* What the stars in the table say. */
static void print_raised(const struct discover_report *report, enum format format, FILE *out)
{
    bool any = false;

    for (int i = 0; i < SEEDS; i++) {
        struct discover_found seed = discover_seed(report->discovery, report->plan->discover, (enum discover_seed)i);

        if (!seed.raised)
            continue;
        if (!any && format == FORMAT_MARKDOWN)
            fputc('\n', out);
        any = true;
        fprintf(out, "* %s is raised to %s, more than was found\n", discover_seed_names[i],
                raised_to((enum discover_seed)i));
    }
}

static void print_findings(const struct discover_report *report, enum format format, FILE *out)
{
    struct table table = {.ascii = format_ascii(), .colour = report->colour, .broadest = format_width(out)};
    struct finding findings[FINDINGS];

    findings_of(report->discovery, findings);
    table_column(&table, "found", "", "", "what the probes say of the pool", TABLE_KEY, true);
    table_column(&table, "value", "", "", "the largest that ran clean, or that was let in", TABLE_VALUE, true);
    table_column(&table, "unit", "", "", "of the value", TABLE_VALUE, true);
    table_column(&table, "how", "", "", "measured: more than that was too much", TABLE_VALUE, true);
    table_column(&table, "seeds", "", "", "what a pacer is told", TABLE_VALUE, true);
    for (size_t i = 0; i < FINDINGS; i++) {
        const struct finding *finding = &findings[i];
        size_t row = table_row(&table);
        bool known = finding->found.bound != FOUND_NOT;
        const char *seeds = known ? seed_words(report, finding->seeds[0], &table.arena) : "";

        table_text(&table, row, 0, finding->name);
        table_at(&table, row, 1)->number = known ? finding->found.value : NAN;
        table_text(&table, row, 2, finding->unit);
        table_text(&table, row, 3, bound_of(&finding->found));
        if (known && finding->seeds[1] != SEEDS)
            seeds = arena_format(&table.arena, "%s, %s", seeds, seed_words(report, finding->seeds[1], &table.arena));
        table_text(&table, row, 4, seeds);
    }
    fputc('\n', out);
    format_print(&table, format, out);
    table_fini(&table);
    print_raised(report, format, out);
}

void discover_report_steps(const struct discover_report *report, enum format format, FILE *out)
{
    struct table table = {.ascii = format_ascii(), .colour = report->colour, .broadest = format_width(out)};

    for (size_t i = 0; i < COLUMNS; i++)
        table_column(&table, columns[i].name, columns[i].unit, "", columns[i].help, columns[i].role, shown(report, i));
    table_heading(&table, STEP, "#");
    for (size_t i = 0; i < report->discovery->count; i++)
        add_step(report->discovery->steps[i], i + 1, &table);
    format_print(&table, format, out);
    table_fini(&table);
    if (format != FORMAT_CSV)
        print_findings(report, format, out);
}

/* --- the fragment ------------------------------------------------------------------------------------------------- */

static const char *end_of(const struct discovery *discovery)
{
    return discovery->end == DISCOVER_CAP       ? "the cap was reached"
           : discovery->end == DISCOVER_STOPPED ? "interrupted"
                                                : NULL;
}

static const char *cost_of(const struct discover_report *report, struct arena *arena)
{
    const struct discovery *discovery = report->discovery;
    const char *cost = arena_format(arena, "%" PRId64 " tokens", discovery->tokens);
    char money[40];

    if (!report->backend->prices.given)
        return cost;
    unit_format(money, sizeof money, "%.2f", discovery->money);
    return arena_format(arena, "%s, %s of money", cost, money);
}

static void print_head(const struct discover_report *report, struct arena *arena, FILE *out)
{
    const struct discovery *discovery = report->discovery;
    const struct discover_spec *spec = report->plan->discover;
    const char *slash = strrchr(report->plan->path, '/');
    const char *file = quote_terminal(slash ? slash + 1 : report->plan->path, arena);
    int64_t seed = spec->seed >= 0 ? spec->seed : report->plan->points[0].scenario->study.seed;

    fprintf(out, "# Seeds of the pool %s of %s, by weir %s discover, seed %" PRId64 ".\n",
            quote_terminal(report->backend->name, arena), file, WEIR_VERSION, seed);
    fprintf(out, "# Probed from 0 s to %" PRId64 " s of simulated time: %" PRIu64 " calls, %" PRIu64 " refused; %s.\n",
            (int64_t)(discovery->took / SIM_SECOND), discovery->calls, discovery->refused, cost_of(report, arena));
    if (end_of(discovery))
        fprintf(out, "# Ended in phase %s: %s. What was found until then:\n", discover_phase_names[discovery->ended_in],
                end_of(discovery));
}

void discover_report_seeds(const struct discover_report *report, FILE *out)
{
    struct arena arena = {0};
    bool any = false;

    print_head(report, &arena, out);
    for (int i = 0; i < SEEDS; i++) {
        struct discover_found seed = discover_seed(report->discovery, report->plan->discover, (enum discover_seed)i);

        if (seed.bound == FOUND_NOT)
            continue;
        if (!any)
            fprintf(out, "seeds:\n  %s:\n    pacer:\n", quote_yaml(report->backend->name, &arena));
        any = true;
        fprintf(out, "      %s: %s", discover_seed_names[i],
                discover_seed_text((enum discover_seed)i, seed.value, &arena));
        if (seed.bound != FOUND_EXACT || seed.why || seed.raised)
            fprintf(out, " # %s%s%s", bound_of(&seed), seed.why ? ": " : "", seed.why ? seed.why : "");
        if (seed.raised)
            fprintf(out, "; raised to %s", raised_to((enum discover_seed)i));
        fputc('\n', out);
    }
    if (any)
        fprintf(out, "      seed_age: 0 s\n");
    else
        fprintf(out, "seeds: {}\n");
    for (int i = 0; i < SEEDS; i++) {
        struct discover_found seed = discover_seed(report->discovery, report->plan->discover, (enum discover_seed)i);

        if (seed.bound == FOUND_NOT)
            fprintf(out, "# %s: not found%s%s\n", discover_seed_names[i], seed.why ? ": " : "",
                    seed.why ? seed.why : "");
    }
    arena_free(&arena);
}

/* --- notes -------------------------------------------------------------------------------------------------------- */

void discover_report_notes(const struct discover_report *report, FILE *out)
{
    struct arena arena = {0};
    struct finding findings[FINDINGS];
    const char *name = quote_terminal(report->backend->name, &arena);

    if (end_of(report->discovery))
        fprintf(out, "weir discover: ended in phase %s, %s: spent %s\n",
                discover_phase_names[report->discovery->ended_in], end_of(report->discovery), cost_of(report, &arena));
    findings_of(report->discovery, findings);
    for (size_t i = 0; i < FINDINGS; i++) {
        const struct discover_found *found = &findings[i].found;

        if (!found->why && (found->bound == FOUND_EXACT || found->bound == FOUND_NOT))
            continue;
        fprintf(out, "weir: note: %s of %s: %s%s%s\n", findings[i].name, name, bound_of(found), found->why ? ": " : "",
                found->why ? found->why : "");
    }
    arena_free(&arena);
}
