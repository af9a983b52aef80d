#!/usr/bin/env python3
"""Is the memory read? The loss of validation summaries with a document's own memory and with another meeting's.

Of each of QMSum's validation queries (view golden) two documents are written: the first 1,024 tokens, and the same
with the second half, which SelfCP compresses, out of another meeting. A training whose rate is 0 says the mean loss of
the references of each meeting with either; printed are the means over queries and their difference with a 95 %
interval by meeting. 70 such trainings take half an hour of a core. Needs transformers and gguf from PyPI (measured
with 5.23.0 and 0.19.0).

Usage: memory_loss.py QFS_BENCH TOKENIZER FOLDER [--meetings N]
    TOKENIZER: the folder of a Hugging Face tokenizer, or the backbone's GGUF file
"""

import argparse
import json
import math
import pathlib
import random
import subprocess

from transformers import AutoTokenizer

ADAPTER = pathlib.Path(__file__).resolve().parent / "adapter.safetensors"
TOKENS = 1024
LEAST = 64  # tokens of a document that lends its second half
QUERIES = 272


def tokenizer_of(path):
    if path.suffix == ".gguf":
        return AutoTokenizer.from_pretrained(path.parent, gguf_file=path.name)
    return AutoTokenizer.from_pretrained(path)


def examples_of(bench):
    command = [bench, "data", "show", "qmsum", "--split", "val", "--view", "golden", "--json", "--example"]
    for number in range(QUERIES):
        shown = subprocess.run([*command, str(number)], capture_output=True, text=True, check=True).stdout
        yield json.loads(shown)["example"]


def rendered(example):
    return "\n".join((f"{one['speaker']}: " if one.get("speaker") else "") + one["text"] for one in example["document"])


def lent(examples, tokens, number):
    """As many tokens as this example has, of the next one of another meeting, which begins again where it ends."""
    own, meeting = tokens[number], examples[number]["document_id"]
    later = ((number + step) % len(examples) for step in range(1, len(examples)))
    other = next(tokens[i] for i in later if examples[i]["document_id"] != meeting and len(tokens[i]) >= LEAST)
    return (other * (len(own) // len(other) + 1))[:len(own)]


def interval(meetings):
    """95 % bootstrap over meetings, each (texts, sum of their differences), of the mean over texts."""
    rng, means = random.Random(12345), []
    for _ in range(10000):
        drawn = rng.choices(meetings, k=len(meetings))
        means.append(sum(one[1] for one in drawn) / sum(one[0] for one in drawn))
    means.sort()
    return f"[{means[250]:.4f}, {means[9749]:.4f}]"


def pairs_of(examples, tokenizer):
    """By meeting: (number, example, own document, the same with another meeting's second half)."""
    tokens = [tokenizer(rendered(one), add_special_tokens=False).input_ids[:TOKENS] for one in examples]
    meetings = {}
    for number, example in enumerate(examples):
        own = tokens[number]
        if len(own) < LEAST:
            continue
        half = math.ceil(len(own) / 2)
        swapped = own[:half] + lent(examples, tokens, number)[half:]
        documents = [tokenizer.decode(ids) for ids in (own, swapped)]
        meetings.setdefault(example["document_id"], []).append((number, example, *documents))
    return meetings


def write_records(path, records):
    path.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")


def plan_of(folder, file):
    """A step that changes nothing, and the loss behind it."""
    methods = [{
        "method": "selfcp", "backbone": "smollm2-135m", "local_context": 512, "ratio": 12, "max_new_tokens": 96,
        "learning_rate": 0.0, "steps": 1, "evaluate_every": 1, "train_batch": 1, "train_window": 512,
        "train_tokens": TOKENS, "label_tokens": 96, "warmup": 0, "schedule": "constant", "train_dtype": "bfloat16",
        "save_dtype": "bfloat16",
        "training": {"train": {"path": "learned.jsonl"}, "development": {"path": file},
                     "init": {"adapter": str(ADAPTER)}},
    }]
    plan = {"name": "memory_loss", "datasets": [{"path": "scored.jsonl"}], "tokenizer": "words", "methods": methods,
            "seeds": [0], "metrics": ["rouge"]}
    (folder / "plan.json").write_text(json.dumps(plan), encoding="utf-8")


def loss_of(bench, folder, file):
    plan_of(folder, file)
    command = [bench, "train", "plan.json", "--store", "memory_loss.sqlite", "--threads", "1", "--quiet", "--json"]
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, text=True, check=True).stdout
    return json.loads(done)["trainings"][0]["curve"][-1]["values"]["development.loss"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bench", type=pathlib.Path)
    parser.add_argument("tokenizer", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--meetings", type=int)
    args = parser.parse_args()
    bench = str(args.bench.resolve())
    args.folder.mkdir(parents=True, exist_ok=True)
    for name, key in (("learned", "a"), ("scored", "b")):  # which a training asks for
        record = {"id": key, "document": f"{name}: a budget", "query": name, "references": [f"A budget, {name}."]}
        write_records(args.folder / f"{name}.jsonl", [record])
    meetings = list(pairs_of(list(examples_of(bench)), tokenizer_of(args.tokenizer)).values())[:args.meetings]
    rows = []  # (queries, loss with the own memory, with another's)
    for place, pairs in enumerate(meetings):
        losses = []
        for kind in (2, 3):
            file = f"{place:02}-{'own' if kind == 2 else 'other'}.jsonl"
            write_records(args.folder / file, [
                {"id": str(pair[0]), "document": pair[kind], "query": pair[1]["query"],
                 "references": pair[1]["references"]} for pair in pairs])
            losses.append(loss_of(bench, args.folder, file))
        rows.append((len(pairs), *losses))
        print(f"meeting {place}: {len(pairs)} queries, {losses[0]:.4f} own, {losses[1]:.4f} another's", flush=True)

    meetings = [(count, count * (other - own)) for count, own, other in rows]
    queries = sum(row[0] for row in rows)
    own = sum(row[0] * row[1] for row in rows) / queries
    more = sum(total for _, total in meetings) / queries
    print(f"{queries} queries of {len(rows)} meetings: {own:.4f} with the own memory, "
          f"another's {more:+.4f} {interval(meetings)}, "
          f"more in {sum(row[2] > row[1] for row in rows)} meetings")


if __name__ == "__main__":
    main()
