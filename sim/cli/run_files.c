/* run_files.c - the head of a .meta says all that a picture needs, so `weir plot` draws the same from the file. */
#include "sim/cli/run_files.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "models/demand.h"
#include "sim/cli/output.h"
#include "sim/cli/plot.h"
#include "sim/cli/record_file.h"
#include "sim/cli/survival.h"
#include "sim/cli/version.h"

enum { HEADS_MOST = 12 };

/* The lines at the top of a .meta. */
struct head {
    const char *lines[HEADS_MOST];
    size_t count;
};

/* The knee of the only class, where all design points have the same: a mark in the figure. */
static double common_knee(const struct plan *plan)
{
    double knee = NAN;

    for (size_t i = 0; i < plan->point_count; i++) {
        struct demand demand = demand_of(plan->points[i].scenario, 0);
        double own = demand_knee(&demand);

        if (plan->points[i].scenario->class_count != 1 || !demand.closed || (i > 0 && own != knee))
            return NAN;
        knee = own;
    }
    return knee;
}

static const char *command_of(const struct cli_words *words, struct arena *arena)
{
    const char *command = "weir run";

    for (size_t i = 0; i < words->count; i++)
        command = arena_format(arena, "%s %s", command, words->operands[i]);
    for (size_t i = 0; i < words->given_count; i++)
        command = arena_format(arena, "%s --%s%s%s", command, words->given[i].option->name,
                               words->given[i].value ? " " : "", words->given[i].value ? words->given[i].value : "");
    return command;
}

/* The options that made the scenario another one than its title says: "--policy codel". */
static const char *changes_of(const struct cli_words *words, struct arena *arena)
{
    const char *text = "";

    for (size_t i = 0; i < words->given_count; i++) {
        const char *name = words->given[i].option->name, *value = words->given[i].value;

        if (strcmp(name, "policy") == 0 || (strcmp(name, "set") == 0 && strncmp(value, "study.", 6) != 0))
            text = arena_format(arena, "%s%s--%s %s", text, text[0] ? " " : "", name, value);
    }
    return text;
}

static void head_run(const struct run_files *files, struct head *head, struct arena *arena)
{
    const struct plan *plan = &files->session->plan;
    const char **line = head->lines + head->count;

    *line++ = arena_format(arena, "version: %s", WEIR_VERSION);
    *line++ = arena_format(arena, "results_version: %d", WEIR_RESULTS);
    *line++ = arena_format(arena, "seed: %" PRId64, plan->points[0].scenario->study.seed);
    *line++ = arena_format(arena, "scenario_hash: %016" PRIx64, plan->hash);
    *line++ = arena_format(arena, "command: %s", command_of(files->words, arena));
    *line++ = arena_format(arena, "title: %s", plan->title ? plan->title : "");
    *line++ = arena_format(arena, "partial: %s", files->status == EXIT_INTERRUPTED ? "true" : "false");
    head->count = (size_t)(line - head->lines);
}

/* What pictures need; of differences the place of their base among all alternatives, whose colour is left out. */
static void head_picture(const struct run_files *files, bool differences, struct head *head, struct arena *arena)
{
    const struct plan *plan = &files->session->plan;
    const char *changes = changes_of(files->words, arena);
    double knee = common_knee(plan);
    char digits[32];
    size_t place = 0;

    if (!isnan(knee)) {
        table_digits(knee, digits, sizeof digits);
        head->lines[head->count++] = arena_format(arena, "knee: %s", digits);
    }
    if (changes[0])
        head->lines[head->count++] = arena_format(arena, "changed: %s", changes);
    if (!differences)
        return;
    while (strcmp(plan->labels[place], files->against) != 0)
        place++;
    head->lines[head->count++] = arena_format(arena, "against: %s", files->against);
    head->lines[head->count++] = arena_format(arena, "against_place: %zu", place);
}

static bool write_meta(const struct run_files *files, const struct table *table, bool differences, const char *path)
{
    struct arena arena = {0};
    struct head head = {0};
    struct output output;
    bool good;

    head_run(files, &head, &arena);
    head_picture(files, differences, &head, &arena);
    good = output_open(&output, arena_format(&arena, "%s.meta", path));
    if (good) {
        table_print_meta(table, head.lines, head.count, output.file);
        good = output_close(&output);
    }
    arena_free(&arena);
    return good;
}

bool run_files_write(const struct run_files *files, const struct table *table, bool differences, const char *path)
{
    struct output output;
    bool accompanied;

    if (!output_open(&output, path))
        return false;
    accompanied = output.temporary; /* a device or a pipe has nothing beside it */
    table_print_csv(table, output.file);
    return output_close(&output) && (!accompanied || write_meta(files, table, differences, path));
}

/* Puts a file of rows in its place, and beside it what its columns mean. */
static bool close_rows(const struct run_files *files, struct output *output,
                       void (*describe)(const struct plan *, struct table *), const char *path)
{
    bool accompanied = output->temporary, good = output_close(output);
    struct table columns = {0};

    if (!good || !accompanied)
        return good;
    describe(&files->session->plan, &columns);
    good = write_meta(files, &columns, false, path);
    table_fini(&columns);
    return good;
}

bool run_files_write_rows(const struct run_files *files, const struct row_log *log, row_log_columns_fn *columns,
                          const char *path)
{
    struct output output;

    if (!output_open(&output, path))
        return false;
    if (row_log_print(log, columns, &files->session->results, output.file))
        return close_rows(files, &output, columns, path);
    output_discard(&output);
    return false;
}

bool run_files_write_record(const struct run_files *files, const char *path)
{
    struct output output;

    if (!output_open(&output, path))
        return false;
    record_file_print(files->session->record, &files->session->results, output.file);
    return close_rows(files, &output, record_file_columns, path);
}

/* FOLDER/NAME and an end, NAME being that of the scenario without folder and ending. */
static const char *name_in(const struct run_files *files, const char *end, struct arena *arena)
{
    const char *path = files->words->operands[0], *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    size_t stem = strlen(base);

    if (stem > 5 && strcmp(base + stem - 5, ".yaml") == 0)
        stem -= 5;
    return arena_format(arena, "%s/%.*s%s", files->folder, (int)stem, base, end);
}

/* A table of ours has its companion beside it. */
static bool is_ours(const char *csv, struct arena *arena)
{
    if (access(csv, F_OK) != 0 || access(arena_format(arena, "%s.meta", csv), F_OK) == 0)
        return true;
    fprintf(stderr,
            "weir run: --plot writes its table to `%s`, but there is a file of another origin (it has no .meta "
            "beside it): expected another folder\n",
            csv);
    return false;
}

bool run_files_can_draw(const struct run_files *files)
{
    static const char *const ends[] = {".csv", ".survival.csv", ".differences.csv"};
    size_t count = files->against ? 3 : 2;
    struct arena arena = {0};
    bool good = plot_directory(files->folder);

    for (size_t i = 0; good && i < count; i++)
        good = is_ours(name_in(files, ends[i], &arena), &arena);
    arena_free(&arena);
    return good;
}

/* Writes a table into the folder and draws it; only the columns that are shown, or the usual ones. */
static int draw_table(const struct run_files *files, const struct table *table, const char *end, bool differences,
                      bool shown)
{
    struct arena arena = {0};
    const char **names = arena_zeroed(&arena, table->column_count, sizeof *names);
    struct plot_request plot = {.directory = files->folder, .metrics = names, .lenient = true};
    int status = EXIT_USAGE;

    plot.table = name_in(files, end, &arena);
    for (size_t i = 0; i < table->column_count && shown; i++)
        if (table->columns[i].role == TABLE_VALUE && table->columns[i].shown)
            names[plot.metric_count++] = table->columns[i].name;
    if (run_files_write(files, table, differences, plot.table))
        status = plot_table(&plot);
    arena_free(&arena);
    return status;
}

int run_files_draw(const struct run_files *files, const struct table *table, const struct table *differences)
{
    struct table survival = {0};
    int status = draw_table(files, table, ".csv", false, files->columns != NULL);

    if (status == EXIT_DONE && files->against)
        status = draw_table(files, differences, ".differences.csv", true, files->columns != NULL);
    survival_table(files->session, &survival);
    if (status == EXIT_DONE)
        status = draw_table(files, &survival, ".survival.csv", false, false);
    table_fini(&survival);
    return status;
}
