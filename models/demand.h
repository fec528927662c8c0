/* demand.h - what theory asks about a class and its backend: service demand, think time, who comes how often.
 *
 * Where a server's speed depends on how many are busy, the service time is that with all of them busy, or with as many
 * as memory lets be busy. It includes prefill, of what is new to a context that was kept; where memory is limited a
 * context may be gone, and service takes longer. A provider has servers without end here, and its service is the mean
 * time of an answer: what its meters let through is not in it. Times in seconds, rates a second. */
#ifndef MODELS_DEMAND_H
#define MODELS_DEMAND_H

#include "models/scenario.h"

struct demand {
    double servers;
    double busy_most;           /* of the servers: no more calls fit into memory at once */
    double service, service_cv; /* mean, with all servers busy; cv of the answer alone */
    double service_least;       /* mean, at the greatest speed */
    double service_most;        /* mean, if every context were gone */
    double capacity;            /* turns a second at the most: servers / service, or where fewer busy ones do more */
    double capacity_busy;       /* the same, if memory did no more than to keep the others idle */
    double parts;               /* services of its own that a turn's parts come for besides, at the least */
    double parts_capacity;      /* turns a second that the backend of its parts carries, where that is another */
    bool spills, fans_out;      /* calls may go on to another backend; turns have parts */
    bool leaves;                /* calls may end unanswered: by patience, or with a run that is given up */
    double think;               /* 0: none */
    bool closed;                /* a population without end */
    double population;          /* closed */
    double arrivals;            /* open: Poisson runs of one turn, a second; NAN where theory has no name for it */
    bool exponential_service, exponential_think, constant_service;
    /* Service depends neither on how many are busy nor on what a call sends and memory has kept; false of a provider,
     * whose meters no formula of queues knows. */
    bool fixed;
};

/* Mean seconds from an answer to the next call; with a share of the boot time, where runs have an end. */
double demand_think(const struct agent_class *class);

/* Calls without their prefill, while at most so many servers are busy. */
struct answers {
    double servers;
    double slowest, fastest; /* mean seconds: with all of these busy; at the greatest speed */
    double most;             /* answers a second of all together */
};
struct answers demand_answers(const struct agent_class *class, const struct backend *backend, double servers);
/* Turns a second at the most where each answer comes behind `prefill` seconds that no company slows. While b are busy
 * and x of these answer, a second does b - x seconds of prefill and at most x / b of `most` answers. Counted as servers
 * / most seconds each, that is never more than `servers` seconds; a turn takes prefill + servers / most of them. */
double demand_turns(const struct answers *answers, double prefill);

/* Asymptotic bounds of a closed class (Lazowska et al., chapter 5). Neither the greatest throughput nor the least mean
 * wait can be passed; they cross at the knee. NAN where there is no such bound: a class that spills is served elsewhere
 * too; where calls leave, the short ones are answered, so that only the capacity bounds them, and nothing the wait; and
 * who fans out also waits for parts. */
double demand_knee(const struct demand *demand);             /* capacity (S + Z) */
double demand_throughput_bound(const struct demand *demand); /* min(N / (S + Z), capacity), of parts too */
double demand_arrivals_bound(const struct demand *demand);   /* of an open one: min(arrivals, capacity) */
/* max(0, N / capacity - S - Z), S with all servers busy. X <= c / S, so W >= N S / c - S - Z grows with S where it is
 * above 0, and the least S gives a bound. Tokens in memory are another limit, X <= capacity, which says nothing of S:
 * there the largest is taken off. */
double demand_wait_bound(const struct demand *demand);

/* Is the class alone at its backend? Then nobody else's calls are in its way, and the formulas of one class hold. */
bool demand_alone(const struct scenario *scenario, size_t klass);

struct demand demand_of(const struct scenario *scenario, size_t klass);

#endif
