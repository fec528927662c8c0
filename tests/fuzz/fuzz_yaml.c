/* fuzz_yaml.c - any bytes as a scenario file: a tree whose places lie in the text, or messages that are safe to print.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/io/yaml.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static void require(bool condition)
{
    if (!condition)
        abort();
}

static void check_place(struct place place, int lines)
{
    require(place.file != NULL && strcmp(place.file, "fuzz") == 0);
    require(place.line >= 0 && place.line <= lines && place.column >= 0);
}

static void check_tree(const struct node *node, const struct node *copy, int lines, int levels)
{
    require(levels >= 0 && node->kind == copy->kind && node->count == copy->count);
    require((node->kind == NODE_SCALAR) == (node->text != NULL));
    check_place(node->place, lines);
    for (size_t i = 0; node->kind == NODE_LIST && i < node->count; i++)
        check_tree(node->items[i], copy->items[i], lines, levels - 1);
    for (size_t i = 0; node->kind == NODE_MAP && i < node->count; i++) {
        const struct node_entry *entry = &node->entries[i];
        check_place(entry->place, lines);
        require(node_get(node, entry->key) == entry->value); /* keys differ */
        check_tree(entry->value, copy->entries[i].value, lines, levels - 1);
    }
}

static void check_messages(const struct diag *diag, int lines)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    require(out != NULL);
    diag_print(diag, out);
    fclose(out);
    size_t ends = 0;
    for (size_t i = 0; i < size; i++) {
        unsigned char byte = (unsigned char)text[i];
        require((byte >= 0x20 && byte != 0x7f) || byte == '\n');
        ends += byte == '\n';
    }
    require(ends == diag->count + (diag->errors > DIAG_MOST));
    for (size_t i = 0; i < diag->count; i++)
        check_place(diag->messages[i].place, lines);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct arena arena = {0};
    struct diag diag = {0};
    /* YAML ends lines in more ways than one, but each takes a byte. */
    int lines = (int)length + 1;
    const struct node *root = yaml_parse("fuzz", (const char *)bytes, length, &arena, &diag);
    require((root == NULL) == (diag.errors > 0));
    if (root != NULL)
        check_tree(root, node_copy(root, &arena), lines, 65);
    check_messages(&diag, lines);
    arena_free(&arena);
    diag_fini(&diag);
    return 0;
}
