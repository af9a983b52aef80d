"""The check of methods/versions.lock tells changed code from changed versions, and the digest that it
compares follows includes.

Usage: versions_lock_test.py CMAKE
"""

import copy
import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import versions_lock  # noqa: E402

CMAKE = sys.argv.pop(1)
SCRIPT = os.path.join(versions_lock.ROOT, "cmake", "GenerateFamilySources.cmake")
LOCKED = {"lead": {"version": 1, "layers": [], "source_digest": "a"}}


class Problems(unittest.TestCase):
    def test_equal_state_is_fine(self):
        self.assertEqual(versions_lock.problems(LOCKED, copy.deepcopy(LOCKED)), [])

    def test_changed_code_without_a_version_is_a_problem(self):
        found = copy.deepcopy(LOCKED)
        found["lead"]["source_digest"] = "b"
        self.assertIn("no version or layer did", versions_lock.problems(LOCKED, found)[0])

    def test_a_changed_version_has_to_be_accepted(self):
        found = copy.deepcopy(LOCKED)
        found["lead"].update(source_digest="b", version=2)
        self.assertIn("accept them", versions_lock.problems(LOCKED, found)[0])

    def test_a_method_without_a_digest_is_a_problem(self):
        found = {"tail": {"version": 1, "layers": [], "source_digest": ""}}
        self.assertIn("families.cpp", versions_lock.problems(found, found)[0])

    def test_a_method_that_is_not_locked_is_a_problem(self):
        self.assertEqual(len(versions_lock.problems({}, LOCKED)), 1)


class Digest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="qfs_lock_")
        self.addCleanup(folder.cleanup)
        self.root = folder.name
        self.write("methods/family/session.cpp", '#include "methods/shared/part.h"\n')
        self.write("methods/shared/part.h", "int part();\n")
        self.write("methods/shared/part.cpp", '#include "methods/shared/part.h"\n#  include "metrics/deep.h"  // why\n')
        self.write("methods/shared/part_fast.cpp", '#include "methods/shared/part.h"\n')
        self.write("metrics/deep.h", "int deep();\n")
        self.write("methods/other/session.cpp", "int other();\n")

    def write(self, path, text):
        path = os.path.join(self.root, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def digest(self):
        output = os.path.join(self.root, "sources.cpp")
        subprocess.run([CMAKE, f"-DSOURCE_DIR={self.root}", f"-DOUTPUT={output}", "-P", SCRIPT], check=True)
        with open(output, encoding="utf-8") as file:
            return next(line for line in file if '{"family"' in line)

    def test_it_follows_includes_into_the_sources_beside_them(self):
        before = self.digest()
        self.write("metrics/deep.h", "long deep();\n")
        self.assertNotEqual(before, self.digest())

    def test_an_implementation_by_another_name_matters(self):
        before = self.digest()
        self.write("methods/shared/part_fast.cpp", '#include "methods/shared/part.h"\nint part() { return 1; }\n')
        self.assertNotEqual(before, self.digest())

    def test_code_that_is_not_included_does_not_matter(self):
        before = self.digest()
        self.write("methods/other/session.cpp", "long other();\n")
        self.assertEqual(before, self.digest())

    def test_a_new_file_of_the_family_matters(self):
        before = self.digest()
        self.write("methods/family/more.cpp", "int more();\n")
        self.assertNotEqual(before, self.digest())


if __name__ == "__main__":
    unittest.main()
