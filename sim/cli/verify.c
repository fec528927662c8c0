/* run --verify. */
#include "sim/cli/verify.h"

#include <math.h>
#include <string.h>

#include "models/demand.h"
#include "models/metrics.h"
#include "models/trial.h"
#include "sim/cli/format.h"
#include "sim/io/param.h"
#include "sim/io/table.h"
#include "sim/stats/theory.h"
#include "sim/study/compare.h"

#define NEGLIGIBLE 1e-4  /* part of a value */
#define LEAST_ENDS 0.002 /* of N = X (R + Z), besides two cycles of an agent in a window */

enum { POINT, LAW, WHAT, THEORY, SIMULATION, Z, VERDICT };

/* Is this chain nothing but first come, first served? */
static bool plain(const struct chain *chain)
{
    for (size_t i = 0; i < chain->count; i++) {
        const struct policy_ops *ops = chain->members[i].ops;

        if (ops->admit || ops->run_admit || ops->start || ops->rank || ops->pick || ops->finish || ops->tick)
            return false;
    }
    return true;
}

/* Is it this policy alone? */
static bool only(const struct chain *chain, const char *name)
{
    return chain->count == 1 && strcmp(chain->members[0].ops->name, name) == 0;
}

/* No closed form knows clients that leave or die, agents that begin within the window, turns with parts, calls that go
 * elsewhere, or a timeline.
 */
static bool steady(const struct scenario *scenario, const struct agent_class *class, const struct demand *d)
{
    return !d->leaves && class->client.dies <= 0 && !class->boot && !d->fans_out && !d->spills &&
           class->start <= scenario->study.warmup && !scenario_moves(scenario);
}

struct verifying {
    const struct session *session;
    struct table table;
    size_t point;
    size_t class, row, backend_row; /* the class in question, and the rows of the table that are its own */
    size_t predictions, far;
};

static void line(struct verifying *verifying, const char *law, const char *what, double theory, double value,
                 double half_width, const char *z, const char *verdict)
{
    struct table *table = &verifying->table;
    size_t row = table_row(table);
    const struct scenario *scenario = verifying->session->plan.points[verifying->point].scenario;
    const char *class = scenario->classes[verifying->class].name;
    char text[160];

    session_point(&verifying->session->plan, verifying->point, false, text, sizeof text);
    table_text(table, row, POINT, verifying->row ? arena_format(&table->arena, "%s, %s", text, class) : text);
    table_text(table, row, LAW, law);
    table_text(table, row, WHAT, what);
    table_format(theory, NAN, table->ascii, text, sizeof text);
    table_text(table, row, THEORY, text);
    table_format(value, half_width, table->ascii, text, sizeof text);
    table_text(table, row, SIMULATION, text);
    table_text(table, row, Z, z);
    table_text(table, row, VERDICT, verdict);
}

/* The number of a metric in the class's own row; measures of a backend stand in the backend's. */
static size_t own(const struct verifying *verifying, size_t metric)
{
    size_t row = metric == METRIC_UTILISATION ? verifying->backend_row : verifying->row;

    return row * METRIC_COUNT + metric;
}

/* How far in standard errors: what four are to a normal distribution, with the degrees of freedom that there are. */
static double far_from(size_t count)
{
    return count > 1 ? output_t(1 - 6.3e-5, count - 1) : INFINITY;
}

/* A closed form beside the mean over replications; z is the distance in standard errors. Where nothing varies, as in
 * the utilisation of a saturated card, there is no such distance: there, what rounding could make of the value agrees.
 */
static void predict(struct verifying *verifying, const char *law, size_t metric, double theory)
{
    struct estimate ours = compare_estimate(&verifying->session->results, verifying->point, metric);
    double error = ours.half_width / output_t(OUTPUT_LEVEL, ours.count > 1 ? ours.count - 1 : 1);
    double z = (ours.mean - theory) / error;
    bool near = fabs(z) <= far_from(ours.count) || fabs(ours.mean - theory) <= NEGLIGIBLE * fabs(theory);
    char text[32] = "";

    if (ours.count >= 2 && error > 0)
        snprintf(text, sizeof text, "%+.1f", z);
    verifying->predictions++;
    verifying->far += ours.count > 1 && !near;
    line(verifying, law, metrics[metric % METRIC_COUNT].name, theory, ours.mean, ours.half_width, text,
         ours.count < 2 ? "one replication"
         : near         ? "agrees"
                        : "FAR");
}

/* A bound: the simulation may be on one side only, up to its interval. */
static void bound(struct verifying *verifying, const char *law, size_t metric, double theory, bool upper)
{
    struct estimate ours = compare_estimate(&verifying->session->results, verifying->point, metric);
    double slack = fmax(2 * ours.half_width, NEGLIGIBLE * fabs(theory));
    bool holds = upper ? ours.mean <= theory + slack : ours.mean >= theory - slack;

    verifying->predictions++;
    verifying->far += ours.count > 1 && !holds;
    line(verifying, law, metrics[metric % METRIC_COUNT].name, theory, ours.mean, ours.half_width, upper ? "<=" : ">=",
         ours.count < 2 ? "one replication"
         : holds        ? "holds"
                        : "BROKEN");
}

/* N = X (R + Z) by each replication's own means: what is left is calls under way at the ends of the window. */
static void verify_response_time_law(struct verifying *verifying, const struct demand *d)
{
    const struct results *results = &verifying->session->results;
    unsigned count = results->finished[verifying->point];
    const struct study *study = &verifying->session->plan.points[verifying->point].scenario->study;
    double sum = 0, cycles = 0, ends;
    bool near;

    for (unsigned i = 1; i <= count; i++) {
        const double *row = results_at(results, verifying->point, i) + verifying->row * METRIC_COUNT;

        sum += row[METRIC_GOODPUT] * (row[METRIC_RESPONSE_MEAN] + row[METRIC_THINK_MEAN]);
        cycles += row[METRIC_RESPONSE_MEAN] + row[METRIC_THINK_MEAN];
    }
    ends = LEAST_ENDS + 2 * cycles / count / sim_seconds(study->horizon - study->warmup);
    near = fabs(sum / count - d->population) <= ends * d->population;
    verifying->predictions++;
    verifying->far += count > 1 && !near;
    line(verifying, "N = X (R + Z)", "agents", d->population, sum / count, NAN, "",
         count < 2 ? "one replication"
         : near    ? "agrees"
                   : "FAR: see censored");
}

/* Were turns given up or rejected, or runs refused? Then agents go round without a service, and those that are served
 * may have been chosen by what they take. */
static bool loses(const struct verifying *verifying)
{
    const struct results *results = &verifying->session->results;
    bool any = false;

    for (unsigned i = 1; i <= results->finished[verifying->point]; i++) {
        const double *row = results_at(results, verifying->point, i) + verifying->row * METRIC_COUNT;

        any = any || row[METRIC_LOST_TURNS] > 0 || row[METRIC_RUNS_REFUSED] > 0;
    }
    return any;
}

/* Runs that wait at the door are in no response. */
static bool door(const struct chain *chain)
{
    bool any = false;

    for (size_t i = 0; i < chain->count; i++)
        any = any || chain->members[i].ops->run_admit;
    return any;
}

static bool verify_closed(struct verifying *verifying, const struct scenario *scenario, const struct demand *d)
{
    if (!d->closed || !steady(scenario, &scenario->classes[verifying->class], d) || loses(verifying) ||
        door(&scenario->chain))
        return false;
    if (d->exponential_service && d->exponential_think && plain(&scenario->chain)) {
        struct finite_source exact =
            theory_finite_source((size_t)d->population, (size_t)d->servers, d->service, d->think);

        predict(verifying, "M/M/c//N", own(verifying, METRIC_GOODPUT), exact.throughput);
        predict(verifying, "M/M/c//N", own(verifying, METRIC_WAIT_MEAN), exact.wait_mean);
        predict(verifying, "M/M/c//N", own(verifying, METRIC_WAIT_P99), exact.wait_p99);
        predict(verifying, "M/M/c//N", own(verifying, METRIC_UTILISATION), exact.utilisation);
    }
    bound(verifying, "X <= min(N/(S+Z), capacity)", own(verifying, METRIC_GOODPUT), demand_throughput_bound(d), true);
    bound(verifying, "W >= N/capacity - S - Z", own(verifying, METRIC_TOTAL_WAIT_MEAN), demand_wait_bound(d), false);
    verify_response_time_law(verifying, d);
    return true;
}

static bool verify_open(struct verifying *verifying, const struct scenario *scenario, const struct demand *d)
{
    double load = d->arrivals * d->service / d->servers;

    if (isnan(d->arrivals) || !plain(&scenario->chain) || !d->fixed ||
        !steady(scenario, &scenario->classes[verifying->class], d))
        return false;
    if (load >= 1) {
        line(verifying, "unstable: the line grows", "load", load, NAN, NAN, "", "no steady state");
        return true;
    }
    predict(verifying, "X = arrivals", own(verifying, METRIC_GOODPUT), d->arrivals);
    predict(verifying, "U = X S / c", own(verifying, METRIC_UTILISATION), load);
    if (d->exponential_service) {
        predict(verifying, "M/M/c", own(verifying, METRIC_WAIT_MEAN),
                theory_mmc_wait((size_t)d->servers, d->arrivals, d->service));
        predict(verifying, "M/M/c", own(verifying, METRIC_WAIT_P99),
                theory_mmc_wait_quantile((size_t)d->servers, d->arrivals, d->service, 0.99));
    } else if (d->servers == 1) {
        predict(verifying, "M/G/1", own(verifying, METRIC_WAIT_MEAN),
                theory_mg1_wait(d->arrivals, d->service, d->service_cv));
    } else {
        line(verifying, "M/G/c", "wait_mean", NAN, NAN, NAN, "", "no formula holds");
    }
    return true;
}

/* A cap whose refused clients do not come back: M/M/c/K. */
static bool verify_loss(struct verifying *verifying, const struct scenario *scenario, const struct demand *d)
{
    const struct member *member = &scenario->chain.members[0];
    size_t servers = (size_t)d->servers, room;
    double lost;

    if (isnan(d->arrivals) || !d->exponential_service || !only(&scenario->chain, "fixed_cap") ||
        scenario->classes[verifying->class].client.layers[0].attempts != 1 || scenario->change_count > 0 ||
        !steady(scenario, &scenario->classes[verifying->class], d))
        return false;
    room = (size_t)param_get_number(param_find(member->ops->params, "cap"), member->params);
    servers = servers < room ? servers : room;
    lost = theory_mmck_lost(servers, room, d->arrivals * d->service);
    predict(verifying, "M/M/c/K", own(verifying, METRIC_GOODPUT), d->arrivals * (1 - lost));
    predict(verifying, "M/M/c/K", own(verifying, METRIC_DEFERRED_SHARE), lost);
    if (room > servers)
        predict(verifying, "M/M/c/K", own(verifying, METRIC_WAIT_MEAN),
                theory_mmck_wait(servers, room, d->arrivals, d->service));
    return true;
}

enum { PRIORITIES_MOST = 32 };

/* Classes from the most urgent on. False where two have one priority. */
static bool by_priority(const struct scenario *scenario, size_t order[])
{
    for (size_t i = 0; i < scenario->class_count; i++) {
        size_t at = i;

        for (; at > 0 && scenario->classes[order[at - 1]].priority < scenario->classes[i].priority; at--)
            order[at] = order[at - 1];
        order[at] = i;
        if (at > 0 && scenario->classes[order[at - 1]].priority == scenario->classes[i].priority)
            return false;
    }
    return true;
}

/* One server, Poisson classes, the more urgent first: each class's own wait (Cobham). */
static bool verify_priorities(struct verifying *verifying, const struct scenario *scenario)
{
    double arrivals[PRIORITIES_MOST], services[PRIORITIES_MOST], cvs[PRIORITIES_MOST];
    size_t order[PRIORITIES_MOST], count = scenario->class_count;

    if (count > PRIORITIES_MOST || scenario->backend_count != 1 || !only(&scenario->chain, "by_priority") ||
        !by_priority(scenario, order))
        return false;
    for (size_t i = 0; i < count; i++) {
        struct demand d = demand_of(scenario, order[i]);

        if (d.servers != 1 || isnan(d.arrivals) || !d.fixed || !steady(scenario, &scenario->classes[order[i]], &d))
            return false;
        arrivals[i] = d.arrivals;
        services[i] = d.service;
        cvs[i] = d.service_cv;
    }
    for (size_t i = 0; i < count; i++) {
        double wait = theory_priority_wait(arrivals, services, cvs, count, i);
        const char *law = arena_format(&verifying->table.arena, "Cobham, %s", scenario->classes[order[i]].name);

        if (isfinite(wait)) /* rows of classes stand behind that of all */
            predict(verifying, law, (1 + order[i]) * METRIC_COUNT + METRIC_WAIT_MEAN, wait);
    }
    return true;
}

static size_t row_of(const struct scenario *scenario, enum row_scope scope, size_t index)
{
    for (size_t row = 0; row < trial_row_count(scenario); row++)
        if (trial_row_at(scenario, row).scope == scope && trial_row_at(scenario, row).index == index)
            return row;
    return 0; /* the only one of its kind: the row of all */
}

static bool verify_class(struct verifying *verifying, const struct scenario *scenario, size_t class)
{
    struct demand demand = demand_of(scenario, class);

    verifying->class = class;
    verifying->row = row_of(scenario, ROW_CLASS, class);
    verifying->backend_row = row_of(scenario, ROW_BACKEND, scenario->classes[class].backend);
    return demand_alone(scenario, class) &&
           (verify_closed(verifying, scenario, &demand) || verify_open(verifying, scenario, &demand) ||
            verify_loss(verifying, scenario, &demand));
}

static void verify_point(struct verifying *verifying)
{
    const struct scenario *scenario = verifying->session->plan.points[verifying->point].scenario;
    bool any = false;

    if (!scenario->study.until_done) {
        for (size_t i = 0; i < scenario->class_count; i++)
            any = verify_class(verifying, scenario, i) || any;
        verifying->row = 0;
        any = any || verify_priorities(verifying, scenario);
    }
    if (!any)
        line(verifying, "no formula holds", "", NAN, NAN, NAN, "", "");
}

void verify_print(const struct session *session, bool colour, FILE *out)
{
    static const char *const names[] = {"design point", "law", "metric", "theory", "simulation", "z", "verdict"};
    struct verifying verifying = {.session = session,
                                  .table = {.ascii = format_ascii(), .colour = colour, .broadest = format_width(out)}};
    unsigned long replications = 0;

    for (size_t i = 0; i < session->plan.point_count; i++)
        replications += session->results.finished[i];
    fprintf(out,
            "\nIdentities: in each of %lu replications, at the warm-up and at the end, whole numbers are equal:\n"
            "  Little's law of the waiting line and of the system, the utilisation law, flow balance of agents\n"
            "  and calls, and the gate's identities. They prove the bookkeeping, not the model. A broken one\n"
            "  stops the run.\n",
            replications);
    fprintf(out, "\nPredictions: closed forms beside the simulation\n");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        table_column(&verifying.table, names[i], "", "", "", TABLE_KEY, true);
    verifying.table.columns[SIMULATION].judged = verifying.table.columns[VERDICT].judged = true;
    for (verifying.point = 0; verifying.point < session->plan.point_count; verifying.point++)
        if (session->results.finished[verifying.point] > 0)
            verify_point(&verifying);
    table_note(&verifying.table,
               "%zu predictions, %zu beyond four standard errors (and 0.01 %%) or past a bound. Among many, some z "
               "beyond 2 are chance.",
               verifying.predictions, verifying.far);
    table_print_text(&verifying.table, out);
    table_fini(&verifying.table);
}
