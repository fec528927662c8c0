/* The door. A run that no policy looks at begins at once; else it is admitted, held, deferred (its client backs off as
 * for a call) or rejected.
 *
 * Held runs have no line and no `rank`, unlike held calls. A rank says whose turn it is only where members see the head
 * of the line, and a view's lines are lines of calls: a run has no call yet, so runs would need a line, a head and a
 * tail of their own in the view that every callback gets, for an order that a policy has already by how long it holds
 * each (its priority, value, deadline and first attempt are in what it is asked with). */
#include "models/door.h"

#include "models/agent.h"
#include "models/client.h"
#include "models/foresight.h"
#include "models/host.h"
#include "models/lines.h"

struct door_request {
    struct policy_run facts;
    struct agent *agent;
    struct gate *gate; /* of the run's first backend */
    struct event next; /* asks again */
    bool held;
    sim_time attempted;
    struct client_try try;
};

static void request_asks(struct world *world, struct door_request *request);

static void door_held(struct world *world, const struct door_request *request, int by)
{
    world->door.held.calls += (uint64_t)by;
    world->door.held_totals.calls_by_class[request->facts.klass] += (uint64_t)by;
    world->door.held_totals.calls_by_tenant[request->facts.tenant] += (uint64_t)by;
}

static void request_unheld(struct world *world, struct door_request *request)
{
    if (request->held)
        door_held(world, request, -1);
    request->held = false;
}

/* Out of the held ones, without an answer. */
static void held_withdrawn(struct world *world, struct door_request *request)
{
    if (!request->held)
        return;
    world->door.withdrawn++;
    request_unheld(world, request);
    host_run_withdrawn(request->gate, request->agent, &request->facts);
}

/* The population is smaller now: who stands at the door goes, held or about to come back. */
static bool request_withdrawn(struct world *world, struct door_request *request)
{
    if (agent_belongs(world, request->agent))
        return false;
    held_withdrawn(world, request);
    agent_run_withdrawn(request->agent, world);
    return true;
}

static void request_again(void *world_pointer, struct event *event)
{
    struct door_request *request = container_of(event, struct door_request, next);

    if (!request_withdrawn(world_pointer, request))
        request_asks(world_pointer, request);
}

static void request_holds(struct world *world, struct door_request *request, policy_time after)
{
    sim_time now = world_now(world), cap = agent_spec(world, request->agent)->client.hold_cap;
    sim_time due = cap >= SIM_LONGEST ? SIM_NEVER : request->attempted + cap;
    sim_time at = after > SIM_LONGEST ? now + SIM_LONGEST : now + after;

    if (!request->held) {
        door_held(world, request, 1);
        request->facts.held_since = now;
    }
    request->held = request->facts.ever_held = true;
    if (at > due)
        at = due;
    request->facts.last = at == due;
    calendar_schedule(&world->calendar, &request->next, at);
}

static void request_attempts(struct world *world, struct door_request *request)
{
    request->facts.attempt++;
    request->facts.last = request->facts.ever_held = false;
    request->facts.held_since = POLICY_NONE;
    request->attempted = world_now(world);
    if (request->facts.attempt == 1)
        request->facts.first_attempt = world_now(world);
    request->next.fire = request_again;
    world->door.asked++;
    request_asks(world, request);
}

static void request_returns(void *world_pointer, struct event *event)
{
    struct door_request *request = container_of(event, struct door_request, next);

    if (!request_withdrawn(world_pointer, request))
        request_attempts(world_pointer, request);
}

static void request_refused(struct world *world, struct door_request *request, struct policy_answer answer)
{
    struct agent *agent = request->agent;
    struct client_verdict verdict = {.gives_up = true};

    request_unheld(world, request);
    if (request->facts.last)
        world->door.hold_expired++;
    else if (answer.action == POLICY_REJECT)
        world->door.rejected++;
    else
        world->door.deferred++;
    if (answer.action != POLICY_REJECT)
        verdict =
            client_fails(world, agent, &request->try, 0, answer.action == POLICY_DEFER ? answer.after : POLICY_NONE);
    if (verdict.gives_up) {
        agent_run_refused(agent, world);
        return;
    }
    request->next.fire = request_returns;
    calendar_schedule(&world->calendar, &request->next, world_now(world) + verdict.sleep);
}

static void request_asks(struct world *world, struct door_request *request)
{
    struct policy_answer answer = host_run_admit(request->gate, request->agent, &request->facts);

    if (answer.action == POLICY_HOLD && !request->facts.last) {
        request_holds(world, request, answer.after);
        return;
    }
    if (answer.action != POLICY_ADMIT) {
        request_refused(world, request, answer);
        return;
    }
    request_unheld(world, request);
    world->door.admitted++;
    host_run_admitted(request->gate, request->agent, &request->facts);
    agent_run_begins(request->agent, world);
}

void door_init(struct world *world)
{
    struct door_counts *door = &world->door;

    door->held = totals_init(world, &door->held_totals);
}

/* The gates that calls of the class come to: of its backends in their order, then of its parts. NULL: no more, or this
 * one was among those before. */
static struct gate *gate_of(const struct world *world, const struct agent_class *spec, uint32_t number)
{
    uint32_t index = number < spec->backend_count ? spec->backends[number] : 0;

    if (number < spec->backend_count)
        return &world->gates[index];
    if (number > spec->backend_count || !spec->fan_out)
        return NULL;
    for (uint32_t i = 0; i < spec->backend_count; i++)
        if (spec->backends[i] == spec->fan_out->to)
            return NULL;
    return &world->gates[spec->fan_out->to];
}

/* Does a policy want to hear of runs of the class? */
static bool somebody_listens(const struct world *world, const struct agent_class *spec)
{
    const struct hooks *first = &world->gates[spec->backend].hooks;
    const struct gate *gate;

    if (first->run_admit.count > 0 || first->run_admitted.count > 0)
        return true;
    for (uint32_t i = 0; (gate = gate_of(world, spec, i)); i++)
        if (gate->hooks.run_finish.count > 0)
            return true;
    return false;
}

void door_ask(struct world *world, struct agent *agent)
{
    const struct agent_class *spec = agent_spec(world, agent);
    struct gate *gate = &world->gates[spec->backend];
    struct door_request *request = agent->request;

    if (!somebody_listens(world, spec)) {
        world->door.asked++;
        world->door.admitted++;
        agent_run_begins(agent, world);
        return;
    }
    if (!request)
        request = agent->request = arena_zeroed(&world->arena, 1, sizeof *request);
    *request = (struct door_request){.agent = agent,
                                     .gate = gate,
                                     .facts = {.klass = agent->klass,
                                               .tenant = spec->tenant,
                                               .agent = agent->index,
                                               .run = agent->run,
                                               .priority = spec->priority,
                                               .value = spec->value,
                                               .deadline = agent->run_due > 0 ? agent->run_due : POLICY_NONE}};
    foresight(world, agent, &request->facts);
    client_begins(&request->try, PURPOSE_DOOR, agent->run);
    request_attempts(world, request);
}

void door_withdraw(struct world *world, struct agent *agent)
{
    struct door_request *request = agent->request;

    calendar_cancel(&world->calendar, &request->next);
    held_withdrawn(world, request);
}

void door_run_over(struct world *world, struct agent *agent, bool done)
{
    struct gate *gate;

    world->door.finished++;
    for (uint32_t i = 0; agent->request && (gate = gate_of(world, agent_spec(world, agent), i)); i++)
        host_run_finish(gate, agent, &agent->request->facts, done, i == 0);
}

sim_time door_first_attempt(const struct agent *agent)
{
    return agent->request->facts.first_attempt;
}

bool door_owns(const struct agent *agent, const struct event *event)
{
    return agent->request && event == &agent->request->next;
}

void door_audit(const struct world *world)
{
    const struct door_counts *n = &world->door;
    uint64_t begun = 0, over = 0;

    for (size_t i = 0; i < world->scenario->class_count; i++) {
        begun += world->classes[i].begun;
        over += world->classes[i].over;
    }
    WORLD_ASSERT(world,
                 n->asked == n->admitted + n->deferred + n->rejected + n->withdrawn + n->hold_expired + n->held.calls);
    WORLD_ASSERT(world, n->finished <= n->admitted && n->admitted <= begun + world->restarts && over <= begun);
}
