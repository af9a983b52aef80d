// Arbitrary bytes as meetings, one a line, in every view and form: no crash, spans inside the
// document, errors with a place.
#include <cstdlib>

#include "datasets/readers/qmsum.h"
#include "tests/support/fuzz.h"

std::vector<std::string> fuzz_seeds() {
  return {R"({"topic_list": [], "general_query_list": [{"query": "All?", "answer": "Yes."}], )"
          R"("specific_query_list": [{"query": "L_C_D_?", "answer": "It's 3,000.", )"
          R"("relevant_text_span": [["0", "1"], ["1", "1"]]}], "meeting_transcripts": [)"
          R"({"speaker": "A", "content": "{pause} don't. \"So\" gonna (x) e.g. 5. --"}, )"
          R"({"speaker": "B \u00c9", "content": "\u201cok\u201d ...'tis cannot"}]})"};
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace qfs::datasets;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  qfs::Result<std::vector<Meeting>> meetings = parse_meeting_lines(text, "m", "f");
  if (!meetings) {
    if (!meetings.error().where.starts_with("f:")) std::abort();
    return 0;
  }
  for (Meeting& meeting : *meetings) {
    for (const char* form : {"raw", "ideal", "dyle"}) {
      apply_text_form(*find_text_form(form), meeting);
      std::vector<qfs::Example> examples;
      append_examples(meeting, MeetingView::whole, examples);
      append_examples(meeting, MeetingView::golden, examples);
      for (const qfs::Example& example : examples) {
        for (const qfs::SegmentSpan& span : example.evidence) {
          auto segments = static_cast<int64_t>(example.document.size());
          if (span.first < 0 || span.last < span.first || span.last >= segments) std::abort();
        }
      }
    }
  }
  return 0;
}
