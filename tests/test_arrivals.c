/* test_arrivals.c - runs that arrive together, in waves and by the time of day: by hand, against a plain Poisson
 * process, and by their counts. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/describe.h"
#include "tests/plan_file.h"
#include "tests/suites.h"
#include "tests/taken.h"
#include "tests/timeline.h"

#define S POLICY_SECOND

static struct timeline t;

static const char *scenario(struct arena *arena, const char *study, const char *arrivals)
{
    return arena_format(arena,
                        "study: {%s}\nbackends: {b: {kind: slots, servers: 99999, service: constant(1 ms)}}\n"
                        "agents: {a: {arrivals: %s}}\n",
                        study, arrivals);
}

/* Starts of services are arrivals, as somebody is always free. */
static void arrive(const char *study, const char *arrivals)
{
    struct arena arena = {0};
    struct plan plan = model_plan(scenario(&arena, study, arrivals));

    taken_keep(&plan, 0);
    for (size_t i = 1; i < taken_starts; i++) { /* agents are numbered as they come */
        ck_assert_int_ge(taken_calls[i].started, taken_calls[i - 1].started);
        ck_assert_uint_eq(taken_calls[i].agent, i);
    }
    plan_fini(&plan);
    arena_free(&arena);
}

static double between(policy_time from, policy_time to)
{
    double count = 0;

    for (size_t i = 0; i < taken_starts; i++)
        count += taken_calls[i].started >= from && taken_calls[i].started < to;
    return count;
}

/* Within four standard deviations of a Poisson number. */
static void is_poisson(double count, double mean)
{
    ck_assert_msg(fabs(count - mean) <= 4 * sqrt(mean), "%g runs, %g expected", count, mean);
}

/* --- batches ----------------------------------------------------------------------------------------------------- */

START_TEST(batches_by_hand)
{
    struct arena arena = {0};

    timeline_expect(scenario(&arena, "horizon: 3 h", "batch(3 within 0 s every even(1/h)), start: 10 s"), NULL,
                    "a0@10 a1@10 a2@10 a3@3610 a4@3610 a5@3610 a6@7210 a7@7210 a8@7210", &t);
    /* the last batch is what is left */
    timeline_expect(scenario(&arena, "until: done", "batch(3 within 0 s every even(1/h)), runs: 4"), NULL,
                    "a0@0 a1@0 a2@0 a3@3600", &t);
    EXPECT_ROW(&t, 0, {METRIC_UNFINISHED, 0});
    arena_free(&arena);
}
END_TEST

/* Triggers that are so far apart that their batches do not meet: 40 runs each, uniform in 5 s. */
START_TEST(batches_of_poisson_triggers)
{
    double ranges = 0, batches = 0;

    arrive("horizon: 3000 h", "batch(40 within 5 s every poisson(1/h))");
    ck_assert_uint_eq(taken_starts % 40, 0);
    for (size_t i = 0; i + 40 <= taken_starts; i += 40) {
        policy_time first = taken_calls[i].started, end = taken_calls[i + 39].started;
        bool meet = (i > 0 && first - taken_calls[i - 1].started < 5 * S) ||
                    (i + 40 < taken_starts && taken_calls[i + 40].started - end < 5 * S);
        double range = (double)(end - first) / 5e9;

        if (meet)
            continue;
        ck_assert_double_le(range, 1);
        ranges += range; /* mean 39/41, variance 2 39 / (41^2 42) */
        batches++;
    }
    ck_assert_double_gt(batches, 2700);
    ck_assert_double_le(fabs(ranges / batches - 39.0 / 41), 4 * sqrt(2 * 39 / (41.0 * 41 * 42)) / sqrt(batches));
    is_poisson((double)taken_starts / 40, 3000);
}
END_TEST

/* A trigger a second, three runs each within 10 s: nobody is lost between them, and they come in order (see arrive). */
START_TEST(batches_overlap)
{
    arrive("horizon: 1000 s", "batch(3 within 10 s every even(1/s)), runs: 2001");
    ck_assert_uint_eq(taken_starts, 2001);
    /* the rate rises for 10 s to 3 a second, and falls as the triggers end after 667 */
    ck_assert_double_le(fabs(between(0, 10 * S) - 15), 12);
    ck_assert_double_le(fabs(between(10 * S, 660 * S) - 1950), 40);
    ck_assert_double_eq(between(677 * S, 1000 * S), 0);
}
END_TEST

/* --- profiles ---------------------------------------------------------------------------------------------------- */

static void of_day(const char *rows, const char *study, const char *more, struct plan_file *file)
{
    plan_file_init(file);
    plan_file_write(file, "day.csv", rows);
    ck_assert_msg(plan_file_read(file,
                                 arena_format(&file->arena,
                                              "study: {%s}\nbackends: {b: {kind: slots, servers: 99999, service: "
                                              "constant(1 ms)}}\nagents: {a: {arrivals: day(day.csv rate)%s}}\n",
                                              study, more),
                                 NULL, NULL),
                  "%s", plan_file_said(file));
    taken_keep(&file->plan, 0);
}

/* A rate that never changes is a Poisson process, run by run: each has the same number. */
START_TEST(a_constant_profile_is_poisson)
{
    static policy_time plain[TAKEN_MOST];
    struct plan_file file;
    size_t count;

    arrive("horizon: 100 h", "poisson(120/h)");
    count = taken_starts;
    for (size_t i = 0; i < count; i++)
        plain[i] = taken_calls[i].started;
    arrive("horizon: 100 h", "spike(base 2/min peak 2/min at 10 h for 7 h)");
    ck_assert_uint_eq(taken_starts, count);
    for (size_t i = 0; i < count; i++) /* rounded where a piece ends */
        ck_assert_int_le(llabs(plain[i] - taken_calls[i].started), 100);
    of_day("rate\n2\n2\n2\n2\n2\n2\n2\n", "horizon: 100 h", "", &file);
    ck_assert_uint_eq(taken_starts, count);
    for (size_t i = 0; i < count; i++)
        ck_assert_int_le(llabs(plain[i] - taken_calls[i].started), 100);
    plan_fini(&file.plan);
    plan_file_fini(&file);
}
END_TEST

START_TEST(a_spike)
{
    static policy_time before[TAKEN_MOST];
    double early;

    arrive("horizon: 10 h", "spike(base 60/min peak 600/min at 2 h for 1 h), start: 1 h");
    ck_assert_double_eq(between(0, 3600 * S), 0);
    is_poisson(between(3600 * S, 3 * 3600 * S), 2 * 3600);
    is_poisson(between(3 * 3600 * S, 4 * 3600 * S), 36000);
    is_poisson(between(4 * 3600 * S, 10 * 3600 * S), 6 * 3600);
    early = between(0, 3 * 3600 * S);
    for (size_t i = 0; i < (size_t)early; i++)
        before[i] = taken_calls[i].started;
    /* another peak changes nothing of what was before it */
    arrive("horizon: 10 h", "spike(base 60/min peak 6/min at 2 h for 1 h), start: 1 h");
    ck_assert_double_eq(between(0, 3 * 3600 * S), early);
    for (size_t i = 0; i < (size_t)early; i++)
        ck_assert_int_eq(before[i], taken_calls[i].started);
    /* and where the base is nothing, that is all */
    arrive("horizon: 10 h", "spike(base 0/min peak 60/min at 2 h for 1 h)");
    is_poisson((double)taken_starts, 3600);
    ck_assert_double_eq(between(2 * 3600 * S, 3 * 3600 * S), (double)taken_starts);
}
END_TEST

/* Three parts of a day, over four days; the class begins in the second part. */
START_TEST(a_day)
{
    const policy_time part = 8 * 3600 * S;
    struct plan_file file;

    of_day("rate\n1\n0\n10\n", "horizon: 96 h", ", start: 10 h", &file);
    for (int day = 0; day < 4; day++) {
        double expected = day == 0 ? 0 : 480;

        if (expected > 0)
            is_poisson(between(day * 3 * part, (day * 3 + 1) * part), expected);
        else
            ck_assert_double_eq(between(0, part), 0);
        ck_assert_double_eq(between((day * 3 + 1) * part, (day * 3 + 2) * part), 0);
        is_poisson(between((day * 3 + 2) * part, (day * 3 + 3) * part), 4800);
    }
    plan_fini(&file.plan);
    plan_file_fini(&file);
}
END_TEST

/* --- reading ----------------------------------------------------------------------------------------------------- */

START_TEST(what_is_wrong)
{
    static const char *const cases[][2] = {
        {"batch(40 within 5 s)",
         "3:24: batch(40 within 5 s): expected batch(RUNS within TIME every poisson(RATE)), such "
         "as batch(40 within 5 s every poisson(2/h))"},
        {"batch(0 within 5 s every poisson(2/h))", "3:30: batch: 0: expected a number of runs from 1 to 1M"},
        {"batch(1.5 within 5 s every poisson(2/h))", "3:30: batch: 1.5: expected a number of runs from 1 to 1M"},
        {"batch(4 within 5 s every even(2))",
         "3:54: even(2): expected even(RATE) with a rate above 0, such as even(50/min)"},
        {"spike(base 2/min peak 3/min at 1 s base 1/min)",
         "3:24: spike(base 2/min peak 3/min at 1 s base 1/min): expected spike(base RATE peak RATE at TIME for TIME), "
         "such as spike(base 2/min peak 40/min at 10 min for 5 min)"},
        {"spike(base 0/min peak 0/min at 1 s for 1 s)", "3:24: spike: expected a base or a peak above 0"},
        {"day(day.csv)",
         "3:24: day(day.csv): expected day(FILE COLUMN), rates of equal parts of a day in runs a minute"},
        {"day(day.csv rate)", "3:36: day: rate: expected a rate above 0 in some row"},
        {"spiky(3)", "3:24: arrivals: spiky(3): expected poisson(RATE), even(RATE), all_at(TIME), trace(FILE COLUMN "
                     "UNIT), batch(...), day(FILE COLUMN) or spike(...); did you mean spike?"},
    };
    struct plan_file file;

    plan_file_init(&file);
    plan_file_write(&file, "day.csv", "rate\n0\n0\n");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *yaml =
            arena_format(&file.arena,
                         "study: {horizon: 3 h}\nbackends: {b: {kind: slots, servers: 9, service: 1 s}}\n"
                         "agents: {a: {arrivals: %s}}\n",
                         cases[i][0]);

        ck_assert(!plan_file_read(&file, yaml, NULL, NULL));
        ck_assert_str_eq(plan_file_said(&file), arena_format(&file.arena, "s.yaml:%s", cases[i][1]));
    }
    plan_file_fini(&file);
}
END_TEST

/* A spike on nothing brings 60 runs on average, whoever waits for more; on something it never ends. */
START_TEST(more_runs_than_ever_come)
{
    static const char *const cases[][2] = {
        {"spike(base 0/min peak 6/min at 2 s for 10 min), runs: 61",
         "s.yaml:3:78: a: about 60 runs arrive in all, and then none ever: expected runs: of so many at the "
         "most, or a base above 0"},
        {"spike(base 0/min peak 6/min at 2 s for 10 min), runs: 60", ""},
        {"spike(base 0/min peak 6/min at 2 s for 10 min)", ""},
        {"spike(base 1/h peak 6/min at 2 s for 10 min), runs: 600", ""},
        {"day(day.csv rate), runs: 90000", ""},
        {"poisson(1/h), runs: 90000", ""},
    };
    struct plan_file file;

    plan_file_init(&file);
    plan_file_write(&file, "day.csv", "rate\n1\n0\n");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ck_assert(plan_file_read(
            &file,
            arena_format(&file.arena,
                         "study: {horizon: 3 h}\nbackends: {b: {kind: slots, servers: 9, service: 1 s}}\n"
                         "agents: {a: {arrivals: %s}}\n",
                         cases[i][0]),
            NULL, NULL));
        ck_assert_str_eq(plan_file_said(&file), cases[i][1]);
    }
    plan_file_fini(&file);
}
END_TEST

/* What is said of them, and that the hash knows each from the others. */
START_TEST(what_is_said)
{
    static const char *const cases[][2] = {
        {"batch(40 within 5 s every poisson(2/h))",
         "# a on b: arrivals ask for 0.2469 % of the capacity.\n# a: 2 triggers an hour start 40 runs each, within 5 "
         "s.\n# a: a turn is to be answered within 30 s of its first attempt.\n# a: a run is to be done within 600 s "
         "of "
         "its first attempt at the door, and is given up then.\n"},
        {"batch(40 within 5 s every even(2/h))", "# a: 2 triggers an hour start 40 runs each, within 5 s.\n"},
        {"batch(40 within 6 s every poisson(2/h))", "within 6 s.\n"},
        {"batch(41 within 5 s every poisson(2/h))", "start 41 runs each"},
        {"day(day.csv rate)", "# a on b: arrivals ask for 0.5556 % of the capacity.\n# a: 180 runs arrive an hour, "
                              "averaged over a day of 2 parts.\n"},
        {"day(day.csv more)", "# a: 240 runs arrive an hour"},
        {"spike(base 1/min peak 2/min at 9 s for 9 s)", "capacity is 9 turns/s"},
        {"spike(base 1/min peak 3/min at 9 s for 9 s)", "capacity is 9 turns/s"},
        {"spike(base 1/min peak 3/min at 9 s for 8 s)", "capacity is 9 turns/s"},
    };
    enum { CASES = sizeof cases / sizeof *cases };
    uint64_t hashes[CASES];
    struct plan_file file;

    plan_file_init(&file);
    plan_file_write(&file, "day.csv", "rate,more\n2,2\n4,6\n");
    for (size_t i = 0; i < CASES; i++) {
        char said[8192] = "";
        FILE *out = fmemopen(said, sizeof said, "w");

        ck_assert(plan_file_read(&file,
                                 arena_format(&file.arena,
                                              "study: {horizon: 3 h}\nbackends: {b: {kind: slots, servers: 9, service: "
                                              "1 s}}\nagents: {a: {arrivals: %s, deadline: {turn: 30 s, run: 600 s}, "
                                              "at_deadline: gives_up}}\n",
                                              cases[i][0]),
                                 NULL, NULL));
        describe_sentences(&file.plan, out);
        fclose(out);
        ck_assert_msg(strstr(said, cases[i][1]), "%s", said);
        hashes[i] = file.plan.hash;
        for (size_t k = 0; k < i; k++)
            ck_assert_uint_ne(hashes[i], hashes[k]);
    }
    plan_file_fini(&file);
}
END_TEST

Suite *arrivals_suite(void)
{
    Suite *suite = suite_create("arrivals");
    TCase *test = tcase_create("arrivals");

    tcase_add_test(test, batches_by_hand);
    tcase_add_test(test, batches_of_poisson_triggers);
    tcase_add_test(test, batches_overlap);
    tcase_add_test(test, a_constant_profile_is_poisson);
    tcase_add_test(test, a_spike);
    tcase_add_test(test, a_day);
    tcase_add_test(test, what_is_wrong);
    tcase_add_test(test, more_runs_than_ever_come);
    tcase_add_test(test, what_is_said);
    suite_add_tcase(suite, test);
    return suite;
}
