/* All copies of a member, in order, and what each is called: for who prints, records or changes them. */
#include "models/copies.h"

/* A copy of which a gate has none is not begun: its member stands elsewhere. */
static bool begun(const struct member_state *member, const struct copy *copy)
{
    return copy && !copy->ended && (member->member->at < 0 || copy->gate == (uint32_t)member->member->at);
}

void copies_each(struct member_state *member, copy_fn *visit, const void *context)
{
    const struct scenario *scenario = member->world->scenario;
    size_t lists = member->by_agent ? scenario->backend_count * scenario->class_count : 0;

    for (size_t i = 0; i < member->copy_count; i++)
        if (begun(member, member->copies[i]))
            visit(member->copies[i], context);
    for (size_t i = 0; i < lists; i++)
        for (size_t k = 0; k < member->by_agent[i].room; k++)
            if (begun(member, member->by_agent[i].copies[k]))
                visit(member->by_agent[i].copies[k], context);
}

struct copy_name copy_named(const struct copy *copy)
{
    const struct scenario *scenario = copy->member->world->scenario;
    struct copy_name name = {.gate = scenario->backends[copy->gate].name, .whose = "", .agent = -1};

    switch (copy->member->member->scope) {
    case SCOPE_ALL:
        name.gate = "";
        break;
    case SCOPE_GATE:
        break;
    case SCOPE_CLASS:
        name.whose = scenario->classes[copy->index % scenario->class_count].name;
        break;
    case SCOPE_TENANT:
        name.whose = scenario->tenants[copy->index % scenario->tenant_count];
        break;
    case SCOPE_AGENT:
        name.whose = scenario->classes[copy->index >> 32].name;
        name.agent = (int64_t)(copy->index & UINT32_MAX);
        break;
    }
    return name;
}
