/* rooms.c - the keys of a scenario file by the mappings that hold them, for its reader, `weir help` and the reference.
 */
#include "models/discover.h"
#include "models/regress.h"
#include "models/size.h"
#include "models/tables.h"

const char *const scenario_keys[] = {"title",  "study",     "backends", "prices",   "agents",  "policies", "sweep",
                                     "notes",  "plugin",    "record",   "discover", "seeds",   "changes",  "include",
                                     "alerts", "precision", "size",     "tornado",  "regress", NULL};
const char *const slots_others[] = {"step_time", "throughput", "cards", NULL};
const char *const class_others[] = {"client", "input", "replay", "schedule", "deadline", "fan_out", NULL};
const char *const record_others[] = {"what", NULL};

const struct options_room scenario_rooms[] = {
    {"study", study_options, "what is simulated, how long and how often"},
    {"backends", slots_options, "what serves calls: NAME: {kind: slots, ...}, or {kind: provider, ...}"},
    {"step_time", step_options, "of a slots backend: the time of a token depends on how many slots are busy"},
    {"cards", cards_options,
     "of a slots backend: replicas of `servers` slots each, behind one waiting line; a card that is taken away takes "
     "no "
     "new call and ends when it is empty, and none is while a call waits"},
    {"provider", provider_options, "a backend that is a pool with meters: NAME: {kind: provider, latency: ..., ...}"},
    {"meters", meter_options,
     "of a provider, METER: LIMIT or METER: {limit: LIMIT, ...}; meters are requests, input, output, total (of both), "
     "in_flight and tokens_in_flight; a call is refused by the first that is empty"},
    {"latency", latency_options, "of a provider: the sum of these times, for each call"},
    {"strangers", strangers_options, "of a provider: who shares it"},
    {"simultaneous", simultaneous_options, "of a provider: it refuses calls that come all at once"},
    {"acceleration", acceleration_options, "of a provider: it refuses load that grows too fast"},
    {"alias", alias_options, "a backend that is another key of a pool: NAME: {kind: alias, of: POOL}"},
    {"prices", price_options, "of a backend, in one currency: BACKEND: {input: 3, cached: 0.3, output: 15}"},
    {"agents", class_options, "who makes calls: NAME: {population: 24, ...}"},
    {"input", input_options, "of a class: what its turns send"},
    {"replay", replay_options, "of a class: its runs are those of a recorded workload"},
    {"schedule", schedule_options, "of a class: turns that are due at times"},
    {"deadline", deadline_options, "of a class: when its turns and runs are to be done"},
    {"fan_out", fan_out_options, "of a class: parts that a turn makes of its answer"},
    {"client", client_options,
     "of a class: how its agents take a refusal; of each layer, where there are several, innermost first"},
    {"record", record_options,
     "what a replication writes down, as CSV: samples of counts and gauges, decisions of policies, values that are "
     "set"},
    {"discover", discover_options,
     "what `weir discover` sends to a pool whose limits it cannot see; a run takes no notice of it"},
    {"changes", change_options,
     "a list of live values that are set at a time: [{at: 10 min, set: agents.coder.population, to: 40}]"},
    {"alerts", alert_options,
     "a list of what to be told of: [{when: queue_age > 9 min}, {when: provider_429, at: api}]"},
    {"precision", precision_options,
     "replications until a half-width is narrow enough, at each design point as many as it takes"},
    {"size", size_options, "what `weir size` varies, and what has to be met; a run takes no notice of it"},
    {"regress", regress_options, "what `weir regress` runs, and lets pass; a run takes no notice of it"},
    {"tornado", tornado_options, "what `weir run --tornado` moves, each alone, and whose swing it shows"},
    {"members", host_options, "keys that every policy takes"},
    {.name = NULL},
};

const struct mapping_key scenario_mappings[] = {
    {"", "title", "text", "stands above the table and the plots; the file's name unless given"},
    {"", "study", "mapping", "what is simulated, how long and how often"},
    {"", "backends", "mapping of NAME to a mapping",
     "what serves calls: NAME: {kind: slots, ...}, or {kind: provider, ...}"},
    {"", "prices", "mapping of BACKEND to a mapping",
     "of a backend, in one currency: BACKEND: {input: 3, cached: 0.3, output: 15}"},
    {"", "agents", "mapping of NAME to a mapping", "who makes calls: NAME: {population: 24, ...}"},
    {"", "policies", "list",
     "the alternatives, a list; each is a policy, NAME: {parameters}, or LABEL: [a chain of policies]; unbounded "
     "unless given"},
    {"", "sweep", "mapping",
     "values that a key takes in turn, KEY: [1, 2] or 8..24 step 2, whose steps must end at the last value; several "
     "keys are combined"},
    {"sweep", "zip", "list", "a list of mappings, whose keys go in step: [{KEY: 1, OTHER: 3}, {KEY: 2, OTHER: 4}]"},
    {"", "notes", "text, or list", "a line, or a list of lines, that stand below the table"},
    {"", "plugin", "file name, or list", "a shared object with a policy, or a list of them; as --plugin"},
    {"", "record", "mapping",
     "what a replication writes down, as CSV: samples of counts and gauges, decisions of policies, values that are "
     "set"},
    {"", "discover", "mapping",
     "what `weir discover` sends to a pool whose limits it cannot see; a run takes no notice of it"},
    {"", "size", "mapping",
     "what `weir size` varies, and what has to be met: {vary: agents.coder.population, within: 1..64, goal: wait_p99 "
     "<= "
     "15 s}"},
    {"size", "vary", "address, or list", "of the value that is searched for; of two, for each value of the first"},
    {"size", "within", "list, range, or mapping",
     "its values, from small to large, as `sweep` has them; of two a mapping, ADDRESS: values"},
    {"size", "goal", "text, or list",
     "METRIC <= VALUE or METRIC >= VALUE, in the row of all classes, tenants and backends; without one the time of a "
     "task "
     "is printed"},
    {"size", "ranges", "mapping of ADDRESS to a list of two",
     "values that are not known well: it is sized at either end too, and told what the answer owes to each"},
    {"", "regress", "mapping", "what `weir regress` runs, and lets pass; a run takes no notice of it"},
    {"regress", "set", "mapping of KEY to a value",
     "what makes the study a smaller one, as --set would: {study.horizon: 6000 s, sweep.agents.coder.population: "
     "[24]}; its table is S.regress.csv"},
    {"regress", "gate", "name, or list",
     "metrics that may not get worse; unless given those that a text table shows, of which more or less is better"},
    {"regress", "tolerance", "mapping of METRIC to a part, a floor, or both",
     "what a change must exceed to matter, {wait_p99: 3 %, lost_turns: 2, goodput: [1 %, 0.002]}; of other metrics as "
     "`weir help METRIC` says"},
    {"", "tornado", "mapping",
     "what `weir run --tornado` moves: {metric: wait_p99, ranges: {agents.coder.population: [8, 24]}}"},
    {"tornado", "ranges", "mapping of ADDRESS to a list of two", "the ends between which each is moved"},
    {"", "precision", "mapping", "replications until a half-width is narrow enough: {metric: wait_p99, relative: 2 %}"},
    {"discover", "phases", "name, or list",
     "of burst, ramp, requests, cache; all unless given. ramp stands on burst, and cache on ramp"},
    {"", "seeds", "mapping of POOL to a mapping of POLICY to a mapping",
     "parameters that were measured, as `weir discover` writes them: {api: {pacer: {r_tok: 105k tokens/s}}}; each such "
     "policy at the pool takes those that it is not given, before its preset and its defaults"},
    {"record", "what", "name, or list",
     "the columns: [waiting, codel.*], where NAME.* takes all that begin so; all that there are unless given"},
    {"", "changes", "list of mappings",
     "live values that are set at a time: [{at: 10 min, set: agents.coder.population, to: 40, reason: more work}]; of "
     "the keys that are live, and of policies' live parameters"},
    {"", "alerts", "list of mappings",
     "what to be told of, [{when: queue_age > 9 min}]: below the table stands how often, and when first; `record:` has "
     "all times. They change no number"},
    {"", "include", "file name, or list",
     "a file, or a list of them, whose keys stand below those of this one: this file goes before, key by key, and a "
     "later "
     "file before an earlier one; lists are not joined; paths are as seen from the file that names them"},
    {"backends", "step_time", "mapping",
     "of a slots backend: {base: 16.9 ms, per_busy_slot: 1.1 ms}, the time of a token depends on how many are busy"},
    {"backends", "throughput", "mapping",
     "of a slots backend: {1: 56 tokens/s, 8: 311 tokens/s}, output of all slots together with so many busy; to it a "
     "step_time is fitted"},
    {"backends", "cards", "mapping",
     "of a slots backend: {min: 1, max: 8, signal: queue_length, target: 0.7}, replicas that come and go with the "
     "load"},
    {"provider", "meters", "mapping of METER to a limit or a mapping",
     "what a call is charged for, and how much of it there is: requests, input, output, total, in_flight, "
     "tokens_in_flight"},
    {"provider", "latency", "mapping", "how long an answer takes: {base: 1.7 s, per_output: 6.31 ms}; required"},
    {"provider", "strangers", "mapping", "who shares the pool: {calls: poisson(60/min), input: 20k, output: 150}"},
    {"provider", "simultaneous", "mapping",
     "calls that come all at once are refused: {cold: 2.13M, hot: 1.0M, within: 1 s}"},
    {"provider", "acceleration", "mapping",
     "load that grows too fast is refused: {times: 2, over: 10 min, free: 100k}"},
    {"agents", "input", "mapping",
     "what a turn sends, the transcript of its run: {start: 20k, per_turn: 700, most: 200k}; without it nothing"},
    {"agents", "replay", "mapping",
     "runs as they were recorded, in place of input, turns, output and, where waits are recorded, think: {trace: "
     "calls.csv}; they come as `population` or `arrivals` say, and at their own times with arrivals: recorded"},
    {"agents", "schedule", "mapping",
     "of a population whose turns are due at times: {turns: 800, over: 600 s}; in place of think, turns and runs"},
    {"agents", "deadline", "mapping",
     "when turns and runs are to be done: {turn: 30 s, run: 600 s}; policies see a call's earlier one, and a run's"},
    {"agents", "backend", "name, or list",
     "the backend of its calls, or several in order: [card, tier], where `spill` says when a call goes on to the next; "
     "in rows of backends each counts the attempts that came to it, in all others it is one"},
    {"agents", "fan_out", "mapping",
     "calls that a turn makes after its answer, and waits for: {to: tool, parts: 200, at_once: 8}; goodput counts "
     "turns that got them. Rows of classes, tenants and all count their attempts, refusals and tokens; their waits "
     "and services stand in the row of their backend"},
    {"agents", "client", "mapping, or list of 1 to 4 mappings",
     "how the agents of a class take a refusal; of several layers, innermost first, each tries again what is below it: "
     "[{preset: openai}, {attempts: 3, restarts: run}]"},
    {.key = NULL},
};
