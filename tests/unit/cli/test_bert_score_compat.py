"""qfs_bench.compat.bert_score over the built programs: its calls, its values, what it refuses. The package's native
part, which it takes an exception from, is replaced: the wheel's own test is tests/python/package_test.py.

Usage: test_bert_score_compat.py QFS_BENCH
"""

import importlib
import os
import pathlib
import sys
import types
import unittest
from unittest import mock

import tiny_bert
from driver import QFS_BENCH, DriverTest

PACKAGE = pathlib.Path(__file__).resolve().parents[3] / "harness" / "apps" / "python" / "qfs_bench"


class Error(ValueError):
    """As _native.Error."""


def load():
    native = types.ModuleType("qfs_bench._native")
    native.Error, native.__version__ = Error, "0"
    package, compat = types.ModuleType("qfs_bench"), types.ModuleType("qfs_bench.compat")
    package.__path__, compat.__path__ = [str(PACKAGE)], [str(PACKAGE / "compat")]
    sys.modules.update({"qfs_bench": package, "qfs_bench._native": native, "qfs_bench.compat": compat})
    return importlib.import_module("qfs_bench.compat.bert_score")


BERT_SCORE = load()
CANDIDATES = ["the cat sat.", "a dog ran"]
REFERENCES = [["the dog sat.", "the cat"], ["a dog ran"]]


class Compat(DriverTest):
    def setUp(self):
        super().setUp()
        self.model = os.path.join(self.folder, "tiny")
        tiny_bert.write(self.model)
        kept = {name: value for name, value in os.environ.items() if not name.startswith("QFS_")}
        environment = {**kept, "QFS_BENCH": QFS_BENCH, "QFS_CACHE_DIR": self.path("cache")}
        patch = mock.patch.dict(os.environ, environment, clear=True)
        patch.start()
        self.addCleanup(patch.stop)

    def test_score_returns_three_columns_and_the_hash(self):
        (p, r, f), text = BERT_SCORE.score(CANDIDATES, REFERENCES, model_type=self.model, num_layers=2, return_hash=True)
        self.assertEqual([len(column) for column in (p, r, f)], [2, 2, 2])
        for column in (p, r, f):
            self.assertAlmostEqual(float(column[1]), 1, places=6)
        self.assertEqual(text, f"{self.model}_L2_no-idf_version=0.3.12(hug_trans=5.23.0)")
        single = BERT_SCORE.score(CANDIDATES[:1], ["the cat"], model_type=self.model, num_layers=2)
        self.assertLessEqual(float(single[0][0]), float(p[0]))

    def test_a_scorer_keeps_its_options(self):
        scorer = BERT_SCORE.BERTScorer(model_type=self.model, num_layers=2, idf=True, batched=True, batch_size=8, nthreads=1)
        _, text = scorer.score(CANDIDATES, REFERENCES, return_hash=True)
        self.assertIn("_idf_", text)
        self.assertIn("|idf:yes|rescale:none|prefix_space:no|padding:batches-of-8|", scorer.signature)

    def test_rescaling_takes_a_file(self):
        baseline = self.path(self.write("b,1.tsv", "LAYER,P,R,F\n2,0.5,0.5,0.5\n"))
        plain = BERT_SCORE.score(CANDIDATES, REFERENCES, model_type=self.model, num_layers=2)
        rescaled = BERT_SCORE.score(CANDIDATES, REFERENCES, model_type=self.model, num_layers=2, rescale_with_baseline=True,
                                    baseline_path=baseline)
        self.assertAlmostEqual(float(rescaled[2][0]), (float(plain[2][0]) - 0.5) / 0.5, places=9)

    def test_what_is_not_supported_is_named(self):
        for arguments, message in (({"all_layers": True}, "all_layers=True"), ({"idf": {1: 2.0}}, "dict of weights"),
                                   ({"device": "cuda"}, "on the CPU"), ({"rescale_with_baseline": True}, "baseline_path"),
                                   ({"num_layers": 7}, "has 2"), ({"num_layers": None}, "give 'layer'")):
            with self.subTest(message=message), self.assertRaisesRegex(Error, message):
                BERT_SCORE.score(CANDIDATES, REFERENCES, **{"model_type": self.model, "num_layers": 2, **arguments})
        with self.assertRaisesRegex(Error, "either lang or model_type"):
            BERT_SCORE.score(CANDIDATES, REFERENCES)
        with self.assertRaisesRegex(Error, "refs has 1 entries"):
            BERT_SCORE.score(CANDIDATES, REFERENCES[:1], model_type=self.model)
        with self.assertRaisesRegex(Error, "lone surrogate"):
            BERT_SCORE.score(["\udc80"], ["a"], model_type=self.model, num_layers=2)
        with self.assertRaisesRegex(Error, "hf download org/absent"):
            BERT_SCORE.score(["a"], ["a"], model_type="org/absent", num_layers=2)

    def test_without_qfs_host_it_says_how_to_get_it(self):
        with mock.patch.dict(os.environ, {"QFS_BENCH": "/nowhere/qfs-bench", "PATH": "/nowhere"}):
            with self.assertRaisesRegex(Error, "qfs-host, which needs LibTorch and is not in this package"):
                BERT_SCORE.score(["a"], ["a"], model_type=self.model, num_layers=2)


if __name__ == "__main__":
    unittest.main()
