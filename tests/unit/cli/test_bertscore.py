"""BERTScore through the whole program, on a tiny encoder that this test writes, and what it refuses.

Usage: test_bertscore.py QFS_BENCH
"""

import json
import os
import sqlite3
import unittest

import tiny_bert
from driver import QFS_BENCH, DriverTest

PAIRS = [("the cat sat on the mat.", ["the dog ran on the mat.", "a cat sat."]), ("dog", ["the cat sat"]),
         ("the cat", ["the cat"])]


class BertScore(DriverTest):
    def setUp(self):
        super().setUp()
        self.model = os.path.join(self.folder, "tiny")
        tiny_bert.write(self.model)
        self.pairs = self.write_pairs("pairs.jsonl", PAIRS)

    def bench(self, *arguments, **environment):
        return self.run_bench(*arguments, environment=environment)

    def write_pairs(self, name, pairs):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            for i, (prediction, references) in enumerate(pairs):
                file.write(json.dumps({"id": f"i{i}", "prediction": prediction, "references": references}) + "\n")
        return path

    def metric(self, options="layer=2"):
        return f"bertscore:model={self.model},{options}"

    def scores(self, options="layer=2", pairs=None):
        rows = os.path.join(self.folder, "rows.jsonl")
        run = self.bench("score", pairs or self.pairs, "--metric", self.metric(options), "--per-example", rows, "--json")
        self.assertEqual(run.returncode, 0, run.stderr)
        with open(rows, encoding="utf-8") as file:
            values = [next(iter(json.loads(line)["scores"].values())) for line in file]
        return [[row[f"bertscore.{c}"] for c in "prf"] for row in values], json.loads(run.stdout), run.stderr

    def refusal(self, *arguments, code=None, **environment):
        run = self.bench("score", self.pairs, "--metric", *arguments, **environment)
        self.assertNotEqual(run.returncode, 0, run.stdout)
        if code:
            self.assertEqual(run.returncode, code, run.stderr)
        return run.stderr

    def test_equal_texts_score_one_and_the_signature_has_every_option(self):
        rows, document, _ = self.scores()
        for value in rows[2]:
            self.assertAlmostEqual(value, 1, places=6)
        self.assertTrue(all(-1 < value < 1 for value in rows[1]))
        signature = document["signature"]
        self.assertRegex(signature["long"], r"^bertscore\|compat:bert_score-0\.3\.13\|model:local@[0-9a-f]{12}\|layer:2\|"
                         r"idf:no\|rescale:none\|prefix_space:no\|padding:none\|multi:max-each\|empty:0\|dtype:float32\|"
                         r"agg:mean\|v:1\|n:3\|nrefs:1-2\|")
        self.assertEqual(signature["tool"], f"{self.model}_L2_no-idf_version=0.3.12(hug_trans=5.23.0)")

    def test_the_table_names_the_tool_whose_digits_these_are(self):
        run = self.bench("score", self.pairs, "--metric", self.metric(), "--resamples", "0")
        lines = run.stdout.splitlines()
        self.assertEqual(lines[:2], ["           P      R      F", "bertscore  99.42  99.31  99.36"])
        self.assertRegex(lines[2], r"^signature: bertscore:.*layer=2\|nrefs:1-2\|missing:error;0\|empty:0\|unit:item\|#")
        self.assertEqual(lines[3], f"as bert_score: {self.model}_L2_no-idf_version=0.3.12(hug_trans=5.23.0)")

    def test_values_do_not_depend_on_the_other_texts(self):
        rows, _, _ = self.scores()
        for i in (0, 1):
            self.assertEqual(self.scores(pairs=self.write_pairs("one.jsonl", PAIRS[i:i + 1]))[0][0], rows[i])
        self.assertEqual(self.scores("layer=2,batch=1")[0], rows)
        best = [self.scores(pairs=self.write_pairs("one.jsonl", [(PAIRS[0][0], [r])]))[0][0] for r in PAIRS[0][1]]
        self.assertEqual(rows[0], [max(column) for column in zip(*best)])

    def test_the_best_row_of_a_question_stands_for_it_where_groups_are_asked_for(self):
        path = os.path.join(self.folder, "groups.jsonl")
        with open(path, "w", encoding="utf-8") as file:
            for i, (prediction, references) in enumerate(PAIRS):
                file.write(json.dumps({"id": f"i{i}", "prediction": prediction, "references": references,
                                       "group": "q" if i < 2 else "r"}) + "\n")
        single, _, _ = self.scores(pairs=path)
        rows, document, _ = self.scores("layer=2,groups=on", pairs=path)
        best = max((0, 1), key=lambda i: single[i][2])
        self.assertEqual(rows, [single[i] if i in (best, 2) else [0, 0, 0] for i in range(3)])
        self.assertIn("|groups:best(bertscore.f)|", document["signature"]["long"])

    def test_layer_idf_and_rescaling_change_values_as_they_say(self):
        rows, _, _ = self.scores()
        self.assertNotEqual(self.scores("layer=1")[0], rows)
        self.assertNotEqual(self.scores("layer=2,idf=on")[0], rows)
        baseline = os.path.join(self.folder, "tiny.tsv")
        with open(baseline, "w", encoding="utf-8") as file:
            file.write("LAYER,P,R,F\n0,0,0,0\n1,0,0,0\n2,0.5,0.25,0.125\n")
        rescaled, document, _ = self.scores(f"layer=2,rescale={baseline}")
        for row, original in zip(rescaled, rows):
            for value, before, base in zip(row, original, (0.5, 0.25, 0.125)):
                self.assertAlmostEqual(value, (before - base) / (1 - base), places=12)
        self.assertTrue(document["signature"]["tool"].endswith("-custom-rescaled"))
        with open(baseline, "a", encoding="utf-8") as file:
            file.write("3,0.1,nothing,0.1\n")
        self.assertEqual(self.scores(f"layer=2,rescale={baseline}")[0], rescaled, "a later row is not read")
        with open(baseline, "w", encoding="utf-8") as file:
            file.write("LAYER,P,R,F\n2,0.5,nothing,0.125\n")
        self.assertIn("tiny.tsv:2", self.refusal(self.metric(f"layer=2,rescale={baseline}")))
        with open(baseline, "w", encoding="utf-8") as file:
            file.write("LAYER,P,R,F\n1,0.5,0.5,0.5\n")
        self.assertIn("no baseline for layer 2", self.refusal(self.metric(f"layer=2,rescale={baseline}")))

    def test_texts_that_are_cut_or_empty_are_counted(self):
        long = " ".join(["the cat sat on"] * 5)
        pairs = self.write_pairs("odd.jsonl", [(long, ["the cat"]), ("\u3000 \n", ["dog"]), ("dog", ["the dog"]),
                                               ("cat", ["cat " + long])])
        rows, _, log = self.scores(pairs=pairs)
        self.assertEqual(rows[1], [0, 0, 0])
        self.assertRegex(log, r"a text is longer than the encoder reads.*\(2 of 4 items, the first is .*odd\.jsonl:1\)")
        self.assertRegex(log, r"a text without a token scores 0.*\(1 of 4 items, the first is .*odd\.jsonl:2\)")

    def test_what_is_missing_or_wrong_is_named(self):
        self.assertIn("QFS_HOST", self.refusal(self.metric(), code=5, QFS_HOST="/nowhere"))
        self.assertIn("./bootstrap.sh minilm", self.refusal("bertscore", code=5, QFS_MODELS_DIR=self.folder))
        self.assertIn("did you mean 'minilm'", self.refusal("bertscore:model=minlm", code=2))
        self.assertIn("hf download org/absent", self.refusal("bertscore:model=hf:org/absent,layer=2"))
        self.assertIn("give 'layer'", self.refusal(self.metric("idf=on"), code=2))
        self.assertIn("has 2 (0 means the embeddings)", self.refusal(self.metric("layer=3"), code=2))
        self.assertIn("byte-level BPE", self.refusal(self.metric("layer=2,prefix_space=on"), code=2))
        self.assertIn("'layer' must be auto or a number", self.refusal(self.metric("layer=two"), code=2))
        self.assertIn("absent.tsv", self.refusal(self.metric("layer=2,rescale=absent.tsv")))
        other = os.path.join(self.folder, "other")
        tiny_bert.write(other, model_type="llama")
        self.assertIn("encoders that this program computes are", self.refusal(f"bertscore:model={other},layer=2"))
        windowed = os.path.join(self.folder, "windowed")
        tiny_bert.write(windowed, model_type="led", d_model=16, encoder_layers=2, encoder_attention_heads=2,
                        encoder_ffn_dim=24, max_encoder_position_embeddings=16, attention_window=[4, 4],
                        activation_function="gelu")
        self.assertIn("is of type led", self.refusal(f"bertscore:model={windowed},layer=2"))

    def test_a_model_that_changed_is_refused(self):
        script = os.path.join(self.folder, "host.sh")
        with open(script, "w", encoding="utf-8") as file:
            file.write(f"#!/bin/sh\nprintf x >>{self.model}/vocab.txt\nexec {os.path.dirname(QFS_BENCH)}/qfs-host\n")
        os.chmod(script, 0o755)
        self.assertIn("has the digest", self.refusal(self.metric(), QFS_HOST=script))

    def test_a_host_that_dies_is_an_error_with_its_log(self):
        log = self.refusal(self.metric(), QFS_HOST="/bin/false")
        self.assertRegex(log, r"the host ended before it answered.*bertscore\.log")

    def test_sweeps_stores_and_comparisons_have_it(self):
        with open(os.path.join(self.folder, "data.jsonl"), "w", encoding="utf-8") as file:
            for i in range(6):
                file.write(json.dumps({"id": f"e{i}", "document": f"the cat sat on the mat. a dog ran {i}. the cat ran.",
                                       "query": "dog", "references": ["a dog ran."]}) + "\n")
        sweep = os.path.join(self.folder, "sweep.json")
        with open(sweep, "w", encoding="utf-8") as file:
            fields = {"id": "id", "document": "document", "query": "query", "references": "references"}
            json.dump({"name": "s", "datasets": [{"path": "data.jsonl", "fields": fields}], "tokenizer": "words",
                       "methods": [{"method": "lead"}, {"method": "bm25"}], "grid": {"local_context": [5]},
                       "metrics": ["rouge", {"metric": "bertscore", "model": self.model, "layer": 2, "idf": False}],
                       "report": {"rows": ["method"], "columns": ["local_context"], "values": ["bertscore.f"]}}, file)
        store = os.path.join(self.folder, "s.sqlite")
        run = self.bench("sweep", sweep, "--store", store)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("bertscore.f", run.stdout)
        count = "SELECT COUNT(*) FROM score_job WHERE metric LIKE 'bertscore%'"
        with sqlite3.connect(store) as database:
            self.assertEqual(database.execute(count).fetchone(), (2,))
        again = self.bench("score", "--store", store)
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertIn("0 scores computed, 4 were there", again.stderr)
        other = self.bench("score", "--store", store, "--metric", self.metric("layer=1"))
        self.assertIn("2 scores computed", other.stderr)
        compared = self.bench("compare", "method=lead", "method=bm25", "--store", store)
        self.assertEqual(compared.returncode, 0, compared.stderr)
        self.assertIn("bertscore.f", compared.stdout)

    def test_two_files_are_compared(self):
        other = self.write_pairs("other.jsonl", [("the dog", references) for _, references in PAIRS])
        run = self.bench("compare", self.pairs, other, "--metric", self.metric())
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("bertscore.f", run.stdout)


if __name__ == "__main__":
    unittest.main()
