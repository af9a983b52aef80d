"""Stand-in for rouge_score.scoring (0.1.2). BootstrapAggregator needs numpy, whose global generator it draws
from, so that numpy.random.seed gives the same digits in both."""

import abc
import collections


class Score(collections.namedtuple("Score", ["precision", "recall", "fmeasure"])):
    """Precision, recall and F of one text."""


class AggregateScore(collections.namedtuple("AggregateScore", ["low", "mid", "high"])):
    """Percentiles of resampled means, each a Score."""


class BaseScorer(abc.ABC):
    """Base of scorers."""

    @abc.abstractmethod
    def score(self, target, prediction):
        """A dict of Score by name."""


def fmeasure(precision, recall):
    """Harmonic mean; 0 when both are 0."""
    if precision + recall > 0:
        return 2 * precision * recall / (precision + recall)
    return 0.0


class BootstrapAggregator:
    """Percentile intervals over resampled items."""

    def __init__(self, confidence_interval=0.95, n_samples=1000):
        if confidence_interval < 0 or confidence_interval > 1:
            raise ValueError("confidence_interval must be in range [0, 1]")
        if n_samples <= 0:
            raise ValueError("n_samples must be positive")
        self._n_samples = n_samples
        self._confidence_interval = confidence_interval
        self._scores = collections.defaultdict(list)

    def add_scores(self, scores):
        """Adds the dict of one text."""
        for name, score in scores.items():
            self._scores[name].append(score)

    def aggregate(self):
        """Name -> AggregateScore."""
        import numpy

        low = (1 - self._confidence_interval) / 2
        quantiles = [100 * q for q in (low, 0.5, 1 - low)]
        result = {}
        for name, scores in self._scores.items():
            values = numpy.vstack(tuple(scores))
            means = numpy.zeros((self._n_samples, values.shape[1]))
            for i in range(self._n_samples):
                drawn = numpy.random.choice(numpy.arange(values.shape[0]), size=values.shape[0])
                means[i, :] = numpy.mean(values[drawn, :], axis=0)
            rows = numpy.percentile(means, quantiles, axis=0)
            result[name] = AggregateScore(*(scores[0].__class__(*row) for row in rows))
        return result
