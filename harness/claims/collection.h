// Collection: every claim that comes with the program, and the published tables that they make.
//
// Called by `claims`, `report --table` and `reproduce`. Immutable once loaded; thread-safe.
// Errors are those of decode.h, or `not_found` with the nearest name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/api/result.h"
#include "harness/claims/claim.h"

namespace qfs::claims {

/// The claims of one part of a table, in order.
struct ShownPart {
  const Paper* paper = nullptr;
  const ClaimTable* table = nullptr;
  std::vector<const Claim*> claims;
};

struct ShownTable {
  PublishedTable table;
  std::vector<ShownPart> parts;
  std::vector<const Claim*> claims() const;
};

class Collection {
 public:
  /// Below `folder`, laid out as the source tree: experiments/claims and reports/tables.
  static Result<Collection> load(const std::string& folder);

  const std::vector<Paper>& papers() const { return papers_; }
  const std::vector<PublishedTable>& tables() const { return tables_; }
  std::vector<const Claim*> claims() const;
  const Paper& paper(std::string_view id) const;  ///< of a claim
  /// Names that the user may give a place to: models, tokenizers, folders of files; sorted.
  std::vector<std::string> named_places() const;

  /// A published table, or one of the tables of claims that it is made of.
  Result<ShownTable> table(std::string_view id) const;

 private:
  Status resolve() const;
  const ClaimTable* find(std::string_view id, const Paper*& paper) const;
  Result<ShownTable> shown(const PublishedTable& table) const;

  std::vector<Paper> papers_;
  std::vector<PublishedTable> tables_;
};

}  // namespace qfs::claims
