"""score on files of predictions: forms, joins, policies, outputs and every kind of bad input.

Usage: test_score_files.py QFS_BENCH
"""

import contextlib
import gzip
import json
import math
import os
import sqlite3
import unittest

from driver import DriverTest

# By hand, unstemmed and stemmed alike: 3 of 3 candidate tokens are among the 4 of the reference.
CAT = {"prediction": "the cat sat", "references": ["the cat sat down"]}
CAT_F = 2 * 1.0 * 0.75 / 1.75


class ScoreFiles(DriverTest):
    def jsonl(self, records, name="out.jsonl"):
        return self.write(name, "".join(json.dumps(r) + "\n" for r in records))

    def scores(self, *arguments, **options):
        run = self.run_bench("score", *arguments, "--json", **options)
        return json.loads(self.assert_succeeds(run))

    def test_records(self):
        self.jsonl([{"id": "a", **CAT}, {"id": "b", "prediction": "a dog", "references": "a dog"}])
        result = self.scores("--profile", "rouge_score", "out.jsonl")
        self.assertEqual(result["schema"], "qfs-bench/score/1")
        self.assertEqual(result["n"], 2)
        self.assertEqual(result["scores"]["rouge1"]["f"], (CAT_F + 1) / 2)
        self.assertEqual(result["scores"]["rouge1"]["p"], 1.0)
        self.assertEqual(result["scores"]["rouge1"]["r"], (0.75 + 1) / 2)
        self.assertIsNone(result["scores"]["rouge1"]["intervals"]["f"])  # two items are too few
        self.assertIn("compat:rouge_score-0.1.2", result["signature"]["long"])
        self.assertTrue(result["signature"]["short"].startswith("rouge|nrefs:1|"))

    def test_corpus_metrics_have_intervals_and_the_signature_of_their_tool(self):
        self.jsonl([{"id": str(i), "prediction": f"the cat number {i} sat", "references": [f"the cat number {i} sat down"]}
                    for i in range(12)])
        result = self.scores("out.jsonl", "--metric", "bleu", "--metric", "chrf++")
        self.assertEqual(result["signature"]["tool"],
                         "BLEU|nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0")
        self.assertAlmostEqual(result["scores"]["bleu"]["value"], 100 * math.exp(1 - 6 / 5))
        low, high = result["scores"]["bleu"]["intervals"]["value"]
        self.assertAlmostEqual(low, high)  # equal items: every resample has the same ratios
        self.assertEqual(list(result["profiles"][1]["scores"]), ["chrf"])
        table = self.assert_succeeds(self.run_bench("score", "out.jsonl", "--metric", "chrf++"))
        self.assertIn("as sacreBLEU: chrF2++|nrefs:1|case:mixed|eff:yes|nc:6|nw:2|space:no|version:2.6.0", table)
        self.assertNotIn("#", table.split("signature")[0])

    def test_compressed_records_and_standard_input(self):
        records = [{"id": str(i), **CAT} for i in range(3)]
        plain = self.scores(self.jsonl(records))
        text = "".join(json.dumps(r) + "\n" for r in records)
        with gzip.open(self.path("out.jsonl.gz"), "wt") as file:
            file.write(text)
        self.assertEqual(self.scores("out.jsonl.gz")["scores"], plain["scores"])
        self.assertEqual(self.scores("-", input=text)["scores"], plain["scores"])

    def test_fields_by_name_path_and_pointer(self):
        self.jsonl([{"key": 7, "o": {"text": "a cat"}, "meta": {"a/b": ["a cat", "x"]}}])
        result = self.scores("out.jsonl", "--fields", "id=key,prediction=o.text",
                             "--fields", "references=/meta/a~1b", "--per-example", "rows.jsonl")
        self.assertEqual(result["scores"]["rouge1"]["f"], 1.0)
        self.assertEqual(result["references"]["most"], 2)
        with open(self.path("rows.jsonl"), encoding="utf-8") as file:
            self.assertEqual(json.loads(file.readline())["id"], "7")

    def test_line_files_with_several_references(self):
        self.write("out.txt", "the cat sat\na dog\n")
        self.write("one.txt", "the cat sat down\nx\n")
        self.write("two.txt", "no\na dog\n")
        result = self.scores("--preds", "out.txt", "--refs", "one.txt", "--refs", "two.txt")
        self.assertEqual(result["scores"]["rouge1"]["f"], (CAT_F + 1) / 2)
        self.assertEqual(result["references"], {"fewest": 2, "most": 2, "empty": 0,
                                                "read_from_python_lists": 0})

    def test_references_by_id_from_another_file(self):
        self.jsonl([{"id": "b", "prediction": "a dog"}, {"id": "a", "prediction": "the cat sat"}])
        self.jsonl([{"id": "a", "output": "the cat sat down"}, {"id": "b", "references": ["x"]},
                    {"id": "b", "references": "a dog"}], "refs.jsonl")
        result = self.scores("out.jsonl", "--refs", "refs.jsonl")
        self.assertEqual(result["scores"]["rouge1"]["f"], (1 + CAT_F) / 2)
        self.assertIn("data:refs.jsonl#", result["signature"]["long"])

    def test_references_of_a_data_set(self):
        check = self.run_bench("data", "check", "mini-meetings", "--json")
        count = json.loads(self.assert_succeeds(check))["dataset"]["examples"]
        self.write("out.txt", "The team agreed.\n" * count)
        result = self.scores("--preds", "out.txt", "--refs-dataset", "mini-meetings:test")
        self.assertEqual(result["n"], count)
        self.assertEqual(result["unit"], "document")
        self.assertIn("mini-meetings/test/whole#", result["dataset"])
        self.write("short.txt", "The team agreed.\n")
        self.assert_fails(5, self.run_bench("score", "--preds", "short.txt", "--refs-dataset",
                                            "mini-meetings"),
                          f"short.txt has 1 lines, mini-meetings/test/whole#", f"has {count} examples")
        self.jsonl([{"id": "mm-99/1", "prediction": "x"}])
        self.assert_fails(5, self.run_bench("score", "out.jsonl", "--refs-dataset", "mini-meetings"),
                          "out.jsonl:1: id 'mm-99/1' is no example of mini-meetings")

    def test_clusters_are_the_unit_of_intervals(self):
        rows = [{"id": str(i), "cluster": f"c{i % 12}", "prediction": "a b c d"[:1 + i % 7],
                 "references": ["a b c d"]} for i in range(36)]
        result = self.scores(self.jsonl(rows), "--resamples", "200")
        low, high = result["scores"]["rouge1"]["intervals"]["f"]
        self.assertLess(low, result["scores"]["rouge1"]["f"])
        self.assertGreater(high, result["scores"]["rouge1"]["f"])
        self.assertEqual(result["profiles"][0]["clusters"], 12)
        self.assertIn("unit:cluster", result["signature"]["long"])
        self.assertIn("n:200|", result["interval_method"])
        text = self.assert_succeeds(self.run_bench("score", "out.jsonl"))
        self.assertIn("intervals by cluster", text)

    def test_several_profiles(self):
        self.jsonl([{"id": "a", "prediction": "running cats", "references": ["run cat"]}])
        result = self.scores("out.jsonl", "--metric", "rouge", "--profile", "rouge:stem=off",
                             "--per-example", "rows.jsonl")
        self.assertEqual([p["scores"]["rouge1"]["f"] for p in result["profiles"]], [1.0, 0.0])
        with open(self.path("rows.jsonl"), encoding="utf-8") as file:
            self.assertEqual(json.loads(file.read())["scores"]["rouge"]["rouge1.f"], 1.0)

    def test_punkt_reads_its_data_from_the_path_given(self):
        files = {"abbrev_types.txt": "dr\n", "sent_starters.txt": "", "collocations.tab": "", "ortho_context.tab": ""}
        for name, text in files.items():
            self.write(name, text)
        self.jsonl([{"prediction": "Beta came. Dr. Alpha left.", "references": ["Dr. Alpha left. Beta came."]}])
        result = self.scores("out.jsonl", "--profile", "rouge:split=punkt", "--punkt", self.folder)
        self.assertEqual(result["scores"]["rougeLsum"]["f"], 1.0)
        self.assertIn("split:punkt(nltk-3.10,data:", result["signature"]["long"])
        self.write("ortho_context.tab", "the 12\n")
        self.assert_fails(5, self.run_bench("score", "out.jsonl", "--profile", "squality", "--punkt", self.folder),
                          "ortho_context.tab:1", "a tab")

    def test_postprocess_changes_what_is_scored_and_is_signed(self):
        self.jsonl([{"prediction": "<think>x</think>Answer: A CAT", "references": ["Answer: a cat"]}])
        raw = self.scores("out.jsonl")
        steps = ["--postprocess", "strip_reasoning", "--postprocess", "replace:pattern=Answer: ,to=both"]
        result = self.scores("out.jsonl", *steps)
        self.assertLess(raw["scores"]["rouge1"]["f"], 1.0)
        self.assertEqual(result["scores"]["rouge1"]["f"], 1.0)
        self.assertEqual(result["postprocess"], {"chain": ["strip_reasoning", "replace:pattern=Answer: ,to=both"],
                                                 "changed_predictions": 1})
        self.assertIn('|post:["strip_reasoning",', result["signature"]["long"])
        self.assertNotIn("post:", raw["signature"]["long"])
        self.assert_fails(2, self.run_bench("score", "out.jsonl", "--postprocess", "strip_reason"),
                          "did you mean 'strip_reasoning'?")

    def test_rows_do_not_replace_a_file_of_the_data_set(self):
        self.jsonl([{"id": "a", "prediction": "x"}])
        os.makedirs(self.path("sets/qmsum/data"))
        self.write("sets/qmsum/data/test.jsonl", "{}\n")
        run = self.run_bench("score", "out.jsonl", "--refs-dataset", "qmsum:test", "--per-example",
                             "sets/qmsum/data/test.jsonl", environment={"QFS_DATASETS_DIR": self.path("sets")})
        self.assert_fails(2, run, "is a file of the data set 'qmsum:test', and would be lost")
        with open(self.path("sets/qmsum/data/test.jsonl"), encoding="utf-8") as kept:
            self.assertEqual(kept.read(), "{}\n")

    def test_a_text_of_any_length_is_scored_against_a_short_reference(self):
        self.jsonl([{"id": "long", "prediction": "the cat sat " * 200000, "references": ["the cat on a mat"]},
                    {"id": "short", "prediction": "the cat", "references": ["the cat"]}])
        metrics = [part for name in ("rouge", "rouge-1.5.5", "rouge-zh", "pltrdy-rouge") for part in ("--metric", name)]
        self.assert_succeeds(self.run_bench("score", "out.jsonl", *metrics, "--per-example", "rows.jsonl"))
        with open(self.path("rows.jsonl"), encoding="utf-8") as rows:
            row = json.loads(rows.readline())
        text = json.dumps(row)
        self.assertIn("rouge-zh", text)
        self.jsonl([{"id": "both", "prediction": "the cat sat " * 200000, "references": ["the cat sat " * 200000]}])
        self.assert_fails(2, self.run_bench("score", "out.jsonl"), "out.jsonl:1: metric rouge: the candidate has 600000 "
                          "tokens and a reference has 600000: texts whose product is above 2^38 are not scored")

    def test_match_names_the_options_behind_published_digits(self):
        self.jsonl([{"prediction": "running cats sat", "references": ["run cat", "the cats sat"]},
                    {"prediction": "a dog", "references": ["dogs bark", "a big dog"]}])
        wanted = self.scores("out.jsonl", "--metric", "rouge:stem=off,multi=pooled")["scores"]
        digits = ",".join(f"{c}={100 * wanted[c]['f']:.3f}" for c in ("rouge1", "rouge2", "rougeL"))
        report = json.loads(self.assert_succeeds(self.run_bench("score", "out.jsonl", "--match", digits, "--json")))
        self.assertIn("rouge:stem=off,multi=pooled", [m["metric"] for m in report["matches"]])
        self.assertLess(len(report["matches"]), report["tried"])
        self.assertLessEqual(*report["expected_by_chance"])
        text = self.assert_succeeds(self.run_bench("score", "out.jsonl", "--match", digits))
        self.assertIn(f"{len(report['matches'])} of {report['tried']} ways", text)
        self.assert_fails(2, self.run_bench("score", "out.jsonl", "--match", "rouge9=1"), "unknown column 'rouge9'")
        self.assert_fails(2, self.run_bench("score", "out.jsonl", "--match", digits, "--metric", "rouge"), "--metric")

    def test_match_fails_when_nothing_gives_the_digits(self):
        self.jsonl([{"prediction": "running cats sat", "references": ["the cats sat"]},
                    {"prediction": "a big dog barked here", "references": ["a big dog barked there"]}])
        run = self.run_bench("score", "out.jsonl", "--match", "rouge1=12.34")
        self.assertEqual(run.returncode, 1, run.stderr)
        self.assertIn("\n0 of ", "\n" + run.stdout)
        self.assertIn("(2 items, 1 reference per item)", run.stdout)
        bleu = self.scores("out.jsonl", "--metric", "bleu:tokenize=char")["scores"]["bleu"]["value"]
        rouge = 100 * self.scores("out.jsonl")["scores"]["rouge1"]["r"]
        both = f"rouge1={rouge:.2f},bleu={bleu:.2f}"
        text = self.assert_succeeds(self.run_bench("score", "out.jsonl", "--match", both))
        self.assertIn("bleu:tokenize=char,smooth=exp", text)
        self.assertIn("expected matches by chance: at most ", text)
        run = self.run_bench("score", "out.jsonl", "--match", f"rouge1={rouge:.2f},bleu=0.01", "--json")
        self.assertEqual(run.returncode, 1, "every part must be found")
        self.assertEqual([len(f["matches"]) > 0 for f in json.loads(run.stdout)["families"]], [True, False])

    def test_explain_diff_reads_the_signature_that_is_printed_as_sacrebleu_s(self):
        self.jsonl([{"prediction": "The Cats sat", "references": ["the cats sat down"]}])
        printed = self.assert_succeeds(self.run_bench("score", "out.jsonl", "--metric", "bleu"))
        line = next(line for line in printed.splitlines() if line.startswith("as sacreBLEU: "))
        other = self.scores("out.jsonl", "--metric", "bleu:lowercase=on")["signature"]["long"]
        text = self.assert_succeeds(self.run_bench("score", "--explain-diff", line, other))
        self.assertIn("upper and lower case (case)\n  A: mixed\n  B: lc", text)
        self.assertEqual(text.count("  A: "), 1, "nothing else differs")
        report = json.loads(self.assert_succeeds(
            self.run_bench("score", "out.jsonl", "--explain-diff", line, other, "--json")))
        self.assertEqual([part["key"] for part in report["contributions"]], ["lowercase"])

    def test_explain_diff_with_and_without_texts(self):
        self.jsonl([{"prediction": "running cats", "references": ["run cat", "the cats"]}])
        names = ("rouge", "rouge:stem=off,multi=mean")
        signatures = [self.scores("out.jsonl", "--metric", name)["signature"]["long"] for name in names]
        text = self.assert_succeeds(self.run_bench("score", "--explain-diff", *signatures))
        self.assertIn("stemming (stem)\n  A: porter-nltk\n  B: none", text)
        report = json.loads(self.assert_succeeds(
            self.run_bench("score", "out.jsonl", "--explain-diff", *signatures, "--json")))
        values = [self.scores("out.jsonl", "--metric", name)["scores"]["rouge1"]["f"] for name in names]
        self.assertEqual([report["a"]["rouge1.f"], report["b"]["rouge1.f"]], values)
        self.assertEqual([part["key"] for part in report["contributions"]], ["stem", "multi"])
        self.assert_fails(2, self.run_bench("score", "--explain-diff", signatures[0], "rouge|stm:none"),
                          "signature B", "did you mean 'stem'?")

    def test_explain_diff_computes_every_metric_whose_signature_says_its_options(self):
        self.jsonl([{"prediction": "running cats sat", "references": ["the running cats sat down"],
                     "document": "cats sat down, running"}])

        def explained(*metrics):
            signatures = [self.scores("out.jsonl", "--metric", m)["signature"]["long"] for m in metrics]
            return json.loads(self.assert_succeeds(
                self.run_bench("score", "out.jsonl", "--explain-diff", *signatures, "--json")))

        report = explained("bleu", "bleu:smooth=floor,smooth_value=0.2,lowercase=on")
        self.assertEqual([part["key"] for part in report["contributions"]], ["smooth+smooth_value", "lowercase"])
        bleu = self.scores("out.jsonl", "--metric", "bleu:smooth=floor,smooth_value=0.2,lowercase=on")
        self.assertEqual(report["b"]["bleu"], bleu["scores"]["bleu"]["value"])
        report = explained("files2rouge", "rouge-1.5.5:average=mean,bytes=20")
        self.assertEqual({part["key"] for part in report["contributions"]},
                         {"stem+exceptions", "sentences", "average", "bytes"})
        self.assertEqual(list(explained("longbench", "pltrdy-rouge:empty=zero")["interaction"]), ["rougeL.f"])
        self.assertEqual([p["key"] for p in explained("coverage", "coverage:segmenter=char")["contributions"]],
                         ["segmenter"])
        self.assertIn("n", {p["key"] for p in explained("rouge-1.5.5", "rouge-1.5.5:n=0")["contributions"]})
        self.assert_fails(5, self.run_bench("score", "out.jsonl", "--explain-diff", "rouge",
                                            "external|metric:mine@1|columns:mine|agg:mean|v:1"),
                          "signature B", "only the program that made it")

    def test_postprocess_of_a_sweep_and_of_its_store(self):
        self.write_data()
        self.write_sweep(postprocess=["first_lines", "replace:pattern=.*,with=nothing"])
        table = self.assert_succeeds(self.run_bench("sweep", "sweep.json", "--store", "s.sqlite"))
        self.assertIn("|post:[", table)
        with contextlib.closing(sqlite3.connect(self.path("s.sqlite"))) as store:
            def one(query):
                return store.execute(query).fetchone()[0]
            self.assertEqual(one("SELECT DISTINCT postprocess FROM score_job"),
                             '["first_lines","replace:pattern=.*,with=nothing"]')
            self.assertEqual(one("SELECT count(*) FROM output WHERE text LIKE '%nothing%'"), 0)
            self.assertGreater(one("SELECT count(*) FROM statistic JOIN text ON sha256 = processed_sha256 "
                                   "WHERE body LIKE 'nothing%'"), 0)
            jobs = one("SELECT count(*) FROM score_job")
        self.assert_succeeds(self.run_bench("score", "--store", "s.sqlite", "--postprocess", "strip"))
        again = self.assert_succeeds(self.run_bench("report", "--store", "s.sqlite"))
        self.assertIn("first_lines", again)  # the sweep's own chain, though another is stored now
        with contextlib.closing(sqlite3.connect(self.path("s.sqlite"))) as store:
            self.assertEqual(store.execute("SELECT count(*) FROM score_job").fetchone()[0], 2 * jobs)

    def test_show_prints_raw_and_scored_texts_where_they_differ(self):
        self.write_data()
        self.write_sweep(postprocess=["replace:pattern=Line (\\d),with=Row $1,to=both"])
        self.assert_succeeds(self.run_bench("sweep", "sweep.json", "--quiet"))
        choose = ("--filter", "local_context=16", "--example", "e3")
        text = self.assert_succeeds(self.run_bench("show", *choose))
        self.assertRegex(text, r"\n--- prediction \([^\n]*\nLine 0 of text 3")
        self.assertRegex(text, r"\n--- prediction as scored after \[\"replace[^\n]*\nRow 0 of text 3")
        self.assertRegex(text, r"\n--- reference 1\nLine 3 of text 3")
        self.assertRegex(text, r"\n--- reference 1 as scored after [^\n]*\nRow 3 of text 3")
        shown = json.loads(self.assert_succeeds(self.run_bench("show", *choose, "--json")))
        self.assertTrue(shown["prediction"]["text"].startswith("Line 0"))
        (processed,) = shown["processed"]
        self.assertTrue(processed["prediction"].startswith("Row 0"))
        self.assertEqual(processed["references"], {"0": "Row 3 of text 3 is about item 3."})
        self.assert_succeeds(self.run_bench("score", "--store", "small.sqlite", "--postprocess", "strip",
                                            "--metric", "length"))
        self.assertEqual(self.assert_succeeds(self.run_bench("show", *choose)).count("--- prediction"), 2,
                         "a chain that changes nothing prints nothing")

    def test_list_postprocess_names_every_step(self):
        steps = json.loads(self.assert_succeeds(self.run_bench("list", "postprocess", "--json")))["steps"]
        self.assertIn("strip_special", [step["name"] for step in steps])
        text = self.assert_succeeds(self.run_bench("list", "postprocess"))
        for step in steps:
            self.assertIn(step["name"] + ": " + step["doc"], text)

    def test_groups_of_rows_are_one_question_for_ideal(self):
        self.jsonl([{"group": "q1", **CAT}, {"group": "q1", "prediction": "<s>a</s>", "references": ["a"]},
                    {"group": "q2", "prediction": "x", "references": ["y"]}])
        result = self.scores("out.jsonl", "--profile", "ideal:split=newline")
        self.assertEqual(result["scores"]["rouge1"]["f"], 0.5)
        self.assertEqual(result["unit"], "group")
        self.assertAlmostEqual(result["scores"]["chosen"]["value"], 2 / 3)

    def test_missing_predictions_have_a_policy(self):
        self.jsonl([{"id": "a", **CAT}, {"id": "b", "prediction": None, "references": ["x"]}])
        self.assert_fails(5, self.run_bench("score", "out.jsonl"),
                          "1 of 2 items have no prediction: b", "--missing zero")
        zero = self.scores("out.jsonl", "--missing", "zero")
        self.assertEqual((zero["n"], zero["scores"]["rouge1"]["f"]), (2, CAT_F / 2))
        self.assertEqual(zero["missing"], {"policy": "zero", "count": 1})
        skip = self.scores("out.jsonl", "--missing", "skip")
        self.assertEqual((skip["n"], skip["scores"]["rouge1"]["f"]), (1, CAT_F))
        self.assertIn("missing:skip;1", skip["signature"]["short"])
        self.assertNotEqual(zero["signature"]["long"], skip["signature"]["long"])

    def test_empty_predictions_score_zero_and_are_counted(self):
        self.jsonl([{"id": "a", **CAT}, {"id": "b", "prediction": "", "references": ["x", ""]}])
        result = self.scores("out.jsonl")
        self.assertEqual(result["scores"]["rouge1"]["f"], CAT_F / 2)
        self.assertEqual((result["empty_predictions"], result["references"]["empty"]), (1, 1))
        self.assertIn("empty:1", result["signature"]["short"])

    def test_the_table(self):
        self.jsonl([{"id": str(i), "cluster": "c", **CAT} for i in range(3)] +
                   [{"id": "e", "cluster": "d\u202e", "prediction": "", "references": ["x"]}])
        text = self.assert_succeeds(self.run_bench("score", "out.jsonl", "--metric", "scrolls"))
        lines = text.splitlines()
        self.assertEqual(lines[:6], [
            "                P      R      F      95 % interval of F",
            "rouge1          75.00  56.25  64.29  n/a (2 of 10 clusters)",
            "rouge2          75.00  50.00  60.00  n/a (2 of 10 clusters)",
            "rougeL          75.00  56.25  64.29  n/a (2 of 10 clusters)",
            "rougeLsum       75.00  56.25  64.29  n/a (2 of 10 clusters)",
            "geometric_mean                62.82  n/a (2 of 10 clusters)"])  # (.6429 * .6 * .6429)^(1/3)
        self.assertRegex(lines[6], r"^signature: rouge:geometric_mean=on\|nrefs:1\|missing:error;0\|"
                                   r"empty:1\|unit:cluster\|#[0-9a-f]{8}$")
        self.assertEqual(lines[8], "n = 4, 1 empty predictions; JSON lines of out.jsonl; "
                                   "intervals by cluster")

    def test_threads_and_order_of_output_do_not_change_values(self):
        rows = [{"id": str(i), "prediction": f"word {i} and {i % 9}",
                 "references": [f"the word {i % 9} or {i}"]} for i in range(500)]
        self.jsonl(rows)
        one = self.scores("out.jsonl", "--threads", "1", "--per-example", "one.jsonl")
        many = self.scores("out.jsonl", "--threads", "7", "--per-example", "many.jsonl")
        self.assertEqual(one, many)
        with open(self.path("one.jsonl"), "rb") as a, open(self.path("many.jsonl"), "rb") as b:
            self.assertEqual(a.read(), b.read())


class BadInput(DriverTest):
    def score(self, *arguments, **options):
        return self.run_bench("score", *arguments, **options)

    def test_rows_of_examples_never_replace_what_is_scored(self):
        text = json.dumps({"id": "a", **CAT}) + "\n"
        files = {"out.jsonl": text, "preds": "a cat\n", "refs": "the cat\n", "more": "that cat\n"}
        for name, content in files.items():
            self.write(name, content)
        os.symlink("refs", self.path("link"))
        lines = ["--preds", "preds", "--refs", "refs", "--refs", "more"]
        tries = [(["out.jsonl"], "./out.jsonl"), *((lines, name) for name in ("preds", "refs", "more", "link"))]
        for inputs, name in tries:
            with self.subTest(name=name):
                self.assert_fails(2, self.score(*inputs, "--per-example", name), f"'{name}' is also read")
        for name, content in files.items():
            with open(self.path(name), encoding="utf-8") as file:
                self.assertEqual(file.read(), content)
        self.assert_succeeds(self.score(*lines, "--per-example", "rows"))
        self.assert_succeeds(self.score(*lines, "--per-example", "rows"))

    def test_unequal_line_counts_name_both_and_the_suspicious_line(self):
        self.write("out.txt", "One text.\nAnother one\nthat goes on here.\nThird.\n")
        self.write("refs.txt", "A.\nB.\nC.\n")
        self.assert_fails(5, self.score("--preds", "out.txt", "--refs", "refs.txt"),
                          "out.txt has 4 lines, refs.txt has 3", "in out.txt, line 3 starts in lower")

    def test_repeated_ids_name_both_places(self):
        row = json.dumps({"id": "a", **CAT}) + "\n"
        self.write("out.jsonl", row + row)
        self.assert_fails(5, self.score("out.jsonl"),
                          "out.jsonl:2: id 'a' is already that of out.jsonl:1")

    def test_extra_ids(self):
        self.write("out.jsonl", json.dumps({"id": "a1", "prediction": "x"}) + "\n")
        self.write("refs.jsonl", json.dumps({"id": "a2", "references": ["x"]}) + "\n")
        self.assert_fails(5, self.score("out.jsonl", "--refs", "refs.jsonl"),
                          "out.jsonl:1: id 'a1' is no example of refs.jsonl", "did you mean 'a2'?")

    def test_ill_formed_utf8_has_file_and_line(self):
        with open(self.path("out.txt"), "wb") as file:
            file.write(b"fine\nbad \xff byte\n")
        self.write("refs.txt", "a\nb\n")
        self.assert_fails(5, self.score("--preds", "out.txt", "--refs", "refs.txt"),
                          "out.txt:2: ill-formed UTF-8")

    def test_a_missing_field_names_those_there_are(self):
        self.write("out.jsonl", json.dumps({"id": "a", "predicton": "x", "references": []}) + "\n")
        self.assert_fails(5, self.score("out.jsonl"), "out.jsonl:1: missing field 'prediction' "
                          "(did you mean 'predicton'?)", "--fields prediction=")

    def test_no_reference(self):
        self.write("out.jsonl", json.dumps({"id": "a", "prediction": "x"}) + "\n")
        self.assert_fails(5, self.score("out.jsonl"), "out.jsonl:1: item 'a' has no reference")

    def test_clusters_for_some_records_only(self):
        self.write("out.jsonl", json.dumps({"id": "a", "cluster": "c", **CAT}) + "\n" +
                   json.dumps({"id": "b", **CAT}) + "\n")
        self.assert_fails(5, self.score("out.jsonl"), "1 record has a cluster and 1 none",
                          "out.jsonl:2")

    def test_groups_for_some_records_only(self):
        self.write("out.jsonl", json.dumps({"id": "a", "group": "b", **CAT}) + "\n" + json.dumps({"id": "b", **CAT}) + "\n")
        self.assert_fails(5, self.score("out.jsonl", "--metric", "ideal:split=newline"), "out.jsonl:2; give all or none")

    def test_references_are_matched_by_ids_of_their_own(self):
        self.write("out.jsonl", json.dumps({"id": "2", "prediction": "dogs bark"}) + "\n")
        self.write("refs.jsonl", json.dumps({"id": "2", "references": ["a cat"]}) + "\n" +
                   json.dumps({"id": None, "references": ["dogs bark"]}) + "\n")
        self.assert_fails(5, self.score("out.jsonl", "--refs", "refs.jsonl"), "refs.jsonl:2", "no 'id'")

    def test_files_that_are_no_json_lines_say_what_is_read(self):
        for text, hint in (('[{"prediction": "x", "references": ["x"]}]\n', "jq -c '.[]'"),
                           ('{\n "prediction": "x",\n "references": ["x"]\n}\n', "an object a line"),
                           ("prediction,references\nx,x\n", "CSV is not read")):
            with self.subTest(text):
                self.write("out.jsonl", text)
                self.assert_fails(5, self.score("out.jsonl"), "out.jsonl:1", hint)

    def test_an_empty_file(self):
        self.write("out.jsonl", "\n")
        self.assert_fails(5, self.score("out.jsonl"), "out.jsonl: no record in the file")

    def test_broken_json_has_line_and_column(self):
        self.write("out.jsonl", '{"id": "a", "prediction": }\n')
        self.assert_fails(5, self.score("out.jsonl"), "out.jsonl:1:")

    def test_forms_do_not_mix(self):
        self.write("out.txt", "x\n")
        self.assert_fails(2, self.score("--store", "s.sqlite", "--preds", "out.txt"), "--store",
                          "score one or the other")
        self.assert_fails(2, self.score("out.jsonl", "--preds", "out.txt"), "not both")
        self.assert_fails(2, self.score("--preds", "out.txt", "--partial"), "--partial")
        self.assert_fails(2, self.score("--preds", "-", "--refs", "-"), "can be read once only")
        self.assert_fails(2, self.score("s.sqlite"), "give it with --store")
        self.assert_fails(2, self.score("--refs", "out.txt"), "--preds FILE or a file of records")

    def test_options_of_files_are_refused_for_a_store(self):
        for option in (["--json"], ["--per-example", "x"], ["--missing", "zero"],
                       ["--signature", "long"], ["--resamples", "10"], ["--threads", "2"]):
            self.assert_fails(2, self.score("--store", "s.sqlite", *option),
                              option[0] + " is for files of predictions")

    def test_names_are_suggested(self):
        self.write("out.jsonl", json.dumps({"id": "a", **CAT}) + "\n")
        self.assert_fails(2, self.score("out.jsonl", "--metric", "rogue"), "did you mean 'rouge'?")
        self.assert_fails(2, self.score("out.jsonl", "--fields", "predictions=x"),
                          "unknown field 'predictions' of a prediction (did you mean 'prediction'?)")
        self.assert_fails(2, self.score("out.jsonl", "--from", "lm-evl"), "did you mean 'lm-eval'?")
        self.assert_fails(2, self.score("out.jsonl", "--refs-dataset", "mini-meetigs"),
                          "did you mean 'mini-meetings'?")
        self.assert_fails(2, self.score("nowhere.jsonl"), "nowhere.jsonl", "No such file")


if __name__ == "__main__":
    unittest.main()
