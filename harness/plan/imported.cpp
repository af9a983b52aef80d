#include "harness/plan/imported.h"

#include <unordered_map>

#include "harness/core/suggest.h"

namespace qfs::plan {
namespace {

constexpr size_t kNamed = 5;

/// Row by ordinal.
using RowsOfExamples = std::unordered_map<int64_t, const ImportedRow*>;

Error unknown_id(const ImportedRow& row, const Dataset& dataset) {
  std::vector<std::string> keys;
  for (const Example& example : dataset.examples) keys.push_back(example.key);
  const auto near = nearest_name(row.id, keys);
  return data_error("id '" + row.id + "' is no example of data set '" + dataset.manifest.name +
                        "'" +
                        (near ? " (did you mean '" + *near + "'?)"
                              : ", whose keys are such as '" + keys.front() + "'"),
                    row.where);
}

Result<RowsOfExamples> rows_by_key(const ImportedFile& file, const Dataset& dataset) {
  std::unordered_map<std::string_view, int64_t> ordinals;
  for (size_t i = 0; i < dataset.examples.size(); ++i) {
    ordinals.emplace(dataset.examples[i].key, static_cast<int64_t>(i));
  }
  RowsOfExamples rows;
  for (const ImportedRow& row : file.rows) {
    const auto ordinal = ordinals.find(row.id);
    if (ordinal == ordinals.end()) return unknown_id(row, dataset);
    const auto [first, fresh] = rows.emplace(ordinal->second, &row);
    if (!fresh) {
      return data_error("id '" + row.id + "' is already that of " + first->second->where,
                        row.where);
    }
  }
  return rows;
}

Result<RowsOfExamples> rows_by_position(const ImportedFile& file, const Dataset& dataset) {
  if (file.rows.size() != dataset.examples.size()) {
    return data_error(std::to_string(file.rows.size()) + " lines for the " +
                          std::to_string(dataset.examples.size()) + " examples of data set '" +
                          dataset.manifest.name + "'; line i belongs to example i" +
                          (file.suspicion.empty() ? "" : " (" + file.suspicion + ")"),
                      file.path);
  }
  RowsOfExamples rows;
  for (size_t i = 0; i < file.rows.size(); ++i)
    rows.emplace(static_cast<int64_t>(i), &file.rows[i]);
  return rows;
}

}  // namespace

Result<ImportedOutputs> match_imported(const ImportedFile& file, const Dataset& dataset,
                                       const std::vector<int64_t>& ordinals,
                                       bool missing_is_empty) {
  const auto rows = file.by_position ? rows_by_position(file, dataset) : rows_by_key(file, dataset);
  if (!rows.ok()) return rows.error();
  ImportedOutputs outputs;
  outputs.sha256 = file.sha256;
  size_t missing = 0;
  std::string named;
  for (int64_t ordinal : ordinals) {
    const auto row = rows->find(ordinal);
    if (row != rows->end() && row->second->text) {
      outputs.texts[ordinal] = *row->second->text;
      continue;
    }
    outputs.texts[ordinal] = "";
    outputs.missing.push_back(ordinal);
    if (missing_is_empty) continue;
    if (++missing <= kNamed) {
      named +=
          (named.empty() ? "'" : ", '") + dataset.examples[static_cast<size_t>(ordinal)].key + "'";
    }
  }
  if (missing == 0) return outputs;
  return data_error(std::to_string(missing) + " of " + std::to_string(ordinals.size()) +
                        " examples have no prediction: " + named + (missing > kNamed ? ", …" : "") +
                        "; \"missing\": \"empty\" scores them as empty",
                    file.path);
}

}  // namespace qfs::plan
