# aiperf's profile_export.jsonl as CSV, for weir: jq -rn -f aiperf.jq profile_export.jsonl >FILE.csv
#
# Requests that failed or were warm-up are left out.
def of(metric): .metrics[metric].value;

def latency: # seconds, in whatever unit it is given
  .metrics.request_latency | .value / {"ns": 1e9, "us": 1e6, "ms": 1e3, "s": 1, "sec": 1}[.unit];

["time_s", "session", "turn", "input_tokens", "output_tokens", "duration_s"],
([inputs | select(.error == null and .metadata.benchmark_phase == "profiling" and (.metadata.was_cancelled | not))]
 | sort_by(.metadata.request_start_ns)[]
 | [.metadata.request_start_ns / 1e9, .metadata.x_correlation_id, .metadata.turn_index, of("input_sequence_length"),
    of("output_sequence_length"), latency])
| @csv
