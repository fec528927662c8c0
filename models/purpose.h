/* purpose.h - what random numbers are for.
 *
 * Part of their address, so the values are fixed for ever: new ones go to the end. Whose they are is said by names and
 * an agent's number in its class, never by a place in the file: a class put in front changes nobody's numbers.
 *
 * 27 to 39 are free. The cards' purposes begin at 40 and keep their numbers, as closing the gap would draw other cards
 * for every call; what is new comes behind the last all the same. */
#ifndef MODELS_PURPOSE_H
#define MODELS_PURPOSE_H

enum purpose {
    PURPOSE_TURN = 1, /* one block a turn; its words are the first of the four that follow */
    PURPOSE_THINK,
    PURPOSE_OUTPUT,
    PURPOSE_SERVICE,
    PURPOSE_RUN,          /* by (agent, run) */
    PURPOSE_ARRIVAL,      /* by (class; number of the arrival) */
    PURPOSE_BACKOFF,      /* by (agent, turn, refusal) */
    PURPOSE_PATIENCE,     /* once an agent: the largest sleep of backoff `ub` */
    PURPOSE_DOOR,         /* by (agent, run, refusal) */
    PURPOSE_POLICY,       /* a copy's own stream, sequential; by (member; gate; class and agent, or tenant) */
    PURPOSE_START,        /* input of a run's first turn, by (agent, run) */
    PURPOSE_GROWTH,       /* what a turn adds to it, by (agent, turn) */
    PURPOSE_DUE,          /* times of a schedule, by (agent) */
    PURPOSE_LATENCY,      /* of a provider, and whether it fails, by (agent, turn, attempt) */
    PURPOSE_RESTART,      /* backoff of a run that begins again, by (agent, run, failure) */
    PURPOSE_LIMIT,        /* by (backend and meter; piece of the limit) */
    PURPOSE_STRANGER,     /* by (backend; number of the stranger): the gap before it, its tokens, its latency */
    PURPOSE_SIMULTANEOUS, /* by (backend; number of the refusal): how long it stays hot */
    PURPOSE_BOOT,         /* of a run, by (agent, run, how often it began again) */
    PURPOSE_CHARS,        /* characters a token of a turn's prompt, by (agent, turn) */
    PURPOSE_DEATH,        /* whether a client dies, and when, by (agent, turn, attempt and service) */
    PURPOSE_PARTS,        /* how many a turn has, by (agent, turn) */
    PURPOSE_PART,         /* tokens of one, by (agent, turn and part) */
    PURPOSE_PART_SERVICE, /* its service, so too */
    PURPOSE_PART_BACKOFF, /* by (agent, turn and part, refusal) */
    PURPOSE_PART_LATENCY, /* of a provider, and whether it fails, by (agent, turn and part, attempt) */
    PURPOSE_ROUTE = 40,   /* the cards that are drawn for a call, by (agent, turn, attempt) */
    PURPOSE_COLD_START,   /* by (backend; number of the start) */
    PURPOSE_PART_ROUTE,   /* the cards that are drawn for a part, by (agent, turn and part, attempt) */
};

#endif
