"""A store as an archive: exported here, imported into an empty home, it gives the same tables and scores again.

Usage: test_archive.py QFS_BENCH
"""

import hashlib
import json
import os
import shutil
import unittest

from driver import DriverTest


class Archive(DriverTest):
    def setUp(self):
        super().setUp()
        self.write_data()
        self.write_sweep(methods=[{"method": "lead"}, {"method": "bm25"}],
                         measure={"examples": 2, "warmup": 1, "repetitions": 2},
                         report={"rows": ["method"], "columns": ["local_context"],
                                 "values": ["rouge1.f", "peak_memory", "seconds_per_example"]})
        os.mkdir(self.path("here"))
        self.assert_succeeds(self.run_bench("sweep", "sweep.json", "--store", "here/small.sqlite"))

    def export(self, store="here/small.sqlite", archive="archive", *more):
        return self.assert_succeeds(self.run_bench("export", archive, "--store", store, *more))

    def in_an_empty_home(self, *more):
        """The archive imported where neither the data nor anything else of this program is."""
        os.remove(self.path("data.jsonl"))
        os.mkdir(self.path("home"))
        self.home = {"HOME": self.path("home"), "QFS_CACHE_DIR": self.path("home/cache")}
        return self.assert_succeeds(self.run_bench("import", "archive", "--store", "there/small.sqlite", *more,
                                                   environment=self.home))

    def reports(self, folder):
        return [self.assert_succeeds(self.run_bench("report", "--format", kind, "--store", f"{folder}/small.sqlite"))
                .replace(folder + "/", "") for kind in ("markdown", "json", "latex", "csv")]

    def files(self, folder):
        found = {}
        for name in os.listdir(self.path(folder)):
            with open(self.path(f"{folder}/{name}"), "rb") as file:
                found[name] = file.read()
        return found

    def test_the_report_is_the_same_bytes_and_scores_are_made_again(self):
        self.assertIn("4 cells, 48 outputs", self.export())
        self.assertIn("4 cells, 48 outputs", self.in_an_empty_home())
        self.assertEqual(self.reports("there"), self.reports("here"))
        self.assert_succeeds(self.run_bench("doctor", "--store", "there/small.sqlite", environment=self.home))
        scored = []
        for folder in ("here", "there"):
            store = f"{folder}/small.sqlite"
            self.assert_succeeds(self.run_bench("score", "--store", store, "--metric", "rouge:stem=off", environment=self.home))
            scored.append(self.assert_succeeds(self.run_bench("report", "--store", store, "--format", "csv",
                                                              "--values", "rouge:stem=off/rouge1.f")))
        self.assertEqual(scored[0], scored[1])
        self.assertRegex(scored[0], r",0\.\d{4}")

    def test_what_is_imported_is_exported_to_the_same_bytes(self):
        self.export()
        self.in_an_empty_home()
        self.export("there/small.sqlite", "again")
        self.assertEqual(self.files("again"), self.files("archive"))
        self.export()
        self.assertEqual(self.files("archive"), self.files("again"))

    def test_without_texts_the_tables_are_the_same(self):
        self.export("here/small.sqlite", "archive", "--strip-texts")
        for name, content in self.files("archive").items():
            self.assertNotIn(b"What is line 3", content, name)
        self.in_an_empty_home()
        self.assertEqual(self.reports("there"), self.reports("here"))
        run = self.run_bench("score", "--store", "there/small.sqlite", "--metric", "rouge:stem=off")
        self.assert_fails(2, run, "hashes of the texts of 'data.jsonl' alone", "--strip-texts", "merge THIS WITH_TEXTS")
        run = self.run_bench("export", "archive", "--store", "here/small.sqlite")
        self.assert_fails(2, run, "written without texts (--strip-texts)")
        self.assertNotIn(b"What is line 3", b"".join(self.files("archive").values()))
        # What the message says helps.
        self.assert_succeeds(self.run_bench("merge", "there/small.sqlite", "here/small.sqlite"))
        self.assert_succeeds(self.run_bench("score", "--store", "there/small.sqlite", "--metric", "rouge:stem=off"))

    def test_an_archive_stays_until_the_next_one_is_whole(self):
        self.export()
        before = self.files("archive")
        os.mkdir(self.path("archive/output.jsonl.partial"))
        self.assert_fails(5, self.run_bench("export", "archive", "--store", "here/small.sqlite"), "cannot be written")
        os.rmdir(self.path("archive/output.jsonl.partial"))
        self.assertEqual(self.files("archive"), before)
        os.mkdir(self.path("site"))
        self.write("site/manifest.json", '{"name": "an application"}')
        self.assert_fails(2, self.run_bench("export", "site", "--store", "here/small.sqlite"),
                          "site/manifest.json: the folder has a manifest.json that is no archive's")
        self.assertEqual(list(self.files("site")), ["manifest.json"])

    def test_neither_processes_nor_texts_of_failures_are_passed_on(self):
        self.write("failing.py", "import qfs_method\n\n\ndef summarize(example, params):\n"
                   "    raise ValueError('asked ' + example.query)\n\n\nqfs_method.serve(summarize, name='failing', version=1)\n")
        self.write_sweep(methods=[{"method": "external", "label": "failing", "command": ["python3", "failing.py"],
                                   "fingerprint": ["failing.py"]}], grid=None, report=None)
        self.assertEqual(self.run_bench("sweep", "sweep.json", "--allow-external", "--store", "f.sqlite").returncode, 3)
        self.export("f.sqlite", "whole")
        self.assertIn(b"What is line 3", self.files("whole")["attempt.jsonl"])
        self.export("f.sqlite", "stripped", "--strip-texts")
        for name, content in self.files("stripped").items():
            self.assertNotIn(b"What is line 3", content, name)
        for archive in ("whole", "stripped"):
            for line in self.files(archive)["attempt.jsonl"].splitlines():
                attempt = json.loads(line)
                self.assertEqual((attempt["pid"], attempt["process_start"], attempt["boot_id"]), (0, 0, ""))
        self.assert_succeeds(self.run_bench("import", "stripped", "--store", "g.sqlite"))
        self.assert_succeeds(self.run_bench("doctor", "--store", "g.sqlite"))

    def test_scores_without_their_outputs_are_told(self):
        self.export()
        lines = self.files("archive")["output.jsonl"].splitlines(keepends=True)
        with open(self.path("archive/output.jsonl"), "wb") as file:
            file.writelines(lines[1:])
        manifest = json.loads(self.files("archive")["manifest.json"])
        for entry in manifest["files"]:
            if entry["name"] == "output.jsonl":
                content = b"".join(lines[1:])
                entry.update(rows=entry["rows"] - 1, bytes=len(content), sha256=hashlib.sha256(content).hexdigest())
        self.write("archive/manifest.json", json.dumps(manifest))
        run = self.run_bench("import", "archive", "--store", "there/small.sqlite")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("1 score was not taken: outputs that they are of are not in the archive", run.stderr)

    def test_scores_are_computed_again_with_the_texts_of_a_sweep_file(self):
        self.export("here/small.sqlite", "archive", "--strip-texts")
        shutil.copy(self.path("data.jsonl"), self.path("kept.jsonl"))
        self.in_an_empty_home()
        doctor = ("doctor", "--store", "there/small.sqlite", "--rescore")
        self.assertIn("UNCHECKED", self.run_bench(*doctor).stdout)
        self.assert_fails(2, self.run_bench(*doctor, "--sweep", "sweep.json"), "data.jsonl")
        shutil.copy(self.path("kept.jsonl"), self.path("data.jsonl"))
        self.assertIn("computed again from their outputs: 4 as stored",
                      self.assert_succeeds(self.run_bench(*doctor, "--sweep", "sweep.json")))
        with open(self.path("data.jsonl"), "a", encoding="utf-8") as file:
            file.write(json.dumps({"id": "more", "document": "x", "query": "?", "references": ["y"]}) + "\n")
        run = self.run_bench(*doctor, "--sweep", "sweep.json")
        self.assertEqual(run.returncode, 3, run.stdout)
        self.assertIn("is no data set of this store", run.stdout)

    def test_importing_twice_and_merging_the_original_adds_nothing(self):
        self.export()
        self.in_an_empty_home()
        again = json.loads(self.assert_succeeds(self.run_bench("import", "archive", "--store", "there/small.sqlite", "--json")))
        self.assertEqual([again[name] for name in ("cells", "outputs", "scores", "conflicts")], [0, 0, 0, 0])
        merged = json.loads(self.assert_succeeds(self.run_bench("merge", "there/small.sqlite", "here/small.sqlite", "--json")))
        self.assertEqual(set(merged["sources"][0]["new"].values()), {0})

    def test_what_is_no_archive_is_a_typed_error(self):
        self.assert_fails(2, self.run_bench("import", "here", "--store", "x.sqlite"), "here: not an archive: no manifest.json")
        self.assert_fails(2, self.run_bench("import", "archive"), "--store FILE")
        self.export()
        with open(self.path("archive/output.jsonl"), "a", encoding="utf-8") as file:
            file.write("{}\n")
        self.assert_fails(5, self.run_bench("import", "archive", "--store", "x.sqlite"), "archive/output.jsonl: the file has")
        self.assert_fails(2, self.run_bench("export", "other", "--store", "absent.sqlite"), "absent.sqlite")
        self.write("file", "")
        self.assertNotEqual(self.run_bench("export", "file", "--store", "here/small.sqlite").returncode, 0)


if __name__ == "__main__":
    unittest.main()
