#include "methods/imported/spec.h"

namespace qfs::imported {

std::string_view ImportedSpec::doc() const {
  return "Outputs out of a file of predictions, matched to examples by key";
}

std::vector<ParamSpec> ImportedSpec::params() const {
  ParamSpec file;
  file.name = "file";
  file.type = ParamType::text;
  file.required = true;
  file.path = true;
  file.doc = "File of predictions; its SHA-256 is in the cell id, its path is not";

  ParamSpec from;
  from.name = "from";
  from.type = ParamType::text;
  from.default_value = ParamValue(std::string("jsonl"));
  from.doc = "Form of the file: jsonl, lines (line i is example i), or a tool of `score --from`";

  ParamSpec fields;
  fields.name = "fields";
  fields.type = ParamType::text;
  fields.doc = "Object of names: what records call id, prediction …, as `score --fields`";

  ParamSpec missing;
  missing.name = "missing";
  missing.type = ParamType::text;
  missing.choices = {"error", "empty"};
  missing.default_value = ParamValue(missing.choices.front());
  missing.doc = "Examples that the file has no text for: an error, or scored as empty";
  return {file, from, fields, missing};
}

Needs ImportedSpec::needs(const Params&) const {
  Needs needs;
  needs.imported = true;
  return needs;
}

Cost ImportedSpec::cost(const Params&, const DatasetStats& stats) const {
  Cost cost;
  cost.bytes = static_cast<double>(stats.examples);
  return cost;
}

}  // namespace qfs::imported
