/* ziggurat.h - the layers of the two ziggurats: constants, so that no start-up arithmetic can differ between machines.
 *
 * For a falling density f with f(0) = 1 and tail integral T: v = r f(r) + T(r) is the area of each of the 256 layers.
 * x[0] = v / f(r), the base layer's width if it were a rectangle; x[1] = r; x[i + 1] solves
 * x[i] (f(x[i + 1]) - f(x[i])) = v; r is such that x[256] = 0. Layer i is x[i] wide and reaches from height f[i] to
 * f[i + 1] (layer 0 from 0 to f[1]); what lies left of x[i + 1] is under the curve. Each x is the double nearest to the
 * exact solution, each f[i] the double nearest to f(x[i]) of the rounded x[i]. */
#ifndef SIM_ZIGGURAT_H
#define SIM_ZIGGURAT_H

#define ZIGGURAT_LAYERS 256

struct ziggurat {
    double x[ZIGGURAT_LAYERS + 1], f[ZIGGURAT_LAYERS + 1];
};

extern const struct ziggurat ziggurat_exponential; /* f(x) = exp(-x) */
extern const struct ziggurat ziggurat_normal;      /* f(x) = exp(-x^2 / 2) */

/* A height in layer i >= 1, for u uniform in [0, 1). */
static inline double ziggurat_height(const struct ziggurat *layers, unsigned i, double u)
{
    return layers->f[i] + u * (layers->f[i + 1] - layers->f[i]);
}

#endif
