// Sentences out of the files that ROUGE-1.5.5 reads: SPL, SEE and ISI.
//
// Called by the evaluation of configuration files and by RougeMetric155. The sentences are views
// into `text`. Any bytes are fine: a line that is not of the format holds no sentence, as upstream.
// Thread-safe; cannot fail.
#pragma once

#include <optional>
#include <string_view>

#include "metrics/rouge155/sentences.h"

namespace qfs::metrics::rouge155 {

enum class InputFormat {
  spl,  ///< one sentence a line
  see,  ///< HTML, one sentence a line: <a name="1">[1]</a> <a href="#1" id=1>TEXT</a>
  isi,  ///< <S SNTNO="1">TEXT</S>, one sentence a line
};

/// "SPL", "SEE" or "ISI", in any case.
std::optional<InputFormat> input_format_named(std::string_view name);

/// SEE and ISI: a sentence ends at the first '<', whoever wrote it, and an empty one is dropped. A
/// SEE line without any '<' keeps its '\n' (seen by -b only).
Sentences read_sentences(std::string_view text, InputFormat format);

}  // namespace qfs::metrics::rouge155
