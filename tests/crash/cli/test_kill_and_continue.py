"""After kill -9 at any moment, of the driver or of a host, the same command continues and ends with
the same table and the same outputs as a run that nobody disturbed.

Usage: test_kill_and_continue.py QFS_BENCH SWEEP_FILE
"""

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

QFS_BENCH = os.path.abspath(sys.argv.pop(1))
SWEEP = os.path.abspath(sys.argv.pop(1))

DRIVER_FAILPOINTS = [
    "store.before_begin:2", "store.before_commit:1", "store.before_commit:5", "store.before_commit:20",
    "store.after_commit:1", "store.after_commit:9", "run.before_unit:1", "run.before_unit:8",
    "run.before_commit:2", "run.after_commit:2", "run.before_repetition_commit:3",
    "store.before_score_commit:1", "store.before_score_commit:4",
]


def sweep(store, *options, failpoint=None):
    environment = {k: v for k, v in os.environ.items() if k != "QFS_FAILPOINT"}
    if failpoint:
        environment["QFS_FAILPOINT"] = failpoint
    return subprocess.Popen([QFS_BENCH, "sweep", SWEEP, "--store", store, "--quiet", *options],
                            env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def finish(process):
    out, err = process.communicate(timeout=120)
    return process.returncode, out.decode(), err.decode()


def qualities(store):
    """The byte-equal form of a store: the table of qualities and every output's hash."""
    report = subprocess.run(
        [QFS_BENCH, "report", "--only", "quality", "--format", "json", "--store", store],
        check=True, capture_output=True).stdout
    connection = sqlite3.connect(store)
    hashes = connection.execute(
        "SELECT c.cell_id, r.numerics_id, o.ordinal, o.output_sha256 FROM output o "
        "JOIN result r USING (result_id) JOIN cell c USING (cell_id) ORDER BY 1, 2, 3").fetchall()
    damaged = connection.execute("PRAGMA integrity_check").fetchone()[0]
    connection.close()
    return report, hashes, damaged


class KillAndContinue(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="qfs_crash_")
        cls.undisturbed_store = os.path.join(cls.folder.name, "undisturbed.sqlite")
        code, out, err = finish(sweep(cls.undisturbed_store))
        assert code == 0, err
        cls.table = out
        cls.expected = qualities(cls.undisturbed_store)
        assert json.loads(cls.expected[0]) and len(cls.expected[1]) == 36

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def assert_continues_to_the_same_end(self, store, *options):
        code, _, err = finish(sweep(store, *options))
        self.assertEqual(code, 0, err)
        self.assertEqual(qualities(store), self.expected)

    def test_a_second_run_computes_nothing_and_prints_the_same_qualities(self):
        started = time.monotonic()
        code, out, err = finish(sweep(self.undisturbed_store))
        self.assertEqual(code, 0, err)
        self.assertEqual(out, self.table)
        self.assertEqual(qualities(self.undisturbed_store), self.expected)
        self.assertLess(time.monotonic() - started, 10)

    def test_driver_killed_at_each_failpoint(self):
        for failpoint in DRIVER_FAILPOINTS:
            with self.subTest(failpoint=failpoint):
                store = os.path.join(self.folder.name, failpoint.replace(":", "_") + ".sqlite")
                code, _, err = finish(sweep(store, failpoint=failpoint))
                self.assertEqual(code, -signal.SIGKILL, f"the failpoint was not reached: {err}")
                self.assert_continues_to_the_same_end(store)

    def test_a_host_killed_now_and_then_is_replaced(self):
        store = os.path.join(self.folder.name, "host.sqlite")
        code, _, err = finish(sweep(store, failpoint="host.before_prediction:4"))
        self.assertEqual(code, 0, err)
        self.assertEqual(qualities(store), self.expected)

    def test_a_host_that_always_dies_is_a_failed_cell_and_retry_mends_it(self):
        store = os.path.join(self.folder.name, "always.sqlite")
        code, out, err = finish(sweep(store, failpoint="host.before_prediction:1"))
        self.assertEqual(code, 3)
        self.assertIn("failed", out)
        self.assertIn("run again with --retry signal", err)
        code, _, _ = finish(sweep(store))
        self.assertEqual(code, 3, "a death is a result until it is retried")
        self.assert_continues_to_the_same_end(store, "--retry", "signal")

    def test_killed_at_random_moments(self):
        moments = random.Random(20260131)
        store = os.path.join(self.folder.name, "random.sqlite")
        for _ in range(25):
            process = sweep(store)
            time.sleep(moments.uniform(0.0, 0.35))
            if moments.random() < 0.3:
                subprocess.run(["pkill", "-KILL", "-P", str(process.pid)], check=False)
                time.sleep(0.01)
            process.kill()
            finish(process)
        # Two deaths of a host in one unit are a result; they count as kills here.
        self.assert_continues_to_the_same_end(store, "--retry", "signal")

    def test_interrupt_finishes_the_unit_and_says_how_to_continue(self):
        store = os.path.join(self.folder.name, "interrupt.sqlite")
        code, _, err = finish(sweep(store, failpoint="run.before_unit:interrupt:2"))
        self.assertEqual(code, 130, err)
        self.assertIn("same command again", err)
        self.assertGreater(len(qualities(store)[1]), 0, "the unit in hand was not committed")
        self.assertLess(len(qualities(store)[1]), len(self.expected[1]))
        self.assert_continues_to_the_same_end(store)


if __name__ == "__main__":
    unittest.main(verbosity=2)
