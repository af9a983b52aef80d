"""Trained files that this repository carries are what their training.json says, and sweeps can use them.

Usage: test_committed_artifacts.py QFS_BENCH ROOT
"""

import hashlib
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(sys.argv.pop())
QFS_BENCH = os.path.abspath(sys.argv.pop())
FOLDERS = sorted(path.parent for path in (ROOT / "experiments" / "artifacts").glob("*/training.json"))
MOST_BYTES = 16 << 20


def header(path):
    """The metadata and the tensors of a safetensors file."""
    with open(path, "rb") as file:
        (size,) = struct.unpack("<Q", file.read(8))
        tensors = json.loads(file.read(size))
    return tensors.pop("__metadata__"), tensors


class CommittedArtifacts(unittest.TestCase):
    def each(self):
        self.assertGreater(len(FOLDERS), 0)
        for folder in FOLDERS:
            with self.subTest(folder.name), open(folder / "training.json", encoding="utf-8") as file:
                yield folder, json.load(file)

    def test_bytes_are_those_that_the_training_made(self):
        for folder, training in self.each():
            for made in training["files"]:
                content = (folder / made["name"]).read_bytes()
                self.assertEqual(hashlib.sha256(content).hexdigest(), made["sha256"])
                self.assertEqual(len(content), made["bytes"])

    def test_files_name_their_training(self):
        for folder, training in self.each():
            metadata, tensors = header(folder / training["files"][0]["name"])
            self.assertEqual(metadata["qfs.training_cell"], training["cell_id"])
            self.assertEqual(sum(e - s for s, e in (t["data_offsets"] for t in tensors.values())) // 2,
                             training["cost"]["trainable_parameters"])

    def test_the_curve_is_whole_and_its_best_point_was_kept(self):
        for _, training in self.each():
            steps = [point["step"] for point in training["curve"]]
            self.assertEqual(steps, list(range(1, training["cost"]["steps"] + 1)))
            self.assertTrue(any("development.loss" in point["values"] for point in training["curve"]))

    def test_all_together_stay_small(self):
        size = sum(path.stat().st_size for folder in FOLDERS for path in folder.iterdir())
        self.assertLessEqual(size, MOST_BYTES)

    def test_the_default_sweep_plans_with_them(self):
        with tempfile.TemporaryDirectory(prefix="qfs_artifacts_") as folder:
            planned = subprocess.run(
                [QFS_BENCH, "plan", str(ROOT / "experiments/lc_sweep.json"), "--filter", "method=lora|ideal", "--json",
                 "--store", os.path.join(folder, "s.sqlite")], capture_output=True, text=True, check=False)
        if "smollm2-135m" in planned.stderr and planned.returncode == 5:
            self.skipTest("SmolLM2 is not in the cache (bootstrap.sh fetches it)")
        self.assertEqual(planned.returncode, 0, planned.stderr)
        digests = {made["sha256"] for _, training in self.each() for made in training["files"]}
        cells = json.loads(planned.stdout)["cells"]
        self.assertEqual(len(cells), 7)
        for cell in cells:
            self.assertIn(cell["artifacts"]["adapter"], digests)


if __name__ == "__main__":
    unittest.main()
