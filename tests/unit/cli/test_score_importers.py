"""score --from: small files in the formats of other tools, with the traps of each.

Usage: test_score_importers.py QFS_BENCH
"""

import json
import unittest

from driver import DriverTest

TEXT, REFERENCE = "the cat sat", "the cat sat down"
F = 2 * 1.0 * 0.75 / 1.75


class Importers(DriverTest):
    def lines(self, rows, name="rows.jsonl"):
        return self.write(name, "".join(json.dumps(r) + "\n" for r in rows))

    def document(self, value, name="log.json"):
        return self.write(name, json.dumps(value, indent=1))

    def scores(self, *arguments):
        return json.loads(self.assert_succeeds(self.run_bench("score", *arguments, "--json")))

    def f_of(self, *arguments):
        result = self.scores(*arguments)
        return result["n"], result["scores"]["rouge1"]["f"]

    @staticmethod
    def lm_eval(i, filter_name="none", target=REFERENCE):
        return {"doc_id": i, "doc": {"context": "A long text.", "q": "Why?"}, "target": target,
                "arguments": {"gen_args_0": {"arg_0": "prompt"}}, "resps": [[TEXT]],
                "filtered_resps": [TEXT], "filter": filter_name, "rouge1": 0.0}

    def test_lm_eval(self):
        self.lines([self.lm_eval(0), self.lm_eval(1)])
        self.assertEqual(self.f_of("--from", "lm-eval", "rows.jsonl"), (2, F))

    def test_ids_in_some_rows_only_are_an_error(self):
        row = self.lm_eval(1)
        del row["doc_id"]
        self.lines([self.lm_eval(0), row])
        self.assert_fails(5, self.run_bench("score", "--from", "lm-eval", "rows.jsonl"), "rows.jsonl:2", "has no id")

    def test_lm_eval_target_as_python_list(self):
        self.lines([self.lm_eval(0, target=repr(["no", "it's the cat sat\n", TEXT + " \"down\""]))])
        run = self.run_bench("score", "--from", "lm-eval", "rows.jsonl", "--json")
        result = json.loads(self.assert_succeeds(run))
        self.assertEqual(result["references"]["most"], 3)
        self.assertEqual(result["references"]["read_from_python_lists"], 1)
        self.assertIn("Python list", run.stderr)
        self.assertEqual(result["scores"]["rouge1"]["f"], F)

    def test_lm_eval_several_filters_need_a_choice(self):
        self.lines([self.lm_eval(0), self.lm_eval(0, "strict")])
        self.assert_fails(5, self.run_bench("score", "--from", "lm-eval", "rows.jsonl"),
                          "rows.jsonl:2: the file holds the filters 'none' and 'strict'",
                          "--fields filter=none")
        self.assertEqual(self.f_of("--from", "lm-eval", "rows.jsonl", "--fields", "filter=strict"),
                         (1, F))
        self.assert_fails(2, self.run_bench("score", "--from", "lm-eval", "rows.jsonl", "--fields", "filter=nope"),
                          "no filter 'nope'; it has: none, strict")

    def test_lm_eval_scores_the_first_of_repeated_generations_and_says_so(self):
        row = self.lm_eval(0)
        row["filtered_resps"] = [[row["filtered_resps"][0], "something else", "a third"]]
        self.lines([row])
        run = self.run_bench("score", "--from", "lm-eval", "rows.jsonl")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("of repeated generations the first is scored, and 2 others are not", run.stderr)

    def test_what_is_wrong_stands_in_a_row_of_the_users_file(self):
        self.lines([{**self.lm_eval(0), "target": 3}])
        run = self.run_bench("score", "--from", "lm-eval", "rows.jsonl")
        self.assert_fails(5, run, "rows.jsonl:1: references")
        self.assertNotIn("found references", run.stderr)

    def test_rows_that_a_second_run_appended(self):
        self.lines([self.lm_eval(0), self.lm_eval(1), self.lm_eval(0)])
        run = self.run_bench("score", "--from", "lm-eval", "rows.jsonl", "--json")
        self.assertEqual(json.loads(self.assert_succeeds(run))["dropped_repeats"], 1)
        self.assertIn("1 row repeats an earlier one", run.stderr)
        changed = dict(self.lm_eval(0), filtered_resps=["other"])
        self.lines([self.lm_eval(0), changed])
        self.assert_fails(5, self.run_bench("score", "--from", "lm-eval", "rows.jsonl"),
                          "rows.jsonl:2: item '0' is there again with other texts than at rows.jsonl:1")

    def test_inspect_json(self):
        def sample(number, epoch, choices, target):
            return {"id": number, "epoch": epoch, "input": "Summarize.", "target": target,
                    "output": {"model": "m", "choices": choices}}
        text = [{"message": {"role": "assistant", "content": TEXT}, "stop_reason": "stop"}]
        parts = [{"message": {"content": [{"type": "reasoning", "reasoning": "hm"},
                                          {"type": "text", "text": TEXT}]}}]
        self.document({"version": 2, "status": "success", "eval": {},
                       "samples": [sample(1, 1, text, REFERENCE), sample(1, 2, parts, [REFERENCE, "x"])]})
        self.assertEqual(self.f_of("--from", "inspect-json", "log.json"), (2, F))
        self.document({"samples": [sample("a", 1, [], REFERENCE)]})
        self.assert_fails(5, self.run_bench("score", "--from", "inspect-json", "log.json"),
                          "1 of 1 item has no prediction: a")

    def test_helm(self):
        def state(number, trial=0, success=True):
            return {"instance": {"id": f"id{number}", "split": "test", "input": {"text": "T"},
                                 "references": [{"output": {"text": "wrong"}, "tags": []},
                                                {"output": {"text": REFERENCE}, "tags": ["correct"]}]},
                    "train_trial_index": trial,
                    "result": {"success": success, "completions": [{"text": TEXT}]}}
        self.document({"adapter_spec": {}, "request_states": [state(0), state(0, 1), state(1)]})
        self.assertEqual(self.f_of("--from", "helm", "log.json"), (3, F))
        self.document({"request_states": [state(0), state(1, success=False)]})
        self.assertEqual(self.f_of("--from", "helm", "log.json", "--missing", "zero"), (2, F / 2))

    def test_an_element_of_the_list_that_is_no_object_is_named(self):
        for tool, member in (("inspect-json", "samples"), ("helm", "request_states")):
            self.document({member: [3]})
            self.assert_fails(5, self.run_bench("score", "--from", tool, "log.json"),
                              f"log.json#/{member}/0", "must be an object, found a number")
            self.document({member: {}})
            self.assert_fails(5, self.run_bench("score", "--from", tool, "log.json"), member, "list")

    def test_longbench(self):
        def row(length, text=TEXT):
            return {"pred": text, "answers": [REFERENCE], "all_classes": None, "length": length}
        self.lines([row(10), row(11)])
        self.assertEqual(self.f_of("--from", "longbench", "rows.jsonl"), (2, F))
        self.lines([row(10), row(11), row(10), row(11)])
        self.assertEqual(self.scores("--from", "longbench", "rows.jsonl")["dropped_repeats"], 2)
        self.lines([row(10), row(11), row(10, "sampled anew")])
        self.assert_fails(5, self.run_bench("score", "--from", "longbench", "rows.jsonl"),
                          "rows.jsonl:3: item '1' is there again with other texts")

    def test_scrolls(self):
        self.document({"a": TEXT, "b": TEXT})
        self.lines([{"id": "a", "pid": "a_0", "output": "nothing"},
                    {"id": "a", "pid": "a_1", "output": REFERENCE},
                    {"id": "b", "pid": "b_0", "output": REFERENCE}], "refs.jsonl")
        self.assertEqual(self.f_of("--from", "scrolls", "log.json", "--refs", "refs.jsonl"), (2, F))
        self.document({"a": TEXT})
        self.assert_fails(5, self.run_bench("score", "--from", "scrolls", "log.json", "--refs",
                                            "refs.jsonl"), "1 of 2 items have no prediction: b")

    def test_openai_batch_in_any_order_with_failures(self):
        def chat(name, text=TEXT):
            return {"id": "batch_req_1", "custom_id": name, "error": None, "response": {
                "status_code": 200, "body": {"choices": [{"message": {"content": text}}]}}}
        items = [{"type": "reasoning", "summary": []},
                 {"type": "message", "content": [{"type": "output_text", "text": TEXT}]}]
        responses = {"custom_id": "b", "response": {"status_code": 200, "body": {"output": items}}}
        failed = {"custom_id": "c", "response": {"status_code": 429, "body": {}}, "error": None}
        self.lines([{"id": i, "references": [REFERENCE]} for i in "abc"], "refs.jsonl")
        self.lines([responses, failed, chat("a")])
        arguments = ("--from", "openai-batch", "rows.jsonl", "--refs", "refs.jsonl")
        self.assert_fails(5, self.run_bench("score", *arguments), "1 of 3 items have no prediction: c")
        self.assertEqual(self.f_of(*arguments, "--missing", "skip"), (2, F))

    def test_hf_generated(self):
        self.write("generated_predictions.txt", f"{TEXT}\n{TEXT}\n")  # three, the last one empty
        self.write("refs.txt", f"{REFERENCE}\n{REFERENCE}\n{REFERENCE}\n")
        arguments = ("--from", "hf-generated", "generated_predictions.txt", "--refs", "refs.txt")
        result = self.scores(*arguments)
        self.assertEqual((result["n"], result["empty_predictions"]), (3, 1))
        self.write("generated_predictions.txt", f"A text\n- with a list\n{TEXT}\n{TEXT}")
        self.assert_fails(5, self.run_bench("score", *arguments),
                          "generated_predictions.txt has 4 lines, refs.txt has 3",
                          "line 2 is an item of a list")

    def test_files_of_another_format_are_refused_with_their_fields(self):
        self.lines([{"text": "x"}])
        self.document({"a": 1})
        for tool, name in (("lm-eval", "rows.jsonl"), ("longbench", "rows.jsonl"),
                           ("openai-batch", "rows.jsonl")):
            self.assert_fails(5, self.run_bench("score", "--from", tool, name), "fields: text")
        for tool in ("inspect-json", "helm"):
            self.assert_fails(5, self.run_bench("score", "--from", tool, "log.json"),
                              "the fields there are: a")
        self.assert_fails(5, self.run_bench("score", "--from", "scrolls", "log.json"),
                          "log.json#/a: the prediction must be text, found a number")


if __name__ == "__main__":
    unittest.main()
