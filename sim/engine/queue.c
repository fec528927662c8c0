/* queue.c - a waiting line: a doubly linked list, and above it a treap while somebody has joined in between.
 *
 * The treap's priority of a node is a hash of its order of joining, so it needs no memory and no random numbers, and
 * its expected depth is logarithmic whatever the ranks are (Aragon & Seidel 1989). Nothing here recurses. */
#include "sim/engine/queue.h"

#include "sim/engine/where.h"

/* A bijection of 64-bit words (the finaliser of splitmix64): nodes of one line never tie. */
static uint64_t priority(const struct queue_node *node)
{
    uint64_t x = node->order;
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* Let `node` (or nothing) stand where `old` stands below its parent. */
static void replace(struct queue *queue, const struct queue_node *old, struct queue_node *node)
{
    struct queue_node *parent = old->parent;
    if (parent == NULL)
        queue->root = node;
    else if (parent->left == old)
        parent->left = node;
    else
        parent->right = node;
    if (node != NULL)
        node->parent = parent;
}

/* A rotation: the node changes places with its parent. */
static void lift(struct queue *queue, struct queue_node *node)
{
    struct queue_node *parent = node->parent, *inner;
    replace(queue, parent, node);
    if (parent->left == node) {
        inner = node->right;
        parent->left = inner;
        node->right = parent;
    } else {
        inner = node->left;
        parent->right = inner;
        node->left = parent;
    }
    if (inner != NULL)
        inner->parent = parent;
    parent->parent = node;
}

/* The treap over the whole line in O(length): each node is hung at the right end of the tree so far. */
static void index_build(struct queue *queue)
{
    queue->root = NULL;
    for (struct queue_node *node = queue->head; node != NULL; node = node->next) {
        struct queue_node *above = node->previous, *below = NULL;
        while (above != NULL && priority(above) < priority(node)) {
            below = above;
            above = above->parent;
        }
        node->parent = above;
        node->left = below;
        node->right = NULL;
        if (below != NULL)
            below->parent = node;
        if (above != NULL)
            above->right = node;
        else
            queue->root = node;
    }
    queue->indexed = true;
}

/* The node behind which a newcomer of that rank stands. */
static struct queue_node *index_before(const struct queue *queue, int64_t rank)
{
    struct queue_node *before = NULL;
    for (struct queue_node *node = queue->root; node != NULL;) {
        if (node->rank <= rank) {
            before = node;
            node = node->right;
        } else {
            node = node->left;
        }
    }
    return before;
}

/* The node stands in the line already. Of its neighbours one is below the other, so one of the two places is free. */
static void index_insert(struct queue *queue, struct queue_node *node)
{
    node->left = node->right = NULL;
    if (node->previous != NULL && node->previous->right == NULL) {
        node->parent = node->previous;
        node->parent->right = node;
    } else {
        node->parent = node->next;
        node->parent->left = node;
    }
    while (node->parent != NULL && priority(node->parent) < priority(node))
        lift(queue, node);
}

static void index_remove(struct queue *queue, struct queue_node *node)
{
    while (node->left != NULL && node->right != NULL)
        lift(queue, priority(node->left) < priority(node->right) ? node->right : node->left);
    replace(queue, node, node->left != NULL ? node->left : node->right);
}

void queue_join_else(struct queue *queue, struct queue_node *node, int64_t rank)
{
    if (queue->tail->rank <= rank) {
        node->previous = queue->tail;
    } else if (rank < queue->head->rank) {
        node->previous = NULL;
    } else {
        if (!queue->indexed)
            index_build(queue);
        node->previous = index_before(queue, rank);
    }
    node->next = node->previous != NULL ? node->previous->next : queue->head;
    *(node->previous != NULL ? &node->previous->next : &queue->head) = node;
    *(node->next != NULL ? &node->next->previous : &queue->tail) = node;
    queue->length++;

    if (queue->indexed)
        index_insert(queue, node);
}

/* Called with the node's order gone, but its hash is not asked: it only goes down. */
void queue_unindex(struct queue *queue, struct queue_node *node)
{
    index_remove(queue, node);
    if (queue->length == 0) {
        queue->indexed = false;
        queue->root = NULL;
    }
}
