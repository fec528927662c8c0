/* regress_report.c - what moved, what it means, how to see it again and how to accept it. */
#include <string.h>

#include "sim/cli/format.h"
#include "sim/cli/regress.h"
#include "sim/cli/version.h"
#include "sim/io/quote.h"

int regress_status(const struct regress_found *found)
{
    const struct comparison *comparison = found->comparison;
    const struct regress_request *request = found->request;
    size_t failed = comparison_rows(comparison, JUDGED_WORSE) + comparison_rows(comparison, JUDGED_TRADE);
    int status = EXIT_DONE;

    for (size_t i = 0; i < found->file_count; i++) {
        const struct regress_file *file = &found->files[i];

        failed += file->missing + (request->strict ? file->unreached : 0);
        status = file->status > status ? file->status : status;
    }
    if (request->strict)
        failed += comparison_rows(comparison, JUDGED_UNDECIDED);
    if (request->exact)
        failed += comparison->value_count - comparison_values(comparison, JUDGED_SAME);
    return status == EXIT_DONE && failed > 0 ? EXIT_NO : status;
}

/* A word of a command line, quoted where a shell would take it for more. */
static const char *shell_word(const char *word, struct arena *arena)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=,:+%@";
    const char *text = "";

    if (*word && word[strspn(word, plain)] == '\0')
        return word;
    for (const char *at = word; *at; at++)
        text = *at == '\'' ? arena_format(arena, "%s'\\''", text) : arena_format(arena, "%s%c", text, *at);
    return arena_format(arena, "'%s'", text);
}

const char *regress_command(const struct regress_found *found, const struct regress_file *file, struct arena *arena)
{
    const char *command = arena_format(arena, "weir regress %s", shell_word(file->path, arena));

    for (size_t i = 0; i < found->words->given_count; i++) {
        const char *name = found->words->given[i].option->name, *value = found->words->given[i].value;

        if (!regress_decides(name))
            continue;
        command =
            arena_format(arena, "%s --%s%s%s", command, name, value ? " " : "", value ? shell_word(value, arena) : "");
    }
    return command;
}

/* Why digits may differ, where that can be told. */
static void print_reason(const struct regress_file *file, const char *before, FILE *out)
{
    if (file->other_results)
        fprintf(out, "%sThe table is of results version %s, this is %d: it is compared by meaning.\n", before,
                table_file_head(&file->table, "results_version"), WEIR_RESULTS);
    else if (file->seed > 0)
        fprintf(out, "%sOther seed: of the scenario's plus %ld.\n", before, file->seed);
    else if (file->other_scenario)
        fprintf(out, "%sThe scenario or its settings are not those that the table was made with.\n", before);
}

static bool any_moved(const struct regress_found *found, size_t file)
{
    const struct comparison *comparison = found->comparison;

    for (size_t i = 0; i < comparison->row_count; i++)
        if (comparison->rows[i].file == file &&
            comparison_moved(&comparison->rows[i], found->request->exact, found->request->strict))
            return true;
    return false;
}

static void print_file(const struct regress_found *found, size_t index, bool markdown, FILE *out)
{
    const struct comparison *comparison = found->comparison;
    const struct regress_file *file = &found->files[index];
    struct table table = {.ascii = format_ascii(), .colour = !markdown && format_colour(found->words, out)};
    struct arena arena = {0};

    fprintf(out, markdown ? "### %s\n\n" : "%s\n",
            markdown ? quote_markdown(file->path, &arena) : quote_terminal(file->path, &arena));
    print_reason(file, "", out);
    comparison_columns(&table);
    for (size_t i = 0; i < comparison->row_count; i++) {
        const struct compared_row *row = &comparison->rows[i];

        if (row->file != index || !comparison_moved(row, found->request->exact, found->request->strict))
            continue;
        comparison_print_row(comparison, i, &table);
        table_note(&table, "%s:%d: %s", row->place.file, row->place.line, comparison_meaning(comparison, i, &arena));
    }
    if (table.row_count > 0)
        format_print(&table, markdown ? FORMAT_MARKDOWN : FORMAT_TEXT, out);
    if (file->missing)
        fprintf(out, "%s%zu rows of %s are no longer in the scenario.\n", markdown ? "\n" : "", file->missing,
                file->table_path);
    fprintf(out, markdown ? "\nTo see it again:\n\n    %s\n" : "To see it again:  %s\n",
            regress_command(found, file, &arena));
    if (!found->request->paired && file->seed == 0 && !found->request->head.policy && !found->request->head.set_count)
        fprintf(out,
                markdown ? "\nTo accept it:\n\n    weir regress %s --update\n\n"
                         : "To accept it:     weir regress %s --update\n",
                shell_word(file->path, &arena));
    fputc('\n', out);
    arena_free(&arena);
    table_fini(&table);
}

void regress_print(const struct regress_found *found, bool markdown, FILE *out)
{
    const struct comparison *comparison = found->comparison;
    size_t missing = 0, fresh = 0, unreached = 0;
    struct arena arena = {0};

    for (size_t i = 0; i < found->file_count; i++) {
        const struct regress_file *file = &found->files[i];

        if (file->status == EXIT_DONE && (any_moved(found, i) || file->missing > 0))
            print_file(found, i, markdown, out);
        missing += file->missing;
        fresh += file->fresh;
        unreached += file->unreached;
    }
    if (!found->request->strict && comparison_rows(comparison, JUDGED_UNDECIDED) > 0)
        fprintf(out,
                "%zu rows are undecided, perhaps worse by more than the tolerance: --strict shows them, and fails.\n",
                comparison_rows(comparison, JUDGED_UNDECIDED));
    if (fresh)
        fprintf(out, "%zu rows have no expectation yet: --update adds them.\n", fresh);
    if (unreached)
        fprintf(out, "%zu rows were not reached within %s; what is said is of the others.\n", unreached,
                cli_value(found->words, "time-limit") ? cli_value(found->words, "time-limit") : "the time there was");
    if (comparison->value_count > 0)
        fprintf(out, "%s\n", comparison_level(comparison, &arena));
    fprintf(out, "%zu %s, %zu rows: %s; %zu missing, %zu new, %zu not reached.\n", found->words->count,
            found->words->count == 1 ? "file" : "files", comparison->row_count, comparison_tally(comparison, &arena),
            missing, fresh, unreached);
    arena_free(&arena);
}
