/* size.h - the mapping `size:`: what `weir size` varies, within which values, and what has to be met. */
#ifndef MODELS_SIZE_H
#define MODELS_SIZE_H

#include "sim/io/mem.h"
#include "sim/io/option.h"
#include "sim/io/yaml.h"

struct reader; /* models/readers.h */

enum { SIZE_KNOBS_MOST = 2 };

/* What is varied, and its values: a list, or a range, as `sweep` has them. */
struct size_knob {
    const char *address;
    struct place place;
    struct node *within;
    const char *now; /* what the scenario itself has there; NULL: nothing, or it is a policy's */
};

struct size_goal {
    const char *text; /* "wait_p99 <= 15 s" */
    size_t metric;
    bool at_most; /* else at least */
    double value; /* in the metric's unit */
};

/* A value of the scenario that is not known well, and its ends as they are written. */
struct size_range {
    const char *address;
    struct place place;
    struct node *ends[2];
};

struct size_spec {
    struct place place;
    struct size_knob knobs[SIZE_KNOBS_MOST]; /* the last one is searched in, for each value of the one before it */
    size_t knob_count;
    struct size_goal *goals;
    size_t goal_count;
    bool largest;      /* that meets them; else the smallest */
    double resolution; /* of a goal's value: a narrower interval is not asked for */
    int64_t least, most;
    struct size_range *ranges;
    size_t range_count;
};

/* The mapping `tornado:`: whose swing is shown when each of these is moved. */
struct tornado_spec {
    size_t metric;
    struct size_range *ranges;
    size_t range_count;
};

extern const struct option size_options[], tornado_options[];
extern const char *const tornado_others[];
extern const char *const size_others[]; /* keys that are lists or mappings */

/* False after an error. */
bool tornado_read(const struct reader *reader, const struct node *map, struct tornado_spec *spec);
bool size_read(const struct reader *reader, const struct node *root, const struct node *map, struct size_spec *spec);

#endif
