/* queue.h - a waiting line ordered by integer rank, smaller first, ties in order of joining.
 *
 * Nodes are embedded in their owners; the line allocates nothing. Joining at either end (first come first served, last
 * come first served) is O(1), joining in between O(log n) through a treap that is built when it is first needed and
 * forgotten when the line is empty. Leaving is O(1), or O(log n) while the treap stands. Head, tail and neighbours are
 * always O(1). */
#ifndef SIM_QUEUE_H
#define SIM_QUEUE_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/engine/where.h"

struct queue_node {
    struct queue_node *previous, *next;       /* the line, head to tail */
    struct queue_node *parent, *left, *right; /* the treap, while it stands */
    int64_t rank;
    uint64_t order; /* of joining, from 1; 0: in no line. Zeroed memory is a valid idle node. */
};

struct queue {
    struct queue_node *head, *tail, *root;
    size_t length;
    uint64_t joined; /* nodes that ever joined */
    bool indexed;    /* the treap stands */
};

static inline bool queue_holds(const struct queue_node *node)
{
    return node->order != 0;
}

/* What the two below do where there is more to it than the list: a place in between, a treap that stands. */
void queue_join_else(struct queue *queue, struct queue_node *node, int64_t rank);
void queue_unindex(struct queue *queue, struct queue_node *node);

static inline void queue_join(struct queue *queue, struct queue_node *node, int64_t rank)
{
    SIM_ASSERT(NULL, !queue_holds(node));
    node->rank = rank;
    node->order = ++queue->joined;
    if (queue->indexed || (queue->tail && queue->tail->rank > rank)) {
        queue_join_else(queue, node, rank);
        return;
    }
    node->previous = queue->tail;
    node->next = NULL;
    *(queue->tail ? &queue->tail->next : &queue->head) = node;
    queue->tail = node;
    queue->length++;
}

static inline void queue_leave(struct queue *queue, struct queue_node *node)
{
    SIM_ASSERT(NULL, queue_holds(node) && queue->length > 0);
    queue->length--;
    node->order = 0;
    if (queue->indexed)
        queue_unindex(queue, node);
    *(node->previous ? &node->previous->next : &queue->head) = node->next;
    *(node->next ? &node->next->previous : &queue->tail) = node->previous;
}

#endif
