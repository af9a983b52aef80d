"""Memory that runs out: what a sweep declares for it, and `frontier`, which looks for the place.

Usage: test_memory.py QFS_BENCH
"""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
from driver import DriverTest, QFS_BENCH  # noqa: E402

# Runs out of memory beyond a number of words times examples at once, and tells how often it was asked.
HUNGRY = '''
import os
import qfs_method

def summarize(example, params):
    words = example.text.split()
    with open("calls", "a") as file:
        file.write(f"{params['batch_size']}x{len(words)} ")
    if len(words) * params["batch_size"] > int(open("room").read()):
        raise MemoryError
    return " ".join(words[:10])

qfs_method.serve(summarize, name="hungry", version=1,
                 params=[qfs_method.Param("batch_size", "integer", default=1, minimum=1, numerics=True)])
'''

# Really takes 0.25 MiB a word.
GREEDY = '''
import time
import qfs_method

def summarize(example, params):
    held = bytearray(len(example.text.split()) * 262144)
    for place in range(0, len(held), 4096):
        held[place] = 1
    time.sleep(0.12)
    return example.text[:20]

qfs_method.serve(summarize, name="greedy", version=1)
'''

HUNGRY_METHOD = {"method": "external", "label": "hungry", "command": ["python3", "hungry.py"], "fingerprint": ["hungry.py"]}


class Memory(DriverTest):
    def setUp(self):
        super().setUp()
        self.write_data(4)
        self.write("hungry.py", HUNGRY)
        self.write("greedy.py", GREEDY)
        self.write("room", "40")

    def sweep(self, code=0, *options):
        run = self.run_bench("sweep", "sweep.json", "--allow-external", *options)
        self.assertEqual(run.returncode, code, run.stderr)
        return run

    def calls(self):
        """Since the last look."""
        try:
            with open(self.path("calls"), encoding="utf-8") as file:
                return file.read().split()
        except FileNotFoundError:
            return []
        finally:
            if os.path.exists(self.path("calls")):
                os.remove(self.path("calls"))

    def attempts(self):
        connection = sqlite3.connect(self.path("small.sqlite"))
        rows = connection.execute("SELECT state, failure_kind FROM attempt ORDER BY attempt_id").fetchall()
        connection.close()
        return rows


class Policy(Memory):
    GRID = {"local_context": [48, 16, 32, 64]}

    def test_longer_cells_are_implied_and_tables_say_so(self):
        self.write_sweep(methods=[HUNGRY_METHOD], grid=self.GRID, out_of_memory={"implied_by": "local_context"})
        run = self.sweep(3)
        self.assertIn("OOM (implied)", run.stdout)
        self.assertIn("local_context=48 ran out of memory", run.stderr)
        self.assertEqual(max(int(call.split("x")[1]) for call in self.calls()), 48)
        self.assertEqual([kind for _, kind in self.attempts()], ["none", "none", "oom_device", "implied_oom"])
        # Nothing is tried again, and no attempt is added.
        again = self.sweep(3)
        self.assertEqual(again.stdout, run.stdout)
        self.assertEqual(self.calls(), [])
        self.assertEqual(len(self.attempts()), 4)
        # With room for what implied it, the implied runs as well.
        self.write("room", "1000")
        self.assertNotIn("OOM", self.sweep(0, "--retry", "oom_device").stdout)
        self.assert_succeeds(self.run_bench("doctor", "--store", "small.sqlite"))

    def test_implied_cells_run_when_that_is_asked_for(self):
        self.write_sweep(methods=[HUNGRY_METHOD], grid=self.GRID, out_of_memory={"implied_by": "local_context"})
        self.sweep(3)
        self.calls()
        self.sweep(3, "--retry", "implied_oom")
        self.assertEqual(self.calls(), ["1x64"])

    def test_shards_and_slots_imply_as_one_process_does(self):
        self.write_sweep(methods=[{"method": "lead"}, HUNGRY_METHOD], grid=self.GRID, out_of_memory={"implied_by": "local_context"})
        table = self.sweep(3).stdout
        self.calls()
        os.remove(self.path("small.sqlite"))
        plan = ["plan", "sweep.json", "--allow-external", "--shards", "8", "--emit", "shell", "--json"]
        shards = json.loads(self.assert_succeeds(self.run_bench(*plan)))["shards"]
        self.assertEqual(sorted(shard["cells"] for shard in shards), [4, 4], "lengths of a method stay together")
        script = subprocess.run(["sh", "small.sh"], cwd=self.folder, capture_output=True, text=True, timeout=120,
                                env={**os.environ, "QFS_BENCH": QFS_BENCH})
        self.assertEqual(script.returncode, 3, script.stdout + script.stderr)
        self.assertEqual(self.assert_succeeds(self.run_bench("report", "--store", "small.sqlite")), table)
        self.assertEqual(max(int(call.split("x")[1]) for call in self.calls()), 48)
        # What is known to fail is no work of slots, nor is what it implies.
        shutil.rmtree(self.path("small.shards"), ignore_errors=True)
        self.write_sweep(methods=[{"method": "lead"}, HUNGRY_METHOD], grid={"local_context": [48, 16, 32, 64, 80]},
                         out_of_memory={"implied_by": "local_context"})
        self.sweep(3, "--slots", "2")
        self.assertEqual(self.calls(), [])

    def test_without_a_policy_every_cell_is_tried(self):
        self.write_sweep(methods=[{**HUNGRY_METHOD, "batch_size": 4}], grid=self.GRID)
        run = self.sweep(3)
        self.assertEqual(sorted(set(self.calls())), ["4x16", "4x32", "4x48", "4x64"])
        self.assertNotIn("implied", run.stdout)

    def test_a_batch_is_halved_until_it_fits_and_the_fact_is_stored_and_shown(self):
        self.write_sweep(methods=[{**HUNGRY_METHOD, "batch_size": 8}], grid={"local_context": [16, 32, 64]},
                         out_of_memory={"batch": "halve", "implied_by": "local_context"})
        run = self.sweep(3)  # 16 words fit twice, 32 once, 64 not at all
        self.assertIn("a batch of 4 ran out of memory; 2 in its place, as out_of_memory says", run.stderr)
        self.assertRegex(run.stdout, r"hungry \(cell [0-9a-f]+\): a batch_size of 2 in place of 8")
        self.assertRegex(run.stdout, r"hungry \(cell [0-9a-f]+\): a batch_size of 1 in place of 8")
        self.calls()
        connection = sqlite3.connect(self.path("small.sqlite"))
        events = [text for text, in connection.execute("SELECT text FROM event")]
        connection.close()
        self.assertEqual(len([text for text in events if "in its place" in text]), 8)
        again = self.sweep(3)
        self.assertEqual(again.stdout, run.stdout)
        self.assertEqual(self.calls(), [])
        self.assert_succeeds(self.run_bench("doctor", "--store", "small.sqlite"))
        plan = json.loads(self.assert_succeeds(self.run_bench("plan", "sweep.json", "--allow-external", "--json")))
        stored = {cell["params"]["local_context"]: cell["reuse"]["state"] for cell in plan["cells"]}
        self.assertEqual(stored, {16: "complete", 32: "complete", 64: "none"})

    def test_measurements_take_the_batch_that_fitted(self):
        self.write_sweep(methods=[{**HUNGRY_METHOD, "batch_size": 4}], grid={"local_context": [16]},
                         out_of_memory={"batch": "halve"}, measure={"examples": 2, "repetitions": 2, "warmup": 0},
                         report={"rows": ["method"], "values": ["seconds_per_example"]})
        run = self.sweep()
        self.assertNotIn("OOM", run.stdout)
        self.assertEqual(self.calls().count("4x16"), 1)
        self.sweep(0, "--rerun", "label=hungry")
        self.assertGreaterEqual(self.calls().count("2x16"), 4, "the smaller batch is computed anew, too")

    def test_results_of_another_way_are_planned_as_they_are_taken(self):
        self.write_sweep(methods=[HUNGRY_METHOD], grid={"local_context": [16]})
        self.sweep()
        self.write_sweep(methods=[{**HUNGRY_METHOD, "batch_size": 2}], grid={"local_context": [16]})
        for options, state in ((("--accept-numerics",), "complete"), ((), "none")):
            planned = self.sweep(0, "--dry-run", *options)
            self.assertRegex(planned.stdout, r"hungry +\d +" + state)

    def test_a_parameter_that_nobody_has_is_an_error(self):
        self.write_sweep(out_of_memory={"implied_by": "truncate"})
        self.assert_fails(2, self.run_bench("sweep", "sweep.json"), "sweep.json#/out_of_memory/implied_by",
                          "no method of the sweep has a parameter 'truncate' that is a whole number")
        self.write_sweep(out_of_memory={"implied_by": "local_contest"})
        self.assert_fails(2, self.run_bench("sweep", "sweep.json"), "sweep.json#/out_of_memory/implied_by",
                          "did you mean 'local_context'?")


class Frontier(Memory):
    def frontier(self, *options):
        out = self.assert_succeeds(self.run_bench("frontier", "sweep.json", "--allow-external", "--json", *options))
        return {cell["cell"]: cell for cell in json.loads(out)["cells"]}

    def test_the_largest_length_that_fits_is_found(self):
        self.write_data(2)
        self.write_sweep(methods=[HUNGRY_METHOD, {**HUNGRY_METHOD, "label": "in twos", "batch_size": 2}],
                         limits={"memory_mib": 1000})
        found = self.frontier("--from", "16", "--to", "48", "--within", "0")
        self.assertEqual([(found[name]["fits"], found[name]["out_of_memory"]) for name in ("hungry", "in twos")],
                         [(40, 41), (20, 21)])
        self.assertLess(found["hungry"]["tries"], 12)

    def test_it_ends_where_documents_end_and_goes_down_where_the_first_length_fails(self):
        self.write_sweep(methods=[HUNGRY_METHOD], limits={"memory_mib": 1000})
        self.write("room", "10000")
        found = self.frontier("--from", "16")["hungry"]
        self.assertTrue(found["whole_documents"])
        self.assertNotIn("out_of_memory", found)
        self.write("room", "3")
        found = self.frontier("--from", "16")["hungry"]
        self.assertEqual((found.get("fits"), found["out_of_memory"]), (3, 4))
        self.write("room", "0")
        found = self.frontier("--from", "16")["hungry"]
        self.assertEqual((found.get("fits"), found["out_of_memory"]), (None, 1))

    def test_the_limit_of_a_process_is_what_fails(self):
        self.write("data.jsonl", json.dumps({"id": "e0", "document": "word " * 2000, "query": "What?",
                                             "references": ["word"]}) + "\n")
        self.write_sweep(methods=[{"method": "external", "label": "greedy", "command": ["python3", "greedy.py"],
                                   "fingerprint": ["greedy.py"]}], limits={"memory_mib": 128})
        found = self.frontier("--from", "40", "--within", "10")["greedy"]
        self.assertGreater(found["fits"], 300)          # 128 MiB, less what Python takes, are some 450 words
        self.assertLess(found["fits"], 512)
        self.assertLessEqual(found["out_of_memory"], found["fits"] * 1.1)
        self.assertLess(found["tries"], 9)              # predictions are nearly right
        text = self.assert_succeeds(self.run_bench("frontier", "sweep.json", "--allow-external", "--from", "400", "--within",
                                                   "50"))
        self.assertRegex(text, r"greedy +\d+ +\d+ +\d+ +\d+ +memory")

    def test_hosts_are_told_what_they_may_take_of_a_device(self):
        self.write("told.py", "import os\nimport qfs_method\nqfs_method.serve(lambda example, params: "
                              "os.environ.get('QFS_DEVICE_MEMORY_BYTES', 'nothing'), name='told', version=1)\n")
        for limits, told in (({}, "nothing"), ({"device_memory_mib": 24}, str(24 << 20))):
            self.write_sweep(methods=[{"method": "external", "label": "told", "command": ["python3", "told.py"],
                                       "fingerprint": ["told.py"]}], limits=limits)
            self.sweep(0, "--store", told + ".sqlite")
            with sqlite3.connect(self.path(told + ".sqlite")) as store:
                self.assertEqual({text for text, in store.execute("SELECT text FROM output")}, {told})

    def test_runs_of_the_store_stay_as_they_are(self):
        self.write_sweep(methods=[HUNGRY_METHOD], limits={"memory_mib": 1000}, grid={"local_context": [16, 32]})
        run = self.sweep()
        self.frontier("--from", "16", "--to", "40")
        self.assertEqual(self.sweep().stdout, run.stdout)
        self.assertEqual(len(json.loads(self.assert_succeeds(self.run_bench("list", "runs", "--json")))["runs"]), 1)
        self.assert_succeeds(self.run_bench("doctor", "--store", "small.sqlite"))

    def test_what_cannot_be_searched_is_an_error(self):
        self.write_sweep(methods=[HUNGRY_METHOD])
        search = ("frontier", "sweep.json", "--allow-external")
        self.assert_fails(2, self.run_bench(*search), "sweep.json#/limits", "memory_mib")
        self.write_sweep(methods=[HUNGRY_METHOD], limits={"memory_mib": 100})
        self.assert_fails(2, self.run_bench(*search, "--along", "local_contest"), "did you mean 'local_context'?")
        self.assert_fails(2, self.run_bench(*search, "--from", "9", "--to", "8"), "--from 9 is beyond --to 8")

    def test_a_batch_is_not_halved(self):
        self.write_data(2)
        self.write_sweep(methods=[{**HUNGRY_METHOD, "batch_size": 2}], limits={"memory_mib": 1000},
                         out_of_memory={"batch": "halve"})
        found = self.frontier("--from", "16", "--to", "24", "--within", "0")["hungry"]
        self.assertEqual((found["fits"], found["out_of_memory"]), (20, 21))

    def test_a_training_is_not_taken_for_a_length(self):
        self.write("learner.py", "import os\nimport qfs_method\n\n\ndef fit(training, params):\n"
                                 "    if params['width'] > 9:\n        raise MemoryError\n"
                                 "    open(os.path.join(training.folder, 'w'), 'w').close()\n    return {'weights': 'w'}\n\n\n"
                                 "qfs_method.serve(lambda example, params: '', name='learner', version=1, fit=fit,\n"
                                 "                 setup=lambda params, seed, files: None, artifacts=['weights'],\n"
                                 "                 params=[qfs_method.Param('width', 'integer', default=10, stage='train')])\n")
        self.write("train.jsonl", json.dumps({"id": "t", "document": "Other words.", "query": "What?",
                                              "references": ["words"]}) + "\n")
        learns = {"path": "train.jsonl", "fields": {"id": "id", "document": "document", "query": "query",
                                                    "references": "references"}}
        self.write_sweep(methods=[{"method": "external", "label": "learner", "command": ["python3", "learner.py"],
                                   "fingerprint": ["learner.py"], "training": {"train": learns}}],
                         limits={"memory_mib": 1000})
        run = self.run_bench("frontier", "sweep.json", "--allow-external", "--json", "--from", "16")
        self.assertEqual(run.returncode, 3, run.stderr)
        cell = json.loads(run.stdout)["cells"][0]
        self.assertTrue(cell["failure"].startswith("its training: "), cell)
        self.assertNotIn("out_of_memory", cell)
        self.assertNotIn("fits", cell)
        # Of a length that it trains with its memory is the answer.
        run = self.run_bench("frontier", "sweep.json", "--allow-external", "--json", "--along", "width", "--from", "16")
        cell = json.loads(self.assert_succeeds(run))["cells"][0]
        self.assertEqual((cell["fits"], cell["out_of_memory"]), (9, 10))

    def test_another_failure_is_not_taken_for_memory(self):
        self.write("hungry.py", HUNGRY.replace("raise MemoryError", "raise ValueError('too long')"))
        self.write_sweep(methods=[HUNGRY_METHOD], limits={"memory_mib": 1000})
        run = self.run_bench("frontier", "sweep.json", "--allow-external", "--json", "--from", "16")
        self.assertEqual(run.returncode, 3, run.stderr)
        cell = json.loads(run.stdout)["cells"][0]
        self.assertIn("too long", cell["failure"])
        self.assertNotIn("out_of_memory", cell)


unittest.main()
