/* command_fixture.h - what each test of commands has: files in a folder of its own, and the program. */
#ifndef TESTS_COMMAND_FIXTURE_H
#define TESTS_COMMAND_FIXTURE_H

#include <stdlib.h>

#include "tests/plan_file.h"
#include "tests/program.h"

static struct plan_file file;
static struct program program;

static inline void setup(void)
{
    plan_file_init(&file);
}

static inline void teardown(void)
{
    program_fini(&program);
    plan_file_fini(&file);
}

static inline const char *in_folder(const char *name)
{
    return arena_format(&file.arena, "%s/%s", file.folder, name);
}

/* A file that must be there, kept as long as the folder. */
static inline const char *text_in(const char *path)
{
    char *text = program_file(path);
    ck_assert_msg(text != NULL, "no file %s", path);
    const char *kept = arena_text(&file.arena, text);
    free(text);
    return kept;
}

/* What a run that goes well prints. */
#define SAID(...) (PROGRAM_RUN(&program, NULL, __VA_ARGS__), program_taken(&program, &file.arena))

#endif
