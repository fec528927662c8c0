/* What calls take of a card's memory. */
#include "models/memory_use.h"

#include <math.h>

#include "models/input.h"

static struct dist cut(const struct dist *dist, double most)
{
    struct dist copy = dist ? *dist : (struct dist){.kind = DIST_CONSTANT, .most = INFINITY};

    copy.most = fmin(copy.most, most);
    return copy;
}

static double mean_cut(const struct dist *dist, double most)
{
    struct dist copy = cut(dist, most);

    return dist_mean(&copy);
}

/* In whole tokens, as calls are counted. 0 where a distribution has more than one value. */
static double least_of(const struct dist *dist)
{
    return dist && dist_is_constant(dist) ? floor(dist_mean(dist)) : 0;
}

/* No call sends less: inputs only grow, but for a compaction. */
static double input_least(const struct agent_class *class)
{
    const struct input_spec *spec = class->input;
    double least = spec ? fmin(least_of(spec->start), floor(spec->most)) : 0;

    return spec && spec->compact_to > 0 ? fmin(least, floor(spec->compact_to)) : least;
}

/* The mean of min(input, most), or less. Where inputs are cut, they might as well be cut here; where they begin anew,
 * little is known. */
static double mean_input_cut(const struct agent_class *class, double most)
{
    struct agent_class copy = *class;
    struct input_spec spec;

    if (!class->input || most >= class->input->most)
        return input_mean(class);
    if (class->input->compact_to > 0)
        return fmin(input_least(class), most);
    spec = *class->input;
    spec.most = most;
    copy.input = &spec;
    return input_mean(&copy);
}

struct dist memory_output(const struct agent_class *class)
{
    return cut(class->output, class->max_tokens);
}

double memory_first_call(const struct agent_class *class)
{
    struct dist output = memory_output(class);

    return dist_mean(&output) + (class->input ? mean_cut(class->input->start, class->input->most) : 0);
}

/* min(input + output, kv) >= min(input, kv - r) + min(output, r) for every r; this r cuts both in proportion. */
static double mean_held(const struct agent_class *class, double context, double kv)
{
    struct dist output = memory_output(class);
    double room = context > 0 ? kv * (dist_mean(&output) / context) : 0;

    return mean_input_cut(class, kv - room) + mean_cut(&output, room);
}

/* Seconds; no time where prefill has no rate. */
static double reading(const struct backend *backend, double tokens)
{
    return isinf(backend->prefill) ? 0 : tokens / backend->prefill;
}

struct memory_use memory_use_of(const struct agent_class *class, const struct backend *backend)
{
    struct dist output = memory_output(class);
    struct memory_use use = {.context = input_mean(class) + dist_mean(&output),
                             .contexts = INFINITY,
                             .at_once = backend->servers,
                             .at_once_most = backend->servers,
                             .prefill_warm = reading(backend, input_new_mean(class)),
                             .prefill_cold = reading(backend, input_mean(class))};
    double kv = (double)backend->kv, least = input_least(class) + least_of(&output);

    use.held = use.context;
    use.held_least = least;
    if (backend->kv == UINT64_MAX || use.context <= 0)
        return use;
    use.contexts = kv / use.context;
    use.at_once = fmin(use.at_once, fmax(1, floor(use.contexts)));
    use.held_least = fmin(least, kv);
    use.held = fmax(use.held_least, mean_held(class, use.context, kv));
    if (least > 0)
        use.at_once_most = fmin(use.at_once_most, fmax(1, floor(kv / least)));
    return use;
}
