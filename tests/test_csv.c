/* test_csv.c - rows and columns of CSV files, the places of their fields, and what is said about bad ones. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/io/csv.h"
#include "tests/suites.h"

static struct arena arena;
static struct diag diag;
static char folder[] = "/tmp/weir-csv-XXXXXX";
static const char *path;
static const struct place asked = {"s.yaml", 3, 9};

static void setup(void)
{
    arena = (struct arena){0};
    diag = (struct diag){0};
    strcpy(folder + strlen(folder) - 6, "XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    path = arena_format(&arena, "%s/t.csv", folder);
}

static void teardown(void)
{
    unlink(path);
    rmdir(folder);
    arena_free(&arena);
    diag_fini(&diag);
}

/* Rows as one text: `line:` and for each field `text@line:column;`, each row ended by a bar. */
struct transcript {
    char text[4000];
    size_t length;
    uint64_t rows, stop_after;
};

static bool note_row(void *context, uint64_t number, const struct csv_row *row)
{
    struct transcript *transcript = context;
    ck_assert_uint_eq(number, transcript->rows++);
    char *at = transcript->text + transcript->length;
    size_t room = sizeof transcript->text - transcript->length;
    int used = snprintf(at, room, "%d:", row->line);
    for (size_t i = 0; i < row->count; i++)
        used += snprintf(at + used, room - (size_t)used, "%s@%d:%d;", row->fields[i], row->lines[i], row->columns[i]);
    used += snprintf(at + used, room - (size_t)used, "|");
    transcript->length += (size_t)used;
    return transcript->stop_after != number;
}

static void write_file(const char *text, size_t length)
{
    FILE *file = fopen(path, "wb");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(text, 1, length, file), length);
    fclose(file);
}

static const struct good {
    const char *text, *rows;
} good[] = {
    {"a,b\n1,2\n", "1:a@1:1;b@1:3;|2:1@2:1;2@2:3;|"},
    {"a,b\n1,2", "1:a@1:1;b@1:3;|2:1@2:1;2@2:3;|"},
    {"\xef\xbb\xbf"
     "a,b\r\n1,2\r\n",
     "1:a@1:1;b@1:3;|2:1@2:1;2@2:3;|"},
    {"\n\r\na\n\n  \n1\n", "3:a@3:1;|6:1@6:1;|"},
    {"a,b\r1,2\r", "1:a@1:1;b@1:3;|2:1@2:1;2@2:3;|"},
    {"a,b\n\"x\n\r\ny\",3\n4,5\n", "1:a@1:1;b@1:3;|2:x\n\r\ny@2:1;3@4:4;|5:4@5:1;5@5:3;|"},
    {"a,b\n\"x, \"\"y\"\"\", z \n", "1:a@1:1;b@1:3;|2:x, \"y\"@2:1;z@2:13;|"},
    {"a,b\n,\n1,", "1:a@1:1;b@1:3;|2:@2:1;@2:2;|3:1@3:1;@3:3;|"},
    {"a,b\n\"\",\xc3\xa9\xc3\xa9,\n", NULL},
    {"a,b\n\xc3\xa9\xc3\xa9,x\n", "1:a@1:1;b@1:3;|2:\xc3\xa9\xc3\xa9@2:1;x@2:4;|"},
    {"a\n\"\"\n", "1:a@1:1;|2:@2:1;|"},
    {"a", "1:a@1:1;|"},
};

START_TEST(rows_and_places)
{
    const struct good *one = &good[_i];
    struct transcript from_text = {.stop_after = UINT64_MAX}, from_file = from_text;
    size_t length = strlen(one->text);
    write_file(one->text, length);
    bool done = csv_read_text("t.csv", one->text, length, note_row, &from_text, &diag);
    ck_assert(csv_read(path, asked, note_row, &from_file, &diag) == done);
    ck_assert(done == (one->rows != NULL));
    ck_assert_str_eq(from_text.text, from_file.text);
    if (done)
        ck_assert_str_eq(from_text.text, one->rows);
}
END_TEST

/* Pieces of a file end anywhere: fields, quotes and places must not depend on it. */
START_TEST(long_files)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    fputs("number,text\r\n", out);
    for (int i = 0; i < 30000; i++)
        fprintf(out, "%d,\"line %d\r\n of, two\"\r\n", i, i);
    fclose(out);
    write_file(text, length);
    free(text);
    double *values;
    size_t count;
    ck_assert(csv_read_column(path, "number", asked, &arena, &values, &count, &diag));
    ck_assert_uint_eq(count, 30000);
    for (int i = 0; i < 30000; i++)
        ck_assert_double_eq(values[i], i);
    ck_assert(!csv_read_column(path, "text", asked, &arena, &values, &count, &diag));
    ck_assert_uint_eq(diag.count, DIAG_MOST);
    for (int i = 0; i < DIAG_MOST; i++)
        ck_assert_int_eq(diag.messages[i].place.line, 2 + 2 * i);
}
END_TEST

START_TEST(stopping_is_no_error)
{
    struct transcript transcript = {.stop_after = 1};
    const char *text = "a\n1\n2\n\"";
    ck_assert(csv_read_text("t.csv", text, strlen(text), note_row, &transcript, &diag));
    ck_assert_str_eq(transcript.text, "1:a@1:1;|2:1@2:1;|");
    ck_assert_uint_eq(diag.count, 0);
}
END_TEST

static const struct bad {
    const char *text;
    size_t length; /* 0: that of the text */
    int line, column;
    const char *says;
} bad[] = {
    {"", 0, 0, 0, "an empty file"},
    {"\n \r\n", 0, 0, 0, "an empty file"},
    {"\xef\xbb\xbf", 0, 0, 0, "an empty file"},
    {"a,b\n1\n", 0, 2, 0, "a row of 1 field: expected 2"},
    {"a,b\n1,2\n\"x\ny\",3,4\n", 0, 3, 0, "a row of 3 fields: expected 2"},
    {"a,b\n1,x\"y\n", 0, 2, 4, "a quote inside a field"},
    {"a,b\n\"\xc3\xa9\"x,y\n", 0, 2, 4, "text behind a closing quote"},
    {"a,b\n\"x\ny\"z,y\n", 0, 3, 3, "text behind a closing quote"},
    {"a,b\n1,\"x\n2,3\n", 0, 2, 3, "a quote that is not closed"},
    {"a\n1\0\n", 5, 2, 2, "a NUL byte"},
    {"\xff\xfe"
     "a\0",
     4, 1, 4, "a NUL byte"},
};

START_TEST(bad_text)
{
    const struct bad *one = &bad[_i];
    struct transcript transcript = {.stop_after = UINT64_MAX};
    size_t length = one->length != 0 ? one->length : strlen(one->text);
    ck_assert(!csv_read_text("t.csv", one->text, length, note_row, &transcript, &diag));
    ck_assert_uint_eq(diag.errors, 1);
    ck_assert_ptr_nonnull(strstr(diag.messages[0].text, one->says));
    ck_assert_str_eq(diag.messages[0].place.file, "t.csv");
    ck_assert_int_eq(diag.messages[0].place.line, one->line);
    ck_assert_int_eq(diag.messages[0].place.column, one->column);
}
END_TEST

START_TEST(open_quote_does_not_swallow_the_file)
{
    size_t length = 3 << 20;
    char *text = mem_zeroed(length, 1);
    memset(text, 'x', length);
    memcpy(text, "a,b\n1,\"", 7);
    struct transcript from_text = {.stop_after = UINT64_MAX}, from_file = from_text;
    ck_assert(!csv_read_text("t.csv", text, length, note_row, &from_text, &diag));
    ck_assert_ptr_nonnull(strstr(diag.messages[0].text, "is a quote not closed?"));
    ck_assert_int_eq(diag.messages[0].place.line, 2);
    ck_assert_int_eq(diag.messages[0].place.column, 3);
    write_file(text, length);
    ck_assert(!csv_read(path, asked, note_row, &from_file, &diag));
    free(text);
}
END_TEST

static bool read_column(const char *text, const char *column, double **values, size_t *count)
{
    write_file(text, strlen(text));
    return csv_read_column(path, column, asked, &arena, values, count, &diag);
}

START_TEST(column_of_numbers)
{
    double *values;
    size_t count;
    ck_assert(read_column("id,think\nx,0\ny, 12.5 \nz,\"1e-3\"\nw,-0.0\nv,.5\nu,1E18\n", "think", &values, &count));
    ck_assert_uint_eq(count, 6);
    const double expected[] = {0, 12.5, 1e-3, 0, 0.5, 1e18};
    for (size_t i = 0; i < count; i++)
        ck_assert(values[i] == expected[i] && !signbit(values[i]));
    ck_assert_uint_eq(diag.count, 0);
}
END_TEST

START_TEST(fields_that_are_no_numbers)
{
    static const char *const fields[] = {"",        "x",  "-5",  "nan", "inf",   "infinity", "0x10", "1e19", "+3",
                                         "\"1,5\"", "1e", "1 2", ".",   "1e400", "--1",      "12s",  "-inf", "\"1\n\""};
    double *values;
    size_t count;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        const char *text = arena_format(&arena, "a,b\n1,2\n\"\n\",%s\n", fields[i]);
        ck_assert_msg(!read_column(text, "b", &values, &count), "%s was read as %g", fields[i], values[1]);
        ck_assert_ptr_null(values);
        ck_assert_uint_eq(count, 0);
        ck_assert_uint_eq(diag.errors, 1);
        ck_assert_str_eq(diag.messages[0].place.file, path);
        ck_assert_int_eq(diag.messages[0].place.line, 4);
        ck_assert_int_eq(diag.messages[0].place.column, 3);
        ck_assert_ptr_nonnull(strstr(diag.messages[0].text, "expected a number from 0 to 1e18"));
        diag_fini(&diag);
    }
    ck_assert(!read_column("a\nx\n1\ny\n", "a", &values, &count));
    ck_assert_uint_eq(diag.errors, 2);
}
END_TEST

static const struct absent {
    const char *text, *says;
    bool at_asked;
} absent[] = {
    {"thought,b\n1,2\n", "did you mean `thought`?", true},
    {"a,b\n1,2\n", "expected one of a, b", true},
    {"thoughts;b\n1;2\n", "not semicolons", true},
    {"thoughts\tb\n1\t2\n", "not tabs", true},
    {"thoughts,thoughts\n1,2\n", "2 columns named `thoughts`", true},
    {"a,thoughts\n\n", "no row of data", false},
    {"", "an empty file", false},
};

START_TEST(column_that_is_not_there)
{
    double *values;
    size_t count;
    ck_assert(!read_column(absent[_i].text, "thoughts", &values, &count));
    ck_assert_uint_eq(diag.errors, 1);
    ck_assert_ptr_nonnull(strstr(diag.messages[0].text, absent[_i].says));
    ck_assert_str_eq(diag.messages[0].place.file, absent[_i].at_asked ? "s.yaml" : path);
    ck_assert_int_eq(diag.messages[0].place.column, absent[_i].at_asked ? 9 : 0);
}
END_TEST

START_TEST(files_that_are_none)
{
    char *pipe_path = arena_format(&arena, "%s/pipe", folder);
    ck_assert_int_eq(mkfifo(pipe_path, 0600), 0);
    const char *const paths[] = {path, folder, pipe_path, "/dev/zero"};
    const char *const says[] = {"No such file", "a directory", "a pipe", "a device"};
    double *values;
    size_t count;
    for (size_t i = 0; i < 4; i++) {
        ck_assert(!csv_read_column(paths[i], "a", asked, &arena, &values, &count, &diag));
        ck_assert_uint_eq(diag.errors, i + 1);
        ck_assert_ptr_nonnull(strstr(diag.messages[i].text, says[i]));
        ck_assert_ptr_nonnull(strstr(diag.messages[i].text, paths[i]));
        ck_assert_int_eq(diag.messages[i].place.line, 3);
    }
    ck_assert_int_eq(unlink(pipe_path), 0);
}
END_TEST

Suite *csv_suite(void)
{
    Suite *suite = suite_create("csv");
    TCase *rows = tcase_create("rows");
    tcase_add_checked_fixture(rows, setup, teardown);
    tcase_add_loop_test(rows, rows_and_places, 0, (int)(sizeof good / sizeof *good));
    tcase_add_test(rows, long_files);
    tcase_add_test(rows, stopping_is_no_error);
    tcase_add_loop_test(rows, bad_text, 0, (int)(sizeof bad / sizeof *bad));
    tcase_add_test(rows, open_quote_does_not_swallow_the_file);
    suite_add_tcase(suite, rows);

    TCase *columns = tcase_create("columns");
    tcase_add_checked_fixture(columns, setup, teardown);
    tcase_add_test(columns, column_of_numbers);
    tcase_add_test(columns, fields_that_are_no_numbers);
    tcase_add_loop_test(columns, column_that_is_not_there, 0, (int)(sizeof absent / sizeof *absent));
    tcase_add_test(columns, files_that_are_none);
    suite_add_tcase(suite, columns);
    return suite;
}
