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


def _cache_home():
    cache = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(os.environ.get("HF_HOME") or pathlib.Path(cache) / "huggingface")


def _snake_case(name):
    """As the `datasets` library names folders: "SQuALITYv1" is "s_qu_alit_yv1"."""
    name = re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1_\2", name)
    return re.sub(r"([a-z\d])([A-Z])", r"\1_\2", name).lower()


def cache_folders(name, revision="main"):
    """The folders of a data set, "org/name", in the Hugging Face cache: the Hub's snapshot of the revision (a branch
    that was downloaded, or a commit), then what the `datasets` library has prepared. Empty: it is not there."""
    if not re.fullmatch(r"[\w.-]+(/[\w.-]+)?", name) or not re.fullmatch(r"[\w./-]+", revision) or ".." in name + revision:
        raise RecordsError(f"'hf:{name}': expected hf:org/name or hf:org/name@revision")
    home = _cache_home()
    folders = []
    hub = pathlib.Path(os.environ.get("HF_HUB_CACHE") or home / "hub") / ("datasets--" + name.replace("/", "--"))
    reference = hub / "refs" / revision
    commit = reference.read_text(encoding="utf-8").strip() if reference.is_file() else revision
    if (hub / "snapshots" / commit).is_dir():
        folders.append(hub / "snapshots" / commit)
    prepared = pathlib.Path(os.environ.get("HF_DATASETS_CACHE") or home / "datasets")
    organisation, _, last = name.rpartition("/")
    for spelled in dict.fromkeys((last, _snake_case(last))):
        folder = prepared / (organisation + "___" + spelled if organisation else spelled)
        if folder.is_dir() and revision == "main":
            folders.append(folder)
    return folders


def _split_of(path):
    """The split that a file's name says, or else its folder: of "test-00000-of-00002", "test", "name-test" and
    "name-test-00000-of-00002" test, of "test/0000" too."""
    stem = re.sub(r"-\d{5}-of-\d{5}$", "", path.stem)
    if re.fullmatch(r"\d+", stem):
        return path.parent.name
    return stem.rpartition("-")[2]


def _check_parts(source, files):
    """RecordsError for "test-00000-of-00003" and its like where one of the three is not there."""
    parts = {}
    for path in files:
        part = re.fullmatch(r"(.*)-(\d{5})-of-(\d{5})", path.stem)
        if part:
            parts.setdefault((path.parent, part[1], part[3], path.suffix), set()).add(int(part[2]))
    for (folder, stem, of, suffix), there in parts.items():
        missing = [f"{stem}-{number:05}-of-{of}{suffix}" for number in range(int(of)) if number not in there]
        if missing:
            more = f" and {len(missing) - 3} others" if len(missing) > 3 else ""
            raise RecordsError(f"{source}: only {len(there)} of the {int(of)} files of '{stem}' are in {folder}: "
                               f"{', '.join(missing[:3])}{more} are missing; name files to read them alone")


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
    for folder in folders:
        files = [path for path in sorted(folder.rglob("*"))
                 if path.suffix in ENDINGS and path.is_file() and not path.name.startswith("cache-")
                 and (split is None or _split_of(path) == split)]
        # Configurations, languages, builds: rows of different kinds, unless somebody names the folder.
        parents = sorted({str(path.parent.relative_to(folder)) for path in files})
        if len(parents) > 1:
            raise RecordsError(f"{source}: files in several folders ({', '.join(parents)}); name one of them, below {folder}")
        splits = sorted({_split_of(path) for path in files})
        if len(splits) > 1:
            raise RecordsError(f"{source}: files of several splits ({', '.join(splits)}); --split chooses one")
        if files:
            _check_parts(source, files)
            return files
    wanted = f" of split '{split}'" if split else ""
    raise RecordsError(f"{source}: no .parquet or .arrow file{wanted}")


def _chosen(path, schema, columns):
    names = schema.names
    for name in columns or ():
        if name not in names:
            raise RecordsError(f"{path}: no column '{name}' (has {', '.join(names)})")
    for name in columns or names:
        if names.count(name) > 1:
            raise RecordsError(f"{path}: there are {names.count(name)} columns '{name}'")
    return list(columns or names)


def _whole_stream(path, stream, source):
    """The batches of a stream that has the mark of its end: pyarrow takes the end of a file for it."""
    yield from stream
    end = source.tell()
    source.seek(0)
    continuation = b"\xff\xff\xff\xff"
    mark = (continuation if source.read(4) == continuation else b"") + bytes(4)  # before 2019 without
    source.seek(max(0, end - len(mark)))
    if source.read(len(mark)) != mark:
        raise RecordsError(f"{path}: the stream has no mark of its end: the file is cut off")


def _batches(path, columns):
    """The batches of a file with the chosen columns alone."""
    pyarrow = _pyarrow()
    try:
        if path.suffix == ".parquet":
            file = pyarrow.parquet.ParquetFile(path)
            yield from file.iter_batches(1024, columns=_chosen(path, file.schema_arrow, columns))
            return
        with pyarrow.memory_map(str(path)) as source:
            try:
                stream = pyarrow.ipc.open_stream(source)  # as the `datasets` library writes
                batches, schema = _whole_stream(path, stream, source), stream.schema
            except pyarrow.ArrowInvalid:
                source.seek(0)
                file = pyarrow.ipc.open_file(source)
                batches, schema = (file.get_batch(i) for i in range(file.num_record_batches)), file.schema
            chosen = _chosen(path, schema, columns)
            for batch in batches:
                yield batch.select(chosen)
    except (pyarrow.ArrowException, OSError) as error:
        raise RecordsError(f"{path}: {error}") from None


def _values(path, batch, name, before):
    """A column's values as Python has them."""
    try:
        return batch.column(name).to_pylist()
    except (ValueError, OverflowError) as error:  # UnicodeDecodeError is a ValueError
        raise RecordsError(f"{path}: column '{name}' behind row {before}: {error}; --columns leaves it out") from None


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
            before = 0
            for batch in _batches(path, columns):
                names = columns or batch.schema.names
                values = [_values(path, batch, name, before) for name in names]
                for number, row in enumerate(zip(*values), before + 1):
                    record = {}
                    for name, value in zip(names, row):
                        try:
                            record[name] = _json_value(value)
                        except TypeError as error:
                            raise RecordsError(f"{path}: row {number}, column '{name}': {error}; "
                                               f"--columns leaves it out") from None
                    yield record
                before += batch.num_rows


def write(sources, output, split=None, columns=None):
    """Writes the rows to a file, whole or not at all; the number of them."""
    if os.path.exists(output) and not os.path.isfile(output):
        raise RecordsError(f"{output}: not a file")
    for source in sources:
        for path in files_of(source, split):
            if os.path.exists(output) and os.path.samefile(path, output):
                raise RecordsError(f"{output} is also read, and would be lost")
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
            os.replace(file.name, os.path.realpath(output))
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
