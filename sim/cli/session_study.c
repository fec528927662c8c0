/* session_study.c - running the study of a session: replications on threads, what they tell, progress, and for how long
 * it goes on. */
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "models/metrics.h"
#include "models/trial.h"
#include "sim/cli/call_log.h"
#include "sim/cli/pilot.h"
#include "sim/cli/record_file.h"
#include "sim/cli/record_logs.h"
#include "sim/cli/session.h"
#include "sim/stats/series.h"
#include "sim/study/compare.h"
#include "sim/study/sequential.h"

static double wall_clock(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* What the threads of one study share. */
struct running {
    const struct plan *plan;
    const struct session *session; /* what is written down */
    struct session_sum *sums;      /* NULL: not wanted */
    pthread_mutex_t lock;
    uint64_t events;
    size_t failed_point;
    unsigned failed_replication;
    char failed[512];
    double begun;
    bool shown;
};

/* What a trial tells goes to, each NULL where it goes nowhere. */
struct witness {
    struct row_spool *attempts, *audit, *alerts;
    struct session_alarm *alarms;
    struct record_rows *samples;
    struct decision_rows decisions;
};

static void on_attempt(void *witness, const struct attempt_record *record)
{
    call_log_row(((struct witness *)witness)->attempts, record);
}

static void on_sample(void *witness, sim_time at, const double *values)
{
    record_rows_add(((struct witness *)witness)->samples, at, values);
}

static void on_set(void *witness, const struct set_record *record)
{
    audit_row(((struct witness *)witness)->audit, record);
}

static void on_decision(void *witness, const struct decision *decision)
{
    decision_row(&((struct witness *)witness)->decisions, decision);
}

static void on_alert(void *witness_pointer, const struct alert_record *record)
{
    struct witness *witness = witness_pointer;
    struct session_alarm *alarm = &witness->alarms[record->alert];

    if (record->on && alarm->raised++ == 0) {
        alarm->first = record->at;
        alarm->gate = record->gate;
    }
    if (witness->alerts)
        alert_row(witness->alerts, record);
}

static void witness_begin(struct witness *witness, const struct session *session, size_t point, unsigned replication)
{
    witness->attempts = row_log_begin(session->log, point, replication);
    witness->samples = record_file_begin(session->record, point, replication);
    witness->audit = row_log_begin(session->audit, point, replication);
    witness->alerts = row_log_begin(session->alerts, point, replication);
    witness->alarms = session->alarms ? session_alarms(session, point, replication) : NULL;
    decision_rows_begin(&witness->decisions, &session->plan, row_log_begin(session->decisions, point, replication));
}

/* False if something could not be written: `why` gets the reason of the last one. */
static bool witness_end(struct witness *witness, const struct session *session, bool kept, char *why, size_t size)
{
    bool good = true;

    if (witness->attempts)
        good = row_log_end(session->log, witness->attempts, kept, why, size);
    if (witness->audit)
        good = row_log_end(session->audit, witness->audit, kept, why, size) && good;
    if (witness->alerts)
        good = row_log_end(session->alerts, witness->alerts, kept, why, size) && good;
    if (witness->decisions.spool)
        good = row_log_end(session->decisions, witness->decisions.spool, kept, why, size) && good;
    decision_rows_end(&witness->decisions);
    if (witness->samples)
        record_file_end(session->record, witness->samples, kept);
    return good;
}

/* Behind the numbers of the trial: what says how good they are. */
static void session_quality(const struct session *session, struct series *present, const struct measure *observed,
                            double *values)
{
    double *quality = values + session->width - QUALITY_COUNT;
    const struct histogram *kinds[] = {&observed->waits,    &observed->total_waits, &observed->responses,
                                       &observed->lateness, &observed->doors,       &observed->run_times};

    quality[QUALITY_FIRST_HALF] = quality[QUALITY_SECOND_HALF] = NAN;
    if (present)
        series_means(present, quality + QUALITY_FIRST_HALF);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        quality[QUALITY_WAITS + i] = (double)kinds[i]->count;
}

static enum trial_outcome session_trial(void *context, size_t point, unsigned replication, double *values)
{
    struct running *running = context;
    char wrong[512];
    uint64_t events = 0;
    const struct study *study = &running->plan->points[point].scenario->study;
    struct measure observed = {0};
    struct series present;
    sim_sum halves[2] = {0};
    struct witness witness;
    struct trial_watch watch = {
        .stop = &cli_stop,
        .events = &events,
        .wrong = wrong,
        .wrong_size = sizeof wrong,
        .context = &witness,
        .observed = &observed,
        .present = study->until_done ? NULL : &present, /* of no steady state there are no halves */
    };
    enum trial_end end;

    series_init(&present, study->warmup, study->horizon, halves, 2);
    witness_begin(&witness, running->session, point, replication);
    watch.attempted = witness.attempts ? on_attempt : NULL;
    watch.recorded = witness.samples ? on_sample : NULL;
    watch.gauges = witness.samples ? record_rows_gauges(witness.samples) : NULL;
    watch.set = witness.audit ? on_set : NULL;
    watch.alerted = witness.alarms ? on_alert : NULL;
    watch.decided = witness.decisions.spool ? on_decision : NULL;
    end = trial_simulate(running->plan->points[point].scenario, replication, &watch, values);
    if (!witness_end(&witness, running->session, end == TRIAL_ENDED, wrong, sizeof wrong))
        end = TRIAL_WRONG;
    session_quality(running->session, watch.present, &observed, values);
    pthread_mutex_lock(&running->lock);
    running->events += events;
    if (running->sums && end == TRIAL_ENDED) {
        measure_merge(&running->sums[point].observed, &observed); /* exact, so the order is all the same */
        running->sums[point].replications++;
    }
    if (end == TRIAL_WRONG && (!running->failed[0] || point < running->failed_point ||
                               (point == running->failed_point && replication < running->failed_replication))) {
        running->failed_point = point;
        running->failed_replication = replication;
        memcpy(running->failed, wrong, sizeof running->failed);
    }
    pthread_mutex_unlock(&running->lock);
    measure_fini(&observed);
    return end == TRIAL_ENDED ? TRIAL_DONE : end == TRIAL_INTERRUPTED ? TRIAL_STOPPED : TRIAL_FAILED;
}

/* On a terminal only: how far, and how long still. */
static void session_progress(void *context, size_t done, size_t all)
{
    struct running *running = context;
    double spent = wall_clock() - running->begun;

    if (!isatty(STDERR_FILENO) || spent < 0.5)
        return;
    running->shown = true;
    fprintf(stderr, "\r%zu of %zu replications", done, all);
    if (done)
        fprintf(stderr, ", about %.0f s left", spent * (double)(all - done) / (double)done);
    fprintf(stderr, "\033[K");
    fflush(stderr);
}

/* All that has to be there before the first trial. */
static void begin(struct session *session, const struct experiment *experiment)
{
    size_t alerts = session->plan.points[0].scenario->alert_count;

    if (session->results.values)
        return;
    experiment_begin(experiment, &session->results);
    if (session->sums_wanted)
        session->sums = mem_zeroed(experiment->points, sizeof *session->sums);
    if (alerts > 0)
        session->alarms = mem_zeroed(experiment->points * experiment->replications * alerts, sizeof *session->alarms);
}

int session_extend(struct session *session, unsigned threads, const unsigned *wanted)
{
    struct running running = {
        .plan = &session->plan, .session = session, .lock = PTHREAD_MUTEX_INITIALIZER, .begun = wall_clock()};
    struct experiment experiment = {
        .points = session->plan.point_count,
        .replications = (unsigned)session->plan.points[0].scenario->study.replications,
        .width = session->width,
        .threads = threads,
        .trial = session_trial,
        .progress = session_progress,
        .context = &running,
        .stop = &cli_stop,
    };

    begin(session, &experiment);
    running.sums = session->sums;
    experiment_extend(&experiment, wanted, &session->results);
    session->seconds += wall_clock() - running.begun;
    session->events += running.events;
    if (running.shown)
        fprintf(stderr, "\r\033[K");
    pthread_mutex_destroy(&running.lock);
    if (session->results.failed) {
        char point[256];

        session_point(&session->plan, running.failed_point, true, point, sizeof point);
        fprintf(stderr, "weir: %s, replication %u: %s\n", point, running.failed_replication, running.failed);
        return EXIT_USAGE;
    }
    return session->results.interrupted ? EXIT_INTERRUPTED : EXIT_DONE;
}

/* More of the points whose interval is too wide; false: there are none. */
static bool want_more(const struct session *session, const struct precision *precision, unsigned *wanted)
{
    bool more = false;

    for (size_t point = 0; point < session->plan.point_count; point++) {
        struct estimate estimate = compare_estimate(&session->results, point, precision->metric);

        if (wanted[point] == (unsigned)precision->most || sequential_precise(estimate, precision->relative))
            continue;
        wanted[point] = sequential_next(wanted[point], (unsigned)precision->most);
        more = true;
    }
    return more;
}

int session_run(struct session *session, unsigned threads)
{
    const struct study *study = &session->plan.points[0].scenario->study;
    const struct precision *precision = study->precision;
    unsigned *wanted = mem_zeroed(session->plan.point_count, sizeof *wanted);
    int status = pilot_warm_up(session, threads);

    for (size_t point = 0; point < session->plan.point_count; point++)
        wanted[point] = (unsigned)(precision ? precision->least : study->replications);
    if (status == EXIT_DONE)
        do
            status = session_extend(session, threads, wanted);
        while (status == EXIT_DONE && precision && want_more(session, precision, wanted));
    signal(SIGALRM, SIG_IGN); /* what follows is ours, and a slow disk may take its time */
    free(wanted);
    return status;
}
