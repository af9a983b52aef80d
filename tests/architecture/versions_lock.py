"""Outputs may not change behind an unchanged version.

methods/versions.lock holds, for each family of methods, the versions and layers that it declares and a
digest of its folder and of everything in methods/ and metrics/ that it includes, directly or not (headers
and the .cpp beside them). When the digest differs and no version or layer does, somebody has changed code
that makes outputs: either raise version() or a layer of the methods concerned, or review that outputs
are equal, and accept the new digests:

    python3 tests/architecture/versions_lock.py build/release/bin/qfs-bench --accept
"""

import hashlib
import json
import os
import re
import subprocess
import sys

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
LOCK = os.path.join("methods", "versions.lock")
FAMILIES = {"extractive": "methods/extractive", "zero_shot": "methods/zero_shot"}
INCLUDE = re.compile(r'^\s*#\s*include\s+"((?:methods|metrics)/[^"]+)"', re.MULTILINE)


def closure(root, start):
    """Files that decide outputs: what `start` includes and the sources that implement it."""
    seen, waiting = set(), [start]
    while waiting:
        path = waiting.pop()
        if path in seen or not os.path.exists(os.path.join(root, path)):
            continue
        seen.add(path)
        with open(os.path.join(root, path), encoding="utf-8") as source:
            waiting += INCLUDE.findall(source.read())
        if path.endswith(".h"):
            waiting.append(path[:-2] + ".cpp")
    return sorted(seen)


def digest(root, folder):
    """Of a family's folder, which belongs to it whole, and of all that its files include."""
    files = set()
    for name in os.listdir(os.path.join(root, folder)):
        if name.endswith((".h", ".cpp")):
            files.update(closure(root, os.path.join(folder, name)))
    sha = hashlib.sha256()
    for path in sorted(files):
        with open(os.path.join(root, path), "rb") as source:
            sha.update(path.encode() + b"\0" + source.read() + b"\0")
    return sha.hexdigest()


def declared(binary):
    listing = json.loads(subprocess.run([binary, "list", "methods", "--json"], check=True,
                                        capture_output=True).stdout)
    return {m["name"]: {"version": m["version"], "layers": m["layers"]} for m in listing["methods"]}


def family_of(method):
    return method if method in FAMILIES else "extractive"


def current(binary, root=ROOT):
    methods = declared(binary)
    return {family: {"digest": digest(root, folder),
                     "methods": {m: v for m, v in sorted(methods.items()) if family_of(m) == family}}
            for family, folder in FAMILIES.items()}


def problems(locked, found):
    """One line per family whose code changed while its versions did not, or that is not locked."""
    lines = []
    for family, state in found.items():
        known = locked.get(family)
        if known is None:
            lines.append(f"{family}: not in {LOCK}")
        elif known["methods"] == state["methods"] and known["digest"] != state["digest"]:
            lines.append(f"{family}: code that makes outputs changed, no version or layer did")
        elif known["methods"] != state["methods"]:
            lines.append(f"{family}: versions or layers changed; accept them")
    return lines


def main(arguments):
    binary = os.path.abspath(arguments[0])
    found = current(binary)
    path = os.path.join(ROOT, LOCK)
    if "--accept" in arguments[1:]:
        with open(path, "w", encoding="utf-8") as lock:
            json.dump(found, lock, indent=1, sort_keys=True)
            lock.write("\n")
        return 0
    with open(path, encoding="utf-8") as lock:
        lines = problems(json.load(lock), found)
    for line in lines:
        print(line)
    if lines:
        print(__doc__)
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
