"""`qfs-bench model` on a tiny Hugging Face folder that this test writes, and on broken ones.

Usage: test_model.py QFS_BENCH
"""

import json
import os
import unittest

from driver import FIELDS, record
from tiny_model import (GPT2, HIDDEN, INNER, LAYERS, LED, VOCABULARY, ModelTest, gpt2_shapes, led_shapes, safetensors,
                        shapes, tokenizer)


class Model(ModelTest):
    def test_inspect_counts_and_names(self):
        self.write_model()
        report = self.ask("inspect", "./tiny")
        total = sum(s[0] * (s[1] if len(s) > 1 else 1) for s in shapes().values())
        self.assertEqual(report["schema"], "qfs-bench/model-inspect/1")
        self.assertEqual(report["parameters"]["total"], total)
        self.assertEqual(report["parameters"]["head"], VOCABULARY * HIDDEN)
        self.assertEqual(report["parameters"]["attention"], LAYERS * 4 * HIDDEN * HIDDEN)
        self.assertEqual(report["parameters"]["feed_forward"], LAYERS * 3 * HIDDEN * INNER)
        self.assertEqual(report["parameters"]["other"], 0)
        self.assertEqual(report["computed"], "decoder")
        self.assertEqual(report["cache_bytes_per_token"], 2 * LAYERS * HIDDEN * 4)
        self.assertEqual({t["name"] for t in report["tensors"]}, set(shapes()))
        text = self.assert_succeeds(self.run_bench("model", "inspect", "./tiny", "--tensors"))
        self.assertIn("model.layers.1.mlp.down_proj.weight", text)
        self.assertIn(f"{total:,}", text)

    def test_inspect_works_where_nothing_can_be_computed(self):
        self.write_model(model_type="gpt_neox")
        report = self.ask("inspect", "./tiny")
        self.assertIn("no: ", report["computed"])
        self.assertEqual(report["computed"].count("'gpt_neox'"), 2)  # no generator, no encoder
        self.assertIn("generates text with", report["computed"])
        self.assert_fails(5, self.run_bench("model", "generate", "./tiny", "--text", "a"), "'gpt_neox'")

    def test_memory_is_told_of_2048_tokens_and_of_the_whole_window(self):
        for window, contexts in ((64, [64, 64]), (2048, [2048, 2048]), (4096, [2048, 2048, 4096, 4096])):
            self.write_model(max_position_embeddings=window)
            self.assertEqual([row["context"] for row in self.ask("inspect", "./tiny")["memory"]], contexts)

    def test_verify_names_what_is_wrong(self):
        self.write_model()
        text = self.assert_succeeds(self.run_bench("model", "verify", "./tiny"))
        self.assertIn("no digest is registered for it", text)
        self.write_bytes("tiny/model.safetensors", safetensors(shapes())[:-4] + b"\xFF" * 4)
        run = self.run_bench("model", "verify", "./tiny")
        self.assertEqual(run.returncode, 5)
        self.assertIn("is not finite", run.stdout)
        tensors = shapes()
        del tensors["model.layers.1.mlp.up_proj.weight"]
        self.write_model(tensors)
        run = self.run_bench("model", "verify", "./tiny")
        self.assertEqual(run.returncode, 5)
        self.assertIn("model.layers.1.mlp.up_proj.weight", run.stdout)

    def test_a_truncated_file_and_a_pickle_are_refused(self):
        self.write_model()
        self.write_bytes("tiny/model.safetensors", safetensors(shapes())[:-7])
        self.assert_fails(5, self.run_bench("model", "inspect", "./tiny"), "model.safetensors")
        os.remove(self.path("tiny/model.safetensors"))
        self.write_bytes("tiny/pytorch_model.bin", b"PK")
        self.assert_fails(5, self.run_bench("model", "inspect", "./tiny"), "pytorch_model.bin", "safe_serialization",
                          "AutoTokenizer.from_pretrained('DIR').save_pretrained('OUT')")
        self.write("tiny/config.json", json.dumps({"model_type": "llama", "architectures": ["LlamaForCausalLM"]}))
        self.assert_fails(5, self.run_bench("model", "inspect", "./tiny"), "LlamaForCausalLM.from_pretrained")
        self.write("tiny/config.json", json.dumps({"model_type": "llama", "architectures": ["os; os.abort()"]}))
        run = self.run_bench("model", "inspect", "./tiny")
        self.assert_fails(5, run, "AutoModel.from_pretrained")
        self.assertNotIn("abort", run.stderr)

    def test_logits_and_generation_agree(self):
        self.write_model()
        logits = self.ask("logits", "./tiny", "--text", "Ab", "--top", "3")
        self.assertEqual(logits["ids"], [65, 98])
        self.assertEqual(len(logits["logits"]), VOCABULARY)
        best = max(range(VOCABULARY), key=lambda i: logits["logits"][i])
        self.assertEqual(logits["top"][0]["id"], best)
        self.assertEqual(len(logits["top"]), 3)
        by_ids = self.ask("logits", "./tiny", "--ids", "65, 98")
        self.assertEqual(by_ids["logits"], logits["logits"])
        generated = self.ask("generate", "./tiny", "--ids", "65,98", "--max-new-tokens", "5")
        self.assertEqual(generated["prompt_ids"], [65, 98])
        if generated["ids"]:
            self.assertEqual(generated["ids"][0], best)
        self.assertLessEqual(len(generated["ids"]), 5)

    def test_a_decoder_that_was_saved_without_a_head_is_run_where_the_head_is_tied(self):
        tensors = shapes()
        del tensors["lm_head.weight"]
        self.write_model(tensors, tie_word_embeddings=True)
        logits = self.ask("logits", "./tiny", "--text", "Ab")["logits"]
        bare = {name.removeprefix("model."): shape for name, shape in tensors.items()}
        self.write_model(bare, tie_word_embeddings=True)
        self.assert_succeeds(self.run_bench("model", "verify", "./tiny"))
        self.assertEqual(self.ask("logits", "./tiny", "--text", "Ab")["logits"], logits)
        self.write_model(bare)
        self.assert_fails(5, self.run_bench("model", "logits", "./tiny", "--text", "Ab"), "'lm_head.weight'")

    def test_numbers_that_only_python_writes_are_read(self):
        self.write_model(router_bias=float("nan"), limit=float("-inf"))
        self.write("tiny/generation_config.json", json.dumps({"eos_token_id": 257, "unused": float("inf")}))
        self.write("tiny/tokenizer_config.json", json.dumps({"eos_token": "</s>", "model_max_length": float("inf")}))
        self.assert_succeeds(self.run_bench("model", "verify", "./tiny"))
        self.write_model(rms_norm_eps=float("nan"))
        self.assert_fails(5, self.run_bench("model", "logits", "./tiny", "--text", "a"), '"NaN" is not a finite number')

    def test_an_encoder_decoder_is_inspected_and_run(self):
        self.write_model(led_shapes(), **LED)
        report = self.ask("inspect", "./tiny")
        self.assertEqual(report["computed"], "encoder-decoder")
        self.assertEqual((report["context"], report["output_context"]), (64, 32))
        self.assert_succeeds(self.run_bench("model", "verify", "./tiny"))
        logits = self.ask("logits", "./tiny", "--text", "Ab cd")
        self.assertEqual(len(logits["logits"]), VOCABULARY)
        elsewhere = self.ask("logits", "./tiny", "--text", "Ab cd", "--global", "2,3")
        self.assertNotEqual(logits["logits"], elsewhere["logits"])
        greedy = self.ask("generate", "./tiny", "--text", "Ab cd", "--max-new-tokens", "9")
        self.assertNotIn("score", greedy)
        beams = self.ask("generate", "./tiny", "--text", "Ab cd", "--max-new-tokens", "9", "--set", "num_beams=3",
                         "--set", "no_repeat_ngram=1")
        self.assertLess(beams["score"], 0)
        self.assertEqual(len(beams["ids"]), len(set(beams["ids"])))
        drawn = [self.ask("generate", "./tiny", "--text", "Ab cd", "--max-new-tokens", "9", "--set", "temperature=5",
                          "--seed", seed)["ids"]
                 for seed in ("1", "1", "2")]
        self.assertEqual(drawn[0], drawn[1])
        self.assertNotEqual(drawn[0], drawn[2])

    def test_a_gpt2_is_inspected_and_run(self):
        self.write_model(gpt2_shapes(), **GPT2)
        report = self.ask("inspect", "./tiny")
        self.assertEqual(report["computed"], "decoder")
        self.assertEqual((report["context"], report["cache_bytes_per_token"]), (64, 2 * LAYERS * HIDDEN * 4))
        parts = report["parameters"]
        self.assertEqual((parts["embedding"], parts["head"], parts["other"]), ((VOCABULARY + 64) * HIDDEN, 0, 0))
        self.assertEqual(parts["norm"], (2 * LAYERS + 1) * 2 * HIDDEN)
        self.assert_succeeds(self.run_bench("model", "verify", "./tiny"))
        logits = self.ask("logits", "./tiny", "--text", "Ab")["logits"]
        greedy = self.ask("generate", "./tiny", "--text", "Ab", "--max-new-tokens", "5")
        best = max(range(VOCABULARY), key=lambda i: logits[i])
        self.assertEqual(greedy["ids"][:1], [best] if best != 257 else [])
        beams = self.ask("generate", "./tiny", "--text", "Ab", "--max-new-tokens", "9", "--set", "num_beams=3",
                         "--set", "no_repeat_ngram=1")
        self.assertLess(beams["score"], 0)
        drawn = [self.ask("generate", "./tiny", "--text", "Ab", "--max-new-tokens", "9", "--set", "temperature=5",
                          "--seed", seed)["ids"]
                 for seed in ("1", "1", "2")]
        self.assertEqual(drawn[0], drawn[1])
        self.assertNotEqual(drawn[0], drawn[2])
        rounded = self.ask("logits", "./tiny", "--text", "Ab", "--dtype", "bfloat16")["logits"]
        self.assertNotEqual(logits, rounded)
        largest = max(map(abs, logits))
        for one, other in zip(logits, rounded):
            self.assertAlmostEqual(one, other, delta=0.05 * largest)

    def test_wrong_parameters_of_decoding_are_named(self):
        self.write_model()
        for setting, message in (("beams=3", "unknown parameter of decoding 'beams'"),
                                 ("num_beams=x", "expected an integer"), ("num_beams=100", "1 to 64"),
                                 ("top_p=0.5", "'top_p' needs 'temperature'"), ("num_beams", "has no value"),
                                 ("early_stopping=yess", "'yes'")):
            self.assert_fails(2, self.run_bench("model", "generate", "./tiny", "--text", "a", "--set", setting),
                              message)
        self.assert_fails(2, self.run_bench("model", "generate", "./tiny", "--text", "a", "--global", "0"),
                          "windowed attention")
        self.assert_fails(2, self.run_bench("model", "generate", "./tiny", "--text", "a", "--stop", ""),
                          "--stop: the value is empty")

    def test_the_chat_template_of_the_folder_makes_the_prompt(self):
        self.write_model()
        chat = "{{ bos_token }}{% for m in messages %}[{{ m.role }}]{{ m.content }}{{ eos_token }}{% endfor %}" \
               "{% if add_generation_prompt %}[a]{% endif %}"
        config = {"bos_token": "<s>", "eos_token": "</s>", "chat_template": chat, "model_max_length": int(1e30)}
        self.write("tiny/tokenizer_config.json", json.dumps(config))
        ids = self.ask("logits", "./tiny", "--chat", "--text", "</s>")["ids"]
        # What a user writes is plain text, also when it looks like a special token.
        self.assertEqual(ids, [256, *b"[user]</s>", 257, *b"[a]"])
        self.write("tiny/tokenizer_config.json", json.dumps({**config, "chat_template": "{% call f() %}{% endcall %}"}))
        self.assert_fails(5, self.run_bench("model", "logits", "./tiny", "--chat", "--text", "a"),
                          "tokenizer_config.json#/chat_template:1:", "call")
        dated = "{{ strftime_now('%d/%m') }}{{ mood }}{{ messages[0].content }}"
        self.write("tiny/tokenizer_config.json", json.dumps({**config, "chat_template": dated}))
        arguments = ("logits", "./tiny", "--chat", "--text", "a")
        self.assert_fails(5, self.run_bench("model", *arguments), "'chat_date'")
        ids = self.ask(*arguments, "--chat-date", "2024-07-26", "--chat-variables", '{"mood": "!"}')["ids"]
        self.assertEqual(ids, [*b"26/07!a"])
        for option, value, message in (("--chat-date", "July", "no date such as"), ("--chat-variables", "x", "JSON object"),
                                       ("--chat-variables", '{"messages": []}', "'messages' is set by")):
            self.assert_fails(2, self.run_bench("model", *arguments, option, value), message)
        self.assert_fails(2, self.run_bench("model", "logits", "./tiny", "--text", "a", "--chat-date", "2024-07-26"),
                          "--chat")
        self.write("tiny/tokenizer_config.json", "{}")
        self.assert_fails(5, self.run_bench("model", "logits", "./tiny", "--chat", "--text", "a"), "no chat template")

    def test_bad_prompts_are_usage_errors(self):
        self.write_model()
        self.assert_fails(2, self.run_bench("model", "logits", "./tiny"), "--text TEXT or as --ids")
        self.assert_fails(2, self.run_bench("model", "logits", "./tiny", "--ids", "1,x"), "'x' is no number from 0")
        self.assert_fails(2, self.run_bench("model", "logits", "./tiny", "--ids", "1,2,"), "'' is no number from 0")
        self.assert_fails(2, self.run_bench("model", "logits", "./tiny", "--ids", "1", "--chat"), "--chat wraps a text")
        self.assert_fails(2, self.run_bench("model", "generate", "./tiny", "--ids", "1", "--seed", "-1"), "--seed")
        self.assert_fails(2, self.run_bench("model", "logits", "./tiny", "--ids", "9999"), "token id 9999")
        self.assert_fails(2, self.run_bench("model", "logits", "./tiny", "--text", ""), "no tokens")
        self.assert_fails(2, self.run_bench("model", "generate", "./tiny", "--text", "a", "--max-new-tokens", "64"),
                          "window of 64")
        self.assert_fails(2, self.run_bench("model", "inspect", "./nowhere"), "./nowhere")
        self.assert_fails(2, self.run_bench("model", "inspect", "tiny"), "for what stands here write './tiny'")

    def test_arguments_and_folders_that_are_no_utf_8_are_usage_errors(self):
        self.write_model()
        for option in ("--text", "--stop", "--set"):
            prompt = () if option == "--text" else ("--ids", "1")
            self.assert_fails(2, self.run_bench("model", "generate", "./tiny", *prompt, option, b"a\xffb"), option,
                              "UTF-8")
        os.rename(self.path("tiny"), os.fsencode(self.path("t")) + b"\xff")
        self.assert_fails(2, self.run_bench("model", "inspect", b"./t\xff"), "UTF-8")

    def test_a_shortest_output_above_the_longest_is_a_usage_error(self):
        self.write_model()
        arguments = ("generate", "./tiny", "--ids", "1", "--max-new-tokens", "5", "--set")
        self.assertEqual(len(self.ask(*arguments, "min_new_tokens=5")["ids"]), 5)
        self.assert_fails(2, self.run_bench("model", *arguments, "min_new_tokens=6"), "'min_new_tokens'")

    def test_config_json_has_settings_of_generation_where_generation_config_json_is_absent(self):
        # As transformers 5.23: with a generation_config.json, a key that it lacks is not set.
        self.write_model(led_shapes(), **LED, forced_bos_token_id=7)
        arguments = ("generate", "./tiny", "--text", "Ab cd", "--max-new-tokens", "4")
        self.assertEqual(self.ask(*arguments)["ids"][0], 7)
        self.write("tiny/generation_config.json", json.dumps({"decoder_start_token_id": 257}))
        self.assertNotEqual(self.ask(*arguments)["ids"][0], 7)
        self.write("tiny/generation_config.json", json.dumps({"forced_bos_token_id": 9}))
        self.assertEqual(self.ask(*arguments)["ids"][0], 9)

    def test_a_publisher_s_settings_that_are_not_computed_are_refused_by_name(self):
        self.write_model(led_shapes(), **LED)
        arguments = ("generate", "./tiny", "--text", "Ab cd", "--max-new-tokens", "4")
        for settings, name in (({"encoder_repetition_penalty": 1.05}, "encoder_repetition_penalty"),
                               ({"encoder_no_repeat_ngram_size": 3}, "encoder_no_repeat_ngram_size"),
                               ({"num_beams": 4, "num_beam_groups": 2}, "num_beam_groups"),
                               ({"suppress_tokens": [3]}, "suppress_tokens"),
                               ({"renormalize_logits": True}, "renormalize_logits"),
                               ({"stop_strings": ["x"]}, "stop_strings"),
                               ({"watermarking_config": {"bias": 2.0}}, "watermarking_config"),
                               ({"do_sample": True, "typical_p": 0.9}, "typical_p"),
                               ({"do_sample": True, "min_p": 0.1}, "min_p"),
                               ({"do_sample": True, "num_beams": 2}, "do_sample")):
            self.write("tiny/generation_config.json", json.dumps(settings))
            self.ask(*arguments)
            self.assert_fails(5, self.run_bench("model", *arguments, "--set", "decoding=checkpoint"), f"'{name}'",
                              "generation_config.json")
        for settings in ({"repetition_penalty": 1.0, "typical_p": 1.0, "num_beam_groups": 1}, {"typical_p": 0.9},
                         {"suppress_tokens": None}, {"suppress_tokens": []}, {"renormalize_logits": False}):
            self.write("tiny/generation_config.json", json.dumps(settings))
            self.ask(*arguments, "--set", "decoding=checkpoint")

    def test_decoding_has_the_names_of_transformers_too(self):
        self.write_model(led_shapes(), **LED)

        def generated(*settings):
            options = [part for setting in settings for part in ("--set", setting)]
            return self.ask("generate", "./tiny", "--text", "Ab cd", "--max-new-tokens", "12", *options)["ids"]

        self.assertEqual(generated("no_repeat_ngram_size=1"), generated("no_repeat_ngram=1"))
        self.assertNotEqual(generated("no_repeat_ngram_size=1"), generated())
        beams = ["num_beams=3", "length_penalty=2"]
        self.assertEqual(generated(*beams, "early_stopping=true"), generated(*beams, "early_stopping=yes"))
        self.assertEqual(generated(*beams, 'early_stopping="never"'), generated(*beams, "early_stopping=never"))
        self.assertEqual(generated("min_length=9"), generated("min_new_tokens=8"), "the decoder begins with a token")
        self.assertEqual(len(generated("max_new_tokens=3", "min_new_tokens=3")), 3)
        self.assertNotEqual(generated("repetition_penalty=50"), generated())
        self.assertLess(generated("repetition_penalty=50").count(generated()[-1]), 12)
        arguments = ("model", "generate", "./tiny", "--ids", "1", "--set")
        for setting, *messages in (("do_sample=true", "no parameter 'do_sample'", "'temperature'"),
                                   ("max_length=9", "'max_new_tokens' counts the output alone"),
                                   ("typical_p=0.5", "'top_p'"), ("bad_words_ids=3", "does not compute it"),
                                   ("repetition_penalti=2", "did you mean 'repetition_penalty'?")):
            self.assert_fails(2, self.run_bench(*arguments, setting), *messages)
        self.assert_fails(2, self.run_bench(*arguments, "no_repeat_ngram=2", "--set", "no_repeat_ngram_size=2"),
                          "remove one")

    def test_ids_need_no_tokenizer(self):
        self.write_model()
        with_texts = self.ask("generate", "./tiny", "--ids", "65,98", "--max-new-tokens", "5")
        logits = self.ask("logits", "./tiny", "--ids", "65,98")
        os.remove(self.path("tiny/tokenizer.json"))
        without = self.ask("generate", "./tiny", "--ids", "65,98", "--max-new-tokens", "5")
        self.assertIsNone(without["text"])
        if 257 not in without["ids"]:  # the end, which only the tokenizer named
            self.assertEqual(without["ids"][:len(with_texts["ids"])], with_texts["ids"])
        self.assertEqual(self.ask("logits", "./tiny", "--ids", "65,98")["logits"], logits["logits"])
        text = self.assert_succeeds(self.run_bench("model", "logits", "./tiny", "--ids", "65,98"))
        self.assertIn("probability", text)
        arguments = ("generate", "./tiny", "--ids", "65,98", "--max-new-tokens", "5")
        text = self.assert_succeeds(self.run_bench("model", *arguments))
        self.assertIn("no tokenizer", text)
        run = self.run_bench("model", "generate", "./tiny", "--text", "Ab")
        self.assertNotEqual(run.returncode, 0)
        self.assertIn("tokenizer", run.stderr)
        run = self.run_bench("model", "generate", "./tiny", "--ids", "65", "--stop", "x")
        self.assertNotEqual(run.returncode, 0, "a stop is a text")

    def test_a_publisher_s_settings_hinder_only_who_asks_for_them(self):
        self.write_model(led_shapes(), **LED)
        arguments = ("generate", "./tiny", "--text", "Ab cd", "--max-new-tokens", "4")
        self.write("tiny/generation_config.json", json.dumps({"max_length": 1e30}))
        self.ask(*arguments, "--set", "decoding=checkpoint")
        for settings, key in (({"top_k": -1}, "top_k"), ({"temperature": "1.5"}, "temperature")):
            self.write("tiny/generation_config.json", json.dumps(settings))
            self.ask(*arguments)
            self.assert_fails(5, self.run_bench("model", *arguments, "--set", "decoding=checkpoint"),
                              f"generation_config.json#/{key}")

    def test_forced_tokens_in_other_forms(self):
        self.write_model(led_shapes(), **LED)
        arguments = ("generate", "./tiny", "--text", "Ab cd", "--max-new-tokens", "4", "--set", "min_new_tokens=4")
        self.write("tiny/generation_config.json", json.dumps({"forced_eos_token_id": [9]}))
        self.assertEqual(self.ask(*arguments)["ids"][-1], 9)
        self.write("tiny/generation_config.json", json.dumps({"forced_eos_token_id": [9, 10]}))
        self.assert_fails(5, self.run_bench("model", *arguments), "several forced end tokens")
        os.remove(self.path("tiny/generation_config.json"))
        self.write_model(led_shapes(), **LED, force_bos_token_to_be_generated=True, bos_token_id=9)
        self.assertEqual(self.ask(*arguments)["ids"][0], 9)
        self.write("tiny/generation_config.json", json.dumps({"force_bos_token_to_be_generated": True}))
        self.assertNotEqual(self.ask(*arguments)["ids"][0], 9)

    def test_the_factor_of_yarn_may_follow_from_the_lengths(self):
        def logits(**scaling):
            self.write_model(rope_scaling={"type": "yarn", "original_max_position_embeddings": 16, **scaling})
            return self.ask("logits", "./tiny", "--text", "Ab cd")["logits"]

        self.assertEqual(logits(factor=None), logits(factor=4.0))
        self.assertNotEqual(logits(factor=None), logits(factor=1.0))


class Bounds(ModelTest):
    """What a plan says of examples that a method cannot read."""

    def test_a_query_beyond_the_first_segment_of_a_memory_is_told_before_anything_runs(self):
        self.write_model(max_position_embeddings=512)
        method = {"method": "lora", "backbone": "./tiny", "memory": "qf_infini", "prompt": "Q: {query}\n{document}", "chat": False,
                  "input_tokens": 64, "max_new_tokens": 2, "steps": 1, "train_segment": 128, "train_tokens": 200,
                  "evaluate_every": 0, "training": {"train": {"name": "mini-meetings", "split": "train", "sample": 4}}}
        # "Q: " and the query "What is line 3 of text 0 about?" have 34 bytes, a token each.
        self.write_data(3)
        sweep = {"datasets": [{"path": "data.jsonl", "fields": FIELDS}], "methods": [method], "report": None}
        self.write_sweep(**sweep, grid={"local_context": [33]})
        for command in ("plan", "sweep"):
            self.assert_fails(2, self.run_bench(command, "sweep.json"), "sweep.json#/methods/0", "example 'e0': the prompt up to the "
                              "end of the query has 34 tokens, and the first segment", "('local_context') holds 33",
                              "2 examples are too long as well")
        self.assertFalse(os.path.exists(self.path("small.sqlite")))
        self.write_sweep(**sweep, grid={"local_context": [34]})
        self.assert_succeeds(self.run_bench("plan", "sweep.json"))
        # A chat template's beginning stands in the first segment, too, and so does a system message.
        self.write("tiny/tokenizer_config.json", json.dumps(
            {"eos_token": "</s>", "chat_template": "{% for m in messages %}[{{ m['role'] }}]{{ m['content'] }}{% endfor %}:"}))
        method["chat"] = True
        self.write_sweep(**sweep, grid={"local_context": [39]})
        self.assert_fails(2, self.run_bench("plan", "sweep.json"), "end of the query has 40 tokens", "holds 39")
        self.write_sweep(**sweep, grid={"local_context": [40]})
        self.assert_succeeds(self.run_bench("plan", "sweep.json"))
        # The same words behind the turn are not taken for it.
        self.write("tiny/tokenizer_config.json", json.dumps(
            {"eos_token": "</s>", "chat_template": "{{ messages[0]['content'] | trim }}|Q: What is line 3 of text 0 about?"}))
        self.write_sweep(**sweep, grid={"local_context": [34]})
        self.assert_succeeds(self.run_bench("plan", "sweep.json"))
        self.write("tiny/tokenizer_config.json", json.dumps(
            {"eos_token": "</s>", "chat_template": "{% for m in messages %}[{{ m['role'] }}]{{ m['content'] }}{% endfor %}:"}))
        method["system"] = "Be brief."
        self.assertEqual(len("[system]Be brief."), 17)
        self.write_sweep(**sweep, grid={"local_context": [56]})
        self.assert_fails(2, self.run_bench("plan", "sweep.json"), "end of the query has 57 tokens", "holds 56")
        del method["system"]
        method["chat"] = False
        method["train_segment"] = 16
        self.write_sweep(**sweep, grid={"local_context": [34]})
        self.assert_fails(2, self.run_bench("plan", "sweep.json"), "sweep.json#/methods/0", "training data 'mini-meetings' (train): example",
                          "the first segment", "('train_segment') holds 16")

    def test_examples_that_a_method_refuses_are_told_before_anything_runs(self):
        self.write_model(max_position_embeddings=512)
        training = {"train": {"path": "train.jsonl", "fields": FIELDS}}
        first = {"data.jsonl": 0, "train.jsonl": 10}

        def write(name, **changes):
            records = [record(first[name] + i) for i in range(3)]
            records[1].update(changes)
            self.write(name, "".join(json.dumps(one) + "\n" for one in records))

        def refused(method, code, change, *words, data="data.jsonl"):
            write("train.jsonl")
            write("data.jsonl")
            write(data, **change)
            self.write_sweep(methods=[method], grid=None, report=None)
            for command in ("plan", "sweep", *(["train"] if "training" in method else [])):
                self.assert_fails(code, self.run_bench(command, "sweep.json"), *words)
            self.assertFalse(os.path.exists(self.path("small.sqlite")))

        lingua = {"method": "llmlingua", "backbone": "./tiny", "chat": False, "local_context": 16, "input_tokens": 64, "max_new_tokens": 2, "ratio": 2}
        white = {"query": " \t"}
        refused(lingua, 2, white, "sweep.json#/methods/0", "example 'e1': its query is white space")
        selfcp = {"method": "selfcp", "backbone": "./tiny", "chat": False, "local_context": 16, "input_tokens": 64, "max_new_tokens": 2, "ratio": 4,
                  "steps": 1, "train_tokens": 200, "train_window": 16, "evaluate_every": 0, "training": training}
        refused(selfcp, 2, white, "example 'e1': its query is white space")
        refused(selfcp, 2, white, "training data", "example 'e11': its query is white space", data="train.jsonl")
        egad = {"method": "egad", "backbone": "./tiny", "attention": "prefix", "chat": False, "k": 2, "local_context": 16, "max_new_tokens": 2,
                "steps": 1, "train_tokens": 200, "evaluate_every": 0, "training": training}
        blank = {"document": " "}
        refused(egad, 5, blank, "the document of example 'e1' has no text to read")
        refused(egad, 5, blank, "training data", "the document of example 'e11' has no text to read", data="train.jsonl")
        ranked = {"method": "retrieve_generate", "backbone": "./tiny", "chat": False, "local_context": 16, "max_new_tokens": 2}
        refused(ranked, 5, blank, "the document of example 'e1' has no passage to read")
        # Others write of the query alone, which is said.
        write("data.jsonl", document=" ")
        self.write_sweep(methods=[{"method": "zero_shot", "backbone": "./tiny", "chat": False, "local_context": 16, "max_new_tokens": 2}],
                         grid=None, report=None)
        run = self.run_bench("sweep", "sweep.json")
        self.assert_succeeds(run)
        self.assertIn("data set 'data.jsonl' (all): 1 of 3 examples have a document without text", run.stderr)

    def test_pieces_of_a_prompt_are_counted_each_by_itself(self):
        parts = tokenizer()
        parts["pre_tokenizer"]["add_prefix_space"] = True
        self.write_model(max_position_embeddings=512)
        self.write("tiny/tokenizer.json", json.dumps(parts))
        self.write_data(3)
        # A blank in front of "Q: ", and one in front of the query where it is a piece of its own.
        for pieces, tokens in ((False, 35), (True, 36)):
            method = {"method": "lora", "backbone": "./tiny", "memory": "qf_infini", "prompt": "Q: {query}\n{document}", "chat": False,
                      "prompt_pieces": pieces, "input_tokens": 64, "max_new_tokens": 2, "steps": 1, "train_segment": 128,
                      "train_tokens": 400, "evaluate_every": 0,
                      "training": {"train": {"name": "mini-meetings", "split": "train", "sample": 4}}}
            sweep = {"datasets": [{"path": "data.jsonl", "fields": FIELDS}], "methods": [method], "report": None}
            self.write_sweep(**sweep, grid={"local_context": [tokens - 1]})
            self.assert_fails(2, self.run_bench("plan", "sweep.json"), f"end of the query has {tokens} tokens", f"holds {tokens - 1}")
            self.write_sweep(**sweep, grid={"local_context": [tokens]})
            self.assert_succeeds(self.run_bench("sweep", "sweep.json"))


class SweepNames(ModelTest):
    """Sweep files may name decoding parameters as transformers does; cells are the same."""

    def setUp(self):
        super().setUp()
        self.write_model()
        self.write_data()

    def plan(self, code=0, grid=None, report=None, methods=None, **members):
        method = {"method": "zero_shot", "backbone": "./tiny", "local_context": 8, **members}
        self.write_sweep(tokenizer=None, methods=methods or [method], grid=grid, report=report)
        run = self.run_bench("plan", "sweep.json", "--json")
        self.assertEqual(run.returncode, code, run.stderr)
        return [cell["cell_id"] for cell in json.loads(run.stdout)["cells"]] if code == 0 else run.stderr

    def test_both_names_give_the_same_cells(self):
        self.assertEqual(self.plan(no_repeat_ngram_size=3), self.plan(no_repeat_ngram=3))
        self.assertEqual(self.plan(num_beams=2, early_stopping=True), self.plan(num_beams=2, early_stopping="yes"))
        self.assertEqual(self.plan(num_beams=2, early_stopping=False), self.plan(num_beams=2, early_stopping="no"))
        beams = {"num_beams": 2}
        self.assertEqual(
            self.plan(**beams, grid={"no_repeat_ngram_size": [2, 3], "early_stopping": [True, "never"]},
                      report={"rows": ["method"], "columns": ["no_repeat_ngram_size"], "values": ["rouge1.f"]}),
            self.plan(**beams, grid={"no_repeat_ngram": [2, 3], "early_stopping": ["yes", "never"]},
                      report={"rows": ["method"], "columns": ["no_repeat_ngram"], "values": ["rouge1.f"]}))
        self.assertNotEqual(self.plan(repetition_penalty=1.2), self.plan())

    def test_a_name_that_means_something_else_says_what_is_meant(self):
        self.assertIn("sweep.json#/methods/0/do_sample: there is no parameter 'do_sample': tokens are drawn where "
                      "'temperature' is given", self.plan(2, do_sample=True))
        self.assertIn("/grid/max_length: there is no parameter 'max_length'", self.plan(2, grid={"max_length": [9]}))
        self.assertIn("'no_repeat_ngram_size' is another name of 'no_repeat_ngram', which is given too",
                      self.plan(2, no_repeat_ngram=2, no_repeat_ngram_size=2))
        self.assertIn("/grid/no_repeat_ngram", self.plan(2, no_repeat_ngram=2, grid={"no_repeat_ngram_size": [2]}))
        error = self.plan(2, methods=[{"method": "lead", "no_repeat_ngram_size": 2}])
        self.assertIn("method 'lead' has no parameter 'no_repeat_ngram_size'", error)

    def test_list_methods_shows_the_other_names(self):
        listing = json.loads(self.assert_succeeds(self.run_bench("list", "methods", "--json")))
        params = next(m for m in listing["methods"] if m["name"] == "zero_shot")["params"]
        self.assertEqual(next(p for p in params if p["name"] == "no_repeat_ngram")["also"], ["no_repeat_ngram_size"])
        self.assertIn("(also no_repeat_ngram_size)", self.assert_succeeds(self.run_bench("list", "methods")))


if __name__ == "__main__":
    unittest.main()
