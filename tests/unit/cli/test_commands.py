"""Every subcommand of the built program: what it prints, where, and with which exit code.

Usage: test_commands.py QFS_BENCH
"""

import contextlib
import csv
import io
import json
import os
import pty
import shutil
import sqlite3
import subprocess
import unittest

from driver import QFS_BENCH, DriverTest

COMMANDS = ["sweep", "plan", "report", "score", "compare", "show", "list", "list methods", "list datasets",
            "list metrics", "list postprocess", "list runs", "list cells", "data", "data list", "data show", "data check",
            "data stats", "data fetch",
            "method", "method check", "doctor", "completion", "man"]


class Help(DriverTest):
    def test_every_command_has_help_with_an_example(self):
        for command in COMMANDS:
            with self.subTest(command=command):
                text = self.assert_succeeds(self.run_bench(*command.split(), "--help"))
                self.assertIn("Example:\n  qfs-bench " + command.split()[0], text)
                self.assertIn("--store FILE", text)

    def test_the_first_page_lists_every_command_and_the_exit_codes(self):
        text = self.assert_succeeds(self.run_bench("--help"))
        for command in COMMANDS:
            self.assertIn("\n  " + command.split()[0], text)
        self.assertIn("3 incomplete", text)
        self.assertNotIn("\n  host ", text, "hosts are started by the program")

    def test_version_is_printed_before_anything_else_happens(self):
        self.assertRegex(self.assert_succeeds(self.run_bench("--version")), r"^qfs-bench \d+\.\d+\.\d+\n$")
        self.assertFalse(os.path.exists(self.path("cache")))


class Lists(DriverTest):
    def json_of(self, *arguments):
        return json.loads(self.assert_succeeds(self.run_bench(*arguments, "--json")))

    def test_methods_have_parameters_with_type_default_range_and_doc(self):
        listing = self.json_of("list", "methods")
        self.assertEqual(listing["schema"], "qfs-bench/list-methods/1")
        methods = {method["name"]: method for method in listing["methods"]}
        self.assertLessEqual({"lead", "random", "textrank", "bm25", "oracle", "oracle_dyle", "zero_shot"},
                             set(methods))
        context = next(p for p in methods["lead"]["params"] if p["name"] == "local_context")
        self.assertEqual((context["type"], context["unit"], context["minimum"]), ("integer", "tokens", 1))
        self.assertIn("references", methods["oracle"]["needs"])
        text = self.assert_succeeds(self.run_bench("list", "methods"))
        self.assertIn("local_context", text)
        self.assertIn("smollm2-135m", text)

    def test_a_method_shows_how_transformers_writes_it(self):
        text = self.assert_succeeds(self.run_bench("list", "methods", "zero_shot"))
        self.assertRegex(text, r"early_stopping +text +– +yes \(true\) \| no \(false\) \| never ")
        self.assertRegex(text, r"no_repeat_ngram +integer +– +0 to 1000 .*\(also no_repeat_ngram_size\)")
        params = {p["name"]: p for p in self.json_of("list", "methods", "zero_shot")["methods"][0]["params"]}
        self.assertEqual(params["early_stopping"]["also_written"], {"true": "yes", "false": "no"})

    def test_programs_are_listed_with_what_all_of_them_have(self):
        text = self.assert_succeeds(self.run_bench("list", "methods", "external"))
        self.assertIn("method check", text)
        self.assertRegex(text, r"local_context +integer")
        self.assertRegex(text, r"truncate .* head \| tail \| middle")
        self.assertIn("\nexternal: ", self.assert_succeeds(self.run_bench("list", "methods")))

    def test_data_sets_have_splits_and_views(self):
        listing = self.json_of("list", "datasets")
        bundled = next(d for d in listing["datasets"] if d["name"] == "mini-meetings")
        self.assertTrue(bundled["bundled"])
        self.assertIn("golden", bundled["views"])
        self.assertEqual(listing, self.json_of("data", "list"))

    def test_metrics_have_columns_and_signature(self):
        listing = self.json_of("list", "metrics")
        rouge = next(m for m in listing["metrics"] if m["name"] == "rouge")
        self.assertIn("rougeLsum.f", rouge["columns"])
        self.assertIn("rouge_score-0.1.2", rouge["signature"])
        self.assertIn("peak_memory", [value["name"] for value in listing["values"]])


class Data(DriverTest):
    def test_check_counts_a_bundled_set(self):
        checked = json.loads(self.assert_succeeds(self.run_bench("data", "check", "mini-meetings", "--json")))
        self.assertEqual(checked["schema"], "qfs-bench/data-check/1")
        self.assertEqual(checked["dataset"]["examples"], 40)
        self.assertEqual(checked["documents"], 10)
        self.assertEqual(checked["findings"], [])

    def test_check_reads_a_file_with_a_field_map(self):
        self.write("mine.jsonl", json.dumps({"text": "A b c.", "q": "What?", "answer": "A."}) + "\n")
        run = self.run_bench("data", "check", "mine.jsonl", "--field", "document=text", "--field",
                             "query=q", "--field", "references=answer")
        self.assertIn("1 example, 1 document, ", self.assert_succeeds(run))

    def test_stats_are_of_every_split_or_of_one(self):
        splits = json.loads(self.assert_succeeds(self.run_bench("data", "stats", "mini-stories", "--json")))["splits"]
        self.assertEqual([split["dataset"]["split"] for split in splits], ["test", "train", "val"])
        self.assertEqual(sum(split["statistics"]["documents"] for split in splits), 10)
        self.assertEqual({split["statistics"]["references_per_example"] for split in splits}, {4})
        text = self.assert_succeeds(self.run_bench("data", "stats", "mini-meetings", "--split", "val"))
        self.assertRegex(text, r"\n +val\ndocuments +\d+\n")
        self.assertRegex(text, r"\nqueries_per_document +4\n")
        self.write("mine.tsv", "text\tone\ttwo\nA b c.\tA.\tB c.\n")
        own = self.run_bench("data", "stats", "mine.tsv", "--field", "document=text", "--field", "query=", "--field",
                             "references=one,two")
        self.assertRegex(self.assert_succeeds(own), r"\nreference_words +1\.50\n")

    def test_sets_of_the_users_own_copies_say_what_to_put_where(self):
        listing = self.assert_succeeds(self.run_bench("data", "list"))
        self.assertRegex(listing, r"govreport .*\(your files\) ")
        self.assertRegex(listing, r"dialogsum .*\(fetched\) ")
        self.assert_fails(5, self.run_bench("data", "fetch", "govreport"), "`qfs-bench data stats govreport` says")
        absent = self.run_bench("data", "stats", "duc-2007", environment={"QFS_DATASETS_DIR": self.path("sets")})
        self.assert_fails(5, absent, self.path("sets/duc-2007"))
        self.assertIn("put topics.sgml, docs/TOPIC/* and models/", absent.stderr)

    def test_show_prints_manifest_and_example(self):
        text = self.assert_succeeds(self.run_bench("data", "show", "mini-meetings", "--example", "3"))
        self.assertIn("example 3 of 40", text)
        self.assertIn("query:", text)
        run = self.run_bench("data", "show", "mini-meetings", "--example", "40")
        self.assert_fails(2, run, "there is no example 40")

    def test_fetch_names_the_known_sets(self):
        self.assert_fails(2, self.run_bench("data", "fetch", "qmsun"), "did you mean 'qmsum'?")


class Sweep(DriverTest):
    def setUp(self):
        super().setUp()
        self.write_data()
        self.write_sweep(methods=[{"method": "lead"}, {"method": "oracle"}],
                         measure={"examples": 2, "warmup": 1, "repetitions": 3})

    def sweep(self, *arguments):
        return self.run_bench("sweep", "sweep.json", *arguments)

    def test_prints_only_the_table_on_stdout(self):
        run = self.sweep()
        text = self.assert_succeeds(run)
        self.assertTrue(text.startswith("## small\n"))
        self.assertIn("| oracle †", text)
        self.assertIn("cluster bootstrap by document, 95 %, 10000 resamples, seed 12345, v2", text)
        self.assertIn("4 cells: 4 to run", run.stderr)
        self.assertTrue(os.path.exists(self.path("small.sqlite")), "named after the sweep")

    def test_quiet_leaves_stderr_empty(self):
        run = self.sweep("--quiet")
        self.assert_succeeds(run)
        self.assertEqual(run.stderr, "")

    def test_a_second_sweep_runs_nothing_and_prints_the_same(self):
        first = self.assert_succeeds(self.sweep())
        second = self.sweep()
        self.assertEqual(self.assert_succeeds(second), first)
        self.assertIn("4 cells: 0 to run", second.stderr)

    def test_rerun_computes_chosen_cells_again(self):
        self.assert_succeeds(self.sweep())
        self.assertIn("2 to run", self.sweep("--rerun", "method=lead").stderr)

    def test_changed_code_behind_equal_versions_is_told(self):
        self.assert_succeeds(self.sweep())
        store = sqlite3.connect(self.path("small.sqlite"))
        host, = store.execute("SELECT host FROM environment").fetchone()
        facts = json.loads(host)["host"]
        # Of a layer that is not theirs nothing is said.
        for name, digest in (("lead", facts["sources"]["lead"]), ("truncation", facts["layers"]["truncation"]),
                             (None, facts["layers"]["generation"])):
            store.execute("UPDATE environment SET host = replace(?, ?, ?)", (host, digest, "0" * 64))
            store.commit()
            again = self.sweep()
            self.assert_succeeds(again)
            if name is None:
                self.assertNotIn("the code of", again.stderr)
            else:
                self.assertIn(f"the code of {name} has changed", again.stderr)
                self.assertIn("--rerun method=lead", again.stderr)
        store.close()

    def test_filter_and_limit(self):
        run = self.sweep("--filter", "method=lead,local_context=16", "--limit", "5")
        self.assertIn("1 cell: 1 to run (5 units)", run.stderr)
        self.assertIn("n=5", self.assert_succeeds(run))

    def test_plan_shows_what_the_store_has(self):
        planned = json.loads(self.assert_succeeds(self.run_bench("plan", "sweep.json", "--json")))
        self.assertEqual(planned["schema"], "qfs-bench/plan/1")
        self.assertEqual([cell["reuse"]["state"] for cell in planned["cells"]], ["none"] * 4)
        self.assertFalse(os.path.exists(self.path("small.sqlite")), "planning writes nothing")
        self.assert_succeeds(self.sweep("--filter", "method=lead"))
        planned = json.loads(self.assert_succeeds(self.run_bench("plan", "sweep.json", "--json")))
        states = {(c["method"], c["reuse"]["state"]) for c in planned["cells"]}
        self.assertEqual(states, {("lead", "complete"), ("oracle", "none")})
        text = self.assert_succeeds(self.run_bench("plan", "sweep.json"))
        self.assertEqual(self.assert_succeeds(self.sweep("--dry-run")), text)
        self.assertIn("small: 4 cells, 48 units", text)

    def test_reports_of_one_store(self):
        table = self.assert_succeeds(self.sweep())
        self.assertEqual(self.assert_succeeds(self.run_bench("report")), table)
        report = json.loads(self.assert_succeeds(self.run_bench("report", "--json")))
        self.assertEqual(report["schema"], "qfs-bench/report/1")
        self.assertEqual([row["oracle"] for row in report["rows"]], [False, True])
        run = self.run_bench("report", "--format", "csv", "--values", "rouge2.f,truncated,peak_memory")
        records = list(csv.DictReader(io.StringIO(self.assert_succeeds(run))))
        self.assertEqual(len(records), 12)
        self.assertEqual({r["status"] for r in records}, {"ok"})
        self.assert_succeeds(self.run_bench("report", "-o", "table.md"))
        with open(self.path("table.md"), encoding="utf-8") as file:
            self.assertEqual(file.read(), table)

    def test_no_output_replaces_a_store(self):
        self.assert_succeeds(self.sweep())
        table = self.assert_succeeds(self.run_bench("report"))
        os.symlink("small.sqlite", self.path("link"))
        for option in ("-o", "--per-example"):
            for name in ("small.sqlite", "link"):
                self.assert_fails(2, self.run_bench("report", option, name), f"'{name}' is a store")
        self.assertEqual(self.assert_succeeds(self.run_bench("report")), table)

    def test_two_outputs_of_a_report_have_two_places(self):
        self.assert_succeeds(self.sweep())
        self.assert_fails(2, self.run_bench("report", "--per-example", "x", "-o", "./x"), "--per-example and --output are both written to 'x'")
        self.assert_fails(2, self.run_bench("report", "--per-example", "-", "-o", "x"), "instead of the table")
        self.assertFalse(os.path.exists(self.path("x")))

    def test_quality_report_is_the_same_for_two_stores(self):
        reports = []
        for store in ["a.sqlite", "b.sqlite"]:
            self.assert_succeeds(self.sweep("--store", store))
            reports.append(self.assert_succeeds(
                self.run_bench("report", "--only", "quality", "--format", "json", "--store", store)))
        self.assertEqual(reports[0], reports[1])

    def test_scores_are_added_without_running_anything(self):
        self.assert_succeeds(self.sweep())
        run = self.run_bench("score", "--metric", "rouge:stem=off")
        self.assert_succeeds(run)
        self.assertIn("4 scores computed", run.stderr)
        values = "rouge1.f,rouge:stem=off/rouge1.f"
        report = json.loads(self.assert_succeeds(self.run_bench("report", "--json", "--values", values)))
        self.assertEqual(len(report["metrics"]), 2)
        self.assertIn("0 scores computed, 4 were there", self.run_bench("score").stderr)

    def test_show_presents_an_example_with_its_cut(self):
        self.assert_succeeds(self.sweep())
        run = self.run_bench("show", "--filter", "method=lead,local_context=16", "--example", "e3", "--document")
        text = self.assert_succeeds(run)
        self.assertIn("16 of 72 tokens kept", text)
        self.assertIn("⟦", text)
        self.assertIn("--- query\nWhat is line 3 of text 3 about?", text)
        self.assertIn("rouge1.f", text)
        run = self.run_bench("show", "--filter", "method=lead,local_context=16", "--example", "3", "--json")
        shown = json.loads(self.assert_succeeds(run))
        self.assertEqual((shown["schema"], shown["key"]), ("qfs-bench/show/1", "e3"))
        self.assert_fails(2, self.run_bench("show"), "4 cells match")
        self.assert_fails(2, self.run_bench("show", "--filter", "method=bm25"), "no cell")
        self.assert_fails(2, self.run_bench("show", "--filter", "metod=lead"), "did you mean 'method'?")

    def test_cells_are_listed_with_their_state(self):
        self.assert_succeeds(self.sweep("--filter", "method=lead"))
        cells = json.loads(self.assert_succeeds(self.run_bench("list", "cells", "--json")))["cells"]
        self.assertEqual([cell["predict"]["status"] for cell in cells], ["complete", "complete"])
        self.assertIn("local_context", self.assert_succeeds(self.run_bench("list", "cells")))

    def test_a_strangers_store_is_read_only_when_it_is_what_it_says(self):
        table = self.assert_succeeds(self.sweep())
        self.assertEqual(self.assert_succeeds(self.run_bench("report", "--foreign")), table)
        connection = sqlite3.connect(self.path("small.sqlite"))
        connection.execute("CREATE TRIGGER surprise AFTER INSERT ON cell BEGIN DELETE FROM cell; END")
        connection.commit()
        connection.close()
        for command in (["report"], ["list", "cells"], ["show", "--filter", "method=lead"], ["doctor"]):
            run = self.run_bench(*command, "--foreign")
            self.assertEqual(run.returncode, 4, run.stdout + run.stderr)

    def test_doctor_finds_a_damaged_store(self):
        self.assert_succeeds(self.sweep())
        self.assertIn("small.sqlite: sound", self.assert_succeeds(self.run_bench("doctor")))
        connection = sqlite3.connect(self.path("small.sqlite"))
        connection.execute("UPDATE cell SET identity = replace(identity, 'lead', 'leda')")
        connection.commit()
        connection.close()
        run = self.run_bench("doctor")
        self.assertEqual(run.returncode, 4, run.stdout)
        self.assertIn("PROBLEM", run.stdout)


    def changed(self, *statements):
        """The exit code and the findings of doctor --rescore on a copy of the store, changed by SQL."""
        shutil.copy(self.path("small.sqlite"), self.path("changed.sqlite"))
        connection = sqlite3.connect(self.path("changed.sqlite"))
        for statement in statements:
            connection.execute(statement)
        connection.commit()
        connection.close()
        run = self.run_bench("doctor", "--rescore", "--store", "changed.sqlite")
        return run.returncode, run.stdout

    def test_doctor_finds_scores_that_no_metric_gives(self):
        self.assert_succeeds(self.sweep())
        for change in ("low = 0.9, high = 0.1", "value = 1e300"):
            with self.subTest(change), contextlib.closing(sqlite3.connect(self.path("small.sqlite"))) as store:
                store.execute(f"UPDATE score SET {change} WHERE name = 'rouge1.f'")
                store.commit()
                run = self.run_bench("doctor", "--store", "small.sqlite")
                self.assertEqual(run.returncode, 4, run.stdout)
                self.assertIn("scores rouge 'rouge1.f' are no numbers that a metric gives", run.stdout + run.stderr)

    def test_copies_that_killed_commands_left_go_with_the_next(self):
        self.assert_succeeds(self.sweep())
        own = subprocess.Popen(["true"])
        own.wait()
        for name in (f"qfs-store-{own.pid}-abcdef", "qfs-store-1-abcdef", "qfs-store-other"):
            os.makedirs(self.path("tmp/" + name))
        self.assert_succeeds(self.run_bench("report", "--foreign", "--store", "small.sqlite",
                                            environment={"TMPDIR": self.path("tmp")}))
        self.assertEqual(sorted(os.listdir(self.path("tmp"))), ["qfs-store-1-abcdef", "qfs-store-other"])

    def test_doctor_computes_scores_again(self):
        self.assert_succeeds(self.sweep())
        self.assertEqual(self.changed()[0], 0)
        self.assertIn("4 scores computed again from their outputs: 4 as stored", self.changed()[1])
        one = "WHERE score_job_id = (SELECT min(score_job_id) FROM score_job)"
        shown = r"rouge1\.f is stored as 0\.\d+, and the outputs give 0\.\d+; 1 difference"
        value = f"UPDATE score SET value = value - 0.25 {one} AND name = 'rouge1.f'"
        for statements, said in (
                ([value], shown),
                ([f"UPDATE score SET low = value - 0.001, high = value + 0.001 {one} AND name = 'rouge1.f'"], "the lower end of rouge1.f"),
                ([f"UPDATE score_job SET interval_method = '', clusters = 300 {one}",
                  f"UPDATE score SET low = value - 0.0001, high = value + 0.0001 {one}"],
                 r"the lower end of rouge1\.p is stored as 0\.\d+, and the outputs give none"),
                ([f"UPDATE score_job SET clusters = 500 {one}"], "the number of clusters is stored as 500"),
                (["UPDATE score_job SET columns = replace(replace(replace(columns, 'rouge1.f', 'x'), 'rougeL.f', 'rouge1.f'), 'x',"
                  " 'rougeL.f')"], "the list of columns"),
                (["UPDATE score_job SET postprocess = '[\"strip_reasoning\"]'", value], "is not the id of its metric, chain and outputs"),
                (["UPDATE score_job SET signature = replace(signature, '|v:1', '|v:2')", value], "is not the id of its metric"),
                (["UPDATE cell SET identity = '{}'"], r"is not the id of its identity"),
                (["UPDATE cell SET oracle = 1"], r"is marked as an oracle and reads neither references nor evidence"),
                (["UPDATE cell SET seed = 7"], r"\(lead\) contradicts its identity: the seed"),
                (["UPDATE cell SET params = json_set(params, '$.local_context', 512)"], r"contradicts its identity: 'local_context'"),
                (["UPDATE sweep_cell SET params = json_set(params, '$.local_context', 512)"], r"shows another 'local_context' than its cell"),
                (["UPDATE sweep_result SET result_id = (SELECT min(result_id) FROM result WHERE kind = 'predict') WHERE kind = 'predict'"],
                 "of another cell"),
                (["UPDATE example SET reference_sha256s = (SELECT reference_sha256s FROM example WHERE ordinal = 1) WHERE ordinal = 0"],
                 "is not the one with its hash")):
            with self.subTest(said=said):
                code, text = self.changed(*statements)
                self.assertEqual(code, 4, text)
                self.assertRegex(text, said)

    def test_what_cannot_be_computed_again_is_no_success(self):
        self.assert_succeeds(self.sweep())
        self.write("judge.jsonl", "".join(json.dumps({"id": f"e{i}", "metric": "judge", "value": i / 10}) + "\n"
                                          for i in range(12)))
        self.assert_succeeds(self.run_bench("score", "--import", "judge.jsonl", "--tool", "judge@1", "--store", "small.sqlite",
                                            "--system", "method=lead,local_context=16"))
        code, text = self.changed()
        self.assertEqual(code, 3, text)
        self.assertRegex(text, r"UNCHECKED +store +1 score is not computed again: import:judge: these are scores of another program")
        code, text = self.changed("UPDATE score SET value = 0.99 WHERE name = 'judge'")
        self.assertEqual(code, 4, text)
        self.assertRegex(text, r"judge is stored as 0\.99, and the outputs give 0\.5[45]")


class Terminal(DriverTest):
    def test_progress_is_one_redrawn_line_that_is_gone_at_the_end(self):
        self.write_data()
        self.write_sweep()
        leader, follower = pty.openpty()
        run = subprocess.run([QFS_BENCH, "sweep", "sweep.json"], cwd=self.folder, stdout=subprocess.PIPE,
                             stderr=follower, timeout=60, check=False)
        os.close(follower)
        shown = b""
        while True:
            try:
                part = os.read(leader, 65536)
            except OSError:  # the end, on Linux
                break
            if not part:
                break
            shown += part
        os.close(leader)
        self.assertEqual(run.returncode, 0, shown)
        self.assertIn(b"[1/2] lead local_context=", shown)
        self.assertIn(b"\r\x1b[K", shown)
        self.assertNotIn(b"units", shown.split(b"\x1b[K")[-1])
        self.assertNotIn(b"\x1b", run.stdout)


if __name__ == "__main__":
    unittest.main(verbosity=2)
