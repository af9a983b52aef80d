"""The plans of `experiments/paper` are planned with tiny models in the place of its folders and bundled data in that
of its sets; those that read trained files of the repository, there and above it, with the files' own backbones.

Usage: test_paper_plans.py QFS_BENCH
"""

import glob
import json
import os
import re
import shutil
import unittest

import tiny_bert
from tiny_model import HIDDEN, INNER, LED, VOCABULARY, ModelTest, led_shapes, safetensors, tokenizer

PAPER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "experiments", "paper")
BART = {"model_type": "bart", "d_model": HIDDEN, "encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 2,
        "decoder_attention_heads": 2, "encoder_ffn_dim": INNER, "decoder_ffn_dim": INNER, "max_position_embeddings": 1024,
        "eos_token_id": 257, "decoder_start_token_id": 257}


class PaperPlans(ModelTest):
    def write_seq2seq(self, name, config, tensors):
        os.makedirs(self.path(name))
        self.write(name + "/config.json", json.dumps({**config, "vocab_size": VOCABULARY, "tie_word_embeddings": True}))
        self.write(name + "/tokenizer.json", json.dumps(tokenizer()))
        self.write(name + "/tokenizer_config.json", json.dumps({"eos_token": "</s>"}))
        self.write_bytes(name + "/model.safetensors", safetensors(tensors))

    def setUp(self):
        super().setUp()
        # Plans read what configurations say, and where requests end in prompts; no model is opened.
        self.write_model(max_position_embeddings=4096)
        shutil.copytree(self.path("tiny"), self.path("models/llama-2-7b"))
        self.write_model(max_position_embeddings=16384)
        self.write("tiny/tokenizer_config.json", json.dumps({"eos_token": "</s>", "chat_template": "{{ messages[0]['content'] }}"}))
        shutil.copytree(self.path("tiny"), self.path("models/llama-3-8b"))
        led = {**LED, "max_encoder_position_embeddings": 16384, "max_decoder_position_embeddings": 1024}
        for name in ("led-base", "led-large", "primera", "bart-large-cnn-blocks-340"):
            self.write_seq2seq("models/" + name, led, led_shapes())
        bart = {name.replace("led.", "model."): shape for name, shape in led_shapes().items()}
        for name in ("bart-large", "bart-large-qmsum", "bart-base"):
            self.write_seq2seq("models/" + name, BART, bart)
        for name in ("roberta-base", "dpr-question_encoder-multiset-base", "dpr-ctx_encoder-multiset-base"):
            tiny_bert.write(self.path("models/" + name), max_position_embeddings=514)

    def test_those_that_read_trained_files_are_planned(self):
        cache = os.environ.get("QFS_CACHE_DIR") or os.path.join(
            os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "qfs-bench")
        models = os.environ.get("QFS_MODELS_DIR") or os.path.join(cache, "models")
        if not all(os.path.isdir(os.path.join(models, name)) for name in ("smollm2-135m", "minilm")):
            self.skipTest("SmolLM2 and MiniLM are not on this machine")
        fields = {"id": "id", "document": "document", "query": "query", "references": "references"}
        data = {}
        for name, first, count in (("test", 0, 200), ("train", 1000, 1200)):
            lines = (json.dumps({"id": str(i), "document": f"Speaker {i} said it.", "query": f"What of {i}?",
                                 "references": ["acceptable" if i % 3 else "unacceptable"]}) for i in range(first, first + count))
            data[name] = {"path": self.write(name + ".jsonl", "\n".join(lines)), "fields": fields}

        def with_own_data(method):
            training = {key: data["train"] if key == "train" else value for key, value in method["training"].items() if key != "development"}
            return {**method, "training": training}

        carried = 0
        above = os.path.abspath(os.path.join(PAPER, ".."))
        for path in sorted(glob.glob(os.path.join(PAPER, "*.json"))) + sorted(glob.glob(os.path.join(above, "*.json"))):
            with open(path, encoding="utf-8") as file:
                text = file.read()
            if "artifacts/" not in text:
                continue
            carried += 1
            with self.subTest(os.path.basename(path)):
                plan = json.loads(re.sub(r'"(\.\./)?artifacts/', lambda _: json.dumps(above + "/artifacts/")[:-1], text))
                plan["datasets"] = [{**data["test"], **{key: value for key, value in plan["datasets"][0].items() if key == "sample"}}]
                plan["methods"] = [with_own_data(method) if "training" in method else method for method in plan["methods"]]
                plan.update({"metrics": ["rouge"], "report": {"rows": ["method"]}})
                del plan["$schema"]
                name = self.write(os.path.basename(path), json.dumps(plan))
                planned = json.loads(self.assert_succeeds(
                    self.run_bench("plan", name, "--json", environment={"QFS_MODELS_DIR": models})))
                self.assertGreater(len(planned["cells"]), 0)
        self.assertGreater(carried, 10)

    def test_each_is_planned(self):
        shutil.copy(os.path.join(PAPER, "word_counts.txt"), self.folder)
        paths = sorted(glob.glob(os.path.join(PAPER, "*.json")))
        self.assertGreater(len(paths), 25)
        for path in paths:
            with open(path, encoding="utf-8") as file:
                text = file.read()
            if "artifacts/" in text:
                continue
            with self.subTest(os.path.basename(path)):
                plan = json.loads(text)
                del plan["description"]  # which may name other views
                variables = plan.setdefault("variables", {})
                bundled = "mini-stories" if "per_reference" in json.dumps(plan) else "mini-meetings"
                sets = {"dataset": bundled, "learnt": bundled, "covidet": "mini-stories", "qmsum": "mini-meetings",
                        "squality": "mini-stories"}
                variables.update({name: other for name, other in sets.items() if name in variables})
                variables.update({name: "./tiny" for name, value in variables.items() if value == "smollm2-135m"})
                if "prompt" in variables:  # a byte is a token here
                    variables["prompt"] = "{query}\n{document}"
                plan.update({"metrics": ["rouge"], "report": {"rows": ["method"]}})  # others read data of their own
                del plan["$schema"]
                name = self.write(os.path.basename(path), json.dumps(plan))
                planned = json.loads(self.assert_succeeds(self.run_bench("plan", name, "--json")))
                self.assertGreater(len(planned["cells"]), 0)


if __name__ == "__main__":
    unittest.main()
