/* deadline_read.c - the mapping `deadline:` of a class. */
#include "models/readers.h"
#include "models/tables.h"
#include "sim/io/param.h"

/* Runs that never end, or whose turns do not rest on one another, have none. */
static const char *why_no_run(const struct agent_class *class, bool turns)
{
    if (class->schedule)
        return "expected none beside a schedule, whose turns do not rest on one another";
    if (class->source == SOURCE_POPULATION && !turns)
        return "without turns a run of a population never ends: expected turns beside it";
    return NULL;
}

bool deadline_read(const struct reader *reader, const struct node *map, struct place gives_up,
                   struct agent_class *class)
{
    struct deadline_keys keys = {0};
    struct place places[DEADLINE_KEYS] = {{0}};
    param_defaults(deadline_options, &keys, reader->arena);
    class->turn_within = class->run_within = SIM_NEVER;
    if (map && (!reader_expects_map_of(reader, map, "deadline", deadline_options, "turn: 30 s, run: 600 s") ||
                !param_read(deadline_options, "deadline", &keys, map, NULL, places, reader->arena, reader->diag)))
        return false;
    class->turn_within = keys.turn;
    class->run_within = keys.run;
    bool turns = class->turns || (class->input && class->input->sessions);
    const char *why = keys.run < SIM_LONGEST ? why_no_run(class, turns) : NULL;
    if (why)
        diag_error(reader->diag, places[DEADLINE_RUN], "deadline.run: %s", why);
    if (!why && class->gives_up && keys.run >= SIM_LONGEST) {
        diag_error(reader->diag, gives_up,
                   "at_deadline: a run without a deadline cannot give up at it: expected "
                   "deadline: {run: 600 s} beside it");
        return false;
    }
    return !why;
}
