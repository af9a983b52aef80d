"""Bad input: each kind with its message and its exit code.

Usage: test_bad_input.py QFS_BENCH
"""

import fcntl
import json
import os
import resource
import signal
import sqlite3
import subprocess
import time
import unittest

from driver import FIELDS, QFS_BENCH, DriverTest, record


class SweepFile(DriverTest):
    def setUp(self):
        super().setUp()
        self.write_data()

    def sweep(self, **members):
        return self.run_bench("sweep", self.write_sweep(**members))

    def test_missing_file(self):
        self.assert_fails(2, self.run_bench("sweep", "nowhere.json"), "nowhere.json", "No such file")

    def test_broken_json_has_line_and_column(self):
        self.write("broken.json", '{\n  "name": "x",\n  "methods": [ }\n')
        self.assert_fails(2, self.run_bench("sweep", "broken.json"), "broken.json:3:16: not valid JSON")

    def test_unknown_key_has_its_pointer_and_the_nearest(self):
        self.assert_fails(2, self.sweep(metrcs=["rouge"]),
                          "sweep.json#/metrcs: unknown key 'metrcs' (did you mean 'metrics'?)")

    def test_the_advice_for_data_without_a_field_is_taken(self):
        self.write("data.jsonl", json.dumps({"text": "One line. Another.", "answer": "One line."}) + "\n")
        fields = {"document": "text", "references": "answer"}
        run = self.sweep(datasets=[{"path": "data.jsonl", "fields": fields}])
        self.assert_fails(5, run, "data.jsonl:1", "missing field 'query'", 'when the data have none, write "query": ""')
        run = self.sweep(datasets=[{"path": "data.jsonl", "fields": {**fields, "query": ""}}])
        self.assert_succeeds(run)
        run = self.sweep(datasets=[{"path": "data.jsonl", "fields": {**fields, "document": "", "query": ""}}])
        self.assert_fails(2, run, "there is no document; name its field")
        run = self.sweep(datasets=[{"path": "data.jsonl", "fields": {"query": ""}}])
        self.assert_fails(5, run, "missing field 'document'", 'Map it with "fields" (--field document=NAME)\n')

    def test_unknown_method(self):
        self.assert_fails(2, self.sweep(methods=[{"method": "leed"}]),
                          "sweep.json#/methods/0", "unknown method 'leed' (did you mean 'lead'?)")

    def test_unknown_data_set(self):
        self.assert_fails(2, self.sweep(datasets=[{"name": "mini-meeting"}]), "sweep.json#/datasets/0",
                          "unknown data set 'mini-meeting' (did you mean 'mini-meetings'?)")

    def test_unknown_metric(self):
        self.assert_fails(2, self.sweep(metrics=["rogue"]), "sweep.json#/metrics/0",
                          "unknown metric 'rogue' (did you mean 'rouge'?)")

    def test_grid_key_that_no_method_has(self):
        self.assert_fails(2, self.sweep(grid={"local_contxt": [1]}), "sweep.json#/grid/local_contxt",
                          "no method of the sweep has a parameter 'local_contxt' "
                          "(did you mean 'local_context'?)")

    def test_value_out_of_range(self):
        self.assert_fails(2, self.sweep(methods=[{"method": "lead", "max_words": 0}]),
                          "sweep.json#/methods/0/max_words", "must be at least 1")

    def test_values_of_the_table_are_checked_before_anything_runs(self):
        run = self.sweep(report={"values": ["peak_memry"]})
        self.assert_fails(2, run, "sweep.json#/report/values/0", "did you mean 'peak_memory'?")
        run = self.sweep(report={"values": ["rouge1.g"]})
        self.assert_fails(2, run, "/report/values/0", "no metric of the sweep has the column 'rouge1.g'", "did you mean")
        run = self.sweep(report={"columns": ["local_contxt"]})
        self.assert_fails(2, run, "/report/columns/0", "did you mean 'local_context'?")
        self.assertFalse(os.path.exists(self.path("small.sqlite")), "nothing has run")

    def test_missing_checkpoint_says_how_to_get_it(self):
        sweep = self.write_sweep(methods=[{"method": "zero_shot", "backbone": "smollm2-135m"}])
        run = self.run_bench("sweep", sweep, environment={"QFS_MODELS_DIR": self.path("no-models")})
        self.assert_fails(5, run, "sweep.json#/methods/0/backbone",
                          "the checkpoint of 'smollm2-135m' is not on this machine", "bootstrap.sh")

    def test_data_set_that_was_not_fetched_says_how_to_get_it(self):
        self.assert_fails(5, self.sweep(datasets=[{"name": "qmsum"}]), "sweep.json#/datasets/0",
                          "qfs-bench data fetch qmsum")

    def test_bad_record_has_file_and_line(self):
        self.write("data.jsonl", json.dumps(record(0)) + "\n" + json.dumps({**record(1), "document": 7}) + "\n")
        self.assert_fails(5, self.sweep(), "data.jsonl:2", "/document", "found a number")

    def test_truncated_gguf_ends_the_sweep_before_it_begins(self):
        with open(self.path("cut.gguf"), "wb") as file:
            file.write(b"GGUF" + (3).to_bytes(4, "little") + (200).to_bytes(8, "little") + bytes(20))
        self.assert_fails(5, self.sweep(tokenizer="cut.gguf"), "cut.gguf: 200 tensors", "sweep.json#/methods/0")

    def test_hostile_gguf_is_an_error_and_not_a_crash(self):
        with open(self.path("hostile.gguf"), "wb") as file:
            file.write(b"GGUF" + (3).to_bytes(4, "little") + b"\xff" * 16)
        self.assert_fails(5, self.sweep(tokenizer="hostile.gguf"), "hostile.gguf: 18446744073709551615 tensors")

    def test_external_programs_need_permission(self):
        run = self.sweep(methods=[{"method": "external", "command": ["true"], "fingerprint": ["sweep.json"]}])
        self.assert_fails(2, run, "--allow-external")


class Options(DriverTest):
    def setUp(self):
        super().setUp()
        self.write_data()
        self.write_sweep(variables={"words": 3})

    def test_each_option_says_what_it_expects(self):
        for code, arguments, messages in [
            (2, ["--set", "words"], ["--set expects VARIABLE=VALUE"]),
            (2, ["--set", "wrods=1"], ["no variable 'wrods'", "did you mean 'words'?"]),
            (2, ["--filter", "metod=lead"], ["did you mean 'method'?"]),
            (2, ["--filter", "method=bm25"], ["no cell has method=bm25", "lead"]),
            (2, ["--filter", "method"], ["--filter"]),
            (2, ["--rerun", "metod=lead"], ["did you mean 'method'?"]),
            (2, ["--retry", "tiemout"], ["--retry", "did you mean 'timeout'?"]),
            (2, ["--limit", "0"], ["--limit", "at least 1"]),
            (2, ["--limit", "many"], ["--limit", "at least 1"]),
            (2, ["--limt", "3"], ["no option '--limt' (did you mean '--limit'?)"]),
        ]:
            with self.subTest(arguments=arguments):
                self.assert_fails(code, self.run_bench("sweep", "sweep.json", *arguments), *messages)

    def test_numerics_of_another_machine_are_a_probe(self):
        cases = {"{}": "qfs-host/probe/1", "{": "numerics.json:1:",
                 '{"schema": "qfs-host/probe/1", "numerics": {"device": "cuda", "dtype": "float32"}}':
                     "'threads'"}
        for text, message in cases.items():
            self.write("numerics.json", text)
            self.assert_fails(5, self.run_bench("plan", "sweep.json", "--numerics", "numerics.json"),
                              "numerics.json", message)
        self.assert_fails(2, self.run_bench("plan", "sweep.json", "--numerics", "absent.json"),
                          "absent.json")

    def test_commands_are_suggested(self):
        self.assert_fails(2, self.run_bench("swep"), "no command 'swep' (did you mean 'sweep'?)")
        self.assert_fails(2, self.run_bench("list", "metods"), "did you mean 'methods'?")
        self.assert_fails(2, self.run_bench(), "--help")
        self.assert_fails(2, self.run_bench("sweep"), "FILE", "qfs-bench sweep --help")

    def test_messages_cannot_control_the_terminal(self):
        run = self.run_bench("sweep", "\x1b[31mred.json")
        self.assert_fails(2, run, "\\x1b[31mred.json")


class StoreFile(DriverTest):
    def setUp(self):
        super().setUp()
        self.write_data()
        self.write_sweep()

    def sweep(self, store, **options):
        return self.run_bench("sweep", "sweep.json", "--store", store, **options)

    def test_text_file(self):
        self.write("text.sqlite", "this is no database, only text of some length\n" * 100)
        self.assert_fails(4, self.sweep("text.sqlite"), "text.sqlite", "not a qfs-bench store")
        self.assert_fails(4, self.run_bench("report", "--store", "text.sqlite"), "not a qfs-bench store")
        with open(self.path("text.sqlite"), encoding="utf-8") as file:
            self.assertTrue(file.read().startswith("this is no database"), "it was not touched")

    def test_database_of_another_program(self):
        connection = sqlite3.connect(self.path("other.sqlite"))
        connection.execute("CREATE TABLE note (text)")
        connection.commit()
        connection.close()
        self.assert_fails(4, self.sweep("other.sqlite"), "other.sqlite", "not a qfs-bench store")

    def test_newer_schema(self):
        self.assert_succeeds(self.sweep("newer.sqlite"))
        connection = sqlite3.connect(self.path("newer.sqlite"))
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        connection.execute(f"PRAGMA user_version = {version + 1}")
        connection.commit()
        connection.close()
        for run in [self.sweep("newer.sqlite"), self.run_bench("report", "--store", "newer.sqlite")]:
            self.assert_fails(4, run, "newer than this program")

    def test_folder_that_cannot_be_written(self):
        self.assert_fails(4, self.sweep("/proc/x.sqlite"), "/proc/x.sqlite")

    def test_read_only_store_can_be_reported_and_not_written(self):
        def without_privileges():
            if os.geteuid() == 0:  # who may write everywhere
                os.setgid(65534)
                os.setuid(65534)

        self.assert_succeeds(self.sweep("ro.sqlite"))
        os.chmod(self.folder, 0o555)
        os.chmod(self.path("ro.sqlite"), 0o444)
        self.addCleanup(os.chmod, self.folder, 0o755)
        self.assert_fails(4, self.sweep("ro.sqlite", preexec_fn=without_privileges), "ro.sqlite")
        report = self.run_bench("report", "--store", "ro.sqlite", preexec_fn=without_privileges)
        self.assertIn("## small", self.assert_succeeds(report))

    def test_full_disk(self):
        def limit_files():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (60000, 60000))

        run = self.sweep("full.sqlite", preexec_fn=limit_files, restore_signals=False)
        self.assert_fails(4, run, "full.sqlite", "cannot be written")
        self.assert_succeeds(self.sweep("full.sqlite"))

    def test_two_sweeps_on_one_store(self):
        self.assert_succeeds(self.sweep("shared.sqlite"))
        with open(self.path("shared.sqlite.lock"), "r+", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self.assert_fails(4, self.sweep("shared.sqlite"), "shared.sqlite", "another qfs-bench writes this store")
            self.assert_succeeds(self.run_bench("report", "--store", "shared.sqlite"))

    def test_absent_and_ambiguous_stores_name_the_option(self):
        self.assert_fails(2, self.run_bench("report"), "no store", "--store FILE")
        self.assert_fails(2, self.run_bench("report", "--store", "none.sqlite"), "no store 'none.sqlite'")
        self.write("a.sqlite", "")
        self.write("b.sqlite", "")
        self.assert_fails(2, self.run_bench("report"), "a.sqlite, b.sqlite", "--store FILE")


class Interruption(DriverTest):
    def test_ctrl_c_finishes_the_unit_and_says_how_to_continue(self):
        self.write_data()
        self.write("slow.py", "import time\nimport qfs_method\n\n\ndef summarize(example, params):\n"
                              "    time.sleep(0.3)\n    return example.key\n\n\n"
                              "qfs_method.serve(summarize, name='slow', version=1)\n")
        sweep = self.write_sweep(methods=[{"method": "external", "command": ["python3", "slow.py"],
                                           "fingerprint": ["slow.py"]}], grid=None, report=None)
        arguments = [QFS_BENCH, "sweep", sweep, "--allow-external", "--store", "s.sqlite"]
        for number, code in [(signal.SIGINT, 130), (signal.SIGTERM, 143)]:
            process = subprocess.Popen(arguments, cwd=self.folder, stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE, text=True)
            before = self.outputs()
            while self.outputs() < before + 2:
                time.sleep(0.05)
                self.assertIsNone(process.poll(), "it ended before it was interrupted")
            process.send_signal(number)
            _, err = process.communicate(timeout=30)
            self.assertEqual(process.returncode, code, err)
            self.assertIn("stopping when the unit in hand is done", err)
            self.assertIn("run the same command again to continue", err)
            self.assertGreaterEqual(self.outputs(), before + 2, "what was done is kept")
        run = subprocess.run(arguments, cwd=self.folder, capture_output=True, text=True, timeout=60)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(self.outputs(), 12)

    def outputs(self):
        if not os.path.exists(self.path("s.sqlite")):
            return 0
        try:
            connection = sqlite3.connect(f"file:{self.path('s.sqlite')}?mode=ro", uri=True)
            return connection.execute("SELECT count(*) FROM output").fetchone()[0]
        except sqlite3.OperationalError:  # being made at this moment
            return 0


if __name__ == "__main__":
    unittest.main(verbosity=2)
