/* The table of commands. */
#include "sim/cli/commands.h"

#include <stddef.h>
#include <stdint.h>

const struct cli_command cli_commands[] = {
    {"run", "FILE", 1, 1, "Run a scenario and print its table.", cmd_run_options, cmd_run,
     "The table goes to stdout, everything else to stderr. Where FILE has a .published.csv beside it, the\n"
     "numbers published there are printed beside ours. Exit status: 0 done, 2 bad usage or input, 130\n"
     "interrupted.\n"
     "\n"
     "--log writes rows as attempts end, in order of design point and replication, however many threads\n"
     "there are; CALLS.csv.meta says what each column means."},
    {"check", "[FILE]", 0, 1, "Read a scenario, print it as it is understood, run nothing; or try a plug-in.",
     cmd_check_options, cmd_check,
     "Prints every value with where it came from, then what it means: means, spreads, capacity, knee, and\n"
     "how long a run will take.\n"
     "\n"
     "`weir check --plugin F.so` without FILE tries the policy itself, with its defaults, presets, choices\n"
     "and bounds: every callback at the edges of gate and call, equal questions of two copies, and small\n"
     "simulations. Exit status: 0 nothing was found, 1 something was, 2 bad input or a crash."},
    {"bounds", "FILE", 1, 1, "Print what theory says without simulating.", cmd_bounds_options, cmd_bounds,
     "Capacity, knee and asymptotic bounds for each design point; the exact M/M/c//N numbers where think\n"
     "time and service are exponential; Erlang's formulas and M/G/c approximations for open arrivals;\n"
     "mean value analysis of populations that share a backend; and past the knee the retrial balance."},
    {"size", "FILE", 1, 1, "Find the largest population, or smallest cap, that meets goals.", cmd_size_options,
     cmd_size,
     "What is varied, within which values, and the goals stand in `size:` of FILE. A ladder, and then\n"
     "halves of its bracket, are simulated, each size for as long as it takes to tell on which side of the\n"
     "goal it lies. Two knobs give a frontier, `ranges:` what the answer owes to values that are not known\n"
     "well; and without a goal the time of a task is printed at each rung, against an agent alone.\n"
     "\n"
     "Exit status: 0 there is an answer, 1 nothing meets the goals, 2 bad usage or input, 130 interrupted."},
    {"discover", "FILE", 1, 1, "Probe a pool whose limits it cannot see, and print seeds for a pacer.",
     cmd_discover_options, cmd_discover,
     "Sends calls to a provider of FILE in simulated time, and sees what a client sees: 429s, latencies,\n"
     "and how much of the input was cached. Four phases, each step a row: full contexts at once (burst),\n"
     "the rate that is carried for long (ramp), requests, and the weight of cached input (cache). What it\n"
     "does is said by `discover:` in FILE; --set discover.spend='50M tokens' sets a cap.\n"
     "\n"
     "The seeds are a fragment of a scenario, `seeds: {POOL: {pacer: ...}}`, on stdout behind the table or\n"
     "in the file of -o. A number of a pool that could not be strained is said to be a lower bound. Exit\n"
     "status: 0 done, 1 the cap was reached or nothing was found, 2 bad usage or input, 130 interrupted;\n"
     "what was found until then is printed all the same."},
    {"trace", "FILE.csv", 1, 1, "Read a recorded workload: how it is understood, and what is in it.", cmd_trace_options,
     cmd_trace,
     "FILE is `-` for standard input. `weir list traces` names the formats; a file is of the one whose\n"
     "columns it has, and its units are that format's. Columns of no format are told by --column, times\n"
     "with their unit: `--column 'time=arrived:ms, input=prompt_len, output=gen_len'`; a moment without\n"
     "one is a date.\n"
     "\n"
     "Rows are counted, and those that do not count with their reason. An empty field is unknown, not 0.\n"
     "Memory does not grow with the rows, unless they are sorted. Exit status: 0 done, 2 bad usage or\n"
     "input."},
    {"fit", "TRACE.csv", 1, 1, "Fit distributions to a recorded workload, and print a scenario of them.",
     cmd_fit_options, cmd_fit,
     "Think times, answers, contexts and lengths of sessions: exponential or geometric, lognormal, gamma,\n"
     "weibull, mixtures of lognormals by EM, and the data's own quantiles, each with its BIC and its\n"
     "distance from the data. Arrivals by their index of dispersion. What independent draws would lose,\n"
     "correlation within sessions, is measured. The file is read as by `weir trace`."},
    {"plot", "TABLE.csv", 1, 1, "Draw a table that `weir run -o` wrote, a record or a log of decisions.",
     cmd_plot_options, cmd_plot,
     "Without -y it draws wait_p99, and of a record (`record:` in a scenario) the first four columns that\n"
     "vary. Of a record `-y A,B` draws a panel each, one below the other, and `-y A+B,C` both A and B in\n"
     "the first; if B is in another unit, its axis is at the right. A log of decisions is drawn the same,\n"
     "its numbers for each member, gate and copy; `--at gate=NAME` chooses."},
    {"regress", "FILE...", 1, SIZE_MAX, "Run scenarios against their expected tables: did a change make it worse?",
     cmd_regress_options, cmd_regress,
     "S.yaml is held against S.regress.csv, or where that is not there S.expected.csv, at its own seed,\n"
     "with the table's replications. The same seeds give the same digits, so what was not changed cannot\n"
     "fail. Where digits differ, a value is judged by what it means: it has a direction and a tolerance\n"
     "(`weir help METRIC`, or `regress:` in the scenario), and is worse when it changed for the worse by\n"
     "more than that and by more than chance explains. Rows are same, within, better, undecided, trade\n"
     "(some better, some worse) or worse; what moved is shown, with the command that shows it again and\n"
     "the one that accepts it.\n"
     "\n"
     "With --base, --base-set or --paired no table is read: both versions run on the same random\n"
     "numbers, and longer where a row is undecided. Exit status: 0 nothing got worse, 1 a row is worse,\n"
     "a trade or missing (with --strict: or undecided), 2 bad input or nothing compared, 130\n"
     "interrupted. All files are run whatever fails."},
    {"diff", "A.csv B.csv", 2, 2, "Compare two tables that `weir run -o` wrote, by what their numbers mean.",
     cmd_diff_options, cmd_diff,
     "As `weir regress` judges; the two share no random numbers, as far as is known. Exit status: 0\n"
     "nothing got worse, 1 a row is worse or a trade, 2 bad input or nothing to compare."},
    {"new", "[WHAT [NAME]]", 0, 2, "Print a starter to fill in: a scenario of your card, or a policy in C.", NULL,
     cmd_new,
     "`weir new card [NAME] >mine.yaml` is a scenario, `weir new policy NAME >mine.c` a plug-in; each runs\n"
     "as it is. Without an operand both are named."},
    {"list", "[WHAT]", 0, 1, "List policies, metrics, distributions, keys of a scenario, or terms.", cmd_list_options,
     cmd_list,
     "WHAT is one of policies, metrics, distributions, keys, terms, traces, reference; without it the\n"
     "lists are named."},
    {"help", "[TOPIC]", 0, 1, "Explain a command, a policy, a metric, a key of a scenario or a term.", cmd_help_options,
     cmd_help, NULL},
    {.name = NULL},
};
