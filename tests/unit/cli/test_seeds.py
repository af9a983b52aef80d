"""Seeds that do not matter: a cell is computed once and shown for each seed.

Usage: test_seeds.py QFS_BENCH
"""

import json
import unittest

from driver import DriverTest


class Seeds(DriverTest):
    def setUp(self):
        super().setUp()
        self.write_data(6)

    def sweep_with(self, seeds, **members):
        self.write_sweep(methods=[{"method": "lead"}, {"method": "random"}], grid={"local_context": [16]}, seeds=seeds,
                         **members)
        return self.run_bench("sweep", "sweep.json")

    def planned(self, *arguments):
        plan = json.loads(self.assert_succeeds(self.run_bench("plan", "sweep.json", "--json", *arguments)))
        return {(cell["method"], tuple(cell["shown_seeds"])): cell["cell_id"] for cell in plan["cells"]}

    def test_a_method_without_chance_runs_once_and_is_shown_for_each_seed(self):
        run = self.sweep_with([0, 1, 2], measure={"examples": 2, "warmup": 0, "repetitions": 1})
        table = self.assert_succeeds(run)
        self.assertIn("4 cells: 4 to run", run.stderr)
        self.assertIn("the seed does not matter to 'lead': computed once", run.stderr)
        self.assertIn("the seed does not matter to lead: one result\n", table)
        self.assertIn("mean ± standard deviation (n − 1) of 3 seeds (0, 1, 2)", table)
        report = ["report", "--json", "--rows", "method,seed"]
        self.assertIn("one result, shown for each seed", json.loads(self.run_bench(*report).stdout)["notes"][-1])
        rows = json.loads(self.assert_succeeds(self.run_bench(*report)))["rows"]
        shown = [(row["labels"]["method"], row["labels"]["seed"]) for row in rows]
        self.assertEqual(shown, [(method, seed) for method in ("lead", "random") for seed in "012"])
        values = [row["cells"][0]["values"]["rouge1.f"] for row in rows]
        self.assertEqual(values[0], values[1])
        self.assertEqual(values[0], values[2])
        self.assertEqual({value["status"] for value in values}, {"ok"})
        self.assertEqual(len({value["cell_id"] for value in values}), 4)
        self.assertIn("0 to run", self.run_bench("sweep", "sweep.json").stderr)
        self.assertIn("sound", self.assert_succeeds(self.run_bench("doctor")))

    def test_rows_of_seeds_are_tested_against_those_of_the_same_seed(self):
        self.write_data(12)
        self.write_sweep(methods=[{"method": "random"}, {"method": "oracle"}], grid={"local_context": [64]}, seeds=[0, 1])
        self.assert_succeeds(self.run_bench("sweep", "sweep.json"))
        report = ["report", "--rows", "method,seed", "--against", "random"]
        table = json.loads(self.assert_succeeds(self.run_bench(*report, "--json")))
        tested = [row["cells"][0]["values"]["rouge1.f"].get("tested") for row in table["rows"]]
        self.assertEqual([one is not None for one in tested], [False, False, True, True])
        self.assertIn("after Holm over 2 tests", self.assert_succeeds(self.run_bench(*report)))

    def test_the_cell_is_that_of_seed_0(self):
        self.sweep_with([0])
        zero = self.planned()[("lead", (0,))]
        self.sweep_with([0, 1])
        self.assertEqual(self.planned()[("lead", (0, 1))], zero)
        self.sweep_with([7])
        self.assertEqual(self.planned()[("lead", (7,))], zero)
        self.assertNotEqual(self.planned()[("random", (7,))], self.planned()[("lead", (7,))])

    def test_commands_find_the_one_cell_by_any_of_its_seeds(self):
        self.sweep_with([0, 1])
        self.assertEqual(list(self.planned("--filter", "method=lead,seed=1")), [("lead", (1,))])
        for text in ("method=lead", "method=lead,seed=1"):
            shown = json.loads(self.assert_succeeds(self.run_bench("show", "--filter", text, "--json")))
            self.assertEqual(shown["dimensions"]["method"], "lead")
        listed = json.loads(self.assert_succeeds(self.run_bench("list", "cells", "--json")))
        self.assertEqual([cell["dimensions"]["seed"] for cell in listed["cells"]], ["0", "1", "0", "1"])
        lines = self.assert_succeeds(self.run_bench("report", "--per-example", "-", "--filter", "method=lead"))
        self.assertEqual(len(lines.splitlines()), 6, "one result is not two")
        self.assertEqual(json.loads(lines.splitlines()[0])["shown_seeds"], [0, 1])
        lines = self.assert_succeeds(self.run_bench("report", "--per-example", "-", "--filter", "seed=1"))
        seeds = {(line["method"], line["seed"]) for line in map(json.loads, lines.splitlines())}
        self.assertEqual(seeds, {("lead", 1), ("random", 1)})

    def test_every_cell_is_scored_whatever_the_seeds(self):
        for seeds in ([7], [1, 2]):
            with self.subTest(seeds=seeds):
                self.sweep_with(seeds)
                self.assert_succeeds(self.run_bench("score", "--store", "small.sqlite", "--metric", "chrf"))
                rows = json.loads(self.assert_succeeds(self.run_bench("report", "--json", "--values", "chrf")))["rows"]
                lines = self.assert_succeeds(self.run_bench("report", "--per-example", "-")).splitlines()
                self.assertEqual({json.loads(line)["seed"] for line in lines}, set(seeds))
                values = [value for row in rows for value in row["cells"][0]["values"].values()]
                self.assertEqual({value["status"] for value in values}, {"ok"})

    def test_one_seed_leaves_the_sweep_as_it_was(self):
        self.sweep_with([0])
        sweep = json.loads(self.assert_succeeds(self.run_bench("list", "runs", "--json")))["runs"][0]
        self.assertEqual(sweep["cells"], 2)
        self.assertNotIn("seed", self.assert_succeeds(self.run_bench("report")).split("`")[0])


if __name__ == "__main__":
    unittest.main(verbosity=2)
