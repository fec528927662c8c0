/* test_queue.c - a waiting line against a plain array that is kept sorted by hand. */
#include <check.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "sim/engine/queue.h"
#include "sim/io/mem.h"
#include "tests/oracles.h"
#include "tests/suites.h"

#define NODES 2000

struct line {
    struct queue queue;
    struct queue_node nodes[NODES];
    struct queue_node *sorted[NODES];
    size_t length;
};

static void join(struct line *line, struct queue_node *node, int64_t rank)
{
    queue_join(&line->queue, node, rank);
    size_t i = line->length++;
    for (; i > 0 && line->sorted[i - 1]->rank > rank; i--)
        line->sorted[i] = line->sorted[i - 1];
    line->sorted[i] = node;
}

static void leave(struct line *line, size_t i)
{
    queue_leave(&line->queue, line->sorted[i]);
    line->length--;
    memmove(&line->sorted[i], &line->sorted[i + 1], (line->length - i) * sizeof line->sorted[0]);
}

static bool agree(const struct line *line)
{
    bool same = line->queue.length == line->length;
    const struct queue_node *node = line->queue.head, *previous = NULL;
    for (size_t i = 0; same && i < line->length; i++) {
        same = node == line->sorted[i] && node->previous == previous && queue_holds(node);
        previous = node;
        node = node->next;
    }
    return same && node == NULL && line->queue.tail == previous;
}

/* The longest way from a node to the root; SIZE_MAX if a way up is not a way down. */
static size_t depth(const struct line *line)
{
    size_t deepest = 0;
    for (size_t i = 0; i < line->length; i++) {
        size_t steps = 0;
        const struct queue_node *node = line->sorted[i];
        for (; node->parent != NULL; node = node->parent, steps++)
            if (node->parent->left != node && node->parent->right != node)
                return SIZE_MAX;
        if (node != line->queue.root)
            return SIZE_MAX;
        deepest = steps > deepest ? steps : deepest;
    }
    return deepest;
}

/* Phases of growing and shrinking, with few ranks (many ties) or many. */
START_TEST(agrees_with_a_sorted_array)
{
    static struct line line;
    uint64_t random = (uint64_t)_i;
    int64_t ranks = _i % 2 == 0 ? 5 : 1000000;
    for (int step = 0; step < 3000; step++) {
        uint64_t grow = step / 300 % 2 == 0 ? 70 : 35;
        struct queue_node *node = &line.nodes[oracle_random(&random) % NODES];
        if (oracle_random(&random) % 100 >= grow && line.length > 0)
            leave(&line, oracle_random(&random) % line.length);
        else if (!queue_holds(node))
            join(&line, node, (int64_t)(oracle_random(&random) % (uint64_t)ranks) - ranks / 2);
        ck_assert(agree(&line));
    }
    ck_assert(line.queue.indexed);
    while (line.length > 0) {
        leave(&line, oracle_random(&random) % 2 * (line.length - 1));
        ck_assert(agree(&line));
    }
    ck_assert(!line.queue.indexed);
    ck_assert_ptr_null(line.queue.root);
    for (size_t i = 0; i < NODES; i++)
        ck_assert(!queue_holds(&line.nodes[i]));
}
END_TEST

START_TEST(either_end_needs_no_index)
{
    static struct line line;
    uint64_t random = 1;
    for (int64_t i = 0; i < 500; i++) {
        join(&line, &line.nodes[i], _i == 0 ? 0 : -i);
        if (i % 3 == 2)
            leave(&line, oracle_random(&random) % line.length);
        ck_assert(!line.queue.indexed);
    }
    ck_assert(agree(&line));
}
END_TEST

START_TEST(the_widest_ranks_are_ordered)
{
    static struct line line;
    const int64_t ranks[] = {0, INT64_MAX, INT64_MIN, -1, INT64_MAX, INT64_MIN, 1};
    for (size_t i = 0; i < sizeof ranks / sizeof ranks[0]; i++)
        join(&line, &line.nodes[i], ranks[i]);
    ck_assert(agree(&line));
}
END_TEST

/* Ranks that make a plain search tree a list: built over a standing line, always in the middle, from both ends in. */
START_TEST(the_index_is_shallow)
{
    static struct line line;
    for (int64_t i = 0; i < NODES / 2; i++)
        join(&line, &line.nodes[i], i < NODES / 4 ? 0 : NODES);
    ck_assert(!line.queue.indexed);
    for (int64_t i = NODES / 2; i < NODES; i++)
        join(&line, &line.nodes[i], _i == 0 ? i : _i == 1 ? NODES - i : i % 2 == 0 ? i : 2 * NODES - i);
    ck_assert(line.queue.indexed);
    ck_assert(agree(&line));
    ck_assert_uint_le(depth(&line), 40);
    while (line.length > NODES / 10)
        leave(&line, line.length / 2);
    ck_assert_uint_le(depth(&line), 40);
    ck_assert(agree(&line));
}
END_TEST

/* A treap has one shape for its nodes, however it came about: many joins and leaves, or one pass over the line. */
START_TEST(the_index_has_one_shape)
{
    static struct line line;
    static struct queue_node *parents[NODES];
    uint64_t random = 9;
    for (size_t i = 0; i < NODES; i++) {
        join(&line, &line.nodes[i], (int64_t)(oracle_random(&random) % 100) - 50);
        if (i % 3 == 2)
            leave(&line, oracle_random(&random) % line.length);
    }
    ck_assert(line.queue.indexed);
    for (size_t i = 0; i < line.length; i++)
        parents[i] = line.sorted[i]->parent;

    line.queue.indexed = false;
    struct queue_node probe = {0};
    queue_join(&line.queue, &probe, 0);
    ck_assert(line.queue.indexed);
    queue_leave(&line.queue, &probe);
    size_t wrong = 0;
    for (size_t i = 0; i < line.length; i++)
        wrong += line.sorted[i]->parent != parents[i];
    ck_assert_uint_eq(wrong, 0);
}
END_TEST

START_TEST(joining_twice_aborts)
{
    struct queue queue = {0};
    struct queue_node node = {0};
    queue_join(&queue, &node, 0);
    queue_join(&queue, &node, 0);
}
END_TEST

START_TEST(leaving_from_outside_aborts)
{
    struct queue queue = {0};
    struct queue_node nodes[2] = {0};
    queue_join(&queue, &nodes[0], 0);
    queue_leave(&queue, &nodes[1]);
}
END_TEST

Suite *queue_suite(void)
{
    Suite *suite = suite_create("queue");
    TCase *line = tcase_create("line");
    tcase_add_loop_test(line, agrees_with_a_sorted_array, 0, 10);
    tcase_add_loop_test(line, either_end_needs_no_index, 0, 2);
    tcase_add_test(line, the_widest_ranks_are_ordered);
    tcase_add_loop_test(line, the_index_is_shallow, 0, 3);
    tcase_add_test(line, the_index_has_one_shape);
    tcase_add_test_raise_signal(line, joining_twice_aborts, SIGABRT);
    tcase_add_test_raise_signal(line, leaving_from_outside_aborts, SIGABRT);
    suite_add_tcase(suite, line);
    return suite;
}
