/* What `weir check` says of a class: its turns, its input, when it comes, its deadlines, and what its client does. */
#include <math.h>

#include "models/client.h"
#include "models/demand.h"
#include "models/describe_private.h"
#include "models/describe_turns.h"
#include "models/input.h"

static void say_input(struct speaker *speaker, const struct agent_class *class)
{
    if (!class->input)
        return;
    if (class->input->sessions)
        say(speaker, arena_format(&speaker->arena, "%s: runs are %zu recorded sessions of %s turns on average",
                                  class->name, class->input->sessions->count,
                                  say_digits(&speaker->arena, input_session_turns(class->input->sessions))));
    say_distribution(speaker, class->name, "input of a run's first turn", class->input->start, "tokens");
    say_distribution(speaker, class->name, "input that each further turn adds", class->input->per_turn, "tokens");
    if (isinf(input_mean(class)))
        say(speaker, arena_format(&speaker->arena, "%s: the input of an endless run without `most` grows for ever",
                                  class->name));
    else
        say(speaker, arena_format(&speaker->arena, "%s, input of a turn: %s tokens on average, %s of them new",
                                  class->name, say_digits(&speaker->arena, input_mean(class)),
                                  say_digits(&speaker->arena, input_new_mean(class))));
}

static void say_deadlines(struct speaker *speaker, const struct agent_class *class)
{
    struct arena *arena = &speaker->arena;
    if (class->turn_within < SIM_LONGEST)
        say(speaker, arena_format(arena, "%s: a turn is to be %s within %s s of %s", class->name,
                                  class->fan_out ? "answered, with as many parts as suffice," : "answered",
                                  say_digits(arena, sim_seconds(class->turn_within)),
                                  class->schedule ? "when it is due" : "its first attempt"));
    if (class->run_within < SIM_LONGEST)
        say(speaker, arena_format(arena, "%s: a run is to be done within %s s of its first attempt at the door%s",
                                  class->name, say_digits(arena, sim_seconds(class->run_within)),
                                  class->gives_up ? ", and is given up then" : ""));
}

/* Of what does not come one by one at a rate. */
static void say_pattern(struct speaker *speaker, const struct agent_class *class)
{
    struct arena *arena = &speaker->arena;
    if (class->source == SOURCE_BATCH)
        say(speaker, arena_format(arena, "%s: %s triggers an hour start %s runs each, within %s s", class->name,
                                  say_digits(arena, 3600 * class->arrival_rate),
                                  say_digits(arena, (double)class->pattern->batch),
                                  say_digits(arena, sim_seconds(class->pattern->within))));
    else if (class->source == SOURCE_PROFILE && class->pattern->of_day)
        say(speaker, arena_format(arena, "%s: %s runs arrive an hour, averaged over a day of %zu parts", class->name,
                                  say_digits(arena, 3600 * class->pattern->rate), class->pattern->count));
}

/* "3 x 3": the most tries of each layer of a call; "" of a single one. */
static const char *layer_words(struct speaker *speaker, const struct client_bounds *bounds, uint32_t layers)
{
    const char *words = "";
    for (uint32_t i = 0; i < layers && layers > 1; i++)
        words = arena_format(&speaker->arena, "%s%s%s", words, i > 0 ? " x " : " (",
                             say_digits(&speaker->arena, bounds->tries[i]));
    return layers > 1 ? arena_format(&speaker->arena, "%s)", words) : "";
}

static void say_client(struct speaker *speaker, const struct agent_class *class)
{
    struct arena *arena = &speaker->arena;
    const struct client_bounds bounds = client_bounds(&class->client);
    uint32_t layers = client_call_layers(&class->client);
    const char *many = layer_words(speaker, &bounds, layers), *words;
    if (isinf(bounds.attempts))
        words = arena_format(arena, "%s: a turn makes any number of attempts%s", class->name, many);
    else
        words = arena_format(arena, "%s: a turn makes at most %s%s%s", class->name,
                             say_with_unit(speaker, bounds.attempts, "attempt"), bounds.attempts > 1 ? "s" : "", many);
    if (isfinite(bounds.seconds))
        words = arena_format(arena, "%s and takes at most %s", words, say_with_unit(speaker, bounds.seconds, "s"));
    if (layers < class->client.layer_count)
        words = arena_format(arena,
                             isinf(bounds.tries[layers]) ? "%s; a run may begin any number of times"
                                                         : "%s; a run may begin %s times at most",
                             words, say_digits(arena, bounds.tries[layers]));
    say(speaker, words);
    if (class->client.dies > 0)
        say(speaker, arena_format(arena, "%s: %s %% of the services lose their client, which tells nobody", class->name,
                                  say_digits(arena, 100 * class->client.dies)));
}

void say_class(struct speaker *speaker, const struct scenario *scenario, size_t index)
{
    const struct agent_class *class = &scenario->classes[index];
    say_distribution(speaker, class->name, "turns a run", class->turns, "turns");
    say_distribution(speaker, class->name, "boot time", class->boot, "s");
    say_distribution(speaker, class->name, "think time", class->think, "s");
    say_input(speaker, class);
    say_distribution(speaker, class->name, "output", class->output, "tokens");
    say_memory(speaker, class, &scenario->backends[class->backend]);
    say_capacity(speaker, scenario, index);
    say_pattern(speaker, class);
    say_deadlines(speaker, class);
    for (const char **parts = class->fan_out ? fan_out_sentences(scenario, class, &speaker->arena) : NULL;
         parts && *parts; parts++)
        say(speaker, *parts);
    if (class->spill != SPILL_NONE)
        say(speaker, spill_sentence(scenario, class, &speaker->arena));
    say_client(speaker, class);
}
