/* Calling the members of a chain, and checking what they answer. */
#include "models/host.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "models/answer.h"
#include "models/callback.h"
#include "models/copies.h"
#include "models/lines.h"

void world_wrong(struct world *world, const struct member_state *member, const char *callback,
                 const struct policy_call *call, const char *format, ...)
{
    const struct sim_record record = {.callback = callback, .owner = member, .subject = call};
    struct sim_words words = {.length = 0};
    char what[400];
    va_list arguments;

    if (world->wrong[0])
        return;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    callback_describe(&record, &words);
    sim_words_add(&words, ", at ");
    sim_words_time(&words, world_now(world));
    sim_words_add(&words, ": ");
    sim_words_add(&words, what);
    memcpy(world->wrong, words.text, words.length + 1);
}

/* Is this an answer that the callback may give? Else the trial ends, and the attempt is refused for the rest of it. */
static bool answer_stands(struct gate *gate, const struct member_state *member, const char *callback,
                          const struct policy_call *call, const struct policy_answer *answer, unsigned allowed)
{
    struct answer_fault fault;

    if (answer->action == POLICY_ADMIT || answer_verdict(answer, allowed, gate->waiting.length, &fault))
        return true;
    world_wrong(gate->world, member, callback, call, "%s", fault.text);
    return false;
}

/* --- calls ---------------------------------------------------------------------------------------------------------
 */

/* The copy that a callback about the call goes to, and the record of it. */
static struct policy *call_begins(struct gate *gate, struct member_state *member, struct call *call,
                                  const char *callback)
{
    struct policy *policy = &copy_of(member, gate, call->facts.klass, call->facts.tenant, call->agent)->policy;

    if (member->stateful) {
        bind_call(gate, member, &call->facts);
        bind_lines(gate, member);
    }
    callback_begins(member, callback, &call->facts);
    return policy;
}

/* The others hear that a member did not admit. */
static void tell_refused(struct gate *gate, struct call *call, const struct policy_view *view,
                         const struct member_state *by, const struct policy_answer *answer)
{
    for (size_t i = 0; i < gate->hooks.refused.count; i++) {
        struct member_state *member = gate->hooks.refused.members[i];
        struct policy *policy;

        if (member == by)
            continue;
        policy = call_begins(gate, member, call, "refused");
        member->ops->refused(policy, view, &call->facts, answer);
        callback_ends();
    }
}

struct policy_answer host_members_admit(struct gate *gate, struct call *call)
{
    struct policy_answer verdict = policy_admit();
    const struct policy_view *view = gate_view(gate);

    for (size_t i = 0; i < gate->hooks.admit.count; i++) {
        struct member_state *member = gate->hooks.admit.members[i];
        struct policy *policy = call_begins(gate, member, call, "admit");
        struct policy_answer answer = member->ops->admit(policy, view, &call->facts);

        callback_ends();
        if (!answer_stands(gate, member, "admit", &call->facts, &answer, ANSWERS_AT_GATE))
            return policy_reject("wrong answer");
        if (answer.action == POLICY_ADMIT)
            continue;
        if (answer.action == POLICY_DISPLACE) {
            verdict = answer;
            continue;
        }
        tell_refused(gate, call, view, member, &answer);
        return answer;
    }
    return verdict;
}

void host_members_admitted(struct gate *gate, struct call *call)
{
    const struct policy_view *view = gate_view(gate);
    struct answer_fault fault;

    for (size_t i = 0; i < gate->hooks.admitted.count; i++) {
        struct member_state *member = gate->hooks.admitted.members[i];
        struct policy *policy = call_begins(gate, member, call, "admitted");
        policy_time lifetime = member->ops->admitted(policy, view, &call->facts);

        callback_ends();
        if (answer_lifetime(lifetime, &fault))
            record_keep(gate, member, call, lifetime);
        else
            world_wrong(gate->world, member, "admitted", &call->facts, "%s", fault.text);
    }
}

struct policy_answer host_members_start(struct gate *gate, struct call *call)
{
    const struct policy_view *view = gate_view(gate);

    for (size_t i = 0; i < gate->hooks.start.count; i++) {
        struct member_state *member = gate->hooks.start.members[i];
        struct policy *policy = call_begins(gate, member, call, "start");
        struct policy_answer answer = member->ops->start(policy, view, &call->facts);

        callback_ends();
        if (!answer_stands(gate, member, "start", &call->facts, &answer, ANSWERS_AT_START))
            return policy_reject("wrong answer");
        if (answer.action != POLICY_ADMIT)
            return answer;
    }
    return policy_admit();
}

static void tell_late(struct gate *gate, struct member_state *member, struct call *call,
                      const struct policy_outcome *outcome)
{
    const struct policy_view *view = gate_view(gate);
    struct policy *policy;

    if (!member->ops->late)
        return;
    policy = call_begins(gate, member, call, "late");
    member->ops->late(policy, view, &call->facts, outcome);
    callback_ends();
}

policy_time host_members_finish(struct gate *gate, struct call *call, const struct policy_outcome *outcome)
{
    policy_time again = POLICY_NONE;
    struct answer_fault fault;
    const struct policy_view *view = gate_view(gate);

    for (size_t i = 0; i < gate->hooks.finish.count; i++) {
        struct member_state *member = gate->hooks.finish.members[i];
        struct policy *policy;
        policy_time answer;

        if (!record_close(gate, member, call)) {
            tell_late(gate, member, call, outcome);
            continue;
        }
        policy = call_begins(gate, member, call, "finish");
        answer = member->ops->finish(policy, view, &call->facts, outcome);
        callback_ends();
        if (!answer_again(outcome->end, answer, &fault))
            world_wrong(gate->world, member, "finish", &call->facts, "%s", fault.text);
        else if (again == POLICY_NONE)
            again = answer;
    }
    return again;
}

int64_t host_member_rank(struct gate *gate, struct call *call, bool held)
{
    struct member_state *member = gate->hooks.rank;
    const struct policy_view *view = gate_view(gate);
    struct policy *policy = call_begins(gate, member, call, "rank");
    int64_t rank = member->ops->rank(policy, view, &call->facts, held);

    callback_ends();
    return rank;
}

uint32_t host_flow(struct gate *gate, struct call *call)
{
    struct member_state *member = gate->hooks.pick;
    const struct policy_view *view = gate_view(gate);
    struct answer_fault fault;
    struct policy *policy;
    uint32_t flow;

    if (!member->ops->flow)
        return 0;
    policy = call_begins(gate, member, call, "flow");
    flow = member->ops->flow(policy, view, &call->facts);
    callback_ends();
    if (answer_flow(flow, gate->flow_count, &fault))
        return flow;
    world_wrong(gate->world, member, "flow", &call->facts, "%s", fault.text);
    return 0;
}

uint32_t host_pick(struct gate *gate, bool *newest)
{
    struct member_state *member = gate->hooks.pick;
    const struct policy_view *view = gate_view(gate);
    struct copy *copy = copy_of(member, gate, 0, 0, NULL); /* its scope is all or gate: models/chain_read.c */
    struct answer_fault fault;
    uint32_t flow = 0;

    *newest = false;
    if (member->ops->pick) {
        if (member->stateful)
            bind_lines(gate, member);
        callback_begins(member, "pick", NULL);
        flow = member->ops->pick(&copy->policy, view, gate->waiting_in_flow, newest);
        callback_ends();
        if (answer_pick(flow, gate->flow_count, gate->waiting_in_flow, &fault))
            return flow;
        world_wrong(gate->world, member, "pick", NULL, "%s", fault.text);
    }
    for (flow = 0; gate->waiting_in_flow[flow] == 0; flow++)
        ;
    return flow;
}

/* --- runs ----------------------------------------------------------------------------------------------------------
 */

static struct policy *run_begins(struct gate *gate, struct member_state *member, struct agent *agent,
                                 struct policy_run *run, const char *callback)
{
    struct policy *policy = &copy_of(member, gate, run->klass, run->tenant, agent)->policy;

    bind_run(gate, member, agent, run);
    callback_begins_run(member, callback, run);
    return policy;
}

static struct policy_view door_view(struct gate *gate)
{
    struct policy_view view = *gate_view(gate);

    view.held = gate->world->door.held;
    view.waiting.head = view.waiting.tail = NULL;
    return view;
}

/* The others hear that a member did not admit. */
static void tell_run_refused(struct gate *gate, struct agent *agent, struct policy_run *run,
                             const struct policy_view *view, const struct member_state *by,
                             const struct policy_answer *answer)
{
    for (size_t i = 0; i < gate->hooks.run_refused.count; i++) {
        struct member_state *member = gate->hooks.run_refused.members[i];
        struct policy *policy;

        if (member == by)
            continue;
        policy = run_begins(gate, member, agent, run, "run_refused");
        member->ops->run_refused(policy, view, run, answer);
        callback_ends();
    }
}

struct policy_answer host_run_admit(struct gate *gate, struct agent *agent, struct policy_run *run)
{
    struct policy_view view = door_view(gate);

    for (size_t i = 0; i < gate->hooks.run_admit.count; i++) {
        struct member_state *member = gate->hooks.run_admit.members[i];
        struct policy *policy = run_begins(gate, member, agent, run, "run_admit");
        struct policy_answer answer = member->ops->run_admit(policy, &view, run);

        callback_ends();
        if (!answer_stands(gate, member, "run_admit", NULL, &answer, ANSWERS_AT_DOOR))
            return policy_reject("wrong answer");
        if (answer.action == POLICY_ADMIT)
            continue;
        tell_run_refused(gate, agent, run, &view, member, &answer);
        return answer;
    }
    return policy_admit();
}

void host_run_admitted(struct gate *gate, struct agent *agent, struct policy_run *run)
{
    struct policy_view view = door_view(gate);

    for (size_t i = 0; i < gate->hooks.run_admitted.count; i++) {
        struct member_state *member = gate->hooks.run_admitted.members[i];
        struct policy *policy = run_begins(gate, member, agent, run, "run_admitted");

        member->ops->run_admitted(policy, &view, run);
        callback_ends();
    }
}

void host_run_withdrawn(struct gate *gate, struct agent *agent, struct policy_run *run)
{
    struct policy_view view = door_view(gate);

    for (size_t i = 0; i < gate->hooks.run_withdrawn.count; i++) {
        struct member_state *member = gate->hooks.run_withdrawn.members[i];
        struct policy *policy = run_begins(gate, member, agent, run, "run_withdrawn");

        member->ops->run_withdrawn(policy, &view, run);
        callback_ends();
    }
}

void host_run_finish(struct gate *gate, struct agent *agent, struct policy_run *run, bool done, bool first)
{
    struct policy_view view = door_view(gate);

    for (size_t i = 0; i < gate->hooks.run_finish.count; i++) {
        struct member_state *member = gate->hooks.run_finish.members[i];
        struct policy *policy;

        if (!first && member->member->scope == SCOPE_ALL && member->member->at < 0)
            continue;
        policy = run_begins(gate, member, agent, run, "run_finish");
        member->ops->run_finish(policy, &view, run, done);
        callback_ends();
    }
}

/* --- hooks ---------------------------------------------------------------------------------------------------------
 */

static void hook_add(struct world *world, struct hook *hook, struct member_state *member, bool has)
{
    if (!has)
        return;
    if (!hook->members)
        hook->members = arena_zeroed(&world->arena, world->member_count, sizeof(struct member_state *));
    hook->members[hook->count++] = member;
}

void host_hooks(struct world *world, struct gate *gate, uint32_t index)
{
    struct hooks *hooks = &gate->hooks;

    for (size_t i = 0; i < world->member_count; i++) {
        struct member_state *member = &world->members[i];
        const struct policy_ops *ops = member->ops;

        if (member->member->at >= 0 && member->member->at != (int64_t)index)
            continue;
        hook_add(world, &hooks->admit, member, ops->admit != NULL);
        hook_add(world, &hooks->admitted, member, ops->admitted != NULL);
        hook_add(world, &hooks->refused, member, ops->refused != NULL);
        hook_add(world, &hooks->start, member, ops->start != NULL);
        hook_add(world, &hooks->finish, member, ops->finish != NULL);
        hook_add(world, &hooks->run_admit, member, ops->run_admit != NULL);
        hook_add(world, &hooks->run_admitted, member, ops->run_admitted != NULL);
        hook_add(world, &hooks->run_refused, member, ops->run_refused != NULL);
        hook_add(world, &hooks->run_withdrawn, member, ops->run_withdrawn != NULL);
        hook_add(world, &hooks->run_finish, member, ops->run_finish != NULL);
        if (ops->rank)
            hooks->rank = member;
        if (ops->pick)
            hooks->pick = member;
    }
}
