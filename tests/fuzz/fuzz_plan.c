/* fuzz_plan.c - any text is a scenario or gets a message; a scenario that is read can be described, and its description
 * is read to the same points. Lines that begin with `--set ` are arguments, the rest is the file. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "models/describe.h"
#include "policies/registry.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

enum { SETS_MOST = 4, POINTS_MOST = 2000 };

static void expect(bool holds)
{
    if (!holds)
        abort();
}

/* A file, since a plan is read the way users' files are. */
static const char *write_file(const char *text, size_t length, struct arena *arena)
{
    const char *path = arena_format(arena, "/tmp/weir-fuzz-plan-%ld.yaml", (long)getpid());
    FILE *file = fopen(path, "wb");
    expect(file != NULL);
    expect(fwrite(text, 1, length, file) == length);
    expect(fclose(file) == 0);
    return path;
}

static bool read_text(const char *text, size_t length, const char *const *sets, size_t set_count, struct plan *plan,
                      struct arena *arena)
{
    struct diag diag = {0};
    struct plan_request request = {
        .path = write_file(text, length, arena), .sets = sets, .set_count = set_count, .policies = policy_registry};
    bool read = plan_read(&request, plan, &diag);
    expect(read == (diag.errors == 0));
    expect(diag.errors == 0 || diag.messages[0].text[0] != '\0');
    diag_fini(&diag);
    unlink(request.path);
    return read;
}

static void check_plan(const struct plan *plan, struct arena *arena)
{
    char *printed = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&printed, &length);
    expect(out != NULL);
    describe_scenario(plan, out);
    describe_sentences(plan, out);
    fclose(out);
    struct plan again;
    expect(read_text(printed, length, NULL, 0, &again, arena));
    expect(again.point_count == plan->point_count);
    expect(again.hash == plan->hash);
    for (size_t i = 0; i < plan->label_count; i++)
        expect(strcmp(again.labels[i], plan->labels[i]) == 0);
    plan_fini(&again);
    free(printed);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    static const char set[] = "--set ";
    struct arena arena = {0};
    char *whole = arena_text_of(&arena, (const char *)bytes, count), *text = whole;
    const char *sets[SETS_MOST];
    size_t set_count = 0;
    while (set_count < SETS_MOST && strncmp(text, set, strlen(set)) == 0 && strchr(text, '\n')) {
        sets[set_count++] = text + strlen(set);
        text = strchr(text, '\n');
        *text++ = '\0';
    }
    size_t length = count - (size_t)(text - whole);
    struct plan plan;
    if (read_text(text, length, sets, set_count, &plan, &arena)) {
        if (plan.point_count <= POINTS_MOST)
            check_plan(&plan, &arena);
        plan_fini(&plan);
    }
    arena_free(&arena);
    return 0;
}
