/* tables.h - the keys of a scenario file that are not a policy's: one option table for each mapping.
 *
 * A table fills the `keys` struct beside it, which holds what the file says; the readers (models/readers.h) make the
 * parts of a scenario from that. Defaults that depend on other keys are empty here and said in the help. */
#ifndef MODELS_TABLES_H
#define MODELS_TABLES_H

#include "models/provider_tables.h"
#include "models/scenario.h"
#include "sim/io/expr.h"
#include "sim/io/option.h"

enum until { UNTIL_HORIZON, UNTIL_DONE };
enum kind { KIND_SLOTS, KIND_PROVIDER, KIND_ALIAS }; /* of a backend */
enum restarts { RESTARTS_CALL, RESTARTS_RUN };
enum retries { RETRIES_GATE, RETRIES_BYPASS };

struct study_keys {
    int until; /* enum until */
    sim_time horizon, warmup, most;
    int64_t replications, seed;
};

struct slots_keys {
    int kind; /* enum kind */
    int64_t servers;
    double rate;
    const struct expr *service;
    int64_t kv;
    double prefill;
};

struct cards_keys {
    int64_t min, max, start, step;
    int signal, route; /* enum cards_signal, enum cards_route */
    sim_time scrape, cooldown, cooldown_up;
    double target;
    const struct expr *cold_start;
};

struct step_keys {
    sim_time base, per_busy_slot;
};

struct class_keys {
    int64_t population, runs, max_tokens;
    const struct expr *arrivals, *turns, *boot, *think, *output;
    const char *backend, *spill, *tenant, *preset;
    double priority, value;
    sim_time start;
    int at_deadline; /* AT_DEADLINE_ */
};

struct deadline_keys {
    sim_time turn, run;
};

struct input_keys {
    const struct expr *start, *per_turn, *sessions, *chars_per_token;
    int64_t most, compact_to;
    const char *cached;
};

struct schedule_keys {
    int64_t turns;
    sim_time over;
    int times; /* 0 uniform, 1 even */
    sim_time offset, offset_wraps;
};

struct fan_out_keys {
    const char *to, *wait_for, *at_once;
    const struct expr *parts, *tokens;
};

/* Of one layer. */
struct client_keys {
    const char *preset;
    int backoff; /* enum backoff_law */
    sim_time base, cap;
    const char *jitter;
    int retry_after; /* enum retry_after_use */
    sim_time retry_after_most;
    int retry_after_beyond; /* enum retry_after_beyond */
    int64_t attempts;
    int quota; /* enum retry_quota */
    sim_time timeout;
    int restarts; /* enum restarts */
    /* Of the innermost layer alone. */
    sim_time hold_cap;
    int retries; /* enum retries */
    double dies;
};

struct record_keys {
    sim_time every;
    const char *file, *decisions, *audit, *alerts;
    int replications; /* RECORD_FIRST, RECORD_ALL */
};

struct change_keys {
    sim_time at;
    const char *set, *to, *reason;
    bool skip;
};

struct alert_keys {
    const char *when, *at;
};

struct host_keys {
    const char *at;
    int scope; /* enum policy_scope */
    const char *name, *preset;
};

enum { STUDY_UNTIL, STUDY_HORIZON, STUDY_WARMUP, STUDY_MOST, STUDY_REPLICATIONS, STUDY_SEED, STUDY_KEYS };
enum { SLOTS_KIND, SLOTS_SERVERS, SLOTS_RATE, SLOTS_SERVICE, SLOTS_KV, SLOTS_PREFILL, SLOTS_KEYS };
enum { STEP_BASE, STEP_PER_BUSY_SLOT, STEP_KEYS };
enum {
    CLASS_POPULATION,
    CLASS_ARRIVALS,
    CLASS_RUNS,
    CLASS_TURNS,
    CLASS_BOOT,
    CLASS_THINK,
    CLASS_OUTPUT,
    CLASS_MAX_TOKENS,
    CLASS_BACKEND,
    CLASS_SPILL,
    CLASS_TENANT,
    CLASS_PRIORITY,
    CLASS_VALUE,
    CLASS_START,
    CLASS_PRESET,
    CLASS_AT_DEADLINE,
    CLASS_KEYS
};
enum { AT_DEADLINE_GOES_ON, AT_DEADLINE_GIVES_UP };
enum { DEADLINE_TURN, DEADLINE_RUN, DEADLINE_KEYS };
enum {
    INPUT_START,
    INPUT_PER_TURN,
    INPUT_MOST,
    INPUT_COMPACT_TO,
    INPUT_CACHED,
    INPUT_SESSIONS,
    INPUT_CHARS_PER_TOKEN,
    INPUT_KEYS
};
enum { SCHEDULE_TURNS, SCHEDULE_OVER, SCHEDULE_TIMES, SCHEDULE_OFFSET, SCHEDULE_OFFSET_WRAPS, SCHEDULE_KEYS };
enum { FAN_OUT_TO, FAN_OUT_PARTS, FAN_OUT_TOKENS, FAN_OUT_WAIT_FOR, FAN_OUT_AT_ONCE, FAN_OUT_KEYS };
enum {
    CLIENT_PRESET,
    CLIENT_BACKOFF,
    CLIENT_BASE,
    CLIENT_CAP,
    CLIENT_JITTER,
    CLIENT_RETRY_AFTER,
    CLIENT_RETRY_AFTER_MOST,
    CLIENT_RETRY_AFTER_BEYOND,
    CLIENT_ATTEMPTS,
    CLIENT_QUOTA,
    CLIENT_TIMEOUT,
    CLIENT_RESTARTS,
    CLIENT_HOLD_CAP,
    CLIENT_RETRIES,
    CLIENT_DIES,
    CLIENT_KEYS
};
enum {
    CARDS_MIN,
    CARDS_MAX,
    CARDS_START,
    CARDS_SIGNAL,
    CARDS_SCRAPE,
    CARDS_TARGET,
    CARDS_STEP,
    CARDS_COOLDOWN,
    CARDS_COOLDOWN_UP,
    CARDS_COLD_START,
    CARDS_ROUTE,
    CARDS_KEYS
};
enum { RECORD_EVERY, RECORD_FILE, RECORD_DECISIONS, RECORD_AUDIT, RECORD_ALERTS, RECORD_REPLICATIONS, RECORD_KEYS };
enum { RECORD_FIRST, RECORD_ALL };
enum { CHANGE_AT, CHANGE_SET, CHANGE_TO, CHANGE_REASON, CHANGE_SKIP, CHANGE_KEYS };
enum { ALERT_WHEN, ALERT_AT, ALERT_KEYS };
enum { HOST_AT, HOST_SCOPE, HOST_NAME, HOST_PRESET, HOST_KEYS };

/* The rows stand in the order of the enums above and end with one whose key is NULL. */
extern const struct option study_options[], slots_options[], step_options[], cards_options[], class_options[],
    input_options[], replay_options[], schedule_options[], deadline_options[], fan_out_options[], client_options[],
    record_options[], change_options[], alert_options[], host_options[];
extern const struct option precision_options[];
extern const struct option throughput_option; /* the value of a point of `throughput`, into a double */

extern const char *const cards_signal_names[]; /* by enum cards_signal, NULL-terminated */
extern const char *const kind_choices[];       /* by enum kind, NULL-terminated */
extern const char *const scenario_keys[];      /* of the file itself, NULL-terminated */
extern const char *const slots_others[];       /* keys of a slots backend that are mappings */
extern const char *const class_others[];       /* keys of a class that are mappings */
extern const char *const record_others[];      /* keys of a record that are lists */

/* All of them by the word that `weir help` knows them under; ended by a row without a name. */
struct options_room {
    const char *name;
    const struct option *table;
    const char *help;
};
extern const struct options_room scenario_rooms[];

/* What the keys hold that no option table has, as they are no single values; ended by a row without a key. */
struct mapping_key {
    const char *room; /* a room, or "" for the file itself */
    const char *key, *type, *help;
};
extern const struct mapping_key scenario_mappings[];

#endif
