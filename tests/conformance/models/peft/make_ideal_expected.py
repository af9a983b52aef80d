"""Expected logits, losses and gradients of IDEAL's adapters on a tiny LLaMA, in float64.

Written from the formulas of the paper (arXiv 2407.10486) and its release; needs Python alone. Tensors are those of
../architectures/tiny_models.py, made here without numpy. Adapter files are in the release's layout: rows of
lora_wq_l2 and lora_wk_l2 are adjacent pairs of a head, the backbone's are halves. Gradients are central differences; what is
pooled for the hypernetwork stands still in them where a case says detach, and so does what a segment finds of those
before it: its window, its memories and the instruction's mean query. In a case that is "filled", the last segment is as
long as the others, as the release's padding makes it. Norms and biases of a case with "biases" are w_bias's.

Usage: make_ideal_expected.py > ideal_expected.json
"""

import json
import math
import pathlib
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
from plain import dot, logistic, matrix, plus, rms_norm, sigma, silu, softmax, times, values  # noqa: E402

LAYERS, HIDDEN, INNER, HEADS, KV_HEADS, VOCABULARY = 4, 32, 56, 4, 2, 40
DIM = HIDDEN // HEADS
THETA, EPS = 10000.0, 1e-5
IDS = [7, 21, 37, 15, 35, 17, 1, 27, 15, 5, 30, 31, 2, 25]
LABELS = {10: 12, 11: 3, 12: 39, 13: 8}  # position: next token
QUERY, DOCUMENT = [2, 3], [6, 4]  # first, count
BOTTLENECK = 6
STEP = 1e-4


def single(value):
    """In float32, in which transformers makes rotations, whatever type is rotated."""
    return struct.unpack("f", struct.pack("f", value))[0]


def rotate(head, position):
    half = DIM // 2
    turned = [0.0] * DIM
    for i in range(half):
        angle = single(position * single(1 / single(THETA ** (2 * i / DIM))))
        cosine, sine = single(math.cos(angle)), single(math.sin(angle))
        a, b = head[i], head[i + half]
        turned[i] = a * cosine - b * sine
        turned[i + half] = b * cosine + a * sine
    return turned


class Memory:
    """What a query head remembers: M, M_query and z, which both share."""

    def __init__(self):
        self.matrices = [[[0.0] * DIM for _ in range(DIM)] for _ in range(2)]
        self.z = [0.0] * DIM

    def written(self, rule, tokens):
        """tokens: key, value and relevance of each that leaves the window."""
        after = Memory()
        after.z = plus(self.z, *(sigma(key) for key, _, _ in tokens))
        for of_query, before in enumerate(self.matrices):
            total = [row[:] for row in before]
            for key, value, alpha in tokens:
                fresh = [v * (alpha if of_query else 1) for v in value]
                if rule == "delta" and any(self.z):
                    fresh = [f - r for f, r in zip(fresh, self.read(of_query, key))]
                for i, s in enumerate(sigma(key)):
                    total[i] = [t + s * f for t, f in zip(total[i], fresh)]
            after.matrices[of_query] = total
        return after

    def read(self, of_query, query):
        rows = sigma(query)
        return [dot(rows, column) / dot(rows, self.z) for column in zip(*self.matrices[of_query])]


def backbone_shapes():
    shapes = {"lm_head.weight": [VOCABULARY, HIDDEN], "model.embed_tokens.weight": [VOCABULARY, HIDDEN],
              "model.norm.weight": [HIDDEN]}
    for layer in range(LAYERS):
        at = f"model.layers.{layer}."
        shapes.update({
            at + "input_layernorm.weight": [HIDDEN], at + "post_attention_layernorm.weight": [HIDDEN],
            at + "self_attn.q_proj.weight": [HIDDEN, HIDDEN], at + "self_attn.o_proj.weight": [HIDDEN, HIDDEN],
            at + "self_attn.k_proj.weight": [KV_HEADS * DIM, HIDDEN],
            at + "self_attn.v_proj.weight": [KV_HEADS * DIM, HIDDEN],
            at + "mlp.gate_proj.weight": [INNER, HIDDEN], at + "mlp.up_proj.weight": [INNER, HIDDEN],
            at + "mlp.down_proj.weight": [HIDDEN, INNER]})
    return shapes


def backbone_tensors():
    tensors = []
    for name, shape in sorted(backbone_shapes().items()):
        norm = "norm" in name
        tensors.append({"name": name, "shape": shape, "scale": 0.5 if norm else 0.25, "offset": 1.0 if norm else 0.0})
    return tensors


WEIGHTS = {t["name"]: values(t["name"], math.prod(t["shape"]), t["scale"], t["offset"]) for t in backbone_tensors()}
for _name, _shape in backbone_shapes().items():
    if len(_shape) == 2:
        WEIGHTS[_name] = matrix(WEIGHTS[_name], _shape[0])

TARGETS = {"q": ("attention.lora_wq", HIDDEN, HIDDEN), "k": ("attention.lora_wk", HIDDEN, KV_HEADS * DIM),
           "v": ("attention.lora_wv", HIDDEN, KV_HEADS * DIM), "o": ("attention.lora_wo", HIDDEN, HIDDEN),
           "ffn_up": ("feed_forward.lora_w3", HIDDEN, INNER)}
# What w_bias trains besides.
BIASES = {"q": "attention.wq.bias", "o": "attention.wo.bias", "gate": "feed_forward.w1.bias",
          "down": "feed_forward.w2.bias", "ffn_up": "feed_forward.w3.bias"}
NORMS = {"input_layernorm": "attention_norm.weight", "post_attention_layernorm": "ffn_norm.weight"}


def in_halves(rows):
    """Row 2i of a head belongs to i, row 2i + 1 to i + half."""
    halves = [i for half in range(2) for i in range(half, DIM, 2)]
    return [rows[head + i] for head in range(0, len(rows), DIM) for i in halves]


class Case:
    """One configuration: its tensors, and the model with them."""

    def __init__(self, name, kind, size, generated, first=0, encoder="own", pooling="instruction", tanh=True,
                 detach=True, memory=None, biases=False):
        self.memory, self.biases = memory, biases
        self.name, self.kind, self.size, self.generated, self.first = name, kind, size, generated, first
        self.encoder, self.pooling, self.tanh, self.detach = encoder, pooling, tanh, detach
        self.start = LAYERS - generated
        self.shapes = self.all_shapes()
        self.tensors = {}
        for key, shape in self.shapes.items():
            scale, offset = self.spread(key)
            self.tensors[key] = values(key, math.prod(shape), scale, offset)
        self.held = {}

    @staticmethod
    def spread(key):
        return (0.25, 1.0) if key.endswith("norm.weight") else (0.25, 0.0)

    def hyper(self):
        return {"lora": "lora_hyper_net.", "parallel_adapter": "padapter_hyper_net.", "prompt": "prompt_hyper_net."}[
            self.kind]

    def parts(self):
        if self.kind == "lora":
            return {f"{t}_l1": [inputs, self.size] for t, (_, inputs, _) in TARGETS.items()}
        if self.kind == "parallel_adapter":
            return {"weight_down": [HIDDEN, self.size], "bias_down": [self.size], "weight_up": [self.size, HIDDEN],
                    "bias_up": [HIDDEN]}
        return {"prompt_weight": [self.size, HIDDEN]}

    def all_shapes(self):
        shapes = {}
        for layer in range(self.first, LAYERS):
            at = f"llama.layers.{layer}."
            made = layer >= self.start
            if self.kind == "lora":
                for released, inputs, outputs in TARGETS.values():
                    if not made:
                        shapes[f"{at}{released}_l1.loralinear.weight"] = [self.size, inputs]
                    shapes[f"{at}{released}_l2.weight"] = [outputs, self.size]
            elif self.kind == "prompt":
                if not made:
                    shapes[at + "attention.prompt"] = [1, self.size, HIDDEN]
                shapes[at + "attention.prompt_gate"] = [1, HEADS, 1, 1]
            elif not made:
                at += "p_adapter.adapter_"
                shapes.update({at + "down_manual_proj.weight": [self.size, HIDDEN],
                               at + "down_manual_proj.bias": [self.size],
                               at + "up_manual_proj.weight": [HIDDEN, self.size],
                               at + "up_manual_proj.bias": [HIDDEN]})
            if self.memory:
                at = f"llama.layers.{layer}.attention."
                shapes.update({at + "gate": [1, HEADS, 1, 1], at + "gate_memory.weight": [1, DIM]})
                if self.memory["gamma_bias"]:
                    shapes[at + "gate_memory.bias"] = [1]
        if self.biases:
            shapes["llama.norm.weight"] = [HIDDEN]
            for layer in range(LAYERS):
                for name in [*BIASES.values(), *NORMS.values()]:
                    shapes[f"llama.layers.{layer}.{name}"] = [INNER if name[-6:-4] in ("1.", "3.") else HIDDEN]
        if self.generated:
            net = self.hyper()
            read = HIDDEN * (2 if self.pooling == "both" else 1)
            shapes[net + "norm.weight"] = [read]
            if self.encoder == "serial":
                for i in range(self.generated):
                    shapes[f"{net}encoders.{i}.linear0.weight"] = [BOTTLENECK, read]
                    shapes[f"{net}encoders.{i}.linear0.bias"] = [BOTTLENECK]
            else:
                rows = BOTTLENECK * (self.generated if self.encoder == "own" else 1)
                shapes[net + "encoder.linear0.weight"] = [rows, read]
                shapes[net + "encoder.linear0.bias"] = [rows]
            for part, shape in self.parts().items():
                shapes[f"{net}decoder.{part}.weight"] = [math.prod(shape), BOTTLENECK]
                shapes[f"{net}decoder.{part}.bias"] = [math.prod(shape)]
        return shapes

    def get(self, key):
        flat = self.tensors[key]
        shape = [s for s in self.shapes[key]]
        return matrix(flat, shape[-2]) if len(shape) in (2, 3) else flat

    def once(self, key, make):
        if key not in self.known:
            self.known[key] = make()
        return self.known[key]

    def low_rank(self, layer, target):
        """A as rows of ranks, and B in the backbone's order of rows."""
        released, _, _ = TARGETS[target]
        at = f"llama.layers.{layer}.{released}"
        up = self.get(at + "_l2.weight")
        if target in ("q", "k"):
            up = in_halves(up)
        if layer < self.start:
            return self.get(at + "_l1.loralinear.weight"), up
        a = matrix(self.made[layer][target + "_l1"], HIDDEN)
        return [[a[i][r] for i in range(HIDDEN)] for r in range(self.size)], up

    def product(self, layer, target, name, x):
        y = times(WEIGHTS[f"model.layers.{layer}.{name}.weight"], x)
        if self.biases and target in BIASES:
            bias = self.get(f"llama.layers.{layer}.{BIASES[target]}")
            y = plus(y, in_halves(bias) if target == "q" else bias)
        if self.kind != "lora" or layer < self.first or target not in TARGETS:
            return y
        down, up = self.once((layer, target), lambda: self.low_rank(layer, target))
        return plus(y, times(up, times(down, x)))

    def normed(self, layer, name, x):
        own = f"llama.layers.{layer}.{NORMS[name]}"
        return rms_norm(x, self.get(own) if self.biases else WEIGHTS[f"model.layers.{layer}.{name}.weight"])

    def prompt(self, layer):
        if layer < self.start:
            return self.get(f"llama.layers.{layer}.attention.prompt")
        return matrix(self.made[layer]["prompt_weight"], self.size)

    def beside_mlp(self, layer, x):
        if self.kind != "parallel_adapter" or layer < self.first:
            return [0.0] * HIDDEN
        if layer < self.start:
            at = f"llama.layers.{layer}.p_adapter.adapter_"
            down, up = self.get(at + "down_manual_proj.weight"), self.get(at + "up_manual_proj.weight")
            down_bias, up_bias = self.get(at + "down_manual_proj.bias"), self.get(at + "up_manual_proj.bias")
        else:
            made = self.made[layer]
            by_input = matrix(made["weight_down"], HIDDEN)
            down = [[by_input[i][r] for i in range(HIDDEN)] for r in range(self.size)]
            by_rank = matrix(made["weight_up"], self.size)
            up = [[by_rank[r][o] for r in range(self.size)] for o in range(HIDDEN)]
            down_bias, up_bias = made["bias_down"], made["bias_up"]
        inner = [silu(v) for v in plus(times(down, x), down_bias)]
        return plus(times(up, inner), up_bias)

    def pool(self, layer, stream):
        if self.detach and layer in self.held:
            return self.held[layer]

        def mean(span):
            rows = stream[span[0]:span[0] + span[1]]
            return [sum(column) / len(rows) for column in zip(*rows)]

        pooled = {"instruction": lambda: mean(QUERY), "document": lambda: mean(DOCUMENT),
                  "all": lambda: mean([0, len(IDS)]), "both": lambda: mean(QUERY) + mean(DOCUMENT)}[self.pooling]()
        self.held[layer] = pooled
        return pooled

    def generate(self, layer, stream):
        net, index = self.hyper(), layer - self.start
        if index == 0 or self.encoder == "serial":
            self.states = self.pool(layer, stream)
        read = self.dropped(rms_norm(self.states, self.get(net + "norm.weight")), 0)
        if self.encoder == "serial":
            at = f"{net}encoders.{index}.linear0"
            encoded = plus(times(self.get(at + ".weight"), read), self.get(at + ".bias"))
        else:
            encoded = plus(times(self.get(net + "encoder.linear0.weight"), read), self.get(net + "encoder.linear0.bias"))
            if self.encoder == "own":
                encoded = encoded[index * BOTTLENECK:(index + 1) * BOTTLENECK]
        encoded = self.dropped([max(v, 0.0) for v in encoded], len(read) + index * BOTTLENECK)
        self.made[layer] = {
            part: plus(times(self.get(f"{net}decoder.{part}.weight"), encoded), self.get(f"{net}decoder.{part}.bias"))
            for part in self.parts()}

    def dropped(self, vector, first):
        """first: of what is drawn for the hypernetwork. Nothing is, but in make_released_expected.py."""
        return vector

    def prompt_heads(self, layer):
        at = f"model.layers.{layer}.self_attn."
        rows = self.prompt(layer)
        return [[times(WEIGHTS[at + name], row) for row in rows] for name in ("k_proj.weight", "v_proj.weight")]

    def segments(self):
        length = self.memory["segment"] if self.memory else len(IDS)
        return [(first, min(length, len(IDS) - first)) for first in range(0, len(IDS), length)]

    def found(self, layer, first, make):
        """What a segment finds of those before it."""
        if (layer, first) not in self.held:
            self.held[layer, first] = make()
        return self.held[layer, first]

    def mean_query(self, layer, reads):
        weight = WEIGHTS[f"model.layers.{layer}.self_attn.q_proj.weight"]
        asked = [times(weight, x) for x in reads[QUERY[0]:QUERY[0] + QUERY[1]]]
        return matrix([sum(column) / len(asked) for column in zip(*asked)], HEADS)

    def forget(self, before, arriving):
        """The window without what leaves it, and the memories with that."""
        window, memories, asking = before
        leaving = max(0, len(window) + arriving - self.memory["segment"])
        if leaving == 0:
            return before
        after = []
        divisor = math.sqrt(DIM if self.memory["relevance"] == "head" else HIDDEN)
        for head in range(HEADS):
            group = head // (HEADS // KV_HEADS)
            tokens = [(key[group], value[group], logistic(dot(asking[head], key[group]) / divisor))
                      for _, key, value in window[:leaving]]
            after.append((memories[head] if memories else Memory()).written(self.memory["rule"], tokens))
        return window[leaving:], after, asking

    def recall(self, layer, memory, head, query, local):
        """What a query finds in the memory, mixed with what its window gave."""
        at = f"llama.layers.{layer}.attention."
        everything, asked = memory.read(0, query), memory.read(1, query)
        score = dot(self.get(at + "gate_memory.weight")[0], asked)
        if self.memory["gamma_bias"]:
            score += self.get(at + "gate_memory.bias")[0]
        gamma, share = logistic(score), logistic(self.get(at + "gate")[head])
        return [share * (gamma * a + (1 - gamma) * e) + (1 - share) * l
                for a, e, l in zip(asked, everything, local)]

    def attend(self, layer, query, seen, memories):
        """query: position and heads; seen: position, keys and values of each token."""
        out = []
        position, heads = query
        for head in range(HEADS):
            group = head // (HEADS // KV_HEADS)
            q = rotate(heads[head], position)
            shares = softmax([dot(q, rotate(key[group], p)) / math.sqrt(DIM) for p, key, _ in seen])
            mixed = [sum(s * value[group][i] for s, (_, _, value) in zip(shares, seen)) for i in range(DIM)]
            if self.kind == "prompt" and layer >= self.first:
                both = self.once(layer, lambda: self.prompt_heads(layer))
                k, v = ([row[group * DIM:(group + 1) * DIM] for row in rows] for rows in both)
                own = softmax([dot(q, key) / math.sqrt(DIM) for key in k])
                gate = self.get(f"llama.layers.{layer}.attention.prompt_gate")[head]
                gate = math.tanh(gate) if self.tanh else gate
                mixed = [m + gate * sum(s * row[i] for s, row in zip(own, v)) for i, m in enumerate(mixed)]
            if memories:
                mixed = self.recall(layer, memories[head], head, heads[head], mixed)
            out += mixed
        return out

    def layer(self, layer, first, stream, before):
        """The stream behind a layer, and what the next segment begins with there."""
        reads = [self.normed(layer, "input_layernorm", row) for row in stream]
        queries, own = [], []
        for position, x in enumerate(reads, first):
            queries.append((position, matrix(self.product(layer, "q", "self_attn.q_proj", x), HEADS)))
            own.append((position, matrix(self.product(layer, "k", "self_attn.k_proj", x), KV_HEADS),
                        matrix(self.product(layer, "v", "self_attn.v_proj", x), KV_HEADS)))
        window, memories, asking = [], None, None
        if self.memory:
            if first == 0:
                before = [], None, self.mean_query(layer, reads)
            arriving = self.memory["segment"] if self.memory.get("filled") else len(own)
            window, memories, asking = self.found(layer, first, lambda: self.forget(before, arriving))
        behind = []
        for i, row in enumerate(stream):
            mixed = self.attend(layer, queries[i], window + own[:i + 1], memories)
            row = plus(row, self.product(layer, "o", "self_attn.o_proj", mixed))
            x = self.normed(layer, "post_attention_layernorm", row)
            gate = self.product(layer, "gate", "mlp.gate_proj", x)
            up = self.product(layer, "ffn_up", "mlp.up_proj", x)
            inner = [silu(g) * u for g, u in zip(gate, up)]
            behind.append(plus(row, self.product(layer, "down", "mlp.down_proj", inner), self.beside_mlp(layer, x)))
        return behind, (window + own, memories, asking)

    def begin(self, segment):
        if segment == 0:
            self.made, self.known = {}, {}

    def logits(self):
        rows, states = [], [None] * LAYERS
        for segment, (first, length) in enumerate(self.segments()):
            self.begin(segment)
            stream = [WEIGHTS["model.embed_tokens.weight"][token][:] for token in IDS[first:first + length]]
            for layer in range(LAYERS):
                if layer >= self.start and layer not in self.made:
                    self.generate(layer, stream)
                stream, states[layer] = self.layer(layer, first, stream, states[layer])
            rows += stream
        last = self.get("llama.norm.weight") if self.biases else WEIGHTS["model.norm.weight"]
        return [times(WEIGHTS["lm_head.weight"], rms_norm(row, last)) for row in rows]

    def loss(self, logits):
        """The sum over labels, or of the means of segments."""
        total = 0.0
        for first, length in self.segments():
            losses = [-math.log(softmax(logits[p])[label]) for p, label in LABELS.items() if first <= p < first + length]
            if losses:
                total += sum(losses) / (len(losses) if self.memory and self.memory["segment_means"] else 1)
        return total

    def gradient(self, flat, index):
        kept = flat[index]
        flat[index] = kept + STEP
        above = self.loss(self.logits())
        flat[index] = kept - STEP
        below = self.loss(self.logits())
        flat[index] = kept
        return (above - below) / (2 * STEP)

    def gradients(self):
        """Of an element of each tensor: one that the loss depends on, where the first tries find some."""
        rows = []
        for key in sorted(self.tensors):
            flat = self.tensors[key]
            tried = {index: self.gradient(flat, index) for index in [(len(flat) * 2) // 3]}
            for part in range(1, 16):
                if max(map(abs, tried.values())) > 1e-5:
                    break
                index = (len(flat) * part) // 16 + part % 3
                tried.setdefault(min(index, len(flat) - 1), self.gradient(flat, min(index, len(flat) - 1)))
            index = max(tried, key=lambda i: abs(tried[i]))
            rows.append({"name": key, "index": index, "value": float(f"{tried[index]:.7g}")})
        return rows

    def expected(self):
        logits = self.logits()
        return {"name": self.name, "kind": self.kind, "pooling": self.pooling, "gate_tanh": self.tanh,
                "detach": self.detach, "size": self.size, "first_layer": self.first, "generated": self.generated,
                "encoder": self.encoder, "memory": self.memory,
                "tensors": [{"name": key, "shape": shape, "scale": self.spread(key)[0], "offset": self.spread(key)[1]}
                            for key, shape in sorted(self.shapes.items())],
                "logits": [[round(v, 6) for v in logits[p]] for p in (0, 8, 13)],
                "loss": round(self.loss(logits), 6), "gradients": self.gradients()}


CASES = [
    Case("parallel_adapter", "parallel_adapter", 3, 0),
    Case("prompt_tuning", "prompt", 3, 0, first=1),
    Case("ideal_lora", "lora", 2, 2),
    Case("ideal_parallel_adapter", "parallel_adapter", 3, 2),
    Case("ideal_prompt_as_released", "prompt", 3, 2, tanh=False),
    Case("ideal_lora_common", "lora", 2, 2, encoder="common"),
    Case("ideal_lora_serial", "lora", 2, 2, encoder="serial"),
    Case("ideal_lora_not_detached", "lora", 2, 2, detach=False),
    Case("ideal_prompt_both", "prompt", 3, 2, first=1, pooling="both"),
    Case("ideal_lora_memory_as_written", "lora", 2, 2, memory={
        "segment": 6, "rule": "linear", "relevance": "model", "gamma_bias": False, "segment_means": False}),
    Case("ideal_lora_memory_as_released", "lora", 2, 2, memory={
        "segment": 6, "rule": "delta", "relevance": "head", "gamma_bias": True, "segment_means": True}),
    Case("ideal_lora_memory_filled", "lora", 2, 2, memory={
        "segment": 6, "rule": "delta", "relevance": "head", "gamma_bias": True, "segment_means": True, "filled": True}),
    Case("ideal_lora_biases", "lora", 2, 2, biases=True),
    Case("prompt_tuning_biases", "prompt", 3, 0, first=1, biases=True),
]

if __name__ == "__main__":
    config = {"model_type": "llama", "vocab_size": VOCABULARY, "hidden_size": HIDDEN, "intermediate_size": INNER,
              "num_hidden_layers": LAYERS, "num_attention_heads": HEADS, "num_key_value_heads": KV_HEADS,
              "max_position_embeddings": 64, "rms_norm_eps": EPS, "rope_theta": THETA, "tie_word_embeddings": False,
              "hidden_act": "silu", "torch_dtype": "float32"}
    backbone = {"name": "llama", "config": config, "dtype": "F32", "shards": 1, "tensors": backbone_tensors()}
    json.dump({"made_by": "make_ideal_expected.py", "backbone": backbone, "ids": IDS,
               "labels": [LABELS.get(i, -1) for i in range(len(IDS))], "query": QUERY, "document": DOCUMENT,
               "positions": [0, 8, 13], "cases": [case.expected() for case in CASES]}, sys.stdout)
    print()
