/* discover_flight.c - was it a rate at all?
 *
 * A pool that limits what is in flight carries, by Little's law, what it lets in at once in each latency, and nothing
 * of it is a rate: with other answers it carries something else. A bucket may do so too, by chance. Where the numbers
 * leave both open, the pool is given the time to fill and to answer everything, and is sent a burst up to its first
 * 429; then, when a bucket has got the tokens of one more call but no answer is there yet, one more call. A bucket lets
 * that in.
 *
 * Known to fail: a limit of a rate by windows looks like one of what is in flight; then the rate is a lower bound. Of
 * a pool with one call in flight the ramp is made of half contexts, and its rate is taken for one. */
#include "models/discover_private.h"

#define BURST_MOST 400 /* twice what the burst phase tries */

/* In flight at that rate, beside what is let in at once, of which the last call is not known. An even pace that finds a
 * place at each answer only as its next call is due loses one of N + 1. */
static bool in_question(const struct discovery *out, double rate)
{
    double flying = rate * sim_seconds(out->latency), edge = out->edge.value, full = (double)out->full;

    return flying * DISCOVER_NEAR * DISCOVER_NEAR * (edge + full) >= edge * edge &&
           flying <= DISCOVER_NEAR * (edge + full);
}

bool flight_binds(struct prober *prober, double rate)
{
    const struct discovery *out = prober->found;
    struct discover_shape shape = {.input = out->context, .output = prober->asked->output};
    sim_time again = sim_from_seconds(1.1 * (double)shape.input / rate), begin;
    struct discover_step *step;
    bool answered;

    if (out->edge.bound != FOUND_EXACT || !in_question(out, rate))
        return false;
    prober_settle(prober);
    prober_pause(prober, DISCOVER_PAUSE > 2 * out->latency ? DISCOVER_PAUSE : 2 * out->latency);
    if (!prober_going(prober))
        return true;
    begin = calendar_now(&prober->calendar);
    step = prober_step(prober, DISCOVER_RAMP, "burst", shape, 0);
    while (prober_going(prober) && step->refused == 0 && step->sent < BURST_MOST)
        prober_send(prober, step);
    prober_wait(prober, begin + again);
    answered = step->answered > 0;
    prober_judge(prober, step, step->refused > 0 ? "429" : "clean");
    if (!prober_going(prober) || answered)
        return true;
    step = prober_step(prober, DISCOVER_RAMP, "again", shape, 0);
    prober_send(prober, step);
    prober_judge(prober, step, step->refused > 0 ? "429" : "clean");
    prober_settle(prober);
    return step->admitted == 0;
}
