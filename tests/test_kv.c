/* A card with a memory, worked out by hand: contexts that wait for room, stay warm, and go cold. */
#include <check.h>
#include <math.h>
#include <stdio.h>

#include "tests/suites.h"
#include "tests/timeline.h"

/* Two turns each: 40 tokens in and 10 out, then 50 in (40 of them known) and 10 out; a whole context is 50, then 60.
 * A slot reads and writes 10 tokens/s: 5 s for the first turn, then 2 s warm and 6 s cold. Pauses of 1 s. */
static void runs(int kv, const char *starts, double cold_share)
{
    char yaml[512];
    struct timeline t;

    snprintf(yaml, sizeof yaml,
             "study: {until: done}\n"
             "backends: {b: {kind: slots, servers: 3, rate: 10 tokens/s, kv: %d tokens, prefill: 10 tokens/s}}\n"
             "agents: {a: {arrivals: all_at(0 s), runs: 3, turns: 2, think: 1 s, output: 10,\n"
             "             input: {start: 40, per_turn: 10}}}\n",
             kv);
    timeline_expect(yaml, NULL, starts, &t);
    EXPECT_ROW(&t, 0, {METRIC_COLD_SHARE, cold_share});
}

START_TEST(contexts_compete)
{
    /* All three fit, at 150 and then 180: the second turns are warm. */
    runs(200, "a0@0 a1@0 a2@0 a0.1@6 a1.1@6 a2.1@6", 0.5);
    /* Two at once: 2 waits till 5 and takes the place of 0's context; each second turn finds its own gone. */
    runs(100, "a0@0 a1@0 a2@5 a0.1@10 a1.1@16 a2.1@22", 1);
    /* 2 takes 0's place at 5; 0 is back at 6 and takes 1's; 1 follows at 10 in place of 2, and 2 at 12. */
    runs(120, "a0@0 a1@0 a2@5 a0.1@6 a1.1@10 a2.1@12", 1);
}
END_TEST

/* Nobody overtakes the head of the line, though its own context would fit: `big` waits for `first`, `small` for `big`.
 */
START_TEST(nobody_overtakes)
{
    struct timeline t;

    timeline_expect("study: {until: done}\nbackends: {b: {kind: slots, servers: 3, rate: 10 tokens/s, kv: 100}}\n"
                    "agents:\n  first: {arrivals: all_at(0 s), runs: 1, output: 50}\n"
                    "  big: {arrivals: all_at(1 s), runs: 1, output: 90}\n"
                    "  small: {arrivals: all_at(2 s), runs: 1, output: 10}\n",
                    NULL, "first0@0 big0@5 small0@5", &t);
    EXPECT_ROW(&t, 0, {METRIC_UTILISATION, 15 / 3.0 / 14}, {METRIC_MAKESPAN, 14});
}
END_TEST

/* Who joins ahead of a head that lacks memory is served at once: `small` goes before `big` under last come, first
 * served, and by its priority. */
START_TEST(a_new_head_that_fits)
{
    static const char *const policies[] = {"lifo", "by_priority"};
    char yaml[1024];
    struct timeline t;

    snprintf(yaml, sizeof yaml,
             "study: {until: done}\nbackends: {b: {kind: slots, servers: 3, rate: 10 tokens/s, kv: 100}}\n"
             "agents:\n  first: {arrivals: all_at(0 s), runs: 1, output: 50}\n"
             "  big: {arrivals: all_at(1 s), runs: 1, output: 90}\n"
             "  small: {arrivals: all_at(2 s), runs: 1, output: 10, priority: 5}\npolicies: [%s]\n",
             policies[_i]);
    timeline_expect(yaml, NULL, "first0@0 small0@2 big0@5", &t);
}
END_TEST

/* A head that gives up lets the next one in at once, with a server idle all the while. */
START_TEST(a_head_that_leaves)
{
    struct timeline t;

    timeline_expect("study: {until: done}\nbackends: {b: {kind: slots, servers: 3, rate: 10 tokens/s, kv: 100}}\n"
                    "agents:\n  first: {arrivals: all_at(0 s), runs: 1, output: 50}\n"
                    "  big: {arrivals: all_at(1 s), runs: 1, output: 90, client: {timeout: 2 s, attempts: 1}}\n"
                    "  small: {arrivals: all_at(2 s), runs: 1, output: 10}\n",
                    NULL, "first0@0 small0@3", &t);
}
END_TEST

/* A call larger than the memory takes all of it: the third turn of a context of 60, 100 and 140 tokens runs alone. */
START_TEST(larger_than_the_memory)
{
    struct timeline t;

    timeline_expect(
        "study: {until: done}\nbackends: {b: {kind: slots, servers: 3, rate: 10 tokens/s, kv: 110}}\n"
        "agents:\n"
        "  a: {arrivals: all_at(0 s), runs: 1, turns: 3, think: 0 s, output: 10, input: {start: 50, per_turn: 40}}\n"
        "  b: {arrivals: all_at(2.5 s), runs: 1, output: 20}\n",
        NULL, "a0@0 a0.1@1 a0.2@2 b0@3", &t);
}
END_TEST

/* A client that leaves after 2 s: the slot works on, its context is nobody's, so the second attempt is cold and waits
 * for the memory that the first still holds, until 5. */
START_TEST(the_dead_keep_their_memory)
{
    struct timeline t;

    timeline_expect("study: {until: done}\n"
                    "backends: {b: {kind: slots, servers: 3, rate: 10 tokens/s, kv: 90, prefill: 10 tokens/s}}\n"
                    "agents: {a: {arrivals: all_at(0 s), runs: 1, turns: 1, output: 10, input: {start: 40},\n"
                    "        client: {timeout: 4.5 s, base: 100 ms, backoff: constant, jitter: none, attempts: 2}}}\n",
                    NULL, "a0@0 a0@5#2", &t);
    EXPECT_ROW(&t, 0, {METRIC_COLD_SHARE, 1}, {METRIC_WAIT_MEAN, 0.4 / 2}, {METRIC_LOST_TURNS, 3600 / 9.1});
}
END_TEST

/* A second attempt reads once more, and for no longer than the first: the client leaves at 6, having been served from
 * 2.5 on, and is back at 9 for 4 s and 1 s. */
START_TEST(a_second_attempt_reads_again)
{
    struct timeline t;

    timeline_expect("study: {until: done}\n"
                    "backends: {b: {kind: slots, servers: 1, rate: 10 tokens/s, prefill: 10 tokens/s}}\n"
                    "agents:\n  o: {arrivals: all_at(0 s), runs: 1, output: 25}\n"
                    "  a: {arrivals: all_at(0 s), runs: 1, output: 10, input: {start: 40},\n"
                    "      client: {timeout: 6 s, base: 3 s, backoff: constant, jitter: none, attempts: 2}}\n",
                    NULL, "o0@0 a0@2.5 a0@9#2", &t);
    EXPECT_ROW(&t, 0, {METRIC_LOST_TURNS, 0}, {METRIC_MAKESPAN, 14});
}
END_TEST

/* Reading takes its time where speed depends on how many are busy: two calls read for 4 s, then write 10 tokens at 0.1
 * + 2 x 0.05 s each, until 6; the third writes alone, at 0.15 s a token, until 7.5. Ends are rounded up to the ns. */
START_TEST(prefill_beside_a_shared_speed)
{
    struct timeline t;

    timeline_expect("study: {until: done}\n"
                    "backends: {b: {kind: slots, servers: 2, step_time: {base: 100 ms, per_busy_slot: 50 ms}, prefill: "
                    "10 tokens/s}}\n"
                    "agents: {a: {arrivals: all_at(0 s), runs: 2, output: 10, input: {start: 40}},\n"
                    "         c: {arrivals: all_at(1 s), runs: 1, output: 10}}\n",
                    NULL, "a0@0 a1@0 c0@6", &t);
    EXPECT_ROW(&t, 0, {METRIC_MAKESPAN, 7.500000001});
}
END_TEST

Suite *kv_suite(void)
{
    Suite *suite = suite_create("kv");
    TCase *test = tcase_create("kv");

    tcase_add_test(test, contexts_compete);
    tcase_add_test(test, nobody_overtakes);
    tcase_add_loop_test(test, a_new_head_that_fits, 0, 2);
    tcase_add_test(test, a_head_that_leaves);
    tcase_add_test(test, larger_than_the_memory);
    tcase_add_test(test, the_dead_keep_their_memory);
    tcase_add_test(test, a_second_attempt_reads_again);
    tcase_add_test(test, prefill_beside_a_shared_speed);
    suite_add_tcase(suite, test);
    return suite;
}
