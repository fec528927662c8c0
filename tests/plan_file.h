/* plan_file.h - for tests of scenarios: writes files into a folder of the test's own, reads a plan, keeps what was
 * said. */
#ifndef TESTS_PLAN_FILE_H
#define TESTS_PLAN_FILE_H

#include "models/plan.h"

struct plan_file {
    struct plan plan;
    struct diag diag;
    struct arena arena;
    char folder[32];
    const char *path; /* of s.yaml in the folder */
    bool read;        /* a plan was read */
    const struct policy_ops *(*load)(const char *path, struct place place, struct diag *diag); /* for `plugin:` */
};

/* The card with one class `coder`, on three lines: study, backends, agents. */
extern const char plan_file_card[];

void plan_file_init(struct plan_file *file);
void plan_file_fini(struct plan_file *file);
void plan_file_write(struct plan_file *file, const char *name, const char *text);

/* Writes s.yaml and reads it; `sets` and `only` end with NULL and may be NULL. What was read or said before is gone. */
bool plan_file_read(struct plan_file *file, const char *text, const char *const *sets, const char *const *only);
/* Everything that was said, a line a message, without the folder. */
const char *plan_file_said(struct plan_file *file);
/* The design points in words: `label: factor=value, ...; label: ...`, with the chain's members and parameters. */
const char *plan_file_points(struct plan_file *file);
/* A text with the first `from` in it replaced by `to`; it must be there. */
const char *plan_file_with(struct plan_file *file, const char *text, const char *from, const char *to);

#endif
