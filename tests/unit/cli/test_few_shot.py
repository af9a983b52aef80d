"""Demonstrations through the whole program, on a tiny LLaMA: a bank that no training learns for is made once, shown by the
method that made it and by another that names its file, and is told apart from other files before anything runs.

Usage: test_few_shot.py QFS_BENCH
"""

import contextlib
import glob
import json
import os
import sqlite3
import unittest

from tiny_model import ModelTest


class FewShot(ModelTest):
    def setUp(self):
        super().setUp()
        self.write_model(max_position_embeddings=512)

    def run_sweep(self, name, *methods, command="sweep", seeds=(0,)):
        self.write(name + ".json", json.dumps(
            {"name": name, "datasets": [{"name": "mini-meetings", "split": "test", "sample": 3}], "tokenizer": "words",
             "methods": list(methods), "metrics": ["rouge"], "seeds": list(seeds),
             "report": {"rows": ["method"], "values": ["rouge1.f", "fact.compression.demonstration_memory"]}}))
        return self.run_bench(command, name + ".json", *(["--threads", "1"] if command == "sweep" else []),
                              environment={"OMP_NUM_THREADS": "1"})

    def entry(self, method, **members):
        return {"method": method, "backbone": "./tiny", "prompt": "{document}", "chat": False, "local_context": 8,
                "max_new_tokens": 6, **members}

    def kept(self, **members):
        return self.entry("few_shot", bank=4, demonstration_tokens=24, **members,
                          training={"train": {"name": "mini-meetings", "split": "train"}})

    def shown(self, name):
        with contextlib.closing(sqlite3.connect(self.path(name + ".sqlite"))) as store:
            return [json.loads(row[0])["compression"] for row in store.execute("SELECT extra FROM output ORDER BY result_id, ordinal")]

    def test_a_bank_is_made_once_and_shown_by_two_methods(self):
        plan = self.assert_succeeds(self.run_sweep("shots", self.kept(), {"like": "few_shot", "label": "two", "shots": 2},
                                                   command="plan"))
        self.assertRegex(plan, r"(?m)^train#\w+ few_shot  16 of mini-meetings \(train#\w+\)  -  +none  +2 cells  [0-9.]+ s$")
        self.assertEqual(plan.count("after train#"), 2)
        table = self.assert_succeeds(self.run_sweep("shots", self.kept(), {"like": "few_shot", "label": "two", "shots": 2}))
        self.assertRegex(table, r"\| two +\|[^|]+\| +48\.0+ \(n/a: 3 clusters\) \|")
        bank, = glob.glob(self.path("shots.artifacts/*/bank.safetensors"))
        self.assertEqual(self.run_sweep("shots", self.kept(), {"like": "few_shot", "label": "two", "shots": 2}).returncode, 0)
        self.assertEqual(len(glob.glob(self.path("shots.artifacts/*"))), 1)
        facts = [fact for fact in self.shown("shots") if "demonstrations" in fact]
        self.assertEqual({tuple(fact["demonstrations"]) for fact in facts}, {tuple(facts[0]["demonstrations"])})
        self.assertEqual(len(facts), 3)

        lingua = self.entry("llmlingua", bank=4, shots=2, ratio=4, input_tokens=16, artifact=bank)
        self.assert_succeeds(self.run_sweep("lingua", lingua))
        for fact in self.shown("lingua"):
            self.assertEqual(fact["demonstrations"], facts[0]["demonstrations"])
            self.assertEqual(fact["demonstration_memory"], 12)

    def test_a_bank_of_memory_is_shown_at_the_ratio_that_its_file_says(self):
        made = self.entry("selfcp", label="made", bank=4, bank_ratio=8, demonstration_tokens=24, ratio=8, input_tokens=16, train_window=16, steps=1, train_tokens=60,
                          label_tokens=8, evaluate_every=0, training={"train": {"name": "mini-meetings", "split": "train", "sample": 4}})
        self.assert_succeeds(self.run_sweep("made", made))
        files = {role: glob.glob(self.path(f"made.artifacts/*/{role}.safetensors"))[0] for role in ("adapter", "bank")}
        shown = self.entry("selfcp", bank=4, shots=2, input_tokens=16, artifact=files)
        self.assert_fails(2, self.run_sweep("shown", {**shown, "ratio": 4}, command="plan"), "#/methods/0/artifact",
                          "a 'ratio' of 4 is below the bank's: it has a row for 8 tokens")
        self.assert_fails(2, self.run_sweep("shown", {**shown, "ratio": 8, "bank_ratio": 4}, command="plan"),
                          "'bank_ratio' is 4, but the bank was made with 8")
        self.assert_succeeds(self.run_sweep("shown", {**shown, "ratio": 8}))
        self.assertEqual({fact["demonstration_memory"] for fact in self.shown("shown")}, {6})

    def test_a_bank_of_tokens_is_read_by_methods_that_were_trained_elsewhere(self):
        learning = {"training": {"train": {"name": "mini-meetings", "split": "train", "sample": 4}}, "steps": 1, "train_tokens": 60,
                    "train_window": 16, "label_tokens": 8, "evaluate_every": 0}
        for method in ("autocompressor", "icae"):
            trained = self.entry(method, rank=1, ratio=8, input_tokens=16, **learning)
            self.assert_succeeds(self.run_sweep(method, trained))
            adapter, = glob.glob(self.path(method + ".artifacts/*/adapter.safetensors"))
            self.assert_succeeds(self.run_sweep("kept", self.kept()))
            bank, = glob.glob(self.path("kept.artifacts/*/bank.safetensors"))
            shown = self.entry(method, bank=4, shots=2, ratio=8, input_tokens=16, segment_rows="length")
            alone = {"objective": "bank", "rank": 1, "train_window": 16, "demonstration_tokens": 24,
                     "training": {"init": {"adapter": adapter}, "train": {"name": "mini-meetings", "split": "train"}}}
            facts = []
            for row in ({"artifact": {"adapter": adapter, "bank": bank}}, alone):
                self.assert_succeeds(self.run_sweep("shown", {**shown, **row}))
                facts.append(self.shown("shown"))
                os.remove(self.path("shown.sqlite"))
            self.assertEqual(*facts)
            # Demonstrations of 24 tokens, which is more than a trained window, are read to the window of 8.
            self.assertEqual({(fact["demonstration_tokens"], fact["demonstration_memory"]) for fact in facts[0]},
                             {(16 if method == "autocompressor" else 14, 2)})
            self.assert_fails(2, self.run_sweep("shown", {**shown, **alone, "steps": 5}, command="plan"),
                              "'steps' is of learning; \"objective\": \"bank\" learns nothing")
            self.assert_fails(2, self.run_sweep("shown", {**shown, **alone, "training": {"train": alone["training"]["train"]}}, command="plan"),
                              "name the trained file that the bank is of")

    def test_a_file_is_used_without_the_bank_beside_it_or_with_another(self):
        learning = {"training": {"train": {"name": "mini-meetings", "split": "train", "sample": 4}}, "steps": 1, "train_tokens": 60,
                    "train_window": 16, "label_tokens": 8, "evaluate_every": 0, "ratio": 8, "input_tokens": 16}
        self.assert_succeeds(self.run_sweep("other", self.kept()))
        other, = glob.glob(self.path("other.artifacts/*/bank.safetensors"))
        for method in ("selfcp", "icae"):
            form = {"bank_ratio": 8} if method == "selfcp" else {"rank": 1}
            self.assert_succeeds(self.run_sweep(method, self.entry(method, bank=3, demonstration_tokens=20, **form, **learning)))
            files = {role: glob.glob(self.path(f"{method}.artifacts/*/{role}.safetensors"))[0] for role in ("adapter", "bank")}
            plain = self.entry(method, ratio=8, input_tokens=16)
            self.assert_succeeds(self.run_sweep(method + "_plain", {**plain, "artifact": files["adapter"]}))
            self.assertNotIn("demonstrations", self.shown(method + "_plain")[0])
            self.assert_succeeds(self.run_sweep(method + "_own", {**plain, "bank": 3, "shots": 2, "artifact": files}))
            self.assert_fails(2, self.run_sweep("none", {**plain, "bank": 3, "shots": 2, "artifact": {"adapter": files["adapter"]}}, command="plan"),
                              "names no file for the role 'bank'")
        mixed = {**plain, "bank": 4, "shots": 2, "artifact": {**files, "bank": other}}
        self.assert_succeeds(self.run_sweep("mixed", mixed))
        self.assertEqual({fact["demonstration_tokens"] for fact in self.shown("mixed")}, {14})
        self.assert_fails(2, self.run_sweep("mixed", {**mixed, "demonstration_tokens": 20}, command="plan"), "those of the bank have at most 24")
        # Labels behind demonstrations, or none, by a file of a short window.
        labels = {"labels": "a, b", "local_context": 16}
        for row in (labels, {"labels": "a, b"}, {**labels, "bank": 4, "shots": 2, "artifact": mixed["artifact"]}):
            entry = {"artifact": files["adapter"], **{name: value for name, value in plain.items()
                                                      if name not in ("prompt", "input_tokens", "local_context", "max_new_tokens")}, **row}
            self.assert_succeeds(self.run_sweep("labels", entry, command="plan"))

    def test_no_shots_are_as_without_demonstrations(self):
        rows = [self.kept(shots=0), {"like": "few_shot", "label": "two", "shots": 2}, self.entry("few_shot", label="none")]
        self.assert_succeeds(self.run_sweep("shots", *rows))
        with contextlib.closing(sqlite3.connect(self.path("shots.sqlite"))) as store:
            outputs = {}
            for result, text, extra in store.execute("SELECT result_id, text, extra FROM output ORDER BY result_id, ordinal"):
                shown = len(json.loads(extra)["compression"].get("demonstrations", []))
                outputs.setdefault(result, []).append((text, shown))
        texts = sorted([shown for _, shown in rows] for rows in outputs.values())
        self.assertEqual(texts, [[0, 0, 0], [0, 0, 0], [2, 2, 2]])
        without = [rows for rows in outputs.values() if rows[0][1] == 0]
        self.assertEqual(without[0], without[1])

    def test_what_is_shown_depends_on_the_seed_alone(self):
        table = self.run_sweep("seeds", self.kept(shots=1), self.entry("few_shot", label="none"), seeds=(0, 1, 2))
        self.assert_succeeds(table)
        with contextlib.closing(sqlite3.connect(self.path("seeds.sqlite"))) as store:
            self.assertEqual(store.execute("SELECT count(*) FROM cell").fetchone()[0], 3 + 3 + 1)  # trainings, shots, none

    def test_files_of_others_are_refused_when_a_plan_is_made(self):
        self.assert_fails(2, self.run_sweep("a", self.entry("few_shot", shots=1), command="plan"), "#/methods/0",
                          "'shots' needs a 'bank'")
        self.assert_fails(2, self.run_sweep("a", self.entry("few_shot", training={"train": {"name": "mini-meetings", "split": "train"}}),
                                            command="plan"), "'few_shot' does not train")
        lora = self.entry("lora", rank=1, steps=1, train_tokens=60, label_tokens=8, evaluate_every=0,
                          training={"train": {"name": "mini-meetings", "split": "train", "sample": 2}})
        self.assert_succeeds(self.run_sweep("lora", lora))
        adapter, = glob.glob(self.path("lora.artifacts/*/adapter_model.safetensors"))
        for entry in (self.entry("few_shot"), self.entry("llmlingua", ratio=4)):
            self.assert_fails(2, self.run_sweep("b", {**entry, "bank": 4, "shots": 1, "artifact": adapter}, command="plan"),
                              "#/methods/0/artifact", "was trained by the method 'lora', not by")


if __name__ == "__main__":
    unittest.main()
