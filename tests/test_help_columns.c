/* test_help_columns.c - `weir help` on the columns of records and logs. */
#include <check.h>
#include <string.h>

#include "models/decisions.h"
#include "models/gauges.h"
#include "models/plan.h"
#include "models/record_columns.h"
#include "policies/registry.h"
#include "sim/cli/call_log.h"
#include "sim/cli/record_file.h"
#include "sim/cli/record_logs.h"
#include "tests/program.h"
#include "tests/suites.h"

static struct program program;
static struct arena arena;

static void teardown(void)
{
    program_fini(&program);
    arena_free(&arena);
}

#define SAID(...) (PROGRAM_RUN(&program, NULL, __VA_ARGS__), program_taken(&program, &arena))

/* Every column of every file of rows has a help text, and is known by its name, also behind whose it is. */
START_TEST(every_column_is_known)
{
    static const struct record_columns no_samples = {0};
    static const struct decision_columns no_decisions = {0};
    const struct plan plan = {.record = &no_samples, .decisions = &no_decisions};
    row_log_columns_fn *const logs[] = {call_log_columns, record_file_columns, decision_columns, audit_columns,
                                        alert_columns};
    for (size_t i = 0; i < sizeof logs / sizeof *logs; i++) {
        struct table table = {0};
        logs[i](&plan, &table);
        ck_assert_uint_gt(table.column_count, 2);
        for (size_t k = 0; k < table.column_count; k++) {
            ck_assert_msg(table.columns[k].help[0], "%s", table.columns[k].name);
            program_has(SAID("help", table.columns[k].name), table.columns[k].name);
            if (k >= 2) /* policy, replication */
                program_has(SAID("help", table.columns[k].name), table.columns[k].help);
        }
        table_fini(&table);
    }
    for (size_t i = 0; gauges_word(i); i++)
        program_has(SAID("help", arena_format(&arena, "pool.%s", gauges_word(i)->name)), gauges_word(i)->help);
    for (size_t i = 0; policy_registry[i]; i++) {
        const struct policy_ops *ops = policy_registry[i];
        for (const struct policy_column *column = ops->columns; column && column->name; column++) {
            const char *said = SAID("help", column->name);
            ck_assert_msg(column->help && column->help[0], "%s", column->name);
            program_has(said, column->help);
            for (size_t k = 0; column->words && column->words[k]; k++)
                program_has(said, column->words[k]);
        }
        for (const struct policy_gauge *gauge = ops->gauges; gauge && gauge->name; gauge++)
            ck_assert_msg(gauge->help && gauge->help[0], "%s.%s", ops->name, gauge->name);
        if (ops->gauges)
            program_has(SAID("help", arena_format(&arena, "pool.%s.%s.mean", ops->name, ops->gauges->name)),
                        ops->gauges->help);
    }
}
END_TEST

/* What is nearly a column is told which. */
START_TEST(nearly_a_column)
{
    PROGRAM_RUN(&program, NULL, "help", "tokens_inn");
    ck_assert_int_eq(program.status, 2);
    program_has(program.err, "did you mean `tokens_in`?");
}
END_TEST

Suite *help_columns_suite(void)
{
    Suite *suite = suite_create("help_columns");
    TCase *tests = tcase_create("help_columns");

    tcase_add_checked_fixture(tests, NULL, teardown);
    tcase_add_test(tests, every_column_is_known);
    tcase_add_test(tests, nearly_a_column);
    suite_add_tcase(suite, tests);
    return suite;
}
