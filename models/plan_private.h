/* plan_private.h - a part of the making of a plan that has a file of its own. Private to the plan. */
#ifndef MODELS_PLAN_PRIVATE_H
#define MODELS_PLAN_PRIVATE_H

#include "models/plan.h"
#include "models/readers.h"

/* The policies of the request and those of `plugin:`, ended by NULL; NULL after an error. */
const struct policy_ops *const *plan_policies(const struct reader *reader, const struct plan_request *request,
                                              const struct node *root);

#endif
