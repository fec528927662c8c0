/* input_read.c - the mappings `input:` and `schedule:` of a class. */
#include <math.h>
#include <string.h>

#include "models/readers.h"
#include "models/tables.h"
#include "sim/io/param.h"

static double count_of(int64_t count)
{
    return count == INT64_MAX ? INFINITY : (double)count;
}

static bool read_cached(const struct reader *reader, const char *text, struct place place, struct input_spec *input)
{
    struct number number;
    const char *end, *why;
    input->cached_previous = strcmp(text, "previous") == 0;
    if (input->cached_previous)
        return true;
    if (unit_read(text, &end, &number, &why) && !*end && number.value >= 0 && number.value <= 1 &&
        (number.quantity == QUANTITY_SHARE || number.quantity == QUANTITY_NUMBER)) {
        input->cached_share = number.value;
        return true;
    }
    diag_error(reader->diag, place, "cached: %s: expected previous, or a share from 0 %% to 100 %%", text);
    return false;
}

static bool read_tokens(const struct reader *reader, const char *key, const struct expr *expr, struct place place,
                        const struct dist **out)
{
    struct dist *dist = arena_zeroed(reader->arena, 1, sizeof *dist);
    *out = dist;
    if (!distribution_read(expr, MEASURE_TOKENS, reader->columns, dist, reader->diag))
        return false;
    if (dist_mean(dist) <= (double)TURN_TOKENS_MOST)
        return true;
    diag_error(reader->diag, place, "%s: expected a mean of at most %lld tokens", key, (long long)TURN_TOKENS_MOST);
    return false;
}

/* Rows of a session follow one another, with the same text in the column that names it. */
static bool read_sessions(const struct reader *reader, const struct expr *call, const struct session_spec **out)
{
    const struct expr *words = call->arguments;
    bool fits = call->kind == EXPR_CALL && strcmp(call->name, "recorded") == 0 && call->count == 4;
    for (size_t i = 0; fits && i < call->count; i++)
        fits = words[i].kind == EXPR_WORD;
    if (!fits) {
        diag_error(reader->diag, call->place,
                   "sessions: %s: expected recorded(FILE SESSION INPUT CACHED), names of a file and of its columns",
                   call->text);
        return false;
    }
    struct place place = words[0].place;
    const struct row_groups *groups =
        columns_groups(reader->columns, words[0].name, words[1].name, place, reader->diag);
    const struct column *input =
        groups ? columns_get(reader->columns, words[0].name, words[2].name, 1, place, reader->diag) : NULL;
    const struct column *cached =
        input ? columns_get(reader->columns, words[0].name, words[3].name, 1, place, reader->diag) : NULL;
    if (!cached)
        return false;
    for (size_t i = 0; i < input->count; i++)
        if (cached->values[i] > input->values[i] || input->values[i] > (double)TURN_TOKENS_MOST) {
            diag_error(reader->diag, place, "%s: row %zu: expected %s", words[0].name, i + 1,
                       cached->values[i] > input->values[i] ? "no more cached tokens than input tokens"
                                                            : "at most 10^12 tokens");
            return false;
        }
    struct session_spec *sessions = arena_zeroed(reader->arena, 1, sizeof *sessions);
    *sessions = (struct session_spec){
        .input = input->values, .cached = cached->values, .starts = groups->starts, .count = groups->count};
    *out = sessions;
    return true;
}

/* One of the two ways to say it. */
static bool check_way(const struct reader *reader, const struct node *map, const struct place *places)
{
    static const int others[] = {INPUT_START, INPUT_PER_TURN, INPUT_MOST, INPUT_COMPACT_TO, INPUT_CACHED};
    bool sessions = places[INPUT_SESSIONS].file, good = true;
    if (!sessions && !places[INPUT_START].file) {
        diag_error(reader->diag, map->place, "input: expected start: tokens, or sessions: recorded(...)");
        return false;
    }
    for (size_t i = 0; sessions && i < sizeof others / sizeof *others; i++)
        if (places[others[i]].file) {
            diag_error(reader->diag, places[others[i]], "%s: expected none beside sessions, which say it",
                       input_options[others[i]].key);
            good = false;
        }
    return good;
}

bool input_read(const struct reader *reader, const struct node *map, const struct input_spec **out)
{
    struct input_keys keys = {0};
    struct place places[INPUT_KEYS] = {{0}};
    if (!map)
        return true;
    param_defaults(input_options, &keys, reader->arena);
    if (!reader_expects_map_of(reader, map, "input", input_options, "start: 20k, per_turn: 700") ||
        !param_read(input_options, "input", &keys, map, NULL, places, reader->arena, reader->diag))
        return false;
    if (!check_way(reader, map, places))
        return false;
    struct input_spec *input = arena_zeroed(reader->arena, 1, sizeof *input);
    struct dist *chars = arena_zeroed(reader->arena, 1, sizeof *chars);
    bool good = distribution_read(keys.chars_per_token, MEASURE_FACTOR, reader->columns, chars, reader->diag);
    *out = input;
    if (places[INPUT_SESSIONS].file) {
        *input = (struct input_spec){.most = INFINITY, .chars_per_token = chars};
        return read_sessions(reader, keys.sessions, &input->sessions) && good;
    }
    *input = (struct input_spec){
        .most = count_of(keys.most), .compact_to = (double)keys.compact_to, .chars_per_token = chars};
    good &= read_tokens(reader, "start", keys.start, places[INPUT_START], &input->start);
    good &= read_tokens(reader, "per_turn", keys.per_turn, places[INPUT_PER_TURN], &input->per_turn);
    good &= read_cached(reader, keys.cached, places[INPUT_CACHED], input);
    if (places[INPUT_COMPACT_TO].file && input->compact_to >= input->most) {
        diag_error(reader->diag, places[INPUT_COMPACT_TO], "compact_to: expected less than most, which is %s",
                   isinf(input->most) ? "not given" : param_text(&input_options[INPUT_MOST], &keys, reader->arena));
        good = false;
    }
    return good;
}

bool schedule_read(const struct reader *reader, const struct node *map, const struct schedule_spec **out)
{
    struct schedule_keys keys = {0};
    if (!map)
        return true;
    param_defaults(schedule_options, &keys, reader->arena);
    if (!reader_expects_map_of(reader, map, "schedule", schedule_options, "turns: 800, over: 600 s") ||
        !param_read(schedule_options, "schedule", &keys, map, NULL, NULL, reader->arena, reader->diag))
        return false;
    struct schedule_spec *schedule = arena_zeroed(reader->arena, 1, sizeof *schedule);
    *schedule = (struct schedule_spec){.turns = (uint64_t)keys.turns,
                                       .over = keys.over,
                                       .even = keys.times == 1,
                                       .offset = keys.offset,
                                       .offset_wraps = keys.offset_wraps};
    *out = schedule;
    return true;
}
