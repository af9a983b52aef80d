"""External programs that say nonsense, die, hang or flood: each fails its own cell, and nothing of it
outlives the run.

Usage: test_bad_hosts.py QFS_BENCH
"""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest

QFS_BENCH = os.path.abspath(sys.argv.pop(1))

# A host whose replies a test changes: `said` maps a verb to the members of its reply.
HOST = '''
import json, os, signal, subprocess, sys, time
requests = os.fdopen(int(os.environ["QFS_REQUEST_FD"]), "r", encoding="utf-8")
replies = os.fdopen(int(os.environ["QFS_REPLY_FD"]), "w", encoding="utf-8")
def reply(request, **body):
    replies.write(json.dumps({"id": request["id"], **body}) + "\\n")
    replies.flush()
def first_time(name):
    try:
        os.close(os.open(name, os.O_CREAT | os.O_EXCL))
        return True
    except FileExistsError:
        return False
protocol = 1
prediction = {}
phases = []
done = {"ns": 1}
def on(verb): pass
@BODY@
for line in requests:
    request = json.loads(line)
    verb = request["verb"]
    on(verb)
    if verb == "probe":
        reply(request, probe={"protocol": protocol, "host": "odd", "numerics": {}, "facts": {}})
    elif verb == "describe":
        reply(request, description={"name": "odd", "version": 1, "params": []})
    elif verb == "open": reply(request, opened=True)
    elif verb in ("run", "measure"):
        for example in request["examples"]:
            reply(request, prediction={"ordinal": example["ordinal"], "text": "a harbour", **prediction})
        for phase in phases: reply(request, phase=phase)
        reply(request, done=done)
    elif verb == "close": reply(request, closed=True)
'''

RECORDS = [{"id": f"q{i}", "context": f"The harbour was closed on day {i}.", "question": "When?",
            "answers": [f"Day {i}"]} for i in range(3)]


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


class BadHosts(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="qfs_bad_hosts_")
        self.addCleanup(self.folder.cleanup)
        self.environment = {**os.environ, "QFS_CACHE_DIR": self.path("cache")}
        with open(self.path("data.jsonl"), "w", encoding="utf-8") as data:
            data.writelines(json.dumps(record) + "\n" for record in RECORDS)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, body, limits=None, label=None, metric=None, measure=None, with_odd=False):
        with open(self.path("odd.py"), "w", encoding="utf-8") as method:
            method.write(HOST.replace("@BODY@", textwrap.dedent(body)))
        odd = {"method": "external", "command": ["python3", "odd.py"], "fingerprint": ["odd.py"]}
        if label:
            odd["label"] = label
        sweep = {
            "name": "odd",
            "datasets": [{"path": "data.jsonl",
                          "fields": {"id": "id", "document": "context", "query": "question",
                                     "references": "answers"}}],
            "tokenizer": "words", "methods": [odd, {"method": "lead"}], "metrics": ["rouge"],
            "report": {"rows": ["method"], "columns": ["dataset"], "values": ["rouge1.f"]},
        }
        if limits:
            sweep["limits"] = limits
        if measure:
            sweep["measure"] = measure
        if metric:
            sweep["metrics"].append("odd-metric")
            sweep["external_metrics"] = {"odd-metric": {"command": ["python3", metric],
                                                        "fingerprint": [metric]}}
            if not with_odd:
                sweep["methods"] = [{"method": "lead"}]
        with open(self.path("sweep.json"), "w", encoding="utf-8") as file:
            json.dump(sweep, file)

    def command(self, *options):
        return [QFS_BENCH, "sweep", self.path("sweep.json"), "--store", self.path("store.sqlite"),
                "--allow-external", *options]

    def sweep(self, *options, timeout=60):
        return subprocess.run(self.command(*options), capture_output=True, text=True,
                              cwd=self.folder.name, env=self.environment, timeout=timeout)

    def check(self):
        return subprocess.run([QFS_BENCH, "method", "check", "python3", "odd.py"], text=True,
                              capture_output=True, cwd=self.folder.name, env=self.environment,
                              timeout=60)

    def attempts(self):
        connection = sqlite3.connect(self.path("store.sqlite"))
        try:
            return connection.execute(
                "SELECT c.method, a.state, a.failure_kind FROM attempt a JOIN result r USING (result_id)"
                " JOIN cell c USING (cell_id) WHERE r.kind = 'predict' ORDER BY 1").fetchall()
        finally:
            connection.close()

    def assert_only_its_own_cell_fails(self, run, *expected, kind="method_error"):
        self.assertEqual(run.returncode, 3, run.stderr)
        for words in ("odd", *expected):
            self.assertIn(words, run.stderr)
        self.assertRegex(run.stdout, r"lead +\| +\d+\.\d\d")
        self.assertRegex(run.stdout, r"odd +\| +(failed|timeout)")
        self.assertEqual(self.attempts(), [("lead", "done", "none"), ("odd", "failed", kind)])

    # ---- nonsense --------------------------------------------------------------------------------

    def test_a_nonsensical_prediction_fails_its_cell_and_is_found_by_the_check(self):
        for body, expected in (
                ("prediction = {'tokens_in': -5}", "'tokens_in' must be from 0 to 2^40, not -5"),
                ("prediction = {'tokens_out': 2**63}", "'tokens_out' is too large"),
                ("prediction = {'tokens_out': 1.5}", "'tokens_out' must be an integer"),
                ("prediction = {'text': 'word ' * 5_000_000}", "25000000 bytes is too long"),
                ("prediction = {'text': None}", "'text' must be a string"),
                ("prediction = {'ordinal': -1}", "does not hold"),
                ("prediction = {'repaired_bytes': -1}", "'repaired_bytes' must be from 0"),
                ("prediction = {'truncation': {'document_tokens': -1, 'kept_tokens': 1}}",
                 "'document_tokens' must be from 0"),
                ("prediction = {'truncation': {'document_tokens': 1, 'kept_tokens': 1,"
                 " 'kept': [[70000, 0, 1]]}}", "no part of the document"),
                ("done = {'ns': -1}", "'ns' must be from 0"),
                ("done = {'ns': float('nan')}", "not valid JSON"),
                ("protocol = 2", "version 2 of the session protocol")):
            with self.subTest(body=body):
                for name in os.listdir(self.folder.name):
                    if name.startswith("store"):
                        path = self.path(name)
                        if os.path.isfile(path):
                            os.remove(path)
                self.write(body)
                self.assert_only_its_own_cell_fails(self.sweep(), expected)
                again = self.sweep()
                self.assertEqual(again.returncode, 3, again.stderr)
                check = self.check()
                self.assertEqual(check.returncode, 5, check.stdout + check.stderr)
                self.assertIn(expected, check.stderr)

    def test_nonsensical_times_fail_the_timing_alone(self):
        for body, expected in (
                ("phases = [{'name': 'total', 'ns': 1, 'tokens': 1}]", "not \"total\""),
                ("phases = [{'name': 'x', 'ns': 1, 'tokens': 1}] * 2", "twice the phase x"),
                ("phases = [{'name': 'x', 'ns': -1, 'tokens': 1}]", "'ns' must be from 0"),
                ("done = {'ns': 1, 'peak_resident_bytes': -1}", "'peak_resident_bytes' must be")):
            with self.subTest(body=body):
                for name in os.listdir(self.folder.name):
                    if name.startswith("store.sqlite"):
                        os.remove(self.path(name))
                body = f"def on(verb):\n    if verb == 'run': globals().update(phases=[], done={{'ns': 1}})\n" \
                       f"    if verb == 'measure': exec({body!r}, globals())\n"
                self.write(body, measure={"examples": 1, "warmup": 0, "repetitions": 1})
                for _ in range(2):  # remembered the second time
                    run = self.sweep()
                    self.assertNotIn("defect", run.stderr)
                    self.assertIn(expected, run.stderr)
                    self.assertIn("the timing of 1 cell failed: run again with --retry", run.stderr)
                    self.assertEqual(run.returncode, 3)
                    self.assertRegex(run.stdout, r"odd +\| +\d+\.\d\d")
                self.assertEqual(self.check().returncode, 5)

    def test_a_defect_of_a_program_that_describes_itself_is_not_ours(self):
        for kind in ("internal", "store"):
            self.write("def on(verb):\n    if verb == 'describe':\n"
                       f"        reply(request, error={{'kind': '{kind}', 'message': 'no luck'}})\n")
            run = self.sweep()
            self.assertEqual(run.returncode, 3, run.stderr)
            self.assertIn("odd.py", run.stderr)
            self.assertIn("no luck", run.stderr)
            self.assertRegex(run.stdout, r"lead +\| +\d+\.\d\d")

    def test_a_program_that_is_mended_is_asked_again(self):
        self.write("protocol = int(open('version').read())")
        with open(self.path("version"), "w", encoding="utf-8") as version:
            version.write("2")
        self.assertEqual(self.sweep().returncode, 3)
        with open(self.path("version"), "w", encoding="utf-8") as version:
            version.write("1")
        run = self.sweep()
        self.assertEqual(run.returncode, 0, run.stderr)

    # ---- deaths ----------------------------------------------------------------------------------

    def test_a_host_killed_while_it_loads_is_replaced_once(self):
        for verb in ("probe", "describe", "open", "run"):
            with self.subTest(verb=verb):
                self.write(f"def on(verb):\n    if verb == '{verb}' and first_time('{verb}.died'):\n"
                           "        os.kill(os.getpid(), signal.SIGKILL)\n")
                run = self.sweep()
                self.assertEqual(run.returncode, 0, run.stderr)
                self.assertTrue(os.path.exists(self.path(verb + ".died")))

    def test_a_second_death_is_the_cells_failure(self):
        for verb in ("probe", "open", "run"):
            with self.subTest(verb=verb):
                for name in os.listdir(self.folder.name):
                    if name.startswith("store.sqlite"):
                        os.remove(self.path(name))
                self.write(f"def on(verb):\n    if verb == '{verb}':\n"
                           f"        open('deaths.{verb}', 'a').write('x')\n"
                           "        os.kill(os.getpid(), signal.SIGSEGV)\n")
                self.assert_only_its_own_cell_fails(self.sweep(), "signal 11", kind="signal")
                with open(self.path("deaths." + verb), encoding="utf-8") as deaths:
                    self.assertEqual(deaths.read(), "xx")

    GRANDCHILD = '''
        def on(verb):
            if verb != "run": return
            fds = [int(os.environ["QFS_REQUEST_FD"]), int(os.environ["QFS_REPLY_FD"])]
            child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(300)"], pass_fds=fds)
            open("grandchild.new", "w").write(str(child.pid))
            os.rename("grandchild.new", "grandchild")
        '''

    def grandchild(self, seconds=20):
        end = time.monotonic() + seconds
        while not os.path.exists(self.path("grandchild")):
            self.assertLess(time.monotonic(), end, "the method did not run")
            time.sleep(0.02)
        with open(self.path("grandchild"), encoding="utf-8") as file:
            return int(file.read())

    def assert_gone(self, pid, seconds=5):
        end = time.monotonic() + seconds
        while alive(pid):
            if time.monotonic() > end:
                os.kill(pid, signal.SIGKILL)
                self.fail("it outlived the run")
            time.sleep(0.02)

    def test_what_a_host_started_neither_hides_its_death_nor_outlives_it(self):
        self.write(textwrap.dedent(self.GRANDCHILD) + "    os._exit(3)\n", limits={"unit_seconds": 15})
        start = time.monotonic()
        run = self.sweep()
        self.assertLess(time.monotonic() - start, 10)
        self.assert_only_its_own_cell_fails(run, "exit code 3")
        self.assert_gone(self.grandchild())

    def test_what_a_host_started_dies_with_a_driver_that_is_killed(self):
        self.write(textwrap.dedent(self.GRANDCHILD) + "    time.sleep(300)\n")
        for ending in (signal.SIGKILL, signal.SIGTERM):
            with self.subTest(ending=ending), subprocess.Popen(
                    self.command(), cwd=self.folder.name, env=self.environment,
                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as driver:
                pid = self.grandchild()
                driver.send_signal(ending)
                if ending != signal.SIGKILL:  # the first asks to end the unit
                    time.sleep(0.3)
                    driver.send_signal(ending)
                driver.wait(timeout=20)
                self.assert_gone(pid)
                os.remove(self.path("grandchild"))

    # ---- silence and floods ----------------------------------------------------------------------

    def test_the_limit_of_loading_holds_for_the_first_questions(self):
        for verb in ("probe", "describe"):
            with self.subTest(verb=verb):
                self.write(f"def on(verb):\n    if verb == '{verb}': time.sleep(300)\n",
                           limits={"open_seconds": 1})
                start = time.monotonic()
                run = self.sweep()
                self.assertLess(time.monotonic() - start, 15)
                self.assertEqual(run.returncode, 3, run.stderr)
                self.assertIn("odd", run.stderr)
                self.assertIn("within 1 s", run.stderr)
                self.assertRegex(run.stdout, r"lead +\| +\d+\.\d\d", "the others have their rows")

    def test_the_limit_of_loading_holds_for_a_metric(self):
        with open(self.path("slow.py"), "w", encoding="utf-8") as metric:
            metric.write("import time\ntime.sleep(300)\n")
        self.write("", limits={"open_seconds": 1}, metric="slow.py")
        start = time.monotonic()
        run = self.sweep()
        self.assertLess(time.monotonic() - start, 15)
        self.assertEqual(run.returncode, 5, run.stderr)
        self.assertIn("odd-metric", run.stderr)

    def test_a_text_that_a_metric_cannot_read_is_a_matter_of_its_cell(self):
        with open(self.path("picky.py"), "w", encoding="utf-8") as metric:
            metric.write(textwrap.dedent("""
                import qfs_metric
                def score(item):
                    if item.prediction != "a harbour":
                        raise qfs_metric.MetricError("no such text", "data")
                    return 1.0
                qfs_metric.serve(score, name="picky", version=1, columns=["picky"], needs=[])
                """))
        self.write("", metric="picky.py", with_odd=True)
        run = self.sweep()
        self.assertEqual(run.returncode, 5, run.stderr)
        self.assertIn("no such text", run.stderr)
        self.assertIn("(lead)", run.stderr)
        connection = sqlite3.connect(self.path("store.sqlite"))
        scored = connection.execute(
            "SELECT c.method FROM score_job s JOIN result r USING (result_id) JOIN cell c USING (cell_id)"
            " WHERE s.metric = 'odd-metric'").fetchall()
        connection.close()
        self.assertEqual(scored, [("odd",)])

    def test_a_host_that_does_not_read_is_late_as_well(self):
        # More than a pipe holds, yet little work for the other method, which has the same second.
        big = [{**RECORDS[0], "context": "word " * 40_000}]
        with open(self.path("data.jsonl"), "w", encoding="utf-8") as data:
            data.writelines(json.dumps(record) + "\n" for record in big)
        self.write("def on(verb):\n    if verb == 'open':\n"
                   "        reply(request, opened=True); time.sleep(300)\n",
                   limits={"unit_seconds": 1})
        start = time.monotonic()
        run = self.sweep()
        self.assertLess(time.monotonic() - start, 15)
        self.assert_only_its_own_cell_fails(run, "within 1 s", kind="timeout")

    def test_a_log_keeps_its_ends(self):
        self.write('''
            def on(verb):
                if verb != "run" or not first_time("flooded"): return
                print("the beginning")
                for i in range(60):
                    sys.stdout.write(("x" * 1023 + "\\n") * 1024)
                    time.sleep(0.01)
                print("the end", flush=True)
            ''')
        run = self.sweep()
        self.assertEqual(run.returncode, 0, run.stderr)
        logs = [os.path.join(self.path("store.logs"), name) for name in os.listdir(self.path("store.logs"))]
        text = ""
        for log in logs:
            self.assertLessEqual(os.path.getsize(log), 4 << 20)
            with open(log, encoding="utf-8") as file:
                text += file.read()
        self.assertIn("the beginning\n", text)
        self.assertIn("bytes of output are left out here", text)
        self.assertIn("the end\n", text)

    def test_old_logs_of_the_cache_are_removed(self):
        os.makedirs(self.path("cache/logs"))
        for name in ("metric-old.log", "notes.txt"):
            with open(self.path("cache/logs/" + name), "w", encoding="utf-8") as log:
                log.write("x")
            os.utime(self.path("cache/logs/" + name), (1e9, 1e9))
        self.write("")
        self.assertEqual(self.sweep().returncode, 0)
        self.assertEqual(sorted(os.listdir(self.path("cache/logs")))[-1], "notes.txt")
        self.assertNotIn("metric-old.log", os.listdir(self.path("cache/logs")))

    # ---- words -----------------------------------------------------------------------------------

    def test_a_line_break_in_a_name_or_message_makes_no_line(self):
        forged = "2026-01-01T00:00:00.000Z [2/2] all good"
        self.write("def on(verb):\n    if verb == 'run':\n"
                   f"        reply(request, error={{'kind': 'data', 'message': 'x\\n{forged}'}}, usable=True)\n",
                   label=f"odd\n{forged}\u2028\x1b[2J")
        run = self.sweep()
        self.assertEqual(run.returncode, 3, run.stderr)
        self.assertNotIn("\n" + forged, run.stderr)
        self.assertIn("x\\n" + forged, run.stderr)
        for control in ("\x1b", "\u2028"):
            self.assertNotIn(control, run.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
