/* fit_report.h - fits of a trace as a table, as a scenario, and as pictures. */
#ifndef CLI_FIT_REPORT_H
#define CLI_FIT_REPORT_H

#include "models/fit_trace.h"
#include "sim/io/table.h"

struct fit_report {
    const struct trace_spec *spec;
    const struct trace_facts *facts;
    const struct fit_trace *fit;
};

void fit_report_table(const struct fit_report *report, struct table *table);
void fit_report_scenario(const struct fit_report *report, FILE *out);
/* A picture of each attribute, data against fit. An exit status. */
int fit_report_draw(const struct fit_report *report, const char *directory);

#endif
