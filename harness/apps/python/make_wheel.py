"""Packs an installed tree into a wheel (PEP 427).

Usage: make_wheel.py TREE VERSION LICENSE FOLDER
Prints the wheel's path. TREE holds the package; files are taken in sorted order with a fixed time, so equal
trees give equal bytes.
"""

import base64
import hashlib
import pathlib
import sys
import sysconfig
import zipfile

METADATA = """Metadata-Version: 2.1
Name: qfs-bench
Version: {version}
Summary: Runs, measures and re-scores methods for query-focused and long-input summarization
License: Apache-2.0
Requires-Python: =={python}.*
"""
WHEEL = """Wheel-Version: 1.0
Generator: qfs-bench
Root-Is-Purelib: false
Tag: {tag}
"""
ENTRY_POINTS = """[console_scripts]
qfs-bench = qfs_bench._program:main
"""
TIME = (2020, 1, 1, 0, 0, 0)


def record_line(name, data):
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(data)}\n"


def main():
    tree, version, license_file, folder = sys.argv[1:]
    interpreter = f"cp{sys.version_info.major}{sys.version_info.minor}"
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    tag = f"{interpreter}-{interpreter}-{platform}"
    info = f"qfs_bench-{version}.dist-info"
    files = {path.relative_to(tree).as_posix(): (path.read_bytes(), path.stat().st_mode)
             for path in sorted(pathlib.Path(tree).rglob("*")) if path.is_file()}
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    for name, text in (("METADATA", METADATA.format(version=version, python=python)),
                       ("WHEEL", WHEEL.format(tag=tag)), ("entry_points.txt", ENTRY_POINTS)):
        files[f"{info}/{name}"] = (text.encode(), 0o644)
    files[f"{info}/LICENSE"] = (pathlib.Path(license_file).read_bytes(), 0o644)
    record = "".join(record_line(name, data) for name, (data, _) in files.items())
    files[f"{info}/RECORD"] = (f"{record}{info}/RECORD,,\n".encode(), 0o644)
    path = pathlib.Path(folder) / f"qfs_bench-{version}-{tag}.whl"
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, (data, mode) in files.items():
            entry = zipfile.ZipInfo(name, TIME)
            entry.external_attr = (0o100755 if mode & 0o111 else 0o100644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, data)
    print(path)


if __name__ == "__main__":
    main()
