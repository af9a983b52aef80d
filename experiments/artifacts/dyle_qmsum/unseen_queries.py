#!/usr/bin/env python3
"""Outputs of the archive dyle_unseen for queries that chose nothing, as files of predictions for `qfs-bench compare`.

SCORES and SAMPLES are what `qfs-bench report --per-example` writes of the archive's store and of unseen_samples.json:
the 32 queries whose loss chose among evaluations of DYLE's training, and the 64 that chose the LoRA. Left out are the
former; with --lora, the latter, too. Written into FOLDER: a file for each row, named after its label.

Usage: unseen_queries.py SCORES SAMPLES FOLDER [--lora]
"""

import argparse
import json
import pathlib

ARCHIVE = pathlib.Path(__file__).resolve().parents[2] / "results" / "dyle_unseen"


def lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scores", type=pathlib.Path)
    parser.add_argument("samples", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--lora", action="store_true")
    args = parser.parse_args()
    # A data set is written as name/split/view.
    chose = {one["example"] for one in lines(args.samples) if args.lora or "/whole" in one["dataset"]}
    cells = {one["result_id"]: one["cell_id"] for one in lines(ARCHIVE / "result.jsonl")}
    texts = {(cells[one["result_id"]], one["ordinal"]): one["text"] for one in lines(ARCHIVE / "output.jsonl")}
    rows = {}
    for one in lines(args.scores):
        if one["example"] in chose:
            continue
        prediction = texts[one["cell_id"], one["ordinal"]]
        rows.setdefault(one["method"], []).append({"id": one["example"], "prediction": prediction})
    args.folder.mkdir(parents=True, exist_ok=True)
    for label, predictions in rows.items():
        path = args.folder / ("".join(c if c.isalnum() else "_" for c in label) + ".jsonl")
        path.write_text("".join(json.dumps(one) + "\n" for one in predictions), encoding="utf-8")
        print(f"{path}: {len(predictions)} outputs")


if __name__ == "__main__":
    main()
