"""Outputs may not change behind an unchanged version.

methods/versions.lock holds the digest of each layer's code (methods/layers.txt) with the layer's version, and for
each method its version, its layers and the digest of the code that is in none of them: its family's folder and what
that includes in methods/, metrics/ and harness/core/text/ (cmake/source_digests.cpp; `list methods --json` says it).
Comments and white space are in no digest. When a digest differs and its version does not, somebody has changed code
that makes outputs: either raise that version (version() of the method, or the layer's where MethodSpec::layers names
it), or review that outputs are equal, and accept the new digests:

    python3 tests/architecture/versions_lock.py build/release/bin/qfs-bench --accept
"""

import json
import os
import re
import subprocess
import sys

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
LOCK = os.path.join("methods", "versions.lock")


def name_of(layer):
    """"generation" of "generation@4", "rouge" of a metric's signature."""
    return re.split(r"[@|]", layer, maxsplit=1)[0]


def state_of(listing):
    methods = {m["name"]: {key: m[key] for key in ("version", "layers", "source_digest")}
               for m in listing["methods"]}
    versions = {name_of(layer): layer for method in methods.values() for layer in method["layers"]}
    layers = {name: {"layer": versions.get(name, ""), "source_digest": digest}
              for name, digest in listing["layers"].items()}
    return {"methods": methods, "layers": layers}


def current(binary):
    return state_of(json.loads(subprocess.run([binary, "list", "methods", "--json"], check=True,
                                              capture_output=True).stdout))


def problems(locked, found):
    """One line per layer or method whose code changed while its version did not, or that is not locked."""
    lines = []
    for name, state in found["layers"].items():
        known = locked["layers"].get(name)
        if not state["layer"]:
            lines.append(f"layer {name}: no method rests on it")
        elif known is None or known["layer"] != state["layer"]:
            lines.append(f"layer {state['layer']}: not in {LOCK}; accept it")
        elif known["source_digest"] != state["source_digest"]:
            lines.append(f"layer {state['layer']}: code that makes outputs changed, its version did not")
    for name, state in found["methods"].items():
        known = locked["methods"].get(name)
        missing = [layer for layer in state["layers"] if name_of(layer) not in found["layers"]]
        if not state["source_digest"]:
            lines.append(f"{name}: no folder of methods/families.cpp has its sources")
        elif missing:
            lines.append(f"{name}: methods/layers.txt does not say what code has {', '.join(missing)}")
        elif known is None:
            lines.append(f"{name}: not in {LOCK}; accept it")
        elif (known["version"], known["layers"]) != (state["version"], state["layers"]):
            lines.append(f"{name}: version or layers changed; accept them")
        elif known["source_digest"] != state["source_digest"]:
            lines.append(f"{name}: code that makes outputs changed, its version did not")
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
