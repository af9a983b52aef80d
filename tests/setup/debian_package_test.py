"""The Debian package of the driver: its dependencies, and that what it installs works without a source tree.

Usage: debian_package_test.py BUILD_FOLDER
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

MISSING = [tool for tool in ("cpack", "dpkg-deb", "dpkg-shlibdeps") if shutil.which(tool) is None]
BUILD = pathlib.Path(sys.argv.pop(1)).resolve() if len(sys.argv) > 1 else None


class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="qfs_deb_")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        made = subprocess.run(["cpack", "-G", "DEB", "--config", str(BUILD / "CPackConfig.cmake"), "-B", str(cls.folder)],
                              capture_output=True, text=True)
        if made.returncode != 0:
            raise AssertionError(made.stdout + made.stderr)
        (cls.package,) = cls.folder.glob("*.deb")
        cls.root = cls.folder / "root"
        subprocess.run(["dpkg-deb", "-x", str(cls.package), str(cls.root)], check=True)

    def field(self, name):
        return subprocess.run(["dpkg-deb", "-f", str(self.package), name], capture_output=True, text=True, check=True).stdout.strip()

    def run_installed(self, *arguments):
        return subprocess.run([str(self.root / "usr/bin/qfs-bench"), *arguments], cwd=self.folder, text=True, capture_output=True,
                              env={"PATH": os.environ["PATH"], "HOME": str(self.folder)}, timeout=120)

    def test_it_depends_on_what_the_driver_links_and_holds_no_host(self):
        self.assertRegex(self.package.name, r"^qfs-bench_\d+\.\d+\.\d+_\w+\.deb$")
        self.assertEqual(self.field("Package"), "qfs-bench")
        depends = self.field("Depends")
        for library in ("libsqlite3-0", "libicu", "libc6"):
            self.assertIn(library, depends)
        self.assertEqual([file.name for file in (self.root / "usr/bin").iterdir()], ["qfs-bench"])
        self.assertTrue((self.root / "usr/share/doc/qfs-bench/LICENSE").is_file())

    def test_a_sweep_over_the_bundled_data_runs(self):
        sweep = self.folder / "sweep.json"
        sweep.write_text(json.dumps({"name": "deb", "tokenizer": "words", "datasets": [{"name": "mini-meetings"}],
                                     "methods": [{"method": "lead"}], "grid": {"local_context": [64]}, "metrics": ["rouge"]}))
        run = self.run_installed("sweep", str(sweep), "--limit", "2", "--store", "deb.sqlite", "--quiet")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("lead", run.stdout)


if __name__ == "__main__":
    if MISSING:
        print("skipped: no Debian package can be made without " + ", ".join(MISSING) + " (cmake, dpkg, dpkg-dev)")
        sys.exit(77)
    unittest.main()
