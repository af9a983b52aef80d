#!/usr/bin/env python3
"""What does a memory say of its text? The loss of a text that is to be written again, behind its own memory.

Of two of QMSum's validation queries of each meeting (view golden) the document's first 512 tokens are compressed at
12 to 1, as SelfCP's auto-encoding does it, and learned behind the request: with their own memory, with that of as
many tokens of another meeting, and with none. Printed are the means over texts and the differences with 95 %
intervals by meeting. Computed in float32 by transformers, not by this program: 70 texts take a quarter of an hour of a
core. Needs torch, transformers, safetensors and gguf from PyPI (measured with torch 2.11.0, transformers 5.23.0 and
gguf 0.19.0).

Usage: text_loss.py QFS_BENCH BACKBONE.gguf ADAPTER [--texts N]
    ADAPTER: what the row 'selfcp (auto-encoding)' of experiments/compression.json trains, adapter.safetensors
"""

import argparse
import math
import pathlib

import torch
from safetensors.torch import load_file
from torch.nn import functional
from transformers import AutoModelForCausalLM

from memory_loss import LEAST, examples_of, interval, lent, rendered, tokenizer_of

WINDOW, RATIO, SEPARATOR, PER_MEETING = 512, 12, 3, 2
HEAD = (
    "<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>\n"
    "<|im_start|>user\nRead the document and answer the request with a short summary in plain sentences. "
    "Use only what the document says.\n\nRequest: {query}\n\nDocument:\n"
)
TAIL = "\n\nSummary:<|im_end|>\n<|im_start|>assistant\n"


class Reader:
    """SelfCP in a few lines: `head + separator + text + tags` to memory, and the loss behind one."""

    def __init__(self, model, tensors):
        self.model, self.tensors = model, tensors

    def embedded(self, ids):
        return self.model.get_input_embeddings()(torch.tensor(ids))

    def states(self, rows):
        return self.model.model(inputs_embeds=torch.cat(rows)[None]).last_hidden_state[0]

    def memory(self, head, text):
        count = max(1, math.ceil(len(text) / RATIO))
        tags = self.tensors["trained_embeddings.weight"][-1:].expand(count, -1)
        states = self.states([*map(self.embedded, (head, [SEPARATOR], text)), tags])[-count:]
        mapped = functional.linear(states, self.tensors["mlp.0.weight"], self.tensors["mlp.0.bias"])
        return functional.layer_norm(mapped, mapped.shape[-1:], self.tensors["norm.weight"], self.tensors["norm.bias"])

    def loss(self, head, memory, tail, response):
        states = self.states([self.embedded(head), *memory, self.embedded(tail), self.embedded(response)])
        logits = self.model.lm_head(states[-len(response) - 1:-1])
        return functional.cross_entropy(logits, torch.tensor(response)).item()


def pairs_of(examples, texts):
    """(meeting, query, text, as many tokens of another meeting)"""
    taken = {}
    for number, example in enumerate(examples):
        own, meeting = texts[number], example["document_id"]
        taken[meeting] = taken.get(meeting, 0) + (len(own) >= LEAST)
        if len(own) < LEAST or taken[meeting] > PER_MEETING:
            continue
        yield meeting, example["query"], own, lent(examples, texts, number)


def interval_of(rows, kind):
    """Of column `kind` minus the own memory's."""
    meetings = {}
    for meeting, losses in rows:
        count, total = meetings.get(meeting, (0, 0.0))
        meetings[meeting] = (count + 1, total + losses[kind] - losses[0])
    return interval([meetings[name] for name in sorted(meetings)])


@torch.no_grad()
def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bench", type=pathlib.Path)
    parser.add_argument("backbone", type=pathlib.Path)
    parser.add_argument("adapter", type=pathlib.Path)
    parser.add_argument("--texts", type=int, help="only so many")
    args = parser.parse_args()
    tokenizer = tokenizer_of(args.backbone)
    model = AutoModelForCausalLM.from_pretrained(args.backbone.parent, gguf_file=args.backbone.name, dtype=torch.float32)
    reader = Reader(model.eval(), {name: one.float() for name, one in load_file(args.adapter).items()})

    def ids(text):
        return tokenizer(text, add_special_tokens=False).input_ids

    examples = list(examples_of(str(args.bench.resolve())))
    tail, end = ids(TAIL), ids("<|im_end|>")
    rows = []  # (meeting, losses with the own memory, another's, none)
    for meeting, query, own, other in list(pairs_of(examples, [ids(rendered(e))[:WINDOW] for e in examples]))[:args.texts]:
        head = ids(HEAD.format(query=query))
        memories = [[reader.memory(head, own)], [reader.memory(head, other)], []]
        rows.append((meeting, [reader.loss(head, memory, tail, own + end) for memory in memories]))
    own, other, none = (sum(losses[kind] for _, losses in rows) / len(rows) for kind in range(3))
    print(f"{len(rows)} texts: {own:.4f} with the own memory, another's {other - own:+.4f} {interval_of(rows, 1)}, "
          f"none {none - own:+.4f} {interval_of(rows, 2)}")


if __name__ == "__main__":
    main()
