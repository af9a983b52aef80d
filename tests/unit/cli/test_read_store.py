"""The rows of a store: read_store of the Python package and `export --flat`, which must agree with each other.

Usage: test_read_store.py QFS_BENCH
"""

import contextlib
import csv
import importlib.util
import io
import json
import math
import os
import pathlib
import re
import sqlite3
import sys
import types
import unittest
from unittest import mock

from driver import DriverTest

_SOURCE = pathlib.Path(__file__).parents[3] / "harness/apps/python/qfs_bench/_store.py"
_SPEC = importlib.util.spec_from_file_location("qfs_bench_store", _SOURCE)
store_module = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(store_module)
read_store, StoreError = store_module.read_store, store_module.StoreError


FAILING = """
import os, qfs_method
qfs_method.serve(lambda example, params: os._exit(9), name="failing", version=1)
"""


class StoreTest(DriverTest):
    def setUp(self):
        super().setUp()
        self.write_data(12)
        self.write_sweep(methods=[{"method": "lead"}, {"method": "oracle", "label": "=best"}],
                         metrics=["rouge", "bleu"])
        self.assert_succeeds(self.run_bench("sweep", "sweep.json"))

    def open(self, name="small.sqlite", **options):
        store = read_store(self.path(name), **options)
        self.addCleanup(store.close)
        return store

    def exported(self, flat, *arguments):
        self.assert_succeeds(self.run_bench("export", "tables", "--flat", flat, *arguments))
        texts = {}
        for name in ("cells", "scores", "examples"):
            with open(self.path(f"tables/{name}.{flat}"), encoding="utf-8", newline="") as file:
                texts[name] = file.read()
        return texts


class ReadStore(StoreTest):
    def test_cells_scores_and_examples_are_those_of_the_program(self):
        store = self.open()
        listed = json.loads(self.assert_succeeds(self.run_bench("list", "cells", "--json")))["cells"]
        cells = list(store.cells)
        self.assertEqual([cell["cell_id"] for cell in cells], [cell["cell_id"] for cell in listed])
        self.assertEqual({cell["status"] for cell in cells}, {"complete"})
        self.assertEqual([cell["params"]["local_context"] for cell in cells[:2]], [16, 32])
        self.assertEqual([cell["oracle"] for cell in cells], [False, False, True, True])
        lines = self.assert_succeeds(self.run_bench("report", "--per-example", "-")).splitlines()
        examples = list(store.examples)
        self.assertEqual(len(examples), 4 * 12)
        known = {(row["cell_id"], row["ordinal"]): row["scores"] for row in map(json.loads, lines)}
        for row in examples:
            self.assertEqual(row["scores"], known[row["cell_id"], row["ordinal"]])
            self.assertEqual(row["references"], [f"Line 3 of text {row['ordinal']} is about item 3."])
        for row in store.scores:
            if row["column"] != "rouge1.f":
                continue
            own = [e["scores"]["rouge"]["rouge1.f"] for e in examples if e["cell_id"] == row["cell_id"]]
            self.assertAlmostEqual(row["value"], math.fsum(own) / 12, delta=1e-12)
            self.assertLessEqual(row["low"], row["value"])
            self.assertEqual((row["n"], row["clusters"]), (12, 12))

    def test_tables_of_the_program_are_the_same_rows(self):
        store = self.open()
        texts = self.exported("jsonl")
        for name in texts:
            with self.subTest(table=name):
                self.assertEqual([json.loads(line) for line in texts[name].splitlines()],
                                 list(getattr(store, name)))

    def test_what_is_unfinished_and_failed_says_so(self):
        self.write("bad.py", FAILING)
        self.write_sweep(name="other.json", methods=[{"method": "external", "command": ["python3", "bad.py"],
                                                      "fingerprint": ["bad.py"], "label": "mine"}])
        self.run_bench("sweep", "other.json", "--allow-external", "--store", "small.sqlite")
        store = self.open()
        rows = list(store.cells)
        self.assertTrue(rows)
        for row in rows:
            self.assertEqual((row["status"], row["done"], row["label"]), ("failed", 0, "mine"))
            self.assertTrue(row["message"])
        self.assertEqual((list(store.scores), list(store.examples)), ([], []))
        self.assertEqual([json.loads(line) for line in self.exported("jsonl")["cells"].splitlines()], rows)

    def test_a_run_is_chosen_as_by_the_program(self):
        self.write_sweep(name="second.json", methods=[{"method": "lead"}], grid={"local_context": [64]})
        self.assert_succeeds(self.run_bench("sweep", "second.json", "--store", "small.sqlite"))
        runs = self.open().runs
        self.assertEqual(len(list(self.open().cells)), 1)
        for run in (1, "1", runs[-1]["sweep_id"][:8]):
            self.assertEqual(len(list(self.open(run=run).cells)), 4)
        self.assertEqual(len(self.exported("jsonl", "--run", "1")["cells"].splitlines()), 4)
        with self.assertRaisesRegex(StoreError, "no run 'other'; there are small"):
            self.open(run="other")

    def test_other_files_and_versions_are_refused(self):
        with self.assertRaisesRegex(FileNotFoundError, "there is no store 'absent.sqlite'"):
            read_store("absent.sqlite")
        self.write("text.sqlite", "no database, but long enough to be read as the header of one" * 10)
        with self.assertRaisesRegex(StoreError, "text.sqlite: file is not a database"):
            self.open("text.sqlite")
        self.write("empty.sqlite", "")
        with self.assertRaisesRegex(StoreError, "empty.sqlite: not a qfs-bench store: an empty file"):
            self.open("empty.sqlite")
        with self.assertRaisesRegex(StoreError, "not a qfs-bench store: no file"):
            self.open(".")
        sqlite3.connect(self.path("foreign.sqlite")).execute("CREATE TABLE t (x)").connection.close()
        with self.assertRaisesRegex(StoreError, "SQLite database of another program"):
            self.open("foreign.sqlite")
        connection = sqlite3.connect(self.path("small.sqlite"))
        connection.execute("PRAGMA user_version = 99")
        connection.close()
        with self.assertRaisesRegex(StoreError, "schema version 99, and this package reads 1"):
            self.open()

    def test_damage_is_an_error_of_the_store(self):
        with sqlite3.connect(self.path("small.sqlite")) as connection:
            pages = connection.execute("PRAGMA page_count").fetchone()[0]
            size = connection.execute("PRAGMA page_size").fetchone()[0]
        with open(self.path("small.sqlite"), "rb") as file:
            whole = file.read()
        seen = 0
        for page in range(1, pages):
            self.write_bytes("damaged.sqlite", whole[:page * size] + b"\xff" * size + whole[(page + 1) * size:])
            try:
                with read_store(self.path("damaged.sqlite")) as store:
                    for rows in (store.cells, store.scores, store.examples):
                        list(rows)
            except StoreError as error:
                self.assertIn("damaged.sqlite", str(error))
                seen += 1
        self.assertGreater(seen, 3)
        with sqlite3.connect(self.path("small.sqlite")) as connection:
            connection.execute("UPDATE sweep_cell SET params = '{'")
        with self.assertRaisesRegex(StoreError, "the parameters of cell .*the store is damaged"):
            list(self.open().cells)

    def test_an_sqlite_that_is_too_old_is_named(self):
        with mock.patch.object(sqlite3, "sqlite_version_info", (3, 31, 1)), \
                self.assertRaisesRegex(StoreError, "stores need 3.37; `qfs-bench export --flat jsonl`"):
            self.open()

    def test_the_file_is_only_read(self):
        with self.assertRaises(sqlite3.OperationalError):
            self.open()._db.execute("DELETE FROM cell")
        if os.geteuid() != 0:
            os.chmod(self.folder, 0o555)
            self.addCleanup(os.chmod, self.folder, 0o755)
        self.assertEqual(len(list(self.open().cells)), 4)

    def test_pandas_gets_columns(self):
        frames = types.SimpleNamespace(DataFrame=lambda rows: rows)
        with mock.patch.dict(sys.modules, {"pandas": frames}):
            rows = self.open().examples.to_pandas()
        self.assertIn("params.local_context", rows[0])
        self.assertIn("scores.rouge.rouge1.f", rows[0])
        with mock.patch.dict(sys.modules, {"pandas": None}), self.assertRaisesRegex(ImportError, "pip install pandas"):
            self.open().cells.to_pandas()


    @unittest.skipUnless(importlib.util.find_spec("pandas"), "pandas is not installed")
    def test_frames_of_pandas_have_the_rows(self):
        store = self.open()
        frame = store.examples.to_pandas()
        self.assertEqual(len(frame), len(list(store.examples)))
        means = frame.groupby("position")["scores.rouge.rouge1.f"].mean()
        for score in store.scores:
            if score["column"] == "rouge1.f":
                self.assertAlmostEqual(means[score["position"]], score["value"], places=12)


class Documented(StoreTest):
    """The code of the package's page, with stand-ins for the programs that it hands the rows to."""

    def test_every_block_runs(self):
        os.rename(self.path("small.sqlite"), self.path("lc_sweep.sqlite"))
        text = (_SOURCE.parents[1] / "README.md").read_text(encoding="utf-8")
        blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
        self.assertEqual(len(blocks), 4)
        others = {name: mock.MagicMock() for name in ("wandb", "mlflow", "pandas")}
        package = types.SimpleNamespace(read_store=lambda path: read_store(self.path(path)))
        with mock.patch.dict(sys.modules, {"qfs_bench": package, **others}), \
                contextlib.redirect_stdout(io.StringIO()) as printed:
            names = {}
            for block in blocks:
                self.assertLessEqual(len(block.splitlines()), 11)
                exec(compile(block, "README.md", "exec"), names)  # noqa: S102: the page's own code
                names["store"].close()
        self.assertEqual(len(printed.getvalue().splitlines()), 4)
        runs = others["wandb"].init
        self.assertEqual(runs.call_count, 4)
        self.assertEqual(runs.call_args.kwargs["config"]["local_context"], 32)
        self.assertIn("rouge/rouge1.f", runs.return_value.summary.update.call_args.args[0])
        logged = others["mlflow"].log_metrics
        self.assertEqual(logged.call_count, 4)
        self.assertIn("bleu/bleu", logged.call_args.args[0])
        for name in logged.call_args.args[0]:
            self.assertRegex(name, r"^[\w./ -]+$")  # what MLflow takes

    def test_names_are_of_one_score_each(self):
        self.write_sweep(methods=[{"method": "lead"}], metrics=["chrf", "rouge", {"metric": "rouge", "stem": "off"}, "rouge-zh"])
        self.assert_succeeds(self.run_bench("sweep", "sweep.json", "--store", "several.sqlite"))
        text = (_SOURCE.parents[1] / "README.md").read_text(encoding="utf-8")
        names = {}
        exec(re.search(r"```python\n(def named_scores.*?)```", text, re.DOTALL)[1], names)  # noqa: S102
        scores = list(self.open("several.sqlite").scores)
        named = names["named_scores"](scores, 0)
        kept = [score for score in scores if score["position"] == 0 and "#" not in score["column"]]
        self.assertEqual(len(named), len(kept))
        self.assertEqual(sorted(named.values()), sorted(score["value"] for score in kept))
        self.assertIn("rouge-zh/rouge1.f", named)
        self.assertEqual(sum(name.endswith("/rouge1.f") for name in named), 3)


class FlatTables(StoreTest):
    def test_csv_has_the_same_values_in_columns(self):
        texts = self.exported("csv")
        for name, text in texts.items():
            rows = list(csv.DictReader(io.StringIO(text, newline=""), strict=True))
            expected = [store_module.flat(row) for row in getattr(self.open(), name)]
            self.assertEqual(len(rows), len(expected))
            for row, other in zip(rows, expected):
                self.assertLessEqual(set(other), set(row))
                for column, value in other.items():
                    same = float(row[column]) == value if isinstance(value, float) else row[column] == self.in_csv(value)
                    self.assertTrue(same, (column, row[column], value))

    @staticmethod
    def in_csv(value):
        if value is None:
            return ""
        if isinstance(value, str):
            return value
        return json.dumps(value, separators=(",", ":"))

    def test_a_formula_is_text_in_tables_for_people_alone(self):
        self.assertIn(",=best,", self.exported("csv")["cells"])
        self.assertIn('"label":"=best"', self.exported("jsonl")["cells"])
        self.assertIn("\n'=best,", self.assert_succeeds(self.run_bench("report", "--format", "csv")))

    def test_what_does_not_belong_together_is_refused(self):
        self.assert_fails(2, self.run_bench("export", "x", "--flat", "xls"), "{jsonl,csv}")
        self.assert_fails(2, self.run_bench("export", "x", "--flat", "csv", "--strip-texts"), "for archives")
        self.assert_fails(2, self.run_bench("export", "x", "--run", "1"), "--run is for --flat")
        self.assert_fails(2, self.run_bench("export", "x", "--flat", "csv", "--run", "smal"), "did you mean 'small'?")
        listing = json.loads(self.assert_succeeds(self.run_bench("export", "t", "--flat", "csv", "--json")))
        self.assertEqual([file["file"] for file in listing["files"]], ["t/cells.csv", "t/scores.csv", "t/examples.csv"])


if __name__ == "__main__":
    unittest.main()
