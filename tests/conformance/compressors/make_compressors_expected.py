"""Expected logits, losses and gradients of compressors on a tiny LLaMA in float64, and what LLMLingua keeps.

Written from the formulas of SelfCP (arXiv 2405.17052), AutoCompressor (arXiv 2305.14788), ICAE (arXiv 2307.06945) and
LLMLingua 0.1.5; needs Python alone. Backbone and products are those of ../models/peft/make_ideal_expected.py; gradients are
central differences.

Usage: make_compressors_expected.py > compressors_expected.json
"""

import json
import math
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "models/peft"))
import make_ideal_expected as tiny  # noqa: E402

HEAD, TAIL, RESPONSE = [7, 21, 30], [2, 11], [12, 3, 39, 8]
CONTENT = [15, 35, 17, 1, 27, 15, 5, 37, 31, 2, 25, 9, 22]
SEPARATOR, TAG = 3, 4
LORA_RANK, LORA_ALPHA = 2, 3.0
STEP = 1e-4
PROJECTIONS = {"q": tiny.HEADS * tiny.DIM, "k": tiny.KV_HEADS * tiny.DIM, "v": tiny.KV_HEADS * tiny.DIM,
               "o": tiny.HIDDEN}


def embedded(ids):
    return [tiny.WEIGHTS["model.embed_tokens.weight"][i][:] for i in ids]


def body(rows, adapters=None):
    """What the head multiplies, of rows that enter layer 0; adapters: (layer, projection) to (A, B)."""
    def product(layer, target, x):
        y = tiny.times(tiny.WEIGHTS[f"model.layers.{layer}.self_attn.{target}_proj.weight"], x)
        if adapters is None or (layer, target) not in adapters:
            return y
        down, up = adapters[(layer, target)]
        added = tiny.times(up, tiny.times(down, x))
        return [v + LORA_ALPHA / LORA_RANK * a for v, a in zip(y, added)]

    stream = [row[:] for row in rows]
    for layer in range(tiny.LAYERS):
        at = f"model.layers.{layer}."
        queries, keys, values = [], [], []
        for position, row in enumerate(stream):
            x = tiny.rms_norm(row, tiny.WEIGHTS[at + "input_layernorm.weight"])
            queries.append([tiny.rotate(h, position) for h in tiny.matrix(product(layer, "q", x), tiny.HEADS)])
            keys.append([tiny.rotate(h, position) for h in tiny.matrix(product(layer, "k", x), tiny.KV_HEADS)])
            values.append(tiny.matrix(product(layer, "v", x), tiny.KV_HEADS))
        for position, row in enumerate(stream):
            mixed = []
            for head in range(tiny.HEADS):
                group = head // (tiny.HEADS // tiny.KV_HEADS)
                scores = [sum(a * b for a, b in zip(queries[position][head], keys[p][group])) / math.sqrt(tiny.DIM)
                          for p in range(position + 1)]
                shares = tiny.softmax(scores)
                mixed += [sum(s * values[p][group][i] for p, s in enumerate(shares)) for i in range(tiny.DIM)]
            row = tiny.plus(row, product(layer, "o", mixed))
            x = tiny.rms_norm(row, tiny.WEIGHTS[at + "post_attention_layernorm.weight"])
            gate = tiny.times(tiny.WEIGHTS[at + "mlp.gate_proj.weight"], x)
            up = tiny.times(tiny.WEIGHTS[at + "mlp.up_proj.weight"], x)
            inner = [tiny.silu(g) * u for g, u in zip(gate, up)]
            stream[position] = tiny.plus(row, tiny.times(tiny.WEIGHTS[at + "mlp.down_proj.weight"], inner))
    return [tiny.rms_norm(row, tiny.WEIGHTS["model.norm.weight"]) for row in stream]


def layer_norm(x, weight, bias):
    mean = sum(x) / len(x)
    inverse = 1 / math.sqrt(sum((v - mean) ** 2 for v in x) / len(x) + 1e-5)
    return [(v - mean) * inverse * w + b for v, w, b in zip(x, weight, bias)]


class Case:
    def __init__(self, name, shapes, plan):
        self.name, self.plan = name, plan
        self.shapes = shapes
        self.tensors = {key: tiny.values(name + ":" + key, math.prod(shape), *self.spread(key))
                        for key, shape in shapes.items()}

    @staticmethod
    def spread(key):
        return (0.25, 1.0) if key == "norm.weight" else (0.25, 0.0)

    def rows(self, key):
        return tiny.matrix(self.tensors[key], self.shapes[key][0])

    def logits(self):
        generator, adapters = self.generator()
        states = body(generator + embedded(RESPONSE[:-1]), adapters)[-len(RESPONSE):]
        return [tiny.times(tiny.WEIGHTS["lm_head.weight"], row) for row in states]

    def loss(self):
        return sum(-math.log(tiny.softmax(row)[label]) for row, label in zip(self.logits(), RESPONSE)) / len(RESPONSE)

    def expected(self):
        gradients = []
        for key in sorted(self.tensors):
            flat = self.tensors[key]
            for index in sorted({len(flat) // 5, (len(flat) * 2) // 3}):
                kept = flat[index]
                flat[index] = kept + STEP
                above = self.loss()
                flat[index] = kept - STEP
                below = self.loss()
                flat[index] = kept
                gradients.append({"name": key, "index": index, "value": float(f"{(above - below) / (2 * STEP):.8g}")})
        return {"name": self.name, "plan": self.plan, "loss": round(self.loss(), 8),
                "tensors": [{"name": key, "shape": shape, "scale": self.spread(key)[0], "offset": self.spread(key)[1]}
                            for key, shape in sorted(self.shapes.items())],
                "logits": [[round(v, 7) for v in row] for row in self.logits()], "gradients": gradients}


class Selfcp(Case):
    """plan: segments [first, count, memory, earlier, read], kept [first, count], memory_first."""

    def __init__(self, name, connector, rows, plan):
        shapes = {"trained_embeddings.weight": [rows, tiny.HIDDEN], "mlp.0.weight": [tiny.HIDDEN, tiny.HIDDEN]}
        if connector != "linear":
            shapes["mlp.0.bias"] = [tiny.HIDDEN]
        if connector == "linear_bias_ln":
            shapes["norm.weight"] = shapes["norm.bias"] = [tiny.HIDDEN]
        super().__init__(name, shapes, plan)

    def generator(self):
        table, weight = self.rows("trained_embeddings.weight"), self.rows("mlp.0.weight")
        separator = table[0] if len(table) > 1 else embedded([SEPARATOR])[0]
        tag = table[min(1, len(table) - 1)]
        memory = []
        for first, count, tags, earlier, _ in self.plan["segments"]:
            before = {"nothing": [], "previous": memory[-1:], "all": memory}[earlier]
            read = embedded(HEAD) + [row for rows in before for row in rows] + [separator]
            states = body(read + embedded(CONTENT[first:first + count]) + [tag] * tags)[-tags:]
            made = [tiny.times(weight, h) for h in states]
            if "mlp.0.bias" in self.tensors:
                made = [tiny.plus(z, self.tensors["mlp.0.bias"]) for z in made]
            if "norm.weight" in self.tensors:
                made = [layer_norm(z, self.tensors["norm.weight"], self.tensors["norm.bias"]) for z in made]
            memory.append(made)
        read = [row for rows, segment in zip(memory, self.plan["segments"]) if segment[4] for row in rows]
        first, count = self.plan["kept"]
        kept = embedded(CONTENT[first:first + count])
        both = read + kept if self.plan["memory_first"] else kept + read
        return embedded(HEAD) + both + embedded(TAIL), None


def adapters_of(case, name):
    return {(layer, target): (case.rows(name(layer, target, "A")), case.rows(name(layer, target, "B")))
            for layer in range(tiny.LAYERS) for target in case.plan["targets"]}


def lora_shapes(targets, name):
    shapes = {}
    for layer in range(tiny.LAYERS):
        for target in targets:
            inputs = tiny.HEADS * tiny.DIM if target == "o" else tiny.HIDDEN
            shapes[name(layer, target, "A")] = [LORA_RANK, inputs]
            shapes[name(layer, target, "B")] = [PROJECTIONS[target], LORA_RANK]
    return shapes


class Autocompressor(Case):
    """plan: lengths of the segments, summary rows, adapted projections."""

    @staticmethod
    def lora(layer, target, part):
        return f"base_model.model.model.layers.{layer}.self_attn.{target}_proj.lora_{part}.weight"

    def __init__(self, name, segments, summary):
        plan = {"segments": segments, "summary": summary, "targets": ["q", "k", "v", "o"]}
        shapes = {"base_model.model.embed_summary.weight": [summary, tiny.HIDDEN],
                  **lora_shapes(plan["targets"], self.lora)}
        super().__init__(name, shapes, plan)

    def generator(self):
        adapters = adapters_of(self, self.lora)
        table = self.rows("base_model.model.embed_summary.weight")
        soft, first = [], 0
        for count in self.plan["segments"]:
            soft = soft + body(soft + embedded(CONTENT[first:first + count]) + table, adapters)[-len(table):]
            first += count
        return soft + embedded(HEAD + TAIL), adapters


class Text(Autocompressor):
    """AutoCompressor's own objective: tokens behind summaries, those of the first half held. plan: segments of each half."""

    def __init__(self, name, halves, summary):
        super().__init__(name, [count for half in halves for count in half], summary)
        self.plan["halves"], self.held = halves, None

    def rows_of(self, soft, adapters):
        """Logits of each token that has a label, and the label."""
        table, first, rows = self.rows("base_model.model.embed_summary.weight"), 0, []
        for index, half in enumerate(self.plan["halves"]):
            end = first + sum(half)
            if index == 1:
                soft, self.made = (self.held or soft), soft
            for count in half:
                part = CONTENT[first:first + count]
                states = body(soft + embedded(part) + table, adapters)
                for at, state in enumerate(states[len(soft):len(soft) + count], first):
                    if at + 1 < end:
                        rows.append((tiny.times(tiny.WEIGHTS["lm_head.weight"], state), CONTENT[at + 1]))
                soft = soft + states[-len(table):]
                first += count
        return rows

    def logits(self):
        return [row for row, _ in self.rows_of([], adapters_of(self, self.lora))]

    def loss(self):
        rows = self.rows_of([], adapters_of(self, self.lora))
        return sum(-math.log(tiny.softmax(row)[label]) for row, label in rows) / len(rows)

    def expected(self):
        self.loss()
        self.held = self.made
        return super().expected()


class Icae(Case):
    """plan: tokens that are read, slots, adapted projections, and behind which row of the table what is learned."""

    @staticmethod
    def lora(layer, target, part):
        return f"icae.base_model.model.model.layers.{layer}.self_attn.{target}_proj.lora_{part}.default.weight"

    def __init__(self, name, tokens, slots, mode="answer"):
        plan = {"tokens": tokens, "slots": slots, "targets": ["q", "v"], "begin": 6, "mode": mode}
        shapes = {"memory_token_embed.weight": [slots + 3, tiny.HIDDEN], **lora_shapes(plan["targets"], self.lora)}
        super().__init__(name, shapes, plan)

    def generator(self):
        table, slots = self.rows("memory_token_embed.weight"), self.plan["slots"]
        read = embedded([self.plan["begin"]] + CONTENT[:self.plan["tokens"] - 1])
        memory = body(read + table[:slots], adapters_of(self, self.lora))[-slots:]
        task = table[slots + ["itself", "follows", "answer"].index(self.plan["mode"])]
        if self.plan["mode"] != "answer":
            return memory + [task], None
        return memory + [task] + embedded(HEAD + TAIL) + [task], None


def windows(texts, window):
    plan, last, pending = [], 1, []
    for text in texts:
        length = text + 2
        if last + length >= window:
            plan.append(pending + [window - last])
            last += length - window
            if last > window:
                plan += [[window]] * (last // window)
                last %= window
            pending = [last] if last else []
        else:
            last += length
            pending.append(length)
    return plan + ([pending] if pending else [])


def surprise(ids, position):
    """A loss that depends on a token and the one before it."""
    mixed = (ids[position] * 2654435761 + ids[position - 1] * 40503 + 12345) % (1 << 32)
    return (mixed >> 8) / float(1 << 24)


def released(texts, target, window):
    """LLMLingua 0.1.5 on losses of `surprise`; ids count up from 1 behind the first token, 0."""
    ids = list(range(sum(texts) + 1))
    rate = min(1.0, max(0.0, target / (sum(text + 2 for text in texts) + 1)))
    edge, ready, losses = min(window, len(ids)), 0, []
    for index, entries in enumerate(windows(texts, window)):
        if edge > len(ids):
            break
        if index == 0:
            losses = [surprise(ids, t + 1) for t in range(len(ids) - 1)]
        else:
            losses[ready:edge - 1] = [surprise(ids, t + 1) for t in range(ready, edge - 1)]
        ready = edge - window
        for length in entries:
            ranked = sorted(losses, reverse=True)
            threshold = ranked[max(0, min(len(ranked) - 1, int(len(ranked) * rate) - 1))]
            keep = [loss > threshold for loss in losses] + [True]
            end = edge - window + length
            keep[end:] = [True] * len(keep[end:])
            keep[:end - length] = [True] * len(keep[:end - length])
            edge += length - sum(not kept for kept in keep[:end])
            ids = [i for i, kept in zip(ids, keep) if kept]
            losses = [loss for loss, kept in zip(losses, keep) if kept]
    return [i for i in ids if i != 0]


def exactly(tokens, target, window):
    before = [0]
    for first in range(0, tokens, window):
        last = min(first + window, tokens)
        share = target * last // tokens - target * first // tokens
        read = before + list(range(first + 1, last + 1))
        losses = {t: surprise(read, len(before) + t) for t in range(last - first)}
        chosen = sorted(sorted(losses, key=lambda t: -losses[t])[:share])
        before += [first + 1 + t for t in chosen]
    return before[1:]


def kept_by_backbone(target, window, begin):
    """What `exact` keeps of CONTENT by the tiny backbone itself, and the least margin of a choice."""
    before, margin = [begin], math.inf
    for first in range(0, len(CONTENT), window):
        part = CONTENT[first:first + window]
        last = first + len(part)
        share = target * last // len(CONTENT) - target * first // len(CONTENT)
        states = body(embedded(before + part))
        losses = []
        for t, token in enumerate(part):
            logits = tiny.times(tiny.WEIGHTS["lm_head.weight"], states[len(before) + t - 1])
            losses.append(-math.log(tiny.softmax(logits)[token]))
        order = sorted(range(len(part)), key=lambda t: -losses[t])
        if 0 < share < len(part):
            margin = min(margin, losses[order[share - 1]] - losses[order[share]])
        before = before + [part[t] for t in sorted(order[:share])]
    return {"target": target, "window": window, "begin": begin, "kept": before[1:], "margin": round(margin, 6)}


def segments(*rows):
    return [list(row) for row in rows]


CASES = [
    Selfcp("latter", "linear_bias_ln", 1,
           {"segments": segments((5, 4, 2, "nothing", True), (9, 4, 2, "nothing", True)), "kept": [0, 5],
            "memory_first": False}),
    Selfcp("former", "linear_bias", 1,
           {"segments": segments((0, 7, 3, "nothing", True)), "kept": [7, 6], "memory_first": True}),
    Selfcp("whole", "linear", 2,
           {"segments": segments((0, 13, 2, "nothing", True)), "kept": [0, 0], "memory_first": True}),
    Selfcp("recurrent", "linear_bias_ln", 1,
           {"segments": segments((0, 7, 2, "previous", False), (7, 6, 2, "previous", True)), "kept": [0, 0],
            "memory_first": True}),
    Selfcp("accumulating", "linear_bias", 2,
           {"segments": segments((0, 6, 2, "all", True), (6, 6, 2, "all", True), (12, 1, 2, "all", True)),
            "kept": [0, 0], "memory_first": True}),
    Autocompressor("autocompressor", [7, 6], 2),
    Icae("icae", 10, 3),
    Icae("icae_itself", 10, 3, "itself"),
    Icae("icae_follows", 10, 3, "follows"),
    Text("autocompressor_text", [[3, 4], [2, 4]], 2),
]

if __name__ == "__main__":
    config = {"model_type": "llama", "vocab_size": tiny.VOCABULARY, "hidden_size": tiny.HIDDEN,
              "intermediate_size": tiny.INNER, "num_hidden_layers": tiny.LAYERS, "num_attention_heads": tiny.HEADS,
              "num_key_value_heads": tiny.KV_HEADS, "max_position_embeddings": 64, "rms_norm_eps": tiny.EPS,
              "rope_theta": tiny.THETA, "tie_word_embeddings": False, "hidden_act": "silu", "torch_dtype": "float32"}
    backbone = {"name": "llama", "config": config, "dtype": "F32", "shards": 1, "tensors": tiny.backbone_tensors()}
    lingua = [{"texts": texts, "target": target, "window": 200, "windows": windows(texts, 200),
               "released": released(texts, target, 200), "exactly": exactly(sum(texts), target, 200)}
              for texts, target in (([60], 5), ([150], 13), ([200], 17), ([300], 25), ([399], 34), ([512], 43),
                                    ([700], 59), ([1024], 86), ([90, 106, 196, 30], 60), ([198], 20), ([397, 10], 50))]
    json.dump({"made_by": "make_compressors_expected.py", "backbone": backbone, "head": HEAD, "content": CONTENT,
               "tail": TAIL, "response": RESPONSE, "separator": SEPARATOR, "tag": TAG, "lora_rank": LORA_RANK,
               "lora_alpha": LORA_ALPHA, "cases": [case.expected() for case in CASES], "lingua": lingua,
               "lingua_by_backbone": [kept_by_backbone(4, 5, 6), kept_by_backbone(7, 13, 6)]}, sys.stdout)
    print()
