#!/usr/bin/env python3
"""Writes bertscore_models_expected.json (tiny encoders) and bertscore_minilm_expected.json: ids and BERTScores.

Reference: bert_score 0.3.13 with transformers 5.23.0 on a CPU, through its own score(). Where these two disagree with
what bert_score means, this script says so and mends it:
 - an empty text raises AttributeError under transformers 5; as under version 4 it is its two special tokens;
 - add_prefix_space is ignored under transformers 5; where a case asks for it, the space is put in here;
 - padding enters maxima as 0, so pairs are scored one at a time (batch_size=1), but for "batched" (batch_size=64).
Weights of tiny models as tests/conformance/models/architectures/tiny_models.py makes them.

Needs: bert-score 0.3.13, transformers 5.23.0, torch 2.11.0, numpy; the folder that ./bootstrap.sh minilm prints.
Usage: make_bertscore_models_expected.py MINILM_FOLDER [OUT_FOLDER]
"""

import json
import pathlib
import random
import sys
import tempfile

import bert_score
import bert_score.utils
import torch
import transformers

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "backbones"))
import tiny_models  # noqa: E402

LETTERS = [chr(c) for c in range(ord("a"), ord("z") + 1)]
WORDS = ["the", "cat", "sat", "meeting", "budget", "remote", "control", "night", "river", "door"]
WORD_PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *LETTERS, *(f"##{c}" for c in LETTERS), *"0123456789.,!?-'",
               "the", "cat", "meet", "##ing", "bud", "##get", "remote", "control"]
MERGES = ["t h", "th e", "Ġ the", "c a", "ca t", "Ġ cat", "e e", "i n", "in g", "Ġ m", "Ġm ee", "Ġmee t", "Ġmeet ing"]

BERT = {"model_type": "bert", "vocab_size": len(WORD_PIECES), "hidden_size": 24, "intermediate_size": 40,
        "num_hidden_layers": 3, "num_attention_heads": 3, "max_position_embeddings": 20, "type_vocab_size": 2,
        "hidden_act": "gelu", "layer_norm_eps": 1e-12, "pad_token_id": 0}


def byte_vocabulary():
    kept = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in kept]
    symbols = [chr(byte) for byte in kept] + [chr(256 + i) for i in range(len(others))]
    words = ["<s>", "<pad>", "</s>", "<unk>", *symbols, *(merge.replace(" ", "") for merge in MERGES), "<mask>"]
    return {word: i for i, word in enumerate(words)}


BYTES = byte_vocabulary()
ROBERTA = {**BERT, "model_type": "roberta", "vocab_size": len(BYTES), "max_position_embeddings": 22, "pad_token_id": 1,
           "bos_token_id": 0, "eos_token_id": 2, "type_vocab_size": 1, "layer_norm_eps": 1e-5}
BART = {"model_type": "bart", "vocab_size": len(BYTES), "d_model": 24, "encoder_layers": 3, "decoder_layers": 1,
        "encoder_attention_heads": 3, "decoder_attention_heads": 3, "encoder_ffn_dim": 40, "decoder_ffn_dim": 20,
        "max_position_embeddings": 20, "activation_function": "gelu", "pad_token_id": 1, "bos_token_id": 0,
        "eos_token_id": 2, "decoder_start_token_id": 2, "forced_eos_token_id": 2}
DISTILBERT = {"model_type": "distilbert", "vocab_size": len(WORD_PIECES), "dim": 24, "hidden_dim": 40, "n_layers": 3,
              "n_heads": 3, "max_position_embeddings": 20, "activation": "gelu", "pad_token_id": 0}


def word_piece_files(kind):
    return {"vocab.txt": "".join(piece + "\n" for piece in WORD_PIECES),
            "tokenizer_config.json": json.dumps({"tokenizer_class": kind, "do_lower_case": True, "model_max_length": 20})}


# As in published files; version 5 forgets lstrip where no file says it.
MASK = {"__type": "AddedToken", "content": "<mask>", "lstrip": True, "rstrip": False, "single_word": False,
        "normalized": False}


def byte_files(kind):
    return {"vocab.json": json.dumps(BYTES, ensure_ascii=False),
            "merges.txt": "#version: 0.2\n" + "".join(merge + "\n" for merge in MERGES),
            "tokenizer_config.json": json.dumps({"tokenizer_class": kind, "model_max_length": 20, "mask_token": MASK})}


CASES = {
    "bert": (BERT, word_piece_files("BertTokenizer"), 3, {}),
    "bert, second layer, idf": (BERT, word_piece_files("BertTokenizer"), 2, {"idf": True}),
    "bert, embeddings": (BERT, word_piece_files("BertTokenizer"), 0, {}),
    "bert, idf, rescaled": (BERT, word_piece_files("BertTokenizer"), 3, {"idf": True, "rescale": True}),
    "bert, batched": (BERT, word_piece_files("BertTokenizer"), 3, {"batch": 64}),
    "distilbert": (DISTILBERT, word_piece_files("DistilBertTokenizer"), 2, {}),
    "roberta": (ROBERTA, byte_files("RobertaTokenizer"), 3, {}),
    "roberta, prefix space, idf": (ROBERTA, byte_files("RobertaTokenizer"), 3, {"prefix_space": True, "idf": True}),
    "bart": (BART, byte_files("BartTokenizer"), 2, {}),
    "bart, prefix space, batches of 3": (BART, byte_files("BartTokenizer"), 3, {"prefix_space": True, "batch": 3}),
}
MINILM_CASES = {"plain": {}, "idf": {"idf": True}, "idf, rescaled": {"idf": True, "rescale": True},
                "batched": {"batch": 64}, "fourth layer": {"layer": 4}}
ODD = ["", " \u3000\n", "?", "The Cat's CAFÉ costs 3,50 €!", "日本語の会議", "e\u0301 and é", "a\u00a0b", "\u00a0cat\u00a0",
       "🙂 done", "[SEP] in a text", "</s> and <mask> in a text", "pneumonoultramicroscopicsilicovolcanoconiosis"]


def sentence(generator, words):
    return " ".join(generator.choice(words) for _ in range(generator.choice([1, 2, 4, 7, 12]))) + generator.choice(["", ".", "?"])


def items_of(seed, count, words, long):
    """[candidate, [references]]; a text may be [text, times] for repeats with spaces between."""
    generator = random.Random(seed)
    items = [[sentence(generator, words), [sentence(generator, words) for _ in range(generator.choice([1, 1, 2, 4]))]]
             for _ in range(count)]
    items += [[odd, [sentence(generator, words)]] for odd in ODD] + [[sentence(generator, words), [odd, "the cat sat"]] for odd in ODD]
    items += [[["the meeting about the budget", long], ["the cat"]], ["the cat", [["remote control", long]]]]
    return items + items[:2]


def expanded(text):
    return text if isinstance(text, str) else " ".join([text[0]] * text[1])


def sent_encode(prefix_space):
    def encode(tokenizer, text):
        text = text.strip()
        if not text:
            return [tokenizer.cls_token_id, tokenizer.sep_token_id]
        return tokenizer.encode(" " + text if prefix_space else text, add_special_tokens=True, truncation=True,
                                max_length=tokenizer.model_max_length)
    return encode


def measure(folder, layer, items, options, baseline):
    bert_score.utils.sent_encode = sent_encode(options.get("prefix_space", False))
    candidates = [expanded(candidate) for candidate, _ in items]
    references = [[expanded(text) for text in texts] for _, texts in items]
    rescale = {"rescale_with_baseline": True, "lang": "en", "baseline_path": str(baseline)} if options.get("rescale") else {}
    scores = bert_score.score(candidates, references, model_type=str(folder), num_layers=layer,
                              idf=options.get("idf", False), batch_size=options.get("batch") or 1, nthreads=0,
                              device="cpu", **rescale)
    return [[round(float(column[i]), 7) for column in scores] for i in range(len(items))]


def ids_of(folder, items, options):
    tokenizer = bert_score.utils.get_tokenizer(str(folder))
    encode = sent_encode(options.get("prefix_space", False))
    texts = {expanded(text) for candidate, references in items for text in (candidate, *references)}
    return {text: encode(tokenizer, text) for text in sorted(texts) if len(text) < 200}


def write_baseline(folder, layers):
    path = folder / "baseline.tsv"
    path.write_text("LAYER,P,R,F\n" + "".join(f"{i},0.{i}1,0.{i}25,0.{i}2\n" for i in range(layers + 1)))
    return path


def tiny_case(name, work):
    config, files, layer, options = CASES[name]
    arguments = {key: value for key, value in config.items() if key != "model_type"}
    model = transformers.AutoModel.from_config(transformers.AutoConfig.for_model(config["model_type"], **arguments)).eval()
    tied = ("encoder.embed_tokens.weight", "decoder.embed_tokens.weight") if config["model_type"] == "bart" else ()
    tensors = tiny_models.fill(model, skip=tied)
    folder = work / "".join(c if c.isalpha() else "_" for c in name)
    model.save_pretrained(folder)
    for file, text in files.items():
        (folder / file).write_text(text)
    items = items_of(len(name), 5, WORDS, 9)
    return {"name": name, "config": config, "dtype": "F32", "shards": 1, "tensors": tensors, "files": files, "layer": layer,
            "options": options, "baseline": write_baseline(work, 6).read_text(), "items": items,
            "ids": ids_of(folder, items, options), "scores": measure(folder, layer, items, options, work / "baseline.tsv")}


def minilm_cases(folder, work):
    items = items_of(1, 16, [*WORDS, "unbelievable", "Tokenization", "2024", "of", "and", "was", "discussed"], 300)
    cases = [{"name": name, "options": options, "layer": options.get("layer", 6),
              "scores": measure(folder, options.get("layer", 6), items, options, write_baseline(work, 6))}
             for name, options in MINILM_CASES.items()]
    return {"items": items, "ids": ids_of(folder, items, {}), "baseline": write_baseline(work, 6).read_text(), "cases": cases}


def write(path, **content):
    text = json.dumps({"made_by": "make_bertscore_models_expected.py", "bert_score": "0.3.13",
                       "transformers": transformers.__version__, **content}, separators=(",", ":"), ensure_ascii=False)
    path.write_text(text + "\n")


def main():
    out = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else HERE)
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory(prefix="qfs_", dir="/tmp") as top:
        work = pathlib.Path(top) / "work"  # bert_score takes any path with "t5" in it for a T5
        work.mkdir()
        assert "t5" not in str(work), "run it again"
        write(out / "bertscore_models_expected.json", cases=[tiny_case(name, work) for name in CASES])
        write(out / "bertscore_minilm_expected.json", **minilm_cases(pathlib.Path(sys.argv[1]), work))


if __name__ == "__main__":
    main()
