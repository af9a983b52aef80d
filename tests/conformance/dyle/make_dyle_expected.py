"""Expected losses and gradients of DYLE, in float64, from its formulas.

Written from Mao et al. 2022 (arXiv 2110.08168) and the released code's rules; needs Python alone. Inputs are made from
names as in ../models/architectures/tiny_models.py. States of K rows, a head and a gate stand for a generator; scores of L
snippets for an extractor. Gradients are central differences.

Usage: make_dyle_expected.py > dyle_expected.json
"""

import json
import math
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from plain import values  # noqa: E402

D, V, L = 4, 7, 5  # hidden size, vocabulary, visible snippets
STEP = 1e-5
NONE = -100


def log_softmax(row):
    top = max(row)
    total = top + math.log(sum(math.exp(x - top) for x in row))
    return [x - total for x in row]


def times(matrix, x, columns):
    return [sum(matrix[r * columns + c] * x[c] for c in range(columns)) for r in range(len(matrix) // columns)]


GATE = {"rag.dynamic_mlp.0.weight": D * D, "rag.dynamic_mlp.0.bias": D, "rag.dynamic_mlp.2.weight": D * D,
        "rag.dynamic_mlp.2.bias": D, "rag.dynamic_mlp.4.weight": D, "rag.dynamic_mlp.4.bias": 1}


class Case:
    def __init__(self, name, released, static, prior_gradients, snippets, copies, labels, oracle, scale=2.0):
        self.name, self.released, self.static, self.prior_gradients = name, released, static, prior_gradients
        self.snippets, self.copies, self.labels, self.oracle = snippets, copies, labels, oracle
        self.k, self.t, self.scale = len(snippets), len(labels), scale
        self.held = {"states": values("states", self.k * self.t * D, 2.0), "scores": values("scores", L, scale)}
        for part, count in GATE.items():
            self.held[part] = values(part, count, 1.0)
        self.head = values("head", V * D, 1.0)
        self.fixed_gate = None
        self.fixed_scores = None

    def gate(self, state):
        x = state
        for layer in ("0", "2", "4"):
            name = "rag.dynamic_mlp." + layer
            x = [a + b for a, b in zip(times(self.held[name + ".weight"], x, D), self.held[name + ".bias"])]
            if layer != "4":
                x = [max(v, 0.0) for v in x]
        return x[0]

    def state(self, k, t):
        first = (k * self.t + t) * D
        return self.held["states"][first:first + D]

    def prior_of_scores(self, scores):
        own = [scores[i] for i in self.snippets[:self.k - self.copies]]
        return log_softmax(own) + [-math.inf] * self.copies

    def gates(self):
        """Log weights of the K snippets at each position."""
        columns = []
        for t in range(self.t):
            columns.append(log_softmax([self.gate(self.state(k, t)) for k in range(self.k)]))
        return columns

    def generation(self):
        scores = self.held["scores"] if self.prior_gradients else self.fixed_scores
        columns = None if self.static else self.gates()
        loss = 0.0
        for t, label in enumerate(self.labels):
            if label == NONE:
                continue
            prior = self.prior_of_scores(scores) if self.static else columns[t]
            total = 0.0
            for k in range(self.k):
                logits = times(self.head, self.state(k, t), D)
                total += math.exp(log_softmax(logits)[label] + prior[k])
            loss -= math.log(total)
        return loss

    def oracle_loss(self):
        if not self.oracle:
            return 0.0
        logs = log_softmax(self.held["scores"])
        return -sum(logs[i] for i in self.oracle) / len(self.oracle)

    def mean_gate(self):
        columns = self.gates()
        used = [c for c, label in zip(columns, self.labels) if self.released or label != NONE]
        return [sum(math.exp(c[k]) for c in used) / len(used) for k in range(self.k)]

    def consistency(self):
        """The mean gate stands still: it gets no gradients."""
        if self.static:
            return 0.0
        prior = [math.exp(x) for x in self.prior_of_scores(self.held["scores"])]
        clamped = [max(p, 1e-5) for p in prior]
        shares = [c / sum(clamped) for c in clamped]
        return sum(g * (math.log(g) - math.log(r)) for g, r in zip(self.fixed_gate, shares))

    def losses(self):
        return {"generation": self.generation(), "oracle": self.oracle_loss(), "consistency": self.consistency()}

    def total(self):
        all_of_them = self.losses()
        return all_of_them["generation"] * 0.5 + all_of_them["oracle"] * 1.5 + all_of_them["consistency"] * 2.0

    def expected(self):
        self.fixed_gate = None if self.static else self.mean_gate()
        self.fixed_scores = self.held["scores"][:]
        gradients = {}
        for name, flat in self.held.items():
            rows = []
            for i in range(len(flat)):
                kept = flat[i]
                flat[i] = kept + STEP
                above = self.total()
                flat[i] = kept - STEP
                below = self.total()
                flat[i] = kept
                rows.append((above - below) / (2 * STEP))
            gradients[name] = rows
        return {"name": self.name, "released": self.released, "static": self.static,
                "prior_gradients": self.prior_gradients, "snippets": self.snippets, "copies": self.copies,
                "labels": self.labels, "oracle": self.oracle, "scale": self.scale, "losses": self.losses(), "gradients": gradients}


CASES = [
    Case("released", True, False, False, [3, 0, 4], 0, [2, 6, 0, 5, NONE, NONE], [0, 3, 3]),
    Case("paper", False, False, False, [3, 0, 4], 0, [2, 6, 0, 5, NONE, NONE], [0, 3, 3]),
    Case("copies", True, False, False, [1, 2, 2, 2], 2, [4, 1, 3], [2]),
    Case("no oracle", False, False, False, [1, 2], 0, [4, 1, 3], []),
    Case("static", False, True, False, [3, 0, 4], 0, [2, 6, 0], [4]),
    Case("rag", True, True, True, [3, 0, 0], 1, [2, 6, 0], [4]),
    Case("a share below the least", False, False, False, [3, 0, 4], 0, [2, 6, 0], [0, 3], 24.0),
]


def main():
    result = {"made_by": "tests/conformance/dyle/make_dyle_expected.py", "hidden": D, "vocabulary": V, "visible": L,
              "cases": [case.expected() for case in CASES]}
    json.dump(result, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
