/* What turns send. Whole tokens: they are sums over a run, so that nothing is rounded twice. */
#include "models/input.h"

#include <math.h>
#include <string.h>

#include "models/agent.h"

/* Runs of more turns than this are not summed turn by turn. */
#define TURNS_SUMMED 100000

static uint64_t draw_tokens(struct world *world, const struct agent *agent, const struct dist *dist,
                            enum purpose purpose, uint64_t turn)
{
    struct stream stream = agent_stream(world, agent, purpose, turn, 0);

    return whole_number(dist_draw(dist, &stream), (uint64_t)TURN_TOKENS_MOST);
}

static void begin_run(struct world *world, struct agent *agent, const struct input_spec *input)
{
    agent->input = draw_tokens(world, agent, input->start, PURPOSE_START, agent->run);
    if ((double)agent->input > input->most)
        agent->input = (uint64_t)input->most;
    agent->cached = 0;
}

/* Cached of what was cut to `most` is all but what this turn brought: its head is what the provider knows. */
static void grow(struct world *world, struct agent *agent, const struct input_spec *input)
{
    uint64_t before = agent->input;
    uint64_t growth = input->per_turn ? draw_tokens(world, agent, input->per_turn, PURPOSE_GROWTH, agent->turn) : 0;

    agent->input = before + growth;
    agent->cached = before;
    if ((double)agent->input > input->most) {
        agent->input = (uint64_t)(input->compact_to > 0 ? input->compact_to : input->most);
        agent->cached = input->compact_to > 0 || growth > agent->input ? 0 : agent->input - growth;
    }
    if (agent->input > (uint64_t)TURN_TOKENS_MOST)
        agent->input = (uint64_t)TURN_TOKENS_MOST;
    if (agent->cached > agent->input)
        agent->cached = agent->input;
}

uint64_t input_session(struct world *world, struct agent *agent)
{
    const struct session_spec *sessions = agent_spec(world, agent)->input->sessions;
    struct stream stream = agent_stream(world, agent, PURPOSE_START, agent->run, 0);
    size_t session = (size_t)((sim_sum)stream_next(&stream) * (sim_sum)sessions->count >> 64);

    if (sessions->in_order)
        session = (size_t)((agent->index + agent->run * agent_spec(world, agent)->population) % sessions->count);
    agent->session_row = sessions->starts[session];
    return sessions->starts[session + 1] - sessions->starts[session];
}

void input_draw(struct world *world, struct agent *agent)
{
    const struct input_spec *input = agent_spec(world, agent)->input;

    if (input->sessions) {
        agent->input = (uint64_t)(input->sessions->input[agent->session_row] + 0.5);
        agent->cached = (uint64_t)(input->sessions->cached[agent->session_row++] + 0.5);
        return;
    }
    if (agent->run_fresh)
        begin_run(world, agent, input);
    else
        grow(world, agent, input);
    agent->run_fresh = false;
    if (!input->cached_previous)
        agent->cached = (uint64_t)((double)agent->input * input->cached_share + 0.5);
}

/* Keys of one pool have one cache: that of the first of them. */
static uint32_t cache_of(const struct world *world, const struct agent_class *spec, uint32_t which)
{
    const struct backend *backends = world->scenario->backends;
    uint32_t first = 0;

    while (backends[spec->backends[first]].pool != backends[spec->backends[which]].pool)
        first++;
    return first;
}

uint64_t input_cached_at(const struct world *world, const struct agent *agent, uint32_t which)
{
    uint32_t cache;

    if (agent->served_by == 0)
        return agent->cached;
    cache = cache_of(world, agent_spec(world, agent), which);
    return cache + 1 == agent->served_by || agent->cached < agent->sent[cache] ? agent->cached : agent->sent[cache];
}

/* Of which nothing was cached is another context: begun anew, or forgotten by all. */
void input_answered(struct world *world, struct agent *agent, uint32_t which)
{
    const struct agent_class *spec = agent_spec(world, agent);
    size_t bytes = spec->backend_count * sizeof *agent->sent;

    if (spec->backend_count == 1 || !spec->input)
        return;
    if (!agent->sent)
        agent->sent = arena_zeroed(&world->arena, spec->backend_count, sizeof *agent->sent);
    if (agent->served_by == 0 || agent->cached == 0)
        memset(agent->sent, 0, bytes);
    which = cache_of(world, spec, which);
    agent->sent[which] = agent->input;
    agent->served_by = which + 1;
}

void input_run_begins(struct agent *agent)
{
    agent->served_by = 0;
}

double input_chars(struct world *world, const struct agent *agent)
{
    const struct agent_class *spec = agent_spec(world, agent);
    struct stream stream;

    if (!spec->input)
        return 0;
    stream = agent_stream(world, agent, PURPOSE_CHARS, agent->turn, 0);
    return (double)agent->input * dist_draw(spec->input->chars_per_token, &stream);
}

/* --- means ----------------------------------------------------------------------------------------------------------
 */

/* A run told by means alone: what its turns send, and what of it is new. Exact where growth never meets `most`, or is
 * always the same. */
struct course {
    const struct input_spec *spec;
    double growth, sent, fresh;
};

static void course_begin(struct course *course, const struct input_spec *spec)
{
    struct dist start = *spec->start;

    course->spec = spec;
    course->growth = spec->per_turn ? dist_mean(spec->per_turn) : 0;
    start.most = fmin(start.most, spec->most);
    course->sent = course->fresh = dist_mean(&start);
}

static void course_next(struct course *course)
{
    course->sent += course->growth;
    course->fresh = course->growth;
    if (course->sent > course->spec->most) {
        course->sent = course->spec->compact_to > 0 ? course->spec->compact_to : course->spec->most;
        course->fresh = course->spec->compact_to > 0 ? course->sent : fmin(course->growth, course->sent);
    }
}

struct means {
    double sent, fresh; /* a turn */
};

/* The long run: a context that is cut stays at `most`, one that is compacted goes up and down. */
static struct means endless(const struct input_spec *spec)
{
    struct course course;
    double sent = 0, fresh = 0, turns = 0;

    course_begin(&course, spec);
    if (course.growth <= 0)
        return (struct means){course.sent, 0};
    if (isinf(spec->most))
        return (struct means){INFINITY, course.growth};
    if (spec->compact_to <= 0)
        return (struct means){spec->most, fmin(course.growth, spec->most)};
    turns = floor((spec->most - spec->compact_to) / course.growth) + 1; /* from one compaction to the next */
    sent = spec->compact_to + course.growth * (turns - 1) / 2;
    fresh = (spec->compact_to + course.growth * (turns - 1)) / turns;
    return (struct means){sent, fresh};
}

/* The chance that a run has a turn of that index; turns are drawn and rounded. */
static double reached_of(const struct agent_class *spec, int turn)
{
    if (spec->schedule)
        return turn < (double)spec->schedule->turns / (double)spec->population;
    if (turn == 0)
        return 1;
    return spec->turns ? 1 - dist_cdf(spec->turns, turn + 0.5) : 0;
}

static struct means of_runs(const struct agent_class *spec)
{
    struct course course;
    double sent = 0, fresh = 0, count = 0;

    course_begin(&course, spec->input);
    for (int turn = 0; turn < TURNS_SUMMED; turn++) {
        double reached = reached_of(spec, turn);

        if (reached <= 1e-12)
            break;
        sent += reached * course.sent;
        fresh += reached * course.fresh;
        count += reached;
        course_next(&course);
    }
    return (struct means){sent / count, fresh / count};
}

static struct means recorded(const struct input_spec *spec)
{
    const struct session_spec *sessions = spec->sessions;
    struct means means = {0, 0};
    size_t rows = sessions->starts[sessions->count];

    for (size_t i = 0; i < rows; i++) {
        means.sent += fmin(sessions->input[i], spec->most) / (double)rows;
        means.fresh += fmin(sessions->input[i] - sessions->cached[i], spec->most) / (double)rows;
    }
    return means;
}

static struct means means_of(const struct agent_class *spec)
{
    struct means means;

    if (!spec->input)
        return (struct means){0, 0};
    if (spec->input->sessions)
        return recorded(spec->input);
    means = !spec->turns && spec->source == SOURCE_POPULATION ? endless(spec->input) : of_runs(spec);
    if (!spec->input->cached_previous)
        means.fresh = means.sent * (1 - spec->input->cached_share);
    return means;
}

double input_mean(const struct agent_class *spec)
{
    return means_of(spec).sent;
}

double input_new_mean(const struct agent_class *spec)
{
    return means_of(spec).fresh;
}

double input_session_turns(const struct session_spec *sessions)
{
    return (double)sessions->starts[sessions->count] / (double)sessions->count;
}
