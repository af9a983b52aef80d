"""Outputs and inputs that are no regular files, writes that fail, and controls in printed JSON.

No output goes to a real device: what is tried here would, where it fails, replace it. Devices are made in
the test's own folder.

Usage: test_special_files.py QFS_BENCH
"""

import json
import os
import pty
import resource
import signal
import stat
import subprocess
import time
import unittest

from driver import FIELDS, QFS_BENCH, DriverTest, record

ROWS = "".join(json.dumps({"id": f"i{i}", "prediction": f"the cat {i} sat", "references": [f"a cat {i} sat"]}) + "\n"
               for i in range(3))


class Outputs(DriverTest):
    """Every option that names an output file is written by the same function."""

    def setUp(self):
        super().setUp()
        self.write("out.jsonl", ROWS)
        self.write_data()
        self.write_sweep()
        self.assert_succeeds(self.run_bench("sweep", "sweep.json", "--quiet"))
        self.commands = [["report", "-o"], ["score", "out.jsonl", "--per-example"]]

    def kind(self, name):
        return stat.S_IFMT(os.lstat(self.path(name)).st_mode)

    def device(self, name, minor):
        """A device of /dev (null is 3, full is 7) under a name in the test's folder."""
        try:
            os.mknod(self.path(name), stat.S_IFCHR | 0o600, os.makedev(1, minor))
            os.close(os.open(self.path(name), os.O_WRONLY))
        except OSError:
            self.skipTest("devices cannot be made here")

    def expected(self, command):
        self.assert_succeeds(self.run_bench(*command, "plain"))
        with open(self.path("plain"), encoding="utf-8") as file:
            return file.read()

    def test_a_device_is_written_to_and_stays(self):
        self.device("null", 3)
        for command in self.commands:
            self.assert_succeeds(self.run_bench(*command, "null"))
            self.assertEqual(self.kind("null"), stat.S_IFCHR)

    def test_a_fifo_is_written_to_and_stays(self):
        for command in self.commands:
            expected = self.expected(command)
            if not os.path.exists(self.path("fifo")):
                os.mkfifo(self.path("fifo"))
            with subprocess.Popen(["cat", self.path("fifo")], stdout=subprocess.PIPE, text=True) as reader:
                self.assert_succeeds(self.run_bench(*command, "fifo"))
                self.assertEqual(reader.communicate()[0], expected)
            self.assertEqual(self.kind("fifo"), stat.S_IFIFO)

    def test_a_link_is_followed_and_the_mode_kept(self):
        self.write("target", "old")
        os.chmod(self.path("target"), 0o640)
        os.symlink("target", self.path("link"))
        for command in self.commands:
            expected = self.expected(command)
            self.assert_succeeds(self.run_bench(*command, "link"))
            self.assertEqual(self.kind("link"), stat.S_IFLNK)
            with open(self.path("target"), encoding="utf-8") as file:
                self.assertEqual(file.read(), expected)
            self.assertEqual(stat.S_IMODE(os.stat(self.path("target")).st_mode), 0o640)

    def test_a_dash_and_a_link_to_descriptor_1_are_standard_output(self):
        os.symlink("/proc/self/fd/1", self.path("stdout"))  # as /dev/stdout
        for command in self.commands:
            expected = self.expected(command)
            self.assertEqual(self.assert_succeeds(self.run_bench(*command, "-")), expected)
            self.assertFalse(os.path.exists(self.path("-")))
            with open(self.path("log"), "w", encoding="utf-8") as log:
                log.write("before\n")
                log.flush()
                arguments = [QFS_BENCH, *command, "stdout"]
                run = subprocess.run(arguments, cwd=self.folder, stdout=log, stderr=subprocess.PIPE, timeout=60)
            self.assertEqual(run.returncode, 0, run.stderr)
            with open(self.path("log"), encoding="utf-8") as log:
                self.assertTrue(log.read().startswith("before\n" + expected), "what the shell opened is gone on with")
            self.assertEqual(self.kind("stdout"), stat.S_IFLNK)

    def test_a_write_that_fails_is_an_error_and_leaves_the_old_file(self):
        def limit_files():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (40, 40))

        def without_privileges():
            if os.geteuid() == 0:  # who may write everywhere
                os.setgid(65534)
                os.setuid(65534)

        self.write("old", "old")
        os.mkdir(self.path("folder"))
        for command in self.commands:
            if command[0] == "score":  # reading a store takes files of its own
                run = self.run_bench(*command, "old", preexec_fn=limit_files, restore_signals=False)
                self.assert_fails(5, run, "cannot write", "old'")
            self.assert_fails(5, self.run_bench(*command, "folder"), "folder': Is a directory")
            self.assert_fails(2, self.run_bench(*command, "absent/x"), "its folder does not exist")
            os.chmod(self.folder, 0o555)
            run = self.run_bench(*command, "old", preexec_fn=without_privileges)
            os.chmod(self.folder, 0o755)
            self.assert_fails(5, run, "old': Permission denied")
            with open(self.path("old"), encoding="utf-8") as file:
                self.assertEqual(file.read(), "old")
        self.assertEqual([name for name in os.listdir(self.folder) if name.startswith(".qfs-tmp")], [])

    def test_a_full_device_is_an_error_and_stays(self):
        self.device("full", 7)
        for command in self.commands:
            self.assert_fails(5, self.run_bench(*command, "full"), "full'", "disk is full")
            self.assertEqual(self.kind("full"), stat.S_IFCHR)

    def test_standard_output_that_fails_is_no_success(self):
        for arguments in (["report"], ["report", "--json"], ["score", "out.jsonl"], ["score", "out.jsonl", "--json"],
                          ["score", "out.jsonl", "--per-example", "-"], ["plan", "sweep.json"], ["list", "methods"],
                          ["data", "check", "data.jsonl"], ["show", "--example", "0", "--filter", "local_context=16"],
                          ["sweep", "sweep.json"], ["doctor"], ["--help"], ["report", "--help"], ["--version"],
                          ["compare", "out.jsonl", "out.jsonl"]):
            with self.subTest(arguments=arguments), open("/dev/full", "w", encoding="utf-8") as full:
                run = subprocess.run([QFS_BENCH, *arguments], cwd=self.folder, stdout=full, stderr=subprocess.PIPE,
                                     text=True, timeout=60)
                self.assertEqual(run.returncode, 5, run.stderr)
                self.assertIn("cannot write to standard output", run.stderr)


class Inputs(DriverTest):
    def read(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def test_a_pipe_is_read_as_a_file_of_predictions(self):
        self.write("out.jsonl", ROWS)
        os.mkfifo(self.path("fifo"))
        expected = json.loads(self.assert_succeeds(self.run_bench("score", "out.jsonl", "--json")))["scores"]
        for arguments in (["score", "fifo", "--json"], ["score", "--preds", "fifo", "--refs", "refs.txt", "--json"]):
            lines = arguments[1] == "--preds"
            self.write("refs.txt", "".join(f"a cat {i} sat\n" for i in range(3)))
            text = "".join(f"the cat {i} sat\n" for i in range(3)) if lines else ROWS
            self.write("source", text)
            with subprocess.Popen(["sh", "-c", "cat source > fifo"], cwd=self.folder):
                result = json.loads(self.assert_succeeds(self.run_bench(*arguments)))
            self.assertEqual(result["scores"], expected)

    def test_who_waits_says_for_what(self):
        os.mkfifo(self.path("fifo"))
        for arguments, name in ((["score", "fifo"], "'fifo'"), (["score", "-"], "standard input"),
                                (["plan", "fifo"], "'fifo'")):
            with self.subTest(arguments=arguments):
                deadline = time.monotonic() + 20
                with open(self.path("said"), "w+", encoding="utf-8") as said:
                    with subprocess.Popen([QFS_BENCH, *arguments], cwd=self.folder, stdin=subprocess.PIPE,
                                          stdout=subprocess.DEVNULL, stderr=said) as process:
                        while "waiting" not in self.read("said") and time.monotonic() < deadline:
                            time.sleep(0.05)
                        process.kill()
                self.assertIn(f"waiting for input from {name}", self.read("said"))

    def test_what_is_read_twice_must_be_a_file(self):
        self.write_data()
        self.write_sweep()
        for name in ("fifo.jsonl", "fifo.gguf", "fifo.sqlite"):
            os.mkfifo(self.path(name))
        run = self.run_bench("sweep", self.write_sweep(name="other.json", tokenizer="./fifo.gguf"))
        self.assert_fails(2, run, "./fifo.gguf")
        datasets = [{"path": "fifo.jsonl", "fields": FIELDS}]
        run = self.run_bench("sweep", self.write_sweep(name="other.json", datasets=datasets))
        self.assert_fails(5, run, "fifo.jsonl': it is a FIFO (pipe), and a regular file is needed")
        self.assert_fails(4, self.run_bench("report", "--store", "fifo.sqlite"), "not a regular file")
        self.assert_fails(4, self.run_bench("sweep", "sweep.json", "--store", "fifo.sqlite"), "fifo.sqlite")
        run = self.run_bench("data", "check", "fifo.jsonl")
        self.assert_fails(5, run, "fifo.jsonl': it is a FIFO (pipe), and a regular file is needed")
        run = self.run_bench("score", "--import", "fifo.jsonl", "--tool", "x@1")
        self.assert_fails(5, run, "fifo.jsonl': it is a FIFO (pipe)")

    def test_devices_and_folders_are_no_inputs(self):
        self.write("out.jsonl", ROWS)
        for arguments in (["score", "/dev/zero"], ["plan", "/dev/zero"], ["score", "--preds", "/dev/zero"],
                          ["rouge155", "-a", "/dev/zero"], ["score", "out.jsonl", "--refs", "/dev/zero"]):
            with self.subTest(arguments=arguments):
                run = self.run_bench(*arguments)
                self.assertIn(run.returncode, (2, 5))
                self.assertIn("/dev/zero': it is a device", run.stderr)
        for arguments in (["plan", "."], ["score", "--preds", "."], ["rouge155", "-a", "."]):
            with self.subTest(arguments=arguments):
                run = self.run_bench(*arguments)
                self.assertIn(run.returncode, (2, 5))
                self.assertIn("Is a directory", run.stderr)


class Controls(DriverTest):
    NASTY = "Line 0 \u009b31m \x7f \u202egnp \x1b[2J."

    def printed(self, *arguments):
        text = self.assert_succeeds(self.run_bench(*arguments))
        for character in text:
            self.assertFalse(ord(character) < 0x20 and character not in "\n\t\r", repr(character))
            self.assertFalse(0x7F <= ord(character) < 0xA0 or character == "\u202e", f"{arguments}: {character!r}")
        return text

    def test_no_printed_json_moves_the_cursor_and_its_values_stay(self):
        nasty = {**record(0), "document": self.NASTY, "query": self.NASTY, "references": [self.NASTY]}
        self.write("data.jsonl", json.dumps(nasty) + "\n")
        self.write_sweep(grid={"local_context": [99]})
        self.assert_succeeds(self.run_bench("sweep", "sweep.json"))
        shown = json.loads(self.printed("show", "--example", "0", "--json"))
        self.assertIn(self.NASTY, json.dumps(shown, ensure_ascii=False).replace("\\u001b", "\x1b"))
        self.printed("show", "--example", "0")
        data = json.loads(self.printed("data", "show", "data.jsonl", "--json"))
        self.assertEqual(data["example"]["query"], self.NASTY)
        self.printed("data", "show", "data.jsonl")
        self.write("out.jsonl", json.dumps({"id": self.NASTY, "prediction": "a", "references": ["a"]}) + "\n")
        rows = self.printed("score", "out.jsonl", "--per-example", "-")
        self.assertEqual(json.loads(rows)["id"], self.NASTY)
        compare = ["compare", "out.jsonl", "out.jsonl"]
        for command in (["report", "--json"], ["report"], ["list", "cells", "--json"], ["list", "cells"],
                        [*compare, "--json"], compare):
            self.printed(*command)


    def test_a_terminal_gets_no_control_from_any_format(self):
        self.write_data()
        nasty = "\u009b31mred\x1b[2J"
        self.write_sweep(methods=[{"method": "lead", "label": nasty}])
        self.assert_succeeds(self.run_bench("sweep", "sweep.json"))
        for arguments in (["report", "--format", "csv"], ["report", "--format", "latex"], ["report", "--methods-text"],
                          ["report", "--methods-text", "--json"], ["report"], ["report", "--json"], ["list", "cells"]):
            main, terminal = pty.openpty()
            with subprocess.Popen([QFS_BENCH, *arguments], cwd=self.folder, stdout=terminal, stdin=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL) as process:
                os.close(terminal)
                shown = b""
                while block := self.block_of(main):
                    shown += block
            os.close(main)
            self.assertEqual(process.returncode, 0)
            text = shown.decode()
            self.assertIn("red", text)
            self.assertFalse({"\u009b", "\x1b"} & set(text), repr(text))
        self.assertIn(nasty, self.run_bench("report", "--format", "csv").stdout, "a pipe gets the bytes")

    @staticmethod
    def block_of(terminal):
        try:
            return os.read(terminal, 65536)
        except OSError:  # the other end is closed
            return b""


class Advice(DriverTest):
    def test_what_data_check_advises_can_be_written(self):
        self.write("data.jsonl", json.dumps({"text": "One line. Another.", "answer": "One line."}) + "\n")
        options = ["--field", "document=text", "--field", "references=answer"]
        run = self.run_bench("data", "check", "data.jsonl", *options)
        self.assert_fails(5, run, "missing field 'query'", "(--field query=)")
        advised = run.stderr[run.stderr.rindex("(--field ") + 1:run.stderr.rindex(")")].split()
        self.assert_succeeds(self.run_bench("data", "check", "data.jsonl", *options, *advised))
        self.assert_fails(2, self.run_bench("data", "check", "data.jsonl", "--field", "query"), "--field query=")


if __name__ == "__main__":
    unittest.main(verbosity=2)
