"""The archives of `experiments/results` are whole; pages and figures are what `report` makes of them.

Usage: test_results.py QFS_BENCH
"""

import pathlib
import unittest

from driver import DriverTest

RESULTS = pathlib.Path(__file__).resolve().parents[3] / "experiments" / "results"

# Of the figure `compression/front.svg`, which its page's table has no room for.
FRONT = ["--format", "svg", "--figure", "front", "--values", "rouge1.f,flops_per_example,peak_memory", "--filter",
         "label=backbone-512|backbone-1k|lora-512 (rank 2)|lora-1k (rank 2)|selfcp (12 to 1)|selfcp (4 to 1)|"
         "selfcp (8 to 1)|selfcp (512 to 1)|selfcp (no memory)|selfcp (auto-encoding first)|selfcp (the paper's recipe)|"
         "autocompressor (rows by length)|icae (rows by length)|llmlingua|llmlingua (official)"]


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
                figure = folder / "front.svg"
                if figure.exists():
                    drawn = self.assert_succeeds(self.run_bench("report", "--store", store, *FRONT))
                    self.assertEqual(drawn, figure.read_text(encoding="utf-8"))


if __name__ == "__main__":
    unittest.main()
