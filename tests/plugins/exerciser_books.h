/* exerciser_books.h - the books that the exerciser keeps of calls, runs and their memory, and its look at the view. A
 * part of exerciser.c, apart for its length. */
#ifndef TESTS_EXERCISER_BOOKS_H
#define TESTS_EXERCISER_BOOKS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policies/policy.h"

#if defined EXERCISER_FLOWS
#define NAME "exerciser_flows"
#define SEAL UINT64_C(0x5ea1f) /* on its memory: another member's is not taken for its own */
#define FLOWS 3u
#elif defined EXERCISER_PLAIN
#define NAME "exerciser_plain"
#define SEAL UINT64_C(0x5ea1b)
#else
#define NAME "exerciser"
#define SEAL UINT64_C(0x5ea1a)
#endif

struct params {
    double hold, defer, reject, displace, shed, again, expire;
    double run_hold, run_defer, run_reject;
    policy_time wait, period;
    bool alone;
};

enum stage { UNSEEN, ASKING, HELD, INSIDE, STARTED, SHEDDING, OVER };

#define CLASSES 8 /* at most */

/* Whose memory it is: class, agent, run, turn as far as they apply; a tenant is in the first. */
struct owner {
    uint64_t seal, key[4];
};

/* How often anybody of the class has asked at the gate, whichever copies heard it. */
struct class_memory {
    struct owner owner; /* first, as in the others */
    uint64_t asked;
    bool at_the_door; /* a run of it has been let in here */
};

/* What all copies at the gate share: the same numbers, and the gates that were seen, a bit each. */
struct shared_memory {
    struct owner owner;
    uint64_t asked[CLASSES], gates;
};

struct call_memory {
    struct owner owner;
    enum stage stage;
    uint32_t attempt;
    bool expired;
    policy_time held_since, joined, told; /* told: the retry-after that it was shed with */
};

struct run_memory {
    struct owner owner;
    bool asking, admitted, finished; /* it said admit, and has not heard what others said; all did */
};

struct vars {
    bool begun, asking;
    int64_t held, inside; /* calls, by its own books */
    uint64_t gates;       /* that it was asked at, a bit each */
    policy_time now, next_tick, refreshed;
    double first_hold, wanted_hold;
    const struct call_memory *victim; /* the last of the waiting line when `displace` was answered */
};

struct stats {
    uint64_t admitted, expired, ticks, sets, changes;
};

#define CHECK(condition) ((condition) ? (void)0 : broken(__func__, __LINE__, #condition))

static void broken(const char *callback, int line, const char *condition)
{
    fprintf(stderr, "%s: in `%s` (line %d) this does not hold: %s\n", NAME, callback, line, condition);
    abort();
}

static double draw(struct policy *self)
{
    double u = self->host->uniform(self);
    CHECK(u >= 0 && u < 1);
    return u;
}

static bool chance(struct policy *self, double share)
{
    return draw(self) < share;
}

static policy_time some_wait(struct policy *self)
{
    const struct params *params = self->params;
    return chance(self, 0.5) ? params->wait : 2 * params->wait;
}

/* --- memory ------------------------------------------------------------------------------------------------------ */

static void owned(void *memory, size_t size, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
    struct owner *owner = memory;
    const unsigned char *bytes = memory;
    CHECK(memory != NULL);
    if (owner->seal == 0) {
        for (size_t i = 0; i < size; i++)
            CHECK(bytes[i] == 0);
        *owner = (struct owner){SEAL, {a, b, c, d}};
    }
    CHECK(owner->seal == SEAL);
    CHECK(owner->key[0] == a && owner->key[1] == b && owner->key[2] == c && owner->key[3] == d);
}

static struct call_memory *memory_of(const struct policy_call *call)
{
    owned(call->state, sizeof(struct call_memory), call->klass, call->agent, call->run, call->turn);
    owned(call->run_state, sizeof(struct run_memory), call->klass, call->agent, call->run, 0);
    owned(call->agent_state, sizeof(struct owner), call->klass, call->agent, 0, 0);
    owned(call->class_state, sizeof(struct class_memory), call->klass, 0, 0, 0);
    owned(call->tenant_state, sizeof(struct owner), call->tenant, 0, 0, 0);
    return call->state;
}

/* All copies at the gate, and no others, write into what they share; that some have ended changes nothing in it. The
 * class's memory, which is the gate's too, has the same count. */
static void share(struct policy *self, const struct policy_view *view, const struct policy_call *call)
{
    struct vars *vars = self->vars;
    struct shared_memory *shared = self->shared;
    struct class_memory *of_class = call->class_state;
    owned(shared, sizeof *shared, 0, 0, 0, 0);
    CHECK(view->gate < 64 && call->klass < CLASSES);
    CHECK(shared->asked[call->klass] == of_class->asked);
    shared->asked[call->klass]++;
    of_class->asked++;
    vars->gates |= UINT64_C(1) << view->gate;
    shared->gates |= UINT64_C(1) << view->gate;
    CHECK(shared->gates == vars->gates);
}

static bool counts_inside(enum stage stage)
{
    return stage == INSIDE || stage == STARTED || stage == SHEDDING;
}

static void move(struct policy *self, struct call_memory *memory, enum stage stage, policy_time now)
{
    struct vars *vars = self->vars;
    vars->held += (stage == HELD) - (memory->stage == HELD);
    vars->inside += counts_inside(stage) - counts_inside(memory->stage);
    if (stage == HELD && memory->held_since == POLICY_NONE)
        memory->held_since = now;
    memory->stage = stage;
}

/* --- what it is shown -------------------------------------------------------------------------------------------- */

static void look_at_line(const struct policy_line *line, const struct policy_view *view)
{
    uint64_t by_class = 0, by_tenant = 0;
    double tokens_by_class = 0, tokens_by_tenant = 0;
    for (uint32_t i = 0; i < view->classes; i++) {
        by_class += line->calls_by_class[i];
        tokens_by_class += line->tokens_by_class[i];
        CHECK(line->calls_by_class[i] > 0 || line->tokens_by_class[i] == 0);
    }
    for (uint32_t i = 0; i < view->tenants; i++) {
        by_tenant += line->calls_by_tenant[i];
        tokens_by_tenant += line->tokens_by_tenant[i];
        CHECK(line->calls_by_tenant[i] > 0 || line->tokens_by_tenant[i] == 0);
    }
    CHECK(by_class == line->calls && by_tenant == line->calls);
    CHECK(tokens_by_class == line->tokens && tokens_by_tenant == line->tokens);
    CHECK(line->calls != 1 || line->tokens == line->head->input_tokens + line->head->output_tokens);
    CHECK(line->tokens >= 0 && (line->calls > 0 || line->tokens == 0));
    CHECK((line->head != NULL) == (line->calls > 0) && (line->tail != NULL) == (line->calls > 0));
    CHECK(line->calls != 1 || line->head == line->tail);
}

static void look(struct policy *self, const struct policy_view *view)
{
    struct vars *vars = self->vars;
    CHECK(vars && self->stats && self->params && self->host);
    CHECK(vars->begun);
    CHECK(view->now >= vars->now);
    CHECK(view->classes > 0 && view->tenants > 0);
    CHECK(view->in_service <= view->busy);
    CHECK(view->servers > 0 ? view->busy <= view->servers : view->waiting.calls == 0); /* 0: a metered pool */
    vars->now = view->now;
}

static void look_at_gate(struct policy *self, const struct policy_view *view)
{
    const struct params *params = self->params;
    const struct policy_call *const waiting[] = {view->waiting.head, view->waiting.tail};
    const struct policy_call *const held[] = {view->held.head, view->held.tail};
    look(self, view);
    look_at_line(&view->waiting, view);
    look_at_line(&view->held, view);
    for (size_t i = 0; i < 2 && waiting[i]; i++) {
        const struct call_memory *memory = memory_of(waiting[i]);
        CHECK(memory->stage == INSIDE);
        CHECK(waiting[i]->joined == memory->joined && waiting[i]->started == POLICY_NONE);
    }
    for (size_t i = 0; i < 2 && held[i]; i++) {
        const struct call_memory *memory = memory_of(held[i]);
        /* Another member may have taken back what is over for this one. */
        CHECK(memory->stage == HELD || memory->stage == ASKING || !params->alone);
        CHECK(held[i]->ever_held && held[i]->held_since != POLICY_NONE && held[i]->joined == POLICY_NONE);
    }
}

/* At every gate it sees its own memory; then nothing has changed at its own. */
static void look_at_gates(struct policy *self, const struct policy_view *view)
{
    const struct policy_view *other;
    uint64_t seen = 0;
    for (uint32_t gate = 0; (other = self->host->view(self, gate)) != NULL; gate++) {
        CHECK(other->gate == gate && other->now == view->now);
        look_at_gate(self, other);
        seen += gate == view->gate;
    }
    CHECK(seen == 1);
    look_at_gate(self, view);
}

/* An attempt that asks, or that another member refused unasked. */
static struct call_memory *asking(struct policy *self, const struct policy_view *view, const struct policy_call *call)
{
    const struct params *params = self->params;
    struct call_memory *memory = memory_of(call);
    const struct run_memory *run = call->run_state;
    share(self, view, call);
    CHECK((run->admitted || !((const struct class_memory *)call->class_state)->at_the_door) && !run->finished);
    CHECK(call->first_attempt <= call->attempted && call->attempted <= view->now);
    CHECK(call->joined == POLICY_NONE && call->started == POLICY_NONE);
    if (call->attempt != memory->attempt) {
        CHECK(call->attempt > memory->attempt);
        CHECK(memory->stage == UNSEEN || memory->stage == OVER || memory->expired);
        CHECK(!call->ever_held);
        move(self, memory, OVER, view->now);
        memory->attempt = call->attempt;
        memory->held_since = POLICY_NONE;
        memory->expired = false;
    } else {
        CHECK(memory->stage == HELD || !params->alone);
        CHECK(call->ever_held);
    }
    CHECK(call->ever_held == (call->held_since != POLICY_NONE));
    if (memory->held_since == POLICY_NONE)
        memory->held_since = call->held_since; /* by another member's `again` */
    CHECK(call->held_since == memory->held_since);
    return memory;
}

#endif
