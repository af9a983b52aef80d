"""What `egad` and `unlimiformer` refuse when a plan is made, with the place that is at fault and what to set instead;
and published numbers that need a dictionary or a file of a release.

Usage: test_keywords.py QFS_BENCH
"""

import json
import os
import shutil
import unittest

from tiny_model import LED, ModelTest, led_shapes


class Keywords(ModelTest):
    def setUp(self):
        super().setUp()
        self.write_model()
        shutil.copytree(self.path("tiny"), self.path("llama"))
        self.write_model(led_shapes(), **LED)
        for name, changes in {"bart": {"attention_window": None, "max_position_embeddings": 64},
                              "native": {"max_position_embeddings": 64},
                              "long-led": {"model_type": "led", "max_encoder_position_embeddings": 16384,
                                           "max_decoder_position_embeddings": 1024},
                              "long-bart": {"attention_window": None, "max_encoder_position_embeddings": None,
                                            "max_decoder_position_embeddings": None,
                                            "max_position_embeddings": 1024}}.items():
            config = {**LED, "model_type": "bart", **changes}
            os.makedirs(self.path(name))
            shutil.copytree(self.path("tiny"), self.path(name), dirs_exist_ok=True)
            self.write(f"{name}/config.json", json.dumps({k: v for k, v in config.items() if v is not None}))

    def plan(self, **method):
        method = {"method": "egad", "backbone": "./tiny", "max_new_tokens": 4, "adapter": "none", "k": 2,
                  "dictionary": "the 5\n", **method}
        self.write("s.json", json.dumps(
            {"name": "s", "datasets": [{"name": "mini-meetings", "split": "test", "sample": 3}],
             "methods": [{key: value for key, value in method.items() if value is not None}],
             "metrics": ["rouge"], "report": {"rows": ["method"], "values": ["rouge1.f"]}}))
        return self.run_bench("plan", "s.json")

    def test_a_bad_line_is_named_with_its_file(self):
        self.assert_succeeds(self.plan())
        self.write("words.txt", "the 5\nof 3.5\n")
        self.assert_fails(5, self.plan(dictionary={"file": "words.txt"}), "error: words.txt:2: the count '3.5' is no")
        self.assert_fails(5, self.plan(dictionary="the 5\n\nof 3\n"),
                          "s.json#/methods/0/dictionary: line 2: an empty line in a dictionary")

    def test_a_backbone_without_windows_is_refused_with_what_reads_it(self):
        self.assert_fails(5, self.plan(backbone="./bart"),
                          "s.json#/methods/0/backbone: ",
                          "is of type bart; 'backbone' may be of led, and with \"attention\": \"prefix\" of bart")
        self.assert_succeeds(self.plan(backbone="./bart", attention="prefix"))
        self.assert_succeeds(self.plan(backbone="./bart", window=8))
        self.assert_succeeds(self.plan(backbone="./native"))  # as AllenAI's code saves an LED

    def test_windows_are_refused_by_what_reads_windows_one_by_one(self):
        own = {"method": "unlimiformer", "k": None, "dictionary": None}
        self.assert_succeeds(self.plan(backbone="./bart", **own))
        for folder in ("./tiny", "./native"):
            self.assert_fails(5, self.plan(backbone=folder, **own),
                              "is of type led; 'backbone' may be of bart, mbart, pegasus")

    def claims(self, table, *places):
        listed = json.loads(self.assert_succeeds(self.run_bench(
            "claims", "--table", table, "--json", *(word for place in places for word in ("--with", place)))))["claims"]
        return {claim["id"]: claim for claim in listed}

    def test_published_numbers_run_with_the_users_folder(self):
        listed = self.claims("egad.table2.ami", "led-large=./long-led")
        self.assertEqual(len(listed), 27)
        # Nothing but the data is missing.
        self.assertEqual({claim["state"] for claim in listed.values()}, {"not run"}, listed)
        short = self.claims("egad.table2.ami", "led-large=./tiny")["egad.table2.ami/1/rouge1"]
        self.assertEqual(short["state"], "not runnable")
        self.assertIn("'max_new_tokens' is 767; the backbone's decoder has room for 31", short["detail"])

    def test_files_of_a_release_are_named_by_the_user(self):
        of_bart = "qmsum.table3.results/7/r1"
        self.assertIn("'spans' is a file of the release that does not come with this program; "
                      "--with qmsum-extracted-span=FILE names it",
                      self.claims("qmsum.table3.results", "bart-large=./bart")[of_bart]["detail"])
        self.write("spans.txt", "<s> why </s> so it is\n")
        named = self.claims("qmsum.table3.results", "bart-large=./long-bart", "qmsum-extracted-span=spans.txt")[of_bart]
        self.assertEqual(named["state"], "not run", named)

    def test_what_has_no_effect_is_refused(self):
        self.assert_fails(2, self.plan(keyword_set=1), "'keyword_set' has no effect with \"keywords\": \"frequency\"")
        self.assert_fails(2, self.plan(keywords="highlighted", keyword_form="surface"), "'keyword_form' has no effect")
        self.assert_fails(2, self.plan(backbone="./llama", attention="prefix", local_context=20, adapter=None,
                                       decoder_start="bos"), "'decoder_start' is for encoder-decoder backbones")


if __name__ == "__main__":
    unittest.main()
