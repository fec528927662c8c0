/* Reading a scenario and running its study. */
#include "sim/cli/session.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "models/metrics.h"
#include "models/trial.h"
#include "policies/registry.h"
#include "sim/cli/call_log.h"
#include "sim/cli/plugin.h"
#include "sim/cli/record_file.h"
#include "sim/cli/record_logs.h"
#include "sim/io/quote.h"

atomic_int cli_stop;

/* Signals that come together (a terminal and `timeout` both send one) are one request; asked again later, there is no
 * further patience. */
#define PATIENCE_MS 1000

static int now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int)((now.tv_sec * 1000 + now.tv_nsec / 1000000) & 0x3fffffff) + 1;
}

/* A policy that never returns is not told of the request: the program does not wait for it. */
#define GRACE_S 10

static void on_alarm(int signal)
{
    static const char stuck[] = "\nweir: asked to end and still busy: a callback of a policy may not return\n";

    (void)signal;
    if (write(STDERR_FILENO, stuck, sizeof stuck - 1) >= 0)
        fsync(STDERR_FILENO);
    _exit(EXIT_INTERRUPTED);
}

/* cli_stop holds when it was asked first. */
static void on_signal(int signal)
{
    static const char gone[] = "\nweir: interrupted twice: nothing is printed\n";
    int now = now_ms();

    (void)signal;
    if (!cli_stop) {
        cli_stop = now;
        alarm(GRACE_S);
    }
    if (now - cli_stop >= 0 && now - cli_stop < PATIENCE_MS)
        return;
    if (write(STDERR_FILENO, gone, sizeof gone - 1) >= 0)
        fsync(STDERR_FILENO);
    _exit(EXIT_INTERRUPTED);
}

/* A reader that goes away and a limit on file sizes show as errors of writing, not as a death in between. */
void cli_catch_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal}, ignore = {.sa_handler = SIG_IGN};
    struct sigaction late = {.sa_handler = on_alarm};

    sigemptyset(&action.sa_mask);
    sigemptyset(&ignore.sa_mask);
    sigemptyset(&late.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGALRM, &late, NULL);
    sigaction(SIGPIPE, &ignore, NULL);
    sigaction(SIGXFSZ, &ignore, NULL);
}

static double wall_clock(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* All --set in order, and -r as the last of them. */
static const char *const *session_sets(struct session *session, const struct cli_words *words, size_t *count)
{
    const char *replications = cli_value(words, "replications");
    const char **given = cli_list(words, "set", false, count);
    const char **sets = arena_zeroed(&session->arena, *count + 1, sizeof *sets);

    for (size_t i = 0; i < *count; i++)
        sets[i] = arena_text(&session->arena, given[i]);
    free(given);
    if (replications)
        sets[(*count)++] = arena_format(&session->arena, "study.replications=%s", replications);
    return sets;
}

const struct policy_ops *const *session_policies(const struct cli_words *words, struct arena *arena)
{
    struct diag diag = {0};
    size_t count;
    const char **plugins = cli_list(words, "plugin", false, &count);
    const struct policy_ops *const *policies = plugin_join(plugins, count, arena, &diag);

    diag_print(&diag, stderr);
    if (diag.errors > 0)
        policies = NULL;
    diag_fini(&diag);
    free(plugins);
    return policies;
}

static bool plays(const struct plan *plan, const struct policy_ops *ops)
{
    for (size_t i = 0; i < plan->point_count; i++) {
        const struct chain *chain = &plan->points[i].scenario->chain;

        for (size_t k = 0; k < chain->count; k++)
            if (chain->members[k].ops == ops)
                return true;
    }
    return false;
}

/* A plug-in that no alternative names would be missed in the table without a word. */
static void note_idle_plugins(const struct session *session, const struct cli_words *words)
{
    size_t built_in = 0;

    while (policy_registry[built_in])
        built_in++;
    for (size_t i = built_in; session->policies[i]; i++)
        if (!plays(&session->plan, session->policies[i]))
            fprintf(stderr,
                    "weir: note: no alternative of %s names the policy `%s`; to see it beside unbounded: --policy "
                    "unbounded,%s\n",
                    words->operands[0], session->policies[i]->name, session->policies[i]->name);
}

static bool open_plan(struct session *session, const struct cli_words *words, struct plan_request request)
{
    struct diag diag = {0};
    const char **only;
    long ignored;
    bool good;

    *session = (struct session){0};
    request.path = words->operands[0];
    request.load = plugin_load;
    if (!cli_count(words, "replications", 0, 1, 100000, &ignored))
        return false;
    request.sets = session_sets(session, words, &request.set_count);
    only = cli_list(words, "policy", true, &request.only_count);
    request.only = only;
    request.policies = session->policies = session_policies(words, &session->arena);
    good = request.policies && plan_read(&request, &session->plan, &diag);
    diag_print(&diag, stderr);
    diag_fini(&diag);
    free(only);
    if (good)
        note_idle_plugins(session, words);
    for (size_t i = 0; good && i < session->plan.point_count; i++) {
        size_t width = trial_row_count(session->plan.points[i].scenario) * METRIC_COUNT;

        if (width > session->width)
            session->width = width;
    }
    return good;
}

bool session_open(struct session *session, const struct cli_words *words)
{
    return open_plan(session, words, (struct plan_request){0});
}

bool session_open_pools(struct session *session, const struct cli_words *words)
{
    return open_plan(session, words, (struct plan_request){.pools_alone = true});
}

bool session_open_any(struct session *session, const struct cli_words *words)
{
    return open_plan(session, words, (struct plan_request){.pools_taken = true});
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

static enum trial_outcome session_trial(void *context, size_t point, unsigned replication, double *values)
{
    struct running *running = context;
    char wrong[512];
    uint64_t events = 0;
    struct measure observed = {0};
    struct witness witness;
    struct trial_watch watch = {
        .stop = &cli_stop,
        .events = &events,
        .wrong = wrong,
        .wrong_size = sizeof wrong,
        .context = &witness,
        .observed = running->sums ? &observed : NULL,
    };
    enum trial_end end;

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

void session_point(const struct plan *plan, size_t point, bool named, char *text, size_t size)
{
    size_t used = (size_t)snprintf(text, size, "%s", plan->points[point].scenario->chain.label);

    for (size_t i = 0; i < plan->factor_count && used < size; i++) {
        if (!plan->points[point].factors[i])
            continue;
        used += (size_t)snprintf(text + used, size - used, "%s%s %s", named ? ", " : "",
                                 named ? plan->factor_names[i] : "", plan->points[point].factors[i]);
    }
}

void session_key_columns(const struct plan *plan, struct table *table)
{
    table_column(table, "policy", "", "", "the alternative under `policies:`", TABLE_KEY, true);
    for (size_t i = 0; i < plan->factor_count; i++)
        table_column(table, plan->factor_names[i], "", "", "a factor of the sweep", TABLE_KEY, true);
    table_column(table, "replication", "", "", "number of the replication, from 1", TABLE_KEY, true);
}

const char *session_keys(const struct plan *plan, size_t point, unsigned replication, struct arena *arena)
{
    const char *keys = quote_csv(plan->points[point].scenario->chain.label, arena);

    for (size_t i = 0; i < plan->factor_count; i++) {
        const char *factor = plan->points[point].factors[i];

        keys = arena_format(arena, "%s,%s", keys, factor ? quote_csv(factor, arena) : "");
    }
    return arena_format(arena, "%s,%u", keys, replication);
}

struct session_alarm *session_alarms(const struct session *session, size_t point, unsigned replication)
{
    const struct scenario *scenario = session->plan.points[0].scenario;

    return session->alarms + (point * (size_t)scenario->study.replications + replication - 1) * scenario->alert_count;
}

int session_run(struct session *session, unsigned threads)
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

    if (session->sums_wanted)
        running.sums = session->sums = mem_zeroed(session->plan.point_count, sizeof *session->sums);
    if (session->plan.points[0].scenario->alert_count > 0)
        session->alarms =
            mem_zeroed(experiment.points * experiment.replications * session->plan.points[0].scenario->alert_count,
                       sizeof *session->alarms);
    experiment_run(&experiment, &session->results);
    signal(SIGALRM, SIG_IGN); /* what follows is ours, and a slow disk may take its time */
    session->seconds = wall_clock() - running.begun;
    session->events = running.events;
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

void session_close(struct session *session)
{
    for (size_t i = 0; session->sums && i < session->plan.point_count; i++)
        measure_fini(&session->sums[i].observed);
    free(session->sums);
    row_log_free(session->log);
    record_file_free(session->record);
    row_log_free(session->decisions);
    row_log_free(session->audit);
    row_log_free(session->alerts);
    free(session->alarms);
    results_fini(&session->results);
    plan_fini(&session->plan);
    arena_free(&session->arena);
}
