"""Files that are named as tokenizers and are none: found before anything runs.

Usage: test_tokenizer_files.py QFS_BENCH
"""

import json
import os
import string
import unittest

from driver import DriverTest

LETTERS = {"version": "1.0", "added_tokens": [],
           "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True},
           "model": {"type": "BPE", "merges": [],
                     "vocab": {letter: i for i, letter in enumerate(string.ascii_letters + string.digits + ".?Ġ")}}}


class TokenizerFiles(DriverTest):
    def setUp(self):
        super().setUp()
        self.write_data(3)

    def test_a_file_that_is_none_ends_plan_and_sweep_with_its_reason(self):
        self.write("tokenizer.json", json.dumps({"version": "1.0", "model": {"type": "Nonsense"}}))
        self.write_sweep(tokenizer="./tokenizer.json")
        for command in ("plan", "sweep"):
            run = self.run_bench(command, "sweep.json")
            self.assert_fails(5, run, "the tokenizer cannot be opened: ./tokenizer.json#/model", "sweep.json#/methods/0")
        self.assertFalse(os.path.exists(self.path("small.sqlite")), "nothing has begun")

    def test_text_that_is_no_json_is_found_too(self):
        self.write("tokenizer.json", "this is no tokenizer")
        self.write_sweep(tokenizer="./tokenizer.json")
        self.assert_fails(5, self.run_bench("sweep", "sweep.json"), "tokenizer.json")

    def test_a_method_that_names_it_is_the_place(self):
        self.write("tokenizer.json", "{}")
        self.write_sweep(methods=[{"method": "lead"}, {"method": "bm25", "tokenizer": "./tokenizer.json"}])
        self.assert_fails(5, self.run_bench("plan", "sweep.json"), "sweep.json#/methods/1")
        self.assert_succeeds(self.run_bench("plan", "sweep.json", "--filter", "method=lead"))

    def test_one_that_is_a_tokenizer_is_used(self):
        self.write("tokenizer.json", json.dumps(LETTERS))
        self.write_sweep(tokenizer="./tokenizer.json")
        self.assert_succeeds(self.run_bench("sweep", "sweep.json"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
