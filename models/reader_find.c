/* What several readers ask of a value: which name it is of those that there are, and which texts it holds. */
#include <string.h>

#include "models/readers.h"

static const char *name_at(const char *const *first, size_t stride, size_t index)
{
    return *(const char *const *)(const void *)((const char *)first + index * stride);
}

size_t reader_find(const struct reader *reader, const char *name, struct place place, const char *no,
                   const char *const *first, size_t stride, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(name_at(first, stride, i), name) == 0)
            return i;
    const char **names = arena_zeroed(reader->arena, count, sizeof *names);
    for (size_t i = 0; i < count; i++)
        names[i] = name_at(first, stride, i);
    diag_error(reader->diag, place, "%s %s: expected one of %s%s", no, name, reader_list(reader, names, count),
               reader_nearest(reader, name, names, count));
    return READER_NONE;
}

size_t reader_preset(const struct reader *reader, const struct node *asked, const char *what, const char *no,
                     const char *const *first, size_t stride)
{
    size_t count = 0;
    if (asked->kind != NODE_SCALAR) {
        diag_error(reader->diag, asked->place, "%s: expected a name, not %s", what, node_kind_name(asked));
        return READER_NONE;
    }
    while (name_at(first, stride, count))
        count++;
    return reader_find(reader, asked->text, asked->place, no, first, stride, count);
}

const char *const *reader_texts(const struct reader *reader, struct node *node, const char *what, size_t *count)
{
    struct node *const *items = node->kind == NODE_LIST ? node->items : &node;
    *count = node->kind == NODE_LIST ? node->count : 1;
    const char **texts = arena_zeroed(reader->arena, *count + 1, sizeof *texts);
    for (size_t i = 0; i < *count; i++) {
        if (items[i]->kind != NODE_SCALAR) {
            diag_error(reader->diag, items[i]->place, "%s: expected a text or a list of texts, not %s", what,
                       node_kind_name(items[i]));
            return NULL;
        }
        texts[i] = items[i]->text;
    }
    return texts;
}
