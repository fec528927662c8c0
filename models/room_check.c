/* room_check.c - that the buckets of classes and tenants hold their calls. One that needs more than its bucket holds
 * passes it only against what the bucket is for, and keeps the others of its class out until it is paid off. */
#include <math.h>
#include <string.h>

#include "models/readers.h"

/* Of calls without bound: what all but one in a thousand are. */
#define NEARLY_ALL 0.999

/* The end of a distribution, or where that is INFINITY and `nearly`, what nearly all draws are. */
static double most_of(const struct dist *dist, bool nearly)
{
    double end = dist ? dist_end(dist) : 0;
    return isinf(end) && nearly ? dist_quantile(dist, NEARLY_ALL) : end;
}

static double recorded_most(const struct session_spec *sessions)
{
    double most = 0;
    for (size_t i = 0; i < sessions->starts[sessions->count]; i++)
        most = fmax(most, sessions->input[i]);
    return most;
}

/* Nothing of it cached. What grows for ever has no bound, nor a size that nearly all have. */
static double largest_input(const struct agent_class *class, bool nearly)
{
    const struct input_spec *input = class->input;
    double turns = class->turns      ? most_of(class->turns, nearly)
                   : class->schedule ? ceil((double)class->schedule->turns / (double)class->population)
                   : class->source == SOURCE_POPULATION ? INFINITY
                                                        : 1;
    double growth, start;
    if (!input)
        return 0;
    if (input->sessions)
        return fmin(recorded_most(input->sessions), input->most);
    start = most_of(input->start, nearly);
    growth = input->per_turn ? most_of(input->per_turn, nearly) : 0;
    return fmin(growth > 0 ? start + (turns - 1) * growth : start, input->most);
}

static struct policy_call largest_call(const struct agent_class *class, uint32_t index, bool nearly)
{
    return (struct policy_call){.klass = index,
                                .tenant = class->tenant,
                                .priority = class->priority,
                                .value = class->value,
                                .input_tokens = largest_input(class, nearly),
                                .output_tokens = fmin(most_of(class->output, nearly), class->max_tokens)};
}

static struct policy_call largest_part(const struct agent_class *class, uint32_t index, bool nearly)
{
    struct policy_call part = largest_call(class, index, nearly);
    part.input_tokens = 0;
    part.output_tokens = most_of(class->fan_out->tokens, nearly);
    return part;
}

/* Does it have a bucket for each class, or for some? */
static bool is_by_class(const struct member *member)
{
    bool named = false;
    for (const struct option *option = member->ops->params; option && option->key; option++)
        named = named || (option->type == OPTION_TEXT && option->measures &&
                          (strcmp(option->measures, "classes") == 0 || strcmp(option->measures, "tenants") == 0));
    return member->ops->room && (named || member->scope == SCOPE_CLASS || member->scope == SCOPE_TENANT);
}

static bool room_check(const struct reader *reader, const struct member *member, const struct policy_view *names,
                       const char *what, const struct policy_call *most, const struct policy_call *nearly)
{
    struct policy_room room = member_room(member, names, most);
    struct policy_room usual = member_room(member, names, nearly);
    bool bounded = room.takes <= usual.takes;
    if (usual.takes <= usual.holds || usual.takes >= (double)TURN_TOKENS_MOST)
        return true;
    if (bounded)
        diag_error(reader->diag, member->place,
                   "%s: the largest %s of %s takes %.10g of its bucket, which holds %.10g: expected one that holds it",
                   member->name, what, names->class_names[most->klass], room.takes, room.holds);
    else
        reader_warns(reader, member->place,
                     arena_format(reader->arena,
                                  "%s: of 1,000 %ss of %s about one takes more than %.6g of its bucket, which holds "
                                  "%.10g: expected one that holds nearly all of them",
                                  member->name, what, names->class_names[most->klass], usual.takes, usual.holds));
    return !bounded;
}

static bool stands_at(const struct member *member, const uint32_t *backends, size_t count)
{
    bool found = member->at < 0;
    for (size_t i = 0; i < count; i++)
        found = found || member->at == (int64_t)backends[i];
    return found;
}

static bool member_rooms(const struct reader *reader, const struct scenario *scenario, const struct member *member,
                         const struct policy_view *names)
{
    bool good = true;
    for (uint32_t i = 0; i < scenario->class_count; i++) {
        const struct agent_class *class = &scenario->classes[i];
        struct policy_call most = largest_call(class, i, false), nearly = largest_call(class, i, true);
        if (stands_at(member, class->backends, class->backend_count))
            good &= room_check(reader, member, names, "call", &most, &nearly);
        if (!class->fan_out || !stands_at(member, &class->fan_out->to, 1))
            continue;
        most = largest_part(class, i, false);
        nearly = largest_part(class, i, true);
        good &= room_check(reader, member, names, "part", &most, &nearly);
    }
    return good;
}

bool rooms_check(const struct reader *reader, const struct scenario *scenario)
{
    const char **names = arena_zeroed(reader->arena, scenario->class_count, sizeof *names);
    struct policy_view view = {.classes = (uint32_t)scenario->class_count,
                               .tenants = (uint32_t)scenario->tenant_count,
                               .class_names = names,
                               .tenant_names = scenario->tenants};
    bool good = true;
    for (size_t i = 0; i < scenario->class_count; i++)
        names[i] = scenario->classes[i].name;
    for (size_t i = 0; i < scenario->chain.count; i++)
        if (is_by_class(&scenario->chain.members[i]))
            good &= member_rooms(reader, scenario, &scenario->chain.members[i], &view);
    return good;
}
