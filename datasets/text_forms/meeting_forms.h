// The text forms `ideal` and `dyle`: what the released code of two papers makes of QMSum's text.
//
// Turns and queries: lower case, word tokens joined by one blank, noise marks deleted and
// a_m_i_ l_c_d_ p_m_s t_v_ rewritten to ami lcd pms tv. References: lower case and word tokens
// only. Speakers: lower case. The forms differ in the marks: both delete { vocalsound }
// { disfmarker } { pause } { nonvocalsound } { gap }, `ideal` also { comment }.
// Sources: arXiv 2407.10486 (IDEAL) and arXiv 2110.08168 (DYLE) with their released preprocessing.
// Thread-safe, cannot fail.
#pragma once

#include <string>
#include <string_view>

namespace qfs::datasets {

std::string lower_cased_speaker(std::string_view speaker);
std::string ideal_text(std::string_view turn_or_query);
std::string dyle_text(std::string_view turn_or_query);
std::string lower_cased_tokens(std::string_view reference);

}  // namespace qfs::datasets
