/* balance.h - where the agents of a saturated population are: N = L + X Z + D B, in the system, thinking and backing
 * off. Refusals are no service: with X and Z given, whoever is kept out of the system backs off, and the shorter that
 * is the more often it asks. */
#ifndef MODELS_BALANCE_H
#define MODELS_BALANCE_H

#include "models/demand.h"

struct balance {
    double inside;      /* L */
    double thinking;    /* X Z */
    double backing_off; /* D B = N - L - X Z */
    double share;       /* of attempts that are refused, were each refused with the same chance; NAN: no share would do,
                           as the client gives up before */
    double pause;       /* B: mean pause of a refused attempt, seconds */
};

/* Of a closed class with so many calls in the system on average, at the backend's capacity. False: nobody is kept out,
 * or theory has no name for the class. Pauses are those of the innermost layer, without a retry-after. */
bool balance_of(const struct scenario *scenario, size_t klass, double inside, struct balance *balance);

#endif
