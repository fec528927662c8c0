/* trace.c - the rows of a trace: read, kept or dropped, put into their sessions, and handed on. */
#include "models/trace.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "sim/io/csv.h"
#include "sim/io/file.h"

/* What is remembered of a session: where its last call ended, and how long it waited then. */
struct trace_session {
    uint64_t name; /* a hash of it; 0: this place is empty */
    uint32_t index;
    int64_t since, end, wait_after;
};

struct trace_reader {
    const struct trace_spec *spec;
    struct diag *diag;
    struct trace_facts *facts;
    trace_call_fn *each;
    void *context;
    struct trace_header header;

    struct trace_session *sessions; /* open addressing; a power of two of places, at most half of them taken */
    size_t room;
    uint64_t first; /* TRACE_FIRST: what the first row has there; 0: no row yet */
    int64_t last;   /* time of the call before; TRACE_UNKNOWN: none yet */

    struct trace_call *calls; /* to be sorted */
    uint64_t *names;          /* of their sessions */
    size_t count, calls_room;
};

/* --- sessions ------------------------------------------------------------------------------------------------------
 */

static uint64_t hash_text(uint64_t hash, const char *text)
{
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return (hash ^ 0xff) * UINT64_C(0x100000001b3); /* the end of a text, which no text in UTF-8 contains */
}

static struct trace_session *place_of(struct trace_session *sessions, size_t room, uint64_t name)
{
    size_t at = (size_t)(name ^ name >> 32) & (room - 1);
    while (sessions[at].name != 0 && sessions[at].name != name)
        at = (at + 1) & (room - 1);
    return &sessions[at];
}

static struct trace_session *session_of(struct trace_reader *reader, uint64_t name)
{
    if (2 * (size_t)reader->facts->sessions >= reader->room) {
        size_t room = reader->room ? 2 * reader->room : 64;
        struct trace_session *sessions = mem_zeroed(room, sizeof *sessions);
        for (size_t i = 0; i < reader->room; i++)
            if (reader->sessions[i].name != 0)
                *place_of(sessions, room, reader->sessions[i].name) = reader->sessions[i];
        free(reader->sessions);
        reader->sessions = sessions;
        reader->room = room;
    }
    struct trace_session *session = place_of(reader->sessions, reader->room, name);
    if (session->name == 0)
        *session = (struct trace_session){.name = name,
                                          .index = reader->facts->sessions++,
                                          .since = TRACE_UNKNOWN,
                                          .end = TRACE_UNKNOWN,
                                          .wait_after = TRACE_UNKNOWN};
    return session;
}

/* --- one call ------------------------------------------------------------------------------------------------------
 */

static bool is_known(int64_t value)
{
    return value != TRACE_UNKNOWN;
}

/* What one column says in the words of another. */
static void complete(int64_t *values)
{
    int64_t start = is_known(values[TRACE_TIME]) ? values[TRACE_TIME] : values[TRACE_SINCE];
    if (!is_known(values[TRACE_INPUT]) && is_known(values[TRACE_NEW]) && is_known(values[TRACE_CACHED]))
        values[TRACE_INPUT] = values[TRACE_CACHED] + values[TRACE_NEW];
    if (!is_known(values[TRACE_NEW]) && is_known(values[TRACE_INPUT]) && is_known(values[TRACE_CACHED]) &&
        values[TRACE_CACHED] <= values[TRACE_INPUT])
        values[TRACE_NEW] = values[TRACE_INPUT] - values[TRACE_CACHED];
    if (!is_known(values[TRACE_DURATION]) && is_known(values[TRACE_END]) && is_known(start) &&
        values[TRACE_END] >= start)
        values[TRACE_DURATION] = values[TRACE_END] - start;
}

static void backwards(struct trace_reader *reader, enum trace_field field, int line, int64_t now, int64_t before)
{
    enum trace_unit unit = reader->facts->columns[field].unit;
    double scale = (double)(unit == TRACE_DATE ? SIM_SECOND : trace_unit_scale(unit));
    struct place place = {reader->spec->path, line, 0};
    const char *name = reader->facts->columns[field].name;
    if (unit == TRACE_DATE)
        diag_error(reader->diag, place,
                   "%s runs backwards, by %.15g s: expected times in ascending order, or sort to be asked for", name,
                   (double)(before - now) / scale);
    else
        diag_error(reader->diag, place,
                   "%s runs backwards: %.15g after %.15g; expected times in ascending order%s, or sort to be asked for",
                   name, (double)now / scale, (double)before / scale, field == TRACE_SINCE ? " in a session" : "");
}

/* The wait before the call, and what the session's next one will want to know. */
static bool in_session(struct trace_reader *reader, struct trace_call *call, uint64_t name)
{
    struct trace_session *session = session_of(reader, name);
    const int64_t *values = call->values;
    int64_t start = is_known(values[TRACE_TIME]) ? values[TRACE_TIME] : values[TRACE_SINCE];
    call->session = session->index;
    if (!is_known(call->wait))
        call->wait = session->wait_after;
    if (!is_known(call->wait) && is_known(session->end) && is_known(start)) {
        call->wait = start > session->end ? start - session->end : 0;
        reader->facts->waits_derived = true;
    }
    if (is_known(values[TRACE_SINCE]) && is_known(session->since) && values[TRACE_SINCE] < session->since) {
        backwards(reader, TRACE_SINCE, call->line, values[TRACE_SINCE], session->since);
        return false;
    }
    session->since = values[TRACE_SINCE];
    session->wait_after = values[TRACE_WAIT_AFTER];
    session->end = is_known(start) && is_known(values[TRACE_DURATION]) ? start + values[TRACE_DURATION] : TRACE_UNKNOWN;
    return true;
}

static bool deliver(struct trace_reader *reader, struct trace_call *call, uint64_t name)
{
    enum trace_field ordered = reader->facts->columns[TRACE_TIME].name ? TRACE_TIME : TRACE_BEGIN;
    int64_t time = call->values[ordered];
    if (is_known(time) && is_known(reader->last) && time < reader->last) {
        backwards(reader, ordered, call->line, time, reader->last);
        return false;
    }
    reader->last = is_known(time) ? time : reader->last;
    complete(call->values);
    call->wait = call->values[TRACE_WAIT_BEFORE];
    call->session = TRACE_ALONE;
    if (name != 0 && !in_session(reader, call, name))
        return false;
    reader->each(reader->context, call);
    return true;
}

/* --- sorting -------------------------------------------------------------------------------------------------------
 */

struct in_order {
    int64_t time;
    size_t at;
};

static int by_time(const void *left, const void *right)
{
    const struct in_order *a = left, *b = right;
    return a->time != b->time ? (a->time > b->time) - (a->time < b->time) : (a->at > b->at) - (a->at < b->at);
}

static void keep(struct trace_reader *reader, const struct trace_call *call, uint64_t name)
{
    if (reader->count == reader->calls_room) {
        reader->calls_room = reader->calls_room ? 2 * reader->calls_room : 256;
        reader->calls = mem_resized(reader->calls, reader->calls_room, sizeof *reader->calls);
        reader->names = mem_resized(reader->names, reader->calls_room, sizeof *reader->names);
    }
    reader->calls[reader->count] = *call;
    reader->names[reader->count++] = name;
}

static bool deliver_sorted(struct trace_reader *reader)
{
    enum trace_field field = reader->facts->columns[TRACE_TIME].name ? TRACE_TIME : TRACE_BEGIN;
    struct in_order *order = mem_zeroed(reader->count, sizeof *order);
    bool good = true;
    for (size_t i = 0; i < reader->count; i++)
        order[i] = (struct in_order){reader->calls[i].values[field], i};
    if (reader->count > 0)
        qsort(order, reader->count, sizeof *order, by_time);
    for (size_t i = 0; good && i < reader->count; i++)
        good = deliver(reader, &reader->calls[order[i].at], reader->names[order[i].at]);
    free(order);
    return good;
}

/* --- rows ----------------------------------------------------------------------------------------------------------
 */

static bool drop(struct trace_reader *reader, const char *reason)
{
    struct trace_dropped *dropped = reader->facts->dropped;
    while (dropped->reason && strcmp(dropped->reason, reason) != 0)
        dropped++;
    dropped->reason = reason;
    dropped->rows++;
    return true;
}

static bool bad_value(struct trace_reader *reader, const struct csv_row *row, const struct trace_part *part,
                      const char *wrong)
{
    static const char *const wanted[] = {
        [TRACE_TOKENS] = "a whole number of tokens, such as 120",
        [TRACE_COUNT] = "a whole number, such as 3",
        [TRACE_REAL] = "a number, such as 0.5",
        [TRACE_DATE] = "a date such as 2023-11-16 18:17:03.9799600 or 2023-11-16T18:17:03Z",
    };
    enum trace_unit unit = part->column->unit;
    const char *field = row->fields[part->at];
    struct place place = {reader->spec->path, row->lines[part->at], row->columns[part->at]};
    diag_error(reader->diag, place, "%s in the column %s: %s: expected %s%s", wrong,
               reader->facts->columns[part->column->field].name, diag_excerpt(reader->diag, field),
               unit > TRACE_DATE ? "a number of " : wanted[unit], unit > TRACE_DATE ? trace_unit_name(unit) : "");
    return reader->diag->errors < DIAG_MOST;
}

/* Does the row count, as far as one column says? NULL, or why not. */
static const char *outside(struct trace_reader *reader, const struct csv_row *row, const struct trace_part *part)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    if (part->column->need == TRACE_KEEPS)
        return strcmp(row->fields[part->at], part->column->word) == 0 ? NULL : part->column->reason;
    for (size_t i = 0; i <= part->at; i++)
        hash = hash_text(hash, row->fields[i]);
    if (reader->first == 0)
        reader->first = hash;
    return reader->first == hash ? NULL : part->column->reason;
}

static bool take_call(struct trace_reader *reader, struct trace_call *call, uint64_t name)
{
    const struct trace_format *format = reader->header.format;
    bool timed = reader->facts->columns[TRACE_TIME].name != NULL;
    int64_t input = call->values[TRACE_INPUT], output = call->values[TRACE_OUTPUT];
    if (timed && !is_known(call->values[TRACE_TIME]))
        return drop(reader, "its time is unknown");
    if (format->empty && ((input == 0 && output == 0) || call->values[TRACE_RATE] == 0))
        return drop(reader, format->empty);
    reader->facts->kept++;
    if (reader->facts->sorted) {
        keep(reader, call, name);
        return true;
    }
    return deliver(reader, call, name);
}

static bool on_data(struct trace_reader *reader, const struct csv_row *row)
{
    struct trace_call call = {.line = row->line};
    uint64_t name = 0;
    for (size_t i = 0; i < TRACE_FIELDS; i++)
        call.values[i] = TRACE_UNKNOWN;
    reader->facts->read++;
    for (size_t i = 0; i < reader->header.count; i++) {
        const struct trace_part *part = &reader->header.parts[i];
        const char *text = row->fields[part->at], *why;
        enum trace_field field = part->column->field;
        if (field == TRACE_NONE) {
            why = part->column->reason ? outside(reader, row, part) : NULL;
            if (why)
                return drop(reader, why);
        } else if (*text && field == TRACE_SESSION) {
            name = hash_text(name ? name : UINT64_C(0xcbf29ce484222325), text);
        } else if (*text) {
            why = trace_value_read(text, part->column->unit, &call.values[field], &reader->facts->zones);
            if (why)
                return bad_value(reader, row, part, why);
        }
    }
    return take_call(reader, &call, name);
}

static bool on_header(struct trace_reader *reader, const struct csv_row *row)
{
    struct trace_facts *facts = reader->facts;
    if (!trace_header_read(reader->spec, row, &reader->header, reader->diag))
        return false;
    const struct trace_format *format = reader->header.format;
    facts->format = format->name;
    facts->rows = format->rows;
    facts->help = format->help;
    facts->sorted = reader->spec->sort || format->by_end;
    for (size_t i = 0; i < reader->header.count; i++) {
        const struct trace_column *column = reader->header.parts[i].column;
        if (column->field == TRACE_NONE)
            continue;
        const char *before = facts->columns[column->field].name, *name = column->name;
        if (before)
            name = arena_format(&reader->diag->arena, "%s+%s", before, name);
        else if (reader->header.first_is_data)
            name = arena_format(&reader->diag->arena, "%s of %zu", name, row->count);
        else
            name = arena_text(&reader->diag->arena, name);
        facts->columns[column->field].name = name;
        facts->columns[column->field].unit = column->unit;
    }
    if (facts->sorted && !facts->columns[TRACE_TIME].name && !facts->columns[TRACE_BEGIN].name) {
        diag_error(reader->diag, (struct place){reader->spec->path, row->line, 0},
                   "there is no time to sort by: expected a column of times");
        return false;
    }
    return !reader->header.first_is_data || on_data(reader, row);
}

static bool on_row(void *context, uint64_t number, const struct csv_row *row)
{
    struct trace_reader *reader = context;
    return number == 0 ? on_header(reader, row) : on_data(reader, row);
}

/* --- the file ------------------------------------------------------------------------------------------------------
 */

static bool is_json(const char *path, FILE *file)
{
    const char *dot = strrchr(path, '.');
    int first = getc(file);
    ungetc(first, file);
    return first == '{' || first == '[' || (dot && (strcasecmp(dot, ".json") == 0 || strcasecmp(dot, ".jsonl") == 0));
}

static bool read_rows(struct trace_reader *reader, bool standard)
{
    const struct trace_spec *spec = reader->spec;
    bool good = false;
    FILE *file = standard ? stdin : file_open(spec->path, spec->asked, reader->diag);
    if (!file)
        return false;
    if (is_json(spec->path, file))
        diag_error(reader->diag, (struct place){spec->path, 0, 0},
                   "this is JSON: expected CSV, which jq makes of it: `jq -rn -f scenarios/traces/SCRIPT.jq FILE "
                   ">FILE.csv`, SCRIPT being one of claude_code (logs of agent sessions), kv_cache_tester, mooncake, "
                   "aiperf and guidellm");
    else
        good = csv_read_stream(file, spec->path, spec->asked, on_row, reader, reader->diag);
    if (!standard)
        fclose(file);
    return good;
}

bool trace_read(const struct trace_spec *asked, trace_call_fn *each, void *context, struct trace_facts *facts,
                struct diag *diag)
{
    struct trace_spec named = *asked;
    bool standard = strcmp(asked->path, "-") == 0;
    struct trace_reader reader = {
        .spec = &named, .diag = diag, .facts = facts, .each = each, .context = context, .last = TRACE_UNKNOWN};
    size_t errors = diag->errors;
    *facts = (struct trace_facts){0};
    if (standard)
        named.path = "standard input";
    bool good = read_rows(&reader, standard) && diag->errors == errors;
    good = good && (!facts->sorted || deliver_sorted(&reader));
    if (good && facts->kept == 0) {
        diag_error(diag, (struct place){named.path, 0, 0}, "no row counts: %s",
                   facts->dropped[0].reason ? facts->dropped[0].reason : "expected one below the names of the columns");
        good = false;
    }
    free(reader.header.parts);
    free(reader.sessions);
    free(reader.calls);
    free(reader.names);
    return good;
}
