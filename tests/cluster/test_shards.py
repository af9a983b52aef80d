"""Many workers, one table: the scripts that `plan --shards` emits end in what a single process gives, whoever
is killed on the way. The shell always; GNU parallel where it is installed.

Usage: test_shards.py QFS_BENCH
"""

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "unit", "cli"))
from driver import QFS_BENCH, DriverTest  # noqa: E402

# Slow enough to be killed in the middle. `mood` makes another output of the same cell.
SLOW = '''
import os, time
import qfs_method

def summarize(example, params):
    time.sleep(float(os.path.exists("slow")) * 0.15)
    mood = open("mood").read() if os.path.exists("mood") and example.key == "e3" else ""
    return mood + " ".join(example.text.split()[: params["words"]])

qfs_method.serve(summarize, name="slow", version=1, params=[qfs_method.Param("words", "integer", default=30)])
'''

LEARNER = '''
import os
import qfs_method

learnt = {}

def fit(training, params):
    with open("fits", "a") as file:
        file.write("x")
    with open(os.path.join(training.folder, "length.txt"), "w") as file:
        file.write(str(params["factor"] * len(training.train)))
    training.point(1, 1, loss=1.0)
    return {"length": "length.txt"}

def setup(params, seed, files):
    with open(files["length"]) as file:
        learnt["length"] = int(file.read())

def summarize(example, params):
    return " ".join(example.text.split()[:learnt["length"]]) + params["end"]

qfs_method.serve(summarize, name="learner", version=1, setup=setup, fit=fit, artifacts=["length"],
                 params=[qfs_method.Param("factor", "integer", default=1, stage="train"),
                         qfs_method.Param("end", "text", default=".")])
'''

SLOW_METHOD = {"method": "external", "label": "slow", "command": ["python3", "slow.py"], "fingerprint": ["slow.py"]}


class ShardsTest(DriverTest):
    """A sweep of eight cells of a program and four of built-in methods; its tables by one process."""

    def setUp(self):
        super().setUp()
        self.write_data()
        self.write("slow.py", SLOW)
        self.write_sweep(methods=[{"method": "lead"}, {"method": "bm25"},
                                  {**SLOW_METHOD, "words": 5}, {**SLOW_METHOD, "label": "slow 9", "words": 9},
                                  {**SLOW_METHOD, "label": "slow 7", "words": 7},
                                  {**SLOW_METHOD, "label": "slow 3", "words": 3}])
        self.assert_succeeds(self.run_bench("sweep", "sweep.json", "--allow-external", "--store", "one/small.sqlite"))
        self.environment = {**{k: v for k, v in os.environ.items() if not k.startswith("QFS_")},
                            "QFS_BENCH": QFS_BENCH, "QFS_CACHE_DIR": self.path("cache")}

    def tables(self, store):
        report = self.assert_succeeds(self.run_bench("report", "--only", "quality", "--format", "json", "--store", store))
        connection = sqlite3.connect(self.path(store))
        rows = connection.execute(
            "SELECT cell_id, numerics_id, ordinal, output_sha256 FROM output JOIN result USING (result_id)"
            " ORDER BY 1, 2, 3").fetchall()
        connection.close()
        return report, rows

    def assert_as_one(self, store="small.sqlite"):
        self.assertEqual(self.tables(store), self.tables("one/small.sqlite"))
        self.assert_succeeds(self.run_bench("doctor", "--store", store))

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def emit(self, count=2, kind="shell", *more):
        return json.loads(self.assert_succeeds(self.run_bench(
            "plan", "sweep.json", "--allow-external", "--shards", str(count), "--emit", kind, "--store", "small.sqlite",
            "--output", "run.sh", "--json", *more)))

    def start_script(self):
        return subprocess.Popen(["sh", "run.sh"], cwd=self.folder, env=self.environment, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)

    def run_script(self, *arguments):
        return subprocess.run(["sh", "run.sh", *arguments], cwd=self.folder, env=self.environment, text=True,
                              capture_output=True, timeout=240)

    def outputs_of(self, store):
        try:
            connection = sqlite3.connect(f"file:{self.path(store)}?mode=ro", uri=True)
            count = connection.execute("SELECT count(*) FROM output").fetchone()[0]
            connection.close()
            return count
        except sqlite3.Error:
            return 0

    def wait_for_outputs(self, store, count=2):
        end = time.monotonic() + 120
        while self.outputs_of(store) < count:
            self.assertLess(time.monotonic(), end, "the worker wrote nothing")
            time.sleep(0.02)

    def worker_pid(self, store):
        for name in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{name}/cmdline", "rb") as line:
                    words = line.read().decode(errors="replace").split("\0")
                folder = os.readlink(f"/proc/{name}/cwd")
            except OSError:
                continue
            if folder == os.path.realpath(self.folder) and store in words and "worker" in words:
                return int(name)
        self.fail("no worker of " + store)

    def shard_of(self, number, store, *more, count=2):
        return self.run_bench("worker", "sweep.json", "--allow-external", "--shard", f"{number}/{count}", "--store", store, *more)


class Shell(ShardsTest):
    def test_two_workers_end_in_the_tables_of_one_process(self):
        emitted = self.emit()
        self.assertEqual(sum(shard["cells"] for shard in emitted["shards"]), 12)
        self.assertEqual(len(emitted["shards"]), 2)
        run = self.run_script()
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("| slow 3", run.stdout)
        self.assert_as_one()
        self.assertEqual(self.emit()["shards"], [])
        self.assertEqual(self.run_script().returncode, 0, "again, with nothing left to do")
        self.assert_as_one()

    def test_equal_plans_give_equal_bytes(self):
        self.emit(3)
        first = self.read("run.sh"), self.read("run.sh.json")
        self.emit(3)
        self.assertEqual((self.read("run.sh"), self.read("run.sh.json")), first)

    def test_a_killed_worker_is_told_and_the_same_script_continues(self):
        self.emit()
        self.write("slow", "")
        script = self.start_script()
        store = "small.shards/2-of-2.sqlite"
        self.wait_for_outputs(store)
        os.kill(self.worker_pid(store), signal.SIGKILL)
        _, err = script.communicate(timeout=240)
        self.assertEqual(script.returncode, 137, err)
        self.assertIn("a worker was stopped (exit 137); run this script again to continue", err)
        rows = len(self.tables("one/small.sqlite")[1])
        self.assertTrue(0 < self.outputs_of("small.sqlite") < rows, "what was committed is merged")
        os.remove(self.path("slow"))
        run = self.run_script()
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assert_as_one()

    def stop_script(self, stop, code):
        self.emit()
        self.write("slow", "")
        script = self.start_script()
        for number in (1, 2):
            self.wait_for_outputs(f"small.shards/{number}-of-2.sqlite")
        stop(script)
        _, err = script.communicate(timeout=240)
        self.assertEqual(script.returncode, code, err)
        connection = sqlite3.connect(self.path("small.sqlite"))
        states = {state for state, in connection.execute("SELECT state FROM attempt")}
        connection.close()
        self.assertLessEqual(states, {"done", "cancelled"}, "each worker ended its example and its attempt")
        os.remove(self.path("slow"))
        run = self.run_script()
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assert_as_one()

    def test_sigterm_stops_the_workers_after_the_example_in_hand(self):
        self.stop_script(lambda script: script.terminate(), 143)

    def test_ctrl_c_stops_the_workers_after_the_example_in_hand(self):
        self.stop_script(lambda script: os.killpg(script.pid, signal.SIGINT), 130)

    def test_the_script_is_sound_for_shellcheck(self):
        if shutil.which("shellcheck") is None:
            self.skipTest("shellcheck is not installed")
        for kind in ("shell", "parallel", "slurm"):
            self.emit(2, kind)
            checked = subprocess.run(["shellcheck", "-s", "sh", "run.sh"], cwd=self.folder, capture_output=True, text=True)
            self.assertEqual(checked.returncode, 0, checked.stdout)

    def test_times_are_taken_with_nothing_beside_them(self):
        self.write_sweep(measure={"examples": 2, "warmup": 1, "repetitions": 1})
        self.emit()
        self.assertIn("--no-measure", self.read("run.sh"))
        run = self.run_script()
        self.assertEqual(run.returncode, 0, run.stderr)
        for number in (1, 2):
            connection = sqlite3.connect(self.path(f"small.shards/{number}-of-2.sqlite"))
            self.assertEqual(connection.execute("SELECT count(*) FROM repetition").fetchone()[0], 0)
            connection.close()
        connection = sqlite3.connect(self.path("small.sqlite"))
        self.assertEqual(connection.execute("SELECT count(*) FROM repetition").fetchone()[0], 2)
        connection.close()


class Workers(ShardsTest):
    def merge(self, *sources):
        return json.loads(self.assert_succeeds(self.run_bench("merge", "small.sqlite", *sources, "--json")))

    def test_a_duplicate_shard_changes_nothing(self):
        for number, store in ((1, "a.sqlite"), (2, "b.sqlite"), (2, "c.sqlite")):
            self.assert_succeeds(self.shard_of(number, store))
        merged = self.merge("c.sqlite", "a.sqlite", "b.sqlite", "c.sqlite")
        self.assertEqual([source["conflicts"] for source in merged["sources"]], [0, 0, 0, 0])
        self.assertEqual([source["new"]["outputs"] > 0 for source in merged["sources"]], [True, True, False, False])
        self.assert_as_one()

    def test_planning_again_emits_only_what_is_missing(self):
        self.assert_succeeds(self.shard_of(1, "a.sqlite"))
        self.merge("a.sqlite")
        emitted = self.emit(3)
        missing = 12 - len({cell for cell, *_ in self.tables("small.sqlite")[1]})
        self.assertEqual(sum(shard["cells"] for shard in emitted["shards"]), missing)
        run = self.run_script()
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assert_as_one()

    def test_another_output_of_one_cell_is_reported_as_evidence(self):
        self.assert_succeeds(self.shard_of(1, "a.sqlite", count=1))
        self.write("mood", "Strange. ")
        self.assert_succeeds(self.shard_of(1, "b.sqlite", count=1))
        self.merge("a.sqlite")
        strict = self.run_bench("merge", "small.sqlite", "b.sqlite", "--strict")
        self.assert_fails(4, strict, "b.sqlite: ", "contradicts what is here in 8 places")
        run = self.run_bench("merge", "small.sqlite", "b.sqlite")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("not deterministic: cell ", run.stderr)
        self.assertIn("example 3: ", run.stderr)
        self.assertIn("Strange. ", run.stderr)
        doctor = self.assert_succeeds(self.run_bench("doctor", "--store", "small.sqlite"))
        self.assertIn("not deterministic", doctor)
        report, rows = self.tables("small.sqlite")
        self.assertEqual(rows, self.tables("one/small.sqlite")[1], "the first outputs are kept")
        self.assertIn("not deterministic: 1 of 12 outputs of slow 9", report)

    def test_an_output_that_came_out_in_many_ways_is_one(self):
        self.assert_succeeds(self.shard_of(1, "a.sqlite", count=1))
        for mood in ("Strange. ", "Stranger. "):
            self.write("mood", mood)
            self.assert_succeeds(self.shard_of(1, mood[:-2] + ".sqlite", count=1))
        self.merge("a.sqlite")
        self.assertIn("Strange.sqlite: 8 contradictions\n",
                      self.assert_succeeds(self.run_bench("merge", "small.sqlite", "Strange.sqlite")))
        self.merge("Stranger.sqlite")
        self.assertIn("not deterministic: 1 of 12 outputs of slow 9", self.tables("small.sqlite")[0])

    def test_what_was_taken_before_a_source_that_cannot_be_is_told(self):
        self.write("text.sqlite", "not a store" * 500)
        run = self.run_bench("merge", "a.sqlite", "one/small.sqlite", "text.sqlite")
        self.assertEqual(run.returncode, 4)
        self.assertIn("text.sqlite: not a qfs-bench store", run.stderr)
        self.assertIn("one/small.sqlite: 1 sweep, 12 cells", run.stdout)
        self.assert_as_one("a.sqlite")

    def test_no_script_replaces_what_is_something_else(self):
        plan = ["plan", "sweep.json", "--allow-external", "--shards", "2", "--emit"]
        before = self.read("sweep.json")
        self.assert_fails(2, self.run_bench(*plan, "shell", "-o", "sweep"), "manifest 'sweep.json' is also read, and would be lost")
        self.assert_fails(2, self.run_bench(*plan, "shell", "-o", "sweep.json"), "'sweep.json' is also read")
        self.assert_fails(2, self.run_bench(*plan, "shell", "-o", "one/small.sqlite"), "is a store, which would be lost")
        self.write("other.json", before)
        self.assert_fails(2, self.run_bench(*plan, "shell", "-o", "other"), "'other.json' is there and is no manifest of shards")
        self.assertEqual((self.read("sweep.json"), self.read("other.json")), (before, before))
        self.assert_succeeds(self.run_bench("doctor", "--store", "one/small.sqlite"))
        self.write("a{}b.json", before)
        braces = self.run_bench("plan", "a{}b.json", "--allow-external", "--shards", "2", "--emit", "parallel")
        self.assert_fails(2, braces, "a{}b.json: a script of GNU parallel cannot hold", "--emit shell can")
        self.emit()
        self.emit()  # its own it does

    def test_what_cannot_be_is_a_typed_error(self):
        self.emit()
        worker = ["worker", "sweep.json", "--allow-external"]
        self.assert_fails(2, self.run_bench(*worker, "--shard", "1/2"), "a worker needs a store of its own")
        for shard in ("0/2", "3/2", "1", "x/y"):
            run = self.run_bench(*worker, "--shard", shard, "--store", "a.sqlite")
            self.assert_fails(2, run, "--shard: expected a shard as I/N", f"'{shard}'")
        run = self.run_bench(*worker, "--shard", "1/3", "--store", "a.sqlite", "--manifest", "run.sh.json")
        self.assert_fails(2, run, "run.sh.json: the manifest has 2 shards, not 3")
        run = self.run_bench(*worker, "--limit", "5", "--shard", "1/2", "--store", "a.sqlite", "--manifest", "run.sh.json")
        self.assert_fails(2, run, "is none of this sweep as it is planned here", "plan again")
        self.assert_fails(2, self.run_bench("plan", "sweep.json", "--allow-external", "--shards", "2"), "--emit")
        self.assert_fails(2, self.run_bench("merge", "a.sqlite", "absent.sqlite"), "absent.sqlite: there is no store")
        self.assert_fails(2, self.run_bench("merge", "--store", "x.sqlite", "a.sqlite", "one/small.sqlite"), "no --store")
        self.write("text.sqlite", "not a store" * 500)
        self.assert_fails(4, self.run_bench("merge", "a.sqlite", "text.sqlite"), "text.sqlite: not a qfs-bench store")
        self.assertFalse(os.path.exists(self.path("a.sqlite")))


class Trained(ShardsTest):
    """Cells that wait for a training go with it, or after it."""

    def setUp(self):
        super().setUp()
        self.write("learner.py", LEARNER)
        self.write_data(4, "train.jsonl")
        train = {"path": "train.jsonl", "fields": {"id": "id", "document": "query", "query": "id", "references": "references"}}
        learner = {"method": "external", "command": ["python3", "learner.py"], "fingerprint": ["learner.py"],
                   "training": {"train": train}}
        self.write_sweep(methods=[{**learner, "label": f"{factor}{end}", "factor": factor, "end": end}
                                  for factor in (1, 2) for end in (".", "!", "?")], grid=None,
                         report={"rows": ["method"], "values": ["rouge1.f"]})
        shutil.rmtree(self.path("one"))
        self.assert_succeeds(self.run_bench("sweep", "sweep.json", "--allow-external", "--store", "one/small.sqlite"))

    def fits(self):
        return os.path.getsize(self.path("fits"))

    def test_a_training_is_done_once_and_its_cells_find_the_file(self):
        before = self.fits()
        emitted = self.emit(4)
        self.assertEqual([(shard["cells"], shard["trainings"]) for shard in emitted["shards"]], [(3, 1), (3, 1)])
        run = self.run_script()
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assert_as_one()
        self.assertEqual(self.fits() - before, 2)

    def test_cells_of_a_finished_training_go_anywhere_and_do_not_train(self):
        self.assert_succeeds(self.run_bench("train", "sweep.json", "--allow-external", "--store", "small.sqlite"))
        before = self.fits()
        emitted = self.emit(4)
        self.assertEqual([shard["cells"] for shard in emitted["shards"]], [2, 2, 1, 1])
        run = self.run_script()
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assert_as_one()
        self.assertEqual(self.fits(), before)


@unittest.skipIf(shutil.which("parallel") is None, "GNU parallel is not installed")
class Parallel(ShardsTest):
    def test_three_shards_end_in_the_tables_of_one_process(self):
        self.emit(3, "parallel")
        run = self.run_script()
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assert_as_one()

    def test_a_killed_worker_is_told_and_the_same_script_continues(self):
        self.emit(2, "parallel")
        self.write("slow", "")
        self.environment["PARALLEL"] = "--jobs 2"
        script = self.start_script()
        store = "small.shards/2-of-2.sqlite"
        self.wait_for_outputs(store)
        os.kill(self.worker_pid(store), signal.SIGKILL)
        _, err = script.communicate(timeout=240)
        self.assertEqual(script.returncode, 137, err)
        os.remove(self.path("slow"))
        self.assertEqual(self.run_script().returncode, 0)
        self.assert_as_one()

    def test_sigterm_stops_the_workers_after_the_example_in_hand(self):
        self.emit(2, "parallel")
        self.write("slow", "")
        self.environment["PARALLEL"] = "--jobs 2"
        script = self.start_script()
        for number in (1, 2):
            self.wait_for_outputs(f"small.shards/{number}-of-2.sqlite")
        script.terminate()
        _, err = script.communicate(timeout=240)
        self.assertEqual(script.returncode, 143, err)
        os.remove(self.path("slow"))
        self.assertEqual(self.run_script().returncode, 0)
        self.assert_as_one()


if __name__ == "__main__":
    unittest.main()
