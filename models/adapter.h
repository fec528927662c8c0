/* adapter.h - the program that a copy of a policy asks, for one replication. Private to models/, and to the bench of
 * policies.
 *
 * What a policy says must hang on what it was asked, and on nothing else: no clock of the machine, no file, no order of
 * a table's keys. So the first lines are kept, and at the end another copy of the program is asked them, when every
 * clock has gone on and every address is another one. */
#ifndef MODELS_ADAPTER_H
#define MODELS_ADAPTER_H

#include "policies/policy.h"
#include "sim/io/process.h"

enum { ADAPTER_QUESTION = 2048 };

struct adapter {
    struct adapter *next;
    const void *owner; /* whose it is: for messages */
    struct process process;
    struct policy_program program;
    bool begun;
    char question[ADAPTER_QUESTION]; /* the last one */
    char *kept;                      /* question, answer, question, ..., each with a NUL behind it */
    size_t length, room;
    int64_t questions;         /* that are kept */
    char wrong[PROCESS_WRONG]; /* as the end of a sentence about the program */
};

/* Zeroed memory is one that was not asked yet. NULL: see `wrong`. */
const char *adapter_ask(struct adapter *adapter, const struct policy_program *program, const char *question);

/* Its last answer is not what was expected: the words are in `wrong`. */
void adapter_unfit(struct adapter *adapter, const char *expected);

/* The program ends. False: it said more than it was asked, or another copy gives another answer. */
bool adapter_agrees(struct adapter *adapter);

/* The program ends, whatever it says. */
void adapter_free(struct adapter *adapter);

#endif
