/* expr.c - one recursive descent over the text of an expression. Depth and length have bounds, so no input exhausts the
 * stack, and every message points at its own column. */
#include "sim/io/expr.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#define DEPTH_MOST 32
#define LENGTH_MOST 65536
#define RANGE_MOST 10000

struct parser {
    const char *at;
    const char *counted; /* the last byte whose place was asked for, and that place */
    struct place place;
    struct arena *arena;
    struct diag *diag;
    int depth;
    const char *owner; /* the argument or function whose number is read; NULL: none */
};

/* The arguments of a call while they are read. */
struct arguments {
    struct expr *items;
    size_t count, room;
};

static bool parse_expr(struct parser *parser, struct expr *expr);

/* Commas are blanks here. */
static const char *skip_blanks(const char *at)
{
    return at + strspn(at, " \t\r\n,");
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || (c != '\0' && strchr("_-./", c) != NULL);
}

static size_t word_length(const char *at)
{
    size_t length = 0;
    while (is_word(at[length]))
        length++;
    return length;
}

static bool begins_number(const char *at)
{
    bool sign = *at == '+' || *at == '-';
    size_t length = word_length(at);
    bool special = length == 3 && (memcmp(at, "inf", 3) == 0 || memcmp(at, "nan", 3) == 0);
    return is_digit(*at) || sign || (*at == '.' && is_digit(at[1])) || special;
}

/* Where the parser stands. Columns count characters, so bytes that continue one do not count. */
static struct place here(struct parser *parser)
{
    for (; parser->counted < parser->at; parser->counted++)
        parser->place.column += ((unsigned char)*parser->counted & 0xc0) != 0x80;
    return parser->place;
}

/* What stands at `at`, for messages. */
static const char *found(struct arena *arena, const char *at)
{
    if (*at == '\0')
        return "the end";
    size_t length = word_length(at);
    if (length == 0)
        for (length = 1; ((unsigned char)at[length] & 0xc0) == 0x80;)
            length++;
    return arena_format(arena, "'%.*s'", (int)(length < 60 ? length : 60), at);
}

static const char *found_here(struct parser *parser)
{
    return found(&parser->diag->arena, parser->at);
}

static bool parse_number(struct parser *parser, struct expr *expr)
{
    const char *end, *why;
    if (!unit_read(parser->at, &end, &expr->number, &why)) {
        diag_error(parser->diag, here(parser), "%s%s%s, found %s", parser->owner ? parser->owner : "",
                   parser->owner ? ": " : "", why, found_here(parser));
        return false;
    }
    parser->at = end;
    if (*end != '\0' && !strchr(" \t\r\n,|)", *end)) {
        diag_error(
            parser->diag, here(parser),
            "expected a blank behind the number, found %s (names that begin with a digit stand in single quotes)",
            found_here(parser));
        return false;
    }
    expr->kind = EXPR_NUMBER;
    return true;
}

/* A name in single quotes; a quote within it is written twice. */
static bool parse_quoted(struct parser *parser, struct expr *expr)
{
    const char *from = parser->at + 1;
    char *name = arena_zeroed(parser->arena, strlen(from) + 1, 1);
    size_t length = 0;
    for (const char *at = from; *at != '\0'; at++) {
        if (*at == '\'' && *++at != '\'') {
            parser->at = at;
            expr->kind = EXPR_WORD;
            expr->name = name;
            return true;
        }
        name[length++] = *at;
    }
    diag_error(parser->diag, here(parser), "expected a single quote that ends this name");
    return false;
}

static struct expr *next_argument(struct arguments *arguments, struct arena *arena)
{
    if (arguments->count == arguments->room) {
        size_t room = arguments->room == 0 ? 4 : 2 * arguments->room;
        struct expr *items = arena_zeroed(arena, room, sizeof *items);
        if (arguments->count > 0)
            memcpy(items, arguments->items, arguments->count * sizeof *items);
        arguments->items = items;
        arguments->room = room;
    }
    return &arguments->items[arguments->count++];
}

/* The parser stands behind the bracket that opens. */
static bool parse_arguments(struct parser *parser, struct expr *call)
{
    struct arguments arguments = {0};
    size_t part = 0;
    bool empty = true; /* nothing yet in this part */
    for (;;) {
        parser->at = skip_blanks(parser->at);
        bool ends = *parser->at == ')';
        if (*parser->at == '\0') {
            diag_error(parser->diag, here(parser), "expected ) at the end of %s(; a comma inside {...} ends a value",
                       call->name);
            return false;
        }
        if (empty && (*parser->at == '|' || (ends && part > 0))) {
            diag_error(parser->diag, here(parser), "expected a component of %s beside the |, found %s", call->name,
                       found_here(parser));
            return false;
        }
        if (ends)
            break;
        if (*parser->at == '|') {
            parser->at++;
            part++;
            empty = true;
            continue;
        }
        struct expr *argument = next_argument(&arguments, parser->arena);
        const struct expr *before = !empty ? argument - 1 : NULL;
        argument->part = part;
        empty = false;
        parser->owner = before && before->kind == EXPR_WORD ? before->name : call->name;
        if (!parse_expr(parser, argument))
            return false;
    }
    parser->at++;
    call->arguments = arguments.items;
    call->count = arguments.count;
    return true;
}

static bool parse_word(struct parser *parser, struct expr *expr)
{
    size_t length = word_length(parser->at);
    expr->kind = EXPR_WORD;
    expr->name = arena_text_of(parser->arena, parser->at, length);
    parser->at += length;
    if (*parser->at != '(')
        return true;
    if (parser->depth == DEPTH_MOST) {
        diag_error(parser->diag, here(parser), "expected at most %d nested brackets", DEPTH_MOST);
        return false;
    }
    parser->at++;
    parser->depth++;
    expr->kind = EXPR_CALL;
    bool done = parse_arguments(parser, expr);
    parser->depth--;
    return done;
}

static bool parse_expr(struct parser *parser, struct expr *expr)
{
    const char *from = parser->at;
    bool done = false;
    expr->place = here(parser);
    if (begins_number(from))
        done = parse_number(parser, expr);
    else if (*from == '\'')
        done = parse_quoted(parser, expr);
    else if (is_word(*from))
        done = parse_word(parser, expr);
    else
        diag_error(parser->diag, here(parser), "expected a number with its unit, a name, or NAME(...), found %s",
                   found_here(parser));
    if (done)
        expr->text = arena_text_of(parser->arena, from, (size_t)(parser->at - from));
    return done;
}

/* A number of a range, and what is written behind its digits, the blank included. */
struct range_number {
    struct number number;
    const char *unit;
    double one; /* the value of "1" with that unit */
};

static bool same_unit(const struct number *a, const struct number *b)
{
    return a->quantity == b->quantity && a->noun == b->noun;
}

/* The number where the parser stands, of the same kind as `like` unless that is NULL. */
static bool range_number(struct parser *parser, const struct range_number *like, struct range_number *read)
{
    const char *end, *why;
    parser->at = skip_blanks(parser->at);
    if (!unit_read(parser->at, &end, &read->number, &why)) {
        diag_error(parser->diag, here(parser), "%s, found %s", why, found_here(parser));
        return false;
    }
    if (!isfinite(read->number.value) || (like && !same_unit(&like->number, &read->number))) {
        diag_error(parser->diag, here(parser),
                   "expected finite numbers with the same kind of unit, as in 1 s..4 s step 500 ms");
        return false;
    }
    const char *unit = parser->at;
    while (unit < end && (is_digit(*unit) || *unit == '.'))
        unit++;
    read->unit = arena_text_of(parser->arena, unit, (size_t)(end - unit));
    struct number one;
    const char *stop;
    read->one = unit_read(arena_format(parser->arena, "1%s", read->unit), &stop, &one, &why) ? one.value : 1;
    parser->at = end;
    return true;
}

/* `FIRST..LAST [step STEP]`; the parser stands before the first number, which is known to be there. */
static bool range_numbers(struct parser *parser, struct range_number *first, struct range_number *last,
                          struct range_number *step)
{
    if (!range_number(parser, NULL, first))
        return false;
    parser->at = skip_blanks(parser->at) + strlen("..");
    if (!range_number(parser, first, last))
        return false;
    parser->at = skip_blanks(parser->at);
    const struct number *from = &first->number;
    if (word_length(parser->at) == 4 && memcmp(parser->at, "step", 4) == 0) {
        parser->at += 4;
        if (!range_number(parser, first, step))
            return false;
        parser->at = skip_blanks(parser->at);
    } else if (*parser->at == '\0' && (from->quantity != QUANTITY_NUMBER || from->value != floor(from->value))) {
        diag_error(parser->diag, here(parser), "expected a step, as in 1 s..4 s step 500 ms");
        return false;
    }
    if (*parser->at != '\0') {
        diag_error(parser->diag, here(parser), "expected `step` and a number, or the end of the range, found %s",
                   found_here(parser));
        return false;
    }
    return true;
}

/* How many decimals the value needs, up to 15. */
static int decimals_of(double value)
{
    char text[64];
    for (int decimals = 0; decimals < 15; decimals++) {
        unit_format(text, sizeof text, "%.*f", decimals, value);
        if (fabs(unit_decimal(text) - value) <= 4 * 2.2204460492503131e-16 * fabs(value))
            return decimals;
    }
    return 15;
}

/* first + i * step in decimals of the smaller of the two units: no value carries the rounding of those before it, and
 * 1 h..2 h step 1 s has whole numbers. */
static const char **range_texts(const struct range_number *first, const struct range_number *step, size_t count,
                                struct arena *arena)
{
    const char **texts = arena_zeroed(arena, count, sizeof *texts);
    const struct range_number *unit = step->one < first->one ? step : first;
    double from = first->number.value / unit->one, by = step->number.value / unit->one;
    int from_decimals = decimals_of(from), by_decimals = decimals_of(by);
    for (size_t i = 0; i < count; i++) {
        char text[64];
        unit_format(text, sizeof text, "%.*f", from_decimals > by_decimals ? from_decimals : by_decimals,
                    from + (double)i * by);
        size_t length = strlen(text);
        if (strchr(text, '.')) {
            while (text[length - 1] == '0')
                length--;
            length -= text[length - 1] == '.';
        }
        texts[i] = arena_format(arena, "%.*s%s", (int)length, text, unit->unit);
    }
    return texts;
}

const struct expr *expr_parse(const char *text, struct place place, struct arena *arena, struct diag *diag)
{
    struct parser parser = {.at = text, .counted = text, .place = place, .arena = arena, .diag = diag};
    if (strlen(text) > LENGTH_MOST) {
        diag_error(diag, place, "expected an expression of at most %d characters", LENGTH_MOST);
        return NULL;
    }
    struct expr *expr = arena_zeroed(arena, 1, sizeof *expr);
    parser.at = skip_blanks(text);
    if (!parse_expr(&parser, expr))
        return NULL;
    parser.at = skip_blanks(parser.at);
    if (*parser.at != '\0') {
        bool unit = expr->kind == EXPR_NUMBER && expr->number.quantity == QUANTITY_NUMBER && is_word(*parser.at);
        diag_error(diag, here(&parser),
                   unit ? "expected a unit behind %s (ns us ms s min h d, %%, k, M, or a noun such as tokens), found %s"
                        : "expected nothing behind %s, found %s",
                   expr->kind == EXPR_CALL ? "the closing bracket" : found(&diag->arena, expr->text),
                   found_here(&parser));
        return NULL;
    }
    return expr;
}

const char **expr_range(const char *text, struct place place, size_t *count, struct arena *arena, struct diag *diag)
{
    struct parser parser = {.at = text, .counted = text, .place = place, .arena = arena, .diag = diag};
    struct range_number first, last, step = {.number.value = 1, .unit = "", .one = 1};
    const char *end, *why;
    *count = 0;
    if (!unit_read(text, &end, &first.number, &why) || strncmp(skip_blanks(end), "..", 2) != 0)
        return NULL;
    if (!range_numbers(&parser, &first, &last, &step))
        return NULL;
    double span = last.number.value - first.number.value;
    double steps = floor(span / step.number.value + 1e-9);
    const char *expected = span < 0                 ? "a range that ascends, as in 8..24 step 2"
                           : step.number.value <= 0 ? "a step above 0"
                           : steps >= RANGE_MOST    ? "a range of at most 10000 values"
                                                    : NULL;
    if (expected) {
        diag_error(diag, place, "expected %s, found '%s'", expected, text);
        return NULL;
    }
    size_t values = (size_t)steps + 1;
    const char **texts = range_texts(&first, &step, values, arena);
    if (fabs(span - steps * step.number.value) > 1e-9 * step.number.value) {
        diag_error(diag, place, "expected a range whose steps end at its last value: those of '%s' end at %s", text,
                   texts[values - 1]);
        return NULL;
    }
    *count = values;
    return texts;
}
