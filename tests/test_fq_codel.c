/* test_fq_codel.c - fq_codel on the bench: rounds worked by hand, a second telling of them, its CoDels and its limit.
 */
#include <check.h>

#include "tests/line_bench.h"
#include "tests/oracles.h"
#include "tests/suites.h"

/* Nobody is shed for waiting. */
static struct bench rounds_of(const char *quantum)
{
    return bench_of("fq_codel", "quantum", quantum, "target", "inf", "interval", "inf", NULL);
}

static void expect_taken(struct line *line, policy_time now, uint32_t owner, size_t shed)
{
    struct policy_call *call = line_takes(line, now);
    ck_assert_ptr_nonnull(call);
    ck_assert_uint_eq(call->agent, owner);
    ck_assert_uint_eq(line->shed, shed);
}

/* A turn lasts while the deficit is above 0, so a call may take it below; then comes the next flow. */
START_TEST(rounds_by_hand)
{
    struct bench bench = rounds_of("100");
    struct line line = line_of(&bench);
    for (int i = 0; i < 4; i++)
        line_joins(&line, 0, 60, 0);
    for (int i = 0; i < 2; i++)
        line_joins(&line, 1, 150, 0);
    for (int i = 0; i < 5; i++)
        line_joins(&line, 2, 30, 0);
    ck_assert_str_eq(line_order(&line, S), "00122220012");
    /* Flow 1 is still an old one, and owes; flow 3 is new. */
    line_joins(&line, 1, 150, 50 * S);
    line_joins(&line, 3, 40, 50 * S);
    ck_assert_str_eq(line_order(&line, 51 * S), "31");
    ck_assert_double_eq(bench_gauge(&bench, "new_flows"), 4);
    bench_free(&bench);
}
END_TEST

/* A new flow that is found empty has to wait for its turn among the old ones, so that it cannot be new again at once.
 */
START_TEST(who_comes_and_goes_stays_in_the_round)
{
    struct bench bench = rounds_of("100");
    struct line line = line_of(&bench);
    for (int i = 0; i < 3; i++)
        line_joins(&line, 0, 100, 0);
    for (int i = 0; i < 3; i++)
        line_joins(&line, 2, 100, 0);
    expect_taken(&line, S, 0, 0);
    line_joins(&line, 1, 10, S);
    expect_taken(&line, 2 * S, 2, 0);
    expect_taken(&line, 3 * S, 1, 0);
    expect_taken(&line, 4 * S, 0, 0);
    line_joins(&line, 1, 10, 4 * S);
    expect_taken(&line, 5 * S, 2, 0);
    expect_taken(&line, 6 * S, 1, 0);
    ck_assert_double_eq(bench_gauge(&bench, "new_flows"), 3);
    bench_free(&bench);
}
END_TEST

/* Who finds a server free finds nobody in line: the last round is over, nobody owes. */
START_TEST(a_round_ends_with_the_line)
{
    struct bench bench = rounds_of("100");
    struct line line = line_of(&bench);
    line_joins(&line, 0, 900, 0);
    line_joins(&line, 1, 10, 0);
    ck_assert_str_eq(line_order(&line, S), "01");
    line_served_at_once(&line, 2, 10, 50 * S);
    line_joins(&line, 0, 10, 51 * S);
    line_joins(&line, 1, 10, 51 * S);
    ck_assert_str_eq(line_order(&line, 52 * S), "01");
    bench_free(&bench);
}
END_TEST

/* A debt of 10^12 rounds is worked off at once. */
START_TEST(deep_in_debt)
{
    struct bench bench = rounds_of("1");
    struct line line = line_of(&bench);
    for (int i = 0; i < 2; i++)
        line_joins(&line, 0, 1e12, 0);
    for (int i = 0; i < 4; i++)
        line_joins(&line, 1, 5e11, 0);
    ck_assert_str_eq(line_order(&line, S), "011011");
    bench_free(&bench);
}
END_TEST

/* --- a second telling -------------------------------------------------------------------------------------------- */

enum { FLOWS = 6, LIST_MOST = 2 * FLOWS };

struct told {
    int lists[2][LIST_MOST]; /* new, old */
    size_t lengths[2];
    int64_t deficits[FLOWS];
};

static void put(struct told *told, int list, int flow)
{
    ck_assert(told->lengths[list] < LIST_MOST);
    told->lists[list][told->lengths[list]++] = flow;
}

static int get(struct told *told, int list)
{
    int flow = told->lists[list][0];
    told->lengths[list]--;
    for (size_t i = 0; i < told->lengths[list]; i++)
        told->lists[list][i] = told->lists[list][i + 1];
    return flow;
}

static void told_joins(struct told *told, int flow, int64_t quantum)
{
    for (int list = 0; list < 2; list++)
        for (size_t i = 0; i < told->lengths[list]; i++)
            if (told->lists[list][i] == flow)
                return;
    told->deficits[flow] = quantum;
    put(told, 0, flow);
}

/* RFC 8290, section 4.2, one step after the other. */
static int told_takes(struct told *told, int64_t quantum, const uint64_t *waiting)
{
    for (;;) {
        int list = told->lengths[0] > 0 ? 0 : 1, flow;
        ck_assert(told->lengths[list] > 0);
        flow = get(told, list);
        if (told->deficits[flow] <= 0) {
            told->deficits[flow] += quantum;
            put(told, 1, flow);
        } else if (waiting[flow] > 0) {
            for (size_t i = told->lengths[list]++; i > 0; i--)
                told->lists[list][i] = told->lists[list][i - 1];
            told->lists[list][0] = flow;
            return flow;
        } else if (list == 0 && told->lengths[1] > 0) {
            put(told, 1, flow);
        }
    }
}

/* In random lives, with calls that give up in line. */
START_TEST(rounds_twice_told)
{
    static const char *const quanta[] = {"1", "100", "1000"};
    int64_t quantum = (const int64_t[]){1, 100, 1000}[_i];
    struct bench bench = bench_of("fq_codel", "quantum", quanta[_i], "target", "inf", "by", "tenant", NULL);
    struct line line = line_of(&bench);
    struct told told = {0};
    uint64_t random = 77 + (uint64_t)_i, taken = 0, left = 0;
    for (policy_time now = 1; now < 20000; now++) {
        uint64_t word = oracle_random(&random), what = word % 8;
        if (what < 4 && line.count < LINE_MOST) {
            uint32_t flow = word >> 8 & 1 ? 0 : (uint32_t)(word >> 16) % FLOWS;
            line_joins(&line, flow, (double)((word >> 32) % 400), now);
            told_joins(&told, (int)flow, quantum);
        } else if (what == 4 && line.count > 0) {
            line_ends(&line, line.calls[(word >> 16) % line.count], now, POLICY_TIMEOUT);
            left++;
        } else if (line.count > 0) {
            int flow = told_takes(&told, quantum, line.waiting_in_flow);
            struct policy_call *call = line_takes(&line, now);
            ck_assert_int_eq((int)call->tenant, flow);
            told.deficits[flow] -= (int64_t)call->output_tokens;
            taken++;
        }
    }
    ck_assert(taken > 5000 && left > 1000);
    bench_free(&bench);
}
END_TEST

/* --- CoDel in each flow ------------------------------------------------------------------------------------------ */

static struct bench shedding(const char *limit, const char *batch)
{
    return bench_of("fq_codel", "meter", "requests", "quantum", "1", "target", "8 s", "interval", "15 s", "limit",
                    limit, "batch", batch, NULL);
}

/* Flow 0 has waited for too long since 10 s, flow 1 has not: at 25 s only flow 0 is shed, once. */
START_TEST(only_the_flow_that_stands_is_shed)
{
    struct bench bench = shedding("inf", "64");
    struct line line = line_of(&bench);
    for (int i = 0; i < 10; i++)
        line_joins(&line, 0, 1, 0);
    expect_taken(&line, 10 * S, 0, 0);
    line_joins(&line, 1, 1, 10 * S);
    expect_taken(&line, 11 * S, 1, 0);
    line_joins(&line, 1, 1, 24 * S);
    expect_taken(&line, 25 * S, 0, 1);
    expect_taken(&line, 26 * S, 1, 0);
    ck_assert_double_eq(bench_gauge(&bench, "shed_codel"), 1);
    ck_assert_double_eq(bench_gauge(&bench, "sojourn"), 2);
    expect_taken(&line, 40 * S - 1, 0, 0); /* the second: 15 s after the first */
    expect_taken(&line, 40 * S, 0, 1);
    bench_free(&bench);
}
END_TEST

/* The last of its flow may be shed while others wait, the last in line may not. */
START_TEST(the_last_in_line_is_served)
{
    for (int others = 0; others < 2; others++) {
        struct bench bench = shedding("inf", "64");
        struct line line = line_of(&bench);
        line_joins(&line, 0, 1, 0);
        line_joins(&line, 0, 1, 0);
        expect_taken(&line, 10 * S, 0, 0);
        for (int i = 0; others && i < 2; i++)
            line_joins(&line, 1, 1, 29 * S);
        if (others)
            expect_taken(&line, 29 * S, 1, 0);
        expect_taken(&line, 30 * S, others ? 1 : 0, (size_t)others);
        bench_free(&bench);
    }
}
END_TEST

/* A flow that its turn finds empty, or whose line was left, begins anew. */
START_TEST(an_empty_flow_is_forgiven)
{
    for (int way = 0; way < 4; way++) {
        struct bench bench = shedding("inf", "64");
        struct line line = line_of(&bench);
        struct policy_call *last;
        line_joins(&line, 0, 1, 0);
        last = line_joins(&line, 0, 1, 0);
        for (int i = 0; way == 1 && i < 4; i++)
            line_joins(&line, 1, 1, 9 * S);
        expect_taken(&line, 10 * S, 0, 0); /* the timer runs */
        if (way > 0)
            line_ends(&line, last, 11 * S, POLICY_TIMEOUT);
        for (int i = 0; way == 1 && i < 2; i++)
            expect_taken(&line, 12 * S, 1, 0);
        if (way == 2)
            line_served_at_once(&line, 1, 1, 12 * S);
        line_joins(&line, 0, 1, 15 * S); /* way 3: finds the line empty */
        line_joins(&line, 0, 1, 15 * S);
        line_joins(&line, 0, 1, 15 * S);
        expect_taken(&line, 30 * S, 0, way == 0);
        bench_free(&bench);
    }
}
END_TEST

/* --- limit and batch --------------------------------------------------------------------------------------------- */

/* Of 8 calls 4 may wait: twice the flow with most loses its oldest, half of them and at most 2. */
START_TEST(the_fattest_flow_is_cut)
{
    struct bench bench = shedding("4", "2");
    struct line line = line_of(&bench);
    struct policy_call *last = NULL;
    for (int i = 0; i < 3; i++)
        line_joins(&line, 1, 1, 0);
    for (int i = 0; i < 5; i++)
        last = line_joins(&line, 0, 1, 0);
    expect_taken(&line, S, 1, 4);
    ck_assert_double_eq(bench_gauge(&bench, "shed_limit"), 4);
    expect_taken(&line, S, 0, 0);
    ck_assert_int_ne(last->started, POLICY_NONE); /* the newest was spared */
    expect_taken(&line, S, 1, 0);
    bench_free(&bench);
}
END_TEST

START_TEST(half_of_a_flow_or_a_batch)
{
    static const size_t batches[] = {64, 10, 9, 1}, shed[] = {10, 10, 9, 4};
    static const char *const texts[] = {"64", "10", "9", "1"};
    for (size_t k = 0; k < 4; k++) {
        struct bench bench = shedding("16", texts[k]);
        struct line line = line_of(&bench);
        for (int i = 0; i < 20; i++)
            line_joins(&line, 0, 1, 0);
        expect_taken(&line, S, 0, shed[k]); /* by ones until 16 are left */
        ck_assert(shed[k] <= batches[k] || batches[k] == 1);
        bench_free(&bench);
    }
}
END_TEST

/* What it lost counts for the flow's CoDel: the second drop comes 15 s / sqrt(4) after the first. */
START_TEST(a_cut_warns_the_flow)
{
    struct bench bench = shedding("16", "4");
    struct line line = line_of(&bench);
    for (int i = 0; i < 20; i++)
        line_joins(&line, 0, 1, 0);
    expect_taken(&line, 10 * S, 0, 4);
    expect_taken(&line, 25 * S, 0, 1);
    expect_taken(&line, 32500 * MS - 1, 0, 0);
    expect_taken(&line, 32500 * MS, 0, 1);
    bench_free(&bench);
}
END_TEST

/* --- who is a flow ------------------------------------------------------------------------------------------------ */

START_TEST(flows_are_agents_tenants_or_classes)
{
    static const char *const by[] = {"agent", "tenant", "class"};
    for (size_t k = 0; k < 3; k++) {
        struct bench bench = bench_of("fq_codel", "by", by[k], NULL);
        struct line line = line_of(&bench);
        struct policy_call *call = line_call(&line, 0, 0, 1);
        uint32_t *number = k == 0 ? &call->agent : k == 1 ? &call->tenant : &call->klass, first, second, beyond;
        first = bench.ops->flow(&bench.self, &bench.view, call);
        *number += 1;
        second = bench.ops->flow(&bench.self, &bench.view, call);
        *number += 1023;
        beyond = bench.ops->flow(&bench.self, &bench.view, call);
        ck_assert(first < 1024 && second < 1024 && first != second);
        ck_assert_uint_eq(beyond, first);
        call->klass++; /* an agent of another class */
        ck_assert((k != 1) == (bench.ops->flow(&bench.self, &bench.view, call) != first));
        bench_free(&bench);
    }
}
END_TEST

/* One copy at two gates cannot tell their flows apart; it still picks a flow that has a call. */
START_TEST(a_flow_that_it_never_saw_is_served)
{
    struct bench bench = rounds_of("100");
    uint64_t waiting[LINE_FLOWS] = {[7] = 1, [9] = 3};
    bool newest = false;
    bench.view.waiting.calls = 4;
    ck_assert_uint_eq(bench.ops->pick(&bench.self, &bench.view, waiting, &newest), 9);
    bench_free(&bench);
}
END_TEST

START_TEST(the_published_values)
{
    struct bench initial = bench_of("fq_codel", NULL), written = bench_of("fq_codel", NULL);
    ck_assert_str_eq(initial.ops->presets[0].name, "published");
    ck_assert_uint_eq(initial.ops->flows, 1024);
    for (const char *const *setting = initial.ops->presets[0].settings; setting[0]; setting += 2)
        bench_set(&written, setting[0], setting[1]);
    ck_assert_mem_eq(initial.params, written.params, written.ops->params_size);
    bench_free(&initial);
    bench_free(&written);
}
END_TEST

Suite *fq_codel_suite(void)
{
    Suite *suite = suite_create("fq_codel");
    TCase *test = tcase_create("fq_codel");
    tcase_add_test(test, rounds_by_hand);
    tcase_add_test(test, who_comes_and_goes_stays_in_the_round);
    tcase_add_test(test, a_round_ends_with_the_line);
    tcase_add_test(test, deep_in_debt);
    tcase_add_loop_test(test, rounds_twice_told, 0, 3);
    tcase_add_test(test, only_the_flow_that_stands_is_shed);
    tcase_add_test(test, the_last_in_line_is_served);
    tcase_add_test(test, an_empty_flow_is_forgiven);
    tcase_add_test(test, the_fattest_flow_is_cut);
    tcase_add_test(test, half_of_a_flow_or_a_batch);
    tcase_add_test(test, a_cut_warns_the_flow);
    tcase_add_test(test, flows_are_agents_tenants_or_classes);
    tcase_add_test(test, a_flow_that_it_never_saw_is_served);
    tcase_add_test(test, the_published_values);
    suite_add_tcase(suite, test);
    return suite;
}
