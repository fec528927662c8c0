/* maker.h - what makes distributions out of expressions, for the files that share it: models/distribution.c has the
 * functions whose arguments are parameters, models/distribution_data.c those whose arguments are data. */
#ifndef MODELS_MAKER_H
#define MODELS_MAKER_H

#include "models/distribution.h"

struct maker {
    enum measure measure;
    struct columns *columns;
    struct diag *diag;
};

/* A value of what is drawn; false after an error. */
bool maker_value(const struct maker *maker, const struct expr *expr, double *value);
/* A word behind a bare number where no word belongs: it was meant for a unit, or for an argument as in `usage`. True
 * after an error that says so. */
bool maker_unknown_unit(const struct maker *maker, const struct expr *number, const struct expr *word,
                        const char *usage);

/* Out of the first `count` arguments of a call, without `most`, which stands behind them. False after an error. */
bool maker_empirical(const struct maker *maker, const struct expr *call, size_t count, struct dist *dist);
bool maker_survival(const struct maker *maker, const struct expr *call, size_t count, double most, struct dist *dist);

#endif
