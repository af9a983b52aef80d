"""Which run of a store and which of its cells a command shows, and what it shows of them.

Usage: test_runs_and_filters.py QFS_BENCH
"""

import json
import unittest

from driver import DriverTest

METHODS = [{"method": "lead"}, {"method": "bm25"}, {"method": "oracle"}]


class TwoRuns(DriverTest):
    """A store in which one sweep ran with three methods, and later, changed, with one."""

    def setUp(self):
        super().setUp()
        self.write_data()
        self.write_sweep(methods=METHODS)
        self.assert_succeeds(self.run_bench("sweep", "sweep.json"))
        self.write_sweep(grid={"local_context": [8]})
        self.assert_succeeds(self.run_bench("sweep", "sweep.json"))

    def json_of(self, *arguments):
        return json.loads(self.assert_succeeds(self.run_bench(*arguments, "--json")))

    def test_runs_are_listed_with_numbers_that_run_takes(self):
        runs = self.json_of("list", "runs")["runs"]
        self.assertEqual([(run["run"], run["cells"], run["complete"], run["latest"]) for run in runs],
                         [(1, 6, 6, False), (2, 1, 1, True)])
        text = self.assert_succeeds(self.run_bench("list", "runs"))
        self.assertIn(runs[0]["sweep_id"][:12], text)
        for selector in ["1", runs[0]["sweep_id"][:8]]:
            self.assertEqual(len(self.json_of("list", "cells", "--run", selector)["cells"]), 6)
        for selector in ["2", "latest", "small"]:
            self.assertEqual(len(self.json_of("list", "cells", "--run", selector)["cells"]), 1)

    def test_every_command_about_cells_reaches_an_earlier_run(self):
        report = self.json_of("report", "--run", "1")
        self.assertEqual([row["labels"]["method"] for row in report["rows"]], ["lead", "bm25", "oracle"])
        self.assertEqual(self.json_of("report", "1"), report)
        shown = self.json_of("show", "--run", "1", "--filter", "method=bm25,local_context=16")
        self.assertEqual(shown["dimensions"]["method"], "bm25")
        self.assert_fails(2, self.run_bench("show", "--filter", "method=bm25"), "no cell has method=bm25")

    def test_a_run_that_is_not_there_is_an_error(self):
        for command in ["report", "list cells", "show"]:
            run = self.run_bench(*command.split(), "--run", "3")
            self.assert_fails(2, run, "no run or sweep '3'", "'qfs-bench list runs' shows its 2")

    def test_a_digit_is_the_number_of_a_run_and_no_id(self):
        run = self.json_of("list", "runs")["runs"][0]
        for selector in {"0", run["sweep_id"][0]} - {"1", "2"}:
            self.assert_fails(2, self.run_bench("report", "--run", selector), f"no run or sweep '{selector}'")
        self.assert_succeeds(self.run_bench("report", "--run", run["sweep_id"][:4]))

    def test_a_sweep_that_runs_again_keeps_its_number_and_becomes_the_latest(self):
        self.write_sweep(methods=METHODS)
        self.assert_succeeds(self.run_bench("sweep", "sweep.json"))
        runs = self.json_of("list", "runs")["runs"]
        self.assertEqual([(run["run"], run["latest"]) for run in runs], [(1, True), (2, False)])


class Filters(DriverTest):
    def setUp(self):
        super().setUp()
        self.write_data()
        self.write_sweep(methods=METHODS)
        self.assert_succeeds(self.run_bench("sweep", "sweep.json"))

    def test_a_report_shows_the_cells_that_match_and_says_so(self):
        run = self.run_bench("report", "--filter", "method=lead|bm25,local_context=32", "--json")
        report = json.loads(self.assert_succeeds(run))
        self.assertEqual([row["labels"]["method"] for row in report["rows"]], ["lead", "bm25"])
        self.assertIn("2 of 6 cells: method=lead|bm25,local_context=32", report["notes"])

    def test_several_values_and_repeated_options_mean_the_same_everywhere(self):
        for filters in (["method=lead|bm25"], ["method=lead,method=bm25"], ["method=lead", "method=bm25"]):
            options = [part for text in filters for part in ("--filter", text)]
            planned = json.loads(self.assert_succeeds(self.run_bench("plan", "sweep.json", "--json", *options)))
            self.assertEqual(len(planned["cells"]), 4)
            listed = json.loads(self.assert_succeeds(self.run_bench("list", "cells", "--json", *options)))
            self.assertEqual(len(listed["cells"]), 4)

    def test_transformers_names_and_values_mean_the_own_ones(self):
        self.write("method.py", """
import qfs_method
qfs_method.serve(lambda example, params: example.text[:params["no_repeat_ngram"]], name="mine", version=1, params=[
    qfs_method.Param("no_repeat_ngram", "integer", default=3), qfs_method.Param("early_stopping", "text", default="no")])
""")
        self.write_sweep(name="sweep.json", grid={"no_repeat_ngram": [3, 90], "early_stopping": ["no", "yes"]}, methods=[
            {"method": "external", "command": ["python3", "method.py"], "fingerprint": ["method.py"]}], report=None)
        self.assert_succeeds(self.run_bench("sweep", "sweep.json", "--allow-external"))
        conditions = "no_repeat_ngram_size=90,early_stopping=true"
        for command in (["list", "cells"], ["plan", "sweep.json", "--allow-external"]):
            cells = json.loads(self.assert_succeeds(self.run_bench(*command, "--filter", conditions, "--json")))["cells"]
            self.assertEqual(len(cells), 1, command)
        shown = json.loads(self.assert_succeeds(self.run_bench("show", "--filter", conditions, "--json")))
        self.assertEqual(shown["dimensions"]["no_repeat_ngram"], "90")
        table = self.assert_succeeds(self.run_bench("report", "--filter", conditions, "--rows", "no_repeat_ngram_size",
                                                    "--columns", "early_stopping"))
        self.assertIn("| 90 ", table)
        sides = ["no_repeat_ngram_size=3", "no_repeat_ngram_size=90"]
        compared = json.loads(self.assert_succeeds(self.run_bench("compare", *sides, "--pair-by", "early_stopping",
                                                                  "--json")))
        self.assertEqual(len(compared["comparisons"]), 2)
        self.assert_succeeds(self.run_bench("compare", conditions, conditions, "--pair-by", "no_repeat_ngram_size"))
        self.assert_fails(2, self.run_bench("list", "cells", "--filter", "bad_words_ids=1"),
                          "no parameter 'bad_words_ids'")

    def test_what_no_cell_has_is_an_error_with_the_nearest(self):
        for command in (["plan", "sweep.json"], ["sweep", "sweep.json"], ["report"], ["show"], ["list", "cells"]):
            with self.subTest(command=command):
                run = self.run_bench(*command, "--filter", "method=lead|bm52")
                self.assert_fails(2, run, "no cell has method=bm52", "did you mean 'bm25'?", "lead, bm25, oracle")
                run = self.run_bench(*command, "--filter", "local_contex=16")
                self.assert_fails(2, run, "did you mean 'local_context'?")
                run = self.run_bench(*command, "--filter", "method=")
                self.assert_fails(2, run, "key=value")

    def test_row_names_filter_as_labels_and_as_methods(self):
        self.write_sweep(methods=[{"method": "lead", "label": "first words"}, {"method": "bm25"}])
        self.assert_succeeds(self.run_bench("sweep", "sweep.json"))
        for command in (["plan", "sweep.json"], ["list", "cells"]):
            for text in ("label=first words", "method=first words", "method=lead"):
                listed = json.loads(self.assert_succeeds(self.run_bench(*command, "--json", "--filter", text)))
                self.assertEqual(len(listed["cells"]), 2, (command, text))


class PerExample(DriverTest):
    def setUp(self):
        super().setUp()
        self.write_data(4)
        self.write_sweep(methods=METHODS, metrics=["rouge", "chrf"])
        self.assert_succeeds(self.run_bench("sweep", "sweep.json"))

    def lines(self, *arguments):
        text = self.assert_succeeds(self.run_bench("report", "--per-example", "-", *arguments))
        return [json.loads(line) for line in text.splitlines()]

    def test_every_example_of_every_cell_has_a_line_with_its_scores(self):
        lines = self.lines()
        self.assertEqual(len(lines), 3 * 2 * 4)
        first = lines[0]
        self.assertEqual((first["method"], first["example"], first["ordinal"]), ("lead", "e0", 0))
        self.assertEqual(first["params"]["local_context"], 16)
        self.assertEqual(set(first["scores"]), {"rouge", "chrf"})
        report = json.loads(self.assert_succeeds(self.run_bench("report", "--json")))
        cell = report["rows"][0]["cells"][0]["values"]["rouge1.f"]
        self.assertEqual(first["cell_id"], cell["cell_id"])
        own = [line["scores"]["rouge"]["rouge1.f"] for line in lines if line["cell_id"] == first["cell_id"]]
        self.assertAlmostEqual(sum(own) / len(own), cell["value"], places=15)

    def test_filter_and_run_choose_the_lines(self):
        lines = self.lines("--run", "1", "--filter", "method=bm25,local_context=32")
        self.assertEqual({line["method"] for line in lines}, {"bm25"})
        self.assertEqual(len(lines), 4)

    def test_a_file_is_written_beside_the_table(self):
        table = self.assert_succeeds(self.run_bench("report"))
        self.assertEqual(self.assert_succeeds(self.run_bench("report", "--per-example", "out.jsonl")), table)
        with open(self.path("out.jsonl"), encoding="utf-8") as file:
            self.assertEqual([json.loads(line) for line in file], self.lines())

    def test_score_on_a_store_says_where_they_are(self):
        run = self.run_bench("score", "--store", "small.sqlite", "--per-example", "out.jsonl")
        self.assert_fails(2, run, "with --per-example those of every example")


class Words(DriverTest):
    def setUp(self):
        super().setUp()
        self.write_data()

    def test_show_leaves_the_document_out_unless_it_is_asked_for(self):
        self.write_sweep(grid={"local_context": [16]})
        self.assert_succeeds(self.run_bench("sweep", "sweep.json"))
        text = self.assert_succeeds(self.run_bench("show"))
        self.assertNotIn("--- document", text)
        self.assertIn("document: 16 of 72 tokens kept", text)
        for part in ("--- query", "--- prediction", "--- reference 1", "--- scores"):
            self.assertIn(part, text)
        self.assertIn("--- document", self.assert_succeeds(self.run_bench("show", "--document")))

    def test_one_method_is_listed_in_full(self):
        text = self.assert_succeeds(self.run_bench("list", "methods", "zero_shot"))
        self.assertIn("prompt, default:\n", text)
        self.assertIn("{document}", text)
        self.assertNotIn("textrank", text)
        listed = json.loads(self.assert_succeeds(self.run_bench("list", "methods", "lead", "--json")))
        self.assertEqual([method["name"] for method in listed["methods"]], ["lead"])
        self.assert_fails(2, self.run_bench("list", "methods", "zero-shot"), "did you mean 'zero_shot'?")

    def test_long_values_are_shortened_in_the_list_of_cells(self):
        prompts = [f"Read this, {name}, and say what it is about, in a few plain words: " + "{document}{query}"
                   for name in ("Ann", "Bob")]
        self.write_sweep(methods=[{"method": "endpoint", "model": "m", "revision": "1", "retries": 0, "prompt": prompt,
                                   "label": f"m{i}", "base_url": "http://127.0.0.1:9/v1"}
                                  for i, prompt in enumerate(prompts)], grid=None, report={"rows": ["method"]})
        self.run_bench("sweep", "sweep.json", "--allow-external")
        text = self.assert_succeeds(self.run_bench("list", "cells"))
        self.assertIn("Read this, Ann, and say", text)
        self.assertIn("…", text)
        self.assertNotIn("plain words", text)


if __name__ == "__main__":
    unittest.main(verbosity=2)
