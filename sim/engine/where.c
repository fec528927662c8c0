/* where.c - the last words of a run that went wrong. */
#include "sim/engine/where.h"

#include <stdio.h>
#include <stdlib.h>

_Thread_local struct sim_record sim_record;

void sim_words_add(struct sim_words *words, const char *text)
{
    for (; *text && words->length + 1 < sizeof words->text; text++)
        words->text[words->length++] = *text;
    words->text[words->length] = '\0';
}

/* At least so many digits. */
static void add_digits(struct sim_words *words, uint64_t number, size_t least)
{
    char digits[21] = {0};
    size_t first = sizeof digits - 1;
    do {
        digits[--first] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0 || sizeof digits - 1 - first < least);
    sim_words_add(words, digits + first);
}

void sim_words_number(struct sim_words *words, uint64_t number)
{
    add_digits(words, number, 1);
}

/* Whole numbers throughout: no digit of the moment is lost, and no locale can change the point. */
void sim_words_time(struct sim_words *words, sim_time time)
{
    uint64_t ns = time < 0 ? -(uint64_t)time : (uint64_t)time;
    if (time < 0)
        sim_words_add(words, "-");
    add_digits(words, ns / (uint64_t)SIM_SECOND, 1);
    sim_words_add(words, ".");
    add_digits(words, ns % (uint64_t)SIM_SECOND, 9);
    sim_words_add(words, " s");
}

void sim_words_where(struct sim_words *words, const struct sim_where *where)
{
    sim_words_add(words, "at ");
    sim_words_time(words, where->now);
    sim_words_add(words, ", event ");
    sim_words_number(words, where->event);
    sim_words_add(words, ", seed ");
    sim_words_number(words, where->seed);
    sim_words_add(words, ", replication ");
    sim_words_number(words, where->replication);
}

_Noreturn void sim_assert_failed(const struct sim_where *where, const char *condition, const char *file, int line)
{
    struct sim_words words = {.length = 0};
    if (!where)
        where = sim_record.where;
    if (where)
        sim_words_where(&words, where);
    sim_record = (struct sim_record){0}; /* all is said, and a callback in progress is not to blame */
    fprintf(stderr, "weir: %s:%d: assertion failed: %s\n", file, line, condition);
    if (where)
        fprintf(stderr, "weir: %s\n", words.text);
    abort();
}
