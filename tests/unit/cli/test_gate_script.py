"""The gate of the README, as it is printed there, ends rightly when the model behind a server is the same, gets worse,
changes its revision, fails and answers nothing.

Usage: test_gate_script.py QFS_BENCH
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")
sys.path.insert(0, os.path.join(ROOT, "tests", "support"))

from misbehaving_server import MisbehavingServer, answer_of, error, send

QFS_BENCH = os.path.abspath(sys.argv.pop(1))


def printed_script():
    with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as readme:
        return re.search(r"### A gate\n.*?```sh\n(.*?)```", readme.read(), re.S).group(1)


def prompt_words(body):
    messages = json.loads(body)["messages"]
    return " ".join(message["content"] for message in messages).split()


def good(handler, body):
    send(handler, 200, answer_of(" ".join(prompt_words(body)[-60:])))


def worse(handler, body):
    send(handler, 200, answer_of("Nothing of the kind, zzz."))


def nothing(handler, body):
    send(handler, 200, answer_of(""))


class GateScript(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="qfs_gate_")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        os.mkdir(os.path.join(self.folder, "bin"))
        os.symlink(QFS_BENCH, os.path.join(self.folder, "bin", "qfs-bench"))
        os.mkdir(os.path.join(self.folder, "experiments"))
        with open(os.path.join(self.folder, "gate.sh"), "w", encoding="utf-8") as script:
            script.write(printed_script())

    def write_experiment(self, server, revision, **members):
        with open(os.path.join(ROOT, "experiments", "served.json"), encoding="utf-8") as file:
            experiment = json.load(file)
        experiment["variables"].update(base_url=server.url, model="m", revision=revision)
        experiment["methods"][-1].update(retries=0)
        experiment["grid"] = {"local_context": [256]}
        experiment.update(members)
        with open(os.path.join(self.folder, "experiments", "served.json"), "w", encoding="utf-8") as file:
            json.dump(experiment, file)

    def run_command(self, *command):
        environment = {**os.environ, "QFS_CACHE_DIR": os.path.join(self.folder, "cache"),
                       "PATH": os.path.join(self.folder, "bin") + os.pathsep + os.environ["PATH"]}
        return subprocess.run(command, cwd=self.folder, env=environment, text=True, capture_output=True, timeout=120,
                              stdin=subprocess.DEVNULL)

    def test_five_candidates(self):
        self.assertLessEqual(len(printed_script().strip().splitlines()), 5)
        with MisbehavingServer() as server:
            server.replies = [good]
            self.write_experiment(server, "1")
            made = self.run_command("qfs-bench", "sweep", "experiments/served.json", "--allow-external", "--quiet",
                                    "--store", "baseline.sqlite")
            self.assertEqual(made.returncode, 0, made.stderr)
            for name, reply, revision, code, said in (
                    ("the same", good, "1", 0, "PASS"),
                    ("worse", worse, "1", 1, "WORSE: the drop"),
                    ("another revision", good, "2", 3, "--pair-by"),
                    ("failing", error(400, {"error": "no"}), "1", 3, "failed"),
                    ("nothing", nothing, "1", 1, "empty")):
                with self.subTest(candidate=name):
                    server.replies = [reply]
                    self.write_experiment(server, revision)
                    run = self.run_command("sh", "gate.sh")
                    self.assertEqual(run.returncode, code, run.stdout + run.stderr)
                    self.assertIn(said, run.stdout + run.stderr)

    def test_answers_of_a_live_server_must_be_fresh(self):
        def sweep(store):
            made = self.run_command("qfs-bench", "sweep", "experiments/served.json", "--allow-external", "--quiet",
                                    "--store", store)
            self.assertEqual(made.returncode, 0, made.stderr)

        def gate(candidate, *arguments):
            return self.run_command("qfs-bench", "gate", "--baseline", "baseline.sqlite", "--candidate", candidate,
                                    "--max-drop", "rougeL.f=1pt", *arguments)
        with MisbehavingServer() as server:
            server.replies = [good]
            self.write_experiment(server, "live")
            sweep("baseline.sqlite")
            stale = gate("baseline.sqlite")
            self.assertEqual(stale.returncode, 3, stale.stdout + stale.stderr)
            self.assertIn("refused: the answers of a live server were made at", stale.stdout)
            self.assertIn("1 not compared", stale.stdout.splitlines()[-1])
            sweep("fresh.sqlite")
            fresh = gate("fresh.sqlite")
            self.assertEqual(fresh.returncode, 0, fresh.stdout + fresh.stderr)
            later = gate("fresh.sqlite", "--made-since", "2999-01-01T00:00:00Z")
            self.assertEqual(later.returncode, 3, later.stdout + later.stderr)
            kept = self.run_command("qfs-bench", "baseline", "set", "main", "--store", "baseline.sqlite")
            self.assertEqual(kept.returncode, 0, kept.stderr)
            committed = self.run_command("qfs-bench", "gate", "--baseline", "main", "--candidate", "baseline.sqlite",
                                         "--max-drop", "rougeL.f=1pt")
            self.assertEqual(committed.returncode, 3, committed.stdout + committed.stderr)
            # A candidate that is a committed baseline is as old as the store that it was made of.
            both = gate("baselines/main.jsonl")
            self.assertEqual(both.returncode, 3, both.stdout + both.stderr)
            self.assertIn("refused", both.stdout)

    def test_runs_of_a_live_server_are_averaged_and_calibrated(self):
        def sweep(store):
            made = self.run_command("qfs-bench", "sweep", "experiments/served.json", "--allow-external", "--quiet",
                                    "--store", store)
            self.assertEqual(made.returncode, 0, made.stderr)

        def gate(candidate):
            run = self.run_command("qfs-bench", "gate", "--baseline", "baseline.sqlite", "--candidate", candidate,
                                   "--max-drop", "rougeL.f=1pt", "--repeats", "2", "--filter", "method=m")
            return run.returncode, run.stdout
        answers = iter(range(10 ** 6))

        def varying(handler, body):
            words = prompt_words(body)[-60:]
            send(handler, 200, answer_of(" ".join(words[next(answers) % 7:])))
        with MisbehavingServer() as server:
            server.replies = [varying]
            self.write_experiment(server, "live", seeds=[0, 1])
            sweep("baseline.sqlite")
            code, text = gate("baseline.sqlite")
            self.assertEqual(code, 3, text)
            self.assertIn("refused: the answers of a live server", text)
            self.assertEqual(text.count("NOT COMPARED"), 1, text)
            sweep("fresh.sqlite")
            code, text = gate("fresh.sqlite")
            self.assertIn("1 not worse of 1 check", text)
            self.assertEqual(code, 0, text)
            calibrated = self.run_command("qfs-bench", "gate", "calibrate", "--store", "fresh.sqlite", "--drop",
                                          "rougeL.f=2pt", "--filter", "method=m", "--json")
            cell, = json.loads(calibrated.stdout)["cells"]
            self.assertEqual((cell["runs"], cell["pairs"]), (2, 1))
            self.assertGreater(cell["standard_error_points"], 0)


if __name__ == "__main__":
    unittest.main()
