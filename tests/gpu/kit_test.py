"""run.sh of the GPU kit ends with the codes that its head lists, and pack_kit.sh keeps to its limit.

The kit's programs are shell scripts here, and the torch of "this machine's Python" is a folder.
"""

import json
import os
import pathlib
import subprocess
import tarfile
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent

HOST = """#!/bin/sh
case "$*" in
  *cuda*) [ -n "$FAKE_GPU" ] || { echo "no NVIDIA driver" >&2; exit 5; } ;;
esac
echo '{}'
"""
BENCH = """#!/bin/sh
case "$*" in
  *"--device cuda"*) echo "{\\"ids\\": [1, ${FAKE_CUDA_ID:-2}]}" ;;
  *) echo '{"ids": [1, 2]}' ;;
esac
"""
TESTS = """#!/bin/sh
[ "${QFS_TEST_DEVICE:-cpu}" != "$FAKE_FAILING_DEVICE" ]
"""
MEASURE = """#!/bin/sh
echo '{"prefill": 1}'
"""


def write_program(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


class KitTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.kit = self.folder / "kit"
        for name, text in (("qfs-host", HOST), ("qfs-bench", BENCH), ("device_test", TESTS),
                           ("qfs_bench_device", MEASURE)):
            write_program(self.kit / "bin" / name, text)
        (self.kit / "tiny.gguf").write_text("")
        (self.kit / "lib").mkdir()
        with tarfile.open(self.kit / "lib.tar.gz", "w:gz") as archive:
            archive.add(self.kit / "lib", "lib")
        for name in ("run.sh", "efficiency.py"):
            (self.kit / name).write_bytes((HERE / name).read_bytes())
        self.torch = self.folder / "python" / "torch"
        (self.torch / "lib").mkdir(parents=True)
        (self.torch / "__init__.py").write_text("raise SystemError('torch is not imported')\n")
        (self.torch / "version.py").write_text("__version__ = '2.11.0+cu130'\n")
        (self.torch / "lib" / "libtorch_cpu.so").write_text("")

    def run_kit(self, *arguments, **environment):
        environment = {**os.environ, "OUT": str(self.folder / "out"),
                       "PYTHONPATH": str(self.torch.parent), **environment}
        return subprocess.run(["bash", str(self.kit / "run.sh"), *arguments], env=environment,
                              capture_output=True, text=True, timeout=60)

    def expect(self, code, words, ended):
        self.assertEqual(ended.returncode, code, ended.stderr)
        self.assertIn(words, ended.stderr)

    def test_everything_passes_with_a_gpu_and_leaves_its_results(self):
        self.expect(0, "", self.run_kit(FAKE_GPU="1"))
        names = {path.name for path in (self.folder / "out").iterdir()}
        self.assertEqual(names, {"probe_cpu.json", "probe_cuda.json", "tiny_cpu.json", "tiny_cuda.json",
                                 "bench.json", "efficiency"})
        self.assertIn("`tiny.gguf` on `cuda`", (self.folder / "out" / "efficiency" / "efficiency.md").read_text())
        self.assertEqual(json.loads((self.folder / "out" / "bench.json").read_text()), {"prefill": 1})

    def test_nothing_is_measured_when_only_tests_are_wanted(self):
        self.expect(0, "", self.run_kit("--tests-only", FAKE_GPU="1"))
        self.assertFalse((self.folder / "out" / "bench.json").exists())

    def test_a_part_of_the_report_that_fails_is_code_7_and_in_the_report(self):
        write_program(self.kit / "bin" / "qfs-bench", BENCH.replace("in\n", "in\n  *frontier*) echo 'no room' >&2; exit 5 ;;\n", 1))
        self.expect(7, "efficiency report fails", self.run_kit(FAKE_GPU="1"))
        report = (self.folder / "out" / "efficiency" / "efficiency.md").read_text()
        self.assertIn("Failed with exit code 5; efficiency.log says more: no room", report)
        self.assertIn("## SelfCP, Figure 6", report, "the other parts are there")

    def test_unknown_arguments_are_code_2(self):
        self.expect(2, "usage", self.run_kit("--fast"))

    def test_another_torch_or_none_is_code_3(self):
        (self.torch / "version.py").write_text("__version__ = '2.12.0'\n")
        self.expect(3, "torch is 2.12.0, need 2.11.0", self.run_kit())
        self.expect(3, "no usable LibTorch", self.run_kit(PYTHON="no-such-python"))

    def test_programs_that_do_not_start_are_code_3(self):
        write_program(self.kit / "bin" / "qfs-bench", "#!/bin/sh\nexit 127\n")
        self.expect(3, "qfs-bench does not start", self.run_kit())

    def test_failing_tests_are_code_4_on_the_cpu_and_6_on_the_gpu(self):
        self.expect(4, "fail on the CPU", self.run_kit(FAKE_FAILING_DEVICE="cpu"))
        self.expect(6, "fail on the GPU", self.run_kit(FAKE_GPU="1", FAKE_FAILING_DEVICE="cuda"))

    def test_no_gpu_is_code_5_after_the_cpus_part(self):
        ended = self.run_kit()
        self.expect(5, "no NVIDIA driver", ended)
        self.assertTrue((self.folder / "out" / "tiny_cpu.json").exists())

    def test_other_ids_on_the_gpu_are_code_7(self):
        self.expect(7, "ids differ", self.run_kit(FAKE_GPU="1", FAKE_CUDA_ID="3"))


class PackTest(unittest.TestCase):
    def pack(self, folder, megabytes):
        model = folder / "write_model"
        write_program(model, f"#!/bin/sh\nhead -c {megabytes << 20} /dev/zero >\"$1\"\n")
        program = folder / "program"
        program.write_bytes(pathlib.Path("/bin/true").read_bytes())
        # A script cannot be stripped, so this one passes its files on as they are.
        write_program(folder / "tools" / "strip", '#!/bin/sh\nfor last; do :; done\n'
                      'while [ "$1" != -o ]; do shift; done\ncp "$last" "$2"\n')
        environment = {**os.environ, "PATH": f"{folder / 'tools'}:{os.environ['PATH']}"}
        return subprocess.run([str(HERE / "pack_kit.sh"), str(folder / "kit"), str(HERE.parents[1]), str(model),
                               str(program)], env=environment, capture_output=True, text=True, timeout=60)

    def test_a_kit_is_made_within_the_limit_and_refused_above_it(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            made = self.pack(folder, 1)
            self.assertEqual(made.returncode, 0, made.stderr)
            self.assertTrue((folder / "kit" / "bin" / "program").exists())
            self.assertTrue((folder / "kit" / "share/qfs-bench/experiments/claims/ideal.json").exists())
            self.assertFalse((folder / "kit" / "bin" / "write_model").exists())
            refused = self.pack(folder, 61)
            self.assertEqual(refused.returncode, 1)
            self.assertIn("tiny.gguf", refused.stderr)
            self.assertEqual((folder / "kit" / "tiny.gguf").stat().st_size, 1 << 20)  # the old one stays
            self.assertEqual([path.name for path in folder.iterdir() if path.name.startswith(".gpu-kit")], [])


if __name__ == "__main__":
    unittest.main()
