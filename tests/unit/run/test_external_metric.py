"""External metrics through the whole program: what they see, what they store, and how they fail.

Usage: test_external_metric.py QFS_BENCH SOURCE_FOLDER
"""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest

QFS_BENCH = os.path.abspath(sys.argv.pop(1))
SOURCE = os.path.abspath(sys.argv.pop(1))

METRIC = '''
import os, time
import qfs_metric

def score(item):
    print("a stray print")
    {body}

qfs_metric.serve(score, name="mine", version={version}, columns={columns}, needs={needs})
'''

FIELDS = {"id": "id", "document": "document", "query": "query", "references": "references"}


class ExternalMetric(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="qfs_metric_")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        with open(self.path("data.jsonl"), "w", encoding="utf-8") as data:
            for i in range(70):  # more than one batch
                data.write(json.dumps({"id": f"e{i}", "document": f"The harbour was closed on day {i}. It rained.",
                                       "query": f"When {i}?", "references": [f"On day {i}."]}) + "\n")

    def path(self, name):
        return os.path.join(self.folder, name)

    def write_metric(self, body="return len(item.prediction)", version=1, columns=("mine",), needs=("references",)):
        with open(self.path("mine.py"), "w", encoding="utf-8") as file:
            file.write(METRIC.format(body=body, version=version, columns=list(columns), needs=list(needs)))

    def write_sweep(self, metric=None, name="mine", **members):
        metric = metric or {"command": ["python3", "mine.py"], "fingerprint": ["mine.py"]}
        sweep = {"name": "external", "datasets": [{"path": "data.jsonl", "fields": FIELDS}], "tokenizer": "words",
                 "methods": [{"method": "lead"}, {"method": "bm25"}], "grid": {"local_context": [4, 8]},
                 "external_metrics": {name: metric}, "metrics": ["rouge", name],
                 "report": {"rows": ["method"], "columns": ["local_context"], "values": ["rouge1.f", "mine"]}}
        sweep.update(members)
        with open(self.path("sweep.json"), "w", encoding="utf-8") as file:
            json.dump(sweep, file)

    def bench(self, *arguments):
        environment = {**os.environ, "QFS_CACHE_DIR": self.path("cache")}
        return subprocess.run([QFS_BENCH, *arguments], capture_output=True, text=True, cwd=self.folder,
                              env=environment, timeout=120)

    def sweep(self, *options):
        return self.bench("sweep", "sweep.json", "--store", "store.sqlite", "--allow-external", *options)

    def stored(self, query, *values):
        connection = sqlite3.connect(self.path("store.sqlite"))
        try:
            return connection.execute(query, values).fetchall()
        finally:
            connection.close()

    def comparisons(self, *options):
        run = self.bench("compare", "--store", "store.sqlite", "method=lead,local_context=4",
                         "method=lead,local_context=8", "--json", *options)
        self.assertIn(run.returncode, (0, 1), run.stderr)
        return run.returncode, json.loads(run.stdout)["comparisons"]

    def test_values_are_stored_compared_and_reported_like_native_ones(self):
        self.write_metric()
        self.write_sweep()
        run = self.sweep()
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("**mine** by local_context", run.stdout)
        code, comparisons = self.comparisons("--max-drop", "mine=1pt", "--better", "mine=higher")
        (mine,) = [c for c in comparisons if c["metric"] == "mine"]
        self.assertEqual(code, 0)
        self.assertRegex(mine["signature"],
                         r"^external\|metric:mine@1\|fingerprint:sha256-[0-9a-f]{64}\|columns:mine\|agg:mean\|v:1$")
        self.assertEqual(mine["examples"], 70)
        self.assertGreater(mine["columns"]["mine"]["b"], mine["columns"]["mine"]["a"])
        report = self.bench("report", "--store", "store.sqlite")
        self.assertEqual(report.returncode, 0, report.stderr)
        self.assertIn("**mine** by local_context", report.stdout)
        worse = self.bench("compare", "--store", "store.sqlite", "method=lead,local_context=8",
                           "method=lead,local_context=4", "--max-drop", "mine=1pt", "--better", "mine=higher")
        self.assertEqual(worse.returncode, 1, worse.stderr)

    def test_what_was_measured_is_not_measured_again_until_the_program_changes(self):
        self.write_metric(body="open('calls', 'a').write('x'); return 1.0")
        self.write_sweep()
        for calls in (4 * 70, 4 * 70):
            self.assertEqual(self.sweep().returncode, 0)
            self.assertEqual(os.path.getsize(self.path("calls")), calls)
        self.write_metric(body="open('calls', 'a').write('x'); return 2.0")
        self.assertEqual(self.sweep().returncode, 0)
        self.assertEqual(os.path.getsize(self.path("calls")), 8 * 70)

    def test_it_sees_what_it_needs_and_nothing_else(self):
        self.write_metric(body="assert item.query and item.document and not item.references, vars(item)\n"
                               "    return {'a.f': 0.5, 'b': 2}", columns=("a.f", "b"), needs=("document", "query"))
        self.write_sweep(report={"rows": ["method"], "columns": ["local_context"], "values": ["a.f", "b"]})
        run = self.sweep()
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("50.00", run.stdout)
        self.assertIn("2.0000", run.stdout)

    def scored(self, metric="mine"):
        return self.stored("SELECT COUNT(*) FROM score_job WHERE metric = ?", metric)[0][0]

    def write_sweep_without_scores(self):
        """A store whose predictions have scores by no metric."""
        self.write_metric()
        self.write_sweep()
        run = self.sweep()
        self.assertEqual(run.returncode, 0, run.stderr)
        connection = sqlite3.connect(self.path("store.sqlite"))
        connection.execute("PRAGMA foreign_keys = ON")
        for table in ("statistic", "score", "score_job"):
            connection.execute(f"DELETE FROM {table}")
        connection.commit()
        connection.close()

    def score(self, *options):
        return self.bench("score", "--store", "store.sqlite", *options)

    def test_scoring_a_store_again_runs_them_where_the_user_agrees(self):
        self.write_sweep_without_scores()
        run = self.score("--allow-external")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual((self.scored("rouge"), self.scored()), (4, 4))
        self.assertIn("0 scores computed, 8 were there", self.score("--allow-external").stderr)
        only = self.score("--metric", "mine", "--allow-external")
        self.assertIn("0 scores computed, 4 were there", only.stderr)
        self.write_metric(body="return 2 * len(item.prediction)")
        self.assertIn("4 scores computed, 0 were there", self.score("--metric", "mine", "--allow-external").stderr)
        self.assertEqual(self.scored(), 8, "another program is another metric")

    def test_scoring_a_store_without_that_says_which_were_passed_over(self):
        self.write_sweep_without_scores()
        run = self.score()
        self.assertEqual(run.returncode, 3, run.stderr)
        self.assertIn("metric 'mine' was passed over, 4 predictions have no score by it", run.stderr)
        self.assertIn("'python3 mine.py'", run.stderr)
        self.assertIn("--allow-external", run.stderr)
        self.assertEqual((self.scored("rouge"), self.scored()), (4, 0))
        asked = self.score("--metric", "mine")
        self.assertEqual(asked.returncode, 2, asked.stderr)
        self.assertIn("pass --allow-external to permit this", asked.stderr)
        unknown = self.score("--metric", "mime")
        self.assertEqual(unknown.returncode, 2, unknown.stderr)
        self.assertIn("external metrics of the sweep: mine", unknown.stderr)
        self.assertEqual(self.score("--allow-external").returncode, 0)
        later = self.score()
        self.assertEqual(later.returncode, 0, later.stderr)
        self.assertIn("its stored scores stay as they are", later.stderr)

    def test_a_store_that_lies_elsewhere_is_told_where_the_programs_are(self):
        self.write_sweep_without_scores()
        os.mkdir(self.path("elsewhere"))
        moved = os.path.join("elsewhere", "store.sqlite")
        os.rename(self.path("store.sqlite"), self.path(moved))
        lost = self.bench("score", "--store", moved, "--allow-external")
        self.assertEqual(lost.returncode, 2, lost.stderr)
        self.assertIn("matches no file below 'elsewhere'", lost.stderr)
        self.assertIn("--external-folder", lost.stderr)
        found = self.bench("score", "--store", moved, "--allow-external", "--external-folder", ".")
        self.assertEqual(found.returncode, 0, found.stderr)

    def test_a_comparison_names_what_it_does_not_compare(self):
        self.write_sweep_without_scores()
        self.assertEqual(self.score().returncode, 3)
        sides = ("method=lead,local_context=4", "method=lead,local_context=8")
        neither = self.bench("compare", "--store", "store.sqlite", *sides)
        self.assertEqual(neither.returncode, 0, neither.stderr)
        self.assertIn("metric 'mine' is not compared: neither A nor B has a score by it", neither.stderr)
        self.assertEqual(self.score("--allow-external").returncode, 0)
        self.assertNotIn("not compared", self.bench("compare", "--store", "store.sqlite", *sides).stderr)
        shutil.copy(self.path("store.sqlite"), self.path("other.sqlite"))
        connection = sqlite3.connect(self.path("other.sqlite"))
        connection.execute("UPDATE score_job SET signature = replace(signature, 'mine@1', 'mine@2')")
        connection.commit()
        connection.close()
        different = self.bench("compare", "store.sqlite#" + sides[0], "other.sqlite#" + sides[0])
        self.assertEqual(different.returncode, 3, different.stderr)
        self.assertRegex(different.stderr, r"'mine' is not compared: A has it as 'external\|metric:mine@1.*B as .*mine@2")

    def test_a_failure_is_an_error_of_this_metric_and_never_a_zero(self):
        for body, message in [("raise ValueError('no such luck')", "item 0: ValueError: no such luck"),
                              ("return float('nan')", "mine is nan, not a finite number"),
                              ("return None", "mine is None"),
                              ("return {'other': 1}", "a number for each of mine"),
                              ("os.kill(os.getpid(), 9)", "the host died: signal 9"),
                              ("os._exit(3)", "exit code 3")]:
            with self.subTest(body):
                if os.path.exists(self.path("store.sqlite")):
                    os.remove(self.path("store.sqlite"))
                self.write_metric(body=body)
                self.write_sweep()
                run = self.sweep()
                self.assertEqual(run.returncode, 5, run.stderr)
                self.assertIn("external metric 'mine': ", run.stderr)
                self.assertIn(message, run.stderr)
                self.assertIn("metric-mine.log", run.stderr)
                self.assertIn("**rouge1.f", run.stdout)  # the other metric has its table
                self.assertEqual(self.stored("SELECT COUNT(*) FROM score_job WHERE metric = 'mine'"), [(0,)])
                self.assertEqual(self.stored("SELECT COUNT(*) FROM score_job WHERE metric = 'rouge'"), [(4,)])

    def test_one_that_is_late_is_stopped(self):
        self.write_metric(body="time.sleep(60)")
        self.write_sweep({"command": ["python3", "mine.py"], "fingerprint": ["mine.py"], "timeout_seconds": 1})
        run = self.sweep()
        self.assertEqual(run.returncode, 5, run.stderr)
        self.assertIn("did not finish within 1 s", run.stderr)

    def test_declarations_are_checked_before_anything_runs(self):
        self.write_metric()
        self.write_sweep()
        refused = self.bench("sweep", "sweep.json", "--store", "store.sqlite")
        self.assertEqual(refused.returncode, 2, refused.stderr)
        self.assertIn("--allow-external", refused.stderr)
        self.assertIn("/external_metrics/mine/command", refused.stderr)
        report = {"rows": ["method"], "columns": ["local_context"], "values": ["rouge1.f"]}
        self.write_sweep(metrics=["rouge"], report=report)
        self.assertIn("is not in \"metrics\"", self.sweep().stderr)
        self.write_sweep(name="rouge", metrics=["rouge"], report=report)
        self.assertIn("is a built-in metric", self.sweep().stderr)
        self.write_sweep({"command": ["python3", "none.py"], "fingerprint": ["none.py"]})
        self.assertIn("matches no file", self.sweep().stderr)
        self.write_metric(needs=("answers",))
        self.write_sweep()
        run = self.sweep()
        self.assertEqual(run.returncode, 5, run.stderr)
        self.assertIn("external metric 'mine'", run.stderr)
        self.assertFalse(os.path.exists(self.path("store.sqlite")))

    def test_a_method_is_no_metric_and_a_metric_no_method(self):
        for name in ("example_method.py", "example_metric.py"):
            shutil.copy(os.path.join(SOURCE, "methods/external", name), self.folder)
        self.write_sweep({"command": ["python3", "example_method.py"], "fingerprint": ["example_method.py"]})
        self.assertIn("says that it is the method 'word_overlap'", self.sweep().stderr)
        self.write_metric()
        self.write_sweep(methods=[{"method": "external", "command": ["python3", "example_metric.py"],
                                   "fingerprint": ["example_metric.py"]}])
        self.assertIn("'asked_words' says that it is a metric", self.sweep().stderr)

    def test_the_example_metric_as_contributing_describes_it(self):
        shutil.copy(os.path.join(SOURCE, "methods/external/example_metric.py"), self.folder)
        self.write_sweep({"command": ["python3", "example_metric.py"], "fingerprint": ["example_metric.py"]},
                         name="asked-words", report={"rows": ["method"], "columns": ["local_context"],
                                                     "values": ["rouge1.f", "asked_words"]})
        run = self.sweep()
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("**asked_words** by local_context", run.stdout)


if __name__ == "__main__":
    unittest.main(verbosity=2)
