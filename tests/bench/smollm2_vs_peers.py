#!/usr/bin/env python3
"""SmolLM2-135M in float32 beside transformers, CTranslate2 and llama.cpp: tokens/s on a CPU, equal threads.

All programs stay loaded and take turns in every round (order rotating), with the same token ids. Tasks: reading
prompts of 512 and 2,048 tokens (logits of the last one), 24 steps after 512 tokens, 12 steps of 8 rows after 128.
FOLDER receives the same weights for each of them, expanded from the GGUF file: safetensors (ours, transformers),
CTranslate2's format, a float32 GGUF file. CTranslate2 tells no time of its own: its prefill is the time to one
token, its steps are the difference of two calls. transformers decodes by a plain loop over its forward pass.
Printed: medians of tokens/s, the ratio of medians of time with a 95 % bootstrap interval (above 1: ours is faster),
whether the greedy tokens agree with ours; with --driver, each side's share of what the machine's limits allow with
float32 weights. --weights bfloat16 runs ours with weights rounded to it (transformers too; others float32),
--weights packed with the GGUF file as it is.
Bars: prefill not below the best peer; decoding above the best peer, at batch 8 above llama.cpp, and with --driver
75 % of the limit at batch 1, which is read bandwidth; packed, decoding 1.8 times as fast as transformers.

Needs: torch 2.11.0, transformers 5.23.0, accelerate, gguf, ctranslate2 4.8.5, llama-cpp-python 0.3.36 in the Python
that runs this; a release build.
Usage: smollm2_vs_peers.py --bench build/release/bin/qfs_bench_llama --model MODEL.gguf --folder FOLDER
       [--driver build/release/bin/qfs-bench] [--rounds 7] [--threads 2] [--weights float32]
       [--peers transformers,ctranslate2,llama.cpp] [--only "decode"] [--json OUT]
"""

import argparse
import json
import pathlib
import statistics
import sys
import time

from interleaved import Child, ratio_interval
from limits import Limits

TASKS = [
    ("prefill 512", {"tokens": 512, "batch": 1, "steps": 0}, 512),
    ("prefill 2048", {"tokens": 2048, "batch": 1, "steps": 0}, 2048),
    ("decode batch 1", {"tokens": 512, "batch": 1, "steps": 24}, 24),
    ("decode batch 8", {"tokens": 128, "batch": 8, "steps": 12}, 96),
]
PEERS = ("transformers", "ctranslate2", "llama.cpp")


def prompt(tokens, row):
    return [(i * 7919 + row * 104729 + i * i % 1009) % 40000 + 100 for i in range(tokens)]


def prepare_transformers(model, folder):
    """The weights of a GGUF file, expanded, as transformers reads them; what is there is kept."""
    import torch
    import transformers

    huggingface = folder / "huggingface"
    if not (huggingface / "model.safetensors").is_file():
        loaded = transformers.AutoModelForCausalLM.from_pretrained(str(model.parent), gguf_file=model.name,
                                                                   dtype=torch.float32)
        if hasattr(loaded.config, "quantization_config"):  # how the GGUF file was, not what is written
            del loaded.config.quantization_config
        fresh = transformers.AutoModelForCausalLM.from_config(loaded.config).float()
        fresh.load_state_dict(loaded.state_dict())
        fresh.save_pretrained(huggingface)
        transformers.AutoTokenizer.from_pretrained(str(model.parent), gguf_file=model.name).save_pretrained(huggingface)


def prepare(model, folder):
    """The same in each program's format."""
    prepare_transformers(model, folder)
    if not (folder / "ctranslate2" / "model.bin").is_file():
        from ctranslate2.converters import TransformersConverter

        TransformersConverter(str(folder / "huggingface")).convert(str(folder / "ctranslate2"), quantization="float32", force=True)
    if not (folder / "float32.gguf").is_file():
        expand_gguf(model, folder / "float32.gguf")


def expand_gguf(model, out):
    import gguf

    reader = gguf.GGUFReader(str(model))
    writer = gguf.GGUFWriter(str(out), "llama")
    for field in reader.fields.values():
        if field.name.startswith("GGUF.") or field.name == "general.architecture":
            continue
        value_type = field.types[0]
        element = field.types[-1] if value_type == gguf.GGUFValueType.ARRAY else None
        value = 0 if field.name == "general.file_type" else field.contents()
        writer.add_key_value(field.name, value, value_type, sub_type=element)
    for tensor in reader.tensors:
        values = gguf.quants.dequantize(tensor.data, tensor.tensor_type).astype("float32")
        writer.add_tensor(tensor.name, values)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def serve(run):
    for line in sys.stdin:
        print(json.dumps(run(**json.loads(line))), flush=True)


def serve_transformers(folder, threads, weights):
    import torch
    import transformers

    torch.set_num_threads(threads)
    dtype = torch.bfloat16 if weights == "bfloat16" else torch.float32
    model = transformers.AutoModelForCausalLM.from_pretrained(folder / "huggingface", dtype=dtype,
                                                              attn_implementation="sdpa").eval()

    def run(tokens, batch, steps):
        ids = torch.tensor([prompt(tokens, row) for row in range(batch)])
        cache = transformers.DynamicCache(config=model.config)
        begin = time.perf_counter()
        following = model(input_ids=ids, past_key_values=cache, logits_to_keep=1).logits[:, -1].argmax(-1, keepdim=True)
        greedy = [int(following[0])]
        if steps > 0:
            begin = time.perf_counter()
        for _ in range(steps):
            logits = model(input_ids=following, past_key_values=cache, logits_to_keep=1).logits
            following = logits[:, -1].argmax(-1, keepdim=True)
            greedy.append(int(following[0]))
        return {"seconds": time.perf_counter() - begin, "ids": greedy}

    with torch.inference_mode():
        serve(run)


def serve_ctranslate2(folder, threads, _):
    import ctranslate2

    model = ctranslate2.Generator(str(folder / "ctranslate2"), compute_type="float32", inter_threads=1, intra_threads=threads)
    texts = list(json.loads((folder / "ctranslate2" / "vocabulary.json").read_text(encoding="utf-8")))

    def timed(rows, length):
        begin = time.perf_counter()
        results = model.generate_batch(rows, max_length=length, min_length=length, sampling_topk=1, beam_size=1,
                                       include_prompt_in_result=False, end_token=[])
        return time.perf_counter() - begin, results[0].sequences_ids[0]

    def run(tokens, batch, steps):
        rows = [[texts[i] for i in prompt(tokens, row)] for row in range(batch)]
        first, ids = timed(rows, 1)
        if steps == 0:
            return {"seconds": first, "ids": ids}
        whole, ids = timed(rows, steps + 1)
        return {"seconds": max(whole - first, 1e-9), "ids": ids}

    serve(run)


def serve_llama_cpp(folder, threads, _):
    import ctypes

    import llama_cpp

    quiet = llama_cpp.llama_log_callback(lambda *_: None)
    llama_cpp.llama_log_set(quiet, ctypes.c_void_p(0))
    llama_cpp.llama_backend_init()
    parameters = llama_cpp.llama_model_default_params()
    model = llama_cpp.llama_model_load_from_file(str(folder / "float32.gguf").encode(), parameters)
    vocabulary = llama_cpp.llama_vocab_n_tokens(llama_cpp.llama_model_get_vocab(model))

    def context_of(rows, positions):
        options = llama_cpp.llama_context_default_params()
        options.n_ctx, options.n_batch, options.n_ubatch, options.n_seq_max = rows * positions, 2048, 512, rows
        options.n_threads = options.n_threads_batch = threads
        options.type_k = options.type_v = 0  # float32
        return llama_cpp.llama_init_from_model(model, options)

    def fill(batch, entries):
        batch.n_tokens = len(entries)
        for i, (token, position, row, wanted) in enumerate(entries):
            batch.token[i], batch.pos[i], batch.n_seq_id[i], batch.logits[i] = token, position, 1, int(wanted)
            batch.seq_id[i][0] = row

    def best(context, index):
        logits = llama_cpp.llama_get_logits_ith(context, index)
        values = ctypes.cast(logits, ctypes.POINTER(ctypes.c_float * vocabulary)).contents
        import numpy

        return int(numpy.frombuffer(values, dtype=numpy.float32).argmax())

    def run(tokens, batch, steps):
        context = context_of(batch, tokens + steps + 8)
        room = llama_cpp.llama_batch_init(2048, 0, 1)
        begin = time.perf_counter()
        following = []
        for row in range(batch):
            ids = prompt(tokens, row)
            fill(room, [(token, i, row, i + 1 == tokens) for i, token in enumerate(ids)])
            if llama_cpp.llama_decode(context, room) != 0:
                sys.exit("llama_decode failed")
            following.append(best(context, tokens - 1))
        greedy = [following[0]]
        if steps > 0:
            begin = time.perf_counter()
        for step in range(steps):
            fill(room, [(token, tokens + step, row, True) for row, token in enumerate(following)])
            if llama_cpp.llama_decode(context, room) != 0:
                sys.exit("llama_decode failed")
            following = [best(context, row) for row in range(batch)]
            greedy.append(following[0])
        seconds = time.perf_counter() - begin
        llama_cpp.llama_batch_free(room)
        llama_cpp.llama_free(context)
        return {"seconds": seconds, "ids": greedy}

    serve(run)


SERVERS = {"transformers": serve_transformers, "ctranslate2": serve_ctranslate2, "llama.cpp": serve_llama_cpp}


def most_of(limits, task):
    """Tokens a second at most, with float32 weights."""
    if task["steps"] == 0:
        return limits[512].most(weights="float32", phase="prefill", tokens=task["tokens"])
    return limits[task["tokens"]].most(weights="float32", phase="decode", batch=task["batch"])


def bar_of(task, weights, ratios, share):
    """Whether the bar is met, and how it reads; `share`: of the limit, if it is known."""
    if task.startswith("decode") and weights == "packed":
        return ratios.get("transformers", float("inf")) >= 1.8, "1.8 times transformers"
    if task == "decode batch 8":
        return ratios.get("llama.cpp", float("inf")) > 1, "above llama.cpp"
    met = min(ratios.values(), default=float("inf")) >= 1
    if task == "decode batch 1" and share is not None:
        return met and share >= 0.75, "not below the best peer, 75 % of read bandwidth"
    return met, "not below the best peer"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--bench")
    parser.add_argument("--model", type=pathlib.Path)
    parser.add_argument("--folder", type=pathlib.Path, required=True)
    parser.add_argument("--driver", help="qfs-bench, for the machine's limits")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--weights", choices=("float32", "bfloat16", "packed"), default="float32")
    parser.add_argument("--peers", default=",".join(PEERS))
    parser.add_argument("--only", default="")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--serve", choices=PEERS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        SERVERS[options.serve](options.folder, options.threads, options.weights)
        return

    prepare(options.model, options.folder)
    own_model = options.model if options.weights == "packed" else options.folder / "huggingface"
    own = [options.bench, str(own_model), str(options.threads)]
    rows, failed, limits = [], False, {}
    if options.driver:  # measured before the programs start: loading takes its share of the machine
        limits = {context: Limits(options.driver, options.model, options.threads, context=context)
                  for context in (512, 128)}
        print(limits[512].text(), flush=True)
    programs = {"ours": Child(own + (["bfloat16"] if options.weights == "bfloat16" else []))}
    for peer in [name for name in options.peers.split(",") if name]:
        programs[peer] = Child([sys.executable, __file__, "--serve", peer, "--folder", str(options.folder), "--threads",
                                str(options.threads), "--weights", options.weights])
    for task, arguments, tokens in [entry for entry in TASKS if options.only in entry[0]]:
        seconds = {name: [] for name in programs}
        ids = {name: program.run(arguments)["ids"] for name, program in programs.items()}  # also the warm-up
        order = list(programs)
        for _ in range(options.rounds):
            order = order[1:] + order[:1]
            for name in order:
                seconds[name].append(programs[name].run(arguments)["seconds"])
        median = {name: statistics.median(values) for name, values in seconds.items()}
        ratios = {name: median[name] / median["ours"] for name in programs if name != "ours"}
        most = most_of(limits, arguments) if limits else None
        share = {name: f", {tokens / median[name] / most:.0%} of the limit" if most else "" for name in programs}
        met, bar = bar_of(task, options.weights, ratios, tokens / median["ours"] / most if most else None)
        failed = failed or not met
        print(f"{task}  ours {tokens / median['ours']:.1f}/s (best {tokens / min(seconds['ours']):.1f}{share['ours']})  "
              f"{bar}: {'met' if met else 'MISSED'}")
        for name, ratio in ratios.items():
            low, high = ratio_interval(seconds["ours"], seconds[name])
            same = "equal" if ids[name] == ids["ours"] else "DIFFER"
            print(f"    {name:13} {tokens / median[name]:7.1f}/s (best {tokens / min(seconds[name]):7.1f}{share[name]})  "
                  f"ratio {ratio:.2f} [{low:.2f}, {high:.2f}]  tokens {same}", flush=True)
        rows.append({"task": task, "seconds": seconds, "ids": ids})
    for program in programs.values():
        program.close()
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
