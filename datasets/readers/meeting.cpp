#include "datasets/readers/meeting.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "harness/core/whole_number.h"

namespace qfs::datasets {
namespace {

std::optional<int64_t> turn_index(const nlohmann::json& value) {
  if (value.is_number_unsigned() && value.get<uint64_t>() > uint64_t{INT32_MAX}) {
    return std::nullopt;
  }
  if (value.is_number_integer()) {
    auto number = value.get<int64_t>();
    return number < 0 ? std::nullopt : std::optional(number);
  }
  if (!value.is_string()) return std::nullopt;
  const auto number = whole_number<int32_t>(value.get_ref<const std::string&>());
  return number && *number >= 0 ? number : std::nullopt;
}

Result<SegmentSpan> decode_span(const nlohmann::json& value, size_t turns, const JsonPlace& place) {
  std::optional<int64_t> first;
  std::optional<int64_t> last;
  if (value.is_array() && value.size() == 2) {
    first = turn_index(value[0]);
    last = turn_index(value[1]);
  }
  if (!first || !last) {
    return data_error("a relevant span must be [\"first\", \"last\"] with two turn numbers from 0",
                      place.to_string());
  }
  if (*first > *last || *last >= static_cast<int64_t>(turns)) {
    return data_error("relevant span " + std::to_string(*first) + " to " + std::to_string(*last) +
                          " is not inside the meeting's turns 0 to " +
                          std::to_string(static_cast<int64_t>(turns) - 1),
                      place.to_string());
  }
  return SegmentSpan{*first, *last};
}

Status decode_queries(const nlohmann::json& value, bool specific, const JsonPlace& place,
                      Meeting& meeting) {
  std::string_view list = specific ? "specific_query_list" : "general_query_list";
  Result<const nlohmann::json*> found = list_member(value, list, place);
  if (!found) return found.error();
  for (size_t i = 0; i < (*found)->size(); ++i) {
    const nlohmann::json& item = (**found)[i];
    JsonPlace here = place / list / i;
    MeetingQuery query;
    query.specific = specific;
    Result<std::string> text = text_member(item, "query", here);
    if (!text) return text.error();
    query.query = *std::move(text);
    text = text_member(item, "answer", here);
    if (!text) return text.error();
    query.answer = *std::move(text);
    if (specific) {
      Result<const nlohmann::json*> spans = list_member(item, "relevant_text_span", here);
      if (!spans) return spans.error();
      for (size_t k = 0; k < (*spans)->size(); ++k) {
        Result<SegmentSpan> span =
            decode_span((**spans)[k], meeting.turns.size(), here / "relevant_text_span" / k);
        if (!span) return span.error();
        query.spans.push_back(*span);
      }
    }
    meeting.queries.push_back(std::move(query));
  }
  return {};
}

}  // namespace

std::optional<MeetingView> meeting_view(std::string_view name) {
  if (name == "whole") return MeetingView::whole;
  if (name == "golden") return MeetingView::golden;
  return std::nullopt;
}

Result<Meeting> decode_meeting(const nlohmann::json& value, std::string id,
                               const JsonPlace& place) {
  Meeting meeting;
  meeting.id = std::move(id);
  Result<const nlohmann::json*> turns = list_member(value, "meeting_transcripts", place);
  if (!turns) return turns.error();
  meeting.turns.reserve((*turns)->size());
  for (size_t i = 0; i < (*turns)->size(); ++i) {
    JsonPlace here = place / "meeting_transcripts" / i;
    Result<std::string> speaker = text_member((**turns)[i], "speaker", here);
    if (!speaker) return speaker.error();
    Result<std::string> content = text_member((**turns)[i], "content", here);
    if (!content) return content.error();
    meeting.turns.push_back({*std::move(content), *std::move(speaker)});
  }
  for (bool specific : {false, true}) {
    Status decoded = decode_queries(value, specific, place, meeting);
    if (!decoded) return decoded.error();
  }
  return meeting;
}

void apply_text_form(const TextForm& form, Meeting& meeting) {
  for (Segment& turn : meeting.turns) {
    turn.speaker = form.speaker(turn.speaker);
    turn.text = form.turn(turn.text);
  }
  for (MeetingQuery& query : meeting.queries) {
    query.query = form.query(query.query);
    query.answer = form.reference(query.answer);
  }
}

void append_examples(const Meeting& meeting, MeetingView view, std::vector<Example>& examples) {
  int general = 0;
  int specific = 0;
  for (const MeetingQuery& query : meeting.queries) {
    Example example;
    example.key = meeting.id + (query.specific ? "/s" + std::to_string(++specific)
                                               : "/g" + std::to_string(++general));
    example.document_id = meeting.id;
    example.group = example.key;
    example.language = "en";
    example.query = query.query;
    example.references = {query.answer};
    example.extra.text =
        query.specific ? R"({"query_kind":"specific"})" : R"({"query_kind":"general"})";
    if (view == MeetingView::golden && query.specific) {
      for (const SegmentSpan& span : query.spans) {
        auto start = static_cast<int64_t>(example.document.size());
        example.document.insert(example.document.end(), meeting.turns.begin() + span.first,
                                meeting.turns.begin() + span.last + 1);
        example.evidence.push_back({start, static_cast<int64_t>(example.document.size()) - 1});
      }
    } else {
      example.document = meeting.turns;
      example.evidence = query.spans;
    }
    examples.push_back(std::move(example));
  }
}

}  // namespace qfs::datasets
