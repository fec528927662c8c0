#!/bin/sh
# Makes claude.csv: sh make.sh TABLE.csv > claude.csv
#
# TABLE.csv has one row a model call, the calls of a session in order, under the column names that README.md explains.
# A call is kept if its duration and that of the session's call before it are known: only then is `think_time_s` the
# wait between the two. README.md says how that was seen, and why the clean wait differs on non-streaming calls alone.
set -eu
[ $# -eq 1 ] || {
    echo "usage: sh make.sh TABLE.csv > claude.csv" >&2
    exit 2
}

LC_ALL=C awk '
function field(name)
{
    if (!(name in column)) {
        print "make.sh: the table has no column " name > "/dev/stderr"
        exit failed = 1
    }
    return $column[name]
}

BEGIN { FS = OFS = "," }

NR == 1 {
    for (i = 1; i <= NF; i++)
        column[$i] = i
    print "session_id", "turn", "kind", "input_tokens", "prefix_tokens", "output_tokens", "api_time_s",
          "wait_s", "wait_clean_s"
    next
}

{
    session = field("session_id")
    own = field("api_time_s")
    wait = field("think_time_s")
    if (before[session] != "" && own != "" && wait != "") {
        clean = field("kind") == "n" ? wait - own : wait + 0
        print session, field("turn"), field("kind"), field("input_tokens"), field("prefix_tokens"),
              field("output_tokens"), own, wait + 0, sprintf("%.2f", clean > 0 ? clean : 0)
    }
    before[session] = own
}

END { exit failed }
' "$1"
