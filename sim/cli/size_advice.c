/* size_advice.c - which setting of the user's own stack the number belongs to, and what the model leaves out. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "sim/cli/sizing.h"

static bool ends_in(const char *address, const char *end)
{
    size_t length = strlen(address), tail = strlen(end);

    return length >= tail && strcmp(address + length - tail, end) == 0;
}

/* The first slots backend, or NULL. */
static const struct backend *slots_of(const struct scenario *scenario)
{
    for (size_t i = 0; i < scenario->backend_count; i++)
        if (scenario->backends[i].kind == BACKEND_SLOTS)
            return &scenario->backends[i];
    return NULL;
}

/* An engine's limit of running sequences is no cap: it lets all the others wait in its own line. */
static void say_slots(const struct scenario *scenario, struct table *table)
{
    const struct backend *slots = slots_of(scenario);

    if (slots)
        table_note(table,
                   "In the engine: max_num_seqs (or the number of slots) of %s is %" PRIu32
                   "; it caps what runs and lets the rest wait, so a limit of who waits stands before it.",
                   slots->name, slots->servers);
}

static void say_knob(const char *address, const struct scenario *scenario, const char *answer, struct table *table)
{
    if (ends_in(address, ".population")) {
        table_note(table,
                   "In your stack: the number of agents that may be at work at once, in whatever starts them, is %s.",
                   answer);
        say_slots(scenario, table);
    } else if (ends_in(address, ".servers")) {
        table_note(table, "In your stack: max_num_seqs, or the number of slots that the engine decodes at once, is %s.",
                   answer);
    } else if (strstr(address, ".cards.")) {
        table_note(table, "In your stack: the replicas that the autoscaler may or must keep (%s) are %s.", address,
                   answer);
    } else if (ends_in(address, ".cap") || ends_in(address, ".limit") || ends_in(address, ".most")) {
        table_note(
            table,
            "In your stack: the limit of requests in flight in the gateway before the engine, which answers the rest "
            "with 429, is %s.",
            answer);
        say_slots(scenario, table);
    } else if (ends_in(address, ".rate") || ends_in(address, ".r_tok") || ends_in(address, ".r_qps")) {
        table_note(table, "In your stack: the rate of the limiter (%s) is %s.", address, answer);
    } else {
        table_note(table, "In your stack: %s is %s.", address, answer);
    }
}

/* What is missing from these backends, and is known to matter. */
static void say_not_modelled(const struct scenario *scenario, struct table *table)
{
    const char *lacks[8], *text = "";
    size_t count = 0;
    const struct backend *slots = slots_of(scenario);
    bool prefills = slots && isfinite(slots->prefill), pool = false;

    for (size_t i = 0; i < scenario->backend_count; i++)
        pool = pool || scenario->backends[i].kind == BACKEND_PROVIDER;
    if (slots && slots->kv == UINT64_MAX)
        lacks[count++] = "KV memory that runs out (kv)";
    if (slots && !prefills)
        lacks[count++] = "the time to read a prompt (prefill)";
    if (slots && slots->service)
        lacks[count++] = "that service depends on tokens (rate, throughput)";
    else if (slots && slots->constant)
        lacks[count++] = "that a slot slows down as more are busy (throughput, step_time)";
    if (slots)
        lacks[count++] = "chunked prefill and preemption inside the engine";
    if (pool)
        lacks[count++] = "limits that a provider does not publish, unless the scenario states them";
    lacks[count++] = "networks and failures of machines";
    for (size_t i = 0; i < count; i++)
        text = arena_format(&table->arena, "%s%s%s", text, i > 0 ? "; " : "", lacks[i]);
    table_note(table, "Not modelled: %s.", text);
}

void size_advice(const struct sizing *sizing, struct table *table)
{
    const struct plan *plan = &sizing->session.plan;
    const struct scenario *scenario = plan->points[0].scenario;

    for (size_t i = 0; i < sizing->group_count && sizing->spec->goal_count > 0; i++) {
        const struct size_group *group = &sizing->groups[i];

        if (group->search.answer == group->count)
            continue;
        say_knob(plan->factor_names[plan->factor_count - 1], plan->points[group->first + group->search.answer].scenario,
                 sizing->group_count == 1 ? sizing_size(sizing, group, group->search.answer) : "the number above",
                 table);
        break;
    }
    say_not_modelled(scenario, table);
}
