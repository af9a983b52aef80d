#!/usr/bin/env python3
"""Writes bertscore_expected.json: BERTScore's arithmetic on vectors that C++ makes alike.

Reference: bert_score 0.3.13's own greedy_cos_idf and get_idf_dict, one pair at a time, so that no padding takes
part. Vectors are those of tests/conformance/models/architectures/tiny_models.py, named by text and token id.

Needs: bert-score 0.3.13, torch 2.11.0, numpy. Usage: make_bertscore_expected.py [OUT.json]
"""

import json
import pathlib
import random
import sys

import bert_score.utils
import torch

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "backbones"))
import tiny_models  # noqa: E402

WIDTH = 24
BEGIN, END, VOCABULARY = 0, 1, 40
PAIRS = 60


class Tokenizer:
    """What get_idf_dict asks of a tokenizer: texts are ids with spaces between."""

    model_max_length = 512

    def encode(self, text, **_):
        return [BEGIN, *(int(word) for word in text.split()), END]

    def build_inputs_with_special_tokens(self, _):
        return [BEGIN, END]


def vectors(ids, side):
    return torch.stack([tiny_models.values(f"{side}/{position}/{token}", [WIDTH], 1.0, 0.25)
                        for position, token in enumerate(ids)])


def weights(ids, idf):
    if idf is None:
        return [0.0 if token in (BEGIN, END) else 1.0 for token in ids]
    return [idf[token] for token in ids]


def matched(reference, candidate, idf):
    def sides(ids, side):
        return (vectors(ids, side).unsqueeze(0), torch.ones(1, len(ids), dtype=torch.long),
                torch.tensor([weights(ids, idf)]))

    values = bert_score.utils.greedy_cos_idf(*sides(reference, "r"), *sides(candidate, "c"))
    return [float(value[0]) for value in values]


def main():
    out = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else HERE / "bertscore_expected.json")
    generator = random.Random(20261121)
    texts = [[generator.randrange(2, VOCABULARY) for _ in range(generator.choice([0, 1, 2, 5, 9, 14]))]
             for _ in range(2 * PAIRS)]
    references, candidates = texts[:PAIRS], texts[PAIRS:]
    tokenizer = Tokenizer()
    idf = bert_score.utils.get_idf_dict([" ".join(map(str, r)) for r in references], tokenizer, nthreads=0)
    pairs = []
    for reference, candidate in zip(references, candidates):
        r, c = [BEGIN, *reference, END], [BEGIN, *candidate, END]
        pairs.append({"reference": r, "candidate": c, "plain": matched(r, c, None), "idf": matched(r, c, idf)})
    out.write_text(json.dumps({"made_by": "make_bertscore_expected.py", "width": WIDTH, "pairs": pairs},
                              separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
