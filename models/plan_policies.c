/* plan_policies.c - the policies that a scenario may name: those that are known beforehand, those of its own `plugin:`,
 * and one that stands in for another. */
#include <string.h>

#include "models/plan_private.h"

/* As seen from the file that names it. */
static const char *plugin_path(const struct reader *reader, const struct plan_request *request, const char *path,
                               struct place place)
{
    const char *directory = request->directory_of_plugins, *file = place.file;
    if (path[0] == '/')
        return path;
    if (directory)
        return arena_format(reader->arena, "%s/%s", directory, path);
    const char *slash = strrchr(file, '/');
    return slash ? arena_format(reader->arena, "%.*s/%s", (int)(slash - file), file, path) : path;
}

/* A policy, or the one that stands in for it. */
static const struct policy_ops *standing_in(const struct plan_request *request, const struct policy_ops *ops)
{
    const struct policy_ops *other = request->standing_in;
    return other && strcmp(other->name, ops->name) == 0 ? other : ops;
}

const struct policy_ops *const *plan_policies(const struct reader *reader, const struct plan_request *request,
                                              const struct node *root)
{
    const struct policy_ops *const *given = request->policies;
    struct node *plugin = node_get(root, "plugin");
    struct diag *diag = reader->diag;
    size_t count = 0, paths = 0;
    while (given[count])
        count++;
    const char *const *path = plugin ? reader_texts(reader, plugin, "plugin", &paths) : NULL;
    if (plugin && !path)
        return NULL;
    const struct policy_ops **known = arena_zeroed(reader->arena, count + paths + 2, sizeof(*known));
    for (size_t i = 0; i < count; i++)
        known[i] = standing_in(request, given[i]);
    if (request->standing_in && !policy_named(known, request->standing_in->name))
        known[count++] = request->standing_in;
    for (size_t i = 0; i < paths; i++) {
        struct place place = plugin->kind == NODE_LIST ? plugin->items[i]->place : plugin->place;
        if (!request->load) {
            diag_error(diag, place, "plugin: plug-ins are not loaded here: expected built-in policies only");
            return NULL;
        }
        const struct policy_ops *ops = request->load(plugin_path(reader, request, path[i], place), place, diag);
        if (!ops)
            return NULL;
        ops = standing_in(request, ops);
        const struct policy_ops *same = policy_named(known, ops->name);
        if (same && same != ops) {
            diag_error(diag, place, "plugin: there is a policy %s already: expected another name", ops->name);
            return NULL;
        }
        if (!same)
            known[count++] = ops;
    }
    return known;
}
