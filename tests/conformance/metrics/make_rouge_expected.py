#!/usr/bin/env python3
"""Writes the expected ROUGE values of tests/conformance/metrics from the reference implementation.

Pinned: rouge_score 0.1.2, nltk 3.10.4, Python 3.11, numpy 2.4.6. Other versions are refused.
Usage: make_rouge_expected.py SHARED_DATA_DIR   (the folder that holds squality/ and qmsum/)
Regenerating must give an empty diff. Texts of the data sets are not written, only numbers.

The random texts come from SplitMix64 (Steele, Lea & Flood 2014) and rouge_texts.json; random_texts.h
makes the same ones in C++, and a digest of all texts proves it.
"""

import hashlib
import importlib.metadata
import json
import pathlib
import struct
import sys

from nltk.stem.porter import PorterStemmer
from make_texts import TEXTS, SplitMix64, random_pair, random_text  # noqa: F401 (other scripts import them here)
from rouge_score import rouge_scorer, tokenize

PINNED = {"rouge_score": "0.1.2", "nltk": "3.10.4", "numpy": "2.4.6"}
VARIANTS = ["rouge1", "rouge2", "rougeL", "rougeLsum"]
HERE = pathlib.Path(__file__).resolve().parent


def random_word(rng):
    word = "".join(TEXTS["letters"][rng.below(len(TEXTS["letters"]))] for _ in range(1 + rng.below(6)))
    return word + TEXTS["suffixes"][rng.below(len(TEXTS["suffixes"]))]


def row(scores):
    return [float(value) for name in VARIANTS for value in scores[name]]


def digest(rows):
    return hashlib.sha256(b"".join(struct.pack("<12d", *r) for r in rows)).hexdigest()


def blocks(rows, size=100):
    return [digest(rows[i:i + size]) for i in range(0, len(rows), size)]


def scorer(stem):
    return rouge_scorer.RougeScorer(VARIANTS, use_stemmer=stem)


def write(name, value):
    lines = json.dumps(value, ensure_ascii=True, indent=0, sort_keys=True)
    (HERE / name).write_text(lines + "\n", encoding="utf-8")


def parity_cases():
    """Cases that tell implementations apart; (name, candidate, references)."""
    clusters = ["a b c d e f", ["f e d c b a", "a b c x y z u v", "a b c d"]]
    odd = "\U0001f469‍\U0001f680 e\u0301tude\u0000nul one\u2028two\u0085three\rfour"
    return [
        ("empty candidate", "", ["the cat sat"]),
        ("empty reference", "the cat sat", [""]),
        ("no tokens", "...!!! -- ?", ["Hello."]),
        ("both empty", "", [""]),
        ("accents separate", "The café's naïve résumé", ["the cafe s naive resume"]),
        ("lower-case surprises", "300 \u212A and \u0130stanbul", ["300 k and istanbul"]),
        ("hyphens", "state-of-the-art e-mail, well--known", ["state of the art e mail well known"]),
        ("underscores", "foo_bar snake_case_1", ["foo bar snake case 1"]),
        ("digits", "1,000.50 USD in 2019's 1980s", ["1000.50 usd in 2019 1980"]),
        ("full-width forms", "ＡＢＣ １２３ abc", ["ABC 123 abc"]),
        ("irregular stems", "dying skies news dies tied flies spied enjoyment generally",
         ["die sky new die tie fly spy enjoy general"]),
        ("step 4 stems", "argument element commissioner accidentally instrument",
         ["argue elementary commission accident instruments"]),
        ("no exception list", "better best left were made children feet offer",
         ["well good leave be make child foot off"]),
        ("three letters stay", "cats cat is was men", ["cat cats be be man"]),
        ("clipping", "the the the the", ["the cat the"]),
        ("tie rule", "a b c d e", ["b d a c e"]),
        ("union LCS", "w1 w2 w6 w7 w8\nw1 w3 w8 w9 w5", ["w1 w2 w3 w4 w5"]),
        ("blank lines", "x y\n\n \nz", ["x\ny z"]),
        ("blank lines, CRLF", "x y\r\n\r\n \r\nz\r\n", ["x\r\ny z"]),
        ("no sentence splitting", "Dr. Smith paid $3.5 million (approx.) to J. K. Rowling. \"Really?\" he asked.",
         ["Dr. Smith paid $3.5 million (approx.) to J. K. Rowling.\n\"Really?\" he asked."]),
        ("markup", "it was <unk> happy <q> a < b &lt; c", ["it was happy a b c"]),
        ("several references", *clusters),
        ("first of equal references", clusters[0], ["x a b c", "x a b c", "c b a x"]),
        ("equal F, other recall", clusters[0], ["a b c x y z", "a b"]),
        ("one reference empty", clusters[0], ["", clusters[1][1]]),
        ("all references empty", clusters[0], ["", ""]),
        ("rounding", "a b c d e f g", ["a x c y e z g w v"]),
        ("Chinese has no ASCII tokens", "小明硕士毕业于中国科学院计算所，GDP增长5.2%。",
         ["小明毕业于中国科学院，GDP增长了5.2%！"]),
        ("odd characters", odd, ["etude nul one two three four"]),
        ("long repetition", "word " * 2000, ["word " * 500]),
        ("long, two words", "a b b " * 300, ["b a " * 400]),
    ]


def parity():
    cases = []
    for name, candidate, references in parity_cases():
        case = {"name": name, "candidate": candidate, "references": references}
        for key, stem in (("stem_on", True), ("stem_off", False)):
            case[key] = row(scorer(stem).score_multi(references, candidate))
        cases.append(case)
    write("rouge_parity.json", {"pinned": PINNED, "cases": cases})


def random_pairs(count=10000, values=200):
    rng = SplitMix64(20240229)
    pairs = [random_pair(rng) for _ in range(count)]
    texts = hashlib.sha256("\x1e".join(t for pair in pairs for t in pair).encode("utf-8")).hexdigest()
    result = {"pinned": PINNED, "seed": 20240229, "count": count, "texts_sha256": texts}
    for key, stem in (("stem_on", True), ("stem_off", False)):
        s = scorer(stem)
        rows = [row(s.score(reference, candidate)) for reference, candidate in pairs]
        multi = [row(s.score_multi([pairs[j][0] for j in range(i, i + 3)], pairs[i][1]))
                 for i in range(0, 1000)]
        result[key] = {"first": rows[:values], "blocks": blocks(rows), "multi_blocks": blocks(multi)}
    write("rouge_random.json", result)


def words_and_characters():
    stemmer = PorterStemmer()
    rng = SplitMix64(7)
    words = [random_word(rng) for _ in range(50000)]
    stems = [stemmer.stem(w) for w in words]
    characters = hashlib.sha256()
    for code in range(0x110000):
        if 0xD800 <= code < 0xE000:
            continue
        characters.update((" ".join(tokenize.tokenize("A" + chr(code) + "b", None)) + "\n").encode())
    write("rouge_words.json", {
        "pinned": PINNED, "seed": 7, "count": len(words),
        "first": [[w, s] for w, s in zip(words[:300], stems[:300])],
        "blocks": [hashlib.sha256("\n".join(stems[i:i + 1000]).encode()).hexdigest()
                   for i in range(0, len(stems), 1000)],
        "characters_sha256": characters.hexdigest(),
    })


def real_references(data):
    """SQuALITY dev: each response against the other three. QMSum: each answer against the next one."""
    squality = []
    for line in (data / "squality/data/v1-3/txt/dev.jsonl").open(encoding="utf-8"):
        for question in json.loads(line)["questions"]:
            responses = [r["response_text"] for r in question["responses"]]
            for i, text in enumerate(responses):
                squality.append((responses[:i] + responses[i + 1:], text))
    answers = []
    for split in ("val", "test"):
        for line in (data / f"qmsum/data/ALL/jsonl/{split}.jsonl").open(encoding="utf-8"):
            meeting = json.loads(line)
            for kind in ("general_query_list", "specific_query_list"):
                answers += [query["answer"] for query in meeting[kind]]
    qmsum = [([answers[i]], answers[i + 1]) for i in range(len(answers) - 1)]
    result = {"pinned": PINNED}
    for name, items in (("squality_dev", squality), ("qmsum_answers", qmsum)):
        result[name] = {"count": len(items)}
        for key, stem in (("stem_on", True), ("stem_off", False)):
            s = scorer(stem)
            rows = [row(s.score_multi(references, candidate)) for references, candidate in items]
            result[name][key] = {"digests": [digest([r])[:16] for r in rows],
                                 "means": [sum(r[c] for r in rows) / len(rows) for c in range(12)]}
            if stem:
                result[name][key]["f"] = [[r[2], r[5], r[8], r[11]] for r in rows]
    write("rouge_real.json", result)


def main():
    for package, version in PINNED.items():
        found = importlib.metadata.version(package)
        if found != version:
            sys.exit(f"{package} {found} found, {version} needed")
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    parity()
    words_and_characters()
    random_pairs()
    real_references(pathlib.Path(sys.argv[1]))


if __name__ == "__main__":
    main()
