/* fuzz_expr.c - any text is an expression, a range or a number, or gets one message within it; what a number prints
 * reads back as itself. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "sim/io/expr.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static void expect(bool holds)
{
    if (!holds)
        abort();
}

/* Every part lies within its whole. */
static void check_tree(const struct expr *expr)
{
    expect(expr->text != NULL);
    expect(expr->kind != EXPR_NUMBER || expr->number.value >= 0);
    expect(expr->kind == EXPR_NUMBER || expr->name != NULL);
    for (size_t i = 0; i < expr->count; i++) {
        expect(expr->arguments[i].place.column > expr->place.column);
        expect(i == 0 || expr->arguments[i].part - expr->arguments[i - 1].part <= 1);
        check_tree(&expr->arguments[i]);
    }
}

static void check_message(const struct diag *diag, size_t errors, const char *text)
{
    expect(diag->errors == errors + 1);
    int column = diag->messages[diag->count - 1].place.column;
    expect(column >= 1 && (size_t)column <= strlen(text) + 1);
}

static void check_number(const char *text)
{
    struct number number, again;
    const char *end, *why;
    char printed[40];
    if (!unit_read(text, &end, &number, &why)) {
        expect(why != NULL && *why != '\0');
        return;
    }
    expect(end > text && end <= text + strlen(text));
    expect(number.value >= 0 && (number.value <= 1e18 || isinf(number.value)));
    unit_print_time(number.value, printed, sizeof printed);
    expect(unit_read(printed, &end, &again, &why) && *end == '\0' && again.value == number.value);
    unit_print_number(number.value, printed, sizeof printed);
    expect(unit_read(printed, &end, &again, &why) && *end == '\0' && again.value == number.value);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    struct arena arena = {0};
    struct diag diag = {0};
    const struct place place = {"fuzz", 1, 1};
    const char *text = arena_text_of(&arena, (const char *)bytes, count);
    check_number(text);

    const struct expr *expr = expr_parse(text, place, &arena, &diag);
    if (expr)
        check_tree(expr);
    else
        check_message(&diag, 0, text);

    size_t errors = diag.errors, values;
    const char **range = expr_range(text, place, &values, &arena, &diag);
    for (size_t i = 0; i < values; i++)
        check_number(range[i]);
    if (!range && diag.errors > errors)
        check_message(&diag, errors, text);
    arena_free(&arena);
    diag_fini(&diag);
    return 0;
}
