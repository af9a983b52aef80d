#include "harness/cli/claims_session.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>

#include "harness/core/files.h"
#include "harness/core/suggest.h"

namespace qfs::cli {

void add_places_option(CLI::App& command, std::vector<std::string>& with) {
  repeatable(
      command.add_option("--with", with,
                         "Where a backbone, tokenizer, file or folder is that a claim names; "
                         "repeatable"))
      ->type_name("NAME=PATH");
}

Result<claims::Places> places_of(const std::vector<std::string>& with) {
  claims::Places places;
  for (const std::string& text : with) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
      return invalid_argument(fmt::format(
          "--with expects NAME=PATH, for instance --with llama-2=tokenizer.model; found '{}'",
          text));
    }
    const std::string path = text.substr(equals + 1);
    std::error_code error;
    if (!std::filesystem::exists(path, error)) {
      return not_found(
          fmt::format("--with {}: there is nothing at '{}'", text.substr(0, equals), path));
    }
    // A name without '/' would be taken for a registered one.
    places[text.substr(0, equals)] = std::filesystem::absolute(path, error).string();
  }
  return places;
}

Result<std::unique_ptr<ClaimsSession>> ClaimsSession::open(const std::vector<std::string>& with) {
  Result<claims::Places> places = places_of(with);
  if (!places) return places.error();
  Result<claims::Collection> collection = claims::Collection::load(program_data_directory());
  if (!collection) return collection.error();
  for (const auto& [name, path] : *places) {
    const std::vector<std::string> known = collection->named_places();
    if (std::ranges::count(known, name) > 0) continue;
    return not_found(
        fmt::format("--with {}: no claim names '{}'{}", name, name, suggestion(name, known)));
  }
  std::unique_ptr<ClaimsSession> session(new ClaimsSession(*std::move(collection)));
  session->lookups_.emplace(claims::Surroundings{session->catalogs_.methods(),
                                                 session->catalogs_.datasets(),
                                                 session->catalogs_.metrics(), *std::move(places)});
  return session;
}

Status ClaimsSession::use_store(const GlobalOptions& global) {
  const std::string path = global.store.empty() ? kClaimsStore : global.store;
  std::error_code error;
  if (!std::filesystem::exists(path, error)) {
    if (global.store.empty()) return {};
    return not_found(fmt::format("there is no store '{}' (--store)", path));
  }
  Result<store::Reader> reader = store::Reader::open(path, {.foreign = global.foreign});
  if (!reader) return reader.error();
  reader_.emplace(*std::move(reader));
  Result<claims::StoredResults> results = claims::StoredResults::read(*reader_);
  if (!results) return results.error();
  results_.emplace(*std::move(results));
  store_name_ = std::filesystem::path(path).filename().string();
  return {};
}

Result<std::vector<claims::Finding>> ClaimsSession::evaluate(
    const std::vector<const claims::Claim*>& claims) {
  claims::Evaluator evaluator(*lookups_, results_ ? &*results_ : nullptr);
  std::vector<claims::Finding> findings;
  for (const claims::Claim* claim : claims) {
    Result<claims::Finding> finding = evaluator.evaluate(*claim);
    if (!finding) return finding.error();
    findings.push_back(*std::move(finding));
  }
  return findings;
}

}  // namespace qfs::cli
