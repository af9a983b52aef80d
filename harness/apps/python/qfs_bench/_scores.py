"""score() and what it returns."""

from collections.abc import Mapping, Sequence

from . import _native


class _Columns(Mapping):
    """Values by column name, read from the native scores when asked for."""

    def __init__(self, names, read):
        self._index = {name: i for i, name in enumerate(names)}
        self._read = read

    def __getitem__(self, name):
        if name not in self._index:
            raise KeyError(f"no column '{name}'; there are {', '.join(self._index)}")
        return self._read(self._index[name])

    def __iter__(self):
        return iter(self._index)

    def __len__(self):
        return len(self._index)

    def __repr__(self):
        return repr(dict(self))


class Scores(Mapping):
    """Corpus values by column, e.g. scores["rouge1.f"], in 0..1 and unrounded.

    per_item: per column the list of the items' values, in the order of the predictions.
    intervals: per column (low, high), or None with fewer than ten clusters or without resampling.
    signature, short_signature: what made the digits. notes: what a reader has to know about them.
    """

    def __init__(self, native):
        self._values = _Columns(native.columns, native.value)
        self.name = native.name
        self.per_item = _Columns(native.columns, native.items)
        self.intervals = _Columns(native.columns, native.interval)
        self.signature = native.signature
        self.short_signature = native.short_signature
        self.notes = native.notes

    def __getitem__(self, column):
        return self._values[column]

    def __iter__(self):
        return iter(self._values)

    def __len__(self):
        return len(self._values)

    def __repr__(self):
        values = ", ".join(f"{name}={value:.4f}" for name, value in self._values.items())
        return f"<Scores {values} [{self.short_signature}]>"


def profiles():
    """Names that score() takes as `profile`; `qfs-bench list metrics` describes them."""
    return _native.metric_names()


def _texts(values, count, name):
    if values is None:
        return []
    values = _sequence(values, name)
    if len(values) != count:
        raise _native.Error(f"{name} has {len(values)} entries, predictions has {count}")
    return values


def _sequence(values, name):
    if isinstance(values, (str, bytes)) or not isinstance(values, Sequence):
        values = None if isinstance(values, (str, bytes, Mapping)) else _listed(values)
        if values is None:
            raise TypeError(f"{name} must be a list of texts")
    return list(values)


def _listed(values):
    try:
        return list(values)
    except TypeError:
        return None


def score(predictions, references=None, profile="rouge_score", *, documents=None, queries=None,
          clusters=None, language="", resamples=10000, threads=0):
    """Scores texts; see Scores for what comes back.

    predictions: texts. references: for each, a text or a list of texts; None for a metric that reads none.
    profile: a metric as in a sweep file, with options: "rouge_score", "squality", "rouge:stem=off,multi=first".
    documents, queries: a text for each prediction, where the metric reads them.
    clusters: a name for each prediction, e.g. its document; intervals resample whole clusters.
    resamples: 0 leaves intervals out. threads: 0 is one a core; no value depends on it.

    Raises Error (a ValueError) for unequal lengths, unknown profiles and texts that cannot be scored.
    """
    predictions = _sequence(predictions, "predictions")
    if not predictions:
        raise _native.Error("predictions is empty; there is nothing to score")
    if references is None:
        references = [[] for _ in predictions]
    references = _texts(references, len(predictions), "references")
    references = [[r] if isinstance(r, str) else list(r) for r in references]
    return Scores(_native.Scores(
        profile, predictions, references, _texts(documents, len(predictions), "documents"),
        _texts(queries, len(predictions), "queries"), _texts(clusters, len(predictions), "clusters"),
        language, "item" if clusters is None else "cluster", resamples, threads))
