"""Published numbers: `claims`, `report --table`, `reproduce` and `verify`, as their users call them."""

import csv
import io
import json
import os
import re
import signal
import subprocess
import time
import unittest

from driver import DriverTest, FIELDS, QFS_BENCH
from tiny_model import ModelTest

SHARED = os.path.join(os.environ.get("QFS_SHARED_DIR", os.path.join(os.getcwd(), "..", "shared")), "data")


def by_id(output):
    return {claim["id"]: claim for claim in json.loads(output)["claims"]}


class Claims(DriverTest):
    def test_lists_every_claim_with_a_state(self):
        listed = by_id(self.assert_succeeds(self.run_bench("claims", "--json")))
        self.assertGreater(len(listed), 1000)
        self.assertEqual({claim["state"] for claim in listed.values()} -
                         {"reproduced", "within interval", "differs", "not run", "not runnable"}, set())
        for claim in listed.values():
            if claim["state"].startswith("not "):
                self.assertTrue(claim["detail"], claim)

    def test_what_cannot_run_lacks_code_or_data_and_breaks_no_rule(self):
        listed = by_id(self.assert_succeeds(self.run_bench("claims", "--state", "not runnable", "--json")))
        lacks = re.compile(r"there is no data set '|no code of this program computes |the method '\w+' has no parameter '|"
                           r"the method '\w+': 'retriever' cannot be '|"
                           r"a setting of |hours of another machine|a difference to a row|the citing paper does not say")
        self.assertEqual({claim["id"]: claim["detail"] for claim in listed.values() if not lacks.match(claim["detail"])}, {})

    def test_filters_by_paper_table_and_state(self):
        paper = by_id(self.assert_succeeds(self.run_bench("claims", "--paper", "egad", "--json")))
        self.assertEqual({claim["paper"] for claim in paper.values()}, {"egad"})
        table = by_id(self.assert_succeeds(
            self.run_bench("claims", "--table", "ideal.table3", "--state", "differs", "--json")))
        self.assertEqual(list(table), ["ideal.table3/6/trainable_params_millions"])
        self.assert_fails(2, self.run_bench("claims", "--paper", "eagd"), "did you mean 'egad'?")
        self.assert_fails(2, self.run_bench("claims", "--table", "ideal.tabel3"), "ideal.table3")
        self.assert_fails(2, self.run_bench("claims", "--with", "llama-2"), "--with expects NAME=PATH")
        self.assert_fails(2, self.run_bench("claims", "--with", f"lama-2={self.folder}"), "did you mean 'llama-2'")

    def test_a_list_for_people_ends_with_counts(self):
        text = self.assert_succeeds(self.run_bench("claims", "--table", "ideal.table3"))
        self.assertEqual(text.splitlines()[-1].split(" · ")[:3], ["20 claims", "9 reproduced", "1 differs"])
        text = self.assert_succeeds(self.run_bench("claims", "--table", "selfcp.derived.params"))
        self.assertEqual(text.splitlines()[-1].split(" · ")[:2], ["6 claims", "6 reproduced"])


class PublishedTables(DriverTest):
    def test_show_verdicts_and_footnotes(self):
        text = self.assert_succeeds(self.run_bench("report", "--table", "ideal.table3"))
        self.assertIn("## ideal.table3", text)
        row = re.search(r"IDEAL_PAdapter \(total_tokens=768\)(\[\^\d\]) .*\| +15\.2 \| +15\.149 \| .* differs \|", text)
        self.assertIsNotNone(row, text)
        self.assertIn(row[1] + ": By the sizes", text)
        self.assertIn("not run: no weights of 'llama-2-7b' are known", text)
        dyle = self.assert_succeeds(self.run_bench("claims", "--paper", "dyle"))
        self.assertRegex(dyle, "not runnable +no code of this program computes a pointer-generator network")
        self.assertIn("no code of this program computes a summary that is the text of gold spans", dyle)

    def test_rows_of_dyle_name_their_profile(self):
        listed = by_id(self.assert_succeeds(self.run_bench("claims", "--paper", "dyle", "--json")))
        given = {claim["given"] if "given" in claim else "" for claim in listed.values() if claim.get("method") == "dyle"}
        self.assertEqual(given, {"profile=paper"})
        for table in ("dyle.table3", "dyle.table4", "qfms-ranker.table1"):
            text = self.assert_succeeds(self.run_bench("report", "--table", table))
            self.assertRegex(text, r"(?m)^\| dyle \(profile=paper\)", table)

    def test_a_lost_table_is_made_of_others(self):
        text = self.assert_succeeds(self.run_bench("report", "--table", "ideal.table2"))
        self.assertIn("The body of this table is missing", text)
        self.assertIn("22.16", text)

    def test_as_csv_and_json(self):
        rows = list(csv.DictReader(io.StringIO(
            self.assert_succeeds(self.run_bench("report", "--table", "selfcp.table7", "--format", "csv")))))
        doubled = [row for row in rows if row["claim"] == "selfcp.table7.efficiency/2/TFLOPs"]
        self.assertEqual([row["state"] for row in doubled], ["differs"])
        self.assertEqual([row["errata"] for row in doubled], ["doubled-row"])
        document = json.loads(self.assert_succeeds(
            self.run_bench("report", "--table", "selfcp.table7", "--format", "json")))
        self.assertIn("doubled-row", document["errata"])

    def test_excludes_a_sweep(self):
        self.assert_fails(2, self.run_bench("report", "lc_sweep", "--table", "ideal.table3"), "excludes")


class Reproduce(DriverTest):
    def test_what_needs_no_cell_has_its_verdict_at_once(self):
        run = self.run_bench("reproduce", "ideal.table3")
        self.assertEqual(run.returncode, 3, "others wait for a backbone that --with names")
        self.assertIn("ideal.table3: 10 of 20 numbers can be measured here", run.stderr)
        self.assertIn("9 reproduced, 1 differs", run.stdout)

    def test_says_what_is_missing(self):
        run = self.run_bench("reproduce", "xsum.outputs")
        self.assertEqual(run.returncode, 3, run.stderr)
        self.assertIn("--with xsum-model-predictions=FOLDER says where the files are", run.stdout)
        tokenizer = self.write("tokenizer.json", "{}")
        run = self.run_bench("reproduce", "ideal.table5", "--with", f"llama-2={tokenizer}",
                             environment={"QFS_DATASETS_DIR": self.path("none")})
        self.assertEqual(run.returncode, 5, run.stderr)
        self.assertIn("data fetch covidet", run.stderr)

    @unittest.skipUnless(os.path.isdir(os.path.join(SHARED, "qmsum")), "real data absent: qmsum")
    def test_statistics_of_real_data(self):
        real = {"QFS_DATASETS_DIR": SHARED}
        statistics = by_id(self.assert_succeeds(
            self.run_bench("claims", "--table", "qmsum.table1", "--json", environment=real)))
        states = {name: statistics["qmsum.table1.statistics/6/" + name]["state"]
                  for name in ("meetings", "turns", "pairs_train", "pairs_valid", "pairs_test")}
        self.assertEqual(states, {"meetings": "reproduced", "turns": "reproduced", "pairs_train": "reproduced",
                                  "pairs_valid": "reproduced", "pairs_test": "differs"})

    @unittest.skipUnless(all(os.path.isdir(os.path.join(SHARED, name)) for name in ("qmsum", "ami", "icsi", "cola")),
                         "real data absent: qmsum, ami, icsi or cola")
    def test_statistics_of_other_papers_data(self):
        real = {"QFS_DATASETS_DIR": SHARED}
        text = self.assert_succeeds(self.run_bench("reproduce", "qmsum.table1", "--json", environment=real))
        states = {name.split("/", 1)[1]: claim["state"] for name, claim in by_id(text).items()}
        for row, differing in {1: {"turns", "meeting_words"},
                               2: {"turns", "meeting_words", "speakers", "pairs_train", "pairs_valid", "pairs_test"},
                               3: set(), 4: {"summary_words", "pairs_test"}, 5: set()}.items():
            own = {name.split("/")[1]: state for name, state in states.items() if name.startswith(f"{row}/")}
            self.assertGreaterEqual(len(own), 8)
            self.assertEqual({name for name, state in own.items() if state == "differs"}, differing, row)
            self.assertEqual(set(own.values()) - {"reproduced", "differs"}, set(), row)
        sizes = by_id(self.assert_succeeds(
            self.run_bench("claims", "--table", "selfcp.table1", "--json", environment=real)))
        self.assertEqual(sizes["selfcp.table1.testsets/7/n_test"]["state"], "differs", "1,043, not 1,041")
        for row, folder in ((2, "cicero/v1/data/test.json"), (3, "duc-2007")):
            own = sizes[f"selfcp.table1.testsets/{row}/n_test"]
            self.assertEqual(own["state"], "not run")
            self.assertIn(folder, own["detail"])

    @unittest.skipUnless(os.path.isfile(os.path.join(SHARED, "tokenizers/llama2/tokenizer.model")),
                         "real data absent: tokenizers/llama2")
    def test_says_what_a_table_needs_and_runs_just_that(self):
        real = {"QFS_DATASETS_DIR": SHARED}
        place = "llama-2=" + os.path.join(SHARED, "tokenizers/llama2/tokenizer.model")
        dry = self.run_bench("reproduce", "ideal.table5", "--with", place, "--dry-run", environment=real)
        self.assertIn("claims-covidet-test-per_reference-raw", self.assert_succeeds(dry) + dry.stderr)
        self.assertIn("needs covidet: 1524 examples", dry.stderr)
        self.assertFalse(os.path.exists(self.path("claims.sqlite")))

    @unittest.skipUnless(os.path.isdir(os.path.join(SHARED, "xsum")), "real data absent: xsum")
    def test_outputs_that_a_folder_holds(self):
        place = "xsum-model-predictions=" + os.path.join(SHARED, "xsum", "xsum-model-predictions")
        listed = by_id(self.assert_succeeds(self.run_bench(
            "claims", "--table", "selfcp.table1", "--with", place, "--json")))
        self.assertEqual(listed["selfcp.table1.testsets/1/n_test"]["state"], "reproduced")


class OwnClaims(ModelTest):
    """A paper about bundled data: its cells run, and every verdict is met."""

    def setUp(self):
        super().setUp()
        source = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", ".."))
        for folder in ("experiments/claims", "reports/tables"):
            os.makedirs(self.path("data/" + folder))
        os.symlink(os.path.join(source, "datasets"), self.path("data/datasets"))
        self.environment = {"QFS_DATA_DIR": self.path("data")}

    def write_claims(self, printed):
        self.write("data/experiments/claims/labels.json", json.dumps(
            {"demo": {"Lead": {"method": "lead", "max_words": 40}, "Best": {"method": "oracle"},
                      "Ours": {"method": "our_own"}}}))
        self.write("data/experiments/claims/demo.json", json.dumps(
            {"paper": "demo", "title": "Demo", "source": "nowhere", "errata": {"odd": "It is odd."},
             "tables": [{"id": "demo.table1", "title": "Results", "dataset": {"name": "mini-meetings"},
                         "columns": [{"name": "R-1", "metric": "rouge", "column": "rouge1.f"}],
                         "rows": [{"label": label, "printed": [number], "errata": ["odd"]}
                                  for label, number in printed.items()]}]}))
        self.write("data/reports/tables/demo.json", json.dumps(
            {"tables": [{"id": "demo.table1", "title": "Results", "from": [{"table": "demo.table1"}]}]}))

    def edit_table(self, longest=None, **changes):
        path = self.path("data/experiments/claims/demo.json")
        with open(path, encoding="utf-8") as file:
            paper = json.load(file)
        paper["tables"][0].update(changes)
        if longest:
            paper["tables"][0]["rows"][0]["longest"] = longest
        self.write("data/experiments/claims/demo.json", json.dumps(paper))

    def reproduce(self):
        run = self.run_bench("reproduce", "demo.table1", "--json", environment=self.environment)
        return by_id(self.assert_succeeds(run)), run.stderr

    def test_runs_its_cells_once_and_judges(self):
        self.write_claims({"Lead": "1.0", "Best": "99.0", "Ours": "50.0"})
        claims, log = self.reproduce()
        self.assertIn("2 cells", log)
        self.assertEqual([claim["state"] for claim in claims.values()], ["differs", "differs", "not runnable"])
        lead, best = (claims[f"demo.table1/{row}/R-1"] for row in (1, 2))
        inside = (best["low"] + 9 * best["measured"]) / 10
        self.write_claims({"Lead": f"{lead['measured']:.2f}", "Best": f"{inside:.2f}", "Ours": "50.0"})
        claims, log = self.reproduce()
        self.assertIn("0 to run", log)
        self.assertEqual([claim["state"] for claim in claims.values()],
                         ["reproduced", "within interval", "not runnable"])
        report = self.assert_succeeds(self.run_bench("report", "--table", "demo.table1", environment=self.environment))
        self.assertIn("[^1]: It is odd.", report)

    def test_outputs_are_scored_after_the_tables_steps(self):
        self.write_claims({"Lead": "1.0"})
        raw, _ = self.reproduce()
        self.edit_table(postprocess=[r"replace:pattern=\w,with="])
        emptied, _ = self.reproduce()
        self.assertGreater(raw["demo.table1/1/R-1"]["measured"], 0)
        self.assertEqual(emptied["demo.table1/1/R-1"]["measured"], 0)

    def test_what_fits_a_card_is_not_asked_of_a_processor(self):
        self.write_claims({"Lead": "<1K"})
        self.edit_table(columns=[{"name": "most", "longest": "training"}],
                        longest={"card": "A card", "of": "max_words", "tries": [500, 1000], "card_mib": 24576})
        self.assertIn("'max_words' is no length of a training by the method 'lead'", self.assert_succeeds(
            self.run_bench("claims", environment=self.environment)))
        self.write_model()
        self.write("data/experiments/claims/labels.json", json.dumps(
            {"demo": {"Lead": {"method": "lora", "backbone": "theirs", "label_tokens": 4}}}))
        self.edit_table(longest={"card": "A card", "of": "train_tokens", "tries": [32, 64], "card_mib": 24576})
        run = self.run_bench("reproduce", "demo.table1", "--with", "theirs=tiny", environment=self.environment)
        self.assertEqual(run.returncode, 3, run.stderr)
        self.assertIn("claims-mini-meetings-test-whole-raw-24576mib is left out: it asks what fits a device; --device cuda", run.stderr)
        self.assertIn("Lead (gpu=A card)", run.stdout)
        self.assertIn("not run: no run in the store", run.stdout)
        self.assertFalse(os.path.exists(self.path("claims.sqlite")))

    def test_a_mistake_in_a_file_is_at_its_place(self):
        self.write_claims({"Led": "1.0"})
        self.assert_fails(2, self.run_bench("claims", environment=self.environment),
                          "demo.json#/tables/0/rows/0: labels.json does not say what 'Led'", "did you mean 'Lead'?")


class Verify(DriverTest):
    HEADER = "row,column,printed,predictions,references,metric,value,tolerance,cell\n"

    def setUp(self):
        super().setUp()
        self.write_data(examples=12)
        self.write_sweep(grid={"local_context": [16]})
        self.assert_succeeds(self.run_bench("sweep", "sweep.json"))
        os.mkdir(self.path("outputs"))
        with open(self.path("outputs/gold.txt"), "w", encoding="utf-8") as gold:
            gold.write("".join(f"Line 3 of text {i} is about item 3.\n" for i in range(12)))
        self.generated = []
        for i in range(12):
            shown = json.loads(self.assert_succeeds(
                self.run_bench("show", "--filter", "method=lead", "--example", str(i), "--json")))
            self.generated.append(shown["prediction"]["text"])
        self.texts = [text.replace("\n", " ") for text in self.generated]
        self.write_outputs(self.texts)

    def write_outputs(self, texts):
        self.write("outputs/lead.txt", "".join(text + "\n" for text in texts))

    def table(self, printed, cell="method=lead"):
        self.write("table.csv", self.HEADER +
                   f"Lead,R-1,{printed},lead.txt,gold.txt,rouge,rouge1.f,,\"{cell}\"\n")

    def test_nothing_that_is_read_is_replaced(self):
        self.table("50.0")
        for output in ("table.csv", "outputs/lead.txt", "outputs/gold.txt"):
            with open(self.path(output), "rb") as file:
                before = file.read()
            self.assert_fails(2, self.run_bench("verify", "table.csv", "--preds", "outputs", "-o", output), "would be lost")
            with open(self.path(output), "rb") as file:
                self.assertEqual(file.read(), before)
        self.assertNotEqual(self.run_bench("verify", "table.csv", "--preds", "outputs", "--seed", "5").returncode, 0)

    def test_recomputes_a_table(self):
        self.table("0.01")
        run = self.run_bench("verify", "table.csv", "--preds", "outputs")
        text = self.assert_succeeds(run)
        self.assertIn("1 differs from the published value", text)
        claim = json.loads(self.assert_succeeds(
            self.run_bench("verify", "table.csv", "--preds", "outputs", "--json")))["claims"][0]
        measured = claim["measured"]
        inside = f"{(claim['low'] + 9 * measured) / 10:.2f}"
        self.assertNotEqual(inside, f"{measured:.2f}")
        self.table(inside)  # of the same outputs there is one number
        text = self.assert_succeeds(self.run_bench("verify", "table.csv", "--preds", "outputs"))
        self.assertIn("1 differs from the published value", text)
        self.table(f"{measured:.2f}")
        text = self.assert_succeeds(self.run_bench("verify", "table.csv", "--preds", "outputs"))
        self.assertIn("1 is printed as published", text)
        self.assertNotIn("times the printed number", text)
        self.table(f"{measured / 100:.4f}")
        text = self.assert_succeeds(self.run_bench("verify", "table.csv", "--preds", "outputs"))
        self.assertIn("differs (100 times the printed number would not; does the table print fractions?)", text)

    def test_a_missing_file_is_incomplete(self):
        self.table("1.0")
        os.remove(self.path("outputs/lead.txt"))
        run = self.run_bench("verify", "table.csv", "--preds", "outputs")
        self.assertEqual(run.returncode, 3, run.stderr)
        self.assertIn("not recomputed", run.stdout)

    def test_spot_check_finds_planted_outputs(self):
        self.table("1.0")
        arguments = ("verify", "table.csv", "--preds", "outputs", "--spot-check", "12", "--seed", "5",
                     "--sweep", "sweep.json")
        text = self.assert_succeeds(self.run_bench(*arguments))
        self.assertIn("All of 12 outputs were generated again: all are equal", text)
        self.assertNotIn("at most", text)
        some = ("--spot-check", "6") + arguments[6:]
        text = self.assert_succeeds(self.run_bench(*arguments[:4], *some))
        self.assertIn("6 of 12 outputs, drawn by seed 5", text)
        self.assertIn("at most 39.3 %", text)
        self.assert_fails(2, self.run_bench(*arguments[:6], "--seed", "-1", *arguments[8:]), "a whole number from 0")
        self.write_outputs(["Something else."] + self.texts[1:])
        text = self.assert_succeeds(self.run_bench(*arguments))
        self.assertIn("1 differs", text)
        self.assertIn("Different: e0.", text)

    SPOT = ("verify", "table.csv", "--preds", "outputs", "--spot-check", "12", "--sweep", "sweep.json")

    def test_spot_check_compares_references(self):
        self.table("1.0")
        self.assertIn("The references are those of the data set.", self.assert_succeeds(self.run_bench(*self.SPOT)))
        with open(self.path("outputs/gold.txt"), encoding="utf-8") as gold:
            lines = gold.read().splitlines()
        self.write("outputs/gold.txt", "".join(f"  {line}\t\n" for line in lines))
        self.assertIn("The references are those of the data set.", self.assert_succeeds(self.run_bench(*self.SPOT)))
        lines[4] = self.texts[4]
        self.write("outputs/gold.txt", "".join(line + "\n" for line in lines))
        self.assertIn("The references of 1 example are not those of the data set: e4.",
                      self.assert_succeeds(self.run_bench(*self.SPOT)))

    def test_spot_check_is_of_a_file_its_references_and_its_cell(self):
        self.table("1.0")
        with open(self.path("table.csv"), encoding="utf-8") as table:
            line = table.read().splitlines()[1]
        self.write_sweep(grid={"local_context": [8, 16]})
        narrow, wide = (line.replace("method=lead", f"method=lead,local_context={tokens}") for tokens in (8, 16))
        self.write("table.csv", self.HEADER + wide + "\n" + narrow.replace("Lead,", "Again,") + "\n")
        text = self.assert_succeeds(self.run_bench(*self.SPOT))
        self.assertIn("lead.txt as method=lead,local_context=16 beside gold.txt: All of 12 outputs were generated again: all", text)
        self.assertIn("lead.txt as method=lead,local_context=8 beside gold.txt: All of 12 outputs were generated again: 12 differ", text)

    def test_spot_check_is_of_every_output_behind_a_number(self):
        self.table("1.0")
        self.write_sweep(grid={"local_context": [16]}, datasets=[{"path": "data.jsonl", "fields": FIELDS, "sample": 5}])
        run = self.run_bench(*self.SPOT)
        self.assertEqual(run.returncode, 3, run.stderr)
        self.assertIn("7 of 12 outputs in the file are of examples that the cell leaves out", run.stdout)

    def test_a_signal_ends_a_spot_check_and_nothing_is_said(self):
        self.table("1.0", "label=slow")
        self.write("slow.py", "import time\nimport qfs_method\n\n\ndef summarize(example, params):\n"
                              "    open('begun', 'w').close()\n    time.sleep(1)\n    return example.key\n\n\n"
                              "qfs_method.serve(summarize, name='slow', version=1)\n")
        self.write_sweep(methods=[{"method": "external", "label": "slow", "command": ["python3", "slow.py"],
                                   "fingerprint": ["slow.py"]}], grid=None, report=None)
        process = subprocess.Popen([QFS_BENCH, *self.SPOT, "--allow-external"], cwd=self.folder, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        while not os.path.exists(self.path("begun")):
            time.sleep(0.05)
            self.assertIsNone(process.poll(), "it ended before it was interrupted")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        self.assertEqual((process.returncode, out), (130, ""), err)
        self.assertIn("stopped by Ctrl-C; nothing is said of the table", err)

    def test_spot_check_has_no_place_in_rows(self):
        self.table("1.0")
        self.assert_fails(2, self.run_bench(*self.SPOT, "--format", "csv"), "--format csv has rows alone")

    def test_outputs_that_lack_are_said(self):
        records = [{"id": f"e{i}", "prediction": text, "references": [f"Line 3 of text {i} is about item 3."]}
                   for i, text in enumerate(self.generated)]
        records[2]["prediction"] = None
        self.write("outputs/lead.jsonl", "".join(json.dumps(record) + "\n" for record in records))
        self.write("table.csv", self.HEADER + "Lead,R-1,1.0,lead.jsonl,,rouge,rouge1.f,,method=lead\n")
        run = self.run_bench(*self.SPOT[:4])
        self.assertEqual(run.returncode, 3, run.stderr)
        self.assertIn("--missing skip", run.stdout)
        measured = {}
        for policy, said in (("skip", "left out of the numbers"), ("zero", "counted as empty texts")):
            run = self.run_bench(*self.SPOT, "--missing", policy)
            self.assertIn(f"lead.jsonl: 1 example has no output: {said}", self.assert_succeeds(run))
            self.assertIn("All of 11 outputs were generated again: all are equal. 1 example has no output.", run.stdout)
            claim, = json.loads(self.run_bench(*self.SPOT, "--missing", policy, "--json").stdout)["claims"]
            measured[policy] = claim["measured"] * claim["n"]
            self.assertEqual(claim["missing"], 1)
        self.assertAlmostEqual(measured["skip"], measured["zero"], msg="11 outputs or 12, the same sum")

    def test_spot_check_needs_a_cell(self):
        self.table("1.0", cell="")
        self.assert_fails(2, self.run_bench("verify", "table.csv", "--preds", "outputs", "--spot-check", "2",
                                            "--sweep", "sweep.json"), "no line of the table has a 'cell'")
        self.assert_fails(2, self.run_bench("verify", "table.csv", "--spot-check", "2"), "belong together")


if __name__ == "__main__":
    unittest.main()
