/* discover_report.h - what `weir discover` prints: each step, what was found, seeds, and what to think of them. */
#ifndef CLI_DISCOVER_REPORT_H
#define CLI_DISCOVER_REPORT_H

#include "models/discover.h"
#include "models/plan.h"
#include "sim/cli/format.h"

struct discover_report {
    const struct plan *plan;
    const struct backend *backend;
    const struct discovery *discovery;
    bool colour;
};

/* The steps; in text and Markdown also what was found. */
void discover_report_steps(const struct discover_report *report, enum format format, FILE *out);
/* A YAML document that a scenario can include. */
void discover_report_seeds(const struct discover_report *report, FILE *out);
/* Bounds, what was not found, and an early end: for people, a line each. */
void discover_report_notes(const struct discover_report *report, FILE *out);
/* The index-th column of the steps: its name, unit and meaning; NULL past the last. */
const char *discover_report_column(size_t index, const char **unit, const char **help);

#endif
