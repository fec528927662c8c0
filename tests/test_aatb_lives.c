/* test_aatb_lives.c - clients of aatb that share a gate, in random lives: held against slow books that keep every
 * report in a list, and that nobody ever gets stuck. */
#include <check.h>
#include <math.h>

#include "tests/client_bench.h"
#include "tests/oracles.h"
#include "tests/suites.h"

enum { CLIENTS = 6, REPORTS = 10000 }; /* reports of the last minute, at most */

#define NEVER INT64_MAX

/* A client, and what by the books it must have. */
struct client {
    struct bench bench;
    policy_time asks_at, ticks_at;
    unsigned sent_in_all;
    int64_t hundredths, sent, reported_at; /* reported_at: -1 never */
    long double tokens;
    policy_time last, paused_until, refused_at;
};

struct report {
    policy_time at;
    int64_t client, sent;
    bool refused;
};

struct world {
    struct client clients[CLIENTS];
    struct report reports[REPORTS];
    uint64_t report_count; /* a ring */
    uint64_t random;
    double draw, rate; /* what policies draw; calls a second of the backend, as the clients know it */
};

/* In a fork of its own, and large. */
static struct world world;

static uint64_t random_word(void)
{
    return oracle_random(&world.random);
}

static double random_share(void)
{
    return (double)(random_word() >> 11) * 0x1p-53;
}

static void world_begins(uint64_t seed, const char *rate_text, double rate)
{
    world = (struct world){.random = seed, .rate = rate};
    for (int i = 0; i < CLIENTS; i++) {
        struct client *client = &world.clients[i];
        client->bench = bench_of("aatb", "server_rate", rate_text, NULL);
        client_init(&client->bench);
        if (i > 0)
            client->bench.self.shared = world.clients[0].bench.self.shared;
        client->asks_at = client->ticks_at = (policy_time)(random_word() % (uint64_t)(10 * S));
        client->hundredths = 67;
        client->tokens = 1;
        client->last = client->asks_at;
        client->reported_at = client->refused_at = -1;
    }
}

static void world_ends(void)
{
    for (int i = 0; i < CLIENTS; i++)
        bench_free(&world.clients[i].bench);
}

/* The client whose turn it is, and whether it wakes up, which goes first, or asks. */
static struct client *next_client(bool *wakes)
{
    struct client *next = NULL;
    policy_time earliest = NEVER;
    for (int i = 0; i < CLIENTS; i++) {
        struct client *client = &world.clients[i];
        policy_time at = client->ticks_at <= client->asks_at ? client->ticks_at : client->asks_at;
        if (at < earliest) {
            next = client;
            earliest = at;
        }
    }
    *wakes = next->ticks_at == earliest;
    world.draw = random_share();
    client_draws(world.draw);
    return next;
}

/* --- the books --------------------------------------------------------------------------------------------------- */

static void book_time(struct client *client, policy_time now)
{
    client->tokens += (long double)(now - client->last) * (long double)client->hundredths / 1e11L;
    client->tokens = client->tokens < 40 ? client->tokens : 40;
    client->last = now;
}

struct totals {
    int64_t sent, refused, active;
};

/* Everything that counts at this moment, from the list. A second is a cell. */
static struct totals book_report(struct client *client, policy_time now, bool refused)
{
    int64_t index = client - world.clients, cell = now / S;
    bool active[CLIENTS] = {false};
    struct totals totals = {0};
    world.reports[world.report_count++ % REPORTS] = (struct report){now, index, client->sent, refused};
    client->reported_at = now;
    for (uint64_t i = world.report_count; i-- > 0;) {
        const struct report *report = &world.reports[i % REPORTS];
        if (report->at / S <= cell - 60)
            break;
        ck_assert(world.report_count - i < REPORTS);
        active[report->client] = true;
        if (report->at / S > cell - 30) {
            totals.sent += report->sent;
            totals.refused += report->refused;
        }
    }
    for (int i = 0; i < CLIENTS; i++)
        totals.active += active[i];
    return totals;
}

static int64_t rounded(long double hundredths)
{
    int64_t whole = (int64_t)floorl(hundredths + 0.5L + 1e-9L);
    return whole > 1 ? whole : 1;
}

static void book_pause(struct client *client, policy_time now, double length)
{
    policy_time until = now + (policy_time)llround(length * 1e9);
    client->paused_until = until > client->paused_until ? until : client->paused_until;
}

static void book_refusal(struct client *client, policy_time now)
{
    struct totals totals = book_report(client, now, true);
    long double mean = (long double)totals.sent / (long double)totals.active;
    book_pause(client, now, (double)totals.refused / world.rate + world.draw);
    client->hundredths = rounded((long double)client->hundredths / ((long double)client->sent < mean / 2 ? 2 : 3));
    client->tokens = 1.1L;
    client->refused_at = now;
    client->sent = 0;
}

static void book_regular(struct client *client, policy_time now)
{
    struct totals totals;
    long double mean, factor;
    if (client->refused_at >= 0 && now - client->refused_at < 30 * S)
        return;
    totals = book_report(client, now, false);
    mean = (long double)totals.sent / (long double)totals.active;
    factor = (long double)client->sent < 0.75L * mean || totals.active == 1 ? 1.4L : 1.2L;
    client->sent = 0;
    if (totals.refused > 0) {
        book_pause(client, now, 28 + 4 * world.draw);
        return;
    }
    factor = fmaxl((long double)client->hundredths + 1, factor * (long double)client->hundredths);
    client->hundredths = rounded(factor);
    ck_assert_double_eq(bench_gauge(&client->bench, "active"), (double)totals.active);
}

static void same_as_booked(const struct client *client)
{
    ck_assert_double_eq(bench_gauge(&client->bench, "rate"), (double)client->hundredths / 100);
    ck_assert_double_eq_tol(bench_gauge(&client->bench, "tokens"), (double)client->tokens, 1e-9);
}

/* --- a life ------------------------------------------------------------------------------------------------------ */

static void client_wakes(struct client *client)
{
    policy_time now = client->ticks_at;
    bool begins = now == client->asks_at && client->last == now && client->reported_at < 0;
    client->ticks_at = client_ticks(&client->bench, now);
    ck_assert_int_eq(client->ticks_at, now + 30 * S);
    book_time(client, now);
    if (!begins)
        book_regular(client, now);
    same_as_booked(client);
}

/* It asks; true: it was let in. Held, it comes back when it was told. */
static bool client_tries(struct client *client)
{
    policy_time now = client->asks_at, wait = client_asks(&client->bench, &client->bench.call, now);
    book_time(client, now);
    if (wait == LET_IN) {
        ck_assert_int_ge(now, client->paused_until);
        ck_assert_double_gt((double)client->tokens, 1 - 1e-9);
        client->tokens -= 1;
        client->sent++;
        client->sent_in_all++;
        same_as_booked(client);
        return true;
    }
    if (now < client->paused_until)
        ck_assert_int_eq(wait, client->paused_until - now > POLICY_LEAST ? client->paused_until - now : POLICY_LEAST);
    else
        ck_assert_double_lt((double)client->tokens, 1);
    ck_assert_int_le(now + wait,
                     client->paused_until > client->ticks_at ? client->paused_until : client->ticks_at + POLICY_LEAST);
    client->asks_at += wait;
    return false;
}

static void client_hears(struct client *client, bool refused, policy_time rest)
{
    policy_time now = client->asks_at;
    client_ends(&client->bench, &client->bench.call, now, refused ? POLICY_OVERLOAD : POLICY_DONE);
    if (refused)
        book_refusal(client, now);
    same_as_booked(client);
    client->asks_at = now + rest;
}

START_TEST(against_lists_of_reports)
{
    static const char *const texts[] = {"50/min", "3/s"};
    static const double rates[] = {50.0 / 60, 3};
    for (uint64_t seed = 1; seed <= 12; seed++) {
        unsigned sent = 0;
        world_begins(seed, texts[seed % 2], rates[seed % 2]);
        for (int step = 0; step < 6000; step++) {
            bool wakes;
            struct client *client = next_client(&wakes);
            if (wakes)
                client_wakes(client);
            else if (client_tries(client))
                client_hears(client, random_share() < (double)(seed % 4) / 8,
                             (policy_time)(random_word() % (uint64_t)(6 * S)));
        }
        for (int i = 0; i < CLIENTS; i++)
            sent += world.clients[i].sent_in_all;
        ck_assert_uint_gt(sent, 500);
        world_ends();
    }
}
END_TEST

/* --- nobody gets stuck ------------------------------------------------------------------------------------------- */

/* Everybody is refused for a while, up to 21 min, and then nobody: each has been let in again 62 s after its pause was
 * over, or the last refusal forgotten, and each rate is back at what it began with within 50 reports. */
START_TEST(comes_back_from_the_bottom)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        policy_time good_from = (policy_time)(60 + 60 * seed) * S, last_pause = 0, now = 0;
        bool back[CLIENTS] = {false}, known = false;
        world_begins(seed, "50/min", 50.0 / 60);
        while (now < good_from + 1500 * S) {
            bool wakes;
            struct client *client = next_client(&wakes);
            now = wakes ? client->ticks_at : client->asks_at;
            if (now >= good_from && !known) {
                known = true;
                for (int i = 0; i < CLIENTS; i++)
                    if (world.clients[i].paused_until > last_pause)
                        last_pause = world.clients[i].paused_until;
            }
            if (wakes) {
                client_wakes(client);
            } else if (client_tries(client)) {
                if (now >= good_from) {
                    back[client - world.clients] = true;
                    ck_assert(known);
                }
                client_hears(client, now < good_from, 2 * S);
            }
            if (now > (last_pause > good_from + 30 * S ? last_pause : good_from + 30 * S) + 62 * S)
                for (int i = 0; i < CLIENTS && known; i++)
                    ck_assert_msg(back[i], "client %d is not back at %.3f s, good from %.3f s", i, (double)now / S,
                                  (double)good_from / S);
        }
        for (int i = 0; i < CLIENTS; i++)
            ck_assert_double_ge(bench_gauge(&world.clients[i].bench, "rate"), 0.67);
        world_ends();
    }
}
END_TEST

/* Two of them are refused for ever. The others have to pause again and again, as every report tells of refusals; yet
 * they go on sending, since a pause may be shorter than the time between reports. */
START_TEST(others_refusals_do_not_starve)
{
    unsigned least = UINT32_MAX;
    policy_time now = 0;
    world_begins(5, "50/min", 50.0 / 60);
    while (now < 100 * 1800 * S / 10) {
        bool wakes;
        struct client *client = next_client(&wakes);
        now = wakes ? client->ticks_at : client->asks_at;
        if (wakes)
            client_wakes(client);
        else if (client_tries(client))
            client_hears(client, client - world.clients < 2, 100 * MS);
    }
    for (int i = 2; i < CLIENTS; i++)
        least = world.clients[i].sent_in_all < least ? world.clients[i].sent_in_all : least;
    ck_assert_msg(least > 100, "%u calls in 600 reports", least);
    world_ends();
}
END_TEST

Suite *aatb_lives_suite(void)
{
    Suite *suite = suite_create("aatb_lives");
    TCase *test = tcase_create("lives");
    tcase_add_test(test, against_lists_of_reports);
    tcase_add_test(test, comes_back_from_the_bottom);
    tcase_add_test(test, others_refusals_do_not_starve);
    suite_add_tcase(suite, test);
    return suite;
}
