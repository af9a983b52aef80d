#!/usr/bin/env python3
"""Writes rouge_multi.json: what several references make of rouge_score's values, policy by policy.

Needs: rouge_score 0.1.2, nltk 3.10.4 (checked by make_rouge_expected.py, whose generator makes the texts).
Usage: make_multi_expected.py SHARED_DATA_DIR   (the folder that holds squality/)
Every pair is scored by rouge_score itself; the policies are written here a second time, plainly.
"""

import json
import pathlib
import sys

import make_rouge_expected as reference
from rouge_score import rouge_scorer, tokenize

SEED, COUNT, WORDS = 20240511, 300, 20
TYPES = reference.VARIANTS
SPECIAL = ["<pad>", "<s>", "</s>"]


def best(scores, key):
    chosen = scores[0]
    for score in scores[1:]:
        if key(score) > key(chosen):
            chosen = score
    return chosen


def per_type(scores, choose):
    return {t: choose([s[t] for s in scores]) for t in TYPES}


def mean(triples):
    return [sum(t[i] for t in triples) / len(triples) for i in range(3)]


def max_f(scores):
    return per_type(scores, lambda s: best(s, lambda x: x[2]))


def jack_knife(scores):
    if len(scores) == 1:
        return scores[0]
    sets = [max_f(scores[:i] + scores[i + 1:]) for i in range(len(scores))]
    return per_type(sets, mean)


def pooled(scores):
    """ROUGE-1.5.5's -f A: counts, told from rouge_score's ratios and the texts' lengths, summed before dividing."""
    result = {}
    for t in TYPES:
        hits = candidate = reference = 0
        for s in scores:
            units = [max(n - 1, 0) if t == "rouge2" else n for n in s["lengths"]]
            hits += round(s[t][0] * units[0])
            candidate += units[0]
            reference += units[1]
        p, r = hits / max(candidate, 1), hits / max(reference, 1)
        result[t] = (p, r, 2 * p * r / (p + r) if p + r > 0 else 0.0)
    return result


def score(scorer, reference_text, candidate):
    pair = dict(scorer.score(reference_text, candidate))
    pair["lengths"] = [len(tokenize.tokenize(text, None)) for text in (candidate, reference_text)]
    return pair


POLICIES = {
    "max": max_f,
    "best:rougeL.f": lambda s: best(s, lambda x: x["rougeL"][2]),
    "best:rouge1.r": lambda s: best(s, lambda x: x["rouge1"][1]),
    "mean": lambda s: per_type(s, mean),
    "first": lambda s: s[0],
    "best-recall": lambda s: per_type(s, lambda x: best(x, lambda y: y[1])),
    "pooled": pooled,
    "jack-knife": jack_knife,
}


def flat(scores):
    return [float(v) for t in TYPES for v in scores[t]]


def means(rows):
    return [sum(column) / len(rows) for column in zip(*rows)]


def squality_dev(scorer, shared):
    """The first response of every question against the other three."""
    scores = []
    with open(shared / "squality/data/v1-3/txt/dev.jsonl", encoding="utf-8") as file:
        for story in map(json.loads, file):
            for question in story["questions"]:
                texts = [r["response_text"] for r in question["responses"]]
                scores.append([score(scorer, r, texts[0]) for r in texts[1:]])
    return {"count": len(scores),
            "policies": {name: means([flat(p(s)) for s in scores]) for name, p in POLICIES.items()}}


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    rng = reference.SplitMix64(SEED)
    items = []
    for i in range(COUNT):
        references = [reference.random_text(rng, WORDS) for _ in range(1 + i % 4)]
        items.append((reference.random_text(rng, WORDS), references))
    scorer = rouge_scorer.RougeScorer(TYPES, use_stemmer=True)
    scores = [[score(scorer, r, candidate) for r in references] for candidate, references in items]
    result = {"seed": SEED, "count": COUNT, "words": WORDS, "policies": {}}
    for name, policy in POLICIES.items():
        rows = [flat(policy(s)) for s in scores]
        result["policies"][name] = {"means": means(rows), "rows": rows[:8]}
    groups = []  # IDEAL: three rows a question, special texts around the prediction
    for begin in range(0, COUNT, 3):
        pairs = []
        for i in range(begin, begin + 3):
            text = "<s> " + items[i][0] + "<pad></s>"
            for special in SPECIAL:
                text = text.replace(special, "")
            pairs += [scorer.score(r, text) for r in items[i][1]]
        groups.append(flat(best(pairs, lambda x: x["rougeL"][2])))
    result["ideal"] = {"group_size": 3, "means": means(groups)}
    result["squality_dev"] = squality_dev(scorer, pathlib.Path(sys.argv[1]))
    path = reference.HERE / "rouge_multi.json"
    path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
