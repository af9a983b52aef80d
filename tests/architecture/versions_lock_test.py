"""The check of methods/versions.lock tells changed code from changed versions, and the digests that it compares
follow includes and say nothing of comments.

Usage: versions_lock_test.py SOURCE_DIGESTS
"""

import copy
import os
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import versions_lock  # noqa: E402

TOOL = sys.argv.pop(1)
LOCKED = {"methods": {"lead": {"version": 1, "layers": ["cut@1"], "source_digest": "a"}},
          "layers": {"cut": {"layer": "cut@1", "source_digest": "c"}}}


class Problems(unittest.TestCase):
    def setUp(self):
        self.found = copy.deepcopy(LOCKED)
        self.lead = self.found["methods"]["lead"]

    def problem(self):
        lines = versions_lock.problems(LOCKED, self.found)
        self.assertEqual(len(lines), 1, lines)
        return lines[0]

    def test_equal_state_is_fine(self):
        self.assertEqual(versions_lock.problems(LOCKED, self.found), [])

    def test_changed_code_without_a_version_is_a_problem(self):
        self.lead["source_digest"] = "b"
        self.assertIn("lead: code that makes outputs changed, its version did not", self.problem())

    def test_changed_code_of_a_layer_is_the_layers_problem_alone(self):
        self.found["layers"]["cut"]["source_digest"] = "d"
        self.assertIn("layer cut@1: code that makes outputs changed", self.problem())

    def test_a_changed_version_has_to_be_accepted(self):
        self.lead.update(source_digest="b", version=2)
        self.assertIn("accept them", self.problem())

    def test_a_layer_without_code_is_a_problem(self):
        self.lead["layers"] = ["cut@1", "words@1"]
        self.assertIn("layers.txt does not say what code has words@1", self.problem())

    def test_a_layer_of_nobody_is_a_problem(self):
        listing = {"methods": [{"name": "lead", **self.lead}], "layers": {"cut": "c", "words": "w"}}
        self.assertEqual(versions_lock.problems(LOCKED, versions_lock.state_of(listing)),
                         ["layer words: no method rests on it"])

    def test_a_method_without_a_digest_is_a_problem(self):
        self.lead["source_digest"] = ""
        self.assertIn("families.cpp", self.problem())

    def test_what_is_not_locked_is_a_problem(self):
        self.assertEqual(len(versions_lock.problems({"methods": {}, "layers": {}}, LOCKED)), 2)


class Digest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="qfs_lock_")
        self.addCleanup(folder.cleanup)
        self.root = folder.name
        self.write("methods/layers.txt", "# who has what\nshared: methods/models/shared/\nother:\n  methods/models/shared/fast\n")
        self.write("methods/family/session.cpp", '#include "methods/models/shared/part.h"\n')
        self.write("methods/models/shared/part.h", "int part();\n")
        self.write("methods/models/shared/part.cpp", '#include "methods/models/shared/part.h"\n#  include "metrics/deep.h"  // why\n')
        self.write("methods/models/shared/part_by_hand.cpp", '#include "methods/models/shared/part.h"\n')
        self.write("methods/models/shared/fast.cpp", '#include "methods/models/shared/part.h"\n')
        self.write("metrics/deep.h", "int deep();\n")
        self.write("methods/unrelated/session.cpp", "int other();\n")

    def write(self, path, text):
        path = os.path.join(self.root, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def digests(self):
        """{"shared": layer's digest, ("family", "shared"): digest of the family's part, …}"""
        output = os.path.join(self.root, "sources.cpp")
        subprocess.run([TOOL, self.root, output], check=True)
        with open(output, encoding="utf-8") as file:
            text = file.read()
        found = dict(re.findall(r'\{"([a-z]+)", "([0-9a-f]{64})"\}', text))
        for family, layers, digest in re.findall(r'\{"([a-z]+)", "([a-z ]*)", "([0-9a-f]{64})"\}', text):
            found[family, layers] = digest
        return found

    def changed(self, path, text):
        """Names of the digests that another text of a file changes."""
        before = self.digests()
        self.write(path, text)
        after = self.digests()
        return {name for name in after if before.get(name) != after[name]}

    def test_layers_and_families_have_digests(self):
        self.assertEqual(set(self.digests()), {"shared", "other", ("family", ""), ("family", "shared"),
                                               ("family", "other"), ("unrelated", "")})

    def test_it_follows_includes_into_the_sources_beside_them(self):
        self.assertEqual(self.changed("metrics/deep.h", "long deep();\n"), {("family", "")})

    def test_an_implementation_by_another_name_matters(self):
        self.assertEqual(self.changed("methods/models/shared/part_by_hand.cpp",
                                      '#include "methods/models/shared/part.h"\nint part() { return 1; }\n'),
                         {"shared", ("family", "shared")})

    def test_the_longest_entry_says_whose_a_file_is(self):
        self.assertEqual(self.changed("methods/models/shared/fast.cpp", '#include "methods/models/shared/part.h"\nint x;\n'),
                         {"other", ("family", "other")})

    def test_code_that_is_not_included_does_not_matter(self):
        self.assertEqual(self.changed("methods/unrelated/session.cpp", "long other();\n"), {("unrelated", "")})

    def test_a_new_file_of_the_family_matters(self):
        self.assertEqual(self.changed("methods/family/more.cpp", "int more();\n"), {("family", "")})

    def test_an_entry_that_names_no_source_is_an_error(self):
        self.write("methods/layers.txt", "shared: methods/models/shard/\n")
        run = subprocess.run([TOOL, self.root, os.path.join(self.root, "out.cpp")], capture_output=True, text=True)
        self.assertEqual(run.returncode, 1)
        self.assertIn("'methods/models/shard/' is no source", run.stderr)

    def compare(self, one, other):
        self.write("metrics/deep.h", one)
        return self.changed("metrics/deep.h", other)

    def test_comments_and_white_space_change_nothing(self):
        self.assertFalse(self.compare(
            '#define A(x) \\\n  x\nint f(std::vector<std::vector<int>> a) { return "a//b" "c" + 1\'000; }\n',
            '// why\n#define A(x) x  /* how\n*/\nint f(\n    std::vector<std::vector<int> > a) {\n'
            '  return "a//bc" + 1\'000;  // "x\n}\n'))

    def test_what_only_looks_like_a_comment_matters(self):
        for one, other in (('auto s = "// a";', 'auto s = "// b";'), ('auto s = R"x(/* a */)x";', 'auto s = R"x(/* b */)x";'),
                           ("char c = '\"'; int a; // '", "char c = '\"'; int b; // '"), ("a ++ b", "a + + b"),
                           ("#define A\nx", "#define A x"), ('"a b"', '"a  b"'), ("1.5e-3", "1.5e - 3"),
                           ('R"(\n"//a)"', 'R"(\n"//b)"')):
            self.assertTrue(self.compare(one + "\n", other + "\n"), (one, other))


if __name__ == "__main__":
    unittest.main()
