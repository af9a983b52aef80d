"""The method `imported` through the whole program: files of predictions as cells of a sweep.

Usage: test_imported.py QFS_BENCH
"""

import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import unittest

QFS_BENCH = os.path.abspath(sys.argv.pop(1))

RECORDS = [
    {"id": f"q{i}", "context": f"The harbour was closed on day {i}. Nobody knows who did it.",
     "question": "When?", "answers": [f"It was closed on day {i} by somebody."]}
    for i in range(4)
]
TEXTS = ["It was closed on day 0.", "The harbour, on day 1", "", "day 3 \u2014 caf\u00e9"]


class Imported(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="qfs_imported_")
        self.addCleanup(self.folder.cleanup)
        os.mkdir(self.path("out"))
        self.write("data.jsonl", RECORDS)
        self.write("out/p.jsonl", [{"id": f"q{i}", "prediction": TEXTS[i]} for i in (3, 1, 0, 2)])

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, name, records):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.writelines((r if isinstance(r, str) else json.dumps(r)) + "\n" for r in records)

    def bench(self, *arguments, cwd=None):
        return subprocess.run([QFS_BENCH, *arguments], capture_output=True, text=True,
                              cwd=cwd or self.folder.name)

    def sweep(self, *entries, options=(), dataset=None, cwd=None):
        entries = entries or ({"file": "out/p.jsonl"},)
        methods = [{"method": "lead"}] + [{"method": "imported", **entry} for entry in entries]
        sweep = {
            "name": "beside",
            "datasets": [{"path": "data.jsonl", **(dataset or {}),
                          "fields": {"id": "id", "document": "context", "query": "question",
                                     "references": "answers"}}],
            "tokenizer": "words", "methods": methods, "metrics": ["rouge"],
            "measure": {"examples": 1, "repetitions": 1},
            "report": {"rows": ["method"], "columns": ["dataset"], "values": ["rouge1.f", "rougeL.f"]},
        }
        with open(self.path("sweep.json"), "w", encoding="utf-8") as file:
            json.dump(sweep, file)
        return self.bench("sweep", self.path("sweep.json"), "--store", self.path("store.sqlite"), *options,
                          cwd=cwd)

    def rows(self, query):
        connection = sqlite3.connect(self.path("store.sqlite"))
        try:
            return connection.execute(query).fetchall()
        finally:
            connection.close()

    def cells(self):
        return {cell for (cell,) in self.rows("SELECT cell_id FROM cell WHERE method = 'imported'")}

    def fails(self, *entries, expected, code=5, **arguments):
        run = self.sweep(*entries, **arguments)
        self.assertEqual(run.returncode, code, run.stdout + run.stderr)
        for part in expected:
            self.assertIn(part, run.stderr)

    def test_they_are_scored_compared_and_reported_beside_other_methods(self):
        run = self.sweep({"file": "out/p.jsonl", "label": "BART-LS"})
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("| BART-LS", run.stdout)
        self.assertIn("| lead", run.stdout)
        self.assertEqual([text for (text,) in self.rows(
            "SELECT text FROM output JOIN result USING (result_id) JOIN cell USING (cell_id)"
            " WHERE method = 'imported' ORDER BY ordinal")], TEXTS)
        compared = self.bench("compare", "method=BART-LS", "method=lead", "--store", self.path("store.sqlite"))
        self.assertEqual(compared.returncode, 0, compared.stderr)
        # The same file through `score` gives the same numbers.
        self.write("out/refs.jsonl", [{"id": f"q{i}", "prediction": TEXTS[i],
                                       "references": RECORDS[i]["answers"]} for i in range(4)])
        scored = json.loads(self.bench("score", "out/refs.jsonl", "--json").stdout)
        stored = dict(self.rows(
            "SELECT name, value FROM score JOIN score_job USING (score_job_id) JOIN result USING (result_id)"
            " JOIN cell USING (cell_id) WHERE method = 'imported'"))
        text = json.dumps(scored)
        self.assertGreater(stored["rouge1.f"], 0.3)
        self.assertIn(repr(stored["rouge1.f"])[:14], text)

    def test_a_text_that_is_too_long_is_said_before_anything_runs(self):
        self.write("out/p.jsonl", [{"id": f"q{i}", "prediction": "x " * (300_000 * (i == 2))} for i in range(4)])
        self.fails(expected=["p.jsonl:3", "600000 bytes is too long"])
        self.assertFalse(os.path.exists(self.path("store.sqlite")))

    def test_the_files_content_is_the_identity_and_its_place_is_not(self):
        self.assertEqual(self.sweep().returncode, 0)
        first = self.cells()
        os.rename(self.path("out/p.jsonl"), self.path("elsewhere.jsonl"))
        run = self.sweep({"file": "elsewhere.jsonl"}, cwd="/")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(self.cells(), first)
        with open(self.path("elsewhere.jsonl"), "a", encoding="utf-8") as file:
            file.write("\n")
        self.assertEqual(self.sweep({"file": "elsewhere.jsonl"}).returncode, 0)
        self.assertEqual(len(self.cells()), 2)
        run = self.sweep({"file": "elsewhere.jsonl"})
        self.assertIn("imported: in the store", run.stderr)

    def test_nothing_but_the_store_grows(self):
        self.assertEqual(self.sweep(options=["--limit", "2"]).returncode, 0)
        self.assertEqual(self.rows("SELECT count(*) FROM output JOIN result USING (result_id)"
                                   " JOIN cell USING (cell_id) WHERE method = 'imported'"), [(2,)])
        self.assertEqual(self.rows("SELECT count(*) FROM result JOIN cell USING (cell_id)"
                                   " WHERE method = 'imported' AND kind = 'measure'"), [(0,)])

    def test_ids_are_matched_strictly(self):
        rows = [{"id": f"q{i}", "prediction": "a"} for i in range(4)]
        self.write("out/p.jsonl", rows[:2])
        self.fails(expected=["2 of 4 examples have no prediction: 'q2', 'q3'", "out/p.jsonl"])
        self.write("out/p.jsonl", rows[:3] + [{"id": "q3", "prediction": None}])
        self.fails(expected=["1 of 4 examples have no prediction: 'q3'"])
        self.write("out/p.jsonl", rows + [rows[1]])
        self.fails(expected=["id 'q1' is already that of", "p.jsonl:2", "p.jsonl:5"])
        self.write("out/p.jsonl", rows + [{"id": "q33", "prediction": "a"}])
        self.fails(expected=["id 'q33' is no example of data set", "did you mean 'q3'?", "p.jsonl:5"])
        self.write("out/p.jsonl", [{"id": "q0", "text": "a"}])
        self.fails(expected=["prediction", "p.jsonl:1"])
        self.write("out/p.jsonl", ["{\"id\": "])
        self.fails(expected=["p.jsonl:1"])
        self.assertFalse(os.path.exists(self.path("store.sqlite")))

    def test_what_is_missing_may_count_as_empty(self):
        self.write("out/p.jsonl", [{"id": "q1", "prediction": "a"}])
        run = self.sweep({"file": "out/p.jsonl", "missing": "empty"})
        self.assertEqual(run.returncode, 0, run.stderr)

    def test_other_forms(self):
        with open(self.path("out/lines.txt"), "w", encoding="utf-8") as file:
            file.write("\n".join(TEXTS) + "\n")
        self.write("out/batch.jsonl", [
            {"custom_id": f"q{i}", "response": {"status_code": 200, "body": {"choices": [
                {"message": {"content": TEXTS[i]}}]}}} for i in range(4)])
        self.write("out/named.jsonl", [{"key": f"q{i}", "summary": TEXTS[i]} for i in range(4)])
        run = self.sweep({"file": "out/lines.txt", "from": "lines", "label": "a"},
                         {"file": "out/batch.jsonl", "from": "openai-batch", "label": "b"},
                         {"file": "out/named.jsonl", "fields": {"id": "key", "prediction": "summary"},
                          "label": "c"})
        self.assertEqual(run.returncode, 0, run.stderr)
        texts = [text for (text,) in self.rows(
            "SELECT text FROM output JOIN result USING (result_id) JOIN cell USING (cell_id)"
            " WHERE method = 'imported' ORDER BY result_id, ordinal")]
        self.assertEqual(texts, TEXTS * 3)

    def test_what_cannot_be_read_is_explained(self):
        with open(self.path("out/lines.txt"), "w", encoding="utf-8") as file:
            file.write("one\ntwo\n\nfour\nfive\n")
        self.fails({"file": "out/lines.txt", "from": "lines"}, expected=["5 lines for the 4 examples", "blank"])
        self.fails({"file": "no.jsonl"}, expected=["no.jsonl", "/methods/1/file"], code=2)
        self.fails({"file": "out/p.jsonl", "from": "lm-evil"}, expected=["lm-eval"], code=2)
        self.fails({"file": "out/p.jsonl", "fields": {"id": 3}}, expected=["'fields'"], code=2)
        self.fails({"file": "out/p.jsonl", "fields": {"idd": "a"}}, expected=["idd", "id"], code=2)
        self.fails({}, expected=["'file'"], code=2)
        with open(self.path("out/bad.jsonl"), "wb") as file:
            file.write(b'{"id": "q0", "prediction": "\xff"}\n')
        self.fails({"file": "out/bad.jsonl"}, expected=["bad.jsonl:1"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
