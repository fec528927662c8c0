/* topics_columns.c - columns of rows: those of the program, as its files have them, and those that policies declare. */
#include "sim/cli/topics_columns.h"

#include <stdio.h>
#include <string.h>

#include "models/decisions.h"
#include "models/gauges.h"
#include "models/plan.h"
#include "models/record_columns.h"
#include "sim/cli/call_log.h"
#include "sim/cli/record_file.h"
#include "sim/cli/record_logs.h"
#include "sim/cli/session.h"

static const struct {
    const char *name;
    row_log_columns_fn *columns;
} logs[] = {{"--log", call_log_columns},
            {"a record", record_file_columns},
            {"a log of decisions", decision_columns},
            {"an audit", audit_columns},
            {"a log of alerts", alert_columns}};

/* Those that every scenario has, behind the keys that each of the files begins with. */
static size_t columns_of(size_t log, struct table *table)
{
    static const struct record_columns no_samples = {0};
    static const struct decision_columns no_decisions = {0};
    const struct plan plan = {.record = &no_samples, .decisions = &no_decisions};
    size_t keys;

    session_key_columns(&plan, table);
    keys = table->column_count;
    table_fini(table);
    *table = (struct table){0};
    logs[log].columns(&plan, table);
    return keys;
}

static void print(const char *word, const char *of, const char *policy, const char *unit, const char *help)
{
    printf("%s (column of %s%s%s%s%s): %s\n", word, of, policy[0] ? ", of the policy " : "", policy,
           unit && *unit ? ", " : "", unit ? unit : "", help ? help : "");
}

static bool explain_logs(const char *word)
{
    bool found = false;

    for (size_t i = 0; i < sizeof logs / sizeof *logs; i++) {
        struct table table = {0};

        for (size_t k = columns_of(i, &table); k < table.column_count; k++) {
            if (strcmp(table.columns[k].name, word) != 0)
                continue;
            print(word, logs[i].name, "", table.columns[k].unit, table.columns[k].help);
            found = true;
        }
        table_fini(&table);
    }
    return found;
}

static bool explain_decisions(const char *word, const struct policy_ops *ops)
{
    bool found = false;

    for (const struct policy_column *column = ops->columns; column && column->name; column++) {
        if (strcmp(column->name, word) != 0)
            continue;
        print(word, "a log of decisions", ops->name, column->unit, column->help);
        for (size_t i = 0; column->words && column->words[i]; i++)
            printf("%s%s%s", i == 0 ? "  it is one of: " : ", ", column->words[i], column->words[i + 1] ? "" : "\n");
        found = true;
    }
    return found;
}

static bool explain_gauges(const char *word, const struct policy_ops *ops)
{
    bool found = false;

    for (const struct policy_gauge *gauge = ops->gauges; gauge && gauge->name; gauge++) {
        if (strcmp(gauge->name, word) != 0)
            continue;
        print(word, "a record", ops->name, gauge->unit, gauge->help);
        found = true;
    }
    return found;
}

/* "pool.pacer.level_tok.mean" -> "level_tok", "pool.meter.input.left" -> "left"; cards.up is a name. */
static const char *bare(const char *word, struct arena *arena)
{
    static const char *const ends[] = {".min", ".mean", ".max"};
    size_t length = strlen(word);
    const char *text = word, *cards = strstr(word, "cards.");

    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (length > strlen(ends[i]) && strcmp(word + length - strlen(ends[i]), ends[i]) == 0)
            text = arena_text_of(arena, word, length - strlen(ends[i]));
    if (cards && (cards == word || cards[-1] == '.'))
        return cards;
    return strrchr(text, '.') ? strrchr(text, '.') + 1 : text;
}

bool topics_columns_explain(const char *word, const struct policy_ops *const *policies)
{
    struct arena arena = {0};
    const char *name = bare(word, &arena);
    bool found = explain_logs(word);

    for (size_t i = 0; gauges_word(i); i++) {
        if (strcmp(gauges_word(i)->name, name) != 0)
            continue;
        print(name, "a record", "", gauges_word(i)->unit, gauges_word(i)->help);
        found = true;
    }
    for (size_t i = 0; policies[i]; i++) {
        found = explain_gauges(name, policies[i]) || found;
        found = explain_decisions(name, policies[i]) || found;
    }
    arena_free(&arena);
    return found;
}

size_t topics_columns_names(const char **names, size_t count, size_t most, struct arena *arena)
{
    for (size_t i = 0; i < sizeof logs / sizeof *logs; i++) {
        struct table table = {0};

        for (size_t k = columns_of(i, &table); k < table.column_count && count < most; k++)
            names[count++] = arena_text(arena, table.columns[k].name);
        table_fini(&table);
    }
    for (size_t i = 0; gauges_word(i) && count < most; i++)
        names[count++] = gauges_word(i)->name;
    return count;
}
