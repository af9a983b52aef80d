"""Methods that train, through the whole program: a Python one learns how many words references have.

Usage: test_training.py QFS_BENCH
"""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

QFS_BENCH = os.path.abspath(sys.argv.pop(1))

# Each step reads one reference; the state after each is a checkpoint that a killed fit goes on from.
LEARNER = '''
import json
import os
import signal
import time

import qfs_method

learnt = {}


def tell(training, step):
    warnings = {"warning_cursed_pen": 1} if os.path.exists("cursed") else {}
    training.point(step, len(training.train), loss=1.0 / step,
                   development_references=sum(len(e.references) for e in training.development), **warnings)


def fit(training, params):
    state_path = os.path.join(training.folder, "state.json")
    state = {"step": 0, "words": 0}
    if os.path.exists(state_path):
        state = json.load(open(state_path))
    for step in range(1, state["step"] + 1):  # what the driver may not have stored
        tell(training, step)
    done = 0
    while state["step"] < len(training.train):
        if training.steps is not None and done == training.steps:
            return None
        if os.path.exists("die") and state["step"] == 2:
            os.remove("die")
            os.kill(os.getpid(), signal.SIGKILL)
        if os.path.exists("refuse"):
            raise qfs_method.MethodError("refuses to learn")
        while os.path.exists("wait") and state["step"] == 2:
            time.sleep(0.01)
            open("waiting", "w").close()
        example = training.train[state["step"]]
        state = {"step": state["step"] + 1,
                 "words": state["words"] + params["factor"] * len(example.references[0].split())}
        with open(state_path + ".new", "w") as file:
            json.dump(state, file)
        os.rename(state_path + ".new", state_path)
        done += 1
        tell(training, state["step"])
    with open(os.path.join(training.folder, "length.txt"), "w") as file:
        begun = int(open(training.init["length"]).read()) if training.init else 0
        file.write(str(begun + state["words"] // state["step"] + training.seed))
    os.remove(state_path)
    return {"length": "length.txt"}


def setup(params, seed, files):
    with open(files["length"]) as file:
        learnt["length"] = int(file.read())


def summarize(example, params):
    if os.path.exists("stumble"):
        raise qfs_method.MethodError("stumbles")
    assert not example.references, "an answer leaked"
    return " ".join(example.text.split()[:learnt["length"]]) + params["end"]


qfs_method.serve(summarize, name="learner", version=1, setup=setup, fit=fit, artifacts=["length"],
                 params=[qfs_method.Param("factor", "integer", default=1, stage="train"),
                         qfs_method.Param("way", "integer", default=1, stage="train", numerics=True),
                         qfs_method.Param("end", "text", default=".")])
'''


def record(key, words):
    return {"id": key, "context": f"{key} " + " ".join(f"word{i}" for i in range(20)),
            "question": "What?", "answers": [" ".join(["said"] * words)]}


class Training(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="qfs_training_")
        self.addCleanup(self.folder.cleanup)
        self.write("learner.py", LEARNER)
        for name, words in (("test", [5, 5]), ("train", [2, 4, 6, 8]), ("validation", [3])):
            self.write(name + ".jsonl", "".join(
                json.dumps(record(f"{name}{i}", count)) + "\n" for i, count in enumerate(words)))
        self.sweep()

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)

    @staticmethod
    def data(name):
        return {"path": name + ".jsonl", "fields": {"id": "id", "document": "context",
                                                   "query": "question", "references": "answers"}}

    def sweep(self, entry=None, rows=(), **members):
        learner = {"method": "external", "command": ["python3", "learner.py"],
                   "fingerprint": ["learner.py"], "label": "learner",
                   "training": {"train": self.data("train"), "development": self.data("validation")}}
        learner.update(entry or {})
        learner = {key: value for key, value in learner.items() if value is not None}
        self.write("sweep.json", json.dumps(
            {"name": "training", "datasets": [self.data("test")], "methods": [learner, *rows],
             "metrics": ["rouge"], **members}))

    def command(self, *words, store="s.sqlite"):
        return [QFS_BENCH, words[0], self.path("sweep.json"), "--allow-external", "--store",
                self.path(store), *words[1:]]

    def run_bench(self, *words, code=0, store="s.sqlite"):
        done = subprocess.run(self.command(*words, store=store), capture_output=True, text=True,
                              timeout=120, check=False)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def outputs(self, store="s.sqlite"):
        with sqlite3.connect(self.path(store)) as db:
            return [row[0] for row in db.execute("SELECT text FROM output ORDER BY result_id, ordinal")]

    def trained(self, *words, code=0, store="s.sqlite"):
        done = self.run_bench("train", "--json", *words, code=code, store=store)
        return json.loads(done.stdout)["trainings"]

    def test_a_sweep_trains_before_it_predicts_and_does_neither_twice(self):
        first = self.run_bench("sweep")
        self.assertIn("learner", first.stdout)
        self.assertNotIn("oracle", first.stdout)
        self.assertEqual(self.outputs(), ["test0 word0 word1 word2 word3.", "test1 word0 word1 word2 word3."])
        again = self.run_bench("sweep")
        self.assertEqual(again.stdout, first.stdout)
        self.assertRegex(again.stderr, r"train#\w+ learner: in the store")

    def test_one_training_feeds_the_cells_that_share_its_parameters(self):
        self.sweep(grid={"end": ["!", "?"], "factor": [1, 2]}, seeds=[0, 1])
        plan = json.loads(self.run_bench("plan", "--json").stdout)
        self.assertEqual([t["cells"] for t in plan["trainings"]], [2, 2, 2, 2])
        self.assertEqual({c["reuse"]["state"] for c in plan["cells"]}, {"waiting"})
        self.assertRegex(self.run_bench("plan").stdout, r"after train#\w+")
        self.run_bench("sweep")
        self.assertEqual(sorted({len(text.split()) for text in self.outputs()}), [5, 6, 10, 11])
        plan = json.loads(self.run_bench("plan", "--json").stdout)
        self.assertEqual({c["reuse"]["state"] for c in plan["cells"]}, {"complete"})
        self.assertEqual({t["state"] for t in plan["trainings"]}, {"complete"})

    def test_train_alone_tells_files_curve_and_cost(self):
        trained = self.trained()[0]
        self.assertTrue(trained["complete"])
        with open(trained["files"][0]["path"], encoding="utf-8") as file:
            self.assertEqual(file.read(), "5")
        self.assertEqual([p["step"] for p in trained["curve"]], [1, 2, 3, 4])
        self.assertEqual(trained["curve"][-1]["values"],
                         {"loss": 0.25, "development.references": 1.0})
        self.assertGreater(trained["cost"]["seconds"], 0)
        self.assertEqual(trained["params"]["factor"], 1)
        for split, examples in (("train", 4), ("development", 1)):
            self.assertRegex(trained[split].pop("dataset_id"), "^[0-9a-f]{64}$")
            self.assertEqual(trained[split].pop("examples"), examples)
        self.assertEqual(self.outputs(), [])

    def test_tables_show_what_training_took(self):
        self.sweep(report={"rows": ["method"], "values": ["rouge1.f", "train_seconds", "train_peak_memory"]})
        row = [line for line in self.run_bench("sweep").stdout.splitlines()
               if line.startswith("| learner")][0]
        cells = [cell.strip() for cell in row.strip("|").split("|")]
        self.assertGreater(float(cells[3]), 1, "MiB of a Python program")
        prose = subprocess.run([QFS_BENCH, "report", "--store", self.path("s.sqlite"), "--methods-text"],
                               capture_output=True, text=True, check=True, timeout=60).stdout
        self.assertRegex(prose, r"length of learner \(training cell \w{12}, seed 0\) learnt from 4 examples of "
                                r"train.jsonl \(.*\), chosen by validation.jsonl \(.*\): [0-9.]+ s, peak")
        self.sweep({"training": None, "artifact": "nine.txt"},
                   report={"rows": ["method"], "values": ["rouge1.f", "train_seconds"]})
        self.write("nine.txt", "9")
        self.assertRegex(self.run_bench("sweep").stdout, r"\| learner *\|[^|]*\| *– *\|")

    def test_tables_repeat_what_a_training_warns_of(self):
        self.assertNotIn("warns", self.run_bench("sweep").stdout)
        self.write("cursed", "")
        self.assertRegex(self.run_bench("sweep", store="other.sqlite").stdout,
                         r"learner \(cell [0-9a-f]+\): its training warns of a cursed pen")

    def test_steps_end_a_run_and_the_next_goes_on(self):
        part = self.trained("--steps", "3", code=3)[0]
        self.assertFalse(part["complete"])
        self.assertEqual([p["step"] for p in part["curve"]], [1, 2, 3])
        plan = json.loads(self.run_bench("plan", "--json").stdout)
        self.assertEqual([t["state"] for t in plan["trainings"]], ["begun"])
        self.assertRegex(self.run_bench("plan").stdout, r"(?m)^train#\w+ learner .* begun ")
        whole = self.trained()[0]
        self.assertEqual([p["step"] for p in whole["curve"]], [1, 2, 3, 4])
        self.assertEqual(whole["files"][0]["sha256"],
                         self.trained(store="other.sqlite")[0]["files"][0]["sha256"])

    def test_a_host_that_dies_is_replaced_once_and_goes_on(self):
        self.write("die", "")
        self.assertIn("continuing the training in a fresh host", self.run_bench("train").stderr)
        self.assertEqual(len(self.trained()[0]["curve"]), 4)

    def test_a_killed_driver_loses_nothing(self):
        for number in (signal.SIGKILL, signal.SIGINT):
            store = f"{number}.sqlite"
            self.write("wait", "")
            with subprocess.Popen(self.command("sweep", store=store), stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL) as driver:
                while not os.path.exists(self.path("waiting")):
                    time.sleep(0.01)
                driver.send_signal(number)
                if number == signal.SIGINT:
                    os.remove(self.path("wait"))
                self.assertEqual(driver.wait(60), -9 if number == signal.SIGKILL else 130)
            for name in ("wait", "waiting"):
                if os.path.exists(self.path(name)):
                    os.remove(self.path(name))
            self.run_bench("sweep", store=store)
            self.assertEqual(len(self.outputs(store)), 2)
            self.assertEqual(len(self.trained(store=store)[0]["curve"]), 4)

    def test_a_failure_is_a_result_with_its_reason(self):
        self.write("refuse", "")
        failed = self.run_bench("sweep", code=3)
        self.assertIn("refuses to learn", failed.stderr)
        self.assertIn("1 training failed", failed.stderr)
        self.assertRegex(failed.stdout, r"learner \(cell [0-9a-f]+\): its training failed: .*refuses to learn")
        self.assertIn("refuses to learn", self.trained(code=3)[0]["failure"])
        os.remove(self.path("refuse"))
        self.assertIn("(earlier run)", self.run_bench("sweep", code=3).stderr)
        self.run_bench("sweep", "--retry", "method_error")
        self.assertEqual(len(self.outputs()), 2)

    def test_a_file_that_is_gone_is_made_again(self):
        path = self.trained()[0]["files"][0]["path"]
        os.remove(path)
        self.run_bench("sweep")
        self.assertTrue(os.path.exists(path))

    def test_a_file_that_is_gone_is_not_missed_where_all_outputs_are_there(self):
        self.run_bench("sweep")
        path = self.trained()[0]["files"][0]["path"]
        os.remove(path)
        plan = json.loads(self.run_bench("plan", "--json").stdout)
        self.assertEqual([c["reuse"]["state"] for c in plan["cells"]], ["complete"])
        self.assertRegex(self.run_bench("sweep").stderr, r"train#\w+ learner: in the store")
        self.assertFalse(os.path.exists(path))
        self.run_bench("sweep", "--rerun", "label=learner")
        self.assertTrue(os.path.exists(path))

    def test_rows_whose_trainings_differ_in_numerics_alone_have_results_of_their_own(self):
        self.sweep(grid={"way": [1, 2]}, report={"rows": ["method", "way"], "values": ["rouge1.f"]})
        run = self.run_bench("sweep")
        self.assertNotIn("the seed does not matter", run.stdout)
        for way in (1, 2):
            self.assertRegex(run.stdout, rf"\| learner +\| {way} +\| +[0-9*]")

    def test_a_training_of_other_numerics_is_accepted_where_that_is_asked_for(self):
        self.trained()
        self.sweep({"way": 2})
        accepted = self.run_bench("sweep", "--accept-numerics").stderr
        self.assertRegex(accepted, r"train#\w+ learner: in the store")
        self.assertEqual(len(self.outputs()), 2)
        self.assertRegex(self.run_bench("sweep").stderr, r"train#\w+ learner: step 4/4")

    def test_a_failure_that_is_not_retried_needs_no_file(self):
        self.write("stumble", "")
        self.run_bench("sweep", code=3)
        path = self.trained()[0]["files"][0]["path"]
        os.remove(path)
        self.assertRegex(self.run_bench("sweep", code=3).stderr, r"train#\w+ learner: in the store")
        self.assertFalse(os.path.exists(path))
        os.remove(self.path("stumble"))
        self.run_bench("sweep", "--retry", "method_error")
        self.assertEqual(len(self.outputs()), 2)

    def test_a_rerun_of_another_row_needs_no_file(self):
        self.sweep(rows=[{"method": "lead", "local_context": 4, "tokenizer": "words"}])
        self.run_bench("sweep")
        path = self.trained()[0]["files"][0]["path"]
        os.remove(path)
        self.run_bench("sweep", "--rerun", "method=lead")
        self.assertFalse(os.path.exists(path))

    def test_a_trained_file_stands_in_place_of_training(self):
        self.write("nine.txt", "9")
        self.sweep({"training": None, "artifact": "nine.txt"})
        self.run_bench("sweep")
        self.assertEqual([len(text.split()) for text in self.outputs()], [9, 9])
        refused = self.run_bench("train", code=2)
        self.assertIn("no cell of the sweep trains", refused.stderr)

    def test_a_control_is_given_the_documents_of_others(self):
        self.sweep({"documents": "other"})
        self.run_bench("sweep")
        self.assertEqual([text.split()[0] for text in self.outputs()], ["test1", "test0"])
        with sqlite3.connect(self.path("s.sqlite")) as db:
            oracle = db.execute("SELECT identity FROM cell").fetchall()
        self.assertTrue(any("other@1" in row[0] for row in oracle))

    def test_one_that_a_signal_comes_before_says_nothing(self):
        self.sweep(grid={"factor": [1, 2]})
        self.write("wait", "")
        with subprocess.Popen(self.command("sweep"), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              text=True) as driver:
            while not os.path.exists(self.path("waiting")):
                time.sleep(0.01)
            driver.send_signal(signal.SIGINT)
            os.remove(self.path("wait"))
            said = driver.stderr.read()
            self.assertEqual(driver.wait(60), 130)
        self.assertEqual(said.count("; stopped"), 1, said)

    def test_a_training_begins_with_a_file(self):
        self.write("nine.txt", "9")
        fresh = self.trained()[0]
        begun = self.trained("--init", self.path("nine.txt"))[0]
        said = self.run_bench("train", "--init", self.path("nine.txt")).stderr
        self.assertIn("the sweep's own trainings do not begin with", said)
        self.assertNotEqual(begun["cell_id"], fresh["cell_id"])
        with open(begun["files"][0]["path"], encoding="utf-8") as file:
            self.assertEqual(file.read(), "14")
        self.sweep({"training": {"train": self.data("train"), "development": self.data("validation"),
                                 "init": "nine.txt"}})
        self.assertEqual(self.trained()[0]["cell_id"], begun["cell_id"])
        self.write("nine.txt", "10")
        self.assertNotEqual(self.trained()[0]["cell_id"], begun["cell_id"])
        self.assertIn("gone.txt", self.run_bench("train", "--init", "gone.txt", code=2).stderr)

    def begun(self, **second):
        """A row that trains, and one that begins with what it makes."""
        data = {"train": self.data("train"), "development": self.data("validation")}
        self.sweep({"label": "first"}, [{"like": "first", "label": "second", "factor": 2, **second, "training": {
            **data, "init": {"length": {"row": "first"}}}}])

    def test_a_training_begins_with_what_a_row_trains(self):
        self.begun()
        plan = json.loads(self.run_bench("plan", "--json").stdout)["trainings"]
        self.assertEqual([t["label"] for t in plan], ["first", "second"])
        self.assertEqual(plan[1]["begins_with"], plan[0]["cell_id"])
        self.assertRegex(self.run_bench("plan").stdout, r", after train#" + plan[0]["cell_id"][:12])
        trained = self.trained()
        self.assertEqual(trained[1]["init"], {"length": {"training": trained[0]["cell_id"]}})
        lengths = []
        for training in trained:
            with open(training["files"][0]["path"], encoding="utf-8") as file:
                lengths.append(file.read())
        self.assertEqual(lengths, ["5", "15"], "of its own 10")
        self.run_bench("sweep")
        self.assertEqual({len(text.split()) for text in self.outputs()}, {5, 15})
        plan = json.loads(self.run_bench("plan", "--json").stdout)
        self.assertEqual({t["state"] for t in plan["trainings"]}, {"complete"})
        # Files that nothing waits for may be gone; what a training waits for is made again.
        for training in trained:
            os.remove(training["files"][0]["path"])
        self.assertRegex(self.run_bench("sweep").stderr, r"train#\w+ second: in the store")
        self.begun(end="!")
        self.run_bench("sweep")
        self.assertTrue(all(os.path.exists(training["files"][0]["path"]) for training in trained))
        self.assertIn(15, [len(text.split()) for text in self.outputs() if text.endswith("!")])

    def test_a_filter_of_the_row_alone_trains_what_it_begins_with(self):
        self.begun()
        plan = json.loads(self.run_bench("plan", "--json", "--filter", "label=second").stdout)
        self.assertEqual([t["label"] for t in plan["trainings"]], ["first", "second"])
        self.assertEqual({cell["label"] for cell in plan["cells"]}, {"second"})
        self.run_bench("sweep", "--filter", "label=second")
        self.assertEqual({len(text.split()) for text in self.outputs()}, {15}, "the first row wrote nothing")
        text = subprocess.run([QFS_BENCH, "report", "--store", self.path("s.sqlite"), "--methods-text"], capture_output=True, text=True,
                              timeout=120, check=True).stdout
        for training in plan["trainings"]:
            maker = {"first": "another training", "second": "second"}[training["label"]]
            self.assertRegex(text, rf"length of {maker} \(training cell {training['cell_id'][:12]}, seed \d+\) learnt from")

    def test_a_training_that_cannot_begin_is_told_and_done_later(self):
        self.begun()
        self.write("refuse", "")
        trained = self.trained(code=3)
        self.assertEqual([t["complete"] for t in trained], [False, False])
        self.assertIn("refuses to learn", trained[0]["failure"])
        self.assertIn("what it begins with is not complete", trained[1]["failure"])
        self.run_bench("sweep", code=3)
        os.remove(self.path("refuse"))
        self.run_bench("sweep", "--retry", "method_error")
        self.assertEqual({len(text.split()) for text in self.outputs()}, {5, 15})

    def test_nothing_begins_with_what_was_not_reproduced(self):
        self.write("learner.py", LEARNER.replace("training.seed))", "training.seed + 100 * os.path.exists('salt')))"))
        self.begun()
        file = self.trained("--filter", "label=first")[0]["files"][0]["path"]
        os.remove(file)
        self.write("salt", "")
        said = self.run_bench("sweep", code=3)
        self.assertIn("second: not trained: ", said.stderr)
        self.assertNotIn("second: step", said.stderr)
        self.assertEqual(self.outputs(), [], "neither reads what it was not to read")
        # As recorded it is taken.
        os.remove(self.path("salt"))
        os.remove(file)
        self.run_bench("sweep")
        self.assertEqual({len(text.split()) for text in self.outputs()}, {5, 15})
        # What is complete is not trained again, whatever became of what it began with.
        os.remove(file)
        self.write("salt", "")
        self.begun(end="!")
        self.assertRegex(self.run_bench("sweep").stderr, r"train#\w+ second: in the store")
        self.assertEqual([text[-1] for text in self.outputs()].count("!"), 2)

    def test_shards_know_what_is_trained(self):
        self.begun()
        plan = json.loads(self.run_bench("plan", "--json").stdout)["trainings"]
        self.assertEqual([t["state"] for t in plan], ["none", "none"])
        file = self.trained("--filter", "label=first")[0]["files"][0]["path"]
        self.run_bench("sweep", "--filter", "label=first")
        self.run_bench("plan", "--shards", "2", "--emit", "shell", "--output", self.path("run.sh"))
        with open(self.path("run.sh"), encoding="utf-8") as script:
            self.assertIn("--trained-in", script.read(), "no cell is left whose own training is there")
        os.remove(file)
        plan = json.loads(self.run_bench("plan", "--json").stdout)["trainings"]
        self.assertEqual([t["state"] for t in plan], ["none", "none"], "what the second begins with is gone")

    def test_reports_tell_all_trainings(self):
        self.begun()
        self.run_bench("sweep")
        done = subprocess.run([QFS_BENCH, "report", "--store", self.path("s.sqlite"), "--format", "json", "--columns", "values", "--values",
                               "train_tokens,train_seconds,trainable_parameters"], capture_output=True, text=True, timeout=120, check=True)
        rows = {row["labels"]["method"]: row["cells"][0]["values"] for row in json.loads(done.stdout)["rows"]}
        trained = self.trained()
        seconds = [training["cost"]["seconds"] for training in trained]
        self.assertAlmostEqual(rows["first"]["train_seconds"]["value"], seconds[0], places=6)
        self.assertAlmostEqual(rows["second"]["train_seconds"]["value"], sum(seconds), places=6)
        self.assertEqual(rows["second"]["trainable_parameters"]["value"], trained[1]["cost"]["trainable_parameters"])
        text = subprocess.run([QFS_BENCH, "report", "--store", self.path("s.sqlite"), "--methods-text"], capture_output=True, text=True,
                              timeout=120, check=True).stdout
        self.assertIn("begun with the length of training cell " + trained[0]["cell_id"][:12], text)

    def test_what_is_scored_is_not_learnt_from(self):
        self.sweep({"training": {"train": self.data("test")}})
        refused = self.run_bench("plan", code=2)
        self.assertIn("2 of the 2 examples of 'test.jsonl'", refused.stderr)


if __name__ == "__main__":
    unittest.main()
