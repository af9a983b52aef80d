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


def surprise(ids, position, held=0):
    """A loss that depends on a token, the one before it and what is held."""
    mixed = (ids[position] * 2654435761 + ids[position - 1] * 40503 + held * 97 + 12345) % (1 << 32)
    return (mixed >> 8) / float(1 << 24)


class Surprised:
    """A model that finds tokens surprising at random."""
    def __init__(self, positions):
        self.positions, self.held = positions, []

    def losses(self, ids):
        held = sum((place + 1) * token for place, token in enumerate(self.held))
        self.held = self.held + ids
        return [surprise(ids, t, held) for t in range(1, len(ids))]

    def crop(self, count):
        self.held = self.held[:count]

    def forget(self, first, count):
        self.held = self.held[:first] + self.held[first + count:]


class Backbone:
    """The tiny one with a cache, whose entries keep the positions that they were read at."""
    def __init__(self, positions):
        self.positions = positions
        self.keys, self.values = ([[] for _ in range(tiny.LAYERS)] for _ in range(2))

    @property
    def held(self):
        return self.keys[0]

    def crop(self, count):
        self.keys, self.values = ([layer[:count] for layer in part] for part in (self.keys, self.values))

    def forget(self, first, count):
        self.keys, self.values = ([layer[:first] + layer[first + count:] for layer in part]
                                  for part in (self.keys, self.values))

    def losses(self, ids):
        logits = [tiny.times(tiny.WEIGHTS["lm_head.weight"], self.read(token)) for token in ids]
        return [-math.log(tiny.softmax(row)[token]) for row, token in zip(logits, ids[1:])]

    def read(self, token):
        position, stream = len(self.held), tiny.WEIGHTS["model.embed_tokens.weight"][token]
        for layer in range(tiny.LAYERS):
            weight = lambda name: tiny.WEIGHTS[f"model.layers.{layer}.{name}.weight"]  # noqa: B023, E731
            x = tiny.rms_norm(stream, weight("input_layernorm"))
            heads = {name: tiny.matrix(tiny.times(weight(f"self_attn.{name}_proj"), x), count)
                     for name, count in (("q", tiny.HEADS), ("k", tiny.KV_HEADS), ("v", tiny.KV_HEADS))}
            self.keys[layer] = self.keys[layer] + [[tiny.rotate(head, position) for head in heads["k"]]]
            self.values[layer] = self.values[layer] + [heads["v"]]
            mixed = []
            for index, query in enumerate(heads["q"]):
                group = index // (tiny.HEADS // tiny.KV_HEADS)
                asking = tiny.rotate(query, position)
                shares = tiny.softmax([sum(a * b for a, b in zip(asking, key[group])) / math.sqrt(tiny.DIM)
                                       for key in self.keys[layer]])
                mixed += [sum(share * value[group][i] for share, value in zip(shares, self.values[layer]))
                          for i in range(tiny.DIM)]
            stream = tiny.plus(stream, tiny.times(weight("self_attn.o_proj"), mixed))
            x = tiny.rms_norm(stream, weight("post_attention_layernorm"))
            inner = [tiny.silu(gate) * up for gate, up in zip(tiny.times(weight("mlp.gate_proj"), x),
                                                              tiny.times(weight("mlp.up_proj"), x))]
            stream = tiny.plus(stream, tiny.times(weight("mlp.down_proj"), inner))
        return tiny.rms_norm(stream, tiny.WEIGHTS["model.norm.weight"])


def released(ids, texts, target, window, model):
    """LLMLingua 0.1.5 on a model's losses: places of the kept ones among ids, the first of which is in front of all
    texts; how many went into the front part, and the least margin of a choice."""
    places = list(range(len(ids)))
    rate = min(1.0, max(0.0, target / (sum(text + 2 for text in texts) + 1)))
    edge, ready, losses, front, margin = min(window, len(ids)), 0, [], [], math.inf
    for index, entries in enumerate(windows(texts, window)):
        if edge > len(places):
            break
        if edge > model.positions and model.held:
            over = edge - model.positions
            front, places = front + places[:over], places[over:]
            model.forget(10, over)
            edge, ready = edge - over, ready - over
        past = len(model.held)
        end = min(edge if index else len(places), past + model.positions)
        found = model.losses([ids[place] for place in places[past:end]])
        if index:
            losses += [0.0] * max(0, edge - 1 - len(losses))
            losses[ready:edge - 1] = found
        else:
            losses = found
        model.crop(edge - window if index else 0)
        ready = edge - window
        for length in entries:
            ranked = sorted(losses, reverse=True)
            threshold = ranked[max(0, min(len(ranked) - 1, int(len(ranked) * rate) - 1))]
            keep = [loss > threshold for loss in losses] + [losses[0] > 0]
            end = edge - window + length
            keep[end:] = [True] * len(keep[end:])
            keep[:end - length] = [True] * len(keep[:end - length])
            others = [abs(loss - threshold) for loss in losses[max(0, end - length):max(0, end)] if loss != threshold]
            margin = min([margin] + others)
            losses = [loss for loss, kept in zip(losses, keep) if kept]
            keep = (keep + [True] * len(places))[:len(places)]
            edge += length - sum(not kept for kept in keep[:end])
            places = [place for place, kept in zip(places, keep) if kept]
    return [place for place in front + places if place != 0], len(front), margin


def released_by_backbone(tokens, target, window, positions):
    """What the tool keeps of many tokens by the tiny backbone, which has fewer positions."""
    ids = [6] + [(7 * i * i + 3 * i + 1) % tiny.VOCABULARY for i in range(tokens)]
    kept, front, margin = released(ids, [tokens], target, window, Backbone(positions))
    return {"ids": ids[1:], "begin": ids[0], "target": target, "window": window, "front": front,
            "margin": round(margin, 9), "kept": [ids[place] for place in kept]}


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
               "released": released(list(range(sum(texts) + 1)), texts, target, 200, Surprised(10 ** 6))[0],
               "exactly": exactly(sum(texts), target, 200)}
              for texts, target in (([60], 5), ([150], 13), ([200], 17), ([300], 25), ([399], 34), ([512], 43),
                                    ([700], 59), ([1024], 86), ([90, 106, 196, 30], 60), ([198], 20), ([397, 10], 50))]
    over_positions = []
    for texts, target, window, positions in (([700], 500, 40, 128), ([90, 196, 30, 310], 520, 50, 110),
                                             ([500], 60, 40, 90), ([90], 60, 40, 90)):
        kept, front, _ = released(list(range(sum(texts) + 1)), texts, target, window, Surprised(positions))
        over_positions.append({"texts": texts, "target": target, "window": window, "positions": positions,
                               "front": front, "released": kept})
    json.dump({"made_by": "make_compressors_expected.py", "backbone": backbone, "head": HEAD, "content": CONTENT,
               "tail": TAIL, "response": RESPONSE, "separator": SEPARATOR, "tag": TAG, "lora_rank": LORA_RANK,
               "lora_alpha": LORA_ALPHA, "cases": [case.expected() for case in CASES], "lingua": lingua,
               "lingua_over_positions": over_positions, "lingua_by_backbone": [kept_by_backbone(4, 5, 6),
                                                                               kept_by_backbone(7, 13, 6)],
               "released_by_backbone": [released_by_backbone(40, 25, 12, 64),
                                        released_by_backbone(170, 140, 20, 64)]}, sys.stdout)
    print()
