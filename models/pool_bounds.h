/* pool_bounds.h - how many agents a metered pool carries, meter by meter, and which meter binds.
 *
 * An agent that nobody makes wait has r = 1 / (latency + think) turns a second. A meter of what comes gives `given` a
 * second, and carries given / (r x charge) agents; one of what is in flight carries as many as hold that much on
 * average: given / (r x latency x charge). Means, not bounds: turns that are refused for good may be of another size,
 * and what is in flight is counted as if long answers were no slower than short ones. Each call is taken to be answered
 * the first time: refused calls that count, errors and abandoned calls cost more than this.
 *
 * Amounts are requests or tokens; rates a second. */
#ifndef MODELS_POOL_BOUNDS_H
#define MODELS_POOL_BOUNDS_H

#include "models/meter.h"
#include "models/scenario.h"

enum limit_taken { LIMIT_AS_IS, LIMIT_MEAN, LIMIT_LEAST }; /* of a limit that moves by steps: the least */

struct meter_bounds {
    const struct meter_spec *spec;
    bool never;             /* a turn of mean size is more than it ever lets in at once */
    double given;           /* the limit, less what strangers take on average; not below 0 */
    enum limit_taken taken; /* which value of a limit that moves */
    bool endless;           /* counts contexts that grow for ever, whose mean is infinite: carries none for ever */
    double charge;          /* of a turn, on average: what is charged in the end */
    double share;           /* of `given`, that all agents of the class need together; NAN: theory does not know them */
    /* Agents; 0 where no turn of the mean size is ever let in. NAN: no population. */
    double carries;
};

struct pool_bounds {
    double turns; /* a second, of an agent that nobody makes wait */
    double input; /* mean tokens that a turn sends; INFINITY: endless */
    struct meter_bounds meters[METER_KINDS];
    size_t meter_count;
    size_t binds;   /* carries the fewest agents, of equal ones the first; meter_count: no meters */
    double carries; /* what that one does; INFINITY: no meters; NAN: no population */
    double goodput; /* min(population, carries) turns a second; NAN: no population */
    double runs_counted,
        runs_free;     /* effective concurrent runs on the input meter, whatever its weight: where
                          cached input counts, and where it is free; NAN: no such meter, no input, or endless */
    double break_even; /* the population fits on that meter from this cached share on, were it free */
};

/* False: the backend of the class is no pool. */
bool pool_bounds_of(const struct scenario *scenario, size_t klass, struct pool_bounds *bounds);

#endif
