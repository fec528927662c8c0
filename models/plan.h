/* plan.h - a scenario file as its design points: reads the YAML and what it includes, applies --set, expands the sweep,
 * builds a scenario for each (policy alternative, combination of factors).
 *
 * Points stand in the order of the table: alternative by alternative, and inside one the first factor slowest. A factor
 * that an alternative does not have leaves its cell empty there and adds no points. */
#ifndef MODELS_PLAN_H
#define MODELS_PLAN_H

#include "models/scenario.h"
#include "sim/io/yaml.h"

struct record_columns; /* models/record_columns.h */
struct size_spec;      /* models/size.h */
struct tornado_spec;
struct discover_spec;    /* models/discover.h */
struct decision_columns; /* models/decisions.h */
struct regress_spec;     /* models/regress.h */

struct plan_point {
    const struct scenario *scenario;
    struct study *study; /* of it, for plan_warm_up */
    const char *const
        *factors; /* text of each factor's value as in the file; NULL: this alternative does not have it */
};

struct plan_request {
    const char *path;
    const char *text;        /* of the scenario, in place of the file's; NULL: the file is read */
    const char *const *sets; /* "KEY=YAML", in order */
    size_t set_count;
    bool regress;            /* `regress: {set: ...}` comes before them */
    const char *const *only; /* labels of alternatives to keep (--policy); count 0: all */
    size_t only_count;
    struct node *const *sweep; /* in place of the file's; to NULL: there is none */
    bool pools_alone;          /* agents and a study may be missing: the backends are all that is wanted */
    bool pools_taken;          /* the same of a scenario that has neither */
    const struct policy_ops *const *policies; /* known policies, ended by NULL */
    const struct policy_ops *standing_in;     /* for the policy of its name, wherever that is from; NULL: none */
    const char *directory_of_plugins;         /* NULL: the scenario's own, for `plugin:` */
    /* Loads `plugin:` lines; NULL result: message already in diag. */
    const struct policy_ops *(*load)(const char *path, struct place place, struct diag *diag);
};

struct plan {
    struct arena arena;
    const char *path;
    const char *const *included; /* paths of the files that it includes */
    size_t included_count;
    const char **data; /* paths of the files whose columns it draws from, some perhaps twice */
    size_t data_count;
    const struct policy_ops *const *policies; /* known ones, those of `plugin:` included; ended by NULL */
    struct node *root;                        /* the effective document, after --set and --policy, before the sweep; its
                                                 policies in the canonical form of models/alternative.h */
    const char *title;
    const char *const *notes;
    size_t note_count;
    const char *const *factor_names; /* full addresses, as column names */
    size_t factor_count;
    const struct plan_point *points;
    size_t point_count;
    const char *const *labels; /* of the alternatives, in order */
    size_t label_count;
    const struct record_columns *record;      /* NULL: there are no samples */
    const struct decision_columns *decisions; /* NULL: decisions are not written down */
    const struct discover_spec *discover;     /* what `weir discover` is told, defaults where nothing is */
    const struct tornado_spec *tornado;       /* what `weir run --tornado` is told; NULL: nothing */
    const struct size_spec *size;             /* what `weir size` is told; NULL: nothing */
    const struct regress_spec *regress;       /* likewise `weir regress` */
    uint64_t hash;                            /* of everything that decides the numbers */
};

bool plan_read(const struct plan_request *request, struct plan *plan, struct diag *diag);
/* The warm-up of all design points, where it was to be found. */
void plan_warm_up(struct plan *plan, sim_time warmup);
void plan_fini(struct plan *plan);

#endif
