/* Asking a program, keeping what it said, and asking again. */
#include "models/adapter.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/io/mem.h"

enum { LINE_SHOWN = 130, ANSWER_SHOWN = 70 };

static void wrong(struct adapter *adapter, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void wrong(struct adapter *adapter, const char *format, ...)
{
    va_list arguments;

    if (adapter->wrong[0])
        return;
    va_start(arguments, format);
    vsnprintf(adapter->wrong, sizeof adapter->wrong, format, arguments);
    va_end(arguments);
}

static void keep(struct adapter *adapter, const char *text)
{
    size_t length = strlen(text) + 1;

    if (adapter->room - adapter->length < length) {
        adapter->room = adapter->room * 2 + length + 4096;
        adapter->kept = mem_resized(adapter->kept, adapter->room, 1);
    }
    memcpy(adapter->kept + adapter->length, text, length);
    adapter->length += length;
}

static bool start(struct adapter *adapter)
{
    const struct option_command *command = adapter->program.command;

    return process_start(&adapter->process, command->folder, command->words, adapter->program.patience);
}

const char *adapter_ask(struct adapter *adapter, const struct policy_program *program, const char *question)
{
    const char *answer = NULL;

    if (adapter->wrong[0])
        return NULL;
    if (!adapter->begun)
        adapter->program = *program;
    snprintf(adapter->question, sizeof adapter->question, "%s", question);
    if (adapter->begun || start(adapter))
        answer = process_ask(&adapter->process, question);
    adapter->begun = true;
    if (!answer) {
        wrong(adapter, "%s", adapter->process.wrong);
        return NULL;
    }
    if (adapter->questions < adapter->program.repeat) {
        keep(adapter, question);
        keep(adapter, answer);
        adapter->questions++;
    }
    return answer;
}

void adapter_unfit(struct adapter *adapter, const char *expected)
{
    const char *answer = adapter->process.answer;
    char line[LINE_SHOWN], said[ANSWER_SHOWN];

    process_quote(line, sizeof line, adapter->question, strlen(adapter->question));
    process_quote(said, sizeof said, answer, strlen(answer));
    wrong(adapter, "answered `%s` to `%s`; expected %s", said, line, expected);
}

static bool agrees_again(struct adapter *adapter)
{
    const char *question = adapter->kept;

    if (!start(adapter)) {
        wrong(adapter, "%s", adapter->process.wrong);
        return false;
    }
    for (int64_t i = 0; i < adapter->questions; i++) {
        const char *first = question + strlen(question) + 1, *again = process_ask(&adapter->process, question);
        char line[LINE_SHOWN], one[ANSWER_SHOWN], other[ANSWER_SHOWN];

        if (!again) {
            wrong(adapter, "was asked the same again, and %s", adapter->process.wrong);
            return false;
        }
        if (strcmp(again, first) != 0) {
            process_quote(line, sizeof line, question, strlen(question));
            process_quote(one, sizeof one, first, strlen(first));
            process_quote(other, sizeof other, again, strlen(again));
            wrong(adapter, "answers the same questions in two ways: `%s`, and then `%s`, to `%s`", one, other, line);
            return false;
        }
        question = first + strlen(first) + 1;
    }
    return true;
}

bool adapter_agrees(struct adapter *adapter)
{
    bool good = adapter->wrong[0] == '\0';

    if (good && !process_end(&adapter->process)) {
        wrong(adapter, "%s", adapter->process.wrong);
        good = false;
    }
    good = good && (adapter->questions == 0 || agrees_again(adapter));
    process_end(&adapter->process);
    return good;
}

void adapter_free(struct adapter *adapter)
{
    process_end(&adapter->process);
    free(adapter->kept);
    adapter->kept = NULL;
}
