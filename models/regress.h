/* regress.h - the mapping `regress:` of a scenario: what `weir regress` runs of it, and what it lets pass. */
#ifndef MODELS_REGRESS_H
#define MODELS_REGRESS_H

#include "models/metrics.h"
#include "sim/io/option.h"
#include "sim/io/yaml.h"

struct reader;

struct regress_spec {
    bool given;             /* there is such a mapping */
    const struct node *set; /* what makes the study another one, address to value; NULL: nothing does */
    int64_t most;           /* replications of a design point; 0: it is not said */
    bool gated[METRIC_COUNT];
    struct {
        double relative, absolute;
    } tolerance[METRIC_COUNT];
};

extern const struct option regress_options[];
extern const char *const regress_others[];

/* `map` may be NULL. */
bool regress_read(const struct reader *reader, const struct node *map, struct regress_spec *spec);

#endif
