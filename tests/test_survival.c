/* test_survival.c - turns by survival: draws against the chances, moments and quantiles against sums turn by turn. */
#include "sim/engine/dist.h"
#include "sim/engine/number.h"
#include "tests/goodness.h"
#include "tests/suites.h"

#define DRAWS 200000
#define WINDOWS_MOST 5

static const struct stream_key key = {.seed = 1, .replication = 1};

static const struct example {
    double window, chances[WINDOWS_MOST];
    size_t count;
    double most;     /* 0: none */
    uint64_t digest; /* of the first 10,000 draws: the same on every machine, with every compiler */
} examples[] = {
    {40, {0.814, 0.812, 0.75, 0.647, 0.667}, 5, 0, UINT64_C(0x08853e86b8a3bdb5)}, /* facts of 5,511 calls */
    {1, {0.5}, 1, 0, UINT64_C(0xf9645fe28acd9e4e)},
    {1, {0.9, 0.2, 0.6}, 3, 0, UINT64_C(0xf069784c44488e6d)},
    {7, {1, 0.3, 1, 1, 0.5}, 5, 0, UINT64_C(0xeba5511a092908fa)},
    {3, {0.01, 0.999}, 2, 0, UINT64_C(0x369c2cc090b3ab06)},
    {10, {0.5, 1}, 2, 25, UINT64_C(0xb0f9ed19f8cff482)},
    {10, {0.5, 0.9}, 2, 10, UINT64_C(0x8c652be12850175f)},
    {10, {0.5, 0.9}, 2, 11, UINT64_C(0x83716638daa2c035)},
    {10, {0.5, 0.9, 0.7}, 3, 17.25, UINT64_C(0x31ebbf3e8f606fb4)},
};
#define EXAMPLES ((int)(sizeof examples / sizeof *examples))

/* Its values stand in `hazards`. */
static struct dist survival(const struct example *example, double hazards[WINDOWS_MOST])
{
    for (size_t i = 0; i < example->count; i++)
        hazards[i] = example->chances[i] < 1 ? -sim_log(example->chances[i]) : 0;
    return (struct dist){.kind = DIST_SURVIVAL,
                         .a = example->window,
                         .most = example->most > 0 ? example->most : (double)INFINITY,
                         .values = hazards,
                         .count = example->count};
}

/* P(X > n) from the chances, with libm and without `most`. */
static double survive(const struct example *example, int n)
{
    double chance = 1;
    size_t i = 0;
    for (; n > example->window && i + 1 < example->count; n -= (int)example->window)
        chance *= example->chances[i++];
    return chance * pow(example->chances[i], n / example->window);
}

static void check_near(double got, double wanted, double tolerance, const char *what, int of)
{
    ck_assert_msg(fabs(got - wanted) <= tolerance * fabs(wanted), "%s of %d: %.17g, not %.17g", what, of, got, wanted);
}

START_TEST(draws_follow_the_cdf)
{
    double hazards[WINDOWS_MOST];
    struct dist dist = survival(&examples[_i], hazards);
    struct stream stream = stream_open(key, (struct stream_address){.purpose = 1, .entity = (uint64_t)_i});
    struct stream spread = stream_open(key, (struct stream_address){.purpose = 2, .entity = (uint64_t)_i});
    struct goodness goodness = {.count = 0};
    for (int i = 0; i < DRAWS; i++) {
        double x = dist_draw(&dist, &stream);
        ck_assert(x >= 1 && (x == floor(x) || x == dist.most) && x <= dist.most);
        double below = dist_cdf(&dist, nextafter(x, -1)), up_to = dist_cdf(&dist, x);
        goodness_add(&goodness, below + stream_uniform(&spread) * (up_to - below));
    }
    goodness_assert(&goodness, "draws");
}
END_TEST

/* What the chances are said to be: of the runs that came so far, the share that survives the window. */
START_TEST(windows_are_survived_with_their_chances)
{
    double hazards[WINDOWS_MOST];
    struct dist dist = survival(&examples[0], hazards);
    struct stream stream = stream_open(key, (struct stream_address){.purpose = 3});
    uint64_t more[7] = {DRAWS};
    for (int i = 0; i < DRAWS; i++) {
        double x = dist_draw(&dist, &stream);
        for (int window = 1; window < 7; window++)
            more[window] += x > 40 * window;
    }
    for (int window = 1; window < 7; window++)
        goodness_assert_count(more[window], (double)more[window - 1],
                              examples[0].chances[window <= WINDOWS_MOST ? window - 1 : WINDOWS_MOST - 1], "window");
}
END_TEST

START_TEST(the_cdf_is_that_of_the_chances)
{
    double hazards[WINDOWS_MOST];
    struct dist dist = survival(&examples[_i], hazards);
    ck_assert(dist_cdf(&dist, 0.999) == 0 && dist_cdf(&dist, -1) == 0 && dist_cdf(&dist, INFINITY) == 1);
    for (int n = 1; n < 400; n++) {
        double below = 1 - survive(&examples[_i], n), got = dist_cdf(&dist, n);
        ck_assert_double_eq_tol(got, n >= dist.most ? 1 : below, 1e-14);
        if (n + 1 < dist.most)
            ck_assert(dist_cdf(&dist, n + 0.999) == got && dist_cdf(&dist, nextafter(n, 0)) <= got);
    }
}
END_TEST

/* By hand: 0.5 of the first, 0.5 * 0.25 of the second window, then 0.25 of every further one. */
START_TEST(worked_by_hand)
{
    const struct example example = {2, {0.5, 1, 0.25}, 3, 0, 0};
    double hazards[WINDOWS_MOST];
    struct dist dist = survival(&example, hazards);
    static const double above[] = {1, 0.70710678118654752, 0.5, 0.5, 0.5, 0.25, 0.125, 0.0625, 0.03125};
    for (int n = 1; n < 9; n++)
        ck_assert_double_eq_tol(1 - dist_cdf(&dist, n), above[n], 1e-15);
    /* 1 + sqrt(1/2) + 1/2 + 1/2 + 1/2 + 1/4 + 1/8 + ... */
    check_near(dist_mean(&dist), 3 + sqrt(0.5), 1e-15, "mean", 0);
    /* 1 + 3 sqrt(1/2) + (5 + 7 + 9)/2 + the sum of (9 + 2 k)/2^(k + 1) over k >= 1, which is 6.5 */
    double second = 18 + 3 * sqrt(0.5);
    check_near(dist_cv(&dist), sqrt(second / pow(3 + sqrt(0.5), 2) - 1), 1e-14, "cv", 0);
    static const double quantiles[][2] = {{1e-9, 1}, {0.29, 1},    {0.3, 2},   {0.5, 2},  {0.5000001, 5},
                                          {0.75, 5}, {0.75001, 6}, {0.875, 6}, {0.96, 8}, {0.9688, 9}};
    for (size_t i = 0; i < sizeof quantiles / sizeof *quantiles; i++)
        ck_assert_double_eq(dist_quantile(&dist, quantiles[i][0]), quantiles[i][1]);
}
END_TEST

/* E[min(X, m)^j], turn by turn. */
static void sum_turns(const struct example *example, double m, double *first, double *second)
{
    long double sum = 0, squares = 0;
    double above = 1;
    for (int n = 0; n < m && above > 1e-25; n++) {
        double end = fmin(n + 1, m);
        above = survive(example, n);
        sum += above * (end - n);
        squares += above * (end - n) * (end + n);
    }
    *first = (double)sum;
    *second = (double)squares;
}

START_TEST(moments_are_sums_over_turns)
{
    static const double cuts[] = {INFINITY, 1.5, 2,    6.5, 7,  7.01,   8,   10,  14,   20,
                                  39,       40,  40.5, 41,  80, 123.75, 200, 1e4, 1e18, 1e300};
    for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
        double hazards[WINDOWS_MOST], first, second;
        struct dist dist = survival(&examples[_i], hazards);
        dist.most = fmin(dist.most, cuts[i]);
        sum_turns(&examples[_i], dist.most, &first, &second);
        check_near(dist_mean(&dist), first, 1e-13, "mean", (int)i);
        double cv = dist_cv(&dist);
        check_near((1 + cv * cv) * first * first, second, 1e-12, "second moment", (int)i);
    }
}
END_TEST

/* Nearly nobody ends: what is lost of `most` must not drown in rounding. With S(n) = 1 - n g + n^2 g^2 / 2 - ... the
 * variance of min(X, m) is g (m^3 / 3 - m^2 / 2 + m / 6) and terms of g^2. */
START_TEST(tiny_hazards_keep_their_digits)
{
    for (double g = 1e-3; g > 1e-12; g /= 10) {
        double hazards[2] = {40 * g, 40 * g}, m = 1000;
        struct dist dist = {.kind = DIST_SURVIVAL, .a = 40, .most = m, .values = hazards, .count = 2};
        double first = 0, second = 0;
        for (int n = 0; n < m; n++) {
            first += exp(-g * n);
            second += (2 * n + 1) * exp(-g * n);
        }
        check_near(dist_mean(&dist), first, 1e-14, "mean", 0);
        double cv = dist_cv(&dist);
        ck_assert_double_eq_tol(cv * cv, second / (first * first) - 1, 1e-14);
        for (int n = 1; n < 100; n += 7)
            check_near(dist_cdf(&dist, n), -expm1(-g * n), 1e-15, "cdf", n);
        dist.most = INFINITY;
        check_near(dist_mean(&dist), -1 / expm1(-g), 1e-14, "endless mean", 0);
        check_near(dist_cv(&dist), exp(-g / 2), 1e-13, "endless cv",
                   0); /* q = e^-g: sqrt(q) / (1 - q) of 1 / (1 - q) */
    }
}
END_TEST

/* The first whole turn at which the cdf suffices, and `most` where it comes before. */
START_TEST(quantiles_are_the_first_turn_that_suffices)
{
    double hazards[WINDOWS_MOST];
    struct dist dist = survival(&examples[_i], hazards), uncut = dist;
    uncut.most = INFINITY;
    for (int n = 1; n < 400; n++) {
        double p = dist_cdf(&uncut, n), before = n > 1 ? dist_cdf(&uncut, n - 1) : 0;
        if (p == before || 1 - p < 1e-12)
            continue;
        double after = nextafter(p, 1), next = n + 1;
        while (next < 400 && dist_cdf(&uncut, next) < after)
            next++;
        ck_assert(dist_quantile(&dist, p) == fmin(n, dist.most));
        ck_assert(dist_quantile(&dist, (p + before) / 2) == fmin(n, dist.most));
        if (next < 400)
            ck_assert(dist_quantile(&dist, after) == fmin(next, dist.most));
    }
    ck_assert(dist_quantile(&dist, 1e-300) == (examples[_i].chances[0] < 1 ? 1 : 8));
}
END_TEST

START_TEST(far_quantiles)
{
    double hazards[] = {1, 0};
    struct dist dist = {.kind = DIST_SURVIVAL, .a = 10, .most = 1e15, .values = hazards, .count = 2};
    ck_assert(dist_quantile(&dist, 0.63) == 10 && dist_quantile(&dist, 0.64) == 1e15);
    hazards[1] = 1e-9; /* -ln(1 - p) = 1 + 1e-10 (n - 10), with p = 1 - 2^-40 */
    ck_assert_double_eq_tol(dist_quantile(&dist, 1 - 0x1p-40), 10 + 1e10 * (40 * log(2) - 1), 1e7);
    dist.most = 1000;
    ck_assert(dist_quantile(&dist, 1 - 0x1p-40) == 1000);
}
END_TEST

static void check_is_geometric(struct dist dist, double mean)
{
    struct dist geometric = {.kind = DIST_GEOMETRIC, .a = mean, .most = dist.most};
    struct stream one = stream_open(key, (struct stream_address){.purpose = 4}), other = one;
    for (int i = 0; i < 20000; i++)
        ck_assert(dist_draw(&dist, &one) == dist_draw(&geometric, &other));
    check_near(dist_mean(&dist), dist_mean(&geometric), 1e-13, "mean", 0);
    ck_assert_double_eq_tol(dist_cv(&dist), dist_cv(&geometric), 1e-12);
    for (int n = 1; n < 200; n++)
        ck_assert_double_eq_tol(dist_cdf(&dist, n), dist_cdf(&geometric, n), 1e-14);
    for (double p = 0.0123; p < 1; p += 0.0123)
        ck_assert(dist_quantile(&dist, p) == dist_quantile(&geometric, p));
}

/* Equal chances make every turn alike, whatever the windows are. */
START_TEST(equal_chances_are_geometric)
{
    static const double cuts[] = {INFINITY, 30, 12.5, 4};
    for (double mean = 1.25; mean < 1000; mean *= 3)
        for (double window = 1; window < 50; window = 2 * window + 1)
            for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
                double hazards[3], hazard = -sim_log(1 - 1 / mean);
                for (size_t j = 0; j < 3; j++)
                    hazards[j] = window * hazard;
                check_is_geometric((struct dist){.kind = DIST_SURVIVAL,
                                                 .a = window,
                                                 .most = cuts[i],
                                                 .values = hazards,
                                                 .count = (size_t)window % 3 + 1},
                                   mean);
            }
}
END_TEST

START_TEST(nobody_ends_before_most)
{
    const struct example sure = {10, {1, 0.5}, 2, 0, 0};
    double hazards[WINDOWS_MOST];
    struct dist dist = survival(&sure, hazards);
    struct stream stream = stream_open(key, (struct stream_address){.purpose = 5});
    static const double constants[] = {0.5, 1, 2, 9.5, 10, 10.5, 11};
    for (size_t i = 0; i < sizeof constants / sizeof *constants; i++) {
        dist.most = constants[i];
        ck_assert_msg(dist_is_constant(&dist), "cut at %g", dist.most); /* the first to end has 11 turns */
        ck_assert(dist_mean(&dist) == dist.most && dist_cv(&dist) == 0 && dist_draw(&dist, &stream) == dist.most);
        ck_assert(dist_quantile(&dist, 0.5) == dist.most);
    }
    dist.most = 11.5;
    ck_assert(!dist_is_constant(&dist) && dist_cv(&dist) > 0);
    dist.most = INFINITY;
    ck_assert(!dist_is_constant(&dist) && !dist_is_exponential(&dist));
    hazards[1] = 0;
    dist.most = 1e6;
    ck_assert(dist_is_constant(&dist) && dist_mean(&dist) == 1e6 && dist_cv(&dist) == 0);
    ck_assert(dist_draw(&dist, &stream) == 1e6 && dist_cdf(&dist, 999999) == 0 && dist_cdf(&dist, 1e6) == 1);
    hazards[0] = 2;
    for (dist.most = 0; dist.most <= 3; dist.most += 0.5) /* every run has one turn */
        ck_assert_msg(dist_is_constant(&dist) == (dist.most <= 1), "cut at %g", dist.most);
}
END_TEST

/* A longer life for every exponential, so that common random numbers stay common. */
START_TEST(better_chances_never_shorten_a_run)
{
    const struct example worse = {10, {0.5, 0.9, 0.7}, 3, 0, 0}, better = {10, {0.6, 0.9, 0.8}, 3, 0, 0};
    double some[WINDOWS_MOST], others[WINDOWS_MOST];
    struct dist one = survival(&worse, some), other = survival(&better, others);
    struct stream a = stream_open(key, (struct stream_address){.purpose = 6}), b = a;
    uint64_t longer = 0;
    for (int i = 0; i < 20000; i++) {
        double x = dist_draw(&one, &a), y = dist_draw(&other, &b);
        ck_assert(y >= x);
        longer += y > x;
    }
    ck_assert_uint_gt(longer, 10000);
}
END_TEST

START_TEST(draws_have_the_recorded_bits)
{
    double hazards[WINDOWS_MOST];
    struct dist dist = survival(&examples[_i], hazards);
    struct stream stream = stream_open(key, (struct stream_address){.purpose = 7, .entity = 6, .turn = 7});
    uint64_t digest = GOODNESS_DIGEST;
    for (int k = 0; k < 10000; k++)
        digest = goodness_digest_double(digest, dist_draw(&dist, &stream));
    ck_assert_msg(digest == examples[_i].digest, "%d: 0x%016llx", _i, (unsigned long long)digest);
}
END_TEST

Suite *survival_suite(void)
{
    Suite *suite = suite_create("survival");
    TCase *tcase = tcase_create("survival");
    tcase_add_loop_test(tcase, draws_follow_the_cdf, 0, EXAMPLES);
    tcase_add_test(tcase, windows_are_survived_with_their_chances);
    tcase_add_loop_test(tcase, the_cdf_is_that_of_the_chances, 0, EXAMPLES);
    tcase_add_test(tcase, worked_by_hand);
    tcase_add_loop_test(tcase, moments_are_sums_over_turns, 0, EXAMPLES);
    tcase_add_test(tcase, tiny_hazards_keep_their_digits);
    tcase_add_loop_test(tcase, quantiles_are_the_first_turn_that_suffices, 0, EXAMPLES);
    tcase_add_test(tcase, far_quantiles);
    tcase_add_test(tcase, equal_chances_are_geometric);
    tcase_add_test(tcase, nobody_ends_before_most);
    tcase_add_test(tcase, better_chances_never_shorten_a_run);
    tcase_add_loop_test(tcase, draws_have_the_recorded_bits, 0, EXAMPLES);
    suite_add_tcase(suite, tcase);
    return suite;
}
