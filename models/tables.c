/* tables.c - every key of a scenario file outside policies, declared once: parser, ranges, `weir help` and the
 * effective scenario of `weir check` all read these rows. */
#include "models/tables.h"

static const char *const until_choices[] = {"horizon", "done", NULL};
static const char *const backoff_choices[] = {"constant", "linear", "exponential", "ub", NULL};
static const char *const retry_after_choices[] = {"honour", "at_least", "ignore", NULL};
static const char *const beyond_choices[] = {"cut", "ignore", "give_up", NULL};
static const char *const quota_choices[] = {"none", "grpc", "aws", NULL};
static const char *const restarts_choices[] = {"call", "run", NULL};
static const char *const retries_choices[] = {"gate", "bypass", NULL};
static const char *const at_deadline_choices[] = {
    [AT_DEADLINE_GOES_ON] = "goes_on", [AT_DEADLINE_GIVES_UP] = "gives_up", NULL};
static const char *const recorded_choices[] = {"first", "all", NULL};
static const char *const scope_choices[] = {"all", "gate", "class", "tenant", "agent", NULL};

#define AT(keys, member) .offset = offsetof(struct keys, member)

const struct option study_options[] = {
    {"until", OPTION_CHOICE, AT(study_keys, until), .initial = "horizon", .choices = until_choices,
     .help = "when a replication ends: at its horizon, or when every run has ended (a terminating study)"},
    {"horizon", OPTION_TIME, AT(study_keys, horizon), .initial = "", .least = "1 ms", .most = "25000 d",
     .help = "simulated time of a replication; needed unless `until: done`"},
    {"warmup", OPTION_TIME, AT(study_keys, warmup), .initial = "0 s", .least = "0 s",
     .help = "what happens up to here is not measured; not in a terminating study; auto: found by MSER-5 in the number "
             "in the system, averaged over pilot replications, the same for all policies"},
    {"most", OPTION_TIME, AT(study_keys, most), .initial = "6 h", .least = "1 ms", .most = "25000 d",
     .help = "a terminating study ends here at the latest; only with `until: done`"},
    {"replications", OPTION_COUNT, AT(study_keys, replications), .initial = "20", .least = "1", .most = "100k",
     .help = "independent repetitions of every design point; half-widths need two"},
    {"seed", OPTION_COUNT, AT(study_keys, seed), .initial = "1", .least = "0", .most = "1000000000000",
     .help = "of all random numbers; the same seed gives the same table"},
    {.key = NULL},
};

const char *const kind_choices[] = {[KIND_SLOTS] = "slots", [KIND_PROVIDER] = "provider", [KIND_ALIAS] = "alias", NULL};

const struct option slots_options[] = {
    {"kind", OPTION_CHOICE, AT(slots_keys, kind), .initial = NULL, .choices = kind_choices,
     .help = "slots: servers with one queue, each serving one call at a time; or provider, or alias, whose keys are "
             "others"},
    {"servers", OPTION_COUNT, AT(slots_keys, servers), .initial = NULL, .least = "1", .most = "100k",
     .help = "slots: how many calls are served at once"},
    {"rate", OPTION_RATE, AT(slots_keys, rate), .initial = "", .least = "1 tokens/h", .most = "1000M tokens/s",
     .measures = "tokens", .help = "output of one busy slot; or step_time, throughput, service"},
    {"service", OPTION_DIST, AT(slots_keys, service), .initial = "", .measures = "time",
     .help = "service time of a call, whatever its tokens; instead of rate"},
    {"kv", OPTION_COUNT, AT(slots_keys, kv), .initial = "inf", .least = "1", .measures = "tokens",
     .help = "slots: tokens that fit into memory; a call starts when all of its input and output fits, and its context "
             "stays until the least recently used ones make room"},
    {"prefill", OPTION_RATE, AT(slots_keys, prefill), .initial = "inf", .least = "1 tokens/h", .measures = "tokens",
     .help = "slots: input that a slot reads before it answers; only what is new, where memory has kept the rest"},
    {.key = NULL},
};

const char *const cards_signal_names[] = {"utilisation", "queue_length", "token_velocity", NULL};
static const char *const route_choices[] = {"least_busy", "power_of_two", "sticky", NULL};

const struct option cards_options[] = {
    {"min", OPTION_COUNT, AT(cards_keys, min), .initial = "1", .least = "1", .most = "1000",
     .help = "cards that are kept at the least"},
    {"max", OPTION_COUNT, AT(cards_keys, max), .initial = NULL, .least = "1", .most = "1000",
     .help = "cards at the most: those that start, are up or drain; the same as min: no autoscaling"},
    {"start", OPTION_COUNT, AT(cards_keys, start), .initial = "", .least = "1", .most = "1000",
     .help = "cards that are up at t = 0; min unless given"},
    {"signal", OPTION_CHOICE, AT(cards_keys, signal), .initial = "utilisation", .choices = cards_signal_names,
     .help = "what is held against the target: busy slots, or calls that wait or are served, averaged over the last "
             "scrape interval, once it has ended (lagging); or output tokens admitted in this interval, at each "
             "admission (leading)"},
    {"scrape", OPTION_TIME, AT(cards_keys, scrape), .initial = "15 s", .least = "1 ms", .most = "1 d",
     .help = "interval of the signal; at its end, and with token_velocity at each admission too, it is decided how "
             "many cards there should be"},
    {"target", OPTION_REAL, AT(cards_keys, target), .initial = "0.7", .least = "0.01", .most = "100",
     .help = "of the signal, for each slot: busy slots / slots, calls / slots, or tokens admitted a second / tokens "
             "that a full card makes a second; as many cards are wanted as bring the signal to the target or below"},
    {"step", OPTION_COUNT, AT(cards_keys, step), .initial = "1", .least = "1", .most = "1000",
     .help = "cards that one decision adds or takes away at the most"},
    {"cooldown", OPTION_TIME, AT(cards_keys, cooldown), .initial = "60 s", .least = "0 s", .most = "1 d",
     .help = "for so long after a decision that changed something no card is taken away"},
    {"cooldown_up", OPTION_TIME, AT(cards_keys, cooldown_up), .initial = "", .least = "0 s", .most = "1 d",
     .help = "and for so long none is started; cooldown unless given"},
    {"cold_start", OPTION_DIST, AT(cards_keys, cold_start), .initial = "20.32 s", .measures = "time",
     .help = "from the decision to the first call that a card serves; it is paid for"},
    {"route", OPTION_CHOICE, AT(cards_keys, route), .initial = "least_busy", .choices = route_choices,
     .help = "which of the cards with a free slot, and memory, takes the next call: the least busy; the less busy of "
             "two drawn at random; that of the agent's last call, else the least busy"},
    {.key = NULL},
};

const struct option step_options[] = {
    {"base", OPTION_TIME, AT(step_keys, base), .initial = NULL, .least = "0 s", .most = "1 h",
     .help = "a token takes base + per_busy_slot x busy slots"},
    {"per_busy_slot", OPTION_TIME, AT(step_keys, per_busy_slot), .initial = "0 s", .least = "0 s", .most = "1 h",
     .help = "what each busy slot adds to the time of a token"},
    {.key = NULL},
};

const struct option throughput_option = {"throughput",
                                         OPTION_RATE,
                                         0,
                                         .initial = NULL,
                                         .least = "1 tokens/h",
                                         .most = "1000M tokens/s",
                                         .measures = "tokens",
                                         .help = "output of all slots together while that many are busy"};

const struct option class_options[] = {
    {"population", OPTION_COUNT, AT(class_keys, population), .initial = "", .least = "1", .most = "100M", .live = true,
     .help = "agents of this class, each thinking before every turn; or arrivals; set to less, the last of them leave "
             "when their "
             "run ends, of endless runs when their turn ends"},
    {"arrivals", OPTION_DIST, AT(class_keys, arrivals), .initial = "", .live = true,
     .help =
         "runs that arrive: poisson(50/min); even(50/h), one at once and then one each 72 s; all_at(0 s) with runs; "
         "trace(FILE COLUMN UNIT); batch(40 within 5 s every poisson(2/h)), so many runs from one trigger; day(FILE "
         "COLUMN), Poisson with rates of equal parts of a day, runs a minute, from 0 s on; spike(base 2/min peak "
         "40/min at "
         "10 min for 5 min), Poisson; recorded, at the times of a replay's trace; of poisson the rate is live"},
    {"runs", OPTION_COUNT, AT(class_keys, runs), .initial = "inf", .least = "1", .measures = "runs",
     .help = "runs of this class in all"},
    {"turns", OPTION_DIST, AT(class_keys, turns), .initial = "", .measures = "turns",
     .help = "turns of a run; without it a run of a population is endless and one that arrives has one turn"},
    {"boot", OPTION_DIST, AT(class_keys, boot), .initial = "", .measures = "time",
     .help = "time from a run's admission at the door to its first turn, before the think time of a population; the "
             "agent is alive meanwhile, and in no line"},
    {"think", OPTION_DIST, AT(class_keys, think), .initial = "", .measures = "time", .live = true,
     .help = "time before a turn of a population, and between the turns of a run that arrives"},
    {"output", OPTION_DIST, AT(class_keys, output), .initial = "", .measures = "tokens",
     .help = "output tokens of a turn; needed unless the backend has a service time"},
    {"max_tokens", OPTION_COUNT, AT(class_keys, max_tokens), .initial = "inf", .least = "1", .measures = "tokens",
     .help = "of output, asked for with each call: a turn's output is cut here, and pools may charge it beforehand"},
    {"backend", OPTION_TEXT, AT(class_keys, backend), .initial = "",
     .help = "which backend its calls go to; may be left out where there is only one; or a list of them in order, with "
             "spill"},
    {"spill", OPTION_TEXT, AT(class_keys, spill), .initial = "",
     .help =
         "of a list of backends, when a call goes on to the next: refused, when the gate or the backend refuses it; "
         "wait > 10 s, when it has been held and waited so long at this one; none: never. It is one attempt, and "
         "each attempt begins at the first"},
    {"tenant", OPTION_TEXT, AT(class_keys, tenant), .initial = "default", .help = "who pays for this class"},
    {"priority", OPTION_REAL, AT(class_keys, priority), .initial = "0", .least = "0", .most = "1000000",
     .help = "for policies: higher is more"},
    {"value", OPTION_REAL, AT(class_keys, value), .initial = "1", .help = "of a run, for policies: higher is more"},
    {"start", OPTION_TIME, AT(class_keys, start), .initial = "0 s", .least = "0 s", .most = "25000 d",
     .help = "when its agents begin, or its arrivals are counted from"},
    {"preset", OPTION_TEXT, AT(class_keys, preset), .initial = "",
     .help =
         "a measured agent by the name of its pool and harness, see `weir list agents`; keys beside it go before it"},
    {"at_deadline", OPTION_CHOICE, AT(class_keys, at_deadline), .initial = "goes_on", .choices = at_deadline_choices,
     .help = "what a run does that has not ended by its deadline: it goes on and is late, or its client gives it up, "
             "the call that it has too, and what it has spent is wasted"},
    {.key = NULL},
};

const struct option deadline_options[] = {
    {"turn", OPTION_TIME, AT(deadline_keys, turn), .initial = "inf", .least = "1 ms",
     .help = "how long after its first attempt a turn is to be answered; of a schedule, after it was due"},
    {"run", OPTION_TIME, AT(deadline_keys, run), .initial = "inf", .least = "1 ms",
     .help = "how long after its first attempt at the door a run is to be done, restarts of it included"},
    {.key = NULL},
};

const struct option input_options[] = {
    {"start", OPTION_DIST, AT(input_keys, start), .initial = "", .measures = "tokens",
     .help = "what the first turn of a run sends; or sessions"},
    {"per_turn", OPTION_DIST, AT(input_keys, per_turn), .initial = "0", .measures = "tokens",
     .help = "what each further turn sends more than the one before it"},
    {"most", OPTION_COUNT, AT(input_keys, most), .initial = "inf", .least = "1", .measures = "tokens",
     .help = "the longest input; what would pass it is cut to it, or compacted"},
    {"compact_to", OPTION_COUNT, AT(input_keys, compact_to), .initial = "", .least = "1", .measures = "tokens",
     .help = "an input that would pass most begins anew with so much, nothing of it cached; without it it is cut"},
    {"cached", OPTION_TEXT, AT(input_keys, cached), .initial = "previous",
     .help =
         "what of it is in a cache: previous, all that the turn before sent; or a share of it, such as 96.3 %. "
         "Of several backends the one that answered the turn before has that, another at most what it was sent itself "
         "in this run, and nothing if it was sent nothing"},
    {"sessions", OPTION_DIST, AT(input_keys, sessions), .initial = "",
     .help = "recorded(FILE SESSION INPUT CACHED), four names of a file and its columns: a run is one of its sessions, "
             "turn by turn, in place of the other keys and of turns"},
    {"chars_per_token", OPTION_DIST, AT(input_keys, chars_per_token), .initial = "4.89",
     .help = "characters of the prompt a token, drawn for each turn: what a policy sees that counts characters"},
    {.key = NULL},
};

static const char *const times_choices[] = {"uniform", "even", NULL};

const struct option schedule_options[] = {
    {"turns", OPTION_COUNT, AT(schedule_keys, turns), .initial = NULL, .least = "1", .most = "100M",
     .measures = "turns",
     .help = "of all agents together, shared out evenly; each agent makes its own in order, one at a time"},
    {"over", OPTION_TIME, AT(schedule_keys, over), .initial = NULL, .least = "0 s", .most = "25000 d",
     .help = "turns are due within so long of an agent's begin"},
    {"times", OPTION_CHOICE, AT(schedule_keys, times), .initial = "uniform", .choices = times_choices,
     .help = "an agent's times: independent and uniform, or equally spaced"},
    {"offset", OPTION_TIME, AT(schedule_keys, offset), .initial = "0 s", .least = "0 s", .most = "25000 d",
     .help = "agent i begins i offsets later than agent 0"},
    {"offset_wraps", OPTION_TIME, AT(schedule_keys, offset_wraps), .initial = "0 s", .least = "0 s", .most = "25000 d",
     .help = "an agent's begin is taken modulo this; 0 s: it is not"},
    {.key = NULL},
};

const struct option fan_out_options[] = {
    {"to", OPTION_TEXT, AT(fan_out_keys, to), .initial = NULL,
     .help = "the backend of the parts: a tool is one of kind slots with a service time"},
    {"parts", OPTION_DIST, AT(fan_out_keys, parts), .initial = NULL, .measures = "parts",
     .help =
         "how many parts a turn has; each is a call of its own, with its attempts and refusals, to which the "
         "class's client reacts (but for `dies`); response_* and lateness_* are of the turn's own call, its deadline "
         "of the turn with its parts"},
    {"tokens", OPTION_DIST, AT(fan_out_keys, tokens), .initial = "", .measures = "tokens",
     .help = "output of a part; needed unless the backend has a service time and at_once counts parts"},
    {"wait_for", OPTION_TEXT, AT(fan_out_keys, wait_for), .initial = "all",
     .help = "all, or how many parts suffice: the rest is then abandoned, and who serves one serves it to its end; the "
             "turn is lost as soon as too few can still come back"},
    {"at_once", OPTION_TEXT, AT(fan_out_keys, at_once), .initial = "inf",
     .help = "the most parts of one agent that are under way, pauses between their attempts included: 8; or their "
             "tokens, 40k tokens"},
    {.key = NULL},
};

const struct option client_options[] = {
    {"preset", OPTION_TEXT, AT(client_keys, preset), .initial = "",
     .help = "named settings of a layer, those of `weir list clients`; keys beside it go before it"},
    {"backoff", OPTION_CHOICE, AT(client_keys, backoff), .initial = "exponential", .choices = backoff_choices,
     .help = "growth of the pause after the k-th refusal: base x 1, k or 2^(k-1); ub is arXiv:2510.04516"},
    {"base", OPTION_TIME, AT(client_keys, base), .initial = "1 s", .least = "0 s", .most = "25000 d",
     .help = "pause after the first refusal, before jitter"},
    {"cap", OPTION_TIME, AT(client_keys, cap), .initial = "60 s", .least = "0 s", .most = "25000 d",
     .help = "the longest pause, before jitter"},
    {"jitter", OPTION_TEXT, AT(client_keys, jitter), .initial = "full",
     .help = "none: m; equal: m/2 to m; full: 0 to m; 30 %: m +- 30 %; less 25 %: 75 % of m to m"},
    {"retry_after", OPTION_CHOICE, AT(client_keys, retry_after), .initial = "honour", .choices = retry_after_choices,
     .help = "a refusal's retry-after: sleep exactly that long, at least that long, or as if it were not there"},
    {"retry_after_most", OPTION_TIME, AT(client_keys, retry_after_most), .initial = "inf", .least = "0 s",
     .help = "the longest retry-after that is taken as it is; retry_after_beyond is of a longer one"},
    {"retry_after_beyond", OPTION_CHOICE, AT(client_keys, retry_after_beyond), .initial = "cut",
     .choices = beyond_choices,
     .help = "a retry-after above retry_after_most: cut to it, ignored as if it were not there, or reason to give up"},
    {"attempts", OPTION_COUNT, AT(client_keys, attempts), .initial = "inf", .least = "1", .measures = "attempts",
     .help = "tries of what is below the layer at most (of the innermost: attempts of one call); then its own try has "
             "failed, of the outermost layer: the turn is lost"},
    {"quota", OPTION_CHOICE, AT(client_keys, quota), .initial = "none", .choices = quota_choices,
     .help = "a bucket for each agent that retries draw on, full at first, not at the door: grpc holds 10, a failure "
             "takes 1, an answer gives 0.1, a retry needs more than 5; aws holds 500, a retry takes 5, an answer to a "
             "retried call gives 5 and to another 1"},
    {"timeout", OPTION_TIME, AT(client_keys, timeout), .initial = "inf", .least = "1 ms",
     .help = "a try without an answer by then is given up, in no count of refusals; the client goes on as after a "
             "refusal; of an outer layer from when its try began, pauses of the layers below included; at the door "
             "only attempts and hold_cap apply"},
    {"restarts", OPTION_CHOICE, AT(client_keys, restarts), .initial = "call", .choices = restarts_choices,
     .help = "what the layer tries again: the call, or the whole run (the outermost of several layers "
             "only, needs turns)"},
    {"hold_cap", OPTION_TIME, AT(client_keys, hold_cap), .initial = "1 h", .least = "1 ms",
     .help = "the longest that one attempt may be held at the gate; of the innermost layer only"},
    {"retries", OPTION_CHOICE, AT(client_keys, retries), .initial = "gate", .choices = retries_choices,
     .help = "whether second and later attempts ask the policies of the gate, or bypass them; said in the innermost "
             "layer for all"},
    {"dies", OPTION_SHARE, AT(client_keys, dies), .initial = "0 %",
     .help =
         "of the attempts in service, lose their client at a random moment of it: policies hear nothing, the backend "
         "works on for nobody, the run is lost (an endless one goes on with its next turn); said in the innermost "
         "layer for all"},
    {.key = NULL},
};

const struct option record_options[] = {
    {"every", OPTION_TIME, AT(record_keys, every), .initial = "", .least = "1 ms", .most = "25000 d",
     .help = "samples are taken at 0, every, 2 every, ... up to the horizon, each behind all that happens at its "
             "instant; needed beside file"},
    {"file", OPTION_TEXT, AT(record_keys, file), .initial = "",
     .help = "the CSV that gets a row for each sample, with FILE.meta; as -o, of the folder where weir is run. In this "
             "and the logs below an empty cell is undefined, and inf no limit"},
    {"decisions", OPTION_TEXT, AT(record_keys, decisions), .initial = "",
     .help = "the CSV that gets a row for each decision that a policy writes down, such as a planner's at each tick"},
    {"audit", OPTION_TEXT, AT(record_keys, audit), .initial = "",
     .help = "the CSV that gets a row for each live value that is set, by `changes:` (operator), by a policy, or by an "
             "autoscaler of `cards:`: time, key, copy, old and new value, by whom, reason"},
    {"alerts", OPTION_TEXT, AT(record_keys, alerts), .initial = "",
     .help = "the CSV that gets a row for each of the `alerts:` that is raised, and for its end"},
    {"replications", OPTION_CHOICE, AT(record_keys, replications), .initial = "first", .choices = recorded_choices,
     .help = "which replications of each design point are recorded"},
    {.key = NULL},
};

const struct option change_options[] = {
    {"at", OPTION_TIME, AT(change_keys, at), .initial = NULL, .least = "0 s", .most = "25000 d",
     .help = "when: before all else that happens at that instant; of changes at one instant each in its turn"},
    {"set", OPTION_TEXT, AT(change_keys, set), .initial = NULL,
     .help =
         "the address of a live value: policies.LABEL.MEMBER.KEY, of all copies of the member (policies.*.MEMBER.KEY: "
         "in every alternative that has it), backends.POOL.meters.METER.limit, agents.CLASS.population"},
    {"to", OPTION_TEXT, AT(change_keys, to), .initial = NULL, .help = "its value, as it would stand there"},
    {"reason", OPTION_TEXT, AT(change_keys, reason), .initial = "", .help = "a line for the audit (record: audit)"},
    {"skip", OPTION_FLAG, AT(change_keys, skip), .initial = "false",
     .help = "true: as if it were not there, while those behind it keep their index; --policy does so with changes of "
             "alternatives that it leaves out"},
    {.key = NULL},
};

const struct option alert_options[] = {
    {"when", OPTION_TEXT, AT(alert_keys, when), .initial = NULL,
     .help = "queue_age > 9 min: of the oldest call held or waiting at a gate, since its attempt; queue_depth > 1000: "
             "calls that are; provider_429: each call that a pool refuses; provider_429 while limited: each that it "
             "refuses "
             "though a policy at one of its gates, or at the door, limits what is sent to it"},
    {"at", OPTION_TEXT, AT(alert_keys, at), .initial = "", .help = "the backend; without it, each for itself"},
    {.key = NULL},
};

const struct option host_options[] = {
    {"at", OPTION_TEXT, AT(host_keys, at), .initial = "",
     .help = "the backend whose gate it stands at; without it, every gate"},
    {"scope", OPTION_CHOICE, AT(host_keys, scope), .initial = "gate", .choices = scope_choices,
     .help = "how many copies there are: one in all, or one a gate, class, tenant or agent (at each gate); the bucket "
             "of a class "
             "or tenant must hold its largest call"},
    {"name", OPTION_TEXT, AT(host_keys, name), .initial = "",
     .help = "what it is called in its chain; the policy's name unless given"},
    {"preset", OPTION_TEXT, AT(host_keys, preset), .initial = "",
     .help = "named settings of the policy; keys beside it go before it"},
    {.key = NULL},
};
