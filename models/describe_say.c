/* How `weir check` says a sentence: once, as a comment, with numbers of four digits. */
#include <math.h>
#include <string.h>

#include "models/describe_private.h"
#include "sim/io/unit.h"

void say(struct speaker *speaker, const char *sentence)
{
    for (size_t i = 0; i < speaker->count; i++)
        if (strcmp(speaker->said[i], sentence) == 0)
            return;
    if (speaker->count == speaker->room) {
        const char **said = arena_zeroed(&speaker->arena, 2 * speaker->room + 16, sizeof *said);
        if (speaker->count > 0)
            memcpy(said, speaker->said, speaker->count * sizeof *said);
        speaker->said = said;
        speaker->room = 2 * speaker->room + 16;
    }
    speaker->said[speaker->count++] = sentence;
    fprintf(speaker->out, "# %s%s.\n", sentence, speaker->where);
}

const char *say_digits(struct arena *arena, double value)
{
    char text[40];
    if (isinf(value))
        return "infinite";
    unit_format(text, sizeof text, "%.4g", value);
    return arena_text(arena, text);
}

const char *say_with_unit(struct speaker *speaker, double value, const char *unit)
{
    return arena_format(&speaker->arena, isinf(value) ? "%s" : "%s %s", say_digits(&speaker->arena, value), unit);
}

void say_distribution(struct speaker *speaker, const char *name, const char *what, const struct dist *dist,
                      const char *unit)
{
    if (!dist)
        return;
    struct arena *arena = &speaker->arena;
    double mean = dist_mean(dist), cv = dist_cv(dist);
    const char *spread = isnan(cv) ? "" : arena_format(arena, ", CV %s", say_digits(arena, cv));
    if (dist_is_constant(dist))
        say(speaker, arena_format(arena, "%s, %s: always %s", name, what, say_with_unit(speaker, mean, unit)));
    else
        say(speaker, arena_format(arena, "%s, %s: mean %s%s, p99 %s", name, what, say_with_unit(speaker, mean, unit),
                                  spread, say_with_unit(speaker, dist_quantile(dist, 0.99), unit)));
}
