"""`list cells --watch`: how far a run is, from another terminal.

Usage: test_watch.py QFS_BENCH
"""

import os
import signal
import subprocess
import time
import unittest

from driver import QFS_BENCH, DriverTest

# Waits for the file "go" before each example but the first two.
PACED = '''
import os, time
import qfs_method

def summarize(example, params):
    while example.key not in ("e0", "e1") and not os.path.exists("go"):
        time.sleep(0.01)
    if os.path.exists("fails") and example.key == "e5":
        raise MemoryError
    return example.text[:30]

qfs_method.serve(summarize, name="paced", version=1)
'''


class Watch(DriverTest):
    def setUp(self):
        super().setUp()
        self.write_data(6)
        self.write("paced.py", PACED)
        self.write_sweep(methods=[{"method": "lead"}, {"method": "external", "label": "paced", "command": ["python3", "paced.py"],
                                                       "fingerprint": ["paced.py"]}], grid={"local_context": [16]})

    def start(self, *arguments):
        environment = {**{k: v for k, v in os.environ.items() if not k.startswith("QFS_")}, "QFS_CACHE_DIR": self.path("cache")}
        process = subprocess.Popen([QFS_BENCH, *arguments], cwd=self.folder, env=environment, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def start_sweep(self):
        sweep = self.start("sweep", "sweep.json", "--allow-external")
        self.wait_for_running()
        return sweep

    def wait_for_running(self):
        end = time.monotonic() + 60
        while "running" not in self.run_bench("list", "cells", "--store", "small.sqlite").stdout:
            self.assertLess(time.monotonic(), end)
            time.sleep(0.1)

    def watch(self):
        return self.start("list", "cells", "--watch", "--store", "small.sqlite")

    def test_it_tells_what_ends_and_ends_with_the_run(self):
        sweep = self.start_sweep()
        watch = self.watch()
        time.sleep(1.2)
        self.assertIsNone(watch.poll())
        self.write("go", "")
        self.assertEqual(sweep.wait(timeout=60), 0)
        out, err = watch.communicate(timeout=30)
        self.assertEqual((watch.returncode, out), (0, "small: 2 of 2 cells are complete; nothing runs\n"))
        self.assertIn("paced: 6 outputs", err)
        self.assertNotIn("lead", err)  # had ended before

    def test_a_failure_is_told_and_the_exit_code_says_so(self):
        self.write("fails", "")
        sweep = self.start_sweep()
        watch = self.watch()
        time.sleep(1.2)
        self.write("go", "")
        self.assertEqual(sweep.wait(timeout=60), 3)
        out, err = watch.communicate(timeout=30)
        self.assertEqual((watch.returncode, out), (3, "small: 1 of 2 cells are complete, 1 failed; nothing runs\n"))
        self.assertIn("paced: oom_device: ", err)

    def test_a_killed_run_ends_it(self):
        sweep = self.start_sweep()
        watch = self.watch()
        time.sleep(1.2)
        sweep.send_signal(signal.SIGKILL)
        out, _ = watch.communicate(timeout=30)
        self.assertEqual((watch.returncode, out), (3, "small: 1 of 2 cells are complete; nothing runs\n"))

    def test_without_a_run_it_says_where_the_last_one_ended(self):
        self.write("go", "")
        self.assert_succeeds(self.run_bench("sweep", "sweep.json", "--allow-external"))
        out = self.assert_succeeds(self.run_bench("list", "cells", "--watch", "--store", "small.sqlite"))
        self.assertEqual(out, "small: 2 of 2 cells are complete; nothing runs\n")
        self.assert_fails(2, self.run_bench("list", "cells", "--watch", "--json", "--store", "small.sqlite"), "--json")


unittest.main()
