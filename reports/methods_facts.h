// What a store knows of the cells of a table beyond their numbers: parameters by method, machines,
// programs, trainings. Private to methods_text.cpp. Reads only; errors are the store's.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "harness/api/result.h"
#include "harness/store/reader.h"
#include "reports/sweep_facts.h"

namespace qfs::reports {

struct MethodFacts {
  std::string label;
  std::string method;  ///< with its version, "lead@1"
  bool oracle = false;
  bool another_seed = false;  ///< one result stands for several seeds
  std::vector<std::string> seeds;
  std::vector<std::string> layers;  ///< of shared code, "truncation@1"
  /// Every parameter with the values that it has in these cells; a long text by its digest.
  std::vector<std::pair<std::string, std::vector<std::string>>> params;
  std::vector<std::string> texts;  ///< the long ones whole, "prompt (SHA-256 …): …"
};

/// By label, in the order of the places.
std::vector<MethodFacts> methods_of(const std::vector<const PlaceFacts*>& places);

/// How many documents the examples of a cell are about.
Result<int64_t> documents_of(store::Reader& reader, const store::CellRow& cell);

/// The steps between outputs and metrics, as the sweep file has them.
std::vector<std::string> postprocess_of(const SweepFacts& facts);

struct Environments {
  std::vector<std::string> programs;   ///< "qfs-bench 0.1.0 (commit …, g++ …, Release)"
  std::vector<std::string> machines;   ///< "AMD EPYC, 2 cores, 23.5 GiB memory, …"
  std::vector<std::string> protocols;  ///< of measurements: "4 examples, 1 warm-up unit, …"
};

/// Those of all attempts at the places' results of this kind.
Result<Environments> environments_of(store::Reader& reader,
                                     const std::vector<const PlaceFacts*>& places,
                                     store::ResultKind kind);

/// What the trainings that the places rest on took, and the files that were imported.
Result<std::vector<std::string>> trainings_of(store::Reader& reader,
                                              const std::vector<const PlaceFacts*>& places);

/// Outputs of the places that a second computation contradicted.
Result<int64_t> conflicts_of(store::Reader& reader, const std::vector<const PlaceFacts*>& places);

}  // namespace qfs::reports
