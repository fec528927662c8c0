/* sizing.h - what the files of `weir size` share: a search of one alternative, its judge, and what is printed of it. */
#ifndef CLI_SIZING_H
#define CLI_SIZING_H

#include "models/size.h"
#include "sim/cli/session.h"
#include "sim/study/search.h"

/* The sizes of one alternative, at one value of the first of two knobs: design points that follow each other. */
struct size_group {
    size_t first, count; /* points; sizes */
    struct search search;
    struct sizing *sizing;
};

struct sizing {
    const struct cli_words *words;
    unsigned threads;
    const struct size_spec *spec; /* of another session, that outlives this one */
    struct session session;       /* a point a size */
    struct size_group *groups;
    size_t group_count;
    unsigned *wanted; /* [point]: replications so far */
    bool *unsettled;  /* [point]: its warm-up was to be found and was not; it is half the horizon */
    double level;     /* of an interval at one look */
    int status;       /* of the last session_extend */
};

/* Reads the scenario with the knobs as its sweep, or this one, and these --set. False: EXIT_USAGE, after a message. */
bool sizing_open(struct sizing *sizing, const struct cli_words *words, unsigned threads, const struct size_spec *spec,
                 const struct session_more *more);
void sizing_close(struct sizing *sizing);
/* The mapping of knobs to their values; `but_populations`: those of populations left out. NULL: it is empty. */
struct node *sizing_sweep(const struct size_spec *spec, bool but_populations, struct arena *arena);

/* Replications up to so many of a point, behind a warm-up that is found where it is to be. EXIT_DONE or the status. */
int sizing_extend(struct sizing *sizing, size_t point, unsigned replications);
/* A search of the group that has judged nothing yet. */
void sizing_begin(struct sizing *sizing, struct size_group *group);
/* The search of each group. EXIT_DONE or the status of what ended it. */
int sizing_search(struct sizing *sizing);
/* Without goals: `least` replications on each rung of the ladder. */
int sizing_climb(struct sizing *sizing);
unsigned sizing_replications(const struct sizing *sizing); /* in all */

/* The text of a size, as the scenario writes it. */
const char *sizing_size(const struct sizing *sizing, const struct size_group *group, size_t size);
size_t sizing_find(const struct sizing *sizing, const struct size_group *group, const char *text); /* count: none */
/* "12.19 s +- 0.07" of a goal's metric at a size, by the interval that decides. */
const char *sizing_value(const struct sizing *sizing, const struct size_group *group, size_t size, size_t goal,
                         struct arena *arena);

/* One sentence: the number, what binds, the first that misses. */
void size_sentence(const struct sizing *sizing, const struct size_group *group, FILE *out);
/* The rungs as a table, with notes. */
void size_table(const struct sizing *sizing, struct table *table);
/* A picture a goal in a folder: the rungs, and the goal as a line. EXIT_DONE or a status after a message. */
int size_draw(const struct sizing *sizing, const char *folder);
/* Without goals: the time of a task at each rung, against that of an agent alone. EXIT_DONE or the status. */
int size_times(struct sizing *sizing, struct table *table, FILE *out);
/* The answer at both ends of each range, widest swing first; of what was asked for and not met the break-even. */
int size_ranges(struct sizing *sizing, struct table *table);
/* Notes: the setting that the number belongs to, and what is not modelled. */
void size_advice(const struct sizing *sizing, struct table *table);

#endif
