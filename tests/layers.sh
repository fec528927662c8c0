#!/bin/sh
# layers.sh - the layer rule: who may include whom, and whose symbols who may use; and no mutable globals.
#
#   sh tests/layers.sh build/gcc
#
# The folder holds the objects of a full build. Prints each violation, and exits 1 when there is one.
set -eu
objects=$1
[ -d "$objects/sim" ] || { echo "layers.sh: $objects holds no objects" >&2; exit 2; }

# A part (a file without its suffix) may use its own room, and what stands here: the other part, or a prefix of its path
# that ends in / or _.
# sim/cli and tests see everything; the registry is the one list of all policies.
rules='
sim/engine         sim/io/diag sim/io/mem
sim/stats          sim/io/diag sim/io/mem sim/engine/clock
sim/study          sim/io/ sim/engine/ sim/stats/
sim/io
sim/cli            sim/ models/ policies/
models             sim/io/ sim/engine/ sim/stats/ policies/policy
policies           policies/policy sim/io/option
policies/pacer         policies/policy sim/io/option policies/pacer_store
policies/pacer_store   policies/pacer_tables
policies/pacer_tables  policies/bucket
policies/bucket        policies/amount
policies/meter         policies/amount
policies/token_bucket  policies/policy sim/io/option policies/bucket policies/meter
policies/cost_bucket   policies/policy sim/io/option policies/bucket
policies/gcra          policies/policy sim/io/option policies/meter
policies/tenant_cap    policies/policy sim/io/option policies/meter
policies/aimd            policies/policy sim/io/option policies/limiter
policies/vegas           policies/policy sim/io/option policies/limiter
policies/gradient2       policies/policy sim/io/option policies/limiter
policies/envoy_gradient  policies/policy sim/io/option policies/limiter
policies/atb             policies/policy sim/io/option policies/adaptive_bucket
policies/aatb            policies/policy sim/io/option policies/adaptive_bucket
policies/codel     policies/policy sim/io/option policies/codel_law
policies/deadline  policies/policy sim/io/option policies/deadline_line
policies/fq_codel  policies/policy sim/io/option policies/codel_law
policies/shares          policies/policy sim/io/option policies/meter policies/shares_buckets
policies/shares_buckets  policies/amount policies/class_shares
policies/class_shares    policies/policy policies/decimal
policies/run_budget      policies/policy sim/io/option policies/class_shares policies/run_budget_estimate
policies/exec            policies/policy sim/io/option policies/exec_
policies/exec_line       policies/policy
policies/exec_answer     policies/policy
policies/registry  policies/
policies/planner         policies/policy policies/planner_
policies/planner_state   policies/policy
policies/planner_demand  policies/planner_state policies/decimal
policies/planner_aimd    policies/planner_state
policies/planner_tables  policies/planner_demand
tests              sim/ models/ policies/ tests/
'

# The two mutable globals of the whole program, as PART SYMBOL.
globals='
sim/cli/session cli_stop
sim/engine/where sim_record
'

# Reads "FROM TO WHAT", parts and a text, and prints the uses that no rule allows.
forbidden()
{
    RULES=$rules awk '
    function room(part)
    {
        if (part ~ /^tests\//)
            return "tests"
        return substr(part, 1, match(part, /\/[^\/]*$/) - 1)
    }
    function allowed(from, to,    key, count, names, i)
    {
        if (room(from) == room(to) && room(from) != "policies")
            return 1
        key = from in may ? from : room(from)
        count = split(may[key], names, " ")
        for (i = 1; i <= count; i++)
            if (index(to, names[i]) == 1 && (names[i] ~ /[\/_]$/ || to == names[i]))
                return 1
        return 0
    }
    BEGIN {
        lines = split(ENVIRON["RULES"], line, "\n")
        for (i = 1; i <= lines; i++) {
            key = line[i]
            sub(/ .*/, "", key)
            if (key != "")
                may[key] = substr(line[i], length(key) + 1)
        }
    }
    $1 != $2 && !allowed($1, $2) { print }
    '
}

includes()
{
    find sim models policies tests -name '*.[ch]' -exec grep -H '^ *# *include "' {} + |
        sed 's/\.[ch]:[^"]*"/ /; s/\.[ch]".*//' | awk '{ print $1, $2, "is included" }'
}

# The objects of what is in the tree now; the folder may hold older ones.
ours()
{
    find sim models policies -name '*.c' | while read -r source; do
        object=$objects/${source%.c}.o
        [ ! -e "$object" ] || echo "$object"
    done
}

# Every symbol that one object lacks and another one of ours defines.
symbols()
{
    ours | xargs nm -A -P | sed "s|^$objects/||" |
        awk '
        { sub(/\.o:$/, "", $1) }
        $3 == "U" { user[++uses] = $1; used[uses] = $2 }
        $3 ~ /^[A-TV-Z]$/ { home[$2] = $1 }
        END {
            for (i = 1; i <= uses; i++)
                if (used[i] in home)
                    print user[i], home[used[i]], "defines " used[i]
        }'
}

# Data that can be written to; constant tables that the loader relocates (.data.rel.ro) are none.
mutable()
{
    ours |
        while read -r object; do
            part=${object#"$objects"/}
            nm -f sysv "$object" | awk -F '|' -v part="${part%.o}" '
                $7 ~ /^\.(t?data|t?bss)|COM/ && $7 !~ /^\.data\.rel\.ro/ && $4 !~ /SECTION/ {
                    gsub(/ /, "", $1)
                    print part, $1
                }'
        done | sort | GLOBALS=$globals awk '
            BEGIN {
                count = split(ENVIRON["GLOBALS"], line, "\n")
                for (i = 1; i <= count; i++)
                    known[line[i]] = 1
            }
            !($0 in known)'
}

found=$(
    includes | forbidden | awk '{ print $1 " may not use " $2 ": the header " $3 " " $4 }'
    symbols | forbidden | awk '{ print $1 " may not use " $2 ", which " $3 " " $4 }'
    mutable | awk '{ print $1 " has a mutable global: " $2 }'
)
if [ -n "$found" ]; then
    echo "$found"
    exit 1
fi
echo "layers: $(includes | wc -l) includes and $(symbols | wc -l) symbols point the right way"
