/* weir run: the study of a scenario, its table, and what was asked for beside it. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "sim/cli/call_log.h"
#include "sim/cli/commands.h"
#include "sim/cli/format.h"
#include "sim/cli/output.h"
#include "sim/cli/published.h"
#include "sim/cli/record_file.h"
#include "sim/cli/record_logs.h"
#include "sim/cli/report.h"
#include "sim/cli/run_files.h"
#include "sim/cli/tornado.h"
#include "sim/cli/verify.h"
#include "sim/io/quote.h"

const struct cli_option cmd_run_options[] = {
    CLI_PLAN_OPTIONS,
    {"jobs", 'j', "N", "threads; default: as many as there are cores"},
    {"output", 'o', "OUT.csv", "write the table there too, with OUT.csv.meta"},
    CLI_FORMAT_OPTIONS,
    {"columns", 0, "all|A,B,...", "which metrics text, Markdown and pictures show"},
    {"against", 0, "POLICY", "also the paired differences to it; in CSV after a blank line"},
    {"plot", 0, "DIR", "draw the table and the spread of the waits there, as SVG and PNG"},
    {"log", 0, "CALLS.csv", "write a row for each attempt there, with CALLS.csv.meta"},
    {"log-replications", 0, "1|all", "which replications of each design point --log covers; default 1"},
    {"tornado", 0, NULL, "instead: move each value of `tornado:` through its range"},
    {"verify", 0, NULL, "also hold the run against identities and closed forms"},
    {.name = NULL},
};

struct request {
    enum format format;
    const char *output, *columns, *against, *plot, *log;
    bool verify, log_all;
    long jobs;
};

/* Where the log goes, and how much of it. False after a message on stderr. */
static bool read_log(const struct cli_words *words, struct request *request)
{
    const char *covers = cli_value(words, "log-replications");

    request->log = cli_value(words, "log");
    request->log_all = covers && strcmp(covers, "all") == 0;
    if (covers && !request->log_all && strcmp(covers, "1") != 0)
        fprintf(stderr, "weir run: `--log-replications %s`: expected 1 or all\n", covers);
    else if (covers && !request->log)
        fprintf(stderr, "weir run: `--log-replications %s` without `--log CALLS.csv`\n", covers);
    else if (request->log && request->output && strcmp(request->log, request->output) == 0)
        fprintf(stderr, "weir run: `--log` and `--output` name the same file, `%s`\n", request->log);
    else
        return true;
    return false;
}

static bool read_request(const struct cli_words *words, struct request *request)
{
    request->output = cli_value(words, "output");
    request->columns = cli_value(words, "columns");
    request->against = cli_value(words, "against");
    request->plot = cli_value(words, "plot");
    request->verify = cli_has(words, "verify");
    return read_log(words, request) && format_read(words, &request->format) && report_columns(request->columns) &&
           cli_count(words, "jobs", 0, 1, 4096, &request->jobs);
}

/* "out.csv" -> "out.differences.csv" */
static char *beside(struct arena *arena, const char *path)
{
    size_t stem = strlen(path);

    if (stem > 4 && strcmp(path + stem - 4, ".csv") == 0)
        stem -= 4;
    return arena_format(arena, "%.*s.differences.csv", (int)stem, path);
}

/* Published numbers belong to the scenario as it is written: a --set of anything but the study makes it another one. */
static bool as_published(const struct cli_words *words)
{
    for (size_t i = 0; i < words->given_count; i++)
        if (strcmp(words->given[i].option->name, "set") == 0 && strncmp(words->given[i].value, "study.", 6) != 0)
            return false;
    return true;
}

/* What the scenario's `record:` asks for. */
static const struct record_spec *record_of(const struct session *session)
{
    static const struct record_spec none = {.file = NULL};
    const struct record_spec *record = session->plan.points[0].scenario->record;

    return record ? record : &none;
}

/* Their names are the scenario's, so who runs it is told. */
static bool told(const char *path, bool written)
{
    struct arena arena = {0};
    struct stat file;

    if (written && stat(path, &file) == 0 && S_ISREG(file.st_mode))
        fprintf(stderr, "weir: wrote %s and .meta\n", quote_terminal(path, &arena));
    arena_free(&arena);
    return written;
}

/* What the scenario's `record:` asks for. */
static bool write_record(const struct run_files *files)
{
    const struct session *session = files->session;
    const struct record_spec *record = record_of(session);
    const struct {
        const struct row_log *log;
        row_log_columns_fn *columns;
        const char *path;
    } logs[] = {{session->decisions, decision_columns, record->decisions},
                {session->audit, audit_columns, record->audit},
                {session->alerts, alert_columns, record->alerts}};
    bool good = true;

    if (session->record)
        good = told(record->file, run_files_write_record(files, record->file));
    for (size_t i = 0; i < sizeof logs / sizeof *logs; i++)
        if (logs[i].log)
            good = told(logs[i].path, run_files_write_rows(files, logs[i].log, logs[i].columns, logs[i].path)) && good;
    return good;
}

/* Everything a finished (or interrupted) study gives. EXIT_DONE or an error's exit status. */
static int deliver(const struct session *session, const struct request *request, const struct cli_words *words,
                   int status)
{
    struct run_files files = {session, words, request->plot, request->columns, request->against, status};
    FILE *aside = request->format == FORMAT_CSV ? stderr : stdout; /* what is no table of a program's */
    struct table table = {.ascii = format_ascii(),
                          .colour = format_colour(words, stdout),
                          .broadest = format_width(stdout)},
                 differences = table;
    struct diag diag = {0};
    struct arena arena = {0};
    bool good = true;

    report_table(session, request->columns, &table);
    report_notes(session, status == EXIT_INTERRUPTED, &table);
    if (request->against)
        report_differences(session, request->against, request->columns, &differences);
    if (request->output)
        good = run_files_write(&files, &table, false, request->output);
    if (request->output && request->against)
        good = run_files_write(&files, &differences, true, beside(&arena, request->output)) && good;
    if (session->log)
        good = run_files_write_rows(&files, session->log, call_log_columns, request->log) && good;
    good = write_record(&files) && good;
    if (request->format == FORMAT_TEXT && session->plan.title)
        printf("%s\n\n", quote_terminal(session->plan.title, &arena));
    format_print(&table, request->format, stdout);
    if (request->against) {
        printf("\n");
        format_print(&differences, request->format, stdout);
    }
    if (request->format != FORMAT_CSV && as_published(words)) {
        good = published_print(words->operands[0], &table, request->format == FORMAT_MARKDOWN, stdout, &diag, NULL,
                               NULL) &&
               good;
        diag_print(&diag, stderr);
    } else if (request->format != FORMAT_CSV && published_exists(words->operands[0])) {
        printf("\nThe published numbers are not shown: --set made this another scenario.\n");
    }
    if (request->verify)
        verify_print(session, request->format != FORMAT_MARKDOWN && format_colour(words, aside), aside);
    good = output_flush(stdout, "standard output") && good;
    if (status == EXIT_INTERRUPTED)
        fprintf(stderr, "weir: interrupted: the table is partial, what was not finished is missing\n");
    status = !good ? EXIT_USAGE : request->plot ? run_files_draw(&files, &table, &differences) : EXIT_DONE;
    diag_fini(&diag);
    arena_free(&arena);
    table_fini(&table);
    table_fini(&differences);
    return status;
}

/* What the scenario is read from: itself, what it includes, columns of data. NULL: the file is none of them. */
static const char *read_as(const struct plan *plan, const char *path)
{
    bool scenario = output_same(path, plan->path);

    for (size_t i = 0; i < plan->included_count && !scenario; i++)
        scenario = output_same(path, plan->included[i]);
    if (scenario)
        return "the scenario";
    for (size_t i = 0; i < plan->data_count; i++)
        if (output_same(path, plan->data[i]))
            return "data of the scenario";
    return NULL;
}

/* A file that is written, and what messages call it; path NULL: it is not. */
struct written {
    const char *name, *path;
};

/* What is written goes into no file that is read, and two into none. A table has its companion beside it. */
static bool spares_files(const struct session *session, const struct written *files, size_t count)
{
    struct arena arena = {0};
    bool good = true;

    for (size_t i = 0; i < 2 * count && good; i++) {
        const char *path = files[i / 2].path, *what;

        if (!path)
            continue;
        path = i % 2 ? arena_format(&arena, "%s.meta", path) : path;
        what = read_as(&session->plan, path);
        good = what == NULL;
        if (!good)
            fprintf(stderr, "weir run: %s would overwrite %s, `%s`: expected another file\n", files[i / 2].name, what,
                    path);
        for (size_t k = 0; k < i / 2 * 2 && good; k++) {
            const char *other = files[k / 2].path;

            if (!other || !output_same(path, k % 2 ? arena_format(&arena, "%s.meta", other) : other))
                continue;
            good = false;
            fprintf(stderr, "weir run: %s and %s name the same file, `%s`\n", files[k / 2].name, files[i / 2].name,
                    path);
        }
    }
    arena_free(&arena);
    return good;
}

/* All that is written can be. */
static bool can_write(const struct session *session, const struct request *request)
{
    const struct record_spec *record = record_of(session);
    const struct written files[] = {
        {"`--output`", request->output},         {"`--log`", request->log},
        {"the scenario's record", record->file}, {"the scenario's log of decisions", record->decisions},
        {"the scenario's audit", record->audit}, {"the scenario's log of alerts", record->alerts}};
    size_t count = sizeof files / sizeof *files;

    if (!spares_files(session, files, count))
        return false;
    for (size_t i = 0; i < count; i++)
        if (files[i].path && !output_possible(files[i].path))
            return false;
    return true;
}

/* What would be a pity to find out only after a long run. */
static bool can_deliver(const struct session *session, const struct request *request, const struct cli_words *words)
{
    struct run_files files = {.session = session, .words = words, .folder = request->plot, .against = request->against};
    struct table columns = {0};
    struct diag diag = {0};
    bool good;

    report_table(session, NULL, &columns);
    good = !as_published(words) || published_print(words->operands[0], &columns, false, stdout, &diag, NULL, NULL);
    diag_print(&diag, stderr);
    diag_fini(&diag);
    table_fini(&columns);
    return good && can_write(session, request) && (!request->plot || run_files_can_draw(&files));
}

static void begin_files(struct session *session, const struct request *request)
{
    const struct record_spec *record = record_of(session);
    const struct plan *plan = &session->plan;

    if (request->log)
        session->log = row_log_new(plan, "log", request->log, request->log_all);
    session->record = record_file_new(plan);
    if (record->decisions)
        session->decisions = row_log_new(plan, "log of decisions", record->decisions, record->all_replications);
    if (record->audit)
        session->audit = row_log_new(plan, "audit", record->audit, record->all_replications);
    if (record->alerts)
        session->alerts = row_log_new(plan, "log of alerts", record->alerts, record->all_replications);
}

/* A study of its own: what is written down of a run is not of it. False after a message. */
static bool tornado_alone(const struct cli_words *words)
{
    static const char *const others[] = {"output", "columns", "against", "log", "verify"};

    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (cli_has(words, others[i]) || cli_value(words, others[i])) {
            fprintf(stderr, "weir run: `--tornado` and `--%s`: expected one of the two\n", others[i]);
            return false;
        }
    return true;
}

static bool any_finished(const struct results *results)
{
    for (size_t i = 0; i < results->points; i++)
        if (results->finished[i] > 0)
            return true;
    return false;
}

int cmd_run(const struct cli_words *words)
{
    struct request request;
    struct session session = {0};
    int status = EXIT_USAGE;

    if (cli_has(words, "tornado")) {
        struct tornado_request tornado = {.plot = cli_value(words, "plot")};

        if (!tornado_alone(words) || !read_request(words, &request))
            return EXIT_USAGE;
        tornado.format = request.format;
        tornado.threads = (unsigned)request.jobs;
        return tornado_run(words, &tornado);
    }
    if (read_request(words, &request) && session_open(&session, words) &&
        (!request.against || report_label(&session, request.against)) && can_deliver(&session, &request, words)) {
        session.sums_wanted = request.plot != NULL;
        begin_files(&session, &request);
        status = session_run(&session, (unsigned)request.jobs);
        if (status == EXIT_INTERRUPTED && !any_finished(&session.results)) {
            fprintf(stderr, "weir: interrupted before a replication was finished: there is no table\n");
        } else if (status == EXIT_DONE || status == EXIT_INTERRUPTED) {
            int delivered = deliver(&session, &request, words, status);

            status = delivered == EXIT_DONE ? status : delivered;
        }
    }
    session_close(&session);
    return status;
}
