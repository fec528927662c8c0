/* The bench of policies: its making, what the copy is shown and what it may call. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/adapter.h"
#include "models/services.h"
#include "sim/cli/rig_private.h"
#include "sim/engine/number.h"
#include "sim/engine/where.h"

/* --- what the copy is shown ----------------------------------------------------------------------------------------
 */

bool rig_before(const struct rig_agent *one, const struct rig_agent *other)
{
    return one->rank != other->rank ? one->rank < other->rank : one->joined < other->joined;
}

static void look_at_line(const struct rig *rig, enum rig_place place, struct rig_sums *sums, struct policy_line *line)
{
    const struct rig_agent *head = NULL, *tail = NULL;

    *sums = (struct rig_sums){0};
    line->calls = 0;
    line->tokens = 0;
    for (const struct rig_agent *agent = rig->agents; agent < rig->agents + RIG_AGENTS; agent++) {
        double tokens = agent->call.input_tokens + agent->call.output_tokens;

        if (agent->place != place)
            continue;
        line->calls++;
        line->tokens += tokens;
        sums->calls_by_class[agent->call.klass]++;
        sums->calls_by_tenant[agent->call.tenant]++;
        sums->tokens_by_class[agent->call.klass] += tokens;
        sums->tokens_by_tenant[agent->call.tenant] += tokens;
        head = !head || rig_before(agent, head) ? agent : head;
        tail = !tail || rig_before(tail, agent) ? agent : tail;
    }
    line->head = head ? &head->call : NULL;
    line->tail = tail ? &tail->call : NULL;
}

const struct policy_view *rig_look(struct rig *rig)
{
    struct policy_view *view = &rig->view;

    look_at_line(rig, RIG_HELD, &rig->held, &view->held);
    look_at_line(rig, RIG_WAITING, &rig->waiting, &view->waiting);
    view->waiting.calls += rig->crowd;
    rig->waiting.calls_by_class[0] += rig->crowd;
    rig->waiting.calls_by_tenant[0] += rig->crowd;
    view->servers = rig->servers;
    view->busy = rig->others;
    for (size_t i = 0; i < RIG_AGENTS; i++)
        view->busy += rig->agents[i].place == RIG_SERVED;
    view->in_service = view->busy;
    return view;
}

/* At the door lines have no heads. */
const struct policy_view *rig_look_from_door(struct rig *rig)
{
    rig_look(rig);
    look_at_line(rig, RIG_AT_DOOR, &rig->held, &rig->view.held);
    rig->view.held.head = rig->view.held.tail = NULL;
    rig->view.waiting.head = rig->view.waiting.tail = NULL;
    return &rig->view;
}

/* --- what a policy may call ----------------------------------------------------------------------------------------
 */

static struct rig *rig_behind(struct policy *policy)
{
    return (struct rig *)(void *)((char *)policy - offsetof(struct rig, policy));
}

static double host_uniform(struct policy *self)
{
    return stream_uniform(&rig_behind(self)->uniform);
}

static struct policy *host_find(struct policy *self, const char *name, uint32_t gate)
{
    return gate == 0 && strcmp(name, rig_behind(self)->setting->ops->name) == 0 ? self : NULL;
}

static const struct policy_view *host_view(struct policy *self, uint32_t gate)
{
    return gate == 0 ? rig_look(rig_behind(self)) : NULL;
}

static bool host_get(struct policy *self, struct policy *of, const char *key, double *value)
{
    (void)self;
    rig_refresh(rig_behind(of));
    return services_get(rig_behind(of)->setting->ops, of, key, value);
}

static void set_begins(const void *rig, const char *callback)
{
    rig_begins(rig, callback, NULL);
}

static const char *set_by(struct policy *of, const char *key, double value, enum policy_setter by)
{
    struct rig *rig = rig_behind(of);
    const struct services_target target = {.ops = rig->setting->ops,
                                           .copy = of,
                                           .params = rig->params,
                                           .wanted = rig->wanted,
                                           .now = rig->view.now,
                                           .by = by,
                                           .begins = set_begins,
                                           .host = rig};
    struct sim_record asker = sim_record;
    const char *expected = services_set(&target, key, value);

    sim_record = asker;
    return expected;
}

static const char *host_set(struct policy *self, struct policy *of, const char *key, double value, const char *reason)
{
    (void)self;
    (void)reason;
    return set_by(of, key, value, POLICY_BY_POLICY);
}

/* Reads what it is given, so that sanitizers see a row that is too short. */
static void host_row(struct policy *self, const double *values)
{
    const struct policy_column *column = rig_behind(self)->setting->ops->columns;
    volatile double read;

    for (; column && column->name; column++, values++)
        read = *values;
    (void)read;
}

static void program_wrong(struct rig *rig)
{
    rig_wrong(rig, &sim_record, arena_format(&rig->arena, "its program %s", rig->adapter->wrong));
}

static const char *host_ask(struct policy *self, const struct policy_program *program, const char *question)
{
    struct rig *rig = rig_behind(self);
    const char *answer;

    if (!rig->adapter)
        rig->adapter = arena_zeroed(&rig->arena, 1, sizeof *rig->adapter);
    answer = adapter_ask(rig->adapter, program, question);
    if (!answer)
        program_wrong(rig);
    return answer;
}

static void host_unfit(struct policy *self, const char *expected)
{
    struct rig *rig = rig_behind(self);

    if (!rig->adapter)
        return;
    adapter_unfit(rig->adapter, expected);
    program_wrong(rig);
}

void rig_changes(struct rig *rig, const struct option *option, double value)
{
    set_by(&rig->policy, option->key, value, POLICY_BY_OPERATOR);
}

static const struct policy_host host = {
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

/* --- making one ----------------------------------------------------------------------------------------------------
 */

static void *block(struct rig *rig, size_t size)
{
    return size ? arena_zeroed(&rig->arena, 1, size) : NULL;
}

static void agents_init(struct rig *rig)
{
    const struct policy_ops *ops = rig->setting->ops;
    void *of_class[RIG_CLASSES], *of_tenant[RIG_TENANTS];

    for (size_t i = 0; i < RIG_CLASSES; i++)
        of_class[i] = block(rig, ops->class_size);
    for (size_t i = 0; i < RIG_TENANTS; i++)
        of_tenant[i] = block(rig, ops->tenant_size);
    for (uint32_t i = 0; i < RIG_AGENTS; i++) {
        uint32_t klass = i % RIG_CLASSES, tenant = i / 2 % RIG_TENANTS;
        void *of_run = block(rig, ops->run_size), *of_agent = block(rig, ops->agent_size);

        rig->agents[i].expires = POLICY_NONE;
        rig->agents[i].run = (struct policy_run){.klass = klass,
                                                 .tenant = tenant,
                                                 .agent = i / RIG_CLASSES,
                                                 .turns = INFINITY,
                                                 .priority = klass,
                                                 .value = 1,
                                                 .deadline = POLICY_NONE,
                                                 .held_since = POLICY_NONE,
                                                 .run_state = of_run,
                                                 .agent_state = of_agent,
                                                 .class_state = of_class[klass],
                                                 .tenant_state = of_tenant[tenant]};
        rig->agents[i].call = (struct policy_call){.klass = klass,
                                                   .tenant = tenant,
                                                   .agent = i / RIG_CLASSES,
                                                   .priority = klass,
                                                   .value = 1,
                                                   .deadline = POLICY_NONE,
                                                   .held_since = POLICY_NONE,
                                                   .joined = POLICY_NONE,
                                                   .started = POLICY_NONE,
                                                   .state = block(rig, ops->call_size),
                                                   .run_state = of_run,
                                                   .agent_state = of_agent,
                                                   .class_state = of_class[klass],
                                                   .tenant_state = of_tenant[tenant]};
    }
}

void rig_init(struct rig *rig, const struct setting *setting, uint64_t seed)
{
    const struct policy_ops *ops = setting->ops;

    *rig = (struct rig){.setting = setting, .servers = 3, .wakes = ops->tick ? 0 : POLICY_NONE};
    if (setting->servers)
        rig->servers = setting->servers;
    rig->params = block(rig, ops->params_size);
    rig->wanted = block(rig, ops->params_size);
    if (ops->params_size)
        memcpy(rig->params, setting->params, ops->params_size);
    rig->policy = (struct policy){.host = &host,
                                  .params = rig->params,
                                  .vars = block(rig, ops->vars_size),
                                  .stats = block(rig, ops->stats_size),
                                  .shared = block(rig, ops->shared_size)};
    rig->uniform = stream_open((struct stream_key){seed, 1}, (struct stream_address){.purpose = 1});
    rig->questions = stream_open((struct stream_key){seed, 1}, (struct stream_address){.purpose = 2});
    if (ops->pick)
        rig->waiting_in_flow = arena_zeroed(&rig->arena, ops->flows, sizeof *rig->waiting_in_flow);
    rig->view = (struct policy_view){
        .classes = RIG_CLASSES,
        .tenants = RIG_TENANTS,
        .held = {0, 0, NULL, NULL, rig->held.calls_by_class, rig->held.calls_by_tenant, rig->held.tokens_by_class,
                 rig->held.tokens_by_tenant},
        .waiting = {0, 0, NULL, NULL, rig->waiting.calls_by_class, rig->waiting.calls_by_tenant,
                    rig->waiting.tokens_by_class, rig->waiting.tokens_by_tenant},
    };
    agents_init(rig);
    rig_look(rig);
    if (ops->init) {
        rig_begins(rig, "init", NULL);
        ops->init(&rig->policy);
        rig_ends();
    }
}

void rig_fini(struct rig *rig)
{
    if (rig->adapter)
        adapter_free(rig->adapter);
    arena_free(&rig->arena);
    free(rig->answers);
}
