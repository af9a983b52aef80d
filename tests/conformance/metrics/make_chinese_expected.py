#!/usr/bin/env python3
"""Writes chinese_expected.json: what jieba, rouge and rouge-chinese give, for the conformance tests.

Needs: jieba 0.42.1, rouge 1.0.1, rouge-chinese 1.0.3 (PyPI). Other versions are refused.
Usage: make_chinese_expected.py SHARED_DATA_DIR   (the folder that holds vcsum/, csl/ and squality/)
Regenerating must give an empty diff. Texts of the data sets are not written, only digests and counts.

Random texts come from SplitMix64 (Steele, Lea & Flood 2014) over the pieces of chinese_texts.json;
chinese_texts.h makes the same ones in C++, and a digest of all texts proves it. The packages' texts of
LongBench follow its metrics.py: the average of one pair, for Chinese over jieba's words, ROUGE-L's F,
the best answer. Python's recursion limit, over which rouge 1.0.1 raises, is lifted.
"""

import hashlib
import importlib.metadata
import json
import logging
import pathlib
import struct
import sys
import tempfile
import threading

import jieba
from jieba import finalseg
from rouge import Rouge
from rouge_chinese import Rouge as RougeChinese

PINNED = {"jieba": "0.42.1", "rouge": "1.0.1", "rouge_chinese": "1.0.3"}
HERE = pathlib.Path(__file__).resolve().parent
TEXTS = json.loads((HERE / "chinese_texts.json").read_text(encoding="utf-8"))
MASK = (1 << 64) - 1
BLOCK = 100
RANDOM_TEXTS = 3000
RANDOM_PAIRS = 6000


class SplitMix64:
    def __init__(self, seed):
        self.state = seed

    def next(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return z ^ (z >> 31)

    def below(self, bound):
        return self.next() % bound


def random_text(rng):
    """Few different pieces half of the time, so that words repeat."""
    kinds = [8, 24, len(TEXTS["pieces"])][rng.below(3)]
    first = rng.below(len(TEXTS["pieces"]))
    text = ""
    for _ in range(rng.below(40)):
        text += TEXTS["pieces"][(first + rng.below(kinds)) % len(TEXTS["pieces"])]
        text += TEXTS["separators"][rng.below(len(TEXTS["separators"]))]
    return text


def sha(data):
    return hashlib.sha256(data).hexdigest()[:16]


def words_digest(texts, cut):
    return sha("".join("\x1f".join(cut(text)) + "\x1e" for text in texts).encode())


def blocks(items, digest):
    return [digest(items[i:i + BLOCK]) for i in range(0, len(items), BLOCK)]


def cuts(texts, tokenizer):
    return {"hmm": blocks(texts, lambda b: words_digest(b, lambda t: tokenizer.cut(t))),
            "no_hmm": blocks(texts, lambda b: words_digest(b, lambda t: tokenizer.cut(t, HMM=False)))}


def row(scores):
    """p, r, f of ROUGE-1, -2, -L; an exception of the package is a row of -1."""
    return [scores[m][s] for m in ("rouge-1", "rouge-2", "rouge-l") for s in "prf"]


def score(package, candidate, reference, avg):
    try:
        scores = package.get_scores([candidate], [reference], avg=avg)
    except ValueError:
        return [-1.0] * 9
    return row(scores if avg else scores[0])


def rows_digest(rows):
    return sha(b"".join(struct.pack("<%dd" % len(r), *r) for r in rows))


def pair_values(package, pairs):
    rows = [score(package, candidate, reference, avg=False) for candidate, reference in pairs]
    assert rows == [score(package, candidate, reference, avg=True) for candidate, reference in pairs]
    return rows


def mini_tokenizer():
    """jieba with the dictionary and the tables of chinese_texts.json."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8", delete=False) as file:
        file.write(TEXTS["dictionary"])
    tokenizer = jieba.Tokenizer(file.name)
    tokenizer.cache_file = file.name + ".cache"
    tokenizer.initialize()
    tables = {}
    for name in ("prob_start", "prob_trans", "prob_emit"):
        scope = {}
        exec(TEXTS[name], scope)  # noqa: S102 - our own file
        tables[name] = scope["P"]
    return tokenizer, tables


def strings(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from strings(item)
    elif isinstance(value, dict):
        for key in sorted(value):
            yield from strings(value[key])


def real_texts(folder):
    """File name -> list of instances, each a list of texts."""
    instances = {}
    for path in sorted((folder / "vcsum/vcsum_data").glob("*.txt")):
        lines = path.read_text(encoding="utf-8").splitlines()
        instances["vcsum/vcsum_data/" + path.name] = [list(strings(json.loads(line))) for line in lines]
    name = "csl/benchmark/ts/test.first300.tsv"
    instances[name] = [line.split("\t") for line in
                       (folder / name).read_text(encoding="utf-8").rstrip("\n").split("\n")]
    return instances


def segmented(text):
    return " ".join(jieba.cut(text))


def longbench(candidate, answers, chinese):
    best = 0.0
    for answer in answers:
        pair = (segmented(candidate), segmented(answer)) if chinese else (candidate, answer)
        try:
            best = max(best, Rouge().get_scores([pair[0]], [pair[1]], avg=True)["rouge-l"]["f"])
        except ValueError:
            pass
    return best


def real_scores(folder):
    """Each text against the next one: titles of CSL (Chinese), responses of SQuALITY (English)."""
    titles = [instance[2] for instance in real_texts(folder)["csl/benchmark/ts/test.first300.tsv"]]
    summaries = [json.loads(line)["discussion"] for line in
                 (folder / "vcsum/vcsum_data/short_dev.txt").read_text(encoding="utf-8").splitlines()]
    chinese = list(zip(titles, titles[1:])) + list(zip(summaries, summaries[1:]))
    cut = [(segmented(a), segmented(b)) for a, b in chinese]
    english = []
    for line in (folder / "squality/data/v1-3/txt/dev.jsonl").read_text(encoding="utf-8").splitlines():
        for question in json.loads(line)["questions"]:
            texts = [response["response_text"] for response in question["responses"]]
            english.append((texts[0], texts[1:]))
    rows = {"chinese": pair_values(RougeChinese(), cut),
            "pltrdy": pair_values(Rouge(), [(text, others[0]) for text, others in english]),
            "longbench_zh": [[longbench(a, [b], True)] for a, b in chinese],
            "longbench_en": [[longbench(text, others, False)] for text, others in english]}
    return {name: {"count": len(r), "digest": rows_digest(r), "mean": sum(v[-1] for v in r) / len(r)}
            for name, r in rows.items()}


def main(folder):
    rng = SplitMix64(24)
    texts = [random_text(rng) for _ in range(RANDOM_TEXTS)]
    rng = SplitMix64(10)
    pairs = [(random_text(rng), random_text(rng)) for _ in range(RANDOM_PAIRS)]
    sentences = TEXTS["sentences"]
    expected = {
        "needs": PINNED,
        "texts": sha("\x1e".join(texts + [t for pair in pairs for t in pair]).encode()),
        "jieba": {
            "sentences": {"hmm": ["/".join(jieba.cut(s)) for s in sentences],
                          "no_hmm": ["/".join(jieba.cut(s, HMM=False)) for s in sentences]},
            "random": cuts(texts, jieba.dt),
            "real": {name: {"texts": sum(map(len, instances)),
                            "words": sum(len(jieba.lcut(t)) for i in instances for t in i),
                            "digests": blocks(instances, lambda b: words_digest(
                                [t for i in b for t in i], jieba.cut))}
                     for name, instances in real_texts(folder).items()},
        },
        "real_scores": real_scores(folder),
    }
    for name, package in (("pltrdy", Rouge()), ("rouge_chinese", RougeChinese())):
        rows = pair_values(package, pairs)
        expected[name] = {"digests": blocks(rows, rows_digest), "first": rows[:40],
                          "raises": sum(r[0] < 0 for r in rows)}
    # Last: it replaces jieba's tables.
    tokenizer, tables = mini_tokenizer()
    finalseg.start_P, finalseg.trans_P, finalseg.emit_P = (
        tables["prob_start"], tables["prob_trans"], tables["prob_emit"])
    expected["mini_jieba"] = cuts(texts + sentences, tokenizer)
    (HERE / "chinese_expected.json").write_text(
        json.dumps(expected, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    for package, version in PINNED.items():
        if importlib.metadata.version(package.replace("_", "-")) != version:
            sys.exit(f"{package} {version} is needed, found {importlib.metadata.version(package)}")
    jieba.setLogLevel(logging.ERROR)
    sys.setrecursionlimit(1 << 20)
    threading.stack_size(1 << 29)
    thread = threading.Thread(target=main, args=(pathlib.Path(sys.argv[1]),))
    thread.start()
    thread.join()
