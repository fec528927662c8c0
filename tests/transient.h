/* transient.h - the number of calls in M/M/c//N over time, from an empty start, by the equations of its states. */
#ifndef TESTS_TRANSIENT_H
#define TESTS_TRANSIENT_H

enum { TRANSIENT_MOST = 64 };

/* Integral over [from, infinity) of E[number at t] - its mean in steady state, in calls x seconds. Runge and Kutta's
 * method on dp/dt, until nothing moves any more. */
static inline double transient_excess(int agents, int servers, double service, double think, double from)
{
    enum { ORDER = 4 };
    static const double part[ORDER] = {0, 0.5, 0.5, 1}, weight[ORDER] = {1, 2, 2, 1};
    double p[TRANSIENT_MOST + 1] = {1}, steady[TRANSIENT_MOST + 1] = {1}, sum = 1, mean = 0, excess = 0;
    double step = 0.02, t = 0, gap = 1;

    for (int n = 1; n <= agents; n++) {
        int busy = n < servers ? n : servers;

        steady[n] = steady[n - 1] * (agents - n + 1) / think / (busy / service);
        sum += steady[n];
    }
    for (int n = 0; n <= agents; n++)
        mean += n * steady[n] / sum;
    while (gap > 1e-12 || t <= from) {
        double slope[TRANSIENT_MOST + 1] = {0}, total[TRANSIENT_MOST + 1] = {0}, now = 0;

        for (int n = 0; n <= agents; n++)
            now += n * p[n];
        gap = now > mean ? now - mean : mean - now;
        if (t >= from)
            excess += (now - mean) * step;
        for (int k = 0; k < ORDER; k++) {
            double q[TRANSIENT_MOST + 1], next[TRANSIENT_MOST + 1] = {0};

            for (int n = 0; n <= agents; n++)
                q[n] = p[n] + part[k] * step * slope[n];
            for (int n = 0; n <= agents; n++) {
                double up = (agents - n) / think * q[n], down = (n < servers ? n : servers) / service * q[n];

                next[n] -= up + down;
                if (n < agents)
                    next[n + 1] += up;
                if (n > 0)
                    next[n - 1] += down;
            }
            for (int n = 0; n <= agents; n++) {
                slope[n] = next[n];
                total[n] += weight[k] * next[n];
            }
        }
        for (int n = 0; n <= agents; n++)
            p[n] += step / 6 * total[n];
        t += step;
    }
    return excess;
}

#endif
