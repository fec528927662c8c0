/* plan_file.c - files, plans and messages of a test. */
#include "tests/plan_file.h"

#include <check.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "policies/registry.h"

const char plan_file_card[] = "study: {horizon: 100 s}\n"
                              "backends: {card: {kind: slots, servers: 8, rate: 39 tokens/s}}\n"
                              "agents: {coder: {population: 24, think: exponential(4.5 s), output: 120}}\n";

void plan_file_init(struct plan_file *file)
{
    *file = (struct plan_file){.folder = "/tmp/weir-plan-XXXXXX"};
    ck_assert_ptr_nonnull(mkdtemp(file->folder));
    file->path = arena_format(&file->arena, "%s/s.yaml", file->folder);
}

static void forget(struct plan_file *file)
{
    if (file->read)
        plan_fini(&file->plan);
    file->read = false;
    diag_fini(&file->diag);
}

void plan_file_fini(struct plan_file *file)
{
    forget(file);
    DIR *folder = opendir(file->folder);
    ck_assert_ptr_nonnull(folder);
    for (struct dirent *entry = readdir(folder); entry; entry = readdir(folder))
        unlink(arena_format(&file->arena, "%s/%s", file->folder, entry->d_name));
    closedir(folder);
    rmdir(file->folder);
    arena_free(&file->arena);
}

void plan_file_write(struct plan_file *file, const char *name, const char *text)
{
    FILE *out = fopen(arena_format(&file->arena, "%s/%s", file->folder, name), "wb");
    ck_assert_ptr_nonnull(out);
    ck_assert_uint_eq(fwrite(text, 1, strlen(text), out), strlen(text));
    ck_assert_int_eq(fclose(out), 0);
}

static size_t count_of(const char *const *list)
{
    size_t count = 0;
    while (list && list[count])
        count++;
    return count;
}

bool plan_file_read(struct plan_file *file, const char *text, const char *const *sets, const char *const *only)
{
    forget(file);
    plan_file_write(file, "s.yaml", text);
    struct plan_request request = {.path = file->path,
                                   .sets = sets,
                                   .set_count = count_of(sets),
                                   .only = only,
                                   .only_count = count_of(only),
                                   .policies = policy_registry,
                                   .load = file->load};
    file->read = plan_read(&request, &file->plan, &file->diag);
    ck_assert_int_eq(file->read, file->diag.errors == 0);
    return file->read;
}

const char *plan_file_said(struct plan_file *file)
{
    const char *said = "";
    size_t folder = strlen(file->folder);
    for (size_t i = 0; i < file->diag.count; i++) {
        const struct diag_message *message = &file->diag.messages[i];
        const char *name = message->place.file ? message->place.file : "";
        if (strncmp(name, file->folder, folder) == 0)
            name += folder + 1;
        said = arena_format(&file->arena, "%s%s%s:%d:%d: %s", said, i > 0 ? "\n" : "", name, message->place.line,
                            message->place.column, message->text);
    }
    return said;
}

const char *plan_file_points(struct plan_file *file)
{
    const char *words = "";
    struct arena *arena = &file->arena;
    ck_assert_msg(file->read, "no plan: %s", plan_file_said(file));
    for (size_t i = 0; i < file->plan.point_count; i++) {
        const struct plan_point *point = &file->plan.points[i];
        const struct chain *chain = &point->scenario->chain;
        words = arena_format(arena, "%s%s%s[", words, i > 0 ? "; " : "", chain->label);
        for (size_t j = 0; j < chain->count; j++)
            words = arena_format(arena, "%s%s%s{%s}", words, j > 0 ? " " : "", chain->members[j].name,
                                 chain->members[j].text);
        words = arena_format(arena, "%s]", words);
        for (size_t j = 0; j < file->plan.factor_count; j++)
            words = arena_format(arena, "%s %s", words, point->factors[j] ? point->factors[j] : "-");
    }
    return words;
}

const char *plan_file_with(struct plan_file *file, const char *text, const char *from, const char *to)
{
    const char *at = strstr(text, from);
    ck_assert_msg(at != NULL, "no `%s` in the text", from);
    return arena_format(&file->arena, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
}
