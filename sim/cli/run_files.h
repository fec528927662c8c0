/* run_files.h - what a run leaves in files: tables with their .meta, and pictures of them. */
#ifndef CLI_RUN_FILES_H
#define CLI_RUN_FILES_H

#include "sim/cli/row_log.h"
#include "sim/cli/session.h"
#include "sim/io/table.h"

struct run_files {
    const struct session *session;
    const struct cli_words *words;
    const char *folder;  /* of the pictures; NULL: none are wanted */
    const char *columns; /* what was asked for in --columns, or NULL */
    const char *against; /* whom the differences are to, or NULL */
    int status;          /* how the study ended */
};

/* CSV and .meta; of the differences or of the results. False after a message. */
bool run_files_write(const struct run_files *files, const struct table *table, bool differences, const char *path);

/* A log of the session's, and its .meta. False after a message. */
bool run_files_write_rows(const struct run_files *files, const struct row_log *log, row_log_columns_fn *columns,
                          const char *path);
/* The record of the session, and its .meta. False after a message. */
bool run_files_write_record(const struct run_files *files, const char *path);

/* Before the run: the folder is there or made, and no file of another origin would be written over. */
bool run_files_can_draw(const struct run_files *files);
/* FOLDER/NAME.csv, NAME.differences.csv if there are any, NAME.survival.csv, and pictures of each: metrics of
 * --columns, else the usual ones. The study must have kept its sums. EXIT_DONE or an error's exit status. */
int run_files_draw(const struct run_files *files, const struct table *table, const struct table *differences);

#endif
