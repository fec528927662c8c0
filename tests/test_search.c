/* test_search.c - the search over sizes, with judges whose verdicts are known, and the sides of an interval. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/study/search.h"
#include "tests/suites.h"

enum { SIZES_MOST = 200 };

/* The verdict of each size as a letter: `+` meets, `?` undecided, else the goals that it misses: a, b, or * for both.
 */
struct judge {
    const char *truth;
    size_t asked, gives_up_at;
    bool twice[SIZES_MOST];
};

static bool judge(void *context, size_t size, struct search_rung *rung)
{
    struct judge *one = context;
    char truth = one->truth[size];

    ck_assert(!one->twice[size]); /* what is known is not asked again */
    one->twice[size] = true;
    if (++one->asked == one->gives_up_at)
        return false;
    rung->verdict = truth == '+' ? SEARCH_MEETS : truth == '?' ? SEARCH_UNDECIDED : SEARCH_MISSES;
    rung->missed = truth == 'a' ? 1u : truth == 'b' ? 2u : truth == '*' ? 3u : 0;
    return true;
}

/* Runs the search; answer and miss, -1: none. */
static bool find(struct judge *one, bool largest, int *answer, int *miss)
{
    struct search_rung rungs[SIZES_MOST] = {{0}};
    struct search search = {
        .count = strlen(one->truth), .largest = largest, .judge = judge, .context = one, .rungs = rungs};
    bool done = search_run(&search);

    *answer = search.answer == search.count ? -1 : (int)search.answer;
    *miss = search.miss == search.count ? -1 : (int)search.miss;
    return done;
}

/* Every place where the verdict may turn, of every count up to 40, and some of 199. */
START_TEST(one_turn)
{
    char truth[SIZES_MOST] = "";

    for (int count = 1; count < SIZES_MOST; count += count < 40 ? 1 : 53)
        for (int turn = 0; turn <= count; turn++)
            for (int largest = 0; largest < 2; largest++) {
                struct judge one = {.truth = truth};
                int answer, miss;

                memset(truth, largest ? '+' : 'a', (size_t)turn);
                memset(truth + turn, largest ? 'a' : '+', (size_t)(count - turn));
                truth[count] = '\0';
                ck_assert(find(&one, largest, &answer, &miss));
                if (largest ? turn == 0 : turn == count) {
                    ck_assert_int_eq(answer, -1);
                } else {
                    ck_assert_int_eq(answer, largest ? turn - 1 : turn);
                    ck_assert_int_eq(miss, largest ? (turn == count ? -1 : turn) : turn - 1);
                }
                ck_assert_uint_le(one.asked, 2 + 2 * (size_t)ceil(log2(count + 1)));
            }
}
END_TEST

START_TEST(where_it_is_not_so_simple)
{
    static const struct {
        const char *truth;
        bool largest;
        int answer, miss;
    } cases[] = {
        {"+++++??aaaa", true, 4, 7},  /* undecided ones are passed to the first that surely misses */
        {"+++++??????", true, 4, -1}, /* there is none */
        {"aaaa??+++++", false, 6, 3},  {"??+++++++++", false, 2, -1},
        {"???????????", true, -1, -1}, {"aaaaa+bbbbbb", true, 5, 6},   /* between rungs that miss different goals */
        {"aaaaa++bbbbb", false, 5, 4}, {"aaaaa*bbbbbb", true, -1, -1}, /* nothing there meets both */
        {"aa++++++++aa", true, 9, 10},                                 /* begins to meet on the ladder, and ceases */
        {"aa++++++++++", false, 2, 1}, {"+", true, 0, -1},
        {"a", false, -1, -1},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct judge one = {.truth = cases[i].truth};
        int answer, miss;

        ck_assert(find(&one, cases[i].largest, &answer, &miss));
        ck_assert_msg(answer == cases[i].answer && miss == cases[i].miss, "%s: %d and %d", cases[i].truth, answer,
                      miss);
    }
}
END_TEST

/* Wherever the judge gives up, the search does, and asks nothing more. */
START_TEST(a_judge_that_gives_up)
{
    static const char truth[] = "+++++++++++++?aaaaaaaaaaaaaaaa";
    struct judge whole = {.truth = truth};
    int answer, miss;

    ck_assert(find(&whole, true, &answer, &miss));
    for (size_t at = 1; at <= whole.asked; at++) {
        struct judge one = {.truth = truth, .gives_up_at = at};

        ck_assert(!find(&one, true, &answer, &miss));
        ck_assert_uint_eq(one.asked, at);
    }
}
END_TEST

START_TEST(sides)
{
    const struct search_goal most = {true, 10, 0.2}, least = {false, 10, 0.2};
    struct estimate estimate = {9.5, 0, 10};

    /* a 95 % half-width of 2.262157 standard errors; at 99 % it is 3.249836 */
    estimate.half_width = 2.262157 * 0.1;
    ck_assert_double_eq_tol(search_half_width(estimate, 0.99), 0.3249836, 1e-6);
    ck_assert_int_eq(search_side(estimate, 0.99, &most), SEARCH_MEETS);
    ck_assert_int_eq(search_side(estimate, 0.99, &least), SEARCH_MISSES);
    estimate.half_width = 2.262157 * 0.2;
    ck_assert_int_eq(search_side(estimate, 0.95, &most), SEARCH_MEETS);
    ck_assert_int_eq(search_side(estimate, 0.99, &most), SEARCH_UNTRIED); /* 0.65 to either side */
    estimate.mean = 10.05;
    estimate.half_width = 2.262157 * 0.05;
    ck_assert_int_eq(search_side(estimate, 0.99, &most), SEARCH_UNDECIDED); /* 0.16: narrow enough */
    estimate.mean = 10.2;
    ck_assert_int_eq(search_side(estimate, 0.99, &most), SEARCH_MISSES);
    ck_assert_int_eq(search_side(estimate, 0.99, &least), SEARCH_MEETS);
    ck_assert_int_eq(search_side((struct estimate){10, 0, 10}, 0.99, &most), SEARCH_MEETS); /* at most is met by it */
    ck_assert_int_eq(search_side((struct estimate){9, NAN, 1}, 0.99, &most), SEARCH_UNTRIED);
    ck_assert_int_eq(search_side((struct estimate){NAN, NAN, 0}, 0.99, &most), SEARCH_UNTRIED);
}
END_TEST

Suite *search_suite(void)
{
    Suite *suite = suite_create("search");
    TCase *test = tcase_create("search");

    tcase_add_test(test, one_turn);
    tcase_add_test(test, where_it_is_not_so_simple);
    tcase_add_test(test, a_judge_that_gives_up);
    tcase_add_test(test, sides);
    suite_add_tcase(suite, test);
    return suite;
}
