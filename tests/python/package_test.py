"""The Python package as a user has it: installed from the wheel into an environment without anything else.

Usage: package_test.py SOURCE_ROOT [unittest arguments]; run by ./bootstrap.sh wheel. Expected values are those of
rouge_score 0.1.2 (tests/conformance/metrics/rouge_parity.json).
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import qfs_bench
from qfs_bench.compat import bert_score, rouge_scorer, scoring, tokenizers

ROOT = pathlib.Path(sys.argv.pop(1)) if len(sys.argv) > 1 else pathlib.Path(".")
PARITY = ROOT / "tests/conformance/metrics/rouge_parity.json"
TYPES = ["rouge1", "rouge2", "rougeL", "rougeLsum"]
PREDICTIONS = ["The cat sat on the mat.", "Dogs bark\nat night.", ""]
REFERENCES = [["A cat sat on a mat.", "the mat"], "Dogs bark loudly at night.", ["something"]]


def parity_cases():
    return json.loads(PARITY.read_text(encoding="utf-8"))["cases"]


class Score(unittest.TestCase):
    def test_values_are_those_of_rouge_score(self):
        for stem in ("on", "off"):
            cases = parity_cases()
            scores = qfs_bench.score([case["candidate"] for case in cases],
                                     [case["references"] for case in cases],
                                     profile=f"rouge_score:stem={stem}", resamples=0)
            names = [f"{kind}.{part}" for kind in TYPES for part in "prf"]
            self.assertEqual(list(scores), names)
            for row, case in enumerate(cases):
                got = [scores.per_item[name][row] for name in names]
                for value, expected in zip(got, case[f"stem_{stem}"]):
                    self.assertAlmostEqual(value, expected, delta=1e-12, msg=case["name"])

    def test_aggregate_is_the_mean_and_intervals_need_ten_clusters(self):
        scores = qfs_bench.score(PREDICTIONS, REFERENCES)
        items = scores.per_item["rouge1.f"]
        self.assertAlmostEqual(scores["rouge1.f"], sum(items) / 3, delta=1e-15)
        self.assertIsNone(scores.intervals["rouge1.f"])
        many = qfs_bench.score(PREDICTIONS * 5, REFERENCES * 5)
        low, high = many.intervals["rouge1.f"]
        self.assertLess(low, many["rouge1.f"])
        self.assertLess(many["rouge1.f"], high)
        few = qfs_bench.score(PREDICTIONS * 5, REFERENCES * 5, clusters=list("abc") * 5)
        self.assertIsNone(few.intervals["rouge1.f"])

    def test_the_signature_says_what_was_done(self):
        scores = qfs_bench.score(PREDICTIONS, REFERENCES, profile="rouge:stem=off", resamples=0)
        for part in ("stem:none", "nrefs:1-2", "n:3", "empty:1", "ci:none", qfs_bench.__version__):
            self.assertIn(part, scores.signature)
        self.assertTrue(scores.short_signature.startswith("rouge:stem=off|"))

    def test_chinese(self):
        text = "会议讨论了预算。"
        self.assertEqual(qfs_bench.score([text], [text], profile="rouge-zh")["rouge1.f"], 1)
        self.assertTrue(qfs_bench.score([text], [text]).notes)

    def test_documents_and_queries(self):
        scores = qfs_bench.score(["the cat"], profile="coverage", documents=["the cat sat"])
        self.assertEqual(list(scores.values())[0], 1)

    def test_bad_input_is_an_error_that_names_it(self):
        for arguments, message in (
                ((["a"], ["a", "b"]), "references has 2 entries, predictions has 1"),
                (([], []), "nothing to score"),
                ((["a"], ["a"], "rouge_scor"), "rouge_score"),
                ((["a"], [[]]), "reference"),
                ((["a\udc80"], ["a"]), "item 0: the prediction has a lone surrogate"),
                ((["a"],), "reference"),
                ((["a"], None, "coverage"), "document")):
            with self.subTest(message=message), self.assertRaisesRegex(qfs_bench.Error, message):
                qfs_bench.score(*arguments)
        with self.assertRaisesRegex(TypeError, "list of texts"):
            qfs_bench.score("text", ["text"])
        with self.assertRaisesRegex(TypeError, "item 1: the prediction is a int"):
            qfs_bench.score(["a", 1], ["a", "b"])
        with self.assertRaisesRegex(KeyError, "rouge1.f"):
            qfs_bench.score(["a"], ["a"])["rouge1"]

    def test_profiles_are_listed(self):
        for name in ("rouge_score", "rouge-1.5.5", "rouge-zh", "squality"):
            self.assertIn(name, qfs_bench.profiles())


class BertScore(unittest.TestCase):
    def test_without_qfs_host_it_says_how_to_get_it(self):
        path = os.environ.get("PATH", "")
        os.environ["PATH"] = ""
        try:
            with self.assertRaisesRegex(qfs_bench.Error, "qfs-host, which needs LibTorch and is not in this package"):
                bert_score.score(["a"], ["a"], model_type="minilm")
        finally:
            os.environ["PATH"] = path

    def test_the_packages_driver_looks_where_qfs_host_is_named(self):
        os.environ["QFS_HOST"] = os.devnull
        try:
            with self.assertRaisesRegex(qfs_bench.Error, "minilm|/dev/null"):
                bert_score.score(["a"], ["a"], model_type="minilm")
        finally:
            del os.environ["QFS_HOST"]


class Compat(unittest.TestCase):
    def test_a_script_for_rouge_score_gives_its_digits(self):
        for stem in (True, False):
            scorer = rouge_scorer.RougeScorer(TYPES, use_stemmer=stem)
            for case in parity_cases():
                scores = scorer.score_multi(case["references"], case["candidate"])
                got = [value for kind in TYPES for value in scores[kind]]
                for value, expected in zip(got, case["stem_on" if stem else "stem_off"]):
                    self.assertAlmostEqual(value, expected, delta=1e-12, msg=case["name"])

    def test_a_tokenizer_of_ones_own_is_called(self):
        class Words(tokenizers.Tokenizer):
            def tokenize(self, text):
                return text.split()

        own = rouge_scorer.RougeScorer(["rouge1", "rouge3", "rougeLsum"], tokenizer=Words())
        self.assertEqual(own.score("a B c d", "a b c d")["rouge1"].precision, 0.75)
        self.assertEqual(own.score("a b c d", "x a b c")["rouge3"].recall, 0.5)
        self.assertEqual(own.score("a b\nc", "c\na b")["rougeLsum"].fmeasure, 1)
        same = rouge_scorer.RougeScorer(TYPES, tokenizer=tokenizers.DefaultTokenizer(True))
        default = rouge_scorer.RougeScorer(TYPES, use_stemmer=True)
        for case in parity_cases():
            pair = (case["references"][0], case["candidate"])
            self.assertEqual(same.score(*pair), default.score(*pair), case["name"])

    def test_higher_orders(self):
        scorer = rouge_scorer.RougeScorer(["rouge9", "rouge3"])
        text = "one two three four five six seven eight nine ten"
        scores = scorer.score(text, text + " eleven")
        self.assertEqual(list(scores), ["rouge9", "rouge3"])
        self.assertAlmostEqual(scores["rouge9"].precision, 2 / 3)
        self.assertEqual(scores["rouge3"].recall, 1)
        self.assertEqual(scorer.score("too short", "too short")["rouge9"].fmeasure, 0)

    def test_errors_are_those_of_rouge_score(self):
        with self.assertRaisesRegex(ValueError, "Invalid rouge type: rougeX"):
            rouge_scorer.RougeScorer(["rougeX"]).score("a", "a")
        with self.assertRaisesRegex(ValueError, "requires positive n"):
            rouge_scorer.RougeScorer(["rouge0"]).score("a", "a")

    def test_scores_are_named_tuples(self):
        score = rouge_scorer.RougeScorer(["rougeL"]).score("a b", "a")["rougeL"]
        self.assertEqual(score, scoring.Score(1, 0.5, 2 / 3))

    def test_a_lone_surrogate_separates_words(self):
        scorer = rouge_scorer.RougeScorer(["rouge1"])
        self.assertEqual(scorer.score("a b", "a\udc80b")["rouge1"].fmeasure, 1)


class Sentences(unittest.TestCase):
    """split_summaries, with a small model of Punkt's."""

    TEXTS = ["Dr. Lee left. É日本 came\nback! “Why?” Nobody\tknew.", "x. Dr. No went on. (Yes.) 日本 he did…",
             "one two", "", " . ", "a\udc80b. c d! e"]

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        for name, text in (("abbrev_types.txt", "dr\n"), ("collocations.tab", ""), ("sent_starters.txt", ""),
                           ("ortho_context.tab", "")):
            (pathlib.Path(folder.name) / name).write_text(text, encoding="utf-8")
        os.environ["QFS_PUNKT"] = folder.name
        self.addCleanup(os.environ.pop, "QFS_PUNKT")

    def test_a_tokenizer_of_ones_own_gets_one_sentence_at_a_time(self):
        seen = []

        class Words(tokenizers.Tokenizer):
            def tokenize(self, text):
                seen.append(text)
                return text.split()

        scorer = rouge_scorer.RougeScorer(["rougeLsum"], split_summaries=True, tokenizer=Words())
        scores = scorer.score(self.TEXTS[0], "É日本 came\nback! Dr. Lee left.")
        self.assertEqual(seen[:4], ["Dr. Lee left.", "É日本 came\nback!", "“Why?”", "Nobody\tknew."])
        self.assertEqual(scores["rougeLsum"].precision, 1, "sentences in another order")
        scorer.score("a\udc80b! c", "c")
        self.assertEqual(seen[-3:], ["a\udc80b!", "c", "c"])

    def test_the_default_tokenizer_given_by_hand_changes_nothing(self):
        same = rouge_scorer.RougeScorer(TYPES, split_summaries=True, tokenizer=tokenizers.DefaultTokenizer(True))
        default = rouge_scorer.RougeScorer(TYPES, use_stemmer=True, split_summaries=True)
        for target in self.TEXTS:
            for prediction in self.TEXTS:
                self.assertEqual(same.score(target, prediction), default.score(target, prediction))


class Original(unittest.TestCase):
    """Side by side with rouge_score where it is installed."""

    def setUp(self):
        try:
            import rouge_score.rouge_scorer
            import rouge_score.scoring
        except ImportError:
            self.skipTest("rouge_score is not installed")
        self.original = rouge_score

    def test_random_texts(self):
        import random
        random.seed(3)
        words = "the cat cats running runs ran É日本 x1 -- Mat mat\n . \n\n".split(" ")
        types = ["rouge1", "rouge2", "rouge3", "rouge9", "rougeL", "rougeLsum"]
        ours = rouge_scorer.RougeScorer(types, use_stemmer=True)
        theirs = self.original.rouge_scorer.RougeScorer(types, use_stemmer=True)
        for _ in range(300):
            pair = [" ".join(random.choices(words, k=random.randint(0, 40))) for _ in range(2)]
            self.assertEqual(ours.score(*pair), theirs.score(*pair), pair)

    def test_a_tokenizer_of_ones_own_with_split_summaries(self):
        import random
        import runpy
        import nltk
        from nltk.tokenize.punkt import PunktParameters, PunktSentenceTokenizer
        cache = os.environ.get("QFS_CACHE_DIR", os.path.expanduser("~/.cache/qfs-bench"))
        data = os.environ.get("QFS_PUNKT", cache + "/punkt/english.py")
        if not os.path.isfile(data) or not nltk.__version__.startswith("3.10"):
            self.skipTest(f"needs NLTK 3.10 (has {nltk.__version__}) and {data}")
        module, parameters = runpy.run_path(data), PunktParameters()
        parameters.abbrev_types, parameters.sent_starters = set(module["ABBREV_TYPES"]), set(module["SENT_STARTERS"])
        parameters.collocations = set(map(tuple, module["COLLOCATIONS"]))
        parameters.ortho_context.update(module["ORTHO_CONTEXT"])
        nltk.sent_tokenize = PunktSentenceTokenizer(parameters).tokenize

        class Words:
            def tokenize(self, text):
                return text.lower().split()

        random.seed(4)
        words = "Dr. Smith the cats ran. É日本 x1 “No!” -- (Yes.) mat\n e.g. U.S. . end? 3.5".split(" ")
        both = [module.RougeScorer(TYPES, split_summaries=True, tokenizer=Words())
                for module in (rouge_scorer, self.original.rouge_scorer)]
        for _ in range(300):
            pair = [" ".join(random.choices(words, k=random.randint(0, 40))) for _ in range(2)]
            ours, theirs = (scorer.score(*pair) for scorer in both)
            self.assertEqual(ours, theirs, pair)

    def test_the_bootstrap_aggregator_draws_alike(self):
        import numpy
        scorer = rouge_scorer.RougeScorer(["rouge1", "rougeL"])
        results = []
        for module in (scoring, self.original.scoring):
            aggregator = module.BootstrapAggregator(n_samples=50)
            for case in parity_cases():
                aggregator.add_scores(scorer.score(case["references"][0], case["candidate"]))
            numpy.random.seed(5)
            results.append({k: [tuple(x) for x in v] for k, v in aggregator.aggregate().items()})
        self.assertEqual(*results)


class Program(unittest.TestCase):
    def test_the_command_line_program_runs_with_its_data(self):
        program = pathlib.Path(sys.executable).parent / "qfs-bench"
        version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
        self.assertIn(qfs_bench.__version__, version.stdout)
        shown = subprocess.run([program, "data", "show", "mini-meetings"], capture_output=True,
                               text=True, check=False)
        self.assertEqual(shown.returncode, 0, shown.stderr)

    def test_a_store_of_the_program_is_read(self):
        program = pathlib.Path(sys.executable).parent / "qfs-bench"
        sweep = {"name": "small", "tokenizer": "words", "methods": [{"method": "lead", "local_context": 64}],
                 "datasets": [{"name": "mini-meetings", "split": "test", "view": "whole", "sample": 3}], "metrics": ["rouge"]}
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "small.json").write_text(json.dumps(sweep))
            subprocess.run([program, "sweep", "small.json"], cwd=folder, check=True, capture_output=True)
            with qfs_bench.read_store(os.path.join(folder, "small.sqlite")) as store:
                self.assertEqual([cell["status"] for cell in store.cells], ["complete"])
                self.assertEqual(len(list(store.examples)), 3)
                self.assertIn("rouge1.f", {score["column"] for score in store.scores})

    def test_only_what_manylinux_lets_wheels_expect_comes_from_the_system(self):
        folder = pathlib.Path(qfs_bench.__file__).parent
        expected = {"linux-vdso", "ld-linux-x86-64", "libc", "libm", "libgcc_s", "libstdc++", "libexpat"}
        for path in [*folder.glob("_native*.so"), folder / "_installed/bin/qfs-bench"]:
            linked = subprocess.run(["ldd", path], capture_output=True, text=True, check=True).stdout
            for line in linked.splitlines():
                name = line.split()[0].split("/")[-1].split(".so")[0]
                self.assertTrue(name in expected or str(folder) in line, line)


if __name__ == "__main__":
    unittest.main()
