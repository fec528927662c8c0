/* output.h - what replications say together: a mean and how sure we are of it.
 *
 * Half-widths are those of a 95 % t interval over replications (Law & Kelton). Undefined values (NAN) are left out;
 * with fewer than two defined values the half-width is NAN, with none the mean too. Values are summed in the order
 * given. */
#ifndef SIM_OUTPUT_H
#define SIM_OUTPUT_H

#include <stddef.h>

struct estimate {
    double mean, half_width;
    size_t count; /* defined values */
};

#define OUTPUT_LEVEL 0.95

double output_t(double level, size_t degrees); /* two-sided t quantile */
struct estimate output_mean(const double *values, size_t count, size_t stride);
/* Of paired differences a - b; a pair with an undefined member is left out. */
struct estimate output_difference(const double *a, const double *b, size_t count, size_t stride);

#endif
