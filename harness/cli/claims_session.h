// What `claims`, `report --table` and `reproduce` have in common: the claims of the program, the
// places that the user names, the store, and the evaluator over them.
//
// Not thread-safe. Errors name the option or the file.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/api/result.h"
#include "harness/claims/collection.h"
#include "harness/claims/evaluate.h"
#include "harness/cli/catalogs.h"
#include "harness/cli/commands.h"
#include "harness/store/reader.h"

namespace qfs::cli {

/// The store of claims where none is given.
inline constexpr const char* kClaimsStore = "claims.sqlite";

/// --with NAME=PATH; repeatable.
void add_places_option(CLI::App& command, std::vector<std::string>& with);

/// "llama-2=/data/tokenizer.model", each.
Result<claims::Places> places_of(const std::vector<std::string>& with);

class ClaimsSession {
 public:
  static Result<std::unique_ptr<ClaimsSession>> open(const std::vector<std::string>& with);

  /// Reads a store from here on. Where none is given, claims.sqlite when it is there.
  Status use_store(const GlobalOptions& global);

  const claims::Collection& collection() const { return collection_; }
  claims::Lookups& lookups() { return *lookups_; }
  Catalogs& catalogs() { return catalogs_; }
  const std::string& store_name() const { return store_name_; }  ///< empty: there is none

  Result<std::vector<claims::Finding>> evaluate(const std::vector<const claims::Claim*>& claims);

 private:
  explicit ClaimsSession(claims::Collection collection) : collection_(std::move(collection)) {}

  claims::Collection collection_;
  Catalogs catalogs_;
  std::optional<claims::Lookups> lookups_;
  std::optional<store::Reader> reader_;
  std::optional<claims::StoredResults> results_;
  std::string store_name_;
};

}  // namespace qfs::cli
