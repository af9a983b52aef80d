"""Outputs may not change behind an unchanged version.

methods/versions.lock holds, for each method, its version, its layers and the digest of its sources: its
family's folder, everything in methods/, metrics/ and harness/core/text/ that it includes, and what implements
that (cmake/SourceClosure.cmake; `list methods --json` says it). When the digest differs and no version or layer
does, somebody has changed code that makes outputs: either raise version() or a layer of the methods concerned, or review that outputs
are equal, and accept the new digests:

    python3 tests/architecture/versions_lock.py build/release/bin/qfs-bench --accept
"""

import json
import os
import subprocess
import sys

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
LOCK = os.path.join("methods", "versions.lock")


def current(binary):
    listing = json.loads(subprocess.run([binary, "list", "methods", "--json"], check=True,
                                        capture_output=True).stdout)
    return {m["name"]: {key: m[key] for key in ("version", "layers", "source_digest")}
            for m in listing["methods"]}


def problems(locked, found):
    """One line per method whose code changed while its versions did not, or that is not locked."""
    lines = []
    for method, state in found.items():
        known = locked.get(method)
        if not state["source_digest"]:
            lines.append(f"{method}: no folder of methods/families.cpp has its sources")
        elif known is None:
            lines.append(f"{method}: not in {LOCK}")
        elif (known["version"], known["layers"]) != (state["version"], state["layers"]):
            lines.append(f"{method}: version or layers changed; accept them")
        elif known["source_digest"] != state["source_digest"]:
            lines.append(f"{method}: code that makes outputs changed, no version or layer did")
    return lines


def main(arguments):
    found = current(os.path.abspath(arguments[0]))
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
