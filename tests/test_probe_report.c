/* test_probe_report.c - what `weir check --plugin` prints of what it found: once each, however many settings show it.
 */
#include <check.h>
#include <stdio.h>

#include "sim/cli/probe.h"
#include "tests/program.h"
#include "tests/suites.h"

static const struct option params[] = {
    {.key = "most", .type = OPTION_COUNT, .initial = "8", .least = "1", .help = "calls"},
    {.key = "wait", .type = OPTION_TIME, .offset = 8, .initial = "2 s", .least = "1 s", .help = "time"},
    {.key = NULL},
};

/* Whatever the parameters are. */
static struct policy_answer always_wrong(struct policy *self, const struct policy_view *view, struct policy_call *call)
{
    (void)self, (void)view, (void)call;
    return (struct policy_answer){.action = (enum policy_action)99};
}

static struct policy_answer wrong_in_two_ways(struct policy *self, const struct policy_view *view,
                                              struct policy_call *call)
{
    const int64_t *most = self->params;
    (void)view, (void)call;
    return *most == 8 ? policy_hold(1, "short") : policy_displace("nobody");
}

/* With five settings: the defaults, and each parameter at its least and its most. */
static void expect(struct policy_answer (*admit)(struct policy *, const struct policy_view *, struct policy_call *),
                   unsigned findings, const char *last)
{
    const struct policy_ops ops = {POLICY_HEADER,    .name = "same",    .summary = "always wrong",
                                   .params = params, .params_size = 16, .admit = admit};
    FILE *out = tmpfile();
    char text[8192];
    ck_assert_uint_eq(probe_policy(&ops, out), findings);
    rewind(out);
    text[fread(text, 1, sizeof text - 1, out)] = '\0';
    fclose(out);
    ck_assert_int_eq(program_count(text, "\nwith "), 5);
    ck_assert_int_eq(program_count(text, " found\n    policy `same`, callback `admit`, "), (int)findings);
    ck_assert_int_eq(program_count(text, " found again, as above\n"), 5 - (int)findings);
    program_has(text, last);
}

START_TEST(a_finding_is_told_once)
{
    expect(always_wrong, 1, "\npolicy same: 1 finding in 5 settings\n");
}
END_TEST

START_TEST(two_findings_are_two)
{
    expect(wrong_in_two_ways, 2, "\npolicy same: 2 findings in 5 settings\n");
}
END_TEST

Suite *probe_report_suite(void)
{
    Suite *suite = suite_create("probe_report");
    TCase *test = tcase_create("probe_report");
    tcase_add_test(test, a_finding_is_told_once);
    tcase_add_test(test, two_findings_are_two);
    suite_add_tcase(suite, test);
    return suite;
}
