"""Writes smollm_expected.json: token ids that the SmolLM2 tokenizer must produce.

Reference: Hugging Face tokenizers with the vocabulary and merges of the GGUF file and the right
pre-tokenizer (every \\p{N} its own piece, then GPT-2's pattern, byte-level). The tokenizer that
transformers builds from this file lacks the digit rule and is not used.

Needs: tokenizers 0.23.3, gguf 0.19.0. Usage: make_smollm_expected.py MODEL.gguf OUTPUT.json
"""

import json
import pathlib
import sys

import gguf
import tokenizers
from tokenizers import Tokenizer, models, pre_tokenizers

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
import prompts  # noqa: E402


def build(path: str) -> Tokenizer:
    fields = gguf.GGUFReader(path).fields
    pieces = fields["tokenizer.ggml.tokens"].contents()
    merges = [tuple(m.split(" ")) for m in fields["tokenizer.ggml.merges"].contents()]
    tokenizer = Tokenizer(models.BPE(vocab={p: i for i, p in enumerate(pieces)}, merges=merges))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Digits(individual_digits=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True),
        ]
    )
    return tokenizer


def main() -> None:
    model, output = sys.argv[1:]
    tokenizer = build(model)
    cases = [{"name": name, "text": text} for name, text in prompts.fixed_prompts().items()]
    cases += [
        {"name": f"random_{i}", "text": text} for i, text in enumerate(prompts.random_texts(400, 20260131))
    ]
    for case in cases:
        case["ids"] = tokenizer.encode(case["text"], add_special_tokens=False).ids
    assert any(len(case["ids"]) > 1500 for case in cases)
    document = {"reference": f"tokenizers {tokenizers.__version__}", "cases": cases}
    lines = ",\n".join(json.dumps(case, ensure_ascii=True, separators=(",", ":")) for case in cases)
    head = json.dumps({"reference": document["reference"]})[:-1]
    pathlib.Path(output).write_text(f'{head}, "cases": [\n{lines}\n]}}\n')


if __name__ == "__main__":
    main()
