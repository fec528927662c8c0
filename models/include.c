/* include.c - reads what a scenario includes, and lays documents over one another. */
#include "models/include.h"

#include <string.h>
#include <sys/stat.h>

#include "models/address.h"

enum { DEEP_MOST = 8, FILES_MOST = 256 };

static const char key[] = "include";

/* A file on the way from the scenario to the one that is read. */
struct on_the_way {
    const char *path;
    struct stat status;
    bool known; /* the status is */
    int deep;
    const struct on_the_way *by;
};

struct includer {
    const struct reader *reader;
    const char **files;
    size_t count;
};

static struct node *with_included(struct includer *includer, const struct node *root, const struct on_the_way *self);

/* Values of the upper document, and below them what it does not say. */
static struct node *laid_over(const struct node *upper, const struct node *lower, struct arena *arena)
{
    struct node *both = map_copy(upper, arena);
    for (size_t i = 0; i < lower->count; i++) {
        const struct node_entry *below = &lower->entries[i];
        size_t at = 0;
        while (at < upper->count && strcmp(upper->entries[at].key, below->key) != 0)
            at++;
        if (at == upper->count)
            node_put(both, below->key, below->place, below->value, arena);
        else if (both->entries[at].value->kind == NODE_MAP && below->value->kind == NODE_MAP)
            both->entries[at].value = laid_over(both->entries[at].value, below->value, arena);
    }
    return both;
}

static struct on_the_way way_to(const char *path, const struct on_the_way *by)
{
    struct on_the_way way = {.path = path, .deep = by ? by->deep + 1 : 0, .by = by};
    way.known = stat(path, &way.status) == 0;
    return way;
}

static bool same_file(const struct on_the_way *one, const struct on_the_way *other)
{
    return one->known && other->known && one->status.st_dev == other->status.st_dev &&
           one->status.st_ino == other->status.st_ino;
}

/* As seen from the file that names it. */
static const char *resolved(const char *path, struct place place, struct arena *arena)
{
    const char *slash = place.file && path[0] != '/' ? strrchr(place.file, '/') : NULL;
    return slash ? arena_format(arena, "%.*s/%s", (int)(slash - place.file), place.file, path) : path;
}

static struct node *included(struct includer *includer, const struct node *item, const struct on_the_way *by)
{
    const struct reader *reader = includer->reader;
    if (item->kind != NODE_SCALAR || !item->text[0]) {
        diag_error(reader->diag, item->place, "include: expected the name of a file, or a list of them, not %s",
                   item->kind == NODE_SCALAR ? "an empty one" : node_kind_name(item));
        return NULL;
    }
    const char *path = resolved(item->text, item->place, reader->arena);
    struct on_the_way way = way_to(path, by);
    for (const struct on_the_way *up = by; up; up = up->by)
        if (same_file(&way, up)) {
            diag_error(reader->diag, item->place, "include: %s would include itself: expected another file", path);
            return NULL;
        }
    if (way.deep > DEEP_MOST || includer->count == FILES_MOST) {
        diag_error(reader->diag, item->place,
                   way.deep > DEEP_MOST ? "include: expected at most %d files that include one another"
                                        : "include: expected at most %d files in all",
                   way.deep > DEEP_MOST ? DEEP_MOST : FILES_MOST);
        return NULL;
    }
    includer->files[includer->count++] = path;
    const struct node *root = yaml_read_asked(path, item->place, reader->arena, reader->diag);
    return root && reader_expects_map(reader, root, "an included file") ? with_included(includer, root, &way) : NULL;
}

/* What is wrong in several files of a list is shown at once. */
static struct node *with_included(struct includer *includer, const struct node *root, const struct on_the_way *self)
{
    struct arena *arena = includer->reader->arena;
    struct node *asked = node_get(root, key);
    struct node *own = map_without(root, key, arena), *lower = NULL;
    if (!asked)
        return own;
    struct node *const *items = asked->kind == NODE_LIST ? asked->items : &asked;
    size_t count = asked->kind == NODE_LIST ? asked->count : 1;
    bool good = true;
    for (size_t i = 0; i < count; i++) {
        struct node *next = included(includer, items[i], self);
        good = good && next;
        if (good)
            lower = lower ? laid_over(next, lower, arena) : next;
    }
    if (!good)
        return NULL;
    return lower ? laid_over(own, lower, arena) : own;
}

struct node *include_all(const struct reader *reader, const struct node *root, const char *path,
                         const char *const **files, size_t *count)
{
    struct includer includer = {.reader = reader};
    const struct on_the_way self = way_to(path, NULL);
    includer.files = arena_zeroed(reader->arena, FILES_MOST, sizeof(*includer.files));
    struct node *all = with_included(&includer, root, &self);
    *files = includer.files;
    *count = includer.count;
    return all;
}
