"""Outputs that are empty: every place that shows their scores says so.

Usage: test_empty_outputs.py QFS_BENCH
"""

import csv
import io
import json
import unittest

from driver import DriverTest


class EmptyOutputs(DriverTest):
    def setUp(self):
        super().setUp()
        self.write_data(12)

    def sweep_of(self, texts, **members):
        self.write("outputs.jsonl", "".join(json.dumps({"id": f"e{i}", "prediction": text}) + "\n"
                                            for i, text in enumerate(texts)))
        self.write_sweep(methods=[{"method": "imported", "file": "outputs.jsonl", "label": "mine"}, {"method": "lead"}],
                         grid=None, report={"rows": ["method"], "values": ["rouge1.f", "rougeL.f"]}, **members)
        return self.run_bench("sweep", "sweep.json")

    def test_a_sweep_of_nothing_but_empty_outputs_says_so_everywhere(self):
        run = self.sweep_of([""] * 6 + [" \n\t", "\u3000"] * 3)
        table = self.assert_succeeds(run)
        self.assertRegex(table, r"\| mine +\| +0\.00 .*\(12/12 empty\)")
        self.assertNotRegex(table, r"\| lead .*empty")
        self.assertIn("12 of 12 outputs are empty; its scores are those of empty texts", table)
        self.assertIn("mine: 12 of 12 outputs are empty", run.stderr)
        report = json.loads(self.assert_succeeds(self.run_bench("report", "--json")))
        mine, lead = (row["cells"][0]["values"]["rouge1.f"] for row in report["rows"])
        self.assertEqual((mine["empty"], mine["value"]), (12, 0))
        self.assertNotIn("empty", lead)
        records = csv.DictReader(io.StringIO(self.assert_succeeds(self.run_bench("report", "--format", "csv"))))
        self.assertEqual([record["empty"] for record in records], ["12", "12", "0", "0"])
        listed = json.loads(self.assert_succeeds(self.run_bench("list", "cells", "--json")))
        self.assertEqual(listed["cells"][0]["predict"]["empty"], 12)
        self.assertIn("complete, 12 empty", self.assert_succeeds(self.run_bench("list", "cells")))

    def test_a_second_sweep_says_it_again(self):
        self.sweep_of([""] * 12)
        again = self.run_bench("sweep", "sweep.json")
        self.assert_succeeds(again)
        self.assertIn("mine: 12 of 12 outputs are empty", again.stderr)

    def test_a_few_are_counted(self):
        table = self.assert_succeeds(self.sweep_of(["Line 3 is about item 3."] * 9 + [""] * 3))
        self.assertIn("(3/12 empty)", table)
        self.assertIn("3 of 12 outputs are empty", table)

    def test_what_postprocessing_leaves_nothing_of_counts(self):
        run = self.sweep_of(["<think>so</think>"] * 12, postprocess=["strip_reasoning"])
        table = self.assert_succeeds(run)
        self.assertIn("(12/12 empty)", table)
        self.assertIn("0 of 12 outputs are empty, 12 after postprocessing", table)

    def test_no_empty_output_no_word(self):
        run = self.sweep_of(["Line 3."] * 12)
        self.assertNotIn("empty", self.assert_succeeds(run))
        self.assertNotIn("are empty", run.stderr)

    def test_scoring_a_store_warns(self):
        self.sweep_of([""] * 12)
        self.assertIn("12 of 12 outputs are empty", self.run_bench("score", "--store", "small.sqlite").stderr)

    def test_scoring_files_warns(self):
        self.write("preds.txt", "\n \n\n")
        self.write("refs.txt", "a\nb\nc\n")
        run = self.run_bench("score", "--preds", "preds.txt", "--refs", "refs.txt")
        self.assert_succeeds(run)
        self.assertIn("3 of 3 scored texts are empty", run.stderr)
        self.write("preds.txt", "a\nb\nc\n")
        run = self.run_bench("score", "--preds", "preds.txt", "--refs", "refs.txt")
        self.assert_succeeds(run)
        self.assertNotIn("are empty", run.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
