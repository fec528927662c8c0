/* pacer_tables.h - what the pacer is told and shows: parameters, presets, gauges. Included by policies/pacer.c alone.
 */
#ifndef POLICIES_PACER_TABLES_H
#define POLICIES_PACER_TABLES_H

#include "policies/bucket.h"

#define PACER_CELL (10 * POLICY_SECOND) /* overloads are counted in cells of so long */
enum { PACER_CELLS = 7 };               /* the running one, and the six before it */

enum { PACER_STRANDED = 64 }; /* cells of what an outage left in flight */

enum { LAW_BUDGETS, LAW_CONCURRENCY, LAW_RETRY_AFTER };
enum { STORE_UP, STORE_DOWN };

struct pacer_params {
    int law;
    bool fairness, reservation;
    double r_tok, r_qps;
    int64_t c_burst, k_inflight, c_req;
    double cached_weight;
    int store;
    int64_t concurrency;
    double kappa_start;
    policy_time seed_age;
    policy_time expires, poll_least, poll_most;
    policy_time overload_wait, overload_most, retry_after, overload_retry_after, local_gap;
    int64_t tries;
};

struct pacer_vars {
    struct bucket tokens, requests;
    parts in_flight; /* millionths */
    /* Of them: of calls that ended while the store was down, by when they expire, in cells of `width`; all before
     * `freed` are empty. Each counts to the end of its cell, an upper bound by less than a 61st of `expires`. */
    parts stranded[PACER_STRANDED];
    policy_time width;
    int64_t freed;
    uint64_t calls;             /* in flight */
    struct pacer_params before; /* as they were before they are changed */
    int64_t cell;
    uint64_t cells[PACER_CELLS];
    double kappa;
    double level_tok, level_req, tokens_in_flight; /* as shown */
    double seed_r_tok, seed_k_inflight, seed_r_qps, seed_at;
    uint64_t overloads_60;
    uint64_t gates; /* a bit for each of the first 64 at which it was asked */
    double head_wait;
};

struct pacer_stats {
    double admitted_tokens;
    uint64_t admitted, slow, expired, overloads, local;
};

static const char *const pacer_laws[] = {
    [LAW_BUDGETS] = "budgets", [LAW_CONCURRENCY] = "concurrency", [LAW_RETRY_AFTER] = "retry_after", NULL};
static const char *const pacer_stores[] = {[STORE_UP] = "up", [STORE_DOWN] = "down", NULL};

static const struct option pacer_options[] = {
    {.key = "r_tok",
     .type = OPTION_RATE,
     .offset = offsetof(struct pacer_params, r_tok),
     .initial = "20k tokens/s",
     .least = "1 tokens/h",
     .most = "inf",
     .measures = "tokens",
     .live = true,
     .help = "charged tokens of prompts that flow in"},
    {.key = "c_burst",
     .type = OPTION_COUNT,
     .offset = offsetof(struct pacer_params, c_burst),
     .initial = "500k",
     .least = "1",
     .most = "inf",
     .measures = "tokens",
     .live = true,
     .help = "charged tokens at once: what the bucket holds, which is full at first"},
    {.key = "k_inflight",
     .type = OPTION_COUNT,
     .offset = offsetof(struct pacer_params, k_inflight),
     .initial = "1M",
     .least = "1",
     .most = "inf",
     .measures = "tokens",
     .live = true,
     .help = "estimated tokens of all prompts in flight"},
    {.key = "r_qps",
     .type = OPTION_RATE,
     .offset = offsetof(struct pacer_params, r_qps),
     .initial = "1.5/s",
     .least = "1/d",
     .most = "inf",
     .measures = "requests",
     .live = true,
     .help = "calls that may start"},
    {.key = "c_req",
     .type = OPTION_COUNT,
     .offset = offsetof(struct pacer_params, c_req),
     .initial = "30",
     .least = "1",
     .most = "inf",
     .measures = "requests",
     .live = true,
     .help = "calls that may start at once"},
    {.key = "cached_weight",
     .type = OPTION_REAL,
     .offset = offsetof(struct pacer_params, cached_weight),
     .initial = "1",
     .least = "0.05",
     .most = "1",
     .live = true,
     .help = "what a token counts that is expected in the provider's cache, beside 1 of any other"},
    {.key = "store",
     .type = OPTION_CHOICE,
     .offset = offsetof(struct pacer_params, store),
     .initial = "up",
     .choices = pacer_stores,
     .live = true,
     .help = "whether the store that all share is reached; down: each agent paces itself, with local_gap"},
    {.key = "seed_age",
     .type = OPTION_TIME,
     .offset = offsetof(struct pacer_params, seed_age),
     .initial = "0 s",
     .least = "0 s",
     .most = "inf",
     .help = "how old the budgets are at the start, for planners; inf: nobody knows"},
    {.key = "law",
     .type = OPTION_CHOICE,
     .offset = offsetof(struct pacer_params, law),
     .initial = "budgets",
     .choices = pacer_laws,
     .help = "budgets: as published; concurrency: at most so many calls in flight, instead of them; retry_after: all "
             "go, and one that got a 429 waits as it says"},
    {.key = "fairness",
     .type = OPTION_FLAG,
     .offset = offsetof(struct pacer_params, fairness),
     .initial = "true",
     .help = "whether held calls stand in line; false: whoever asks and fits goes, in order of arrival"},
    {.key = "reservation",
     .type = OPTION_FLAG,
     .offset = offsetof(struct pacer_params, reservation),
     .initial = "true",
     .help = "whether what the head of the line needs is set aside for it"},
    {.key = "concurrency",
     .type = OPTION_COUNT,
     .offset = offsetof(struct pacer_params, concurrency),
     .initial = "8",
     .least = "1",
     .most = "inf",
     .measures = "calls",
     .live = true,
     .help = "calls in flight at the most, of law: concurrency"},
    {.key = "kappa_start",
     .type = OPTION_REAL,
     .offset = offsetof(struct pacer_params, kappa_start),
     .initial = "4.89",
     .least = "2",
     .most = "8",
     .help = "characters of a token, until it is learned"},
    {.key = "expires",
     .type = OPTION_TIME,
     .offset = offsetof(struct pacer_params, expires),
     .initial = "300 s",
     .least = "1 s",
     .most = "inf",
     .help = "a call in flight that is not heard of any more counts for so long"},
    {.key = "poll_least",
     .type = OPTION_TIME,
     .offset = offsetof(struct pacer_params, poll_least),
     .initial = "0.25 s",
     .least = "10 ms",
     .most = "1 h",
     .help = "a held call asks again after the time that its need takes to flow in, +- 25 %, at least this"},
    {.key = "poll_most",
     .type = OPTION_TIME,
     .offset = offsetof(struct pacer_params, poll_most),
     .initial = "5 s",
     .least = "10 ms",
     .most = "1 h",
     .help = "and at most this"},
    {.key = "overload_wait",
     .type = OPTION_TIME,
     .offset = offsetof(struct pacer_params, overload_wait),
     .initial = "30 s",
     .least = "10 ms",
     .most = "1 d",
     .help = "pause after the n-th 429 of a call that tells no retry-after: so long x n, +- 25 %"},
    {.key = "overload_most",
     .type = OPTION_TIME,
     .offset = offsetof(struct pacer_params, overload_most),
     .initial = "90 s",
     .least = "10 ms",
     .most = "1 d",
     .help = "and at most this, +- 25 %"},
    {.key = "tries",
     .type = OPTION_COUNT,
     .offset = offsetof(struct pacer_params, tries),
     .initial = "6",
     .least = "0",
     .most = "1k",
     .help = "how often an attempt is tried again behind a 429, unseen by its agent"},
    {.key = "retry_after",
     .type = OPTION_TIME,
     .offset = offsetof(struct pacer_params, retry_after),
     .initial = "30 s",
     .least = "1 ms",
     .most = "1 d",
     .help = "what a call is told whose hold cap has come"},
    {.key = "overload_retry_after",
     .type = OPTION_TIME,
     .offset = offsetof(struct pacer_params, overload_retry_after),
     .initial = "60 s",
     .least = "1 ms",
     .most = "1 d",
     .help = "the same where it had got a 429 before"},
    {.key = "local_gap",
     .type = OPTION_TIME,
     .offset = offsetof(struct pacer_params, local_gap),
     .initial = "2.5 s",
     .least = "10 ms",
     .most = "1 h",
     .help = "store: down: between two starts of an agent, x U(0.8, 1.4), and one call at a time"},
    {.key = NULL},
};

static const char *const pacer_published[] = {"r_tok", "20k tokens/s", "c_burst", "500k",  "k_inflight", "1M",
                                              "c_req", "30",           "r_qps",   "1.5/s", NULL};
static const char *const pacer_laguna[] = {"r_tok",         "105k tokens/s", "c_burst", "1065k", "k_inflight",
                                           "2023500",       "c_req",         "30",      "r_qps", "1.48/s",
                                           "cached_weight", "0.1",           NULL};
static const char *const pacer_slots[] = {"r_tok", "inf", "c_burst", "inf",    "k_inflight", "inf",
                                          "c_req", "12",  "r_qps",   "0.88/s", NULL};
static const struct policy_preset pacer_presets[] = {
    {.name = "published",
     .settings = pacer_published,
     .help = "what was taken for a pool of which nothing was measured"},
    {.name = "laguna", .settings = pacer_laguna, .help = "the seeds measured for a pool of coding agents"},
    {.name = "slots",
     .settings = pacer_slots,
     .help = "a card of 8 slots at 39 tokens/s: calls of 354 tokens, twelve at once; prompts cost it nothing"},
    {.name = NULL},
};

#define PACER_VAR(gauge) .type = POLICY_GAUGE_DOUBLE, .offset = offsetof(struct pacer_vars, gauge)
#define PACER_COUNT(gauge) .type = POLICY_GAUGE_UINT64, .in_stats = true, .offset = offsetof(struct pacer_stats, gauge)

static const struct policy_gauge pacer_gauges[] = {
    {.name = "level_tok", PACER_VAR(level_tok), .unit = "tokens", .help = "in the bucket of tokens; below 0: owed"},
    {.name = "level_req", PACER_VAR(level_req), .unit = "requests", .help = "in the bucket of requests"},
    {.name = "in_flight", PACER_VAR(tokens_in_flight), .unit = "tokens", .help = "estimated, of the calls in flight"},
    {.name = "kappa", PACER_VAR(kappa), .unit = "chars/token", .help = "characters of a token, as learned"},
    {.name = "admitted", PACER_COUNT(admitted), .unit = "calls", .help = "let in so far, through the store"},
    {.name = "admitted_tokens",
     .type = POLICY_GAUGE_DOUBLE,
     .in_stats = true,
     .offset = offsetof(struct pacer_stats, admitted_tokens),
     .unit = "tokens",
     .help = "what those were charged when they were let in"},
    {.name = "slow",
     PACER_COUNT(slow),
     .unit = "calls",
     .help = "of those, asked for over 2 s; a pause after a 429 is not in it"},
    {.name = "head_wait",
     PACER_VAR(head_wait),
     .unit = "s",
     .help = "for which the first of the held line has asked; 0: it pauses after a 429, or there is none"},
    {.name = "expired", PACER_COUNT(expired), .unit = "calls", .help = "refused so far as their hold cap had come"},
    {.name = "local", PACER_COUNT(local), .unit = "calls", .help = "let go so far while the store was down"},
    {.name = "overloads",
     PACER_COUNT(overloads),
     .unit = "calls",
     .help = "429s without a retry-after so far: the provider's own"},
    {.name = "overloads_60",
     .type = POLICY_GAUGE_UINT64,
     .offset = offsetof(struct pacer_vars, overloads_60),
     .unit = "calls",
     .help = "the same in the last six whole cells of 10 s"},
    {.name = "seed_r_tok",
     PACER_VAR(seed_r_tok),
     .unit = "tokens/s",
     .help = "r_tok as the scenario or the operator set it last"},
    {.name = "seed_k_inflight", PACER_VAR(seed_k_inflight), .unit = "tokens", .help = "the same of k_inflight"},
    {.name = "seed_r_qps", PACER_VAR(seed_r_qps), .unit = "requests/s", .help = "the same of r_qps"},
    {.name = "seed_at",
     PACER_VAR(seed_at),
     .unit = "s",
     .help = "when the budgets were last set by an operator, or lowered; below 0: before the start; -inf: unknown"},
    {.name = NULL},
};

#endif
