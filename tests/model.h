/* model.h - scenarios for tests, written as text: read through the same reader as files. */
#ifndef TESTS_MODEL_H
#define TESTS_MODEL_H

#include "models/metrics.h"
#include "models/plan.h"
#include "models/trial.h"

/* The plan of a scenario; any message of the reader fails the test. Free with plan_fini. */
struct plan model_plan(const char *yaml);
/* The same, which may be warned of. */
struct plan model_plan_warned(const char *yaml);
/* The same with these policies alone, ended by NULL. */
struct plan model_plan_of(const char *yaml, const struct policy_ops *const *policies);
/* The same with the policies in plug-ins of $WEIR_PLUGINS known beside those built in. */
struct plan model_plan_with(const char *yaml, const char *plugin);

/* One trial of the first design point; a wrong answer fails the test. values: METRIC_COUNT of row `all`, or more rows.
 */
void model_trial(const struct plan *plan, size_t point, uint32_t replication, double *values);

/* Means over replications 1..n, and their standard error, of one metric of row `all`. */
struct model_estimate {
    double mean, error;
};
struct model_estimate model_metric(const struct plan *plan, size_t point, unsigned replications,
                                   enum metric_index metric);

#endif
