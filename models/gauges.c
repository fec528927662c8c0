/* Gauges: naming them, reading them. */
#include "models/gauges.h"

#include <math.h>
#include <string.h>

#include "models/cards.h"
#include "models/door.h"
#include "models/lines.h"
#include "models/provider.h"
#include "models/services.h"
#include "models/world.h"

/* --- which there are ------------------------------------------------------------------------------------------------
 */

static const struct gauge of_gate[] = {
    {"held", "calls", "calls that are held at the gate", .kind = GAUGE_HELD},
    {"waiting", "calls", "admitted calls that wait for a server", .kind = GAUGE_WAITING},
    {"in_service", "calls", "calls in service whose client is still there", .kind = GAUGE_IN_SERVICE},
    {"busy", "calls", "calls in service, those included whose client has left", .kind = GAUGE_BUSY},
    {"oldest", "s", "age, since its attempt, of the oldest call held or waiting; 0: there is none",
     .kind = GAUGE_OLDEST},
    {"overloads", "calls", "attempts that the provider refused (429) in the last minute", .kind = GAUGE_OVERLOADS},
};

static const struct gauge of_cards[] = {
    {"cards.up", "cards", "cards that take calls", .kind = GAUGE_CARDS_UP},
    {"cards.cold", "cards", "cards that start and serve nothing yet", .kind = GAUGE_CARDS_COLD},
    {"cards.drain", "cards", "cards that take no new call and end when they are empty", .kind = GAUGE_CARDS_DRAIN},
};

static const struct gauge of_all[] = {
    {"tasks", "agents", "agents alive: those of populations, and runs that have arrived and not ended",
     .kind = GAUGE_TASKS},
    {"booting", "agents", "of the agents alive, those that boot", .kind = GAUGE_BOOTING},
    {"asking", "runs", "runs at the door that are not let in yet: held, or to ask again", .kind = GAUGE_ASKING},
    {"asking_oldest", "s", "age, since it asked first, of the oldest run at the door; 0: there is none",
     .kind = GAUGE_ASKING_OLDEST},
};

/* Behind the name of the meter; the unit is its own. */
static const struct gauge of_meters[] = {
    {"left", "", "what could be taken from the meter at once", .kind = GAUGE_METER_LEFT},
    {"limit", "", "the meter's limit, which callers are not told", .kind = GAUGE_METER_LIMIT},
};

#define COUNT_OF(list) (sizeof(list) / sizeof *(list))

const struct gauge *gauges_word(size_t index)
{
    static const struct {
        const struct gauge *list;
        size_t count;
    } lists[] = {{of_all, COUNT_OF(of_all)},
                 {of_gate, COUNT_OF(of_gate)},
                 {of_meters, COUNT_OF(of_meters)},
                 {of_cards, COUNT_OF(of_cards)}};

    for (size_t i = 0; i < COUNT_OF(lists); i++) {
        if (index < lists[i].count)
            return &lists[i].list[index];
        index -= lists[i].count;
    }
    return NULL;
}

struct collection {
    const struct scenario *scenario;
    struct arena *arena;
    struct gauges gauges;
    size_t room;
};

static void add(struct collection *to, struct gauge gauge)
{
    if (to->gauges.count == to->room) {
        struct gauge *before = to->gauges.list;

        to->room = to->room ? 2 * to->room : 32;
        to->gauges.list = arena_zeroed(to->arena, to->room, sizeof *to->gauges.list);
        if (before)
            memcpy(to->gauges.list, before, to->gauges.count * sizeof *before);
    }
    to->gauges.list[to->gauges.count++] = gauge;
}

/* What stands before the names of a gate: "card.", or nothing where there is no other. */
static const char *prefix_of(const struct collection *of, uint32_t gate)
{
    return of->scenario->backend_count > 1 ? arena_format(of->arena, "%s.", of->scenario->backends[gate].name) : "";
}

static void add_gate(struct collection *to, uint32_t gate)
{
    for (size_t i = 0; i < COUNT_OF(of_gate); i++) {
        struct gauge gauge = of_gate[i];

        gauge.name = arena_format(to->arena, "%s%s", prefix_of(to, gate), of_gate[i].name);
        gauge.gate = gate;
        add(to, gauge);
    }
}

/* The gauges of one copy, or of all copies of agents. `whose`: "NAME." of its class or tenant, or "". */
static void add_copy(struct collection *to, size_t place, uint32_t gate, size_t index, const char *whose)
{
    static const char *const ends[] = {".min", ".mean", ".max"}, *const of_agents[] = {"least", "mean", "greatest"};
    const struct member *member = &to->scenario->chain.members[place];
    const char *prefix = member->scope == SCOPE_ALL ? "" : prefix_of(to, gate);

    for (const struct policy_gauge *policy = member->ops->gauges; policy && policy->name; policy++) {
        const char *name = arena_format(to->arena, "%s%s.%s%s", prefix, member->name, whose, policy->name);
        struct gauge gauge = {name,  policy->unit ? policy->unit : "", policy->help, GAUGE_POLICY, gate, place, index,
                              policy};

        if (member->scope != SCOPE_AGENT) {
            add(to, gauge);
            continue;
        }
        for (size_t i = 0; i < 3; i++) {
            struct gauge one = gauge;

            one.name = arena_format(to->arena, "%s%s", name, ends[i]);
            one.help = arena_format(to->arena, "%s; the %s of all agents' copies", gauge.help, of_agents[i]);
            one.kind = (enum gauge_kind)(GAUGE_LEAST + i);
            add(to, one);
        }
    }
}

static void add_member(struct collection *to, size_t index)
{
    const struct scenario *scenario = to->scenario;
    const struct member *member = &scenario->chain.members[index];
    size_t each = 1, gates = member->scope == SCOPE_ALL ? 1 : scenario->backend_count;

    if (member->scope == SCOPE_CLASS)
        each = scenario->class_count;
    else if (member->scope == SCOPE_TENANT)
        each = scenario->tenant_count;
    for (size_t gate = 0; gate < gates; gate++) {
        if (member->scope != SCOPE_ALL && member->at >= 0 && (size_t)member->at != gate)
            continue;
        for (size_t i = 0; i < each; i++) {
            const char *whose = "";

            if (member->scope == SCOPE_CLASS)
                whose = arena_format(to->arena, "%s.", scenario->classes[i].name);
            else if (member->scope == SCOPE_TENANT)
                whose = arena_format(to->arena, "%s.", scenario->tenants[i]);
            add_copy(to, index, (uint32_t)gate, gate * each + i, whose);
        }
    }
}

static void add_meters(struct collection *to, uint32_t gate)
{
    const struct backend *backend = &to->scenario->backends[gate];

    for (size_t i = 0; backend->provider && backend->pool == gate && i < backend->provider->meter_count; i++) {
        enum meter_kind kind = backend->provider->meters[i].kind;
        bool tokens = kind != METER_REQUESTS && kind != METER_IN_FLIGHT;
        bool level = !meter_is_rate(kind);
        const char *name = arena_format(to->arena, "%smeter.%s", prefix_of(to, gate), meter_names[kind]);

        for (size_t k = 0; k < COUNT_OF(of_meters); k++) {
            struct gauge gauge = of_meters[k];

            gauge.name = arena_format(to->arena, "%s.%s", name, of_meters[k].name);
            gauge.unit = tokens ? "tokens" : "requests";
            if (gauge.kind == GAUGE_METER_LIMIT && !level)
                gauge.unit = arena_format(to->arena, "%s/min", gauge.unit);
            gauge.gate = gate;
            gauge.index = i;
            add(to, gauge);
        }
    }
}

static void add_cards(struct collection *to, uint32_t gate)
{
    for (size_t i = 0; to->scenario->backends[gate].cards && i < COUNT_OF(of_cards); i++) {
        struct gauge gauge = of_cards[i];

        gauge.name = arena_format(to->arena, "%s%s", prefix_of(to, gate), of_cards[i].name);
        gauge.gate = gate;
        add(to, gauge);
    }
}

static bool boots(const struct scenario *scenario)
{
    for (size_t i = 0; i < scenario->class_count; i++)
        if (scenario->classes[i].boot)
            return true;
    return false;
}

static bool has_door(const struct chain *chain)
{
    for (size_t i = 0; i < chain->count; i++)
        if (chain->members[i].ops->run_admit)
            return true;
    return false;
}

struct gauges gauges_of(const struct scenario *scenario, struct arena *arena)
{
    struct collection all = {.scenario = scenario, .arena = arena};

    add(&all, of_all[0]);
    if (boots(scenario))
        add(&all, of_all[1]);
    for (size_t i = 2; has_door(&scenario->chain) && i < COUNT_OF(of_all); i++)
        add(&all, of_all[i]);
    for (size_t i = 0; i < scenario->backend_count; i++)
        add_gate(&all, (uint32_t)i);
    for (size_t i = 0; i < scenario->chain.count; i++)
        add_member(&all, i);
    for (size_t i = 0; i < scenario->backend_count; i++)
        add_meters(&all, (uint32_t)i);
    for (size_t i = 0; i < scenario->backend_count; i++)
        add_cards(&all, (uint32_t)i);
    return all.gauges;
}

/* --- their values ---------------------------------------------------------------------------------------------------
 */

static double copy_value(struct copy *copy, const struct gauge *gauge)
{
    double value;

    return services_read(copy, gauge->policy->name, &value) ? value : NAN;
}

/* Of the copies of agents at the gate, by class and place in memory. */
static double agents_value(const struct world *world, const struct gauge *gauge)
{
    size_t classes = world->scenario->class_count, count = 0;
    const struct agent_copies *lists = world->members[gauge->member].by_agent + gauge->gate * classes;
    double least = INFINITY, greatest = -INFINITY, sum = 0;

    for (size_t i = 0; i < classes; i++) {
        for (size_t k = 0; k < lists[i].room; k++) {
            struct copy *copy = lists[i].copies[k];
            double value = copy && !copy->ended ? copy_value(copy, gauge) : NAN;

            if (isnan(value))
                continue;
            least = value < least ? value : least;
            greatest = value > greatest ? value : greatest;
            sum += value;
            count++;
        }
    }
    if (count == 0)
        return NAN;
    return gauge->kind == GAUGE_LEAST ? least : gauge->kind == GAUGE_GREATEST ? greatest : sum / (double)count;
}

/* Its time average (models/lines.h, gate_book_age) is left alone. */
static double oldest_age(const struct world *world, const struct gate *gate)
{
    const struct call *oldest = gate_oldest(gate);

    return oldest ? sim_seconds(world_now(world) - oldest->facts.attempted) : 0;
}

/* Of the runs at the door: how many, or the age of the oldest. */
static double door_value(const struct world *world, bool oldest)
{
    sim_time now = world_now(world), first = now;
    uint64_t count = 0;

    for (const struct agent *agent = world->agents; agent; agent = agent->next_of_all) {
        if (agent->place != AGENT_AT_DOOR)
            continue;
        first = door_first_attempt(agent) < first ? door_first_attempt(agent) : first;
        count++;
    }
    return oldest ? sim_seconds(now - first) : (double)count;
}

/* Of a copy of the meter, so that the pool's is asked by callers alone. */
static double meter_value(const struct world *world, const struct gate *gate, const struct gauge *gauge)
{
    struct meter meter;

    if (!gate->provider)
        return NAN;
    meter = provider_meters(gate->provider)[gauge->index];
    return gauge->kind == GAUGE_METER_LEFT ? meter_left(&meter, world_now(world))
                                           : meter_limit(&meter, world_now(world));
}

double gauge_value(const struct world *world, const struct gauge *gauge)
{
    const struct gate *gate = &world->gates[gauge->gate];

    switch (gauge->kind) {
    case GAUGE_TASKS:
        return (double)world->agents_alive;
    case GAUGE_BOOTING:
        return (double)world->agents_booting;
    case GAUGE_ASKING:
    case GAUGE_ASKING_OLDEST:
        return door_value(world, gauge->kind == GAUGE_ASKING_OLDEST);
    case GAUGE_HELD:
        return (double)gate->held.length;
    case GAUGE_WAITING:
        return (double)gate->waiting.length;
    case GAUGE_IN_SERVICE:
        return (double)gate->in_service;
    case GAUGE_BUSY:
        return (double)gate->busy_level.value;
    case GAUGE_OLDEST:
        return oldest_age(world, gate);
    case GAUGE_OVERLOADS:
        return (double)gate->counts.overloads;
    case GAUGE_POLICY:
        return copy_value(world->members[gauge->member].copies[gauge->index], gauge);
    case GAUGE_LEAST:
    case GAUGE_MEAN:
    case GAUGE_GREATEST:
        return agents_value(world, gauge);
    case GAUGE_METER_LEFT:
    case GAUGE_METER_LIMIT:
        return meter_value(world, gate, gauge);
    case GAUGE_CARDS_UP:
    case GAUGE_CARDS_COLD:
    case GAUGE_CARDS_DRAIN:
        return gate->cards->in[CARD_COLD + (gauge->kind == GAUGE_CARDS_UP) + 2 * (gauge->kind == GAUGE_CARDS_DRAIN)];
    }
    return NAN;
}
