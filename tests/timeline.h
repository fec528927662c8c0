/* timeline.h - one trial as a text of who was served when, for trials worked out by hand. */
#ifndef TESTS_TIMELINE_H
#define TESTS_TIMELINE_H

#include "tests/model.h"

#define TIMELINE_ROWS 8

/* Service starts in order, a blank between: class, agent, for a later turn than the first `.turn`, `@` and the start in
 * seconds, for a later attempt than the first `#attempt`: "coder0@0 coder1@2.5#2 coder0.1@9". */
struct timeline {
    const struct scenario *scenario;
    size_t length;
    char starts[4096]; /* the first so many */
    double values[TIMELINE_ROWS * METRIC_COUNT];
};

/* The first trial of a design point; a wrong answer fails the test. */
void timeline_of(const struct plan *plan, size_t point, struct timeline *timeline);
/* The trial of a scenario with one design point, and what it must be. The plug-in may be NULL. */
void timeline_expect(const char *yaml, const char *plugin, const char *starts, struct timeline *timeline);

/* A row's values: exact, but quantiles lie within a cell of 0.4 % of the largest value that they may be; NAN: none. */
struct expected {
    enum metric_index metric;
    double value;
};
void timeline_row(const struct timeline *timeline, size_t row, const struct expected *expected, size_t count);
#define EXPECT_ROW(timeline, row, ...) \
    timeline_row(timeline, row, (const struct expected[]){__VA_ARGS__}, \
                 sizeof((const struct expected[]){__VA_ARGS__}) / sizeof(struct expected))

#endif
