"""Reads the #include lines and the shape of every source file and reports what breaks the design.

Usage: check_architecture.py ROOT
Prints one line a finding ('path:line: what') and the size statistics; exit 1 when there is a finding.
"""

import pathlib
import re
import sys

import layers
import type_names

SOURCE_FOLDERS = ("harness", "methods", "metrics", "datasets", "reports", "tests")
CODE = (".h", ".cpp", ".cu", ".cuh", ".py", ".sh", ".cmake")
MAX_LINES = 500
MIN_COMMENT_LINES = 2

INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')
MARKS = re.compile(r"\b(TODO|FIXME|XXX)\b")
MACHINE_PATH = re.compile(r"(?<![\w./])/(work|farm|root|home)/[A-Za-z.]")


def source_files(root):
    """Repository-relative paths of all code files, sorted."""
    found = []
    for folder in SOURCE_FOLDERS:
        for path in (root / folder).rglob("*"):
            if path.suffix in CODE and path.is_file():
                found.append(path.relative_to(root).as_posix())
    return sorted(found)


def includes_of(text):
    """(line number, style, path) of each #include."""
    for number, line in enumerate(text.splitlines(), 1):
        match = INCLUDE.match(line)
        if match:
            yield number, match.group(1), match.group(2)


def check_edges(texts):
    for path, text in texts.items():
        if path.startswith("tests/") or not path.endswith((".h", ".cpp", ".cu", ".cuh")):
            continue
        for number, style, target in includes_of(text):
            if style == "<":
                if target == "nlohmann/json.hpp" and path.endswith(".h"):
                    yield (f"{path}:{number}: nlohmann/json.hpp in a header; include "
                           "harness/core/json_dom.h there")
                continue
            if target.startswith("tests/"):
                yield f"{path}:{number}: includes test code '{target}'"
            elif target in layers.GENERATED:
                continue
            elif target not in texts:
                yield (f"{path}:{number}: '{target}' is not a file below the root; includes are "
                       "written from the root")
            elif not layers.edge_allowed(path, target):
                yield f"{path}:{number}: {layers.module_of(path)} may not include '{target}'"


def check_cycles(texts):
    """Folders, at every depth, that include one another in a circle; one finding a circle."""
    edges = {}
    for path, text in texts.items():
        if path.startswith("tests/"):
            continue
        folder = path.rpartition("/")[0]
        for number, style, target in includes_of(text):
            other = target.rpartition("/")[0]
            if style == '"' and target in texts and other != folder:
                edges.setdefault(folder, {}).setdefault(other, f"{path}:{number}")
    for circle in circles(edges):
        first, second = circle[0], circle[1 % len(circle)]
        yield (f"{edges[first][second]}: folders include one another in a circle: "
               f"{' -> '.join([*circle, first])}")


def circles(edges):
    """Shortest include circle through each folder that is in one and in none reported before."""
    reported = set()
    for start in sorted(edges):
        if start in reported:
            continue
        pending, seen = [[start]], set()
        while pending:
            chain = pending.pop(0)
            targets = edges.get(chain[-1], ())
            if start in targets:
                reported.update(chain)
                yield chain
                break
            for target in sorted(set(targets) - seen):
                seen.add(target)
                pending.append([*chain, target])


def check_torch(texts):
    """LibTorch stays where it belongs, also through chains of headers."""
    direct, edges = {}, {}
    for path, text in texts.items():
        targets = [(style, target) for _, style, target in includes_of(text)]
        direct[path] = [t for style, t in targets if t.startswith(layers.TORCH_HEADERS)]
        edges[path] = [t for style, t in targets if style == '"' and t in texts]
    for path in texts:
        if path.startswith("tests/") or layers.may_include_torch(path):
            continue
        chain = torch_chain(path, direct, edges)
        if chain:
            yield f"{path}:1: torch-free code reaches LibTorch: {' -> '.join(chain)}"


def torch_chain(start, direct, edges):
    """The first include path from `start` to a LibTorch header, or None."""
    pending, seen = [[start]], {start}
    while pending:
        chain = pending.pop(0)
        if direct[chain[-1]]:
            return chain + [f"<{direct[chain[-1]][0]}>"]
        for target in edges[chain[-1]]:
            if target not in seen:
                seen.add(target)
                pending.append(chain + [target])
    return None


def check_files(texts):
    """Length, opening comments, marks of unfinished work, paths of one machine."""
    for path, text in texts.items():
        lines = text.splitlines()
        if len(lines) > MAX_LINES:
            yield f"{path}:1: {len(lines)} lines, more than {MAX_LINES}"
        if path.endswith(".h"):
            opening = lines[:MIN_COMMENT_LINES]
            if len(opening) < MIN_COMMENT_LINES or not all(l.startswith("//") for l in opening):
                yield (f"{path}:1: a header opens with a comment: what it is, who calls it, "
                       "thread-safety, failure")
        if path.startswith("tests/architecture/"):
            continue
        for number, line in enumerate(lines, 1):
            mark = MARKS.search(line)
            if mark:
                yield f"{path}:{number}: mark of unfinished work: {mark.group(0)}"
            if MACHINE_PATH.search(line):
                yield f"{path}:{number}: absolute path of one machine: {line.strip()[:80]}"


def size_line(texts):
    sizes = sorted(len(text.splitlines()) for text in texts.values())
    if not sizes:
        return "no source files"
    median, p90 = (sizes[int(share * (len(sizes) - 1))] for share in (0.5, 0.9))
    return f"{len(sizes)} files, lines: median {median}, p90 {p90}, largest {sizes[-1]}"


def check(root):
    """All findings below `root`, and the size statistics as one line."""
    texts = {path: (root / path).read_text(encoding="utf-8") for path in source_files(root)}
    findings = [*check_edges(texts), *check_cycles(texts), *check_torch(texts), *check_files(texts),
                *type_names.check_types(texts)]
    return findings, size_line(texts)


def main(arguments):
    if len(arguments) != 1:
        sys.exit(__doc__)
    findings, sizes = check(pathlib.Path(arguments[0]))
    print(sizes)
    for finding in findings:
        print(finding)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
