#include "datasets/predictions/plain_prediction.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>
#include <vector>

#include "datasets/python_list.h"
#include "harness/core/json_events.h"

namespace qfs::datasets {
namespace {

constexpr size_t kLongestNumber = 18;  // digits that surely fit into 64 bits

enum Field { kId, kGroup, kCluster, kLanguage, kPrediction, kReferences, kDocument, kQuery, kNone };

using Names = std::array<std::string_view, kNone>;

Names names_of(const PredictionFields& fields) {
  return {fields.id,         fields.group,      fields.cluster,  fields.language,
          fields.prediction, fields.references, fields.document, fields.query};
}

unsigned bit(Field field) { return 1U << field; }

unsigned required_of(const PredictionFields& fields) {
  constexpr std::array<const char*, kNone> kOurs = {
      "id", "group", "cluster", "language", "prediction", "references", "document", "query"};
  unsigned required = 0;
  for (size_t i = 0; i < kOurs.size(); ++i) {
    if (fields.required.contains(kOurs[i])) required |= bit(static_cast<Field>(i));
  }
  return required;
}

class Record final : public JsonEvents {
 public:
  explicit Record(const PredictionFields& fields) : names_(names_of(fields)) {}

  /// Whether every required field was there.
  bool complete(unsigned required) const { return (required & ~seen_) == 0; }
  PredictionRecord take() { return std::move(record_); }

  bool open_object() override { return ++depth_ == 1; }
  bool open_array() override {
    if (depth_ == 0) return false;
    ++depth_;
    if (depth_ > 2) return field_ == kNone;
    if (field_ == kReferences) record_.references.emplace();
    if (field_ == kDocument) record_.document.emplace();
    return field_ == kNone || field_ == kReferences || field_ == kDocument;
  }
  bool close() override {
    --depth_;
    return true;
  }

  bool key(std::string_view name) override {
    if (name.empty()) return false;  // which stands for a field that the record has not
    const auto found = std::ranges::find(names_, name);
    field_ = static_cast<Field>(found - names_.begin());
    if (field_ != kNone) {
      const bool again = (seen_ & bit(field_)) != 0;
      seen_ |= bit(field_);
      return !again;
    }
    if (std::ranges::find(others_, name) != others_.end()) return false;
    others_.push_back(name);
    return true;
  }

  bool null() override { return depth_ == 1 || (depth_ > 1 && field_ == kNone); }
  bool boolean(bool /*value*/) override { return depth_ > 0 && field_ == kNone; }
  bool number(std::string_view digits) override {
    if (depth_ == 0) return false;
    // The careful reader refuses numbers beyond its types; these are none.
    if (digits.size() > kLongestNumber || digits.find_first_of("eE") != digits.npos) return false;
    if (field_ == kNone) return true;
    const bool whole = digits.find_first_not_of("0123456789") == digits.npos;
    if (depth_ != 1 || field_ > kLanguage || !whole) return false;
    identifier() = digits;
    return true;
  }

  bool text(std::string_view text) override {
    if (depth_ == 0) return false;
    if (field_ == kNone) return true;
    if (depth_ > 1) return element(text);
    switch (field_) {
      case kPrediction:
        record_.prediction = text;
        return true;
      case kReferences:
        record_.references = {std::string(text)};
        return !parse_python_list(text);
      case kDocument:
        record_.document = text;
        return true;
      case kQuery:
        record_.query = text;
        return true;
      default:
        identifier() = text;
        return true;
    }
  }

 private:
  std::string& identifier() {
    switch (field_) {
      case kGroup:
        return record_.group;
      case kCluster:
        return record_.cluster;
      case kLanguage:
        return record_.language;
      default:
        return record_.id;
    }
  }

  /// Of the list of references, or a line of the document.
  bool element(std::string_view text) {
    if (field_ == kReferences) {
      record_.references->emplace_back(text);
    } else {
      if (std::exchange(document_has_line_, true)) *record_.document += '\n';
      *record_.document += text;
    }
    return true;
  }

  Names names_;
  Field field_ = kNone;
  unsigned seen_ = 0;  ///< a bit for each field
  std::vector<std::string_view> others_;
  size_t depth_ = 0;
  bool document_has_line_ = false;
  PredictionRecord record_;
};

bool plain(const PredictionFields& fields) {
  std::set<std::string_view> distinct;
  for (std::string_view name : names_of(fields)) {
    if (name.starts_with('=') || name.find_first_of("./") != name.npos) return false;
    if (!name.empty() && !distinct.insert(name).second) return false;
  }
  return true;
}

}  // namespace

PlainPredictionReader::PlainPredictionReader(const PredictionFields& fields)
    : fields_(fields), required_(required_of(fields)), usable_(plain(fields)) {}

std::optional<PredictionRecord> PlainPredictionReader::read(std::string_view line, int64_t number,
                                                            const std::string& where) {
  if (!usable_ || line.find('\0') != line.npos) return std::nullopt;
  Record events(fields_);
  if (!scan_json(line, scratch_, events) || !events.complete(required_)) return std::nullopt;
  PredictionRecord record = events.take();
  record.numbered = record.id.empty();
  if (record.numbered) record.id = std::to_string(number);
  record.where = where;
  return record;
}

}  // namespace qfs::datasets
