/* balance.c - the share that must be refused, from the pauses that follow. */
#include "models/balance.h"

#include <math.h>

#include "models/client.h"

enum { REFUSALS_MOST = 100000 }; /* of a turn: their share is below 1e-3 of a term by then, up to a share of 0.9999 */

/* Seconds that a turn backs off in all, and refusals of it, where each attempt is refused with the same chance. */
static void pauses_of(const struct client_layer *layer, double share, double *seconds, double *refusals)
{
    double chance = share;

    *seconds = *refusals = 0;
    for (uint32_t k = 1; k < REFUSALS_MOST && k < layer->attempts && chance > 1e-12; k++) {
        *refusals += chance;
        *seconds += chance * client_pause_mean(layer, k);
        chance *= share;
    }
}

bool balance_of(const struct scenario *scenario, size_t klass, double inside, struct balance *balance)
{
    const struct client_layer *layer = &scenario->classes[klass].client.layers[0];
    struct demand demand = demand_of(scenario, klass);
    double low = 0, high = 0.9999, seconds, refusals, wanted;

    if (!demand.closed || isinf(demand.capacity))
        return false;
    *balance = (struct balance){.inside = inside, .thinking = demand.capacity * demand.think};
    balance->backing_off = demand.population - inside - balance->thinking;
    if (balance->backing_off <= 0)
        return false;
    wanted = balance->backing_off / demand.capacity; /* seconds of a turn */
    pauses_of(layer, high, &seconds, &refusals);
    balance->share = balance->pause = NAN;
    if (seconds < wanted)
        return true;
    for (int i = 0; i < 60; i++) {
        double middle = (low + high) / 2;

        pauses_of(layer, middle, &seconds, &refusals);
        if (seconds < wanted)
            low = middle;
        else
            high = middle;
    }
    balance->share = high;
    balance->pause = seconds / refusals;
    return true;
}
