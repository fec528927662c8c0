/* weir regress: did this change make it worse? */
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sim/cli/commands.h"
#include "sim/cli/format.h"
#include "sim/cli/output.h"
#include "sim/cli/plugin.h"
#include "sim/cli/regress.h"
#include "sim/cli/session.h"
#include "sim/io/unit.h"

/* clang-format off */
const struct cli_option cmd_regress_options[] = {
    {"policy", 'p', "A,B", "only these alternatives"},
    CLI_PLUGIN_OPTION,
    {"head", 0, "NEW.so", "a plug-in that stands in for the policy of its name"},
    {"base", 0, "OLD.so", "no table: the head against this one, paired"},
    {"head-set", 0, "KEY=YAML", "change a value of the scenario; may be repeated"},
    {"base-set", 0, "KEY=YAML", "no table: the head against this, paired; may be repeated"},
    {"paired", 0, NULL, "no table: the head against the scenario as it is, paired"},
    {"replications", 'r', "N", "of a paired comparison to begin with; default: those of the study"},
    {"most", 0, "N", "replications at most, of undecided rows; default: 4 times as many"},
    {"other-seeds", 0, "N", "at N other seeds: a changed policy, or only a changed stream?"},
    {"strict", 0, NULL, "undecided, or not reached, is 1 too"},
    {"exact", 0, NULL, "other digits are 1, whatever they mean"},
    {"update", 0, NULL, "accept what is: rewrite the rows that changed, or begin a table"},
    {"time-limit", 0, "TIME", "end with what is decided by then: 90 s"},
    {"jobs", 'j', "N", "threads; default: as many as there are cores"},
    {"format", 0, "text|markdown", "how stdout looks; default text"},
    {"color", 0, "auto|always|never", "of text; auto: on a terminal, unless NO_COLOR is set"},
    {.name = NULL},
};
/* clang-format on */

/* What to run is said by these; the others only say how. */
bool regress_decides(const char *option)
{
    static const char *const others[] = {"update", "time-limit", "jobs", "format", "color"};

    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(option, others[i]) == 0)
            return false;
    return true;
}

static bool refuse(const char *what)
{
    fprintf(stderr, "weir regress: %s\n", what);
    return false;
}

static bool read_limit(const struct cli_words *words, struct regress_request *request)
{
    const char *text = cli_value(words, "time-limit"), *end, *why;
    struct number number;
    struct timespec now;

    request->deadline = INFINITY;
    if (!text)
        return true;
    if (!unit_read(text, &end, &number, &why) || *end || number.quantity != QUANTITY_TIME || !(number.value > 0)) {
        fprintf(stderr, "weir regress: `--time-limit %s`: expected a time, such as '90 s'\n", text);
        return false;
    }
    clock_gettime(CLOCK_MONOTONIC, &now);
    request->deadline = (double)now.tv_sec + (double)now.tv_nsec * 1e-9 + number.value;
    return true;
}

static bool read_version(const struct cli_words *words, const char *plugin, const char *set,
                         struct regress_version *version)
{
    struct diag diag = {0};

    version->plugin = cli_value(words, plugin);
    version->sets = cli_list(words, set, false, &version->set_count);
    if (version->plugin)
        version->policy =
            plugin_load(version->plugin, (struct place){plugin[0] == 'b' ? "--base" : "--head", 0, 0}, &diag);
    diag_print(&diag, stderr);
    diag_fini(&diag);
    return !version->plugin || version->policy;
}

static bool goes_together(const struct cli_words *words, const struct regress_request *request)
{
    const struct policy_ops *base = request->base.policy, *head = request->head.policy;
    bool changed = request->paired || head || request->head.set_count > 0 || request->other_seeds > 0;

    if (base && (!head || strcmp(base->name, head->name) != 0))
        return refuse("`--base` and `--head`: expected two versions of one policy, with one name");
    if (request->paired && !base && !request->base.set_count && !head && !request->head.set_count)
        return refuse("`--paired` without `--head` or `--head-set`: expected something that differs");
    if (request->update && changed)
        return refuse("`--update` writes what the scenario gives as it is: expected no version and no other seed");
    if (cli_has(words, "replications") && !request->paired && !request->update)
        return refuse("`--replications` is of a paired comparison, or of a new table: a table says how many it has");
    return true;
}

static bool read_request(const struct cli_words *words, struct arena *arena, struct regress_request *request)
{
    enum format format;
    long threads, replications;

    request->paired = cli_has(words, "paired") || cli_has(words, "base") || cli_has(words, "base-set");
    request->exact = cli_has(words, "exact");
    request->strict = cli_has(words, "strict");
    request->update = cli_has(words, "update");
    request->policies = cli_list(words, "policy", true, &request->policy_count);
    request->policy_seen = mem_zeroed(request->policy_count + 1, sizeof *request->policy_seen);
    request->known = session_policies(words, arena);
    if (!request->known || !format_read(words, &format) || !cli_count(words, "jobs", 0, 1, 4096, &threads) ||
        !cli_count(words, "replications", 0, 1, 100000, &replications) ||
        !cli_count(words, "most", 0, 1, 100000, &request->most) ||
        !cli_count(words, "other-seeds", 0, 1, 100000, &request->other_seeds) || !read_limit(words, request) ||
        !read_version(words, "base", "base-set", &request->base) ||
        !read_version(words, "head", "head-set", &request->head))
        return false;
    if (format == FORMAT_CSV)
        return refuse("`--format csv`: expected text or markdown");
    request->threads = (unsigned)threads;
    request->replications = (unsigned)replications;
    return goes_together(words, request);
}

static unsigned looks_of(const struct regress_file *file)
{
    unsigned looks = 1;

    for (unsigned n = file->replications; n < file->most; n *= 2)
        looks++;
    return looks;
}

/* Points with a row that nobody can tell about yet are run on. */
static bool choose_undecided(struct regress_found *found)
{
    const struct comparison *comparison = found->comparison;
    bool any = false;

    for (size_t i = 0; i < found->file_count; i++)
        if (found->files[i].wanted)
            memset(found->files[i].wanted, 0, found->files[i].head.plan.point_count * sizeof(bool));
    for (size_t i = 0; i < comparison->row_count; i++) {
        const struct compared_row *row = &comparison->rows[i];
        struct regress_file *file = &found->files[row->file];

        if (row->verdict != JUDGED_UNDECIDED || file->head.finished[row->point] >= file->most)
            continue;
        file->wanted[row->point] = any = true;
    }
    return any;
}

/* Runs all, looks, runs on what is undecided. */
static void run_all(struct regress_found *found, struct regress_request *request, struct comparison *comparison,
                    struct diag *diag)
{
    bool more = true;

    for (unsigned look = 0; look < comparison->looks && more; look++) {
        for (size_t i = 0; i < found->file_count; i++) {
            struct regress_file *file = &found->files[i];
            unsigned upto = file->replications;

            for (unsigned k = 0; k < look && upto < file->most; k++)
                upto = 2 * upto < file->most ? 2 * upto : file->most;
            if (file->status == EXIT_DONE)
                regress_file_run(file, upto, request);
        }
        comparison_clear(comparison);
        for (size_t i = 0; i < found->file_count; i++)
            if (found->files[i].status == EXIT_DONE)
                regress_file_compare(&found->files[i], i, request, comparison, diag);
        comparison_judge(comparison);
        more = !request->stop && choose_undecided(found);
    }
}

/* A gate that compares nothing passes everything. */
static int nothing_compared(const struct regress_found *found)
{
    const struct regress_request *request = found->request;
    size_t errors = 0;

    for (size_t i = 0; i < request->policy_count; i++)
        if (!request->policy_seen[i]) {
            fprintf(stderr, "weir regress: `--policy %s`: no scenario names it\n", request->policies[i]);
            errors++;
        }
    if (request->head.policy && !request->head_seen) {
        fprintf(stderr, "weir regress: `--head %s`: no scenario names its policy, `%s`\n", request->head.plugin,
                request->head.policy->name);
        errors++;
    }
    for (size_t i = 0; i < found->file_count; i++) {
        const struct regress_file *file = &found->files[i];
        size_t values = 0, asked = 0;

        for (size_t k = 0; k < found->comparison->row_count; k++)
            values += found->comparison->rows[k].file == i ? found->comparison->rows[k].count : 0;
        for (size_t k = 0; file->asked && k < file->head.plan.point_count; k++)
            asked += file->asked[k];
        if (file->status != EXIT_DONE || values > 0 || asked == 0 || file->unreached > 0)
            continue;
        fprintf(stderr, "%s: error: nothing was compared: no row and gated metric of it is in %s\n", file->path,
                file->table_path ? file->table_path : "both versions");
        errors++;
    }
    if (errors == 0 && found->comparison->value_count == 0 && regress_status(found) != EXIT_USAGE) {
        fprintf(stderr, "weir regress: nothing was compared\n");
        errors++;
    }
    return errors > 0 ? EXIT_USAGE : EXIT_DONE;
}

static int update_all(struct regress_found *found)
{
    int status = EXIT_DONE;

    for (size_t i = 0; i < found->file_count; i++) {
        struct regress_file *file = &found->files[i];
        size_t rows;

        if (file->status != EXIT_DONE)
            status = file->status;
        else if (regress_table_update(file, &rows))
            printf("%s: %zu rows rewritten.\n", file->table_path, rows);
        else
            status = EXIT_USAGE;
    }
    return status;
}

static void open_all(const struct cli_words *words, struct regress_request *request, struct regress_found *found)
{
    size_t seeds = request->other_seeds > 0 ? (size_t)request->other_seeds : 1;

    found->file_count = words->count * seeds;
    found->files = mem_zeroed(found->file_count, sizeof *found->files);
    for (size_t i = 0; i < found->file_count; i++) {
        struct regress_file *file = &found->files[i];
        struct diag diag = {0};

        file->path = words->operands[i / seeds];
        file->seed = request->other_seeds > 0 ? (long)(i % seeds) + 1 : 0;
        file->replications = request->replications;
        regress_file_open(file, request, &diag);
        diag_print(&diag, stderr);
        diag_fini(&diag);
    }
}

int cmd_regress(const struct cli_words *words)
{
    struct regress_request request = {.known = NULL};
    struct comparison comparison = {.looks = 1};
    struct regress_found found = {.request = &request, .words = words, .comparison = &comparison};
    struct arena arena = {0};
    struct diag diag = {0};
    int status = EXIT_USAGE;

    if (read_request(words, &arena, &request)) {
        open_all(words, &request, &found);
        for (size_t i = 0; i < found.file_count; i++)
            if (found.files[i].status == EXIT_DONE && looks_of(&found.files[i]) > comparison.looks)
                comparison.looks = looks_of(&found.files[i]);
        run_all(&found, &request, &comparison, &diag);
        signal(SIGALRM, SIG_IGN); /* what follows is ours, and a slow disk may take its time */
        diag_print(&diag, stderr);
        if (request.update)
            status = cli_stop ? EXIT_INTERRUPTED : update_all(&found);
        else {
            status = nothing_compared(&found);
            regress_print(&found, strcmp(cli_value(words, "format") ? cli_value(words, "format") : "", "markdown") == 0,
                          stdout);
            if (regress_status(&found) > status)
                status = regress_status(&found);
        }
        if (cli_stop)
            status = EXIT_INTERRUPTED;
        if (!output_flush(stdout, "standard output"))
            status = EXIT_USAGE;
    }
    for (size_t i = 0; i < found.file_count; i++)
        regress_file_close(&found.files[i]);
    free(found.files);
    free(request.policies);
    free(request.policy_seen);
    free(request.base.sets);
    free(request.head.sets);
    comparison_fini(&comparison);
    diag_fini(&diag);
    arena_free(&arena);
    return status;
}
