/* readers.h - the parts of a scenario, each read from its mapping of the file. All take what belongs together of one
 * design point; none knows of sweeps. False after an error, with the message in the reader's diag. */
#ifndef MODELS_READERS_H
#define MODELS_READERS_H

#include "models/columns.h"
#include "models/distribution.h"
#include "models/scenario.h"
#include "sim/io/option.h"
#include "sim/io/yaml.h"

struct plan;

struct reader {
    struct arena *arena;
    struct columns *columns;
    struct diag *diag;
    const struct policy_ops *const *policies; /* known ones, ended by NULL */
    const struct node *document;              /* whose `seeds` members take; NULL: there are none */
};

/* `map` may be NULL (the key is missing); `file` is the place of the document. */
bool study_read(const struct reader *reader, const struct node *map, struct place file, struct study *study);
/* With `prices`, which may be NULL too. */
bool backends_read(const struct reader *reader, const struct node *map, const struct node *prices, struct place file,
                   struct scenario *scenario);
/* The mapping `cards:` of a slots backend, whose own keys are read. */
bool cards_read(const struct reader *reader, const struct node *map, struct backend *backend);
/* A backend of kind `provider`, but for its name and place; and one of kind `alias`, after all others, since it names
 * one of them. */
bool provider_read(const struct reader *reader, const struct node *map, struct backend *backend);
bool alias_read(const struct reader *reader, const struct node *map, const struct node *backends,
                const struct backend *others, struct backend *alias);
/* A provider's mapping with its preset in it, its meters all as mappings: explicit keys first. NULL after an error. */
struct node *provider_settings(const struct reader *reader, const struct node *map);
/* An entry of `meters` in that form, and a limit that moves; `what` is what messages call it. */
bool meter_read(const struct reader *reader, const struct node_entry *entry, struct meter_spec *meter);
bool limit_read(const struct reader *reader, const struct expr *moves, enum meter_kind kind, struct limit_spec *limit);
/* Whether a meter lets anything through with these values; what is wrong is said at `place`. */
bool meter_check(const struct reader *reader, const char *name, struct place place, const struct meter_spec *meter);
/* exact, rounded, none or constant(TIME), into the spec. */
bool retry_after_read(const struct reader *reader, const char *text, struct place place, struct provider_spec *spec);
/* The kind of a meter by its name; METER_KINDS: there is none. */
enum meter_kind meter_named(const char *name);
/* `map` may be NULL. */
bool prices_read(const struct reader *reader, const struct node *map, struct backend *backends, size_t count);
/* enum kind, as a backend's mapping says; -1: it does not. */
int backend_kind(const struct node *map);
/* After study and backends, since its mistakes depend on them. */
bool classes_read(const struct reader *reader, const struct node *map, struct place file, struct scenario *scenario);
/* A class's mapping with its preset in it: explicit keys first. NULL after an error. */
struct node *class_settings(const struct reader *reader, const struct node *map);
/* poisson(RATE), even(RATE): runs that arrive, calls of strangers, a second. */
bool arrivals_rate_read(const struct reader *reader, const struct expr *call, double *rate);
bool strangers_rate_read(const struct reader *reader, const struct expr *calls, double *rate);
/* Whether its agents would ask for ever at one instant, were they refused. */
bool class_never_pauses(const struct agent_class *class);
/* Warns of classes whose calls a pool would never let in. */
void pools_check(const struct reader *reader, const struct scenario *scenario);
/* Of backends and classes together: a memory that the calls of a class do not fit into. */
/* That buckets of classes and tenants hold the largest calls of these. */
bool rooms_check(const struct reader *reader, const struct scenario *scenario);
bool memory_check(const struct reader *reader, const struct scenario *scenario);
/* When the runs of a class come; `runs` is where their number is said. */
bool arrivals_read(const struct reader *reader, const struct expr *arrivals, struct place runs,
                   struct agent_class *class);
/* Runs that a class's arrivals bring on average before they rest for ever; INFINITY: they never do. */
double arrivals_expected(const struct agent_class *class);
/* What a class's turns send, and when they are due; `map` may be NULL. */
bool input_read(const struct reader *reader, const struct node *map, const struct input_spec **input);
/* What a trace says of the class; of its mapping. After its input, before its source. */
bool replay_read(const struct reader *reader, const struct node *class_map, struct agent_class *class);
bool schedule_read(const struct reader *reader, const struct node *map, const struct schedule_spec **schedule);
/* Its deadlines; `map` may be NULL, and `gives_up` says where: a place without a file if nowhere. After its source. */
bool deadline_read(const struct reader *reader, const struct node *map, struct place gives_up,
                   struct agent_class *class);
/* `map` may be NULL. After the study, whose replications it decides. */
bool precision_read(const struct reader *reader, const struct node *map, struct study *study);
/* The index of a metric by its name; METRIC_COUNT, with a message that begins with `what`: there is none. */
size_t metric_find(const struct reader *reader, const char *name, const char *what, struct place place);
/* A backend by its name; false, with a message, if there is none. */
bool backend_find(const struct reader *reader, const char *name, struct place place, const struct scenario *scenario,
                  uint32_t *index);
/* What its turns do with their answer; `map` may be NULL. */
bool fan_out_read(const struct reader *reader, const struct node *map, const struct scenario *scenario,
                  const struct fan_out_spec **fan_out);
/* After its backends. `list` may be NULL. */
bool alerts_read(const struct reader *reader, const struct node *list, struct scenario *scenario);
/* `node` is a mapping or a list of them, or NULL; `turns`: the runs of its class have an end and may be restarted. */
bool client_read(const struct reader *reader, const struct node *node, bool turns, struct client *client);
/* A layer's keys with those of its preset: explicit keys first. NULL after an error. */
struct node *layer_settings(const struct reader *reader, const struct node *layer);
/* *record NULL: there is none. When all design points are built, the columns of it; `whole`: all alternatives of the
 * file are there. */
bool record_read(const struct reader *reader, const struct node *map, const struct record_spec **record);
bool record_columns_read(const struct reader *reader, const struct node *map, bool whole, struct plan *plan);

/* One alternative: `chain` is an item of `policies` in its canonical form (models/alternative.h). */
bool chain_read(const struct reader *reader, const struct node *chain, const char *label, const struct node *backends,
                const struct node *agents, struct chain *out);
const struct policy_ops *policy_named(const struct policy_ops *const *policies, const char *name);
/* Of a policy that has the callback. */
struct policy_room member_room(const struct member *member, const struct policy_view *names,
                               const struct policy_call *call);
/* The policy's own check of parameters: NULL, or what does not go together. */
const char *member_check(const struct policy_ops *ops, const void *params);
/* A member's parameters with the seeds of its pool, those of its preset and the host's keys: explicit keys first, then
 * seeds. NULL after an error. */
struct node *member_settings(const struct reader *reader, const struct policy_ops *ops, const struct node *params);

/* The texts of a value, or of a list of them, and how many. NULL after an error; `what` is what messages call it. */
const char *const *reader_texts(const struct reader *reader, struct node *node, const char *what, size_t *count);

/* A mapping of the file, or a message that one was expected at `what`. */
bool reader_expects_map(const struct reader *reader, const struct node *node, const char *what);
/* The same, with an example: the value that stands there at the key of the table that it fits, else `example`, keys of
 * the mapping as they are written, or NULL. */
bool reader_expects_map_of(const struct reader *reader, const struct node *node, const char *what,
                           const struct option *table, const char *example);
/* A mapping or a list, else a message. */
bool reader_expects_client(const struct reader *reader, const struct node *node);
/* Of the document: ranges where one value belongs; they are the sweep's. */
bool ranges_check(const struct reader *reader, const struct node *root);
/* A warning, said once however many design points it holds for. */
void reader_warns(const struct reader *reader, struct place place, const char *text);
/* Messages that were collected apart, those that were not said already: of what is read for each alternative anew. */
void reader_repeats(const struct reader *reader, const struct diag *said);
/* Letters, digits, _ and -; else a message that calls it `what`. */
bool reader_expects_name(const struct reader *reader, const char *name, struct place place, const char *what);
bool reader_expects_row(const struct reader *reader, const char *name, struct place place,
                        const char *what); /* and not `all` */
/* Appends what was likely meant: "", or "; did you mean X?". */
const char *reader_nearest(const struct reader *reader, const char *name, const char *const *names, size_t count);
/* Where a name stands among `count` of them, each `stride` bytes behind the last: in a row of structures, from the
 * member that is the name of the first on. READER_NONE after a message: `no`, such as "there is no backend", the name,
 * and those that there are. */
#define READER_NONE SIZE_MAX
size_t reader_find(const struct reader *reader, const char *name, struct place place, const char *no,
                   const char *const *first, size_t stride, size_t count);
/* The same of a table of presets, ended by a row whose name is NULL, where the file asks for one; `what` is what a
 * message calls a node that is no name. */
size_t reader_preset(const struct reader *reader, const struct node *asked, const char *what, const char *no,
                     const char *const *first, size_t stride);
/* The keys of a map, for such messages; count of them is the map's. */
const char *const *reader_keys(const struct reader *reader, const struct node *map);
/* "a, b, c" */
const char *reader_list(const struct reader *reader, const char *const *names, size_t count);

#endif
