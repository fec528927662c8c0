/* What `weir check` says of a pool: its servers, how fast they are and how that was fitted, its cards. */
#include "models/describe_private.h"
#include "models/describe_provider.h"

/* How well the line through the points of `throughput` fits them; "" where there are none. */
static const char *fit_words(struct speaker *speaker, const struct backend *backend)
{
    switch (backend->fit_points) {
    case 0:
        return "";
    case 1:
        return ": throughput has one point, taken as a constant rate";
    case 2:
        return ", fitted to two points of throughput, which always fit exactly";
    default:
        return arena_format(&speaker->arena, ", fitted to %u points of throughput with a largest error of %s %%",
                            (unsigned)backend->fit_points,
                            say_digits(&speaker->arena, backend->fit_error < 1e-9 ? 0 : 100 * backend->fit_error));
    }
}

static void say_cards(struct speaker *speaker, const struct backend *backend)
{
    static const char *const signals[] = {"utilisation", "queue length", "token velocity"};
    const struct cards_spec *cards = backend->cards;
    struct arena *arena = &speaker->arena;
    const char *name = backend->name;

    if (!cards)
        return;
    if (cards->min == cards->max) {
        say(speaker,
            arena_format(arena, "%s: %u cards of so many servers each, all of them always up", name, cards->max));
        return;
    }
    say(speaker, arena_format(arena,
                              "%s: %u to %u cards of so many servers each, by %s; bounds take all %u as up, and no "
                              "formula holds",
                              name, cards->min, cards->max, signals[cards->signal], cards->max));
    say_distribution(speaker, name, "cold start of a card", cards->cold_start, "s");
}

void say_backend(struct speaker *speaker, const struct scenario *scenario, const struct backend *backend)
{
    struct arena *arena = &speaker->arena;
    if (backend->provider) {
        for (const char **sentence = provider_sentences(scenario, backend, arena); *sentence; sentence++)
            say(speaker, *sentence);
        return;
    }
    const char *servers = arena_format(arena, "%s: %u server%s", backend->name, (unsigned)backend->servers,
                                       backend->servers == 1 ? "" : "s");
    if (backend->service) {
        say_cards(speaker, backend);
        say_distribution(speaker, servers, "service time", backend->service, "s");
        return;
    }
    say_cards(speaker, backend);
    const char *fit = fit_words(speaker, backend);
    if (backend->fit_points > 0 && backend->fit_most < backend->servers)
        say(speaker,
            arena_format(arena, "%s: throughput was measured up to %u busy slot%s; from %u on it is extrapolated",
                         backend->name, (unsigned)backend->fit_most, backend->fit_most == 1 ? "" : "s",
                         (unsigned)backend->fit_most + 1));
    if (backend->constant) {
        say(speaker,
            arena_format(arena, "%s, each at %s tokens/s%s", servers, say_digits(arena, backend->speed[1]), fit));
        return;
    }
    say(speaker, arena_format(arena, "%s: a token takes %s ms and %s ms more for each busy slot%s", servers,
                              say_digits(arena, 1e3 * backend->step_base),
                              say_digits(arena, 1e3 * backend->step_per_busy), fit));
    say(speaker, arena_format(arena, "%s: one busy slot makes %s tokens/s, each of %u busy ones %s", backend->name,
                              say_digits(arena, backend->speed[1]), (unsigned)backend->servers,
                              say_digits(arena, backend->speed[backend->servers])));
}
