/* alerts_read.c - the list `alerts:`. */
#include <math.h>
#include <string.h>

#include "models/readers.h"
#include "models/tables.h"
#include "sim/io/param.h"

static const char forms[] = "queue_age > a time, such as queue_age > 9 min; queue_depth > a number of calls; "
                            "provider_429; or provider_429 while limited";

/* What stands behind NAME >; NULL: the text is another. */
static const char *threshold_of(const char *text, const char *name)
{
    size_t length = strlen(name);
    if (strncmp(text, name, length) != 0)
        return NULL;
    text += length + strspn(text + length, " ");
    return *text == '>' ? text + 1 + strspn(text + 1, " ") : NULL;
}

static bool read_when(const struct reader *reader, const char *text, struct place place, struct alert *alert)
{
    const char *age = threshold_of(text, "queue_age"), *depth = threshold_of(text, "queue_depth"), *end, *why;
    struct number number;
    alert->kind = age ? ALERT_QUEUE_AGE : depth ? ALERT_QUEUE_DEPTH : ALERT_PROVIDER_429;
    if (strcmp(text, "provider_429") == 0)
        return true;
    if (strcmp(text, "provider_429 while limited") == 0) {
        alert->kind = ALERT_PROVIDER_429_LIMITED;
        return true;
    }
    if (age && unit_read(age, &end, &number, &why) && !*end && number.quantity == QUANTITY_TIME &&
        isfinite(number.value) && number.value > 0) {
        alert->age = sim_from_seconds(number.value);
        return true;
    }
    if (depth && unit_read(depth, &end, &number, &why) && !*end &&
        (number.quantity == QUANTITY_NUMBER || (number.noun && strcmp(number.noun, "calls") == 0)) &&
        number.value < 1e15 && number.value == floor(number.value)) {
        alert->depth = (uint64_t)number.value;
        return true;
    }
    diag_error(reader->diag, place, "alerts: when: %s: expected %s", text, forms);
    return false;
}

static bool read_alert(const struct reader *reader, const struct node *item, const struct scenario *scenario,
                       struct alert *alert)
{
    struct alert_keys keys = {0};
    struct place places[ALERT_KEYS] = {{0}};
    uint32_t at;
    param_defaults(alert_options, &keys, reader->arena);
    if (!reader_expects_map_of(reader, item, "alerts", NULL, "when: queue_age > 9 min") ||
        !param_read(alert_options, "alerts", &keys, item, NULL, places, reader->arena, reader->diag))
        return false;
    *alert = (struct alert){.text = keys.when, .place = places[ALERT_WHEN], .at = -1};
    if (places[ALERT_AT].file) {
        if (!backend_find(reader, keys.at, places[ALERT_AT], scenario, &at))
            return false;
        alert->at = at;
        alert->text = arena_format(reader->arena, "%s at %s", keys.when, keys.at);
    }
    if (!read_when(reader, keys.when, places[ALERT_WHEN], alert))
        return false;
    bool pool = alert->at >= 0 && scenario->backends[alert->at].kind == BACKEND_PROVIDER;
    for (size_t i = 0; alert->at < 0 && i < scenario->backend_count; i++)
        pool = pool || scenario->backends[i].kind == BACKEND_PROVIDER;
    if (alert->kind == ALERT_QUEUE_AGE || alert->kind == ALERT_QUEUE_DEPTH || pool)
        return true;
    diag_error(reader->diag, alert->place, "alerts: there is no provider%s that could refuse: expected %s",
               alert->at >= 0 ? " there" : "", forms);
    return false;
}

bool alerts_read(const struct reader *reader, const struct node *list, struct scenario *scenario)
{
    bool good = true;
    if (!list)
        return true;
    if (list->kind != NODE_LIST) {
        diag_error(reader->diag, list->place, "alerts: expected a list, such as [{when: queue_age > 9 min}], not %s",
                   node_kind_name(list));
        return false;
    }
    struct alert *alerts = arena_zeroed(reader->arena, list->count, sizeof *alerts);
    for (size_t i = 0; i < list->count; i++)
        good &= read_alert(reader, list->items[i], scenario, &alerts[i]);
    scenario->alerts = alerts;
    scenario->alert_count = list->count;
    return good;
}
