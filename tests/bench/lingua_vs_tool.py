#!/usr/bin/env python3
"""LLMLingua with SmolLM2-135M beside the authors' tool: seconds to choose the tokens of a text, on a CPU.

Both stay loaded and take turns in every round with texts of the same tokens, of which one in twelve is kept, in windows
of 200. Ours chooses `exact`, and `official` as the tool does; the tool is PromptCompressor.compress_prompt of one
context, with its own full pass. What ours keeps and what the tool keeps is counted, not compared: the tool keeps more
than it is asked for (its last window stays whole), and reads its text out of its own tokenizer.
Printed: medians of seconds, the ratio of medians with a 95 % bootstrap interval (above 1: ours is faster).
Bar: `exact` 5 times as fast as the tool.

Needs: torch 2.11.0, gguf and transformers 5.23.0 in the Python that runs this, to expand the weights; for the tool
llmlingua 0.2.2, which takes transformers 4: its folder of packages is --packages (pip install --target FOLDER --no-deps
transformers==4.47.1 tokenizers==0.21.0 huggingface_hub==0.26.5); a release build with -DQFS_BENCHMARKS=ON.
Usage: lingua_vs_tool.py --bench build/release/bin/qfs_bench_lingua --model MODEL.gguf --folder FOLDER --packages FOLDER
       [--rounds 9] [--threads 2] [--tokens 512,1024,2048] [--type float32 | bfloat16 (both sides)] [--json OUT]
"""

import argparse
import json
import os
import pathlib
import statistics
import sys
import time
import types

from interleaved import Child, ratio_interval
from smollm2_vs_peers import prepare_transformers, serve

RATIO, WINDOW = 12, 200
SENTENCES = ("The committee asked {} for a report on the budget of item {}.", "{} said that the {} remotes cost more than before.",
             "Nobody wanted to decide about page {} until {} had spoken to the marketing team.", "In week {} the group met {} times.")


def text_of(words, seed):
    """Plain sentences that differ, `words` of them at least."""
    names = ("Anna", "the project manager", "Mr Okafor", "an expert", "the designer")
    parts, count, i = [], 0, seed
    while count < words:
        sentence = SENTENCES[i % len(SENTENCES)].format(names[i * 7 % len(names)], i * i % 97 + 2)
        parts.append(sentence)
        count += len(sentence.split())
        i += 1
    return " ".join(parts)


def prepare_tool(folder):
    """The folder as transformers 4 reads it; weights by a link."""
    old, new = folder / "huggingface", folder / "transformers4"
    new.mkdir(exist_ok=True)
    for name in ("model.safetensors", "tokenizer.json"):
        if not (new / name).exists():
            (new / name).symlink_to(old / name)
    config = json.loads((old / "config.json").read_text(encoding="utf-8"))
    config["rope_theta"] = config.pop("rope_parameters")["rope_theta"]
    (new / "config.json").write_text(json.dumps(config), encoding="utf-8")
    settings = json.loads((old / "tokenizer_config.json").read_text(encoding="utf-8"))
    settings["tokenizer_class"] = "PreTrainedTokenizerFast"
    (new / "tokenizer_config.json").write_text(json.dumps(settings), encoding="utf-8")
    return new


def serve_tool(folder, threads, dtype):
    import torch

    torch.set_num_threads(threads)
    import llmlingua.prompt_compressor as tool

    # It counts tokens of OpenAI's models for its report, by files out of the network.
    tool.tiktoken.encoding_for_model = lambda _: types.SimpleNamespace(encode=str.split)
    compressor = tool.PromptCompressor(str(prepare_tool(folder.resolve())), device_map="cpu",
                                  model_config={"torch_dtype": getattr(torch, dtype)})

    def run(ids, keep):
        text = compressor.tokenizer.decode(ids)
        begin = time.perf_counter()
        result = compressor.compress_prompt([text], target_token=keep, iterative_size=WINDOW, use_context_level_filter=False)
        return {"seconds": time.perf_counter() - begin, "kept": result["compressed_tokens"]}

    with torch.inference_mode():
        serve(run)


def token_ids(folder, tokens):
    import transformers

    tokenizer = transformers.AutoTokenizer.from_pretrained(folder / "huggingface")
    return tokenizer(text_of(tokens, tokens), add_special_tokens=False)["input_ids"][:tokens]


def measure(args, tokens):
    ids = token_ids(args.folder, tokens)
    keep = len(ids) // RATIO
    own = {"ids": ids, "keep": keep, "window": WINDOW}
    command = [str(args.bench), str(args.model), str(args.threads), args.type]
    packages = os.environ.get("PYTHONPATH", "")
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(args.packages), packages]))
    tool = Child([sys.executable, __file__, "--serve", "--folder", str(args.folder), "--threads", str(args.threads),
                  "--type", args.type])
    os.environ["PYTHONPATH"] = packages
    ours = Child(command)
    sides = {"exact": (ours, {**own, "released": False}), "official": (ours, {**own, "released": True}),
             "the tool": (tool, {"ids": ids, "keep": keep})}
    kept = {name: child.run(task)["kept"] for name, (child, task) in sides.items()}  # also the warm-up
    seconds = {name: [] for name in sides}
    names = list(sides)
    for turn in range(args.rounds):
        for name in names[turn % len(names):] + names[: turn % len(names)]:
            child, task = sides[name]
            seconds[name].append(child.run(task)["seconds"])
    for child in (ours, tool):
        child.close()
    print(f"{len(ids)} tokens, {keep} asked for")
    for name in names:
        count = kept[name] if isinstance(kept[name], int) else len(kept[name])
        line = f"  {name:9} {statistics.median(seconds[name]):7.3f} s, {count} kept"
        if name != "the tool":
            ratio = statistics.median(seconds["the tool"]) / statistics.median(seconds[name])
            low, high = ratio_interval(seconds[name], seconds["the tool"])
            line += f", {ratio:.2f} times as fast [{low:.2f}, {high:.2f}]"
        print(line)
    return seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", type=pathlib.Path)
    parser.add_argument("--model", type=pathlib.Path)
    parser.add_argument("--folder", type=pathlib.Path, required=True)
    parser.add_argument("--packages", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--tokens", default="512,1024,2048")
    parser.add_argument("--type", default="float32", choices=("float32", "bfloat16"))
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.serve:
        serve_tool(args.folder, args.threads, args.type)
        return
    if None in (args.bench, args.model, args.packages):
        parser.error("--bench, --model and --packages are needed")
    args.folder.mkdir(parents=True, exist_ok=True)
    prepare_transformers(args.model, args.folder)
    result = {tokens: measure(args, int(tokens)) for tokens in args.tokens.split(",")}
    if args.json:
        args.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
