/* discover_client.c - the client that probes: sends calls, waits for answers, and counts what that costs.
 *
 * A call is paid for when it is let in, by what it sends and gets, and time as it passes where an hour has a price;
 * what the cap does not bear is neither sent nor waited for, so it is never passed. A call that is refused is counted
 * and costs nothing. A call of the sequence has its own random numbers, whatever came of those before. */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "models/discover_private.h"
#include "models/purpose.h"
#include "models/scenario_hash.h"

struct probe {
    struct event end;
    struct prober *prober;
    struct discover_step *step;
    struct provider_ticket *ticket;
    struct meter_call call;
    sim_time sent;
    bool fails;
    struct probe *next_free;
};

static int by_length(const void *a, const void *b)
{
    sim_time x = *(const sim_time *)a, y = *(const sim_time *)b;

    return (x > y) - (x < y);
}

sim_time discover_median(sim_time *values, size_t count)
{
    if (count == 0)
        return -1;
    qsort(values, count, sizeof *values, by_length);
    return values[(count - 1) / 2];
}

/* --- money -------------------------------------------------------------------------------------------------------- */

static double price_of(const struct prices *prices, const struct discover_shape *shape)
{
    return (prices->input * (double)(shape->input - shape->cached) + prices->cached * (double)shape->cached +
            prices->output * (double)shape->output) /
               1e6 +
           prices->request;
}

static double money(const struct prober *prober)
{
    return prober->call_money + prober->prices->hour * sim_seconds(calendar_now(&prober->calendar)) / 3600;
}

static bool affordable(const struct prober *prober, const struct discover_shape *shape)
{
    const struct discover_spec *asked = prober->asked;

    return shape->input + shape->output <= asked->spend_tokens - prober->found->tokens &&
           (isinf(asked->spend_money) || money(prober) + price_of(prober->prices, shape) <= asked->spend_money);
}

/* Until when the money lasts, were no more calls sent. */
static sim_time money_lasts(const struct prober *prober)
{
    double left = prober->asked->spend_money - prober->call_money, hours;

    if (isinf(prober->asked->spend_money) || prober->prices->hour <= 0)
        return SIM_NEVER;
    hours = left / prober->prices->hour;
    return hours < 1e6 ? (sim_time)(3600e9 * hours) : SIM_NEVER; /* cut, not rounded */
}

/* --- time --------------------------------------------------------------------------------------------------------- */

bool prober_going(const struct prober *prober)
{
    return prober->found->end == DISCOVER_DONE;
}

static bool stopped(struct prober *prober)
{
    if (prober->stop && *prober->stop)
        prober->found->end = DISCOVER_STOPPED;
    return !prober_going(prober);
}

void prober_wait(struct prober *prober, sim_time until)
{
    struct event *event;

    if (prober_going(prober) && until > money_lasts(prober))
        prober->found->end = DISCOVER_CAP;
    while (!stopped(prober) && (event = calendar_next(&prober->calendar, until)) != NULL)
        event->fire(NULL, event);
}

void prober_pause(struct prober *prober, sim_time length)
{
    prober_wait(prober, calendar_now(&prober->calendar) + length);
}

void prober_settle(struct prober *prober)
{
    while (prober->flying > 0 && !stopped(prober)) {
        struct event *event = calendar_next(&prober->calendar, money_lasts(prober));

        if (event)
            event->fire(NULL, event);
        else
            prober->found->end = DISCOVER_CAP;
    }
}

/* --- calls -------------------------------------------------------------------------------------------------------- */

static void add_latency(struct discover_step *step, sim_time latency)
{
    if (step->answered == step->latency_room) {
        step->latency_room = step->latency_room ? 2 * step->latency_room : 64;
        step->latencies = mem_resized(step->latencies, step->latency_room, sizeof *step->latencies);
    }
    step->latencies[step->answered++] = latency;
}

static void probe_ends(void *world, struct event *event)
{
    struct probe *probe = container_of(event, struct probe, end);
    struct prober *prober = probe->prober;
    struct discover_step *step = probe->step;
    struct meter_call real = probe->call;

    (void)world;
    if (probe->fails)
        real.output = 0;
    provider_answers(prober->provider, probe->ticket, &real);
    if (probe->fails) {
        step->failed++;
    } else {
        add_latency(step, calendar_now(&prober->calendar) - probe->sent);
        step->proven += step->shape.cached > 0 && 10 * real.cached >= 9 * (double)step->shape.cached;
    }
    prober->flying--;
    probe->next_free = prober->free;
    prober->free = probe;
}

static struct probe *probe_take(struct prober *prober)
{
    struct probe *probe = prober->free;

    if (probe) {
        prober->free = probe->next_free;
        return probe;
    }
    probe = arena_zeroed(&prober->arena, 1, sizeof *probe);
    probe->ticket = arena_zeroed(&prober->arena, 1, provider_ticket_size(prober->spec));
    probe->prober = prober;
    probe->end.fire = probe_ends;
    return probe;
}

static struct stream numbers_of_call(const struct prober *prober)
{
    return stream_open(
        prober->key,
        (struct stream_address){.purpose = PURPOSE_LATENCY, .entity = prober->entity, .turn = prober->found->calls});
}

bool prober_send(struct prober *prober, struct discover_step *step)
{
    const struct discover_shape *shape = &step->shape;
    struct discovery *found = prober->found;
    struct provider_refusal refusal = {0};
    struct stream stream;
    struct probe *probe;
    bool fails, hit;

    if (stopped(prober))
        return false;
    if (!affordable(prober, shape)) {
        found->end = DISCOVER_CAP;
        return false;
    }
    stream = numbers_of_call(prober);
    fails = prober->spec->errors > 0 && stream_uniform(&stream) < prober->spec->errors;
    hit = shape->cached > 0 && (prober->asked->hits >= 1 || stream_uniform(&stream) < prober->asked->hits);
    probe = probe_take(prober);
    probe->step = step;
    probe->fails = fails;
    probe->sent = calendar_now(&prober->calendar);
    probe->call = (struct meter_call){.input = (double)shape->input,
                                      .cached = hit ? (double)shape->cached : 0,
                                      .output = (double)shape->output,
                                      .max_tokens = (double)shape->output};
    step->sent++;
    step->last = probe->sent;
    found->calls++;
    if (!provider_ask(prober->provider, &probe->call, probe->ticket, &refusal)) {
        step->refused++;
        found->refused++;
        step->told += refusal.retry_after >= 0;
        found->told += refusal.retry_after >= 0;
        probe->next_free = prober->free;
        prober->free = probe;
        return false;
    }
    step->admitted++;
    prober->flying++;
    found->tokens += shape->input + shape->output;
    prober->call_money += price_of(prober->prices, shape);
    calendar_schedule(&prober->calendar, &probe->end,
                      probe->sent + provider_latency(prober->spec, &probe->call, &stream));
    return true;
}

/* --- the report --------------------------------------------------------------------------------------------------- */

struct discover_step *prober_step(struct prober *prober, enum discover_phase phase, const char *what,
                                  struct discover_shape shape, double rate)
{
    struct discovery *found = prober->found;
    struct discover_step *step = arena_zeroed(&found->arena, 1, sizeof *step);

    if (found->count == found->room) {
        found->room = found->room ? 2 * found->room : 32;
        found->steps = mem_resized(found->steps, found->room, sizeof *found->steps);
    }
    found->steps[found->count++] = step;
    *step = (struct discover_step){.phase = phase,
                                   .what = what,
                                   .shape = shape,
                                   .rate = rate,
                                   .at = calendar_now(&prober->calendar),
                                   .last = calendar_now(&prober->calendar),
                                   .latency = -1,
                                   .verdict = ""};
    return step;
}

void prober_judge(struct prober *prober, struct discover_step *step, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    step->verdict = arena_format_list(&prober->found->arena, format, arguments);
    va_end(arguments);
    if (!prober_going(prober))
        step->verdict = prober->found->end == DISCOVER_CAP ? "the cap" : "interrupted";
    step->tokens = prober->found->tokens;
    step->money = money(prober);
}

/* --- its life ----------------------------------------------------------------------------------------------------- */

void prober_init(struct prober *prober, const struct discover_spec *spec, const struct scenario *scenario,
                 size_t backend, const atomic_int *stop, struct discovery *found)
{
    const struct backend *key = &scenario->backends[backend], *pool = &scenario->backends[key->pool];
    uint64_t seed = (uint64_t)(spec->seed >= 0 ? spec->seed : scenario->study.seed);

    *prober = (struct prober){.asked = spec,
                              .spec = pool->provider,
                              .prices = &key->prices,
                              .stop = stop,
                              .found = found,
                              .key = {seed, 1},
                              .entity = scenario_hash_name(pool->name)};
    *found = (struct discovery){.full = spec->context, .context = spec->context, .latency = -1};
    calendar_init(&prober->calendar, seed, 1);
    sim_record.where = &prober->calendar.where;
    prober->provider = provider_new(prober->spec, &prober->calendar, prober->key, prober->entity, &prober->arena);
}

void prober_fini(struct prober *prober)
{
    struct discovery *found = prober->found;

    for (size_t i = 0; i < found->count; i++) {
        struct discover_step *step = found->steps[i];

        step->latency = discover_median(step->latencies, step->answered);
        free(step->latencies);
        step->latencies = NULL;
    }
    found->took = calendar_now(&prober->calendar);
    found->money = money(prober);
    sim_record.where = NULL;
    calendar_fini(&prober->calendar);
    arena_free(&prober->arena);
}

void discovery_fini(struct discovery *discovery)
{
    free(discovery->steps);
    arena_free(&discovery->arena);
    *discovery = (struct discovery){0};
}
