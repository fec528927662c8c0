/* changes_class.c - changes of classes of agents. */
#include <string.h>

#include "models/changes_read.h"
#include "models/tables.h"
#include "sim/io/param.h"

static bool read_population(struct changes_reader *changes, const struct change_text *text, struct agent_class *class)
{
    struct arena *arena = changes->reader->arena;
    const struct option *option = &class_options[CLASS_POPULATION];
    struct class_keys before = {.population = (int64_t) class->population}, keys = {0};
    if (class->source != SOURCE_POPULATION) {
        diag_error(changes->reader->diag, text->places[CHANGE_SET],
                   class->source == SOURCE_SCHEDULE
                       ? "%s has a schedule, whose turns are shared out at the start: expected a class without one"
                       : "%s has no population but arrivals: expected a class with a population",
                   class->name);
        return false;
    }
    if (!param_set(option, arena_format(arena, "agents.%s", class->name), &keys, text->keys->to,
                   text->places[CHANGE_TO], arena, changes->reader->diag))
        return false;
    class->population = (uint64_t)keys.population;
    changes->change->kind = CHANGE_POPULATION;
    changes->change->number = (double)keys.population;
    changes->change->old = param_plain(option, &before, arena);
    changes->change->text = param_plain(option, &keys, arena);
    return true;
}

static bool read_arrivals(struct changes_reader *changes, const struct change_text *text, struct agent_class *class)
{
    const struct reader *reader = changes->reader;
    if (class->source != SOURCE_POISSON) {
        diag_error(reader->diag, text->places[CHANGE_SET],
                   "%s: only a rate changes while a run goes on: expected a class with arrivals: poisson(RATE)",
                   text->keys->set);
        return false;
    }
    const struct expr *arrivals = change_expr(changes, text);
    if (!arrivals)
        return false;
    if (arrivals->kind != EXPR_CALL || strcmp(arrivals->name, "poisson") != 0) {
        diag_error(reader->diag, arrivals->place, "%s: %s: expected poisson(RATE), as it is one", text->keys->set,
                   arrivals->text);
        return false;
    }
    changes->change->old =
        arena_format(reader->arena, "poisson(%s)", change_rate_text(class->arrival_rate, reader->arena));
    if (!arrivals_rate_read(reader, arrivals, &class->arrival_rate))
        return false;
    changes->change->kind = CHANGE_ARRIVALS;
    changes->change->number = class->arrival_rate;
    changes->change->text =
        arena_format(reader->arena, "poisson(%s)", change_rate_text(class->arrival_rate, reader->arena));
    return true;
}

/* As the last change of it says, else the file. */
static const char *think_text(const struct changes_reader *changes, size_t class)
{
    const struct node *agents = node_get(changes->of->root, "agents"), *written;
    if (changes->think[class])
        return changes->think[class];
    written = class_settings(changes->reader, node_get(agents, changes->classes[class].name)); /* with its preset */
    written = node_get(written, class_options[CLASS_THINK].key);
    return written->text; /* it has a think time, so it was read from a text */
}

static bool read_think(struct changes_reader *changes, const struct change_text *text, struct agent_class *class)
{
    const struct reader *reader = changes->reader;
    if (!class->think) {
        diag_error(reader->diag, text->places[CHANGE_SET],
                   "%s has no think time: expected a class that thinks between turns", class->name);
        return false;
    }
    if (class->input && class->input->sessions && class->input->sessions->wait) {
        diag_error(reader->diag, text->places[CHANGE_SET],
                   "%s waits as its trace says: expected a class without a replay, or with one of calls", class->name);
        return false;
    }
    struct dist *dist = arena_zeroed(reader->arena, 1, sizeof *dist);
    const struct expr *think = change_expr(changes, text);
    if (!think || !distribution_read(think, MEASURE_TIME, reader->columns, dist, reader->diag))
        return false;
    class->think = dist;
    if (class_never_pauses(class)) {
        diag_error(reader->diag, text->places[CHANGE_TO],
                   "%s would neither think nor back off: a refused agent would ask for ever at one instant; expected a "
                   "time above 0, or a client with base and cap above 0",
                   class->name);
        return false;
    }
    changes->change->kind = CHANGE_THINK;
    changes->change->think = dist;
    changes->change->old = think_text(changes, changes->change->index);
    changes->change->text = changes->think[changes->change->index] = think->text;
    return true;
}

bool change_class_read(struct changes_reader *changes, const struct change_text *text, const char *address)
{
    const struct reader *reader = changes->reader;
    const struct scenario *scenario = changes->scenario;
    const char *key, *name = change_name_of(changes, text, address, &key);
    if (!name)
        return false;
    const struct agent_class *classes = scenario->classes; /* NULL of pools alone */
    size_t found = reader_find(reader, name, text->places[CHANGE_SET], "there is no class",
                               classes ? &classes->name : NULL, sizeof *classes, scenario->class_count);
    if (found == READER_NONE)
        return false;
    struct agent_class *class = &changes->classes[found];
    changes->change->index = (uint32_t)found;
    if (strcmp(key, class_options[CLASS_POPULATION].key) == 0)
        return read_population(changes, text, class);
    if (strcmp(key, class_options[CLASS_ARRIVALS].key) == 0)
        return read_arrivals(changes, text, class);
    if (strcmp(key, class_options[CLASS_THINK].key) == 0)
        return read_think(changes, text, class);
    const char **live = arena_zeroed(reader->arena, CHANGE_LIVE_MOST, sizeof *live);
    size_t count = 0;
    bool known = param_find(class_options, key);
    for (size_t i = 0; class_others[i]; i++)
        known = known || begins(key, class_others[i]);
    change_live_keys(reader->arena, "", class_options, live, &count);
    return change_not_live(changes, text, name, key, known, live, count);
}
