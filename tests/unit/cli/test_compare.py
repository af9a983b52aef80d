"""`compare`: two stored results on the same examples.

Usage: test_compare.py QFS_BENCH
"""

import json
import os
import shutil
import sqlite3
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
        self.assertEqual(document["schema"], "qfs-bench/compare/2")
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
        self.assertEqual((column["higher"], column["equal"], column["lower"]), (12, 0, 0))
        self.assertLess(column["p"], 0.01)
        self.assertGreaterEqual(column["p_holm"], column["p"])

    def test_a_result_does_not_differ_from_itself(self):
        comparison, = self.json_of(LEAD, LEAD)
        for column in comparison["columns"].values():
            self.assertEqual((column["difference"], column["p"], column["equal"]), (0, 1, 12))
        self.assertEqual(comparison["most_different"], [])

    def test_two_stores_are_compared_cell_by_cell(self):
        self.assert_succeeds(self.run_bench("sweep", "sweep.json", "--quiet", "--store", "again.sqlite"))
        comparisons = self.json_of("small.sqlite", "again.sqlite")
        self.assertEqual(len(comparisons), 4)
        self.assertTrue(all(c["columns"]["rouge1.f"]["difference"] == 0 for c in comparisons))

    def test_a_drop_that_is_shown_is_exit_code_one(self):
        worse = ["method=oracle,local_context=32", "method=lead,local_context=32"]
        run = self.compare(*worse, "--max-drop", "rouge1.f=1pt")
        self.assertEqual(run.returncode, 1, run.stderr)
        self.assertIn("rouge1.f: WORSE: the drop is beyond 1.00 points (p = 0.0002)", run.stdout)
        text = self.assert_succeeds(self.compare(*reversed(worse), "--max-drop", "rouge1.f=1pt"))
        self.assertIn("rouge1.f: PASS: no significant drop beyond 1.00 points (p = 1.0000)", text)

    def test_a_margin_has_the_unit_of_the_table(self):
        for text, message in [("rouge1.f=0.5", "written rouge1.f=0.5pt, and the share 0.5 is rouge1.f=50pt"),
                              ("rouge1.f=2", "written rouge1.f=2pt"), ("rouge1.f=1p", "COLUMN=POINTSpt")]:
            for option in ("--max-drop", "--non-inferior"):
                self.assert_fails(2, self.compare(LEAD, WIDE, option, text), option, message)
        self.assert_fails(2, self.compare(LEAD, WIDE, "--max-drop", "rouge1.f=1pt", "--non-inferior", "rouge1.f=1pt"),
                          "'rouge1.f' has a margin already")
        column = self.json_of(LEAD, LEAD, "--max-drop", "rouge1.f=0.25pt")[0]["columns"]["rouge1.f"]
        self.assertEqual((column["decision"]["margin_points"], column["decision"]["verdict"]), (0.25, "not_worse"))

    def test_a_claim_passes_only_what_is_shown(self):
        better, worse = "method=oracle,local_context=32", "method=lead,local_context=32"
        claim = ["--non-inferior", "rouge1.f=1pt,rougeL.f=1pt"]
        text = self.assert_succeeds(self.compare(worse, better, *claim))
        self.assertIn("PASS: the drop is less than 1.00 points (p = 0.0005, Holm over 2 tests)", text)
        self.assertEqual(self.compare(better, worse, *claim).returncode, 1)
        self.assertIn("PASS", self.assert_succeeds(self.compare(worse, worse, *claim)))
        equal = self.compare(worse, worse, "--non-inferior", "rouge1.f=0pt")
        self.assertEqual(equal.returncode, 3, equal.stderr)
        self.assertIn("CANNOT DECIDE: the drop of 0.00 points is not less than 0.00", equal.stdout)

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

    def test_a_drop_of_a_corpus_value_is_tested_in_its_direction(self):
        for metric in ("scrolls", "bleu", "chrf"):
            self.assert_succeeds(self.run_bench("score", "--store", "small.sqlite", "--metric", metric))
        better, worse = "method=oracle,local_context=32", "method=lead,local_context=32"
        for column, margin in (("bleu", "0.5pt"), ("chrf", "0.5pt"), ("geometric_mean.f", "0.5pt")):
            drop = ["--max-drop", f"{column}={margin}"]
            run = self.compare(better, worse, *drop)
            self.assertEqual(run.returncode, 1, run.stderr)
            self.assertIn("WORSE", run.stdout)
            self.assertIn("paired bootstrap", run.stdout)
            self.assertIn("PASS", self.assert_succeeds(self.compare(worse, better, *drop)))
            self.assertIn("PASS", self.assert_succeeds(self.compare(better, better, *drop)))
            column_of = {n: c for s in self.json_of(worse, better, *drop) for n, c in s["columns"].items()}
            test = column_of[column]["decision"]
            self.assertEqual((test["verdict"], test["test"]), ("not_worse", "paired bootstrap"))
            self.assertLess(test["loss_points_at_most"], 0)
            large = self.compare(better, worse, "--max-drop", f"{column}=1000pt")
            self.assertEqual(large.returncode, 3, large.stderr)
            self.assertIn("no more than the margin of 1000.00", large.stdout)

    def test_a_value_that_cannot_be_resampled_is_left_out(self):
        records = [{**record(i), "references": ["Line 3 of text" + " and more" * i * i]} for i in range(12)]
        self.write("data.jsonl", "".join(json.dumps(r) + "\n" for r in records))
        self.write_sweep(methods=[{"method": "lead"}, {"method": "oracle"}], metrics=["rouge:agg=boot-median"])
        self.assert_succeeds(self.run_bench("sweep", "sweep.json", "--quiet"))
        sides = ["method=lead,local_context=32", "method=oracle,local_context=32"]
        left_out = [name for c in self.json_of(*sides) for name in c["left_out"]]
        self.assertIn("rouge1.f", left_out)
        self.assertIn("left out", self.assert_succeeds(self.compare(*sides)))
        self.assert_fails(2, self.compare(*sides, "--max-drop", "rouge1.f=1pt"), "neither the mean")

    def test_cells_of_one_store_are_paired_by_what_is_equal(self):
        comparisons = self.json_of("method=lead", "method=oracle", "--pair-by", "local_context")
        self.assertEqual([c["a"] for c in comparisons],
                         ["lead local_context=16 (small.sqlite)", "lead local_context=32 (small.sqlite)"])

    def test_a_result_that_is_shown_for_several_seeds_is_compared_with_each(self):
        self.write_sweep(name="sweep.json", methods=[{"method": "lead"}, {"method": "random"}], seeds=[0, 1],
                         grid={"local_context": [16]})
        self.assert_succeeds(self.run_bench("sweep", "sweep.json", "--quiet", "--store", "seeds.sqlite"))
        sides = ["--store", "seeds.sqlite", "method=lead", "method=random"]
        compared = self.json_of(*sides, "--pair-by", "local_context,seed")
        self.assertEqual([(c["a"], c["b"]) for c in compared],
                         [(f"lead seed={s} (seeds.sqlite)", f"random seed={s} (seeds.sqlite)") for s in (0, 1)])
        self.assertEqual(len(self.json_of(*reversed(sides[2:]), *sides[:2], "--pair-by", "seed")), 2)

    def test_earlier_runs_are_reached(self):
        self.write_sweep(grid={"local_context": [8]})
        self.assert_succeeds(self.run_bench("sweep", "sweep.json", "--quiet"))
        store = "small.sqlite"
        self.assert_fails(2, self.compare(LEAD, LEAD), "local_context=16")
        earlier, = self.json_of(LEAD, LEAD, "--run", "1")
        self.assertEqual(earlier["a"], "lead (small.sqlite, run 1)")
        both, = self.json_of(f"{store}#method=lead,local_context=32", f"{store}#method=lead", "--run", "1",
                             "--run-b", "2")
        self.assertEqual((both["a"], both["b"]), ("lead local_context=32 (small.sqlite, run 1)",
                                                  "lead local_context=8 (small.sqlite, run 2)"))
        self.assert_fails(2, self.compare(LEAD, LEAD, "--run-b", "7"), "no run or sweep '7'")
        self.assert_fails(2, self.compare("a.jsonl", "b.jsonl", "--run", "1"), "--run", "files of predictions")

    def test_a_known_direction_is_not_turned_round(self):
        run = self.compare(LEAD, WIDE, "--max-drop", "rouge1.f=1pt", "--better", "rouge1.f=lower")
        self.assert_fails(2, run, "--better rouge1.f=lower: by its metric higher values are better")

    def test_only_parameters_that_differ_are_named(self):
        text = self.assert_succeeds(self.compare(LEAD, WIDE))
        self.assertIn("A: lead local_context=16 (small.sqlite)\nB: lead local_context=32 (small.sqlite)\n", text)
        self.assertEqual(self.json_of(LEAD, WIDE)[0]["differences"]["local_context"], ["16", "32"])

    def test_the_table_names_sides_and_signature(self):
        text = self.assert_succeeds(self.compare(LEAD, WIDE, "--values", "rougeL.f"))
        for part in ("A: lead", "B: lead", "12 examples of 12 documents", "| rougeL.f |",
                     "compat:rouge_score-0.1.2", "randomisation|"):
            self.assertIn(part, text)
        self.assertNotIn("rouge1.f", text)

    def test_what_cannot_be_compared_is_said(self):
        self.assert_fails(2, self.compare("method=lead", WIDE), "2 cells match", "local_context=16", "--pair-by")
        self.assert_fails(2, self.compare("method=led", WIDE), "no cell has method=led")
        self.assert_fails(2, self.compare("methd=lead", WIDE), "'methd'", "'method'")
        self.assert_fails(2, self.compare("absent.sqlite", WIDE), "there is no file 'absent.sqlite'")
        self.assert_fails(2, self.compare(LEAD, WIDE, "--values", "rouge9.f"), "'rouge9.f'")
        self.assert_fails(2, self.compare(LEAD, WIDE, "--max-drop", "rouge1.f"), "COLUMN=POINTSpt")
        self.assert_fails(2, self.compare(LEAD, WIDE, "--max-drop", "rouge1.f=-1"), "at least 0")


class CompareStores(DriverTest):
    """A gate: a baseline's store against one that something happened to."""

    METHOD = """
import qfs_method

def summarize(example, params):
    state = open("state.txt").read()
    if state == "fails":
        raise RuntimeError("no answer")
    return {"empty": "", "worse": "the weather is fine"}.get(state, example.segments[3]["text"])

qfs_method.serve(summarize, name="served", version=1,
                 params=[qfs_method.Param("revision", "text", default="r1")])
"""
    DROP = ("--max-drop", "rougeL.f=1pt")

    def setUp(self):
        super().setUp()
        self.write_data()
        self.write("method.py", self.METHOD)
        self.sweep("old.sqlite", "good")

    def sweep(self, store, state, revisions=("r1",), code=0):
        self.write("state.txt", state)
        self.write_sweep(grid={"revision": list(revisions)}, report=None, methods=[
            {"method": "external", "command": ["python3", "method.py"], "fingerprint": ["method.py"]}])
        run = self.run_bench("sweep", "sweep.json", "--quiet", "--store", store, "--allow-external")
        self.assertEqual(run.returncode, code, run.stderr)

    def compare(self, *arguments, code):
        run = self.run_bench("compare", "old.sqlite", "after.sqlite", *arguments)
        self.assertEqual(run.returncode, code, run.stdout + run.stderr)
        return run.stdout

    def test_an_equal_one_passes(self):
        self.sweep("after.sqlite", "good")
        text = self.compare(*self.DROP, code=0)
        self.assertIn("A: served (old.sqlite)\nB: served (after.sqlite)\n12 examples of 12 documents\n", text)
        self.assertIn("PASS: no significant drop beyond 1.00 points (p = 1.0000)", text)

    def test_a_worse_one_is_exit_code_one(self):
        self.sweep("after.sqlite", "worse")
        self.assertIn("rougeL.f: WORSE", self.compare(*self.DROP, code=1))

    def test_another_revision_has_no_partner(self):
        self.sweep("after.sqlite", "worse", ["r2"])
        text = self.compare(*self.DROP, code=3)
        for part in ("NOTHING WAS COMPARED:\n- served revision=r1: no such cell in B",
                     "only in B:\n- served revision=r2", "differ in revision (r1 → r2)", "with --pair-by method 1 would be paired"):
            self.assertIn(part, text)
        self.assertIn("WORSE", self.compare(*self.DROP, "--pair-by", "method", code=1))
        document = json.loads(self.compare("--pair-by", "method", "--json", code=0))
        self.assertTrue(document["complete"])
        self.assertEqual(document["comparisons"][0]["differences"], {"revision": ["r1", "r2"]})
        document = json.loads(self.compare("--json", code=3))
        self.assertEqual((document["complete"], document["comparisons"]), (False, []))
        self.assertEqual([cell["reason"] for cell in document["not_compared"]], ["no such cell in B"])

    def test_a_failed_one_is_not_compared(self):
        self.sweep("after.sqlite", "fails", code=3)
        text = self.compare(*self.DROP, code=3)
        self.assertIn("- served: B: failed (method_error): ", text)
        self.assertIn("no answer", text)

    def test_empty_outputs_are_said(self):
        self.sweep("after.sqlite", "empty")
        text = self.compare(*self.DROP, code=1)
        self.assertIn("B: every output is empty\n", text)
        self.assertNotIn("A: every", text)

    def test_a_cell_of_the_baseline_without_partner_is_listed(self):
        os.remove(self.path("old.sqlite"))
        self.sweep("old.sqlite", "good", ["r1", "r2"])
        self.sweep("after.sqlite", "good", ["r1", "r3"])
        text = self.compare(*self.DROP, code=3)
        for part in ("PASS", "NOT COMPARED:\n- served revision=r2: no such cell in B",
                     "only in B:\n- served revision=r3: no such cell in A"):
            self.assertIn(part, text)
        self.sweep("after.sqlite", "good", ["r1", "r2", "r3"])
        self.assertIn("only in B", self.compare(*self.DROP, code=0))

    def test_cells_that_a_key_does_not_tell_apart_are_named(self):
        os.remove(self.path("old.sqlite"))
        self.sweep("old.sqlite", "good", ["r1", "r2"])
        self.sweep("after.sqlite", "good", ["r3"])
        run = self.run_bench("compare", "old.sqlite", "after.sqlite", "--pair-by", "method")
        self.assert_fails(2, run, "--pair-by method: 2 cells of A", "served revision=r1", "served revision=r2")
        run = self.run_bench("compare", "old.sqlite", "after.sqlite", "--pair-by", "revison")
        self.assert_fails(2, run, "'revison'", "'revision'")

    def test_examples_of_one_side_are_listed(self):
        shutil.copy(self.path("old.sqlite"), self.path("after.sqlite"))
        store = sqlite3.connect(self.path("after.sqlite"))
        tables = [name for name, in store.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        table = next(t for t in tables if "statistic" in t)
        store.execute(f"DELETE FROM {table} WHERE ordinal IN (3, 4)")
        store.commit()
        store.close()
        self.assertIn("10 examples of 10 documents; only in A: 2 (e3, e4), 2 whole documents with them",
                      self.compare(code=3))
        self.compare("--missing", "skip", code=0)


if __name__ == "__main__":
    unittest.main()
