#include <unicode/unorm2.h>

#include <optional>
#include <utility>

#include "methods/models/tokenizers/pipeline/lower_case.h"
#include "methods/models/tokenizers/pipeline/normalizer.h"

namespace qfs::tokenizers {

namespace {

/// The composition of Unicode (UAX #15) over changes, which add up: a composed character stands for
/// all that went into it.
class Composer {
 public:
  std::vector<Change> compose(const std::vector<Change>& parts) {
    for (const Change& part : parts) add(part);
    finish();
    return std::move(result_);
  }

 private:
  void add(const Change& part) {
    const uint8_t part_class = combining_class(part.code_point);
    if (!starter_) {
      if (part_class != 0) {
        result_.push_back(part);
      } else {
        starter_ = part;
      }
      return;
    }
    const bool blocked = last_class_ && *last_class_ >= part_class;
    if (!blocked) {
      const UChar32 composed =
          unorm2_composePair(tables_, static_cast<UChar32>(starter_->code_point),
                             static_cast<UChar32>(part.code_point));
      if (composed >= 0 && assigned_in(static_cast<char32_t>(composed), 9)) {
        starter_ = Change{static_cast<char32_t>(composed), starter_->change + part.change - 1};
        return;
      }
    }
    if (part_class == 0) {
      finish();
      starter_ = part;
      return;
    }
    marks_.push_back(part);
    last_class_ = part_class;
  }

  void finish() {
    if (starter_) result_.push_back(*starter_);
    result_.insert(result_.end(), marks_.begin(), marks_.end());
    starter_.reset();
    marks_.clear();
    last_class_.reset();
  }

  UErrorCode error_ = U_ZERO_ERROR;
  const UNormalizer2* tables_ = unorm2_getNFCInstance(&error_);
  std::vector<Change> result_;
  std::optional<Change> starter_;
  std::vector<Change> marks_;
  std::optional<uint8_t> last_class_;
};

class UnicodeFormNormalizer final : public Normalizer {
 public:
  explicit UnicodeFormNormalizer(UnicodeForm form) : form_(form) {}

  void apply(AlignedText& text) const override {
    if (is_ascii(text.text())) return;
    const bool compatibility = form_ == UnicodeForm::nfkc || form_ == UnicodeForm::nfkd;
    std::vector<Change> changes = decomposed(text.text(), compatibility);
    if (form_ == UnicodeForm::nfc || form_ == UnicodeForm::nfkc) {
      changes = Composer().compose(changes);
    }
    text.transform(changes);
  }

 private:
  UnicodeForm form_;
};

}  // namespace

NormalizerPtr make_unicode_form(UnicodeForm form) {
  return std::make_shared<const UnicodeFormNormalizer>(form);
}

}  // namespace qfs::tokenizers
