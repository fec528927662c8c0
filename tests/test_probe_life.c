/* test_probe_life.c - what a policy is asked when it is tried: everything, as one that keeps books says, and a metered
 * pool. */
#include <check.h>

#include "sim/cli/probe.h"
#include "sim/cli/rig.h"
#include "tests/program.h"
#include "tests/suites.h"

static struct arena arena;

static void begin(void)
{
    arena = (struct arena){0};
}

static void end(void)
{
    arena_free(&arena);
}

static const char *edges(const struct setting *setting)
{
    char *fault = arena_zeroed(&arena, 1, RIG_FAULT);
    return rig_edges(setting, fault) ? NULL : fault;
}

struct tally {
    unsigned asked[POLICY_REJECT + 1]; /* verdicts of the gate */
    unsigned last, again, expired, ended[POLICY_EXPIRED + 1], ticks, refused, runs;
    unsigned runs_admitted, runs_refused, refreshed;
};

/* A policy that answers by its own stream and counts what it is asked. */
static struct tally *tally_of(const struct policy *self)
{
    return self->stats;
}

static policy_time life_wait(struct policy *self)
{
    return POLICY_SECOND + (policy_time)(self->host->uniform(self) * 3e9);
}

static struct policy_answer any_admit(struct policy *self, const struct policy_view *view, struct policy_call *call)
{
    double u = self->host->uniform(self);
    enum policy_action action = u < 0.2                              ? POLICY_HOLD
                                : u < 0.3                            ? POLICY_DEFER
                                : u < 0.33                           ? POLICY_REJECT
                                : u < 0.6 && view->waiting.calls > 0 ? POLICY_DISPLACE
                                                                     : POLICY_ADMIT;
    tally_of(self)->last += call->last;
    tally_of(self)->asked[action]++;
    return (struct policy_answer){action, life_wait(self), "any"};
}

static policy_time any_admitted(struct policy *self, const struct policy_view *view, struct policy_call *call)
{
    (void)view, (void)call;
    return self->host->uniform(self) < 0.2 ? life_wait(self) : 0;
}

static void any_refused(struct policy *self, const struct policy_view *view, struct policy_call *call,
                        const struct policy_answer *answer)
{
    (void)view, (void)call, (void)answer;
    tally_of(self)->refused++;
}

static struct policy_answer any_start(struct policy *self, const struct policy_view *view, struct policy_call *call)
{
    (void)view, (void)call;
    return self->host->uniform(self) < 0.1 ? policy_defer(POLICY_NONE, "any") : policy_admit();
}

static policy_time any_finish(struct policy *self, const struct policy_view *view, struct policy_call *call,
                              const struct policy_outcome *outcome)
{
    (void)view, (void)call;
    tally_of(self)->ended[outcome->end]++;
    if (outcome->end < POLICY_SHED || outcome->end > POLICY_ERROR || self->host->uniform(self) < 0.5)
        return POLICY_NONE;
    tally_of(self)->again++;
    return life_wait(self);
}

static policy_time any_tick(struct policy *self, const struct policy_view *view)
{
    tally_of(self)->ticks++;
    return view->now + 5 * POLICY_SECOND;
}

static void any_run_finish(struct policy *self, const struct policy_view *view, struct policy_run *run, bool done)
{
    (void)view, (void)run, (void)done;
    tally_of(self)->runs++;
}

static void any_run_admitted(struct policy *self, const struct policy_view *view, struct policy_run *run)
{
    (void)view, (void)run;
    tally_of(self)->runs_admitted++;
}

static void any_run_refused(struct policy *self, const struct policy_view *view, struct policy_run *run,
                            const struct policy_answer *answer)
{
    (void)view, (void)run;
    ck_assert_int_ne(answer->action, POLICY_ADMIT);
    tally_of(self)->runs_refused++;
}

static void any_refresh(struct policy *self, policy_time now)
{
    (void)now;
    tally_of(self)->refreshed++;
}

static const struct policy_ops any = {
    POLICY_HEADER,
    .name = "any",
    .summary = "answers anything",
    .stats_size = sizeof(struct tally),
    .admit = any_admit,
    .admitted = any_admitted,
    .refused = any_refused,
    .start = any_start,
    .finish = any_finish,
    .tick = any_tick,
    .refresh = any_refresh,
    .run_admitted = any_run_admitted,
    .run_refused = any_run_refused,
    .run_finish = any_run_finish,
};

START_TEST(a_life_has_everything_in_it)
{
    const struct setting setting = {.ops = &any, .text = "", .scope = SCOPE_GATE};
    struct rig rig;
    const struct tally *tally;
    rig_init(&rig, &setting, 7);
    for (int i = 0; i < 4000; i++)
        rig_step(&rig);
    tally = tally_of(&rig.policy);
    ck_assert_str_eq(rig.fault, "");
    for (int i = 0; i <= POLICY_REJECT; i++)
        ck_assert_msg(tally->asked[i] > 10, "verdict %d: %u", i, tally->asked[i]);
    for (int i = 0; i <= POLICY_EXPIRED; i++)
        ck_assert_msg(tally->ended[i] > 5, "end %d: %u", i, tally->ended[i]);
    ck_assert(tally->last > 10 && tally->again > 10 && tally->ticks > 100 && tally->refused > 50 && tally->runs > 50);
    ck_assert(tally->runs_admitted >= tally->runs && tally->runs_refused > 10 && tally->refreshed > 100);
    rig_fini(&rig);
    ck_assert_ptr_null(edges(&setting));
    ck_assert_ptr_null(probe_equal_answers(&setting, &arena));
}
END_TEST

/* At a metered pool there is no server and no line, and a call is in service at once. */
static struct policy_answer pool_start(struct policy *self, const struct policy_view *view, struct policy_call *call)
{
    (void)self, (void)call;
    return view->servers == 0 && view->waiting.calls == 0 ? policy_displace("pool") : policy_admit();
}

static policy_time pool_finish(struct policy *self, const struct policy_view *view, struct policy_call *call,
                               const struct policy_outcome *outcome)
{
    (void)self, (void)call;
    return view->servers == 0 && outcome->end == POLICY_OVERLOAD && view->busy > 1000 ? 1 : POLICY_NONE;
}

START_TEST(a_metered_pool_is_an_edge)
{
    static const struct policy_ops at_start = {POLICY_HEADER, .name = "pool", .summary = "wrong", .start = pool_start};
    static const struct policy_ops at_end = {POLICY_HEADER, .name = "pool", .summary = "wrong", .finish = pool_finish};
    const struct setting start = {.ops = &at_start, .text = "", .scope = SCOPE_GATE};
    const struct setting finish = {.ops = &at_end, .text = "", .scope = SCOPE_GATE};
    program_has(edges(&start), "policy `pool`, callback `start`, class 0, agent 0");
    program_has(edges(&start), "servers 0, busy 0: answered displace, which this callback may not");
    program_has(edges(&finish), "servers 0, busy 1000000: answered again after 1 ns");
}
END_TEST

Suite *probe_life_suite(void)
{
    Suite *suite = suite_create("probe_life");
    TCase *test = tcase_create("probe_life");

    tcase_add_checked_fixture(test, begin, end);
    tcase_add_test(test, a_life_has_everything_in_it);
    tcase_add_test(test, a_metered_pool_is_an_edge);
    suite_add_tcase(suite, test);
    return suite;
}
