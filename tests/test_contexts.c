/* test_contexts.c - a card's memory by hand, and through a random life beside a plain array that knows no lists. */
#include <check.h>
#include <signal.h>
#include <stdlib.h>

#include "models/contexts.h"
#include "tests/oracles.h"
#include "tests/suites.h"

#define AGENTS 24
#define ORPHANS 4096

static struct arena arena;
static struct contexts contexts;
static struct context *owners[AGENTS];

static void setup(void)
{
    contexts = (struct contexts){.limit = 10, .arena = &arena};
    for (size_t i = 0; i < AGENTS; i++)
        owners[i] = NULL;
}

static void teardown(void)
{
    arena_free(&arena);
}

/* A whole call: begins and ends at once. */
static uint64_t call(size_t agent, uint64_t tokens)
{
    uint64_t there = contexts_pin(&contexts, &owners[agent], tokens);
    contexts_unpin(&contexts, &owners[agent]);
    return there;
}

static void expect_state(uint64_t pinned, uint64_t warm, uint64_t evictions)
{
    ck_assert_uint_eq(contexts.pinned, pinned);
    ck_assert_uint_eq(contexts.warm, warm);
    ck_assert_uint_eq(contexts.evictions, evictions);
}

START_TEST(a_context_stays_until_others_need_its_room)
{
    ck_assert_uint_eq(call(0, 4), 0);
    ck_assert_uint_eq(call(1, 6), 0);
    expect_state(0, 10, 0);
    ck_assert_uint_eq(call(0, 4), 4); /* 0 is now the more recent */
    ck_assert_uint_eq(contexts_pin(&contexts, &owners[2], 1), 0);
    expect_state(1, 4, 1);
    ck_assert_ptr_nonnull(owners[0]);
    ck_assert_ptr_null(owners[1]);
    ck_assert_uint_eq(contexts_pin(&contexts, &owners[0], 9), 4); /* grows into what is left */
    expect_state(10, 0, 1);
    ck_assert(!contexts_fit(&contexts, 1));
    ck_assert(contexts_fit(&contexts, 0));
    contexts_unpin(&contexts, &owners[2]);
    ck_assert(contexts_fit(&contexts, 1));
    ck_assert(!contexts_fit(&contexts, 2));
    ck_assert_uint_eq(call(1, 1), 0);
    expect_state(9, 1, 2);
    ck_assert_ptr_null(owners[2]);
}
END_TEST

/* Its own old context makes room for it, and a smaller one leaves some. */
START_TEST(a_context_is_replaced_by_its_agent)
{
    call(0, 10);
    ck_assert_uint_eq(contexts_pin(&contexts, &owners[0], 10), 10);
    expect_state(10, 0, 0);
    contexts_unpin(&contexts, &owners[0]);
    ck_assert_uint_eq(call(0, 3), 10);
    expect_state(0, 3, 0);
    call(1, 7);
    expect_state(0, 10, 0);
}
END_TEST

START_TEST(more_than_the_memory_is_all_of_it)
{
    call(0, 1);
    ck_assert(contexts_fit(&contexts, 11));
    ck_assert(contexts_fit(&contexts, UINT64_MAX));
    contexts_pin(&contexts, &owners[1], UINT64_MAX);
    expect_state(10, 0, 1);
    ck_assert(!contexts_fit(&contexts, 1));
    contexts_unpin(&contexts, &owners[1]);
    expect_state(0, 10, 1);
    ck_assert_uint_eq(call(1, 2), 10);
    contexts_pin(&contexts, &owners[2], 1);
    ck_assert(!contexts_fit(&contexts, 11)); /* all of it is not free now */
    ck_assert(!contexts_fit(&contexts, 10));
    ck_assert(contexts_fit(&contexts, 9));
}
END_TEST

START_TEST(no_limit_holds_everything)
{
    contexts.limit = UINT64_MAX;
    for (size_t i = 0; i < AGENTS; i++)
        ck_assert_uint_eq(call(i, UINT64_C(1) << 41), 0);
    for (size_t i = 0; i < AGENTS; i++)
        ck_assert_uint_eq(call(i, UINT64_C(1) << 41), UINT64_C(1) << 41);
    ck_assert_uint_eq(contexts.evictions, 0);
}
END_TEST

START_TEST(orphans_stay_and_tell_no_one)
{
    struct context *running;

    call(0, 6);
    contexts_orphan(&owners[0]);
    ck_assert_ptr_null(owners[0]);
    expect_state(0, 6, 0);
    contexts_orphan(&owners[0]); /* it has none */
    ck_assert_uint_eq(call(0, 4), 0);
    expect_state(0, 10, 0);
    call(1, 5); /* in the place of the orphan */
    expect_state(0, 9, 1);
    ck_assert_ptr_nonnull(owners[0]);

    contexts_pin(&contexts, &owners[1], 5);
    running = owners[1];
    contexts_orphan(&owners[1]); /* its agent has left, the server goes on */
    expect_state(5, 4, 1);
    ck_assert_uint_eq(contexts_pin(&contexts, &owners[1], 1), 0);
    contexts_unpin(&contexts, &running);
    ck_assert_ptr_null(running);
    expect_state(1, 9, 1);
    contexts_unpin(&contexts, &owners[1]);
    call(2, 10);
    expect_state(0, 10, 4);
    ck_assert_ptr_null(owners[0]);
    ck_assert_ptr_null(owners[1]);
}
END_TEST

START_TEST(no_tokens_need_no_context)
{
    contexts_pin(&contexts, &owners[0], 0);
    ck_assert_ptr_nonnull(owners[0]);
    contexts_unpin(&contexts, &owners[0]);
    ck_assert_ptr_null(owners[0]);
    expect_state(0, 0, 0);
    ck_assert_ptr_null(contexts.oldest);
}
END_TEST

START_TEST(wrong_use_aborts)
{
    struct context *copy;

    call(0, 4);
    copy = owners[0];
    contexts_pin(&contexts, &owners[1], 3);
    if (_i == 0)
        contexts_pin(&contexts, &owners[0], 8); /* does not fit */
    else if (_i == 1)
        contexts_pin(&contexts, &owners[1], 1); /* is pinned */
    else if (_i == 2)
        contexts_unpin(&contexts, &owners[0]); /* is not */
    else if (_i == 3)
        contexts_unpin(&contexts, &owners[2]); /* there is none */
    else
        contexts_pin(&contexts, &copy, 1); /* not where its agent keeps it */
}
END_TEST

/* --- a random life */

struct entry {
    bool there, pinned;
    size_t agent; /* AGENTS: an orphan */
    uint64_t tokens, used;
    struct context *running; /* an orphan that is pinned: the pointer that is left */
};

struct life {
    uint64_t random, clock, evictions;
    struct entry entries[ORPHANS];
    struct context *kept[AGENTS]; /* as the memory knows them */
    size_t pins, refused, orphans;
};

static size_t below(struct life *life, size_t count)
{
    return (size_t)(oracle_random(&life->random) % count);
}

static struct entry *entry_of(struct life *life, size_t agent)
{
    for (size_t i = 0; i < ORPHANS; i++)
        if (life->entries[i].there && life->entries[i].agent == agent)
            return &life->entries[i];
    return NULL;
}

static uint64_t sum(const struct life *life, bool pinned)
{
    uint64_t tokens = 0;
    for (size_t i = 0; i < ORPHANS; i++)
        if (life->entries[i].there && life->entries[i].pinned == pinned)
            tokens += life->entries[i].tokens;
    return tokens;
}

static void evict(struct life *life)
{
    struct entry *least = NULL;
    for (size_t i = 0; i < ORPHANS; i++) {
        struct entry *entry = &life->entries[i];
        if (entry->there && !entry->pinned && (!least || entry->used < least->used))
            least = entry;
    }
    ck_assert_ptr_nonnull(least);
    least->there = false;
    life->evictions++;
}

static void begin(struct life *life, size_t agent, uint64_t tokens)
{
    struct entry *entry = entry_of(life, agent);
    uint64_t whole = tokens > contexts.limit ? contexts.limit : tokens, there = entry ? entry->tokens : 0;
    bool fits = sum(life, true) + whole <= contexts.limit;
    size_t i = 0;

    if (entry && entry->pinned)
        return;
    ck_assert_int_eq(contexts_fit(&contexts, tokens), fits);
    life->refused += !fits;
    if (!fits)
        return;
    life->pins++;
    while (!entry && life->entries[i].there)
        ck_assert_uint_lt(++i, ORPHANS);
    entry = entry ? entry : &life->entries[i];
    *entry = (struct entry){.there = true, .pinned = true, .agent = agent, .tokens = whole};
    while (sum(life, true) + sum(life, false) > contexts.limit)
        evict(life);
    ck_assert_uint_eq(contexts_pin(&contexts, &life->kept[agent], tokens), there);
}

static void end(struct life *life, struct entry *entry)
{
    if (!entry->there || !entry->pinned)
        return;
    contexts_unpin(&contexts, entry->agent < AGENTS ? &life->kept[entry->agent] : &entry->running);
    ck_assert_ptr_null(entry->running);
    entry->pinned = false;
    entry->used = ++life->clock;
    entry->there = entry->tokens > 0;
}

static void orphan(struct life *life, size_t agent)
{
    struct entry *entry = entry_of(life, agent);
    if (entry) {
        life->orphans++;
        entry->agent = AGENTS;
        entry->running = entry->pinned ? life->kept[agent] : NULL;
    }
    contexts_orphan(&life->kept[agent]);
}

static void step(struct life *life)
{
    size_t what = below(life, 16), agent = below(life, AGENTS);
    if (what < 8)
        begin(life, agent, below(life, 4) == 0 ? below(life, 2 * contexts.limit) : below(life, 12));
    else if (what < 14)
        for (size_t i = below(life, ORPHANS), left = ORPHANS; left > 0; left--)
            if (i = (i + 1) % ORPHANS, life->entries[i].there && life->entries[i].pinned) {
                end(life, &life->entries[i]);
                break;
            }
    if (what == 14)
        orphan(life, agent);
}

static void expect_same(struct life *life)
{
    ck_assert_uint_eq(contexts.pinned, sum(life, true));
    ck_assert_uint_eq(contexts.warm, sum(life, false));
    ck_assert_uint_le(contexts.pinned + contexts.warm, contexts.limit);
    ck_assert_uint_eq(contexts.evictions, life->evictions);
    for (size_t i = 0; i < AGENTS; i++)
        ck_assert_int_eq(life->kept[i] != NULL, entry_of(life, i) != NULL);
}

/* Memories of one token up to one in which most contexts stay. */
START_TEST(a_plain_array_agrees)
{
    static const uint64_t limits[] = {1, 3, 17, 64, 150};
    static struct life life;

    life = (struct life){.random = (uint64_t)_i};
    contexts.limit = limits[_i];
    for (int i = 0; i < 6000; i++) {
        step(&life);
        expect_same(&life);
    }
    ck_assert_uint_gt(life.pins, 500);
    ck_assert_uint_gt(life.refused, 50);
    ck_assert_uint_gt(life.orphans, 10);
    ck_assert_uint_gt(life.evictions, 100);
}
END_TEST

/* When it once was full of the smallest contexts, no later life needs more memory. */
START_TEST(nothing_is_allocated_in_steady_state)
{
    uint64_t random = 1;
    struct arena_block *blocks;

    contexts.limit = 1000;
    for (size_t i = 0; i < contexts.limit; i++) {
        call(0, 1);
        contexts_orphan(&owners[0]);
    }
    for (size_t i = 0; i < AGENTS; i++)
        contexts_pin(&contexts, &owners[i], 0);
    for (size_t i = 0; i < AGENTS; i++)
        contexts_unpin(&contexts, &owners[i]);
    blocks = arena.blocks;
    for (size_t i = 0; i < 200000; i++) {
        size_t agent = oracle_random(&random) % AGENTS;
        call(agent, oracle_random(&random) % 100);
        if (oracle_random(&random) % 2)
            contexts_orphan(&owners[agent]);
    }
    ck_assert_ptr_eq(arena.blocks, blocks);
    ck_assert_uint_gt(contexts.evictions, 100000);
}
END_TEST

Suite *contexts_suite(void)
{
    Suite *suite = suite_create("contexts");
    TCase *test = tcase_create("contexts");

    tcase_add_checked_fixture(test, setup, teardown);
    tcase_add_test(test, a_context_stays_until_others_need_its_room);
    tcase_add_test(test, a_context_is_replaced_by_its_agent);
    tcase_add_test(test, more_than_the_memory_is_all_of_it);
    tcase_add_test(test, no_limit_holds_everything);
    tcase_add_test(test, orphans_stay_and_tell_no_one);
    tcase_add_test(test, no_tokens_need_no_context);
    tcase_add_loop_test_raise_signal(test, wrong_use_aborts, SIGABRT, 0, 5);
    tcase_add_loop_test(test, a_plain_array_agrees, 0, 5);
    tcase_add_test(test, nothing_is_allocated_in_steady_state);
    suite_add_tcase(suite, test);
    return suite;
}
