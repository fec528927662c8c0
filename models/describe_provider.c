/* describe_provider.c - a provider in words: each meter by what it gives, how it is filled and what it charges. */
#include "models/describe_provider.h"

#include <math.h>
#include <string.h>

#include "models/provider_presets.h"
#include "models/tables.h"
#include "sim/io/unit.h"

enum { SENTENCES_BESIDE_METERS = 10 };

struct writer {
    struct arena *arena;
    const char *name; /* of the backend */
    const char **sentences;
    size_t count;
};

struct scale {
    double one;
    const char *suffix;
};

/* Six digits in the largest unit that is not larger than the value. */
static const char *scaled(struct arena *arena, double value, const struct scale *scales, size_t count)
{
    char text[40];
    size_t at = 0;
    while (at + 1 < count && value < scales[at].one)
        at++;
    unit_format(text, sizeof text, "%.6g%s", value / scales[at].one, scales[at].suffix);
    return isinf(value) ? "infinite" : arena_text(arena, text);
}

/* 2.13M, 450k, 50 */
static const char *amount(struct arena *arena, double value)
{
    static const struct scale scales[] = {{1e6, "M"}, {1e3, "k"}, {1, ""}};
    return value < 1e4 ? scaled(arena, value, &scales[2], 1) : scaled(arena, value, scales, 3);
}

/* 90 s, 6.31 ms, 51 us */
static const char *seconds(struct arena *arena, double value)
{
    static const struct scale scales[] = {{1, " s"}, {1e-3, " ms"}, {1e-6, " us"}, {1e-9, " ns"}};
    return value > 0 ? scaled(arena, value, scales, sizeof scales / sizeof *scales) : "0 s";
}

/* A limit as people write it: rates a minute. */
static const char *limit_amount(struct arena *arena, const struct meter_spec *meter, double value)
{
    return amount(arena, meter_is_rate(meter->kind) ? value * 60 : value);
}

static const char *limit_unit(struct arena *arena, const struct meter_spec *meter)
{
    return arena_format(arena, "%s%s", meter_noun(meter->kind),
                        meter_is_rate(meter->kind) ? " a minute" : " in flight");
}

static const char *steps_words(struct arena *arena, const struct meter_spec *meter)
{
    enum { SHOWN = 4 };
    const struct limit_spec *limit = &meter->limit;
    const char *words =
        arena_format(arena, "%s %s", limit_amount(arena, meter, limit->values[0]), limit_unit(arena, meter));
    for (size_t i = 1; i < limit->count && i <= SHOWN; i++)
        words = arena_format(arena, "%s, from %s on %s", words, seconds(arena, sim_seconds(limit->times[i])),
                             limit_amount(arena, meter, limit->values[i]));
    return limit->count - 1 > SHOWN ? arena_format(arena, "%s, and %zu steps more", words, limit->count - 1 - SHOWN)
                                    : words;
}

static const char *day_words(struct arena *arena, const struct meter_spec *meter)
{
    const struct limit_spec *limit = &meter->limit;
    double least = limit->values[0], most = limit->values[0];
    for (size_t i = 1; i < limit->count; i++) {
        least = fmin(least, limit->values[i]);
        most = fmax(most, limit->values[i]);
    }
    return arena_format(arena, "%s to %s %s in the course of a day of %zu parts", limit_amount(arena, meter, least),
                        limit_amount(arena, meter, most), limit_unit(arena, meter), limit->count);
}

static const char *limit_words(struct arena *arena, const struct meter_spec *meter)
{
    const struct limit_spec *limit = &meter->limit;
    const char *unit = limit_unit(arena, meter), *first = limit_amount(arena, meter, limit->values[0]);
    switch (limit->law) {
    case LIMIT_STEPS:
        return steps_words(arena, meter);
    case LIMIT_TWO_LEVEL:
        return arena_format(arena, "%s and %s %s in turn, each for %s on average", first,
                            limit_amount(arena, meter, limit->values[1]), unit, seconds(arena, limit->dwell));
    case LIMIT_WALK:
        return arena_format(arena, "%s %s at first, then a walk between %s and %s by at most %s every %s", first, unit,
                            limit_amount(arena, meter, limit->values[1]), limit_amount(arena, meter, limit->values[2]),
                            limit_amount(arena, meter, limit->step), seconds(arena, sim_seconds(limit->every)));
    case LIMIT_DAY:
        return day_words(arena, meter);
    default:
        return arena_format(arena, "%s%s %s", meter_is_rate(meter->kind) ? "" : "at most ", first, unit);
    }
}

static const char *fill_words(struct arena *arena, const struct meter_spec *meter)
{
    const char *window = seconds(arena, sim_seconds(meter->window)), *burst = amount(arena, meter->burst);
    if (!meter_is_rate(meter->kind))
        return "";
    switch (meter->fill) {
    case FILL_CONTINUOUS:
        return arena_format(arena, ", in a bucket of %s that fills all the time", burst);
    case FILL_STEP:
        return arena_format(arena, ", in a bucket of %s that is filled every %s", burst, window);
    default:
        return arena_format(arena, ", counted in windows of %s", window);
    }
}

static const char *charge_words(struct arena *arena, const struct meter_spec *meter)
{
    static const char *const charges[] = {
        [COUNTS_ESTIMATE] = "; charged at admission by the estimate",
        [COUNTS_MAX_TOKENS] = "; charged at admission by the larger of the expected output and max_tokens",
        [COUNTS_AFTER] = "; charged after the answer, and admitted while anything is left",
    };
    bool known = meter_noun(meter->kind) == meter_noun(METER_REQUESTS) && meter->counts == COUNTS_ESTIMATE;
    const char *cached = "";
    if (meter_takes(meter->kind, METER_CACHED_WEIGHT) && meter->cached_weight < 1)
        cached = meter->cached_weight > 0
                     ? arena_format(arena, "; cached input counts %s %%", amount(arena, 100 * meter->cached_weight))
                     : "; cached input is free";
    return arena_format(arena, "%s%s%s%s", known ? "" : charges[meter->counts],
                        meter->settle ? " and settled with the answer" : "", cached,
                        meter->refused_count ? "; refused calls are charged too" : "");
}

static void write_sentence(struct writer *writer, const char *words)
{
    writer->sentences[writer->count++] = arena_format(writer->arena, "%s: %s", writer->name, words);
}

static void write_latency(struct writer *writer, const struct latency_spec *latency)
{
    const struct {
        double each;
        const char *of;
    } parts[] = {{latency->per_input, "input"}, {latency->per_cached, "cached input"}, {latency->per_output, "output"}};
    struct arena *arena = writer->arena;
    const char *words = arena_format(arena, "an answer takes %s", seconds(arena, latency->base));
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i].each > 0)
            words = arena_format(arena, "%s, and %s for each token of %s", words, seconds(arena, parts[i].each),
                                 parts[i].of);
    if (latency->noise)
        words = arena_format(arena, "%s, times a factor of CV %s", words, amount(arena, dist_cv(latency->noise)));
    write_sentence(writer, words);
}

static void write_retry_after(struct writer *writer, const struct provider_spec *spec)
{
    static const char *const told[] = {
        [RETRY_EXACT] = "its 429s tell exactly when to come back",
        [RETRY_ROUNDED] = "its 429s tell when to come back, in whole seconds, rounded up",
        [RETRY_NONE] = "its 429s do not tell when to come back",
    };
    write_sentence(writer, spec->retry_after == RETRY_CONSTANT
                               ? arena_format(writer->arena, "its 429s tell to come back after %s",
                                              seconds(writer->arena, sim_seconds(spec->retry_after_constant)))
                               : told[spec->retry_after]);
}

static void write_refusals(struct writer *writer, const struct provider_spec *spec)
{
    const struct simultaneous_spec *simultaneous = &spec->simultaneous;
    const struct acceleration_spec *acceleration = &spec->acceleration;
    struct arena *arena = writer->arena;
    if (simultaneous->cold > 0)
        write_sentence(
            writer, arena_format(arena,
                                 "at most %s tokens are admitted within %s, and %s until it has not refused "
                                 "so for %s on average",
                                 amount(arena, simultaneous->cold), seconds(arena, sim_seconds(simultaneous->within)),
                                 amount(arena, simultaneous->hot), seconds(arena, dist_mean(simultaneous->recovery))));
    if (acceleration->times > 0)
        write_sentence(writer,
                       arena_format(arena,
                                    "what lifts the last minute above %s times the mean minute of the "
                                    "last %s is refused, from %s tokens on",
                                    amount(arena, acceleration->times), seconds(arena, sim_seconds(acceleration->over)),
                                    amount(arena, acceleration->free)));
    if (spec->meter_count == 0 && simultaneous->cold <= 0 && acceleration->times <= 0)
        write_sentence(writer, "it has no limits, so every call is admitted");
}

static void write_strangers(struct writer *writer, const struct strangers_spec *strangers)
{
    struct arena *arena = writer->arena;
    const char *cached = strangers->cached > 0
                             ? arena_format(arena, " (%s %% of them cached)", amount(arena, 100 * strangers->cached))
                             : "";
    write_sentence(
        writer,
        arena_format(arena, "strangers make %s calls a minute, with %s tokens of input%s and %s of output on average",
                     amount(arena, 60 * strangers->rate), amount(arena, dist_mean(strangers->input)), cached,
                     amount(arena, dist_mean(strangers->output))));
}

static void write_provider(struct writer *writer, const struct provider_spec *spec)
{
    struct arena *arena = writer->arena;
    const struct provider_preset *preset = spec->preset ? provider_preset_named(spec->preset) : NULL;
    if (preset)
        write_sentence(writer, arena_format(arena, "preset %s, %s (%s, %s)", preset->name, preset->help, preset->source,
                                            preset->read));
    for (size_t i = 0; i < spec->meter_count; i++) {
        const struct meter_spec *meter = &spec->meters[i];
        writer->sentences[writer->count++] =
            arena_format(arena, "%s, %s: %s%s%s", writer->name, meter_names[meter->kind], limit_words(arena, meter),
                         fill_words(arena, meter), charge_words(arena, meter));
    }
    write_refusals(writer, spec);
    if (spec->meter_count > 0)
        write_retry_after(writer, spec);
    write_latency(writer, &spec->latency);
    if (spec->errors > 0)
        write_sentence(writer, arena_format(arena, "%s %% of admitted calls fail", amount(arena, 100 * spec->errors)));
    if (spec->strangers.rate > 0)
        write_strangers(writer, &spec->strangers);
}

const char **provider_sentences(const struct scenario *scenario, const struct backend *backend, struct arena *arena)
{
    const struct provider_spec *spec = backend->provider;
    const struct backend *pool = &scenario->backends[backend->pool];
    struct writer writer = {.arena = arena, .name = backend->name};
    writer.sentences = arena_zeroed(arena, spec->meter_count + SENTENCES_BESIDE_METERS, sizeof *writer.sentences);
    if (pool != backend)
        write_sentence(&writer, arena_format(arena, "another key of %s, with a gate of its own", pool->name));
    else
        write_provider(&writer, spec);
    return writer.sentences;
}

const char *price_sentence(const struct backend *backend, struct arena *arena)
{
    const struct prices *prices = &backend->prices;
    const struct {
        double price;
        const char *what;
    } parts[] = {{prices->input, "a million tokens of input"},
                 {prices->cached, "a million of cached input"},
                 {prices->output, "a million of output"},
                 {prices->request, "a request"},
                 {prices->hour, "an hour"}};
    const char *words = "";
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i].price > 0)
            words = arena_format(arena, "%s%s%s for %s", words, words[0] ? ", " : "", amount(arena, parts[i].price),
                                 parts[i].what);
    return words[0] ? arena_format(arena, "%s: costs %s", backend->name, words) : NULL;
}
