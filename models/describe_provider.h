/* describe_provider.h - what `weir check` says of a provider, an alias and of prices. */
#ifndef MODELS_DESCRIBE_PROVIDER_H
#define MODELS_DESCRIBE_PROVIDER_H

#include "models/scenario.h"
#include "sim/io/mem.h"

/* Sentences without their stop, ended by NULL. */
const char **provider_sentences(const struct scenario *scenario, const struct backend *backend, struct arena *arena);
const char *price_sentence(const struct backend *backend, struct arena *arena); /* or NULL */

#endif
