/* What a policy may call. A callback that one of these leads to stands in the record of callbacks until it returns;
 * then the pointers to memory in the calls that are shown are the asker's again. */
#include "models/services.h"

#include <stdio.h>
#include <string.h>

#include "models/adapter.h"
#include "models/callback.h"
#include "models/copies.h"
#include "models/lines.h"
#include "sim/engine/number.h"
#include "sim/io/param.h"

static struct copy *copy_behind(struct policy *policy)
{
    return container_of(policy, struct copy, policy);
}

/* Back in the asker's callback, which `before` was. */
static void asker_goes_on(const struct copy *asker, struct sim_record before)
{
    struct world *world = asker->member->world;

    for (size_t i = 0; asker->member->stateful && i < world->scenario->backend_count; i++)
        bind_lines(&world->gates[i], asker->member);
    sim_record = before;
}

static double host_uniform(struct policy *self)
{
    return stream_uniform(&copy_behind(self)->stream);
}

static struct member_state *member_named(struct world *world, const char *name)
{
    for (size_t i = 0; i < world->member_count; i++)
        if (strcmp(world->members[i].member->name, name) == 0)
            return &world->members[i];
    return NULL;
}

/* The copy at the gate for the same class, tenant or agent as the asker's, a copy of the same scope. */
static struct copy *counterpart(const struct copy *asker, struct member_state *member, struct gate *gate)
{
    size_t each = member->copy_count / member->world->scenario->backend_count;
    struct sim_record before = sim_record;
    struct copy *found;

    if (member->member->scope != SCOPE_AGENT)
        return member->copies[gate->index * each + asker->index % each];
    found = copy_agent(member, gate, asker->agent);
    asker_goes_on(asker, before);
    return found;
}

static struct policy *host_find(struct policy *self, const char *name, uint32_t gate)
{
    struct copy *asker = copy_behind(self);
    struct world *world = asker->member->world;
    struct member_state *member = member_named(world, name);

    if (!member || gate >= world->scenario->backend_count ||
        (member->member->at >= 0 && member->member->at != (int64_t)gate))
        return NULL;
    if (member->member->scope == SCOPE_ALL)
        return &member->copies[0]->policy;
    if (member->member->scope == SCOPE_GATE)
        return &member->copies[gate]->policy;
    if (member->member->scope != asker->member->member->scope)
        return NULL;
    return &counterpart(asker, member, &world->gates[gate])->policy;
}

static const struct policy_view *host_view(struct policy *self, uint32_t gate)
{
    struct copy *asker = copy_behind(self);
    struct world *world = asker->member->world;

    if (gate >= world->scenario->backend_count)
        return NULL;
    if (asker->member->stateful)
        bind_lines(&world->gates[gate], asker->member);
    return gate_view(&world->gates[gate]);
}

bool services_get(const struct policy_ops *ops, const struct policy *of, const char *key, double *value)
{
    const struct option *option;

    for (const struct policy_gauge *gauge = ops->gauges; gauge && gauge->name; gauge++) {
        const unsigned char *place = (const unsigned char *)(gauge->in_stats ? of->stats : of->vars) + gauge->offset;
        int64_t whole;
        uint64_t count;

        if (strcmp(gauge->name, key) != 0)
            continue;
        memcpy(&whole, place, sizeof whole);
        memcpy(&count, place, sizeof count);
        memcpy(value, place, sizeof *value);
        if (gauge->type == POLICY_GAUGE_INT64)
            *value = whole == INT64_MAX ? INFINITY : (double)whole;
        else if (gauge->type == POLICY_GAUGE_UINT64)
            *value = count == UINT64_MAX ? INFINITY : (double)count;
        return true;
    }
    option = ops->params ? param_find(ops->params, key) : NULL;
    if (!option)
        return false;
    *value = param_get_number(option, of->params);
    return *value == *value;
}

bool services_read(struct copy *copy, const char *key, double *value)
{
    const struct policy_ops *ops = copy->member->ops;

    if (ops->refresh) {
        callback_begins(copy->member, "refresh", NULL);
        ops->refresh(&copy->policy, world_now(copy->member->world));
        callback_ends();
    }
    return services_get(ops, &copy->policy, key, value);
}

static bool host_get(struct policy *self, struct policy *of, const char *key, double *value)
{
    struct sim_record before = sim_record;
    bool there = services_read(copy_behind(of), key, value);

    if (copy_behind(of)->member->ops->refresh)
        asker_goes_on(copy_behind(self), before);
    return there;
}

/* `wanted` has the value: it becomes the copy's, unless the policy's check refuses it. */
static const char *settle(const struct services_target *target, const struct option *option)
{
    const struct policy_ops *ops = target->ops;
    const char *expected = NULL;

    if (ops->check) {
        target->begins(target->host, "check");
        expected = ops->check(target->wanted);
    }
    if (expected)
        return expected;
    memcpy(target->params, target->wanted, ops->params_size);
    if (target->done)
        target->done(target->host, option);
    if (ops->changed) {
        target->begins(target->host, "changed");
        ops->changed(target->copy, target->now, option->key, target->by);
    }
    return NULL;
}

const char *services_set(const struct services_target *target, const char *key, double value)
{
    const struct policy_ops *ops = target->ops;
    const struct option *option = ops->params ? param_find(ops->params, key) : NULL;
    const char *expected;

    if (!option || !option->live)
        return "the name of a live parameter";
    memcpy(target->wanted, target->params, ops->params_size);
    expected = param_set_number(option, target->wanted, value);
    return expected ? expected : settle(target, option);
}

const char *services_put(const struct services_target *target, const struct option *option, const void *from)
{
    memcpy(target->wanted, target->params, target->ops->params_size);
    param_copy(option, target->wanted, from);
    return settle(target, option);
}

/* --- assignment a value of a copy ------------------------------------------------------------------------------------
 */

/* One value of one copy that is set, for the audit. */
struct assignment {
    struct copy *copy;
    const char *old, *reason, *by;
    struct arena arena;
};

static bool audited(const struct world *world)
{
    return world->watch && world->watch->set;
}

static void assignment_begins(const void *host, const char *callback)
{
    const struct assignment *assignment = host;

    callback_begins(assignment->copy->member, callback, NULL);
}

static void assignment_done(const void *host, const struct option *option)
{
    const struct assignment *assignment = host;
    const struct member_state *member = assignment->copy->member;
    const struct world *world = member->world;
    struct arena arena = {0};

    if (!audited(world))
        return;
    const struct set_record record = {.at = world_now(world),
                                      .key = arena_format(&arena, "policies.%s.%s.%s", world->scenario->chain.label,
                                                          member->member->name, option->key),
                                      .copy = copy_named(assignment->copy),
                                      .old = assignment->old,
                                      .now = param_plain(option, assignment->copy->params, &arena),
                                      .reason = assignment->reason ? assignment->reason : "",
                                      .by = assignment->by};
    world->watch->set(world->watch->context, &record);
    arena_free(&arena);
}

static struct services_target target_of(const struct assignment *assignment, enum policy_setter by)
{
    struct copy *copy = assignment->copy;

    return (struct services_target){.ops = copy->member->ops,
                                    .copy = &copy->policy,
                                    .params = copy->params,
                                    .wanted = copy->member->wanted,
                                    .now = world_now(copy->member->world),
                                    .by = by,
                                    .begins = assignment_begins,
                                    .done = assignment_done,
                                    .host = assignment};
}

static void remember_old(struct assignment *assignment, const struct option *option)
{
    if (option && audited(assignment->copy->member->world))
        assignment->old = param_plain(option, assignment->copy->params, &assignment->arena);
}

const char *services_change(struct copy *copy, const struct change *change)
{
    struct assignment assignment = {.copy = copy, .reason = change->reason, .by = "operator"};
    const struct services_target target = target_of(&assignment, POLICY_BY_OPERATOR);
    const char *expected;

    remember_old(&assignment, change->option);
    expected = services_put(&target, change->option, change->params);
    callback_ends();
    arena_free(&assignment.arena);
    return expected;
}

static const char *host_set(struct policy *self, struct policy *of, const char *key, double value, const char *reason)
{
    struct copy *asker = copy_behind(self);
    struct assignment assignment = {.copy = copy_behind(of), .reason = reason, .by = asker->member->member->name};
    const struct services_target target = target_of(&assignment, POLICY_BY_POLICY);
    struct sim_record before = sim_record;
    const char *expected;

    remember_old(&assignment, target.ops->params ? param_find(target.ops->params, key) : NULL);
    expected = services_set(&target, key, value);
    asker_goes_on(asker, before);
    arena_free(&assignment.arena);
    return expected;
}

/* --- rows ---------------------------------------------------------------------------------------------------------
 */

/* Of a column of words: NULL, or what was expected. */
static const char *wrong_word(const struct policy_column *column, double value)
{
    size_t count = 0;

    if (!column->words || value != value)
        return NULL;
    while (column->words[count])
        count++;
    for (size_t i = 0; i < count; i++)
        if (value == (double)i)
            return NULL;
    return count > 0 ? "the index of one of its words" : "no value, as it has no words";
}

static void host_row(struct policy *self, const double *values)
{
    struct copy *copy = copy_behind(self);
    const struct member_state *member = copy->member;
    struct world *world = member->world;
    const struct policy_call *call = sim_record.describe == callback_describe ? sim_record.subject : NULL;

    if (!member->ops->columns) {
        world_wrong(world, member, sim_record.callback, call,
                    "it wrote a row and declares no columns: expected `columns` in its table");
        return;
    }
    for (size_t i = 0; member->ops->columns[i].name; i++) {
        const char *expected = wrong_word(&member->ops->columns[i], values[i]);

        if (!expected)
            continue;
        world_wrong(world, member, sim_record.callback, call, "it wrote a row with %s %.10g: expected %s",
                    member->ops->columns[i].name, values[i], expected);
        return;
    }
    if (world->watch && world->watch->decided)
        world->watch->decided(world->watch->context, &(struct decision){.at = world_now(world),
                                                                        .member = member->index,
                                                                        .copy = copy_named(copy),
                                                                        .values = values});
}

/* --- programs -------------------------------------------------------------------------------------------------------
 */

static void program_wrong(const struct copy *copy)
{
    const struct policy_call *call = sim_record.describe == callback_describe ? sim_record.subject : NULL;

    world_wrong(copy->member->world, copy->member, sim_record.callback, call, "its program %s", copy->adapter->wrong);
}

static const char *host_ask(struct policy *self, const struct policy_program *program, const char *question)
{
    struct copy *copy = copy_behind(self);
    struct world *world = copy->member->world;
    const char *answer;

    if (world->wrong[0])
        return NULL;
    if (!copy->adapter) {
        copy->adapter = arena_zeroed(&world->arena, 1, sizeof *copy->adapter);
        copy->adapter->owner = copy;
        copy->adapter->next = world->adapters;
        world->adapters = copy->adapter;
    }
    answer = adapter_ask(copy->adapter, program, question);
    if (!answer)
        program_wrong(copy);
    return answer;
}

static void host_unfit(struct policy *self, const char *expected)
{
    struct copy *copy = copy_behind(self);

    if (!copy->adapter || copy->member->world->wrong[0])
        return;
    adapter_unfit(copy->adapter, expected);
    program_wrong(copy);
}

void services_end_programs(struct world *world, bool agree)
{
    for (struct adapter *adapter = world->adapters; adapter; adapter = adapter->next) {
        const struct copy *copy = adapter->owner;

        if (agree && !world->wrong[0] && !adapter_agrees(adapter))
            snprintf(world->wrong, sizeof world->wrong, "policy `%s`: its program %s", copy->member->member->name,
                     adapter->wrong);
        adapter_free(adapter);
    }
    world->adapters = NULL;
}

const struct policy_host services = {
    .ln = sim_log,
    .exp = sim_exp,
    .uniform = host_uniform,
    .find = host_find,
    .view = host_view,
    .get = host_get,
    .set = host_set,
    .row = host_row,
    .ask = host_ask,
    .unfit = host_unfit,
};
