/* The gate. One function for each step of an attempt's life (policies/policy.h has the picture); every step leaves the
 * call in one place, books it, and tells the policies last, so that they see the gate as it is. */
#include "models/gate.h"

#include "models/agent.h"
#include "models/alerts.h"
#include "models/attempt.h"
#include "models/cards.h"
#include "models/copies.h"
#include "models/death.h"
#include "models/fan_out.h"
#include "models/gate_private.h"
#include "models/host.h"
#include "models/lines.h"
#include "models/serve.h"

/* After so many calls in a row were shed when a server took them, the next is served unasked. */
#define GATE_OFFERS 256

static void call_asks_again(void *world_pointer, struct event *event);
static void call_enters(struct call *call);

static const struct client *call_client(const struct gate *gate, const struct call *call)
{
    return &gate->world->scenario->classes[call->facts.klass].client;
}

/* --- ends ------------------------------------------------------------------------------------------------------- */

/* Held, and asked again `after`, at the latest when its hold cap comes. The cap runs from the attempt, so a call that
 * was taken back (`again`) has the same clock; one past its cap is asked a last time after the wait the policy named.
 */
static void call_held(struct gate *gate, struct call *call, policy_time after)
{
    sim_time now = world_now(gate->world);
    sim_time due = call->facts.hold_until == POLICY_NONE ? SIM_NEVER : call->facts.hold_until;
    sim_time at = after > SIM_LONGEST ? now + SIM_LONGEST : now + after;

    if (call->place != CALL_HELD)
        held_join(gate, call);
    if (at > due && due > now)
        at = due;
    call->facts.last = at >= due;
    call->next.fire = call_asks_again;
    calendar_schedule(&gate->world->calendar, &call->next, at);
}

/* The attempt is over and its call has left its place. Policies hear of it and may take it back to the held line. */
bool gate_attempt_over(struct gate *gate, struct call *call, const struct policy_outcome *outcome)
{
    policy_time again = host_finish(gate, call, outcome);

    if (again != POLICY_NONE) {
        gate->counts.agains++;
        call->facts.joined = call->facts.started = POLICY_NONE;
        call_held(gate, call, again);
        return false;
    }
    calendar_cancel(&gate->world->calendar, &call->timeout);
    return true;
}

/* --- refusals after admission --------------------------------------------------------------------------------------
 */

/* It is nowhere, and refused here: is there another backend that it may ask? Parts have one. */
static bool spills_refused(const struct gate *gate, const struct call *call)
{
    const struct agent_class *spec = &gate->world->scenario->classes[call->facts.klass];

    return spec->spill == SPILL_REFUSED && !call->is_part && call->backend + 1 < spec->backend_count;
}

/* The same attempt, made at the next gate. */
void gate_spill(struct call *call)
{
    call->measure->spilled++;
    agent_call_goes_to(call, call->backend + 1);
    call_enters(call);
}

/* Turned away after it was admitted: shed by `answer`, or displaced. The gate counts what it did; its measure counts
 * refusals that clients see, so not those that a policy took back. */
static void call_turned_away(struct gate *gate, struct call *call, enum policy_end end, struct policy_answer answer)
{
    struct measure *measure = call->measure;
    struct policy_outcome outcome = host_unanswered(end, answer.action == POLICY_DEFER ? answer.after : POLICY_NONE);

    system_leave(gate, call);
    lines_leave(gate, call);
    if (end == POLICY_SHED)
        gate->counts.shed++;
    else
        gate->counts.displaced++;
    if (!gate_attempt_over(gate, call, &outcome))
        return;
    if (spills_refused(gate, call)) {
        gate_spill(call);
        return;
    }
    if (end == POLICY_SHED)
        measure->shed++;
    else
        measure->displaced++;
    attempt_ended(gate, call, end == POLICY_SHED ? ATTEMPT_SHED : ATTEMPT_DISPLACED, answer.reason);
    if (answer.action == POLICY_REJECT)
        agent_rejected(call);
    else
        agent_refused(call, answer.after);
}

/* --- service ---------------------------------------------------------------------------------------------------- */

/* The pool has refused a call that was admitted here. */
static void call_overloaded(struct gate *gate, struct call *call, const struct provider_refusal *refusal)
{
    policy_time retry_after = refusal->retry_after < 0 ? POLICY_NONE : refusal->retry_after;
    struct policy_outcome outcome = host_unanswered(POLICY_OVERLOAD, retry_after);

    system_leave(gate, call);
    lines_leave(gate, call);
    call->place = CALL_NOWHERE;
    gate->counts.overloads++;
    call->measure->overloads++;
    if (gate->alert_count > 0)
        alerts_overload(gate);
    if (!gate_attempt_over(gate, call, &outcome))
        return;
    if (spills_refused(gate, call)) {
        gate_spill(call);
        return;
    }
    attempt_ended(gate, call, ATTEMPT_OVERLOAD, refusal->reason);
    agent_refused(call, retry_after);
}

/* A server takes the call, if the policies and the backend agree. */
static void call_served(struct gate *gate, struct call *call, bool asked)
{
    sim_time now = world_now(gate->world);
    struct measure *measure = call->measure;
    struct provider_refusal refusal;

    if (asked) {
        struct policy_answer answer = host_start(gate, call);

        if (answer.action != POLICY_ADMIT) {
            call_turned_away(gate, call, POLICY_SHED, answer);
            return;
        }
    }
    if (!serve_call(gate, call, &refusal)) {
        call_overloaded(gate, call, &refusal);
        return;
    }
    lines_leave(gate, call);
    call->place = CALL_IN_SERVICE;
    call->facts.started = now;
    gate->in_service++;
    level_change(&gate->busy_level, now, 1);
    gate->started_of_busy += now;
    death_draw(gate, call);
    tally_add(&measure->wait, now - call->facts.joined);
    histogram_add(&measure->waits, now - call->facts.joined);
    if (gate->world->watch && gate->world->watch->started)
        gate->world->watch->started(gate->world->watch->context, &call->facts, gate->index, call->service);
}

/* The call that a policy picks; it stays the next one until its context fits. */
static struct call *gate_pick(struct gate *gate)
{
    bool newest = false;
    struct queue *flow;

    if (!gate->picked) {
        flow = &gate->flows[host_pick(gate, &newest)];
        gate->picked = container_of(newest ? flow->tail : flow->head, struct call, flow);
    }
    return gate->picked;
}

void gate_serve(struct gate *gate)
{
    unsigned offers = 0;

    gate->asked_meanwhile = gate->closed;
    while (!gate->closed && station_idle(&gate->station) > 0 && gate->waiting.length > 0) {
        struct call *call = gate->flow_count ? gate_pick(gate) : container_of(gate->waiting.head, struct call, line);
        uint32_t busy = gate->station.busy;

        if (!serve_ready(gate, call))
            return;
        waiting_leave(gate, call);
        call_served(gate, call, offers < GATE_OFFERS);
        offers = gate->station.busy > busy ? 0 : offers + 1;
    }
}

/* What a call has cost its backend, whoever still wants it. */
static void book_service(struct gate *gate, const struct call *call, uint64_t output)
{
    struct measure *measure = call->measure;
    sim_time now = world_now(gate->world);

    level_change(&gate->busy_level, now, -1);
    gate->served += now - call->job.started;
    gate->started_of_busy -= call->job.started;
    tally_add(&measure->service, now - call->job.started);
    measure->served++;
    if (call->facts.input_tokens > 0) {
        measure->served_input += (uint64_t)call->facts.input_tokens;
        measure->served_cached += (uint64_t)call->cached;
    }
    measure->served_tokens += output;
}

static void call_answered(struct gate *gate, struct call *call, uint64_t tokens)
{
    struct measure *measure = call->measure;
    sim_time now = world_now(gate->world);

    gate->counts.done++;
    if (!call->is_part && !gate->world->scenario->classes[call->facts.klass].fan_out) { /* else models/agent.c does */
        measure_turn(measure, tokens, call->facts.deadline, now);
    }
    tally_add(&measure->total_wait, call->facts.started - call->facts.first_attempt);
    histogram_add(&measure->total_waits, call->facts.started - call->facts.first_attempt);
    tally_add(&measure->response, now - call->facts.first_attempt);
    histogram_add(&measure->responses, now - call->facts.first_attempt);
    if (call->agent->scheduled >= 0 && !call->is_part) {
        tally_add(&measure->late, now - call->agent->scheduled);
        histogram_add(&measure->lateness, now - call->agent->scheduled);
    }
    gate_attempt_over(gate, call,
                      &(struct policy_outcome){POLICY_DONE, POLICY_NONE, call->facts.input_tokens, call->cached,
                                               call->facts.output_tokens});
    attempt_ended(gate, call, ATTEMPT_ANSWERED, NULL);
    if (call->is_part)
        fan_out_suffices(call);
    gate_serve(gate);
    agent_answered(call);
}

void gate_answers(struct gate *gate, struct call *call, bool failed)
{
    struct policy_outcome outcome = host_unanswered(POLICY_ERROR, POLICY_NONE);
    uint64_t tokens = failed ? 0 : (uint64_t)call->facts.output_tokens;

    book_service(gate, call, tokens);
    if (!call->agent) { /* its client had left */
        call->measure->wasted_tokens += tokens;
        if (call->former) {
            call->served = true;
            call_forgotten(gate->world, call);
        } else {
            call_give(gate->world, call);
        }
        gate_serve(gate);
        return;
    }
    gate->in_service--;
    system_leave(gate, call);
    call->place = CALL_NOWHERE;
    if (!failed) {
        call_answered(gate, call, tokens);
        return;
    }
    gate->counts.errors++;
    call->measure->errors++;
    outcome.input_tokens = call->facts.input_tokens;
    outcome.cached_tokens = call->cached;
    outcome.output_tokens = 0;
    if (!gate_attempt_over(gate, call, &outcome))
        return;
    attempt_ended(gate, call, ATTEMPT_ERROR, NULL);
    agent_refused(call, POLICY_NONE);
}

/* --- attempts --------------------------------------------------------------------------------------------------- */

static void call_admitted(struct gate *gate, struct call *call, struct policy_answer answer)
{
    sim_time now = world_now(gate->world);
    struct call *victim = NULL;

    if (call->place == CALL_HELD)
        held_leave(gate, call);
    if (answer.action == POLICY_DISPLACE) {
        victim = container_of(gate->waiting.tail, struct call, line);
        waiting_leave(gate, victim);
    }
    gate->counts.admitted++;
    call->facts.joined = now;
    level_change(&gate->system_level, now, 1);
    gate->joined_of_present += now;
    host_admitted(gate, call);
    if (gate->cards)
        cards_admitted(gate, call);
    if (gate->waiting.length == 0 && !victim && serve_ready(gate, call)) {
        call_served(gate, call, true);
        return;
    }
    waiting_join(gate, call);
    if (victim) /* last, as its client may do anything now */
        call_turned_away(gate, victim, POLICY_DISPLACED, policy_defer(POLICY_NONE, answer.reason));
    if (station_idle(&gate->station) > 0) /* the head of the line lacks memory; whoever is that now may not */
        gate_serve(gate);
}

static void call_not_admitted(struct gate *gate, struct call *call, struct policy_answer answer)
{
    struct measure *measure = call->measure;
    enum attempt_verdict verdict = ATTEMPT_DEFERRED;

    if (answer.action == POLICY_HOLD && !call->facts.last) {
        call_held(gate, call, answer.after);
        return;
    }
    if (call->place == CALL_HELD)
        held_leave(gate, call);
    lines_leave(gate, call);
    if (spills_refused(gate, call)) {
        gate->counts.spilled++;
        calendar_cancel(&gate->world->calendar, &call->timeout);
        gate_spill(call);
        return;
    }
    if (call->facts.last) {
        verdict = ATTEMPT_HOLD_EXPIRED;
        gate->counts.hold_expired++;
        measure->hold_expired++;
    } else if (answer.action == POLICY_REJECT) {
        verdict = ATTEMPT_REJECTED;
        gate->counts.rejected++;
        measure->rejected++;
    } else {
        gate->counts.deferred++;
        measure->deferred++;
    }
    calendar_cancel(&gate->world->calendar, &call->timeout);
    attempt_ended(gate, call, verdict, answer.reason);
    if (answer.action == POLICY_REJECT)
        agent_rejected(call);
    else
        agent_refused(call, answer.action == POLICY_DEFER ? answer.after : POLICY_NONE);
}

static void call_asks(struct gate *gate, struct call *call)
{
    struct policy_answer answer = host_admit(gate, call);

    if (answer.action == POLICY_ADMIT || answer.action == POLICY_DISPLACE)
        call_admitted(gate, call, answer);
    else
        call_not_admitted(gate, call, answer);
}

static void call_asks_again(void *world_pointer, struct event *event)
{
    struct call *call = container_of(event, struct call, next);

    (void)world_pointer;
    call_asks(call->gate, call);
}

/* An attempt comes to a gate: it is made there, or was refused before. */
static void call_enters(struct call *call)
{
    struct gate *gate = call->gate;
    const struct client *client = call_client(gate, call);
    sim_time now = world_now(gate->world), timeout = client->layers[0].timeout;

    call->place = CALL_NOWHERE;
    call->arrived = now;
    call->facts.last = call->facts.ever_held = false;
    call->facts.held_since = call->facts.joined = call->facts.started = POLICY_NONE;
    call->facts.hold_until = client->hold_cap < SIM_LONGEST ? call->facts.attempted + client->hold_cap : POLICY_NONE;
    call->measure = &(call->is_part ? gate->parts : gate->measures)[call->facts.klass];
    gate->counts.attempts++;
    call->measure->attempts++;
    if (timeout < SIM_LONGEST) {
        call->timeout.fire = gate_times_out;
        calendar_schedule(&gate->world->calendar, &call->timeout, call->facts.attempted + timeout);
    }
    call->spill.fire = gate_waited;
    call_asks(gate, call);
}

void gate_attempt(struct call *call)
{
    sim_time now = world_now(call->gate->world);

    call->facts.attempt++;
    call->facts.attempted = now;
    call->services = 0;
    call->bypasses = call_client(call->gate, call)->bypass && call->facts.attempt > 1;
    if (call->facts.attempt == 1)
        call->facts.first_attempt = now;
    call_enters(call);
}
