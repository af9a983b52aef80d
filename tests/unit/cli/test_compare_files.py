"""`compare`: two files of predictions on the same items.

Usage: test_compare_files.py QFS_BENCH
"""

import json
import sqlite3
import unittest

from driver import DriverTest, record

LEAD = "method=lead,local_context=16"
WIDE = "method=lead,local_context=32"


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
        # Clusters have other names here, and hence another order, so sums may round otherwise.
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
        self.assertEqual((column["higher"], column["equal"], column["lower"]), (0, 1, 11))
        self.assertEqual((column["a"], comparison["unit"], comparison["examples"]), (1, "item", 12))
        self.assertEqual(comparison["most_different"][0]["id"], "q1")
        text = self.assert_succeeds(self.compare("good.jsonl", "bad.jsonl", "--metric", "rouge", "--metric", "bleu"))
        for part in ("A: good.jsonl", "12 examples\n", "example q1: rouge1.f", "| bleu |"):
            self.assertIn(part, text)

    def test_a_drop_that_is_shown_is_exit_code_one(self):
        run = self.compare("good.jsonl", "bad.jsonl", "--max-drop", "rougeL.f=1pt")
        self.assertEqual(run.returncode, 1, run.stderr)
        self.assertIn("WORSE", run.stdout)
        self.assert_succeeds(self.compare("bad.jsonl", "good.jsonl", "--max-drop", "rougeL.f=1pt"))
        both = self.compare("good.jsonl", "bad.jsonl", "--json", "--max-drop", "rougeL.f=1pt",
                            "--max-drop", "rouge2.f=95pt")
        self.assertEqual(both.returncode, 1)
        columns = json.loads(both.stdout)["comparisons"][0]["columns"]
        self.assertEqual(columns["rougeL.f"]["decision"]["verdict"], "worse")
        self.assertEqual(columns["rouge2.f"]["decision"]["verdict"], "not_worse")
        self.assertNotIn("decision", columns["rouge1.f"])

    def test_few_items_cannot_hide_a_collapse(self):
        self.records("old.jsonl", [f"the plan of item {i} is agreed" for i in range(4)])
        self.records("new.jsonl", [""] * 4)
        run = self.compare("old.jsonl", "new.jsonl", "--max-drop", "rougeL.f=1pt")
        self.assertEqual(run.returncode, 3, run.stderr)
        self.assertIn("B: every output is empty", run.stdout)
        self.assertIn("rougeL.f: CANNOT DECIDE: with 4 items no one-sided p can be below 0.0625, and 0.05 is asked "
                      "for; 5 items would do", run.stdout)
        self.assertIn("with 4 items no p of the table, which are two-sided, can be below 0.1250", run.stdout)
        self.records("old.jsonl", [f"the plan of item {i} is agreed" for i in range(5)])
        self.records("new.jsonl", [""] * 5)
        self.assertEqual(self.compare("old.jsonl", "new.jsonl", "--max-drop", "rougeL.f=1pt").returncode, 1)

    def test_the_bootstrap_says_how_many_it_needs(self):
        for name, word in (("old.jsonl", "plan"), ("new.jsonl", "idea")):
            self.records(name, [f"the {word} of item {i} is agreed" + " by all" * i for i in range(9)])
        run = self.compare("old.jsonl", "new.jsonl", "--metric", "bleu", "--max-drop", "bleu=1pt")
        self.assertEqual(run.returncode, 3, run.stderr)
        self.assertIn("bleu: CANNOT DECIDE: the paired bootstrap of a corpus value needs at least 10 items, and there "
                      "are 9\n", run.stdout)

    def test_a_margin_as_large_as_the_baseline_shows_nothing(self):
        for option in ("--max-drop", "--non-inferior"):
            run = self.compare("bad.jsonl", "bad.jsonl", option, "rougeL.f=90pt")
            self.assertEqual(run.returncode, 3, run.stdout)
            self.assertRegex(run.stdout, r"A has \d+\.\d\d points, which is no more than the margin of 90.00, so that any "
                                         "B would pass; choose a smaller margin")

    def test_a_drop_that_may_be_chance_is_not_decided(self):
        self.records("old.jsonl", [f"the plan of item {i} is agreed" for i in range(6)])
        self.records("new.jsonl", ["the weather"] * 2 + [f"the plan of item {i} is agreed" for i in range(2, 6)])
        run = self.compare("old.jsonl", "new.jsonl", "--max-drop", "rougeL.f=1pt")
        self.assertEqual(run.returncode, 3, run.stderr)
        self.assertRegex(run.stdout, r"CANNOT DECIDE: the drop of \d+\.\d\d points is beyond 1.00 but may be chance "
                                     r"\(p = 0\.\d+\); about \d+ items would show it")

    def test_the_order_of_the_rows_changes_nothing(self):
        texts = [f"the plan of item {i} is " + ("agreed" if i % 3 else "not agreed by all") for i in range(24)]
        self.records("a.jsonl", texts, cluster=lambda i: f"d{i // 2}")
        self.records("b.jsonl", [text + " now" * (i % 4) for i, text in enumerate(texts)], cluster=lambda i: f"d{i // 2}")
        first = self.json_of("a.jsonl", "b.jsonl", "--metric", "rouge", "--metric", "bleu")
        for order in (lambda lines: lines[::-1], lambda lines: [lines[i * 7 % 24] for i in range(24)]):
            for name in ("a.jsonl", "b.jsonl"):
                with open(self.path(name), encoding="utf-8") as file:
                    self.write("other_" + name, "".join(order(file.readlines())))
            other = self.json_of("other_a.jsonl", "other_b.jsonl", "--metric", "rouge", "--metric", "bleu")
            for mine, its in zip(first, other):
                self.assertEqual(its["columns"], mine["columns"])
            for options in ([], ["--metric", "bleu"]):
                scores = [json.loads(self.assert_succeeds(self.run_bench("score", name, "--json", *options)))
                          for name in ("a.jsonl", "other_a.jsonl")]
                for values in zip(*(s["scores"].values() for s in scores)):
                    self.assertEqual(values[0]["intervals"], values[1]["intervals"])
        self.assertIn("|order:sha256|", self.assert_succeeds(self.compare("a.jsonl", "b.jsonl")))

    def test_what_is_neither_better_nor_worse_is_not_called_so(self):
        files = ("good.jsonl", "bad.jsonl", "--metric", "length", "--metric", "repetition")
        text = self.assert_succeeds(self.compare(*files))
        self.assertIn("B higher/equal/lower", text)
        self.assertNotIn("etter", text)
        columns = {name: column for c in self.json_of(*files) for name, column in c["columns"].items()}
        self.assertEqual((columns["length.words"]["better"], columns["repeated1"]["better"]), ("neither", "lower"))
        self.assert_fails(2, self.compare(*files, "--max-drop", "length.words=1pt"),
                          "--max-drop length.words: more of it is neither better nor worse",
                          "--better length.words=higher")
        self.assertEqual(self.compare(*files, "--max-drop", "length.words=1pt", "--better", "length.words=higher")
                         .returncode, 1)
        self.records("twice.jsonl", [f"the plan the plan of item {i} is agreed" for i in range(12)])
        run = self.compare("good.jsonl", "twice.jsonl", "--metric", "repetition", "--max-drop", "repeated1=0.1pt")
        self.assertEqual(run.returncode, 1, run.stderr)
        self.assertIn("WORSE: the rise is beyond", run.stdout)

    def test_line_files_share_their_references(self):
        self.write("refs.txt", "".join(f"the plan of item {i} is agreed\n" for i in range(12)))
        self.write("a.txt", "".join(f"the plan of item {i} is agreed\n" for i in range(12)))
        self.write("b.txt", "".join(f"the weather of item {i}\n" for i in range(12)))
        comparison, = self.json_of("a.txt", "b.txt", "--refs", "refs.txt")
        self.assertEqual(comparison["columns"]["rouge1.f"]["lower"], 12)
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
        self.assertEqual((comparison["examples"], comparison["only_a"], comparison["only_b"]),
                         (10, ["q0", "q1"], ["q12", "q13"]))
        self.assertIn("10 examples; only in A: 2 (q0, q1); only in B: 2 (q12, q13)\n",
                      self.assert_succeeds(self.compare("good.jsonl", "shifted.jsonl", "--missing", "skip")))
        self.records("others.jsonl", ["the plan"] * 12, first=50)
        self.assert_fails(5, self.compare("good.jsonl", "others.jsonl"), "no id in common")

    def test_what_a_file_lacks_is_scored_as_empty_where_references_name_it(self):
        self.records("all.jsonl", ["the plan is agreed"] * 12)
        self.records("few.jsonl", ["the plan is agreed"] * 10)
        run = self.compare("all.jsonl", "few.jsonl", "--missing", "zero")
        self.assert_fails(5, run, "only in A 2 (q10, q11); --missing skip compares", "with --refs or --refs-dataset, "
                          "--missing zero scores what a file lacks as an empty text")
        self.assertNotIn("only in B", run.stderr)
        compared, = self.json_of("all.jsonl", "few.jsonl", "--missing", "zero", "--refs", "all.jsonl")
        self.assertEqual((compared["examples"], compared["empty_b"]), (12, 2))
        self.write("null.jsonl", "".join(json.dumps({"id": f"q{i}", "prediction": None if i > 9 else "the plan is agreed",
                                                     "references": [f"the plan of item {i} is agreed"]}) + "\n"
                                         for i in range(12)))
        compared, = self.json_of("all.jsonl", "null.jsonl", "--missing", "zero")
        self.assertEqual((compared["examples"], compared["empty_b"]), (12, 2))

    def test_empty_texts_are_counted_among_those_that_are_compared(self):
        self.records("some.jsonl", ["the plan is agreed"] * 10 + ["", ""])
        self.records("few.jsonl", [" \n"] + ["the plan is agreed"] * 9)
        compared, = self.json_of("some.jsonl", "few.jsonl", "--missing", "skip")
        self.assertEqual((compared["empty_a"], compared["empty_b"]), (0, 1))

    def test_of_a_group_only_the_row_that_stands_for_it_is_counted(self):
        for name, better in (("one.jsonl", 0), ("two.jsonl", 1)):
            self.write(name, "".join(json.dumps({
                "id": f"{group}/{row}", "group": str(group), "references": ["the plan is agreed today"],
                "prediction": "the plan is agreed today" if row == (better if group < 2 else 0) else "the plan"}) + "\n"
                for group in range(12) for row in range(2)))
        compared, = self.json_of("one.jsonl", "two.jsonl", "--metric", "ideal:split=newline", "--values", "rouge1.f")
        column = compared["columns"]["rouge1.f"]
        self.assertEqual((column["higher"], column["equal"], column["lower"]), (0, 10, 0))
        self.assertEqual(compared["most_different"], [])

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
