"""Memory of a process over input length: full attention beside a query-focused memory.

    python3 tests/bench/infini_memory.py build/release/bin/qfs_bench_infini_memory MODEL [SEGMENT]

Bytes of attention state, the peak that shapes predict and the one that was measured, from 1,024 tokens to 32,768 (full
attention: to 8,192), one process each; the loaded model is in both peaks, `growth` is the same ratio without it. Ends
with 1 where the state of a memory grows beyond its window, a peak is more than a tenth away from its prediction, or the
peak of reading cannot be told from that of loading.
"""

import json
import subprocess
import sys

LENGTHS = [1024, 2048, 4096, 8192, 16384, 32768]
MOST_OF_FULL = 8192
TOLERANCE = 0.1


def measured(program, model, kind, tokens, segment):
    done = subprocess.run([program, model, "2", kind, str(tokens), str(segment)], check=True, capture_output=True)
    return json.loads(done.stdout)


def mebibytes(count):
    return f"{count / 2**20:8.1f}"


def main(program, model, segment="512"):
    missed = []
    print("attention    tokens  state MiB  predicted peak  measured  ratio  growth  seconds")
    states = set()
    for kind in ("full", "qf_infini"):
        for tokens in LENGTHS:
            if kind == "full" and tokens > MOST_OF_FULL:
                continue
            one = measured(program, model, kind, tokens, segment)
            ratio = one["peak_bytes"] / one["predicted_bytes"]
            growth = (one["peak_bytes"] - one["loaded_bytes"]) / (one["predicted_bytes"] - one["loaded_bytes"])
            print(f"{kind:10} {tokens:8}   {mebibytes(one['state_bytes'])}        {mebibytes(one['predicted_bytes'])}"
                  f"  {mebibytes(one['peak_bytes'])}  {ratio:5.3f}  {growth:6.3f}  {one['seconds']:7.1f}", flush=True)
            if not one["own_peak"]:
                missed.append(f"{kind}, {tokens} tokens: the peak is that of loading, which could not be reset")
            if abs(ratio - 1) > TOLERANCE:
                missed.append(f"{kind}, {tokens} tokens: the peak is {ratio:.3f} of its prediction")
            if kind == "qf_infini":
                states.add(one["state_bytes"])
    if len(states) > 1:
        missed.append("the state of a memory grows beyond its window")
    print("\n".join(missed) or f"all within {TOLERANCE:.0%}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
