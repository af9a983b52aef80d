"""Expected ranks of passages by DPR's two encoders, in float64, from the formulas.

Written from Devlin et al. 2019 (BERT) and Karpukhin et al. 2020; needs Python alone. The encoders are those of
tests/support/tiny_encoder.cpp, whose weights are made from the tensors' names as in
../models/architectures/tiny_models.py: a vector is the last state of [CLS], a passage ranks by its Euclidean distance
to the query. Passages are ranked with each encoder in each role, so that one role's model in the place of the other's
would be seen.

Usage: make_dpr_expected.py > dpr_expected.json
"""

import json
import math
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from plain import matrix, values  # noqa: E402

HIDDEN, INNER, HEADS, LAYERS, POSITIONS = 16, 24, 2, 2, 64
SCALES = {"question": 0.25, "context": 0.5}
QUERY = "who has the red hat"
PASSAGES = ["we begin now", "ann has it", "it is late", "a red hat", "good bye all", "buy two more"]


def tensor(name, rows, columns, scale):
    offset = 1.0 if name.endswith("LayerNorm.weight") else 0.0
    return matrix(values(name, rows * columns, scale, offset), rows)


def vocabulary():
    ids = {token: i for i, token in enumerate(("[PAD]", "[CLS]", "[SEP]", "[UNK]"))}
    for code in range(ord("!"), ord("~") + 1):
        if not chr(code).isupper():
            ids[chr(code)] = len(ids)
            ids["##" + chr(code)] = len(ids)
    return ids


IDS = vocabulary()


def tokens(text):
    pieces = [("##" if i else "") + letter for word in text.split() for i, letter in enumerate(word)]
    return [IDS[token] for token in ["[CLS]", *pieces, "[SEP]"]]


class Encoder:
    def __init__(self, scale):
        self.scale = scale
        self.words = tensor("embeddings.word_embeddings.weight", len(IDS), HIDDEN, scale)
        self.positions = tensor("embeddings.position_embeddings.weight", POSITIONS, HIDDEN, scale)
        self.segment = tensor("embeddings.token_type_embeddings.weight", 2, HIDDEN, scale)[0]

    def linear(self, name, rows, outputs):
        weight = tensor(name + ".weight", outputs, len(rows[0]), self.scale)
        bias, = tensor(name + ".bias", 1, outputs, self.scale)
        return [[bias[o] + math.fsum(a * b for a, b in zip(weight[o], row)) for o in range(outputs)] for row in rows]

    def norm(self, name, rows):
        weight, = tensor(name + ".LayerNorm.weight", 1, HIDDEN, self.scale)
        bias, = tensor(name + ".LayerNorm.bias", 1, HIDDEN, self.scale)
        result = []
        for row in rows:
            mean = math.fsum(row) / HIDDEN
            deviation = math.sqrt(math.fsum((x - mean) ** 2 for x in row) / HIDDEN + 1e-12)
            result.append([w * (x - mean) / deviation + b for w, x, b in zip(weight, row, bias)])
        return result

    def attention(self, name, rows):
        query, key, value = (self.linear(f"{name}.self.{part}", rows, HIDDEN) for part in ("query", "key", "value"))
        width = HIDDEN // HEADS
        result = [[] for _ in rows]
        for head in range(HEADS):
            part = slice(head * width, (head + 1) * width)
            for q, joined in zip(query, result):
                scores = [math.fsum(a * b for a, b in zip(q[part], k[part])) / math.sqrt(width) for k in key]
                shares = [math.exp(score - max(scores)) for score in scores]
                total = math.fsum(shares)
                joined.extend(math.fsum(share * v[part][i] for share, v in zip(shares, value)) / total
                              for i in range(width))
        return self.linear(name + ".output.dense", result, HIDDEN)

    def vector(self, text):
        rows = [[a + b + c for a, b, c in zip(self.words[token], self.positions[i], self.segment)]
                for i, token in enumerate(tokens(text))]
        rows = self.norm("embeddings", rows)
        for layer in range(LAYERS):
            name = f"encoder.layer.{layer}"
            added = self.attention(name + ".attention", rows)
            rows = self.norm(name + ".attention.output", [[a + b for a, b in zip(*pair)] for pair in zip(rows, added)])
            inner = self.linear(name + ".intermediate.dense", rows, INNER)
            inner = [[0.5 * x * (1 + math.erf(x / math.sqrt(2))) for x in row] for row in inner]
            added = self.linear(name + ".output.dense", inner, HIDDEN)
            rows = self.norm(name + ".output", [[a + b for a, b in zip(*pair)] for pair in zip(rows, added)])
        return rows[0]


def main():
    encoders = {name: Encoder(scale) for name, scale in SCALES.items()}
    query = {name: encoder.vector(QUERY) for name, encoder in encoders.items()}
    passages = {name: [encoder.vector(text) for text in PASSAGES] for name, encoder in encoders.items()}
    cases = []
    for asking in SCALES:
        for asked in SCALES:
            distances = [math.dist(query[asking], vector) for vector in passages[asked]]
            order = sorted(range(len(PASSAGES)), key=distances.__getitem__)
            ranked = sorted(distances)
            assert min(b - a for a, b in zip(ranked, ranked[1:])) > 1e-3, ranked  # far above float32's rounding
            cases.append({"question_encoder": SCALES[asking], "context_encoder": SCALES[asked],
                          "distances": [round(distance, 6) for distance in distances], "order": order})
    assert len({tuple(case["order"]) for case in cases}) == len(cases), cases
    head = json.dumps({"made_by": "make_dpr_expected.py", "query": QUERY, "passages": PASSAGES})
    print(head[:-1] + ', "cases": [\n' + ",\n".join(map(json.dumps, cases)) + "]}")


if __name__ == "__main__":
    main()
