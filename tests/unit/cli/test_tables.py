"""Tables that people paste: `report` as its users call it.

Usage: test_tables.py QFS_BENCH
"""

import json
import unittest

from driver import DriverTest


class Tables(DriverTest):
    def setUp(self):
        super().setUp()
        self.write_data(12)

    def sweep(self, **members):
        self.write_sweep(methods=[{"method": "lead"}, {"method": "random"}], **members)
        return self.assert_succeeds(self.run_bench("sweep", "sweep.json", "--quiet"))

    def report(self, *arguments):
        return self.assert_succeeds(self.run_bench("report", *arguments))

    def test_values_are_columns_where_the_sweep_file_or_an_option_says_so(self):
        report = {"rows": ["method", "local_context"], "columns": ["values"], "values": ["rouge1.f", "tokens_out"]}
        table = self.sweep(report=report)
        self.assertIn(" rouge1.f × 100 | tokens out, mean |\n", table)
        self.assertEqual(table.count("|--"), 4, "one table of four columns has one rule")
        wide = self.report("--rows", "method", "--columns", "local_context,values")
        self.assertIn("| 16 · tokens out, mean |", wide)
        self.assert_fails(2, self.run_bench("report", "--rows", "values"), "an axis of columns")


if __name__ == "__main__":
    unittest.main(verbosity=2)
