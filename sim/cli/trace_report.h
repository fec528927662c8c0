/* trace_report.h - what is in a trace, as a table. */
#ifndef CLI_TRACE_REPORT_H
#define CLI_TRACE_REPORT_H

#include "models/trace_sum.h"
#include "sim/io/table.h"

/* A row for each thing that the trace says; notes tell how it was understood. `whole`: rows for what notes tell, too.
 */
void trace_report(const struct trace_spec *spec, const struct trace_facts *facts, const struct trace_sum *sum,
                  bool whole, struct table *table);
/* The formats, their columns and units: `weir list traces`; and the same in Markdown. */
void trace_report_formats(void);
void trace_report_reference(void);
/* The index-th column of the table, its unit and meaning; NULL past the last. */
const char *trace_report_column(size_t index, const char **unit, const char **help);

#endif
