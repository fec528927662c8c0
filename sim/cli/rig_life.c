/* A random life at the gate that keeps to the protocol of policies/policy.h: runs come to the door, calls are made,
 * held, refused by this member or another, served, timed out and taken back. */
#include <math.h>
#include <string.h>

#include "sim/cli/rig.h"

static uint64_t draw(struct rig *rig, uint64_t below)
{
    return stream_next(&rig->questions) % below;
}

static bool chance(struct rig *rig, uint64_t percent)
{
    return draw(rig, 100) < percent;
}

static void run_over(struct rig *rig, struct rig_agent *agent, bool done)
{
    rig_run_finish(rig, agent, done);
    agent->run.run++;
    agent->turns_left = 0;
    agent->place = RIG_OUTSIDE;
}

/* The call has ended for good, and with it its memory. */
static void call_over(struct rig *rig, struct rig_agent *agent, bool done)
{
    if (agent->call.state)
        memset(agent->call.state, 0, rig->setting->ops->call_size);
    agent->call.turn++;
    agent->place = RIG_THINKING;
    if (--agent->turns_left == 0 || !done)
        run_over(rig, agent, done);
}

static void held(struct rig *rig, struct rig_agent *agent)
{
    if (agent->call.held_since == POLICY_NONE)
        agent->call.held_since = rig->view.now;
    agent->call.ever_held = true;
    if (agent->place != RIG_HELD)
        rig_joins(rig, agent, RIG_HELD);
}

/* The attempt is over; it may be taken back. */
static void attempt_over(struct rig *rig, struct rig_agent *agent, enum policy_end end)
{
    agent->place = RIG_BACKING_OFF;
    if (rig_finish(rig, agent, end) != POLICY_NONE) {
        agent->call.joined = agent->call.started = POLICY_NONE;
        held(rig, agent);
    } else if (end == POLICY_DONE || end == POLICY_ABANDONED) {
        call_over(rig, agent, end == POLICY_DONE);
    }
}

/* A server offers itself to a call that has left the line, or never joined it. */
static void offer(struct rig *rig, struct rig_agent *agent)
{
    agent->place = RIG_BACKING_OFF;
    if (rig_start(rig, agent).action == POLICY_ADMIT) {
        agent->call.started = rig->view.now;
        agent->place = RIG_SERVED;
    } else {
        attempt_over(rig, agent, POLICY_SHED);
    }
}

static void serve(struct rig *rig)
{
    struct rig_agent *next;

    while ((next = rig_pick(rig)) != NULL)
        offer(rig, next);
}

static void admitted(struct rig *rig, struct rig_agent *agent, bool displaces)
{
    struct rig_agent *victim = NULL;

    for (size_t i = 0; displaces && i < RIG_AGENTS; i++)
        if (&rig->agents[i].call == rig->view.waiting.tail)
            victim = &rig->agents[i];
    if (victim)
        victim->place = RIG_BACKING_OFF;
    agent->place = RIG_BACKING_OFF;
    agent->call.joined = rig->view.now;
    rig_admitted(rig, agent);
    if (rig->view.waiting.calls == 0 && rig->view.busy < rig->servers)
        offer(rig, agent);
    else
        rig_joins(rig, agent, RIG_WAITING);
    if (victim)
        attempt_over(rig, victim, POLICY_DISPLACED);
}

/* The answer of another member of the chain, which may stand in front of this one or behind it. */
static struct policy_answer others_answer(struct rig *rig)
{
    switch (draw(rig, 12)) {
    case 0:
        return policy_hold(POLICY_SECOND, "another");
    case 1:
        return policy_defer(30 * POLICY_SECOND, "another");
    case 2:
        return policy_reject("another");
    default:
        return policy_admit();
    }
}

static void ask(struct rig *rig, struct rig_agent *agent)
{
    struct policy_answer other = others_answer(rig), answer = policy_admit();
    bool behind = chance(rig, 50);

    if (other.action == POLICY_ADMIT || !behind)
        answer = rig_admit(rig, agent);
    if (other.action != POLICY_ADMIT && (answer.action == POLICY_ADMIT || answer.action == POLICY_DISPLACE)) {
        answer = other;
        rig_refused(rig, agent, &other);
    }
    if (answer.action == POLICY_ADMIT || answer.action == POLICY_DISPLACE) {
        admitted(rig, agent, answer.action == POLICY_DISPLACE);
    } else if (answer.action == POLICY_HOLD && !agent->call.last) {
        held(rig, agent);
    } else {
        agent->place = RIG_BACKING_OFF;
        if (answer.action == POLICY_REJECT)
            call_over(rig, agent, false);
    }
}

static void attempt(struct rig *rig, struct rig_agent *agent)
{
    struct policy_call *call = &agent->call;

    call->attempt++;
    call->last = call->ever_held = false;
    call->attempted = rig->view.now;
    call->held_since = call->joined = call->started = POLICY_NONE;
    agent->expired = false;
    if (call->attempt == 1)
        call->first_attempt = rig->view.now;
    ask(rig, agent);
}

static void new_call(struct rig *rig, struct rig_agent *agent)
{
    struct policy_call *call = &agent->call;

    call->run = agent->run.run;
    call->attempt = 0;
    call->input_tokens = (double)draw(rig, 8000);
    call->input_chars = 4 * call->input_tokens;
    call->cached_tokens = (double)draw(rig, (uint64_t)call->input_tokens + 1);
    call->output_tokens = (double)(1 + draw(rig, 1000));
    call->deadline = chance(rig, 50) ? rig->view.now + (policy_time)draw(rig, 60) * POLICY_SECOND : POLICY_NONE;
    attempt(rig, agent);
}

/* By this member and another, which may stand in front of it or behind it. */
static struct policy_answer asked_at_door(struct rig *rig, struct rig_agent *agent)
{
    struct policy_answer other = others_answer(rig), answer = policy_admit();

    if (other.action == POLICY_ADMIT || chance(rig, 50))
        answer = rig_run_admit(rig, agent);
    if (other.action == POLICY_ADMIT || answer.action != POLICY_ADMIT)
        return answer;
    rig_run_refused(rig, agent, &other);
    return other;
}

static void ask_at_door(struct rig *rig, struct rig_agent *agent)
{
    struct policy_run *run = &agent->run;
    struct policy_answer answer;
    bool held_there = agent->place == RIG_AT_DOOR;

    if (!held_there) {
        run->attempt++;
        run->last = run->ever_held = false;
        run->held_since = POLICY_NONE;
        if (run->attempt == 1)
            run->first_attempt = rig->view.now;
    }
    answer = asked_at_door(rig, agent);
    if (answer.action == POLICY_HOLD && !run->last) {
        if (!held_there)
            run->held_since = rig->view.now;
        run->ever_held = true;
        run->last = chance(rig, 20);
        agent->place = RIG_AT_DOOR;
        return;
    }
    agent->place = answer.action == POLICY_ADMIT ? RIG_THINKING : RIG_OUTSIDE;
    if (answer.action == POLICY_ADMIT)
        rig_run_admitted(rig, agent);
    if (answer.action == POLICY_REJECT) {
        run->run++;
        agent->turns_left = 0;
    }
}

static void at_door(struct rig *rig, struct rig_agent *agent)
{
    struct policy_run *run = &agent->run;

    if (agent->place == RIG_OUTSIDE && agent->turns_left == 0) { /* a new run */
        agent->turns_left = 1 + (uint32_t)draw(rig, 5);
        run->attempt = 0;
        run->turns = chance(rig, 30) ? (double)INFINITY : agent->turns_left;
        run->output_tokens = run->turns * 300;
        if (run->run_state)
            memset(run->run_state, 0, rig->setting->ops->run_size);
    }
    ask_at_door(rig, agent);
}

static void client_leaves(struct rig *rig, struct rig_agent *agent)
{
    attempt_over(rig, agent, chance(rig, 70) ? POLICY_TIMEOUT : POLICY_ABANDONED);
}

static void served(struct rig *rig, struct rig_agent *agent)
{
    static const enum policy_end ends[] = {POLICY_TIMEOUT, POLICY_ABANDONED, POLICY_OVERLOAD, POLICY_ERROR};
    uint64_t which = draw(rig, 20);

    attempt_over(rig, agent, which < 4 ? ends[which] : POLICY_DONE);
    serve(rig);
}

static void act(struct rig *rig, struct rig_agent *agent)
{
    switch (agent->place) {
    case RIG_OUTSIDE:
    case RIG_AT_DOOR:
        at_door(rig, agent);
        break;
    case RIG_THINKING:
        new_call(rig, agent);
        break;
    case RIG_BACKING_OFF:
        attempt(rig, agent);
        break;
    case RIG_HELD:
        if (chance(rig, 20)) {
            client_leaves(rig, agent);
        } else {
            agent->call.last = chance(rig, 20);
            ask(rig, agent);
        }
        break;
    case RIG_WAITING:
        if (chance(rig, 20))
            client_leaves(rig, agent);
        break;
    case RIG_SERVED:
        served(rig, agent);
        break;
    }
}

/* Now and then a live parameter is set, to a number of its range or outside. */
static void change(struct rig *rig)
{
    const struct option *options = rig->setting->ops->params;
    size_t count = 0;

    while (options && options[count].key)
        count++;
    if (count > 0 && chance(rig, 2))
        rig_changes(rig, &options[draw(rig, count)], (double)draw(rig, 400) / 10);
}

void rig_step(struct rig *rig)
{
    rig_next(rig, rig->view.now + (chance(rig, 20) ? 0 : (policy_time)draw(rig, 2 * (uint64_t)POLICY_SECOND)));
    change(rig);
    act(rig, &rig->agents[draw(rig, RIG_AGENTS)]);
    rig_gauges(rig);
}
