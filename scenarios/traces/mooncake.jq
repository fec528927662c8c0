# Mooncake's lines as CSV, for weir: jq -rn -f mooncake.jq FILE.jsonl >FILE.csv
["timestamp", "input_length", "output_length", "hash_blocks"],
(inputs | [.timestamp, .input_length, .output_length, (.hash_ids | length)])
| @csv
