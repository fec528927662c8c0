/* exec_line.h - the questions of policies/exec.c, one line each: a word, then key=value by key=value. What has no value
 * is left out. Included by policies/exec.c alone. */
#ifndef POLICIES_EXEC_LINE_H
#define POLICIES_EXEC_LINE_H

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "policies/policy.h"

#define EXEC_WHOLE 9007199254740992.0 /* 2^53 */

struct exec_line {
    char text[1536]; /* three names of 255 characters, and fifteen numbers */
    size_t length;
};

/* What does not fit is left out: names are what their owner made them. */
static inline void exec_word(struct exec_line *line, const char *key, const char *word)
{
    size_t room = sizeof line->text - line->length;
    int length = snprintf(line->text + line->length, room, "%s%s", key, word);
    line->length += length > 0 && (size_t)length < room ? (size_t)length : 0;
    line->text[line->length] = '\0';
}

static inline void exec_count(struct exec_line *line, const char *key, uint64_t count)
{
    char digits[24];
    snprintf(digits, sizeof digits, "%" PRIu64, count);
    exec_word(line, key, digits);
}

static inline void exec_amount(struct exec_line *line, const char *key, double amount)
{
    char digits[32];
    if (isnan(amount))
        return;
    if (fabs(amount) < EXEC_WHOLE && amount == floor(amount))
        snprintf(digits, sizeof digits, "%.0f", amount);
    else
        snprintf(digits, sizeof digits, "%.15g", amount);
    exec_word(line, key, digits);
}

/* In seconds, exactly: three decimals, and more where there is more. */
static inline void exec_time(struct exec_line *line, const char *key, policy_time time)
{
    char digits[40];
    int length;
    if (time == POLICY_NONE)
        return;
    if (time == INT64_MAX) {
        exec_word(line, key, "inf");
        return;
    }
    length = snprintf(digits, sizeof digits, "%" PRId64 ".%09" PRId64, time / POLICY_SECOND, time % POLICY_SECOND);
    for (int i = 0; i < 6 && digits[length - 1] == '0'; i++)
        digits[--length] = '\0';
    exec_word(line, key, digits);
}

static inline void exec_named(struct exec_line *line, const char *key, const char *const *names, uint32_t index)
{
    if (names)
        exec_word(line, key, names[index]);
    else
        exec_count(line, key, index);
}

static inline struct exec_line exec_question(const char *word, policy_time now)
{
    struct exec_line line;
    line.length = 0;
    exec_word(&line, word, "");
    exec_time(&line, " now=", now);
    return line;
}

/* The gate as it stands. */
static inline void exec_view(struct exec_line *line, const struct policy_view *view)
{
    exec_count(line, " gate=", view->gate);
    exec_count(line, " servers=", view->servers);
    exec_count(line, " busy=", view->busy);
    exec_count(line, " waiting=", view->waiting.calls);
    exec_count(line, " holding=", view->held.calls);
}

static inline struct exec_line exec_about_call(const char *word, const struct policy_view *view,
                                               const struct policy_call *call, uint64_t number)
{
    struct exec_line line = exec_question(word, view->now);
    exec_count(&line, " call=", number);
    exec_count(&line, " agent=", call->agent);
    exec_named(&line, " class=", view->class_names, call->klass);
    exec_amount(&line, " est_in=", call->input_tokens);
    exec_count(&line, " attempt=", call->attempt);
    exec_amount(&line, " est_cached=", call->cached_tokens);
    exec_amount(&line, " est_out=", call->output_tokens);
    exec_amount(&line, " chars=", call->input_chars);
    exec_count(&line, " run=", call->run);
    exec_count(&line, " turn=", call->turn);
    exec_named(&line, " tenant=", view->tenant_names, call->tenant);
    exec_amount(&line, " priority=", call->priority);
    exec_amount(&line, " value=", call->value);
    exec_time(&line, " first=", call->first_attempt);
    exec_time(&line, " attempted=", call->attempted);
    exec_time(&line, " held=", call->held_since);
    exec_time(&line, " hold_until=", call->hold_until);
    exec_time(&line, " joined=", call->joined);
    exec_time(&line, " started=", call->started);
    exec_time(&line, " deadline=", call->deadline);
    exec_count(&line, " last=", call->last);
    exec_view(&line, view);
    return line;
}

static inline struct exec_line exec_about_run(const char *word, const struct policy_view *view,
                                              const struct policy_run *run)
{
    struct exec_line line = exec_question(word, view->now);
    exec_count(&line, " run=", run->run);
    exec_count(&line, " agent=", run->agent);
    exec_named(&line, " class=", view->class_names, run->klass);
    exec_amount(&line, " est_in=", run->input_tokens);
    exec_count(&line, " attempt=", run->attempt);
    exec_amount(&line, " est_out=", run->output_tokens);
    exec_amount(&line, " turns=", run->turns);
    exec_named(&line, " tenant=", view->tenant_names, run->tenant);
    exec_amount(&line, " priority=", run->priority);
    exec_amount(&line, " value=", run->value);
    exec_time(&line, " first=", run->first_attempt);
    exec_time(&line, " held=", run->held_since);
    exec_time(&line, " deadline=", run->deadline);
    exec_count(&line, " last=", run->last);
    exec_view(&line, view);
    return line;
}

#endif
