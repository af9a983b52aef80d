"""Stand-in for rouge_score.tokenizers (0.1.2)."""

import abc

from .. import _native


class Tokenizer(abc.ABC):
    """Base of tokenizers that a RougeScorer takes."""

    @abc.abstractmethod
    def tokenize(self, text):
        """The tokens of a text, a list."""


class DefaultTokenizer(Tokenizer):
    """Lower-cased runs of a-z and 0-9; words of more than three letters stemmed if asked for."""

    def __init__(self, use_stemmer=False):
        self._use_stemmer = use_stemmer

    def tokenize(self, text):
        return _native.tokenize(text, self._use_stemmer)
