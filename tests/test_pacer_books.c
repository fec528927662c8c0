/* test_pacer_books.c - the pacer against a second telling of its rules 1 to 8: random lives of agents at one gate,
 * whose line the test keeps by the pacer's ranks as a host does, held against slow books that look at every waiter and
 * every place in flight at each question, in floating point. */
#include <check.h>
#include <math.h>
#include <string.h>

#include "tests/call_bench.h"
#include "tests/client_bench.h"
#include "tests/oracles.h"
#include "tests/suites.h"

enum { AGENTS = 12, EVENTS = 6000 };
enum place { RESTING, HELD, IN_FLIGHT, LOST };

/* What an agent does, and what the books have of its call. */
struct agent {
    struct policy_call *call;
    void *run_state;
    enum place place;
    bool again;          /* the same call, refused at its cap */
    policy_time at, cap; /* of its next event; of its hold */
    int64_t rank;
    uint64_t joined;
    long double est, charge, priority, denied, expires, previous;
    double real, cached;
    bool waits;
};

struct seen {
    uint64_t asks, compared, let_in, refused, oversize, by_axis[3], lost, withdrawn;
};

static struct bench bench;
static struct agent agents[AGENTS];
static struct seen seen;
static uint64_t random_state, joined;
static double draw;
static long double level, requests, kappa, at;

/* The budgets of a life. */
struct life {
    const char *r_tok, *c_burst, *k_inflight, *r_qps, *c_req, *cached_weight;
    long double rate, burst, room, qps, req, weight;
};
static const struct life *life;

static double share(void)
{
    return (double)(oracle_random(&random_state) >> 11) * 0x1p-53;
}

static policy_time span(double seconds)
{
    return (policy_time)(seconds * 1e9);
}

/* The host's line: the head by rank, ties by joining. */
static void show_line(void)
{
    const struct agent *head = NULL;
    for (const struct agent *agent = agents; agent < agents + AGENTS; agent++)
        if (agent->place == HELD &&
            (!head || agent->rank < head->rank || (agent->rank == head->rank && agent->joined < head->joined)))
            head = agent;
    bench.view.held.head = head ? head->call : NULL;
}

/* --- the books --------------------------------------------------------------------------------------------------- */

static void book_time(policy_time now)
{
    long double passed = ((long double)now - at) / 1e9L;
    level = fminl(level + passed * life->rate, life->burst);
    requests = fminl(requests + passed * life->qps, life->req);
    at = (long double)now;
}

static void book_attempt(struct agent *agent)
{
    long double cached;
    agent->est = (long double)agent->call->input_chars / kappa;
    cached = fminl(agent->previous, agent->est);
    agent->charge = agent->est - cached + life->weight * cached;
    seen.oversize += agent->charge > life->burst;
}

static long double in_flight(void)
{
    long double sum = 0;
    for (const struct agent *agent = agents; agent < agents + AGENTS; agent++)
        if (agent->place == IN_FLIGHT && at <= agent->expires)
            sum += agent->est;
    return sum;
}

static const struct agent *first_in_line(void)
{
    const struct agent *first = NULL;
    for (const struct agent *agent = agents; agent < agents + AGENTS; agent++)
        if (agent->waits && (!first || agent->priority < first->priority ||
                             (agent->priority == first->priority && agent->denied < first->denied)))
            first = agent;
    return first;
}

/* The first axis that lacks something, in the order of the rule; -1: none. *close: it hangs on the last digits. */
static int book_decision(const struct agent *agent, long double *hint, bool *close)
{
    const struct agent *head = first_in_line();
    bool behind = head && head != agent;
    long double lack[3];
    lack[0] = fminl(agent->charge + (behind ? head->charge : 0), life->burst) - level;
    lack[1] = (behind ? 2 : 1) - requests;
    lack[2] = in_flight() + fminl(agent->est + (behind ? head->est : 0), life->room) - life->room;
    *close = false;
    for (int i = 0; i < 3; i++) /* exactly 0 is a full bucket, or nobody in flight */
        *close |= lack[i] != 0 && fabsl(lack[i]) < (i == 1 ? 1e-6L : 1e-3L);
    *hint = fminl(fmaxl(fmaxl(0.25L, lack[0] / life->rate), lack[1] / life->qps), 5);
    return lack[0] > 0 ? 0 : lack[1] > 0 ? 1 : lack[2] > 0 ? 2 : -1;
}

/* --- lives ------------------------------------------------------------------------------------------------------- */

static void new_call(struct agent *agent)
{
    agent->real = 1000 + 150e3 * share() * share();
    agent->cached = share() < 0.7 && (double)agent->previous < agent->real ? (double)agent->previous : 0;
    agent->call = bench_call(&bench, 0, 0, 0);
    agent->call->run_state = agent->run_state;
    agent->call->input_chars = agent->real * (3 + 3 * share());
}

static void goes(struct agent *agent, policy_time now)
{
    seen.let_in++;
    ck_assert_int_eq(bench_lets_in(&bench, agent->call, now), 300 * S + 1);
    agent->place = IN_FLIGHT;
    agent->waits = agent->again = false;
    agent->expires = (long double)now + 300e9L;
    level -= agent->charge;
    requests -= 1;
    agent->at = share() < 0.01 ? now + 300 * S + 1 : now + span(1 + 20 * share());
}

static void is_held(struct agent *agent, policy_time now, policy_time after)
{
    if (!agent->waits) {
        agent->waits = true;
        agent->denied = (long double)now;
        agent->priority = (long double)now - agent->charge / life->rate * 1e9L;
    }
    if (agent->place != HELD) {
        agent->place = HELD;
        agent->rank = bench.ops->rank(&bench.self, &bench.view, agent->call, true);
        agent->joined = ++joined;
        ck_assert_msg(fabsl((long double)agent->rank - agent->priority) < 1e3L, "rank %lld, expected %Lf",
                      (long long)agent->rank, agent->priority);
    }
    agent->call->last = now + after >= agent->cap;
    agent->at = agent->call->last && agent->cap > now ? agent->cap : now + after;
}

static void is_refused(struct agent *agent, policy_time now)
{
    seen.refused++;
    agent->place = RESTING;
    agent->waits = false;
    agent->again = share() < 0.5;
    agent->at = now + 30 * S;
}

static struct policy_answer its_question(struct agent *agent, policy_time now)
{
    if (agent->place == HELD)
        return bench_asks_again(&bench, agent->call, now);
    agent->cap = now + 15 * S;
    return bench_attempts(&bench, agent->call, now);
}

static void asks(struct agent *agent, policy_time now)
{
    static const char *const axes[] = {"tokens", "requests", "in_flight"};
    struct policy_answer answer;
    long double hint;
    bool close;
    int axis;
    if (agent->place == RESTING) {
        if (!agent->again)
            new_call(agent);
        book_attempt(agent);
    }
    draw = share();
    client_draws(draw);
    show_line();
    axis = book_decision(agent, &hint, &close);
    answer = its_question(agent, now);
    seen.asks++;
    seen.compared += !close;
    if (!close)
        ck_assert_msg((answer.action == POLICY_ADMIT) == (axis < 0), "at %.9f: %s, expected %s", (double)now / S,
                      answer.action == POLICY_ADMIT ? "goes" : answer.reason, axis < 0 ? "goes" : axes[axis]);
    if (answer.action == POLICY_ADMIT) {
        goes(agent, now);
        return;
    }
    if (!close) {
        ck_assert_str_eq(answer.reason, axes[axis]);
        seen.by_axis[axis]++;
    }
    if (agent->call->last) {
        ck_assert_int_eq(answer.action, POLICY_DEFER);
        ck_assert_int_eq(answer.after, 30 * S);
        is_refused(agent, now);
        return;
    }
    ck_assert_int_eq(answer.action, POLICY_HOLD);
    if (!close)
        ck_assert_msg(fabsl((long double)answer.after - hint * (0.75L + 0.5L * draw) * 1e9L) < 1e3L,
                      "at %.9f: held for %lld ns, expected %Lf s x %g", (double)now / S, (long long)answer.after, hint,
                      0.75 + 0.5 * draw);
    is_held(agent, now, answer.after);
}

static void ends(struct agent *agent, policy_time now)
{
    static const enum policy_end without_counts[] = {POLICY_ERROR, POLICY_TIMEOUT, POLICY_ABANDONED};
    long double real = agent->real, cached = agent->cached;
    if ((long double)now > agent->expires) { /* its shim has died */
        bench_ends(&bench, agent->call, now, POLICY_EXPIRED);
        seen.lost++;
    } else if (share() < 0.8) {
        bench_ends_with(&bench, agent->call, now, POLICY_DONE, agent->real, agent->cached, 100);
        level = fminl(level + agent->charge - (real - cached + life->weight * cached), life->burst);
        kappa = fminl(fmaxl(0.95L * kappa + 0.05L * (long double)agent->call->input_chars / real, 2), 8);
        agent->previous = real;
    } else {
        bench_ends(&bench, agent->call, now, without_counts[oracle_random(&random_state) % 3]);
    }
    agent->place = RESTING;
    agent->at = now + span(8 * share());
}

static void event_of(struct agent *agent)
{
    policy_time now = agent->at;
    book_time(now);
    if (agent->place == IN_FLIGHT) {
        ends(agent, now);
    } else if (agent->place == HELD && share() < 0.02) {
        bench_ends(&bench, agent->call, now, POLICY_ABANDONED);
        agent->place = RESTING;
        agent->waits = false;
        agent->at = now + S;
        seen.withdrawn++;
    } else {
        asks(agent, now);
    }
    bench_refreshes(&bench, now);
    ck_assert_msg(fabsl((long double)bench_gauge(&bench, "level_tok") - level) < 1e-3L, "level %.9g, expected %.9Lg",
                  bench_gauge(&bench, "level_tok"), level);
    ck_assert(fabsl((long double)bench_gauge(&bench, "in_flight") - in_flight()) < 1e-3L);
    ck_assert(fabsl((long double)bench_gauge(&bench, "kappa") - kappa) < 1e-9L);
}

static void live(const struct life *of, uint64_t seed)
{
    life = of;
    random_state = seed;
    bench = bench_of("pacer", "r_tok", of->r_tok, "c_burst", of->c_burst, "k_inflight", of->k_inflight, "r_qps",
                     of->r_qps, "c_req", of->c_req, "cached_weight", of->cached_weight, NULL);
    client_init(&bench);
    bench_begins(&bench);
    memset(agents, 0, sizeof agents);
    level = of->burst;
    requests = of->req;
    kappa = 4.89L;
    at = 0;
    for (struct agent *agent = agents; agent < agents + AGENTS; agent++) {
        agent->run_state = arena_zeroed(&bench.arena, 1, bench.ops->run_size);
        agent->at = span(5 * share());
    }
    for (int i = 0; i < EVENTS; i++) {
        struct agent *next = agents;
        for (struct agent *agent = agents; agent < agents + AGENTS; agent++)
            if (agent->at < next->at)
                next = agent;
        event_of(next);
    }
    bench_free(&bench);
}

/* Budgets that bind one by one and together, also such that many calls are larger than the bucket. */
START_TEST(every_decision_by_the_books)
{
    static const struct life lives[] = {
        {"20k tokens/s", "500k", "1M", "1.5/s", "30", "1", 20e3L, 500e3L, 1e6L, 1.5L, 30, 1},
        {"20k tokens/s", "60k", "200k", "1.5/s", "30", "0.1", 20e3L, 60e3L, 200e3L, 1.5L, 30, 0.1L},
        {"100k tokens/s", "1M", "150k", "2/s", "3", "1", 100e3L, 1e6L, 150e3L, 2, 3, 1},
        {"40k tokens/s", "400k", "inf", "0.5/s", "2", "0.5", 40e3L, 400e3L, 1e18L, 0.5L, 2, 0.5L},
        {"30k tokens/s", "90k", "300k", "0.7/s", "1", "0.05", 30e3L, 90e3L, 300e3L, 0.7L, 1, 0.05L},
    };
    for (size_t i = 0; i < sizeof lives / sizeof *lives; i++)
        for (uint64_t seed = 1; seed <= 4; seed++)
            live(&lives[i], 10 * i + seed);
    ck_assert_msg(seen.compared > seen.asks / 100 * 98, "%llu of %llu", (unsigned long long)seen.compared,
                  (unsigned long long)seen.asks);
    for (int axis = 0; axis < 3; axis++)
        ck_assert_uint_gt(seen.by_axis[axis], 1000);
    ck_assert_uint_gt(seen.let_in, 10000);
    ck_assert_uint_gt(seen.oversize, 100);
    ck_assert_uint_gt(seen.refused, 100);
    ck_assert_uint_gt(seen.withdrawn, 100);
    ck_assert_uint_gt(seen.lost, 50);
}
END_TEST

Suite *pacer_books_suite(void)
{
    Suite *suite = suite_create("pacer_books");
    TCase *test = tcase_create("books");
    tcase_add_test(test, every_decision_by_the_books);
    suite_add_tcase(suite, test);
    return suite;
}
