#!/usr/bin/env python3
"""A step of LoRA training on SmolLM2-135M in float32 beside peft + transformers: time and peak memory on a CPU.

Both programs stay loaded and take turns in every round, with the same token ids: 1,024 of which the last 128 are
labelled, rank 8 on the query, key, value, output and up projections, AdamW. A step is gradients and update. Ours
keeps what the backward pass needs, or recomputes layers; the peer runs as it is, and with gradient checkpointing.
Printed: medians of seconds a step, the ratio of medians with a 95 % bootstrap interval (above 1: ours is faster),
peak resident memory while stepping, ours as a share of the rate of matrix products that the same run measures, and
the loss of the first step, which is the same on all sides.
Bars, under one memory policy of ours against the peer's defaults: 1.8 times as fast, at most 0.4 times the memory,
at least 55 % of the rate of matrix products.

Needs: torch 2.11.0, transformers 5.23.0, peft, gguf in the Python that runs this; a release build.
Usage: lora_vs_peft.py --bench build/release/bin/qfs_bench_training --model MODEL.gguf --folder FOLDER
       [--rounds 15] [--threads 2] [--tokens 1024] [--labels 128] [--rank 8] [--json OUT]
FOLDER receives the weights that transformers reads, as smollm2_vs_peers.py makes them.
"""

import argparse
import json
import pathlib
import statistics
import sys
import time

from interleaved import Child, percentiles, ratio_interval
from smollm2_vs_peers import prepare_transformers, prompt, serve

TARGETS = ["q_proj", "k_proj", "v_proj", "o_proj", "up_proj"]
OURS = {"ours": False, "ours, layers recomputed": True}
PEERS = {"peft": False, "peft, gradient checkpointing": True}


def peak_bytes():
    for line in pathlib.Path("/proc/self/status").read_text(encoding="utf-8").splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    raise RuntimeError("/proc/self/status has no VmHWM")


def timed_steps(optimizer, loss_of, steps):
    """What a program answers that trained so many steps: gradients of the loss and an update each."""
    pathlib.Path("/proc/self/clear_refs").write_text("5", encoding="utf-8")
    seconds = []
    losses = []
    for _ in range(steps):
        begin = time.perf_counter()
        optimizer.zero_grad()
        loss = loss_of()
        loss.backward()
        optimizer.step()
        seconds.append(time.perf_counter() - begin)
        losses.append(float(loss.detach()))
    return {"seconds": seconds, "losses": losses, "peak_bytes": peak_bytes()}


def serve_peft(folder, threads, rank, checkpointing):
    import peft
    import torch
    import transformers

    torch.set_num_threads(threads)
    torch.manual_seed(0)
    model = transformers.AutoModelForCausalLM.from_pretrained(folder / "huggingface", dtype=torch.float32)
    model = peft.get_peft_model(model, peft.LoraConfig(r=rank, lora_alpha=rank, lora_dropout=0, target_modules=TARGETS,
                                                       task_type="CAUSAL_LM"))
    model.config.use_cache = False
    if checkpointing:
        model.enable_input_require_grads()
        model.gradient_checkpointing_enable()
    model.train()
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-3, weight_decay=0)

    def run(tokens, labels, steps, **_):
        ids = torch.tensor([prompt(tokens, 0)])
        wanted = ids.clone()
        wanted[:, : tokens - labels] = -100
        return timed_steps(optimizer, lambda: model(input_ids=ids, labels=wanted).loss, steps)

    serve(run)


def measure(args):
    sides = {name: Child([str(args.bench), str(args.model), str(args.threads), "float32"]) for name in OURS}
    for name, checkpointing in PEERS.items():
        sides[name] = Child([sys.executable, __file__, "--serve", str(int(checkpointing)), "--folder", str(args.folder),
                             "--threads", str(args.threads), "--rank", str(args.rank)])
    tasks = {name: {"tokens": args.tokens, "labels": args.labels, "rank": args.rank, "steps": 1,
                    "recompute": OURS.get(name, False)} for name in sides}
    found = {name: [] for name in sides}
    first = {name: child.run(tasks[name])["losses"][0] for name, child in sides.items()}  # also the warm-up
    names = list(sides)
    for turn in range(args.rounds):
        order = names[turn % len(names):] + names[: turn % len(names)]
        for name in order:
            found[name].append(sides[name].run(tasks[name]))
    for child in sides.values():
        child.close()
    return first, found


def report(first, found):
    seconds = {name: [rounds["seconds"][0] for rounds in runs] for name, runs in found.items()}
    peak = {name: max(rounds["peak_bytes"] for rounds in runs) for name, runs in found.items()}
    result = {}
    for name, runs in found.items():
        line = (f"{name:30} {statistics.median(seconds[name]):6.2f} s a step, {peak[name] / 2**30:5.2f} GiB, "
                f"first loss {first[name]:.5f}")
        result[name] = {"seconds": seconds[name], "peak_bytes": peak[name], "first_loss": first[name]}
        if name in OURS:
            shares = [rounds["flops"] / rounds["seconds"][0] / rounds["gemm_flops"] for rounds in runs]
            rate = statistics.median(rounds["gemm_flops"] for rounds in runs)
            low, high = percentiles(shares, statistics.median)
            line += (f", {100 * statistics.median(shares):.0f} % [{100 * low:.0f}, {100 * high:.0f}] "
                     f"of {rate / 1e9:.0f} GFLOP/s")
            result[name]["share"] = shares
        print(line)
    for own in OURS:
        for peer in PEERS:
            ratio = statistics.median(seconds[peer]) / statistics.median(seconds[own])
            low, high = ratio_interval(seconds[own], seconds[peer])
            print(f"{own} against {peer}: {ratio:.2f} times as fast [{low:.2f}, {high:.2f}], "
                  f"{peak[own] / peak[peer]:.2f} times the memory")
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", type=pathlib.Path)
    parser.add_argument("--model", type=pathlib.Path)
    parser.add_argument("--folder", type=pathlib.Path, required=True)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--tokens", type=int, default=1024)
    parser.add_argument("--labels", type=int, default=128)
    parser.add_argument("--rank", type=int, default=8)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--serve", type=int, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.serve is not None:
        serve_peft(args.folder, args.threads, args.rank, bool(args.serve))
        return
    if args.bench is None or args.model is None:
        parser.error("--bench and --model are needed")
    args.folder.mkdir(parents=True, exist_ok=True)
    prepare_transformers(args.model, args.folder)
    result = report(*measure(args))
    if args.json:
        args.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
