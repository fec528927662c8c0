/* What is observed of one class at one gate: its beginning, its merging and its end. */
#include "models/measure.h"

void measure_clear(struct measure *measure)
{
    struct histogram waits = measure->waits, total_waits = measure->total_waits, responses = measure->responses;
    struct histogram lateness = measure->lateness, doors = measure->doors, run_times = measure->run_times;

    histogram_clear(&run_times);
    histogram_clear(&lateness);
    histogram_clear(&doors);
    histogram_clear(&waits);
    histogram_clear(&total_waits);
    histogram_clear(&responses);
    *measure = (struct measure){.waits = waits,
                                .total_waits = total_waits,
                                .responses = responses,
                                .lateness = lateness,
                                .doors = doors,
                                .run_times = run_times};
}

void measure_door(struct measure *measure, sim_time waited)
{
    tally_add(&measure->door, waited);
    histogram_add(&measure->doors, waited);
}

void measure_merge_counts(struct measure *into, const struct measure *from)
{
    into->turns += from->turns;
    into->tokens += from->tokens;
    into->runs += from->runs;
    into->runs_refused += from->runs_refused;
    into->lost_turns += from->lost_turns;
    into->attempts += from->attempts;
    into->spilled += from->spilled;
    into->deferred += from->deferred;
    into->rejected += from->rejected;
    into->shed += from->shed;
    into->displaced += from->displaced;
    into->hold_expired += from->hold_expired;
    into->wasted_tokens += from->wasted_tokens;
    into->served_tokens += from->served_tokens;
    into->overloads += from->overloads;
    into->errors += from->errors;
    into->served += from->served;
    into->served_input += from->served_input;
    into->served_cached += from->served_cached;
    into->starts += from->starts;
    into->cold_starts += from->cold_starts;
    into->turns_due += from->turns_due;
    into->turns_in_time += from->turns_in_time;
    into->runs_due += from->runs_due;
    into->runs_in_time += from->runs_in_time;
    into->censored += from->censored;
    if (from->censored_age > into->censored_age)
        into->censored_age = from->censored_age;
}

void measure_merge(struct measure *into, const struct measure *from)
{
    measure_merge_counts(into, from);
    tally_merge(&into->wait, &from->wait);
    tally_merge(&into->total_wait, &from->total_wait);
    tally_merge(&into->response, &from->response);
    tally_merge(&into->late, &from->late);
    tally_merge(&into->service, &from->service);
    tally_merge(&into->think, &from->think);
    tally_merge(&into->door, &from->door);
    tally_merge(&into->run_time, &from->run_time);
    histogram_merge(&into->run_times, &from->run_times);
    histogram_merge(&into->waits, &from->waits);
    histogram_merge(&into->total_waits, &from->total_waits);
    histogram_merge(&into->responses, &from->responses);
    histogram_merge(&into->lateness, &from->lateness);
    histogram_merge(&into->doors, &from->doors);
}

void measure_fini(struct measure *measure)
{
    histogram_fini(&measure->waits);
    histogram_fini(&measure->total_waits);
    histogram_fini(&measure->responses);
    histogram_fini(&measure->lateness);
    histogram_fini(&measure->doors);
    histogram_fini(&measure->run_times);
}
