/* sequential.c - the schedule of looks, and the rule that ends them. */
#include "sim/study/sequential.h"

#include <math.h>

unsigned sequential_next(unsigned now, unsigned most)
{
    unsigned more = (now + 1) / 2;

    return most - now <= more ? most : now + more;
}

unsigned sequential_looks(unsigned least, unsigned most)
{
    unsigned looks = 1;

    for (; least < most; looks++)
        least = sequential_next(least, most);
    return looks;
}

bool sequential_precise(struct estimate estimate, double relative)
{
    return estimate.count >= 2 && estimate.half_width <= relative * fabs(estimate.mean);
}
