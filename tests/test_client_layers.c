/* test_client_layers.c - clients of several layers, worked by hand: which layer tries again, how long it sleeps, what
 * its quota says. A world of one agent, whose client is told of one failure after another. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "models/agent.h"
#include "models/client.h"
#include "tests/model.h"
#include "tests/suites.h"

/* What a world must have for its clients. */
struct rig {
    struct plan plan;
    struct class_state klass;
    struct world world;
    struct agent agent;
    struct client_try try;
};

static struct rig rig;

static void rig_init(const char *client)
{
    char yaml[2048];

    snprintf(yaml, sizeof yaml,
             "study: {horizon: 100 s, seed: 7}\nbackends: {b: {kind: slots, servers: 1, service: constant(1 s)}}\n"
             "agents: {a: {population: 9, think: 1 s, turns: 4, client: %s}}\n",
             client);
    rig = (struct rig){.plan = model_plan(yaml)};
    rig.world.scenario = rig.plan.points[0].scenario;
    rig.world.key = (struct stream_key){7, 3};
    rig.world.classes = &rig.klass;
    rig.klass.spec = &rig.world.scenario->classes[0];
    rig.agent.index = 5;
    client_begins(&rig.try, PURPOSE_BACKOFF, 11);
}

static void teardown(void)
{
    plan_fini(&rig.plan);
}

static const struct client *client(void)
{
    return &rig.klass.spec->client;
}

/* A failure, which was foretold where it comes without a retry-after. */
static struct client_verdict fails(uint32_t layer, policy_time retry_after)
{
    bool foretold = client_gives_up(&rig.world, &rig.agent, &rig.try, layer);
    struct client_verdict verdict = client_fails(&rig.world, &rig.agent, &rig.try, layer, retry_after);

    if (retry_after == POLICY_NONE)
        ck_assert_int_eq(verdict.gives_up, foretold);
    return verdict;
}

/* A try of `layer` fails; then that layer or one above sleeps so many seconds. */
static void expect(uint32_t layer, uint32_t sleeper, double sleep)
{
    struct client_verdict verdict = fails(layer, POLICY_NONE);

    ck_assert(!verdict.gives_up);
    ck_assert_uint_eq(verdict.layer, sleeper);
    ck_assert_double_eq(sim_seconds(verdict.sleep), sleep);
}

static void expect_end(uint32_t layer)
{
    ck_assert(fails(layer, POLICY_NONE).gives_up);
}

static const char three_of_three[] = "[{attempts: 3, backoff: constant, base: 1 s, jitter: none},"
                                     " {attempts: 3, backoff: constant, base: 10 s, jitter: none},"
                                     " {attempts: 3, backoff: constant, base: 100 s, cap: 100 s, jitter: none}]";

/* --- the order of layers ----------------------------------------------------------------------------------------- */

START_TEST(three_layers_of_three_make_27_attempts)
{
    rig_init(three_of_three);
    for (int turn = 0; turn < 2; turn++) {
        client_begins(&rig.try, PURPOSE_BACKOFF, (uint64_t)turn);
        for (int attempt = 1; attempt < 27; attempt++) {
            uint32_t sleeper = attempt % 9 == 0 ? 2 : attempt % 3 == 0 ? 1 : 0;

            expect(0, sleeper, sleeper == 2 ? 100 : sleeper == 1 ? 10 : 1);
            ck_assert_uint_eq(rig.try.failures, (uint32_t)attempt);
        }
        expect_end(0);
    }
}
END_TEST

/* A layer's pauses begin anew with each try of the layer above, whose own go on growing. */
START_TEST(pauses_begin_anew)
{
    rig_init("[{attempts: 3, base: 1 s, jitter: none}, {attempts: 4, backoff: linear, base: 5 s, jitter: none}]");
    for (int outer = 1; outer <= 3; outer++) {
        expect(0, 0, 1);
        expect(0, 0, 2);
        expect(0, 1, 5.0 * outer);
    }
    expect(0, 0, 1);
    expect(0, 0, 2);
    expect_end(0);
}
END_TEST

/* What an outer layer cuts short counts as a try of it, and resets what is below; layers above keep their counts. */
START_TEST(an_outer_failure_resets_what_is_below)
{
    rig_init(three_of_three);
    expect(0, 0, 1);
    expect(0, 0, 1);
    expect(1, 1, 10); /* a timeout of layer 1: its first failed try, though layer 0 had one attempt left */
    expect(0, 0, 1);
    expect(0, 0, 1);
    expect(0, 1, 10);
    expect(0, 0, 1);
    expect(1, 2, 100); /* its third */
    ck_assert_uint_eq(rig.try.of_layer[0], 0);
    ck_assert_uint_eq(rig.try.of_layer[1], 0);
    ck_assert_uint_eq(rig.try.of_layer[2], 1);
    expect(0, 0, 1);
    expect(2, 2, 100);
    ck_assert_uint_eq(rig.try.of_layer[0], 0);
    expect(0, 0, 1);
    expect(0, 0, 1);
    expect(0, 1, 10);
    expect_end(2);
}
END_TEST

/* The k-th failure of a call draws the number at (agent, turn, k), whichever layer sleeps. */
START_TEST(random_numbers_are_addressed_by_failures)
{
    rig_init("[{attempts: 2, backoff: constant, base: 8 s}, {attempts: 5, backoff: constant, base: 40 s}]");
    for (uint32_t k = 1; k < 10; k++) {
        struct stream stream = stream_open(
            rig.world.key,
            (struct stream_address){
                .purpose = PURPOSE_BACKOFF, .entity = agent_entity(rig.klass.spec, 5), .turn = 11, .attempt = k});
        double most = k == 4 ? 40 : k % 2 == 0 ? 40 : 8, sleep = floor(most * 1e9 * stream_uniform(&stream) + 0.5);
        struct client_verdict verdict = k == 4 ? fails(1, POLICY_NONE) : fails(0, POLICY_NONE);

        ck_assert_uint_eq(verdict.layer, most == 40);
        ck_assert_double_eq((double)verdict.sleep, sleep);
    }
    expect_end(0);
}
END_TEST

/* --- retry-afters ------------------------------------------------------------------------------------------------ */

static void expect_after(policy_time retry_after, uint32_t sleeper, sim_time sleep)
{
    struct client_verdict verdict = fails(0, retry_after);

    ck_assert(!verdict.gives_up);
    ck_assert_uint_eq(verdict.layer, sleeper);
    ck_assert_int_eq(verdict.sleep, sleep);
}

START_TEST(a_retry_after_that_is_too_long)
{
    static const char form[] =
        "[{base: 2 s, jitter: none, retry_after: %s, retry_after_most: 60 s, retry_after_beyond: "
        "%s}, {attempts: 2, retry_after_most: 90 s, timeout: 1 h}]";
    const sim_time most = 60 * SIM_SECOND, longer = most + 1, own = 2 * SIM_SECOND;
    const struct {
        const char *use, *beyond;
        uint32_t sleeper;
        sim_time sleep;
    } cases[] = {
        {"honour", "cut", 0, most},   {"honour", "ignore", 0, own},   {"honour", "give_up", 1, longer},
        {"at_least", "cut", 0, most}, {"at_least", "ignore", 0, own}, {"at_least", "give_up", 1, longer},
        {"ignore", "cut", 0, own},    {"ignore", "ignore", 0, own},   {"ignore", "give_up", 0, own},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[256];

        snprintf(text, sizeof text, form, cases[i].use, cases[i].beyond);
        rig_init(text);
        expect_after(longer, cases[i].sleeper, cases[i].sleep);
        client_begins(&rig.try, PURPOSE_BACKOFF, 12);
        expect_after(most, 0, strcmp(cases[i].use, "ignore") == 0 ? own : most);
        teardown();
    }
    rig_init("[{retry_after_most: 60 s, retry_after_beyond: give_up}, {attempts: 2, retry_after_most: 90 s}]");
    expect_after(200 * SIM_SECOND, 1, 90 * SIM_SECOND); /* the layer that backs off hears it, and cuts it */
    ck_assert(fails(0, 61 * SIM_SECOND).gives_up);
}
END_TEST

/* --- quotas ------------------------------------------------------------------------------------------------------ */

static void calls_begin(void)
{
    client_begins(&rig.try, PURPOSE_BACKOFF, rig.try.turn + 1);
}

static void answers(unsigned count)
{
    for (; count > 0; count--) {
        calls_begin();
        client_succeeds(&rig.world, &rig.agent, &rig.try);
    }
    calls_begin();
}

/* A retry needs more than 5 of 10 tokens: five failures bring them to 5, and it takes eleven answers to have 5.1 after
 * the next failure. */
START_TEST(tokens_of_grpc)
{
    rig_init("{backoff: constant, base: 1 s, jitter: none, quota: grpc}");
    answers(1000); /* it was full */
    for (int i = 0; i < 4; i++)
        expect(0, 0, 1);
    expect_end(0);
    answers(10);
    expect_end(0); /* 5 */
    answers(11);   /* 6.1 */
    expect(0, 0, 1);
    expect_end(0);
    for (int i = 0; i < 20; i++)
        expect_end(0); /* they end at 0 */
    answers(60);
    expect_end(0); /* 6, then 5 */
    answers(11);
    expect(0, 0, 1);
}
END_TEST

/* A call that spends its attempts takes 10 of 500, so fifty such calls take all. */
START_TEST(quota_of_aws)
{
    rig_init("{preset: aws, jitter: none}");
    for (int call = 0; call < 50; call++) {
        calls_begin();
        expect(0, 0, 1);
        expect(0, 0, 2);
        expect_end(0);
    }
    calls_begin();
    expect_end(0);
    answers(4);
    expect_end(0); /* a retry takes 5 */
    answers(1);
    expect(0, 0, 1);
    expect_end(0);
    answers(5);
    expect(0, 0, 1);
    client_succeeds(&rig.world, &rig.agent, &rig.try); /* 5 again, for a call that was retried */
    calls_begin();
    expect(0, 0, 1);
    expect_end(0);
    answers(600);
    ck_assert_uint_eq(rig.agent.quota_spent[0], 0);
    expect(0, 0, 1);
    expect(0, 0, 2);
    client_succeeds(&rig.world, &rig.agent, &rig.try); /* of two retries, one is given back */
    ck_assert_uint_eq(rig.agent.quota_spent[0], 5);
}
END_TEST

/* A quota is one layer's and one agent's. Nothing draws on it at the door. */
START_TEST(whose_a_quota_is)
{
    rig_init(
        "[{attempts: 2, backoff: constant, base: 1 s, jitter: none}, {backoff: constant, base: 10 s, jitter: none, "
        "quota: grpc}]");
    for (int i = 0; i < 4; i++) {
        expect(0, 0, 1);
        expect(0, 1, 10);
    }
    expect(0, 0, 1);
    expect_end(0);
    ck_assert_uint_eq(rig.agent.quota_spent[0], 0);
    ck_assert_uint_eq(rig.agent.quota_spent[1], 50);
    client_begins(&rig.try, PURPOSE_DOOR, 0);
    for (int i = 0; i < 30; i++) {
        expect(0, 0, 1);
        expect(0, 1, 10);
    }
    client_succeeds(&rig.world, &rig.agent, &rig.try);
    ck_assert_uint_eq(rig.agent.quota_spent[1], 50);
    rig.agent = (struct agent){.index = 6};
    calls_begin();
    expect(0, 0, 1);
    expect(0, 1, 10);
}
END_TEST

/* --- runs -------------------------------------------------------------------------------------------------------- */

START_TEST(runs_are_tried_again_apart_from_calls)
{
    rig_init("[{attempts: 2, backoff: constant, base: 1 s, jitter: none, quota: aws}, "
             "{attempts: 3, backoff: linear, base: 20 s, jitter: none, restarts: run, quota: aws}]");
    struct client_try run;
    uint32_t layer = client_call_layers(client());

    ck_assert_uint_eq(layer, 1);
    client_begins(&run, PURPOSE_RESTART, 4);
    for (int k = 1; k <= 3; k++) {
        calls_begin();
        expect(0, 0, 1);
        expect_end(0); /* the call is never tried again by the layer of runs */
        ck_assert_int_eq(client_gives_up(&rig.world, &rig.agent, &run, layer), k == 3);
        struct client_verdict verdict = client_fails(&rig.world, &rig.agent, &run, layer, POLICY_NONE);
        ck_assert_int_eq(verdict.gives_up, k == 3);
        if (k < 3) {
            ck_assert_uint_eq(verdict.layer, 1);
            ck_assert_double_eq(sim_seconds(verdict.sleep), 20.0 * k);
        }
    }
    ck_assert_uint_eq(rig.agent.quota_spent[0], 15);
    ck_assert_uint_eq(rig.agent.quota_spent[1], 10);
    calls_begin();
    client_succeeds(&rig.world, &rig.agent, &rig.try);
    ck_assert_uint_eq(rig.agent.quota_spent[0], 14);
    ck_assert_uint_eq(rig.agent.quota_spent[1], 10);
    client_begins(&run, PURPOSE_RESTART, 5);
    client_fails(&rig.world, &rig.agent, &run, layer, POLICY_NONE);
    client_succeeds(&rig.world, &rig.agent, &run);
    ck_assert_uint_eq(rig.agent.quota_spent[0], 14);
    ck_assert_uint_eq(rig.agent.quota_spent[1], 10); /* 5 taken, 5 given back */
}
END_TEST

Suite *client_layers_suite(void)
{
    Suite *suite = suite_create("client_layers");
    TCase *test = tcase_create("client_layers");

    tcase_add_checked_fixture(test, NULL, teardown);
    tcase_add_test(test, three_layers_of_three_make_27_attempts);
    tcase_add_test(test, pauses_begin_anew);
    tcase_add_test(test, an_outer_failure_resets_what_is_below);
    tcase_add_test(test, random_numbers_are_addressed_by_failures);
    tcase_add_test(test, a_retry_after_that_is_too_long);
    tcase_add_test(test, tokens_of_grpc);
    tcase_add_test(test, quota_of_aws);
    tcase_add_test(test, whose_a_quota_is);
    tcase_add_test(test, runs_are_tried_again_apart_from_calls);
    suite_add_tcase(suite, test);
    return suite;
}
