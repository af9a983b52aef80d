"""Documents of external methods are cut by the cell's tokenizer, as those of other methods.

Usage: test_external_cut.py QFS_BENCH
"""

import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import unittest

QFS_BENCH = os.path.abspath(sys.argv.pop(1))

ECHO = '''
import qfs_method

def summarize(example, params):
    cut = example.cut(params["more"]) if params["more"] else example
    return repr([cut.segments, cut.evidence])

qfs_method.serve(summarize, name="echo", version=1, evidence={evidence},
                 params=[qfs_method.Param("more", "integer", default=0)])
'''

TURNS = [["Ann", "one two three four"], ["Böb", "fünf sechs"], ["Cid", "seven eight nine"]]


class ExternalCut(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="qfs_cut_")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.write("data.jsonl", json.dumps(
            {"id": "a", "document": [{"speaker": name, "text": text} for name, text in TURNS],
             "query": "What is it?", "references": ["one two"]}) + "\n")
        self.write("echo.py", ECHO.replace("{evidence}", "False"))

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)

    def bench(self, *arguments):
        environment = {**os.environ, "QFS_CACHE_DIR": self.path("cache")}
        return subprocess.run([QFS_BENCH, *arguments], capture_output=True, text=True, cwd=self.folder,
                              env=environment, timeout=120)

    def sweep(self, entry=None, others=(), expect=0, **members):
        sweep = {"name": "cut", "tokenizer": "words",
                 "datasets": [{"path": "data.jsonl", "fields": {"id": "id", "document": "document", "query": "query",
                                                                "references": "references"}}],
                 "methods": [{"method": "external", "command": ["python3", "echo.py"], "fingerprint": ["echo.py"],
                              **(entry or {})}, *others],
                 "metrics": ["rouge"], "report": {"rows": ["method"], "values": ["rouge1.f"]}, **members}
        self.write("sweep.json", json.dumps({k: v for k, v in sweep.items() if v is not None}))
        run = self.bench("sweep", "sweep.json", "--allow-external")
        self.assertEqual(run.returncode, expect, run.stderr)
        return run

    def rows(self, query):
        connection = sqlite3.connect(self.path("cut.sqlite"))
        try:
            return connection.execute(query).fetchall()
        finally:
            connection.close()

    def output(self):
        """The latest output: segments, evidence."""
        (text,), = self.rows("SELECT text FROM output ORDER BY rowid DESC LIMIT 1")
        return eval(text)  # repr of lists of this test's own method

    def ledger(self):
        """Document, kept and query tokens of the latest output."""
        (text,), = self.rows("SELECT truncation FROM output ORDER BY rowid DESC LIMIT 1")
        return text and tuple(json.loads(text)[:3])

    def identities(self):
        return [json.loads(text) for text, in self.rows("SELECT identity FROM cell ORDER BY rowid")]

    def test_the_program_gets_what_the_tokenizer_counts(self):
        self.sweep({"local_context": 7})
        segments, _ = self.output()
        # "Ann: one two three four" has five words, "Böb: fünf sechs" three.
        self.assertEqual(segments, [{"speaker": "Ann", "text": TURNS[0][1]}, {"speaker": "Böb", "text": "fünf"}])
        self.assertEqual(self.ledger(), (12, 7, 3))

    def test_the_ledger_is_that_of_a_built_in_method(self):
        for policy in ("head", "tail", "middle"):
            self.sweep({"local_context": 5, "truncate": policy},
                       others=[{"method": "lead", "local_context": 5, "truncate": policy, "label": "lead"}])
            ledgers = {text for text, in self.rows("SELECT truncation FROM output")}
            self.assertEqual(len(ledgers), 1, policy)
            os.remove(self.path("cut.sqlite"))

    def test_a_speaker_that_was_cut_away_is_not_given(self):
        self.sweep({"local_context": 2, "truncate": "tail"})
        self.assertEqual(self.output()[0], [{"text": "eight nine"}])

    def test_characters_cut_inside_a_name_leave_its_beginning(self):
        self.sweep({"local_context": 25, "tokenizer": "characters"})
        self.assertEqual(self.output()[0][1:], [{"text": "Bö"}])

    def test_a_program_cuts_further_by_the_same_tokens(self):
        self.sweep({"local_context": 7, "more": 6})
        self.assertEqual(self.output()[0], [{"speaker": "Ann", "text": TURNS[0][1]}, {"text": "Böb:"}])
        self.assertEqual(self.ledger()[1], 7, "what it was given")
        run = self.sweep({"more": 6}, expect=3)
        self.assertIn("'local_context' in the sweep file", run.stderr)

    def test_evidence_numbers_the_segments_that_are_left(self):
        self.write("echo.py", ECHO.replace("{evidence}", "True"))
        data = [{"name": "mini-meetings", "sample": 1}]
        self.sweep(datasets=data)
        segments, evidence = self.output()
        texts = [segments[i]["text"] for first, last in evidence for i in range(first, last + 1)]
        for policy in ("head", "tail", "middle"):
            self.sweep({"local_context": 400, "truncate": policy}, datasets=data)
            kept_segments, kept_evidence = self.output()
            whole = [segment for segment in kept_segments if segment in segments]
            self.assertLess(len(whole), len(segments))
            kept = [kept_segments[i]["text"] for first, last in kept_evidence for i in range(first, last + 1)]
            cut = [text for text in kept if text not in texts]
            self.assertLessEqual(len(cut), 2, policy)
            self.assertEqual([text for text in kept if text in texts],
                             [text for text in texts if text in [segment["text"] for segment in whole]], policy)

    def test_a_cell_without_local_context_is_as_it_was(self):
        self.sweep()
        identity, = self.identities()
        self.assertEqual((identity["params"], identity["layers"]), ({"more": 0}, []))
        self.assertNotIn("tokenizer", identity)
        self.assertIsNone(self.ledger())
        self.assertEqual(len(self.output()[0]), 3)

    def test_tokenizer_and_cut_are_part_of_the_id(self):
        self.sweep({"local_context": 7})
        identity, = self.identities()
        self.assertEqual(identity["layers"], ["truncation@1"])
        self.assertIn("tokenizer", identity)
        self.sweep({"local_context": 7, "tokenizer": "characters"})
        self.assertEqual(len(self.identities()), 2)

    def test_a_grid_over_local_context_holds_for_programs_too(self):
        run = self.sweep(others=[{"method": "lead"}], grid={"local_context": [3, 100]},
                         report={"rows": ["method"], "columns": ["local_context"], "values": ["document_kept"]})
        rows = [line for line in run.stdout.splitlines() if line.startswith(("| echo", "| lead"))]
        self.assertEqual([row.split("|")[2:4] for row in rows][0], [row.split("|")[2:4] for row in rows][1])
        self.assertNotIn("whole documents", run.stdout)

    def test_who_reads_whole_documents_beside_others_is_said(self):
        self.write("outputs.jsonl", json.dumps({"id": "a", "prediction": "one"}) + "\n")
        self.sweep(others=[{"method": "lead", "local_context": 5},
                           {"method": "imported", "file": "outputs.jsonl", "label": "released"}])
        table = self.bench("report").stdout
        self.assertIn("echo has no local_context: whole documents are read", table)
        self.assertIn("released has no local_context: how much of the documents was read is not known", table)
        plan = self.bench("plan", "sweep.json", "--allow-external")
        self.assertIn("'echo' has no local_context: whole documents are read", plan.stderr)

    def test_truncate_alone_and_a_foreign_meaning_are_refused(self):
        self.assertIn("'truncate' needs 'local_context'", self.sweep({"truncate": "head"}, expect=2).stderr)
        self.write("echo.py", ECHO.replace("{evidence}", "False").replace('"more", "integer", default=0', '"local_context", "text"'))
        self.assertIn("declare it as an integer", self.sweep(expect=5).stderr)

    def test_a_program_may_give_local_context_a_default(self):
        self.write("echo.py", ECHO.replace("{evidence}", "False").replace(
            "default=0)]", 'default=0), qfs_method.Param("local_context", "integer", default=5)]'))
        self.sweep()
        self.assertEqual(self.ledger()[1], 5)

    def test_a_check_cuts_by_words(self):
        check = self.bench("method", "check", "--param", "local_context=9", "--param", "more=4", "--", "python3", "echo.py")
        self.assertEqual(check.returncode, 0, check.stdout + check.stderr)
        self.assertIn("documents are cut to 9 words here", check.stdout)

    def test_a_check_lets_a_program_cut_further_without_being_told_how(self):
        check = self.bench("method", "check", "--param", "more=4", "python3", "echo.py")
        self.assertEqual(check.returncode, 0, check.stdout + check.stderr)
        self.assertIn("documents are cut to 256 words here", check.stdout)

    def test_timed_passes_read_the_same(self):
        run = self.sweep({"local_context": 7}, measure={"examples": 1, "warmup": 1, "repetitions": 2})
        self.assertNotIn("differ", run.stderr)
        self.assertEqual(self.rows("SELECT count(*) FROM repetition"), [(2,)])
        self.assertEqual([name for name in os.listdir(self.path("cut.logs")) if name.startswith("cut-")], [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
