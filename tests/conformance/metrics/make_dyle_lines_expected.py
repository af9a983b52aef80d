#!/usr/bin/env python3
"""Writes digests of the lines that DYLE's release scores of a text to dyle_lines_expected.json.

Needs: nltk 3.6.2 (any other is refused), rouge_score 0.1.2 (imported by make_punkt_expected.py).
Usage: make_dyle_lines_expected.py SHARED_DATA_DIR PUNKT_TAB_ENGLISH
The lines are "\\n".join(sent_tokenize(" ".join(word_tokenize(text)))), with NLTKWordTokenizer and a
PunktSentenceTokenizer. Generated texts are those of make_punkt_expected.py with its small model; of real
texts (with the English model) only digests and counts are written.
"""

import json
import pathlib
import sys

import nltk
from nltk.tokenize.destructive import NLTKWordTokenizer
from nltk.tokenize.punkt import PunktSentenceTokenizer

import make_punkt_expected as punkt

HERE = pathlib.Path(__file__).resolve().parent
FILES = ["qmsum/data/ALL/jsonl/test.jsonl", "qmsum/data/ALL/jsonl/val.jsonl", "qmsum/extracted_span/test.txt"]
COUNT = 5000


def lines(text, splitter, words=NLTKWordTokenizer()):
    tokens = [token for sentence in splitter.tokenize(text) for token in words.tokenize(sentence)]
    return splitter.tokenize(" ".join(tokens))


def digest(texts, splitter):
    result = punkt.Digest()
    for text in texts:
        result.add(lines(text, splitter))
    return result.value()


def main():
    if len(sys.argv) != 3 or nltk.__version__ != "3.6.2":
        sys.exit(__doc__)
    shared, data = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    small = punkt.TEXTS["model"]
    splitter = PunktSentenceTokenizer(punkt.model(small["abbreviations"], small["collocations"],
                                                  small["sentence_starters"], small["orthography"]))
    texts = punkt.generated()[:COUNT]
    result = {"nltk": nltk.__version__, "block": punkt.BLOCK,
              "small": [digest(texts[i:i + punkt.BLOCK], splitter) for i in range(0, COUNT, punkt.BLOCK)],
              "first": [[text, "\n".join(lines(text, splitter))] for text in texts[:20]]}
    splitter = PunktSentenceTokenizer(punkt.english(data))
    result["english"] = {name: digest(punkt.texts_of(shared / name), splitter)
                         for name in FILES if (shared / name).exists()}
    path = HERE / "dyle_lines_expected.json"
    path.write_text(json.dumps(result, ensure_ascii=True, indent=0, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
