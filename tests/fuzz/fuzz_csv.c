/* fuzz_csv.c - any bytes as a CSV file: read from memory and from a file, by rows and by column. All must agree. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/io/csv.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

struct witness {
    uint64_t rows, hash;
    size_t width;
    struct place last;
    char *first_name; /* of the header */
    int lines;
};

static void require(bool condition)
{
    if (!condition)
        abort();
}

static void mix(struct witness *witness, uint64_t value)
{
    witness->hash = (witness->hash ^ value) * 0x100000001b3U;
}

static bool observe(void *context, uint64_t number, const struct csv_row *row)
{
    struct witness *witness = context;
    require(number == witness->rows++ && row->count > 0 && row->line == row->lines[0]);
    if (number == 0) {
        witness->width = row->count;
        witness->first_name = strdup(row->fields[0]);
    }
    require(row->count == witness->width);
    for (size_t i = 0; i < row->count; i++) {
        struct place place = {NULL, row->lines[i], row->columns[i]};
        bool behind = place.line > witness->last.line ||
                      (place.line == witness->last.line && place.column > witness->last.column);
        require(behind && place.line <= witness->lines && place.column >= 1);
        witness->last = place;
        for (const char *at = row->fields[i]; *at != '\0'; at++)
            mix(witness, (unsigned char)*at);
        mix(witness, (uint64_t)place.line << 32 | (uint64_t)place.column);
    }
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    char path[] = "/tmp/weir-fuzz-XXXXXX";
    int descriptor = mkstemp(path);
    require(descriptor >= 0 && write(descriptor, bytes, length) == (ssize_t)length);
    close(descriptor);

    struct arena arena = {0};
    struct diag diag = {0};
    const struct place nowhere = {NULL, 0, 0};
    struct witness from_text = {.lines = (int)length + 1}, from_file = from_text;
    bool read = csv_read_text("fuzz", (const char *)bytes, length, observe, &from_text, &diag);
    require(read == (diag.errors == 0));
    require(read == csv_read(path, nowhere, observe, &from_file, &diag));
    require(from_text.rows == from_file.rows && from_text.hash == from_file.hash);

    size_t errors = diag.errors, count;
    double *values;
    const char *name = from_text.first_name != NULL ? from_text.first_name : "";
    bool found = csv_read_column(path, name, nowhere, &arena, &values, &count, &diag);
    require(found == (diag.errors == errors) && found == (values != NULL) && found == (count > 0));
    require(!found || (read && count == from_text.rows - 1));
    for (size_t i = 0; i < count; i++)
        require(values[i] >= 0 && values[i] <= 1e18 && !signbit(values[i]));

    unlink(path);
    free(from_text.first_name);
    free(from_file.first_name);
    arena_free(&arena);
    diag_fini(&diag);
    return 0;
}
