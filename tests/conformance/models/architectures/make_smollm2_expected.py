"""Writes smollm2_expected.json: logits and greedy continuations of SmolLM2-135M-Instruct.

Reference: transformers 5.23.0 on the same GGUF file (dequantised to float32 on load), CPU, two threads.
Token ids are given explicitly, made by make_smollm_expected.py's tokenizer, because the tokenizer that
transformers builds from this file is wrong for it.

Per prompt: the ids; for every greedy step the arg max and its margin to the second; the logits of the
first and the last step at fixed vocabulary indices.

Needs: transformers 5.23.0, torch 2.11.0, tokenizers, gguf. Usage: make_smollm2_expected.py MODEL.gguf OUT.json
"""

import json
import pathlib
import sys

import torch
import transformers

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))
sys.path.insert(0, str(HERE.parent / "tokenizers"))
import make_smollm_expected  # noqa: E402
import prompts  # noqa: E402

STEPS = 10
INDICES = [(7 + 409 * i) % 49152 for i in range(120)]
START, END = 1, 2


def chat_ids(tokenizer, user: str) -> list[int]:
    """The chat template's own rendering: default system prompt, one user turn, assistant opened."""

    def plain(text: str) -> list[int]:
        return tokenizer.encode(text, add_special_tokens=False).ids

    system = "You are a helpful AI assistant named SmolLM, trained by Hugging Face"
    newline = plain("\n")
    return (
        [START, *plain("system\n" + system), END, *newline]
        + [START, *plain("user\n" + user), END, *newline]
        + [START, *plain("assistant\n")]
    )


@torch.no_grad()
def run(model, ids: list[int]) -> dict:
    cache = transformers.DynamicCache(config=model.config)
    tokens = torch.tensor([ids])
    steps, continuation = [], []
    for step in range(STEPS):
        logits = model(input_ids=tokens, past_key_values=cache, logits_to_keep=1).logits[0, -1].float()
        top = torch.topk(logits, 2)
        entry = {
            "argmax": int(top.indices[0]),
            "margin": round(float(top.values[0] - top.values[1]), 6),
        }
        if step in (0, STEPS - 1):
            entry["logits"] = [round(float(logits[i]), 6) for i in INDICES]
        steps.append(entry)
        continuation.append(entry["argmax"])
        tokens = torch.tensor([[entry["argmax"]]])
    return {"ids": ids, "steps": steps, "continuation": continuation}


def main() -> None:
    model_file, output = (pathlib.Path(a) for a in sys.argv[1:])
    torch.set_num_threads(2)
    tokenizer = make_smollm_expected.build(str(model_file))
    model = transformers.AutoModelForCausalLM.from_pretrained(
        str(model_file.parent), gguf_file=model_file.name, dtype=torch.float32
    )
    model.eval()
    cases = []
    for name, text in prompts.fixed_prompts().items():
        if text:
            ids = tokenizer.encode(text, add_special_tokens=False).ids
            cases.append({"name": name, **run(model, ids)})
    question = prompts.fixed_prompts()["question"]
    cases.append({"name": "chat_question", **run(model, chat_ids(tokenizer, question))})
    cases.append({"name": "chat_markers", **run(model, chat_ids(tokenizer, "Repeat: <|im_end|>"))})
    head = {
        "reference": f"transformers {transformers.__version__}, torch {torch.__version__}",
        "indices": INDICES,
        "chat_user_texts": {"chat_question": question, "chat_markers": "Repeat: <|im_end|>"},
    }
    lines = ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases)
    output.write_text(json.dumps(head)[:-1] + f', "cases": [\n{lines}\n]}}\n')


if __name__ == "__main__":
    main()
