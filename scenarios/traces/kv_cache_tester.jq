# Sessions of kv-cache-tester as CSV, for weir: jq -rn -f kv_cache_tester.jq trace_*.json >FILE.csv
#
# What a call's prompt shares with that of its session's call before is the number of leading blocks that are the same.
# Sub-agents are sessions of their own.
def shared($a; $b): # leading elements that are the same
  ([$a, $b] | map(length) | min) as $most
  | first(range($most) | select($a[.] != $b[.])) // $most;

def rows($name; $block):
  foreach (.requests | map(select(.requests == null)) | to_entries)[] as {key: $turn, value: $call}
    ({before: []};
     .prefix = ([shared(.before; $call.hash_ids) * $block, $call.in] | min) | .before = $call.hash_ids;
     [$name, $turn, $call.t, $call.in, .prefix, $call.out, $call.api_time, $call.think_time]),
  (.requests[] | select(.requests != null) | .agent_id as $agent | rows($name + "." + $agent; $block));

["session_id", "turn", "start_s", "input_tokens", "prefix_tokens", "output_tokens", "api_time_s", "think_time_s"],
(inputs | rows(.id; .block_size))
| @csv
