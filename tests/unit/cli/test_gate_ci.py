"""The gate in CI: the scripts of the GitHub Action and of the GitLab job, as a runner would run them.

Usage: test_gate_ci.py QFS_BENCH
"""

import os
import re
import subprocess
import unittest

from driver import QFS_BENCH
from test_gate import GateTest, ROOT


def steps_of(path, before):
    """The shell script of a step of a workflow, which follows the line `before`."""
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        block = file.read().split(before)[1].split("      run: |\n")[1]
    lines = []
    for line in block.splitlines(keepends=True):
        if line.strip() and not line.startswith(" " * 8):
            break
        lines.append(line[8:] or "\n")
    return "".join(lines)


class Action(GateTest):
    """The scripts of the GitHub Action, as a runner would run them."""

    NAMES = ("WHEEL", "SWEEP", "SWEEP_OPTIONS", "BASELINE", "CANDIDATE", "POLICY", "GATE_OPTIONS", "JUNIT")

    def run_step(self, name, **inputs):
        environment = {**os.environ, "RUNNER_TEMP": self.folder, "QFS_CACHE_DIR": self.path("cache"), "QFS_DATASETS_DIR": self.path("sets"),
                       "GITHUB_STEP_SUMMARY": self.path("summary"), "GITHUB_OUTPUT": self.path("output"),
                       **dict.fromkeys(self.NAMES, ""), "CANDIDATE": "pr.sqlite", "JUNIT": "gate.xml", **inputs}
        script = steps_of(".github/actions/gate/action.yml", f"    - name: {name}\n")
        return subprocess.run(["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", script], cwd=self.folder,
                              env=environment, text=True, capture_output=True, timeout=120)

    def run_action(self, **inputs):
        return self.run_step("Sweep and gate", **inputs)

    def outputs(self):
        with open(self.path("output"), encoding="utf-8") as file:
            return file.read()

    def link_program(self):
        os.makedirs(self.path("qfs-bench/bin"))
        os.symlink(QFS_BENCH, self.path("qfs-bench/bin/qfs-bench"))

    def test_sweeps_and_ends_as_the_gate_does(self):
        self.write_data()
        self.write_sweep()
        self.link_program()
        first = self.run_action(SWEEP="sweep.json", BASELINE="main", GATE_OPTIONS="--if-no-baseline create")
        self.assert_ends(0, first, "gate: CREATED")
        self.assert_ends(0, self.run_action(BASELINE="main"), "gate: PASS")
        self.assert_ends(1, self.run_action(BASELINE="main", GATE_OPTIONS="--fail-under rouge1.f=99pt"), "::error title=")
        self.assertEqual(self.outputs(), "exit-code=0\nexit-code=0\nexit-code=1\n")
        with open(self.path("summary"), encoding="utf-8") as file:
            summary = file.read()
        self.assertIn("### gate: CREATED", summary)
        self.assertIn("### gate: WORSE", summary)

    def test_options_are_words_of_a_shell(self):
        self.write_data()
        self.write_sweep()
        self.link_program()
        self.assert_ends(0, self.run_action(SWEEP="sweep.json", BASELINE="main", GATE_OPTIONS="--if-no-baseline create"))
        lines = "--filter 'method=lead'\n--warn-only\n--fail-under rouge1.f=99pt\n"
        self.assert_ends(0, self.run_action(BASELINE="main", GATE_OPTIONS=lines), "gate: WORSE")
        self.assert_ends(2, self.run_action(BASELINE="main", GATE_OPTIONS="--filter 'method=lead"))

    def test_nothing_of_an_earlier_run_is_shown_or_reused(self):
        self.write_data()
        self.write_sweep()
        self.link_program()
        self.assert_ends(0, self.run_action(SWEEP="sweep.json", BASELINE="main", GATE_OPTIONS="--if-no-baseline create"))
        self.write("pr.sqlite", "no store")
        self.assert_ends(0, self.run_action(SWEEP="sweep.json", BASELINE="main"), "gate: PASS")
        self.write("pr.sqlite", "no store")
        os.remove(self.path("summary"))
        self.assert_ends(4, self.run_action(BASELINE="main"))
        self.assertFalse(os.path.exists(self.path("gate.xml")))
        self.assertFalse(os.path.exists(self.path("summary")))

    def test_a_sweep_that_could_not_run_is_no_verdict(self):
        self.link_program()
        self.write_sweep(datasets=[{"name": "qmsum"}])
        self.assert_ends(5, self.run_action(SWEEP="sweep.json", BASELINE="main"), "data fetch qmsum", "sweep: exit 5")
        self.write_sweep(grid={"local_contxt": [8]})
        self.assert_ends(2, self.run_action(SWEEP="sweep.json", BASELINE="main"), "local_context", "sweep: exit 2")
        self.assertEqual(self.outputs(), "exit-code=5\nexit-code=2\n")

    def test_a_wheel_that_cannot_be_installed_is_no_verdict(self):
        self.write("qfs_bench-0.1.0-cp27-cp27m-win32.whl", "")
        self.assert_ends(5, self.run_step("Install", WHEEL="qfs_bench-0.1.0-cp27-cp27m-win32.whl"))
        self.assertEqual(self.outputs(), "exit-code=5\n")


class GitLab(GateTest):
    """The script of the GitLab job; its pip writes down what it is asked for."""

    def job(self):
        """Variables and script lines of the file, which is written with one line of plain text an item."""
        with open(os.path.join(ROOT, ".ci", "gitlab-gate.yml"), encoding="utf-8") as file:
            text = "\n".join(line for line in file.read().splitlines() if not line.lstrip().startswith("#"))
        variables = dict(re.findall(r"^    ([A-Z]+): (.+)$", text, re.M))
        script = re.search(r"^  script:\n((?:    .*\n)+)", text, re.M).group(1)
        return variables, re.sub(r"\n      +", " ", script).replace("    - ", "").splitlines()

    def run_job(self, **changes):
        variables, script = self.job()
        os.makedirs(self.path("bin"), exist_ok=True)
        self.write("bin/pip", '#!/bin/sh\nfor last; do :; done\nprintf "%s" "$last" >pip-asked\n[ "$last" != broken ]\n')
        os.chmod(self.path("bin/pip"), 0o755)
        if not os.path.exists(self.path("bin/qfs-bench")):
            os.symlink(QFS_BENCH, self.path("bin/qfs-bench"))
        environment = {**os.environ, **variables, "QFS_CACHE_DIR": self.path("cache"), "QFS_DATASETS_DIR": self.path("sets"),
                       "PATH": self.path("bin") + os.pathsep + os.environ["PATH"], **changes}
        return subprocess.run(["bash", "-eo", "pipefail", "-c", "\n".join(script)], cwd=self.folder, env=environment,
                              text=True, capture_output=True, timeout=120)

    def test_ends_as_the_gate_does(self):
        variables, script = self.job()
        self.assertEqual(len(script), 4)
        # PEP 427: pip takes no file of another name.
        self.assertRegex(variables["WHEEL"], r"/qfs_bench-[0-9.]+-cp3\d+-cp3\d+-linux_x86_64\.whl$")
        with open(os.path.join(ROOT, "CMakeLists.txt"), encoding="utf-8") as file:
            version = re.search(r"VERSION ([0-9.]+)", file.read().split("project(", 1)[1]).group(1)
        self.assertIn(f"qfs_bench-{version}-", variables["WHEEL"])
        self.write_data()
        self.write_sweep()
        self.write("gate.json", '{"metrics": {"rouge1.f": "1pt"}}')
        self.assert_succeeds(self.run_bench("sweep", "sweep.json", "--quiet"))
        self.assert_succeeds(self.run_bench("baseline", "set", "main", "--store", "small.sqlite"))
        self.assert_ends(0, self.run_job(SWEEP="sweep.json"), "gate: PASS")
        with open(self.path("pip-asked"), encoding="utf-8") as file:
            self.assertEqual(file.read(), variables["WHEEL"])
        self.assertTrue(os.path.exists(self.path("gate.xml")) and os.path.exists(self.path("gate.md")))
        self.write("gate.json", '{"limits": {"rouge1.f": {"at_least": "99pt"}}}')
        self.assert_ends(1, self.run_job(SWEEP="sweep.json"), "gate: WORSE")

    def test_what_could_not_run_is_no_verdict(self):
        self.write_sweep(datasets=[{"name": "qmsum"}])
        self.assert_ends(5, self.run_job(WHEEL="broken"))
        self.assert_ends(5, self.run_job(SWEEP="sweep.json"), "data fetch qmsum")
        self.assert_ends(2, self.run_job(SWEEP="absent.json"), "absent.json")


if __name__ == "__main__":
    unittest.main()
