/* number.c - the only file that knows SLEEF.
 *
 * "cinz" are the variants in plain C without fused multiply-add whose results SLEEF promises to be the same bits on
 * every platform; u10 bounds their error by 1.0 unit in the last place. */
#include "sim/engine/number.h"

#include <sleef.h>

double sim_exp(double x)
{
    return Sleef_cinz_expd1_u10purec(x);
}

double sim_log(double x)
{
    return Sleef_cinz_logd1_u10purec(x);
}

double sim_lgamma(double x)
{
    return Sleef_cinz_lgammad1_u10purec(x);
}
