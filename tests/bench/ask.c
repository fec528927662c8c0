/* ask.c - what a question to a program costs, in time on the wall: two processes take turns. cat
 * says the question again, and is what the machine takes for two switches. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "models/adapter.h"
#include "tests/bench/bench.h"

enum { QUESTIONS = 20000 };

static const struct {
    const char *name;
    const char *words[4];
} programs[] = {
    {"cat (the least)", {"cat", NULL}},
    {"lua5.1", {"lua5.1", "-e", "for line in io.lines() do io.write('admit\\n') io.flush() end", NULL}},
    {"python3", {"python3", "-c", "import sys\nfor line in sys.stdin: print('admit', flush=True)", NULL}},
};

static double wall_seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

void ask_costs(void)
{
    static const char question[] =
        "admit now=12.500 call=184 agent=7 class=live est_in=41230 attempt=1 est_cached=0 est_out=150 chars=201615 "
        "run=3 turn=12 tenant=default priority=0 value=1 first=12.500 attempted=12.500 last=0 gate=0 servers=8 busy=8 "
        "waiting=3 holding=0";

    printf("\nA question to a program (policy exec), in time on the wall\n  %-40s %10s %10s\n", "", "us each",
           "ms to start");
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        const struct option_command command = {NULL, programs[i].words};
        const struct policy_program program = {&command, 10 * POLICY_SECOND, 0};
        struct adapter adapter = {0};
        double begun = wall_seconds(), first;
        int asked = 1;

        if (!adapter_ask(&adapter, &program, question)) {
            printf("  %-40s is not here\n", programs[i].name);
            adapter_free(&adapter);
            continue;
        }
        first = wall_seconds();
        while (asked < QUESTIONS && adapter_ask(&adapter, &program, question))
            asked++;
        printf("  %-40s %10.1f %10.1f\n", programs[i].name, (wall_seconds() - first) * 1e6 / asked,
               (first - begun) * 1e3);
        adapter_free(&adapter);
    }
}
