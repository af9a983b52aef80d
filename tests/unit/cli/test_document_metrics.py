"""Metrics that look at the document or the query: on files, on stores, in sweeps, in compare.

Usage: test_document_metrics.py QFS_BENCH
"""

import json
import unittest

from driver import FIELDS, DriverTest

METRICS = ["coverage", "density", "compression", "novel-ngrams", "repetition", "length", "query-coverage"]


class DocumentMetrics(DriverTest):
    def score(self, *arguments):
        return self.run_bench("score", "out.jsonl", *arguments)

    def test_files(self):
        scored = {"id": "a", "prediction": "The cat sat on Mars", "document": ["the cat sat down", "on the moon"],
                  "query": "Where did the cat sit?"}
        self.write("out.jsonl", json.dumps(scored) + "\n")
        names = [part for name in METRICS for part in ("--metric", name)]
        result = json.loads(self.assert_succeeds(self.score(*names, "--json")))
        values = {key: column["value"] for profile in result["profiles"] for key, column in profile["scores"].items()}
        self.assertEqual(values["coverage"], 4 / 5)
        self.assertEqual(values["density"], 10 / 5)
        self.assertEqual(values["compression"], 7 / 5)
        self.assertEqual(values["novel1"], 1 / 5)
        self.assertEqual(values["repeated2"], 0)
        self.assertEqual(values["length.characters"], 19)
        self.assertEqual(values["query_coverage"], 1 / 2)
        self.assertIn("compression", self.assert_succeeds(self.score("--metric", "compression")))

    def test_a_missing_field_is_an_error_that_names_it(self):
        self.write("out.jsonl", '{"id": "a", "prediction": "a b"}\n')
        self.assert_fails(5, self.score("--metric", "coverage"), "item 'a' has no document", "out.jsonl:1")
        self.assert_fails(5, self.score("--metric", "query-coverage"), "item 'a' has no query", "out.jsonl:1")
        self.write("out.jsonl", '{"id": "a", "prediction": "a b", "document": "", "query": ""}\n')
        self.assert_fails(5, self.score("--metric", "density"), "field 'document', which this item does not have",
                          "out.jsonl:1")
        self.assert_fails(5, self.score("--metric", "query-coverage"), "field 'query'", "out.jsonl:1")

    def test_a_prediction_without_a_word_is_said(self):
        self.write("out.jsonl", '{"id": "a", "prediction": " ", "document": "a b"}\n')
        run = self.score("--metric", "coverage", "--json")
        self.assertEqual(json.loads(self.assert_succeeds(run))["scores"]["coverage"]["value"], 0)
        self.assertIn("the prediction has no word and counts 0", run.stderr)
        self.assert_fails(5, self.score("--metric", "coverage:empty=error"), "has no word", "out.jsonl:1")

    def test_sweeps_stores_reports_and_compare(self):
        self.write_data()
        self.write_sweep(metrics=["compression", "query-coverage"],
                         report={"rows": ["method"], "columns": ["local_context"],
                                 "values": ["compression", "query_coverage"]})
        table = self.assert_succeeds(self.run_bench("sweep", "sweep.json"))
        self.assertIn("**compression** by local_context", table)
        self.assertNotIn("× 100", table)
        self.assert_succeeds(self.run_bench("score", "--store", "small.sqlite", "--metric", "coverage"))
        report = self.run_bench("report", "--store", "small.sqlite", "--values", "coverage/coverage")
        self.assertIn("1.0000", self.assert_succeeds(report))
        comparisons = json.loads(self.assert_succeeds(self.run_bench(
            "compare", "--store", "small.sqlite", "local_context=16", "local_context=32", "--json")))["comparisons"]
        columns = {name: column for c in comparisons for name, column in c["columns"].items()}
        self.assertEqual(columns["coverage"]["a"], 1)  # lead copies
        self.assertGreater(columns["compression"]["a"], columns["compression"]["b"])

    def test_an_example_without_a_query_is_an_error_in_a_store(self):
        self.write_data()
        self.write_sweep(datasets=[{"path": "data.jsonl", "fields": {**FIELDS, "query": "="}}])
        self.assert_succeeds(self.run_bench("sweep", "sweep.json"))
        self.assert_fails(5, self.run_bench("score", "--store", "small.sqlite", "--metric", "query-coverage"),
                          "metric query-coverage", "example e0 has no query")


if __name__ == "__main__":
    unittest.main()
