#!/usr/bin/env python3
"""Writes surface_expected.json: coverage, density, compression, novel and repeated n-grams by SummEval.

Needs: summ-eval 0.892 (PyPI; its dependencies are not needed: pip install --no-deps). It carries the
Fragments class of the package newsroom, which is not on PyPI itself. Another version is refused. Texts are
handed over with tokenize=False, so that spaCy and gin, which it imports, are replaced by empty modules.
Usage: make_surface_expected.py SHARED_DATA_DIR   (the folder that holds squality/)
Regenerating must give an empty diff. Texts of the data set are not written, only numbers.

A row has: coverage, density, compression of lower-cased words (case=False); the same with case kept; the
shares of novel n-grams, n = 1 to 4, and of repeated ones (case kept, as DataStatsMetric counts them; a
missing value, where there is no n-gram, is 0). Words are Python's str.split().
"""

import hashlib
import importlib.metadata
import json
import pathlib
import struct
import sys
import types

from make_texts import SplitMix64, random_pair

PINNED = "0.892"
HERE = pathlib.Path(__file__).resolve().parent
SEED, COUNT, FIRST, BLOCK = 20261121, 3000, 40, 100


def stand_in(name, **members):
    module = types.ModuleType(name)
    module.__dict__.update(members)
    sys.modules[name] = module


stand_in("spacy", load=lambda name: None)
stand_in("gin", configurable=lambda function: function)
from summ_eval.data_stats_metric import DataStatsMetric  # noqa: E402


def row(summary, document):
    lower, kept = (DataStatsMetric(n_gram=4, case=case, tokenize=False).evaluate_example(summary, document)
                   for case in (False, True))
    fragments = ["coverage", "density", "compression"]
    shares = [f"percentage_novel_{n}-gram" for n in range(1, 5)]
    shares += [f"percentage_repeated_{n}-gram_in_summ" for n in range(1, 5)]
    return [float(v) for v in [lower[f] for f in fragments] + [kept[f] for f in fragments] +
            [kept.get(s, 0) for s in shares]]


def digest(rows):
    return hashlib.sha256(b"".join(struct.pack("<14d", *r) for r in rows)).hexdigest()[:16]


def blocks(rows):
    return [digest(rows[i:i + BLOCK]) for i in range(0, len(rows), BLOCK)]


def random_rows():
    """Both texts have words, as the metric asks of documents; an empty prediction is tested apart."""
    rng = SplitMix64(SEED)
    rows = []
    while len(rows) < COUNT:
        document, summary = random_pair(rng)
        if document.split():
            rows.append(row(summary, document))
    return rows


def squality_rows(shared):
    """Every response of the dev split against its story."""
    rows = []
    with open(shared / "squality/data/v1-3/txt/dev.jsonl", encoding="utf-8") as file:
        for story in map(json.loads, file):
            for question in story["questions"][:1]:
                rows += [row(r["response_text"], story["document"]) for r in question["responses"]]
    return rows


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    found = importlib.metadata.version("summ-eval")
    if found != PINNED:
        sys.exit(f"summ-eval is {found}, expected {PINNED}")
    rows = random_rows()
    real = squality_rows(pathlib.Path(sys.argv[1]))
    value = {"pinned": {"summ-eval": PINNED}, "seed": SEED, "count": COUNT, "first": rows[:FIRST],
             "digests": blocks(rows),
             "squality": {"count": len(real), "means": [sum(c) / len(real) for c in zip(*real)],
                          "digests": blocks(real)}}
    (HERE / "surface_expected.json").write_text(json.dumps(value, indent=0, sort_keys=True) + "\n",
                                                encoding="utf-8")


if __name__ == "__main__":
    main()
