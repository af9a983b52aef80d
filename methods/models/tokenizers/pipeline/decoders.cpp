#include <charconv>
#include <optional>
#include <utility>

#include "harness/core/utf8.h"
#include "methods/models/tokenizers/bpe/byte_alphabet.h"
#include "methods/models/tokenizers/pipeline/decoder.h"

namespace qfs::tokenizers {

namespace {

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  if (from.empty()) return;
  for (size_t at = text.find(from); at != text.npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

/// Takes away the space before punctuation and English contractions.
void clean_up(std::string& text, bool negations) {
  constexpr std::pair<std::string_view, std::string_view> kRules[] = {
      {" .", "."},   {" ?", "?"},     {" !", "!"},     {" ,", ","},
      {" ' ", "'"},  {" n't", "n't"}, {" 'm", "'m"},   {" do not", " don't"},
      {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"},
  };
  for (const auto& [from, to] : kRules) {
    if (negations || from != " do not") replace_all(text, from, to);
  }
}

class ByteLevelDecoder final : public Decoder {
 public:
  void apply(std::vector<std::string>& pieces) const override {
    for (std::string& piece : pieces) piece = alphabet_bytes(piece);
  }
};

class WordPieceDecoder final : public Decoder {
 public:
  WordPieceDecoder(std::string prefix, bool cleanup)
      : prefix_(std::move(prefix)), cleanup_(cleanup) {}
  void apply(std::vector<std::string>& pieces) const override {
    for (size_t i = 0; i < pieces.size(); ++i) {
      if (i > 0 && pieces[i].starts_with(prefix_)) {
        pieces[i].erase(0, prefix_.size());
      } else if (i > 0) {
        pieces[i].insert(0, " ");
      }
      if (cleanup_) clean_up(pieces[i], true);
    }
  }

 private:
  std::string prefix_;
  bool cleanup_;
};

class MetaspaceDecoder final : public Decoder {
 public:
  MetaspaceDecoder(std::string replacement, PrependScheme scheme)
      : replacement_(std::move(replacement)), scheme_(scheme) {}
  void apply(std::vector<std::string>& pieces) const override {
    for (size_t i = 0; i < pieces.size(); ++i) {
      const bool first = i == 0 && scheme_ != PrependScheme::never;
      replace_all(pieces[i], replacement_, first ? "" : " ");
    }
  }

 private:
  std::string replacement_;
  PrependScheme scheme_;
};

class BpeDecoder final : public Decoder {
 public:
  explicit BpeDecoder(std::string suffix) : suffix_(std::move(suffix)) {}
  void apply(std::vector<std::string>& pieces) const override {
    for (size_t i = 0; i < pieces.size(); ++i) {
      replace_all(pieces[i], suffix_, i + 1 == pieces.size() ? "" : " ");
    }
  }

 private:
  std::string suffix_;
};

/// The byte of "<0xE4>".
std::optional<char> byte_of(std::string_view piece) {
  if (piece.size() != 6 || !piece.starts_with("<0x") || piece.back() != '>') return std::nullopt;
  unsigned value = 0;
  const auto [end, error] = std::from_chars(piece.data() + 3, piece.data() + 5, value, 16);
  if (error != std::errc() || end != piece.data() + 5) return std::nullopt;
  return static_cast<char>(value);
}

/// Runs of "<0xE4>" become their text; one that is not UTF-8 becomes U+FFFD for each of its bytes.
class ByteFallbackDecoder final : public Decoder {
 public:
  void apply(std::vector<std::string>& pieces) const override {
    constexpr std::string_view kReplacement = "\uFFFD";
    std::vector<std::string> decoded;
    std::string run;
    const auto end_run = [&] {
      if (run.empty()) return;
      if (!first_ill_formed_utf8(run)) {
        decoded.push_back(run);
      } else {
        for (size_t i = 0; i < run.size(); ++i) decoded.emplace_back(kReplacement);
      }
      run.clear();
    };
    for (std::string& piece : pieces) {
      if (const auto byte = byte_of(piece)) {
        run += *byte;
        continue;
      }
      end_run();
      decoded.push_back(std::move(piece));
    }
    end_run();
    pieces = std::move(decoded);
  }
};

class FuseDecoder final : public Decoder {
 public:
  void apply(std::vector<std::string>& pieces) const override {
    std::string text;
    for (const std::string& piece : pieces) text += piece;
    pieces.assign(1, std::move(text));
  }
};

class CleanUpDecoder final : public Decoder {
 public:
  void apply(std::vector<std::string>& pieces) const override {
    FuseDecoder().apply(pieces);
    clean_up(pieces.front(), false);
  }
};

class StripDecoder final : public Decoder {
 public:
  StripDecoder(std::string content, int64_t start, int64_t stop)
      : content_(std::move(content)), start_(start), stop_(stop) {}
  void apply(std::vector<std::string>& pieces) const override {
    for (std::string& piece : pieces) {
      for (int64_t i = 0; i < start_ && piece.starts_with(content_); ++i) {
        piece.erase(0, content_.size());
      }
      for (int64_t i = 0; i < stop_ && piece.ends_with(content_); ++i) {
        piece.erase(piece.size() - content_.size());
      }
    }
  }

 private:
  std::string content_;
  int64_t start_;
  int64_t stop_;
};

class ReplaceDecoder final : public Decoder {
 public:
  ReplaceDecoder(PatternPtr pattern, std::string content)
      : pattern_(std::move(pattern)), content_(std::move(content)) {}
  void apply(std::vector<std::string>& pieces) const override {
    for (std::string& piece : pieces) {
      std::vector<Match> matches;
      pattern_->find(piece, matches);
      std::string text;
      for (const Match& match : matches) {
        text += match.matched ? content_ : piece.substr(match.begin, match.end - match.begin);
      }
      piece = std::move(text);
    }
  }

 private:
  PatternPtr pattern_;
  std::string content_;
};

class DecoderSequence final : public Decoder {
 public:
  explicit DecoderSequence(std::vector<DecoderPtr> parts) : parts_(std::move(parts)) {}
  void apply(std::vector<std::string>& pieces) const override {
    for (const DecoderPtr& part : parts_) part->apply(pieces);
  }

 private:
  std::vector<DecoderPtr> parts_;
};

}  // namespace

DecoderPtr make_byte_level_decoder() { return std::make_shared<const ByteLevelDecoder>(); }
DecoderPtr make_word_piece_decoder(std::string prefix, bool cleanup) {
  return std::make_shared<const WordPieceDecoder>(std::move(prefix), cleanup);
}
DecoderPtr make_metaspace_decoder(std::string replacement, PrependScheme scheme) {
  return std::make_shared<const MetaspaceDecoder>(std::move(replacement), scheme);
}
DecoderPtr make_bpe_decoder(std::string suffix) {
  return std::make_shared<const BpeDecoder>(std::move(suffix));
}
DecoderPtr make_byte_fallback_decoder() { return std::make_shared<const ByteFallbackDecoder>(); }
DecoderPtr make_clean_up_decoder() { return std::make_shared<const CleanUpDecoder>(); }
DecoderPtr make_fuse_decoder() { return std::make_shared<const FuseDecoder>(); }
DecoderPtr make_strip_decoder(std::string content, int64_t start, int64_t stop) {
  return std::make_shared<const StripDecoder>(std::move(content), start, stop);
}
DecoderPtr make_replace_decoder(PatternPtr pattern, std::string content) {
  return std::make_shared<const ReplaceDecoder>(std::move(pattern), std::move(content));
}
DecoderPtr make_decoder_sequence(std::vector<DecoderPtr> parts) {
  return std::make_shared<const DecoderSequence>(std::move(parts));
}

}  // namespace qfs::tokenizers
