/* provider_fixture.h - what each test of providers has: files in a folder of its own, and plans with one pool. */
#ifndef TESTS_PROVIDER_FIXTURE_H
#define TESTS_PROVIDER_FIXTURE_H

#include <check.h>
#include <math.h>

#include "tests/plan_file.h"

#define MINUTE (60 * SIM_SECOND)
#define COUNT_OF(array) ((int)(sizeof(array) / sizeof *(array)))

static struct plan_file file;

static inline void setup(void)
{
    plan_file_init(&file);
}

static inline void teardown(void)
{
    plan_file_fini(&file);
}

/* A scenario with one provider, `pool`, and one class; `keys` are the provider's, in flow style. */
static inline const char *pool_of(const char *keys)
{
    return arena_format(&file.arena,
                        "study: {horizon: 100 s}\nbackends:\n  pool: {kind: provider, %s}\n"
                        "agents: {coder: {population: 4, think: 1 s, output: 120, backend: pool}}\n",
                        keys);
}

/* The first point; any message fails the test. */
static inline const struct scenario *read_text(const char *text)
{
    ck_assert_msg(plan_file_read(&file, text, NULL, NULL), "%s\n%s", plan_file_said(&file), text);
    ck_assert_msg(file.diag.errors == 0, "%s", plan_file_said(&file));
    return file.plan.points[0].scenario;
}

static inline const struct provider_spec *read_pool(const char *keys)
{
    return read_text(pool_of(keys))->backends[0].provider;
}

static inline void expect_near(double value, double expected)
{
    ck_assert_msg(fabs(value - expected) <= 1e-12 * fabs(expected), "%.17g, expected %.17g", value, expected);
}

#endif
