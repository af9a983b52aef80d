"""The installed programs work outside the source tree, with the data installed beside them.

Usage: install_test.py BUILD_FOLDER
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(sys.argv.pop(1)).resolve() if len(sys.argv) > 1 else None


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.prefix = pathlib.Path(cls.folder.name) / "prefix"
        cls.elsewhere = pathlib.Path(cls.folder.name) / "elsewhere"
        cls.elsewhere.mkdir()
        subprocess.run(["cmake", "--install", str(BUILD), "--prefix", str(cls.prefix)], check=True,
                       stdout=subprocess.DEVNULL)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def run_installed(self, *arguments, program="qfs-bench"):
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.elsewhere)}
        return subprocess.run([str(self.prefix / "bin" / program), *arguments], cwd=self.elsewhere,
                              env=environment, text=True, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)

    def test_version(self):
        done = self.run_installed("--version")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"\d+\.\d+\.\d+")

    def test_a_sweep_with_bundled_data_and_an_external_method(self):
        helpers = self.prefix / "share/qfs-bench/methods/external"
        (self.elsewhere / "small.json").write_text(json.dumps({
            "name": "small", "tokenizer": "words", "seeds": [0], "metrics": ["rouge"],
            "datasets": [{"name": "mini-meetings", "split": "test", "view": "whole", "sample": 2}],
            "methods": [{"method": "lead"},
                        {"method": "external", "folder": str(helpers),
                         "command": ["python3", "example_method.py"],
                         "fingerprint": ["example_method.py"]}],
            "report": {"rows": ["method"], "columns": ["dataset"], "values": ["rouge1.f"]}}))
        done = self.run_installed("sweep", "small.json", "--allow-external")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"lead.*\d")
        self.assertRegex(done.stdout, r"word_overlap.*\d")
        self.assertTrue((self.elsewhere / "small.sqlite").is_file())

    def test_the_claims_and_published_tables(self):
        done = self.run_installed("report", "--table", "ideal.table3")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("reproduced", done.stdout)

    def test_the_bundled_data_are_those_beside_the_program(self):
        self.assertEqual(self.run_installed("data", "check", "mini-meetings").returncode, 0)
        meetings = self.prefix / "share/qfs-bench/datasets/mini/meetings"
        shutil.move(meetings, meetings.with_suffix(".away"))
        try:
            self.assertNotEqual(self.run_installed("data", "check", "mini-meetings").returncode, 0)
        finally:
            shutil.move(meetings.with_suffix(".away"), meetings)

    def test_shells_and_man_find_what_the_program_writes(self):
        places = {"completion bash": "bash-completion/completions/qfs-bench",
                  "completion zsh": "zsh/site-functions/_qfs-bench",
                  "completion fish": "fish/vendor_completions.d/qfs-bench.fish", "man": "man/man1/qfs-bench.1"}
        for words, place in places.items():
            done = self.run_installed(*words.split())
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual((self.prefix / "share" / place).read_text(encoding="utf-8"), done.stdout)

    def test_the_tensor_host_finds_its_libraries(self):
        if not (self.prefix / "bin" / "qfs-host").exists():
            self.skipTest("built without LibTorch")
        done = self.run_installed("probe", "--json", program="qfs-host")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(done.stdout.startswith("{"))


if __name__ == "__main__":
    unittest.main()
