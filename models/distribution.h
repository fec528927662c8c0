/* distribution.h - makes an engine distribution from an expression of a scenario.
 *
 *     4 s                                   constant(4 s)
 *     uniform(0.5 s 1.5 s)                  exponential(4.5 s)
 *     lognormal(120 cv 0.45)                lognormal(median 4 s sigma 1.1)
 *     gamma(4 s cv 0.5)                     weibull(4 s cv 0.5)
 *     pareto(1 s shape 1.5)                 geometric(8)
 *     mixture(0.7 lognormal(120 cv 0.45) | 0.3 900)
 *     empirical(FILE COLUMN [UNIT])         survival(0.9 0.8 every 40)
 *
 * and `most 1 h` as a last argument of any. The first number is the mean, of pareto the least value; of survival all
 * are chances to survive that many turns more. Times carry their unit, tokens and turns may carry their noun. */
#ifndef MODELS_DISTRIBUTION_H
#define MODELS_DISTRIBUTION_H

#include "models/columns.h"
#include "sim/engine/dist.h"
#include "sim/io/expr.h"

enum measure { MEASURE_TIME, MEASURE_TOKENS, MEASURE_TURNS, MEASURE_FACTOR, MEASURE_PARTS };

/* The name of the index-th of them, and how it is written: "lognormal(MEAN cv C) or ..."; NULL past the last. */
const char *distribution_name(size_t index);
const char *distribution_form(size_t index);

/* False after an error. Parts and values live in the columns' arena. */
bool distribution_read(const struct expr *expr, enum measure measure, struct columns *columns, struct dist *dist,
                       struct diag *diag);

#endif
