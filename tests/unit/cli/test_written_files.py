"""Files that people write, with comments and in YAML: the same cells, and `check` on each kind of them.

Usage: test_written_files.py QFS_BENCH
"""

import json
import os
import pathlib
import unittest

from driver import DriverTest

YAML = """\
# The same sweep as `write_sweep` writes.
name: small
tokenizer: words
methods:
- method: lead          # the beginning
datasets:
- path: data.jsonl
  fields: {id: id, document: document, query: query, references: references}
grid:
  local_context: [16, 32]
metrics: [rouge]
report: {rows: [method], columns: [local_context], values: [rouge1.f]}
"""


class WrittenFiles(DriverTest):
    def setUp(self):
        super().setUp()
        self.write("probe.yaml", "name: no\n")
        if "reads no YAML" in self.run_bench("check", "probe.yaml").stdout:
            self.skipTest("built without libyaml-cpp")
        self.write_data()

    def cell_ids(self, name):
        plan = json.loads(self.assert_succeeds(self.run_bench("plan", name, "--json")))
        return [cell["cell_id"] for cell in plan["cells"]]

    def check(self, *names):
        run = self.run_bench("check", *names)
        return run.returncode, run.stdout

    def test_comments_and_yaml_change_no_id(self):
        self.write_sweep()
        with open(self.path("sweep.json"), encoding="utf-8") as file:
            text = file.read()
        self.write("commented.json", "// mine\n" + text.replace('"tokenizer"', '/* how */ "tokenizer"'))
        self.write("sweep.yaml", YAML)
        expected = self.cell_ids("sweep.json")
        self.assertEqual(len(expected), 2)
        self.assertEqual(self.cell_ids("commented.json"), expected)
        self.assertEqual(self.cell_ids("sweep.yaml"), expected)

    def test_what_pyyaml_writes_is_read_alike(self):
        try:
            import yaml
        except ImportError:
            self.skipTest("no PyYAML")
        self.write_sweep(methods=[{"method": "random"}, {"method": "lead", "label": "010"}, {"method": "lead", "label": "no"}],
                         seeds=[0, 1], description="a: b\nünd # c  'd' \"e\"")
        with open(self.path("sweep.json"), encoding="utf-8") as file:
            sweep = json.load(file)
        for style in (False, True, None):
            self.write("sweep.yml", yaml.safe_dump(sweep, default_flow_style=style, allow_unicode=True))
            self.write("plain.json", json.dumps(sweep))
            self.assertEqual(self.cell_ids("sweep.yml"), self.cell_ids("plain.json"))

    def test_a_sweep_in_yaml_runs(self):
        self.write("sweep.yaml", YAML)
        self.assertIn("| lead   |", self.assert_succeeds(self.run_bench("sweep", "sweep.yaml")))
        self.assertEqual(self.run_bench("sweep", "sweep.yaml").returncode, 0)

    def test_mistakes_have_line_and_column(self):
        for name, text, message in (
                ("a.yaml", YAML.replace("tokenizer: words", "tokenizer: no"), "a.yaml:3:12: 'no' is true or false to some"),
                ("b.yaml", YAML.replace("[16, 32]", "[016, 32]"), "b.yaml:10:19: '016' is a number to some"),
                ("c.yaml", YAML + "name: twice\n", "c.yaml:13:1: the key 'name' occurs twice"),
                ("d.yml", YAML.replace("words", "wordz"), "d.yml"),
                ("e.json", "{ // open\n \"name\": /* x ", "e.json:2:10: not valid JSON"),
                ("f.yaml", "a: &a [x]\nb: [*a, *c]\n", "f.yaml:2:9: ")):
            with self.subTest(name=name):
                self.write(name, text)
                code, output = self.check(name)
                self.assertEqual(code, 2)
                self.assertIn(message, output)
                self.assertEqual(self.run_bench("plan", name).returncode, 2)

    def test_a_policy_in_yaml(self):
        self.write("gate.yaml", "# ours\nmetrics: {rouge1.f: 1pt, rougeL.f: {margin: 0.5pt, rule: max_drop}}\n"
                                "bands: {tokens_per_second: {at_least: 0.8}}\n")
        self.assertEqual(self.check("gate.yaml"), (0, "gate.yaml: ok, a policy with 2 margins, 1 band and 0 limits\n"))
        self.write("bad.yaml", "metrics: {rouge1.f: 1}\n")
        code, output = self.check("bad.yaml")
        self.assertEqual(code, 2)
        self.assertIn("bad.yaml#/metrics/rouge1.f", output)


class Claims(DriverTest):
    PAPER = {"paper": "mine", "title": "A paper", "source": "nowhere",
             "tables": [{"id": "mine.table1", "title": "Scores", "dataset": "qmsum", "split": "test",
                         "columns": [{"name": "R-1", "metric": "rouge", "column": "rouge1.f"}],
                         "rows": [{"label": "ours", "values": ["33.5"]}]}]}

    def test_those_of_the_repository_are_counted(self):
        root = pathlib.Path(__file__).parents[3]
        files = sorted((root / "experiments/claims").glob("*.json")) + sorted((root / "reports/tables").glob("*.json"))
        run = self.run_bench("check", *map(str, files))
        self.assertEqual(run.returncode, 0, run.stdout)
        lines = dict(line.split(": ok, ") for line in run.stdout.splitlines())
        found = {os.path.relpath(name, root): words for name, words in lines.items()}
        self.assertRegex(found["experiments/claims/ideal.json"], r"^claims of ideal: \d+ numbers in \d+ tables$")
        self.assertRegex(found["experiments/claims/labels.json"], r"^labels of \d+ papers$")
        self.assertRegex(found["reports/tables/ideal.json"], r"^\d+ published tables$")
        listed = json.loads(self.assert_succeeds(self.run_bench("claims", "--paper", "ideal", "--json")))
        self.assertTrue(found["experiments/claims/ideal.json"].startswith(f"claims of ideal: {len(listed['claims'])} "))

    def test_a_mistake_is_named_by_its_place(self):
        for change, message in (({"sauce": 1}, "unknown key 'sauce' (did you mean 'source'?)"), ({"tables": []}, "/tables")):
            self.write("paper.json", "// mine\n" + json.dumps({**self.PAPER, **change}))
            run = self.run_bench("check", "paper.json", "--json")
            self.assertEqual(run.returncode, 2, run.stdout)
            file = json.loads(run.stdout)["files"][0]
            self.assertIn(message, file["message"] + file.get("where", ""))
            self.assertTrue(file["where"].startswith("paper.json#"), file)


if __name__ == "__main__":
    unittest.main()
