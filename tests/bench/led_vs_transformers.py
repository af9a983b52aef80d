#!/usr/bin/env python3
"""A step of training all weights of an LED in the base shape, float32, CPU, beside transformers 5.23.0: time and peak memory.

Weights are random (seeded), made in FOLDER as seq2seq_vs_transformers.py makes them; without dropout. Both programs stay
loaded, read the same ids, the first with global attention, learn the same labels and compute layers again in the
backward pass. A step is gradients and update by AdamW. They take turns in every round, at --tokens positions.
Then ours alone at 1,024 and --longest positions, a process each: what the first takes and what the shapes say of the
other positions predict the last.
Printed: medians of seconds a step, the ratio of medians with a 95 % bootstrap interval (above 1: ours is faster), peak
resident memory while stepping, the loss of the first step, which is the same on both sides.
Bars: 1.5 times as fast; the peak at 16,384 positions within 10 % of the prediction.

Needs: torch 2.11.0, transformers 5.23.0 in the Python that runs this; a release build with -DQFS_BENCHMARKS=ON.
Usage: led_vs_transformers.py --bench build/release/bin/qfs_bench_training --folder FOLDER
       [--rounds 7 (0: memory alone)] [--threads 2] [--tokens 4096] [--labels 128] [--longest 16384]
"""

import argparse
import json
import pathlib
import statistics
import sys

from interleaved import Child, ratio_interval
from lora_vs_peft import timed_steps
from smollm2_vs_peers import prompt, serve


def serve_transformers(folder, threads):
    import torch
    import transformers

    torch.set_num_threads(threads)
    model = transformers.LEDForConditionalGeneration.from_pretrained(folder, dropout=0.0, attention_dropout=0.0, activation_dropout=0.0)
    model.config.use_cache = False
    model.gradient_checkpointing_enable()
    model.train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0)

    def run(tokens, labels, steps, **_):
        ids = torch.tensor([prompt(tokens, 0)])
        wanted = ids[:, -labels:]
        begun = torch.cat([torch.tensor([[2]]), wanted[:, :-1]], 1)
        seen = torch.zeros_like(ids)
        seen[:, 0] = 1
        return timed_steps(
            optimizer, lambda: model(input_ids=ids, decoder_input_ids=begun, global_attention_mask=seen, labels=wanted).loss, steps)

    serve(run)


def compare(ours, args):
    theirs = Child([sys.executable, __file__, "--serve", "--folder", str(args.folder), "--threads", str(args.threads)])
    task = {"tokens": args.tokens, "labels": args.labels, "steps": 1, "recompute": True}
    first = [side.run(task) for side in (ours, theirs)]  # also the warm-up
    runs = ([], [])
    for turn in range(args.rounds):
        for which in ((0, 1) if turn % 2 == 0 else (1, 0)):
            runs[which].append((ours, theirs)[which].run(task))
    theirs.close()
    seconds = [[run["seconds"][0] for run in side] for side in runs]
    for name, side, own, begun in zip(("ours", "transformers"), runs, seconds, first):
        print(f"{name:14} {statistics.median(own):7.2f} s a step, {max(run['peak_bytes'] for run in side) / 2**30:5.2f} GiB, "
              f"first loss {begun['losses'][0]:.5f}")
    low, high = ratio_interval(*seconds)
    ratio = statistics.median(seconds[1]) / statistics.median(seconds[0])
    print(f"{args.tokens} positions: {ratio:.2f} times as fast [{low:.2f}, {high:.2f}]; bar 1.5: {'met' if ratio >= 1.5 else 'NOT met'}",
          flush=True)


def floats_a_position(config):
    """Of a source's position when most are held: while gradients pass the last encoder layer's second product of the MLP."""
    reach = config["attention_window"][-1] // 2
    block = -(-128 // reach) * reach  # queries that are read together
    attention = 3 + 2 * (block + 2 * reach) / block + 2  # q, k, v; keys and values of each block; its output, twice
    inner = config["encoder_ffn_dim"] / config["d_model"]
    layer = attention + 2 + 2 * inner  # both sums, the MLP before and behind its activation
    gradients = 2 + inner  # of the residual stream, behind the norm, of the MLP's inside
    kept = config["encoder_layers"] + 1  # each layer's input, and what the decoder reads
    return (layer + gradients + kept) * config["d_model"]


def predict(command, args):
    short = 1024
    config = json.loads((args.folder / "config.json").read_text(encoding="utf-8"))
    peaks = {}
    for tokens in (short, args.longest):
        alone = Child(command)  # a process each: what an earlier length has left counts in none
        peaks[tokens] = alone.run({"tokens": tokens, "labels": args.labels, "steps": 1, "recompute": True})["peak_bytes"]
        alone.close()
        print(f"{tokens} positions: {peaks[tokens] / 2**30:.2f} GiB", flush=True)
    predicted = peaks[short] + 4 * floats_a_position(config) * (args.longest - short)
    share = peaks[args.longest] / predicted
    print(f"predicted for {args.longest}: {predicted / 2**30:.2f} GiB; measured / predicted {share:.3f}; "
          f"bar within 0.1 of 1: {'met' if abs(share - 1) <= 0.1 else 'NOT met'}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", type=pathlib.Path)
    parser.add_argument("--folder", type=pathlib.Path, required=True)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--tokens", type=int, default=4096)
    parser.add_argument("--labels", type=int, default=128)
    parser.add_argument("--longest", type=int, default=16384)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.serve:
        serve_transformers(args.folder, args.threads)
        return
    if args.bench is None:
        parser.error("--bench is needed")
    if not (args.folder / "merges.txt").exists():
        from seq2seq_vs_transformers import write_model
        write_model("led", args.folder)
    command = [str(args.bench), str(args.folder), str(args.threads), "float32"]
    if args.rounds > 0:
        ours = Child(command)
        compare(ours, args)
        ours.close()
    predict(command, args)


if __name__ == "__main__":
    main()
