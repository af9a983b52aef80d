"""A complete external metric: the share of the query's words that the prediction has.

Declare it in a sweep file and run `qfs-bench sweep FILE --allow-external`:
    "external_metrics": {"asked-words": {"command": ["python3", "example_metric.py"],
                                         "fingerprint": ["example_metric.py"]}},
    "metrics": ["rouge", "asked-words"]
"""

import re

import qfs_metric

WORD = re.compile(r"[a-z0-9]+")


def score(item):
    asked = set(WORD.findall(item.query.lower()))
    if not asked:
        raise qfs_metric.MetricError(f"item {item.ordinal}: the query has no word")
    return len(asked & set(WORD.findall(item.prediction.lower()))) / len(asked)


if __name__ == "__main__":
    qfs_metric.serve(score, name="asked_words", version=1, columns=["asked_words"], needs=["query"],
                     doc="share of the query's words that the prediction has")
