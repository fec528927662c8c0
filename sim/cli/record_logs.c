/* record_logs.c - the rows of an audit and of a log of decisions. */
#include "sim/cli/record_logs.h"

#include <errno.h>
#include <inttypes.h>

#include "sim/cli/session.h"
#include "sim/io/quote.h"

/* Two fields: the gate, and CLASS, TENANT or CLASS.NUMBER. Names need no quotes. */
static void print_copy(const struct copy_name *copy, FILE *out)
{
    fprintf(out, "%s,%s", copy->gate, copy->whose);
    if (copy->agent >= 0)
        fprintf(out, ".%" PRId64, copy->agent);
}

static void copy_columns(struct table *table)
{
    table_column(table, "gate", "", "",
                 "backend of the copy's gate, or of the cards; empty: one copy in all, or not of a policy", TABLE_KEY,
                 true);
    table_column(table, "copy", "", "",
                 "whose copy it is where a gate has several: class, tenant, or class and number of the agent",
                 TABLE_KEY, true);
}

static void remember_error(struct row_spool *spool)
{
    if (!spool->error && ferror(spool->file))
        spool->error = errno ? errno : EIO;
}

/* --- audit -------------------------------------------------------------------------------------------------------- */

void audit_row(struct row_spool *spool, const struct set_record *record)
{
    struct arena arena = {0};

    if (spool->error)
        return;
    fprintf(spool->file, "%s,", spool->keys);
    row_log_time(record->at, spool->file);
    fprintf(spool->file, ",%s,", quote_csv(record->key, &arena));
    print_copy(&record->copy, spool->file);
    fprintf(spool->file, ",%s,%s,%s,%s\n", quote_csv(record->old, &arena), quote_csv(record->now, &arena), record->by,
            quote_csv(record->reason, &arena));
    remember_error(spool);
    arena_free(&arena);
}

void audit_columns(const struct plan *plan, struct table *table)
{
    session_key_columns(plan, table);
    table_column(table, "time", "s", "", "when it was set, from the start of the replication, warm-up included",
                 TABLE_KEY, true);
    table_column(table, "key", "", "", "address of the value", TABLE_KEY, true);
    copy_columns(table);
    table_column(table, "old", "", "", "what it was, as a scenario would write it", TABLE_VALUE, true);
    table_column(table, "new", "", "", "what it is from then on", TABLE_VALUE, true);
    table_column(
        table, "by", "", "",
        "operator: by the scenario's `changes`; autoscaler: of the backend's `cards`; else the member that set it",
        TABLE_VALUE, true);
    table_column(table, "reason", "", "", "what they say why", TABLE_VALUE, true);
}

/* --- alerts ------------------------------------------------------------------------------------------------------- */

void alert_row(struct row_spool *spool, const struct alert_record *record)
{
    const struct alert *alert = &spool->scenario->alerts[record->alert];
    struct arena arena = {0};

    if (spool->error)
        return;
    fprintf(spool->file, "%s,", spool->keys);
    row_log_time(record->at, spool->file);
    fprintf(spool->file, ",%s,%s,%s\n", quote_csv(alert->text, &arena), spool->scenario->backends[record->gate].name,
            record->on ? "raised" : "over");
    remember_error(spool);
    arena_free(&arena);
}

void alert_columns(const struct plan *plan, struct table *table)
{
    session_key_columns(plan, table);
    table_column(table, "time", "s", "", "when it was, from the start of the replication, warm-up included", TABLE_KEY,
                 true);
    table_column(table, "alert", "", "", "as it stands under `alerts:`", TABLE_KEY, true);
    table_column(table, "backend", "", "", "at whose gate", TABLE_KEY, true);
    table_column(table, "state", "", "", "raised; or over, when it is no longer so", TABLE_VALUE, true);
}

/* --- decisions ---------------------------------------------------------------------------------------------------- */

void decision_rows_begin(struct decision_rows *rows, const struct plan *plan, struct row_spool *spool)
{
    const struct chain *chain;

    *rows = (struct decision_rows){.spool = spool, .columns = plan->decisions};
    if (!spool)
        return;
    chain = &spool->scenario->chain;
    rows->places = arena_zeroed(&rows->arena, chain->count, sizeof(*rows->places));
    rows->cells = arena_zeroed(&rows->arena, rows->columns->count, sizeof(*rows->cells));
    rows->digits = arena_zeroed(&rows->arena, rows->columns->count, sizeof(*rows->digits));
    for (size_t i = 0; i < chain->count; i++)
        rows->places[i] = decision_columns_places(rows->columns, chain->members[i].ops, &rows->arena);
}

void decision_rows_end(struct decision_rows *rows)
{
    arena_free(&rows->arena);
}

void decision_row(struct decision_rows *rows, const struct decision *decision)
{
    struct row_spool *spool = rows->spool;
    const struct member *member = &spool->scenario->chain.members[decision->member];
    const struct policy_column *columns = member->ops->columns;
    const size_t *places = rows->places[decision->member];
    struct arena arena = {0};

    if (spool->error)
        return;
    for (size_t i = 0; i < rows->columns->count; i++)
        rows->cells[i] = "";
    for (size_t i = 0; columns[i].name; i++) {
        double value = decision->values[i];

        if (value != value)
            continue;
        table_digits(value, rows->digits[places[i]], sizeof rows->digits[places[i]]);
        rows->cells[places[i]] =
            columns[i].words ? quote_csv(columns[i].words[(size_t)value], &arena) : rows->digits[places[i]];
    }
    fprintf(spool->file, "%s,", spool->keys);
    row_log_time(decision->at, spool->file);
    fprintf(spool->file, ",%s,", member->name);
    print_copy(&decision->copy, spool->file);
    for (size_t i = 0; i < rows->columns->count; i++)
        fprintf(spool->file, ",%s", rows->cells[i]);
    fputc('\n', spool->file);
    remember_error(spool);
    arena_free(&arena);
}

static const char *help_of(const struct policy_column *column, struct arena *arena)
{
    const char *help = column->help ? column->help : "";

    for (size_t i = 0; column->words && column->words[i]; i++)
        help = arena_format(arena, "%s%s%s", help, i == 0 ? ": " : ", ", column->words[i]);
    return help;
}

void decision_columns(const struct plan *plan, struct table *table)
{
    session_key_columns(plan, table);
    table_column(table, "time", "s", "", "when it was decided, from the start of the replication, warm-up included",
                 TABLE_KEY, true);
    table_column(table, "member", "", "", "of the chain, which decided", TABLE_KEY, true);
    copy_columns(table);
    for (size_t i = 0; i < plan->decisions->count; i++) {
        const struct decision_column *column = &plan->decisions->list[i];

        table_column(table, column->name, column->declared->unit ? column->declared->unit : "", "",
                     help_of(column->declared, &table->arena), TABLE_VALUE, true);
    }
}
