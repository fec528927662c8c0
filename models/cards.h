/* cards.h - a slots backend that is several cards, which come and go with the load. Private to models/.
 *
 * Each card is a station of `servers` slots with a memory of its own. There is one waiting line, at the gate: a free
 * slot of any card that is up takes its head, so nobody waits while a slot idles that has the memory; this holds with
 * every routing, and a sticky call goes elsewhere rather than wait for its own card. gate->station is the sum of the
 * cards and runs no job itself: busy slots, and the slots of cards that are up and the busy ones of those that drain.
 *
 * An autoscaler decides at the end of every scrape interval how many cards there should be, of what the signal was in
 * that interval, in whole numbers; with token_velocity also at each admission, of what was admitted in this interval so
 * far, but then only upwards. It waits out a cooldown, moves by `step` at most, and takes no card away while a call
 * waits: first one that still starts, the youngest, then the least busy. A card that is taken away drains: it takes no
 * new call and ends when it is empty, and its memory with it. Until then it counts towards `max` and is paid for.
 *
 * An agent's context is at the card of its last call. One that is served elsewhere begins cold there; what it leaves
 * behind stays until it is evicted. O(cards) a start and a decision. */
#ifndef MODELS_CARDS_H
#define MODELS_CARDS_H

#include "models/world.h"

enum card_state { CARD_OFF, CARD_COLD, CARD_UP, CARD_DRAINS, CARD_STATES };

struct card {
    struct station station;
    struct contexts contexts;
    struct gate *gate;
    enum card_state state;
    struct event ready; /* cold: its cold start has passed */
    sim_time since;     /* from when on it is paid for */
};

struct cards {
    const struct cards_spec *spec;
    struct card *list;               /* spec->max */
    uint32_t in[CARD_STATES];        /* cards by state */
    struct event scrape;             /* none where min is max */
    double tokens;                   /* admitted since the last scrape */
    double card_tokens;              /* that a full card makes in a scrape interval; with token_velocity */
    sim_sum busy_then, present_then; /* integrals at the last scrape */
    bool moved;
    sim_time moved_at; /* the last decision that changed something */
    uint64_t starts;   /* cold ones, since t = 0 */
    /* Up and paid slots and cards over time, and double entry for what is paid. */
    struct level slots_level, up_level, cold_level, paid_level;
    sim_sum slots_area, up_area, cold_area, paid_area; /* at the warm-up */
    sim_sum paid, since_of_paid;                       /* of those that have ended; of those that have not */
};

void cards_init(struct gate *gate, station_done_fn *done);
void cards_fini(struct gate *gate);

static inline struct card *card_of(struct station *station)
{
    return container_of(station, struct card, station);
}

/* Has a card that is up a free slot, and the memory for it? */
bool cards_ready(const struct gate *gate, const struct call *call);
/* The one that takes the call, which is ready for it; one more slot is booked as busy. */
struct card *cards_route(struct gate *gate, struct call *call);
/* A slot of the card has become free, and the memory of its call is back. */
void cards_freed(struct gate *gate, struct card *card);
/* A call was admitted. */
void cards_admitted(struct gate *gate, const struct call *call);

void cards_window(struct gate *gate); /* the warm-up is over */
void cards_audit(const struct gate *gate);
/* The job whose end that event is; NULL: it is none of a station here. */
struct station_job *cards_job(const struct gate *gate, const struct event *event);

#endif
