/* test_run.c - running a study: no table changes by a digit with the number of threads, the locale or the processor,
 * and Ctrl-C leaves what is finished. What uses threads stands here and runs under TSan too, so it is small. */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "models/metrics.h"
#include "models/trial.h"
#include "tests/comma.h"
#include "tests/command_fixture.h"
#include "tests/suites.h"

/* Every distribution whose samplers use sim_log or sim_exp has a part in it. */
static const char study[] =
    "study: {horizon: 1500 s, warmup: 100 s, replications: 5, seed: 3}\n"
    "backends: {card: {kind: slots, servers: 4, step_time: {base: 20 ms, per_busy_slot: 1 ms}}}\n"
    "agents:\n"
    "  coder:\n"
    "    population: 8\n"
    "    think: gamma(4.5 s cv 0.7)\n"
    "    output: mixture(0.7 lognormal(120 cv 0.45) | 0.3 weibull(900 cv 0.35))\n"
    "  visitor: {arrivals: poisson(1/min), output: pareto(50 shape 2.5)}\n"
    "policies:\n"
    "  - unbounded\n"
    "  - fixed_cap: {cap: 6}\n"
    "  - persist: [codel: {law: persist, sheds_at: submission, target: 3 s, interval: 9 s}]\n"
    "  - rfc: [codel: {law: rfc8289, target: 3 s, interval: 9 s}]\n"
    "  - lifo\n"
    "sweep: {agents.coder.population: [4, 9]}\n";

/* The table with so many threads, in the file's arena. */
static const char *table_of(const char *jobs, const char *const *environment)
{
    PROGRAM_RUN(&program, environment, "run", file.path, "--format", "csv", "--against", "unbounded", "-j", jobs);
    return program_taken(&program, &file.arena);
}

START_TEST(same_digits_with_any_number_of_threads)
{
    plan_file_write(&file, "s.yaml", study);
    const char *one = table_of("1", NULL);
    /* a head, 10 points of three scopes; then an empty line and the differences of 8 */
    ck_assert_int_eq(program_count(one, "\n"), 1 + 10 * 3 + 1 + 1 + 8 * 3);
    program_same(table_of("2", NULL), one);
    program_same(table_of("7", NULL), one);
}
END_TEST

START_TEST(same_digits_under_a_comma_locale)
{
    struct comma_locale locale;
    if (!comma_find(&locale))
        return;
    plan_file_write(&file, "s.yaml", study);
    const char *plain = table_of("2", NULL);
    const char *const environment[] = {arena_format(&file.arena, "LC_ALL=%s", locale.name),
                                       arena_format(&file.arena, "LOCPATH=%s", locale.folder), NULL};
    const char *table = table_of("2", environment);
    comma_forget(&locale);
    program_same(table, plain);
}
END_TEST

/* As glibc would choose its functions on an older processor. The bits of sim_exp and sim_log are held in test_stream.c;
 * this is that nothing else on the way to a table depends on them. */
START_TEST(same_digits_without_fma)
{
    static const char *const environment[] = {"GLIBC_TUNABLES=glibc.cpu.hwcaps=-FMA,-FMA_Usable,-AVX2,-AVX2_Usable",
                                              NULL};
    plan_file_write(&file, "s.yaml", study);
    program_same(table_of("2", environment), table_of("2", NULL));
}
END_TEST

/* The numbers of the third replication of the last design point. */
static const double *third_of(const char *replications, size_t *count)
{
    const char *const sets[] = {arena_format(&file.arena, "study.replications=%s", replications), NULL};
    ck_assert_msg(plan_file_read(&file, study, sets, NULL), "%s", plan_file_said(&file));
    const struct scenario *scenario = file.plan.points[file.plan.point_count - 1].scenario;
    *count = trial_row_count(scenario) * METRIC_COUNT;
    double *values = arena_zeroed(&file.arena, *count, sizeof *values);
    ck_assert_int_eq(trial_simulate(scenario, 3, NULL, values), TRIAL_ENDED);
    return values;
}

START_TEST(third_of_8_is_third_of_20)
{
    size_t of_8, of_20;
    const double *some = third_of("8", &of_8), *more = third_of("20", &of_20);
    ck_assert_uint_eq(of_8, of_20);
    ck_assert_mem_eq(some, more, of_8 * sizeof *some);
    ck_assert_double_gt(some[METRIC_GOODPUT], 0);
}
END_TEST

/* The first design point is done at once, the second takes years. */
static const char endless[] = "title: Endless\n"
                              "study: {horizon: 50 s, replications: 2}\n"
                              "backends: {card: {kind: slots, servers: 2, service: exponential(1 s)}}\n"
                              "agents: {coder: {population: 400, think: exponential(1 s)}}\n"
                              "sweep: {study.horizon: [50 s, 20000 d]}\n";

/* Ctrl-C, so late that these words are the program's last. */
static void interrupt(long delay, const char *set, const char *words)
{
    const char *out = arena_format(&file.arena, "%s/out.csv", file.folder);
    plan_file_write(&file, "s.yaml", endless);
    program_interrupt(&program, (const char *const[]){"run", file.path, "-j", "2", "-o", out, "--set", set, NULL},
                      delay, words);
    ck_assert_msg(program.status == 130, "exit status %d: %s", program.status, program.err);
}

START_TEST(interrupted_with_a_part_done)
{
    interrupt(100, "study.seed=1", "\nunbounded  50 s ");
    ck_assert_ptr_nonnull(strstr(program.out, "\nunbounded  50 s "));
    ck_assert_ptr_null(strstr(program.out, "\nunbounded  20000 d "));
    ck_assert_ptr_nonnull(strstr(program.out, "\nPARTIAL: interrupted"));
    ck_assert_str_eq(program.err, "weir: interrupted: the table is partial, what was not finished is missing\n");
    char *csv = program_file(arena_format(&file.arena, "%s/out.csv", file.folder));
    char *meta = program_file(arena_format(&file.arena, "%s/out.csv.meta", file.folder));
    ck_assert_ptr_nonnull(csv);
    ck_assert_int_eq(program_count(csv, "\n"), 2);
    ck_assert_ptr_nonnull(meta);
    ck_assert_ptr_nonnull(strstr(meta, "\npartial: true\n"));
    free(csv);
    free(meta);
}
END_TEST

START_TEST(interrupted_with_nothing_done)
{
    /* so late that a terminal would show progress */
    interrupt(1000, "study.horizon=20000 d", "before a replication was finished");
    ck_assert_str_eq(program.out, "");
    ck_assert_str_eq(program.err, "weir: interrupted before a replication was finished: there is no table\n");
    ck_assert_int_ne(access(arena_format(&file.arena, "%s/out.csv", file.folder), F_OK), 0);
}
END_TEST

Suite *run_suite(void)
{
    Suite *suite = suite_create("run");
    TCase *tcase = tcase_create("run");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, same_digits_with_any_number_of_threads);
    tcase_add_test(tcase, same_digits_under_a_comma_locale);
    tcase_add_test(tcase, same_digits_without_fma);
    tcase_add_test(tcase, third_of_8_is_third_of_20);
    tcase_add_test(tcase, interrupted_with_a_part_done);
    tcase_add_test(tcase, interrupted_with_nothing_done);
    suite_add_tcase(suite, tcase);
    return suite;
}
