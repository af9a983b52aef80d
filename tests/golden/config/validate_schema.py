"""Judges sweep files by the JSON schema: one line a file, "valid" or "invalid", then its path.

Usage: validate_schema.py SCHEMA FILE...   A file that is not JSON is invalid.
Exit status 77 when the module jsonschema is not installed.
"""

import json
import sys

try:
    import jsonschema
except ImportError:
    sys.exit(77)


def refuse_constant(text):
    raise ValueError(f"{text} is not JSON")


def verdict(validator, path):
    try:
        with open(path, encoding="utf-8") as file:
            sweep = json.load(file, parse_constant=refuse_constant)
    except ValueError:
        return "invalid"
    return "valid" if validator.is_valid(sweep) else "invalid"


def main(schema_path, *paths):
    with open(schema_path, encoding="utf-8") as file:
        schema = json.load(file)
    jsonschema.Draft7Validator.check_schema(schema)
    validator = jsonschema.Draft7Validator(schema)
    for path in paths:
        print(verdict(validator, path), path)


if __name__ == "__main__":
    main(*sys.argv[1:])
