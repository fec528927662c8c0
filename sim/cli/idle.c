/* A fresh copy at a gate where nobody waits is asked by one call, with one server more and one server less busy. */
#include "sim/cli/idle.h"

#include <string.h>

#include "sim/cli/rig.h"

static bool lets_in(struct policy_answer answer)
{
    return answer.action == POLICY_ADMIT || answer.action == POLICY_DISPLACE;
}

/* Of a call that asks for no tokens, of a run that was let in. */
static bool turns_away(const struct setting *setting, uint64_t busy)
{
    struct rig rig;
    struct rig_agent *agent = &rig.agents[0];
    bool away;

    rig_init(&rig, setting, 1);
    if (rig.wakes != POLICY_NONE)
        rig_tick(&rig);
    agent->place = RIG_AT_DOOR;
    agent->run.attempt = agent->call.attempt = 1;
    away = lets_in(rig_run_admit(&rig, agent));
    if (away)
        rig_run_admitted(&rig, agent);
    agent->place = RIG_THINKING;
    rig.others = busy;
    away = away && !lets_in(rig_admit(&rig, agent));
    rig_fini(&rig);
    return away;
}

/* The fewest busy servers with which a call is turned away; all of them: idle servers are used. */
static uint64_t busy_at_most(const struct setting *setting)
{
    uint64_t least = 0, most = setting->servers;

    while (least < most) {
        uint64_t middle = least + (most - least) / 2;

        if (turns_away(setting, middle))
            most = middle;
        else
            least = middle + 1;
    }
    return least;
}

struct speaker {
    FILE *out;
    struct arena arena;
    struct said *said; /* the latest first */
};

struct said {
    const char *sentence;
    struct said *next;
};

static void say(struct speaker *speaker, const char *sentence)
{
    struct said *new;

    for (const struct said *old = speaker->said; old; old = old->next)
        if (strcmp(old->sentence, sentence) == 0)
            return;
    new = arena_zeroed(&speaker->arena, 1, sizeof *new);
    *new = (struct said){sentence, speaker->said};
    speaker->said = new;
    fprintf(speaker->out, "# %s.\n", sentence);
}

static void ask(struct speaker *speaker, const char *label, const struct member *member, const struct backend *backend)
{
    const struct setting setting = {.ops = member->ops,
                                    .text = member->text,
                                    .params = member->params,
                                    .scope = member->scope,
                                    .servers = (uint64_t)backend_slots(backend)};
    uint64_t busy = busy_at_most(&setting);
    const char *who =
        strcmp(label, member->name) == 0 ? label : arena_format(&speaker->arena, "%s, %s", label, member->name);

    if (busy < setting.servers)
        say(speaker, arena_format(&speaker->arena, "%s at %s: calls are turned away with %u of %u servers busy", who,
                                  backend->name, (unsigned)busy, (unsigned)setting.servers));
}

void idle_sentences(const struct plan *plan, FILE *out)
{
    struct speaker speaker = {.out = out};

    for (size_t point = 0; point < plan->point_count; point++) {
        const struct scenario *scenario = plan->points[point].scenario;
        const struct chain *chain = &scenario->chain;

        for (size_t i = 0; i < chain->count; i++)
            for (size_t k = 0; k < scenario->backend_count; k++)
                if (chain->members[i].ops->admit && scenario->backends[k].servers > 0 &&
                    (chain->members[i].at < 0 || chain->members[i].at == (int64_t)k))
                    ask(&speaker, chain->label, &chain->members[i], &scenario->backends[k]);
    }
    arena_free(&speaker.arena);
}
