// The footnotes of a table: what its marks and words mean, and what a reader would otherwise have
// to guess. Plain text. Called by build_table. Thread-safe, but where a reader is given.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "harness/store/reader.h"
#include "reports/layout.h"
#include "reports/sweep_facts.h"
#include "reports/table.h"

namespace qfs::reports {

/// Marks and spreads that the table shows.
std::vector<std::string> table_notes(const Table& table);

/// What "–" under a parameter means, and who reads whole documents where others are cut, which need
/// not show in any axis.
std::vector<std::string> absence_notes(const SweepFacts& facts, const Layout& layout);

/// By whose rules methods with a `profile` compute, where no axis shows it.
std::vector<std::string> profile_notes(const SweepFacts& facts, const Layout& layout);

/// To whom the seed does not matter.
std::vector<std::string> seed_notes(const SweepFacts& facts, const Layout& layout);

/// Says that outputs are empty; empty where none is. `scored`: how many texts were after
/// postprocessing, in the score where they are most.
std::string empty_note(const PlaceFacts& place, int64_t outputs, int64_t scored);

/// Of a place that waits for a training which failed; else nothing.
Result<std::string> failed_training_note(store::Reader& reader, const PlaceFacts& place);

/// What its trainings warn of; empty where they do not.
Result<std::string> warning_note(store::Reader& reader, const PlaceFacts& place);

/// Says that it was computed in other batches than the sweep's, after those ran out of memory;
/// empty where not.
Result<std::string> batch_note(store::Reader& reader, const PlaceFacts& place);

/// Outputs by result that came out differently when they were computed again, however often.
Result<std::map<store::ResultId, int64_t>> conflicts_by_result(store::Reader& reader);

std::string conflict_note(const PlaceFacts& place, int64_t count);

}  // namespace qfs::reports
