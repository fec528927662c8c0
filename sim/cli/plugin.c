/* Loading plug-ins. */
#include "sim/cli/plugin.h"

#include <dlfcn.h>
#include <string.h>

#include "policies/registry.h"

const struct policy_ops *plugin_load(const char *path, struct place place, struct diag *diag)
{
    char local[4096];
    const struct policy_ops *ops;
    void *object;

    /* Without a slash dlopen would look along the library path. */
    if (snprintf(local, sizeof local, "%s%s", strchr(path, '/') ? "" : "./", path) >= (int)sizeof local) {
        diag_error(diag, place, "the plug-in's path is too long");
        return NULL;
    }
    object = dlopen(local, RTLD_NOW | RTLD_LOCAL);
    if (!object) {
        diag_error(diag, place,
                   "cannot load the plug-in: %s; expected a shared object, as `cc -shared -fPIC` makes one", dlerror());
        return NULL;
    }
    ops = dlsym(object, "weir_policy");
    if (!ops) {
        diag_error(diag, place,
                   "plug-in `%s` has no symbol `weir_policy`; expected `const struct policy_ops weir_policy`", path);
        return NULL;
    }
    return plugin_check(ops, path, place, diag) ? ops : NULL;
}

const struct policy_ops *const *plugin_join(const char *const *paths, size_t count, struct arena *arena,
                                            struct diag *diag)
{
    const struct policy_ops **all;
    size_t built_in = 0;

    while (policy_registry[built_in])
        built_in++;
    all = arena_zeroed(arena, built_in + count + 1, sizeof *all);
    memcpy(all, policy_registry, built_in * sizeof *all);
    for (size_t i = 0; i < count; i++) {
        const struct policy_ops *ops = plugin_load(paths[i], (struct place){"--plugin", 0, 0}, diag);

        for (size_t k = 0; ops && k < built_in; k++) {
            if (strcmp(all[k]->name, ops->name) == 0) {
                diag_error(diag, (struct place){"--plugin", 0, 0},
                           "plug-in `%s`: there is a policy `%s` already; expected a name of its own", paths[i],
                           ops->name);
                ops = NULL;
            }
        }
        if (ops)
            all[built_in++] = ops;
    }
    return all;
}
