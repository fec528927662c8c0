/* How each callback of a rig is asked, and what became of it. */
#include <math.h>
#include <string.h>

#include "models/scenario_hash.h"
#include "models/services.h"
#include "sim/cli/rig_private.h"
#include "sim/engine/where.h"

/* --- words and answers ---------------------------------------------------------------------------------------------
 */

static void add_number(struct sim_words *words, const char *name, uint64_t number)
{
    sim_words_add(words, name);
    sim_words_number(words, number);
}

/* In a handler of signals too. */
static void describe(const struct sim_record *record, struct sim_words *words)
{
    const struct rig *rig = record->owner;
    const struct rig_agent *agent = record->subject;

    sim_words_add(words, "policy `");
    sim_words_add(words, rig->setting->ops->name);
    sim_words_add(words, "`, callback `");
    sim_words_add(words, record->callback);
    sim_words_add(words, "`");
    if (agent) {
        add_number(words, ", class ", agent->call.klass);
        add_number(words, ", agent ", agent->call.agent);
        add_number(words, ", run ", agent->run.run);
        add_number(words, ", turn ", agent->call.turn);
        add_number(words, ", attempt ", agent->place == RIG_AT_DOOR ? agent->run.attempt : agent->call.attempt);
    }
    sim_words_add(words, ", at ");
    sim_words_time(words, rig->view.now);
    add_number(words, ", waiting ", rig->view.waiting.calls);
    add_number(words, ", servers ", rig->view.servers);
    add_number(words, ", busy ", rig->view.busy);
    if (rig->setting->text[0]) {
        sim_words_add(words, ", with ");
        sim_words_add(words, rig->setting->text);
    }
}

void rig_begins(const struct rig *rig, const char *callback, const struct rig_agent *agent)
{
    sim_record = (struct sim_record){.callback = callback, .owner = rig, .subject = agent, .describe = describe};
}

void rig_ends(void)
{
    sim_record.callback = NULL;
}

static void keep(struct rig *rig, const char *callback, int64_t number, int64_t after, const char *reason)
{
    if (rig->answer_count == rig->answer_room) {
        rig->answer_room = rig->answer_room ? rig->answer_room * 2 : 256;
        rig->answers = mem_resized(rig->answers, rig->answer_room, sizeof *rig->answers);
    }
    rig->answers[rig->answer_count++] =
        (struct rig_answer){callback, number, after, reason ? scenario_hash_name(reason) : 0, false};
}

void rig_wrong(struct rig *rig, const struct sim_record *record, const char *text)
{
    struct sim_words words = {.length = 0};

    if (rig->fault[0])
        return;
    describe(record, &words);
    sim_words_add(&words, ": ");
    sim_words_add(&words, text);
    memcpy(rig->fault, words.text, words.length + 1);
}

static void wrong(struct rig *rig, const char *callback, const struct rig_agent *agent,
                  const struct answer_fault *fault)
{
    rig_wrong(rig, &(struct sim_record){.callback = callback, .owner = rig, .subject = agent}, fault->text);
}

/* --- callbacks -----------------------------------------------------------------------------------------------------
 */

static struct policy_answer judged(struct rig *rig, const char *callback, const struct rig_agent *agent,
                                   struct policy_answer answer, unsigned allowed)
{
    struct answer_fault fault;

    rig_ends();
    keep(rig, callback, (int64_t)answer.action, answer.after, answer.reason);
    if (answer_verdict(&answer, allowed, rig->view.waiting.calls, &fault)) {
        rig->answers[rig->answer_count - 1].verdict = true;
        return answer;
    }
    wrong(rig, callback, agent, &fault);
    return policy_admit();
}

struct policy_answer rig_run_admit(struct rig *rig, struct rig_agent *agent)
{
    const struct policy_ops *ops = rig->setting->ops;
    const struct policy_view *view;

    if (!ops->run_admit)
        return policy_admit();
    view = rig_look_from_door(rig);
    rig_begins(rig, "run_admit", agent);
    return judged(rig, "run_admit", agent, ops->run_admit(&rig->policy, view, &agent->run), ANSWERS_AT_DOOR);
}

void rig_run_admitted(struct rig *rig, struct rig_agent *agent)
{
    const struct policy_view *view;

    if (!rig->setting->ops->run_admitted)
        return;
    view = rig_look_from_door(rig);
    rig_begins(rig, "run_admitted", agent);
    rig->setting->ops->run_admitted(&rig->policy, view, &agent->run);
    rig_ends();
}

void rig_run_refused(struct rig *rig, struct rig_agent *agent, const struct policy_answer *answer)
{
    const struct policy_view *view;

    if (!rig->setting->ops->run_refused)
        return;
    view = rig_look_from_door(rig);
    rig_begins(rig, "run_refused", agent);
    rig->setting->ops->run_refused(&rig->policy, view, &agent->run, answer);
    rig_ends();
}

void rig_run_withdrawn(struct rig *rig, struct rig_agent *agent)
{
    const struct policy_view *view;

    if (!rig->setting->ops->run_withdrawn)
        return;
    view = rig_look_from_door(rig);
    rig_begins(rig, "run_withdrawn", agent);
    rig->setting->ops->run_withdrawn(&rig->policy, view, &agent->run);
    rig_ends();
}

void rig_run_finish(struct rig *rig, struct rig_agent *agent, bool done)
{
    const struct policy_view *view;

    if (!rig->setting->ops->run_finish)
        return;
    view = rig_look_from_door(rig);
    rig_begins(rig, "run_finish", agent);
    rig->setting->ops->run_finish(&rig->policy, view, &agent->run, done);
    rig_ends();
}

struct policy_answer rig_admit(struct rig *rig, struct rig_agent *agent)
{
    const struct policy_ops *ops = rig->setting->ops;
    const struct policy_view *view;

    if (!ops->admit)
        return policy_admit();
    view = rig_look(rig);
    rig_begins(rig, "admit", agent);
    return judged(rig, "admit", agent, ops->admit(&rig->policy, view, &agent->call), ANSWERS_AT_GATE);
}

void rig_admitted(struct rig *rig, struct rig_agent *agent)
{
    const struct policy_view *view = rig_look(rig);
    struct answer_fault fault;
    policy_time lifetime;

    agent->expires = POLICY_NONE;
    agent->expired = false;
    if (!rig->setting->ops->admitted)
        return;
    rig_begins(rig, "admitted", agent);
    lifetime = rig->setting->ops->admitted(&rig->policy, view, &agent->call);
    rig_ends();
    keep(rig, "admitted", lifetime, 0, NULL);
    if (!answer_lifetime(lifetime, &fault))
        wrong(rig, "admitted", agent, &fault);
    else if (lifetime > 0 && lifetime < SIM_LONGEST)
        agent->expires = view->now + lifetime;
}

void rig_refused(struct rig *rig, struct rig_agent *agent, const struct policy_answer *answer)
{
    const struct policy_view *view;

    if (!rig->setting->ops->refused)
        return;
    view = rig_look(rig);
    rig_begins(rig, "refused", agent);
    rig->setting->ops->refused(&rig->policy, view, &agent->call, answer);
    rig_ends();
}

struct policy_answer rig_start(struct rig *rig, struct rig_agent *agent)
{
    const struct policy_ops *ops = rig->setting->ops;
    const struct policy_view *view;

    if (!ops->start)
        return policy_admit();
    view = rig_look(rig);
    rig_begins(rig, "start", agent);
    return judged(rig, "start", agent, ops->start(&rig->policy, view, &agent->call), ANSWERS_AT_START);
}

static policy_time heard_late(struct rig *rig, struct rig_agent *agent, struct policy_outcome *outcome)
{
    const struct policy_view *view = rig_look(rig);

    if (!rig->setting->ops->late)
        return POLICY_NONE;
    if (outcome->end == POLICY_DONE) {
        outcome->input_tokens = agent->call.input_tokens;
        outcome->cached_tokens = agent->call.cached_tokens;
        outcome->output_tokens = agent->call.output_tokens;
    }
    rig_begins(rig, "late", agent);
    rig->setting->ops->late(&rig->policy, view, &agent->call, outcome);
    rig_ends();
    return POLICY_NONE;
}

policy_time rig_finish(struct rig *rig, struct rig_agent *agent, enum policy_end end)
{
    struct policy_outcome outcome = {end, POLICY_NONE, NAN, NAN, NAN};
    const struct policy_view *view;
    struct answer_fault fault;
    policy_time again;

    if (end == POLICY_EXPIRED)
        agent->expired = true;
    else if (agent->expired) /* it has heard already */
        return heard_late(rig, agent, &outcome);
    agent->expires = POLICY_NONE;
    if (!rig->setting->ops->finish)
        return POLICY_NONE;
    if (end == POLICY_DONE) {
        outcome.input_tokens = agent->call.input_tokens;
        outcome.cached_tokens = agent->call.cached_tokens;
        outcome.output_tokens = agent->call.output_tokens;
    } else if (end == POLICY_OVERLOAD) {
        outcome.retry_after = POLICY_SECOND;
    }
    view = rig_look(rig);
    rig_begins(rig, "finish", agent);
    again = rig->setting->ops->finish(&rig->policy, view, &agent->call, &outcome);
    rig_ends();
    keep(rig, "finish", again, (int64_t)end, NULL);
    if (answer_again(end, again, &fault))
        return again;
    wrong(rig, "finish", agent, &fault);
    return POLICY_NONE;
}

void rig_tick(struct rig *rig)
{
    const struct policy_view *view = rig_look(rig);
    struct answer_fault fault;

    rig->wakes = POLICY_NONE;
    if (!rig->setting->ops->tick)
        return;
    rig_begins(rig, "tick", NULL);
    rig->wakes = rig->setting->ops->tick(&rig->policy, view);
    rig_ends();
    keep(rig, "tick", rig->wakes, 0, NULL);
    if (answer_tick(view->now, rig->wakes, &fault))
        return;
    wrong(rig, "tick", NULL, &fault);
    rig->wakes = POLICY_NONE;
}

void rig_joins(struct rig *rig, struct rig_agent *agent, enum rig_place place)
{
    const struct policy_ops *ops = rig->setting->ops;
    const struct policy_view *view = rig_look(rig);
    struct answer_fault fault;

    agent->rank = 0;
    agent->flow = 0;
    agent->joined = rig->joins++;
    if (ops->rank) {
        rig_begins(rig, "rank", agent);
        agent->rank = ops->rank(&rig->policy, view, &agent->call, place == RIG_HELD);
        rig_ends();
        keep(rig, "rank", agent->rank, 0, NULL);
    }
    if (ops->flow && place == RIG_WAITING) {
        rig_begins(rig, "flow", agent);
        agent->flow = ops->flow(&rig->policy, view, &agent->call);
        rig_ends();
        keep(rig, "flow", agent->flow, 0, NULL);
        if (!answer_flow(agent->flow, ops->flows, &fault)) {
            wrong(rig, "flow", agent, &fault);
            agent->flow = 0;
        }
    }
    agent->place = place;
}

/* The first or the last that waits, in a flow if there are flows. */
static struct rig_agent *waiting_at(struct rig *rig, bool newest, const uint32_t *flow)
{
    struct rig_agent *found = NULL;

    for (struct rig_agent *agent = rig->agents; agent < rig->agents + RIG_AGENTS; agent++) {
        if (agent->place != RIG_WAITING || (flow && agent->flow != *flow))
            continue;
        if (!found || (newest ? rig_before(found, agent) : rig_before(agent, found)))
            found = agent;
    }
    return found;
}

struct rig_agent *rig_pick(struct rig *rig)
{
    const struct policy_ops *ops = rig->setting->ops;
    const struct policy_view *view = rig_look(rig);
    struct answer_fault fault;
    bool newest = false;
    uint32_t flow;

    if (view->busy >= view->servers)
        return NULL;
    if (!ops->pick || view->waiting.calls == 0)
        return waiting_at(rig, false, NULL);
    memset(rig->waiting_in_flow, 0, ops->flows * sizeof *rig->waiting_in_flow);
    for (size_t i = 0; i < RIG_AGENTS; i++)
        if (rig->agents[i].place == RIG_WAITING)
            rig->waiting_in_flow[rig->agents[i].flow]++;
    rig_begins(rig, "pick", NULL);
    flow = ops->pick(&rig->policy, view, rig->waiting_in_flow, &newest);
    rig_ends();
    keep(rig, "pick", flow, newest, NULL);
    if (answer_pick(flow, ops->flows, rig->waiting_in_flow, &fault))
        return waiting_at(rig, newest, &flow);
    wrong(rig, "pick", NULL, &fault);
    return waiting_at(rig, false, NULL);
}

bool rig_next(struct rig *rig, policy_time then)
{
    struct rig_agent *expiring = NULL;
    policy_time now = then;

    for (struct rig_agent *agent = rig->agents; agent < rig->agents + RIG_AGENTS; agent++) {
        if ((agent->place == RIG_WAITING || agent->place == RIG_SERVED) && agent->expires != POLICY_NONE &&
            agent->expires <= now) {
            now = agent->expires;
            expiring = agent;
        }
    }
    if (rig->wakes != POLICY_NONE && rig->wakes <= now) {
        rig->view.now = rig->wakes;
        rig_tick(rig);
        return true;
    }
    rig->view.now = now;
    if (expiring)
        rig_finish(rig, expiring, POLICY_EXPIRED);
    return expiring != NULL;
}

void rig_refresh(struct rig *rig)
{
    const struct policy_ops *ops = rig->setting->ops;
    struct sim_record asker = sim_record;

    if (!ops->refresh)
        return;
    rig_begins(rig, "refresh", NULL);
    ops->refresh(&rig->policy, rig->view.now);
    rig_ends();
    sim_record = asker;
}

void rig_gauges(struct rig *rig)
{
    rig_refresh(rig);
    for (const struct policy_gauge *gauge = rig->setting->ops->gauges; gauge && gauge->name; gauge++) {
        double value = 0;
        int64_t bits;

        services_get(rig->setting->ops, &rig->policy, gauge->name, &value);
        memcpy(&bits, &value, sizeof bits);
        keep(rig, gauge->name, bits, 0, NULL);
    }
}
