"""The console script: runs the qfs-bench that came with this package."""

import os
import pathlib
import sys


def main():
    program = pathlib.Path(__file__).parent / "_installed" / "bin" / "qfs-bench"
    os.execv(program, [str(program), *sys.argv[1:]])
