/* client_presets.h - what clients that people run do with a refusal, for `preset:` in a layer of `client:`. One layer
 * each; keys beside `preset:` go before it. */
#ifndef MODELS_CLIENT_PRESETS_H
#define MODELS_CLIENT_PRESETS_H

struct client_preset {
    const char *name, *help;
    const char *const *settings; /* key, value, key, value, ..., NULL */
    const char *source, *date;   /* where the numbers stand, and as of when; NULL: nobody's */
};

extern const struct client_preset client_presets[]; /* ended by a row without a name */

#endif
