"""`export --site`: the runs of a store as pages with a list of them, and how each is cited.

Usage: test_site.py QFS_BENCH
"""

import json
import os
import re
import unittest

from driver import DriverTest


class Site(DriverTest):
    def setUp(self):
        super().setUp()
        self.write_data()
        for name, description in (("first", "a <script>alert(1)</script> & more"), ("a.b", "plain"), ("a_b", "\"quoted\"\nlines")):
            file = self.write_sweep()
            with open(self.path(file), encoding="utf-8") as text:
                sweep = json.load(text)
            self.write(file, json.dumps({**sweep, "name": name, "description": description}))
            self.assert_succeeds(self.run_bench("sweep", file, "--store", "runs.sqlite"))

    def export(self, *more):
        return self.assert_succeeds(self.run_bench("export", "site", "--site", "--store", "runs.sqlite", *more))

    def read(self, name):
        with open(self.path("site/" + name), encoding="utf-8") as file:
            return file.read()

    def test_every_run_has_a_page_a_table_and_a_citation(self):
        self.assertEqual(self.export("--author", "Ada Lovelace", "--author", "Tom: \"x\""), "site/index.html: 3 runs\n")
        index = self.read("index.html")
        linked = re.findall(r'href="([^"]+)"', index)
        self.assertEqual(sorted(linked + ["index.html"]), sorted(os.listdir(self.path("site"))))
        self.assertEqual(len(linked), 9)
        self.assertNotIn("<script", index)
        self.assertIn("a &lt;script&gt;alert(1)&lt;/script&gt; &amp; more", index)
        self.assertIn("default-src 'none'; style-src 'sha256-", index)
        self.assertEqual(self.read("first.md"), self.assert_succeeds(
            self.run_bench("report", "first", "--store", "runs.sqlite")))
        self.assertEqual(self.read("first.html"), self.assert_succeeds(
            self.run_bench("report", "first", "--store", "runs.sqlite", "--format", "html")))
        cff = self.read("first.cff")
        self.assertIn('  - name: "Ada Lovelace"\n  - name: "Tom: \\"x\\""\n', cff)
        self.assertRegex(cff, r"(?m)^date-released: \"\d{4}-\d\d-\d\d\"$")
        self.assertIn("type: dataset\n", cff)
        self.assertIn("rouge_score-0.1.2", cff)
        for line in cff.splitlines():
            self.assertRegex(line, r"^ *(- )?[a-z-]+:( |$)")
        before = {name: self.read(name) for name in os.listdir(self.path("site"))}
        self.export("--author", "Ada Lovelace", "--author", "Tom: \"x\"")
        self.assertEqual(before, {name: self.read(name) for name in os.listdir(self.path("site"))}, "equal bytes")

    def test_the_folder_may_stand_behind_an_author(self):
        self.assert_succeeds(self.run_bench("export", "--author", "Ada Lovelace", "site", "--site", "--store", "runs.sqlite"))
        self.assertIn('  - name: "Ada Lovelace"\n', self.read("first.cff"))

    def test_without_authors_nobody_is_cited(self):
        self.export()
        self.assertEqual([name for name in os.listdir(self.path("site")) if name.endswith(".cff")], [])
        self.assertNotIn("how to cite", self.read("index.html"))

    def test_what_cannot_be_is_refused(self):
        os.mkdir(self.path("site"))
        self.write("site/index.html", "<h1>mine</h1>")
        self.assert_fails(2, self.run_bench("export", "site", "--site", "--store", "runs.sqlite"), "index.html of something else")
        self.assertEqual(self.read("index.html"), "<h1>mine</h1>")
        self.assert_fails(2, self.run_bench("export", "x", "--author", "A", "--store", "runs.sqlite"), "--author is for --site")
        self.assert_fails(2, self.run_bench("export", "x", "--site", "--flat", "csv", "--store", "runs.sqlite"), "--site is pages")
        self.assert_fails(2, self.run_bench("export", "x", "--site", "--store", "absent.sqlite"), "absent.sqlite")


if __name__ == "__main__":
    unittest.main()
