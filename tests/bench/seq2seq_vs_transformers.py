#!/usr/bin/env python3
"""Generation of encoder-decoders beside transformers 5.23.0: BART-base and LED-base shapes, float32, CPU, equal threads.

Weights are random (seeded), made by this script in FOLDER; the tokenizer there is one of bytes. Tasks: greedy and 4
beams, 40 tokens, of 700 ids (BART) and of 3,000 ids with three global positions (LED). Both programs get the same ids;
rounds are interleaved, their order alternates. Ours is the time inside the host (reading the source and all steps; the
program loads the model anew each time, untimed); transformers keeps its model loaded and is timed for generate().
Printed: medians, the ratio of the medians with a 95 % bootstrap interval, whether the ids agree, and each side's share
of what the machine's limits allow for the same work.

Needs: transformers 5.23.0, torch 2.11.0 in the Python that runs this; a release build.
Usage: seq2seq_vs_transformers.py --bench build/release/bin/qfs-bench --folder FOLDER [--rounds 7] [--threads 2]
       [--only led]
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import time

import torch
import transformers

from interleaved import ratio_interval
from limits import Limits

SIZES = {"d_model": 768, "encoder_layers": 6, "decoder_layers": 6, "encoder_attention_heads": 12,
         "decoder_attention_heads": 12, "encoder_ffn_dim": 3072, "decoder_ffn_dim": 3072, "init_std": 0.06}
MODELS = {
    "bart": (transformers.BartConfig, transformers.BartForConditionalGeneration, {}, 700, []),
    "led": (transformers.LEDConfig, transformers.LEDForConditionalGeneration,
            {"attention_window": [1024] * 6, "max_encoder_position_embeddings": 16384,
             "max_decoder_position_embeddings": 1024}, 3000, [0, 5, 1500]),
}
NEW_TOKENS = 40


def write_model(kind, folder):
    config, model, more, _, _ = MODELS[kind]
    torch.manual_seed(3)
    model(config(**SIZES, **more)).save_pretrained(folder)
    kept = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in kept]
    letters = {byte: chr(byte) for byte in kept} | {byte: chr(256 + i) for i, byte in enumerate(others)}
    (folder / "vocab.json").write_text(json.dumps({letters[byte]: byte for byte in range(256)}))
    (folder / "merges.txt").write_text("#version: 0.2\n")


def some_ids(count):
    return [0] + [(i * 7919 + i * i % 1009) % 40000 + 100 for i in range(count - 2)] + [2]


class Ours:
    def __init__(self, bench, folder, ids, positions, beams):
        self.command = [bench, "model", "generate", str(folder), "--ids", ",".join(map(str, ids)), "--json",
                        "--max-new-tokens", str(NEW_TOKENS)]
        if positions:
            self.command += ["--global", ",".join(map(str, positions))]
        if beams > 1:
            self.command += ["--set", f"num_beams={beams}", "--set", "no_repeat_ngram=3"]

    def __call__(self):
        answer = json.loads(subprocess.run(self.command, check=True, capture_output=True).stdout)
        self.works = [answer["prefill_work"], answer["decode_work"]]
        return (answer["prefill_ns"] + answer["decode_ns"]) * 1e-9, answer["ids"]


class Theirs:
    def __init__(self, model, kind, ids, positions, beams):
        settings = {"max_length": 1 + NEW_TOKENS, "num_beams": beams, "do_sample": False, "decoder_start_token_id": 2,
                    "eos_token_id": 2, "pad_token_id": 1}
        if beams > 1:
            settings["no_repeat_ngram_size"] = 3
        if kind == "bart":
            settings["forced_eos_token_id"] = 2
        self.model, self.settings = model, transformers.GenerationConfig(**settings)
        self.inputs = {"input_ids": torch.tensor([ids]), "attention_mask": torch.ones((1, len(ids)), dtype=torch.long)}
        if positions:
            self.inputs["global_attention_mask"] = torch.zeros((1, len(ids)), dtype=torch.long)
            self.inputs["global_attention_mask"][0, positions] = 1

    @torch.inference_mode()
    def __call__(self):
        begin = time.perf_counter()
        ids = self.model.generate(**self.inputs, generation_config=self.settings)[0, 1:].tolist()
        return time.perf_counter() - begin, ids[: ids.index(2)] if 2 in ids else ids


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--bench", required=True)
    parser.add_argument("--folder", required=True, type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--only", default="", help="the kinds whose name contains this")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    for kind in (name for name in MODELS if options.only in name):
        folder = options.folder / kind
        if not (folder / "merges.txt").exists():
            write_model(kind, folder)
        _, model, _, length, positions = MODELS[kind]
        limits = Limits(options.bench, folder, options.threads)
        print(f"{kind}: {limits.text()}", flush=True)
        loaded = model.from_pretrained(folder).eval()
        loaded.generation_config = transformers.GenerationConfig()
        for beams in (1, 4):
            calls = [Ours(options.bench, folder, some_ids(length), positions, beams),
                     Theirs(loaded, kind, some_ids(length), positions, beams)]
            agree = calls[0]()[1] == calls[1]()[1]  # also the warm-up
            seconds = [[], []]
            for number in range(options.rounds):
                for which in ((0, 1) if number % 2 == 0 else (1, 0)):
                    seconds[which].append(calls[which]()[0])
            low, high = ratio_interval(*seconds)
            ours, theirs = map(statistics.median, seconds)
            least = limits.least_seconds(*calls[0].works)
            print(f"{kind}, {length} ids, {beams} beams: ours {ours:.2f} s, transformers {theirs:.2f} s, ratio "
                  f"{theirs / ours:.2f} [{low:.2f}, {high:.2f}], ids {'equal' if agree else 'DIFFER'}; limit "
                  f"{least:.2f} s: ours {least / ours:.0%}, transformers {least / theirs:.0%}", flush=True)


if __name__ == "__main__":
    main()
