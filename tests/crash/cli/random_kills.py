"""Kills at random moments, half of them in the first second: SIGKILL, SIGTERM or SIGHUP to the driver,
SIGKILL to a host. However often it was killed, the same command ends with 0 and the same bytes, the
store is sound and nothing of the killed runs is left running.

One sweep runs an external program, one trains LoRA on SmolLM2 and predicts with what was learned.
QFS_KILLS says how many kills each sweep gets (default 12 and 6), QFS_KILLS_SEED which.

Usage: random_kills.py QFS_BENCH
"""

import hashlib
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

QFS_BENCH = os.path.abspath(sys.argv.pop(1))
KILLS = os.environ.get("QFS_KILLS")
SEED = int(os.environ.get("QFS_KILLS_SEED", "20260417"))

SLOW = '''
import subprocess, time
import qfs_method

def summarize(example, params):
    subprocess.run(["sleep", "0.05"])
    return " ".join(example.text.split()[: params["words"]])

qfs_method.serve(summarize, name="slow", version=1, params=[qfs_method.Param("words", "integer", default=30)])
'''

FIELDS = {"id": "id", "document": "text", "query": "asked", "references": "said"}

PREDICTING = {
    "name": "predicting",
    "datasets": [{"name": "mini-meetings", "split": "test", "view": "whole", "sample": 12}],
    "tokenizer": "words",
    "methods": [{"method": "lead"}, {"method": "bm25"},
                {"method": "external", "command": ["python3", "killed_method.py"], "fingerprint": ["killed_method.py"]},
                {"method": "external", "label": "slow 10", "command": ["python3", "killed_method.py"],
                 "fingerprint": ["killed_method.py"], "words": 10}],
    "metrics": ["rouge"],
    "measure": {"examples": 2, "warmup": 1, "repetitions": 1},
    "report": {"rows": ["method"], "values": ["rouge1.f", "rougeL.f"]},
}

TRAINING = {
    "name": "training",
    "datasets": [{"name": "mini-meetings", "split": "test", "view": "whole", "sample": 2}],
    "tokenizer": "words",
    "methods": [{"method": "lora", "rank": 2, "alpha": 16, "steps": 5, "train_batch": 1, "train_tokens": 96,
                 "label_tokens": 8, "learning_rate": 0.01, "evaluate_every": 2, "checkpoint_every": 1,
                 "local_context": 16, "max_new_tokens": 3,
                 "training": {"train": {"path": "train.jsonl", "fields": FIELDS},
                              "development": {"path": "development.jsonl", "fields": FIELDS}}}],
    "metrics": ["rouge"],
    "report": {"rows": ["method"], "values": ["rouge1.f", "train_tokens"]},
}


def records(words):
    return "".join(json.dumps({"id": word, "text": f"They spoke of {word}. " * 3, "asked": f"What of {word}?",
                               "said": f"About {word} they agreed."}) + "\n" for word in words)


def processes():
    """pid -> (parent, command line), of all that run."""
    found = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as stat:
                state, parent = stat.read().rsplit(")", 1)[1].split()[:2]
            with open(f"/proc/{name}/cmdline", "rb") as line:
                command = line.read().decode(errors="replace").split("\0")
        except OSError:
            continue
        if state not in "ZX":
            found[int(name)] = (int(parent), command)
    return found


class RandomKills:
    """Of one sweep: `sweep`, how many `kills`, seconds within which a late one comes, outputs."""

    latest = 4

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="qfs_kills_")
        self.addCleanup(self.folder.cleanup)
        with open(self.path("killed_method.py"), "w", encoding="utf-8") as method:
            method.write(SLOW)
        with open(self.path("sweep.json"), "w", encoding="utf-8") as file:
            json.dump(self.sweep, file)
        self.environment = {**os.environ, "QFS_CACHE_DIR": self.path("cache")}
        self.moments = random.Random(SEED)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def start(self, store):
        with open(self.path("err"), "ab") as err:
            return subprocess.Popen(
                [QFS_BENCH, "sweep", self.path("sweep.json"), "--store", store, "--allow-external"],
                stdout=subprocess.DEVNULL, stderr=err, cwd=self.folder.name, env=self.environment)

    def ended_well(self, store):
        process = self.start(store)
        code = process.wait(timeout=300)
        with open(self.path("err"), encoding="utf-8", errors="replace") as err:
            self.assertEqual(code, 0, err.read()[-3000:])

    def qualities(self, store):
        report = subprocess.run(
            [QFS_BENCH, "report", "--only", "quality", "--format", "json", "--store", store],
            check=True, capture_output=True, env=self.environment).stdout
        connection = sqlite3.connect(store)
        rows = [connection.execute(
            f"SELECT c.cell_id, r.numerics_id, {columns} FROM {table} t "
            "JOIN result r USING (result_id) JOIN cell c USING (cell_id) ORDER BY 1, 2, 3, 4").fetchall()
            for table, columns in (("output", "t.ordinal, t.output_sha256"), ("artifact", "t.role, t.sha256"),
                                   ("training_point", "t.step, t.name, t.value"))]
        conflicts = connection.execute("SELECT count(*) FROM artifact_conflict").fetchone()[0]
        connection.close()
        self.assertEqual(conflicts, 0)
        return report, rows

    def check_files(self, store):
        """What was learned lies where the store says, as it says; no checkpoint is left beside it."""
        connection = sqlite3.connect(store)
        files = connection.execute("SELECT location, sha256 FROM artifact").fetchall()
        connection.close()
        for location, sha256 in files:
            with open(os.path.join(self.folder.name, location), "rb") as file:
                self.assertEqual(hashlib.sha256(file.read()).hexdigest(), sha256)

    def hosts_of(self, driver):
        """What the driver started and has changed into another program."""
        return [pid for pid, (parent, command) in processes().items()
                if parent == driver and "sweep" not in command]

    def kill(self, store, first_second):
        """One run with one kill; False when it was over before."""
        process = self.start(store)
        after = self.moments.uniform(0, 1) if first_second else self.moments.uniform(1, self.latest)
        victim = self.moments.choice(["driver", "driver", "host"])
        number = self.moments.choice([signal.SIGKILL, signal.SIGTERM, signal.SIGHUP])
        try:
            process.wait(timeout=after)
            self.assertEqual(process.returncode, 0)
            return False
        except subprocess.TimeoutExpired:
            pass
        if victim == "host":
            hosts = self.hosts_of(process.pid)
            for pid in hosts[:1]:
                os.kill(pid, signal.SIGKILL)
            # One host more or less is no reason to stop: the run is killed a little later.
            time.sleep(self.moments.uniform(0, 0.3))
            number = signal.SIGKILL
        process.send_signal(number)
        code = process.wait(timeout=120)
        allowed = {0, -signal.SIGKILL if number == signal.SIGKILL else 128 + number}
        if after < 0.05:  # before the program has come to its first line
            allowed.add(-number)
        self.assertIn(code, allowed)
        return True

    def test_the_same_command_ends_with_the_same_bytes(self):
        self.ended_well(self.path("undisturbed.sqlite"))
        expected = self.qualities(self.path("undisturbed.sqlite"))
        self.assertEqual([len(rows) for rows in expected[1]], self.rows)
        kills = stores = 0
        wanted = self.kills if KILLS is None else int(KILLS)
        while kills < wanted:
            store = self.path(f"killed-{stores}.sqlite")
            stores += 1
            for _ in range(self.moments.randint(1, 8)):
                if kills < wanted and self.kill(store, first_second=kills % 2 == 0):
                    kills += 1
            self.ended_well(store)
            self.assertEqual(self.qualities(store), expected)
            self.check_files(store)
            doctor = subprocess.run([QFS_BENCH, "doctor", "--store", store], capture_output=True,
                                    text=True, env=self.environment)
            self.assertEqual(doctor.returncode, 0, doctor.stdout + doctor.stderr)
        time.sleep(0.3)
        left = [command for _, command in processes().values()
                if any(self.folder.name in word or word == "killed_method.py" for word in command)]
        self.assertEqual(left, [])


class Predicting(RandomKills, unittest.TestCase):
    sweep = PREDICTING
    kills = 12
    rows = [48, 0, 0]


class Training(RandomKills, unittest.TestCase):
    kills = 6
    latest = 8
    rows = [2, 1, 23]

    def setUp(self):
        inspected = subprocess.run([QFS_BENCH, "model", "inspect", "smollm2-135m", "--json"], capture_output=True,
                                   text=True)
        if inspected.returncode != 0:
            self.skipTest("SmolLM2 is not in the cache (bootstrap.sh fetches it)")
        model = json.loads(inspected.stdout)["path"]
        method = {**TRAINING["methods"][0], "backbone": model}
        self.sweep = {**TRAINING, "methods": [method]}
        super().setUp()
        for name, words in (("train", ["tea", "bread", "jam", "milk", "salt"]), ("development", ["rice", "corn"])):
            with open(self.path(name + ".jsonl"), "w", encoding="utf-8") as file:
                file.write(records(words))


if __name__ == "__main__":
    unittest.main(verbosity=2)
