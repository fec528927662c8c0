/* oracles.c - slow or closed computations that the fast ones are held against. */
#include "tests/oracles.h"

#include <stdlib.h>

#include "sim/engine/calendar.h"
#include "sim/io/mem.h"

#define NODES 300 /* more than twice what makes the calendar a heap */

struct job {
    size_t index;
    long double remaining;
};

/* The life of a calendar. In the plain array a node is scheduled if its rank is not 0, and the rank is a count of
 * schedulings: the least (at, rank) is next. */
struct life {
    struct calendar calendar;
    struct event nodes[NODES];
    sim_time at[NODES], now;
    uint64_t rank[NODES], ranks, fired, at_now;
    size_t pending;
    const uint8_t *bytes, *end;
};

uint64_t oracle_random(uint64_t *state)
{
    uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 32)) * UINT64_C(0xd6e8feb86659fd93);
    x = (x ^ (x >> 32)) * UINT64_C(0xd6e8feb86659fd93);
    return x ^ (x >> 32);
}

void oracle_lindley(const sim_time *arrivals, const sim_time *services, size_t count, sim_time *waits)
{
    for (size_t n = 0; n < count; n++) {
        sim_time wait = n > 0 ? waits[n - 1] + services[n - 1] - (arrivals[n] - arrivals[n - 1]) : 0;
        waits[n] = wait > 0 ? wait : 0;
    }
}

void oracle_kiefer_wolfowitz(const sim_time *arrivals, const sim_time *services, size_t count, uint32_t servers,
                             sim_time *waits)
{
    sim_time *workload = mem_zeroed(servers, sizeof *workload); /* ascending */
    for (size_t n = 0; n < count; n++) {
        for (size_t i = 0; n > 0 && i < servers; i++) {
            workload[i] -= arrivals[n] - arrivals[n - 1];
            if (workload[i] < 0)
                workload[i] = 0;
        }
        waits[n] = workload[0];
        sim_time taken = workload[0] + services[n];
        size_t i = 1;
        for (; i < servers && workload[i] < taken; i++)
            workload[i - 1] = workload[i];
        workload[i - 1] = taken;
    }
    free(workload);
}

void oracle_shared_ends(const sim_time *arrivals, const double *work, size_t count, uint32_t servers,
                        const double *speed, long double *ends)
{
    struct job *jobs = mem_zeroed(servers, sizeof *jobs); /* those in service, in order of starting */
    size_t busy = 0, arrived = 0, started = 0, ended = 0;
    long double now = 0;
    while (ended < count) {
        size_t first = 0;
        for (size_t i = 1; i < busy; i++)
            if (jobs[i].remaining < jobs[first].remaining)
                first = i;
        long double rate = speed[busy] / 1e9L; /* work a ns; speed[0] is never used */
        long double end = busy > 0 ? now + jobs[first].remaining / rate : -1;
        bool ends_next = busy > 0 && (arrived == count || end <= (long double)arrivals[arrived]);
        long double then = ends_next ? end : (long double)arrivals[arrived];
        for (size_t i = 0; i < busy; i++)
            jobs[i].remaining -= (then - now) * rate;
        now = then;
        if (ends_next) {
            ends[jobs[first].index] = now;
            ended++;
            busy--;
            for (size_t i = first; i < busy; i++)
                jobs[i] = jobs[i + 1];
        } else {
            arrived++;
        }
        if (started < arrived && busy < servers) {
            jobs[busy++] = (struct job){started, work[started]};
            started++;
        }
    }
    free(jobs);
}

static unsigned byte(struct life *life)
{
    return life->bytes < life->end ? *life->bytes++ : 0;
}

/* Mostly a few near values, so that many times tie; sometimes far ahead. */
static sim_time delay(struct life *life)
{
    unsigned b = byte(life);
    return (sim_time)(b % 8) * (b >= 128 ? 1000 : 1);
}

static size_t node_of(struct life *life)
{
    unsigned high = byte(life);
    return (high * 256 + byte(life)) % NODES;
}

static void schedule(struct life *life, size_t i)
{
    if (life->rank[i] != 0)
        return;
    life->at[i] = life->now + delay(life);
    life->rank[i] = ++life->ranks;
    life->pending++;
    calendar_schedule(&life->calendar, &life->nodes[i], life->at[i]);
}

static void cancel(struct life *life, size_t i)
{
    life->pending -= life->rank[i] != 0;
    life->rank[i] = 0;
    calendar_cancel(&life->calendar, &life->nodes[i]);
}

/* False if the calendar gives another event than the plain array, or another time. */
static bool next(struct life *life, sim_time until)
{
    size_t first = NODES;
    for (size_t i = 0; i < NODES; i++)
        if (life->rank[i] != 0 && life->at[i] <= until &&
            (first == NODES || life->at[i] < life->at[first] ||
             (life->at[i] == life->at[first] && life->rank[i] < life->rank[first])))
            first = i;
    sim_time then = first < NODES ? life->at[first] : until > life->now ? until : life->now;
    if (then > life->now)
        life->at_now = 0;
    life->now = then;
    if (first < NODES) {
        life->rank[first] = 0;
        life->pending--;
        life->fired++;
        life->at_now++;
    }
    const struct event *event = calendar_next(&life->calendar, until);
    return event == (first < NODES ? &life->nodes[first] : NULL) && (event == NULL || event->at == then);
}

static bool same_counts(const struct life *life)
{
    return calendar_now(&life->calendar) == life->now && life->calendar.pending == life->pending &&
           life->calendar.where.event == life->fired && life->calendar.at_this_instant == life->at_now;
}

static bool same_nodes(const struct life *life)
{
    for (size_t i = 0; i < NODES; i++)
        if (event_pending(&life->nodes[i]) != (life->rank[i] != 0))
            return false;
    return true;
}

static bool step(struct life *life)
{
    unsigned what = byte(life);
    if (what < 80) {
        schedule(life, node_of(life));
    } else if (what < 112) {
        size_t from = node_of(life);
        for (unsigned left = byte(life); left > 0; left--)
            schedule(life, (from + left) % NODES);
    } else if (what < 160) {
        cancel(life, node_of(life));
    } else if (what < 176) {
        for (unsigned left = byte(life); left > 0; left--)
            if (!next(life, life->now + 1000))
                return false;
    } else {
        return next(life, life->now + (sim_time)(what % 8) - 1);
    }
    return true;
}

bool oracle_calendar_agrees(const uint8_t *bytes, size_t count)
{
    struct life *life = mem_zeroed(1, sizeof *life);
    life->bytes = bytes;
    life->end = bytes + count;
    calendar_init(&life->calendar, 1, 1);
    bool agree = true;
    while (agree && life->bytes < life->end)
        agree = step(life) && same_counts(life);
    agree = agree && same_nodes(life);
    while (agree && life->pending > 0)
        agree = next(life, SIM_NEVER) && same_counts(life);
    agree = agree && same_nodes(life);
    calendar_fini(&life->calendar);
    free(life);
    return agree;
}
