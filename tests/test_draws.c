/* test_draws.c - whose random numbers are whose: nobody's change because of who else is there, or where in the file. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "tests/model.h"
#include "tests/suites.h"

static uint64_t tokens[64][64]; /* by agent and turn, for those that are small; 0: not seen */

static void started(void *context, const struct policy_call *call, uint32_t gate, sim_time service)
{
    (void)gate, (void)service;
    if (call->klass == *(const uint32_t *)context && call->agent < 64 && call->turn < 64)
        tokens[call->agent][call->turn] = (uint64_t)call->output_tokens;
}

static void follow(const struct plan *plan, size_t point, uint32_t klass)
{
    static double values[METRIC_COUNT * 8];
    struct trial_watch watch = {.started = started, .context = &klass};

    memset(tokens, 0, sizeof tokens);
    ck_assert_int_eq(trial_simulate(plan->points[point].scenario, 1, &watch, values), TRIAL_ENDED);
}

/* What a turn draws depends on whose turn it is, not on how many agents there are or what a policy answers. */
START_TEST(draws_are_addressed)
{
    static uint64_t few[64][64];
    struct plan plan;

    plan = model_plan("study: {horizon: 6000 s}\nbackends: {card: {kind: slots, servers: 8, rate: 39 tokens/s}}\n"
                      "agents: {coder: {population: 24, think: exponential(4.5 s), output: exponential(354), client: "
                      "{base: 16 s}}}\n"
                      "policies: [unbounded, fixed_cap: {cap: 3}]\nsweep: {agents.coder.population: [8, 24]}\n");
    follow(&plan, 0, 0);
    memcpy(few, tokens, sizeof few);
    for (size_t point = 1; point < 4; point++) {
        size_t equal = 0;

        follow(&plan, point, 0);
        for (size_t i = 0; i < 8; i++)
            for (size_t k = 0; k < 64; k++)
                if (few[i][k] && tokens[i][k]) {
                    ck_assert_uint_eq(few[i][k], tokens[i][k]);
                    equal++;
                }
        ck_assert_uint_gt(equal, 100);
    }
    plan_fini(&plan);
}
END_TEST

static size_t equal_draws(uint64_t one[64][64], uint64_t other[64][64])
{
    size_t equal = 0;

    for (size_t i = 0; i < 64; i++)
        for (size_t k = 0; k < 64; k++)
            if (one[i][k] && other[i][k]) {
                ck_assert_uint_eq(one[i][k], other[i][k]);
                equal++;
            }
    return equal;
}

/* Behind it, in front of it, in another order: a class is known by its name. */
START_TEST(another_class_changes_nobodys_draws)
{
    static const char coder[] = "coder: {population: 24, think: exponential(4.5 s), output: exponential(354)}";
    static const char other[] = "other: {arrivals: poisson(1/min), output: exponential(354)}";
    static const char third[] = "third: {population: 2, think: exponential(9 s), output: exponential(354)}";
    const struct {
        const char *classes[3];
        uint32_t coder;
    } cases[] = {{{coder, other}, 0}, {{other, coder}, 1}, {{third, coder, other}, 1}, {{other, third, coder}, 2}};
    static uint64_t alone[64][64], others[64][64];
    char yaml[2048];

    for (size_t i = 0; i <= sizeof cases / sizeof *cases; i++) {
        struct plan plan;
        uint32_t at = i > 0 ? cases[i - 1].coder : 0;

        snprintf(yaml, sizeof yaml, "%s",
                 "study: {horizon: 6000 s}\nbackends: {card: {kind: slots, servers: 8, rate: 39 tokens/s}}\nagents:\n");
        for (size_t k = 0; k < 3 && (i > 0 ? cases[i - 1].classes[k] != NULL : k == 0); k++)
            snprintf(yaml + strlen(yaml), sizeof yaml - strlen(yaml), "  %s\n",
                     i > 0 ? cases[i - 1].classes[k] : coder);
        plan = model_plan(yaml);
        follow(&plan, 0, at);
        if (i == 0)
            memcpy(alone, tokens, sizeof alone);
        else
            ck_assert_uint_gt(equal_draws(alone, tokens), 500);
        if (i == 2) {
            follow(&plan, 0, 0);
            memcpy(others, tokens, sizeof others);
        }
        if (i == 3) {
            follow(&plan, 0, 2);
            ck_assert_uint_ge(equal_draws(others, tokens), 64); /* one turn an agent: the first of 64 agents */
            ck_assert_uint_ne(others[0][0], alone[0][0]);
        }
        plan_fini(&plan);
    }
}
END_TEST

/* --- a policy's own stream ---------------------------------------------------------------------------------------- */

static double policy_draws[4][8]; /* by a member's parameter `row` and the agent */

static struct policy_answer draws_admit(struct policy *self, const struct policy_view *view, struct policy_call *call)
{
    int64_t row = *(const int64_t *)self->params;

    (void)view;
    if (call->turn == 0 && call->priority > 0)
        policy_draws[row][call->agent] = self->host->uniform(self);
    return policy_admit();
}

static const struct option draws_options[] = {
    {"row", OPTION_COUNT, 0, .initial = "0", .most = "3", .help = "where its draws are written"}, {.key = NULL}};

static const struct policy_ops draws_ops = {POLICY_HEADER,
                                            .name = "draws",
                                            .summary = "draws a number for the first turn of each agent of priority 1",
                                            .params = draws_options,
                                            .params_size = sizeof(int64_t),
                                            .admit = draws_admit};

/* Neither a member in front, nor another class, tenant or backend in front, changes what a policy draws; its copies and
 * two members of one policy draw apart. */
START_TEST(a_policys_draws_are_its_own)
{
    static const char *const scopes[] = {"all", "gate", "class", "tenant", "agent"};
    static const char front[] = "  a: {population: 3, think: 1 s, output: 39, backend: spare, tenant: x}\n";
    static const char rear[] = "  b: {population: 8, think: 1 s, output: 39, backend: card, tenant: y, priority: 1}\n";
    const struct policy_ops *const policies[] = {&draws_ops, NULL};

    for (size_t i = 0; i < sizeof scopes / sizeof *scopes; i++) {
        char yaml[2048];
        double alone[8], values[METRIC_COUNT * 8];

        for (int more = 0; more < 2; more++) {
            struct plan plan;

            snprintf(yaml, sizeof yaml,
                     "study: {horizon: 100 s}\nbackends:\n%s  card: {kind: slots, servers: 8, rate: 39 tokens/s}\n%s"
                     "agents:\n%s%spolicies: [x: [%sdraws: {scope: %s, row: 1}]]\n",
                     more ? "  spare: {kind: slots, servers: 1, rate: 39 tokens/s}\n" : "",
                     more ? "" : "  spare: {kind: slots, servers: 1, rate: 39 tokens/s}\n", more ? front : "", rear,
                     more ? "draws: {name: first, row: 2}, " : "", scopes[i]);
            plan = model_plan_of(yaml, policies);
            memset(policy_draws, 0, sizeof policy_draws);
            model_trial(&plan, 0, 1, values);
            for (size_t k = 0; k < 8; k++)
                ck_assert(policy_draws[1][k] > 0 && (k == 0 || policy_draws[1][k] != policy_draws[1][k - 1]));
            if (more)
                ck_assert_mem_eq(alone, policy_draws[1], sizeof alone);
            if (more)
                ck_assert_double_ne(policy_draws[2][0], policy_draws[1][0]);
            memcpy(alone, policy_draws[1], sizeof alone);
            plan_fini(&plan);
        }
    }
}
END_TEST

Suite *draws_suite(void)
{
    Suite *suite = suite_create("draws");
    TCase *test = tcase_create("draws");

    tcase_add_test(test, draws_are_addressed);
    tcase_add_test(test, another_class_changes_nobodys_draws);
    tcase_add_test(test, a_policys_draws_are_its_own);
    suite_add_tcase(suite, test);
    return suite;
}
