/* changes_bench.h - a trial whose timeline is listened to: what was set, by whom, and every attempt.
 *
 * Scenarios may use all built-in policies and `keeper`, which writes down what it is told: parameters level (at most
 * `most`), most and mode are live, gauges say what it began with and who set what; `others` and `when` make it set the
 * level of the copy at gate 0. */
#ifndef TESTS_CHANGES_BENCH_H
#define TESTS_CHANGES_BENCH_H

#include "tests/timeline.h"

/* Sets in words, attempts one by one. */
struct heard {
    char sets[4096];
    size_t length;
    struct attempt {
        uint32_t klass, agent;
        uint64_t run, turn;
        sim_time attempted;
        double output;
    } * attempts;
    size_t count, room;
    char wrong[512];
    uint64_t events;
    double values[TIMELINE_ROWS * METRIC_COUNT];
};

/* The first trial of a scenario with one design point. The attempts are the caller's, to be freed. */
struct heard heard_of(const char *yaml);
struct heard heard_with(const char *scenario, const char *changes); /* with these items of `changes:` */

/* The same metrics and attempts, digit for digit. */
void same_values(const struct heard *one, const struct heard *other);

#endif
