"""What this machine does at most, and the fraction of it that a time reaches, as `qfs-bench doctor --roofline` says.

Used by the benchmarks beside this file. Measured before the rounds: on a machine that has become busier or quieter
since, fractions are off by as much.
"""

import json
import subprocess


class Limits:
    """The limits with a model; `prompt_tokens` and `context` as the options of the same names."""

    def __init__(self, bench, backbone, threads, prompt_tokens=None, context=None):
        command = [bench, "doctor", "--roofline", "--json", "--backbone", str(backbone), "--threads", str(threads)]
        if prompt_tokens:
            command += ["--prompt-tokens", ",".join(map(str, prompt_tokens))]
        if context:
            command += ["--context", str(context)]
        self.answer = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)

    def text(self):
        giga = 1e-9
        return (f"limits of {self.answer['threads']} threads: read {self.answer['read']['best'] * giga:.1f} GB/s, copy "
                f"{self.answer['copy']['best'] * giga:.1f} GB/s, matrix products in the model's shapes "
                f"{self.answer['gemm']['flops'] * giga:.1f} GFLOP/s")

    def most(self, weights="as loaded", **wanted):
        """Tokens a second at most, of the row with these members; "float32" is "as loaded" where nothing is packed."""
        rows = [row for row in self.answer["most"] if all(row.get(key) == value for key, value in wanted.items())]
        rows = [row for row in rows if row["weights"] == weights] or rows
        return rows[0]["tokens_per_second"]

    def least_seconds(self, *works):
        """The least time of {"flops", "bytes"} of phases one after the other."""
        return sum(max(work["flops"] / self.answer["gemm"]["flops"], work["bytes"] / self.answer["read"]["best"])
                   for work in works)
