/* changes.c - the timeline: sets what the scenario says at its time. What is set was read and checked with the
 * scenario; only what policies have set of one another meanwhile may not go together with it. */
#include "models/changes.h"

#include <inttypes.h>
#include <stdio.h>

#include "models/agent.h"
#include "models/copies.h"
#include "models/services.h"
#include "sim/io/param.h"

struct pending {
    struct event event;
    const struct change *change;
};

/* What no copy of a policy tells by itself. */
static void tell(const struct world *world, const struct change *change)
{
    const struct set_record record = {.at = world_now(world),
                                      .key = change->key,
                                      .copy = {.gate = "", .whose = "", .agent = -1},
                                      .old = change->old,
                                      .now = change->text,
                                      .reason = change->reason,
                                      .by = "operator"};

    if (world->watch && world->watch->set)
        world->watch->set(world->watch->context, &record);
}

/* --- policies ----------------------------------------------------------------------------------------------------- */

static void say_refused(struct world *world, const struct change *change, const char *expected)
{
    sim_time now = world_now(world);

    if (world->wrong[0])
        return;
    snprintf(world->wrong, sizeof world->wrong,
             "changes: %s at %" PRId64 ".%09" PRId64 " s: the policy does not take it beside what others have set: "
             "expected %s",
             change->key, now / SIM_SECOND, now % SIM_SECOND, expected);
}

/* A change that comes to the copies of a member. */
struct coming {
    const struct change *change;
    size_t *copies; /* that took it */
};

static void set_copy(struct copy *copy, const void *context)
{
    const struct coming *coming = context;
    const struct change *change = coming->change;
    const char *expected = services_change(copy, change);

    ++*coming->copies;
    if (expected)
        say_refused(copy->member->world, change, expected);
}

/* Every copy that there is, and those that begin later; where there is none yet the change is told of once. */
static void set_member(struct world *world, const struct change *change)
{
    struct member_state *member = &world->members[change->index];
    size_t copies = 0;

    param_copy(change->option, member->params, change->params);
    copies_each(member, set_copy, &(struct coming){change, &copies});
    if (copies == 0)
        tell(world, change);
}

/* --- pools and classes -------------------------------------------------------------------------------------------- */

static void set_latency(struct provider *provider, const struct change *change)
{
    struct latency_spec latency = provider_spec(provider)->latency;
    double *const times[] = {[LATENCY_OF_ALL] = &latency.base,
                             [LATENCY_OF_INPUT] = &latency.per_input,
                             [LATENCY_OF_CACHED] = &latency.per_cached,
                             [LATENCY_OF_OUTPUT] = &latency.per_output};

    *times[change->row] = change->number;
    provider_set_latency(provider, &latency);
}

static void set_pool(struct provider *provider, const struct change *change)
{
    switch (change->kind) {
    case CHANGE_LIMIT:
        provider_set_limit(provider, change->row, change->number);
        break;
    case CHANGE_BURST:
        provider_set_burst(provider, change->row, change->number);
        break;
    case CHANGE_LATENCY:
        set_latency(provider, change);
        break;
    case CHANGE_RETRY_AFTER:
        provider_set_retry_after(provider, (enum retry_after_law)change->row, change->time);
        break;
    case CHANGE_ERRORS:
        provider_set_errors(provider, change->number);
        break;
    default:
        provider_set_strangers(provider, change->number);
        break;
    }
}

static void set_class(struct world *world, struct class_state *klass, const struct change *change)
{
    if (change->kind == CHANGE_POPULATION)
        class_population(world, klass, (uint64_t)change->number);
    else if (change->kind == CHANGE_ARRIVALS)
        class_arrivals(world, klass, change->number);
    else
        klass->now.think = change->think;
}

static void change_comes(void *world_pointer, struct event *event)
{
    struct world *world = world_pointer;
    const struct change *change = container_of(event, struct pending, event)->change;

    if (change->kind == CHANGE_POLICY) {
        set_member(world, change);
        return;
    }
    tell(world, change);
    if (change->kind >= CHANGE_POPULATION)
        set_class(world, &world->classes[change->index], change);
    else
        set_pool(world->gates[change->index].provider, change);
}

void changes_begin(struct world *world)
{
    const struct scenario *scenario = world->scenario;
    struct pending *pending = arena_zeroed(&world->arena, scenario->change_count, sizeof *pending);

    for (size_t i = 0; i < scenario->change_count; i++) {
        pending[i].change = &scenario->changes[i];
        pending[i].event.fire = change_comes;
        calendar_schedule(&world->calendar, &pending[i].event, scenario->changes[i].at);
    }
}
