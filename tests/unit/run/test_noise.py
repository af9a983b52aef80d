"""`noise`: what batches and orders alone change, and that the gate takes it.

Usage: test_noise.py QFS_BENCH
"""

import json
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
from driver import DriverTest  # noqa: E402

# With batches of more than one it forgets a word of e3; and every process writes differently the second time.
MOODY = '''
import os
import qfs_method

calls = []

def summarize(example, params):
    calls.append(example.key)
    words = example.text.split()[:12]
    if params["batch_size"] > 1 and example.key == "e3":
        words = words[:11]
    if os.path.exists("remembers") and len(calls) == 2:
        words.append("again")
    return " ".join(words)

qfs_method.serve(summarize, name="moody", version=1,
                 params=[qfs_method.Param("batch_size", "integer", default=1, minimum=1, maximum=8, numerics=True)])
'''

MOODY_METHOD = {"method": "external", "label": "moody", "command": ["python3", "moody.py"], "fingerprint": ["moody.py"]}


def noises_of(body):
    """All "noise_points" of a gate's document."""
    if isinstance(body, dict):
        own = [body["noise_points"]] if "noise_points" in body else []
        return own + [noise for value in body.values() for noise in noises_of(value)]
    return [noise for value in body for noise in noises_of(value)] if isinstance(body, list) else []


class Noise(DriverTest):
    def setUp(self):
        super().setUp()
        self.write_data(6)
        self.write("moody.py", MOODY)
        self.write_sweep(methods=[{"method": "lead"}, MOODY_METHOD], grid={"local_context": [32]})

    def noise(self, *options):
        out = self.assert_succeeds(self.run_bench("noise", "sweep.json", "--allow-external", "--json", *options))
        body = json.loads(out)
        return {cell["cell"].split()[0]: cell for cell in body["cells"]}, body["noise_points"]

    def test_what_changes_is_named_and_what_does_not_has_no_noise(self):
        cells, floor = self.noise()
        self.assertEqual(len(cells["lead"]["ways"]), 2)  # it has no batches
        self.assertEqual([way["changed"] for way in cells["lead"]["ways"]], [[], []])
        self.assertEqual(set(cells["lead"]["noise_points"].values()), {0})
        changed = {(way["batch_size"], way["order"]): way["changed"] for way in cells["moody"]["ways"]}
        self.assertEqual(changed, {(1, "given"): [], (1, "reversed"): [], (4, "given"): ["e3"], (4, "reversed"): ["e3"]})
        self.assertGreater(cells["moody"]["noise_points"]["rouge1.f"], 0)
        self.assertEqual(floor, cells["moody"]["noise_points"])

    def test_an_order_that_leaks_from_example_to_example_is_seen(self):
        self.write("remembers", "")
        self.write_sweep(methods=[MOODY_METHOD], grid={"local_context": [32]}, host_reuse="none")
        cells, _ = self.noise("--filter", "method=moody", "--batch-size", "1")
        self.assertEqual({way["order"]: way["changed"] for way in cells["moody"]["ways"]},
                         {"given": [], "reversed": ["e1", "e4"]})

    def test_runs_of_the_store_stay_as_they_are_and_the_gate_takes_the_floor(self):
        self.assert_succeeds(self.run_bench("sweep", "sweep.json", "--allow-external"))
        table = self.assert_succeeds(self.run_bench("report", "--format", "csv"))
        cells, _ = self.noise()
        self.assertEqual(self.assert_succeeds(self.run_bench("report", "--format", "csv")), table)
        self.assertEqual(len(json.loads(self.assert_succeeds(self.run_bench("list", "runs", "--json")))["runs"]), 1)
        self.write("policy.json", json.dumps({"metrics": {"rouge1.f": "0.001pt"}, "minimum_examples": 2,
                                              "noise": "measured"}))
        gate = self.run_bench("gate", "--baseline", "small.sqlite", "--candidate", "small.sqlite", "--policy", "policy.json",
                              "--json")
        self.assertIn(cells["moody"]["noise_points"]["rouge1.f"], noises_of(json.loads(gate.stdout)))
        self.assert_succeeds(self.run_bench("doctor", "--store", "small.sqlite"))

    def test_the_text_names_examples_and_the_floor(self):
        out = self.assert_succeeds(self.run_bench("noise", "sweep.json", "--allow-external"))
        self.assertIn("lead: 0 of 6 outputs are changed, no score changes\n", out)
        self.assertIn("  batches of 4, reversed: e3\n", out)
        self.assertIn("noise floor: rouge1.f ", out)

    def test_a_batch_that_the_method_does_not_take_is_an_error(self):
        self.assert_fails(2, self.run_bench("noise", "sweep.json", "--allow-external", "--batch-size", "9"),
                          "'moody' with batches of 9", "--batch-size takes another")


unittest.main()
