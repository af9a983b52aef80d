"""`compare`: two stored results, or two files of predictions, on the same examples.

Usage: test_compare.py QFS_BENCH
"""

import json
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

    def test_a_drop_of_a_corpus_value_is_tested_in_its_direction(self):
        for metric in ("scrolls", "bleu", "chrf"):
            self.assert_succeeds(self.run_bench("score", "--store", "small.sqlite", "--metric", metric))
        better, worse = "method=oracle,local_context=32", "method=lead,local_context=32"
        for column, margin in (("bleu", "0.5"), ("chrf", "0.5"), ("geometric_mean.f", "0.005")):
            drop = ["--max-drop", f"{column}={margin}"]
            run = self.compare(better, worse, *drop)
            self.assertEqual(run.returncode, 1, run.stderr)
            self.assertIn("WORSE", run.stdout)
            self.assertIn("paired bootstrap", run.stdout)
            self.assertIn("not shown", self.assert_succeeds(self.compare(worse, better, *drop)))
            self.assertIn("not shown", self.assert_succeeds(self.compare(better, better, *drop)))
            column_of = {n: c for s in self.json_of(worse, better, *drop) for n, c in s["columns"].items()}
            test = column_of[column]["max_drop"]
            self.assertEqual((test["worse"], test["test"]), (False, "paired bootstrap"))
            self.assertGreater(test["bound"], 0)
            large = ["--max-drop", f"{column}=100"]
            self.assertIn("not shown", self.assert_succeeds(self.compare(better, worse, *large)))

    def test_a_value_that_cannot_be_resampled_is_left_out(self):
        records = [{**record(i), "references": ["Line 3 of text" + " and more" * i * i]} for i in range(12)]
        self.write("data.jsonl", "".join(json.dumps(r) + "\n" for r in records))
        self.write_sweep(methods=[{"method": "lead"}, {"method": "oracle"}], metrics=["rouge:agg=boot-median"])
        self.assert_succeeds(self.run_bench("sweep", "sweep.json", "--quiet"))
        sides = ["method=lead,local_context=32", "method=oracle,local_context=32"]
        left_out = [name for c in self.json_of(*sides) for name in c["left_out"]]
        self.assertIn("rouge1.f", left_out)
        self.assertIn("left out", self.assert_succeeds(self.compare(*sides)))
        self.assert_fails(2, self.compare(*sides, "--max-drop", "rouge1.f=0.01"), "neither the mean")

    def test_the_table_names_sides_and_signature(self):
        text = self.assert_succeeds(self.compare(LEAD, WIDE, "--values", "rougeL.f"))
        for part in ("A: lead", "B: lead", "12 examples of 12 documents", "| rougeL.f |",
                     "compat:rouge_score-0.1.2", "randomisation|"):
            self.assertIn(part, text)
        self.assertNotIn("rouge1.f", text)

    def test_what_cannot_be_compared_is_said(self):
        self.assert_fails(2, self.compare("method=lead", WIDE), "2 cells match", "local_context=16")
        self.assert_fails(2, self.compare("method=led", WIDE), "no cell has method=led")
        self.assert_fails(2, self.compare("methd=lead", WIDE), "'methd'", "'method'")
        self.assert_fails(2, self.compare("absent.sqlite", WIDE), "'absent.sqlite' is neither a store")
        self.assert_fails(2, self.compare(LEAD, WIDE, "--values", "rouge9.f"), "'rouge9.f'")
        self.assert_fails(2, self.compare(LEAD, WIDE, "--max-drop", "rouge1.f"), "COLUMN=MARGIN")
        self.assert_fails(2, self.compare(LEAD, WIDE, "--max-drop", "rouge1.f=-1"), "at least 0")


class CompareFiles(DriverTest):
    def records(self, name, texts, first=0, **more):
        lines = [json.dumps({"id": f"q{i}", "prediction": text, "references": [f"the plan of item {i} is agreed"],
                             **{key: value(i) for key, value in more.items()}})
                 for i, text in enumerate(texts, first)]
        return self.write(name, "".join(line + "\n" for line in lines))

    def setUp(self):
        super().setUp()
        self.records("good.jsonl", [f"the plan of item {i} is agreed" for i in range(12)])
        self.records("bad.jsonl", [f"the weather of item {i}" if i else "the plan of item 0 is agreed"
                                   for i in range(12)])

    def compare(self, *arguments):
        return self.run_bench("compare", *arguments)

    def json_of(self, *arguments):
        return json.loads(self.assert_succeeds(self.compare(*arguments, "--json")))["comparisons"]

    def test_files_have_the_statistics_that_their_predictions_have_in_a_store(self):
        self.write_data()
        self.write_sweep(methods=[{"method": "lead"}, {"method": "oracle"}])
        self.assert_succeeds(self.run_bench("sweep", "sweep.json", "--quiet"))
        store = sqlite3.connect(self.path("small.sqlite"))
        rows = store.execute("SELECT method, json_extract(params, '$.local_context'), ordinal, text FROM output "
                             "JOIN result USING(result_id) JOIN cell USING(cell_id) ORDER BY ordinal").fetchall()
        store.close()
        for method in ("lead", "oracle"):
            texts = [text for name, context, _, text in rows if (name, context) == (method, 32)]
            self.assertEqual(len(texts), 12)
            lines = [{**record(i), "prediction": text, "cluster": record(i)["id"]}
                     for i, text in enumerate(texts)]
            self.write(f"{method}.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
        stored, = self.json_of("method=lead,local_context=32", "method=oracle,local_context=32")
        files, = self.json_of("lead.jsonl", "oracle.jsonl", "--metric", "rouge")
        # Clusters are drawn in the order of their names, which differ, so sums may round otherwise.
        self.assertEqual(set(files["columns"]), set(stored["columns"]))
        for name, column in stored["columns"].items():
            other = files["columns"][name]
            for low, high in zip(column.pop("interval"), other.pop("interval")):
                self.assertAlmostEqual(low, high, places=12)
            self.assertEqual(other, column)
        self.assertEqual(files["signature"], stored["signature"])
        self.assertEqual((files["unit"], files["clusters"]), ("cluster", 12))
        self.assertEqual([(e["a"], e["b"]) for e in files["most_different"]],
                         [(e["a"], e["b"]) for e in stored["most_different"]])

    def test_examples_are_named_by_id_and_wins_are_counted(self):
        comparison, = self.json_of("good.jsonl", "bad.jsonl", "--values", "rouge1.f", "--examples", "1")
        column = comparison["columns"]["rouge1.f"]
        self.assertEqual((column["wins"], column["ties"], column["losses"]), (0, 1, 11))
        self.assertEqual((column["a"], comparison["unit"], comparison["examples"]), (1, "item", 12))
        self.assertEqual(comparison["most_different"][0]["id"], "q1")
        text = self.assert_succeeds(self.compare("good.jsonl", "bad.jsonl", "--metric", "rouge", "--metric", "bleu"))
        for part in ("A: good.jsonl", "12 examples\n", "example q1: rouge1.f", "| bleu |"):
            self.assertIn(part, text)

    def test_a_drop_that_is_shown_is_exit_code_one(self):
        run = self.compare("good.jsonl", "bad.jsonl", "--max-drop", "rougeL.f=0.01")
        self.assertEqual(run.returncode, 1, run.stderr)
        self.assertIn("WORSE", run.stdout)
        self.assert_succeeds(self.compare("bad.jsonl", "good.jsonl", "--max-drop", "rougeL.f=0.01"))
        both = self.compare("good.jsonl", "bad.jsonl", "--json", "--max-drop", "rougeL.f=0.01",
                            "--max-drop", "rouge2.f=0.9")
        self.assertEqual(both.returncode, 1)
        columns = json.loads(both.stdout)["comparisons"][0]["columns"]
        self.assertTrue(columns["rougeL.f"]["max_drop"]["worse"])
        self.assertFalse(columns["rouge2.f"]["max_drop"]["worse"])
        self.assertNotIn("max_drop", columns["rouge1.f"])

    def test_line_files_share_their_references(self):
        self.write("refs.txt", "".join(f"the plan of item {i} is agreed\n" for i in range(12)))
        self.write("a.txt", "".join(f"the plan of item {i} is agreed\n" for i in range(12)))
        self.write("b.txt", "".join(f"the weather of item {i}\n" for i in range(12)))
        comparison, = self.json_of("a.txt", "b.txt", "--refs", "refs.txt")
        self.assertEqual(comparison["columns"]["rouge1.f"]["losses"], 12)
        self.write("b.txt", "one line\n")
        self.assertNotEqual(self.compare("a.txt", "b.txt", "--refs", "refs.txt").returncode, 0)

    def test_postprocess_is_of_both_and_signed(self):
        self.records("thinking.jsonl", [f"<think>the plan of item</think>the plan of item {i} is agreed" for i in range(12)])
        files, chain = ("good.jsonl", "thinking.jsonl"), ("--postprocess", "strip_reasoning")
        raw, = self.json_of(*files)
        self.assertLess(raw["columns"]["rouge1.f"]["b"], 1)
        processed, = self.json_of(*files, *chain)
        self.assertEqual((processed["columns"]["rouge1.f"]["a"], processed["columns"]["rouge1.f"]["b"]), (1, 1))
        self.assertEqual(processed["signature"], raw["signature"] + '|post:["strip_reasoning"]')
        self.assert_fails(2, self.compare(*files, "--postprocess", "strip_reason"), "did you mean 'strip_reasoning'?")
        self.write_data()
        self.write_sweep()
        self.assert_succeeds(self.run_bench("sweep", "sweep.json", "--quiet"))
        self.assert_fails(2, self.compare(LEAD, WIDE, *chain), "--postprocess", "are for files")

    def test_ids_that_do_not_agree_are_named(self):
        self.records("shifted.jsonl", ["the plan"] * 12, first=2)
        self.assert_fails(5, self.compare("good.jsonl", "shifted.jsonl"),
                          "only in A 2 (q0, q1)", "only in B 2 (q12, q13)", "--missing skip")
        comparison, = self.json_of("good.jsonl", "shifted.jsonl", "--missing", "skip")
        self.assertEqual((comparison["examples"], comparison["only_a"], comparison["only_b"]), (10, 2, 2))
        self.records("others.jsonl", ["the plan"] * 12, first=50)
        self.assert_fails(5, self.compare("good.jsonl", "others.jsonl"), "no id in common")

    def test_other_references_and_other_clusters_are_errors(self):
        self.records("references.jsonl", ["the plan"] * 12, references=lambda i: [f"another {i}"])
        self.assert_fails(5, self.compare("good.jsonl", "references.jsonl"), "'q0' has other references")
        self.records("clusters.jsonl", ["the plan"] * 12, cluster=lambda i: f"d{i // 2}")
        self.assert_fails(5, self.compare("good.jsonl", "clusters.jsonl"), "'q0' is of item")

    def test_files_and_stores_are_not_mixed(self):
        self.assert_fails(2, self.compare("good.jsonl", "absent.sqlite"), "compare two files")
        self.assert_fails(2, self.compare("a.sqlite", "b.sqlite", "--refs", "r.txt"), "for files of predictions")
        self.assert_fails(2, self.compare("-", "-"), "once only")
        self.assert_fails(2, self.compare("good.jsonl", "bad.jsonl", "--values", "rouge9.f"), "'rouge9.f'")
        self.assert_fails(2, self.compare("good.jsonl", "absent.jsonl"), "absent.jsonl")


if __name__ == "__main__":
    unittest.main()
