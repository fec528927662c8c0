/* commands.h - one function a command; each returns the exit status. */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include "sim/cli/arguments.h"

int cmd_run(const struct cli_words *words);
int cmd_check(const struct cli_words *words);
int cmd_bounds(const struct cli_words *words);
/* The index-th number that it prints: its name, unit and meaning; NULL past the last. */
const char *cmd_bounds_column(size_t index, const char **unit, const char **help);
int cmd_size(const struct cli_words *words);
int cmd_discover(const struct cli_words *words);
int cmd_fit(const struct cli_words *words);
int cmd_trace(const struct cli_words *words);
int cmd_plot(const struct cli_words *words);
int cmd_diff(const struct cli_words *words);
int cmd_regress(const struct cli_words *words);
int cmd_list(const struct cli_words *words);
int cmd_new(const struct cli_words *words);
int cmd_help(const struct cli_words *words);

extern const struct cli_option cmd_run_options[], cmd_check_options[], cmd_bounds_options[], cmd_size_options[],
    cmd_discover_options[], cmd_trace_options[], cmd_fit_options[], cmd_plot_options[], cmd_diff_options[],
    cmd_regress_options[], cmd_list_options[], cmd_help_options[];

#endif
