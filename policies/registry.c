/* registry.c - the policies that are built in, one explicit list: adding one is a line here and a file beside it. */
#include "policies/registry.h"

/* Each file's weir_policy, renamed by -DPOLICY_BUILTIN. */
extern const struct policy_ops policy_unbounded;
extern const struct policy_ops policy_fixed_cap;
extern const struct policy_ops policy_codel;
extern const struct policy_ops policy_lifo;
extern const struct policy_ops policy_by_priority;
extern const struct policy_ops policy_token_bucket;
extern const struct policy_ops policy_gcra;
extern const struct policy_ops policy_cost_bucket;
extern const struct policy_ops policy_contract;
extern const struct policy_ops policy_retry_budget;
extern const struct policy_ops policy_breaker;
extern const struct policy_ops policy_window;
extern const struct policy_ops policy_atb;
extern const struct policy_ops policy_aatb;
extern const struct policy_ops policy_sre_throttle;
extern const struct policy_ops policy_aws_adaptive;
extern const struct policy_ops policy_pacer;
extern const struct policy_ops policy_planner;
extern const struct policy_ops policy_aimd;
extern const struct policy_ops policy_vegas;
extern const struct policy_ops policy_gradient2;
extern const struct policy_ops policy_envoy_gradient;
extern const struct policy_ops policy_envoy_admission;
extern const struct policy_ops policy_folly_codel;
extern const struct policy_ops policy_pid;
extern const struct policy_ops policy_breakwater;
extern const struct policy_ops policy_bounded_queue;
extern const struct policy_ops policy_adaptive_lifo;
extern const struct policy_ops policy_deadline;
extern const struct policy_ops policy_least_attained_service;
extern const struct policy_ops policy_fair_queue;
extern const struct policy_ops policy_fq_codel;
extern const struct policy_ops policy_shares;
extern const struct policy_ops policy_tenant_cap;
extern const struct policy_ops policy_priority;
extern const struct policy_ops policy_shed_by_value;
extern const struct policy_ops policy_run_budget;
extern const struct policy_ops policy_exec;

const struct policy_ops *const policy_registry[] = {
    &policy_unbounded,
    &policy_fixed_cap,
    &policy_codel,
    &policy_lifo,
    &policy_by_priority,
    &policy_token_bucket,
    &policy_gcra,
    &policy_cost_bucket,
    &policy_contract,
    &policy_retry_budget,
    &policy_breaker,
    &policy_window,
    &policy_atb,
    &policy_aatb,
    &policy_sre_throttle,
    &policy_aws_adaptive,
    &policy_pacer,
    &policy_planner,
    &policy_aimd,
    &policy_vegas,
    &policy_gradient2,
    &policy_envoy_gradient,
    &policy_envoy_admission,
    &policy_folly_codel,
    &policy_pid,
    &policy_breakwater,
    &policy_bounded_queue,
    &policy_adaptive_lifo,
    &policy_deadline,
    &policy_least_attained_service,
    &policy_fair_queue,
    &policy_fq_codel,
    &policy_shares,
    &policy_tenant_cap,
    &policy_priority,
    &policy_shed_by_value,
    &policy_run_budget,
    &policy_exec,
    NULL,
};
