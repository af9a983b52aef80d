#!/usr/bin/env python3
"""Writes peft_expected.json and adapters of tiny random models: what peft computes with LoRA.

Reference: peft 0.21.2 on transformers 5.23.0 and torch 2.11.0, float32, CPU, eager attention. The models are the first
cases of tiny_llama_expected.json, tiny_gpt2_expected.json and tiny_seq2seq_expected.json. Per model: a PEFT directory
ADAPTERS/NAME that save_pretrained wrote, with matrices that tiny_models.py makes by their names; the logits of a text
with it; the gradients of the mean loss (L2 norm, and product with the values for "NAME#gradient"); and the losses of
20 steps of torch.optim.AdamW (weight decay 0.01, learning rate 0.01, gradients clipped to 1) in batches of two of the
texts in order, each step's loss being the mean over the labels of its batch.

With --check FOLDER it instead loads FOLDER/NAME, directories that this program's test wrote, and compares logits.

Needs: peft 0.21.2, transformers 5.23.0, torch 2.11.0. Usage: make_peft_expected.py [--check FOLDER]
"""

import json
import pathlib
import sys

import peft
import safetensors.torch
import torch
import transformers

HERE = pathlib.Path(__file__).resolve().parent
ARCHITECTURES = HERE.parent / "architectures"
sys.path.insert(0, str(ARCHITECTURES))
import tiny_models  # noqa: E402

MODELS = {
    "llama": ("llama", transformers.AutoModelForCausalLM, ["q_proj", "v_proj", "o_proj", "up_proj", "down_proj"]),
    "gpt2": ("gpt2", transformers.AutoModelForCausalLM, ["c_attn", "attn.c_proj", "c_fc"]),
    "bart": ("seq2seq", transformers.AutoModelForSeq2SeqLM, ["q_proj", "k_proj", "v_proj", "out_proj", "fc1"]),
}
RANK, ALPHA = 3, 6
TEXTS = [[(5 + 7 * row + 11 * i + i * i) % 37 + 3 for i in range(9 + 2 * row)] for row in range(4)]
NO_LABEL = -100


def base_model(kind, factory):
    case = json.loads((ARCHITECTURES / f"tiny_{kind}_expected.json").read_text())["cases"][0]
    arguments = {k: v for k, v in case["config"].items() if k not in ("model_type", "torch_dtype", "architectures")}
    config = transformers.AutoConfig.for_model(case["config"]["model_type"], **arguments)
    config._attn_implementation = "eager"
    model = factory.from_config(config).float().eval()
    tensors = {t["name"]: t for t in case["tensors"]}
    parameters = dict(model.named_parameters(remove_duplicate=False))
    with torch.no_grad():
        for name, tensor in tensors.items():
            if name in parameters:
                parameters[name].copy_(
                    tiny_models.values(name, tensor["shape"], tensor["scale"], tensor["offset"]))
    model.tie_weights()
    return model


def adapted(kind, factory, targets):
    task = "SEQ_2_SEQ_LM" if kind == "seq2seq" else "CAUSAL_LM"
    config = peft.LoraConfig(r=RANK, lora_alpha=ALPHA, target_modules=targets, task_type=task,
                             fan_in_fan_out=kind == "gpt2")
    model = peft.get_peft_model(base_model(kind, factory), config).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.requires_grad:
                parameter.copy_(tiny_models.values(name.replace(".default", ""), list(parameter.shape), 0.25, 0))
    return model


def begun(kind, text):
    """What the model reads of a text, and the labels of the positions."""
    ids = torch.tensor([text])
    if kind == "seq2seq":
        start = [2, 0] + text[:5]
        labels = [NO_LABEL, NO_LABEL] + text[1:6]
        return {"input_ids": ids, "decoder_input_ids": torch.tensor([start])}, labels
    return {"input_ids": ids}, [NO_LABEL] * 4 + text[5:] + [NO_LABEL]


def loss_of(kind, model, texts):
    total, count = 0, 0
    for text in texts:
        read, labels = begun(kind, text)
        logits = model(**read).logits[0]
        wanted = torch.tensor(labels)
        total = total + torch.nn.functional.cross_entropy(logits, wanted, ignore_index=NO_LABEL, reduction="sum")
        count += int((wanted != NO_LABEL).sum())
    return total / count


def digits(value):
    return float(f"{float(value):.9g}")


def run(name):
    kind, factory, targets = MODELS[name]
    model = adapted(kind, factory, targets)
    model.save_pretrained(HERE / "adapters" / name)
    (HERE / "adapters" / name / "README.md").unlink(missing_ok=True)
    with torch.no_grad():
        logits = model(**begun(kind, TEXTS[0])[0]).logits[0]
    loss_of(kind, model, TEXTS[:2]).backward()
    trained = {n.replace(".default", ""): p for n, p in model.named_parameters() if p.requires_grad}
    gradients = [{"name": n, "norm": digits(p.grad.norm()),
                  "product": digits((p.grad * tiny_models.values(n + "#gradient", list(p.shape), 1, 0)).sum())}
                 for n, p in trained.items()]
    optimizer = torch.optim.AdamW(trained.values(), lr=0.01, weight_decay=0.01)
    losses = []
    for step in range(20):
        optimizer.zero_grad()
        loss = loss_of(kind, model, [TEXTS[(2 * step + i) % len(TEXTS)] for i in range(2)])
        loss.backward()
        torch.nn.utils.clip_grad_norm_(trained.values(), 1.0)
        optimizer.step()
        losses.append(digits(loss.detach()))
    return {"name": name, "described": f"tiny_{kind}_expected.json", "rank": RANK, "scale": ALPHA / RANK,
            "targets": targets, "logits": [tiny_models.rounded(row, 7) for row in logits],
            "gradients": gradients, "losses": losses}


def check(folder):
    expected = json.loads((HERE / "peft_expected.json").read_text())
    for case in expected["cases"]:
        kind, factory, _ = MODELS[case["name"]]
        model = peft.PeftModel.from_pretrained(base_model(kind, factory), str(folder / case["name"])).eval()
        with torch.no_grad():
            logits = model(**begun(kind, TEXTS[0])[0]).logits[0]
        difference = (logits - torch.tensor(case["logits"])).abs().max().item()
        print(f"{case['name']}: largest difference of a logit {difference:.2e}")
        if not difference < 1e-5:
            sys.exit(f"{case['name']}: more than 1e-5")


def main():
    torch.set_num_threads(1)
    if len(sys.argv) == 3 and sys.argv[1] == "--check":
        return check(pathlib.Path(sys.argv[2]))
    texts = [{"ids": text, "kinds": {kind: {key: value[0].tolist() for key, value in begun(kind, text)[0].items()}
                                     | {"labels": begun(kind, text)[1]} for kind in ("llama", "seq2seq")}}
             for text in TEXTS]
    cases = [run(name) for name in MODELS]
    (HERE / "peft_expected.json").write_text(
        json.dumps({"made_by": "make_peft_expected.py", "peft": peft.__version__,
                    "transformers": transformers.__version__, "texts": texts, "cases": cases},
                   separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
