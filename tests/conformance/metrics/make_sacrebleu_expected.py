#!/usr/bin/env python3
"""Writes sacrebleu_expected.json: BLEU and chrF by sacreBLEU, sentence by sentence and for corpora.

Needs: sacrebleu 2.6.0 (PyPI). Another version is refused.
Usage: make_sacrebleu_expected.py SHARED_DATA_DIR   (the folder that holds squality/)
Regenerating must give an empty diff. Texts of the data set are not written, only numbers.

A corpus has candidates with one to three references: random texts (Unicode, CJK, empty; make_texts.py) with
as many references each, with varying numbers of them, and SQuALITY's responses, each against the others of
its question. Per configuration: a digest of the sufficient statistics of every hundred items, the first
sentence scores (sentence_score), the corpus score and the line that sacreBLEU prints.
"""

import hashlib
import importlib.metadata
import json
import logging
import pathlib
import struct
import sys

from make_texts import SplitMix64, random_text
from sacrebleu.metrics import BLEU, CHRF

PINNED = "2.6.0"
HERE = pathlib.Path(__file__).resolve().parent
PIECES = json.loads((HERE / "chinese_texts.json").read_text(encoding="utf-8"))["pieces"]
SEED, COUNT, BLOCK, FIRST = 20261122, 1000, 100, 20

BLEUS = {
    "bleu": {}, "bleu:lowercase=on": {"lowercase": True}, "bleu:effective_order=on": {"effective_order": True},
    "bleu:tokenize=zh": {"tokenize": "zh"}, "bleu:tokenize=char": {"tokenize": "char"},
    "bleu:tokenize=intl": {"tokenize": "intl"}, "bleu:tokenize=none": {"tokenize": "none"},
    "bleu:smooth=floor": {"smooth_method": "floor"},
    "bleu:smooth=floor,smooth_value=0.5": {"smooth_method": "floor", "smooth_value": 0.5},
    "bleu:smooth=add-k": {"smooth_method": "add-k"},
    "bleu:smooth=add-k,smooth_value=0.25,effective_order=on":
        {"smooth_method": "add-k", "smooth_value": 0.25, "effective_order": True},
    "bleu:smooth=none": {"smooth_method": "none"},
}
CHRFS = {
    "chrf": {}, "chrf++": {"word_order": 2}, "chrf:lowercase=on": {"lowercase": True},
    "chrf:whitespace=on": {"whitespace": True}, "chrf++:eps_smoothing=on": {"word_order": 2, "eps_smoothing": True},
    "chrf:char_order=3,word_order=1,beta=3": {"char_order": 3, "word_order": 1, "beta": 3},
}
SOME = ["bleu", "bleu:tokenize=intl", "chrf", "chrf++"]  # of the longer, real texts


def mixed_text(rng):
    """English, Chinese, or both; a newline, an entity and "<skipped>" now and then."""
    kind = rng.below(4)
    text = random_text(rng, [5, 20, 72][rng.below(3)]) if kind != 0 else ""
    if kind <= 1:
        text += "".join(PIECES[rng.below(len(PIECES))] for _ in range(rng.below(20)))
    odd = ["", "", "", " <skipped> &amp;lt; ", "well-\nknown &quot;x&quot;", " 3-4, 5.6 .", "\u2192\u2022 \u00a9",
           "¿qué? «no»"]
    return text + odd[rng.below(len(odd))]


def random_corpus(seed, vary):
    rng = SplitMix64(seed)
    items = []
    for _ in range(COUNT):
        candidate = mixed_text(rng)
        count = 1 + rng.below(3) if vary else 1
        references = []
        for _ in range(count):
            # Half of the references share the beginning of the candidate, so that long n-grams match.
            shared = candidate[:rng.below(len(candidate) + 1)] if rng.below(2) == 0 else ""
            references.append(shared + mixed_text(rng))
        items.append((candidate, references))
    return items


def squality(shared):
    items = []
    for split in ("train", "dev"):
        with open(shared / f"squality/data/v1-3/txt/{split}.jsonl", encoding="utf-8") as file:
            for story in map(json.loads, file):
                for question in story["questions"]:
                    texts = [r["response_text"] for r in question["responses"]]
                    items += [(t, texts[:i] + texts[i + 1:]) for i, t in enumerate(texts)]
    return items


def digest(rows):
    return hashlib.sha256(b"".join(struct.pack(f"<{len(r)}d", *r) for r in rows)).hexdigest()[:16]


def result(metric, items):
    most = max(len(references) for _, references in items)
    candidates = [candidate for candidate, _ in items]
    streams = [[references[i] if i < len(references) else None for _, references in items] for i in range(most)]
    statistics = [[float(v) for v in row] for row in metric._extract_corpus_statistics(candidates, streams)]
    score = metric.corpus_score(candidates, streams)
    signature = str(metric.get_signature())
    sentences = [metric.sentence_score(c, r).score for c, r in items[:FIRST]]
    return {"statistics": [digest(statistics[i:i + BLOCK]) for i in range(0, len(statistics), BLOCK)],
            "sentences": sentences, "corpus": score.score, "name": score.name, "signature": signature,
            "printed": score.format(width=4, score_only=True)}


def results(items, names):
    values = {name: result(BLEU(**options), items) for name, options in BLEUS.items() if name in names}
    values.update({name: result(CHRF(**options), items) for name, options in CHRFS.items() if name in names})
    return values


def text_digest(items):
    return hashlib.sha256("\x1e".join(c + "\x1f" + "\x1f".join(r) for c, r in items).encode()).hexdigest()


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    found = importlib.metadata.version("sacrebleu")
    if found != PINNED:
        sys.exit(f"sacrebleu is {found}, expected {PINNED}")
    logging.getLogger("sacrebleu").setLevel(logging.ERROR)
    corpora = {"one": random_corpus(SEED, False), "varying": random_corpus(SEED + 1, True),
               "squality": squality(pathlib.Path(sys.argv[1]))}
    value = {"pinned": {"sacrebleu": PINNED}, "seed": SEED,
             "corpora": {name: {"count": len(items), "texts": text_digest(items), "metrics": results(items, SOME if name == "squality" else {**BLEUS, **CHRFS})}
                         for name, items in corpora.items()}}
    (HERE / "sacrebleu_expected.json").write_text(json.dumps(value, indent=0, sort_keys=True) + "\n",
                                                  encoding="utf-8")


if __name__ == "__main__":
    main()
