/* number.h - exp and log whose last bit does not depend on the CPU (SLEEF's deterministic scalar functions).
 *
 * libm's exp, pow and cos differ in the last bit in 0.07 % of calls with and without fused multiply-add. What decides a
 * path uses + - * / sqrt and these two. About 25 ns a call. */
#ifndef SIM_NUMBER_H
#define SIM_NUMBER_H

double sim_exp(double x);
double sim_log(double x);
double sim_lgamma(double x); /* ln Gamma(x), x > 0: for setting up, slower */

#endif
