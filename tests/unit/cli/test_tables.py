"""Tables that people paste: `report` as its users call it.

Usage: test_tables.py QFS_BENCH
"""

import csv
import io
import json
import re
import unittest

from driver import FIELDS, DriverTest


class Tables(DriverTest):
    def setUp(self):
        super().setUp()
        self.write_data(12)

    def sweep(self, **members):
        self.write_sweep(**{"methods": [{"method": "lead"}, {"method": "random"}], **members})
        return self.assert_succeeds(self.run_bench("sweep", "sweep.json", "--quiet"))

    def report(self, *arguments):
        return self.assert_succeeds(self.run_bench("report", *arguments))

    def test_values_are_columns_where_the_sweep_file_or_an_option_says_so(self):
        report = {"rows": ["method", "local_context"], "columns": ["values"], "values": ["rouge1.f", "tokens_out"]}
        table = self.sweep(report=report)
        self.assertIn(" rouge1.f × 100 | tokens out, mean |\n", table)
        self.assertEqual(table.count("|--"), 4, "one table of four columns has one rule")
        wide = self.report("--rows", "method", "--columns", "local_context,values")
        self.assertIn("| 16 · tokens out, mean |", wide)
        self.assert_fails(2, self.run_bench("report", "--rows", "values"), "an axis of columns")

    def test_a_table_for_a_paper_comes_in_every_format(self):
        self.write_data(14)
        self.sweep(methods=[{"method": name, "max_words": 8} for name in ("lead", "bm25", "oracle")],
                   grid={"local_context": [64]})
        report = ["--columns", "values", "--values", "rouge1.f,rougeL.f", "--against", "lead"]
        markdown = self.report(*report)
        self.assertRegex(markdown, r"\| bm25     \| \*\*[0-9.]+\*\*")
        self.assertIn("differs from lead at p", markdown)
        latex = self.report(*report, "--format", "latex")
        self.assertIn("\\begin{tabular}{lrr}", latex)
        self.assertRegex(latex, r"bm25 & \\textbf\{")
        self.assertIn("oracle $^{\\dagger}$ &", latex)
        rows = json.loads(self.report(*report, "--json"))
        self.assertEqual(rows["against"]["method"], "lead")
        self.assertTrue(rows["rows"][1]["cells"][0]["values"]["rouge1.f"]["best"])
        self.assertIn("p_holm", rows["rows"][1]["cells"][0]["values"]["rouge1.f"]["tested"])
        self.assertIn(",best,difference,p,p_holm,significant", self.report(*report, "--format", "csv"))
        self.assert_fails(2, self.run_bench("report", "--against", "bn25"), "did you mean 'bm25'?")

    def test_methods_may_be_columns(self):
        self.sweep(methods=[{"method": "lead", "max_words": 8}, {"method": "oracle", "max_words": 8}], grid={"local_context": [64]})
        table = self.report("--rows", "local_context", "--columns", "method", "--values", "rouge1.f")
        self.assertRegex(table, r"\| +lead \| +oracle † \|")
        self.assertRegex(table, r"\n\| 64 +\|")
        rows = list(csv.DictReader(io.StringIO(self.report("--rows", "local_context", "--columns", "method",
                                                           "--values", "rouge1.f", "--format", "csv"))))
        self.assertEqual({row["method"]: row["oracle"] for row in rows}, {"lead": "false", "oracle": "true"})
        latex = self.report("--rows", "", "--columns", "method,local_context,values", "--values", "rouge1.f", "--format", "latex")
        self.assertIn("\n\\multicolumn{1}{c}{lead} & \\multicolumn{1}{c}{oracle $^{\\dagger}$} \\\\", latex)

    def test_scores_that_a_table_does_not_show_are_named(self):
        self.assertIn("also scored, shown with --values: length/length.words", 
                      self.sweep(metrics=["rouge", "length"], report={"rows": ["method"]}))
        self.assertNotIn("also scored", self.report("--values", "rouge1.f"))

    def test_options_that_a_table_does_not_use_are_refused(self):
        self.sweep(methods=[{"method": "lead"}, {"method": "oracle"}], grid={"local_context": [64]})
        self.assert_fails(2, self.run_bench("report", "--table", "ideal.table3", "--filter", "method=lead"), "--filter")
        self.assert_fails(2, self.run_bench("report", "--minus", "lead", "--values", "truncated"),
                          "no score of a row other than 'lead'")
        minus = self.report("--minus", "lead", "--columns", "values", "--values", "rouge1.f", "--methods-text")
        self.assertIn("In place of the scores of other methods stand those of lead minus theirs", minus)

    def test_no_score_stands_among_differences(self):
        self.sweep(metrics=["rouge", "bleu"], seeds=[0, 1], grid={"local_context": [64]},
                   methods=[{"method": "random", "max_words": 9}, {"method": "oracle"}])
        minus = ["--columns", "values", "--values", "rouge1.f,bleu", "--minus", "oracle"]
        table = self.report(*minus)  # a mean over seeds of a corpus value has no test
        self.assertRegex(table, r"\| minus random +\| +\+[^|]+\(p [^|]+\| +– \|")
        self.assertIn("not tested against oracle: 1 number", table)

    def test_a_row_that_lacks_seeds_is_compared_on_those_that_both_have(self):
        rows = [{"method": "random", "max_words": 9}, {"method": "random", "label": "short", "max_words": 4},
                {"method": "random", "label": "late", "max_words": 5}, {"method": "lead"}]
        minus = ("--columns", "values", "--values", "rouge1.f", "--minus", "random")
        tables = []
        for more in ({"seeds": [0]}, {"seeds": [0, 1, 2], "exclude": [
                {"label": "short", "seed": 1}, {"label": "short", "seed": 2}, {"label": "late", "seed": 0},
                {"label": "late", "seed": 1}, {"label": "random", "seed": 2}]}):
            self.sweep(methods=rows, grid={"local_context": [64]}, **more)
            tables.append(self.report(*minus))
        for label, same in (("short", True), ("lead", False)):
            one, two = (re.search(rf"\| minus {label} +\| +([^(]*)\(", table).group(1) for table in tables)
            self.assertEqual(one == two, same, tables)
        said = "rows that lack seeds of random, or have others, are compared on those that both have"
        self.assertNotIn(said, tables[0])
        self.assertIn(said, tables[1])
        self.assertIn("not tested against random: 1 number (no score of it on the same examples, no seed in common", tables[1])
        self.assertIn(said, self.report(*minus[:-2], "--against", "random"))
        self.assertTrue(json.loads(self.report(*minus, "--json"))["against"]["shared_seeds"])

    def test_the_evaluation_section_says_what_the_store_holds(self):
        self.sweep(datasets=[{"path": "data.jsonl", "fields": FIELDS, "sample": 5}], seeds=[0, 1])
        text = self.report("--methods-text", "--against", "lead")
        self.assertIn("5 of 12 examples about 5 documents", text)
        self.assertIn("local_context 16/32", text)
        self.assertIn("2 of random (seed 0, 1)", text)
        self.assertIn("compat:rouge_score-0.1.2", text)
        self.assertIn("adjusted after Holm over", text)
        self.assertIn("- Failed or incomplete: none of 8 cells.\n", text)
        self.assertNotIn("random", self.report("--methods-text", "--filter", "method=lead"))
        self.assertIn("\\paragraph{Evaluation}", self.report("--methods-text", "--format", "latex"))
        self.assertEqual(json.loads(self.report("--methods-text", "--json"))["schema"], "qfs-bench/methods/1")
        self.assert_fails(2, self.run_bench("report", "--methods-text", "--format", "csv"), "prose")

    def test_a_page_is_the_tables_that_the_sweep_file_names_with_their_words(self):
        sections = [{"title": "All of them", "text": "Read <this>.", "values": ["rouge1.f", "tokens_out"]},
                    {"title": "What chance adds", "filter": "local_context=16", "minus": "random"},
                    {"title": "Seeds", "rows": ["method", "seed"], "filter": "method=random"}]
        report = {"columns": ["values"], "values": ["rouge1.f"], "page": sections}
        table = self.sweep(report=report, seeds=[0, 1])
        self.assertNotIn("All of them", table, "the sweep prints its table")
        page = self.report("--page")
        headings = [line for line in page.splitlines() if line.startswith("#")]
        self.assertEqual(headings, ["# small", "## All of them", "## What chance adds", "## Seeds"])
        first, second, third = page.split("\n## ")[1:]
        self.assertIn("Read \\<this\\>.", first)
        self.assertIn("tokens out, mean", first)
        self.assertIn("| minus lead ", second)
        self.assertIn("4 of 8 cells: local_context=16", second)
        self.assertNotIn("lead", third.split("`qfs-bench")[0])
        read = json.loads(self.report("--page", "--json"))
        self.assertEqual([section["title"] for section in read["sections"]], [s["title"] for s in sections])
        self.assertEqual(read["sections"][1]["table"]["against"]["method"], "random")
        some = self.run_bench("report", "--page", "--filter", "local_context=32")
        self.assertEqual(some.returncode, 3, some.stderr)
        first, second, third = some.stdout.split("\n## ")[1:]
        self.assertIn("4 of 8 cells: local_context=32\n", first)
        self.assertIn("Not shown: none of its cells meets", second)
        self.assertIn("2 of 8 cells: local_context=32 and method=random", third)
        self.assert_fails(2, self.run_bench("report", "--page", "--filter", "methd=lead"), "'methd'")
        self.assert_fails(2, self.run_bench("report", "--page", "--values", "rouge1.f"), "--values excludes --page")
        self.assert_fails(2, self.run_bench("report", "--page", "--format", "csv"), "--page is --format markdown or json")

    def test_a_section_whose_cells_are_not_there_says_so(self):
        sections = [{"title": "Lead", "filter": "method=lead"}, {"title": "Random", "filter": "method=random"},
                    {"title": "Both", "filter": "method=lead|random"}]
        self.write_sweep(methods=[{"method": "lead"}, {"method": "random"}], report={"page": sections})
        self.assert_succeeds(self.run_bench("sweep", "sweep.json", "--quiet", "--filter", "method=lead"))
        page = self.run_bench("report", "--page")
        self.assertEqual(page.returncode, 3, page.stderr)
        self.assertIn("| lead ", page.stdout)
        self.assertIn("## Random\n\nNot shown: ", page.stdout)
        both = page.stdout.split("## Both\n")[1]
        self.assertIn("| lead ", both)
        self.assertIn("method=lead\\|random; this run has no method=random\n", both)
        self.assert_fails(2, self.run_bench("report", "--page", "--run", "none"), "none")

    def test_a_page_is_checked_before_anything_runs(self):
        def refused(section, words):
            self.write_sweep(methods=[{"method": "lead"}, {"method": "random"}], report={"page": [{"title": "A", **section}]})
            self.assert_fails(2, self.run_bench("plan", "sweep.json"), words)

        refused({"minus": "bm26"}, "sweep.json#/report/page/0/minus: no row is labelled 'bm26'")
        refused({"values": ["rouge9.f"]}, "sweep.json#/report/page/0/values/0: no metric of the sweep has the column")
        refused({"rows": ["methods"]}, "sweep.json#/report/page/0/rows/0: no cell of the sweep has a 'methods'")
        refused({"filter": "method"}, "sweep.json#/report/page/0/filter")
        refused({"filter": "method=led"}, "sweep.json#/report/page/0/filter: ")
        refused({"minus": "lead", "against": "lead"}, "'minus' and 'against' exclude each other")
        refused({"filter": "method=lead", "minus": "random"}, "filter: leaves out 'random', which the section's 'minus' names")
        refused({"figure": "front"}, "#/report/page/0")
        # What a section has as rows is no column of it, whatever the report's are.
        self.write_sweep(report={"columns": ["local_context"], "page": [{"title": "A", "rows": ["method", "local_context"]}]})
        self.assert_succeeds(self.run_bench("sweep", "sweep.json", "--quiet"))
        self.assertIn("| lead   | 16 ", self.report("--page"))
        self.write_sweep(report={"values": ["rouge1.f"]})
        self.assert_succeeds(self.run_bench("sweep", "sweep.json", "--quiet"))
        self.assert_fails(2, self.run_bench("report", "--page"), "has no \"page\" in its \"report\"")

    def test_compare_draws_its_differences(self):
        self.sweep()
        sides = ["method=lead,local_context=16", "method=lead,local_context=32"]
        table = self.assert_succeeds(self.run_bench("compare", *sides))
        self.assertEqual(self.assert_succeeds(self.run_bench("compare", *sides, "--svg", "d.svg")), table)
        with open(self.path("d.svg"), encoding="utf-8") as file:
            picture = file.read()
        self.assertTrue(picture.startswith("<svg "))
        for column in ("rouge1.f × 100", "rougeL.f × 100"):
            self.assertIn(f">{column}<", picture)
        self.assertIn("B higher on ", picture)
        self.assertEqual(self.assert_succeeds(self.run_bench("compare", *sides, "--svg", "-")), picture)
        self.assertEqual(self.run_bench("compare", *sides, "--svg", "d.svg", "--max-drop", "rouge1.f=1pt").returncode, 1)
        self.assert_fails(2, self.run_bench("compare", *sides, "--svg", "small.sqlite"), "is a store, which would be lost")
        self.write("a.jsonl", '{"id": "1", "prediction": "a b", "references": ["a"]}\n')
        self.write("b.jsonl", '{"id": "1", "prediction": "a", "references": ["a"]}\n')
        self.assert_fails(2, self.run_bench("compare", "a.jsonl", "b.jsonl", "--svg", "b.jsonl"), "--svg 'b.jsonl' is also read")


if __name__ == "__main__":
    unittest.main(verbosity=2)
