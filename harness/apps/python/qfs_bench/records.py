"""Parquet and Arrow files, and what lies in the Hugging Face cache, as JSON lines that qfs-bench reads.

    python3 -m qfs_bench.records hf:org/name --split test -o test.jsonl
    python3 -m qfs_bench.records data/test-00000-of-00002.parquet data/test-00001-of-00002.parquet -o test.jsonl

Needs pyarrow, which qfs-bench itself does not; nothing is downloaded. Rows keep their order, files that of their
names; a row is an object of its columns, for the `fields` of a sweep to choose from.
"""

import argparse
import datetime
import decimal
import json
import math
import os
import pathlib
import re
import sys
import tempfile

ENDINGS = (".parquet", ".arrow")


class RecordsError(ValueError):
    """What cannot be read or written as JSON; says the file and, where there is one, the row and column."""


def _pyarrow():
    try:
        import pyarrow
        import pyarrow.ipc
        import pyarrow.parquet
    except ImportError as error:
        raise RecordsError(f"Parquet and Arrow are read by pyarrow (pip install pyarrow): {error}") from None
    return pyarrow


def cache_folders(name, revision="main"):
    """The folders of a data set, "org/name", in the Hugging Face cache: the Hub's snapshot of the revision (a branch
    that was downloaded, or a commit), else what the `datasets` library has prepared. Empty: it is not there."""
    home = pathlib.Path(os.environ.get("HF_HOME") or pathlib.Path.home() / ".cache" / "huggingface")
    hub = pathlib.Path(os.environ.get("HF_HUB_CACHE") or home / "hub") / ("datasets--" + name.replace("/", "--"))
    reference = hub / "refs" / revision
    commit = reference.read_text(encoding="utf-8").strip() if reference.is_file() else revision
    snapshot = hub / "snapshots" / commit
    if snapshot.is_dir():
        return [snapshot]
    prepared = pathlib.Path(os.environ.get("HF_DATASETS_CACHE") or home / "datasets") / name.replace("/", "___")
    return [prepared] if prepared.is_dir() and revision == "main" else []


def _of_split(path, split):
    """Whether a file's name, or a folder's above it, says the split: "test-00000-of-00001", "name-test", "test/0000"."""
    return re.search(rf"(^|[-_./]){re.escape(split)}([-_./]|$)", path) is not None


def files_of(source, split=None):
    """The files of one source: a file, a folder or "hf:org/name[@revision]"; of these, those of a split."""
    if source.startswith("hf:"):
        name, _, revision = source[3:].partition("@")
        folders = cache_folders(name, revision or "main")
        if not folders:
            raise RecordsError(f"{source}: not in the Hugging Face cache, and this program downloads nothing")
    else:
        if os.path.isfile(source):
            return [pathlib.Path(source)]
        folders = [pathlib.Path(source)]
    files = []
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            name = path.relative_to(folder).as_posix()
            if path.suffix in ENDINGS and path.is_file() and (split is None or _of_split(name, split)):
                files.append(path)
    if not files:
        wanted = f" of split '{split}'" if split else ""
        raise RecordsError(f"{source}: no .parquet or .arrow file{wanted}")
    return files


def _batches(path):
    pyarrow = _pyarrow()
    try:
        if path.suffix == ".parquet":
            yield from pyarrow.parquet.ParquetFile(path).iter_batches(1024)
            return
        with pyarrow.memory_map(str(path)) as source:
            try:
                yield from pyarrow.ipc.open_stream(source)  # as the `datasets` library writes
            except pyarrow.ArrowInvalid:
                source.seek(0)
                file = pyarrow.ipc.open_file(source)
                for index in range(file.num_record_batches):
                    yield file.get_batch(index)
    except (pyarrow.ArrowException, OSError) as error:
        raise RecordsError(f"{path}: {error}") from None


def _json_value(value):
    if isinstance(value, float) and not math.isfinite(value):
        raise TypeError("a number that JSON does not have")
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, decimal.Decimal):
        return str(value)
    if isinstance(value, dict):
        return {str(key): _json_value(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_json_value(one) for one in value]
    raise TypeError(f"a value of type {type(value).__name__}")


def rows(sources, split=None, columns=None):
    """Yields the rows of all sources as dicts. `columns`: these alone, in this order."""
    for source in sources:
        for path in files_of(source, split):
            number = 0
            for batch in _batches(path):
                names = batch.schema.names
                for name in columns or ():
                    if name not in names:
                        raise RecordsError(f"{path}: no column '{name}' (has {', '.join(names)})")
                for row in batch.to_pylist():
                    number += 1
                    record = {}
                    for name in columns or names:
                        try:
                            record[name] = _json_value(row[name])
                        except TypeError as error:
                            raise RecordsError(f"{path}: row {number}, column '{name}': {error}; "
                                               f"--columns leaves it out") from None
                    yield record


def write(sources, output, split=None, columns=None):
    """Writes the rows to a file, whole or not at all; the number of them."""
    count = 0
    folder = os.path.dirname(os.path.abspath(output))
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=folder, delete=False) as file:
        try:
            for record in rows(sources, split, columns):
                file.write(json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n")
                count += 1
            if count == 0:
                raise RecordsError(f"{', '.join(sources)}: no row")
            file.flush()
            os.fsync(file.fileno())
            os.chmod(file.name, 0o666 & ~_umask())
            os.replace(file.name, output)
        except BaseException:
            os.unlink(file.name)
            raise
    return count


def _umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="qfs_bench.records", description=__doc__.splitlines()[0])
    parser.add_argument("sources", nargs="+", metavar="SOURCE", help="a file, a folder, or hf:org/name[@revision]")
    parser.add_argument("-o", "--output", required=True, help="JSON lines")
    parser.add_argument("--split", help="of a folder or the cache, the files whose names say this split")
    parser.add_argument("--columns", help="these columns alone, separated by commas")
    options = parser.parse_args(arguments)
    try:
        count = write(options.sources, options.output, options.split, options.columns and options.columns.split(","))
    except (RecordsError, OSError) as error:
        print(f"qfs_bench.records: error: {error}", file=sys.stderr)
        return 2
    print(f"{options.output}: {count} records", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
