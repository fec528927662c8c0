/* call_log.c - the rows of --log. */
#include "sim/cli/call_log.h"

#include <errno.h>
#include <inttypes.h>

#include "sim/cli/row_log.h"
#include "sim/cli/session.h"
#include "sim/io/quote.h"

enum { TIME_MOST = 32, PART_MOST = 24 };

/* Seconds with nine decimals, exactly. */
static const char *time_text(policy_time time, char text[TIME_MOST])
{
    text[0] = '\0';
    if (time != POLICY_NONE)
        snprintf(text, TIME_MOST, "%" PRId64 ".%09" PRId64, time / SIM_SECOND, time % SIM_SECOND);
    return text;
}

void call_log_row(void *context, const struct attempt_record *record)
{
    struct row_spool *spool = context;
    const struct scenario *scenario = spool->scenario;
    const struct policy_call *call = record->call;
    char submitted[TIME_MOST], admitted[TIME_MOST], started[TIME_MOST], finished[TIME_MOST];
    char part[PART_MOST] = "";
    struct arena arena = {0};

    if (spool->error)
        return;
    if (record->part >= 0)
        snprintf(part, sizeof part, "%" PRId64, record->part);
    if (fprintf(spool->file,
                "%s,%s,%s,%s,%" PRIu32 ",%" PRIu64 ",%" PRIu64 ",%" PRIu32 ",%s,%s,%s,%s,%s,%s,%.0f,%.0f,%s\n",
                spool->keys, scenario->classes[call->klass].name, scenario->tenants[call->tenant],
                scenario->backends[record->gate].name, call->agent, call->run, call->turn, call->attempt,
                time_text(call->attempted, submitted), attempt_verdicts[record->verdict],
                record->reason ? quote_csv(record->reason, &arena) : "", time_text(call->joined, admitted),
                time_text(call->started, started), time_text(record->finished, finished), call->input_tokens,
                call->output_tokens, part) < 0)
        spool->error = errno;
    arena_free(&arena);
}

void call_log_columns(const struct plan *plan, struct table *table)
{
    static const struct {
        const char *name, *unit, *help;
    } columns[] = {
        {"class", "", "class of the agent"},
        {"tenant", "", "who pays"},
        {"backend", "", "where the attempt was made"},
        {"agent", "", "number of the agent within its class, from 0"},
        {"run", "", "number of the run of its agent, from 0"},
        {"turn", "", "number of the turn of its agent, from 0; given-up turns count"},
        {"attempt", "", "number of the attempt at this turn, from 1"},
        {"submitted", "s", "when the attempt was made, from the start of the replication, warm-up included"},
        {"verdict", "",
         "what became of it: answered; deferred, rejected (for good), hold_expired; shed, displaced; timeout, "
         "abandoned: its client gave up on the attempt, on the call; unfinished at the end"},
        {"reason", "", "of the policy that turned it away, if it gave one"},
        {"admitted", "s", "its last admission; empty: none, or a policy took it back since"},
        {"started", "s", "when a server took it; empty: none did"},
        {"finished", "s",
         "when its client heard of the end, or left; empty: unfinished. Rows are in this order within a replication, "
         "the unfinished behind in order of submission"},
        {"tokens_in", "tokens", "input of the turn"},
        {"tokens_out", "tokens", "output of the turn, drawn once: the same in all its attempts, answered or not"},
        {"part", "", "number of the part of its turn, from 0; empty: the turn's own call"},
    };

    session_key_columns(plan, table);
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        table_column(table, columns[i].name, columns[i].unit, "", columns[i].help, TABLE_VALUE, true);
}
