"""The archives of `experiments/results` are whole, and their pages are what `report --page` makes of them.

Usage: test_results.py QFS_BENCH
"""

import pathlib
import unittest

from driver import DriverTest

RESULTS = pathlib.Path(__file__).resolve().parents[3] / "experiments" / "results"


class Results(DriverTest):
    def test_each_page_is_made_of_its_archive(self):
        folders = sorted(manifest.parent for manifest in RESULTS.glob("*/manifest.json"))
        self.assertGreater(len(folders), 0)
        for folder in folders:
            with self.subTest(folder.name):
                store = folder.name + ".sqlite"
                self.assert_succeeds(self.run_bench("import", str(folder), "--store", store))
                page = self.assert_succeeds(self.run_bench("report", "--store", store, "--page"))
                self.assertEqual(page, (folder / "page.md").read_text(encoding="utf-8"))


if __name__ == "__main__":
    unittest.main()
