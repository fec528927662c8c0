/* policy_bench.c - what policy_bench.h says. */
#include "tests/policy_bench.h"

#include <check.h>
#include <stdarg.h>
#include <string.h>

#include "sim/io/param.h"

static const struct policy_ops *built_in(const char *name)
{
    for (const struct policy_ops *const *ops = policy_registry; *ops; ops++)
        if (strcmp((*ops)->name, name) == 0)
            return *ops;
    ck_abort_msg("no policy is called %s", name);
    return NULL;
}

void bench_set(struct bench *bench, const char *key, const char *text)
{
    struct diag diag = {0};
    const struct option *option = param_find(bench->ops->params, key);
    ck_assert_msg(option != NULL, "%s has no parameter %s", bench->ops->name, key);
    ck_assert(param_set(option, bench->ops->name, bench->params, text, (struct place){0}, &bench->arena, &diag));
    diag_fini(&diag);
}

struct bench bench_of(const char *name, ...)
{
    struct bench bench = {.ops = built_in(name)};
    va_list arguments;
    bench.params = arena_zeroed(&bench.arena, 1, bench.ops->params_size + 1);
    bench.self.params = bench.params;
    bench.self.vars = arena_zeroed(&bench.arena, 1, bench.ops->vars_size + 1);
    bench.self.stats = arena_zeroed(&bench.arena, 1, bench.ops->stats_size + 1);
    bench.self.shared = bench.ops->shared_size ? arena_zeroed(&bench.arena, 1, bench.ops->shared_size) : NULL;
    if (bench.ops->params)
        param_defaults(bench.ops->params, bench.params, &bench.arena);
    va_start(arguments, name);
    for (const char *key; (key = va_arg(arguments, const char *)) != NULL;)
        bench_set(&bench, key, va_arg(arguments, const char *));
    va_end(arguments);
    bench.view.servers = bench.view.busy = bench.view.in_service = SERVERS;
    return bench;
}

double bench_gauge(const struct bench *bench, const char *name)
{
    for (const struct policy_gauge *row = bench->ops->gauges; row->name; row++) {
        const unsigned char *at = (const unsigned char *)(row->in_stats ? bench->self.stats : bench->self.vars);
        double real;
        uint64_t count;
        if (strcmp(row->name, name) != 0)
            continue;
        memcpy(&real, at + row->offset, sizeof real);
        memcpy(&count, at + row->offset, sizeof count);
        return row->type == POLICY_GAUGE_DOUBLE ? real : (double)count;
    }
    ck_abort_msg("%s has no gauge %s", bench->ops->name, name);
    return 0;
}

void bench_refreshes(struct bench *bench, policy_time now)
{
    bench->view.now = now;
    bench->ops->refresh(&bench->self, now);
}

bool bench_asks(struct bench *bench, policy_time now, uint64_t waiting)
{
    struct policy_answer answer;
    bench->view.now = now;
    bench->view.waiting.calls = waiting;
    bench->call = (struct policy_call){.attempt = 1, .attempted = now, .joined = POLICY_NONE, .started = POLICY_NONE};
    answer = bench->ops->admit(&bench->self, &bench->view, &bench->call);
    if (answer.action == POLICY_ADMIT)
        return true;
    ck_assert_int_eq(answer.action, POLICY_DEFER);
    ck_assert_int_eq(answer.after, POLICY_NONE);
    ck_assert_ptr_nonnull(answer.reason);
    return false;
}

bool bench_takes(struct bench *bench, policy_time now, policy_time sojourn, uint64_t left)
{
    struct policy_answer answer;
    bench->view.now = now;
    bench->view.waiting.calls = left;
    bench->view.busy = SERVERS - 1;
    bench->call = (struct policy_call){.attempt = 1, .joined = now - sojourn, .started = POLICY_NONE};
    answer = bench->ops->start(&bench->self, &bench->view, &bench->call);
    bench->view.busy = SERVERS;
    ck_assert(answer.action == POLICY_ADMIT || answer.action == POLICY_DEFER);
    ck_assert_int_eq(answer.after, POLICY_NONE);
    return answer.action == POLICY_ADMIT;
}

struct bench bench_codel(const char *law, const char *place, const char *target, const char *interval)
{
    return bench_of("codel", "law", law, "sheds_at", place, "target", target, "interval", interval, NULL);
}

void bench_free(struct bench *bench)
{
    arena_free(&bench->arena);
}
