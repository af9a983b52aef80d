"""read_store() and what it returns: the rows of a store as dicts, read with Python's own sqlite3."""

import json
import os
import pathlib
import sqlite3

APPLICATION_ID = 0x71667331  # "qfs1" in the file's header
SCHEMA_VERSION = 1
OLDEST_SQLITE = (3, 37, 0)  # that knows STRICT tables

_RUNS = """SELECT sweep_id, name, created_at,
  row_number() OVER (ORDER BY rowid) AS number FROM sweep ORDER BY used DESC"""

_PLACES = """
SELECT s.position, s.label, s.params, c.cell_id, c.method, c.oracle, c.seed, c.expected,
       d.name AS dataset, d.split, d.dataset_id, r.result_id, r.numerics_id
FROM sweep_cell s JOIN cell c USING (cell_id) JOIN dataset d USING (dataset_id)
LEFT JOIN sweep_result u ON u.sweep_id = s.sweep_id AND u.position = s.position AND u.kind = 'predict'
LEFT JOIN result r ON r.result_id = u.result_id
WHERE s.sweep_id = ? ORDER BY s.position"""

_STATE = """
SELECT (SELECT count(*) FROM output WHERE result_id = :result) AS done, a.state, a.failure_kind, a.failure_text
FROM (SELECT 1) LEFT JOIN attempt a ON a.attempt_id = (SELECT max(attempt_id) FROM attempt WHERE result_id = :result)"""

_OUTPUTS = """
SELECT e.ordinal, e.example_key, e.document_id, e.query_sha256, e.reference_sha256s, o.text, o.finish,
       o.tokens_in, o.tokens_out, o.truncation
FROM output o JOIN example e ON e.dataset_id = ? AND e.ordinal = o.ordinal
WHERE o.result_id = ? ORDER BY o.ordinal"""


class StoreError(Exception):
    """The file is no store, one of a version that this package does not read, or a damaged one; or there is no such run."""


class Rows:
    """Dicts, read anew each time they are iterated, so that a large store needs no memory."""

    def __init__(self, read):
        self._read = read

    def __iter__(self):
        return self._read()

    def to_pandas(self):
        """A DataFrame; dicts inside of rows become columns such as params.rank and scores.rouge.rouge1.f."""
        try:
            import pandas
        except ImportError as error:
            raise ImportError("to_pandas() needs pandas: python3 -m pip install pandas") from error
        return pandas.DataFrame([flat(row) for row in self])


def flat(row, prefix=""):
    """The row with the members of dicts in it, under "outer.inner"."""
    values = {}
    for name, value in row.items():
        if isinstance(value, dict):
            values.update(flat(value, f"{prefix}{name}."))
        else:
            values[prefix + name] = value
    return values


class Store:
    """A run of a store: `run` is its row in `runs`; close() it, or use it in a with statement.

    cells: a row a cell: run, sweep, position, cell_id, numerics_id, method, label, oracle, dataset, split, seed, params,
      status (complete, incomplete, failed, not_started), done, expected, and for failed ones failure, message.
    scores: a row a score: what names its cell, and metric, signature, column, value, low, high (None without an
      interval), n, clusters. Values are as the metric defines them (ROUGE's in 0..1, tables print them times 100), unrounded;
      a corpus metric's counts ("bleu#match1") are among them. Two metrics may have columns of one name.
    examples: a row an output: what names its cell, and example, ordinal, cluster, query, references (None where the
      store keeps hashes only), prediction, finish, tokens_in, tokens_out, scores (metric -> column -> value; of two
      jobs of one metric by signature).
    """

    def __init__(self, connection, path, run):
        self._db = connection
        self.path = path
        self.runs = [dict(row) for row in self._all(_RUNS)]
        for row in self.runs:
            row["sweep"] = row.pop("name")
        self.run = self._chosen(run)
        self.cells = Rows(self._cells)
        self.scores = Rows(self._scores)
        self.examples = Rows(self._examples)

    def close(self):
        self._db.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _all(self, query, *values):
        """The rows of a query, as they are read."""
        try:
            yield from self._db.execute(query, *values)
        except sqlite3.DatabaseError as error:
            raise StoreError(f"{self.path}: {error}") from error

    def _one(self, query, *values):
        return next(self._all(query, *values), None)

    def _json(self, text, kind, what):
        """What the program wrote as JSON."""
        try:
            value = json.loads(text)
        except ValueError as error:
            raise StoreError(f"{self.path}: {what}: {error}; the store is damaged") from None
        if not isinstance(value, kind):
            raise StoreError(f"{self.path}: {what} is no {kind.__name__}; the store is damaged")
        return value

    def _chosen(self, run):
        """By name (the latest of them), number, or the beginning of its id, as --run of the program."""
        if not self.runs:
            raise StoreError(f"{self.path}: the store has no run")
        if run is None or run == "latest":
            return self.runs[0]
        text = str(run)
        for fits in (lambda row: row["sweep"] == text, lambda row: str(row["number"]) == text,
                     lambda row: len(text) >= 4 and row["sweep_id"].startswith(text)):
            matches = [row for row in self.runs if fits(row)]
            if matches:
                return matches[0]
        known = ", ".join(sorted({row["sweep"] for row in self.runs}))
        raise StoreError(f"{self.path}: the store has no run '{text}'; there are {known}")

    def _places(self):
        """Rows of cells and what else is read by them."""
        for place in list(self._all(_PLACES, (self.run["sweep_id"],))):
            params = self._json(place["params"], dict, f"the parameters of cell {place['cell_id']}")
            seed = int(params.pop("shown-seed", place["seed"]))
            yield place, {"run": self.run["number"], "sweep": self.run["sweep"], "position": place["position"],
                          "cell_id": place["cell_id"], "numerics_id": place["numerics_id"],
                          "method": place["method"], "label": place["label"], "oracle": bool(place["oracle"]),
                          "dataset": place["dataset"], "split": place["split"], "seed": seed, "params": params}

    def _cells(self):
        for place, row in self._places():
            state = self._one(_STATE, {"result": place["result_id"]})
            row.update(status="not_started", done=state["done"], expected=place["expected"])
            if state["done"] >= place["expected"]:
                row["status"] = "complete"
            elif state["state"] == "failed":
                row.update(status="failed", failure=state["failure_kind"], message=state["failure_text"])
            elif state["state"] is not None or state["done"] > 0:
                row["status"] = "incomplete"
            yield row

    def _jobs(self, result):
        return list(self._all("SELECT * FROM score_job WHERE result_id = ? ORDER BY metric, signature", (result,)))

    def _scores(self):
        for place, row in self._places():
            for job in self._jobs(place["result_id"]):
                named = {"metric": job["metric"], "signature": job["signature"], "n": job["n"],
                         "clusters": job["clusters"]}
                for score in self._all("SELECT * FROM score WHERE score_job_id = ? ORDER BY position",
                                       (job["score_job_id"],)):
                    yield {**row, **named, "column": score["name"], "value": score["value"], "low": score["low"],
                           "high": score["high"]}

    def _text(self, sha256):
        found = self._one("SELECT body FROM text WHERE sha256 = ?", (sha256,))
        return found["body"] if found else None

    def _values(self, result):
        """The scores of examples: ordinal -> metric -> column -> value."""
        jobs = self._jobs(result)
        values = {}
        for job in jobs:
            several = sum(other["metric"] == job["metric"] for other in jobs) > 1
            name = job["signature" if several else "metric"]
            columns = self._json(job["columns"], list, f"the columns of '{job['signature']}'")
            for row in self._all('SELECT ordinal, "values" FROM statistic WHERE score_job_id = ?',
                                 (job["score_job_id"],)):
                values.setdefault(row["ordinal"], {})[name] = dict(zip(columns, map(float, self._json(row["values"], list, f"the values of '{job['signature']}'"))))
        return values

    def _examples(self):
        for place, row in self._places():
            values = self._values(place["result_id"])
            for output in self._all(_OUTPUTS, (place["dataset_id"], place["result_id"])):
                digests = self._json(output["reference_sha256s"], list, f"the references of '{output['example_key']}'")
                references = [self._text(digest) for digest in digests]
                yield {**row, "example": output["example_key"], "ordinal": output["ordinal"],
                       "cluster": output["document_id"], "query": self._text(output["query_sha256"]),
                       "references": None if None in references else references, "prediction": output["text"],
                       "finish": output["finish"], "tokens_in": output["tokens_in"],
                       "tokens_out": output["tokens_out"], "scores": values.get(output["ordinal"], {})}


def _opened(path):
    """Read-only. A store in a folder that cannot be written is opened as unchanging, if nothing waits in its log."""
    address = pathlib.Path(path).absolute().as_uri()
    connection = sqlite3.connect(f"{address}?mode=ro", uri=True)
    try:
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.OperationalError:
        log = f"{path}-wal"
        connection.close()
        if os.path.exists(log) and os.path.getsize(log) > 0:
            raise
        connection = sqlite3.connect(f"{address}?mode=ro&immutable=1", uri=True)
    return connection


def read_store(path, run=None):
    """Opens a store read-only; see Store for what it has.

    run: which of its runs, as `--run` of the program takes it (default: the latest).

    Raises FileNotFoundError, and StoreError for what is no store or one of another schema version.
    """
    path = os.fspath(path)
    if not os.path.exists(path):
        raise FileNotFoundError(f"there is no store '{path}'")
    if not os.path.isfile(path) or os.path.getsize(path) == 0:
        raise StoreError(f"{path}: not a qfs-bench store: {'an empty file' if os.path.isfile(path) else 'no file'}")
    if sqlite3.sqlite_version_info < OLDEST_SQLITE:
        raise StoreError(f"{path}: this Python has SQLite {sqlite3.sqlite_version}, and stores need 3.37; "
                         "`qfs-bench export --flat jsonl` writes the same rows")
    try:
        connection = _opened(path)
        connection.row_factory = sqlite3.Row
        connection.executescript("PRAGMA query_only = ON; PRAGMA trusted_schema = OFF")
        application = connection.execute("PRAGMA application_id").fetchone()[0]
        version = connection.execute("PRAGMA user_version").fetchone()[0]
    except sqlite3.DatabaseError as error:
        raise StoreError(f"{path}: {error}") from error
    if application != APPLICATION_ID:
        connection.close()
        raise StoreError(f"{path}: not a qfs-bench store: an SQLite database of another program")
    if version != SCHEMA_VERSION:
        connection.close()
        raise StoreError(f"{path}: the store has schema version {version}, and this package reads {SCHEMA_VERSION}; "
                         "use the package of the qfs-bench that wrote it")
    try:
        return Store(connection, path, run)
    except StoreError:
        connection.close()
        raise
