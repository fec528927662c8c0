/* agent.h - agents: they think, make calls, react to refusals, and go through runs. Private to models/. */
#ifndef MODELS_AGENT_H
#define MODELS_AGENT_H

#include "models/world.h"

void agents_init(struct world *world); /* populations stand ready, first arrivals are scheduled (models/arrivals.c) */

void agent_turn_draw(struct world *world, struct agent *agent); /* all that its turn is, from the turn before it */

/* Runs (models/runs.c). */
void agent_run_asks(struct world *world, struct agent *agent); /* its next run, at the door */
/* Its turns are over: done, or one was lost and a layer of its client may begin the run again. What comes next does. */
void agent_run_over(struct world *world, struct agent *agent, bool done);
void agent_leaves(struct world *world, struct agent *agent); /* it has no run */
/* Answers were of no use: its turns' own tokens, and those of their parts. */
void agent_wastes(struct world *world, const struct agent *agent, uint64_t own, uint64_t parts);

/* What became of an attempt. The call is nowhere when these are called. */
void agent_answered(struct call *call);
void agent_refused(struct call *call, policy_time retry_after); /* it may try again */
void agent_rejected(struct call *call);                         /* for good */
void agent_died(struct agent *agent, struct call *call);        /* its client did, while the call was in service */
/* A layer of the client has waited long enough for its try; the attempt that was under way has been ended. */
void agent_waited(struct call *call, uint32_t layer);

/* A call of the agent, for its turn or a part of that; and its first attempt, when all of it is known. */
struct call *agent_makes_call(struct world *world, struct agent *agent, struct gate *gate);
void agent_call_begins(struct world *world, struct call *call);
/* A call that is nowhere goes to that one of its class's backends, where its answer takes another time. */
void agent_call_goes_to(struct call *call, uint32_t which);
/* The parts of its turn are over (models/fan_out.h): back, as many as suffice, or lost. */
void agent_parts_over(struct agent *agent, struct world *world, bool enough);

/* The door let a run in, or turned it away for good. */
void agent_run_begins(struct agent *agent, struct world *world); /* by booting (models/boot.c) */
void agent_run_is_up(struct agent *agent, struct world *world);  /* its first turn begins */
void agent_run_refused(struct agent *agent, struct world *world);
void agent_run_withdrawn(struct agent *agent, struct world *world); /* it no longer belongs to its population */

/* The run's first attempt at the door: its deadline (models/deadlines.c). And when it has ended. */
void deadline_begins(struct world *world, struct agent *agent);
void deadline_ends(struct world *world, struct agent *agent);
policy_time deadline_of_turn(const struct world *world, const struct agent *agent); /* of the call that it makes now */
void agent_run_given_up(struct agent *agent, struct world *world);                  /* by its client, wherever it is */

/* Does the failure of a try of that layer end the call? */
bool agent_gives_up(const struct call *call, uint32_t layer);

/* When the next run of a profile comes, `work` expected runs after `now`; SIM_NEVER: not up to `last`. */
sim_time arrivals_profile_next(const struct agent_class *spec, sim_time now, double work, sim_time last);

/* From now on a population has so many agents, and a Poisson source this rate (models/arrivals.c). New agents begin
 * now, or at the start of their class; those with the highest numbers leave when their run ends, of endless runs when
 * their turn ends, and of runs at the door when they would ask again. What is left of the gap before the next arrival
 * is longer or shorter by the ratio of the rates. */
void class_population(struct world *world, struct class_state *klass, uint64_t population);
void class_arrivals(struct world *world, struct class_state *klass, double rate);

/* Does an agent of the class stay after its run? */
static inline bool class_stays(const struct agent_class *spec)
{
    return spec->source == SOURCE_POPULATION || spec->source == SOURCE_SCHEDULE;
}

static inline const struct agent_class *agent_spec(const struct world *world, const struct agent *agent)
{
    return world->classes[agent->klass].spec;
}

static inline struct measure *agent_measure(const struct world *world, const struct agent *agent)
{
    return world->classes[agent->klass].measure;
}

/* Whose random numbers: the agent's, for a purpose; what `turn` and `attempt` count is said there. */
static inline struct stream_address agent_address(const struct world *world, const struct agent *agent,
                                                  enum purpose purpose, uint64_t turn, uint64_t attempt)
{
    return (struct stream_address){.purpose = purpose,
                                   .entity = agent_entity(agent_spec(world, agent), agent->index),
                                   .turn = turn,
                                   .attempt = attempt};
}

static inline struct stream agent_stream(const struct world *world, const struct agent *agent, enum purpose purpose,
                                         uint64_t turn, uint64_t attempt)
{
    return stream_open(world->key, agent_address(world, agent, purpose, turn, attempt));
}

/* Rounded; of what is not negative. */
static inline uint64_t whole_number(double value, uint64_t most)
{
    return value < (double)most ? (uint64_t)(value + 0.5) : most;
}

/* Is it one of those that go on, its class being a population? */
static inline bool agent_belongs(const struct world *world, const struct agent *agent)
{
    const struct agent_class *spec = agent_spec(world, agent);

    return spec->source != SOURCE_POPULATION || agent->index < spec->population;
}

#endif
