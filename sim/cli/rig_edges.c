/* Gate and call at their edges: every combination of nobody and many, first and last, none and past, with one short
 * life in it that ends in each of the ways there are. */
#include <math.h>
#include <string.h>

#include "sim/cli/rig.h"
#include "sim/io/param.h"

#define TEN_YEARS (INT64_C(3652) * 86400 * POLICY_SECOND)
#define HOUR (3600 * POLICY_SECOND)
#define MANY 1000000
#define MOST_TOKENS 0x1p40
#define EVENTS 100 /* wake-ups and expiries, at most in an hour */

enum load { IDLE, BUSY, CROWD, LOADS };

struct edge {
    enum load load;
    bool late; /* the load comes after the call is admitted */
    bool last; /* it has asked and been held before, and this is the last time that it asks */
    bool deadline;
    uint64_t servers; /* 0: a metered pool */
    policy_time now;  /* when the copy begins */
    double tokens;
    enum policy_end end;
};

/* The digits of a number, each of a base of its own. */
static unsigned digit(unsigned *number, unsigned base)
{
    unsigned last = *number % base;

    *number /= base;
    return last;
}

static bool edge_at(unsigned number, struct edge *edge)
{
    static const uint64_t servers[] = {1, MANY, 0};

    edge->end = (enum policy_end)digit(&number, POLICY_EXPIRED + 1);
    edge->load = (enum load)digit(&number, LOADS);
    edge->late = digit(&number, 2);
    edge->last = digit(&number, 2);
    edge->deadline = digit(&number, 2);
    edge->servers = servers[digit(&number, 3)];
    edge->now = digit(&number, 2) ? TEN_YEARS : 0;
    edge->tokens = digit(&number, 2) ? MOST_TOKENS : 0;
    return number == 0;
}

/* --- the copy ------------------------------------------------------------------------------------------------------
 */

static void copy_lives(struct rig *rig)
{
    for (int i = 0; i < 3 && (i == 0 || rig->wakes != POLICY_NONE); i++) {
        rig->view.now = i ? rig->wakes : rig->view.now;
        rig_tick(rig);
    }
    for (const struct option *option = rig->setting->ops->params; option && option->key; option++)
        if (option->live && option->type <= OPTION_SHARE)
            rig_changes(rig, option, param_get_number(option, rig->policy.params));
}

static void pass(struct rig *rig, policy_time time)
{
    policy_time then = rig->view.now + (time < TEN_YEARS ? time : TEN_YEARS);

    for (int i = 0; i < EVENTS && rig_next(rig, then); i++)
        ;
}

/* --- a call --------------------------------------------------------------------------------------------------------
 */

/* An endless run asks at the door, up to its last time. */
static bool run_begins(struct rig *rig, struct rig_agent *agent, const struct edge *edge)
{
    struct policy_run *run = &agent->run;
    struct policy_answer answer;

    agent->place = RIG_AT_DOOR;
    run->attempt = edge->last ? UINT32_MAX : 1;
    run->last = run->ever_held = edge->last;
    run->held_since = edge->last ? rig->view.now : POLICY_NONE;
    run->deadline = edge->deadline ? edge->now : POLICY_NONE;
    run->input_tokens = run->output_tokens = edge->tokens > 0 ? (double)INFINITY : 0;
    run->first_attempt = rig->view.now;
    answer = rig_run_admit(rig, agent);
    if (answer.action == POLICY_HOLD && !run->last) {
        run->last = run->ever_held = true;
        run->held_since = rig->view.now;
        pass(rig, answer.after);
        if (edge->end == POLICY_ABANDONED) { /* it gives up, held */
            agent->place = RIG_THINKING;
            rig_run_withdrawn(rig, agent);
            return false;
        }
        answer = rig_run_admit(rig, agent);
    }
    agent->place = RIG_THINKING;
    if (answer.action == POLICY_ADMIT)
        rig_run_admitted(rig, agent);
    return answer.action == POLICY_ADMIT;
}

static void attempt(struct rig *rig, struct rig_agent *agent, const struct edge *edge)
{
    struct policy_call *call = &agent->call;

    if (call->attempt == 0) {
        call->attempt = edge->last ? UINT32_MAX - RIG_AGENTS : 0;
        call->first_attempt = rig->view.now;
    }
    call->attempt++;
    call->last = call->ever_held = false;
    call->input_tokens = call->cached_tokens = call->output_tokens = call->input_chars = edge->tokens;
    call->deadline = edge->deadline ? edge->now : POLICY_NONE;
    call->attempted = rig->view.now;
    call->held_since = call->joined = call->started = POLICY_NONE;
    call->hold_until = edge->deadline ? edge->now : POLICY_NONE;
}

static void held(struct rig *rig, struct rig_agent *agent)
{
    agent->call.ever_held = true;
    if (agent->call.held_since == POLICY_NONE)
        agent->call.held_since = rig->view.now;
    rig_joins(rig, agent, RIG_HELD);
}

/* The attempt has ended; taken back, it is given up. */
static void ended(struct rig *rig, struct rig_agent *agent, enum policy_end end)
{
    agent->place = RIG_BACKING_OFF;
    if (rig_finish(rig, agent, end) == POLICY_NONE)
        return;
    agent->call.joined = agent->call.started = POLICY_NONE;
    held(rig, agent);
    agent->place = RIG_BACKING_OFF;
    rig_finish(rig, agent, POLICY_ABANDONED);
}

/* A server is offered: whether the call is served now. */
static bool offered(struct rig *rig, struct rig_agent *agent)
{
    if (rig_start(rig, agent).action != POLICY_ADMIT) {
        ended(rig, agent, POLICY_SHED);
        return false;
    }
    agent->call.started = rig->view.now;
    agent->place = RIG_SERVED;
    return true;
}

/* Asks, and once more for the last time if it is held. */
static bool call_comes(struct rig *rig, struct rig_agent *agent, const struct edge *edge)
{
    struct policy_answer answer = policy_hold(POLICY_SECOND, "another");

    attempt(rig, agent, edge);
    if (edge->last)
        rig_refused(rig, agent, &answer);
    else
        answer = rig_admit(rig, agent);
    if (answer.action == POLICY_HOLD) {
        held(rig, agent);
        pass(rig, answer.after);
        if (edge->end == POLICY_TIMEOUT && !edge->last) {
            ended(rig, agent, POLICY_TIMEOUT);
            return false;
        }
        agent->call.last = true;
        answer = rig_admit(rig, agent);
    }
    agent->place = RIG_BACKING_OFF;
    if (answer.action != POLICY_ADMIT && answer.action != POLICY_DISPLACE)
        return false;
    agent->call.joined = rig->view.now;
    rig_admitted(rig, agent);
    if (rig->servers == 0)
        return offered(rig, agent);
    rig_joins(rig, agent, RIG_WAITING);
    return true;
}

/* A call in service ends so, if it can. */
static void service_ends(struct rig *rig, struct rig_agent *agent, const struct edge *edge)
{
    bool cannot = edge->end == POLICY_SHED || edge->end == POLICY_DISPLACED || edge->end == POLICY_EXPIRED;

    ended(rig, agent, cannot ? POLICY_DONE : edge->end);
}

/* Everybody who waits is offered a server, and ends so. */
static void all_end(struct rig *rig, const struct edge *edge)
{
    struct rig_agent *agent;

    rig->crowd = 0;
    if (rig->servers)
        rig->others = rig->others ? rig->servers - 1 : 0;
    for (size_t i = 0; i < RIG_AGENTS; i++)
        if (rig->agents[i].place == RIG_SERVED)
            service_ends(rig, &rig->agents[i], edge);
    while (!rig->fault[0] && (agent = rig_pick(rig)) != NULL) {
        agent->place = RIG_BACKING_OFF;
        if (edge->end == POLICY_DISPLACED)
            ended(rig, agent, POLICY_DISPLACED);
        else if (offered(rig, agent))
            service_ends(rig, agent, edge);
    }
}

/* --- a life --------------------------------------------------------------------------------------------------------
 */

/* The first of the line waits for an hour, the last has just come; between them there are many. */
static void load(struct rig *rig, const struct edge *edge)
{
    bool line = edge->load == CROWD;

    for (int i = 2; i < 4 && line; i++) {
        line = run_begins(rig, &rig->agents[i], edge) && call_comes(rig, &rig->agents[i], edge);
        if (i == 2)
            pass(rig, HOUR);
    }
    rig->others = edge->load == IDLE ? 0 : rig->servers ? rig->servers : MANY;
    rig->crowd = line && rig->servers && !rig->setting->ops->pick ? MANY : 0;
}

/* Another member refuses an agent's run, and then its attempts, this one unasked. */
static void others_refuse(struct rig *rig, struct rig_agent *agent, const struct edge *edge)
{
    const struct policy_answer others[] = {policy_hold(POLICY_LEAST, NULL), policy_defer(POLICY_NONE, NULL),
                                           policy_defer(TEN_YEARS, "another"), policy_reject(NULL)};

    agent->place = RIG_AT_DOOR;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        rig_run_refused(rig, agent, &others[i]);
    if (!run_begins(rig, agent, edge))
        return;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (i != 1) /* which is still the held one */
            attempt(rig, agent, edge);
        rig_refused(rig, agent, &others[i]);
        agent->place = RIG_BACKING_OFF;
        if (i == 0)
            held(rig, agent);
    }
    rig_run_finish(rig, agent, false);
}

static void live(struct rig *rig, const struct edge *edge)
{
    struct rig_agent *agent = &rig->agents[0];
    bool begun;

    rig->view.now = edge->now;
    rig->servers = edge->servers;
    copy_lives(rig);
    if (!edge->late)
        load(rig, edge);
    begun = run_begins(rig, agent, edge);
    if (begun && call_comes(rig, agent, edge)) {
        if (edge->late)
            load(rig, edge);
        if (edge->end == POLICY_EXPIRED && agent->expires != POLICY_NONE)
            pass(rig, agent->expires - rig->view.now);
    }
    others_refuse(rig, &rig->agents[1], edge);
    all_end(rig, edge);
    if (begun)
        rig_run_finish(rig, agent, edge->end == POLICY_DONE);
}

bool rig_edges(const struct setting *setting, char *fault)
{
    struct edge edge;

    fault[0] = '\0';
    for (unsigned i = 0; !fault[0] && edge_at(i, &edge); i++) {
        struct rig rig;

        rig_init(&rig, setting, i);
        live(&rig, &edge);
        memcpy(fault, rig.fault, RIG_FAULT);
        rig_fini(&rig);
    }
    return !fault[0];
}
