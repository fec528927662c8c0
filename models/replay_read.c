/* replay_read.c - the mapping `replay:` of a class: its runs are what a trace recorded.
 *
 * What was recorded goes where recorded sessions go: rows of a session are the turns of a run. Waits and outputs are
 * also given as distributions of their values, so that whoever reasons about the class has its means. The columns are
 * kept with those of other files, each trace read once for a whole plan. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "models/readers.h"
#include "models/tables.h"
#include "models/trace.h"
#include "sim/io/param.h"

struct replay_keys {
    const char *trace, *format, *columns;
    bool sort;
    int runs;  /* RUNS_SESSIONS, RUNS_CALLS */
    int order; /* ORDER_RECORDED, ORDER_DRAWN */
    double speed;
};

enum { RUNS_SESSIONS, RUNS_CALLS };
enum { ORDER_RECORDED, ORDER_DRAWN };
enum { REPLAY_TRACE, REPLAY_FORMAT, REPLAY_COLUMNS, REPLAY_SORT, REPLAY_RUNS, REPLAY_ORDER, REPLAY_SPEED, REPLAY_KEYS };

static const char *const runs_choices[] = {"sessions", "calls", NULL};
static const char *const order_choices[] = {"recorded", "drawn", NULL};

#define AT(member) offsetof(struct replay_keys, member)
const struct option replay_options[] = {
    {"trace", OPTION_FILE, AT(trace), .initial = NULL, .help = "a recorded workload, see `weir trace`"},
    {"format", OPTION_TEXT, AT(format), .initial = "",
     .help = "of the trace; unless given, the one whose columns it has"},
    {"columns", OPTION_TEXT, AT(columns), .initial = "",
     .help = "which column is what, before those of the format: \"time=arrived:ms, input=prompt_len\""},
    {"sort", OPTION_FLAG, AT(sort), .initial = "false",
     .help = "rows are sorted by time; otherwise times that run backwards are an error"},
    {"runs", OPTION_CHOICE, AT(runs), .initial = "sessions", .choices = runs_choices,
     .help =
         "what a run is: a session with the waits between its calls, or each call alone; a call without a session is "
         "one of its own"},
    {"order", OPTION_CHOICE, AT(order), .initial = "recorded", .choices = order_choices,
     .help =
         "runs are taken as they were recorded, in turn over all agents and then again; or drawn, each with the same "
         "chance"},
    {"speed", OPTION_REAL, AT(speed), .initial = "1", .least = "0.001", .most = "1e6",
     .help = "of arrivals: recorded: how much faster runs come than they came; waits within a run stay as they were"},
    {.key = NULL},
};

/* --- the trace, as it is read --- */

struct row {
    uint32_t session;
    double input, cached, wait, output; /* wait below 0: unknown */
    int64_t time;
    size_t at;
};

struct loading {
    const struct trace_facts *facts;
    struct row *rows;
    size_t count, room;
    uint64_t left_out;
    const char *why;
    int wrong; /* the line of a call that has more cached than it sends; 0: none */
    bool waits, calls_alone;
};

static bool lacks(struct loading *loading, const struct trace_call *call, enum trace_field field, const char *why)
{
    if (call->values[field] != TRACE_UNKNOWN)
        return false;
    loading->left_out++;
    loading->why = why;
    return true;
}

static double value_or(const struct trace_call *call, enum trace_field field, double other)
{
    return call->values[field] != TRACE_UNKNOWN ? (double)call->values[field] : other;
}

static void on_call(void *context, const struct trace_call *call)
{
    struct loading *loading = context;
    const struct trace_facts *facts = loading->facts;
    bool sent = facts->columns[TRACE_INPUT].name || facts->columns[TRACE_NEW].name;
    enum trace_field input = call->values[TRACE_INPUT] != TRACE_UNKNOWN ? TRACE_INPUT : TRACE_NEW;
    if (facts->columns[TRACE_OUTPUT].name && lacks(loading, call, TRACE_OUTPUT, "its output is unknown"))
        return;
    if (sent && lacks(loading, call, input, "its input is unknown"))
        return;
    if (facts->columns[TRACE_CACHED].name && lacks(loading, call, TRACE_CACHED, "its cached part is unknown"))
        return;
    if (loading->count == loading->room) {
        loading->room = loading->room ? 2 * loading->room : 1024;
        loading->rows = mem_resized(loading->rows, loading->room, sizeof *loading->rows);
    }
    struct row row = {.session = loading->calls_alone ? TRACE_ALONE : call->session,
                      .input = value_or(call, input, 0),
                      .cached = value_or(call, TRACE_CACHED, 0),
                      .output = value_or(call, TRACE_OUTPUT, 0),
                      .wait = call->wait == TRACE_UNKNOWN ? -1 : sim_seconds(call->wait),
                      .time = call->values[facts->columns[TRACE_TIME].name ? TRACE_TIME : TRACE_BEGIN],
                      .at = loading->count};
    loading->waits = loading->waits || call->wait != TRACE_UNKNOWN;
    if (loading->wrong == 0 && row.cached > row.input)
        loading->wrong = call->line;
    loading->rows[loading->count++] = row;
}

/* --- made into columns --- */

/* A trace that was read, however many classes and design points replay it. */
struct replay {
    const char *key;              /* all that decides what is read */
    struct session_spec sessions; /* drawn, at the speed of the trace */
    struct column *wait, *output; /* NULL: it does not say them */
    struct replay *next;
};

static struct column *column_of(const struct reader *reader, const char *path, const char *name, const double *values,
                                size_t count)
{
    struct column *column = arena_zeroed(reader->arena, 1, sizeof *column);
    *column = (struct column){
        .path = path, .name = name, .unit = 1, .values = values, .count = count, .next = reader->columns->first};
    reader->columns->first = column;
    return column;
}

/* Sessions in the order of their first calls, and their calls in order. */
static void group(struct row *rows, size_t count, uint32_t sessions, struct arena *arena, size_t **starts,
                  size_t *groups)
{
    size_t *first = mem_zeroed((size_t)sessions + 1, sizeof *first), *length = mem_zeroed(count + 1, sizeof *length),
           at = 0;
    struct row *grouped = mem_zeroed(count, sizeof *grouped);
    *groups = 0;
    for (size_t i = 0; i < count; i++) { /* the number of each row's group, and how many rows that has */
        bool alone = rows[i].session == TRACE_ALONE;
        if (!alone && first[rows[i].session] == 0)
            first[rows[i].session] = ++*groups;
        rows[i].at = alone ? (*groups)++ : first[rows[i].session] - 1;
        length[rows[i].at]++;
    }
    *starts = arena_zeroed(arena, *groups + 1, sizeof **starts);
    for (size_t i = 0; i < *groups; i++) {
        (*starts)[i] = at;
        at += length[i];
        length[i] = (*starts)[i];
    }
    (*starts)[*groups] = at;
    for (size_t i = 0; i < count; i++)
        grouped[length[rows[i].at]++] = rows[i];
    memcpy(rows, grouped, count * sizeof *rows);
    free(first);
    free(length);
    free(grouped);
}

/* Calls whose wait nobody knows are left out, but for the first of a session, which does not wait. */
static void leave_out_unknown_waits(struct loading *loading)
{
    size_t kept = 0;
    uint32_t sessions = loading->facts->sessions;
    bool *begun = mem_zeroed((size_t)sessions + 1, sizeof *begun);
    for (size_t i = 0; i < loading->count; i++) {
        struct row *row = &loading->rows[i];
        bool alone = row->session == TRACE_ALONE, first = alone || !begun[row->session];
        if (!first && row->wait < 0 && loading->waits) {
            loading->left_out++;
            loading->why = "its wait is unknown";
            continue;
        }
        if (!alone)
            begun[row->session] = true;
        row->wait = row->wait < 0 ? 0 : row->wait;
        loading->rows[kept++] = *row;
    }
    loading->count = kept;
    free(begun);
}

static void build(const struct reader *reader, const struct replay_keys *keys, struct loading *loading,
                  struct replay *replay)
{
    static const char *const names[] = {"replay.input", "replay.cached", "replay.wait", "replay.output"};
    struct session_spec *sessions = &replay->sessions;
    bool timed = loading->facts->columns[TRACE_TIME].name || loading->facts->columns[TRACE_BEGIN].name;
    struct column *columns[4];
    double *values[4];
    size_t *starts, rows = loading->count;
    group(loading->rows, rows, loading->facts->sessions, reader->arena, &starts, &sessions->count);
    for (size_t i = 0; i < 4; i++) {
        values[i] = arena_zeroed(reader->arena, rows, sizeof *values[i]);
        columns[i] = column_of(reader, keys->trace, names[i], values[i], rows);
    }
    for (size_t i = 0; i < rows; i++) {
        values[0][i] = loading->rows[i].input;
        values[1][i] = loading->rows[i].cached;
        values[2][i] = loading->rows[i].wait;
        values[3][i] = loading->rows[i].output;
    }
    replay->wait = loading->waits && !loading->calls_alone ? columns[2] : NULL;
    replay->output = loading->facts->columns[TRACE_OUTPUT].name ? columns[3] : NULL;
    sessions->input = values[0];
    sessions->cached = values[1];
    sessions->wait = replay->wait ? values[2] : NULL;
    sessions->output = replay->output ? values[3] : NULL;
    sessions->starts = starts;
    if (!timed)
        return;
    sim_time *times = arena_zeroed(reader->arena, sessions->count, sizeof *times);
    for (size_t i = 0; i < sessions->count; i++)
        times[i] = loading->rows[starts[i]].time - loading->rows[0].time;
    sessions->times = times;
}

/* As a column, which is how a scenario is known by its times. */
static const sim_time *times_at(const struct reader *reader, const struct replay_keys *keys,
                                const struct session_spec *sessions)
{
    if (!sessions->times)
        return NULL;
    sim_time *times = arena_zeroed(reader->arena, sessions->count, sizeof *times);
    double *seconds = arena_zeroed(reader->arena, sessions->count, sizeof *seconds);
    for (size_t i = 0; i < sessions->count; i++) {
        times[i] = sessions->times[i];
        if (keys->speed != 1)
            times[i] = sim_from_seconds(sim_seconds(times[i]) / keys->speed);
        seconds[i] = sim_seconds(times[i]);
    }
    column_of(reader, keys->trace, "replay.time", seconds, sessions->count)->times = times;
    return times;
}

static void say_left_out(const struct reader *reader, const struct replay_keys *keys, struct place place,
                         const struct loading *loading)
{
    const char *text = "";
    for (const struct trace_dropped *dropped = loading->facts->dropped; dropped->reason; dropped++)
        text =
            arena_format(reader->arena, "%s%s%" PRIu64 ": %s", text, *text ? "; " : "", dropped->rows, dropped->reason);
    if (loading->left_out > 0)
        text = arena_format(reader->arena, "%s%s%" PRIu64 ": %s", text, *text ? "; " : "", loading->left_out,
                            loading->why);
    if (*text)
        reader_warns(reader, place,
                     arena_format(reader->arena, "%s: of %" PRIu64 " rows %" PRIu64 " are left out: %s", keys->trace,
                                  loading->facts->read, loading->facts->read - loading->count, text));
}

/* NULL after an error. */
static const struct replay *replay_of(const struct reader *reader, const struct replay_keys *keys,
                                      const struct place *places)
{
    const char *key = arena_format(reader->arena, "%s\n%s\n%s\n%d %d", keys->trace, keys->format, keys->columns,
                                   keys->sort, keys->runs);
    for (struct replay *replay = reader->columns->replays; replay; replay = replay->next)
        if (strcmp(replay->key, key) == 0)
            return replay;
    struct replay *replay = arena_zeroed(reader->arena, 1, sizeof *replay);
    replay->key = key;
    struct trace_facts facts;
    struct loading loading = {.facts = &facts, .calls_alone = keys->runs == RUNS_CALLS};
    struct trace_spec spec = {.path = keys->trace,
                              .format = keys->format,
                              .columns = keys->columns,
                              .sort = keys->sort,
                              .asked = places[REPLAY_TRACE],
                              .format_asked = places[REPLAY_FORMAT],
                              .columns_asked = places[REPLAY_COLUMNS]};
    const char *problem = NULL;
    bool good = trace_read(&spec, on_call, &loading, &facts, reader->diag);
    if (good && strcmp(facts.rows, "calls") != 0)
        problem = arena_format(reader->arena, "its rows are %s", facts.rows);
    else if (good && loading.count == 0)
        problem = loading.why;
    else if (good && loading.wrong > 0)
        problem = arena_format(reader->arena, "line %d has more cached tokens than it sends", loading.wrong);
    if (problem) {
        diag_error(reader->diag, places[REPLAY_TRACE], "%s cannot be replayed: %s; expected a trace of calls",
                   keys->trace, problem);
        good = false;
    }
    if (good) {
        leave_out_unknown_waits(&loading);
        say_left_out(reader, keys, places[REPLAY_TRACE], &loading);
        build(reader, keys, &loading, replay);
        replay->next = reader->columns->replays;
        reader->columns->replays = replay;
    }
    free(loading.rows);
    return good ? replay : NULL;
}

/* --- the class --- */

static bool says_itself(const struct reader *reader, const struct node *class, const char *key)
{
    const struct node *node = node_get(class, key);
    if (node)
        diag_error(reader->diag, node->place, "%s: expected none beside replay, whose trace says it", key);
    return node == NULL;
}

static const struct dist *drawn_from(const struct reader *reader, struct column *column)
{
    struct dist *dist = arena_zeroed(reader->arena, 1, sizeof *dist);
    *dist = (struct dist){.kind = DIST_EMPIRICAL,
                          .most = INFINITY,
                          .values = columns_sorted(reader->columns, column),
                          .count = column->count};
    return dist;
}

static const struct dist *constant(const struct reader *reader, double value)
{
    struct dist *dist = arena_zeroed(reader->arena, 1, sizeof *dist);
    *dist = (struct dist){.kind = DIST_CONSTANT, .a = value, .most = INFINITY};
    return dist;
}

bool replay_read(const struct reader *reader, const struct node *class_map, struct agent_class *class)
{
    const struct node *map = node_get(class_map, "replay");
    struct replay_keys keys = {0};
    struct place places[REPLAY_KEYS] = {{0}};
    if (!map)
        return true;
    param_defaults(replay_options, &keys, reader->arena);
    if (!reader_expects_map_of(reader, map, "replay", replay_options, "trace: calls.csv") ||
        !param_read(replay_options, "replay", &keys, map, NULL, places, reader->arena, reader->diag))
        return false;
    bool good = says_itself(reader, class_map, "input");
    good &= says_itself(reader, class_map, "turns");
    good &= says_itself(reader, class_map, "schedule");
    const struct replay *replay = good ? replay_of(reader, &keys, places) : NULL;
    if (!replay)
        return false;
    good = !replay->output || says_itself(reader, class_map, "output");
    good &= !replay->wait || says_itself(reader, class_map, "think");
    if (!good)
        return false;
    struct input_spec *input = arena_zeroed(reader->arena, 1, sizeof *input);
    struct session_spec *sessions = arena_zeroed(reader->arena, 1, sizeof *sessions);
    *sessions = replay->sessions;
    sessions->in_order = keys.order == ORDER_RECORDED;
    sessions->times = times_at(reader, &keys, sessions);
    *input =
        (struct input_spec){.most = INFINITY, .chars_per_token = constant(reader, INPUT_CHARS), .sessions = sessions};
    class->input = input;
    if (replay->output)
        class->output = drawn_from(reader, replay->output);
    if (replay->wait)
        class->think = drawn_from(reader, replay->wait);
    return true;
}
