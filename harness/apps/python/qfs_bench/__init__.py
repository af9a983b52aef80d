"""qfs-bench's metrics in Python: every published ROUGE under its name, with the signature that made it.

    import qfs_bench
    scores = qfs_bench.score(predictions, references, profile="rouge_score")
    scores["rougeL.f"], scores.intervals["rougeL.f"], scores.per_item["rougeL.f"][0], scores.signature

`qfs_bench.read_store(path)` reads the cells, scores and examples of a store.
`qfs_bench.compat.rouge_scorer` stands in for `rouge_score.rouge_scorer`. The command line program is
installed as `qfs-bench`.
"""

from ._native import Error, __version__
from ._scores import Scores, profiles, score
from ._store import Store, StoreError, read_store

__all__ = ["Error", "Scores", "Store", "StoreError", "profiles", "read_store", "score", "__version__"]
