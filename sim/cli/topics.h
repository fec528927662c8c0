/* topics.h - what `weir help` and `weir list` know, all of it out of the tables that the program itself reads. */
#ifndef CLI_TOPICS_H
#define CLI_TOPICS_H

#include <stdbool.h>
#include <stdio.h>

#include "policies/policy.h"
#include "sim/io/mem.h"

void topics_keys(void);          /* every key of a scenario, by section */
void topics_terms(void);         /* every word of our own, explained */
void topics_distributions(void); /* every form */

const char *topics_term(size_t index, const char **means); /* the index-th of those words; NULL past the last */

/* Explains a word on stdout: a command, policy, metric, section, key, or term. False if nobody knows it; *nearest is
 * then the most likely word that is known, or NULL. */
bool topics_explain(const char *word, const struct policy_ops *const *policies, struct arena *arena,
                    const char **nearest);

#endif
