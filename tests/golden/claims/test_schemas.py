"""The committed claims, labels and tables are valid by the schemas that editors use, and the schemas
refuse what the decoder refuses.

Skipped (exit status 77) when the module jsonschema is not installed. Runs in the source tree.
"""

import copy
import glob
import json
import sys
import unittest

try:
    import jsonschema
except ImportError:
    sys.exit(77)


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def validator(name):
    schema = load(f"experiments/schema/{name}.schema.json")
    jsonschema.Draft7Validator.check_schema(schema)
    return jsonschema.Draft7Validator(schema)


class Schemas(unittest.TestCase):
    def test_committed_files_are_valid(self):
        files = {path: "claims" for path in glob.glob("experiments/claims/*.json")}
        files["experiments/claims/labels.json"] = "labels"
        files.update({path: "tables" for path in glob.glob("reports/tables/*.json")})
        self.assertGreater(len(files), 10)
        for path, name in files.items():
            self.assertEqual([error.message for error in validator(name).iter_errors(load(path))], [], path)

    def test_mistakes_are_refused(self):
        claims = validator("claims")
        good = load("experiments/claims/xsum.json")
        for change in (lambda c: c.pop("paper"),
                       lambda c: c["tables"][0]["rows"][0].update(printd=["1"]),
                       lambda c: c["tables"][0]["rows"][0].update(printed=[1.5]),
                       lambda c: c["tables"][0]["columns"][0].update(stated="why"),
                       lambda c: c["tables"][0]["columns"][0].pop("column"),
                       lambda c: c["tables"][0]["columns"][0].update(tolerance=-1)):
            bad = copy.deepcopy(good)
            change(bad)
            self.assertFalse(claims.is_valid(bad))
        labels = load("experiments/claims/labels.json")
        del labels["xsum"]["lead"]["method"]
        self.assertFalse(validator("labels").is_valid(labels))


if __name__ == "__main__":
    unittest.main()
