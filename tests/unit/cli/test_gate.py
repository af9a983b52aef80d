"""`gate`, `gate calibrate`, `baseline` and `check`: verdicts, exit codes, and what is written.

Usage: test_gate.py QFS_BENCH
"""

import contextlib
import json
import os
import shutil
import sqlite3
import subprocess
import unittest
import xml.etree.ElementTree

from driver import DriverTest, QFS_BENCH, record

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")

SAME = ["--baseline", "small.sqlite", "--candidate", "again.sqlite"]
BETTER, WORSE = "small.sqlite#method=oracle", "again.sqlite#method=lead"
DROP = ["--baseline", BETTER, "--candidate", WORSE, "--pair-by", "local_context"]


class GateTest(DriverTest):
    def write_varied_data(self):
        """Lines that hold more or less of the reference, so that scores do not all differ by the same."""
        records = [record(i) for i in range(12)]
        for i, one in enumerate(records):
            words = one["references"][0].split()
            one["document"] = "\n".join(" ".join(words[:(3 * i + 5 * j + i * j) % 9] + ["and", f"part{j}"])
                                        for j in range(8))
        self.write("data.jsonl", "".join(json.dumps(one) + "\n" for one in records))

    def gate(self, *arguments):
        return self.run_bench("gate", *arguments)

    def assert_ends(self, code, run, *messages):
        """The exit code, and parts of what was printed."""
        self.assertEqual(run.returncode, code, run.stdout + run.stderr)
        for message in messages:
            self.assertIn(message, run.stdout + run.stderr)
        return run.stdout


class Gate(GateTest):
    def setUp(self):
        super().setUp()
        self.write_varied_data()
        self.write_sweep(methods=[{"method": "lead"}, {"method": "oracle"}],
                         measure={"examples": 2, "warmup": 0, "repetitions": 3})
        self.assert_succeeds(self.run_bench("sweep", "sweep.json", "--quiet"))
        shutil.copy(self.path("small.sqlite"), self.path("again.sqlite"))

    def test_equal_results_pass_by_the_scores_of_the_table(self):
        text = self.assert_ends(0, self.gate(*SAME), "4 checks passed unchanged", "no test was needed")
        self.assertEqual(text.splitlines()[-1], "gate: PASS: 4 not worse of 4 checks")

    def test_a_drop_ends_with_one_and_says_how_large_it_is(self):
        text = self.assert_ends(1, self.gate(*DROP, "--max-drop", "rouge1.f=1pt"),
                                "WORSE: the drop is beyond 1.00 points", "a drop of 2 is found with")
        self.assertEqual(text.splitlines()[-1], "gate: WORSE: 2 worse of 2 checks")
        turned = ["--baseline", WORSE, "--candidate", BETTER, "--pair-by", "local_context"]
        self.assert_ends(0, self.gate(*turned, "--non-inferior", "rouge1.f=1pt"), "PASS: the drop is less than")
        self.assert_ends(0, self.gate(*DROP, "--max-drop", "rouge1.f=1pt", "--warn-only"), "gate: WORSE")

    def test_what_cannot_be_compared_or_decided_ends_with_three(self):
        less = ["--baseline", "small.sqlite", "--candidate", WORSE]
        self.assert_ends(3, self.gate(*less), "NOT COMPARED: no such cell in B", "gate: INCOMPLETE: 2 not compared")
        self.assert_ends(3, self.gate(*SAME, "--minimum-examples", "13"), "at least 13 are asked for",
                         "gate: CANNOT DECIDE")
        self.assert_ends(3, self.gate(*SAME, "--filter", "method=lead", "--max-drop", "rouge1.f=99pt"),
                         "any B would pass")

    def test_usage_stores_and_environment_have_their_own_codes(self):
        self.assert_fails(2, self.gate("--candidate", "again.sqlite"), "--baseline and --candidate")
        self.assert_fails(2, self.gate("--baseline", "no.sqlite", "--candidate", "again.sqlite"), "--if-no-baseline")
        self.assert_fails(2, self.gate(*SAME, "--max-drop", "rouge9.f=1pt"), "rouge9.f")
        self.assert_fails(2, self.gate(*SAME, "--json", "--annotations", "github"), "--annotations")
        self.assert_fails(2, self.gate(*SAME, "--made-since", "yesterday"), "--made-since")
        self.write("gate.json", '{"bands": {"tokens_per_second": {"at_most": 2}}}')
        self.assert_fails(2, self.gate(*SAME, "--policy", "gate.json"),
                          "gate.json#/bands/tokens_per_second/at_most", "a band says at_least")
        self.write("gate.json", '{"metrics": ')
        self.assert_fails(2, self.gate(*SAME, "--policy", "gate.json"), "gate.json:1")
        self.write("broken.sqlite", "SQLite format 3\0" + "x" * 4096)
        self.assert_fails(4, self.gate("--baseline", "broken.sqlite", "--candidate", "again.sqlite"), "broken.sqlite")
        self.assertEqual(self.gate(*SAME, "--junit", "/dev/full").returncode, 5)
        self.write("bad.jsonl", '{"schema": "qfs-bench/baseline/2", "name": "x", "sweep": "y"}\n{"cell": 7}\n')
        self.assert_fails(5, self.gate("--baseline", "bad.jsonl", "--candidate", "again.sqlite"), "bad.jsonl:2")

    def test_junit_markdown_annotations_and_json(self):
        run = self.gate(*DROP, "--max-drop", "rouge1.f=1pt", "--junit", "gate.xml", "--markdown", "gate.md",
                        "--annotations", "github")
        self.assert_ends(1, run)
        suite = xml.etree.ElementTree.parse(self.path("gate.xml")).getroot()
        self.assertEqual((suite.get("tests"), suite.get("failures"), suite.get("errors")), ("2", "2", "0"))
        case = suite.find("testsuite/testcase")
        self.assertEqual(case.get("name"), "rouge1.f, margin")
        self.assertIn("WORSE: the drop", case.find("failure").get("message"))
        with open(self.path("gate.md"), encoding="utf-8") as file:
            summary = file.read()
        self.assertTrue(summary.startswith("### gate: WORSE: 2 worse of 2 checks\n"), summary)
        self.assertEqual(sum(line.startswith("| oracle") for line in summary.splitlines()), 2)
        lines = run.stdout.splitlines()
        self.assertEqual(sum(line.startswith("::error title=") for line in lines), 2)
        self.assertEqual(lines[-1], "gate: WORSE: 2 worse of 2 checks")
        document = json.loads(self.gate(*DROP, "--max-drop", "rouge1.f=1pt", "--json").stdout)
        self.assertEqual((document["schema"], document["conclusion"]), ("qfs-bench/gate/1", "worse"))
        first = document["quality"][0]
        self.assertEqual([power["points"] for power in first["power"]], [1, 2, 4])
        self.assertGreater(first["detectable_points"], 1)
        self.assertEqual(first["decision"]["tests"], 2)

    def test_bands_and_limits_are_about_measured_values(self):
        def policy(**members):
            self.write("gate.json", json.dumps(members))
            return self.gate(*SAME, "--policy", "gate.json")
        self.assert_ends(0, policy(bands={"peak_memory": {"at_most": 1.05}}), "gate: PASS: 8 not worse")
        self.assert_ends(1, policy(bands={"peak_memory": {"at_most": 0.5}}), "at most 0.5 of the baseline's")
        self.assert_ends(3, policy(bands={"peak_memory": {"at_most": 1.1, "minimum_repetitions": 9}}),
                         "at least 9 are asked for")
        self.assert_ends(3, policy(bands={"prefill_tokens_per_second": {"at_least": 0.8}}),
                         "measured in none of the baseline")
        self.assert_ends(0, self.gate(*SAME, "--fail-under", "rouge1.f=1pt", "--fail-over", "peak_memory=9000MiB"),
                         "12 checks")
        self.assert_ends(1, self.gate(*SAME, "--fail-under", "rouge1.f=99pt"), "at least 99.00 is asked for")
        self.assert_ends(1, self.gate(*SAME, "--fail-over", "peak_memory=1MiB"), "at most 1.0 MiB")
        self.assert_fails(2, self.gate(*SAME, "--fail-over", "peak_memory=1"), "peak_memory=600MiB")
        self.assert_fails(2, self.gate(*SAME, "--fail-under", "rougeX.f=1pt"), "rougeX.f")

    def test_times_of_two_machines_are_not_compared(self):
        self.write("gate.json", json.dumps({"bands": {"seconds_per_example": {"at_most": 100}}}))
        self.assert_ends(0, self.gate(*SAME, "--policy", "gate.json"))
        with contextlib.closing(sqlite3.connect(self.path("again.sqlite"))) as store:
            facts = store.execute("SELECT environment_id, numerics FROM environment").fetchall()
            for one, numerics in facts:
                changed = json.loads(numerics)
                if "hardware" in changed.get("probe", {}):
                    changed["probe"]["hardware"]["processor"] = "another"
                store.execute("UPDATE environment SET numerics = ? WHERE environment_id = ?", (json.dumps(changed), one))
            store.commit()
        self.assert_ends(3, self.gate(*SAME, "--policy", "gate.json"), "timed on different machines")

    def test_a_limit_judges_every_score_that_it_names(self):
        self.write_sweep("both.json", methods=[{"method": "lead"}, {"method": "oracle"}], metrics=["rouge", "rouge:stem=off"])
        self.assert_succeeds(self.run_bench("sweep", "both.json", "--quiet", "--store", "both.sqlite"))
        own = ["--baseline", "both.sqlite", "--candidate", "both.sqlite", "--filter", "method=lead"]
        document = json.loads(self.assert_ends(1, self.gate(*own, "--fail-under", "rouge1.f=99pt", "--json")))
        stemmed = [limit["score"].count("stem:") and limit["score"] for limit in document["limits"]]
        self.assertEqual(len(stemmed), 4, "two cells by two ways of stemming")
        self.assertEqual(len(set(stemmed)), 2)
        with sqlite3.connect(self.path("both.sqlite")) as store:  # the second of them alone falls
            changed = store.execute("UPDATE score SET value = 0.001 WHERE name = 'rouge1.f' AND score_job_id IN (SELECT MAX("
                                    "score_job_id) FROM score_job GROUP BY result_id)").rowcount
        self.assertEqual(changed, 4)
        self.assert_ends(1, self.gate(*own, "--fail-under", "rouge1.f=1pt"), "2 worse")
        self.assert_ends(0, self.gate(*SAME, "--fail-under", "rouge/rouge1.f=1pt"), "gate: PASS")
        self.assert_fails(2, self.gate(*SAME, "--fail-under", "roug/rouge1.f=1pt"), "did you mean 'rouge/rouge1.f'")

    def test_limits_stand_beside_the_comparison(self):
        limit = ["--baseline", BETTER, "--candidate", WORSE, "--pair-by", "local_context", "--fail-under", "rouge1.f=1pt"]
        self.assert_ends(1, self.gate(*limit), "worse of")
        self.assert_ends(1, self.gate(*DROP), "worse of")

    def test_a_committed_baseline_stands_for_its_store(self):
        missing = ["--baseline", "main", "--candidate", "again.sqlite"]
        self.assert_fails(2, self.gate(*missing), "baselines/main.jsonl")
        self.assert_ends(0, self.gate(*missing, "--if-no-baseline", "create"), "gate: CREATED")
        with open(self.path("baselines/main.jsonl"), encoding="utf-8") as file:
            created = file.read()
        self.assertEqual(created.count("\n"), 1 + 4 + 4 + 4 * 12 + 1, "a line a cell, a score and an example")
        self.assert_succeeds(self.run_bench("baseline", "set", "main", "--store", "small.sqlite"))
        with open(self.path("baselines/main.jsonl"), encoding="utf-8") as file:
            self.assertEqual(file.read(), created, "equal stores give equal bytes")
        self.assert_ends(0, self.gate(*missing), "gate: PASS: 4 not worse of 4 checks")
        drop = self.gate("--baseline", "main", "--candidate", WORSE, "--filter", "local_context=32", "--max-drop",
                         "rouge1.f=1pt", "--pair-by", "local_context")
        self.assertEqual(drop.returncode, 2, drop.stdout + drop.stderr)  # both methods have this context
        self.assert_succeeds(self.run_bench("baseline", "set", "oracle", "--store", "small.sqlite", "--filter",
                                            "method=oracle", "--measured"))
        worse = self.gate("--baseline", "oracle", "--candidate", WORSE, "--max-drop", "rouge1.f=1pt", "--pair-by",
                          "local_context")
        same = self.gate(*DROP, "--max-drop", "rouge1.f=1pt")
        self.assertEqual(worse.stdout.splitlines()[2:], same.stdout.splitlines()[2:])
        listed = json.loads(self.assert_succeeds(self.run_bench("baseline", "list", "--json")))["baselines"]
        self.assertEqual([(one["name"], one["sweep"], one["cells"]) for one in listed],
                         [("main", "small", 4), ("oracle", "small", 2)])
        shown = json.loads(self.assert_succeeds(self.run_bench("baseline", "show", "oracle", "--json")))["scores"]
        self.assertEqual({one["examples"] for one in shown}, {12})
        self.assertIn("rouge1.f", self.assert_succeeds(self.run_bench("baseline", "show", "main")))

    def test_a_first_run_is_said_in_every_output_and_keeps_the_limits(self):
        first = ["--baseline", "main", "--candidate", "again.sqlite", "--if-no-baseline", "create"]
        broken = self.gate(*first, "--fail-under", "rouge1.f=99pt", "--junit", "gate.xml")
        self.assert_ends(1, broken, "at least 99.00 is asked for", "gate: WORSE: 4 worse, 4 not worse of 8 checks")
        for said, options in (("bogus", ["--max-drop", "bogus=1pt"]), ("nonsense", ["--pair-by", "nonsense"])):
            self.assert_fails(2, self.gate(*first, *options), said)
        self.assertFalse(os.path.exists(self.path("baselines")), "no baseline is made of what breaks a limit")
        run = self.gate(*first, "--fail-under", "rouge1.f=1pt", "--json", "--junit", "gate.xml", "--markdown", "gate.md")
        document = json.loads(self.assert_ends(0, run))
        closing = "gate: CREATED: there was no baseline baselines/main.jsonl"
        self.assertEqual((document["conclusion"], document["closing_line"]), ("created", closing))
        suites = xml.etree.ElementTree.parse(self.path("gate.xml")).getroot()
        self.assertEqual((suites.get("tests"), suites.find("testsuite/system-out").text), ("0", closing))
        with open(self.path("gate.md"), encoding="utf-8") as file:
            self.assertTrue(file.read().startswith(f"### {closing}\n"))
        named = ["--baseline", "v1.0", "--candidate", "again.sqlite", "--if-no-baseline", "create"]
        self.assert_ends(0, self.gate(*named))
        listed = json.loads(self.assert_succeeds(self.run_bench("baseline", "list", "--json")))["baselines"]
        self.assertEqual([one["name"] for one in listed], ["main", "v1.0"])
        shutil.rmtree(self.path("baselines"))
        self.assertEqual(self.assert_ends(0, self.gate(*first, "--annotations", "github")).splitlines(),
                         [f"::notice title=qfs-bench gate::{closing}", closing])

    def test_two_first_runs_make_one_baseline(self):
        first = [QFS_BENCH, "gate", "--baseline", "main", "--candidate", "again.sqlite", "--if-no-baseline", "create"]
        for _ in range(5):
            runs = [subprocess.Popen(first, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                    for _ in range(4)]
            endings = sorted(run.communicate()[0].splitlines()[-1].split(":")[1] for run in runs)
            self.assertEqual([run.returncode for run in runs], [0] * 4)
            self.assertEqual(endings, [" CREATED"] + [" PASS"] * 3)
            self.assertEqual(os.listdir(self.path("baselines")), ["main.jsonl"])
            shutil.rmtree(self.path("baselines"))

    def test_conditions_that_match_nothing_make_no_baseline(self):
        first = ["--baseline", "main", "--candidate", "again.sqlite", "--if-no-baseline", "create"]
        self.assert_fails(2, self.gate(*first, "--filter", "method=leda"), "method=leda")
        self.assertFalse(os.path.exists(self.path("baselines")))

    def test_statistics_that_lost_a_column_are_damage(self):
        with sqlite3.connect(self.path("again.sqlite")) as store:
            store.execute("UPDATE statistic SET \"values\" = substr(\"values\", 1, length(\"values\") - 8) WHERE ordinal = 3")
        drop = [*DROP, "--max-drop", "rouge1.f=1pt"]
        self.assert_fails(4, self.gate(*drop), "again.sqlite", "the statistics of example 3", "by 'rouge'")

    def test_a_name_is_the_same_wherever_it_is_given(self):
        os.mkdir(self.path("v1.0"))  # a folder is no store
        self.assert_succeeds(self.run_bench("baseline", "set", "v1.0", "--store", "small.sqlite"))
        self.assert_ends(0, self.gate("--baseline", "v1.0", "--candidate", "again.sqlite"), "gate: PASS")
        self.assertIn("v1.0", self.assert_succeeds(self.run_bench("baseline", "list")))
        for name in ("../main", "a/b", "main#x", "main.sqlite"):
            self.assert_fails(2, self.run_bench("baseline", "set", name, "--store", "small.sqlite"), f"'{name}' is neither")
        self.assertEqual(os.listdir(self.path("baselines")), ["v1.0.jsonl"])
        self.assert_fails(2, self.gate("--baseline", "main.db", "--candidate", "again.sqlite"), "no store main.db")

    def test_a_store_whose_name_has_a_hash_is_that_store(self):
        shutil.copy(self.path("again.sqlite"), self.path("pr#7.sqlite"))
        lead = ["--non-inferior", "rouge1.f=1pt", "--filter", "method=lead"]
        text = self.assert_ends(0, self.gate("--baseline", "small.sqlite", "--candidate", "pr#7.sqlite", *lead))
        self.assertIn("gate: PASS", text)
        self.assert_ends(0, self.gate("--baseline", "small.sqlite#method=lead", "--candidate", "pr#7.sqlite#method=lead",
                                      *lead), "gate: PASS")

    def test_a_sweep_that_names_no_values_is_compared_by_those_of_its_table(self):
        self.write_sweep("plain.json", report=None)
        self.assert_succeeds(self.run_bench("sweep", "plain.json", "--quiet", "--store", "plain.sqlite"))
        text = self.assert_ends(0, self.gate("--baseline", "plain.sqlite", "--candidate", "plain.sqlite"))
        self.assertEqual(text.splitlines()[-1], "gate: PASS: 8 not worse of 8 checks", "four kinds of ROUGE")

    def test_no_output_replaces_what_is_read(self):
        self.assert_succeeds(self.run_bench("baseline", "set", "main", "--store", "small.sqlite"))
        self.write("gate.json", '{"metrics": {"rouge1.f": "1pt"}}')
        main = ["--baseline", "main", "--candidate", "again.sqlite", "--policy", "gate.json"]
        for option, path, said in (("--junit", "gate.json", "is also read"), ("--markdown", "gate.json", "is also read"),
                                   ("--junit", "baselines/main.jsonl", "is also read"),
                                   ("--markdown", "again.sqlite", "lost")):
            with self.subTest(option=option, path=path):
                with open(self.path(path), "rb") as file:
                    before = file.read()
                self.assert_fails(2, self.gate(*main, option, path), said)
                with open(self.path(path), "rb") as file:
                    self.assertEqual(file.read(), before)
        self.assert_fails(2, self.gate(*main, "--junit", "one", "--markdown", "one"), "both written to 'one'")
        self.assert_fails(2, self.gate(*main, "--junit", "one", "--markdown", "./one"), "both written to 'one'")
        new = ["--baseline", "new", "--candidate", "again.sqlite", "--if-no-baseline", "create"]
        self.assert_fails(2, self.gate(*new, "--junit", "baselines/new.jsonl"), "baselines/new.jsonl")
        self.assertFalse(os.path.exists(self.path("baselines/new.jsonl")))
        for journal in ("again.sqlite-wal", "again.sqlite-shm", "again.sqlite.lock"):
            self.assert_fails(2, self.gate(*main, "--junit", journal), "again.sqlite")
        self.assert_fails(2, self.run_bench("baseline", "set", "data.jsonl", "--store", "small.sqlite"),
                          "'data.jsonl' is not a baseline")
        self.assert_succeeds(self.run_bench("baseline", "set", "main", "--store", "small.sqlite"))

    def test_standard_output_holds_one_format(self):
        drop = [*DROP, "--max-drop", "rouge1.f=1pt"]
        text = self.assert_ends(1, self.gate(*drop, "--markdown", "-"))
        self.assertTrue(text.startswith("### gate: WORSE: 2 worse of 2 checks\n"), text)
        self.assertNotIn("baseline (A)", text)
        self.assertEqual(xml.etree.ElementTree.fromstring(self.gate(*drop, "--junit", "-").stdout).get("failures"), "2")
        self.assert_fails(2, self.gate(*drop, "--junit", "-", "--json"), "--json and --junit - are both")
        self.assert_fails(2, self.gate(*drop, "--junit", "-", "--markdown", "-"), "both written to standard output")

    def test_a_baseline_whose_lines_are_lost_is_refused(self):
        self.assert_succeeds(self.run_bench("baseline", "set", "main", "--store", "small.sqlite"))
        with open(self.path("baselines/main.jsonl"), encoding="utf-8") as file:
            lines = file.readlines()
        cell = 1 + 1 + 12
        for kept, said in ((lines[:-1], "the last one, with the digest"), (lines[:-2], "11 of 12 examples"),
                           (lines[:-cell - 1], "3 of 4 cells"), (lines + lines[-1:], "one line with the digest"),
                           (lines[:4] + [lines[4].replace('"cluster":"', '"cluster":"other ', 1)] + lines[5:],
                            "somebody changed or merged them"),
                           (lines[:5] + lines[6:], "main.jsonl:3: lines are missing: 11 of 12 examples")):
            with self.subTest(said=said):
                self.write("baselines/main.jsonl", "".join(kept))
                self.assert_fails(5, self.gate("--baseline", "main", "--candidate", "again.sqlite"), said)

    def test_what_was_not_timed_or_scored_keeps_no_limit(self):
        self.write_sweep("untimed.json")
        self.assert_succeeds(self.run_bench("sweep", "untimed.json", "--quiet", "--store", "untimed.sqlite"))
        untimed = ["--baseline", "untimed.sqlite", "--candidate", "untimed.sqlite"]
        self.assert_ends(3, self.gate(*untimed, "--fail-over", "peak_memory=900MiB"),
                         "the candidate has no peak_memory", "gate: INCOMPLETE")
        with sqlite3.connect(self.path("again.sqlite")) as store:
            first = store.execute("SELECT MIN(result_id) FROM repetition").fetchone()
            for table in ("memory", "measurement", "repetition"):
                store.execute(f"DELETE FROM {table} WHERE repetition = 2 AND result_id = ?", first)
        self.assert_ends(3, self.gate(*SAME, "--fail-over", "peak_memory=900MiB"),
                         "peak_memory: 2 of 3 repetitions were timed", "1 not compared, 7 not worse of 8 checks")

    def test_the_projects_own_files_are_sound(self):
        folder = os.path.join(ROOT, "experiments")
        files = [os.path.join(folder, "gate.json")] + [
            os.path.join(folder, "baselines", name) for name in sorted(os.listdir(os.path.join(folder, "baselines")))]
        self.assertGreater(len(files), 1)
        self.assert_succeeds(self.run_bench("check", *files))

    def test_files_are_checked_without_running_anything(self):
        self.write("gate.json", '{"metrics": {"rouge1.f": "1pt", "align": {"margin": "1pt", "better": "higher"}, "bertscore.f": "1pt"}}')
        self.assert_succeeds(self.run_bench("baseline", "set", "main", "--store", "small.sqlite"))
        text = self.assert_succeeds(self.run_bench("check", "sweep.json", "gate.json", "baselines/main.jsonl"))
        self.assertEqual(text.splitlines(), [
            "sweep.json: ok, a sweep of 4 cells", "gate.json: ok, a policy with 3 margins, 0 bands and 0 limits",
            "baselines/main.jsonl: ok, a baseline of 4 cells"])
        self.write_sweep("bad.json", grid={"local_contxt": [8]})
        self.write("worse.json", '{"$schema": "gate.schema.json", "metric": {}}')
        run = self.run_bench("check", "bad.json", "worse.json", "sweep.json", "--json")
        files = json.loads(self.assert_ends(2, run))["files"]
        self.assertEqual([one["ok"] for one in files], [False, False, True])
        self.assertIn("bad.json#/grid", files[0]["where"])
        self.assertIn("local_context", files[0]["message"])
        self.assertEqual(files[1]["where"], "worse.json#/metric")
        for text, said in (("{}", "ok, a policy with 0 margins"), ('{"level": 0.6}', "between 0 and 0.5"),
                           ('{"rule": "maxdrop"}', "max_drop"), ('{"minimum_examples": -1}', "minimum_examples")):
            self.write("small.json", text)
            run = self.run_bench("check", "small.json")
            self.assertIn(said, run.stdout + run.stderr)
            self.assertNotIn("unknown key", run.stdout + run.stderr)
        for column, margin, said in (("rouge1.g", {}, "no metric here has the column 'rouge1.g' (did you mean 'rouge1."),
                                     ("rouge/rouge1.f", {}, '"better": "higher" or "lower"'), ("length.words", {}, "neither better nor worse"),
                                     ("rouge1.f", {"better": "lower"}, "higher values of 'rouge1.f' are better")):
            self.write("small.json", json.dumps({"metrics": {column: {"margin": "1pt", **margin}}}))
            self.assert_ends(2, self.run_bench("check", "small.json"), said)
        self.write_sweep("absent_data.json", datasets=[{"name": "qmsum"}])
        run = self.run_bench("check", self.path("absent_data.json"), "--json", environment={"QFS_CACHE_DIR": self.folder})
        self.assertEqual(json.loads(self.assert_ends(5, run))["files"][0]["where"], self.path("absent_data.json") + "#/datasets/0")
        self.assertEqual(self.run_bench("check", "absent.json").returncode, 2)
        self.write("data.jsonl", "")
        self.assert_ends(5, self.run_bench("check", "sweep.json"), "data.jsonl: no record in the data set")


class Repeats(GateTest):
    """Runs that differ in their seed alone."""

    def setUp(self):
        super().setUp()
        self.write_varied_data()
        self.write_sweep(methods=[{"method": "random", "max_words": 6}, {"method": "lead"}], grid={"local_context": [200]},
                         seeds=[0, 1, 2])
        self.assert_succeeds(self.run_bench("sweep", "sweep.json", "--quiet"))
        shutil.copy(self.path("small.sqlite"), self.path("again.sqlite"))

    def test_runs_are_averaged(self):
        self.assert_ends(0, self.gate(*SAME, "--repeats", "3"), "gate: PASS: 2 not worse of 2 checks")
        few = self.assert_ends(3, self.gate(*SAME, "--repeats", "4"), "- lead: NOT COMPARED: 3 of 4 repeats (seeds)")
        self.assertEqual(few.splitlines()[-1], "gate: INCOMPLETE: 2 not compared of 2 checks", "each cell once")
        mean = json.loads(self.gate(*SAME, "--repeats", "3", "--json").stdout)["quality"][0]["candidate"]
        runs = json.loads(self.gate(*SAME, "--filter", "method=random", "--json").stdout)["quality"]
        self.assertEqual(len(runs), 3)
        self.assertAlmostEqual(mean, sum(run["candidate"] for run in runs) / 3)

    def test_limits_and_pairs_are_of_the_averaged_runs(self):
        runs = json.loads(self.gate(*SAME, "--filter", "method=random", "--json").stdout)["quality"]
        lowest, mean = min(run["candidate"] for run in runs), sum(run["candidate"] for run in runs) / 3
        bound = f"rouge1.f={50 * (lowest + mean):.4f}pt"
        self.assertLess(lowest, mean)
        chosen = [*SAME, "--filter", "method=random", "--fail-under", bound]
        self.assert_ends(1, self.gate(*chosen), "gate: WORSE")
        self.assert_ends(0, self.gate(*chosen, "--repeats", "3"), "gate: PASS: 2 not worse of 2 checks")
        self.assert_ends(0, self.gate(*SAME, "--repeats", "3", "--pair-by", "method"), "gate: PASS: 2 not worse of 2")

    def test_bands_hold_the_repetitions_of_all_runs(self):
        self.write_sweep(methods=[{"method": "random", "max_words": 6}, {"method": "lead"}], grid={"local_context": [200]},
                         seeds=[0, 1, 2], measure={"examples": 2, "warmup": 0, "repetitions": 2})
        self.assert_succeeds(self.run_bench("sweep", "sweep.json", "--quiet", "--store", "timed.sqlite"))
        timed = ["--baseline", "timed.sqlite", "--candidate", "timed.sqlite", "--policy", "gate.json"]
        self.write("gate.json", '{"bands": {"peak_memory": {"at_most": 1.5, "minimum_repetitions": 6}}}')
        self.assert_ends(3, self.gate(*timed), "2 repetitions and 2, and at least 6")
        run = self.gate(*timed, "--repeats", "3", "--json")
        checks = json.loads(self.assert_ends(3, run))["bands"]
        # A seed does not matter to lead: its one run was timed once.
        self.assertEqual([(check["cell"].split()[0], check["candidate"]["repetitions"]) for check in checks],
                         [("random", 6), ("lead", 2)])
        self.assertEqual([check["verdict"] for check in checks], ["not_worse", "cannot_decide"])

    def test_equal_runs_say_how_many_documents_a_drop_needs(self):
        calibrate = ["gate", "calibrate", "--store", "small.sqlite", "--drop"]
        document = json.loads(self.assert_succeeds(self.run_bench(*calibrate, "rouge1.f=4pt", "--json")))
        cell, = document["cells"]
        self.assertEqual((cell["runs"], cell["pairs"], cell["clusters"]), (3, 3, 12))
        needed = cell["clusters_needed_by_repeats"]
        self.assertTrue(needed["1"] > needed["2"] > needed["4"] >= 5, needed)
        # Normal theory: (1.645 + 0.842)^2 variances of a document over the squared drop.
        expected = 12 * (2.4865 * cell["standard_error_points"] / 4) ** 2
        self.assertAlmostEqual(needed["1"], expected, delta=2)
        self.assertIn("left out: lead", self.assert_succeeds(self.run_bench(*calibrate, "rouge1.f=2pt")))
        self.assert_fails(2, self.run_bench(*calibrate, "rouge1.f=1pt", "--max-drop", "rouge1.f=2pt"), "within")
        # A policy is read as `gate` reads it: options take the place of its margins.
        self.write("small.json", '{"metrics": {"rouge1.f": "2pt"}}')
        ruled = [*calibrate, "rouge1.f=1pt", "--policy", "small.json"]
        self.assert_fails(2, self.run_bench(*ruled), "within")
        self.assert_succeeds(self.run_bench(*ruled, "--max-drop", "rouge1.f=0.5pt"))
        self.write("small.json", "no JSON")
        self.assert_fails(2, self.run_bench(*ruled), "small.json:1", "not valid JSON")


if __name__ == "__main__":
    unittest.main()
