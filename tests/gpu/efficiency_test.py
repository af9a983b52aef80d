"""The efficiency report on a tiny model and the CPU: every part has its numbers, and what fails is told.

Usage: efficiency_test.py QFS_BENCH
"""

import os
import pathlib
import re
import subprocess
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "unit" / "cli"))
from driver import QFS_BENCH  # noqa: E402
from tiny_model import ModelTest  # noqa: E402


class Efficiency(ModelTest):
    def report(self, model):
        run = subprocess.run([sys.executable, str(HERE / "efficiency.py"), QFS_BENCH, model, "out", "--device", "cpu", "--tokens", "256",
                              "--train-tokens", "256", "--steps", "2", "--new-tokens", "4", "--examples", "2", "--shots", "1,2",
                              "--longest", "512", "--inputs", "256,512", "--batch", "2", "--memory-mib", "600"], cwd=self.folder, text=True, capture_output=True, timeout=240,
                             env={**os.environ, "OMP_NUM_THREADS": "1", "QFS_CACHE_DIR": self.path("cache")})
        with open(self.path("out/efficiency.md"), encoding="utf-8") as file:
            text = file.read()
        return run, dict(zip(re.findall(r"^## (.*)$", text, re.M), re.split(r"^## .*$", text, flags=re.M)[1:]))

    def test_every_part_has_its_numbers(self):
        self.write_model(max_position_embeddings=2048)
        run, parts = self.report("tiny")
        self.assertEqual(run.returncode, 0, parts)
        self.assertEqual(list(parts), ["IDEAL, Table 3", "IDEAL, Table 6", "IDEAL, memory", "SelfCP, Table 7", "Training", "SelfCP, Figure 6"])
        self.assertIn("9 reproduced, 1 differs", parts["IDEAL, Table 3"])
        for method in ("backbone", "lora", "ideal"):
            self.assertRegex(parts["IDEAL, Table 6"], rf"\n{method} +512 ", "all of the tiny model fits")
        for row in ("memory, 256", "memory, 512", "full attention, 256", "full attention, 512"):
            self.assertRegex(parts["IDEAL, memory"], rf"\n\| {row} +\| +[*]*[1-9][0-9.]*")
        for method in ("backbone 128", "backbone 256", "LoRA 128", "SelfCP 12 to 1", r"IDEAL \(LoRA\)"):
            self.assertRegex(parts["SelfCP, Table 7"], rf"\n\| {method} +\| [ *0-9.]+")
        for method in ("lora", "ideal"):
            self.assertRegex(parts["Training"], rf"\n\| {method} +\| +[1-9]\d* \|")
            self.assertGreater(float(re.search(rf"\nUtilisation of {method}: ([\d.]+) %", parts["Training"])[1]), 0)
        for form in ("memory", "recomputed", "tokens"):
            self.assertEqual(len(re.findall(rf"\n\| {form} +\| [ *0-9.]+", parts["SelfCP, Figure 6"])), 2, "time and memory")

    def test_what_fails_is_in_the_report(self):
        self.write("broken.gguf", "GGUF")
        run, parts = self.report("broken.gguf")
        self.assertEqual(run.returncode, 1)
        self.assertIn("9 reproduced", parts["IDEAL, Table 3"])
        self.assertIn("Failed with exit code", parts["SelfCP, Table 7"])


if __name__ == "__main__":
    unittest.main()
