/* test_diag.c - memory, messages and how they are printed, the guess at a misspelt name. */
#include <check.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "sim/io/diag.h"
#include "tests/suites.h"

static const struct place nowhere = {NULL, 0, 0};

/* What diag_print writes, in memory of the caller. */
static char *printed(const struct diag *diag)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    ck_assert_ptr_nonnull(out);
    diag_print(diag, out);
    fclose(out);
    return text;
}

static void assert_prints(struct diag *diag, const char *expected)
{
    char *text = printed(diag);
    ck_assert_str_eq(text, expected);
    free(text);
    diag_fini(diag);
}

static bool all_zero(const unsigned char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (bytes[i] != 0)
            return false;
    }
    return true;
}

START_TEST(memory_is_zeroed_and_resized)
{
    unsigned char *bytes = mem_zeroed(300, 3);
    ck_assert(all_zero(bytes, 900));
    bytes[299] = 7;
    bytes = mem_resized(bytes, 100000, 1);
    ck_assert_uint_eq(bytes[299], 7);
    ck_assert_ptr_null(mem_resized(bytes, 0, 1));
    ck_assert_ptr_null(mem_zeroed(0, 8));
    ck_assert_ptr_null(mem_zeroed(8, 0));
}
END_TEST

START_TEST(overflowing_size_ends_the_program)
{
    mem_zeroed(SIZE_MAX / 2, 3);
}
END_TEST

START_TEST(overflowing_arena_ends_the_program)
{
    struct arena arena = {0};
    arena_zeroed(&arena, SIZE_MAX - 3, 1);
}
END_TEST

/* Objects of many sizes, some larger than any block: aligned, zeroed, and none touches another. */
START_TEST(arena_objects_are_apart)
{
    enum { OBJECTS = 4000 };
    struct arena arena = {0};
    unsigned char *objects[OBJECTS];
    for (size_t i = 0; i < OBJECTS; i++) {
        size_t size = i % 500 == 499 ? 300000 : 1 + i * 7 % 97;
        objects[i] = arena_zeroed(&arena, size, 1);
        ck_assert_uint_eq((uintptr_t)objects[i] % _Alignof(max_align_t), 0);
        ck_assert(all_zero(objects[i], size));
        memset(objects[i], (int)(i % 255 + 1), size);
    }
    for (size_t i = 0; i < OBJECTS; i++) {
        size_t size = i % 500 == 499 ? 300000 : 1 + i * 7 % 97;
        ck_assert_uint_eq(objects[i][0], i % 255 + 1);
        ck_assert_uint_eq(objects[i][size - 1], i % 255 + 1);
    }
    arena_free(&arena);
    ck_assert_ptr_null(arena.blocks);
}
END_TEST

START_TEST(arena_texts)
{
    struct arena arena = {0};
    ck_assert_str_eq(arena_text(&arena, "knee"), "knee");
    ck_assert_str_eq(arena_text_of(&arena, "knee", 2), "kn");
    ck_assert_str_eq(arena_text_of(&arena, NULL, 0), "");
    ck_assert_str_eq(arena_format(&arena, "%d %s", 8, "servers"), "8 servers");
    char *long_text = arena_format(&arena, "%9000d", 1);
    ck_assert_uint_eq(strlen(long_text), 9000);
    arena_free(&arena);
}
END_TEST

START_TEST(places_are_printed_as_far_as_known)
{
    struct diag diag = {0};
    diag_error(&diag, (struct place){"a.yaml", 3, 7}, "expected %s, found %d", "a time", 4);
    diag_warning(&diag, (struct place){"a.yaml", 3, 0}, "odd");
    diag_error(&diag, (struct place){"a.yaml", 0, 0}, "empty");
    diag_error(&diag, nowhere, "no file");
    ck_assert_uint_eq(diag.errors, 3);
    ck_assert_uint_eq(diag.count, 4);
    assert_prints(&diag, "a.yaml:3:7: error: expected a time, found 4\na.yaml:3: warning: odd\n"
                         "a.yaml: error: empty\nerror: no file\n");
    ck_assert_uint_eq(diag.count, 0);
}
END_TEST

START_TEST(messages_outlive_names)
{
    struct diag diag = {0};
    char name[] = "a.yaml";
    diag_error(&diag, (struct place){name, 1, 1}, "x");
    memset(name, 'z', sizeof name - 1);
    assert_prints(&diag, "a.yaml:1:1: error: x\n");
}
END_TEST

START_TEST(errors_past_the_most_are_counted)
{
    struct diag diag = {0};
    for (int i = 0; i < DIAG_MOST + 1; i++)
        diag_error(&diag, nowhere, "x");
    char *text = printed(&diag);
    ck_assert_ptr_nonnull(strstr(text, "and 1 more error\n"));
    free(text);
    diag_error(&diag, nowhere, "x");
    diag_warning(&diag, nowhere, "still told");
    ck_assert_uint_eq(diag.count, DIAG_MOST + 1);
    ck_assert_uint_eq(diag.errors, DIAG_MOST + 2);
    text = printed(&diag);
    ck_assert_ptr_nonnull(strstr(text, "and 2 more errors\n"));
    free(text);
    diag_fini(&diag);
}
END_TEST

/* Escape sequences (also the one-byte and the two-byte form of the second control set), a newline that could fake a
 * message, marks that turn the direction of writing, and bytes that are no UTF-8. */
START_TEST(nothing_acts_on_the_terminal)
{
    static const char *const cases[][2] = {
        {"a\x1b[2Jb", "error: a\\x1b[2Jb\n"},
        {"a\nb\rc\td\x7f", "error: a\\x0ab\\x0dc\\x09d\\x7f\n"},
        {"\x9b"
         "2J",
         "error: \\x9b2J\n"},
        {"\xc2\x9b"
         "2J",
         "error: \\xc2\\x9b2J\n"},
        {"\xe2\x80\xae!", "error: \\xe2\\x80\\xae!\n"},
        {"\xc0\x8a", "error: \\xc0\\x8a\n"},
        {"\xed\xa0\x80", "error: \\xed\\xa0\\x80\n"},
        {"\xf4\x90\x80\x80", "error: \\xf4\\x90\\x80\\x80\n"},
        {"\xe2\x82", "error: \\xe2\\x82\n"},
        {"12 \xc2\xb1 1 \xe2\x82\xac \xf0\x9f\x90\x9f", "error: 12 \xc2\xb1 1 \xe2\x82\xac \xf0\x9f\x90\x9f\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct diag diag = {0};
        diag_error(&diag, nowhere, "%s", cases[i][0]);
        assert_prints(&diag, cases[i][1]);
    }
    struct diag diag = {0};
    diag_error(&diag, (struct place){"\x1b.yaml", 1, 2}, "x");
    assert_prints(&diag, "\\x1b.yaml:1:2: error: x\n");
}
END_TEST

START_TEST(long_messages_are_cut)
{
    struct diag diag = {0};
    diag_error(&diag, nowhere, "%100000d", 1);
    char *text = printed(&diag);
    ck_assert_uint_lt(strlen(text), 3000);
    ck_assert_ptr_nonnull(strstr(text, "...\n"));
    free(text);
    diag_fini(&diag);
}
END_TEST

START_TEST(excerpts_end_between_characters)
{
    struct diag diag = {0};
    ck_assert_str_eq(diag_excerpt(&diag, "short"), "short");
    char text[200] = "x";
    for (size_t i = 0; i < 60; i++)
        memcpy(text + 1 + 2 * i, "\xc2\xb1", 3);
    const char *cut = diag_excerpt(&diag, text);
    ck_assert_uint_eq(strlen(cut), 59 + 3);
    ck_assert_str_eq(cut + 57, "\xc2\xb1...");
    diag_fini(&diag);
}
END_TEST

START_TEST(nearest_name)
{
    static const char *const names[] = {"population", "think", "output", "backend",
                                        "client",     "cap",   "law",    "retry_after"};
    static const char *const cases[][2] = {
        {"populaton", "population"},    /* left out */
        {"thinkk", "think"},            /* put in */
        {"uotput", "output"},           /* swapped: one mistake */
        {"beckend", "backend"},         /* replaced */
        {"Retry-After", "retry_after"}, /* another spelling */
        {"cpa", "cap"},
        {"clinet", "client"},
        {"population", "population"},
        {"poluption", "population"}, /* three mistakes in nine letters */
        {"poluptino", NULL},
        {"queue", NULL},
        {"x", NULL},
        {"", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *nearest = diag_nearest(cases[i][0], names, sizeof names / sizeof *names);
        if (cases[i][1] == NULL)
            ck_assert_msg(nearest == NULL, "%s: %s", cases[i][0], nearest);
        else
            ck_assert_msg(nearest != NULL && strcmp(nearest, cases[i][1]) == 0, "%s: %s", cases[i][0],
                          nearest == NULL ? "none" : nearest);
    }
    static const char *const ties[] = {"zap", "cat", "car"};
    ck_assert_str_eq(diag_nearest("cas", ties, 3), "cat");
    ck_assert_ptr_null(diag_nearest("cas", ties, 0));
    static const char *const letters[] = {"n", "ab"};
    ck_assert_ptr_null(diag_nearest("x", letters, 2)); /* one replacement away, but nothing is left of it */
    char endless[500];
    memset(endless, 'c', sizeof endless);
    endless[sizeof endless - 1] = '\0';
    ck_assert_ptr_null(diag_nearest(endless, ties, 3));
    const char *const long_name[] = {endless};
    ck_assert_ptr_null(diag_nearest("ccc", long_name, 1));
}
END_TEST

Suite *diag_suite(void)
{
    Suite *suite = suite_create("diag");
    TCase *memory = tcase_create("memory");
    tcase_add_test(memory, memory_is_zeroed_and_resized);
    tcase_add_exit_test(memory, overflowing_size_ends_the_program, 3);
    tcase_add_exit_test(memory, overflowing_arena_ends_the_program, 3);
    tcase_add_test(memory, arena_objects_are_apart);
    tcase_add_test(memory, arena_texts);
    suite_add_tcase(suite, memory);

    TCase *messages = tcase_create("messages");
    tcase_add_test(messages, places_are_printed_as_far_as_known);
    tcase_add_test(messages, messages_outlive_names);
    tcase_add_test(messages, errors_past_the_most_are_counted);
    tcase_add_test(messages, nothing_acts_on_the_terminal);
    tcase_add_test(messages, long_messages_are_cut);
    tcase_add_test(messages, excerpts_end_between_characters);
    tcase_add_test(messages, nearest_name);
    suite_add_tcase(suite, messages);
    return suite;
}
