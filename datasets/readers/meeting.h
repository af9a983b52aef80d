// Meetings in QMSum's format: turns, general queries about the whole meeting and specific queries
// with the spans of turns that answer them.
//
// Shared by the readers of QMSum and of the bundled meetings. Source of the format: Zhong et al.,
// "QMSum", NAACL 2021, and its public repository. Thread-safe; a malformed meeting is a `data`
// error with its place.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/json_access.h"
#include "datasets/text_forms/text_form.h"
#include "harness/api/example.h"
#include "harness/api/result.h"

namespace qfs::datasets {

struct MeetingQuery {
  std::string query;
  std::string answer;
  bool specific = false;           ///< a general query asks about the whole meeting
  std::vector<SegmentSpan> spans;  ///< relevant turns, in the data's order; may overlap
};

struct Meeting {
  std::string id;
  std::vector<Segment> turns;
  std::vector<MeetingQuery>
      queries;  ///< general ones first, as the paper's preprocessing orders them
};

enum class MeetingView {
  whole,   ///< the whole transcript for every query
  golden,  ///< specific queries: the turns of their spans in order, overlaps repeated; general:
           ///< whole
};

/// The view named "whole" or "golden".
std::optional<MeetingView> meeting_view(std::string_view name);

/// Reads one meeting. Spans must be inside the transcript.
Result<Meeting> decode_meeting(const nlohmann::json& value, std::string id, const JsonPlace& place);

/// Rewrites every part of the meeting; turns keep their number.
void apply_text_form(const TextForm& form, Meeting& meeting);

/// Appends one example per query: key "<meeting>/g1" or "<meeting>/s1" (from 1, per kind),
/// document_id the meeting, evidence the spans of specific queries as indices into the example's
/// document.
void append_examples(const Meeting& meeting, MeetingView view, std::vector<Example>& examples);

}  // namespace qfs::datasets
