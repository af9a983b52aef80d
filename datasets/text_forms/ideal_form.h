// The `ideal` text form: the QMSum preprocessing of the released IDEAL code.
//
// Turns and queries: lower case, word tokens joined by one blank, the marks { vocalsound }
// { disfmarker } { comment } { pause } { nonvocalsound } { gap } deleted, a_m_i_ l_c_d_ p_m_s t_v_
// rewritten to ami lcd pms tv. References: lower case and word tokens only. Speakers: lower case.
// Source: arXiv 2407.10486 and its released preprocessing. Thread-safe, cannot fail.
#pragma once

#include <string>
#include <string_view>

namespace qfs::datasets {

std::string ideal_speaker(std::string_view speaker);
std::string ideal_text(std::string_view turn_or_query);
std::string ideal_reference(std::string_view reference);

}  // namespace qfs::datasets
