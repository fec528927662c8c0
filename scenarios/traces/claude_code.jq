# Claude Code's logs as CSV, for weir: jq -rn -f claude_code.jq ~/.claude/projects/*/*.jsonl >FILE.csv
#
# A message of the assistant stands on several lines, one a block of its content, with the same id. Its call began with
# the line before it, a prompt or the result of a tool, and ended with its last line. Nothing but times and counts is
# taken; an agent that was sent is a session of its own.
def seconds: # of an ISO date, with its fraction
  (.[0:19] + "Z" | fromdateiso8601) + (.[19:] | rtrimstr("Z") | if . == "" then 0 else ("0" + . | tonumber) end);

def row:
  {time: .began, session, input: (.usage.input_tokens + .usage.cache_creation_input_tokens + .usage.cache_read_input_tokens),
   cached: .usage.cache_read_input_tokens, output: .output, duration: ((.ended | seconds) - (.began | seconds))};

def calls:
  foreach ((inputs | select(.timestamp != null)), null) as $line
    ({open: {}, last: {}};
     .done = null
     | if $line == null then .
       else
         ($line.sessionId + "." + ($line.agentId // "")) as $session
         | ($line.message | if type == "object" then .usage else null end) as $usage
         | if $line.type == "assistant" and $usage != null then
             if .open[$session].id == $line.message.id then
               .open[$session] |= (.ended = $line.timestamp | .output = ([.output, $usage.output_tokens] | max))
             else
               .done = .open[$session]
               | .open[$session] = {id: $line.message.id, session: $session, began: (.last[$session] // $line.timestamp),
                                    ended: $line.timestamp, output: $usage.output_tokens,
                                    usage: ({input_tokens: 0, cache_creation_input_tokens: 0, cache_read_input_tokens: 0}
                                            + ($usage | with_entries(select(.value != null))))}
             end
           else . end
         | .last[$session] = $line.timestamp
       end;
     if $line == null then .open[] else .done | select(. != null) end)
  | row;

["time", "session", "input_tokens", "cached_tokens", "output_tokens", "duration_s"],
([calls] | sort_by(.time | seconds)[] | [.time, .session, .input, .cached, .output, .duration])
| @csv
