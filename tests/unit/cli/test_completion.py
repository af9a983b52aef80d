"""What shells complete and what the manual page says is what the program takes, found out from its help.

Usage: test_completion.py QFS_BENCH
"""

import os
import re
import shutil
import subprocess
import unittest

from driver import DriverTest

# The words are an argument each, the last one is completed.
BASH = r"""
source completion.bash
COMP_WORDS=(qfs-bench "$@") COMP_CWORD=$#
_qfs_bench
printf '%s\n' "${COMPREPLY[@]}"
"""

# zsh completes only in its line editor: what it would be asked there is printed.
ZSH = r"""
compdef() { : }
_files() { [[ $1 == -/ ]] && print -rl -- *(/) || print -rl -- * }
_describe() { [[ $1 == -o ]] && shift; print -rl -- ${(P)2%%:*} }
compadd() { print -rl -- ${(P)2} }
compset() { : }
source ./completion.zsh
words=(qfs-bench "$@") CURRENT=$#words
_qfs_bench
"""


class CompletionTest(DriverTest):
    def setUp(self):
        super().setUp()
        os.mkdir(self.path("a folder"))
        self.write("my sweep.json", "{}")
        for shell in ("bash", "zsh", "fish"):
            self.write("completion." + shell, self.assert_succeeds(self.run_bench("completion", shell)))

    def output_of(self, *command):
        environment = {"PATH": os.environ["PATH"], "HOME": self.folder, "XDG_CONFIG_HOME": self.folder}
        run = subprocess.run(command, cwd=self.folder, env=environment, text=True, capture_output=True, timeout=60)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        return run.stdout.splitlines()

    def bash(self, *words):
        return [line for line in self.output_of("bash", "--norc", "-c", BASH, "bash", *words) if line]

    def zsh(self, *words):
        return self.output_of("zsh", "-f", "-c", ZSH, "zsh", *words)

    def fish(self, *words):
        line = " ".join(["qfs-bench", *words])
        lines = self.output_of("fish", "--no-config", "-c", f"source completion.fish; complete -C '{line}'")
        return [line.split("\t")[0] for line in lines]

    def help_of(self, command):
        return self.assert_succeeds(self.run_bench(*command, "--help"))


def section(text, name):
    found = re.search(rf"^{name}:\n(.*?)\n\n", text, re.MULTILINE | re.DOTALL)
    return found.group(1) if found else ""


def subcommands_in(text):
    return re.findall(r"^  ([a-z0-9]+) ", section(text, "Subcommands"), re.MULTILINE)


def options_in(text):
    """Every spelling of an option in a page of help."""
    heads = re.findall(r"^  (-\S+)", section(text, "Options"), re.MULTILINE)
    return [name for head in heads for name in head.split(",")]


class EveryCommand(CompletionTest):
    def commands(self, above=()):
        text = self.help_of(above)
        yield above, text
        for name in subcommands_in(text):
            yield from self.commands((*above, name))

    def test_all_that_help_lists_is_completed_and_in_the_manual(self):
        page = self.assert_succeeds(self.run_bench("man")).replace("\\-", "-")
        top = options_in(self.help_of(()))
        pages = list(self.commands())
        self.assertGreater(len(pages), 30)
        for command, text in pages:
            with self.subTest(command=command):
                own = set(options_in(text))
                offered = set(self.bash(*command, "-"))
                self.assertLessEqual(own, offered)
                self.assertLessEqual({name for name in top if name not in ("--version",)}, offered)
                inherited = {name for depth in range(len(command))
                             for c, t in pages if c == command[:depth] for name in options_in(t)}
                self.assertLessEqual(offered, own | inherited)
                if subcommands_in(text):
                    self.assertEqual(self.bash(*command, ""), subcommands_in(text))
                title = f".SS {' '.join(command)}\n" if command else ".SH OPTIONS\n"
                self.assertEqual(page.count(title), 1)
                part = page.split(title)[1].split("\n.S")[0]
                for name in own - {"-h", "--help"}:
                    self.assertIn(f"\\fB{name}\\fR", part)

    def test_all_values_that_help_lists_are_completed(self):
        tried = 0
        for command, text in self.commands():
            for names, values in re.findall(r"^  (-\S+) \S*:\{([^}]*)\}", section(text, "Options"), re.MULTILINE):
                name = names.split(",")[-1]
                with self.subTest(command=command, option=name):
                    offered = [value.replace("\\", "") for value in self.bash(*command, name, "")]
                    self.assertEqual(offered, values.split(","))
                    tried += 1
        self.assertGreater(tried, 15)

    def test_what_help_hides_is_hidden(self):
        self.assertNotIn("host", self.bash(""))


class Shells(CompletionTest):
    # Words, and what is completed: all of it, or the part that matters.
    CASES = [
        (("comp",), ["compare", "completion"]),
        (("data", "st"), ["stats"]),
        (("--store", "list", "data", "st"), ["stats"]),
        (("sweep", "--dtype", ""), ["float32", "bfloat16", "float16"]),
        (("sweep", "x.json", "--dtype", "fl"), ["float32", "float16"]),
        (("sweep", "--dry"), ["--dry-run"]),
        (("gate", "calibrate", "--dr"), ["--drop"]),
        (("sweep", "--stor"), ["--store"]),
        (("completion", "z"), ["zsh"]),
    ]

    def check(self, complete):
        for words, expected in self.CASES:
            with self.subTest(words=words):
                self.assertEqual(sorted(complete(*words)), sorted(expected))

    def test_bash(self):
        self.check(self.bash)
        self.assertEqual(self.bash("sweep", "my"), ["my sweep.json"])
        self.assertEqual(self.bash("report", "--output", "my"), ["my sweep.json"])
        self.assertEqual(self.bash("score", "--external-folder", "a"), ["a folder"])
        self.assertEqual(self.bash("sweep", "--set", "my"), [], "no file is a value of a variable")
        self.assertEqual(self.bash("claims", "--state", "not"), ["not\\ run", "not\\ runnable"])
        self.assertEqual(self.bash("score", "--explain-diff", "a", "list", "--sig"), ["--signature"])

    def test_bash_splits_assignments(self):
        self.assertEqual(self.bash("report", "--format", "=", "ma"), ["markdown"])
        self.assertEqual(self.bash("report", "--format", "="), ["markdown", "latex", "json", "csv", "html", "svg"])
        self.assertEqual(self.bash("--store", "=", "x.sqlite", "data", "st"), ["stats"])
        self.assertEqual(self.bash("sweep", "--set", "x", "=", "list", "--dry"), ["--dry-run"])
        self.assertEqual(self.bash("claims", "--with", "qmsum", "=", "my"), ["my sweep.json"])

    def test_bash_itself_asks_the_function(self):
        line = "source completion.bash; complete -p qfs-bench"
        self.assertEqual(self.output_of("bash", "--norc", "-c", line), ["complete -F _qfs_bench qfs-bench"])

    @unittest.skipUnless(shutil.which("zsh"), "no zsh")
    def test_zsh(self):
        def complete(*words):
            return [word for word in self.zsh(*words) if word.startswith(words[-1])]
        self.check(complete)
        self.assertEqual(complete("sweep", "my"), ["my sweep.json"])
        self.assertEqual(self.zsh("score", "--external-folder", ""), ["a folder"])
        self.assertEqual(self.zsh("report", "--format=ma")[:2], ["markdown", "latex"])
        self.assertEqual(complete("claims", "--state", "not"), ["not run", "not runnable"])

    @unittest.skipUnless(shutil.which("fish"), "no fish")
    def test_fish(self):
        self.check(self.fish)
        self.assertIn("my sweep.json", " ".join(self.fish("sweep", "my")).replace("\\", ""))
        self.assertEqual(self.fish("sweep", "--set", "my"), [])
        self.assertEqual(self.fish("report", "--format=ma"), ["--format=markdown"])
        self.assertEqual([word.replace("\\", "") for word in self.fish("claims", "--state", "not")],
                         ["not run", "not runnable"])


class Manual(CompletionTest):
    @unittest.skipUnless(shutil.which("groff"), "no groff")
    def test_groff_has_no_complaint_and_prints_every_command(self):
        self.write("page.1", self.assert_succeeds(self.run_bench("man")))
        command = ["groff", "-man", "-Tutf8", "-K", "utf8", "-ww", "-rLL=100n", "-P-c", "page.1"]
        text = re.sub(".\b", "", "\n".join(self.output_of(*command))).replace("‐", "-")
        for words in ("   sweep\n", "   data stats\n", "\nEXIT STATUS\n"):
            self.assertIn(words, text)
        text = " ".join(text.split())
        for words in ("--filter KEY=VALUE|VALUE,...", "qfs-bench list methods [options] [NAME]",
                      "One of: float32, bfloat16, float16.", "From 1 to 86400.",
                      "qfs-bench method check [options] [--] PROGRAM [ARGUMENT ...]"):
            self.assertIn(words, text)

    def test_texts_are_equal_from_run_to_run(self):
        self.assertEqual(self.run_bench("man").stdout, self.run_bench("man").stdout)
        self.assert_fails(2, self.run_bench("completion", "tcsh"), "SHELL", "{bash,zsh,fish}")


if __name__ == "__main__":
    unittest.main()
