/* seeds.h - measured parameters of policies by pool, `seeds:`. */
#ifndef MODELS_SEEDS_H
#define MODELS_SEEDS_H

#include "models/readers.h"

/* Whether pools and policies are known, all is a mapping, and each member knows whose seeds it takes; `policies` of the
 * document are in their canonical form. */
bool seeds_check(const struct reader *reader, const struct node *root);
/* Those for a policy with these parameters, where its `at` stands among them; NULL: there are none. `document` may be
 * NULL. */
const struct node *seeds_of(const struct node *document, const char *policy, const struct node *params);

#endif
