"""The architecture check finds what it claims to find: each case is a small tree with one fault."""

import pathlib
import tempfile
import unittest

import check_architecture

HEADER = "// What it is.\n// Who calls it; thread-safe.\n#pragma once\n"


def findings_in(files):
    """Writes {path: text} into a temporary tree and checks it."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for path, text in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text, encoding="utf-8")
        return check_architecture.check(root)[0]


def edge(source, target, header=HEADER):
    """Findings of a tree in which `source` includes `target`."""
    return findings_in({source: f'{HEADER}#include "{target}"\n', target: header})


class Types(unittest.TestCase):
    A = "namespace qfs::a {\nstruct Part { int x = 0; };\n}\n"

    def found(self, other, path="methods/models/tokenizers/b.h"):
        return findings_in({"methods/models/tokenizers/a.h": HEADER + self.A, path: HEADER + other})

    def test_two_types_of_one_name_are_found_wherever_they_stand(self):
        self.assertEqual(len(self.found(self.A)), 1)
        self.assertIn("qfs::a::Part", self.found("namespace qfs::a {\nclass Part final : public B {\n};\n}\n")[0])
        self.assertEqual(len(self.found(self.A, "methods/models/tokenizers/b.cpp")), 1)

    def test_other_scopes_declarations_and_text_are_not(self):
        for other in ("namespace qfs::b {\nstruct Part {};\n}\n",
                      "namespace qfs::a {\nnamespace {\nstruct Part {};\n}\n}\n",
                      "namespace qfs::a {\nstruct Whole {\n  struct Part {};\n};\n}\n",
                      "namespace qfs::a {\nstruct Part;\n}\n",
                      "namespace qfs::a {\nstruct Part::Impl {\n};\n}\n", "namespace qfs::a {\n// struct Part {\n}\n",
                      'namespace qfs::a {\nconst char* text = "struct Part {";\n}\n'):
            with self.subTest(other=other):
                self.assertEqual(self.found(other), [])


class Edges(unittest.TestCase):
    def test_a_clean_edge_passes(self):
        self.assertEqual(edge("harness/run/a.h", "harness/store/b.h"), [])
        self.assertEqual(edge("harness/cli/a.h", "methods/families.h"), [])
        self.assertEqual(edge("harness/cli/a.h", "harness/score/files.h"), [])
        self.assertEqual(edge("harness/score/a.h", "metrics/stats/b.h"), [])
        self.assertEqual(edge("methods/extractive/a.h", "metrics/rouge/b.h"), [])
        self.assertEqual(edge("methods/ideal/a.h", "methods/models/nn/b.h"), [])
        self.assertEqual(edge("methods/ideal/a.h", "harness/core/b.h"), [])

    def test_a_forbidden_edge_is_named_with_its_line(self):
        self.assertEqual(edge("harness/api/a.h", "harness/core/b.h"),
                         ["harness/api/a.h:4: harness/api may not include 'harness/core/b.h'"])

    def test_each_kind_of_forbidden_edge_fails(self):
        for source, target in (
                ("harness/core/a.h", "harness/store/b.h"),
                ("harness/store/a.h", "harness/run/b.h"),
                ("harness/run/a.h", "harness/score/b.h"),
                ("harness/cli/a.h", "methods/ideal/spec.h"),
                ("harness/cli/a.h", "harness/apps/b.h"),
                ("harness/cli/a.h", "metrics/stats/b.h"),
                ("harness/cli/a.h", "harness/score/text_scorer.h"),
                ("methods/ideal/a.h", "methods/dyle/b.h"),
                ("methods/ideal/a.h", "metrics/rouge/b.h"),
                ("methods/ideal/a.h", "harness/host/b.h"),
                ("methods/models/nn/a.h", "methods/models/decoding/b.h"),
                ("methods/models/checkpoints/a.h", "methods/models/tokenizers/b.h"),
                ("metrics/rouge/a.h", "metrics/bertscore/b.h"),
                ("metrics/text/a.h", "metrics/rouge/b.h"),
                ("datasets/a.h", "metrics/text/b.h"),
                ("reports/a.h", "harness/score/b.h")):
            with self.subTest(source=source, target=target):
                self.assertEqual(len(edge(source, target)), 1)

    def test_test_code_and_relative_includes_fail(self):
        self.assertEqual(len(edge("datasets/a.h", "tests/support/b.h")), 1)
        found = findings_in({"datasets/a.h": HEADER + '#include "b.h"\n', "datasets/b.h": HEADER})
        self.assertEqual(len(found), 1)
        self.assertIn("written from the root", found[0])


class Cycles(unittest.TestCase):
    @staticmethod
    def found(*edges):
        """Findings of header-only folders of datasets, whose edges are otherwise allowed."""
        files = {}
        for source, target in edges:
            files.setdefault(f"{source}/a.h", HEADER)
            files.setdefault(f"{target}/b.h", HEADER)
            files[f"{source}/a.h"] += f'#include "{target}/b.h"\n'
            files.setdefault(f"{target}/a.h", HEADER)
        return findings_in(files)

    def test_a_line_of_folders_passes(self):
        self.assertEqual(self.found(("datasets/a", "datasets/b"), ("datasets/b", "datasets/c"),
                                    ("datasets/a", "datasets/c")), [])

    def test_a_circle_is_one_finding_that_names_its_folders(self):
        found = self.found(("datasets/a", "datasets/b"), ("datasets/b", "datasets/c/deep"),
                           ("datasets/c/deep", "datasets/a"))
        self.assertEqual(len(found), 1)
        self.assertIn("datasets/a -> datasets/b -> datasets/c/deep -> datasets/a", found[0])

    def test_a_folder_and_its_own_part_count(self):
        self.assertEqual(len(self.found(("datasets", "datasets/b"), ("datasets/b", "datasets"))), 1)

    def test_two_circles_are_two_findings(self):
        self.assertEqual(len(self.found(("datasets/a", "datasets/b"), ("datasets/b", "datasets/a"),
                                        ("datasets/c", "datasets/d"), ("datasets/d", "datasets/c"))), 2)


class Torch(unittest.TestCase):
    TENSORS = HEADER + "#include <ATen/core/Tensor.h>\n"

    def test_tensor_code_may_include_it(self):
        for path in ("methods/models/architectures/llama/llama.h", "methods/zero_shot/session.h",
                     "methods/tensor_sessions.cpp", "harness/apps/qfs_host.cpp"):
            with self.subTest(path=path):
                self.assertEqual(findings_in({path: self.TENSORS}), [])

    def test_torch_free_code_may_not(self):
        for path in ("methods/zero_shot/spec.h", "methods/models/tokenizers/bpe.cpp", "metrics/rouge/a.cpp",
                     "harness/apps/qfs_bench.cpp", "methods/models/kernels/cuda/a.cu"):
            with self.subTest(path=path):
                self.assertEqual(len(findings_in({path: self.TENSORS})), 1)

    def test_a_chain_of_headers_is_followed_and_printed(self):
        found = findings_in({
            "methods/zero_shot/spec.cpp": '#include "methods/zero_shot/parts.h"\n',
            "methods/zero_shot/parts.h": HEADER + '#include "methods/models/architectures/llama/llama.h"\n',
            "methods/models/architectures/llama/llama.h": self.TENSORS})
        self.assertEqual(len(found), 2)
        self.assertIn("methods/zero_shot/parts.h -> methods/models/architectures/llama/llama.h -> <ATen/core/Tensor.h>",
                      found[1])


class Files(unittest.TestCase):
    def test_nlohmann_stays_out_of_headers(self):
        line = "#include <nlohmann/json.hpp>\n"
        self.assertEqual(findings_in({"datasets/a.cpp": line}), [])
        self.assertEqual(len(findings_in({"datasets/a.h": HEADER + line})), 1)

    def test_length_limit(self):
        self.assertEqual(findings_in({"datasets/a.cpp": "\n" * 500}), [])
        self.assertEqual(findings_in({"datasets/a.cpp": "\n" * 501}),
                         ["datasets/a.cpp:1: 501 lines, more than 500"])

    def test_a_header_without_an_opening_comment(self):
        self.assertEqual(len(findings_in({"datasets/a.h": "#pragma once\n"})), 1)

    def test_marks_and_machine_paths(self):
        for line in ("// TODO later", "// FIXME", 'open("/home/someone/data")', 'open("/root/data")'):
            with self.subTest(line=line):
                self.assertEqual(len(findings_in({"datasets/a.cpp": line + "\n"})), 1)
        self.assertEqual(findings_in({"datasets/a.cpp": 'mkstemp("qfs-XXXXXX"); "/usr/share"\n'}), [])


class Sizes(unittest.TestCase):
    def test_median_and_p90(self):
        texts = {f"datasets/{n}.cpp": "\n" * n for n in range(1, 11)}
        self.assertEqual(check_architecture.size_line(texts),
                         "10 files, lines: median 5, p90 9, largest 10")


if __name__ == "__main__":
    unittest.main()
