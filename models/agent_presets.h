/* agent_presets.h - agents as they were measured, by the pool and the harness that they ran with, for `preset:` of a
 * class. Settings are values at dotted keys below the class, in the syntax of a scenario; keys beside `preset:` go
 * before them. */
#ifndef MODELS_AGENT_PRESETS_H
#define MODELS_AGENT_PRESETS_H

struct agent_preset {
    const char *name, *help;
    const char *const *settings; /* key, value, key, value, ..., NULL */
    const char *source;          /* the page */
    const char *read;            /* as in models/provider_presets.h */
};

extern const struct agent_preset agent_presets[]; /* ended by a row without a name */

#endif
