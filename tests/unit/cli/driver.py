"""The built qfs-bench as tests use it: run it in a folder of its own, write sweeps, read stores.

Used by the test files beside this one; they get the program as the first argument.
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest

QFS_BENCH = os.path.abspath(sys.argv.pop(1))

FIELDS = {"id": "id", "document": "document", "query": "query", "references": "references"}


def record(i):
    return {"id": f"e{i}", "document": "\n".join(f"Line {j} of text {i} is about item {j}." for j in range(8)),
            "query": f"What is line 3 of text {i} about?", "references": [f"Line 3 of text {i} is about item 3."]}


class DriverTest(unittest.TestCase):
    """A test in an empty folder, which is the current one of every run."""

    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="qfs_cli_")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return name

    def write_bytes(self, name, data):
        with open(self.path(name), "wb") as file:
            file.write(data)

    def write_data(self, examples=12, name="data.jsonl"):
        return self.write(name, "".join(json.dumps(record(i)) + "\n" for i in range(examples)))

    def write_sweep(self, name="sweep.json", **members):
        """A sweep of `lead` over a small file; members replace those of the default."""
        sweep = {"name": "small", "tokenizer": "words", "methods": [{"method": "lead"}],
                 "datasets": [{"path": "data.jsonl", "fields": FIELDS}],
                 "grid": {"local_context": [16, 32]}, "metrics": ["rouge"],
                 "report": {"rows": ["method"], "columns": ["local_context"], "values": ["rouge1.f"]}}
        sweep.update(members)
        return self.write(name, json.dumps({k: v for k, v in sweep.items() if v is not None}))

    def run_bench(self, *arguments, **options):
        environment = {k: v for k, v in os.environ.items() if not k.startswith("QFS_")}
        environment.update(options.pop("environment", {}))
        environment.setdefault("QFS_CACHE_DIR", self.path("cache"))
        return subprocess.run([QFS_BENCH, *arguments], cwd=self.folder, env=environment, text=True,
                              capture_output=True, timeout=120, **options)

    def assert_fails(self, code, run, *messages):
        """Exit code, a message on stderr with all these parts, nothing on stdout."""
        self.assertEqual(run.returncode, code, run.stderr)
        self.assertEqual(run.stdout, "")
        for message in messages:
            self.assertIn(message, run.stderr)

    def assert_succeeds(self, run):
        self.assertEqual(run.returncode, 0, run.stderr)
        return run.stdout
