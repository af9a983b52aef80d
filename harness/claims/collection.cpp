#include "harness/claims/collection.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "harness/claims/decode.h"
#include "harness/core/files.h"
#include "harness/core/suggest.h"

namespace qfs::claims {
namespace {

constexpr uint64_t kMostBytes = uint64_t{16} << 20;

/// The files of a folder but labels.json, by name.
Result<std::vector<std::string>> written_files(const std::string& folder) {
  Result<std::vector<std::string>> names = glob_files(folder, "*.json");
  if (!names) return names;
  for (const char* const pattern : {"*.yaml", "*.yml"}) {
    Result<std::vector<std::string>> yaml = glob_files(folder, pattern);
    if (!yaml) return yaml;
    std::ranges::move(*yaml, std::back_inserter(*names));
  }
  std::ranges::sort(*names);
  std::erase(*names, "labels.json");
  if (names->empty()) return not_found("there is no claim in '" + folder + "'");
  for (std::string& name : *names) name.insert(0, folder + "/");
  return names;
}

}  // namespace

std::vector<const Claim*> ShownTable::claims() const {
  std::vector<const Claim*> all;
  for (const ShownPart& part : parts) std::ranges::copy(part.claims, std::back_inserter(all));
  return all;
}

Result<Collection> Collection::load(const std::string& folder) {
  const std::string claims = folder + "/experiments/claims";
  const Result<std::string> text = read_file(claims + "/labels.json", kMostBytes);
  if (!text) return text.error();
  const Result<Labels> labels = decode_labels(*text, claims + "/labels.json");
  if (!labels) return labels.error();
  Collection collection;
  const auto papers = written_files(claims);
  if (!papers) return papers.error();
  for (const std::string& path : *papers) {
    const Result<std::string> json = read_file(path, kMostBytes);
    if (!json) return json.error();
    Result<Paper> paper = decode_paper(*json, path, *labels);
    if (!paper) return paper.error();
    collection.papers_.push_back(*std::move(paper));
  }
  const auto tables = written_files(folder + "/reports/tables");
  if (!tables) return tables.error();
  for (const std::string& path : *tables) {
    const Result<std::string> json = read_file(path, kMostBytes);
    if (!json) return json.error();
    Result<std::vector<PublishedTable>> list = decode_tables(*json, path);
    if (!list) return list.error();
    std::ranges::move(*list, std::back_inserter(collection.tables_));
  }
  if (Status resolved = collection.resolve(); !resolved) return resolved.error();
  return collection;
}

std::vector<const Claim*> Collection::claims() const {
  std::vector<const Claim*> all;
  for (const Paper& paper : papers_) {
    for (const ClaimTable& table : paper.tables) {
      for (const Claim& claim : table.claims) all.push_back(&claim);
    }
  }
  return all;
}

const Paper& Collection::paper(std::string_view id) const {
  return *std::ranges::find(papers_, id, &Paper::id);
}

const ClaimTable* Collection::find(std::string_view id, const Paper*& paper) const {
  for (const Paper& own : papers_) {
    const auto table = std::ranges::find(own.tables, id, &ClaimTable::id);
    if (table == own.tables.end()) continue;
    paper = &own;
    return &*table;
  }
  return nullptr;
}

Result<ShownTable> Collection::shown(const PublishedTable& table) const {
  ShownTable shown{table, {}};
  for (const TablePart& part : table.parts) {
    ShownPart own;
    own.table = find(part.table, own.paper);
    if (own.table == nullptr) {
      return not_found("the published table '" + table.id + "' is made of '" + part.table +
                       "', of which there are no claims");
    }
    for (const std::string& column : part.columns) {
      if (std::ranges::count(own.table->columns, column) > 0) continue;
      return not_found("the published table '" + table.id + "' takes '" + column + "' of '" +
                       part.table + "'" + suggestion(column, own.table->columns));
    }
    for (const Claim& claim : own.table->claims) {
      const bool taken = part.columns.empty() || std::ranges::count(part.columns, claim.column) > 0;
      if (taken) own.claims.push_back(&claim);
    }
    shown.parts.push_back(std::move(own));
  }
  for (const std::string& id : table.errata) {
    if (shown.parts.empty() || !shown.parts.front().paper->errata.contains(id)) {
      return not_found("the published table '" + table.id + "' names an unknown erratum '" + id +
                       "'");
    }
  }
  return shown;
}

Status Collection::resolve() const {
  for (const PublishedTable& table : tables_) {
    if (const auto whole = shown(table); !whole) return whole.error();
  }
  return {};
}

std::vector<std::string> Collection::named_places() const {
  std::set<std::string> names;
  for (const Claim* claim : claims()) {
    if (claim->method) {
      names.insert({claim->method->backbone, claim->method->tokenizer});
      for (const auto& [role, model] : claim->method->backbones) names.insert(model);
      for (const auto& [param, file] : claim->method->files) names.insert(file);
    }
    if (claim->dataset) names.insert(claim->dataset->tokenizer);
    if (claim->files) names.insert(claim->files->folder);
  }
  names.erase("");
  return {names.begin(), names.end()};
}

Result<ShownTable> Collection::table(std::string_view id) const {
  const auto published = std::ranges::find(tables_, id, &PublishedTable::id);
  if (published != tables_.end()) return shown(*published);
  const Paper* paper = nullptr;
  if (const ClaimTable* own = find(id, paper)) {
    return shown({own->id, own->title, {{own->id, {}}}, {}});
  }
  std::vector<std::string> names;
  for (const PublishedTable& table : tables_) names.push_back(table.id);
  for (const Paper& own : papers_) {
    for (const ClaimTable& table : own.tables) names.push_back(table.id);
  }
  return not_found("there is no published table '" + std::string(id) + "'" + suggestion(id, names) +
                   "; 'qfs-bench claims' lists all");
}

}  // namespace qfs::claims
