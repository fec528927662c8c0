/* session.h - what the commands share: a scenario file read and its study run, with progress and Ctrl-C. */
#ifndef CLI_SESSION_H
#define CLI_SESSION_H

#include <stdatomic.h>

#include "models/measure.h"
#include "models/plan.h"
#include "sim/cli/arguments.h"
#include "sim/io/table.h"
#include "sim/study/experiment.h"

/* Set by Ctrl-C and by a request to end; trials look at it. */
extern atomic_int cli_stop;

void cli_catch_signals(void);

/* The options by which a scenario is read: --set, --policy, --plugin, -r. */
#define CLI_PLUGIN_OPTION \
    { \
        "plugin", 0, "FILE.so", "load a policy; may be repeated" \
    }
#define CLI_PLAN_OPTIONS \
    {"set", 0, "KEY=YAML", "change a value of the scenario; may be repeated"}, \
        {"policy", 'p', "A,B", "only these alternatives"}, {"plugin", 0, "FILE.so", "load a policy; may be repeated"}, \
    { \
        "replications", 'r', "N", "replications of each design point" \
    }

struct record_file;
struct row_log;

/* Of all finished replications of a design point together. */
struct session_sum {
    struct measure observed; /* of all classes */
    unsigned replications;
};

/* How often an alert was raised in a replication, warm-up included, and when first. */
struct session_alarm {
    uint64_t raised;
    sim_time first;
    uint32_t gate; /* of the first */
};

/* What a trial yields behind its numbers: the mean number in the system in each half of the window, and how many values
 * the quantiles of all classes are of. */
enum session_quality {
    QUALITY_FIRST_HALF,
    QUALITY_SECOND_HALF,
    QUALITY_WAITS,
    QUALITY_TOTAL_WAITS,
    QUALITY_RESPONSES,
    QUALITY_LATENESS,
    QUALITY_DOOR_WAITS,
    QUALITY_RUN_TIMES,
    QUALITY_COUNT
};

struct session {
    struct arena arena; /* of what was read beside the plan */
    struct plan plan;
    const struct policy_ops *const *policies;
    struct results results;
    size_t width;   /* numbers a trial yields, the largest of all points, and QUALITY_COUNT at the end */
    double seconds; /* wall clock of the study */
    uint64_t events;
    bool sums_wanted;         /* set before the study is run */
    struct session_sum *sums; /* [point], if they were wanted; NULL */
    /* Set before the study is run, if they are wanted; freed by session_close. */
    struct row_log *log; /* of attempts */
    struct record_file *record;
    struct row_log *decisions, *audit, *alerts;
    struct session_alarm *alarms; /* [point][replication from 0][alert of the scenario]; NULL: it has none */
};

/* Built-in policies and those of --plugin, ended by NULL; NULL after a message on stderr. */
const struct policy_ops *const *session_policies(const struct cli_words *words, struct arena *arena);

/* Reads the scenario named by the first operand. Messages go to stderr; false: exit status EXIT_USAGE. */
bool session_open(struct session *session, const struct cli_words *words);
/* The same with further --set behind those that were given, and with another sweep. */
struct session_more {
    const char *const *sets;
    size_t set_count;
    struct node *const *sweep; /* as plan_request has it */
};
bool session_open_with(struct session *session, const struct cli_words *words, const struct session_more *more);
/* The same of a scenario whose backends are all that is wanted: agents and a study may be missing. */
bool session_open_pools(struct session *session, const struct cli_words *words);
/* The same, where both are missing; then points have no classes. */
bool session_open_any(struct session *session, const struct cli_words *words);
/* Runs all replications, or as many as its precision takes, behind a warm-up that is found where it is to be.
 * EXIT_DONE, EXIT_INTERRUPTED, or EXIT_USAGE after a message: a policy's wrong answer, a horizon too short for a
 * warm-up. */
int session_run(struct session *session, unsigned threads);
/* Those up to wanted[point] that are not done yet. Statuses are the same. */
int session_extend(struct session *session, unsigned threads, const unsigned *wanted);
/* Of a replication, from 1: its alarms, one an alert. */
struct session_alarm *session_alarms(const struct session *session, size_t point, unsigned replication);
/* A design point in words: the alternative's label and the factors' values, with their names or without; cut where
 * there is no room. */
void session_point(const struct plan *plan, size_t point, bool named, char *text, size_t size);
/* The key columns of files that have rows of single replications: policy, factors, replication; and their fields. */
void session_key_columns(const struct plan *plan, struct table *table);
const char *session_keys(const struct plan *plan, size_t point, unsigned replication, struct arena *arena);
void session_close(struct session *session);

#endif
