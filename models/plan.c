/* plan.c - from a scenario file to its design points.
 *
 * The document is brought to its effective form first (--set, then --policy). A design point is that document with the
 * values of its factors put in place, from which a scenario is built as if it had been written so: whatever can be said
 * about a value is said about a swept one too, at its place in the sweep. */
#include "models/plan.h"

#include <string.h>

#include "models/address.h"
#include "models/changes_read.h"
#include "models/columns.h"
#include "models/discover.h"
#include "models/include.h"
#include "models/plan_private.h"
#include "models/readers.h"
#include "models/regress.h"
#include "models/root.h"
#include "models/scenario_hash.h"
#include "models/seeds.h"
#include "models/size.h"
#include "models/sweep.h"
#include "models/tables.h"

struct planner {
    const struct plan_request *request;
    struct plan *plan;
    struct columns columns;
    struct reader reader;
    const char **only;                /* the names of --policy, as labels are now */
    const struct record_spec *record; /* or NULL */
};

static bool keys_are_known(const struct planner *planner, const struct node *root)
{
    const struct reader *reader = &planner->reader;
    size_t known = 0, before = reader->diag->errors;
    while (scenario_keys[known])
        known++;
    for (size_t i = 0; i < root->count; i++) {
        size_t at = 0;
        while (at < known && strcmp(scenario_keys[at], root->entries[i].key) != 0)
            at++;
        if (at == known)
            diag_error(reader->diag, root->entries[i].place, "unknown key '%s', expected one of: %s%s",
                       root->entries[i].key, reader_list(reader, scenario_keys, known),
                       reader_nearest(reader, root->entries[i].key, scenario_keys, known));
    }
    return reader->diag->errors == before;
}

/* The document with what it includes, after --set. */
static struct node *effective_root(struct planner *planner)
{
    const struct reader *reader = &planner->reader;
    const struct plan_request *request = planner->request;
    struct node *root =
        request->text ? yaml_parse(request->path, request->text, strlen(request->text), reader->arena, reader->diag)
                      : yaml_read(request->path, reader->arena, reader->diag);
    if (!root || !reader_expects_map(reader, root, "a scenario"))
        return NULL;
    root = include_all(reader, root, request->path, &planner->plan->included, &planner->plan->included_count);
    if (!root)
        return NULL;
    planner->plan->policies = planner->reader.policies = plan_policies(reader, request, root);
    if (!planner->reader.policies)
        return NULL;
    struct node *policies = alternatives_canonical(reader, node_get(root, "policies"));
    if (policies) /* what --policy adds can be --set */
        policies = alternatives_with(reader, policies, planner->only, planner->request->only_count);
    if (!policies)
        return NULL;
    root = root_with_policies(reader, root, policies);
    bool good = true;
    planner->reader.document = root;
    const struct node *regress = planner->request->regress ? node_get(root, "regress") : NULL;
    const struct node *smaller = regress && regress->kind == NODE_MAP ? node_get(regress, "set") : NULL;
    for (size_t i = 0; smaller && smaller->kind == NODE_MAP && i < smaller->count; i++) {
        const struct node_entry *entry = &smaller->entries[i];
        struct node *changed =
            root_put(reader, root, entry->key, entry->place, entry->value, planner->only, planner->request->only_count);
        good &= changed != NULL;
        root = changed ? changed : root;
    }
    for (size_t i = 0; i < planner->request->set_count; i++) {
        struct node *changed =
            root_set(reader, root, planner->request->sets[i], planner->only, planner->request->only_count);
        good &= changed != NULL;
        root = changed ? changed : root;
    }
    good = keys_are_known(planner, root) && good;
    good &= seeds_check(reader, root);
    planner->reader.document = root;
    return ranges_check(reader, root) && good ? root : NULL;
}

/* A design point before it is built: the document and the alternative with the values of its factors. */
struct draft {
    const struct node *root, *item;
};

static bool draft_point(const struct planner *planner, const struct sweep *sweep, struct node *const *values,
                        const struct alternative *alternative, struct draft *draft)
{
    const struct reader *reader = &planner->reader;
    *draft = (struct draft){.root = planner->plan->root, .item = alternative->item};
    for (size_t i = 0; i < sweep->factor_count && draft->root && draft->item; i++) {
        const struct factor *factor = &sweep->factors[i];
        struct node *value = values[i];
        if (value && factor->inner)
            draft->item = address_put_policy(reader, draft->item, factor->inner, factor->place, value);
        else if (value)
            draft->root = address_put(reader, draft->root, factor->name, factor->place, value);
    }
    return draft->root && draft->item;
}

/* The document as it is written, but for values that it leaves to the sweep: those are of the first point. */
static bool draft_base(const struct planner *planner, const struct sweep *sweep, struct node **values,
                       const struct alternative *alternative, struct draft *draft)
{
    for (size_t i = 0; i < sweep->factor_count; i++) {
        const struct factor *factor = &sweep->factors[i];
        if (!values[i])
            continue;
        const struct node *now = factor->inner ? address_get_policy(alternative->item, factor->inner)
                                               : address_get(planner->plan->root, factor->name);
        values[i] = now && now->kind == NODE_SCALAR ? NULL : values[i];
    }
    return draft_point(planner, sweep, values, alternative, draft);
}

static bool read_base(const struct planner *planner, const struct node *root, struct scenario *scenario)
{
    const struct reader *reader = &planner->reader;
    const struct node *study = node_get(root, "study"), *agents = node_get(root, "agents");
    const struct plan_request *request = planner->request;
    bool alone = request->pools_alone || (request->pools_taken && !study && !agents), good = true;
    if (study || !alone)
        good = study_read(reader, study, planner->plan->root->place, &scenario->study) &&
               precision_read(reader, node_get(root, "precision"), &scenario->study);
    else
        scenario->study = (struct study){.replications = 1, .seed = 1};
    bool backends = backends_read(reader, node_get(root, "backends"), node_get(root, "prices"),
                                  planner->plan->root->place, scenario);
    /* Classes are read only where the backends that they name are known. */
    return backends && ((alone && !agents) || classes_read(reader, agents, planner->plan->root->place, scenario)) &&
           alerts_read(reader, node_get(root, "alerts"), scenario) && good;
}

static bool read_chain(const struct planner *planner, const struct draft *draft, const char *label,
                       struct scenario *scenario)
{
    const struct node *backends = node_get(draft->root, "backends"), *agents = node_get(draft->root, "agents");
    struct diag said = {0};
    struct reader own = planner->reader;
    if (!backends || backends->kind != NODE_MAP)
        return false;
    own.diag = &said; /* seeds are read with each member that takes them */
    bool good = chain_read(&own, draft->item, label, backends, agents && agents->kind == NODE_MAP ? agents : NULL,
                           &scenario->chain);
    reader_repeats(&planner->reader, &said);
    diag_fini(&said);
    return good;
}

/* What classes and policies do not have room for, once. */
static bool check_rooms(const struct planner *planner, const struct scenario *scenario)
{
    struct diag said = {0};
    struct reader own = planner->reader;
    own.diag = &said;
    bool good = rooms_check(&own, scenario);
    reader_repeats(&planner->reader, &said);
    diag_fini(&said);
    return good;
}

static bool read_changes(const struct planner *planner, const struct draft *draft,
                         const struct alternative *alternatives, const char *label, struct scenario *scenario)
{
    const struct changes_of of = {draft->root, alternatives, planner->plan->label_count, label};
    return changes_read(&planner->reader, &of, scenario);
}

static const char *const *factor_texts(const struct planner *planner, const struct sweep *sweep,
                                       struct node *const *values)
{
    const char **texts = arena_zeroed(planner->reader.arena, sweep->factor_count + 1, sizeof *texts);
    for (size_t i = 0; i < sweep->factor_count; i++)
        texts[i] = values[i] ? values[i]->text : NULL;
    return texts;
}

/* Every alternative's first point, so that the mistakes of all of them are shown at once; those of the rest of the
 * document once. Then the same of what the sweep replaces: a slip there would be found on the day the sweep goes. */
static bool check_first_points(const struct planner *planner, const struct sweep *sweep,
                               const struct alternative *alternatives, bool swept)
{
    struct scenario scenario = {.title = planner->plan->title};
    bool good = true, base = false;
    for (size_t i = 0; i < planner->plan->label_count; i++) {
        struct node **values;
        struct draft draft;
        if (sweep_points(&planner->reader, sweep, alternatives[i].label, &values) == 0 ||
            !(swept ? draft_point(planner, sweep, values, &alternatives[i], &draft)
                    : draft_base(planner, sweep, values, &alternatives[i], &draft)))
            return false;
        if (i == 0)
            good = base = read_base(planner, draft.root, &scenario);
        bool chain = read_chain(planner, &draft, alternatives[i].label, &scenario);
        good &= chain && (!base || (read_changes(planner, &draft, alternatives, alternatives[i].label, &scenario) &&
                                    check_rooms(planner, &scenario)));
    }
    return good;
}

static bool build_points(struct planner *planner, const struct sweep *sweep, const struct alternative *alternatives)
{
    struct plan *plan = planner->plan;
    struct arena *arena = planner->reader.arena;
    struct node ***values = arena_zeroed(arena, plan->label_count, sizeof(*values));
    size_t *counts = arena_zeroed(arena, plan->label_count, sizeof *counts), point = 0;
    for (size_t i = 0; i < plan->label_count; i++) {
        counts[i] = sweep_points(&planner->reader, sweep, alternatives[i].label, &values[i]);
        plan->point_count += counts[i];
    }
    struct plan_point *points = arena_zeroed(arena, plan->point_count, sizeof *points);
    for (size_t i = 0; i < plan->label_count; i++)
        for (size_t j = 0; j < counts[i]; j++) {
            struct node *const *row = values[i] + j * sweep->factor_count;
            struct scenario *scenario = arena_zeroed(arena, 1, sizeof *scenario);
            struct draft draft;
            scenario->title = plan->title;
            scenario->record = planner->record;
            if (!draft_point(planner, sweep, row, &alternatives[i], &draft) ||
                !read_base(planner, draft.root, scenario) ||
                !read_chain(planner, &draft, alternatives[i].label, scenario) ||
                !read_changes(planner, &draft, alternatives, alternatives[i].label, scenario) ||
                !check_rooms(planner, scenario))
                return false;
            points[point++] = (struct plan_point){
                .scenario = scenario, .study = &scenario->study, .factors = factor_texts(planner, sweep, row)};
        }
    plan->points = points;
    return true;
}

static uint64_t hash_of(const struct planner *planner)
{
    uint64_t hash = SCENARIO_HASH_START;
    for (size_t i = 0; i < planner->plan->point_count; i++)
        hash = scenario_hash(hash, planner->plan->points[i].scenario, &planner->columns);
    return hash;
}

static bool read_discover(const struct planner *planner)
{
    struct discover_spec *spec = arena_zeroed(planner->reader.arena, 1, sizeof *spec);
    planner->plan->discover = spec;
    return discover_read(&planner->reader, node_get(planner->plan->root, "discover"), spec);
}

static bool read_tornado(const struct planner *planner)
{
    const struct node *tornado = node_get(planner->plan->root, "tornado");
    if (!tornado)
        return true;
    struct tornado_spec *spec = arena_zeroed(planner->reader.arena, 1, sizeof *spec);
    planner->plan->tornado = spec;
    return tornado_read(&planner->reader, tornado, spec);
}

static bool read_size(const struct planner *planner)
{
    const struct node *size = node_get(planner->plan->root, "size");
    if (!size)
        return true;
    struct size_spec *spec = arena_zeroed(planner->reader.arena, 1, sizeof *spec);
    planner->plan->size = spec;
    return size_read(&planner->reader, planner->plan->root, size, spec);
}

static bool read_regress(const struct planner *planner)
{
    struct regress_spec *spec = arena_zeroed(planner->reader.arena, 1, sizeof *spec);
    planner->plan->regress = spec;
    return regress_read(&planner->reader, node_get(planner->plan->root, "regress"), spec);
}

static bool read_texts(const struct planner *planner)
{
    struct plan *plan = planner->plan;
    struct node *title = node_get(plan->root, "title"), *notes = node_get(plan->root, "notes");
    const char *slash = strrchr(plan->path, '/');
    plan->title = slash ? slash + 1 : plan->path;
    if (title && title->kind != NODE_SCALAR) {
        diag_error(planner->reader.diag, title->place, "title: expected a text, not %s", node_kind_name(title));
        return false;
    }
    if (title)
        plan->title = title->text;
    if (notes)
        plan->notes = reader_texts(&planner->reader, notes, "notes", &plan->note_count);
    return !notes || plan->notes;
}

static bool make_plan(struct planner *planner)
{
    const struct reader *reader = &planner->reader;
    struct plan *plan = planner->plan;
    struct sweep sweep;
    plan->root = effective_root(planner);
    if (plan->root && planner->request->only_count > 0)
        plan->root = root_selected(reader, plan->root, planner->only, planner->request->only_count);
    if (plan->root && planner->request->sweep)
        plan->root = root_with_sweep(reader, plan->root, *planner->request->sweep);
    if (!plan->root || !read_texts(planner))
        return false;
    const struct node *policies = node_get(plan->root, "policies");
    const struct alternative *alternatives = alternatives_of(reader, policies);
    if (!alternatives || !sweep_read(reader, node_get(plan->root, "sweep"), plan->root, &sweep))
        return false;

    const char **labels = arena_zeroed(reader->arena, policies->count, sizeof *labels);
    const char **names = arena_zeroed(reader->arena, sweep.factor_count + 1, sizeof *names);
    for (size_t i = 0; i < policies->count; i++)
        labels[i] = alternatives[i].label;
    for (size_t i = 0; i < sweep.factor_count; i++)
        names[i] = sweep.factors[i].name;
    plan->labels = labels;
    plan->label_count = policies->count;
    plan->factor_names = names;
    plan->factor_count = sweep.factor_count;
    const struct node *record = node_get(plan->root, "record");
    bool recorded = record_read(reader, record, &planner->record);
    recorded &= read_discover(planner) && read_size(planner) && read_tornado(planner);
    recorded &= read_regress(planner);
    if (!check_first_points(planner, &sweep, alternatives, true) ||
        (sweep.factor_count > 0 && !check_first_points(planner, &sweep, alternatives, false)) || !recorded ||
        !build_points(planner, &sweep, alternatives) ||
        !record_columns_read(reader, record, planner->request->only_count == 0, plan))
        return false;
    plan->hash = hash_of(planner);
    return true;
}

static void note_data(struct planner *planner)
{
    struct plan *plan = planner->plan;
    size_t count = 0;
    for (const struct column *column = planner->columns.first; column; column = column->next)
        count++;
    for (const struct row_groups *groups = planner->columns.groups; groups; groups = groups->next)
        count++;
    plan->data = arena_zeroed(&plan->arena, count, sizeof *plan->data);
    for (const struct column *column = planner->columns.first; column; column = column->next)
        plan->data[plan->data_count++] = column->path;
    for (const struct row_groups *groups = planner->columns.groups; groups; groups = groups->next)
        plan->data[plan->data_count++] = groups->path;
}

bool plan_read(const struct plan_request *request, struct plan *plan, struct diag *diag)
{
    *plan = (struct plan){0};
    struct planner planner = {.request = request, .plan = plan, .columns = {.arena = &plan->arena}};
    plan->path = arena_text(&plan->arena, request->path);
    planner.only = arena_zeroed(&plan->arena, request->only_count + 1, sizeof *planner.only);
    for (size_t i = 0; i < request->only_count; i++)
        planner.only[i] = request->only[i];
    planner.reader = (struct reader){.arena = &plan->arena, .columns = &planner.columns, .diag = diag};
    if (make_plan(&planner)) {
        note_data(&planner);
        return true;
    }
    plan_fini(plan);
    return false;
}

void plan_warm_up(struct plan *plan, sim_time warmup)
{
    for (size_t i = 0; i < plan->point_count; i++)
        plan->points[i].study->warmup = warmup;
}

void plan_fini(struct plan *plan)
{
    arena_free(&plan->arena);
    *plan = (struct plan){0};
}
