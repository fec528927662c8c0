#include "tests/model.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "policies/registry.h"
#include "sim/cli/plugin.h"
#include "sim/stats/output.h"

static struct plan plan_of(const char *yaml, const struct policy_ops *const *policies, bool warned)
{
    char path[] = "/tmp/weir-test-XXXXXX";
    int file = mkstemp(path);
    struct plan_request request = {.path = path, .policies = policies, .load = plugin_load};
    struct plan plan = {0};
    struct diag diag = {0};
    bool good;

    ck_assert(file >= 0 && write(file, yaml, strlen(yaml)) == (ssize_t)strlen(yaml));
    close(file);
    good = plan_read(&request, &plan, &diag);
    diag_print(&diag, stderr);
    unlink(path);
    ck_assert(good && (warned || diag.count == 0));
    diag_fini(&diag);
    return plan;
}

struct plan model_plan_of(const char *yaml, const struct policy_ops *const *policies)
{
    return plan_of(yaml, policies, false);
}

struct plan model_plan_warned(const char *yaml)
{
    return plan_of(yaml, policy_registry, true);
}

struct plan model_plan(const char *yaml)
{
    return model_plan_of(yaml, policy_registry);
}

struct plan model_plan_with(const char *yaml, const char *plugin)
{
    const char *folder = getenv("WEIR_PLUGINS");
    const struct policy_ops *const *policies;
    struct arena arena = {0};
    struct diag diag = {0};
    const char *path;
    struct plan plan;

    ck_assert_msg(folder != NULL, "WEIR_PLUGINS names the folder of the test plug-ins");
    path = arena_format(&arena, "%s/%s.so", folder, plugin);
    policies = plugin_join(&path, 1, &arena, &diag);
    diag_print(&diag, stderr);
    ck_assert(diag.errors == 0);
    plan = model_plan_of(yaml, policies);
    diag_fini(&diag);
    arena_free(&arena);
    return plan;
}

void model_trial(const struct plan *plan, size_t point, uint32_t replication, double *values)
{
    char wrong[512] = "";
    struct trial_watch watch = {.wrong = wrong, .wrong_size = sizeof wrong};
    enum trial_end end = trial_simulate(plan->points[point].scenario, replication, &watch, values);

    ck_assert_msg(end == TRIAL_ENDED, "%s", wrong);
}

struct model_estimate model_metric(const struct plan *plan, size_t point, unsigned replications,
                                   enum metric_index metric)
{
    double *seen = calloc(replications, sizeof *seen);
    double *values = calloc(trial_row_count(plan->points[point].scenario) * METRIC_COUNT, sizeof *values);
    struct estimate estimate;

    for (unsigned i = 0; i < replications; i++) {
        model_trial(plan, point, i + 1, values);
        seen[i] = values[metric];
    }
    estimate = output_mean(seen, replications, 1);
    free(seen);
    free(values);
    return (struct model_estimate){estimate.mean, estimate.half_width / output_t(OUTPUT_LEVEL, estimate.count - 1)};
}
