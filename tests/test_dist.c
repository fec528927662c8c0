/* test_dist.c - every kind of distribution: draws against the cdf, moments against closed forms and integrals. */
#include <gsl/gsl_integration.h>

#include "sim/engine/dist.h"
#include "tests/goodness.h"
#include "tests/suites.h"

#define DRAWS 200000

static const struct stream_key key = {.seed = 1, .replication = 1};

/* The card's turn length (facts.md 1.1) and other mixtures; parts are filled in by `examples`. */
static const double four_values[] = {1, 2, 2, 7};
static const double card_weights[] = {0.7, 1};
static const double three_weights[] = {0.25, 0.5, 1};

struct example {
    const char *name;
    struct dist dist;
    double mean, variance;
    uint64_t digest; /* of the first 10,000 draws: the same on every machine, with every compiler */
};

#define EXAMPLES 15

/* Closed forms of mean and variance are worked out by hand, away from the code under test. */
static void make_examples(struct example examples[EXAMPLES], struct dist card[2], struct dist three[3])
{
    card[0] = dist_lognormal_of(120, 0.45);
    card[1] = dist_lognormal_of(900, 0.35);
    three[0] = (struct dist){.kind = DIST_CONSTANT, .a = 2, .most = INFINITY};
    three[1] = (struct dist){.kind = DIST_GEOMETRIC, .a = 3, .most = INFINITY};
    three[2] = (struct dist){.kind = DIST_EMPIRICAL, .values = four_values, .count = 4, .most = 5};
    const struct example all[EXAMPLES] = {
        {"constant", {.kind = DIST_CONSTANT, .a = 3.5}, 3.5, 0, UINT64_C(0x9768f03266b66125)},
        {"uniform", {.kind = DIST_UNIFORM, .a = 2, .b = 5}, 3.5, 0.75, UINT64_C(0xd05ea6a80fccc210)},
        {"exponential", {.kind = DIST_EXPONENTIAL, .a = 4.5}, 4.5, 20.25, UINT64_C(0xf8dbfb56b823627c)},
        {"lognormal",
         {.kind = DIST_LOGNORMAL, .a = 1, .b = 0.5},
         exp(1.125),
         exp(2.25) * expm1(0.25),
         UINT64_C(0xe9ff3f9e2289170e)},
        {"lognormal of", dist_lognormal_of(120, 0.45), 120, 54 * 54, UINT64_C(0x5439f3a4354e4050)},
        {"gamma 2.5", {.kind = DIST_GAMMA, .a = 2.5, .b = 2}, 5, 10, UINT64_C(0x7a2d5da78550abac)},
        {"gamma 0.3", {.kind = DIST_GAMMA, .a = 0.3, .b = 4}, 1.2, 4.8, UINT64_C(0xb3b69501464a9034)},
        {"weibull 0.5", {.kind = DIST_WEIBULL, .a = 0.5, .b = 3}, 6, 180, UINT64_C(0x7d3c0d52a6280df9)},
        {"weibull 2",
         {.kind = DIST_WEIBULL, .a = 2, .b = 1},
         sqrt(acos(-1)) / 2,
         1 - acos(-1) / 4,
         UINT64_C(0x2d2c7c9851328d49)},
        {"pareto", {.kind = DIST_PARETO, .a = 5, .b = 2}, 2.5, 5.0 / 12, UINT64_C(0x9678689b50d96a59)},
        {"geometric", {.kind = DIST_GEOMETRIC, .a = 8}, 8, 56, UINT64_C(0x8e79b32ce117511a)},
        {"geometric 1", {.kind = DIST_GEOMETRIC, .a = 1}, 1, 0, UINT64_C(0x9edde221e8560425)},
        {"empirical",
         {.kind = DIST_EMPIRICAL, .values = four_values, .count = 4},
         3,
         5.5,
         UINT64_C(0xd99e207dc2f02184)},
        {"card",
         {.kind = DIST_MIXTURE, .parts = card, .weights = card_weights, .count = 2},
         354,
         0.7 * 120 * 120 * 1.2025 + 0.3 * 900 * 900 * 1.1225 - 354.0 * 354,
         UINT64_C(0x1fa7304c1e0d9b46)},
        /* 0.25 of 2, 0.25 of mean 3 and second moment 15, 0.5 of {1, 2, 2, 5} */
        {"three",
         {.kind = DIST_MIXTURE, .parts = three, .weights = three_weights, .count = 3},
         2.5,
         2.75,
         UINT64_C(0xa6af9d86121c553b)},
    };
    for (size_t i = 0; i < EXAMPLES; i++) {
        examples[i] = all[i];
        examples[i].dist.most = INFINITY;
    }
}

static struct example examples[EXAMPLES];
static struct dist card_parts[2], three_parts[3];

static void setup(void)
{
    make_examples(examples, card_parts, three_parts);
}

static bool is_discrete(const struct dist *dist)
{
    return dist->kind == DIST_CONSTANT || dist->kind == DIST_GEOMETRIC || dist->kind == DIST_EMPIRICAL ||
           (dist->kind == DIST_MIXTURE && dist->count == 3);
}

static void check_near(double got, double wanted, double tolerance, const char *what)
{
    ck_assert_msg(fabs(got - wanted) <= tolerance * fabs(wanted), "%s: %.17g, not %.17g", what, got, wanted);
}

/* A draw at an atom is spread evenly over the atom's step of the cdf, so that any distribution becomes uniform. */
static void check_draws(const struct dist *dist, uint64_t entity, const char *what)
{
    struct stream stream = stream_open(key, (struct stream_address){.purpose = 1, .entity = entity});
    struct stream spread = stream_open(key, (struct stream_address){.purpose = 2, .entity = entity});
    struct goodness goodness = {.count = 0};
    for (int i = 0; i < DRAWS; i++) {
        double x = dist_draw(dist, &stream);
        double below = dist_cdf(dist, nextafter(x, -1)), up_to = dist_cdf(dist, x);
        goodness_add(&goodness, below + stream_uniform(&spread) * (up_to - below));
    }
    goodness_assert(&goodness, what);
}

START_TEST(draws_follow_the_cdf)
{
    for (size_t i = 0; i < EXAMPLES; i++)
        check_draws(&examples[i].dist, i, examples[i].name);
}
END_TEST

START_TEST(cut_draws_follow_the_cdf)
{
    for (size_t i = 0; i < EXAMPLES; i++) {
        struct dist cut = examples[i].dist;
        cut.most = dist_quantile(&cut, 0.8);
        check_draws(&cut, 100 + i, examples[i].name);
        cut.most = 0.9 * dist_quantile(&cut, 0.7);
        check_draws(&cut, 200 + i, examples[i].name);
    }
}
END_TEST

START_TEST(a_cut_changes_no_other_draw)
{
    for (size_t i = 0; i < EXAMPLES; i++) {
        struct dist cut = examples[i].dist;
        cut.most = dist_quantile(&cut, 0.6);
        struct stream free_stream = stream_open(key, (struct stream_address){.purpose = 3}), cut_stream = free_stream;
        for (int k = 0; k < 1000; k++)
            ck_assert(dist_draw(&cut, &cut_stream) == fmin(dist_draw(&examples[i].dist, &free_stream), cut.most));
    }
}
END_TEST

START_TEST(moments_are_the_closed_forms)
{
    for (size_t i = 0; i < EXAMPLES; i++) {
        check_near(dist_mean(&examples[i].dist), examples[i].mean, 1e-14, examples[i].name);
        check_near(dist_cv(&examples[i].dist), sqrt(examples[i].variance) / examples[i].mean, 1e-13, examples[i].name);
    }
}
END_TEST

START_TEST(sample_means_are_the_means)
{
    for (size_t i = 0; i < EXAMPLES; i++) {
        struct stream stream = stream_open(key, (struct stream_address){.purpose = 4, .entity = i});
        double sum = 0;
        for (int k = 0; k < DRAWS; k++)
            sum += dist_draw(&examples[i].dist, &stream);
        double off = sum / DRAWS - examples[i].mean;
        ck_assert_msg(fabs(off) <= 4 * sqrt(examples[i].variance / DRAWS), "%s: off by %g", examples[i].name, off);
    }
}
END_TEST

static double first_integrand(double x, void *dist)
{
    return 1 - dist_cdf(dist, x);
}

static double second_integrand(double x, void *dist)
{
    return 2 * x * (1 - dist_cdf(dist, x));
}

/* E[min(X, m)^j] is the integral of j x^(j - 1) S(x) up to m: by quadrature, or step by step. */
static double integral(struct dist *dist, double m, double (*integrand)(double, void *))
{
    double sum = 0;
    if (is_discrete(dist)) {
        for (double at = 0; at < m; at += 0.5) {
            double end = fmin(at + 0.5, m);
            sum += (end - at) * integrand((at + end) / 2, dist);
        }
        return sum;
    }
    gsl_integration_workspace *workspace = gsl_integration_workspace_alloc(1000);
    gsl_function function = {integrand, dist};
    const double ends[] = {0, fmin(m, dist_quantile(dist, 1e-12)), m};
    for (size_t i = 0; i < 2; i++) {
        double part, error;
        gsl_integration_qags(&function, ends[i], ends[i + 1], 0, 1e-10, 1000, workspace, &part, &error);
        sum += part;
    }
    gsl_integration_workspace_free(workspace);
    return sum;
}

START_TEST(cut_moments_are_integrals)
{
    static const double shares[] = {0.02, 0.3, 0.5, 0.9, 0.999};
    for (size_t i = 0; i < EXAMPLES; i++) {
        for (size_t k = 0; k < sizeof shares / sizeof *shares; k++) {
            struct dist uncut = examples[i].dist, cut = uncut;
            cut.most = (k % 2 ? 1 : 0.93) * dist_quantile(&uncut, shares[k]);
            double first = integral(&uncut, cut.most, first_integrand);
            double second = integral(&uncut, cut.most, second_integrand);
            check_near(dist_mean(&cut), first, 1e-9, examples[i].name);
            double cv = dist_cv(&cut);
            check_near((cv * cv + 1) * first * first, second, 1e-9, examples[i].name);
        }
    }
}
END_TEST

/* No special function complains (GSL's handler would abort), and a far cut changes nothing. */
START_TEST(cuts_hold_at_the_edges)
{
    static const double cuts[] = {1e-300, 1e-100, 1e-9, 1e6, 1e9, 1e15, 1e100, 1e300};
    for (size_t i = 0; i < EXAMPLES; i++) {
        for (size_t k = 0; k < sizeof cuts / sizeof *cuts; k++) {
            struct dist cut = examples[i].dist;
            cut.most = cuts[k];
            double wanted = cut.most > 1 ? examples[i].mean : cut.most;
            double tolerance = cut.most > 1 ? 1e-12 : cut.kind == DIST_GAMMA || cut.kind == DIST_WEIBULL ? 1 : 1e-8;
            check_near(dist_mean(&cut), wanted, tolerance, examples[i].name);
            if (cut.most > 1)
                check_near(dist_cv(&cut), sqrt(examples[i].variance) / examples[i].mean, 1e-8, examples[i].name);
            ck_assert(dist_cdf(&cut, 0.5 * cut.most) <= 1 && dist_cdf(&cut, cut.most) == 1);
            ck_assert(dist_quantile(&cut, 0.999) <= cut.most);
        }
    }
}
END_TEST

/* Both the mixture and one of its parts are cut: E[min(min(X, a), b)]. */
START_TEST(cuts_nest)
{
    struct dist parts[2] = {card_parts[0], card_parts[1]};
    parts[1].most = 1000;
    struct dist mixture = {.kind = DIST_MIXTURE, .parts = parts, .weights = card_weights, .count = 2, .most = 800};
    double inner = 0.7 * dist_mean(&(struct dist){DIST_LOGNORMAL, parts[0].a, parts[0].b, 800, 0, 0, 0, 0}) +
                   0.3 * dist_mean(&(struct dist){DIST_LOGNORMAL, parts[1].a, parts[1].b, 800, 0, 0, 0, 0});
    check_near(dist_mean(&mixture), inner, 1e-14, "outer cut");
    mixture.most = INFINITY;
    inner = 0.7 * 120 + 0.3 * dist_mean(&parts[1]);
    check_near(dist_mean(&mixture), inner, 1e-14, "inner cut");
    ck_assert(dist_cdf(&mixture, 1000) > 1 - 1e-6 && dist_cdf(&mixture, 999) < 0.95);
    ck_assert(dist_quantile(&mixture, 0.95) == 1000);
}
END_TEST

START_TEST(heavy_tails_have_no_moments)
{
    struct dist pareto = {.kind = DIST_PARETO, .a = 1, .b = 2, .most = INFINITY};
    ck_assert(isinf(dist_mean(&pareto)) && isnan(dist_cv(&pareto)));
    pareto.most = 20; /* 2 (1 + ln 10); second moment 2 * 2 * 18 + 40 */
    check_near(dist_mean(&pareto), 2 * (1 + log(10)), 1e-14, "mean of a cut Pareto of shape 1");
    check_near(dist_cv(&pareto), sqrt(76 / pow(dist_mean(&pareto), 2) - 1), 1e-13, "cv of a cut Pareto of shape 1");
    pareto = (struct dist){.kind = DIST_PARETO, .a = 2, .b = 2, .most = INFINITY};
    ck_assert(dist_mean(&pareto) == 4 && isnan(dist_cv(&pareto)));
    struct dist nothing = {.kind = DIST_CONSTANT, .a = 0, .most = INFINITY};
    ck_assert(dist_mean(&nothing) == 0 && isnan(dist_cv(&nothing)));
}
END_TEST

START_TEST(a_quantile_is_the_least_value_that_suffices)
{
    static const double shares[] = {1e-6, 0.01, 0.07, 0.25, 0.5, 0.7, 0.9, 0.95, 0.99, 0.999999};
    for (size_t i = 0; i < EXAMPLES; i++) {
        for (size_t k = 0; k < sizeof shares / sizeof *shares; k++) {
            const struct dist *dist = &examples[i].dist;
            double x = dist_quantile(dist, shares[k]);
            double above = is_discrete(dist) ? x : x * (1 + 1e-12);
            ck_assert_msg(dist_cdf(dist, above) >= shares[k] * (1 - 1e-12), "%s at %g", examples[i].name, shares[k]);
            ck_assert_msg(dist_cdf(dist, x * (1 - 1e-12)) <= shares[k], "%s at %g", examples[i].name, shares[k]);
        }
    }
}
END_TEST

/* Shapes from a spike at 0 to nearly a constant, and chances down to 10^-9. */
START_TEST(gamma_quantiles_hold_at_the_edges)
{
    for (double shape = 0.01; shape < 1e5; shape *= 10) {
        for (double p = 1e-9; p < 1; p = p < 0.1 ? p * 10 : p + 0.11) {
            struct dist gamma = {.kind = DIST_GAMMA, .a = shape, .b = 3, .most = INFINITY};
            double x = dist_quantile(&gamma, p);
            if (x > 1e-300)
                ck_assert_msg(fabs(dist_cdf(&gamma, x) - p) < 1e-10 * p, "shape %g, p %g: %g", shape, p, x);
        }
    }
}
END_TEST

START_TEST(quantiles_hit_atoms_exactly)
{
    static double hundred[100];
    for (int i = 0; i < 100; i++)
        hundred[i] = i + 1;
    struct dist empirical = {.kind = DIST_EMPIRICAL, .values = hundred, .count = 100, .most = INFINITY};
    for (int i = 1; i < 100; i++)
        ck_assert(dist_quantile(&empirical, i / 100.0) == i);
    ck_assert(dist_quantile(&empirical, 0.505) == 51 && dist_quantile(&empirical, 1e-9) == 1);
    struct dist geometric = {.kind = DIST_GEOMETRIC, .a = 2, .most = INFINITY};
    ck_assert(dist_quantile(&geometric, 0.5) == 1 && dist_quantile(&geometric, 0.51) == 2);
    ck_assert(dist_quantile(&geometric, 0.875) == 3);
    ck_assert(dist_quantile(&examples[14].dist, 0.3) == 2 && dist_quantile(&examples[14].dist, 0.9) == 5);
}
END_TEST

START_TEST(geometric_quantiles_undo_the_cdf)
{
    static const double means[] = {1.1, 1.5, 2, 3, 8, 1000};
    for (size_t i = 0; i < sizeof means / sizeof *means; i++) {
        struct dist geometric = {.kind = DIST_GEOMETRIC, .a = means[i], .most = INFINITY};
        for (int n = 1; n < 1000 && 1 - dist_cdf(&geometric, n) > 1e-12; n++) {
            double p = dist_cdf(&geometric, n);
            ck_assert(dist_quantile(&geometric, p) == n);
            ck_assert(dist_quantile(&geometric, nextafter(p, 1)) == n + 1);
        }
    }
}
END_TEST

START_TEST(the_card_has_the_published_turn_length)
{
    const struct dist *card = &examples[13].dist;
    ck_assert(fabs(dist_mean(card) - 354) < 1e-10);
    ck_assert(fabs(dist_cv(card) - 1.13) < 0.005);
}
END_TEST

START_TEST(parameters_follow_from_mean_and_cv)
{
    static const double means[] = {1e-3, 1, 4.5, 1e6}, cvs[] = {0.01, 0.1, 0.35, 1, 1.13, 3, 20};
    static struct dist (*const makers[])(double, double) = {dist_lognormal_of, dist_gamma_of, dist_weibull_of};
    for (size_t maker = 0; maker < 3; maker++) {
        for (size_t i = 0; i < sizeof means / sizeof *means; i++) {
            for (size_t k = 0; k < sizeof cvs / sizeof *cvs; k++) {
                struct dist dist = makers[maker](means[i], cvs[k]);
                ck_assert(isinf(dist.most));
                check_near(dist_mean(&dist), means[i], 1e-13, "mean");
                check_near(dist_cv(&dist), cvs[k], 1e-10, "cv");
            }
        }
    }
    check_near(dist_weibull_of(2, 1).a, 1, 1e-14, "a Weibull of cv 1 is exponential");
}
END_TEST

START_TEST(disguises_are_seen_through)
{
    struct dist dist = {.kind = DIST_EXPONENTIAL, .a = 2, .most = INFINITY};
    ck_assert(dist_is_exponential(&dist) && !dist_is_constant(&dist));
    dist.most = 100;
    ck_assert(!dist_is_exponential(&dist));
    dist.most = 0;
    ck_assert(dist_is_constant(&dist));
    dist = (struct dist){.kind = DIST_UNIFORM, .a = 3, .b = 3, .most = INFINITY};
    ck_assert(dist_is_constant(&dist));
    ck_assert(dist_cv(&dist) == 0 && dist_cdf(&dist, 3) == 1 && dist_cdf(&dist, 2.9) == 0);
    struct dist parts[2] = {dist, {.kind = DIST_CONSTANT, .a = 4, .most = 3}};
    dist = (struct dist){.kind = DIST_MIXTURE, .parts = parts, .weights = card_weights, .count = 2, .most = INFINITY};
    ck_assert(dist_is_constant(&dist));
    parts[1].most = 3.5;
    ck_assert(!dist_is_constant(&dist));
    for (double value = 0.1; value < 20; value += 0.1) {
        dist = (struct dist){.kind = DIST_UNIFORM, .a = value, .b = value, .most = INFINITY};
        ck_assert(dist_cv(&dist) == 0);
    }
    for (size_t i = 0; i < EXAMPLES; i++)
        ck_assert(dist_is_constant(&examples[i].dist) == (examples[i].variance == 0));
}
END_TEST

START_TEST(draws_have_the_recorded_bits)
{
    for (size_t i = 0; i < EXAMPLES; i++) {
        struct stream stream = stream_open(key, (struct stream_address){.purpose = 5, .entity = 6, .turn = 7});
        uint64_t digest = GOODNESS_DIGEST;
        for (int k = 0; k < 10000; k++)
            digest = goodness_digest_double(digest, dist_draw(&examples[i].dist, &stream));
        ck_assert_msg(digest == examples[i].digest, "%s: 0x%016llx", examples[i].name, (unsigned long long)digest);
    }
    struct dist weibull = dist_weibull_of(900, 0.35);
    uint64_t digest = goodness_digest_double(goodness_digest_double(GOODNESS_DIGEST, weibull.a), weibull.b);
    ck_assert_uint_eq(digest, UINT64_C(0x2e6cc316bffd851f));
}
END_TEST

/* What the first word of a stream decides alone is what the whole stream gives, cut at `most` or not; nothing but an
 * exponential is drawn so. */
START_TEST(quick_draws_are_draws)
{
    static const double most[] = {INFINITY, 3, 0.001};
    struct dist other = {.kind = DIST_GEOMETRIC, .a = 3, .most = INFINITY};
    double value;

    for (size_t i = 0; i < sizeof most / sizeof *most; i++) {
        struct dist dist = {.kind = DIST_EXPONENTIAL, .a = 4.5, .most = most[i]};
        size_t quick = 0;

        for (uint64_t turn = 0; turn < 10000; turn++) {
            struct stream_address address = {.purpose = 1, .turn = turn};
            struct stream whole = stream_open(key, address), first = stream_open(key, address);
            uint64_t word = stream_next(&first);

            if (dist_draw_quick(&dist, word, &value)) {
                ck_assert(value == dist_draw(&dist, &whole));
                quick++;
            }
            ck_assert(!dist_draw_quick(&other, word, &value));
        }
        ck_assert_uint_gt(quick, 9000);
    }
}
END_TEST

Suite *dist_suite(void)
{
    Suite *suite = suite_create("dist");
    TCase *draws = tcase_create("draws");
    tcase_add_checked_fixture(draws, setup, NULL);
    tcase_add_test(draws, draws_follow_the_cdf);
    tcase_add_test(draws, cut_draws_follow_the_cdf);
    tcase_add_test(draws, a_cut_changes_no_other_draw);
    tcase_add_test(draws, sample_means_are_the_means);
    tcase_add_test(draws, draws_have_the_recorded_bits);
    suite_add_tcase(suite, draws);
    TCase *reports = tcase_create("reports");
    tcase_add_checked_fixture(reports, setup, NULL);
    tcase_add_test(reports, moments_are_the_closed_forms);
    tcase_add_test(reports, cut_moments_are_integrals);
    tcase_add_test(reports, cuts_hold_at_the_edges);
    tcase_add_test(reports, cuts_nest);
    tcase_add_test(reports, heavy_tails_have_no_moments);
    tcase_add_test(reports, a_quantile_is_the_least_value_that_suffices);
    tcase_add_test(reports, gamma_quantiles_hold_at_the_edges);
    tcase_add_test(reports, quantiles_hit_atoms_exactly);
    tcase_add_test(reports, geometric_quantiles_undo_the_cdf);
    tcase_add_test(reports, the_card_has_the_published_turn_length);
    tcase_add_test(reports, parameters_follow_from_mean_and_cv);
    tcase_add_test(reports, disguises_are_seen_through);
    tcase_add_test(reports, quick_draws_are_draws);
    suite_add_tcase(suite, reports);
    return suite;
}
