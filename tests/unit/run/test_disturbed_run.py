"""What happens to a running sweep: signals, a store that goes away, texts that somebody changes,
limits of files, kills while a server answers.

Usage: test_disturbed_run.py QFS_BENCH
"""

import json
import os
import re
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))

from misbehaving_server import MisbehavingServer, completion, send

QFS_BENCH = os.path.abspath(sys.argv.pop(1))

# Waits for the file "go" before each example but the first, so that a test can act meanwhile.
PACED = '''
import os, time
import qfs_method

def summarize(example, params):
    open(example.key, "w").close()
    while example.key != "q0" and not os.path.exists("go"):
        time.sleep(0.01)
    return example.text

qfs_method.serve(summarize, name="paced", version=1)
'''

RECORDS = [{"id": f"q{i}", "context": f"The harbour was closed on day {i}.", "question": "When?",
            "answers": [f"Closed on day {i}."]} for i in range(12)]


class DisturbedRun(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="qfs_disturbed_")
        self.addCleanup(self.folder.cleanup)
        self.environment = {**os.environ, "QFS_CACHE_DIR": self.path("cache")}
        with open(self.path("data.jsonl"), "w", encoding="utf-8") as data:
            data.writelines(json.dumps(record) + "\n" for record in RECORDS)
        with open(self.path("paced.py"), "w", encoding="utf-8") as method:
            method.write(PACED)
        self.write({"method": "external", "command": ["python3", "paced.py"], "fingerprint": ["paced.py"]})
        self.store = self.path("store.sqlite")

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, *methods):
        sweep = {
            "name": "disturbed",
            "datasets": [{"path": "data.jsonl",
                          "fields": {"id": "id", "document": "context", "query": "question",
                                     "references": "answers"}}],
            "tokenizer": "words", "methods": list(methods), "metrics": ["rouge"],
            "report": {"rows": ["method"], "columns": ["dataset"], "values": ["rouge1.f"]},
        }
        with open(self.path("sweep.json"), "w", encoding="utf-8") as file:
            json.dump(sweep, file)

    def start(self, *options, **arguments):
        return subprocess.Popen(
            [QFS_BENCH, "sweep", self.path("sweep.json"), "--store", self.store, "--allow-external",
             *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            cwd=self.folder.name, env=self.environment, **arguments)

    def finish(self, process):
        out, err = process.communicate(timeout=60)
        return process.returncode, out, err

    def sweep(self, *options):
        return self.finish(self.start(*options))

    def run_command(self, *arguments):
        return subprocess.run([QFS_BENCH, *arguments], capture_output=True, text=True,
                              cwd=self.folder.name, env=self.environment, timeout=60)

    def wait_for(self, condition):
        end = time.monotonic() + 30
        while not condition():
            self.assertLess(time.monotonic(), end, "it did not come so far")
            time.sleep(0.01)

    def go(self):
        open(self.path("go"), "w", encoding="utf-8").close()

    def rows(self, query, store=None):
        connection = sqlite3.connect(store or self.store)
        try:
            return connection.execute(query).fetchall()
        finally:
            connection.close()

    # ---- the store -------------------------------------------------------------------------------

    def disturbed(self, act):
        """Acts on the store when one output is in it, and lets the sweep go on."""
        process = self.start()
        self.wait_for(lambda: os.path.exists(self.path("q1")))
        act()
        self.go()
        return self.finish(process)

    def assert_noticed_and_saved(self, ended):
        code, _, err = ended
        self.assertEqual(code, 4, err)
        self.assertIn("deleted, moved or replaced", err)
        self.assertFalse(os.path.exists(self.path("q3")), "it went on for nothing")
        saved = re.search(r"is in (\S+\.rescued-1)", err).group(1)
        self.assertIn((0,), self.rows("SELECT ordinal FROM output", saved))
        self.assertEqual(self.rows("PRAGMA integrity_check", saved), [("ok",)])
        for name in os.listdir(self.folder.name):
            if name.startswith("store.sqlite") and "rescued" not in name:
                os.remove(self.path(name))
        os.rename(saved, self.store)
        code, _, err = self.sweep()
        self.assertEqual(code, 0, err)

    def test_a_store_that_is_deleted_is_noticed_at_the_next_commit(self):
        def delete():
            for name in os.listdir(self.folder.name):
                if name.startswith("store.sqlite"):
                    os.remove(self.path(name))
        self.assert_noticed_and_saved(self.disturbed(delete))

    def test_a_store_that_is_replaced_is_noticed_at_the_next_commit(self):
        def replace():
            shutil.copy(self.store, self.path("copy"))
            os.rename(self.path("copy"), self.store)
        self.assert_noticed_and_saved(self.disturbed(replace))

    def test_a_log_of_the_store_that_is_deleted_is_noticed(self):
        self.assert_noticed_and_saved(self.disturbed(lambda: os.remove(self.store + "-wal")))

    def test_a_store_whose_folder_is_deleted_is_saved_elsewhere(self):
        os.mkdir(self.path("inner"))
        self.store = self.path("inner/store.sqlite")
        self.environment["TMPDIR"] = self.path("cache")
        code, _, err = self.disturbed(lambda: shutil.rmtree(self.path("inner")))
        self.assertEqual(code, 4, err)
        self.assertIn(self.path("cache") + "/store.sqlite.rescued-1", err)

    def test_a_text_changed_by_another_program_is_not_scored(self):
        self.go()
        self.assertEqual(self.sweep()[0], 0)
        for change, expected in (
                ("UPDATE output SET text = 'Closed on day 3.' WHERE ordinal = 3", "output 3"),
                ("UPDATE output SET tokens_out = 7 WHERE ordinal = 4", "output 4"),
                ("UPDATE text SET body = 'x' WHERE body = 'Closed on day 5.'", "a reference of example 5")):
            with self.subTest(change=change):
                store = self.path("changed.sqlite")
                shutil.copy(self.store, store)
                connection = sqlite3.connect(store)
                with connection:
                    self.assertEqual(connection.execute(change).rowcount, 1)
                connection.close()
                run = self.run_command("score", "--store", store, "--metric", "bleu")
                self.assertEqual(run.returncode, 4, run.stdout + run.stderr)
                self.assertIn(expected, run.stderr)
                self.assertIn("digest", run.stderr)

    # ---- signals ---------------------------------------------------------------------------------

    def test_each_signal_ends_a_sweep_in_order(self):
        for number, code in ((signal.SIGHUP, 129), (signal.SIGINT, 130), (signal.SIGTERM, 143)):
            with self.subTest(signal=number):
                for name in os.listdir(self.folder.name):
                    if name.startswith(("store.sqlite", "q", "go")):
                        os.remove(self.path(name))
                process = self.start()
                self.wait_for(lambda: os.path.exists(self.path("q1")))
                process.send_signal(number)
                time.sleep(0.2)
                self.go()
                ended, _, err = self.finish(process)
                self.assertEqual(ended, code, err)
                self.assertIn("same command again", err)
                self.assertEqual(self.rows("SELECT state FROM attempt"), [("cancelled",)])
                self.assertGreaterEqual(self.rows("SELECT count(*) FROM output")[0][0], 2)

    def test_a_signal_before_the_first_cell_has_its_code(self):
        with open(self.path("paced.py"), "w", encoding="utf-8") as method:
            method.write("import time\nopen('started', 'w').close()\ntime.sleep(60)\n")
        for number, code in ((signal.SIGHUP, 129), (signal.SIGINT, 130), (signal.SIGTERM, 143)):
            with self.subTest(signal=number):
                process = self.start()
                self.wait_for(lambda: os.path.exists(self.path("started")))
                process.send_signal(number)
                ended, _, err = self.finish(process)
                self.assertEqual(ended, code, err)
                self.assertIn("stopped by", err)
                os.remove(self.path("started"))

    def test_a_hangup_that_is_ignored_stays_ignored(self):
        process = self.start(preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        self.wait_for(lambda: os.path.exists(self.path("q1")))
        process.send_signal(signal.SIGHUP)
        self.go()
        code, _, err = self.finish(process)
        self.assertEqual(code, 0, err)

    def test_a_file_size_limit_is_an_error_and_no_death(self):
        self.go()

        def limit(size):
            return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        code, _, err = self.finish(self.start(preexec_fn=limit(200_000)))
        self.assertEqual(code, 4, err)
        self.assertIn("size limit", err)
        code, _, err = self.sweep()
        self.assertEqual(code, 0, err)
        for name in ("refs.txt", "out.txt"):
            with open(self.path(name), "w", encoding="utf-8") as texts:
                texts.write("The harbour was closed.\n" * 9)
        files = ["score", "--refs", "refs.txt", "--preds", "out.txt", "--per-example", "rows.jsonl"]
        for command, expected in ((files, "size limit"), (["list", "methods"], "standard output")):
            with self.subTest(command=command), open(self.path("printed"), "w", encoding="utf-8") as out:
                run = subprocess.run([QFS_BENCH, *command], stdout=out, stderr=subprocess.PIPE, text=True,
                                     cwd=self.folder.name, env=self.environment, preexec_fn=limit(64))
                self.assertEqual(run.returncode, 5, run.stderr)
                self.assertIn(expected, run.stderr)

    def test_no_descriptor_left_is_an_error_and_no_result(self):
        self.go()
        codes = set()
        for most in range(6, 40, 2):
            code, _, err = self.finish(self.start(
                preexec_fn=lambda most=most: resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))))
            codes.add(code)
            self.assertIn(code, (0, 4, 5), f"{most}: {err}")
        self.assertIn(5, codes)
        code, out, err = self.sweep()
        self.assertEqual(code, 0, err)
        self.assertNotIn("failed", out)

    # ---- a server --------------------------------------------------------------------------------

    def serve(self, held, **params):
        """A sweep of an endpoint that answers all but the `held` examples, which wait for the end."""
        server = MisbehavingServer()
        released = threading.Event()

        def answer(handler, body):
            document = json.loads(body)["messages"][-1]["content"]
            if any(f"on day {i}." in document for i in held):
                released.wait(30)
            try:
                completion(document[-40:])(handler, body)
            except OSError:
                pass  # whoever asked is gone
        server.replies = [answer]
        server.__enter__()
        self.addCleanup(server.__exit__)
        self.addCleanup(released.set)
        self.write({"method": "endpoint", "base_url": server.url, "model": "m", "revision": "r1",
                    "max_in_flight": 12, "backoff": 0.01, "retries": 0, **params})
        return server, released

    def stored(self):
        try:
            return self.rows("SELECT count(*) FROM output")[0][0]
        except sqlite3.Error:
            return 0

    def test_answered_rows_outlive_a_kill_and_a_second_signal(self):
        for ending in (signal.SIGKILL, signal.SIGTERM):
            with self.subTest(ending=ending):
                for name in os.listdir(self.folder.name):
                    if name.startswith("store.sqlite"):
                        os.remove(self.path(name))
                server, released = self.serve(held=(3, 4, 5))
                process = self.start()
                self.wait_for(lambda: self.stored() == 9)
                process.send_signal(ending)
                if ending != signal.SIGKILL:
                    time.sleep(0.2)
                    process.send_signal(ending)
                self.finish(process)
                released.set()
                server.requests.clear()
                code, _, err = self.sweep()
                self.assertEqual(code, 0, err)
                self.assertEqual(len(server.asked()), 3, "what was answered was asked again")
                self.assertEqual(self.stored(), 12)

    def test_a_killed_host_of_a_server_asks_for_the_missing_rows_once_more(self):
        server, released = self.serve(held=(3, 4, 5))
        process = self.start()
        self.wait_for(lambda: self.stored() == 9)
        children = subprocess.run(["pgrep", "-P", str(process.pid), "-f", " host$"], text=True,
                                  capture_output=True).stdout.split()
        server.requests.clear()
        self.assertEqual(len(children), 1)
        os.kill(int(children[0]), signal.SIGKILL)
        released.set()
        code, _, err = self.finish(process)
        self.assertEqual(code, 0, err)
        self.assertEqual(len(server.asked()), 3)
        self.assertIn("12 examples", err)

    def test_rows_stored_before_a_failure_are_counted(self):
        server, _ = self.serve(held=())
        answer = server.replies[0]

        def some(handler, body):
            if b"on day 7." in body:
                send(handler, 500, {"error": {"message": "no luck"}})
            else:
                answer(handler, body)
        server.replies = [some]
        code, _, err = self.sweep()
        self.assertEqual(code, 3, err)
        self.assertEqual(self.stored(), 11)
        self.assertIn(" 11 examples", err)


if __name__ == "__main__":
    unittest.main(verbosity=2)
