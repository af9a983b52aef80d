"""The images of the Dockerfile: both are built, and what is in them runs. They are built where QFS_TEST_CONTAINERS names
a program that does it (docker, podman), since that takes minutes and fetches a base image.

Usage: QFS_TEST_CONTAINERS=docker container_test.py
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOL = os.environ.get("QFS_TEST_CONTAINERS", "")


class Images(unittest.TestCase):
    def build(self, target):
        tag = f"qfs-bench-test:{target}"
        subprocess.run([TOOL, "build", "--target", target, "--tag", tag, str(ROOT)], check=True)
        self.addCleanup(subprocess.run, [TOOL, "rmi", tag])
        return tag

    def run_image(self, tag, folder, *arguments):
        run = subprocess.run([TOOL, "run", "--rm", "--volume", f"{folder}:/work", tag, *arguments], text=True, capture_output=True)
        self.assertEqual(run.returncode, 0, run.stderr)
        return run.stdout

    def sweep(self, tag):
        """The table of a sweep over the bundled data, whose file and store are the user's."""
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "sweep.json").write_text(json.dumps(
                {"name": "small", "tokenizer": "words", "datasets": [{"name": "mini-meetings"}], "methods": [{"method": "lead"}],
                 "grid": {"local_context": [64]}, "metrics": ["rouge"]}))
            table = self.run_image(tag, folder, "sweep", "sweep.json", "--limit", "2", "--quiet")
            self.assertTrue(pathlib.Path(folder, "small.sqlite").is_file())
        return table

    def test_the_driver_sweeps_without_libtorch(self):
        tag = self.build("driver")
        self.assertIn("lead", self.sweep(tag))
        self.assertIn("qfs-host", self.run_image(tag, "/tmp", "list", "methods"))

    def test_the_full_image_starts_its_host(self):
        tag = self.build("full")
        self.assertIn("lead", self.sweep(tag))
        probe = subprocess.run([TOOL, "run", "--rm", "--entrypoint", "qfs-host", tag, "probe"], text=True, capture_output=True)
        self.assertEqual(json.loads(probe.stdout)["schema"], "qfs-host/probe/1", probe.stderr)


if __name__ == "__main__":
    if not TOOL or shutil.which(TOOL) is None:
        print("skipped: no images were built; QFS_TEST_CONTAINERS names docker or podman where one may")
        sys.exit(77)
    unittest.main()
