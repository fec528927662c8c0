/* file.h - opens the files that a user names.
 *
 * Only regular files: a pipe or a device could hang the program or never end, and a directory has no text. */
#ifndef SIM_FILE_H
#define SIM_FILE_H

#include "sim/io/diag.h"

/* For reading; NULL after an error (message at `asked`, the place that named the file). The caller closes it. */
FILE *file_open(const char *path, struct place asked, struct diag *diag);

#endif
