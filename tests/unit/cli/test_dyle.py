"""DYLE through the whole program on tiny folders: one sweep trains and writes, its folder serves another cell that reads
fewer snippets, and what does not fit is refused when a plan is made.

Usage: test_dyle.py QFS_BENCH
"""

import glob
import json
import os
import unittest

from ranking_sweeps import RankingTest

DYLE = {
    "method": "dyle", "label": "dyle", "backbone": "./tiny", "backbones": {"extractor": "./bert"}, "prompt": "{snippet}",
    "k": 2, "snippet_tokens": 24, "label_tokens": 8, "max_new_tokens": 4, "rank": 2, "steps": 3, "extractor_steps": 1,
    "train_batch": 2, "train_chunks": 1, "chunk_tokens": 256, "evaluate_every": 0, "checkpoint_every": 1,
    "training": {"train": {"name": "mini-meetings", "split": "train", "sample": 4}}}
TRAINING = ("label_tokens", "rank", "steps", "extractor_steps", "train_batch", "train_chunks", "evaluate_every",
            "checkpoint_every", "training")


class Dyle(RankingTest):
    def dyle_fails(self, text, **changes):
        row = {key: value for key, value in {**DYLE, **changes}.items() if value is not None}
        self.plan_fails(2, text, row)

    def snippets(self, name):
        return [len(json.loads(extra)["snippets"]) for extra in self.rows(name, "SELECT extra FROM output ORDER BY ordinal")]

    def test_a_trained_file_may_read_other_numbers_of_snippets(self):
        first = self.run_sweep("first", DYLE)
        self.assertNotIn("was trained with", first.stderr)
        self.assertEqual(self.snippets("first"), [2, 2, 2])
        file, = glob.glob(self.path("first.artifacts/*/dyle.safetensors"))
        folder = os.path.relpath(os.path.dirname(file), self.path(""))
        row = {key: value for key, value in DYLE.items() if key not in TRAINING}
        other = self.run_sweep("other", {**row, "k": 1, "artifact": folder})
        self.assertEqual(self.snippets("other"), [1, 1, 1])
        self.assertRegex(other.stderr, r"'dyle': 'k' is 1, but '.*dyle.safetensors' was trained with 2")
        self.dyle_fails("'chunk_tokens' is 128, but", chunk_tokens=128, artifact=folder, **dict.fromkeys(TRAINING))
        self.dyle_fails("the file holds low-rank matrices", trained="weights", artifact=folder,
                        **dict.fromkeys(TRAINING))

    def test_every_table_names_the_profile(self):
        self.run_sweep("first", DYLE)
        file, = glob.glob(self.path("first.artifacts/*/dyle.safetensors"))
        row = {key: value for key, value in DYLE.items() if key not in TRAINING}
        row["artifact"] = os.path.relpath(os.path.dirname(file), self.path(""))
        self.run_sweep("both", row, {**row, "label": "as printed", "profile": "paper"})
        for name, notes in (("first", ["profile of dyle: released"]),
                            ("both", ["profile of as printed: paper", "profile of dyle: released"])):
            for shown in ("markdown", "latex", "json", "html"):
                table = self.assert_succeeds(self.run_bench("report", "--store", name + ".sqlite", "--format", shown))
                for note in notes:
                    self.assertIn(note, table, shown)
        # As an axis it is a column.
        split = self.assert_succeeds(
            self.run_bench("report", "--store", "both.sqlite", "--rows", "method,profile", "--format", "csv"))
        self.assertRegex(split, r"(?m)^as printed,paper,")
        self.assertRegex(split, r"(?m)^dyle,released,")

    def test_the_gate_of_an_output_is_a_picture(self):
        self.run_sweep("first", {**DYLE, "gate_map": "output"})
        shown = ("show", "--store", "first.sqlite", "--filter", "label=dyle")
        told = self.assert_succeeds(self.run_bench(*shown, "--gate-map", "gate.svg"))
        self.assertRegex(told, r"^[1-4] steps, 2 snippets: mean entropy \d\.\d\d of at most 0\.69, ")
        with open(self.path("gate.svg"), encoding="utf-8") as file:
            picture = file.read()
        self.assertTrue(picture.startswith("<svg"), picture[:60])
        self.assertIn(told.strip().split(",")[0], picture)

    def test_what_does_not_fit_is_refused_when_a_plan_is_made(self):
        self.dyle_fails("bert' reads 512 at once", chunk_tokens=513)
        self.dyle_fails("'extractor_steps' is 3 of 3 steps", extractor_steps=3)
        self.dyle_fails("nothing would be learned", lambda_generation=0, lambda_oracle=0, lambda_consistency=0)
        self.dyle_fails("'rank' is of low-rank matrices", trained="weights")

    def test_what_has_no_effect_makes_no_other_training(self):
        fixed = {**DYLE, "prior": "static"}
        rows = [fixed, {**fixed, "label": "weighted", "lambda_consistency": 5}]
        plan = json.loads(self.assert_succeeds(self.run_bench("plan", self.write_sweep("static", *rows), "--json")))
        self.assertEqual(len(plan["trainings"]), 1)


if __name__ == "__main__":
    unittest.main()
