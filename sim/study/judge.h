/* judge.h - whether a change matters: one comparison for every two versions of a table.
 *
 * A value has a direction and a tolerance, what a change must exceed to matter. It is worse when, beyond what chance
 * does, it changed for the worse by more than that; better likewise. m values are judged together, each way by Holm's
 * step-down rule (1979): with none of them changed by more than its tolerance the chance that one is called worse is at
 * most `level`. Where one looks several times, adding replications between, each look has an equal part of the level
 * (Bonferroni), so the bound holds for all of them together.
 *
 * A value that is not worse is undecided while the one-sided limit of its change for the worse is beyond the tolerance,
 * and within otherwise. That limit is each value's own: calling something within is no alarm. */
#ifndef SIM_JUDGE_H
#define SIM_JUDGE_H

#include <stdbool.h>

#include "sim/stats/output.h"

enum judged {
    JUDGED_SAME,      /* the same digits */
    JUDGED_WITHIN,    /* changed by no more than the tolerance, for the worse */
    JUDGED_BETTER,    /* by more, for the better */
    JUDGED_UNDECIDED, /* it could be worse: nobody can tell yet */
    JUDGED_TRADE,     /* of a row: some values better, some worse */
    JUDGED_WORSE,
    JUDGED_COUNT
};
extern const char *const judged_names[JUDGED_COUNT];

/* A change and how sure we are of it. error NAN: nothing is known of that; mean NAN: there is no change to speak of. */
struct shift {
    double mean, error, degrees;
};

/* head - base of two estimates that share nothing (Welch), and of a paired difference. */
struct shift shift_between(struct estimate base, struct estimate head);
struct shift shift_paired(struct estimate difference);

struct judge_value {
    bool higher; /* is better */
    bool same;   /* to the last digit: nothing is asked */
    double tolerance;
    struct shift shift;
    enum judged verdict; /* set by judge */
};

/* What a change must exceed: a part of the value that it changed from, and no less than the floor. */
double judge_tolerance(double base, double relative, double absolute);
/* All values of a run. `level`, such as 0.01, of this run; `looks`: how often it looks at most. */
void judge(struct judge_value *values, size_t count, double level, unsigned looks);
/* What the values of a row come to. */
enum judged judge_row(const struct judge_value *values, size_t count);

#endif
