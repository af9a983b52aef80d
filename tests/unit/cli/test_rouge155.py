"""`qfs-bench rouge155`: the command as its users type it, and what it says to wrong input.

Usage: test_rouge155.py QFS_BENCH
Expected numbers are counted by hand; conformance/metrics/rouge155_conformance_test.cpp compares with Perl.
"""

import unittest

from driver import DriverTest

CONFIG = """<ROUGE-EVAL version="1.55">
<EVAL ID="1"><PEER-ROOT>.</PEER-ROOT><MODEL-ROOT>.</MODEL-ROOT><INPUT-FORMAT TYPE="SPL"/>
<PEERS><P ID="A">candidate.txt</P></PEERS><MODELS><M ID="1">reference.txt</M></MODELS></EVAL>
</ROUGE-EVAL>
"""
LINE = "A ROUGE-1 Average_%s: %s (95%%-conf.int. %s - %s)\n"


class Rouge155(DriverTest):
    def setUp(self):
        super().setUp()
        self.write("config.xml", CONFIG)
        self.write("candidate.txt", "The cats sat.\n")
        self.write("reference.txt", "The cats are here.\n")

    def rouge155(self, *arguments):
        return self.run_bench("rouge155", *arguments)

    def test_prints_the_scripts_lines(self):
        values = {"R": "0.50000", "P": "0.66667", "F": "0.57143"}
        expected = "-" * 45 + "\n" + "".join(LINE % (name, v, v, v) for name, v in values.items())
        result = self.rouge155("-n", "1", "-x", "-a", "config.xml")
        self.assertEqual((result.returncode, result.stdout), (0, expected))

    def test_negative_gap_and_joined_flags(self):
        result = self.rouge155("-xa", "-2", "-1", "-U", "config.xml")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("A ROUGE-S* Average_R: 0.16667", result.stdout)
        self.assertIn("A ROUGE-SU* Average_R: 0.33333", result.stdout)

    def test_word_lists(self):
        self.write("list.tsv", "cats\tsat\n")
        self.write("stop.txt", "the\n")
        result = self.rouge155("-n", "1", "-x", "-m", "-s", "--exceptions", "list.tsv", "--stop-words",
                               "stop.txt", "config.xml", "A")
        self.assertIn("A ROUGE-1 Average_P: 0.50000", result.stdout)

    def test_wrong_switches(self):
        for arguments, message in (
                (["-n", "x", "-a"], "-n is 'x', expected a number"),
                (["-l", "5", "-b", "4", "-a"], "-l and -b exclude each other"),
                (["-f", "C", "-a"], "-f is 'C', expected A or B"),
                (["-U", "-a"], "give -2 GAP too"),
                (["-r", "0", "-a"], "-r is 0, expected 1 to 1000000"),
                (["-z", "TXT"], "-z is 'TXT', expected SPL, SEE or ISI"),
                (["-d", "-t", "1", "-a"], "-d prints scores of evaluations"),
                ([], "name the system to evaluate after the configuration file, or give -a")):
            self.assert_fails(2, self.rouge155(*arguments, "config.xml"), message)

    def test_stemming_needs_a_declared_exception_list(self):
        self.assert_fails(2, self.rouge155("-m", "-a", "config.xml"), "--exceptions none")
        self.assertEqual(self.rouge155("-m", "--exceptions", "none", "-a", "config.xml").returncode, 0)

    def test_files_at_fault_are_named(self):
        self.assert_fails(2, self.rouge155("-a", "nowhere.xml"), "nowhere.xml", "No such file")
        self.write("broken.xml", "<ROUGE-EVAL>\n<EVAL>\n</ROUGE-EVAL>")
        self.assert_fails(2, self.rouge155("-a", "broken.xml"), "broken.xml:3: mismatched tag; <EVAL> of line 2 is not closed")
        self.write("reference.txt", "?!")
        self.assert_fails(2, self.rouge155("-w", "1.2", "-a", "config.xml"),
                          "evaluation '1': reference 1: no words, so ROUGE-W is not defined")
        self.assert_fails(2, self.rouge155("config.xml", "B"), "no evaluation has a file of system 'B'")


if __name__ == "__main__":
    unittest.main(verbosity=2)
