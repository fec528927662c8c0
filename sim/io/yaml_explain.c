/* yaml_explain.c - libyaml's errors as sentences that say what was expected and, where a known trap is near, what to
 * do.
 *
 * libyaml tells a problem and a context, both as constant texts, each with its mark. The known pairs stand in one table
 * in the order in which they are tried; what needs a look at the line around the mark has a function of its own. */
#include "sim/io/yaml_explain.h"

#include <string.h>

struct scene {
    const yaml_parser_t *parser;
    const struct yaml_source *source;
    struct diag *diag;
};

/* The byte at which libyaml's mark stands; the end of the text if it stands beyond. */
static const char *byte_at(const struct yaml_source *source, yaml_mark_t mark)
{
    const char *at = source->text, *end = source->text + source->length;
    for (size_t i = 0; i < mark.index && at < end; i++) {
        at++;
        while (at < end && ((unsigned char)*at & 0xc0) == 0x80)
            at++;
    }
    return at;
}

static const char *line_begin(const struct yaml_source *source, const char *at)
{
    while (at > source->text && at[-1] != '\n' && at[-1] != '\r')
        at--;
    return at;
}

static bool ends_line(const struct yaml_source *source, const char *at)
{
    return at == source->text + source->length || *at == '\n' || *at == '\r';
}

static bool begins_comment(const struct yaml_source *source, const char *at)
{
    return *at == '#' && (at == line_begin(source, at) || at[-1] == ' ');
}

/* The line above that has more than blanks and comments, or NULL. */
static const char *line_above(const struct yaml_source *source, const char *line)
{
    while (line > source->text) {
        line = line_begin(source, line - 1);
        const char *at = line;
        while (!ends_line(source, at) && *at == ' ')
            at++;
        if (!ends_line(source, at) && !begins_comment(source, at))
            return line;
    }
    return NULL;
}

/* The first colon of a line that ends a key (a blank or the end follows it), or that does not. */
static const char *find_colon(const struct yaml_source *source, const char *line, bool ends_key)
{
    for (const char *at = line; !ends_line(source, at) && !begins_comment(source, at); at++) {
        bool blank_follows = ends_line(source, at + 1) || at[1] == ' ';
        if (*at == ':' && blank_follows == ends_key)
            return at;
    }
    return NULL;
}

/* In a line such as `cap:6` nothing but the blank is missing. True if that is so and was reported. */
static bool explain_missing_blank(const struct scene *scene, const char *line)
{
    const struct yaml_source *source = scene->source;
    const char *colon = find_colon(source, line, false);
    if (colon == NULL || find_colon(source, line, true) != NULL)
        return false;
    diag_error(scene->diag, yaml_place_of(source, (size_t)(colon - source->text)),
               "a blank is missing after the colon: expected `key: value`");
    return true;
}

static void explain_key(const struct scene *scene)
{
    const struct yaml_source *source = scene->source;
    const char *line = line_begin(source, byte_at(source, scene->parser->context_mark));
    if (!explain_missing_blank(scene, line))
        diag_error(scene->diag, yaml_place_at(source, scene->parser->context_mark),
                   "a key without a colon: expected `key: value`");
}

/* A colon that cannot end a key: the second one of its line, or of a key that stands in the wrong place. */
static void explain_colon(const struct scene *scene)
{
    const struct yaml_source *source = scene->source;
    struct place place = yaml_place_at(source, scene->parser->problem_mark);
    const char *colon = byte_at(source, scene->parser->problem_mark);
    const char *line = line_begin(source, colon);
    const char *first = find_colon(source, line, true);
    if (first != NULL && first < colon) {
        diag_error(
            scene->diag, place,
            "a second colon: a value that contains `: ` must stand in quotes, as in title: \"One card: the knee\"");
        return;
    }
    const char *above = line_above(source, line);
    if (above == NULL || !explain_missing_blank(scene, above))
        diag_error(scene->diag, place,
                   "a key cannot stand here: expected it in the column of the key above, which ends with a colon and a "
                   "blank");
}

static void explain_first_character(const struct scene *scene)
{
    yaml_mark_t mark = scene->parser->context_mark;
    const char *at = byte_at(scene->source, mark);
    diag_error(scene->diag, yaml_place_at(scene->source, mark), "a text that begins with '%.1s' must stand in quotes",
               at);
}

static void explain_content(const struct scene *scene)
{
    const char *at = byte_at(scene->source, scene->parser->problem_mark);
    struct place place = yaml_place_at(scene->source, scene->parser->problem_mark);
    if (ends_line(scene->source, at))
        diag_error(scene->diag, place, "expected a value");
    else if (*at == ':')
        diag_error(scene->diag, place, "a key is missing before the colon: expected `key: value`");
    else
        diag_error(scene->diag, place, "expected a value, not '%.1s'; a text that begins so must stand in quotes", at);
}

/* Something where the next key, or the next item, of a block should begin. */
static void explain_block(const struct scene *scene)
{
    const struct yaml_source *source = scene->source;
    const yaml_parser_t *parser = scene->parser;
    struct place place = yaml_place_at(source, parser->problem_mark);
    struct place block = yaml_place_at(source, parser->context_mark);
    const char *at = byte_at(source, parser->problem_mark);
    const char *before = at, *line = line_begin(source, at);
    while (before > line && before[-1] == ' ')
        before--;
    const char *above = before == line ? line_above(source, line) : NULL;
    const char *item = strstr(parser->problem, "'-'") != NULL ? "item (`- `)" : "key";
    if (above != NULL && explain_missing_blank(scene, above))
        return;
    if (before > line && strchr("\"'])}", before[-1]) != NULL)
        diag_error(scene->diag, place,
                   "text behind a closing '%c': expected the end of the line; put quotes around the whole value",
                   before[-1]);
    else if (!ends_line(source, at) && *at == ':')
        diag_error(scene->diag, place, "a key is missing before the colon: expected `key: value`");
    else if (place.column != block.column)
        diag_error(scene->diag, place, "expected the next %s in column %d, as in line %d", item, block.column,
                   block.line);
    else
        diag_error(scene->diag, place, "expected a further %s, as in line %d", item, block.line);
}

static void explain_flow(const struct scene *scene)
{
    const struct yaml_source *source = scene->source;
    const yaml_parser_t *parser = scene->parser;
    struct place place = yaml_place_at(source, parser->problem_mark);
    struct place opened = yaml_place_at(source, parser->context_mark);
    bool braces = strchr(parser->problem, '}') != NULL;
    char open = braces ? '{' : '[', close = braces ? '}' : ']';
    const char *at = byte_at(source, parser->problem_mark);
    if (place.line != opened.line)
        diag_error(scene->diag, place, "expected ',' or '%c': is the '%c' of line %d, column %d not closed?", close,
                   open, opened.line, opened.column);
    else if (!ends_line(source, at) && *at == ':')
        diag_error(scene->diag, place,
                   "expected ',' or '%c': a comma is missing before this key, or a value with a colon needs quotes",
                   close);
    else
        diag_error(scene->diag, place, "expected ',' or '%c'", close);
}

static void explain_bytes(const struct scene *scene)
{
    const yaml_parser_t *parser = scene->parser;
    struct place place = yaml_place_of(scene->source, parser->problem_offset);
    if (strstr(parser->problem, "control") != NULL)
        diag_error(scene->diag, place, "the control character U+%04X: expected text", (unsigned)parser->problem_value);
    else
        diag_error(scene->diag, place, "this is not UTF-8 (%s): save the file as UTF-8", parser->problem);
}

static const struct rule {
    const char *context, *problem; /* each a part of libyaml's text; NULL: any */
    void (*explain)(const struct scene *scene);
    const char *message; /* where no look around is needed */
    bool at_context;
} rules[] = {
    {"quoted scalar", "unexpected", NULL, "the quote that opens here is not closed", true},
    {"quoted scalar", NULL, NULL,
     "expected a known escape after the backslash: write \\\\ for a backslash, or use single quotes", false},
    {"next token", NULL, explain_first_character, NULL, false},
    {"directive", NULL, explain_first_character, NULL, false},
    {"block scalar", NULL, explain_first_character, NULL, false},
    {"anchor", NULL, explain_first_character, NULL, false},
    {"alias", NULL, explain_first_character, NULL, false},
    {" tag", NULL, explain_first_character, NULL, false},
    {NULL, "tag handle", explain_first_character, NULL, false},
    {NULL, "mapping keys", NULL, "a key that begins with `?` must stand in quotes", false},
    {NULL, "unexpected ':'", NULL, "a blank is missing after the colon: expected `key: value`", false},
    {NULL, "expected ':'", explain_key, NULL, false},
    {NULL, "mapping values", explain_colon, NULL, false},
    {NULL, "sequence entries", NULL,
     "a list cannot begin here: expected `- ` on a line of its own, or a list such as [a, b]", false},
    {NULL, "expected key", explain_block, NULL, false},
    {NULL, "'-' indicator", explain_block, NULL, false},
    {NULL, "expected ',' or", explain_flow, NULL, false},
    {NULL, "node content", explain_content, NULL, false},
    {NULL, "<document start>", NULL, "expected the end of the file, or a key in the column of the first one", false},
};

struct place yaml_place_of(const struct yaml_source *source, size_t offset)
{
    struct place place = {source->name, 1, 1};
    for (size_t i = 0; i < offset && i < source->length; i++) {
        unsigned char byte = (unsigned char)source->text[i];
        bool return_of_two = byte == '\r' && i + 1 < source->length && source->text[i + 1] == '\n';
        if (byte == '\n' || (byte == '\r' && !return_of_two)) {
            place.line++;
            place.column = 1;
        } else if ((byte & 0xc0) != 0x80 && byte != '\r') {
            place.column++;
        }
    }
    return place;
}

struct place yaml_place_at(const struct yaml_source *source, yaml_mark_t mark)
{
    return (struct place){source->name, (int)mark.line + 1, (int)mark.column + 1};
}

void yaml_explain(const yaml_parser_t *parser, const struct yaml_source *source, struct diag *diag)
{
    const struct scene scene = {parser, source, diag};
    if (parser->error == YAML_MEMORY_ERROR)
        mem_exhausted();
    if (parser->error == YAML_READER_ERROR) {
        explain_bytes(&scene);
        return;
    }
    const char *context = parser->context != NULL ? parser->context : "";
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        const struct rule *rule = &rules[i];
        if (rule->context != NULL && strstr(context, rule->context) == NULL)
            continue;
        if (rule->problem != NULL && strstr(parser->problem, rule->problem) == NULL)
            continue;
        yaml_mark_t mark = rule->at_context ? parser->context_mark : parser->problem_mark;
        if (rule->explain != NULL)
            rule->explain(&scene);
        else
            diag_error(diag, yaml_place_at(source, mark), "%s", rule->message);
        return;
    }
    diag_error(diag, yaml_place_at(source, parser->problem_mark), "expected YAML: %s", parser->problem);
}
