/* test_stream.c - the ground everything random stands on: the assert, exp and log, Philox, streams, ziggurats. */
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gsl/gsl_randist.h>

#include "sim/engine/number.h"
#include "sim/engine/stream.h"
#include "sim/engine/stream_gsl.h"
#include "sim/engine/where.h"
#include "sim/engine/ziggurat.h"
#include "tests/goodness.h"
#include "tests/suites.h"

#define DRAWS 1000000

static const struct stream_key key = {.seed = 20240607, .replication = 3};
static const struct stream_address address = {.purpose = 7, .kind = 2, .entity = 41, .turn = 5, .attempt = 1};

/* What a failed assert writes to stderr. */
static size_t last_words(const struct sim_where *where, char *text, size_t size)
{
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        SIM_ASSERT(where, 1 + 1 == 2);
        SIM_ASSERT(where, 1 + 1 == 3);
        _exit(0);
    }
    close(ends[1]);
    size_t length = 0;
    for (ssize_t got; (got = read(ends[0], text + length, size - 1 - length)) > 0;)
        length += (size_t)got;
    text[length] = '\0';
    close(ends[0]);
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    return length;
}

START_TEST(assert_names_the_moment)
{
    char text[500];
    struct sim_where where = {.now = 12 * SIM_SECOND + 34, .event = 567, .seed = UINT64_MAX, .replication = 8};
    last_words(&where, text, sizeof text);
    ck_assert_ptr_nonnull(strstr(text, "test_stream.c:"));
    ck_assert_ptr_nonnull(strstr(text, "1 + 1 == 3"));
    ck_assert_ptr_nonnull(strstr(text, "at 12.000000034 s, event 567, seed 18446744073709551615, replication 8"));
    last_words(NULL, text, sizeof text);
    ck_assert_ptr_nonnull(strstr(text, "1 + 1 == 3"));
    ck_assert_ptr_null(strstr(text, "replication"));
}
END_TEST

static double relative_error(double got, double wanted)
{
    return fabs(got - wanted) / fabs(wanted);
}

START_TEST(exp_and_log_have_the_recorded_bits)
{
    struct stream stream = stream_open(key, address);
    uint64_t exps = GOODNESS_DIGEST, logs = GOODNESS_DIGEST, gammas = GOODNESS_DIGEST;
    for (int i = 0; i < 100000; i++) {
        double x = 200 * stream_uniform(&stream) - 150;
        double y = ldexp(1 + stream_uniform(&stream), i % 120 - 80);
        ck_assert_double_lt(relative_error(sim_exp(x), exp(x)), 4e-16);
        ck_assert_double_lt(fabs(sim_log(y) - log(y)), 4e-16 * fmax(fabs(log(y)), 1e-3));
        exps = goodness_digest_double(exps, sim_exp(x));
        logs = goodness_digest_double(logs, sim_log(y));
        gammas = goodness_digest_double(gammas, sim_lgamma(y));
    }
    ck_assert_uint_eq(exps, UINT64_C(0x391b4fcc9ac8fd05));
    ck_assert_uint_eq(logs, UINT64_C(0x66db7c408a48579a));
    ck_assert_uint_eq(gammas, UINT64_C(0xb270809e3aed6d8b));
}
END_TEST

START_TEST(exp_and_log_at_the_edges)
{
    ck_assert(sim_exp(0) == 1 && sim_log(1) == 0);
    ck_assert(sim_exp(-INFINITY) == 0 && sim_exp(-1e6) == 0);
    ck_assert(isinf(sim_exp(1e6)) && isinf(sim_exp(INFINITY)));
    ck_assert(isinf(sim_log(0)) && sim_log(0) < 0);
    ck_assert(isinf(sim_log(INFINITY)));
    ck_assert_double_lt(relative_error(sim_log(5e-324), -744.4400719213812), 1e-15);
}
END_TEST

/* The known answers that Random123 publishes for philox4x64 with 10 rounds. */
START_TEST(philox_gives_the_published_answers)
{
    static const struct {
        uint64_t counter[4], key[2], words[4];
    } answers[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x16554d9eca36314c, 0xdb20fe9d672d0fdc, 0xd7e772cee186176b, 0x7e68b68aec7ba23b}},
        {{UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX},
         {UINT64_MAX, UINT64_MAX},
         {0x87b092c3013fe90b, 0x438c3c67be8d0224, 0x9cc7d7c69cd777b6, 0xa09caebf594f0ba0}},
        {{0x243f6a8885a308d3, 0x13198a2e03707344, 0xa4093822299f31d0, 0x082efa98ec4e6c89},
         {0x452821e638d01377, 0xbe5466cf34e90c6c},
         {0xa528f45403e61d95, 0x38c72dbd566e9788, 0xa5a1610e72fd18b5, 0x57bd43b5e52b7fe6}},
    };
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        struct stream stream = {.left = 0};
        memcpy(stream.key, answers[i].key, sizeof stream.key);
        memcpy(stream.counter, answers[i].counter, sizeof stream.counter);
        for (size_t word = 0; word < 4; word++)
            ck_assert_uint_eq(stream_next(&stream), answers[i].words[word]);
    }
}
END_TEST

START_TEST(a_stream_is_its_address)
{
    uint64_t block[4];
    stream_block(key, address, block);
    struct stream stream = stream_open(key, address);
    ck_assert_uint_eq(stream.left, 0);
    ck_assert_uint_eq(stream.counter[0], UINT64_C(7) << 48 | UINT64_C(2) << 32);
    for (size_t i = 0; i < 4; i++)
        ck_assert_uint_eq(stream_next(&stream), block[i]);
    ck_assert_uint_ne(stream_next(&stream), block[0]);
    ck_assert_uint_eq(stream.counter[0], UINT64_C(7) << 48 | UINT64_C(2) << 32 | 2);

    for (int field = 0; field < 7; field++) {
        struct stream_key other_key = key;
        struct stream_address other = address;
        uint64_t words[4];
        other_key.seed += field == 0;
        other_key.replication += field == 1;
        other.purpose += field == 2;
        other.kind += field == 3;
        other.entity += field == 4;
        other.turn += field == 5;
        other.attempt += field == 6;
        stream_block(other_key, other, words);
        for (size_t i = 0; i < 4; i++)
            ck_assert_uint_ne(words[i], block[i]);
    }
}
END_TEST

START_TEST(given_words_come_first)
{
    static const uint64_t given[4] = {11, 22, 33, 44};
    uint64_t block[4];
    stream_block(key, address, block);
    for (unsigned count = 0; count <= 4; count++) {
        struct stream stream = stream_open_with(key, address, given, count);
        for (unsigned i = 0; i < count; i++)
            ck_assert_uint_eq(stream_next(&stream), given[i]);
        for (unsigned i = 0; i < 4; i++)
            ck_assert_uint_eq(stream_next(&stream), block[i]);
    }
}
END_TEST

START_TEST(uniforms_stay_inside)
{
    ck_assert(stream_unit(0) == 0 && stream_unit(UINT64_MAX) == 1 - 0x1p-53);
    ck_assert(stream_unit_open(0) == 0x1p-53 && stream_unit_open(UINT64_MAX) == 1 - 0x1p-53);
}
END_TEST

START_TEST(gsl_sees_the_same_stream)
{
    gsl_rng *rng = gsl_rng_alloc(stream_gsl_type());
    struct stream stream = stream_open(key, address);
    stream_gsl_open(rng, key, address);
    for (int i = 0; i < 9; i++)
        ck_assert_uint_eq(gsl_rng_get(rng), stream_next(&stream));
    ck_assert(gsl_rng_uniform(rng) == stream_uniform(&stream));

    gsl_rng_set(rng, 5);
    stream = stream_open((struct stream_key){.seed = 5}, (struct stream_address){0});
    ck_assert_uint_eq(gsl_rng_get(rng), stream_next(&stream));

    struct goodness goodness = {.count = 0};
    for (int i = 0; i < DRAWS / 10; i++)
        goodness_add(&goodness, gsl_cdf_beta_P(gsl_ran_beta(rng, 2, 3), 2, 3));
    goodness_assert(&goodness, "GSL's beta sampler");
    gsl_rng_free(rng);
}
END_TEST

/* Every entry from the one before it, in long double: two roundings apart at the most. */
static void check_layers(const struct ziggurat *layers, long double area, long double (*density)(long double),
                         long double (*inverse)(long double))
{
    const double *x = layers->x, *f = layers->f;
    ck_assert_double_lt(relative_error(x[0], (double)(area / density(x[1]))), 1e-15);
    for (size_t i = 0; i <= ZIGGURAT_LAYERS; i++)
        ck_assert_double_lt(relative_error(f[i], (double)density(x[i])), 1e-15);
    for (size_t i = 1; i < ZIGGURAT_LAYERS - 1; i++)
        ck_assert_double_lt(relative_error(x[i + 1], (double)inverse(density(x[i]) + area / x[i])), 1e-15);
    long double top = density(x[ZIGGURAT_LAYERS - 1]) + area / x[ZIGGURAT_LAYERS - 1];
    ck_assert_double_lt(relative_error((double)top, 1), 1e-15);
    ck_assert(x[ZIGGURAT_LAYERS] == 0 && f[ZIGGURAT_LAYERS] == 1);
}

static long double falling(long double x)
{
    return expl(-x);
}

static long double falling_inverse(long double y)
{
    return -logl(y);
}

static long double bell(long double x)
{
    return expl(-x * x / 2);
}

static long double bell_inverse(long double y)
{
    return sqrtl(-2 * logl(y));
}

START_TEST(ziggurat_tables_solve_their_equations)
{
    long double r = ziggurat_exponential.x[1];
    check_layers(&ziggurat_exponential, (r + 1) * expl(-r), falling, falling_inverse);
    r = ziggurat_normal.x[1];
    long double tail = sqrtl(acosl(-1) / 2) * erfcl(r / sqrtl(2));
    check_layers(&ziggurat_normal, r * bell(r) + tail, bell, bell_inverse);
}
END_TEST

/* Sums of the first four powers, held against the distribution's own within four standard errors. */
static void check_moments(const double sums[4], const double moments[8], const char *what)
{
    for (size_t k = 0; k < 4; k++) {
        double variance = moments[2 * k + 1] - moments[k] * moments[k];
        double z = (sums[k] / DRAWS - moments[k]) / sqrt(variance / DRAWS);
        ck_assert_msg(fabs(z) < 4, "%s: moment %d is off by z = %g", what, (int)k + 1, z);
    }
}

static void add_powers(double sums[4], double x)
{
    double power = 1;
    for (size_t k = 0; k < 4; k++)
        sums[k] += power *= x;
}

/* A stream whose first word lies at the far end of the base layer: the next draw comes from the tail. */
static struct stream open_in_tail(uint64_t entity)
{
    static const uint64_t far = UINT64_MAX << 9;
    return stream_open_with(key, (struct stream_address){.purpose = 9, .entity = entity}, &far, 1);
}

START_TEST(tails_have_the_right_shape)
{
    const double r_exponential = ziggurat_exponential.x[1], r_normal = ziggurat_normal.x[1];
    struct goodness exponential = {.count = 0}, normal = {.count = 0};
    for (uint64_t i = 0; i < DRAWS / 2; i++) {
        struct stream stream = open_in_tail(i);
        goodness_add(&exponential, -expm1(r_exponential - stream_exponential(&stream)));
        stream = open_in_tail(i);
        goodness_add(&normal, gsl_cdf_ugaussian_Q(stream_normal(&stream)) / gsl_cdf_ugaussian_Q(r_normal));
    }
    goodness_assert(&exponential, "exponential tail");
    goodness_assert(&normal, "normal tail");
}
END_TEST

START_TEST(exponentials_are_exponential)
{
    static const double moments[8] = {1, 2, 6, 24, 120, 720, 5040, 40320};
    static const double beyond[] = {1e-6, 1e-4, 1e-2, 5, 7.7, 9, 11};
    enum { POINTS = sizeof beyond / sizeof *beyond };
    struct goodness body = {.count = 0};
    struct stream stream = stream_open(key, address);
    double sums[4] = {0};
    uint64_t counts[POINTS] = {0};
    for (int i = 0; i < DRAWS; i++) {
        double x = stream_exponential(&stream);
        ck_assert_double_gt(x, 0);
        goodness_add(&body, -expm1(-x));
        add_powers(sums, x);
        for (size_t k = 0; k < POINTS; k++)
            counts[k] += x > beyond[k];
    }
    goodness_assert(&body, "exponential");
    check_moments(sums, moments, "exponential");
    for (size_t k = 0; k < POINTS; k++)
        goodness_assert_count(counts[k], DRAWS, exp(-beyond[k]), "exponential beyond a point");
}
END_TEST

START_TEST(normals_are_normal)
{
    static const double moments[8] = {0, 1, 0, 3, 0, 15, 0, 105};
    static const double beyond[] = {-4.2, -3.7, -3, -1, -1e-4, 0, 1e-4, 1, 3, 3.7, 4.2};
    enum { POINTS = sizeof beyond / sizeof *beyond };
    struct goodness body = {.count = 0};
    struct stream stream = stream_open(key, address);
    double sums[4] = {0};
    uint64_t counts[POINTS] = {0};
    for (int i = 0; i < DRAWS; i++) {
        double z = stream_normal(&stream);
        goodness_add(&body, gsl_cdf_ugaussian_P(z));
        add_powers(sums, z);
        for (size_t k = 0; k < POINTS; k++)
            counts[k] += z > beyond[k];
    }
    goodness_assert(&body, "normal");
    check_moments(sums, moments, "normal");
    for (size_t k = 0; k < POINTS; k++)
        goodness_assert_count(counts[k], DRAWS, gsl_cdf_ugaussian_Q(beyond[k]), "normal beyond a point");
}
END_TEST

/* Addresses that differ in one bit must not show it: pairs of first draws fill the unit square evenly. */
START_TEST(neighbouring_streams_are_independent)
{
    struct goodness pairs = {.count = 0};
    for (uint64_t entity = 0; entity < DRAWS / 2; entity++) {
        struct stream_address here = {.purpose = 1, .entity = entity}, next = {.purpose = 1, .entity = entity + 1};
        struct stream a = stream_open(key, here), b = stream_open(key, next);
        double x = -expm1(-stream_exponential(&a)), y = -expm1(-stream_exponential(&b));
        goodness_add(&pairs, (floor(x * 25) + floor(y * 20) * 25 + 0.5) / GOODNESS_CELLS);
    }
    goodness_assert(&pairs, "first draws of entities beside each other");
}
END_TEST

Suite *stream_suite(void)
{
    Suite *suite = suite_create("stream");
    TCase *ground = tcase_create("ground");
    tcase_add_test(ground, assert_names_the_moment);
    tcase_add_test(ground, exp_and_log_have_the_recorded_bits);
    tcase_add_test(ground, exp_and_log_at_the_edges);
    suite_add_tcase(suite, ground);
    TCase *streams = tcase_create("streams");
    tcase_add_test(streams, philox_gives_the_published_answers);
    tcase_add_test(streams, a_stream_is_its_address);
    tcase_add_test(streams, given_words_come_first);
    tcase_add_test(streams, uniforms_stay_inside);
    tcase_add_test(streams, gsl_sees_the_same_stream);
    suite_add_tcase(suite, streams);
    TCase *ziggurats = tcase_create("ziggurats");
    tcase_add_test(ziggurats, ziggurat_tables_solve_their_equations);
    tcase_add_test(ziggurats, tails_have_the_right_shape);
    tcase_add_test(ziggurats, exponentials_are_exponential);
    tcase_add_test(ziggurats, normals_are_normal);
    tcase_add_test(ziggurats, neighbouring_streams_are_independent);
    suite_add_tcase(suite, ziggurats);
    return suite;
}
