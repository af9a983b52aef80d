"""Stand-in for bert_score (0.3.13): score() and BERTScorer, computed by qfs-host.

    from qfs_bench.compat import bert_score      # was: import bert_score
    (P, R, F), hash = bert_score.score(candidates, references, model_type="facebook/bart-base", return_hash=True)

P, R and F are numpy arrays where numpy is installed and lists elsewhere. A pair's value depends on nothing but the
pair; batch_size is only obeyed with batched=True, which gives the value of bert_score's padded batches. Models are
never downloaded: `model_type` is a folder, "minilm" (./bootstrap.sh minilm), or a name in the Hugging Face cache.
qfs-host is not in the wheel: it is looked for in QFS_HOST, beside the qfs-bench of QFS_BENCH, in the package and in
PATH.
"""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile

from .._native import Error

__all__ = ["BERTScorer", "score"]

_PACKAGED = pathlib.Path(__file__).parent.parent / "_installed" / "bin"
_LANGUAGES = {"en": "roberta-large", "zh": "bert-base-chinese", "en-sci": "allenai/scibert_scivocab_uncased"}


def _host():
    named = os.environ.get("QFS_HOST")
    if named:
        return named
    for folder in (pathlib.Path(os.environ.get("QFS_BENCH", "")).parent, _PACKAGED):
        if os.access(folder / "qfs-host", os.X_OK):
            return str(folder / "qfs-host")
    found = shutil.which("qfs-host")
    if found:
        return found
    raise Error("BERTScore is computed by the program qfs-host, which needs LibTorch and is not in this package: build it "
                "from the sources (./bootstrap.sh sweep) and name it in the environment variable QFS_HOST")


def _bench():
    named = os.environ.get("QFS_BENCH") or str(_PACKAGED / "qfs-bench")
    if not os.access(named, os.X_OK):
        raise Error(f"there is no program '{named}'")
    return named


def _escaped(value):
    return str(value).replace(",", "\\,")


def _model(model_type):
    """How the driver names it: a registered name, a folder, or one in the Hugging Face cache."""
    if model_type == "minilm" or model_type.startswith("hf:"):
        return model_type
    if os.path.isdir(model_type):
        return os.path.abspath(model_type)
    if "/" in model_type and not model_type.startswith((".", "/")):
        return "hf:" + model_type
    organisation = {"roberta": "FacebookAI", "distilbert": "distilbert", "distilroberta": "distilbert"}
    return f"hf:{organisation.get(model_type.split('-')[0], 'google-bert')}/{model_type}"


def _array(values):
    try:
        import numpy
    except ImportError:
        return values
    return numpy.array(values, dtype=numpy.float64)


def _refuse(given, supported):
    for name, value in given.items():
        if value != supported[name]:
            raise Error(f"{name}={value!r} of bert_score is not supported here; leave it at {supported[name]!r}")


class BERTScorer:
    """As bert_score.BERTScorer; the model is read when texts are scored."""

    def __init__(self, model_type=None, num_layers=None, batch_size=64, nthreads=None, all_layers=False, idf=False,
                 idf_sents=None, device=None, lang=None, rescale_with_baseline=False, baseline_path=None,
                 use_fast_tokenizer=False, prefix_space=False, batched=False):
        _refuse({"all_layers": all_layers, "idf_sents": idf_sents}, {"all_layers": False, "idf_sents": None})
        if device not in (None, "cpu"):
            raise Error(f"device={device!r}: BERTScore runs on the CPU here")
        if not isinstance(idf, bool):
            raise Error("idf must be True or False here; a dict of weights is not supported")
        if rescale_with_baseline and baseline_path is None:
            raise Error("rescale_with_baseline needs baseline_path here: the .tsv of bert_score's rescale_baseline folder")
        if model_type is None:
            if lang is None:
                raise Error("either lang or model_type should be specified")
            if lang not in _LANGUAGES:
                raise Error(f"lang={lang!r}: give model_type; known here are {', '.join(_LANGUAGES)}")
            model_type = _LANGUAGES[lang]
        options = {"model": _model(model_type)}
        if num_layers is not None:
            options["layer"] = num_layers
        if idf:
            options["idf"] = "on"
        if rescale_with_baseline:
            options["rescale"] = os.path.abspath(baseline_path)
        if prefix_space:
            options["prefix_space"] = "on"
        if batched:
            options["batch"] = batch_size
        self._metric = "bertscore:" + ",".join(f"{name}={_escaped(value)}" for name, value in options.items())
        self._threads = nthreads
        self.signature = None  # of the last score
        self.hash = None       # as bert_score prints it

    def score(self, cands, refs, verbose=False, batch_size=64, return_hash=False):
        """(P, R, F), or ((P, R, F), hash). `refs`: a str, or a list of them, for each candidate."""
        cands, refs = list(cands), [[ref] if isinstance(ref, str) else list(ref) for ref in refs]
        if len(cands) != len(refs):
            raise Error(f"refs has {len(refs)} entries, cands has {len(cands)}")
        if not cands:
            raise Error("there is nothing to score")
        host, bench = _host(), _bench()
        with tempfile.TemporaryDirectory(prefix="qfs_bench_") as folder:
            texts, rows = os.path.join(folder, "texts.jsonl"), os.path.join(folder, "rows.jsonl")
            try:
                with open(texts, "w", encoding="utf-8") as file:
                    for i, (cand, ref) in enumerate(zip(cands, refs)):
                        record = {"id": str(i), "prediction": cand, "references": ref}
                        file.write(json.dumps(record, ensure_ascii=False) + "\n")
            except UnicodeEncodeError as error:
                raise Error("a text has a lone surrogate, which is no text") from error
            command = [bench, "score", texts, "--metric", self._metric, "--per-example", rows, "--resamples", "0", "--json"]
            if self._threads:
                command += ["--threads", str(self._threads)]
            run = subprocess.run(command, text=True, capture_output=True, env={**os.environ, "QFS_HOST": host},
                                 encoding="utf-8")
            if run.returncode != 0:
                raise Error(run.stderr.strip().rpartition("error: ")[2] or f"qfs-bench ended with {run.returncode}")
            if verbose:
                print(run.stderr, end="")
            with open(rows, encoding="utf-8") as file:
                scores = [next(iter(json.loads(line)["scores"].values())) for line in file]
        signature = json.loads(run.stdout)["signature"]
        self.signature, self.hash = signature["long"], signature["tool"]
        values = tuple(_array([row[f"bertscore.{column}"] for row in scores]) for column in "prf")
        return (values, self.hash) if return_hash else values


def score(cands, refs, model_type=None, num_layers=None, verbose=False, idf=False, device=None, batch_size=64,
          nthreads=None, all_layers=False, lang=None, return_hash=False, rescale_with_baseline=False, baseline_path=None,
          use_fast_tokenizer=False, prefix_space=False, batched=False):
    """As bert_score.score."""
    scorer = BERTScorer(model_type=model_type, num_layers=num_layers, batch_size=batch_size, nthreads=nthreads,
                        all_layers=all_layers, idf=idf, device=device, lang=lang,
                        rescale_with_baseline=rescale_with_baseline, baseline_path=baseline_path,
                        prefix_space=prefix_space, batched=batched)
    return scorer.score(cands, refs, verbose=verbose, return_hash=return_hash)
