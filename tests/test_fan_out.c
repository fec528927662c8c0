/* Turns that fan out: hand-worked days of a few agents, bounds that hold at every moment of a run, what the books say.
 */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "models/metrics.h"
#include "tests/model.h"
#include "tests/suites.h"

enum { ATTEMPTS = 200000, ROWS = 16, CARD = 0, TOOL = 1 };

/* A card that answers at once and a tool of three servers, 2 s a part; one agent whose runs have one turn. */
#define CARD_AND_TOOL \
    "backends: {card: {kind: slots, servers: 4, service: 1 s}, tool: {kind: slots, servers: 3, service: 2 s}}\n"
#define ONE_RUN(fan_out) \
    "study: {until: done, replications: 2}\n" CARD_AND_TOOL \
    "agents: {a: {arrivals: all_at(0 s), runs: 1, backend: card, fan_out: {to: tool, " fan_out "}}}\n"

struct seen {
    struct policy_call call;
    enum attempt_verdict verdict;
    uint32_t gate;
    policy_time finished;
};

static struct seen seen[ATTEMPTS];
static size_t seen_count;
static double values[ROWS * METRIC_COUNT];

static void attempted(void *context, const struct attempt_record *record)
{
    (void)context;
    ck_assert_uint_lt(seen_count, ATTEMPTS);
    seen[seen_count++] = (struct seen){*record->call, record->verdict, record->gate, record->finished};
}

/* Simulates replication 1 and keeps all attempts; values of all rows. */
static void keep(const struct plan *plan)
{
    char wrong[512] = "";
    struct trial_watch watch = {.attempted = attempted, .wrong = wrong, .wrong_size = sizeof wrong};
    enum trial_end end;

    ck_assert_uint_le(trial_row_count(plan->points[0].scenario), ROWS);
    seen_count = 0;
    end = trial_simulate(plan->points[0].scenario, 1, &watch, values);
    ck_assert_msg(end == TRIAL_ENDED, "%s", wrong);
}

static void simulate(const char *yaml)
{
    struct plan plan = model_plan(yaml);

    keep(&plan);
    plan_fini(&plan);
}

/* The row of all, then of the card and of the tool: one class. */
static double of(size_t row, enum metric_index metric)
{
    return values[row * METRIC_COUNT + metric];
}

static size_t count(uint32_t gate, enum attempt_verdict verdict)
{
    size_t found = 0;

    for (size_t i = 0; i < seen_count; i++)
        found += seen[i].gate == gate && seen[i].verdict == verdict;
    return found;
}

/* --- hand-worked ------------------------------------------------------------------------------------------------- */

/* 1 s, then 7 parts of 2 s by three servers: three rounds. */
START_TEST(all_parts)
{
    simulate(ONE_RUN("parts: 7"));
    ck_assert_double_eq(of(0, METRIC_MAKESPAN), 7);
    ck_assert_uint_eq(count(TOOL, ATTEMPT_ANSWERED), 7);
    for (size_t i = 0; i < seen_count; i++)
        if (seen[i].gate == TOOL)
            ck_assert_int_eq(seen[i].call.attempted, POLICY_SECOND);
}
END_TEST

/* Two at once: the next is made when one is back. */
START_TEST(parts_at_once)
{
    simulate(ONE_RUN("parts: 7, at_once: 2"));
    ck_assert_double_eq(of(0, METRIC_MAKESPAN), 9);
    for (size_t i = 0, part = 0; i < seen_count; i++)
        if (seen[i].gate == TOOL) {
            ck_assert_int_eq(seen[i].call.attempted, (1 + 2 * (policy_time)(part / 2)) * POLICY_SECOND);
            part++;
        }
}
END_TEST

/* 300 tokens a part, 700 under way: two at once. */
START_TEST(tokens_at_once)
{
    simulate(ONE_RUN("parts: 7, tokens: 300, at_once: 700 tokens"));
    ck_assert_double_eq(of(0, METRIC_MAKESPAN), 9);
    simulate(ONE_RUN("parts: 7, tokens: 300, at_once: 900 tokens"));
    ck_assert_double_eq(of(0, METRIC_MAKESPAN), 7);
}
END_TEST

/* Four of seven suffice: at 5 s six are back, at 3 s only three. The seventh is abandoned as it waits. */
START_TEST(some_suffice)
{
    simulate(ONE_RUN("parts: 7, wait_for: 4"));
    ck_assert_double_eq(of(0, METRIC_MAKESPAN), 5);
    ck_assert_uint_eq(count(TOOL, ATTEMPT_ANSWERED), 4);
    ck_assert_uint_eq(count(TOOL, ATTEMPT_ABANDONED), 3);
}
END_TEST

/* More than a turn has is all that it has; none at all is a turn without. */
START_TEST(more_than_there_are)
{
    simulate(ONE_RUN("parts: mixture(0.9999 3 | 0.0001 4), wait_for: 4"));
    ck_assert_double_eq(of(0, METRIC_MAKESPAN), 3);
    simulate(ONE_RUN("parts: 0"));
    ck_assert_double_eq(of(0, METRIC_MAKESPAN), 1);
    ck_assert_double_eq(of(0, METRIC_GOODPUT), 1);
}
END_TEST

/* Who waits when enough are back is served no more, though a server is free at that instant; who is served goes on for
 * nobody. */
static void abandons(const char *servers, const char *need, double utilisation, double requests)
{
    char yaml[512];

    snprintf(
        yaml, sizeof yaml,
        "study: {horizon: 100 s}\n"
        "backends: {card: {kind: slots, servers: 1, service: 1 s}, tool: {kind: slots, servers: %s, service: 2 s}}\n"
        "agents: {a: {population: 1, think: 1 s, backend: card, fan_out: {to: tool, parts: 3, wait_for: %s}}}\n",
        servers, need);
    simulate(yaml);
    ck_assert_double_eq(of(0, METRIC_GOODPUT), 0.25);
    ck_assert_double_eq_tol(of(2, METRIC_UTILISATION), utilisation, 1e-9);
    ck_assert_double_eq_tol(of(2, METRIC_REQUESTS_PER_MIN), 60 * requests / 100, 1e-9);
}

START_TEST(abandoned_parts_are_served)
{
    abandons("1", "1", 0.5, 25);
    abandons("2", "1", 0.5, 50);
    /* The second suffices at the instant at which the first was back and the third has gone to its server. */
    abandons("2", "2", 148 / 200.0, 74);
}
END_TEST

/* --- what is lost ---------------------------------------------------------------------------------------------------
 */

#define CAPPED(cap, fan_out, client) \
    "study: {horizon: 100 s}\n" CARD_AND_TOOL \
    "agents: {a: {population: 1, think: 1 s, output: 50, backend: card, client: {" client "},\n" \
    "  fan_out: {to: tool, tokens: 10, " fan_out "}}}\n" \
    "policies: [fixed_cap: {cap: " cap ", at: tool}]\n"

/* The third of three parts is refused, and nobody tries again: the turn is lost at once, and what was answered of it
 * wasted; the two others are served for nobody. */
START_TEST(a_lost_part_loses_the_turn)
{
    simulate(CAPPED("2", "parts: 3", "attempts: 1"));
    ck_assert_double_eq(of(0, METRIC_GOODPUT), 0);
    ck_assert_double_eq_tol(of(0, METRIC_LOST_TURNS), 50 * 36, 1e-9);
    ck_assert_uint_eq(count(TOOL, ATTEMPT_DEFERRED), 50);
    ck_assert_uint_eq(count(TOOL, ATTEMPT_ABANDONED), 100);
    /* 50 tokens a turn, and of two parts those 49 that had ended by then. */
    ck_assert_double_eq_tol(of(1, METRIC_WASTED_TOKENS), 50 * 50 / 100.0, 1e-9);
    ck_assert_double_eq_tol(of(2, METRIC_WASTED_TOKENS), 2 * 10 * 49 / 100.0, 1e-9);
}
END_TEST

/* It is no loss where two suffice. */
START_TEST(a_lost_part_may_be_spared)
{
    simulate(CAPPED("2", "parts: 3, wait_for: 2", "attempts: 1"));
    ck_assert_double_eq(of(0, METRIC_LOST_TURNS), 0);
    ck_assert_double_eq_tol(of(0, METRIC_GOODPUT), 0.25, 1e-9); /* 1 s thinking, 1 s answer, 2 s parts */
    simulate(CAPPED("2", "parts: 4, wait_for: 3", "attempts: 1"));
    ck_assert_double_eq(of(0, METRIC_GOODPUT), 0);
}
END_TEST

/* The class's client tries again, each part for itself. */
START_TEST(parts_are_retried)
{
    simulate(CAPPED("2", "parts: 3", "attempts: inf, backoff: constant, base: 500 ms, jitter: none"));
    ck_assert_double_eq(of(0, METRIC_LOST_TURNS), 0);
    /* Parts at 2 s; the third is refused at 2, 2.5, 3 and 3.5 s. At 4 s two are back: their ends were scheduled first.
     * It is served until 6 s. */
    ck_assert_double_eq_tol(of(0, METRIC_GOODPUT), 16 / 100.0, 1e-9);
    ck_assert_uint_eq(count(TOOL, ATTEMPT_DEFERRED), 4 * 17);
    ck_assert_double_eq_tol(of(0, METRIC_REFUSALS_PER_TURN), 4 * 17 / 16.0, 1e-9);
}
END_TEST

/* --- the books -----------------------------------------------------------------------------------------------------
 */

/* Turns are counted, not parts; attempts of both; waits of parts stand in the row of the tool. */
START_TEST(rows)
{
    simulate("study: {horizon: 100 s}\n" CARD_AND_TOOL
             "agents: {a: {population: 1, think: 1 s, backend: card, fan_out: {to: tool, parts: 6}}}\n"
             "prices: {card: {request: 1}, tool: {request: 0.1}}\n");
    /* 1 s, 1 s, two rounds of 2 s. The 17th turn has its parts in service at the end. */
    ck_assert_double_eq_tol(of(0, METRIC_GOODPUT), 16 / 100.0, 1e-9);
    ck_assert_double_eq_tol(of(1, METRIC_GOODPUT), 16 / 100.0, 1e-9);
    ck_assert_double_eq(of(2, METRIC_GOODPUT), 0);
    ck_assert_double_eq_tol(of(0, METRIC_ATTEMPTS_PER_TURN), (17 + 17 * 6) / 16.0, 1e-9);
    ck_assert_double_eq_tol(of(1, METRIC_ATTEMPTS_PER_TURN), 17 / 16.0, 1e-9);
    ck_assert_double_eq(of(0, METRIC_WAIT_MEAN), 0);
    ck_assert_double_eq(of(0, METRIC_RESPONSE_MEAN), 1);
    ck_assert_double_eq(of(0, METRIC_SERVICE_MEAN), 1);
    ck_assert_double_eq_tol(of(2, METRIC_WAIT_MEAN), 1, 1e-9); /* half of them 2 s */
    ck_assert_double_eq_tol(of(2, METRIC_RESPONSE_MEAN), (51 * 2 + 48 * 4) / 99.0, 1e-9);
    ck_assert_double_eq(of(2, METRIC_SERVICE_MEAN), 2);
    ck_assert_double_eq_tol(of(2, METRIC_REQUESTS_PER_MIN), 60 * 16.5 * 6 / 100, 1e-9);
    ck_assert_double_eq_tol(of(0, METRIC_COST), 36 * (17 + 9.9), 1e-9);
}
END_TEST

/* --- bounds at every moment
 * -------------------------------------------------------------------------------------------
 */

struct edge {
    policy_time at;
    uint32_t agent;
    double tokens;
};

/* Ends before begins, as a part is made when another has ended. */
static int by_time(const void *one, const void *other)
{
    const struct edge *a = one, *b = other;

    if (a->at != b->at)
        return a->at < b->at ? -1 : 1;
    return (a->tokens > b->tokens) - (a->tokens < b->tokens);
}

/* The most tokens of one agent's attempts at the tool that were under way at once. */
static double most_tokens(void)
{
    struct edge *edges = calloc(2 * seen_count, sizeof *edges);
    double now[64] = {0}, most = 0;
    size_t edge_count = 0;

    for (size_t i = 0; i < seen_count; i++) {
        const struct seen *s = &seen[i];

        if (s->gate != TOOL)
            continue;
        edges[edge_count++] = (struct edge){s->call.attempted, s->call.agent, s->call.output_tokens};
        if (s->finished != POLICY_NONE)
            edges[edge_count++] = (struct edge){s->finished, s->call.agent, -s->call.output_tokens};
    }
    qsort(edges, edge_count, sizeof *edges, by_time);
    for (size_t i = 0; i < edge_count; i++) {
        ck_assert_uint_lt(edges[i].agent, 64);
        now[edges[i].agent] += edges[i].tokens;
        most = fmax(most, now[edges[i].agent]);
    }
    free(edges);
    return most;
}

#define DOCUMENTS(at_once) \
    "study: {horizon: 2000 s, warmup: 200 s}\n" \
    "backends: {card: {kind: slots, servers: 8, service: exponential(9 s)},\n" \
    "  tool: {kind: slots, servers: 30, rate: 1k tokens/s}}\n" \
    "agents: {a: {population: 20, think: exponential(20 s), backend: card,\n" \
    "  fan_out: {to: tool, parts: 200, tokens: lognormal(2k cv 0.5 most 10k)" at_once "}}}\n"

START_TEST(never_above_the_bound)
{
    double bounded, p99;

    simulate(DOCUMENTS(", at_once: 12k tokens"));
    bounded = most_tokens();
    p99 = of(2, METRIC_WAIT_P99);
    ck_assert_double_le(bounded, 12000);
    ck_assert_double_gt(bounded, 11500); /* it is used */
    simulate(DOCUMENTS(""));
    ck_assert_double_gt(most_tokens(), 300000); /* all 200 */
    ck_assert_double_gt(of(2, METRIC_WAIT_P99), 5 * p99);
}
END_TEST

/* What a part is does not depend on when it is made, nor on the policy. */
START_TEST(parts_are_drawn_once)
{
    static double first[200];
    size_t firsts = 0, again = 0;

    simulate(DOCUMENTS(", at_once: 1"));
    for (size_t i = 0; i < seen_count && firsts < 20; i++)
        if (seen[i].gate == TOOL && seen[i].call.agent == 3 && seen[i].call.turn == 0)
            first[firsts++] = seen[i].call.output_tokens;
    ck_assert_uint_eq(firsts, 20);
    simulate(DOCUMENTS(", at_once: 10"));
    for (size_t k = 0; k < firsts; k++)
        for (size_t i = 0; i < seen_count; i++)
            if (seen[i].gate == TOOL && seen[i].call.agent == 3 && seen[i].call.turn == 0 &&
                seen[i].call.output_tokens == first[k]) {
                again++;
                break;
            }
    ck_assert_uint_eq(again, firsts);
    ck_assert_double_ne(first[0], first[1]);
}
END_TEST

/* --- deadlines ---------------------------------------------------------------------------------------------------- */

/* Answered at 1 s, its parts are back at 7 s; they have the turn's deadline. */
START_TEST(in_time_with_its_parts)
{
    simulate(ONE_RUN("parts: 7}, deadline: {turn: 7 s"));
    ck_assert_double_eq(of(0, METRIC_DEADLINE_MET_SHARE), 1);
    ck_assert_double_eq(of(0, METRIC_GOODPUT_IN_TIME), of(0, METRIC_GOODPUT));
    for (size_t i = 0; i < seen_count; i++)
        ck_assert_int_eq(seen[i].call.deadline, 7 * POLICY_SECOND);
    simulate(ONE_RUN("parts: 7}, deadline: {turn: 6.9 s"));
    ck_assert_double_eq(of(0, METRIC_DEADLINE_MET_SHARE), 0);
    simulate(ONE_RUN("parts: 7, wait_for: 4}, deadline: {turn: 5 s"));
    ck_assert_double_eq(of(0, METRIC_DEADLINE_MET_SHARE), 1);
    simulate(ONE_RUN("parts: 7}, deadline: {run: 6.9 s"));
    ck_assert_double_eq(of(0, METRIC_DEADLINE_MET_SHARE), 0);
    ck_assert_double_eq(of(0, METRIC_RUNS_IN_TIME_SHARE), 0);
    /* open at the end: past its deadline, and not */
    simulate("study: {horizon: 6 s}\n" CARD_AND_TOOL
             "agents: {a: {arrivals: all_at(0 s), runs: 1, backend: card, fan_out: {to: tool, parts: 7},\n"
             "  deadline: {turn: 5.5 s}}}\n");
    ck_assert_double_eq(of(0, METRIC_DEADLINE_MET_SHARE), 0);
    simulate("study: {horizon: 6 s}\n" CARD_AND_TOOL
             "agents: {a: {arrivals: all_at(0 s), runs: 1, backend: card, fan_out: {to: tool, parts: 7},\n"
             "  deadline: {turn: 6.5 s}}}\n");
    ck_assert(isnan(of(0, METRIC_DEADLINE_MET_SHARE)));
}
END_TEST

/* At 4 s three parts are back, three in service, and one waits. */
START_TEST(a_run_is_given_up_with_its_parts)
{
    simulate(ONE_RUN("parts: 7}, at_deadline: gives_up, deadline: {run: 4 s"));
    ck_assert_double_eq(of(0, METRIC_MAKESPAN), 4);
    ck_assert_uint_eq(count(CARD, ATTEMPT_ANSWERED), 1);
    ck_assert_uint_eq(count(TOOL, ATTEMPT_ANSWERED), 3);
    ck_assert_uint_eq(count(TOOL, ATTEMPT_ABANDONED), 4);
    ck_assert_double_eq(of(0, METRIC_GOODPUT), 0);
    ck_assert_double_eq(of(0, METRIC_DEADLINE_MET_SHARE), 0);
    ck_assert_double_eq(of(0, METRIC_RUNS_IN_TIME_SHARE), 0);
    /* before there are any */
    simulate(ONE_RUN("parts: 7}, at_deadline: gives_up, deadline: {run: 0.5 s"));
    ck_assert_double_eq(of(0, METRIC_MAKESPAN), 0.5);
    ck_assert_uint_eq(count(CARD, ATTEMPT_ABANDONED), 1);
    ck_assert_uint_eq(count(TOOL, ATTEMPT_ANSWERED), 0);
}
END_TEST

Suite *fan_out_suite(void)
{
    Suite *suite = suite_create("fan_out");
    TCase *test = tcase_create("fan_out");

    tcase_add_test(test, all_parts);
    tcase_add_test(test, parts_at_once);
    tcase_add_test(test, tokens_at_once);
    tcase_add_test(test, some_suffice);
    tcase_add_test(test, more_than_there_are);
    tcase_add_test(test, abandoned_parts_are_served);
    tcase_add_test(test, a_lost_part_loses_the_turn);
    tcase_add_test(test, a_lost_part_may_be_spared);
    tcase_add_test(test, parts_are_retried);
    tcase_add_test(test, rows);
    tcase_add_test(test, never_above_the_bound);
    tcase_add_test(test, parts_are_drawn_once);
    tcase_add_test(test, in_time_with_its_parts);
    tcase_add_test(test, a_run_is_given_up_with_its_parts);
    suite_add_tcase(suite, test);
    return suite;
}
