/* test_attained.c - least_attained_service on the bench, by hand; and in a simulation, call by call. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/line_bench.h"
#include "tests/model.h"
#include "tests/oracles.h"
#include "tests/suites.h"
#include "tests/taken.h"

/* --- on the bench ----------------------------------------------------------------------------------------------- */

/* A call of the owner is served and ends. */
static void has_had(struct line *line, uint32_t owner, double input, double output, policy_time now)
{
    struct policy_call *call = line_call(line, owner, input, output);
    line_joins_as(line, call, now);
    ck_assert_ptr_eq(line_takes(line, now), call);
    line_ends(line, call, now, POLICY_DONE);
}

/* input + 2 output tokens, halved each minute: log2(score) + minutes, in millionths. */
START_TEST(scores_by_hand)
{
    struct bench bench = bench_of("least_attained_service", NULL);
    struct line line = line_of(&bench);
    static const struct {
        double input, output;
        int minute;
        double score, rank;
    } steps[] = {
        {24, 500, 0, 1024, 10},                     /* 24 + 1000 */
        {0, 256, 1, 1024, 11},                      /* 512 + 512 */
        {64, 0, 4, 192, 11.584962500721156},        /* 128 + 64: log2(192) = 7.58... */
        {512, 744, 10, 2003, 20.96794640005},       /* 3 + 2000: log2(2003) = 10.967946... */
        {0, 0, 20, 2003, 20.96794640005},           /* nothing: not charged */
        {100, 0, 20, 2003 / 1024. + 100, 26.67183}, /* log2(101.956...) = 6.671803... */
    };
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        has_had(&line, 3, steps[i].input, steps[i].output, steps[i].minute * 60 * S);
        ck_assert_double_eq_tol(bench_gauge(&bench, "score"), steps[i].score, 1e-9 * steps[i].score);
        line_joins(&line, 3, 1, steps[i].minute * 60 * S);
        double rank = (double)line.ranks[0] / 1e6;
        ck_assert_double_eq_tol(rank, log2(steps[i].score) + (i == 4 ? 10 : steps[i].minute), 2e-6);
        ck_assert_double_eq_tol(rank, steps[i].rank, 1e-4);
        line_ends(&line, line.calls[0], steps[i].minute * 60 * S, POLICY_TIMEOUT);
    }
    bench_free(&bench);
}
END_TEST

/* Who was never served before who was; then by what is left of the scores, whenever they were earned. */
START_TEST(the_least_served_first)
{
    struct bench bench = bench_of("least_attained_service", NULL);
    struct line line = line_of(&bench);
    has_had(&line, 0, 0, 500, 0);        /* 1000 at 0; at 5 min 31.2 */
    has_had(&line, 1, 0, 20, 300 * S);   /* 40 */
    has_had(&line, 2, 0, 15, 300 * S);   /* 30 */
    has_had(&line, 3, 0, 1000, 200 * S); /* 2000; at 5 min 630 */
    for (uint32_t i = 0; i < 6; i++)
        line_joins(&line, i, 1, 300 * S);
    ck_assert_str_eq(line_order(&line, 300 * S), "452013");
    bench_free(&bench);
}
END_TEST

/* However little it was served: a score below 1 has a logarithm below 0. */
START_TEST(the_never_served_before_all)
{
    struct bench bench = bench_of("least_attained_service", "input_weight", "0.001", NULL);
    struct line line = line_of(&bench);
    has_had(&line, 0, 1, 0, 0);
    line_joins(&line, 0, 1, 0);
    line_joins(&line, 1, 1, 0);
    ck_assert_str_eq(line_order(&line, 0), "10");
    bench_free(&bench);
}
END_TEST

/* What a call adds to a large score is lost in rounding, but no rank falls: a flow's calls stay in order. */
START_TEST(ranks_never_fall)
{
    struct bench bench = bench_of("least_attained_service", NULL);
    struct line line = line_of(&bench);
    uint64_t random = 5;
    int64_t last = INT64_MIN;
    has_had(&line, 0, 1e12, 0, 0);
    for (policy_time now = 1; now < 10 * S; now += (policy_time)(oracle_random(&random) % (10 * MS))) {
        has_had(&line, 0, 1, 0, now);
        line_joins(&line, 0, 1, now);
        ck_assert_int_ge(line.ranks[0], last);
        last = line.ranks[0];
        line_ends(&line, line.calls[0], now, POLICY_TIMEOUT);
    }
    bench_free(&bench);
}
END_TEST

/* What was served is charged, what was not is not; where nobody says what it took, the estimate. */
START_TEST(what_is_charged)
{
    static const enum policy_end ends[] = {POLICY_DONE, POLICY_TIMEOUT, POLICY_ABANDONED, POLICY_ERROR};
    for (size_t i = 0; i < 4; i++)
        for (int started = 0; started < 2; started++) {
            struct bench bench = bench_of("least_attained_service", NULL);
            struct line line = line_of(&bench);
            struct policy_call *call = line_call(&line, 0, 100, 50);
            line_joins_as(&line, call, 0);
            if (started)
                line_takes(&line, 0);
            line_ends(&line, call, S, ends[i]);
            ck_assert_double_eq(bench_gauge(&bench, "score"), started ? 200 : 0);
            bench_free(&bench);
        }
    struct bench bench = bench_of("least_attained_service", "input_weight", "0.5", "output_weight", "3", NULL);
    struct line line = line_of(&bench);
    struct policy_call *call = line_call(&line, 0, 100, 50);
    line_joins_as(&line, call, 0);
    line_takes(&line, 0);
    bench.ops->finish(&bench.self, &bench.view, call,
                      &(struct policy_outcome){POLICY_DONE, POLICY_NONE, 80, 0, 10}); /* real counts */
    ck_assert_double_eq(bench_gauge(&bench, "score"), 70);
    bench_free(&bench);
}
END_TEST

/* No half-life: nothing is forgotten. And late in a long run a rank has all its digits. */
START_TEST(half_lives_far_apart)
{
    struct bench forever = bench_of("least_attained_service", "half_life", "inf", NULL),
                 brief = bench_of("least_attained_service", "half_life", "1 s", NULL);
    struct line line = line_of(&forever);
    has_had(&line, 0, 1000, 0, 0);
    has_had(&line, 0, 24, 0, 1000000 * S);
    line_joins(&line, 0, 1, 1000000 * S);
    ck_assert_int_le(llabs(line.ranks[0] - 10000000), 1);
    ck_assert_double_eq(bench_gauge(&forever, "score"), 1024);
    bench_free(&forever);
    line = line_of(&brief);
    policy_time late = INT64_C(2000000000) * S; /* 63 years */
    has_had(&line, 0, 1024, 0, late);
    has_had(&line, 1, 1024, 0, late + S / 1000);
    line_joins(&line, 0, 1, late + S);
    line_joins(&line, 1, 1, late + S);
    ck_assert_int_le(llabs(line.ranks[0] - (INT64_C(2000000010) * 1000000)), 1);
    ck_assert_int_le(llabs(line.ranks[1] - line.ranks[0] - 1000), 1);
    bench_free(&brief);
}
END_TEST

/* --- in a simulation ------------------------------------------------------------------------------------------- */

static double scores[TAKEN_CLASSES][TAKEN_AGENTS];
static policy_time scored[TAKEN_CLASSES][TAKEN_AGENTS];

static double score_at(const struct taken *call, policy_time now)
{
    return scores[call->klass][call->agent] * exp2(-(double)(now - scored[call->klass][call->agent]) / 60e9);
}

/* Every call taken from the line is of an agent whose decayed score is the least of those in line. */
START_TEST(the_least_served_agent_is_next)
{
    struct plan plan = model_plan(
        "study: {horizon: 20000 s}\n"
        "backends: {card: {kind: slots, servers: 8, rate: 39 tokens/s}}\n"
        "agents:\n"
        "  heavy: {population: 12, think: exponential(4.5 s), output: lognormal(900 cv 0.35), client: {timeout: inf}}\n"
        "  light: {population: 16, think: exponential(4.5 s), output: lognormal(120 cv 0.45), client: {timeout: inf},\n"
        "          input: {start: 100, per_turn: 1, most: 400}}\n"
        "policies: [least_attained_service]\n");
    static int next[TAKEN_CLASSES][TAKEN_AGENTS]; /* each agent's call that starts next, as an index; -1: none */
    static int following[TAKEN_MOST];
    size_t compared = 0, overtaken = 0;
    taken_keep(&plan, 0);
    memset(scores, 0, sizeof scores);
    memset(scored, 0, sizeof scored);
    memset(next, -1, sizeof next);
    for (size_t i = taken_count; i-- > 0;) {
        following[i] = next[taken_calls[i].klass][taken_calls[i].agent];
        next[taken_calls[i].klass][taken_calls[i].agent] = (int)i;
    }
    for (size_t i = 0; i < taken_event_count; i++) {
        const struct taken *call = &taken_calls[taken_events[i].call];
        if (!taken_events[i].starts) {
            scores[call->klass][call->agent] = score_at(call, call->finished) + call->score;
            scored[call->klass][call->agent] = call->finished;
            continue;
        }
        next[call->klass][call->agent] = following[taken_events[i].call];
        for (size_t k = 0; k < 2 && call->joined < call->started; k++)
            for (size_t agent = 0; agent < TAKEN_AGENTS; agent++) {
                const struct taken *other = next[k][agent] < 0 ? NULL : &taken_calls[next[k][agent]];
                if (!other || other->joined >= call->started)
                    continue;
                double mine = score_at(call, call->started), its = score_at(other, call->started);
                ck_assert_msg(mine <= its * (1 + 1e-5), "score %g is served before %g", mine, its);
                compared++;
                overtaken += other->joined < call->joined;
            }
    }
    ck_assert(compared > 50000 && overtaken > 10000);
    plan_fini(&plan);
}
END_TEST

Suite *attained_suite(void)
{
    Suite *suite = suite_create("attained");
    TCase *test = tcase_create("attained");
    tcase_add_test(test, scores_by_hand);
    tcase_add_test(test, the_least_served_first);
    tcase_add_test(test, the_never_served_before_all);
    tcase_add_test(test, ranks_never_fall);
    tcase_add_test(test, what_is_charged);
    tcase_add_test(test, half_lives_far_apart);
    tcase_add_test(test, the_least_served_agent_is_next);
    suite_add_tcase(suite, test);
    return suite;
}
