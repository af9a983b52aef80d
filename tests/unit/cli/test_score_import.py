"""score --import: scores of another program, shown with tests or put into a store.

Usage: test_score_import.py QFS_BENCH
"""

import hashlib
import json
import unittest

from driver import DriverTest

TOOL = ("--tool", "AlignScore@0.1.3")
LEAD = "method=lead,local_context=16"
WIDE = "method=lead,local_context=32"


def rows(system, values, **members):
    return [{"id": f"e{i}", "metric": "align", "value": v, "system": system, **members} for i, v in enumerate(values)]


class ScoreImport(DriverTest):
    def write_scores(self, records, name="scores.jsonl"):
        return self.write(name, "".join(json.dumps(r) + "\n" for r in records))

    def score(self, *arguments):
        return self.run_bench("score", "--import", "scores.jsonl", *TOOL, *arguments)

    def imported(self, *arguments):
        return json.loads(self.assert_succeeds(self.score(*arguments, "--json")))["metrics"]

    def test_values_intervals_and_signature(self):
        self.write_scores([{"id": i, "metric": "align", "values": {"p": i / 20, "x": i}} for i in range(12)])
        (metric,) = self.imported()
        with open(self.path("scores.jsonl"), "rb") as file:
            digest = hashlib.sha256(file.read()).hexdigest()
        self.assertEqual(metric["signature"],
                         f"import|metric:align|tool:AlignScore@0.1.3|source:sha256-{digest}|agg:mean|v:1")
        scores = metric["systems"][0]["scores"]
        self.assertAlmostEqual(scores["align.p"]["value"], 5.5 / 20)
        low, high = scores["align.x"]["interval"]
        self.assertTrue(0 < low < 5.5 < high < 11)

    def test_systems_are_tested_on_their_common_ids(self):
        base = [0.1 * (i % 5) for i in range(20)]
        self.write_scores(rows("base", base) + rows("new", [v + 0.05 for v in base[:18]]))
        (metric,) = self.imported()
        (test,) = metric["tests"]
        self.assertEqual((test["a"], test["b"], test["n"]), ("base", "new", 18))
        column = test["scores"]["align"]
        self.assertAlmostEqual(column["difference"], 0.05)
        self.assertLess(column["p"], 0.001)
        self.assertEqual(column["p_holm"], column["p"])
        self.assertIn("new - base", self.assert_succeeds(self.score()))

    def test_clusters_are_the_unit(self):
        self.write_scores([r for k in range(3) for r in rows("s", [0.1] * 4, cluster=f"c{k}")][:4])
        (metric,) = self.imported()
        self.assertIsNone(metric["systems"][0]["scores"]["align"]["interval"])

    def test_systems_agree_on_clusters(self):
        self.write_scores([{**r, "id": str(i)} for system, of in (("a", 2), ("b", 1)) for i in range(24)
                           for r in rows(system, [i / 24], cluster=f"c{i // of}")])
        self.assert_fails(5, self.run_bench("score", "--import", "scores.jsonl", "--tool", "T@1"),
                          "'1' is of cluster 'c0' by 'a' and of 'c1' by 'b'")

    def test_bad_records_are_named(self):
        for record, message in [({"metric": "m", "value": 1}, "missing field 'id'"),
                                ({"id": "a", "value": 1}, "missing field 'metric'"),
                                ({"id": "a", "metric": "m"}, "either 'value' or 'values'"),
                                ({"id": "a", "metric": "m", "value": "1"}, "must be a finite number, found text"),
                                ({"id": "a", "metric": "m", "value": None}, "must be a finite number"),
                                ({"id": "a", "metric": "m|x", "value": 1}, "cannot name a metric"),
                                ({"id": "a", "metric": "m", "values": {"a#": 1}}, "cannot name a value"),
                                ({"id": "a", "metric": "m", "valeu": 1}, "unknown field 'valeu' of a score")]:
            self.write_scores([{"id": "x", "metric": "m", "value": 1}, record])
            self.assert_fails(5, self.score(), "scores.jsonl:2", message)
        self.write_scores(rows("s", [1]) * 2)
        self.assert_fails(5, self.score(), "scores.jsonl:2", "has id 'e0' twice for s")
        self.write_scores(rows("s", [1], cluster="c") + rows("t", [1]))
        self.assert_fails(5, self.score(), "scores.jsonl:2", "give all or none")
        self.write_scores(rows("s", [1]) + [{"id": "b", "metric": "align", "values": {"p": 1}}])
        self.assert_fails(5, self.score(), "has the values align before and others here")

    def test_options_that_mean_nothing_are_refused(self):
        self.write_scores(rows("s", [1]))
        self.assert_fails(2, self.run_bench("score", "--import", "scores.jsonl"), "--tool NAME@VERSION")
        self.assert_fails(2, self.run_bench("score", "--import", "scores.jsonl", "--tool", "x"), "found 'x'")
        self.assert_fails(2, self.score("--metric", "rouge"), "--metric means nothing for --import")
        self.assert_fails(2, self.run_bench("score", *TOOL), "--tool and --system are about --import")

    def test_a_store_takes_them_for_compare_and_report(self):
        self.write_data()
        self.write_sweep()
        self.assert_succeeds(self.run_bench("sweep", "sweep.json", "--quiet"))
        store = ("--store", "small.sqlite")
        self.write_scores(rows(LEAD, [0.2] * 12) + rows(WIDE, [0.3 + i / 100 for i in range(12)]))
        for _ in range(2):  # the same scores again are the same
            self.assertIn("2 imported scores", self.score(*store).stderr)
        comparisons = json.loads(self.assert_succeeds(
            self.run_bench("compare", *store, LEAD, WIDE, "--json")))["comparisons"]
        (column,) = [c["columns"]["align"] for c in comparisons if "align" in c["columns"]]
        self.assertAlmostEqual(column["difference"], 0.155)
        self.assertLess(column["p"], 0.01)
        report = self.run_bench("report", *store, "--values", "import:align/align")
        self.assertIn("0.3550", self.assert_succeeds(report))
        self.assertIn("AlignScore@0.1.3", report.stdout)
        worse = self.run_bench("compare", *store, WIDE, LEAD, "--max-drop", "align=0.05pt", "--better", "align=higher")
        self.assertEqual(worse.returncode, 1, worse.stderr)

    def test_a_store_refuses_what_does_not_belong(self):
        self.write_data()
        self.write_sweep()
        self.assert_succeeds(self.run_bench("sweep", "sweep.json", "--quiet"))
        store = ("--store", "small.sqlite")
        self.write_scores([{"id": "e99", "metric": "m", "value": 1}])
        self.assert_fails(2, self.score(*store), "name no system")
        self.assert_fails(5, self.score(*store, "--system", LEAD), "id 'e99' is no example of the cell")
        self.write_scores(rows(LEAD, [1] * 11))
        self.assert_fails(5, self.score(*store), "11 of the 12 examples", "--partial")
        self.assertIn("1 imported scores", self.score(*store, "--partial").stderr)
        self.write_scores(rows("method=lead", [1] * 12))
        self.assert_fails(2, self.score(*store), "2 cells match")


if __name__ == "__main__":
    unittest.main()
