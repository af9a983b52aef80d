"""External methods through the whole program: what they see, how they are identified, when they run.

Usage: test_external_method.py QFS_BENCH SOURCE_FOLDER
"""

import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import textwrap
import unittest

QFS_BENCH = os.path.abspath(sys.argv.pop(1))
SOURCE = os.path.abspath(sys.argv.pop(1))

ECHO = '''
import json
import qfs_method

def summarize(example, params):
    print("a stray print")
    return json.dumps(vars(example), ensure_ascii=False) + params["suffix"]

qfs_method.serve(summarize, name="echo", version=1, references={references},
                 params=[qfs_method.Param("suffix", "text", default="")])
'''

RECORDS = [
    {"id": f"q{i}", "context": f"The harbour was closed on day {i}.", "question": "When was it closed?",
     "answers": [f"SECRET-ANSWER-{i}"], "gold_note": "SECRET-NOTE"}
    for i in range(3)
]


class ExternalMethod(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="qfs_external_")
        self.addCleanup(self.folder.cleanup)
        with open(self.path("data.jsonl"), "w", encoding="utf-8") as data:
            data.writelines(json.dumps(record) + "\n" for record in RECORDS)
        self.write_method()
        self.write_sweep()

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write_method(self, references=False, body=None):
        with open(self.path("echo.py"), "w", encoding="utf-8") as method:
            method.write(body or ECHO.replace("{references}", str(references)))

    def write_sweep(self, **params):
        entry = {"method": "external", "command": ["python3", "echo.py"], "fingerprint": ["echo.py"],
                 **params}
        sweep = {
            "name": "external",
            "datasets": [{"path": "data.jsonl",
                          "fields": {"id": "id", "document": "context", "query": "question",
                                     "references": "answers"}}],
            "tokenizer": "words", "methods": [entry], "metrics": ["rouge"],
            "report": {"rows": ["method"], "columns": ["dataset"], "values": ["rouge1.f"]},
        }
        with open(self.path("sweep.json"), "w", encoding="utf-8") as file:
            json.dump(sweep, file)

    def run_sweep(self, *options):
        return subprocess.run(
            [QFS_BENCH, "sweep", self.path("sweep.json"), "--store", self.path("store.sqlite"),
             *options], capture_output=True, text=True, cwd=self.folder.name)

    def rows(self, query):
        connection = sqlite3.connect(self.path("store.sqlite"))
        try:
            return connection.execute(query).fetchall()
        finally:
            connection.close()

    def outputs(self):
        return [body for (body,) in self.rows(
            "SELECT text FROM output")]

    def test_it_is_refused_unless_allowed(self):
        run = self.run_sweep()
        self.assertEqual(run.returncode, 2, run.stderr)
        self.assertIn("--allow-external", run.stderr)

    def test_no_answer_reaches_a_method_that_did_not_ask(self):
        run = self.run_sweep("--allow-external")
        self.assertEqual(run.returncode, 0, run.stderr)
        outputs = self.outputs()
        self.assertEqual(len(outputs), 3)
        for output in outputs:
            self.assertIn("harbour", output)
            self.assertNotIn("SECRET", output)
        self.assertNotIn("oracle", run.stdout)

    def test_a_method_that_asks_for_references_gets_them_and_is_marked(self):
        self.write_method(references=True)
        run = self.run_sweep("--allow-external")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertTrue(all("SECRET-ANSWER" in output for output in self.outputs()))
        self.assertFalse(any("SECRET-NOTE" in output for output in self.outputs()))
        self.assertIn("oracle", run.stdout)

    def test_changing_a_fingerprinted_file_is_another_cell(self):
        self.assertEqual(self.run_sweep("--allow-external").returncode, 0)
        self.write_method(body=ECHO.replace("{references}", "False") + "\n# another version\n")
        self.assertEqual(self.run_sweep("--allow-external").returncode, 0)
        self.assertEqual(self.rows("SELECT COUNT(*) FROM cell"), [(2,)])

    def test_estimates_follow_what_the_store_has_seen(self):
        self.write_method(body="import time\n" + ECHO.replace("{references}", "False").replace(
            'print("a stray print")', "time.sleep(0.3)"))
        command = [QFS_BENCH, "plan", self.path("sweep.json"), "--store", self.path("store.sqlite"),
                   "--allow-external", "--json"]

        def planned():
            return json.loads(subprocess.run(command, capture_output=True, text=True, check=True,
                                             cwd=self.folder.name).stdout)["seconds"]
        self.assertLess(planned(), 0.5)
        self.assertEqual(self.run_sweep("--allow-external", "--limit", "1").returncode, 0)
        self.assertGreaterEqual(planned(), 0.9)
        self.write_sweep(suffix="!")
        self.assertGreaterEqual(planned(), 0.9, "another cell of the same program")
        run = self.run_sweep("--allow-external")
        self.assertRegex(run.stderr, r"1 cell: 1 to run \(3 units\), about ([1-9]|0\.9)")

    def test_parameters_are_checked_before_anything_runs(self):
        self.write_sweep(sufix="!")
        run = self.run_sweep("--allow-external")
        self.assertEqual(run.returncode, 2, run.stderr)
        self.assertIn("suffix", run.stderr)
        self.assertIn("/methods/0/sufix", run.stderr)

    def test_an_exception_is_a_failed_cell_with_its_message(self):
        self.write_method(body=textwrap.dedent('''
            import qfs_method
            def summarize(example, params):
                raise ValueError("no such luck")
            qfs_method.serve(summarize, name="broken", version=1)
            '''))
        run = self.run_sweep("--allow-external")
        self.assertEqual(run.returncode, 3, run.stderr)
        self.assertRegex(run.stderr, r"no such luck.* \(its output is in .*\.logs/\w+\.log\)")
        self.assertIn("failed", run.stdout)
        self.assertIn("1 cell failed, which is a result: run again with --retry method_error to try once more",
                      run.stderr)

    def test_a_text_that_is_no_unicode_is_a_failure(self):
        self.write_method(body=textwrap.dedent('''
            import qfs_method
            qfs_method.serve(lambda example, params: "a \\ud800 b", name="broken", version=1)
            '''))
        run = self.run_sweep("--allow-external")
        self.assertEqual(run.returncode, 3, run.stderr)
        self.assertIn("a text that is no Unicode: surrogates not allowed at character 2", run.stderr)

    def test_the_example_method_passes_its_check(self):
        check = subprocess.run(
            [QFS_BENCH, "method", "check", "python3",
             os.path.join(SOURCE, "methods/external/example_method.py")],
            capture_output=True, text=True, cwd=self.folder.name)
        self.assertEqual(check.returncode, 0, check.stdout + check.stderr)

    def test_check_explains_what_is_wrong(self):
        self.write_method(body="import sys\nsys.exit('my own message')\n")
        check = subprocess.run([QFS_BENCH, "method", "check", "python3", "echo.py"],
                               capture_output=True, text=True, cwd=self.folder.name)
        self.assertNotEqual(check.returncode, 0)
        self.assertIn("my own message", check.stdout + check.stderr)

    def test_check_does_not_take_a_methods_defect_for_its_own(self):
        self.write_method(body=textwrap.dedent('''
            import qfs_method
            def summarize(example, params):
                raise ValueError("no such luck")
            qfs_method.serve(summarize, name="broken", version=1)
            '''))
        check = subprocess.run([QFS_BENCH, "method", "check", "python3", "echo.py"],
                               capture_output=True, text=True, cwd=self.folder.name)
        self.assertEqual(check.returncode, 5, check.stderr)
        self.assertIn("no such luck", check.stderr)
        self.assertNotIn("defect of qfs-bench", check.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
