// SummaryForm: how a text in memory becomes the sentences that a wrapper would have given to the
// Perl script, and in which order the script would then draw the items.
//
// Called by RougeMetric155. Pure; thread-safe; any bytes; cannot fail.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "metrics/rouge155/sentences.h"

namespace qfs::metrics::rouge155 {

enum class SummaryForm {
  lines,        ///< one sentence a line (SPL)
  see,          ///< pyrouge: lines put into SEE as they are, so that '<' ends a sentence
  see_escaped,  ///< the same after '<' and '>' became "&lt;" and "&gt;", which are words then
  files2rouge,  ///< files2rouge d3d09c8: stripped, a sentence ends after " .", then as `see`
};

/// The sentences are views into `text` or, for `see_escaped`, into `storage`.
Sentences sentences_of(std::string_view text, SummaryForm form, std::string& storage);

/// Which item comes i-th among the instances, which are sorted as strings: evaluations are numbered
/// from 1 in the order of the items; files2rouge numbers them in the string order of its files,
/// which count from 0.
std::vector<size_t> instance_order(size_t items, SummaryForm form);

}  // namespace qfs::metrics::rouge155
