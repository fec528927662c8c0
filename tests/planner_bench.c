/* planner_bench.c - what planner_bench.h says. */
#include "tests/planner_bench.h"

#include <check.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "sim/engine/number.h"

static struct planner_bench *bench_behind(struct policy *self)
{
    return (struct planner_bench *)(void *)((char *)self - offsetof(struct planner_bench, bench.self));
}

static struct stand_in *stand_in_behind(struct policy *copy)
{
    return (struct stand_in *)(void *)((char *)copy - offsetof(struct stand_in, copy));
}

/* --- the host ---------------------------------------------------------------------------------------------------- */

static double host_uniform(struct policy *self)
{
    return bench_behind(self)->uniform;
}

static struct policy *host_find(struct policy *self, const char *name, uint32_t gate)
{
    struct planner_bench *planner = bench_behind(self);
    bool there = strcmp(name, "pacer") == 0 && gate < planner->gates && !planner->pacers[gate].absent;
    if (there && planner->pacers[gate].with)
        gate = planner->pacers[gate].with;
    return there ? &planner->pacers[gate].copy : NULL;
}

static const struct policy_view *host_view(struct policy *self, uint32_t gate)
{
    struct planner_bench *planner = bench_behind(self);
    return gate < planner->gates ? &planner->views[gate] : NULL;
}

static double *number_of(struct stand_in *pacer, const char *key)
{
    const struct {
        const char *name;
        double *number;
    } numbers[] = {{"r_tok", &pacer->r_tok},
                   {"k_inflight", &pacer->k_inflight},
                   {"r_qps", &pacer->r_qps},
                   {"cached_weight", &pacer->cached_weight},
                   {"seed_r_tok", &pacer->seed_r_tok},
                   {"seed_k_inflight", &pacer->seed_k_inflight},
                   {"seed_r_qps", &pacer->seed_r_qps},
                   {"seed_at", &pacer->seed_at},
                   {"admitted", &pacer->admitted},
                   {"admitted_tokens", &pacer->admitted_tokens},
                   {"slow", &pacer->slow},
                   {"expired", &pacer->expired},
                   {"overloads_60", &pacer->overloads_60},
                   {"head_wait", &pacer->head_wait}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (strcmp(numbers[i].name, key) == 0)
            return numbers[i].number;
    return NULL;
}

/* What is NAN is not there. */
static bool host_get(struct policy *self, struct policy *of, const char *key, double *value)
{
    const double *number = number_of(stand_in_behind(of), key);
    (void)self;
    if (!number || isnan(*number))
        return false;
    *value = *number;
    return true;
}

/* As the pacer does: what a policy lowers is fresh, and its seed stays. */
static const char *host_set(struct policy *self, struct policy *of, const char *key, double value, const char *reason)
{
    struct planner_bench *planner = bench_behind(self);
    struct stand_in *pacer = stand_in_behind(of);
    double *number = number_of(pacer, key);
    ck_assert_ptr_nonnull(reason);
    ck_assert_ptr_nonnull(number);
    ck_assert_msg(number - &pacer->r_tok < 4, "%s is set", key);
    if (strcmp(key, "k_inflight") == 0 && value != floor(value))
        return "expected a whole number";
    pacer->sets++;
    if (value < *number)
        pacer->seed_at = (double)planner->now / S;
    *number = value;
    return NULL;
}

static void host_row(struct policy *self, const double *values)
{
    struct planner_bench *planner = bench_behind(self);
    size_t count = 0;
    while (planner->bench.ops->columns[count].name)
        count++;
    ck_assert_uint_le(count, ROW);
    ck_assert_double_ge(values[0], 0);
    ck_assert_double_lt(values[0], GATES);
    memcpy(planner->rows[(size_t)values[0]], values, count * sizeof *values);
    planner->rows_written++;
}

/* --- making one -------------------------------------------------------------------------------------------------- */

void planner_bench_init(struct planner_bench *planner, ...)
{
    va_list arguments;
    *planner = (struct planner_bench){.bench = bench_of("planner", "stagger", "0 s", "static_cap", "inf", NULL),
                                      .host = {.ln = sim_log,
                                               .exp = sim_exp,
                                               .uniform = host_uniform,
                                               .find = host_find,
                                               .view = host_view,
                                               .get = host_get,
                                               .set = host_set,
                                               .row = host_row},
                                      .gates = 1};
    va_start(arguments, planner);
    for (const char *key; (key = va_arg(arguments, const char *)) != NULL;)
        bench_set(&planner->bench, key, va_arg(arguments, const char *));
    va_end(arguments);
    for (uint32_t i = 0; i < GATES; i++) {
        planner->views[i].gate = i;
        planner->pacers[i].cached_weight = 1;
        planner_bench_seeds(planner, i, INFINITY, INFINITY, INFINITY);
    }
}

void planner_bench_begins(struct planner_bench *planner)
{
    planner->bench.self.host = &planner->host;
    if (planner->bench.ops->check)
        ck_assert_ptr_null(planner->bench.ops->check(planner->bench.params));
    planner->bench.ops->init(&planner->bench.self);
}

void planner_bench_seeds(struct planner_bench *planner, uint32_t gate, double r_tok, double k_inflight, double r_qps)
{
    struct stand_in *pacer = &planner->pacers[gate];
    pacer->r_tok = pacer->seed_r_tok = r_tok;
    pacer->k_inflight = pacer->seed_k_inflight = k_inflight;
    pacer->r_qps = pacer->seed_r_qps = r_qps;
}

void planner_bench_free(struct planner_bench *planner)
{
    bench_free(&planner->bench);
}

void planner_seeded(struct planner_bench *planner, const char *key, const char *text)
{
    planner_bench_init(planner, THOUSAND, key, text, NULL);
    for (uint32_t i = 0; i < GATES; i++)
        planner_bench_seeds(planner, i, SEED_TOKENS, SEED_IN_FLIGHT, SEED_CALLS);
}

void planner_starts(struct planner_bench *planner)
{
    planner_bench_begins(planner);
    planner_ticks(planner, 0);
}

/* --- ticks and rows ---------------------------------------------------------------------------------------------- */

static void now_is(struct planner_bench *planner, policy_time now)
{
    planner->now = now;
    for (uint32_t i = 0; i < GATES; i++)
        planner->views[i].now = now;
}

void planner_ticks(struct planner_bench *planner, policy_time now)
{
    now_is(planner, now);
    ck_assert_int_gt(planner->bench.ops->tick(&planner->bench.self, &planner->views[0]), now);
}

void planner_passes(struct planner_bench *planner, int ticks, double tokens, double calls)
{
    for (int i = 0; i < ticks; i++) {
        planner->pacers[0].admitted_tokens += tokens * 15;
        planner->pacers[0].admitted += calls * 15;
        planner_ticks(planner, planner->now + PLANNER_TICK);
    }
}

static size_t column_of(const struct planner_bench *planner, const char *name)
{
    for (size_t i = 0; planner->bench.ops->columns[i].name; i++)
        if (strcmp(planner->bench.ops->columns[i].name, name) == 0)
            return i;
    ck_abort_msg("no column is called %s", name);
    return 0;
}

double planner_cell(const struct planner_bench *planner, uint32_t gate, const char *column)
{
    return planner->rows[gate][column_of(planner, column)];
}

const char *planner_word(const struct planner_bench *planner, uint32_t gate, const char *column)
{
    size_t index = column_of(planner, column), count = 0;
    const char *const *words = planner->bench.ops->columns[index].words;
    while (words[count])
        count++;
    ck_assert_double_lt(planner->rows[gate][index], (double)count);
    return words[(size_t)planner->rows[gate][index]];
}

/* --- tasks ------------------------------------------------------------------------------------------------------- */

struct task *planner_task_new(struct planner_bench *planner, uint32_t gate)
{
    struct task *task = arena_zeroed(&planner->bench.arena, 1, sizeof *task);
    task->gate = gate;
    task->run.turns = INFINITY;
    task->run.run_state = task->call.run_state = arena_zeroed(&planner->bench.arena, 1, planner->bench.ops->run_size);
    return task;
}

struct policy_answer planner_asks(struct planner_bench *planner, struct task *task, policy_time now)
{
    struct policy_answer answer;
    now_is(planner, now);
    answer = planner->bench.ops->run_admit(&planner->bench.self, &planner->views[task->gate], &task->run);
    if (answer.action == POLICY_ADMIT) {
        planner->bench.ops->run_admitted(&planner->bench.self, &planner->views[task->gate], &task->run);
        return answer;
    }
    ck_assert_int_eq(answer.action, POLICY_HOLD); /* whatever happens */
    ck_assert_int_ge(answer.after, POLICY_LEAST);
    ck_assert_ptr_nonnull(answer.reason);
    return answer;
}

struct task *planner_launches(struct planner_bench *planner, uint32_t gate, policy_time now)
{
    struct task *task = planner_task_new(planner, gate);
    struct policy_answer answer = planner_asks(planner, task, now);
    ck_assert_msg(answer.action == POLICY_ADMIT, "held: %s", answer.reason);
    return task;
}

void planner_holds(struct planner_bench *planner, uint32_t gate, policy_time now, const char *reason)
{
    struct policy_answer answer = planner_asks(planner, planner_task_new(planner, gate), now);
    ck_assert_int_eq(answer.action, POLICY_HOLD);
    ck_assert_str_eq(answer.reason, reason);
}

void planner_turns(struct planner_bench *planner, struct task *task, uint64_t turn)
{
    for (; task->call.turn <= turn; task->call.turn++)
        ck_assert_int_eq(planner->bench.ops->admitted(&planner->bench.self, &planner->views[task->gate], &task->call),
                         0);
}

void planner_ends(struct planner_bench *planner, struct task *task, bool done)
{
    planner->bench.ops->run_finish(&planner->bench.self, &planner->views[task->gate], &task->run, done);
}
