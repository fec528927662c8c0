/* test_changes_read.c - the list `changes:` as it is read: what users get wrong, sweeps, --set and --policy, the hash,
 * and what weir check prints. */
#include <stdlib.h>
#include <string.h>

#include "models/describe.h"
#include "tests/changes_fixture.h"
#include "tests/suites.h"

/* --- mistakes ----------------------------------------------------------------------------------------------------- */

static const struct mistake {
    const char *item, *place, *words;
} mistakes[] = {
    /* the item */
    {"{set: agents.coder.population, to: 3}", "17:5", "changes: needs at: a time from 0 s to 25000 d"},
    {"{at: 3, set: agents.coder.population, to: 3}", "17:10", "needs its unit"},
    {"{at: inf, set: agents.coder.population, to: 3}", "17:10", "from 0 s to 25000 d"},
    {"{at: 3 s, to: 3}", "17:5", "changes: needs set: a text"},
    {"{at: 3 s, set: agents.coder.population}", "17:5", "changes: needs to: a text"},
    {"{at: 3 s, set: agents.coder.population, to: [3]}", "17:49", "found a list"},
    {"{at: 3 s, set: agents.coder.population, to: 3, why: x}", "17:52",
     "unknown key 'why', expected one of: at, set, to, reason"},
    {"[3 s, agents.coder.population, 3]", "17:5", "expected a mapping"},
    {"", "17:4", "changes: expected a mapping, as in {key: value}, found nothing"},
    {"{at: 3 s, set: agents.coder.population, to: 3, skip: maybe}", "17:58", "true or false, found 'maybe'"},
    /* the address */
    {"{at: 3 s, set: study.horizon, to: 3 s}", "17:20", "study.horizon does not change while a run goes on"},
    {"{at: 3 s, set: coder.population, to: 3}", "17:20", "did you mean agents.coder.population?"},
    {"{at: 3 s, set: codel.target, to: 3}", "17:20", "did you mean policies.codel.target?"},
    {"{at: 3 s, set: agents.coder, to: 3}", "17:20", "expected a key behind the name"},
    {"{at: 3 s, set: agents.codr.population, to: 3}", "17:20", "did you mean coder?"},
    {"{at: 3 s, set: agents.coder.output, to: 3}", "17:20",
     "output of coder is not live: expected one of population, arrivals, think"},
    {"{at: 3 s, set: agents.coder.client.base, to: 3 s}", "17:20", "client.base of coder is not live"},
    {"{at: 3 s, set: agents.coder.populaton, to: 3}", "17:20",
     "coder has no key populaton: expected one of population, arrivals, think; did you mean population?"},
    {"{at: 3 s, set: backends.poo.errors, to: 3 %}", "17:20",
     "there is no backend poo: expected one of pool, key2, card; did you mean pool?"},
    {"{at: 3 s, set: backends.key2.errors, to: 3 %}", "17:20",
     "key2 is another key of pool: expected backends.pool.errors"},
    {"{at: 3 s, set: backends.card.rate, to: 3/s}", "17:20", "kind slots"},
    {"{at: 3 s, set: backends.pool.preset, to: pilot}", "17:20",
     "preset of pool is not live: expected one of meters.METER.limit, meters.METER.burst, latency.base, "
     "latency.per_input, latency.per_cached, latency.per_output, retry_after, errors, strangers.calls"},
    {"{at: 3 s, set: backends.pool.meters.requests.fill, to: step}", "17:20",
     "meters.requests.fill of pool is not live"},
    {"{at: 3 s, set: backends.pool.latency.noise, to: 1}", "17:20", "latency.noise of pool is not live"},
    {"{at: 3 s, set: backends.pool.lateny.base, to: 1 s}", "17:20", "pool has no key lateny.base: expected one of"},
    {"{at: 3 s, set: backends.pool.meters.output, to: 1/s}", "17:20",
     "pool has no meter output: expected one of requests, input, total, in_flight"},
    {"{at: 3 s, set: backends.pool.meters.total.limit, to: 1/s}", "17:20", "its limit moves by itself"},
    {"{at: 3 s, set: backends.pool.meters.input.burst, to: 1M}", "17:20", "each window begins anew"},
    {"{at: 3 s, set: backends.pool.meters.in_flight.burst, to: 3}", "17:20",
     "meters.in_flight.burst of pool is not live"},
    {"{at: 3 s, set: backends.pool.strangers.calls, to: poisson(1/s)}", "17:20", "pool has no strangers"},
    {"{at: 3 s, set: policies.cappd.cap, to: 3}", "17:20", "did you mean capped?"},
    {"{at: 3 s, set: policies.both.cap, to: 3}", "17:20",
     "policies.both.cap: expected MEMBER.KEY with one of the members fixed_cap, token_bucket"},
    {"{at: 3 s, set: policies.capped.target, to: 3}", "17:20", "fixed_cap has no key target: expected one of cap"},
    {"{at: 3 s, set: policies.capped.scope, to: all}", "17:20", "scope of fixed_cap is not live: expected one of cap"},
    {"{at: 3 s, set: policies.unbounded.cap, to: 3}", "17:20",
     "unbounded has no key cap: nothing of it may be set while a run goes on"},
    {"{at: 3 s, set: policies.codel.law, to: persist}", "17:20",
     "law of codel is not live: expected one of target, interval"},
    {"{at: 3 s, set: policies.codel.intervl, to: 1 s}", "17:20", "did you mean interval?"},
    {"{at: 3 s, set: policies.*.fixed_ca.cap, to: 3}", "17:20",
     "no alternative has a member fixed_ca: expected policies.*.MEMBER.KEY with one of the members unbounded, "
     "fixed_cap, codel, token_bucket; did you mean fixed_cap?"},
    {"{at: 3 s, set: policies.*.cap, to: 3}", "17:20", "policies.*.MEMBER.KEY"},
    {"{at: 3 s, set: policies.*., to: 3}", "17:20", "policies.*.: expected policies.*.MEMBER.KEY"},
    {"{at: 3 s, set: policies.*.fixed_cap, to: 3}", "17:20",
     "policies.*.fixed_cap: expected a key behind the member's name, as in MEMBER.KEY"},
    {"{at: 3 s, set: policies.*.fixed_cap., to: 3}", "17:20", "expected a key behind the member's name"},
    {"{at: 3 s, set: policies.codel, to: 3}", "17:20",
     "policies.codel: expected a key behind the label, as in policies.LABEL.KEY"},
    {"{at: 3 s, set: policies.both, to: 3}", "17:20", "as in policies.LABEL.MEMBER.KEY"},
    {"{at: 3 s, set: policies.codel., to: 3}", "17:20", "policies.codel.: expected KEY or MEMBER.KEY with the member"},
    {"{at: 3 s, set: policies.codel.codel, to: 3}", "17:20", "policies.codel.codel: expected a key behind the member"},
    {"{at: 3 s, set: policies.both.fixed_cap, to: 3}", "17:20", "expected a key behind the member's name"},
    {"{at: 3 s, set: policies.capped.codel.cap, to: 3}", "17:20",
     "expected KEY or MEMBER.KEY with the member fixed_cap"},
    {"{at: 3 s, set: policies.both.fixed_cap.fixed_cap.cap, to: 3}", "17:20", "a key behind the member's name"},
    {"{at: 3 s, set: policies.*.fixed_cap.cp, to: 3}", "17:20", "did you mean cap?"},
    /* the value */
    {"{at: 3 s, set: policies.capped.cap, to: 0}", "17:45", "policies.capped.fixed_cap: cap: expected a whole number"},
    {"{at: 3 s, set: policies.*.fixed_cap.cap, to: 2.5}", "17:50",
     "policies.*.fixed_cap: cap: expected a whole number"},
    {"{at: 3 s, set: policies.codel.target, to: 3}", "17:47", "needs its unit"},
    {"{at: 3 s, set: agents.coder.population, to: 0}", "17:49",
     "agents.coder: population: expected a whole number from 1 to 100M"},
    {"{at: 3 s, set: agents.guest.population, to: 3}", "17:20", "guest has no population but arrivals"},
    {"{at: 3 s, set: agents.batch.population, to: 3}", "17:20", "batch has a schedule"},
    {"{at: 3 s, set: agents.coder.arrivals, to: poisson(1/s)}", "17:20", "only a rate changes"},
    {"{at: 3 s, set: agents.guest.arrivals, to: all_at(3 s)}", "17:47", "expected poisson(RATE), as it is one"},
    {"{at: 3 s, set: agents.guest.arrivals, to: poisson(3)}", "17:55", "with a rate above 0"},
    {"{at: 3 s, set: agents.guest.think, to: 3 s}", "17:20", "guest has no think time"},
    {"{at: 3 s, set: agents.coder.think, to: \"exponential(3)\"}", "17:57", "expected a time"},
    {"{at: 3 s, set: backends.pool.meters.requests, to: 3}", "17:55",
     "backends.pool.meters.requests: limit: expected a rate"},
    {"{at: 3 s, set: backends.pool.meters.requests.limit, to: 3 tokens/s}", "17:61", "counts something else"},
    {"{at: 3 s, set: backends.pool.meters.requests.burst, to: 0}", "17:61", "whole number of requests from 1"},
    {"{at: 3 s, set: backends.pool.meters.in_flight, to: 1/s}", "17:56", "a whole number of requests"},
    {"{at: 3 s, set: backends.pool.latency.base, to: 2 d}", "17:52", "backends.pool.latency: base: expected a time"},
    {"{at: 3 s, set: backends.pool.errors, to: 2}", "17:46", "a share from 0 % to 100 %"},
    {"{at: 3 s, set: backends.pool.retry_after, to: exactly}", "17:51", "did you mean exact?"},
};

/* One message, whatever the number of alternatives and points. */
START_TEST(one_mistake)
{
    const struct mistake *mistake = &mistakes[_i];
    const char *place = arena_format(&file.arena, "s.yaml:%s: ", mistake->place);

    ck_assert_msg(!plan_file_read(&file, with(mistake->item), NULL, NULL), "no message for %s", mistake->item);
    const char *said = plan_file_said(&file);
    ck_assert_msg(file.diag.errors == 1, "not one message but\n%s", said);
    ck_assert_msg(strncmp(said, place, strlen(place)) == 0, "%s: expected it at %s", said, place);
    ck_assert_msg(strstr(said, mistake->words) != NULL, "%s: expected the words `%s`", said, mistake->words);
}
END_TEST

/* The same of --set and of a sweep; nobody is told to mean what was written. */
START_TEST(addresses_without_a_key)
{
    static const char *const addresses[] = {"policies.codel",    "policies.codel.",          "policies.codel.codel",
                                            "policies.both",     "policies.both.fixed_cap",  "policies.both.fixed_cap.",
                                            "policies.both.cap", "policies.capped.codel.cap"};
    const char *text = arena_text_of(&file.arena, fleet, strlen(fleet) - strlen("changes:\n"));
    for (size_t i = 0; i < 2 * (sizeof addresses / sizeof *addresses); i++) {
        const char *address = addresses[i / 2];
        const char *const sets[] = {arena_format(&file.arena, i % 2 ? "%s=3" : "sweep={%s: [3, 4]}", address), NULL};
        ck_assert_msg(!plan_file_read(&file, text, sets, NULL), "no message for %s", sets[0]);
        ck_assert_msg(file.diag.errors == 1 && strstr(plan_file_said(&file), address) &&
                          strstr(plan_file_said(&file), "KEY") && !strstr(plan_file_said(&file), "mean codel") &&
                          !strstr(plan_file_said(&file), "mean both"),
                      "%s: %s", sets[0], plan_file_said(&file));
    }
}
END_TEST

START_TEST(no_list)
{
    const char *text = arena_format(&file.arena, "%s  {at: 3 s, set: a, to: 3}\n", fleet);

    ck_assert(!plan_file_read(&file, text, NULL, NULL));
    ck_assert_str_eq(plan_file_said(&file),
                     "s.yaml:17:3: changes: expected a list, such as [{at: 10 min, set: agents.coder.population, to: "
                     "40}], not a mapping");
}
END_TEST

/* No list of a scenario drops what is empty. */
START_TEST(empty_items)
{
    static const char *const sections[] = {"changes: [~]",
                                           "alerts: [~]",
                                           "notes: [~]",
                                           "include: [~]",
                                           "plugin: [~]",
                                           "record: {every: 1 s, file: x.csv, what: [~]}",
                                           "discover: {phases: [~]}",
                                           "sweep: {agents.coder.population: [~]}",
                                           "sweep: {zip: [~]}",
                                           "sweep: {zip: [{agents.coder.population: 3}, ~]}"};
    static const char *const sets[] = {"policies=[unbounded, ~]", "policies=[both: [unbounded, ~]]",
                                       "agents.guest.backend=[card, ~]", "agents.guest.client=[{attempts: 2}, ~]"};
    size_t length = strlen(fleet) - strlen("changes:\n");
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
        const char *text = arena_format(&file.arena, "%.*s%s\n", (int)length, fleet, sections[i]);
        ck_assert_msg(!plan_file_read(&file, text, NULL, NULL), "no message for %s", sections[i]);
        ck_assert_msg(strstr(plan_file_said(&file), "s.yaml:16:") && strstr(plan_file_said(&file), "nothing"), "%s: %s",
                      sections[i], plan_file_said(&file));
    }
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        const char *const one[] = {sets[i], NULL}, *text = arena_text_of(&file.arena, fleet, length);
        ck_assert_msg(!plan_file_read(&file, text, one, NULL), "no message for %s", sets[i]);
        ck_assert_msg(strstr(plan_file_said(&file), "nothing"), "%s: %s", sets[i], plan_file_said(&file));
    }
}
END_TEST

/* Several at once, each once. */
START_TEST(several_mistakes)
{
    ck_assert(!plan_file_read(&file,
                              with("{at: 3, set: agents.coder.population, to: 3}\n"
                                   "  - {at: 3 s, set: policies.capped.cap, to: 0}\n"
                                   "  - {at: 3 s, set: policies.both.fixed_cap.cap, to: 0}\n"
                                   "  - {at: 3 s, set: agents.coder.population, to: 0}"),
                              NULL, NULL));
    ck_assert_uint_eq(file.diag.errors, 4);
}
END_TEST

/* --- sweeps, --set, --policy -------------------------------------------------------------------------------------- */

#define TWO \
    "{at: 1 min, set: policies.capped.cap, to: 9}\n" \
    "  - {at: 2 min, set: policies.*.fixed_cap.cap, to: 7}\n" \
    "  - {at: 3 min, set: agents.coder.population, to: 30}\n"

static const char *swept(const char *sweep)
{
    return arena_format(&file.arena, "%ssweep: %s\n", with(TWO), sweep);
}

static void expect_plan(const char *text, const char *const *sets, const char *const *only)
{
    ck_assert_msg(plan_file_read(&file, text, sets, only), "%s", plan_file_said(&file));
    ck_assert_msg(file.diag.count == 0, "%s", plan_file_said(&file));
}

/* A factor belongs to the alternatives that the change is of; others have one row. */
START_TEST(in_sweeps)
{
    expect_plan(swept("{changes.0.to: [9, 10]}"), NULL, NULL);
    ck_assert_uint_eq(file.plan.point_count, 5);
    ck_assert_str_eq(
        plan_file_points(&file),
        "unbounded[unbounded{}] -; capped[fixed_cap{cap: 3}] 9; capped[fixed_cap{cap: 3}] 10; "
        "codel[codel{target: 8 s}] -; both[fixed_cap{cap: 6} token_bucket{meter: requests, rate: 50/min, burst: 9}] -");
    ck_assert_str_eq(changes_of(2), "60 policies.capped.fixed_cap.cap 3->10\n120 policies.capped.fixed_cap.cap 10->7\n"
                                    "180 agents.coder.population 24->30\n");
    expect_plan(swept("{changes.1.at: [5 s, 70 s]}"), NULL, NULL);
    ck_assert_uint_eq(file.plan.point_count, 6);
    ck_assert_str_eq(changes_of(1), "5 policies.capped.fixed_cap.cap 3->7\n60 policies.capped.fixed_cap.cap 7->9\n"
                                    "180 agents.coder.population 24->30\n");
    expect_plan(swept("{zip: [{changes.2.to: 30, changes.2.at: 3 min}, {changes.2.to: 20, changes.2.at: 4 min}]}"),
                NULL, NULL);
    ck_assert_uint_eq(file.plan.point_count, 8);
    ck_assert_str_eq(changes_of(1), "240 agents.coder.population 24->20\n");
}
END_TEST

START_TEST(swept_mistakes)
{
    static const struct {
        const char *sweep, *said;
    } cases[] = {
        {"{changes.2.to: [30, 0]}",
         "s.yaml:21:28: agents.coder: population: expected a whole number from 1 to 100M, found '0'"},
        {"{changes.3.to: [30, 31]}",
         "s.yaml:21:9: changes has no 3: expected an index from 0 to 2, as it is a list of 3"},
        {"{changes.2.set: [30, 31]}", "s.yaml:21:9: changes.2.set cannot be swept: expected the address of one value, "
                                      "such as agents.NAME.population"},
        {"{changes.to: [30, 31]}",
         "s.yaml:21:9: changes.to cannot be swept: expected the address of one value, such as agents.NAME.population"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ck_assert(!plan_file_read(&file, swept(cases[i].sweep), NULL, NULL));
        ck_assert_str_eq(plan_file_said(&file), cases[i].said);
    }
}
END_TEST

START_TEST(set_from_outside)
{
    const char *const sets[] = {"changes.0.to=4", "changes.1.at=5 s", "changes.2.set=agents.coder.think",
                                "changes.2.to=4 s", NULL};
    const char *const all[] = {"changes=[{at: 9 s, set: agents.coder.population, to: 5}]", NULL};
    const char *const wrong[] = {"changes.0.to=0", NULL};

    expect_plan(with(TWO), sets, NULL);
    ck_assert_str_eq(changes_of(1), "5 policies.capped.fixed_cap.cap 3->7\n60 policies.capped.fixed_cap.cap 7->4\n"
                                    "180 agents.coder.think exponential(4.5 s)->4 s\n");
    expect_plan(with(TWO), all, NULL);
    ck_assert_str_eq(changes_of(1), "9 agents.coder.population 24->5\n");
    ck_assert(!plan_file_read(&file, with(TWO), wrong, NULL));
    ck_assert_str_eq(plan_file_said(&file), "--set changes.0.to:1:1: policies.capped.fixed_cap: cap: expected a whole "
                                            "number of calls of at least 1, or inf, found '0'");
}
END_TEST

/* Alternatives that are left out take their changes with them, and the others keep their index. */
START_TEST(selected)
{
    const char *const one[] = {"codel", NULL}, *const other[] = {"both", NULL},
                      *const set[] = {"changes.2.to=40", NULL};

    expect_plan(with(TWO), set, one);
    ck_assert_str_eq(changes_of(0), "180 agents.coder.population 24->40\n");
    expect_plan(with(TWO), NULL, other);
    ck_assert_str_eq(changes_of(0), "120 policies.both.fixed_cap.cap 6->7\n180 agents.coder.population 24->30\n");
    expect_plan(swept("{changes.0.to: [9, 10], changes.2.at: [1 s, 2 s]}"), NULL, one);
    ck_assert_uint_eq(file.plan.point_count, 2);
    ck_assert_uint_eq(file.plan.factor_count, 1);
    ck_assert_str_eq(file.plan.factor_names[0], "changes.2.at");
}
END_TEST

/* What is skipped is not even read, and keeps its place. */
START_TEST(skipped)
{
    const char *const set[] = {"changes.2.to=40", NULL}, *const other[] = {"changes.0.skip=true", NULL};

    expect_plan(with("{set: policies.nobody.cap, skip: true}\n"
                     "  - {at: 2 s, set: policies.capped.cap, to: 4, skip: false}\n"
                     "  - {at: 3 s, set: agents.coder.population, to: 30}"),
                set, NULL);
    ck_assert_str_eq(changes_of(1), "2 policies.capped.fixed_cap.cap 3->4\n3 agents.coder.population 24->40\n");
    expect_plan(with("{at: 2 s, set: policies.capped.cap, to: 4}"), other, NULL);
    ck_assert_str_eq(changes_of(1), "");
}
END_TEST

/* A label that changes with a --set takes the addresses along. */
START_TEST(labels_follow)
{
    const char *text = plan_file_with(&file, fleet, "  - capped: [fixed_cap: {cap: 3}]\n",
                                      "  - fixed_cap: {cap: 3}\n  - fixed_cap: {cap: 4}\n");
    const char *const sets[] = {"policies.fixed_cap(cap=3).cap=5", NULL};

    expect_plan(arena_format(&file.arena, "%s  - {at: 1 s, set: policies.fixed_cap(cap=3).cap, to: 9}\n", text), sets,
                NULL);
    ck_assert_str_eq(changes_of(1), "1 policies.fixed_cap(cap=5).fixed_cap.cap 5->9\n");
}
END_TEST

/* --- the hash, and what is printed -------------------------------------------------------------------------------- */

static uint64_t hash_with(const char *item)
{
    expect_read(item);
    return file.plan.hash;
}

START_TEST(the_hash)
{
    uint64_t plain, hash = hash_with("{at: 1 s, set: policies.capped.cap, to: 9}");

    expect_plan(plan_file_with(&file, fleet, "changes:\n", ""), NULL, NULL);
    plain = file.plan.hash;
    ck_assert_uint_ne(plain, hash);
    ck_assert_uint_eq(hash, hash_with("{at: 1000 ms, set: policies.capped.fixed_cap.cap, to: 9, reason: why not}"));
    ck_assert_uint_ne(hash, hash_with("{at: 2 s, set: policies.capped.cap, to: 9}"));
    ck_assert_uint_ne(hash, hash_with("{at: 1 s, set: policies.capped.cap, to: 8}"));
    ck_assert_uint_ne(hash, hash_with("{at: 1 s, set: policies.both.fixed_cap.cap, to: 9}"));
    ck_assert_uint_ne(hash, hash_with("{at: 1 s, set: agents.coder.population, to: 9}"));
    plan_file_write(&file, "t.csv", "s\n1\n2\n");
    hash = hash_with("{at: 1 s, set: agents.coder.think, to: empirical(t.csv s s)}");
    plan_file_write(&file, "t.csv", "s\n1\n3\n");
    ck_assert_uint_ne(hash, hash_with("{at: 1 s, set: agents.coder.think, to: empirical(t.csv s s)}"));
}
END_TEST

static const char *printed(void (*print)(const struct plan *, FILE *))
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    ck_assert_ptr_nonnull(out);
    print(&file.plan, out);
    fclose(out);
    const char *kept = arena_text(&file.arena, text);
    free(text);
    return kept;
}

/* What is printed is read to the same points, also of a part of the alternatives. */
START_TEST(printed_and_read_again)
{
    const char *const only[] = {"capped", "codel", NULL}, *const two[] = {"codel", "unbounded", NULL};
    const char *const *const selections[] = {NULL, only, two};

    for (size_t i = 0; i < 3; i++) {
        expect_plan(swept("{changes.1.to: [5, 6]}"), NULL, selections[i]);
        const char *points = plan_file_points(&file);
        uint64_t hash = file.plan.hash;

        expect_plan(printed(describe_scenario), NULL, NULL);
        ck_assert_str_eq(plan_file_points(&file), points);
        ck_assert_uint_eq(file.plan.hash, hash);
    }
}
END_TEST

START_TEST(sentences)
{
    expect_read(TWO);
    const char *said = printed(describe_sentences);

    ck_assert_ptr_nonnull(strstr(said, "# at 60 s, policies.capped.fixed_cap.cap goes from 3 to 9.\n"));
    ck_assert_ptr_nonnull(strstr(said, "# at 120 s, policies.both.fixed_cap.cap goes from 6 to 7.\n"));
    ck_assert_ptr_nonnull(strstr(said, "# at 180 s, agents.coder.population goes from 24 to 30.\n"));
    ck_assert_ptr_nonnull(strstr(said, "is true until the first change of them.\n"));
    expect_read("{at: 1 min, set: policies.capped.cap, to: 9, reason: too few}");
    said = printed(describe_sentences);
    ck_assert_ptr_nonnull(strstr(said, "# at 60 s, policies.capped.fixed_cap.cap goes from 3 to 9: too few.\n"));
    ck_assert_ptr_null(strstr(said, "is true until"));
}
END_TEST

#define COUNT_OF(array) ((int)(sizeof(array) / sizeof *(array)))

Suite *changes_read_suite(void)
{
    Suite *suite = suite_create("changes_read");
    TCase *tests = tcase_create("changes_read");

    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_loop_test(tests, one_mistake, 0, COUNT_OF(mistakes));
    tcase_add_test(tests, addresses_without_a_key);
    tcase_add_test(tests, no_list);
    tcase_add_test(tests, empty_items);
    tcase_add_test(tests, several_mistakes);
    tcase_add_test(tests, in_sweeps);
    tcase_add_test(tests, swept_mistakes);
    tcase_add_test(tests, set_from_outside);
    tcase_add_test(tests, selected);
    tcase_add_test(tests, skipped);
    tcase_add_test(tests, labels_follow);
    tcase_add_test(tests, the_hash);
    tcase_add_test(tests, printed_and_read_again);
    tcase_add_test(tests, sentences);
    suite_add_tcase(suite, tests);
    return suite;
}
