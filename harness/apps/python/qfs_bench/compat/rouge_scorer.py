"""Stand-in for rouge_score.rouge_scorer (0.1.2): the same digits, faster.

    from qfs_bench.compat import rouge_scorer   # was: from rouge_score import rouge_scorer
"""

import re

from .. import _native
from . import scoring


class RougeScorer(scoring.BaseScorer):
    """rouge1 to rouge9, rougeL and rougeLsum of pairs of texts.

    split_summaries cuts sentences with Punkt (NLTK 3.10's), whose data must be on this machine. A tokenizer of
    your own is called as rouge_score calls it, for rougeLsum sentence by sentence.
    """

    def __init__(self, rouge_types, use_stemmer=False, split_summaries=False, tokenizer=None):
        self.rouge_types = rouge_types
        self._tokenizer = tokenizer
        self._split_summaries = split_summaries
        self._pairs = _native.PairScorer(bool(use_stemmer), bool(split_summaries))

    def score_multi(self, targets, prediction):
        """Per type the score of the target with the highest F, the first one on ties."""
        scores = [self.score(target, prediction) for target in targets]
        if not scores:
            raise ValueError("score_multi needs at least one target")
        return {kind: max((s[kind] for s in scores), key=lambda score: score.fmeasure)
                for kind in self.rouge_types}

    def score(self, target, prediction):
        """Type -> Score."""
        orders = [_order(kind) for kind in self.rouge_types]
        orders = [n for n in orders if n is not None and n > 2]
        if self._tokenizer is None:
            values = self._pairs.score(target, prediction, orders)
        else:
            values = self._score_tokens(target, prediction, orders)
        return {kind: scoring.Score(*values[kind]) for kind in self.rouge_types}

    def _score_tokens(self, target, prediction, orders):
        ids = {}

        def encode(text):
            return [ids.setdefault(token, len(ids)) for token in self._tokenizer.tokenize(text)]

        values = {}
        if list(self.rouge_types) != ["rougeLsum"]:
            values.update(_native.score_tokens([encode(target)], [encode(prediction)], orders))
        if "rougeLsum" in self.rouge_types:
            lines = [[encode(sentence) for sentence in self._sentences(text)]
                     for text in (target, prediction)]
            values["rougeLsum"] = _native.score_tokens(*lines, [])["rougeLsum"]
        return values


    def _sentences(self, text):
        if not self._split_summaries:
            return [line for line in text.split("\n") if line]
        # A lone surrogate is no letter and no digit to Punkt, as U+FFFD is none.
        spans = self._pairs.sentences(re.sub("[\ud800-\udfff]", "\ufffd", text))
        return [text[begin:end] for begin, end in spans]


def _order(kind):
    """n of "rougen", None for the LCS types."""
    if kind in ("rougeL", "rougeLsum"):
        return None
    if not re.match(r"rouge[0-9]$", kind):
        raise ValueError(f"Invalid rouge type: {kind}")
    if kind == "rouge0":
        raise ValueError(f"rougen requires positive n: {kind}")
    return int(kind[5:])
