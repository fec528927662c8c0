/* dist_survival.h - DIST_SURVIVAL, a number of turns known by the chance to survive each window of turns. For dist.c
 * and dist_report.c, which ask for nothing else here.
 *
 * A window has `a` turns, a whole number; its value is its hazard, -ln of the chance, finite and at least 0. The last
 * window repeats for ever, so its hazard is above 0, or `most` is finite. H(t), the hazard up to t turns, grows evenly
 * within a window, and P(X > n) = exp(-H(n)): X is 1 + floor(t) where H(t) is an exponential. Every function costs a
 * walk over the windows; all use + - * / sim_exp and sim_log only, so that their digits are the same everywhere. */
#ifndef SIM_DIST_SURVIVAL_H
#define SIM_DIST_SURVIVAL_H

#include "sim/engine/dist.h"

/* E[min(X, m)] and E[min(X, m)^2]. */
struct moments {
    double first, second;
};

/* Without `most`; INFINITY where the last hazard is 0 and the run comes so far. */
double dist_survival_draw(const struct dist *dist, struct stream *stream);
double dist_survival_cdf(const struct dist *dist, double x);
double dist_survival_quantile(const struct dist *dist, double p);
struct moments dist_survival_moments(const struct dist *dist, double m); /* m > 1, finite where the last hazard is 0 */

bool dist_survival_is_constant(const struct dist *dist); /* nobody ends before `most`, which is above 1 */

#endif
