"""How the command line is read: what belongs to which option, and what an empty value is.

Usage: test_arguments.py QFS_BENCH
"""

import os
import unittest

from driver import DriverTest


class EmptyValues(DriverTest):
    """A script's variable that is not set must not pass for an option that was not given."""

    COMMANDS = {
        "report": ["--output", "--run", "--filter", "--per-example", "--store", "--format"],
        "score out.jsonl": ["--match", "--metric", "--refs", "--refs-dataset", "--from", "--per-example", "--punkt",
                            "--postprocess", "--tool"],
        "compare a b": ["--max-drop", "--non-inferior", "--better", "--pair-by", "--values", "--refs", "--run"],
        "sweep sweep.json": ["--set", "--filter", "--rerun", "--store"],
        "show": ["--example", "--run"],
        "list cells": ["--run"],
        "method check -- true": ["--param"],
    }

    def test_each_is_refused(self):
        for command, options in self.COMMANDS.items():
            for option in options:
                words = command.split()
                at = words.index("--") if "--" in words else len(words)
                with self.subTest(command=command, option=option):
                    for given in ([option, ""], [option, " \n"], [option + "="]):
                        run = self.run_bench(*words[:at], *given, *words[at:])
                        self.assert_fails(2, run, option)
        self.assert_fails(2, self.run_bench("report", "-o", ""), "--output: the value is empty")
        self.assert_fails(2, self.run_bench("score", ""), "TARGET: the value is empty")

    def test_an_assignment_without_value_takes_no_other_argument(self):
        self.assert_fails(2, self.run_bench("report", "--output=", "table.md"), "--output=: the value is empty")
        self.assertEqual(os.listdir(self.folder), [])

    def test_a_list_may_be_empty(self):
        self.write_data(2)
        self.write_sweep()
        self.assert_succeeds(self.run_bench("sweep", "sweep.json"))
        self.assert_succeeds(self.run_bench("report", "--columns", ""))


class RepeatedOptions(DriverTest):
    """An option takes its own value; what stands behind it is not its second."""

    def test_the_arguments_behind_an_option_are_not_its_values(self):
        self.write_data()
        self.write_sweep()
        for words in (["sweep", "--filter", "method=lead", "sweep.json"], ["plan", "--set", "x=1", "sweep.json"],
                      ["compare", "--values", "rouge1.f", "small.sqlite", "small.sqlite"],
                      ["compare", "--max-drop", "rouge1.f=1pt", "small.sqlite", "small.sqlite"],
                      ["compare", "--pair-by", "method,local_context", "small.sqlite", "small.sqlite"]):
            with self.subTest(words=words):
                run = self.run_bench(*words)
                self.assertNotIn("is required", run.stderr)
                self.assertEqual(run.returncode, 2 if "--set" in words else 0, run.stderr)
        for mark in ([], ["--"]):
            run = self.run_bench("method", "check", "--param", "x=1", *mark, "python3", "-c", "print('started')")
            self.assertNotIn("which program?", run.stderr)
            self.assertIn("started", run.stderr)
        run = self.run_bench("method", "check", "python3", "-c", "import sys; print(sys.argv)", "--", "--x=")
        self.assertIn("['-c', '--', '--x=']", run.stderr)


if __name__ == "__main__":
    unittest.main()
