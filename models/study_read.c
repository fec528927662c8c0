/* study_read.c - the mapping `study:`, and the small things that all readers share. */
#include <string.h>

#include "models/address.h"
#include "models/readers.h"
#include "models/tables.h"
#include "sim/io/param.h"

bool reader_expects_map(const struct reader *reader, const struct node *node, const char *what)
{
    if (node->kind == NODE_MAP)
        return true;
    diag_error(reader->diag, node->place, "%s: expected a mapping of keys to values, not %s", what,
               node_kind_name(node));
    return false;
}

static bool was_said(const struct diag *diag, struct place place, bool warning, const char *text)
{
    for (size_t i = 0; i < diag->count; i++) {
        const struct diag_message *message = &diag->messages[i];
        if (message->warning == warning && message->place.line == place.line && message->place.column == place.column &&
            strcmp(message->text, text) == 0)
            return true;
    }
    return false;
}

void reader_warns(const struct reader *reader, struct place place, const char *text)
{
    if (!was_said(reader->diag, place, true, text))
        diag_warning(reader->diag, place, "%s", text);
}

void reader_repeats(const struct reader *reader, const struct diag *said)
{
    for (size_t i = 0; i < said->count; i++) {
        const struct diag_message *message = &said->messages[i];
        if (message->warning)
            reader_warns(reader, message->place, message->text);
        else if (!was_said(reader->diag, message->place, false, message->text))
            diag_error(reader->diag, message->place, "%s", message->text);
    }
}

bool reader_expects_name(const struct reader *reader, const char *name, struct place place, const char *what)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    if (name[0] && name[strspn(name, allowed)] == '\0')
        return true;
    diag_error(reader->diag, place, "%s \"%s\": a name has letters, digits, _ and - only", what, name);
    return false;
}

bool reader_expects_row(const struct reader *reader, const char *name, struct place place, const char *what)
{
    if (strcmp(name, "all") != 0)
        return reader_expects_name(reader, name, place, what);
    diag_error(reader->diag, place, "%s \"all\": so the rows of all together are called: expected another name", what);
    return false;
}

const char *reader_nearest(const struct reader *reader, const char *name, const char *const *names, size_t count)
{
    const char *nearest = diag_nearest(name, names, count);
    return nearest ? arena_format(reader->arena, "; did you mean %s?", nearest) : "";
}

const char *const *reader_keys(const struct reader *reader, const struct node *map)
{
    const char **keys = arena_zeroed(reader->arena, map->count + 1, sizeof *keys);
    for (size_t i = 0; i < map->count; i++)
        keys[i] = map->entries[i].key;
    return keys;
}

const char *reader_list(const struct reader *reader, const char *const *names, size_t count)
{
    const char *list = "";
    for (size_t i = 0; i < count; i++)
        list = arena_format(reader->arena, "%s%s%s", list, i > 0 ? ", " : "", names[i]);
    return list;
}

bool study_read(const struct reader *reader, const struct node *map, struct place file, struct study *study)
{
    const struct node empty = {.kind = NODE_MAP, .place = file};
    if (!map)
        map = &empty;
    struct study_keys keys = {0};
    struct place places[STUDY_KEYS] = {{0}};
    param_defaults(study_options, &keys, reader->arena);
    if (!reader_expects_map_of(reader, map, "study", NULL, "horizon: 60000 s"))
        return false;
    const struct node *warmup = node_get(map, "warmup");
    bool found = warmup && warmup->kind == NODE_SCALAR && strcmp(warmup->text, "auto") == 0;
    if (found)
        map = map_without(map, "warmup", reader->arena);
    if (!param_read(study_options, "study", &keys, map, NULL, places, reader->arena, reader->diag))
        return false;

    struct diag *diag = reader->diag;
    size_t before = diag->errors;
    bool until_done = keys.until == UNTIL_DONE;
    bool horizon_given = places[STUDY_HORIZON].file, most_given = places[STUDY_MOST].file;
    if (!until_done && !horizon_given)
        diag_error(diag, map->place, "study: expected a horizon, such as horizon: 60000 s, or until: done");
    else if (!until_done && keys.warmup >= keys.horizon)
        diag_error(diag, places[STUDY_WARMUP].file ? places[STUDY_WARMUP] : places[STUDY_HORIZON],
                   "warmup: expected less than the horizon");
    if (until_done && horizon_given)
        diag_error(diag, places[STUDY_HORIZON],
                   "a terminating study (until: done) has no horizon: expected most: TIME, or nothing");
    if (until_done && (keys.warmup > 0 || found))
        diag_error(diag, found ? warmup->place : places[STUDY_WARMUP],
                   "a terminating study (until: done) measures from its start: expected no warmup");
    if (!until_done && most_given)
        diag_error(diag, places[STUDY_MOST], "most belongs to a terminating study: expected until: done beside it");

    sim_time end = until_done ? keys.most : keys.horizon;
    *study = (struct study){.warmup_auto = found,
                            .until_done = until_done,
                            .horizon = end,
                            .warmup = keys.warmup,
                            .most = end,
                            .replications = keys.replications,
                            .seed = keys.seed};
    return diag->errors == before;
}
