"""cap.py - a cap of twelve calls in the system, as a program: the whole language in twenty lines.

It keeps who is inside by itself; weir's fixed_cap reads the same from the gate."""
import sys

inside = set()
for line in sys.stdin:
    word, *pairs = line.split()
    ask = dict(pair.split("=", 1) for pair in pairs)
    answer = "ok"
    if word == "begin":
        answer = "takes admit admitted finish"
    elif word == "admit" and len(inside) < 12:
        answer = "admit"
    elif word == "admit":
        answer = "defer none cap"
    elif word == "admitted":
        inside.add(ask["call"])
    elif word == "finish":
        inside.discard(ask["call"])
    print(answer, flush=True)
