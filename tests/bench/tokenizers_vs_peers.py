#!/usr/bin/env python3
"""Encoding with byte ranges beside Hugging Face tokenizers: published vocabularies, one thread, empty caches.

Needs: tokenizers 0.23.3, sentencepiece 0.1.97 or later, protobuf, a build with -DQFS_BENCHMARKS=ON.
Usage: tests/bench/tokenizers_vs_peers.py SHARED/data BUILD/bin/qfs_bench_tokenizers [--rounds 7] [--kinds gpt2,bert]

Texts: stories and summaries of SQuALITY (dev), whole and cut into paragraphs. Every round begins with a fresh
tokenizer, opened before the clock starts; rounds are interleaved. Printed: million characters a second (median, range)
and our ratio to each peer with a 95 % interval over rounds. Bar: not below `encode_batch`.
"""

import argparse
import json
import os
import pathlib
import subprocess
import tempfile

os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ["RAYON_NUM_THREADS"] = "1"

import sentencepiece  # noqa: E402
from sentencepiece import sentencepiece_model_pb2  # noqa: E402
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers  # noqa: E402

from interleaved import compare  # noqa: E402

LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
          r"|\s+(?!\S)|\s+")


def gpt2(folder: pathlib.Path) -> Tokenizer:
    vocab = json.loads((folder / "gpt2/encoder.json").read_text(encoding="utf-8"))
    merges = [tuple(m.split(" ")) for m in (folder / "gpt2/vocab.bpe").read_text(encoding="utf-8").split("\n")[1:-1]]
    t = Tokenizer(models.BPE(vocab=vocab, merges=merges))
    t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    t.decoder = decoders.ByteLevel()
    return t


def llama3_expression(folder: pathlib.Path) -> Tokenizer:
    t = gpt2(folder)
    t.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Split(Regex(LLAMA3), "isolated"), pre_tokenizers.ByteLevel(False, use_regex=False)])
    return t


def bert(folder: pathlib.Path) -> Tokenizer:
    lines = (folder / "bert-base-uncased/vocab.txt").read_text(encoding="utf-8").split("\n")[:-1]
    t = Tokenizer(models.WordPiece({line: i for i, line in enumerate(lines)}, unk_token="[UNK]"))
    t.normalizer = normalizers.BertNormalizer()
    t.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return t


def model_proto(path: pathlib.Path) -> sentencepiece_model_pb2.ModelProto:
    model = sentencepiece_model_pb2.ModelProto()
    model.ParseFromString(path.read_bytes())
    return model


def t5(folder: pathlib.Path) -> Tokenizer:
    model = model_proto(folder / "t5/spiece.model")
    t = Tokenizer(models.Unigram([(p.piece, p.score) for p in model.pieces], unk_id=model.trainer_spec.unk_id))
    t.normalizer = normalizers.Precompiled(model.normalizer_spec.precompiled_charsmap)
    t.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()])
    return t


def llama2(folder: pathlib.Path) -> Tokenizer:
    model = model_proto(folder / "llama2/tokenizer.model")
    vocab = {p.piece: i for i, p in enumerate(model.pieces)}
    merges = []
    for piece, rank in vocab.items():
        local = [(piece[:i], piece[i:]) for i in range(1, len(piece)) if piece[:i] in vocab and piece[i:] in vocab]
        merges += [(rank, vocab[a], vocab[b], a, b) for a, b in local]
    t = Tokenizer(models.BPE(vocab=vocab, merges=[m[3:] for m in sorted(merges)], unk_token="<unk>", fuse_unk=True,
                             byte_fallback=True))
    t.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    return t


KINDS = {"gpt2": gpt2, "llama3's expression": llama3_expression, "bert": bert, "t5": t5, "llama2": llama2}


class Ours:
    def __init__(self, program: str, tokenizer: str, texts: str) -> None:
        self.process = subprocess.Popen([program, tokenizer, texts], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.tokens = 0

    def __call__(self, _texts) -> None:
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        self.tokens = int(self.process.stdout.readline())


class Fresh:
    """A peer that takes a new tokenizer each round, made beforehand."""

    def __init__(self, text: str, rounds: int, method: str) -> None:
        self.tokenizers = [Tokenizer.from_str(text) for _ in range(rounds)]
        self.method = method
        self.tokens = 0

    def __call__(self, texts) -> None:
        encodings = getattr(self.tokenizers.pop(), self.method)(texts, add_special_tokens=False)
        self.tokens = sum(len(e) for e in encodings)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("program")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--texts", help="a JSON list of other texts")
    options = parser.parse_args()
    source = next(options.data.glob("squality/**/dev.jsonl"))
    stories = []
    for line in source.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        stories.append(record["document"])
    if options.texts:
        stories = json.loads(pathlib.Path(options.texts).read_text(encoding="utf-8"))
    paragraphs = [p for story in stories for p in story.split("\n\n") if p]
    for kind in options.kinds.split(","):
        tokenizer = KINDS[kind](options.data / "tokenizers").to_str()
        for title, texts in (("stories", stories), ("paragraphs", paragraphs)):
            with tempfile.TemporaryDirectory() as folder:
                path, list_path = folder + "/tokenizer.json", folder + "/texts.json"
                pathlib.Path(path).write_text(tokenizer, encoding="utf-8")
                pathlib.Path(list_path).write_text(json.dumps(texts), encoding="utf-8")
                ours = Ours(options.program, path, list_path)
                peers = {m: Fresh(tokenizer, options.rounds, m) for m in ("encode_batch", "encode_batch_fast")}
                million = sum(map(len, texts)) / 1e6
                compare(f"{kind}, {len(texts)} {title} of {1e6 * million / len(texts):.0f} characters", texts,
                        {"ours": (ours, million), **{f"tokenizers, {m}": (p, million) for m, p in peers.items()}},
                        options.rounds, "M characters")
                counts = {ours.tokens, *(p.tokens for p in peers.values())}
                print(f"  tokens: {counts}", "" if len(counts) == 1 else "  NOT EQUAL", flush=True)
                ours.process.stdin.close()
                ours.process.wait()


if __name__ == "__main__":
    main()
