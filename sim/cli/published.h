/* published.h - numbers that somebody published, printed beside ours.
 *
 * S.published.csv stands beside the scenario S.yaml: any of the table's key columns, then metric, value, tolerance,
 * source, reason. A row is compared with the row of our table whose keys are equal (a key that it does not name is
 * "all" there). Where ours is further away than the tolerance it is marked, and the reason is printed below. */
#ifndef CLI_PUBLISHED_H
#define CLI_PUBLISHED_H

#include "sim/io/diag.h"
#include "sim/io/table.h"

bool published_exists(const char *scenario);

/* Nothing is printed if there is no such file, or none of its rows is in our table; without rows in ours the file is
 * only checked. `compared` and `differing` may be NULL. False after an error. */
bool published_print(const char *scenario, const struct table *ours, bool markdown, FILE *out, struct diag *diag,
                     size_t *compared, size_t *differing);

#endif
