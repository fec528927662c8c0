/* regress.h - weir regress: scenarios run again and held against their expected tables, or two versions of a policy
 * against each other.
 *
 * A scenario S.yaml is held against S.regress.csv, or where that is not there S.expected.csv, at the seed of the
 * scenario and with the replications of the table. In a paired comparison there is no table: base and head are run
 * with the same random numbers, and with more of them where that leaves rows undecided. */
#ifndef CLI_REGRESS_H
#define CLI_REGRESS_H

#include <stdatomic.h>

#include "models/plan.h"
#include "models/regress.h"
#include "sim/cli/arguments.h"
#include "sim/cli/comparison.h"
#include "sim/cli/table_file.h"

/* One of two versions: a policy that stands in for that of its name, and what is set. */
struct regress_version {
    const char *plugin; /* its file; NULL: none */
    const struct policy_ops *policy;
    const char **sets;
    size_t set_count;
};

struct regress_request {
    const struct policy_ops *const *known;
    struct regress_version base, head;
    bool paired, exact, strict, update;
    unsigned threads, replications; /* 0: not said */
    long other_seeds, most;
    double deadline; /* of the monotonic clock, in seconds; INFINITY: none */
    const char **policies;
    size_t policy_count;
    bool *policy_seen; /* [policy] */
    bool head_seen;    /* a scenario names the policy of the head's plug-in */
    atomic_int stop;   /* asked to end, or the deadline came */
};

/* A version of a scenario, and what its replications yielded so far. */
struct regress_side {
    struct plan plan;
    size_t width, room; /* numbers of a trial; replications that there is room for */
    double *values;     /* [point][replication from 0][width] */
    unsigned *finished; /* of each point */
};

/* False after messages. `sets` come after those of `regress:`, and the version's own last. */
bool regress_side_open(struct regress_side *side, const char *path, const struct regress_request *request,
                       const struct regress_version *version, const char *const *sets, size_t set_count,
                       struct diag *diag);
/* Replications of the wanted points up to so many. False after a message; what was not reached is not finished. */
bool regress_side_run(struct regress_side *side, const bool *wanted, unsigned upto, struct regress_request *request);
const double *regress_side_at(const struct regress_side *side, size_t point, unsigned replication);
void regress_side_close(struct regress_side *side);

/* A scenario at a seed, and what it is held against; `path`, `seed` and, if they were asked for, `replications` are the
 * caller's. */
struct regress_file {
    struct arena arena;
    const char *path, *table_path;
    long seed;               /* which other one, from 1; 0: its own */
    struct table_file table; /* unless paired */
    const size_t *factors;   /* the table's column of each factor */
    int decimals;            /* of the table; -1: as many as read back */
    struct regress_side base, head;
    bool *wanted; /* points still to be run */
    bool *asked;  /* points that are compared at all */
    unsigned replications, most;
    size_t missing, fresh, unreached;   /* rows: of the table only, of the scenario only, not done in time */
    bool other_results, other_scenario; /* than those of the table */
    int status;                         /* of reading and running it */
};

/* Reads table and scenario, or says what is wrong and sets the status. */
void regress_file_open(struct regress_file *file, struct regress_request *request, struct diag *diag);
void regress_file_run(struct regress_file *file, unsigned upto, struct regress_request *request);
/* Rows and values of a file that was run, into the comparison; and their changes renewed after it was run on. */
void regress_file_compare(struct regress_file *file, size_t index, const struct regress_request *request,
                          struct comparison *comparison, struct diag *diag);
void regress_file_close(struct regress_file *file);

/* The expected table: found and read; its row of a row of the scenario, row_count: none. */
bool regress_table_open(struct regress_file *file, bool optional, struct diag *diag);
bool regress_table_match(struct regress_file *file, struct diag *diag);
size_t regress_table_row(const struct regress_file *file, size_t point, size_t row);
/* Does the table have these digits of the column? */
bool regress_table_same(const struct regress_file *file, size_t row, size_t column, double value);
/* Rewrites the rows that changed; *rows gets how many. False after a message. */
bool regress_table_update(struct regress_file *file, size_t *rows);

/* The keys of a row in words, and as the table has them. */
const char *regress_words(const struct plan *plan, size_t point, size_t row, struct arena *arena);
const char *regress_scope(const struct scenario *scenario, size_t row, int column);

/* What was found, on a file. */
struct regress_found {
    const struct regress_request *request;
    const struct cli_words *words;
    struct regress_file *files;
    size_t file_count;
    const struct comparison *comparison;
};
void regress_print(const struct regress_found *found, bool markdown, FILE *out);
/* The command that shows it again. */
const char *regress_command(const struct regress_found *found, const struct regress_file *file, struct arena *arena);
/* Does an option of the command say what is run, or only how? */
bool regress_decides(const char *option);
int regress_status(const struct regress_found *found);

#endif
