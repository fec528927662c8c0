/* Cards: which one takes a call, and how many there are. */
#include "models/cards.h"

#include <inttypes.h>

#include "models/gate.h"
#include "models/scenario_hash.h"
#include "models/tables.h"

#define MILLION 1000000

/* --- states --------------------------------------------------------------------------------------------------------
 */

/* Slots: those of cards that are up, and the busy ones of those that drain. */
static void slots_change(struct gate *gate, int64_t by)
{
    gate->station.servers = (uint32_t)((int64_t)gate->station.servers + by);
    level_change(&gate->cards->slots_level, world_now(gate->world), by);
}

static void card_becomes(struct card *card, enum card_state state)
{
    struct gate *gate = card->gate;
    struct cards *cards = gate->cards;
    sim_time now = world_now(gate->world);
    enum card_state before = card->state;

    if ((state == CARD_UP) != (before == CARD_UP)) {
        level_change(&cards->up_level, now, state == CARD_UP ? 1 : -1);
        slots_change(gate, state == CARD_UP ? (int64_t)card->station.servers
                                            : (int64_t)card->station.busy - (int64_t)card->station.servers);
    }
    if ((state == CARD_COLD) != (before == CARD_COLD))
        level_change(&cards->cold_level, now, state == CARD_COLD ? 1 : -1);
    if (before == CARD_OFF) {
        card->since = now;
        level_change(&cards->paid_level, now, 1);
        cards->since_of_paid += now;
    } else if (state == CARD_OFF) {
        level_change(&cards->paid_level, now, -1);
        cards->since_of_paid -= card->since;
        cards->paid += now - card->since;
        contexts_empty(&card->contexts);
    }
    cards->in[before]--;
    cards->in[state]++;
    card->state = state;
}

static void card_ready(void *world, struct event *event)
{
    struct card *card = container_of(event, struct card, ready);

    (void)world;
    card_becomes(card, CARD_UP);
    gate_serve(card->gate);
}

/* --- routing -------------------------------------------------------------------------------------------------------
 */

static bool card_takes(const struct card *card, const struct call *call)
{
    return card->state == CARD_UP && station_idle(&card->station) > 0 &&
           (card->contexts.limit == 0 ||
            contexts_fit(&card->contexts, (uint64_t)(call->facts.input_tokens + call->facts.output_tokens)));
}

bool cards_ready(const struct gate *gate, const struct call *call)
{
    const struct cards *cards = gate->cards;

    for (uint32_t i = 0; i < cards->spec->max; i++)
        if (card_takes(&cards->list[i], call))
            return true;
    return false;
}

/* Ties: the first of the list. */
static struct card *least_busy(const struct cards *cards, const struct call *call)
{
    struct card *least = NULL;

    for (uint32_t i = 0; i < cards->spec->max; i++) {
        struct card *card = &cards->list[i];

        if ((!least || card->station.busy < least->station.busy) && card_takes(card, call))
            least = card;
    }
    return least;
}

static struct card *nth(const struct cards *cards, const struct call *call, uint32_t n)
{
    for (uint32_t i = 0; i < cards->spec->max; i++)
        if (card_takes(&cards->list[i], call) && n-- == 0)
            return &cards->list[i];
    return NULL;
}

/* Two different ones, of those that could take it: with one line a full card is no choice. */
static struct card *less_busy_of_two(const struct gate *gate, const struct call *call)
{
    const struct world *world = gate->world;
    const struct cards *cards = gate->cards;
    struct card *one, *other;
    struct stream stream;
    uint32_t count = 0, first, second;

    for (uint32_t i = 0; i < cards->spec->max; i++)
        count += card_takes(&cards->list[i], call);
    if (count < 2)
        return nth(cards, call, 0);
    stream = stream_open(
        world->key,
        (struct stream_address){.purpose = call->is_part ? PURPOSE_PART_ROUTE : PURPOSE_ROUTE,
                                .entity = agent_entity(world->classes[call->facts.klass].spec, call->agent->index),
                                .turn = call->try.turn,
                                .attempt = call->facts.attempt});
    first = (uint32_t)(stream_uniform(&stream) * count);
    second = (uint32_t)(stream_uniform(&stream) * (count - 1));
    second += second >= first;
    one = nth(cards, call, first);
    other = nth(cards, call, second);
    return other->station.busy < one->station.busy ? other : one;
}

static struct card *routed(const struct gate *gate, const struct call *call)
{
    const struct cards *cards = gate->cards;
    uint32_t last = call->agent->cards ? call->agent->cards[gate->index] : 0;
    struct card *own = last > 0 ? &cards->list[last - 1] : NULL;

    switch (cards->spec->route) {
    case ROUTE_POWER_OF_TWO:
        return less_busy_of_two(gate, call);
    case ROUTE_STICKY:
        if (own && card_takes(own, call))
            return own;
        break;
    case ROUTE_LEAST_BUSY:
        break;
    }
    return least_busy(cards, call);
}

static uint32_t *last_card(const struct gate *gate, struct agent *agent)
{
    struct world *world = gate->world;

    if (!agent->cards)
        agent->cards = arena_zeroed(&world->arena, world->scenario->backend_count, sizeof *agent->cards);
    return &agent->cards[gate->index];
}

struct card *cards_route(struct gate *gate, struct call *call)
{
    struct card *card = routed(gate, call);
    uint32_t place = (uint32_t)(card - gate->cards->list) + 1, *last = last_card(gate, call->agent);

    WORLD_ASSERT(gate->world, card->state == CARD_UP && station_idle(&card->station) > 0);
    if (*last != place && gate->backend->kv != UINT64_MAX) /* else its context, if any, is at another backend */
        contexts_orphan(&call->agent->kept);
    *last = place;
    gate->station.busy++;
    return card;
}

void cards_freed(struct gate *gate, struct card *card)
{
    gate->station.busy--;
    if (card->state != CARD_DRAINS)
        return;
    slots_change(gate, -1);
    if (card->station.busy == 0)
        card_becomes(card, CARD_OFF);
}

/* --- scaling -------------------------------------------------------------------------------------------------------
 */

static void start_one(struct gate *gate)
{
    struct world *world = gate->world;
    struct cards *cards = gate->cards;
    struct card *card = cards->list;
    struct stream stream =
        stream_open(world->key, (struct stream_address){.purpose = PURPOSE_COLD_START,
                                                        .entity = scenario_hash_name(gate->backend->name),
                                                        .turn = cards->starts++});

    while (card->state != CARD_OFF)
        card++;
    card_becomes(card, CARD_COLD);
    calendar_schedule(&world->calendar, &card->ready,
                      world_now(world) + sim_from_seconds(dist_draw(cards->spec->cold_start, &stream)));
}

/* The youngest of those that start; else the least busy, of equals the last of the list. */
static void take_one_away(struct gate *gate)
{
    struct cards *cards = gate->cards;
    struct card *least = NULL;

    for (uint32_t i = 0; i < cards->spec->max; i++) {
        struct card *card = &cards->list[i];
        bool starts = card->state == CARD_COLD;

        if (cards->in[CARD_COLD] > 0 ? starts && (!least || card->since >= least->since)
                                     : card->state == CARD_UP && (!least || card->station.busy <= least->station.busy))
            least = card;
    }
    if (least->state == CARD_COLD)
        calendar_cancel(&gate->world->calendar, &least->ready);
    card_becomes(least, least->station.busy > 0 ? CARD_DRAINS : CARD_OFF);
}

/* A row of the audit: how many cards there are to be, up or starting, and what the signal asked for. */
static void tell(const struct gate *gate, uint32_t before, uint32_t now, uint64_t asked)
{
    const struct world *world = gate->world;
    const char *name = gate->backend->name;
    struct arena arena = {0};

    if (!world->watch || !world->watch->set)
        return;
    const struct set_record record = {
        .at = world_now(world),
        .key = arena_format(&arena, "backends.%s.cards", name),
        .copy = {.gate = name, .whose = "", .agent = -1},
        .old = arena_format(&arena, "%" PRIu32, before),
        .now = arena_format(&arena, "%" PRIu32, now),
        .reason = arena_format(&arena, "%s asks for %" PRIu64, cards_signal_names[gate->cards->spec->signal], asked),
        .by = "autoscaler"};
    world->watch->set(world->watch->context, &record);
    arena_free(&arena);
}

/* As many cards are wanted. */
static void decide(struct gate *gate, uint64_t wanted, bool downwards)
{
    struct cards *cards = gate->cards;
    const struct cards_spec *spec = cards->spec;
    sim_time now = world_now(gate->world);
    uint32_t there = cards->in[CARD_COLD] + cards->in[CARD_UP], paid = there + cards->in[CARD_DRAINS], before = there;
    uint64_t asked = wanted;

    wanted = wanted < spec->min ? spec->min : wanted > spec->max ? spec->max : wanted;
    if (wanted == there ||
        (cards->moved && now - cards->moved_at < (wanted > there ? spec->cooldown_up : spec->cooldown)) ||
        (wanted > there ? paid == spec->max : !downwards || gate->waiting.length > 0))
        return;
    cards->moved = true;
    cards->moved_at = now;
    for (uint32_t step = 0; step < spec->step && there < wanted && paid < spec->max; step++, there++, paid++)
        start_one(gate);
    for (uint32_t step = 0; step < spec->step && there > wanted; step++, there--)
        take_one_away(gate);
    tell(gate, before, there, asked);
}

/* The fewest cards with which so much, an integral over a scrape interval, is at most target x slots. */
static uint64_t cards_for(const struct gate *gate, sim_sum area)
{
    const struct cards_spec *spec = gate->cards->spec;
    sim_sum each = (sim_sum)spec->target * gate->backend->servers * spec->scrape;

    return (uint64_t)((area * MILLION + each - 1) / each);
}

static uint64_t cards_for_tokens(const struct cards *cards)
{
    double each = (double)cards->spec->target / MILLION * cards->card_tokens, count = cards->tokens / each;
    uint64_t whole = count < cards->spec->max ? (uint64_t)count : cards->spec->max;

    return whole + ((double)whole * each < cards->tokens);
}

static void scrape(void *world_pointer, struct event *event)
{
    struct world *world = world_pointer;
    struct cards *cards = container_of(event, struct cards, scrape);
    struct gate *gate = cards->list[0].gate;
    sim_time now = world_now(world);
    sim_sum busy = level_area(&gate->busy_level, now), present = level_area(&gate->system_level, now);
    uint64_t wanted = 0;

    switch (cards->spec->signal) {
    case CARDS_UTILISATION:
        wanted = cards_for(gate, busy - cards->busy_then);
        break;
    case CARDS_QUEUE_LENGTH:
        wanted = cards_for(gate, present - cards->present_then);
        break;
    case CARDS_TOKEN_VELOCITY:
        wanted = cards_for_tokens(cards);
        break;
    }
    cards->busy_then = busy;
    cards->present_then = present;
    cards->tokens = 0;
    calendar_schedule(&world->calendar, event, now + cards->spec->scrape);
    decide(gate, wanted, true);
}

void cards_admitted(struct gate *gate, const struct call *call)
{
    struct cards *cards = gate->cards;

    if (cards->card_tokens <= 0)
        return;
    cards->tokens += call->facts.output_tokens;
    decide(gate, cards_for_tokens(cards), false);
}

/* --- the whole -----------------------------------------------------------------------------------------------------
 */

void cards_init(struct gate *gate, station_done_fn *done)
{
    struct world *world = gate->world;
    const struct backend *backend = gate->backend;
    const struct cards_spec *spec = backend->cards;
    struct cards *cards = gate->cards = arena_zeroed(&world->arena, 1, sizeof *cards);

    cards->spec = spec;
    cards->list = arena_zeroed(&world->arena, spec->max, sizeof *cards->list);
    cards->in[CARD_OFF] = spec->max;
    station_init(&gate->station, &world->calendar, 0, NULL, done);
    for (uint32_t i = 0; i < spec->max; i++) {
        struct card *card = &cards->list[i];

        card->gate = gate;
        card->ready.fire = card_ready;
        if (backend->kv != UINT64_MAX)
            card->contexts = (struct contexts){.limit = backend->kv, .arena = &world->arena};
        station_init(&card->station, &world->calendar, backend->servers,
                     backend->speed && !backend->constant ? backend->speed : NULL, done);
        if (i < spec->start)
            card_becomes(card, CARD_UP);
    }
    if (spec->min == spec->max)
        return;
    if (spec->signal == CARDS_TOKEN_VELOCITY)
        cards->card_tokens = backend->servers * backend->speed[backend->servers] * sim_seconds(spec->scrape);
    cards->scrape.fire = scrape;
    calendar_schedule(&world->calendar, &cards->scrape, spec->scrape);
}

void cards_fini(struct gate *gate)
{
    for (uint32_t i = 0; i < gate->cards->spec->max; i++)
        station_fini(&gate->cards->list[i].station);
}

void cards_window(struct gate *gate)
{
    struct cards *cards = gate->cards;
    sim_time now = world_now(gate->world);

    cards->slots_area = level_area(&cards->slots_level, now);
    cards->up_area = level_area(&cards->up_level, now);
    cards->cold_area = level_area(&cards->cold_level, now);
    cards->paid_area = level_area(&cards->paid_level, now);
}

void cards_audit(const struct gate *gate)
{
    const struct cards *cards = gate->cards;
    const struct world *world = gate->world;
    const uint32_t *in = cards->in;
    sim_time now = world_now(world);
    uint32_t seen[CARD_STATES] = {0}, busy = 0, slots = 0;

    for (uint32_t i = 0; i < cards->spec->max; i++) {
        const struct card *card = &cards->list[i];

        seen[card->state]++;
        busy += card->station.busy;
        slots += card->state == CARD_UP ? card->station.servers : card->station.busy;
        WORLD_ASSERT(world, card->station.busy == 0 || card->state == CARD_UP || card->state == CARD_DRAINS);
        WORLD_ASSERT(world, card->state != CARD_DRAINS || card->station.busy > 0);
        WORLD_ASSERT(world, event_pending(&card->ready) == (card->state == CARD_COLD));
        WORLD_ASSERT(world, card->contexts.pinned + card->contexts.warm <= card->contexts.limit);
        WORLD_ASSERT(world, card->contexts.warm == 0 || (card->state != CARD_OFF && card->state != CARD_COLD));
    }
    for (size_t i = 0; i < CARD_STATES; i++)
        WORLD_ASSERT(world, seen[i] == in[i]);
    WORLD_ASSERT(world, busy == gate->station.busy && slots == gate->station.servers);
    WORLD_ASSERT(world, cards->slots_level.value == slots && cards->up_level.value == in[CARD_UP]);
    WORLD_ASSERT(world, cards->cold_level.value == in[CARD_COLD]);
    WORLD_ASSERT(world, cards->paid_level.value == in[CARD_COLD] + in[CARD_UP] + in[CARD_DRAINS]);
    WORLD_ASSERT(world, in[CARD_COLD] + in[CARD_UP] >= cards->spec->min && in[CARD_UP] > 0);
    WORLD_ASSERT(world, level_area(&cards->paid_level, now) ==
                            cards->paid + (sim_sum)cards->paid_level.value * now - cards->since_of_paid);
}

struct station_job *cards_job(const struct gate *gate, const struct event *event)
{
    for (uint32_t i = 0; i < gate->cards->spec->max; i++)
        if (event == &gate->cards->list[i].station.next)
            return gate->cards->list[i].station.heap[0];
    return NULL;
}
