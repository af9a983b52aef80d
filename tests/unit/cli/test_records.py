"""Parquet, Arrow and the Hugging Face cache as JSON lines, read by the program. Without pyarrow only what needs none.

Usage: test_records.py QFS_BENCH
"""

import contextlib
import datetime
import importlib.util
import io
import json
import os
import pathlib
import unittest
from unittest import mock

from driver import DriverTest, record

_SOURCE = pathlib.Path(__file__).parents[3] / "harness/apps/python/qfs_bench/records.py"
_SPEC = importlib.util.spec_from_file_location("qfs_bench_records", _SOURCE)
records = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(records)

try:
    import pyarrow
    import pyarrow.ipc
    import pyarrow.parquet
except ImportError:
    pyarrow = None


class RecordsTest(DriverTest):
    def convert(self, *arguments):
        said = io.StringIO()
        with contextlib.redirect_stderr(said):
            code = records.main([*arguments, "-o", self.path("out.jsonl")])
        return code, said.getvalue()

    def lines(self):
        with open(self.path("out.jsonl"), encoding="utf-8") as file:
            return [json.loads(line) for line in file]


class WithoutPyarrow(RecordsTest):
    def test_what_is_missing_is_said_and_nothing_is_written(self):
        self.write("a.parquet", "no parquet")
        with mock.patch.dict("sys.modules", {"pyarrow": None}):
            code, said = self.convert(self.path("a.parquet"))
        self.assertEqual(code, 2)
        self.assertIn("pip install pyarrow", said)
        with mock.patch.dict(os.environ, {"HF_HOME": self.path("empty")}):
            code, said = self.convert("hf:org/name")
        self.assertEqual((code, "not in the Hugging Face cache" in said), (2, True))
        os.mkdir(self.path("folder"))
        code, said = self.convert(self.path("folder"), "--split", "test")
        self.assertIn("no .parquet or .arrow file of split 'test'", said)
        self.assertEqual([name for name in os.listdir(self.folder) if "out" in name or name.startswith("tmp")], [])

    def test_a_split_is_what_a_files_name_says(self):
        for name, split in (("data/test-00000-of-00001.parquet", "test"), ("name-test.arrow", "test"),
                            ("test/0000.parquet", "test"), ("test.parquet", "test"),
                            ("name-test-00001-of-00002.arrow", "test"), ("test_sft-00000-of-00001.parquet", "test_sft"),
                            ("stress-test/train.parquet", "train")):
            with self.subTest(name=name):
                self.assertEqual(records._split_of(pathlib.Path(name)), split)

    def test_files_that_names_count_are_all_there(self):
        os.mkdir(self.path("parts"))
        for number in (0, 2):
            self.write(f"parts/test-{number:05}-of-00003.parquet", "not read yet")
        with self.assertRaisesRegex(records.RecordsError, r"only 2 of the 3 files of 'test' .*test-00001-of-00003.parquet are missing"):
            records.files_of(self.path("parts"), "test")
        self.write("parts/test-00001-of-00003.parquet", "not read yet")
        self.assertEqual(len(records.files_of(self.path("parts"), "test")), 3)
        alone = self.path("parts/test-00002-of-00003.parquet")
        self.assertEqual(records.files_of(alone), [pathlib.Path(alone)])

    def test_names_of_the_cache(self):
        for name in ("hf:", "hf:../x", "hf:a/b/c", "hf:a/b@../../x"):
            code, said = self.convert(name)
            self.assertEqual((code, "expected hf:org/name" in said), (2, True), said)


@unittest.skipIf(pyarrow is None, "no pyarrow")
class WithPyarrow(RecordsTest):
    def table(self, count=6):
        return pyarrow.Table.from_pylist([record(i) for i in range(count)])

    def write_stream(self, name, table):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with pyarrow.ipc.new_stream(self.path(name), table.schema) as file:
            file.write_table(table)

    def test_a_file_becomes_records_that_a_sweep_reads(self):
        pyarrow.parquet.write_table(self.table(), self.path("test.parquet"))
        self.assertEqual(self.convert(self.path("test.parquet"))[0], 0)
        self.assertEqual(self.lines(), [record(i) for i in range(6)])
        self.write_sweep(datasets=[{"path": "out.jsonl"}], methods=[{"method": "lead"}])
        self.assert_succeeds(self.run_bench("sweep", "sweep.json"))

    def test_the_cache_is_read_as_the_hub_and_as_datasets_leave_it(self):
        snapshot = "hub/datasets--org--name/snapshots/abc/data/"
        os.makedirs(self.path(snapshot))
        os.makedirs(self.path("hub/datasets--org--name/refs"))
        self.write("hub/datasets--org--name/refs/main", "abc")
        pyarrow.parquet.write_table(self.table().slice(3), self.path(snapshot + "test-00001-of-00002.parquet"))
        pyarrow.parquet.write_table(self.table().slice(0, 3), self.path(snapshot + "test-00000-of-00002.parquet"))
        pyarrow.parquet.write_table(self.table(1), self.path(snapshot + "train-00000-of-00001.parquet"))
        self.write_stream("datasets/org___other/default/0.0.0/ff/other-test.arrow", self.table(2))
        with mock.patch.dict(os.environ, {"HF_HOME": self.folder}):
            for source in ("hf:org/name", "hf:org/name@abc", "hf:org/name@main"):
                self.assertEqual(self.convert(source, "--split", "test")[0], 0)
                self.assertEqual(self.lines(), [record(i) for i in range(6)])
            self.assertEqual(self.convert("hf:org/other")[0], 0)
            self.assertEqual(self.lines(), [record(i) for i in range(2)])
            self.assertEqual(self.convert("hf:org/name@v2")[0], 2)
            code, said = self.convert("hf:org/name")
            self.assertEqual((code, "several splits (test, train)" in said), (2, True), said)
            self.write_stream("datasets/org___other/de/0.0.0/ff/other-test.arrow", self.table(2))
            code, said = self.convert("hf:org/other", "--split", "test")
            self.assertEqual((code, "several folders (de/0.0.0/ff, default/0.0.0/ff)" in said), (2, True), said)
            self.write_stream("datasets/org___my_set/default/0.0.0/ff/my_set-test.arrow", self.table(3))
            os.makedirs(self.path("hub/datasets--org--MySet/snapshots/main"))  # a script, no data
            self.assertEqual(self.convert("hf:org/MySet", "--split", "test")[0], 0)
            self.assertEqual(len(self.lines()), 3)

    def test_values_that_json_has_not(self):
        table = pyarrow.table({"id": ["a"], "day": [datetime.date(2020, 2, 1)], "raw": [b"x"], "x": [float("nan")]})
        pyarrow.parquet.write_table(table, self.path("odd.parquet"))
        code, said = self.convert(self.path("odd.parquet"))
        self.assertEqual(code, 2)
        self.assertIn("odd.parquet: row 1, column 'raw': a value of type bytes", said)
        self.assertIn("column 'x': a number that JSON does not have", self.convert(self.path("odd.parquet"), "--columns", "x")[1])
        self.assertIn("no column 'idd' (has id, day, raw, x)", self.convert(self.path("odd.parquet"), "--columns", "idd")[1])
        self.assertFalse(os.path.exists(self.path("out.jsonl")))
        self.assertEqual(self.convert(self.path("odd.parquet"), "--columns", "id,day")[0], 0)
        self.assertEqual(self.lines(), [{"id": "a", "day": "2020-02-01"}])

    def test_other_columns_do_no_harm(self):
        stamp = pyarrow.array([1], pyarrow.timestamp("ns"))
        text = pyarrow.array([b"\xff"]).view(pyarrow.utf8())
        pyarrow.parquet.write_table(pyarrow.table({"id": ["a"], "t": stamp, "bad": text}), self.path("mix.parquet"))
        self.assertEqual(self.convert(self.path("mix.parquet"), "--columns", "id")[0], 0)
        code, said = self.convert(self.path("mix.parquet"), "--columns", "bad")
        self.assertEqual((code, "column 'bad'" in said), (2, True), said)
        double = pyarrow.Table.from_arrays([pyarrow.array(["a"]), pyarrow.array(["b"])], names=["x", "x"])
        pyarrow.parquet.write_table(double, self.path("double.parquet"))
        self.assertIn("there are 2 columns 'x'", self.convert(self.path("double.parquet"))[1])

    def test_nothing_that_is_read_is_replaced(self):
        pyarrow.parquet.write_table(self.table(), self.path("out.jsonl"))
        os.symlink(self.path("out.jsonl"), self.path("same.parquet"))
        code, said = self.convert(self.path("same.parquet"))
        self.assertEqual((code, "is also read, and would be lost" in said), (2, True), said)
        os.unlink(self.path("out.jsonl"))
        os.mkfifo(self.path("out.jsonl"))
        pyarrow.parquet.write_table(self.table(), self.path("a.parquet"))
        code, said = self.convert(self.path("a.parquet"))
        self.assertEqual((code, "not a file" in said), (2, True), said)

    def test_broken_files_are_named(self):
        pyarrow.parquet.write_table(self.table(), self.path("a.parquet"))
        with open(self.path("a.parquet"), "r+b") as file:
            file.truncate(200)
        code, said = self.convert(self.path("a.parquet"))
        self.assertEqual((code, "a.parquet: " in said), (2, True), said)
        self.write("b.arrow", "nothing of the kind")
        code, said = self.convert(self.path("b.arrow"))
        self.assertEqual((code, "b.arrow: " in said), (2, True), said)

    def test_a_stream_that_ends_between_batches_is_not_whole(self):
        for legacy in (False, True):
            options = pyarrow.ipc.IpcWriteOptions(use_legacy_format=legacy)
            path = self.path(f"{legacy}.arrow")
            with pyarrow.OSFile(path, "wb") as file:
                writer = pyarrow.ipc.new_stream(file, self.table().schema, options=options)
                writer.write_table(self.table())
                whole = file.tell()
                writer.close()
            self.assertEqual(self.convert(path)[0], 0)
            with open(path, "r+b") as file:
                file.truncate(whole)
            code, said = self.convert(path)
            self.assertEqual((code, "no mark of its end: the file is cut off" in said), (2, True), said)


if __name__ == "__main__":
    unittest.main()
