"""Writes trained/NAME.json: small tokenizers of every kind, and what the reference makes of random strings.

Reference: Hugging Face tokenizers. Each file holds the tokenizer.json that was trained here and, for 10,000
strings (random_strings.py), hashes over blocks of 250: of "id,begin,end;" per token and a line end per string,
with special tokens as plain text (`plain`) and as tokens (`marked`); ranges are in characters. `inputs` has
templates with one and two texts, `decoded` texts of random ids.
Not compared: trim_offsets (off here), characters younger than Unicode 14.

Needs: tokenizers 0.23.3, sentencepiece 0.2.3, protobuf. Usage: make_trained.py FOLDER
       make_trained.py --show NAME.json I   prints what the reference makes of string I
"""

import base64
import hashlib
import json
import pathlib
import sys
import tempfile

import sentencepiece
from sentencepiece import sentencepiece_model_pb2
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import random_strings  # noqa: E402

STRINGS, SEED, BLOCK = 10000, 20261121, 250
GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
          r"|\s+(?!\S)|\s+")
QWEN2 = LLAMA3.replace("{1,3}", "")
RULES = {"ﬁ": "fi", "Ａ": "A", "½": "1⁄2", "…": "...", "\t": " ", "\n": " ", "\x01": "", "\u200b": " ", "e\u0301": "\u00E9", "\uFE0F": "",
         "\u3000": " ", "か\u3099": "が", "한": "han", "\x7f": "", "\u0323": ""}


def corpus() -> list[str]:
    return random_strings.random_strings(1500, 1) + ["the summary of the meeting about tokenization and the world "] * 20


def byte_level(vocab: int = 600, **kwargs) -> trainers.BpeTrainer:
    return trainers.BpeTrainer(vocab_size=vocab, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False,
                               **kwargs)


def gpt2() -> Tokenizer:
    t = Tokenizer(models.BPE())
    t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    t.decoder = decoders.ByteLevel()
    t.post_processor = processors.ByteLevel(trim_offsets=False)
    t.train_from_iterator(corpus(), byte_level(special_tokens=["<|endoftext|>"]))
    return t


def roberta() -> Tokenizer:
    t = Tokenizer(models.BPE(unk_token="<unk>"))
    t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    t.decoder = decoders.ByteLevel()
    t.train_from_iterator(corpus(), byte_level(special_tokens=["<s>", "<pad>", "</s>", "<unk>"]))
    t.add_special_tokens([AddedToken("<mask>", lstrip=True, special=True)])
    t.add_tokens([AddedToken("<extra>", rstrip=True, single_word=True), AddedToken("the", single_word=True), "ab"])
    t.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), trim_offsets=False)
    return t


def llama3() -> Tokenizer:
    t = Tokenizer(models.BPE(ignore_merges=True))
    t.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Split(Regex(LLAMA3), "isolated"), pre_tokenizers.ByteLevel(False, use_regex=False)])
    t.decoder = decoders.ByteLevel()
    t.train_from_iterator(corpus(), byte_level(special_tokens=["<|endoftext|>", "<s>"]))
    t.post_processor = processors.Sequence([processors.ByteLevel(trim_offsets=False), processors.TemplateProcessing(
        single="<s> $A", pair="<s> $A <s>:1 $B:1", special_tokens=[("<s>", 1)])])
    return t


def qwen2() -> Tokenizer:
    t = Tokenizer(models.BPE())
    t.normalizer = normalizers.NFC()
    t.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Split(Regex(QWEN2), "isolated"), pre_tokenizers.ByteLevel(False, trim_offsets=False, use_regex=False)])
    t.decoder = decoders.ByteLevel()
    t.train_from_iterator(corpus(), byte_level(special_tokens=["<|endoftext|>"]))
    return t


def falcon() -> Tokenizer:
    t = Tokenizer(models.BPE())
    t.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Punctuation("contiguous"), pre_tokenizers.ByteLevel(False), pre_tokenizers.Digits(False),
         pre_tokenizers.Split(Regex("[0-9][0-9][0-9]"), "isolated")])
    t.decoder = decoders.ByteLevel()
    t.train_from_iterator(corpus(), byte_level(400))
    return t


def deepseek() -> Tokenizer:
    t = Tokenizer(models.BPE())
    t.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Split(Regex(p), "isolated") for p in (r"[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", "[一-龥ࠀ-一가-퟿]+")]
        + [pre_tokenizers.Digits(True), pre_tokenizers.ByteLevel(False, use_regex=False)])
    t.decoder = decoders.ByteLevel()
    t.train_from_iterator(corpus(), byte_level(400))
    return t


def bytes_as_pieces() -> list[str]:
    return [f"<0x{b:02X}>" for b in range(256)]


def llama2(metaspace: bool) -> Tokenizer:
    t = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    if metaspace:
        t.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first", split=False)
    else:
        t.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    t.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)])
    t.train_from_iterator(corpus(), trainers.BpeTrainer(vocab_size=700, limit_alphabet=120, show_progress=False,
                                                        special_tokens=["<unk>", "<s>", "</s>", *bytes_as_pieces()]))
    special = ["<unk>", "<s>", "</s>"]
    document = json.loads(t.to_str())
    document["added_tokens"] = [a for a in document["added_tokens"] if a["content"] in special]
    t = Tokenizer.from_str(json.dumps(document))
    t.post_processor = processors.TemplateProcessing(single="<s> $A", pair="<s> $A <s> $B:1", special_tokens=[("<s>", 1)])
    return t


def bert() -> Tokenizer:
    t = Tokenizer(models.WordPiece(unk_token="[UNK]", max_input_chars_per_word=20))
    t.normalizer = normalizers.BertNormalizer()
    t.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    t.decoder = decoders.WordPiece()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    t.train_from_iterator(corpus(), trainers.WordPieceTrainer(vocab_size=700, limit_alphabet=200, special_tokens=special,
                                                              show_progress=False))
    t.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    return t


def bert_parts() -> Tokenizer:
    t = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    t.normalizer = normalizers.Sequence([normalizers.NFKD(), normalizers.Lowercase(), normalizers.StripAccents()])
    t.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Whitespace(), pre_tokenizers.Punctuation("merged_with_next"), pre_tokenizers.Digits(True)])
    t.decoder = decoders.WordPiece(cleanup=False)
    t.train_from_iterator(corpus(), trainers.WordPieceTrainer(vocab_size=500, limit_alphabet=150, show_progress=False,
                                                              special_tokens=["[UNK]", "[CLS]", "[SEP]"]))
    t.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1",
                                                     special_tokens=[("[CLS]", 1), ("[SEP]", 2)])
    return t


def clip() -> Tokenizer:
    t = Tokenizer(models.BPE(unk_token="<unk>", end_of_word_suffix="</w>"))
    t.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Replace(Regex(r"\s+"), " "), normalizers.Lowercase()])
    t.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Split(Regex(r"\w+|[^\w\s]+"), "removed", invert=True), pre_tokenizers.Split("a", "merged_with_previous")])
    t.decoder = decoders.BPEDecoder("</w>")
    t.train_from_iterator(corpus(), trainers.BpeTrainer(vocab_size=400, limit_alphabet=150, end_of_word_suffix="</w>",
                                                        special_tokens=["<unk>"], show_progress=False))
    return t


def prefixed() -> Tokenizer:
    t = Tokenizer(models.BPE(unk_token="<unk>", continuing_subword_prefix="##", fuse_unk=False))
    t.normalizer = normalizers.Sequence([normalizers.Strip(), normalizers.NFD()])
    t.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.CharDelimiterSplit("-")])
    t.decoder = decoders.WordPiece()
    t.train_from_iterator(corpus(), trainers.BpeTrainer(vocab_size=400, limit_alphabet=150, continuing_subword_prefix="##",
                                                        special_tokens=["<unk>", "<s>"], show_progress=False))
    return t


def charsmap() -> bytes:
    """SentencePiece's compiled form of RULES."""
    with tempfile.TemporaryDirectory() as folder:
        table = pathlib.Path(folder, "rules.tsv")
        hexes = lambda text: " ".join(f"{ord(c):X}" for c in text)
        table.write_text("".join(f"{hexes(k)}\t{hexes(v)}\n" for k, v in sorted(RULES.items())))
        text = pathlib.Path(folder, "text.txt")
        text.write_text("\n".join(["hello world again and again"] * 50))
        sentencepiece.SentencePieceTrainer.train(
            input=str(text), model_prefix=folder + "/m", vocab_size=20, hard_vocab_limit=False,
            normalization_rule_tsv=str(table), minloglevel=2)
        model = sentencepiece_model_pb2.ModelProto()
        model.ParseFromString(pathlib.Path(folder, "m.model").read_bytes())
        return model.normalizer_spec.precompiled_charsmap


def unigram(normalizer, pre_tokenizer, vocab: int) -> Tokenizer:
    t = Tokenizer(models.Unigram())
    t.normalizer = normalizer
    t.pre_tokenizer = pre_tokenizer
    t.decoder = decoders.Metaspace()
    few_letters = ["".join(c for c in text if c < "\u0180") for text in corpus()]  # each becomes a piece
    t.train_from_iterator(few_letters, trainers.UnigramTrainer(vocab_size=vocab, unk_token="<unk>", show_progress=False,
                                                            special_tokens=["<unk>", "<s>", "</s>"]))
    document = json.loads(t.to_str())
    document["model"]["vocab"] = [[piece, round(score, 6)] for piece, score in document["model"]["vocab"]]
    return Tokenizer.from_str(json.dumps(document))


def t5() -> Tokenizer:
    t = unigram(normalizers.Precompiled(charsmap()), pre_tokenizers.Metaspace(prepend_scheme="always"), 500)
    t.post_processor = processors.TemplateProcessing(single="$A </s>", pair="$A </s> $B </s>", special_tokens=[("</s>", 2)])
    return t


def albert() -> Tokenizer:
    return unigram(
        normalizers.Sequence([normalizers.Replace("``", '"'), normalizers.Replace("''", '"'), normalizers.NFKD(),
                              normalizers.StripAccents(), normalizers.Lowercase(), normalizers.Precompiled(charsmap()),
                              normalizers.Replace(Regex(" {2,}"), " ")]),
        pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()]), 500)


def unigram_bytes() -> Tokenizer:
    t = unigram(normalizers.Sequence([normalizers.Nmt(), normalizers.NFKC(), normalizers.Strip()]),
                pre_tokenizers.Metaspace(prepend_scheme="never", split=False), 500)
    document = json.loads(t.to_str())
    document["model"]["vocab"] += [[piece, -20.0] for piece in bytes_as_pieces()]
    document["model"]["byte_fallback"] = True
    return Tokenizer.from_str(json.dumps(document))


KINDS = {"gpt2": gpt2, "roberta": roberta, "llama3": llama3, "qwen2": qwen2, "falcon": falcon, "deepseek": deepseek,
         "llama2": lambda: llama2(False), "llama2_metaspace": lambda: llama2(True), "bert": bert, "bert_parts": bert_parts,
         "clip": clip, "prefixed": prefixed, "t5": t5, "albert": albert, "unigram_bytes": unigram_bytes}


def line(tokenizer: Tokenizer, text: str) -> str:
    encoding = tokenizer.encode(text, add_special_tokens=False)
    return "".join(f"{i},{b},{e};" for i, (b, e) in zip(encoding.ids, encoding.offsets)) + "\n"


def hashes(tokenizer: Tokenizer, strings: list[str], plain: bool) -> list[str]:
    tokenizer.encode_special_tokens = plain
    blocks = (strings[i : i + BLOCK] for i in range(0, len(strings), BLOCK))
    return [hashlib.sha256("".join(line(tokenizer, s) for s in block).encode()).hexdigest()[:16] for block in blocks]


def inputs(tokenizer: Tokenizer, strings: list[str]) -> list:
    tokenizer.encode_special_tokens = True
    result = []
    for first, second in zip(strings[:20], strings[20:40]):
        single, pair = tokenizer.encode(first), tokenizer.encode(first, second)
        result.append([single.ids, single.type_ids, pair.ids, pair.type_ids])
    return result


def decoded(tokenizer: Tokenizer) -> list:
    random = random_strings.Generator(7)
    rows = []
    for _ in range(40):
        ids = [random.below(tokenizer.get_vocab_size()) for _ in range(1 + random.below(6))]
        rows.append([ids, tokenizer.decode(ids, skip_special_tokens=True)])
    return [row for row in rows if "\ufffd" not in row[1]]


def main() -> None:
    strings = random_strings.random_strings(STRINGS, SEED)
    if sys.argv[1] == "--show":
        tokenizer = Tokenizer.from_str(json.dumps(json.loads(pathlib.Path(sys.argv[2]).read_text())["tokenizer"]))
        text = strings[int(sys.argv[3])]
        for plain in (True, False):
            tokenizer.encode_special_tokens = plain
            print(line(tokenizer, text), end="")
        print(repr(text), tokenizer.encode(text).tokens)
        return
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(exist_ok=True)
    text_hash = hashlib.sha256("\n".join(strings).encode()).hexdigest()
    for name, make in KINDS.items():
        target = folder / f"{name}.json"
        tokenizer = make()
        document = {"reference": "tokenizers 0.23.3", "strings": text_hash, "plain": hashes(tokenizer, strings, True),
                    "marked": hashes(tokenizer, strings, False), "inputs": inputs(tokenizer, strings),
                    "decoded": decoded(tokenizer), "tokenizer": json.loads(tokenizer.to_str())}
        target.write_text("{\n" + ",\n".join(f'"{k}": {json.dumps(v, separators=(",", ":"))}' for k, v in document.items())
                          + "\n}\n")
        print(name, target.stat().st_size)


if __name__ == "__main__":
    main()
