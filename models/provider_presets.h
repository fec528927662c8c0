/* provider_presets.h - providers by name: what they publish of their limits, or what was measured of them.
 *
 * Settings are values at dotted keys below the backend, in the syntax of a scenario; they take the user's own way
 * through the reader. But for the measured ones none sets a latency, since none is published. */
#ifndef MODELS_PROVIDER_PRESETS_H
#define MODELS_PROVIDER_PRESETS_H

#include "sim/io/mem.h"

struct provider_setting {
    const char *key, *value;
};

struct provider_preset {
    const char *name, *help;
    const char *source; /* the page */
    const char *read;   /* "as of" the day of the copy that was read, or "as collected" and a month */
    const struct provider_setting *settings; /* ended by one without a key */
};

extern const struct provider_preset provider_presets[]; /* ended by a row without a name */

const struct provider_preset *provider_preset_named(const char *name); /* or NULL */
/* "requests 50/min, input 30k tokens/min"; "none" */
const char *provider_preset_meters(const struct provider_preset *preset, struct arena *arena);

#endif
