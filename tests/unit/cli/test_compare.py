"""`compare`: two stored results on the same examples.

Usage: test_compare.py QFS_BENCH
"""

import json
import unittest

from driver import DriverTest, record

LEAD = "method=lead,local_context=16"
WIDE = "method=lead,local_context=32"


class Compare(DriverTest):
    def setUp(self):
        super().setUp()
        self.write_data()
        self.write_sweep(methods=[{"method": "lead"}, {"method": "oracle"}])
        self.assert_succeeds(self.run_bench("sweep", "sweep.json", "--quiet"))

    def compare(self, *arguments):
        return self.run_bench("compare", *arguments)

    def json_of(self, *arguments):
        document = json.loads(self.assert_succeeds(self.compare(*arguments, "--json")))
        self.assertEqual(document["schema"], "qfs-bench/compare/1")
        return document["comparisons"]

    def test_a_difference_has_interval_test_and_wins(self):
        comparison, = self.json_of("method=lead,local_context=32", "method=oracle,local_context=32")
        self.assertEqual((comparison["examples"], comparison["clusters"]), (12, 12))
        self.assertEqual(set(comparison["columns"]), {"rouge1.f", "rouge2.f", "rougeL.f", "rougeLsum.f"})
        column = comparison["columns"]["rouge1.f"]
        self.assertAlmostEqual(column["difference"], column["b"] - column["a"])
        self.assertGreater(column["difference"], 0)
        low, high = column["interval"]
        self.assertTrue(0 < low <= column["difference"] <= high)
        self.assertEqual((column["wins"], column["ties"], column["losses"]), (12, 0, 0))
        self.assertLess(column["p"], 0.01)
        self.assertGreaterEqual(column["p_holm"], column["p"])

    def test_a_result_does_not_differ_from_itself(self):
        comparison, = self.json_of(LEAD, LEAD)
        for column in comparison["columns"].values():
            self.assertEqual((column["difference"], column["p"], column["ties"]), (0, 1, 12))
        self.assertEqual(comparison["most_different"], [])

    def test_two_stores_are_compared_cell_by_cell(self):
        self.assert_succeeds(self.run_bench("sweep", "sweep.json", "--quiet", "--store", "again.sqlite"))
        comparisons = self.json_of("small.sqlite", "again.sqlite")
        self.assertEqual(len(comparisons), 4)
        self.assertTrue(all(c["columns"]["rouge1.f"]["difference"] == 0 for c in comparisons))

    def test_a_drop_that_is_shown_is_exit_code_one(self):
        worse = ["method=oracle,local_context=32", "method=lead,local_context=32"]
        run = self.compare(*worse, "--max-drop", "rouge1.f=0.01")
        self.assertEqual(run.returncode, 1, run.stderr)
        self.assertIn("WORSE", run.stdout)
        self.assert_succeeds(self.compare(*reversed(worse), "--max-drop", "rouge1.f=0.01"))
        self.assertIn("not shown", self.assert_succeeds(self.compare(*worse, "--max-drop", "rouge1.f=1")))

    def test_a_corpus_value_is_made_of_resampled_statistics(self):
        for metric in ("scrolls", "bleu", "chrf"):
            self.assert_succeeds(self.run_bench("score", "--store", "small.sqlite", "--metric", metric))
        sides = ["method=lead,local_context=32", "method=oracle,local_context=32"]
        columns = {name: column for c in self.json_of(*sides) for name, column in c["columns"].items()}
        for name in ("geometric_mean.f", "bleu", "chrf"):
            column = columns[name]
            self.assertAlmostEqual(column["difference"], column["b"] - column["a"], places=9)
            low, high = column["interval"]
            self.assertTrue(low <= column["difference"] <= high, (name, column))
            self.assertLess(column["p"], 0.01)
        self.assertNotIn("bleu#hyp", columns)
        self.assertIn("| bleu |", self.assert_succeeds(self.compare(*sides)))
        self.assert_fails(2, self.compare(*sides, "--max-drop", "bleu=1"), "not the mean")

    def test_a_value_that_cannot_be_resampled_is_left_out(self):
        records = [{**record(i), "references": ["Line 3 of text" + " and more" * i * i]} for i in range(12)]
        self.write("data.jsonl", "".join(json.dumps(r) + "\n" for r in records))
        self.write_sweep(methods=[{"method": "lead"}, {"method": "oracle"}], metrics=["rouge:agg=boot-median"])
        self.assert_succeeds(self.run_bench("sweep", "sweep.json", "--quiet"))
        sides = ["method=lead,local_context=32", "method=oracle,local_context=32"]
        left_out = [name for c in self.json_of(*sides) for name in c["left_out"]]
        self.assertIn("rouge1.f", left_out)
        self.assertIn("left out", self.assert_succeeds(self.compare(*sides)))
        self.assert_fails(2, self.compare(*sides, "--max-drop", "rouge1.f=0.01"), "not the mean")

    def test_the_table_names_sides_and_signature(self):
        text = self.assert_succeeds(self.compare(LEAD, WIDE, "--values", "rougeL.f"))
        for part in ("A: lead", "B: lead", "12 examples of 12 documents", "| rougeL.f |",
                     "compat:rouge_score-0.1.2", "randomisation|"):
            self.assertIn(part, text)
        self.assertNotIn("rouge1.f", text)

    def test_what_cannot_be_compared_is_said(self):
        self.assert_fails(2, self.compare("method=lead", WIDE), "2 cells match", "local_context=16")
        self.assert_fails(2, self.compare("method=led", WIDE), "no cell of sweep 'small' matches")
        self.assert_fails(2, self.compare("methd=lead", WIDE), "'methd'", "'method'")
        self.assert_fails(2, self.compare("absent.sqlite", WIDE), "'absent.sqlite' is neither a store")
        self.assert_fails(2, self.compare(LEAD, WIDE, "--values", "rouge9.f"), "'rouge9.f'")
        self.assert_fails(2, self.compare(LEAD, WIDE, "--max-drop", "rouge1.f"), "COLUMN=MARGIN")
        self.assert_fails(2, self.compare(LEAD, WIDE, "--max-drop", "rouge1.f=-1"), "at least 0")


if __name__ == "__main__":
    unittest.main()
