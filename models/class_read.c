/* class_read.c - the mapping `agents:`: who makes calls, from where, how often.
 *
 * Much of what can be wrong here is wrong only together: a source and a run length that never end under `until: done`,
 * an agent that neither thinks nor backs off. Each is said at the place of the value that would have to change. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/address.h"
#include "models/readers.h"
#include "models/scenario_hash.h"
#include "models/tables.h"
#include "sim/io/param.h"

static bool distribution_of(const struct reader *reader, const struct expr *expr, enum measure measure,
                            const struct dist **out)
{
    if (!expr)
        return true;
    struct dist *dist = arena_zeroed(reader->arena, 1, sizeof *dist);
    *out = dist;
    return distribution_read(expr, measure, reader->columns, dist, reader->diag);
}

static bool read_source(const struct reader *reader, const struct class_keys *keys, const struct place *places,
                        struct place map, struct agent_class *class)
{
    bool population = places[CLASS_POPULATION].file, arrivals = places[CLASS_ARRIVALS].file;
    class->runs = keys->runs == INT64_MAX ? UINT64_MAX : (uint64_t)keys->runs;
    if (population == arrivals) {
        diag_error(reader->diag, population ? places[CLASS_ARRIVALS] : map,
                   population ? "%s has a population already: expected one source, population or arrivals"
                              : "%s has no agents: expected population: N, or arrivals: poisson(RATE)",
                   class->name);
        return false;
    }
    if (arrivals)
        return arrivals_read(reader, keys->arrivals, places[CLASS_RUNS], class);
    class->source = class->schedule ? SOURCE_SCHEDULE : SOURCE_POPULATION;
    class->population = (uint64_t)keys->population;
    if (class->schedule) /* who has no turn never begins */
        class->runs = class->schedule->turns < class->population ? class->schedule->turns : class->population;
    return true;
}

/* A schedule says when turns are due and how many there are. */
static bool check_schedule(const struct reader *reader, const struct node *map, const struct place *places,
                           const struct agent_class *class)
{
    static const int others[] = {CLASS_ARRIVALS, CLASS_RUNS, CLASS_TURNS, CLASS_THINK};
    bool good = true;
    for (size_t i = 0; class->schedule && i < sizeof others / sizeof *others; i++)
        if (places[others[i]].file) {
            diag_error(reader->diag, places[others[i]], "%s: expected none beside a schedule (line %d), which says it",
                       class_options[others[i]].key, node_get(map, "schedule")->place.line);
            good = false;
        }
    return good;
}

bool backend_find(const struct reader *reader, const char *name, struct place place, const struct scenario *scenario,
                  uint32_t *index)
{
    size_t found = reader_find(reader, name, place, "there is no backend", &scenario->backends->name,
                               sizeof *scenario->backends, scenario->backend_count);
    *index = (uint32_t)found;
    return found != READER_NONE;
}

/* refused, wait > TIME, or none. */
static bool read_spill(const struct reader *reader, const char *text, struct place place, struct agent_class *class)
{
    static const char wait[] = "wait";
    const char *rest = text + strlen(wait), *end, *why;
    struct number number;
    class->spill = SPILL_REFUSED;
    if (strcmp(text, "refused") == 0)
        return true;
    class->spill = SPILL_NONE;
    if (strcmp(text, "none") == 0)
        return true;
    class->spill = SPILL_WAIT;
    if (strncmp(text, wait, strlen(wait)) == 0) {
        rest += strspn(rest, " ");
        rest += *rest == '>';
        rest += strspn(rest, " ");
        if (strchr(text, '>') && unit_read(rest, &end, &number, &why) && !*end && number.quantity == QUANTITY_TIME &&
            isfinite(number.value)) {
            class->spill_after = sim_from_seconds(number.value);
            return true;
        }
    }
    diag_error(reader->diag, place, "spill: %s: expected refused, wait > a time, such as wait > 10 s, or none", text);
    return false;
}

/* In order, each once. */
static bool read_backends(const struct reader *reader, const struct node *list, const struct scenario *scenario,
                          struct agent_class *class)
{
    uint32_t *backends = arena_zeroed(reader->arena, list->count + 1, sizeof *backends), memories = 0;
    if (list->count == 0) {
        diag_error(reader->diag, list->place, "backend: expected a name, or a list of names");
        return false;
    }
    for (size_t i = 0; i < list->count; i++) {
        const struct node *item = list->items[i];
        if (item->kind != NODE_SCALAR) {
            diag_error(reader->diag, item->place, "backend: expected the name of a backend, not %s",
                       node_kind_name(item));
            return false;
        }
        if (!backend_find(reader, item->text, item->place, scenario, &backends[i]))
            return false;
        for (size_t k = 0; k < i; k++)
            if (backends[k] == backends[i]) {
                diag_error(reader->diag, item->place, "backend: %s is there twice: expected each once", item->text);
                return false;
            }
        memories += scenario->backends[backends[i]].kv != UINT64_MAX;
        if (memories > 1) {
            diag_error(reader->diag, item->place,
                       "backend: a second one with a memory (kv), and an agent has its context in one: expected one of "
                       "them at the most");
            return false;
        }
    }
    class->backends = backends;
    class->backend_count = (uint32_t)list->count;
    class->backend = backends[0];
    return true;
}

static bool read_backend(const struct reader *reader, const char *name, struct place place,
                         const struct scenario *scenario, struct agent_class *class)
{
    class->backends = &class->backend;
    class->backend_count = 1;
    if (name)
        return backend_find(reader, name, place, scenario, &class->backend);
    class->backend = 0;
    if (scenario->backend_count == 1)
        return true;
    const char **names = arena_zeroed(reader->arena, scenario->backend_count, sizeof *names);
    for (size_t i = 0; i < scenario->backend_count; i++)
        names[i] = scenario->backends[i].name;
    diag_error(reader->diag, place, "%s: expected backend: one of %s", class->name,
               reader_list(reader, names, scenario->backend_count));
    return false;
}

/* Where its calls go, and when they go on. */
static bool read_way(const struct reader *reader, const struct class_keys *keys, const struct place *places,
                     const struct node *map, const struct scenario *scenario, struct agent_class *class)
{
    const struct node *backend = node_get(map, "backend");
    bool list = backend && backend->kind == NODE_LIST;
    if (!(list ? read_backends(reader, backend, scenario, class)
               : read_backend(reader, keys->backend, backend ? backend->place : map->place, scenario, class)))
        return false;
    if (places[CLASS_SPILL].file && !read_spill(reader, keys->spill, places[CLASS_SPILL], class))
        return false;
    bool many = class->backend_count > 1;
    if (many && !places[CLASS_SPILL].file)
        diag_error(
            reader->diag, backend->place,
            "%s has several backends: expected spill: refused, or wait > 10 s, to say when a call goes on to the "
            "next",
            class->name);
    else if (!many && class->spill != SPILL_NONE)
        diag_error(reader->diag, places[CLASS_SPILL],
                   "spill: %s has one backend: expected a list of them, such as backend: [card, tier]", class->name);
    else
        return true;
    return false;
}

static bool always_zero(const struct dist *dist)
{
    return !dist || dist_mean(dist) <= 0;
}

/* Some layer tries calls again, and none that does sleeps before. */
static bool never_pauses(const struct client *client)
{
    bool retries = false;
    for (uint32_t i = 0; i < client->layer_count; i++) {
        const struct client_layer *layer = &client->layers[i];
        if (layer->attempts == 1 || layer->restarts_run)
            continue;
        retries = true;
        if (layer->backoff == BACKOFF_UB || (layer->base > 0 && layer->cap > 0))
            return false;
    }
    return retries;
}

static const char *seconds(const struct reader *reader, sim_time time)
{
    char text[40];
    unit_digits(sim_seconds(time), text, sizeof text);
    return arena_text(reader->arena, text);
}

/* Retries without a pause, and hardly an end to them. */
static bool spins(const struct client *client)
{
    const double few = 1e5;
    double tries = 1;
    for (uint32_t i = 0; i < client->layer_count; i++) {
        const struct client_layer *layer = &client->layers[i];
        if (!layer->restarts_run && layer->quota == QUOTA_NONE)
            tries *= layer->attempts == INT64_MAX ? INFINITY : (double)layer->attempts;
    }
    return never_pauses(client) && tries > few;
}

/* The earliest that a run may come; of a Poisson stream, that it is counted from. */
static sim_time first_run(const struct agent_class *class)
{
    return class->arrivals ? class->start + class->arrivals[0] : class->start;
}

/* What can be simulated and is seldom meant. */
static void warn_of(const struct reader *reader, const struct scenario *scenario, const struct agent_class *class,
                    const struct place *places, struct place client)
{
    struct place first = places[class->arrivals ? CLASS_ARRIVALS : CLASS_START];
    if (first_run(class) > scenario->study.horizon)
        reader_warns(reader, first.file ? first : class->place,
                     arena_format(reader->arena,
                                  "%s: all its agents come after the end of the study, at %s s: nothing "
                                  "of it is simulated",
                                  class->name, seconds(reader, scenario->study.horizon)));
    if (class->runs != UINT64_MAX && (double)class->runs > arrivals_expected(class))
        reader_warns(reader, places[CLASS_RUNS],
                     arena_format(reader->arena,
                                  "%s: about %.3g runs arrive in all, and then none ever: expected runs: of so many at "
                                  "the most, or a base above 0",
                                  class->name, arrivals_expected(class)));
    if (spins(&class->client))
        reader_warns(
            reader, client,
            arena_format(reader->arena,
                         "%s: retries never pause: a call that is refused without a retry-after asks again at "
                         "the same instant, for ever if nothing else happens there; expected base and cap above "
                         "0, or few attempts",
                         class->name));
}

static bool needs_output(const struct scenario *scenario, const struct agent_class *class)
{
    for (uint32_t i = 0; i < class->backend_count; i++)
        if (scenario->backends[class->backends[i]].speed)
            return true;
    return false;
}

bool class_never_pauses(const struct agent_class *class)
{
    return never_pauses(&class->client) && always_zero(class->think);
}

/* What does not go together. `places` of keys that were not given have no file. */
static void check_class(const struct reader *reader, const struct scenario *scenario, const struct agent_class *class,
                        const struct place *places, struct place map, const struct node *client)
{
    struct diag *diag = reader->diag;
    const struct session_spec *sessions = class->input ? class->input->sessions : NULL;
    bool recorded = sessions, single = recorded && sessions->starts[sessions->count] == sessions->count;
    bool population = class->source == SOURCE_POPULATION, endless = class->runs == UINT64_MAX;
    if (class->turns && dist_mean(class->turns) < 1)
        diag_error(diag, places[CLASS_TURNS], "turns: a run has at least one turn: expected a mean of at least 1");
    if (recorded && (class->turns || class->schedule))
        diag_error(diag, class->turns ? places[CLASS_TURNS] : map,
                   "a recorded session says how many turns a run has: expected no turns and no schedule beside it");
    if (population && !endless && !class->turns && !recorded)
        diag_error(diag, places[CLASS_RUNS],
                   "without turns a run of a population never ends: expected turns beside runs");
    else if (scenario->study.until_done && endless)
        diag_error(diag, map, "%s never ends, but the study runs until done: expected runs: N%s", class->name,
                   population && !class->turns && !recorded ? " and turns" : "");
    bool one_turn = class->schedule || (!population && single) ||
                    (!population && !recorded &&
                     (!class->turns || (dist_is_constant(class->turns) && dist_mean(class->turns) <= 1)));
    if (!class->think && !one_turn)
        diag_error(diag, map, "%s: expected think: a time, such as exponential(4.5 s), or 0 s", class->name);
    if (!class->output && needs_output(scenario, class))
        diag_error(diag, map, "%s: expected output: tokens of a turn, such as lognormal(120 cv 0.45)", class->name);
    if (class->output && dist_mean(class->output) > (double)TURN_TOKENS_MOST)
        diag_error(diag, places[CLASS_OUTPUT], "output: expected a mean of at most %" PRId64 " tokens a turn",
                   TURN_TOKENS_MOST);

    if (class_never_pauses(class) && (class->think || one_turn))
        diag_error(diag, client ? client->place : map,
                   "%s neither thinks nor backs off: a refused agent would ask for ever at one instant; expected a "
                   "client with base and cap above 0",
                   class->name);
    else
        warn_of(reader, scenario, class, places, client ? client->place : map);
}

static void read_class(const struct reader *reader, const struct node_entry *entry, const struct scenario *scenario,
                       struct agent_class *class, const char **tenant)
{
    const struct node *map = NULL, *client = NULL;
    struct class_keys keys = {0};
    struct place places[CLASS_KEYS] = {{0}};
    param_defaults(class_options, &keys, reader->arena);
    if (reader_expects_row(reader, entry->key, entry->place, "class") &&
        reader_expects_map(reader, entry->value, entry->key))
        map = class_settings(reader, entry->value);
    const struct node *said = map, *several = map ? node_get(map, "backend") : NULL;
    if (several && several->kind == NODE_LIST) /* which no option is */
        said = map_without(map, "backend", reader->arena);
    if (!map || !param_read(class_options, entry->key, &keys, said, class_others, places, reader->arena, reader->diag))
        return;
    uint64_t hash = scenario_hash_name(entry->key);
    *class = (struct agent_class){.name = entry->key,
                                  .place = entry->place,
                                  .stream = (uint32_t)(hash ^ hash >> 32),
                                  .priority = keys.priority,
                                  .value = keys.value,
                                  .max_tokens = keys.max_tokens == INT64_MAX ? INFINITY : (double)keys.max_tokens,
                                  .start = keys.start,
                                  .gives_up = keys.at_deadline == AT_DEADLINE_GIVES_UP};
    *tenant = keys.tenant;
    client = node_get(map, "client");

    /* Each is read whatever the others say, so that all mistakes are shown at once. */
    bool good = reader_expects_row(reader, keys.tenant, places[CLASS_TENANT], "tenant");
    good &= input_read(reader, node_get(map, "input"), &class->input);
    good &= replay_read(reader, map, class);
    good &= schedule_read(reader, node_get(map, "schedule"), &class->schedule);
    good &= check_schedule(reader, map, places, class);
    good &= read_source(reader, &keys, places, map->place, class);
    good &= read_way(reader, &keys, places, map, scenario, class);
    good &= fan_out_read(reader, node_get(map, "fan_out"), scenario, &class->fan_out);
    good &= distribution_of(reader, keys.turns, MEASURE_TURNS, &class->turns);
    good &= distribution_of(reader, keys.boot, MEASURE_TIME, &class->boot);
    good &= distribution_of(reader, keys.think, MEASURE_TIME, &class->think);
    good &= distribution_of(reader, keys.output, MEASURE_TOKENS, &class->output);
    good &= client_read(reader, client, keys.turns != NULL, &class->client);
    good &= deadline_read(reader, node_get(map, "deadline"), places[CLASS_AT_DEADLINE], class);
    if (good)
        check_class(reader, scenario, class, places, map->place, client);
}

/* One in 2^32 pairs of names would share its random numbers. */
static void check_streams(const struct reader *reader, const struct agent_class *classes, size_t count)
{
    for (size_t i = 1; i < count; i++)
        for (size_t j = 0; j < i; j++)
            if (classes[i].name && classes[j].name && classes[i].stream == classes[j].stream)
                diag_error(reader->diag, classes[i].place,
                           "%s and %s would draw the same random numbers: expected another name for one of them",
                           classes[j].name, classes[i].name);
}

/* A class and the name of its tenant. */
struct payer {
    const char *tenant;
    size_t class;
};

static int by_tenant(const void *a, const void *b)
{
    const struct payer *x = a, *y = b;
    int order = strcmp(x->tenant, y->tenant);
    return order != 0 ? order : (x->class > y->class) - (x->class < y->class);
}

/* Tenants in the order in which classes name them first. */
static void number_tenants(const struct reader *reader, struct agent_class *classes, const char **tenant,
                           struct scenario *scenario)
{
    size_t count = scenario->class_count;
    struct payer *payers = arena_zeroed(reader->arena, count, sizeof *payers);
    size_t *first = arena_zeroed(reader->arena, count, sizeof *first); /* class of the same tenant */
    const char **names = arena_zeroed(reader->arena, count, sizeof *names);
    for (size_t i = 0; i < count; i++)
        payers[i] = (struct payer){tenant[i], i};
    qsort(payers, count, sizeof *payers, by_tenant);
    for (size_t i = 0; i < count; i++) {
        bool again = i > 0 && strcmp(payers[i].tenant, payers[i - 1].tenant) == 0;
        first[payers[i].class] = again ? first[payers[i - 1].class] : payers[i].class;
    }
    for (size_t i = 0; i < count; i++) {
        if (first[i] == i)
            names[scenario->tenant_count++] = tenant[i];
        classes[i].tenant = first[i] == i ? (uint32_t)scenario->tenant_count - 1 : classes[first[i]].tenant;
    }
    scenario->tenants = names;
}

bool classes_read(const struct reader *reader, const struct node *map, struct place file, struct scenario *scenario)
{
    if (!map || (map->kind == NODE_MAP && map->count == 0)) {
        diag_error(reader->diag, map ? map->place : file,
                   "no agents: expected agents: {NAME: {population: 24, think: exponential(4.5 s), output: 120}}");
        return false;
    }
    if (!reader_expects_map(reader, map, "agents"))
        return false;
    size_t before = reader->diag->errors;
    struct agent_class *classes = arena_zeroed(reader->arena, map->count, sizeof *classes);
    const char **tenant = arena_zeroed(reader->arena, map->count, sizeof *tenant);
    for (size_t i = 0; i < map->count; i++)
        read_class(reader, &map->entries[i], scenario, &classes[i], &tenant[i]);
    check_streams(reader, classes, map->count);
    if (reader->diag->errors != before)
        return false;
    scenario->classes = classes;
    scenario->class_count = map->count;
    number_tenants(reader, classes, tenant, scenario);
    pools_check(reader, scenario);
    return memory_check(reader, scenario);
}
