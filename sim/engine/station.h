/* station.h - parallel servers that work jobs off, at a speed that may depend on how many are busy.
 *
 * Two forms. Fixed: a job's end is known when it starts (its work is its service time), one event a job. Shared speed:
 * every busy server works at speed[busy]; rescheduling all ends at each change would let rounding drift and reorder
 * ties, so work is kept in virtual time (the work each server has done since the station was last idle), and only the
 * earliest end is an event. A job whose end event fires is finished by definition. Ends are rounded up to the
 * nanosecond; equal ones come in order of starting, each as an event of its own. O(log servers) a start or end.
 *
 * A job may have a first part of a known length before its work. With a shared speed it keeps a server busy from its
 * start, and so slows the others, but the length of its first part is the same whatever the others do.
 *
 * The station does not queue: who waits, and in what order, is the caller's. */
#ifndef SIM_STATION_H
#define SIM_STATION_H

#include "sim/engine/calendar.h"

struct station;

struct station_job {         /* zeroed memory is a valid idle job */
    struct station *station; /* set by station_start */
    struct event end;        /* fixed speed: its own end; shared speed: the end of its first part */
    sim_time started;
    double target;  /* shared speed: virtual time at which it ends; its work, during its first part */
    uint64_t order; /* shared speed: tie breaker */
    size_t place;   /* shared speed: place in the heap plus one; 0 during its first part */
};

/* A job's work is done; its server is free again when this is called. */
typedef void station_done_fn(void *world, struct station *station, struct station_job *job);

struct station {
    struct calendar *calendar;
    station_done_fn *done;
    uint32_t servers, busy;
    uint32_t working;          /* shared speed: busy ones whose job is past its first part; as many are in the heap */
    const double *speed;       /* work a second of one server when i are busy, i = 1..servers; NULL: fixed form */
    double virtual_time;       /* shared speed */
    sim_time virtual_at;       /* when virtual_time was last brought up to date */
    struct event next;         /* shared speed: the earliest end */
    bool ending;               /* shared speed: `done` is being called; `next` is scheduled once, behind it */
    struct station_job **heap; /* shared speed: by (target, order) */
    uint64_t next_order;
};

void station_init(struct station *station, struct calendar *calendar, uint32_t servers, const double *speed,
                  station_done_fn *done);
void station_fini(struct station *station);

static inline uint32_t station_idle(const struct station *station)
{
    return station->servers - station->busy;
}

/* Start a job on an idle server. Fixed form: it ends after `duration`; `work` is not looked at. Shared form: it ends
 * when `work` has been done; `duration` is not looked at. */
void station_start(struct station *station, struct station_job *job, sim_time duration, double work);
/* The same, behind a first part that takes `first`, at any speed. */
void station_start_after(struct station *station, struct station_job *job, sim_time first, sim_time duration,
                         double work);
/* Take a running job off its server before its end, in either part; `done` is not called. */
void station_stop(struct station *station, struct station_job *job);

#endif
