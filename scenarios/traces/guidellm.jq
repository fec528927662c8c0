# guidellm's benchmarks.json as CSV, for weir: jq -rn -f guidellm.jq benchmarks.json >FILE.csv
#
# Requests that were answered, of all the benchmarks of a file one after the other.
["time_s", "input_tokens", "output_tokens", "duration_s"],
([inputs | .benchmarks[].requests.successful[]]
 | sort_by(.request_start_time // .start_time)[]
 | [.request_start_time // .start_time, .prompt_tokens, .output_tokens, .request_latency])
| @csv
