"""Writes folders.json: ids that transformers gives texts and conversations by what tokenizer_config.json says.

Reference: AutoTokenizer on folders that are put together here: a SentencePiece model or a tokenizer.json of
LlamaTokenizer, tokenizer.json of MBartTokenizer and MBart50Tokenizer, vocab.json and merges.txt of GPT2Tokenizer,
each beside many tokenizer_config.json. Vocabularies are those of trained/llama2.json and trained/gpt2.json, and
letters. `bases` has the files, in base64; `cases` what differs, the texts' ids, those of a conversation, and texts
of ids; for the SentencePiece model also hashes over blocks of 1,000 random strings (random_strings.py): the ids of one
a line, special tokens as plain text. Texts with LEFT_OUT are not compared: of these transformers 5.23 makes pieces of
bytes and control pieces, even where it splits special tokens, and neither sentencepiece nor this program does.
LlamaTokenizer with a SentencePiece model is asked with add_bos_token alone: without it transformers 5.23 leaves BOS
out, which its documentation says is there, and this program prepends it. Its pieces are in the order of their scores,
which sentencepiece and this program go by, and 5.23 by the order.

Needs: transformers 5.23.0, tokenizers 0.23.3, sentencepiece 0.2.3, protobuf. Usage: make_folders.py OUTPUT.json
"""

import base64
import hashlib
import json
import os
import pathlib
import string
import sys
import tempfile

os.environ["HF_HUB_OFFLINE"] = "1"
import transformers  # noqa: E402
from sentencepiece import sentencepiece_model_pb2  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import random_strings  # noqa: E402

LEFT_OUT = ("<0x", "<s>", "</s>", "<unk>")
STRINGS = [text for text in random_strings.random_strings(10000, 20261122)
           if not any(part in text for part in LEFT_OUT)]
BLOCK = 1000
TEXTS = ["The summary of the meeting.", "  Hello,\n\nWorld!", "a", " a", "a  b   c ", "\u2581x", "x \u2581 y", "\n\n",
         "  ", "summarise: the <new> text", "<new><new> a", "thesummarise: b", "\u5317\u4eac \U0001f600", "\t tab", ""]
MESSAGES = [{"role": "user", "content": " Hello  there"}, {"role": "assistant", "content": "the"}]
CHAT = "{{ bos_token }}{% for m in messages %}USER: {{ m['content'] }} {{ eos_token }}x{% endfor %}"
NAMES = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"}


PIECES = [["\u2581the", "a"], ["\u2581", "\u2581the", "<s>", "a"], ["a", "<0xE5>", "<0x8C>", "<0x97>", "<0x41>", "a"],
          ["<0xF0>", "<0x9F>", "<0x98>", "<0x80>", "<0xF0>", "<0x9F>"], ["<0xE5>", "<0x8C>", "<0x41>", "a", "<0xFF>"],
          ["a", "<0x20>", "<0xC3>", "<s>", "<0xA9>"],
          ["\u2581the", "\u2581", ".", "\u2581the", "\u2581", "!", "\u2581", ",", "a"]]


def trained(name):
    return json.loads((HERE / "trained" / f"{name}.json").read_text())["tokenizer"]


def llama_model(tokenizer):
    kinds = {"<unk>": 2, "<s>": 3, "</s>": 3}
    proto = sentencepiece_model_pb2.ModelProto()
    for piece, index in sorted(tokenizer["model"]["vocab"].items(), key=lambda entry: entry[1]):
        byte = piece.startswith("<0x") and len(piece) == 6
        proto.pieces.add(piece=piece, score=-index, type=6 if byte else kinds.get(piece, 1))
    proto.trainer_spec.model_type = 2
    proto.trainer_spec.byte_fallback = True
    proto.normalizer_spec.name = "identity"
    proto.normalizer_spec.remove_extra_whitespaces = False
    return proto.SerializeToString()


def old_form(tokenizer):
    """As LLaMA 2's tokenizer.json is published."""
    prepend = {"type": "Prepend", "prepend": "\u2581"}
    replace = {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"}
    return {**tokenizer, "normalizer": {"type": "Sequence", "normalizers": [prepend, replace]}, "pre_tokenizer": None}


def mbart_json(folder, made_by):
    pieces = [("<s>", 0.0), ("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), ("\u2581", -2.0), ("\u2581the", -2.5)]
    pieces += [(letter, -3.0 - index / 8) for index, letter in enumerate(string.ascii_letters + ".,:!")]
    made_by(vocab=pieces).save_pretrained(folder)
    return (pathlib.Path(folder) / "tokenizer.json").read_bytes()


def bases(folder):
    llama, gpt2 = trained("llama2"), trained("gpt2")
    merges = [merge if isinstance(merge, str) else " ".join(merge) for merge in gpt2["model"]["merges"]]
    encoded = json.dumps(llama).encode()
    of_llama = b'{"model_type": "llama"}'
    return {
        "llama": {"tokenizer.model": llama_model(llama), "config.json": of_llama},
        "llama_json": {"tokenizer.json": json.dumps(old_form(llama)).encode(), "config.json": of_llama},
        "llama_metaspace": {"tokenizer.json": json.dumps(trained("llama2_metaspace")).encode(),
                            "config.json": of_llama},
        "llama_bytes": {"tokenizer.json": json.dumps(trained("llama3")).encode(), "config.json": of_llama},
        "mistral_json": {"tokenizer.json": encoded, "config.json": b'{"model_type": "mistral"}'},
        "mbart": {"tokenizer.json": mbart_json(folder, transformers.MBartTokenizer),
                  "config.json": b'{"model_type": "mbart"}'},
        "mbart50": {"tokenizer.json": mbart_json(folder, transformers.MBart50Tokenizer),
                    "config.json": b'{"model_type": "mbart"}'},
        "gpt2": {"vocab.json": json.dumps(gpt2["model"]["vocab"]).encode(),
                 "merges.txt": ("#version: 0.2\n" + "\n".join(merges) + "\n").encode(),
                 "config.json": b'{"model_type": "gpt2"}'},
    }


def added(first):
    flags = {"lstrip": False, "rstrip": False, "single_word": False}
    return {str(first): {**flags, "content": "<new>", "normalized": False, "special": False},
            str(first + 1): {**flags, "content": "summarise:", "normalized": True, "special": False,
                             "single_word": True},
            str(first + 2): {**flags, "content": "<pad>", "normalized": False, "special": True}}


def next_id(tokenizer):
    return 1 + max([*tokenizer["model"]["vocab"].values(), *(token["id"] for token in tokenizer["added_tokens"])])


def cases(pieces):
    llama = {**NAMES, "tokenizer_class": "LlamaTokenizer", "chat_template": CHAT}
    spaces = [{}, {"legacy": True}, {"legacy": False}, {"add_prefix_space": False}, {"add_prefix_space": True},
              {"legacy": True, "add_prefix_space": False}]
    for space in spaces:
        yield "llama", {**llama, "add_bos_token": True, **space}
        for base in ("llama_json", "llama_metaspace", "mistral_json"):
            yield base, {**llama, **space}
    for ends in ({"add_bos_token": False}, {"add_bos_token": True, "add_eos_token": True},
                 {"add_bos_token": False, "add_eos_token": True}):
        yield "llama", {**llama, **ends}
    yield "llama", {**llama, "add_bos_token": True, "tokenizer_class": "LlamaTokenizerFast"}
    yield "llama", {**llama, "add_bos_token": True, "bos_token": "</s>"}
    yield "llama", {**llama, "add_bos_token": True, "added_tokens_decoder": added(pieces)}
    yield "llama", {**llama, "add_bos_token": True, "legacy": True, "added_tokens_decoder": added(pieces)}
    yield "llama_json", {**llama, "tokenizer_class": "PreTrainedTokenizerFast"}
    yield "llama_json", {**llama, "tokenizer_class": "PreTrainedTokenizerFast", "added_tokens_decoder": added(pieces)}
    yield "llama_json", {**llama, "additional_special_tokens": ["\u2581the"]}
    yield "llama_json", {**llama, "additional_special_tokens": ["a"], "extra_special_tokens": ["\u2581the"]}
    yield "llama_bytes", {**NAMES, "tokenizer_class": "LlamaTokenizerFast"}
    for language in ({}, {"src_lang": None}, {"src_lang": "de_DE"}, {"src_lang": "ro_RO", "tgt_lang": "en_XX"}):
        for name in ("MBartTokenizer", "PreTrainedTokenizerFast"):
            yield "mbart", {"tokenizer_class": name, **language}
        yield "mbart50", {"tokenizer_class": "MBart50Tokenizer", **language}
        yield "mbart", language
        yield "mbart", {"clean_up_tokenization_spaces": True, **language}
    yield "llama_json", {**llama, "clean_up_tokenization_spaces": True}
    for ends in ({}, {"add_bos_token": True}, {"add_bos_token": True, "add_prefix_space": True},
                 {"add_eos_token": True}):
        yield "gpt2", {"tokenizer_class": "GPT2Tokenizer", **ends}


def hash_of(tokenizer, texts):
    rows = (tokenizer(text, split_special_tokens=True)["input_ids"] for text in texts)
    lines = "".join(" ".join(map(str, ids)) + "\n" for ids in rows)
    return hashlib.sha256(lines.encode()).hexdigest()[:16]


def expected(files, config):
    with tempfile.TemporaryDirectory() as folder:
        for name, content in files.items():
            (pathlib.Path(folder) / name).write_bytes(content)
        (pathlib.Path(folder) / "tokenizer_config.json").write_text(json.dumps(config))
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
        found = {"ids": [tokenizer(text)["input_ids"] for text in TEXTS]}
        runs = [tokenizer.convert_tokens_to_ids(pieces) for pieces in PIECES]
        found["decoded"] = [[ids, tokenizer.decode(ids, skip_special_tokens=True)] for ids in runs if None not in ids]
        if "tokenizer.model" in files:
            found["random"] = [hash_of(tokenizer, STRINGS[at:at + BLOCK]) for at in range(0, len(STRINGS), BLOCK)]
        if config.get("chat_template"):
            found["chat"] = tokenizer.apply_chat_template(MESSAGES, tokenize=True, return_dict=False)
        return found


def main():
    with tempfile.TemporaryDirectory() as folder:
        files = bases(folder)
    made = [{"base": base, "config": config, **expected(files[base], config)}
            for base, config in cases(next_id(trained("llama2")))]
    encoded = {base: {name: base64.b64encode(content).decode() for name, content in entries.items()}
               for base, entries in files.items()}
    rows = ",\n".join(json.dumps(case, ensure_ascii=False) for case in made)
    head = json.dumps({"texts": TEXTS, "messages": MESSAGES, "bases": encoded}, ensure_ascii=False)
    pathlib.Path(sys.argv[1]).write_text(head[:-1] + ', "cases": [\n' + rows + "]}\n")


main()
