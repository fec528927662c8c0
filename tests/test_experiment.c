/* test_experiment.c - the pool of threads gives the same bits for any number of them, and fails and stops in order. */
#include <check.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sim/study/compare.h"
#include "sim/study/experiment.h"
#include "tests/suites.h"

#define POINTS 5
#define REPLICATIONS 8
#define WIDTH 3

static const unsigned thread_counts[] = {1, 2, 7, 0, 100};
#define THREAD_COUNTS (int)(sizeof thread_counts / sizeof *thread_counts)

/* What one test's trials do, and what they saw. */
struct script {
    size_t stop_at, set_stop_at, fail_at, fail_late_at; /* trials, from 1; 0: none */
    atomic_int stop;
    atomic_size_t begun;
    size_t last_done, calls;
    bool foreign, shrank;
    pthread_t caller;
    /* Where the trials behind a failure are to begin only when the thread that failed has ended. */
    bool in_order;
    pthread_key_t failer; /* in that thread: &failer_ended */
    atomic_int failer_ended;
};

static void doze(long milliseconds)
{
    nanosleep(&(struct timespec){.tv_nsec = milliseconds * 1000000}, NULL);
}

static size_t trial_number(size_t point, unsigned replication)
{
    return point * REPLICATIONS + replication; /* from 1 */
}

/* Numbers that depend on a walk of a length of its own. */
static void walk(size_t trial, double *values)
{
    uint64_t x = trial * UINT64_C(0x9e3779b97f4a7c15) + 1;
    uint64_t steps = (x >> 40) % 20000;

    for (int i = 0; i < WIDTH; i++)
        values[i] = 0;
    for (uint64_t step = 0; step <= steps; step++) {
        x = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        values[step % WIDTH] += (double)(x >> 11) * 0x1p-53 / 3;
    }
}

static void note_end(void *ended)
{
    *(atomic_int *)ended = 1;
}

/* Only what comes from outside waits, so a thread that goes on after its failure is not held up. */
static void in_order(struct script *script, size_t number)
{
    if (number == script->fail_at)
        pthread_setspecific(script->failer, &script->failer_ended);
    while (number > script->fail_at && !script->failer_ended && !pthread_getspecific(script->failer))
        doze(1);
}

static enum trial_outcome trial(void *context, size_t point, unsigned replication, double *values)
{
    struct script *script = context;
    size_t number = trial_number(point, replication);

    script->begun++;
    walk(number, values);
    if (script->in_order)
        in_order(script, number);
    if (number == script->set_stop_at)
        script->stop = 1;
    if (number == script->fail_late_at)
        doze(40);
    if (number == script->fail_at)
        doze(10);
    if (number == script->fail_at || number == script->fail_late_at)
        return TRIAL_FAILED;
    if (script->fail_at && number > script->fail_at)
        doze(20);
    return number == script->stop_at ? TRIAL_STOPPED : TRIAL_DONE;
}

static void watch(void *context, size_t done, size_t all)
{
    struct script *script = context;

    script->foreign |= !pthread_equal(pthread_self(), script->caller);
    script->shrank |= done < script->last_done || all != POINTS * REPLICATIONS;
    script->last_done = done;
    script->calls++;
}

static struct experiment experiment_of(struct script *script, unsigned threads)
{
    return (struct experiment){.points = POINTS,
                               .replications = REPLICATIONS,
                               .width = WIDTH,
                               .threads = threads,
                               .trial = trial,
                               .context = script,
                               .stop = &script->stop};
}

static struct results run(struct script *script, unsigned threads)
{
    struct experiment experiment = experiment_of(script, threads);
    struct results results;

    script->caller = pthread_self();
    experiment.progress = watch;
    experiment_run(&experiment, &results);
    return results;
}

/* The inverse of trial_number. */
static const double *values_of(const struct results *results, size_t number)
{
    return results_at(results, (number - 1) / REPLICATIONS, (unsigned)((number - 1) % REPLICATIONS) + 1);
}

static void assert_undone(const struct results *results, size_t number)
{
    for (size_t i = 0; i < WIDTH; i++)
        ck_assert_double_nan(values_of(results, number)[i]);
}

static void assert_done(const struct results *results, size_t number)
{
    double values[WIDTH];

    walk(number, values);
    ck_assert_mem_eq(values_of(results, number), values, sizeof values);
}

START_TEST(same_bits_for_any_number_of_threads)
{
    struct script script = {0};
    struct results results = run(&script, thread_counts[_i]);

    ck_assert(!results.interrupted);
    ck_assert(!results.failed);
    ck_assert_uint_eq(script.begun, POINTS * REPLICATIONS);
    for (size_t point = 0; point < POINTS; point++) {
        ck_assert_uint_eq(results.finished[point], REPLICATIONS);
        for (unsigned replication = 1; replication <= REPLICATIONS; replication++)
            assert_done(&results, trial_number(point, replication));
    }
    results_fini(&results);
}
END_TEST

/* Points are begun late, go on, or are left as they are; what is done is done once. */
START_TEST(a_study_goes_on)
{
    static const unsigned rounds[][POINTS] = {{2, 0, 3, 0, 8}, {2, 4, 1, 0, 8}, {2, 4, 1, 0, 8}, {7, 4, 8, 0, 8}};
    static const unsigned last[POINTS] = {7, 4, 8, 0, 8};
    struct script script = {0};
    struct experiment experiment = experiment_of(&script, thread_counts[_i]);
    struct results results;

    experiment_begin(&experiment, &results);
    for (size_t round = 0; round < sizeof rounds / sizeof *rounds; round++)
        experiment_extend(&experiment, rounds[round], &results);
    ck_assert_uint_eq(script.begun, 7 + 4 + 8 + 8);
    for (size_t point = 0; point < POINTS; point++) {
        ck_assert_uint_eq(results.finished[point], last[point]);
        for (unsigned replication = 1; replication <= last[point]; replication++)
            assert_done(&results, trial_number(point, replication));
    }
    ck_assert_ptr_null(results.values[3]); /* memory only where something is wanted */
    ck_assert_double_nan(compare_estimate(&results, 3, 0).mean);
    results_fini(&results);
}
END_TEST

START_TEST(a_failure_while_a_study_goes_on_is_found)
{
    struct script script = {.fail_at = trial_number(2, 5), .fail_late_at = trial_number(4, 3)};
    struct experiment experiment = experiment_of(&script, thread_counts[_i]);
    struct results results;

    experiment_begin(&experiment, &results);
    experiment_extend(&experiment, (unsigned[]){2, 0, 3, 0, 2}, &results);
    ck_assert(!results.failed);
    experiment_extend(&experiment, (unsigned[]){4, 0, 6, 0, 3}, &results);
    ck_assert(results.failed && !results.interrupted);
    ck_assert_uint_eq(results.failed_point, 2);
    ck_assert_uint_eq(results.failed_replication, 5);
    ck_assert_uint_eq(results.finished[0], 4);
    ck_assert_uint_eq(results.finished[2], 4);
    ck_assert_uint_eq(results.finished[4], 2);
    results_fini(&results);
}
END_TEST

START_TEST(progress_comes_from_the_caller)
{
    struct script script = {0};
    struct results results = run(&script, 3);

    ck_assert_uint_ge(script.calls, 1);
    ck_assert_uint_eq(script.last_done, POINTS * REPLICATIONS);
    ck_assert(!script.foreign);
    ck_assert(!script.shrank);
    results_fini(&results);
}
END_TEST

/* Ends when it was heard that it has not ended, or after a minute without. */
static enum trial_outcome slow_trial(void *context, size_t point, unsigned replication, double *values)
{
    const atomic_int *calls = context;

    (void)point;
    (void)replication;
    for (int i = 0; i < 6000 && *calls == 0; i++)
        doze(10);
    values[0] = 1;
    return TRIAL_DONE;
}

static void count_call(void *context, size_t done, size_t all)
{
    (void)all;
    *(atomic_int *)context += done == 0;
}

START_TEST(progress_comes_now_and_then)
{
    atomic_int calls = 0;
    struct experiment experiment = {
        .points = 1, .replications = 1, .width = 1, .trial = slow_trial, .progress = count_call, .context = &calls};
    struct results results;

    experiment_run(&experiment, &results);
    ck_assert_int_ge(calls, 1);
    ck_assert_double_eq(results_at(&results, 0, 1)[0], 1);
    results_fini(&results);
}
END_TEST

/* Several threads begin both failing trials before either has failed; whichever does so first, 17 is reported. */
static void assert_first_failure(struct script script, unsigned threads)
{
    struct results results = run(&script, threads);

    ck_assert(results.failed);
    ck_assert(!results.interrupted);
    ck_assert_uint_eq(results.failed_point, 2);
    ck_assert_uint_eq(results.failed_replication, 1);
    ck_assert_uint_eq(results.finished[0], REPLICATIONS);
    ck_assert_uint_eq(results.finished[1], REPLICATIONS);
    for (size_t number = 1; number < 17; number++)
        assert_done(&results, number);
    for (size_t number = 17; number <= POINTS * REPLICATIONS; number++)
        assert_undone(&results, number);
    for (size_t point = 2; point < POINTS; point++)
        ck_assert_uint_eq(results.finished[point], 0);
    results_fini(&results);
}

START_TEST(first_failure_in_order_is_reported)
{
    assert_first_failure((struct script){.fail_at = 19, .fail_late_at = 17}, thread_counts[_i]);
    assert_first_failure((struct script){.fail_at = 17, .fail_late_at = 18}, thread_counts[_i]);
}
END_TEST

START_TEST(nothing_is_begun_after_a_failure)
{
    struct script script = {.fail_at = 9};
    struct results results = run(&script, 1);

    ck_assert_uint_eq(script.begun, 9);
    ck_assert_uint_eq(results.failed_point, 1);
    ck_assert_uint_eq(results.failed_replication, 1);
    results_fini(&results);

    /* Each of three others may have begun one before it could know. */
    script = (struct script){.fail_at = 9, .in_order = true};
    ck_assert_int_eq(pthread_key_create(&script.failer, note_end), 0);
    results = run(&script, 4);
    ck_assert_uint_le(script.begun, 9 + 3);
    pthread_key_delete(script.failer);
    results_fini(&results);
}
END_TEST

START_TEST(stop_flag_is_polled_between_trials)
{
    struct script script = {.set_stop_at = 11};
    struct results results = run(&script, 1);

    ck_assert(results.interrupted);
    ck_assert(!results.failed);
    ck_assert_uint_eq(script.begun, 11);
    ck_assert_uint_eq(results.finished[0], REPLICATIONS);
    ck_assert_uint_eq(results.finished[1], 3);
    ck_assert_uint_eq(results.finished[2], 0);
    assert_done(&results, 11);
    assert_undone(&results, 12);
    results_fini(&results);
}
END_TEST

START_TEST(stopped_before_the_start)
{
    struct script script = {.stop = 1};
    struct results results = run(&script, 3);

    ck_assert(results.interrupted);
    ck_assert_uint_eq(script.begun, 0);
    ck_assert_uint_eq(results.finished[0], 0);
    results_fini(&results);
}
END_TEST

START_TEST(stop_after_the_last_trial_is_no_interruption)
{
    struct script script = {.set_stop_at = POINTS * REPLICATIONS};
    struct results results = run(&script, 1);

    ck_assert(!results.interrupted);
    ck_assert_uint_eq(results.finished[POINTS - 1], REPLICATIONS);
    results_fini(&results);
}
END_TEST

/* Trial 13 sees the flag half-way: what it wrote is not used, and what other threads did past it is behind a gap. */
START_TEST(stopped_trial_leaves_a_gap)
{
    struct script script = {.stop_at = 13};
    struct results results = run(&script, thread_counts[_i]);

    ck_assert(results.interrupted);
    ck_assert_uint_eq(results.finished[0], REPLICATIONS);
    ck_assert_uint_eq(results.finished[1], 4);
    assert_done(&results, 12);
    assert_undone(&results, 13);
    if (thread_counts[_i] == 1)
        ck_assert_uint_eq(script.begun, 13);
    results_fini(&results);
}
END_TEST

START_TEST(nothing_to_do)
{
    struct experiment experiment = {.points = 0, .replications = 20, .width = 3, .trial = slow_trial};
    struct results results;

    experiment_run(&experiment, &results);
    ck_assert(!results.interrupted);
    ck_assert(!results.failed);
    results_fini(&results);
}
END_TEST

/* Point 0 is 1..5, point 1 is ten times as much and one more; replication 4 of point 1 has no second number. */
static void fill(struct results *results, unsigned *finished, double *values, double *rows[2])
{
    rows[0] = values;
    rows[1] = values + 10;
    *results = (struct results){.points = 2, .width = 2, .replications = 5, .values = rows, .finished = finished};
    for (unsigned r = 1; r <= 5; r++) {
        values[(r - 1) * 2] = r;
        values[(r - 1) * 2 + 1] = 100;
        values[10 + (r - 1) * 2] = 1000 + 2 * r;
        values[10 + (r - 1) * 2 + 1] = r == 4 ? (double)NAN : 100.0 + r;
    }
}

START_TEST(estimates_and_differences)
{
    unsigned finished[] = {5, 5};
    double values[20], *rows[2];
    struct results results;
    struct estimate estimate;

    fill(&results, finished, values, rows);
    estimate = compare_estimate(&results, 0, 0);
    ck_assert_uint_eq(estimate.count, 5);
    ck_assert_double_eq(estimate.mean, 3);
    ck_assert_double_eq_tol(estimate.half_width, 1.9632431614, 1e-9);
    estimate = compare_difference(&results, 1, 0, 0);
    ck_assert_double_eq(estimate.mean, 1003);
    ck_assert_double_eq_tol(estimate.half_width, 1.9632431614, 1e-9);
    ck_assert_double_eq(compare_difference(&results, 0, 1, 0).mean, -1003);
    estimate = compare_difference(&results, 1, 0, 1);
    ck_assert_uint_eq(estimate.count, 4);
    ck_assert_double_eq(estimate.mean, (1 + 2 + 3 + 5) / 4.0);
}
END_TEST

START_TEST(only_finished_replications_count)
{
    unsigned finished[] = {5, 2};
    double values[20], *rows[2];
    struct results results;

    fill(&results, finished, values, rows);
    ck_assert_double_eq(compare_estimate(&results, 1, 0).mean, 1003);
    ck_assert_uint_eq(compare_difference(&results, 1, 0, 0).count, 2);
    ck_assert_double_eq(compare_difference(&results, 1, 0, 0).mean, 1001.5);
    ck_assert_double_eq(compare_difference(&results, 0, 1, 0).mean, -1001.5);
    finished[0] = 0;
    ck_assert_uint_eq(compare_difference(&results, 1, 0, 0).count, 0);
    ck_assert_double_nan(compare_estimate(&results, 0, 0).mean);
}
END_TEST

Suite *experiment_suite(void)
{
    Suite *suite = suite_create("experiment");
    TCase *pool = tcase_create("pool");
    TCase *compare = tcase_create("compare");

    tcase_add_loop_test(pool, same_bits_for_any_number_of_threads, 0, THREAD_COUNTS);
    tcase_add_loop_test(pool, a_study_goes_on, 0, THREAD_COUNTS);
    tcase_add_loop_test(pool, a_failure_while_a_study_goes_on_is_found, 0, THREAD_COUNTS);
    tcase_add_test(pool, progress_comes_from_the_caller);
    tcase_add_test(pool, progress_comes_now_and_then);
    tcase_add_loop_test(pool, first_failure_in_order_is_reported, 0, THREAD_COUNTS);
    tcase_add_test(pool, nothing_is_begun_after_a_failure);
    tcase_add_test(pool, stop_flag_is_polled_between_trials);
    tcase_add_test(pool, stopped_before_the_start);
    tcase_add_test(pool, stop_after_the_last_trial_is_no_interruption);
    tcase_add_loop_test(pool, stopped_trial_leaves_a_gap, 0, THREAD_COUNTS);
    tcase_add_test(pool, nothing_to_do);
    suite_add_tcase(suite, pool);
    tcase_add_test(compare, estimates_and_differences);
    tcase_add_test(compare, only_finished_replications_count);
    suite_add_tcase(suite, compare);
    return suite;
}
