/* exec - a policy that is a program of any language: one line a question on its input, one line an answer.
 *
 * Idea: a limiter that runs somewhere already, a script of Redis, a gateway's filter, is tried as it is. Each copy of
 * the program is of one replication, and the host starts it, waits for it and ends it (policy_host.ask); what stands
 * here is the language of the lines alone.
 *   begin     now=0.000 protocol=1 seed=N: it answers `takes` and the questions that it wants, of those below. What
 *             it does not take is not asked, and costs nothing: it lets in, and is told of nothing.
 *   run_admit, admit, start
 *             `admit`, `hold SECONDS`, `defer SECONDS` or `defer none`, `reject`; `displace` at the gate. All but the
 *             first may name a reason behind. No server can be held back, so `start` has no hold.
 *   admitted  `ok`, or `expires SECONDS`: the record lives so long if no finish comes.
 *   finish    with end=, and in=, cached=, out= of what was used: `ok`, or `again SECONDS` to take the attempt back.
 *   tick      `ok`, or `wake SECONDS`: from now, the next tick. The first is at 0.
 *   refused, late, run_admitted, run_refused, run_withdrawn, run_finish
 *             `ok`.
 * All times are seconds since the start, exact to the nanosecond. A call keeps its number over its attempts. The seed
 * is another one in each replication and the same each time; a program that wants chance makes it of that. Everything
 * else that it may know stands in the lines: no other clock, no file that something else writes.
 *
 * Source: ours. A plug-in asks no other process and is a thousand times faster; a program needs no compiler.
 *
 * Known to fail: it orders no line, a program that wants an order lets in by its own list and hears of all that leave
 * it. What it wants of the gate beside these few counts is not there. A reason is a word of at most 31 characters, and
 * a replication has at most 32 of them. */
#include "policies/exec_answer.h"
#include "policies/exec_line.h"

enum exec_hook {
    EXEC_RUN_ADMIT,
    EXEC_RUN_ADMITTED,
    EXEC_RUN_REFUSED,
    EXEC_RUN_WITHDRAWN,
    EXEC_RUN_FINISH,
    EXEC_ADMIT,
    EXEC_ADMITTED,
    EXEC_REFUSED,
    EXEC_START,
    EXEC_FINISH,
    EXEC_LATE,
    EXEC_TICK,
    EXEC_HOOKS
};
static const char *const exec_hooks[EXEC_HOOKS] = {
    [EXEC_RUN_ADMIT] = "run_admit",
    [EXEC_RUN_ADMITTED] = "run_admitted",
    [EXEC_RUN_REFUSED] = "run_refused",
    [EXEC_RUN_WITHDRAWN] = "run_withdrawn",
    [EXEC_RUN_FINISH] = "run_finish",
    [EXEC_ADMIT] = "admit",
    [EXEC_ADMITTED] = "admitted",
    [EXEC_REFUSED] = "refused",
    [EXEC_START] = "start",
    [EXEC_FINISH] = "finish",
    [EXEC_LATE] = "late",
    [EXEC_TICK] = "tick",
};

static const char *const exec_ends[] = {
    [POLICY_DONE] = "done",         [POLICY_SHED] = "shed",           [POLICY_DISPLACED] = "displaced",
    [POLICY_OVERLOAD] = "overload", [POLICY_ERROR] = "error",         [POLICY_TIMEOUT] = "timeout",
    [POLICY_EXPIRED] = "expired",   [POLICY_ABANDONED] = "abandoned",
};
static const char *const exec_actions[] = {
    [POLICY_ADMIT] = "admit", [POLICY_DISPLACE] = "displace", [POLICY_HOLD] = "hold",
    [POLICY_DEFER] = "defer", [POLICY_REJECT] = "reject",
};

static const char ok[] = "ok";

struct exec_params {
    const struct option_command *command;
    policy_time answer_within;
    int64_t repeat;
};

struct exec_vars {
    bool takes[EXEC_HOOKS];
    uint64_t calls; /* numbered so far */
    struct exec_reasons reasons;
};

struct exec_stats {
    uint64_t questions;
};

struct exec_call {
    uint64_t number; /* 0: none yet */
};

static const struct option exec_options[] = {
    {.key = "command",
     .type = OPTION_COMMAND,
     .offset = offsetof(struct exec_params, command),
     .initial = NULL,
     .help = "the program and its arguments, started without a shell in the folder of this file"},
    {.key = "answer_within",
     .type = OPTION_TIME,
     .offset = offsetof(struct exec_params, answer_within),
     .initial = "10 s",
     .least = "2 s",
     .most = "1 h",
     .help = "an answer that takes longer, in real time, ends the run with an error"},
    {.key = "repeat",
     .type = OPTION_COUNT,
     .offset = offsetof(struct exec_params, repeat),
     .initial = "1k",
     .least = "0",
     .most = "inf",
     .help = "at the end of a replication another copy is asked so many of its first questions; another answer is an "
             "error"},
    {.key = NULL},
};

static const struct policy_gauge exec_gauges[] = {
    {.name = "questions",
     .type = POLICY_GAUGE_UINT64,
     .in_stats = true,
     .offset = offsetof(struct exec_stats, questions),
     .unit = "questions",
     .help = "that the program was asked so far"},
    {.name = NULL},
};

/* --- asking ------------------------------------------------------------------------------------------------------- */

/* NULL: there will be no more answers, as the run ends with this event. */
static const char *asks(struct policy *self, const struct exec_line *question)
{
    const struct exec_params *params = self->params;
    struct exec_stats *stats = self->stats;
    const struct policy_program program = {params->command, params->answer_within, params->repeat};
    stats->questions++;
    return self->host->ask(self, &program, question->text);
}

static bool takes(const struct policy *self, enum exec_hook hook)
{
    const struct exec_vars *vars = self->vars;
    return vars->takes[hook];
}

static struct policy_answer verdict(struct policy *self, const struct exec_line *question, const char *expected)
{
    struct exec_vars *vars = self->vars;
    struct policy_answer read;
    const char *answer = asks(self, question);
    if (answer && exec_verdict(&vars->reasons, answer, &read))
        return read;
    if (answer)
        self->host->unfit(self, expected);
    return policy_admit();
}

/* `ok`, or the word and a time; `otherwise` with ok. */
static policy_time time_or_ok(struct policy *self, const struct exec_line *question, const char *word,
                              const char *expected, policy_time otherwise)
{
    const char *answer = asks(self, question);
    policy_time time;
    if (!answer || strcmp(answer, ok) == 0)
        return otherwise;
    if (exec_takes(&answer, word) && exec_seconds(&answer, &time) && answer[0] == '\0')
        return time;
    self->host->unfit(self, expected);
    return otherwise;
}

static void tells(struct policy *self, const struct exec_line *line)
{
    const char *answer = asks(self, line);
    if (answer && strcmp(answer, ok) != 0)
        self->host->unfit(self, "ok");
}

static void exec_init(struct policy *self)
{
    struct exec_vars *vars = self->vars;
    struct exec_line line = exec_question("begin", 0);
    const char *answer;
    exec_word(&line, " protocol=", "1");
    exec_count(&line, " seed=", (uint64_t)(self->host->uniform(self) * 4294967296.0));
    answer = asks(self, &line);
    if (!answer)
        return;
    if (!exec_takes(&answer, "takes")) {
        self->host->unfit(self, "takes, and the questions that it wants, as in: takes admit finish");
        return;
    }
    while (answer[0] != '\0') {
        int hook = 0;
        while (hook < EXEC_HOOKS && !exec_takes(&answer, exec_hooks[hook]))
            hook++;
        if (hook == EXEC_HOOKS) {
            self->host->unfit(self, "behind takes some of: run_admit run_admitted run_refused run_withdrawn run_finish "
                                    "admit admitted refused start finish late tick");
            return;
        }
        vars->takes[hook] = true;
    }
}

/* --- calls -------------------------------------------------------------------------------------------------------- */

static struct exec_line about_call(struct policy *self, enum exec_hook hook, const struct policy_view *view,
                                   const struct policy_call *call)
{
    struct exec_vars *vars = self->vars;
    struct exec_call *memory = call->state;
    if (memory->number == 0)
        memory->number = ++vars->calls;
    return exec_about_call(exec_hooks[hook], view, call, memory->number);
}

static void add_outcome(struct exec_line *line, const struct policy_outcome *outcome)
{
    exec_word(line, " end=", exec_ends[outcome->end]);
    exec_time(line, " retry_after=", outcome->retry_after);
    exec_amount(line, " in=", outcome->input_tokens);
    exec_amount(line, " cached=", outcome->cached_tokens);
    exec_amount(line, " out=", outcome->output_tokens);
}

static void add_answer(struct exec_line *line, const struct policy_answer *answer)
{
    exec_word(line, " answer=", exec_actions[answer->action]);
    exec_time(line, " after=", answer->after);
    if (answer->reason)
        exec_word(line, " reason=", answer->reason);
}

static struct policy_answer exec_admit(struct policy *self, const struct policy_view *view, struct policy_call *call)
{
    struct exec_line line;
    if (!takes(self, EXEC_ADMIT))
        return policy_admit();
    line = about_call(self, EXEC_ADMIT, view, call);
    return verdict(self, &line,
                   "admit, hold SECONDS [REASON], defer SECONDS|none [REASON], reject [REASON] or displace [REASON]");
}

static policy_time exec_admitted(struct policy *self, const struct policy_view *view, struct policy_call *call)
{
    struct exec_line line;
    if (!takes(self, EXEC_ADMITTED))
        return 0;
    line = about_call(self, EXEC_ADMITTED, view, call);
    return time_or_ok(self, &line, "expires", "ok, or expires SECONDS", 0);
}

static void exec_refused(struct policy *self, const struct policy_view *view, struct policy_call *call,
                         const struct policy_answer *answer)
{
    struct exec_line line;
    if (!takes(self, EXEC_REFUSED))
        return;
    line = about_call(self, EXEC_REFUSED, view, call);
    add_answer(&line, answer);
    tells(self, &line);
}

static struct policy_answer exec_start(struct policy *self, const struct policy_view *view, struct policy_call *call)
{
    struct exec_line line;
    if (!takes(self, EXEC_START))
        return policy_admit();
    line = about_call(self, EXEC_START, view, call);
    return verdict(self, &line, "admit, defer SECONDS|none [REASON] or reject [REASON]");
}

static policy_time exec_finish(struct policy *self, const struct policy_view *view, struct policy_call *call,
                               const struct policy_outcome *outcome)
{
    struct exec_line line;
    if (!takes(self, EXEC_FINISH))
        return POLICY_NONE;
    line = about_call(self, EXEC_FINISH, view, call);
    add_outcome(&line, outcome);
    return time_or_ok(self, &line, "again", "ok, or again SECONDS", POLICY_NONE);
}

static void exec_late(struct policy *self, const struct policy_view *view, struct policy_call *call,
                      const struct policy_outcome *outcome)
{
    struct exec_line line;
    if (!takes(self, EXEC_LATE))
        return;
    line = about_call(self, EXEC_LATE, view, call);
    add_outcome(&line, outcome);
    tells(self, &line);
}

static policy_time exec_tick(struct policy *self, const struct policy_view *view)
{
    struct exec_line line;
    policy_time after;
    if (!takes(self, EXEC_TICK))
        return POLICY_NONE;
    line = exec_question(exec_hooks[EXEC_TICK], view->now);
    exec_view(&line, view);
    after = time_or_ok(self, &line, "wake", "ok, or wake SECONDS", POLICY_NONE);
    return after == POLICY_NONE ? POLICY_NONE : view->now + after;
}

/* --- runs --------------------------------------------------------------------------------------------------------- */

static struct policy_answer exec_run_admit(struct policy *self, const struct policy_view *view, struct policy_run *run)
{
    struct exec_line line;
    if (!takes(self, EXEC_RUN_ADMIT))
        return policy_admit();
    line = exec_about_run(exec_hooks[EXEC_RUN_ADMIT], view, run);
    return verdict(self, &line, "admit, hold SECONDS [REASON], defer SECONDS|none [REASON] or reject [REASON]");
}

static void exec_run_admitted(struct policy *self, const struct policy_view *view, struct policy_run *run)
{
    struct exec_line line;
    if (!takes(self, EXEC_RUN_ADMITTED))
        return;
    line = exec_about_run(exec_hooks[EXEC_RUN_ADMITTED], view, run);
    tells(self, &line);
}

static void exec_run_refused(struct policy *self, const struct policy_view *view, struct policy_run *run,
                             const struct policy_answer *answer)
{
    struct exec_line line;
    if (!takes(self, EXEC_RUN_REFUSED))
        return;
    line = exec_about_run(exec_hooks[EXEC_RUN_REFUSED], view, run);
    add_answer(&line, answer);
    tells(self, &line);
}

static void exec_run_withdrawn(struct policy *self, const struct policy_view *view, struct policy_run *run)
{
    struct exec_line line;
    if (!takes(self, EXEC_RUN_WITHDRAWN))
        return;
    line = exec_about_run(exec_hooks[EXEC_RUN_WITHDRAWN], view, run);
    tells(self, &line);
}

static void exec_run_finish(struct policy *self, const struct policy_view *view, struct policy_run *run, bool done)
{
    struct exec_line line;
    if (!takes(self, EXEC_RUN_FINISH))
        return;
    line = exec_about_run(exec_hooks[EXEC_RUN_FINISH], view, run);
    exec_count(&line, " done=", done);
    tells(self, &line);
}

const struct policy_ops weir_policy = {
    POLICY_HEADER,
    .name = "exec",
    .summary = "a program of any language decides: one line a question, one line an answer",
    .params = exec_options,
    .gauges = exec_gauges,
    .params_size = sizeof(struct exec_params),
    .vars_size = sizeof(struct exec_vars),
    .stats_size = sizeof(struct exec_stats),
    .call_size = sizeof(struct exec_call),
    .one_copy = true,
    .init = exec_init,
    .run_admit = exec_run_admit,
    .run_admitted = exec_run_admitted,
    .run_refused = exec_run_refused,
    .run_withdrawn = exec_run_withdrawn,
    .run_finish = exec_run_finish,
    .admit = exec_admit,
    .admitted = exec_admitted,
    .refused = exec_refused,
    .start = exec_start,
    .finish = exec_finish,
    .late = exec_late,
    .tick = exec_tick,
};
