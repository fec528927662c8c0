/* product.c - weir itself: a scenario's text through the reader and whole trials through the models, as `weir run`
 * does. Beside the policies that are built in there is `open_door`, which lets every run in. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "models/metrics.h"
#include "models/trial.h"
#include "policies/registry.h"
#include "tests/bench/bench.h"
#include "tests/heap.h"

_Noreturn static void fail(const char *what)
{
    fprintf(stderr, "bench: %s\n", what);
    exit(2);
}

static void write_file(int file, const char *text)
{
    if (file < 0 || write(file, text, strlen(text)) != (ssize_t)strlen(text) || close(file) != 0)
        fail("cannot write a scenario into /tmp");
}

static struct policy_answer let_in(struct policy *self, const struct policy_view *view, struct policy_run *run)
{
    (void)self;
    (void)view;
    (void)run;
    return policy_admit();
}

static const struct policy_ops open_door = {
    POLICY_HEADER,
    .name = "open_door",
    .summary = "lets every run in",
    .run_admit = let_in,
};

static const struct policy_ops *const *policies_with_door(struct arena *arena)
{
    size_t count = 0;
    const struct policy_ops **policies;

    while (policy_registry[count])
        count++;
    policies = arena_zeroed(arena, count + 2, sizeof *policies);
    memcpy(policies, policy_registry, count * sizeof *policies);
    policies[count] = &open_door;
    return policies;
}

struct product product_open(const char *agents_and_policy, double horizon)
{
    char path[] = "/tmp/weir-bench-XXXXXX";
    struct arena arena = {0};
    struct plan_request request = {.path = path, .policies = policies_with_door(&arena)};
    struct product product = {.horizon = horizon};
    struct diag diag = {0};

    write_file(mkstemp(path), arena_format(&arena, "study: {horizon: %.0f s}\n%s", horizon, agents_and_policy));
    if (!plan_read(&request, &product.plan, &diag)) {
        diag_print(&diag, stderr);
        unlink(path);
        fail("a scenario that weir cannot read");
    }
    unlink(path);
    diag_fini(&diag);
    arena_free(&arena);
    return product;
}

struct run product_run(const struct product *product, uint32_t replication)
{
    double values[METRIC_COUNT], begun = processor_seconds();
    char wrong[512] = "";
    struct trial_watch watch = {.wrong = wrong, .wrong_size = sizeof wrong};

    if (trial_simulate(product->plan.points[0].scenario, replication, &watch, values) != TRIAL_ENDED)
        fail(wrong);
    return (struct run){.events = 2 * values[METRIC_GOODPUT] * product->horizon,
                        .seconds = processor_seconds() - begun,
                        .throughput = values[METRIC_GOODPUT],
                        .wait_mean = values[METRIC_WAIT_MEAN]};
}

double product_memory(const struct product *product)
{
    struct heap_watch heap = {.before = HEAP_USED};
    double values[METRIC_COUNT];
    char wrong[512] = "";
    struct trial_watch watch = {.wrong = wrong, .wrong_size = sizeof wrong, .started = heap_look, .context = &heap};

    if (trial_simulate(product->plan.points[0].scenario, 1, &watch, values) != TRIAL_ENDED)
        fail(wrong);
    return (double)heap.most;
}

void product_close(struct product *product)
{
    plan_fini(&product->plan);
}
