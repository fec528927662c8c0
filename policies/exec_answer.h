/* exec_answer.h - the answers that policies/exec.c reads: words with one blank between them, and times as seconds with
 * a decimal point under any locale. Included by policies/exec.c alone. */
#ifndef POLICIES_EXEC_ANSWER_H
#define POLICIES_EXEC_ANSWER_H

#include <string.h>

#include "policies/policy.h"

enum { EXEC_REASONS = 32, EXEC_REASON = 32 };
#define EXEC_SECONDS_MOST INT64_C(9000000000) /* 285 years */

/* Reasons that were given, each once: what is handed to the host stays where it is. */
struct exec_reasons {
    char texts[EXEC_REASONS][EXEC_REASON];
};

/* Moves behind the word, and the blank behind that, if it is there. */
static inline bool exec_takes(const char **text, const char *word)
{
    size_t length = strlen(word);
    if (strncmp(*text, word, length) != 0 || ((*text)[length] != ' ' && (*text)[length] != '\0'))
        return false;
    *text += length + ((*text)[length] == ' ' && (*text)[length + 1] != '\0');
    return true;
}

/* Digits behind the ninth decimal are less than a nanosecond, and do not count. */
static inline bool exec_seconds(const char **text, policy_time *time)
{
    policy_time whole = 0, part = 0, unit = POLICY_SECOND;
    const char *at = *text;
    bool digits = false;
    for (; *at >= '0' && *at <= '9' && whole < EXEC_SECONDS_MOST; at++, digits = true)
        whole = whole * 10 + (*at - '0');
    if (*at == '.')
        for (at++; *at >= '0' && *at <= '9'; at++, digits = true) {
            unit /= 10;
            part += unit * (*at - '0');
        }
    if (!digits || whole >= EXEC_SECONDS_MOST || (*at != ' ' && *at != '\0'))
        return false;
    *time = whole * POLICY_SECOND + part;
    *text = at + (at[0] == ' ' && at[1] != '\0');
    return true;
}

/* The rest of the line, a name or nothing. False: it is neither, or there were too many already. */
static inline bool exec_reason(struct exec_reasons *reasons, const char *text, const char **reason)
{
    size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-");
    *reason = NULL;
    if (text[0] == '\0')
        return true;
    if (text[length] != '\0' || length >= EXEC_REASON)
        return false;
    for (size_t i = 0; i < EXEC_REASONS; i++) {
        if (reasons->texts[i][0] == '\0')
            memcpy(reasons->texts[i], text, length);
        *reason = reasons->texts[i];
        if (strcmp(reasons->texts[i], text) == 0)
            return true;
    }
    return false;
}

static inline bool exec_verdict(struct exec_reasons *reasons, const char *text, struct policy_answer *answer)
{
    *answer = policy_admit();
    if (strcmp(text, "admit") == 0)
        return true;
    if (exec_takes(&text, "hold")) {
        answer->action = POLICY_HOLD;
        if (!exec_seconds(&text, &answer->after))
            return false;
    } else if (exec_takes(&text, "defer")) {
        answer->action = POLICY_DEFER;
        if (text[0] != '\0' && !exec_takes(&text, "none") && !exec_seconds(&text, &answer->after))
            return false;
    } else if (exec_takes(&text, "reject")) {
        answer->action = POLICY_REJECT;
    } else if (exec_takes(&text, "displace")) {
        answer->action = POLICY_DISPLACE;
    } else {
        return false;
    }
    return exec_reason(reasons, text, &answer->reason);
}

#endif
