/* yaml.c - a YAML document as a tree of nodes with places, from libyaml's events.
 *
 * libyaml accepts much that a scenario should not contain, and some typing errors mean something else to it. Both are
 * told here; what libyaml refuses itself is told by yaml_explain.c. */
#include "sim/io/yaml.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "sim/io/file.h"
#include "sim/io/yaml_explain.h"

#define BYTES_MOST ((size_t)16 << 20)
#define LEVELS_MOST 64
#define NODES_MOST 1000000 /* a scenario has hundreds; each costs many times the memory of its text */

struct reader {
    yaml_parser_t parser;
    yaml_event_t event; /* the one being read; zeroed: none */
    struct yaml_source source;
    struct arena *arena;
    struct diag *diag;
    int level;
    size_t nodes;
};

static struct node *read_node(struct reader *reader);

/* On to the next event; false after an error. */
static bool step(struct reader *reader)
{
    yaml_event_delete(&reader->event);
    if (yaml_parser_parse(&reader->parser, &reader->event))
        return true;
    yaml_explain(&reader->parser, &reader->source, reader->diag);
    return false;
}

static struct place event_place(const struct reader *reader)
{
    return yaml_place_at(&reader->source, reader->event.start_mark);
}

/* An array that doubles whenever its count reaches a power of two, with room for one more. */
static void *grown(struct arena *arena, void *array, size_t count, size_t size)
{
    if ((count & (count - 1)) != 0)
        return array;
    void *larger = arena_zeroed(arena, count == 0 ? 1 : 2 * count, size);
    if (count != 0)
        memcpy(larger, array, count * size);
    return larger;
}

/* What would make a value depend on another place of the file, or change its type behind the reader's back. */
static bool refused(struct reader *reader)
{
    const yaml_event_t *event = &reader->event;
    const yaml_char_t *anchor = NULL, *tag = NULL;
    if (event->type == YAML_SCALAR_EVENT) {
        anchor = event->data.scalar.anchor;
        tag = event->data.scalar.tag;
    } else if (event->type == YAML_SEQUENCE_START_EVENT) {
        anchor = event->data.sequence_start.anchor;
        tag = event->data.sequence_start.tag;
    } else if (event->type == YAML_MAPPING_START_EVENT) {
        anchor = event->data.mapping_start.anchor;
        tag = event->data.mapping_start.tag;
    }
    if (anchor == NULL && tag == NULL && event->type != YAML_ALIAS_EVENT)
        return false;
    diag_error(reader->diag, event_place(reader),
               tag != NULL ? "a tag: expected a value; one that begins with `!` must stand in quotes"
               : anchor != NULL
                   ? "an anchor: expected the value itself wherever it is needed; one that begins with `&` must "
                     "stand in quotes"
                   : "an alias: expected the value itself; one that begins with `*` must stand in quotes");
    return true;
}

static bool is_plain(const yaml_event_t *event)
{
    return event->type == YAML_SCALAR_EVENT && event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
}

static bool is_nothing(const yaml_event_t *event)
{
    static const char *const names[] = {"", "~", "null", "Null", "NULL"};
    for (size_t i = 0; is_plain(event) && i < sizeof names / sizeof *names; i++) {
        if (strcmp((const char *)event->data.scalar.value, names[i]) == 0)
            return true;
    }
    return false;
}

/* The text of the scalar at hand; NULL after an error. */
static const char *scalar_text(struct reader *reader)
{
    const char *text = (const char *)reader->event.data.scalar.value;
    size_t length = reader->event.data.scalar.length;
    if (memchr(text, '\0', length) != NULL) {
        diag_error(reader->diag, event_place(reader), "the escape of a NUL byte: expected text");
        return NULL;
    }
    return arena_text_of(reader->arena, text, length);
}

/* Inside [...] and {...} a comma ends a value, even between round brackets. True if one did. */
static bool comma_cut(struct reader *reader, const struct node *value, char open, char close)
{
    if (value->kind != NODE_SCALAR || value->quoted)
        return false;
    int depth = 0;
    for (const char *at = value->text; *at != '\0'; at++)
        depth += (*at == '(') - (*at == ')');
    if (depth <= 0)
        return false;
    diag_error(reader->diag, value->place,
               "a comma inside %c...%c ended this value, `%s`: separate arguments by blanks, as in uniform(1 s 2 s)",
               open, close, diag_excerpt(reader->diag, value->text));
    return true;
}

static void report_no_value(struct reader *reader, const struct node_entry *entry)
{
    const char *key = diag_excerpt(reader->diag, entry->key);
    if (strchr(key, ':') != NULL)
        diag_error(reader->diag, entry->place, "a blank is missing after the colon in `%s`: expected {key: value}",
                   key);
    else if (*key >= '0' && *key <= '9')
        diag_error(
            reader->diag, entry->place,
            "a key `%s` has no value: a comma inside {...} ended the value before it; numbers have a decimal dot", key);
    else
        diag_error(reader->diag, entry->place, "the key `%s` has no value: expected {%s: value}", key, key);
}

static int compare_entries(const void *left, const void *right)
{
    const struct node_entry *a = *(const struct node_entry *const *)left;
    const struct node_entry *b = *(const struct node_entry *const *)right;
    int order = strcmp(a->key, b->key);
    return order != 0 ? order : (a > b) - (a < b);
}

static void report_repeated(struct reader *reader, const struct node *map)
{
    const struct node_entry **sorted = mem_zeroed(map->count, sizeof(struct node_entry *));
    for (size_t i = 0; i < map->count; i++)
        sorted[i] = &map->entries[i];
    if (map->count > 1)
        qsort(sorted, map->count, sizeof(struct node_entry *), compare_entries);
    for (size_t i = 1; i < map->count; i++) {
        if (strcmp(sorted[i - 1]->key, sorted[i]->key) == 0)
            diag_error(reader->diag, sorted[i]->place, "the key `%s` again: it stands in line %d already",
                       diag_excerpt(reader->diag, sorted[i]->key), sorted[i - 1]->place.line);
    }
    free(sorted);
}

/* The key at hand into the entry; false after an error. */
static bool read_key(struct reader *reader, struct node_entry *entry)
{
    const yaml_event_t *event = &reader->event;
    entry->place = event_place(reader);
    if (refused(reader))
        return false;
    if (event->type != YAML_SCALAR_EVENT) {
        diag_error(reader->diag, entry->place, "a list or a mapping as a key: expected a word");
        return false;
    }
    if (is_nothing(event)) {
        diag_error(reader->diag, entry->place, "a key is missing: expected `key: value`");
        return false;
    }
    if (is_plain(event) && strcmp((const char *)event->data.scalar.value, "<<") == 0) {
        diag_error(reader->diag, entry->place, "a merge key (<<): expected the keys themselves");
        return false;
    }
    entry->key = scalar_text(reader);
    return entry->key != NULL;
}

static bool read_map(struct reader *reader, struct node *map)
{
    bool flow = reader->event.data.mapping_start.style == YAML_FLOW_MAPPING_STYLE;
    bool cut = false; /* what follows a cut value is no key, so it is not told of again */
    for (;;) {
        if (!step(reader))
            return false;
        if (reader->event.type == YAML_MAPPING_END_EVENT)
            break;
        struct node_entry entry = {0};
        if (!read_key(reader, &entry) || !step(reader))
            return false;
        bool empty = is_plain(&reader->event) && reader->event.data.scalar.length == 0;
        entry.value = read_node(reader);
        if (entry.value == NULL)
            return false;
        if (flow && empty && !cut)
            report_no_value(reader, &entry);
        else if (flow && comma_cut(reader, entry.value, '{', '}'))
            cut = true;
        map->entries = grown(reader->arena, map->entries, map->count, sizeof *map->entries);
        map->entries[map->count++] = entry;
    }
    report_repeated(reader, map);
    return true;
}

static bool read_list(struct reader *reader, struct node *list)
{
    bool flow = reader->event.data.sequence_start.style == YAML_FLOW_SEQUENCE_STYLE;
    for (;;) {
        if (!step(reader))
            return false;
        if (reader->event.type == YAML_SEQUENCE_END_EVENT)
            return true;
        struct node *item = read_node(reader);
        if (item == NULL)
            return false;
        if (flow)
            comma_cut(reader, item, '[', ']');
        list->items = grown(reader->arena, list->items, list->count, sizeof(struct node *));
        list->items[list->count++] = item;
    }
}

static bool read_scalar(struct reader *reader, struct node *node)
{
    node->quoted = !is_plain(&reader->event);
    node->text = scalar_text(reader);
    return node->text != NULL;
}

/* The node whose first event is at hand; ends at its last event. NULL after an error that ends the reading; others are
 * only reported. */
static struct node *read_node(struct reader *reader)
{
    if (refused(reader))
        return NULL;
    if (reader->nodes++ == NODES_MOST) {
        diag_error(reader->diag, event_place(reader), "expected at most %d values", NODES_MOST);
        return NULL;
    }
    struct node *node = arena_zeroed(reader->arena, 1, sizeof *node);
    node->place = event_place(reader);
    if (is_nothing(&reader->event))
        return node;
    if (reader->event.type != YAML_SCALAR_EVENT && reader->level == LEVELS_MOST) {
        diag_error(reader->diag, node->place, "expected at most %d levels of lists and mappings", LEVELS_MOST);
        return NULL;
    }
    bool done = true;
    reader->level++;
    switch (reader->event.type) {
    case YAML_SCALAR_EVENT:
        node->kind = NODE_SCALAR;
        done = read_scalar(reader, node);
        break;
    case YAML_SEQUENCE_START_EVENT:
        node->kind = NODE_LIST;
        done = read_list(reader, node);
        break;
    default: /* nothing else can begin a node */
        node->kind = NODE_MAP;
        done = read_map(reader, node);
        break;
    }
    reader->level--;
    return done ? node : NULL;
}

static struct node *read_document(struct reader *reader)
{
    if (!step(reader) || !step(reader))
        return NULL;
    if (reader->event.type == YAML_STREAM_END_EVENT) {
        struct node *nothing = arena_zeroed(reader->arena, 1, sizeof *nothing);
        nothing->place = (struct place){reader->source.name, 1, 1};
        return nothing;
    }
    if (!step(reader))
        return NULL;
    struct node *root = read_node(reader);
    if (root == NULL || !step(reader) || !step(reader))
        return NULL;
    if (reader->event.type == YAML_STREAM_END_EVENT)
        return root;
    diag_error(reader->diag, event_place(reader), "a second document begins here: expected the end of the file");
    return NULL;
}

/* Bytes that libyaml would let pass or give a wrong name. */
static bool bytes_are_text(const struct yaml_source *source, struct diag *diag)
{
    const char *text = source->text;
    if (source->length >= 2 && (memcmp(text, "\xff\xfe", 2) == 0 || memcmp(text, "\xfe\xff", 2) == 0)) {
        diag_error(diag, (struct place){source->name, 1, 1}, "this is UTF-16: save the file as UTF-8");
        return false;
    }
    const char *nul = source->length == 0 ? NULL : memchr(text, '\0', source->length);
    if (nul != NULL) {
        diag_error(diag, yaml_place_of(source, (size_t)(nul - text)), "a NUL byte: expected text in UTF-8");
        return false;
    }
    const char *tab = source->length == 0 ? NULL : memchr(text, '\t', source->length);
    if (tab != NULL) {
        diag_error(diag, yaml_place_of(source, (size_t)(tab - text)), "a tab: expected blanks, also for indentation");
        return false;
    }
    return true;
}

struct node *yaml_parse(const char *name, const char *text, size_t length, struct arena *arena, struct diag *diag)
{
    size_t bom = length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    struct reader reader = {.arena = arena, .diag = diag};
    reader.source = (struct yaml_source){arena_text(arena, name), text + bom, length - bom};
    if (length > BYTES_MOST) {
        diag_error(diag, (struct place){reader.source.name, 0, 0}, "expected at most 16 MiB of text");
        return NULL;
    }
    if (!bytes_are_text(&reader.source, diag))
        return NULL;
    if (!yaml_parser_initialize(&reader.parser))
        mem_exhausted();
    yaml_parser_set_encoding(&reader.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&reader.parser, (const unsigned char *)reader.source.text, reader.source.length);
    size_t errors = diag->errors;
    struct node *root = read_document(&reader);
    yaml_event_delete(&reader.event);
    yaml_parser_delete(&reader.parser);
    return diag->errors == errors ? root : NULL;
}

struct node *yaml_read(const char *path, struct arena *arena, struct diag *diag)
{
    return yaml_read_asked(path, (struct place){NULL, 0, 0}, arena, diag);
}

struct node *yaml_read_asked(const char *path, struct place asked, struct arena *arena, struct diag *diag)
{
    FILE *file = file_open(path, asked, diag);
    if (file == NULL)
        return NULL;
    char *text = NULL;
    size_t length = 0, room = 0, got;
    do {
        room = room == 0 ? 65536 : 2 * room;
        text = mem_resized(text, room, 1);
        got = fread(text + length, 1, room - length, file);
        length += got;
    } while (length == room && length <= BYTES_MOST);
    struct node *root = NULL;
    if (ferror(file))
        diag_error(diag, (struct place){path, 0, 0}, "cannot be read to its end");
    else
        root = yaml_parse(path, text, length, arena, diag);
    fclose(file);
    free(text);
    return root;
}
