/* station.c - parallel servers of fixed speed, or of a speed shared by all that are busy. */
#include "sim/engine/station.h"

#include <float.h>
#include <stdlib.h>

#include "sim/io/mem.h"

static const struct sim_where *where(const struct station *station)
{
    return &station->calendar->where;
}

static bool ends_before(const struct station_job *a, const struct station_job *b)
{
    return a->target < b->target || (a->target == b->target && a->order < b->order);
}

static void put(struct station *station, size_t i, struct station_job *job)
{
    station->heap[i] = job;
    job->place = i + 1;
}

/* Fill the hole at i with a job that may belong on either side of it; `working` jobs are in the heap. */
static void sift(struct station *station, size_t i, struct station_job *job)
{
    struct station_job **heap = station->heap;
    for (; i > 0 && ends_before(job, heap[(i - 1) / 2]); i = (i - 1) / 2)
        put(station, i, heap[(i - 1) / 2]);
    for (;;) {
        size_t child = 2 * i + 1;
        if (child + 1 < station->working && ends_before(heap[child + 1], heap[child]))
            child++;
        if (child >= station->working || !ends_before(heap[child], job))
            break;
        put(station, i, heap[child]);
        i = child;
    }
    put(station, i, job);
}

/* The work done since the last change was done at the speed of before the change. */
static void advance(struct station *station)
{
    sim_time now = calendar_now(station->calendar);
    if (station->working > 0)
        station->virtual_time += (double)(now - station->virtual_at) / 1e9 * station->speed[station->busy];
    station->virtual_at = now;
}

/* Rounded up, so that no end comes before its work is done. Rounding may have carried virtual time past a target. */
static sim_time time_until(const struct station *station, double target)
{
    double ns = (target - station->virtual_time) / station->speed[station->busy] * 1e9;
    if (!(ns > 0))
        return 0;
    if (ns >= (double)SIM_LONGEST)
        return SIM_LONGEST;
    sim_time down = (sim_time)ns;
    return (double)down < ns ? down + 1 : down;
}

static void reschedule(struct station *station)
{
    if (station->ending)
        return;
    calendar_cancel(station->calendar, &station->next);
    if (station->working > 0)
        calendar_schedule(station->calendar, &station->next,
                          calendar_now(station->calendar) + time_until(station, station->heap[0]->target));
}

/* Virtual time is up to date. */
static void put_in(struct station *station, struct station_job *job, double work)
{
    job->target = station->virtual_time + work;
    station->working++;
    sift(station, station->working - 1, job);
}

/* Free the server of a job in the heap. Going back to 0 when nobody works keeps virtual time precise over long
 * horizons. */
static void take_out(struct station *station, struct station_job *job)
{
    struct station_job *last = station->heap[--station->working];
    if (last != job)
        sift(station, job->place - 1, last);
    job->place = 0;
    station->busy--;
    if (station->working == 0)
        station->virtual_time = 0;
}

static void shared_end(void *world, struct event *event)
{
    struct station *station = container_of(event, struct station, next);
    struct station_job *job = station->heap[0];
    advance(station);
    if (station->virtual_time < job->target)
        station->virtual_time = job->target;
    take_out(station, job);
    station->ending = true;
    station->done(world, station, job);
    station->ending = false;
    reschedule(station);
}

/* As many are busy as before, so the others' ends stay where they are. */
static void first_part_end(void *world, struct event *event)
{
    struct station_job *job = container_of(event, struct station_job, end);
    struct station *station = job->station;
    (void)world;
    advance(station);
    put_in(station, job, job->target);
    if (station->heap[0] == job)
        reschedule(station);
}

static void fixed_end(void *world, struct event *event)
{
    struct station_job *job = container_of(event, struct station_job, end);
    struct station *station = job->station;
    station->busy--;
    station->done(world, station, job);
}

void station_init(struct station *station, struct calendar *calendar, uint32_t servers, const double *speed,
                  station_done_fn *done)
{
    *station = (struct station){
        .calendar = calendar, .done = done, .servers = servers, .speed = speed, .next = {.fire = shared_end}};
    if (speed == NULL)
        return;
    for (uint32_t i = 1; i <= servers; i++)
        SIM_ASSERT(where(station), speed[i] > 0 && speed[i] <= DBL_MAX);
    station->heap = mem_zeroed(servers, sizeof *station->heap);
}

void station_fini(struct station *station)
{
    free(station->heap);
    station->heap = NULL;
}

/* Shared speed: one more is busy from now on. */
static void shared_start(struct station *station, struct station_job *job, double work)
{
    SIM_ASSERT(where(station), job->place == 0 && !event_pending(&job->end) && work >= 0 && work <= DBL_MAX);
    advance(station);
    job->order = station->next_order++;
    station->busy++;
}

void station_start(struct station *station, struct station_job *job, sim_time duration, double work)
{
    SIM_ASSERT(where(station), station->busy < station->servers);
    job->station = station;
    job->started = calendar_now(station->calendar);
    if (station->speed == NULL) {
        station->busy++;
        job->end.fire = fixed_end;
        calendar_schedule(station->calendar, &job->end, job->started + duration);
        return;
    }
    shared_start(station, job, work);
    put_in(station, job, work);
    reschedule(station);
}

void station_start_after(struct station *station, struct station_job *job, sim_time first, sim_time duration,
                         double work)
{
    if (station->speed == NULL || first == 0) {
        station_start(station, job, first + duration, work);
        return;
    }
    SIM_ASSERT(where(station), station->busy < station->servers);
    job->station = station;
    job->started = calendar_now(station->calendar);
    shared_start(station, job, work);
    job->target = work;
    job->end.fire = first_part_end;
    calendar_schedule(station->calendar, &job->end, job->started + first);
    reschedule(station);
}

void station_stop(struct station *station, struct station_job *job)
{
    if (station->speed == NULL) {
        SIM_ASSERT(where(station), event_pending(&job->end));
        calendar_cancel(station->calendar, &job->end);
        station->busy--;
        return;
    }
    advance(station);
    if (event_pending(&job->end)) {
        calendar_cancel(station->calendar, &job->end);
        station->busy--;
    } else {
        SIM_ASSERT(where(station),
                   job->place > 0 && job->place <= station->working && station->heap[job->place - 1] == job);
        take_out(station, job);
    }
    reschedule(station);
}
