/* test_cards.c - cards that come and go: small cases by hand, what policies see of them, and what is recorded. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "models/gauges.h"
#include "tests/model.h"
#include "tests/suites.h"

#define STARTS_MOST 64

/* When services began, in order. */
struct starts {
    sim_time at[STARTS_MOST];
    size_t count;
};

static void started(void *context, const struct policy_call *call, uint32_t gate, sim_time service)
{
    struct starts *starts = context;

    (void)gate;
    (void)service;
    if (starts->count < STARTS_MOST)
        starts->at[starts->count++] = call->started;
}

static double values[METRIC_COUNT * 8];

static struct starts run(const char *yaml)
{
    struct plan plan = model_plan(yaml);
    struct starts starts = {.count = 0};
    struct trial_watch watch = {.started = started, .context = &starts};

    ck_assert_int_eq(trial_simulate(plan.points[0].scenario, 1, &watch, values), TRIAL_ENDED);
    plan_fini(&plan);
    return starts;
}

/* `cards` behind a card of so many servers that serves for 100 s, `runs` at 0 s, up to a horizon. */
static struct starts burst(const char *servers, const char *cards, const char *runs, const char *horizon)
{
    char yaml[600];

    snprintf(yaml, sizeof yaml,
             "study: {horizon: %s, replications: 1}\n"
             "backends: {card: {kind: slots, servers: %s, service: 100 s, cards: {%s}}}\n"
             "agents: {a: {arrivals: all_at(0 s), runs: %s}}\n",
             horizon, servers, cards, runs);
    return run(yaml);
}

static void starts_are(const struct starts *starts, size_t count, const double *seconds)
{
    ck_assert_uint_eq(starts->count, count);
    for (size_t i = 0; i < count; i++)
        ck_assert_int_eq(starts->at[i], sim_from_seconds(seconds[i]));
}

static void card_seconds_are(double seconds)
{
    ck_assert_double_eq_tol(values[METRIC_CARD_HOURS] * 3600, seconds, 1e-6);
}

/* Three calls of 100 s each at a card of one slot. At 10 s there were 3 calls: 2 cards are started, which serve at 35 s
 * and not before. At 110 s only two calls have been there: the idle card goes. The end is at 135 s. */
START_TEST(cold_start_and_card_hours)
{
    struct starts starts =
        run("study: {until: done, most: 1 h, replications: 1}\n"
            "backends: {card: {kind: slots, servers: 1, service: 100 s, cards: {max: 3, step: 2, signal: queue_length, "
            "target: 1, scrape: 10 s, cooldown: 0 s, cold_start: 25 s}}}\n"
            "prices: {card: {hour: 1.2}}\n"
            "agents: {a: {arrivals: all_at(0 s), runs: 3}}\n");

    starts_are(&starts, 3, (double[]){0, 35, 35});
    card_seconds_are(110 + 125 + 125);
    ck_assert_double_eq_tol(values[METRIC_MAKESPAN], 135, 1e-9);
    ck_assert_double_eq_tol(values[METRIC_CARDS_UP], (110 + 100 + 100) / 135.0, 1e-9);
    ck_assert_double_eq_tol(values[METRIC_CARDS_COLD], 50 / 135.0, 1e-9);
    ck_assert_double_eq_tol(values[METRIC_UTILISATION], 300 / 310.0, 1e-9);
    ck_assert_double_eq_tol(values[METRIC_COST], 1.2 * 360 / 135, 1e-9); /* money an hour */
}
END_TEST

static void set(void *context, const struct set_record *record)
{
    char *text = context;
    size_t length = strlen(text);

    snprintf(text + length, 400 - length, "%g %s %s %s>%s %s %s\n", sim_seconds(record->at), record->key,
             record->copy.gate, record->old, record->now, record->by, record->reason);
}

/* The same cards: each decision that changes something, the number asked for even beyond `max`. */
START_TEST(decisions_are_told)
{
    struct plan plan =
        model_plan("study: {until: done, most: 1 h, replications: 1}\n"
                   "backends: {card: {kind: slots, servers: 1, service: 100 s, cards: {max: 3, step: 2, signal: "
                   "queue_length, target: 0.5, scrape: 10 s, cooldown: 0 s, cold_start: 25 s}}}\n"
                   "agents: {a: {arrivals: all_at(0 s), runs: 3}}\n");
    char text[400] = "";
    struct trial_watch watch = {.set = set, .context = text};

    ck_assert_int_eq(trial_simulate(plan.points[0].scenario, 1, &watch, values), TRIAL_ENDED);
    ck_assert_str_eq(text, "10 backends.card.cards card 1>3 autoscaler queue_length asks for 6\n");
    text[0] = '\0';
    plan_fini(&plan);
    plan = model_plan("study: {horizon: 130 s, replications: 1}\n"
                      "backends: {card: {kind: slots, servers: 1, service: 100 s, cards: {max: 3, signal: utilisation, "
                      "target: 0.99, scrape: 10 s, cooldown: 0 s, cold_start: 0 s}}}\n"
                      "agents: {a: {arrivals: all_at(0 s), runs: 2}}\n");
    ck_assert_int_eq(trial_simulate(plan.points[0].scenario, 1, &watch, values), TRIAL_ENDED);
    ck_assert_str_eq(text, "10 backends.card.cards card 1>2 autoscaler utilisation asks for 2\n"
                           "20 backends.card.cards card 2>3 autoscaler utilisation asks for 3\n"
                           "110 backends.card.cards card 3>2 autoscaler utilisation asks for 2\n"
                           "120 backends.card.cards card 2>1 autoscaler utilisation asks for 0\n");
    plan_fini(&plan);
}
END_TEST

/* Without an end in sight the warm-up is taken off: hours of the window alone. */
START_TEST(card_hours_of_the_window)
{
    run("study: {horizon: 135 s, warmup: 20 s, replications: 1}\n"
        "backends: {card: {kind: slots, servers: 1, service: 100 s, cards: {max: 3, step: 2, signal: queue_length, "
        "target: 1, scrape: 10 s, cooldown: 0 s, cold_start: 25 s}}}\n"
        "agents: {a: {arrivals: all_at(0 s), runs: 3}}\n");
    card_seconds_are(90 + 115 + 115);
    ck_assert_double_eq_tol(values[METRIC_CARDS_UP], (90 + 100 + 100) / 115.0, 1e-9);
    ck_assert_double_eq_tol(values[METRIC_CARDS_COLD], 30 / 115.0, 1e-9);
    ck_assert_double_eq_tol(values[METRIC_UTILISATION], (80 + 200) / 290.0, 1e-9);
}
END_TEST

/* 7 of 10 slots are busy: the target exactly, one card will do. 8 of 10 need two. */
START_TEST(target_exactly_met)
{
    burst("10", "max: 3, scrape: 15 s, target: 0.7, cold_start: 1000 s", "7", "40 s");
    card_seconds_are(40);
    burst("10", "max: 3, scrape: 15 s, target: 0.7, cold_start: 1000 s", "8", "40 s");
    card_seconds_are(40 + 25);
    /* Calls there, served or waiting, a slot: 14 are 1.4. */
    burst("10", "max: 3, scrape: 15 s, signal: queue_length, target: 1.4, cold_start: 1000 s", "14", "40 s");
    card_seconds_are(40);
    burst("10", "max: 3, scrape: 15 s, signal: queue_length, target: 1.4, cold_start: 1000 s", "15", "40 s");
    card_seconds_are(40 + 25);
    /* Utilisation knows no line: 100 calls are no more than 10 busy slots. */
    burst("10", "max: 3, scrape: 15 s, target: 1, cold_start: 1000 s", "100", "40 s");
    card_seconds_are(40);
}
END_TEST

/* Four cards are wanted at 10 s, and one is started at a time: again once the cooldown has passed, to the instant. */
START_TEST(step_cooldown_and_most)
{
    burst("1", "max: 8, signal: queue_length, target: 1, scrape: 10 s, cooldown: 20 s, cold_start: 1000 s", "4",
          "100 s");
    card_seconds_are(100 + 90 + 70 + 50);
    burst("1", "max: 8, signal: queue_length, target: 1, scrape: 10 s, cooldown: 20.001 s, cold_start: 1000 s", "4",
          "100 s");
    card_seconds_are(100 + 90 + 60 + 30);
    burst("1",
          "max: 8, signal: queue_length, target: 1, scrape: 10 s, cooldown: 1 h, cooldown_up: 20 s, cold_start: 1000 s",
          "4", "100 s");
    card_seconds_are(100 + 90 + 70 + 50);
    burst("1", "max: 3, signal: queue_length, target: 1, scrape: 10 s, cooldown: 20 s, cold_start: 1000 s", "4",
          "100 s");
    card_seconds_are(100 + 90 + 70);
    burst("1", "max: 8, step: 2, signal: queue_length, target: 1, scrape: 10 s, cooldown: 20 s, cold_start: 1000 s",
          "4", "100 s");
    card_seconds_are(100 + 90 + 90 + 70);
    burst("1", "max: 8, step: 8, signal: queue_length, target: 1, scrape: 10 s, cooldown: 20 s, cold_start: 1000 s",
          "4", "100 s");
    card_seconds_are(100 + 90 + 90 + 90);
}
END_TEST

/* With nothing to do it falls to min, by its step: at 10 s and at 40 s. */
START_TEST(least)
{
    run("study: {horizon: 100 s, replications: 1}\n"
        "backends: {card: {kind: slots, servers: 1, service: 1 s, cards: {min: 2, start: 4, max: 5, scrape: 10 s, "
        "cooldown: 30 s}}}\n"
        "agents: {a: {arrivals: all_at(0 s), start: 100 s, runs: 1}}\n");
    card_seconds_are(100 + 100 + 40 + 10);
}
END_TEST

/* Two busy slots are one card's at a target of 2: at 10 s one card drains. Its service is not cut, and who comes at 50
 * s waits for the other. */
START_TEST(draining)
{
    struct starts starts = run(
        "study: {horizon: 250 s, replications: 1}\n"
        "backends: {card: {kind: slots, servers: 1, service: 100 s, cards: {start: 2, max: 2, target: 2, scrape: 10 s, "
        "cooldown: 0 s}}}\n"
        "agents: {a: {arrivals: all_at(0 s), runs: 2}, b: {arrivals: all_at(0 s), start: 50 s, runs: 1}}\n");

    starts_are(&starts, 3, (double[]){0, 0, 100});
    card_seconds_are(250 + 100);
    ck_assert_double_eq_tol(values[METRIC_SERVICE_MEAN], 100, 1e-9);
    ck_assert_double_eq_tol(values[METRIC_UTILISATION], 300 / 350.0,
                            1e-9); /* slots of the one that drains count while busy */
    ck_assert_double_eq_tol(values[METRIC_CARDS_UP], (250 + 10) / 250.0, 1e-9);
}
END_TEST

/* What drains counts towards max: the third call finds no card to be started before 100 s. And while a call waits, none
 * is taken away. */
START_TEST(draining_counts_and_waiting_keeps)
{
    run("study: {horizon: 95 s, replications: 1}\n"
        "backends: {card: {kind: slots, servers: 1, service: 100 s, cards: {start: 2, max: 2, target: 2, scrape: 10 s, "
        "cooldown: 0 s, signal: queue_length}}}\n"
        "agents: {a: {arrivals: all_at(0 s), runs: 2}, b: {arrivals: all_at(0 s), start: 50 s, runs: 5}}\n");
    ck_assert_double_eq(values[METRIC_CARDS_COLD], 0);
    card_seconds_are(2 * 95);
    run("study: {horizon: 95 s, replications: 1}\n"
        "backends: {card: {kind: slots, servers: 1, service: 100 s, cards: {start: 2, max: 2, target: 3, scrape: 10 s, "
        "cooldown: 0 s, signal: queue_length}}}\n"
        "agents: {a: {arrivals: all_at(0 s), runs: 3}}\n");
    ck_assert_double_eq(values[METRIC_CARDS_UP], 2);
}
END_TEST

/* 10 tokens/s and 10 s: a card makes 100. Calls of 50 tokens: with the third one more card starts, at once. */
START_TEST(token_velocity_leads)
{
    static const char yaml[] =
        "study: {horizon: 9 s, replications: 1}\n"
        "backends: {card: {kind: slots, servers: 1, rate: 10 tokens/s, cards: {max: 4, step: %d, signal: "
        "token_velocity, target: %s, scrape: 10 s, cold_start: 2 s}}}\n"
        "agents: {a: {arrivals: all_at(0 s), start: 3 s, runs: %d, output: 50}}\n";
    char text[600];
    struct starts starts;

    snprintf(text, sizeof text, yaml, 1, "1", 2);
    run(text);
    card_seconds_are(9);
    snprintf(text, sizeof text, yaml, 1, "1", 3);
    starts = run(text);
    card_seconds_are(9 + 6);
    starts_are(&starts, 3, (double[]){3, 5, 8});
    snprintf(text, sizeof text, yaml, 4, "1", 5); /* 250 tokens; but at the third call two would do, and the cooldown */
    run(text);
    card_seconds_are(9 + 6);
    snprintf(text, sizeof text, yaml, 4, "0.25", 2); /* 50 tokens want two, and the cooldown holds the rest */
    run(text);
    card_seconds_are(9 + 6);
}
END_TEST

/* A call that has left counts no more: the interval begins anew, and what was started is taken back cold. */
START_TEST(token_velocity_falls)
{
    run("study: {horizon: 100 s, replications: 1}\n"
        "backends: {card: {kind: slots, servers: 4, rate: 10 tokens/s, cards: {max: 4, step: 4, signal: "
        "token_velocity, target: 0.25, scrape: 10 s, cooldown: 15 s, cold_start: 50 s}}}\n"
        "agents: {a: {arrivals: all_at(0 s), start: 3 s, runs: 3, output: 50}}\n");
    /* 100 tokens of 400 are the target; with 150 at 3 s a second card starts, at 20 s nothing has come: it goes. */
    card_seconds_are(100 + 17);
    ck_assert_double_eq(values[METRIC_CARDS_UP], 1);
    ck_assert_double_eq_tol(values[METRIC_CARDS_COLD], 0.17, 1e-9);
}
END_TEST

/* One of three drains when three are wanted, so one can start and not two. And what could not be done is no decision: a
 * card is wanted from 60 s on, and is started as soon as the other has drained. */
START_TEST(most_while_one_drains)
{
    run("study: {horizon: 95 s, replications: 1}\n"
        "backends: {card: {kind: slots, servers: 1, service: 100 s, cards: {start: 3, max: 3, step: 3, target: 2, "
        "scrape: 10 s, cooldown: 0 s, cold_start: 1000 s, signal: queue_length}}}\n"
        "agents: {a: {arrivals: all_at(0 s), runs: 2}, b: {arrivals: all_at(0 s), start: 50 s, runs: 5}}\n");
    card_seconds_are(95 + 95 + 10 + 35);
    run("study: {horizon: 130 s, replications: 1}\n"
        "backends: {card: {kind: slots, servers: 1, service: 100 s, cards: {start: 2, max: 2, target: 2, scrape: 10 s, "
        "cooldown: 0 s, cooldown_up: 45 s, cold_start: 1000 s, signal: queue_length}}}\n"
        "agents: {a: {arrivals: all_at(0 s), runs: 2}, b: {arrivals: all_at(0 s), start: 50 s, runs: 5}}\n");
    card_seconds_are(130 + 100 + 30);
}
END_TEST

/* Writes down the servers and busy ones it is shown. */
static uint64_t shown[8][2];
static size_t shows;

static struct policy_answer looks(struct policy *policy, const struct policy_view *view, struct policy_call *call)
{
    (void)policy;
    (void)call;
    ck_assert(view->busy <= view->servers);
    shown[shows][0] = view->servers;
    shown[shows++][1] = view->busy;
    return policy_admit();
}

static const struct policy_ops watcher = {POLICY_HEADER, .name = "watcher", .summary = "looks", .admit = looks};

/* Policies see the slots of cards that are up, and busy ones of a card that drains, but never one that starts: two
 * cards of two slots, of which one drains from 10 s on until it is empty at 105 s; one that starts at 110 s serves at
 * 140 s. */
START_TEST(what_policies_see)
{
    static const uint64_t expected[6][2] = {{4, 0}, {4, 1}, {3, 2}, {2, 1}, {2, 2}, {4, 2}};
    const struct policy_ops *const policies[] = {&watcher, NULL};
    struct plan plan = model_plan_of("study: {horizon: 190 s, replications: 1}\n"
                                     "backends: {card: {kind: slots, servers: 2, service: 100 s, cards: {start: 2, "
                                     "max: 2, target: 0.5, scrape: 10 s, "
                                     "cooldown: 0 s, cold_start: 30 s}}}\n"
                                     "agents:\n"
                                     "  a: {arrivals: all_at(0 s), start: 5 s, runs: 2}\n"
                                     "  b: {arrivals: all_at(0 s), start: 50 s, runs: 1}\n"
                                     "  c: {arrivals: all_at(0 s), start: 106 s, runs: 2}\n"
                                     "  d: {arrivals: all_at(0 s), start: 155 s, runs: 1}\n"
                                     "policies: [watcher]\n",
                                     policies);

    shows = 0;
    model_trial(&plan, 0, 1, values);
    ck_assert_uint_eq(shows, 6);
    for (size_t i = 0; i < shows; i++)
        ck_assert(shown[i][0] == expected[i][0] && shown[i][1] == expected[i][1]);
    plan_fini(&plan);
}
END_TEST

/* Of what is recorded: names, and one hash that changes with every key. */
START_TEST(gauges_and_hash)
{
    static const char *const keys[] = {"max: 4",
                                       "max: 5",
                                       "max: 4, min: 2",
                                       "max: 4, start: 2",
                                       "max: 4, step: 2",
                                       "max: 4, signal: queue_length",
                                       "max: 4, route: sticky",
                                       "max: 4, scrape: 16 s",
                                       "max: 4, target: 0.71",
                                       "max: 4, cooldown: 61 s",
                                       "max: 4, cooldown_up: 61 s",
                                       "max: 4, cold_start: 20.33 s"};
    enum { KEYS = sizeof keys / sizeof keys[0] };
    uint64_t hashes[KEYS];
    char text[500];

    for (size_t i = 0; i < KEYS; i++) {
        struct arena arena = {0};
        struct plan plan;
        struct gauges gauges;
        size_t seen = 0;

        snprintf(text, sizeof text,
                 "study: {horizon: 100 s, replications: 1}\n"
                 "backends: {card: {kind: slots, servers: 2, rate: 39 tokens/s, cards: {%s}}}\n"
                 "agents: {coder: {population: 24, think: 4 s, output: 354}}\n",
                 keys[i]);
        plan = model_plan(text);
        hashes[i] = plan.hash;
        for (size_t k = 0; k < i; k++)
            ck_assert_msg(hashes[k] != hashes[i], "%s and %s", keys[k], keys[i]);
        gauges = gauges_of(plan.points[0].scenario, &arena);
        for (size_t k = 0; k < gauges.count; k++)
            seen += strncmp(gauges.list[k].name, "cards.", 6) == 0;
        ck_assert_uint_eq(seen, 3);
        arena_free(&arena);
        plan_fini(&plan);
    }
}
END_TEST

Suite *cards_suite(void)
{
    Suite *suite = suite_create("cards");
    TCase *test = tcase_create("cards");

    tcase_add_test(test, cold_start_and_card_hours);
    tcase_add_test(test, decisions_are_told);
    tcase_add_test(test, card_hours_of_the_window);
    tcase_add_test(test, target_exactly_met);
    tcase_add_test(test, step_cooldown_and_most);
    tcase_add_test(test, least);
    tcase_add_test(test, draining);
    tcase_add_test(test, draining_counts_and_waiting_keeps);
    tcase_add_test(test, most_while_one_drains);
    tcase_add_test(test, token_velocity_leads);
    tcase_add_test(test, token_velocity_falls);
    tcase_add_test(test, what_policies_see);
    tcase_add_test(test, gauges_and_hash);
    suite_add_tcase(suite, test);
    return suite;
}
