/* Whose callback, and about whom: the words for a wrong answer and for a crash. */
#include "models/callback.h"

static void add_number(struct sim_words *words, const char *name, uint64_t number)
{
    sim_words_add(words, name);
    sim_words_number(words, number);
}

static void add_owner(const struct sim_record *record, struct sim_words *words)
{
    const struct member_state *member = record->owner;

    sim_words_add(words, "policy `");
    sim_words_add(words, member->member->name);
    sim_words_add(words, "`, callback `");
    sim_words_add(words, record->callback);
    sim_words_add(words, "`");
}

static void add_agent(const struct sim_record *record, struct sim_words *words, uint32_t klass, uint32_t agent)
{
    const struct member_state *member = record->owner;

    sim_words_add(words, ", class `");
    sim_words_add(words, member->world->scenario->classes[klass].name);
    add_number(words, "`, agent ", agent);
}

void callback_describe(const struct sim_record *record, struct sim_words *words)
{
    const struct policy_call *call = record->subject;

    add_owner(record, words);
    if (!call)
        return;
    add_agent(record, words, call->klass, call->agent);
    add_number(words, ", turn ", call->turn);
    add_number(words, ", attempt ", call->attempt);
}

void callback_describe_run(const struct sim_record *record, struct sim_words *words)
{
    const struct policy_run *run = record->subject;

    add_owner(record, words);
    add_agent(record, words, run->klass, run->agent);
    add_number(words, ", run ", run->run);
    add_number(words, ", attempt ", run->attempt);
}
