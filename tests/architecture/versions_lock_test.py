"""The check of methods/versions.lock tells changed code from changed versions."""

import copy
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import versions_lock  # noqa: E402

LOCKED = {"extractive": {"digest": "a", "methods": {"lead": {"version": 1, "layers": []}}}}


class VersionsLock(unittest.TestCase):
    def test_equal_state_is_fine(self):
        self.assertEqual(versions_lock.problems(LOCKED, copy.deepcopy(LOCKED)), [])

    def test_changed_code_without_a_version_is_a_problem(self):
        found = copy.deepcopy(LOCKED)
        found["extractive"]["digest"] = "b"
        self.assertIn("no version or layer did", versions_lock.problems(LOCKED, found)[0])

    def test_a_family_that_is_not_locked_is_a_problem(self):
        self.assertEqual(len(versions_lock.problems({}, LOCKED)), 1)

    def test_the_digest_follows_includes_into_the_sources_beside_them(self):
        with tempfile.TemporaryDirectory() as root:
            os.makedirs(os.path.join(root, "methods/family"))
            os.makedirs(os.path.join(root, "methods/shared"))

            def write(path, text):
                with open(os.path.join(root, path), "w", encoding="utf-8") as file:
                    file.write(text)

            write("methods/family/session.cpp", '#include "methods/shared/part.h"\n')
            write("methods/shared/part.h", "int part();\n")
            write("methods/shared/part.cpp", '#include "methods/shared/deep.h"\n')
            write("methods/shared/deep.h", "int deep();\n")
            before = versions_lock.digest(root, "methods/family")
            write("methods/shared/deep.h", "long deep();\n")
            self.assertNotEqual(before, versions_lock.digest(root, "methods/family"))


if __name__ == "__main__":
    unittest.main()
