/* Equal questions: two copies that begin alike and are asked alike must answer alike, whatever else goes on in the
 * program. What differs is kept elsewhere than in the copy's memory, or drawn elsewhere than from its stream. */
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sim/cli/probe.h"
#include "sim/cli/rig.h"
#include "sim/io/unit.h"

enum { STEPS = 4000, SEED = 7, OTHER_SEED = 8 };

#define PAUSE_NS 150000000 /* behind a whole second */

static void life(struct rig *rig, const struct setting *setting)
{
    rig_init(rig, setting, SEED);
    for (int i = 0; i < STEPS; i++)
        rig_step(rig);
}

static const char *answer_text(const struct rig_answer *answer, struct arena *arena)
{
    char wait[64];

    if (!answer->verdict)
        return arena_format(arena, "%" PRId64, answer->number);
    if (answer->after == POLICY_NONE)
        return answer_name((enum policy_action)answer->number);
    unit_print_time((double)answer->after / POLICY_SECOND, wait, sizeof wait);
    return arena_format(arena, "%s for %s", answer_name((enum policy_action)answer->number), wait);
}

/* Where the answers part, or NULL. */
static const char *difference(const struct rig *one, const struct rig *other, const char *when, struct arena *arena)
{
    size_t count = one->answer_count < other->answer_count ? one->answer_count : other->answer_count;

    for (size_t i = 0; i < count; i++) {
        const struct rig_answer *a = &one->answers[i], *b = &other->answers[i];
        const char *first, *second;

        if (strcmp(a->callback, b->callback) == 0 && a->number == b->number && a->after == b->after &&
            a->reason == b->reason)
            continue;
        first = answer_text(a, arena);
        second = answer_text(b, arena);
        return arena_format(arena,
                            "policy `%s`, callback or gauge `%s`: answer %zu is not the same %s (%s, then %s%s): "
                            "expected nothing to count but params, vars, stats, what is shown and host->uniform; a "
                            "static variable, rand() and a clock are everybody's",
                            one->setting->ops->name, a->callback, i + 1, when, first, second,
                            strcmp(first, second) == 0 ? ", with another reason" : "");
    }
    return NULL;
}

/* --- two copies, one after the other or by turns -------------------------------------------------------------------
 */

static const char *again(const struct rig *first, struct arena *arena)
{
    const char *found;
    struct rig second;

    life(&second, first->setting);
    found = difference(first, &second, "when a fresh copy is asked the same", arena);
    rig_fini(&second);
    return found;
}

static const char *interleaved(const struct rig *first, struct arena *arena)
{
    const char *found;
    struct rig second, other;

    rig_init(&second, first->setting, SEED);
    rig_init(&other, first->setting, OTHER_SEED);
    for (int i = 0; i < STEPS; i++) {
        rig_step(&other);
        rig_step(&second);
    }
    found = difference(first, &second, "when another copy is asked in between", arena);
    rig_fini(&second);
    rig_fini(&other);
    return found;
}

/* --- two copies at the same time -----------------------------------------------------------------------------------
 */

struct twin {
    const struct setting *setting;
    struct rig rig;
};

static void *twin_lives(void *pointer)
{
    struct twin *twin = pointer;

    life(&twin->rig, twin->setting);
    return NULL;
}

static const char *in_threads(const struct rig *first, struct arena *arena)
{
    struct twin *twins[2];
    pthread_t threads[2];
    bool running[2];
    const char *found = NULL;

    for (int i = 0; i < 2; i++) {
        twins[i] = mem_zeroed(1, sizeof *twins[i]);
        twins[i]->setting = first->setting;
        running[i] = pthread_create(&threads[i], NULL, twin_lives, twins[i]) == 0;
    }
    for (int i = 0; i < 2; i++) {
        if (running[i]) {
            pthread_join(threads[i], NULL);
            if (!found)
                found = difference(first, &twins[i]->rig, "when two threads ask at the same time", arena);
            rig_fini(&twins[i]->rig);
        }
        free(twins[i]);
    }
    return found;
}

/* --- the parts -----------------------------------------------------------------------------------------------------
 */

const char *probe_equal_answers(const struct setting *setting, struct arena *arena)
{
    const char *found = NULL;
    struct rig first;

    life(&first, setting);
    if (first.fault[0])
        found = arena_text(arena, first.fault);
    if (!found)
        found = again(&first, arena);
    if (!found)
        found = interleaved(&first, arena);
    if (!found)
        found = in_threads(&first, arena);
    rig_fini(&first);
    return found;
}

const char *probe_equal_later(const struct setting *setting, struct arena *arena)
{
    const char *found;
    struct rig first, second;

    life(&first, setting);
    nanosleep(&(struct timespec){1, PAUSE_NS}, NULL);
    life(&second, setting);
    found = difference(&first, &second, "a second later", arena);
    rig_fini(&first);
    rig_fini(&second);
    return found;
}
