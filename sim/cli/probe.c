/* The report of what a policy was asked and what was found. */
#include "sim/cli/probe.h"

#include <string.h>

#include "sim/cli/rig.h"
#include "sim/cli/session.h"
#include "sim/io/quote.h"

struct report {
    FILE *out;
    struct arena arena;
    const struct setting *setting; /* being tried, or NULL */
    struct finding *findings;      /* the latest first */
    unsigned found, notes;         /* findings are counted once, however many settings show them */
};

struct finding {
    const char *words; /* without those of the setting */
    struct finding *next;
};

/* A part begins: its name stands there before anything happens. */
static void part(struct report *report, const char *name)
{
    fprintf(report->out, "  %-66s ", name);
    fflush(report->out);
}

/* Below its part, in lines of at most 96 characters where words allow. */
static void print_words(struct report *report, const char *text)
{
    const char *at = quote_terminal(text, &report->arena);

    while (*at) {
        size_t length = strlen(at), end;

        for (end = length > 92 ? 92 : length; end > 0 && at[end] && at[end] != ' '; end--)
            ;
        end = end ? end : strcspn(at, " ");
        fprintf(report->out, "    %.*s\n", (int)end, at);
        at += end + (at[end] == ' ');
    }
}

/* Notes a finding; true: it was found with an earlier setting, too. */
static bool is_known(struct report *report, const char *words)
{
    const char *text = report->setting ? report->setting->text : "";
    const char *with = arena_format(&report->arena, ", with %s", text), *at = text[0] ? strstr(words, with) : NULL;
    struct finding *new;

    if (at)
        words = arena_format(&report->arena, "%.*s%s", (int)(at - words), words, at + strlen(with));
    for (const struct finding *old = report->findings; old; old = old->next)
        if (strcmp(old->words, words) == 0)
            return true;
    new = arena_zeroed(&report->arena, 1, sizeof *new);
    *new = (struct finding){arena_text(&report->arena, words), report->findings};
    report->findings = new;
    return false;
}

static void result(struct report *report, const char *finding, const char *note)
{
    if (finding && is_known(report, finding)) {
        fprintf(report->out, "found again, as above\n");
    } else if (finding) {
        fprintf(report->out, "found\n");
        print_words(report, finding);
        report->found++;
    } else if (note) {
        fprintf(report->out, "note\n");
        print_words(report, note);
        report->notes++;
    } else {
        fprintf(report->out, "ok\n");
    }
    fflush(report->out);
}

/* The callbacks outside a simulation. False: what follows would only say it again. */
static bool probe_callbacks(struct report *report, const struct setting *setting)
{
    const char *unequal;
    char fault[RIG_FAULT];
    bool good;

    part(report, "callbacks at the edges of gate and call");
    good = rig_edges(setting, fault);
    result(report, good ? NULL : fault, NULL);
    if (!good)
        return false;
    part(report, "equal questions: a fresh copy, two by turns, two threads");
    unequal = probe_equal_answers(setting, &report->arena);
    result(report, unequal, NULL);
    return !unequal;
}

static void probe_simulations(struct report *report, const struct setting *setting)
{
    static const char *const places[] = {"alone", "in front of a cap", "behind a cap"};

    for (size_t i = 0; i < probe_scenarios() && !cli_stop; i++) {
        struct probe_run run = {NULL, NULL};
        const char *note = NULL;

        part(report, probe_scenario_name(i));
        for (int chain = 0; chain < PROBE_CHAINS && !run.finding; chain++) {
            run = probe_simulate(setting, i, (enum probe_chain)chain, &report->arena);
            if (run.finding)
                run.finding = arena_format(&report->arena, "%s: %s", places[chain], run.finding);
            if (run.note && !note)
                note = arena_format(&report->arena, "%s: %s", places[chain], run.note);
        }
        result(report, run.finding, note);
    }
}

static void probe_setting(struct report *report, const struct setting *setting)
{
    fprintf(report->out, "with %s\n",
            setting->text[0] ? quote_terminal(setting->text, &report->arena) : "its defaults");
    report->setting = setting;
    if (probe_callbacks(report, setting) && !setting->extreme)
        probe_simulations(report, setting);
}

/* A policy that has a default for everything must accept them: the first setting is then the defaults themselves. */
static bool refuses_defaults(const struct policy_ops *ops, const struct setting *settings, size_t count)
{
    for (const struct option *option = ops->params; option && option->key; option++)
        if (!option->initial)
            return false;
    return count > 0 && settings[0].text[0] != '\0';
}

unsigned probe_policy(const struct policy_ops *ops, FILE *out)
{
    struct report report = {.out = out};
    size_t count;
    const struct setting *settings;

    fprintf(out, "policy %s: %s\n", ops->name, quote_terminal(ops->summary, &report.arena));
    fflush(out);
    settings = settings_of(ops, &report.arena, &count);
    if (count == 0) {
        part(&report, "its parameters");
        result(&report, "`check` accepts none of the settings that were tried: expected at least the defaults", NULL);
    }
    if (refuses_defaults(ops, settings, count)) {
        part(&report, "its parameters");
        result(&report, "`check` refuses the policy's own defaults", NULL);
    }
    for (size_t i = 0; i < count && !cli_stop; i++)
        probe_setting(&report, &settings[i]);
    if (count > 0 && report.found == 0 && !cli_stop) {
        part(&report, "equal questions a second later");
        result(&report, probe_equal_later(&settings[0], &report.arena), NULL);
    }
    if (report.found == 0)
        fprintf(out, "policy %s: nothing was found in %zu setting%s%s\n", ops->name, count, count == 1 ? "" : "s",
                report.notes ? ", see the notes" : "");
    else
        fprintf(out, "policy %s: %u finding%s in %zu setting%s\n", ops->name, report.found,
                report.found == 1 ? "" : "s", count, count == 1 ? "" : "s");
    arena_free(&report.arena);
    return report.found;
}
