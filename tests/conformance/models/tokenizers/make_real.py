"""Writes real.json: hashes of what the references make of random strings with published vocabularies.

References: Hugging Face tokenizers for GPT-2, RoBERTa/BART and BERT vocabularies; the sentencepiece package for
*.model files. Per file hashes over blocks of 500 of 10,000 strings (random_strings.py), of "id,begin,end;" per token
and a line end per string, ranges in characters. sentencepiece gives the range of a character to the last of its byte
tokens; here each has it. Later versions of sentencepiece (0.2.3) break ties between equally probable pieces another
way: the version is that of the library.

Needs: tokenizers 0.23.3, sentencepiece 0.1.97. Usage: make_real.py SHARED/data/tokenizers OUTPUT.json
"""

import hashlib
import json
import pathlib
import sys

import sentencepiece
from tokenizers import AddedToken, Tokenizer, models, normalizers, pre_tokenizers

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import random_strings  # noqa: E402

BLOCK = 500
MODELS = ["llama2/tokenizer", "t5/spiece", "albert/spiece", "sentencepiece-fixtures/test_model",
          "sentencepiece-fixtures/test_ja_model", "sentencepiece-fixtures/test_sentencepiece",
          "sentencepiece-fixtures/test_sentencepiece_bpe", "sentencepiece-fixtures/test_sentencepiece_bpe_char",
          "sentencepiece-fixtures/test_sentencepiece_with_bytefallback"]


def byte_level(vocab: dict, merges: list, specials: list[str]) -> Tokenizer:
    t = Tokenizer(models.BPE(vocab=vocab, merges=merges))
    t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    t.add_special_tokens([AddedToken(s, lstrip=s == "<mask>", special=True) for s in specials if s in vocab])
    return t


def bert(path: pathlib.Path) -> Tokenizer:
    vocab = {line: i for i, line in enumerate(path.read_text(encoding="utf-8").split("\n")[:-1])}
    t = Tokenizer(models.WordPiece(vocab, unk_token="[UNK]"))
    t.normalizer = normalizers.BertNormalizer()
    t.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    t.add_special_tokens(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"])
    return t


def tokenizers_of(folder: pathlib.Path) -> dict:
    encoder = json.loads((folder / "gpt2/encoder.json").read_text(encoding="utf-8"))
    merges = [tuple(m.split(" ")) for m in (folder / "gpt2/vocab.bpe").read_text(encoding="utf-8").split("\n")[1:-1]]
    pieces = {i: p for p, i in encoder.items()}
    roberta = {s: i for i, s in enumerate(["<s>", "<pad>", "</s>", "<unk>"])}
    for number, line in enumerate((folder / "bart-roberta/dict.txt").read_text().splitlines()):
        key = line.split(" ")[0]
        roberta[pieces[int(key)] if key.isdigit() else key] = number + 4
    roberta["<mask>"] = len(roberta)
    return {"gpt2": byte_level(encoder, merges, ["<|endoftext|>"]),
            "roberta": byte_level(roberta, merges, ["<s>", "<pad>", "</s>", "<unk>", "<mask>", "<|endoftext|>"]),
            "bert-base-uncased": bert(folder / "bert-base-uncased/vocab.txt"),
            "bert-base-chinese": bert(folder / "bert-base-chinese/vocab.txt")}


def hashes(lines: list[str]) -> list[str]:
    return [hashlib.sha256("".join(lines[i : i + BLOCK]).encode()).hexdigest()[:16] for i in range(0, len(lines), BLOCK)]


def line(tokenizer: Tokenizer, text: str) -> str:
    encoding = tokenizer.encode(text, add_special_tokens=False)
    return "".join(f"{i},{b},{e};" for i, (b, e) in zip(encoding.ids, encoding.offsets)) + "\n"


def model_line(processor: sentencepiece.SentencePieceProcessor, text: str) -> str:
    tokens = [[p.id, p.begin, p.end] for p in processor.EncodeAsImmutableProto(text).pieces]
    for i in reversed(range(len(tokens) - 1)):
        if processor.IsByte(tokens[i][0]) and tokens[i][1] == tokens[i][2] and processor.IsByte(tokens[i + 1][0]):
            tokens[i][1:] = tokens[i + 1][1:]
    return "".join(f"{i},{b},{e};" for i, b, e in tokens) + "\n"


def main() -> None:
    folder = pathlib.Path(sys.argv[1])
    strings = random_strings.random_strings(10000, 20261122)
    document = {"reference": "tokenizers 0.23.3, sentencepiece 0.1.97", "files": {}}
    for name, tokenizer in tokenizers_of(folder).items():
        tokenizer.encode_special_tokens = True
        document["files"][name] = hashes([line(tokenizer, s) for s in strings])
    for name in MODELS:
        processor = sentencepiece.SentencePieceProcessor(model_file=str(folder / f"{name}.model"))
        lines = [model_line(processor, s) for s in strings]
        document["files"][name] = hashes(lines)
    pathlib.Path(sys.argv[2]).write_text(json.dumps(document, indent=0) + "\n")


if __name__ == "__main__":
    main()
