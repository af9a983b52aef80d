"""`sweep --slots`: several hosts side by side on one machine, and the tables of a single process.

Usage: test_slots.py QFS_BENCH
"""

import os
import shutil
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import test_shards  # noqa: E402
from test_shards import QFS_BENCH  # noqa: E402

# Says in its text which devices it may see, and in a file when it worked.
SEEING = '''
import os, time
import qfs_method

def summarize(example, params):
    start = time.monotonic()
    time.sleep(0.1)
    with open("spans", "a") as file:
        file.write(f"{os.environ.get('CUDA_VISIBLE_DEVICES')} {start} {time.monotonic()}\\n")
    if params["words"] == 2:
        raise MemoryError
    return " ".join(example.text.split()[: params["words"]])

qfs_method.serve(summarize, name="seeing", version=1, params=[qfs_method.Param("words", "integer", default=30)])
'''

SEEING_METHOD = {"method": "external", "label": "seeing", "command": ["python3", "seeing.py"], "fingerprint": ["seeing.py"]}


class Slots(test_shards.ShardsTest):
    def start_sweep(self, *options):
        return subprocess.Popen([QFS_BENCH, "sweep", "sweep.json", "--allow-external", "--slots", "2", *options],
                                cwd=self.folder, env=self.environment, text=True, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE)

    def sweep(self, *options, code=0):
        run = self.run_bench("sweep", "sweep.json", "--allow-external", "--slots", "2", *options)
        self.assertEqual(run.returncode, code, run.stderr)
        return run

    def spans(self):
        if not os.path.exists(self.path("spans")):
            return []
        spans = [line.split() for line in self.read("spans").splitlines()]
        os.remove(self.path("spans"))
        return [(device, float(start), float(end)) for device, start, end in spans]

    def test_two_slots_end_in_the_tables_of_one_process(self):
        run = self.sweep()
        self.assertIn("12 cells in 2 slots, logs in small.shards", run.stderr)
        self.assert_as_one()
        again = self.sweep()  # nothing is left: no worker is started
        self.assertNotIn("in 2 slots", again.stderr)
        self.assertEqual(again.stdout, run.stdout)

    def test_slots_work_at_the_same_time_and_share_the_devices(self):
        self.write("seeing.py", SEEING)
        self.write_data(4)
        self.write_sweep(methods=[{**SEEING_METHOD, "words": 5}, {**SEEING_METHOD, "label": "six", "words": 6}],
                         grid={"local_context": [16]})
        self.assert_succeeds(self.run_bench("sweep", "sweep.json", "--allow-external", "--slots", "2", "--store", "two.sqlite",
                                            environment={"CUDA_VISIBLE_DEVICES": "3,5"}))
        spans = self.spans()
        self.assertEqual(sorted(device for device, _, _ in spans), ["3"] * 4 + ["5"] * 4)
        first, second = ([span for span in spans if span[0] == device] for device in ("3", "5"))
        self.assertTrue(any(a[1] < b[2] and b[1] < a[2] for a in first for b in second), spans)

    def test_a_killed_worker_leaves_its_cells_to_the_sweep(self):
        self.write("slow", "")
        sweep = self.start_sweep()
        store = "small.shards/slot-1-of-2.sqlite"
        self.wait_for_outputs(store)
        os.kill(self.worker_pid(store), signal.SIGKILL)
        _, err = sweep.communicate(timeout=240)
        self.assertEqual(sweep.returncode, 0, err)
        self.assertIn("slot 1/2 ended with signal 9", err)
        self.assert_as_one()

    def test_a_killed_sweep_takes_its_workers_along_and_the_same_command_continues(self):
        self.write("slow", "")
        sweep = self.start_sweep()
        for number in (1, 2):
            self.wait_for_outputs(f"small.shards/slot-{number}-of-2.sqlite")
        pids = [self.worker_pid(f"small.shards/slot-{number}-of-2.sqlite") for number in (1, 2)]
        sweep.kill()
        sweep.communicate()
        self.wait_until_gone(pids)
        before = sum(self.outputs_of(f"small.shards/slot-{number}-of-2.sqlite") for number in (1, 2))
        os.remove(self.path("slow"))
        self.sweep()
        self.assertGreater(before, 3)
        self.assert_as_one()

    def wait_until_gone(self, pids):
        end = time.monotonic() + 30
        while any(os.path.exists(f"/proc/{pid}/exe") for pid in pids):
            self.assertLess(time.monotonic(), end, "a worker lives on")
            time.sleep(0.05)

    def test_sigterm_ends_the_units_in_hand_and_keeps_them(self):
        self.write("slow", "")
        sweep = self.start_sweep()
        for number in (1, 2):
            self.wait_for_outputs(f"small.shards/slot-{number}-of-2.sqlite")
        sweep.terminate()
        _, err = sweep.communicate(timeout=60)
        self.assertEqual(sweep.returncode, 143, err)
        self.assertGreater(self.outputs_of("small.sqlite"), 3)
        os.remove(self.path("slow"))
        self.sweep()
        self.assert_as_one()

    def test_a_slot_that_was_stopped_before_its_store_was_one_is_nothing(self):
        os.mkdir(self.path("small.shards"))
        self.write("small.shards/slot-1-of-2.sqlite", "")
        self.sweep()
        self.assert_as_one()
        self.write("empty.sqlite", "")
        run = self.run_bench("merge", "small.sqlite", "empty.sqlite")
        self.assertEqual((run.returncode, run.stdout), (0, "empty.sqlite: never begun: an empty file\n"), run.stderr)

    def test_a_store_that_was_removed_is_not_made_again_of_what_slots_left(self):
        self.sweep()
        for name in os.listdir(self.folder):
            if name.startswith("small.sqlite"):
                os.remove(self.path(name))
        run = self.run_bench("sweep", "sweep.json", "--allow-external", "--slots", "2")
        self.assert_fails(4, run, "small.sqlite: the store is gone, and 'small.shards' has", "remove that folder",
                          "merge small.sqlite small.shards/slot-*.sqlite")
        shutil.rmtree(self.path("small.shards"))
        self.sweep()
        self.assert_as_one()

    def test_failed_cells_are_not_tried_again_by_every_sweep(self):
        self.write("seeing.py", SEEING)
        self.write_sweep(methods=[{**SEEING_METHOD, "words": 2}, {"method": "lead"}], grid={"local_context": [16]})
        options = ("--store", "failing.sqlite")
        first = self.sweep(*options, code=3)
        self.assertIn("OOM", first.stdout)
        self.assertEqual(len(self.spans()), 1)
        self.assertEqual(self.sweep(*options, code=3).stdout, first.stdout)
        self.assertEqual(self.spans(), [])


if __name__ == "__main__":
    unittest.main()
