#include "methods/models/tokenizers/sentence_piece/sentence_piece_layout.h"

#include <span>
#include <string_view>

#include "methods/models/tokenizers/settings/language_frame.h"

namespace qfs::tokenizers {

namespace {

/// In the order of their ids. mBART has the first 25, mBART-50 all.
constexpr std::string_view kLanguages[] = {
    "ar_AR", "cs_CZ", "de_DE", "en_XX", "es_XX", "et_EE", "fi_FI", "fr_XX", "gu_IN",
    "hi_IN", "it_IT", "ja_XX", "kk_KZ", "ko_KR", "lt_LT", "lv_LV", "my_MM", "ne_NP",
    "nl_XX", "ro_RO", "ru_RU", "si_LK", "tr_TR", "vi_VN", "zh_CN", "af_ZA", "az_AZ",
    "bn_IN", "fa_IR", "he_IL", "hr_HR", "id_ID", "ka_GE", "km_KH", "mk_MK", "ml_IN",
    "mn_MN", "mr_IN", "pl_PL", "ps_AF", "pt_XX", "sv_SE", "sw_KE", "ta_IN", "te_IN",
    "th_TH", "tl_XX", "uk_UA", "ur_PK", "xh_ZA", "gl_ES", "sl_SI"};
constexpr size_t kMbartLanguages = 25;

constexpr int32_t kPegasusOffset = 103;

/// <pad>, </s>, two masks and <unk_2> to <unk_102>; the file's own <pad> and </s> are its first.
/// transformers 5.23 comes to 102 tokens where special_tokens_map.json lists <mask_1>; the models
/// and transformers 4 have 103.
SentencePieceLayout pegasus_layout() {
  SentencePieceLayout layout;
  layout.shift = kPegasusOffset;
  layout.moved = {{0, 0}, {1, 1}};
  layout.special = {
      {"<pad>", 0}, {"</s>", 1}, {"<mask_1>", 2}, {"<mask_2>", 3}, {"<unk>", kPegasusOffset + 2}};
  for (int32_t i = 2; i < kPegasusOffset; ++i) {
    layout.special.emplace("<unk_" + std::to_string(i) + ">", i + 2);
  }
  layout.after = {1};
  layout.end = 1;
  return layout;
}

/// fairseq's four tokens in another order than the file's three, then pieces, languages, <mask>.
SentencePieceLayout mbart_layout(std::span<const std::string_view> languages, int32_t pieces) {
  SentencePieceLayout layout;
  layout.shift = 1;
  layout.moved = {{0, 3}, {1, 0}, {2, 2}};
  layout.special = {{"<s>", 0}, {"<pad>", 1}, {"</s>", 2}, {"<unk>", 3}};
  int32_t next = pieces + 1;
  for (const std::string_view language : languages) layout.special.emplace(language, next++);
  layout.special.emplace("<mask>", next);
  layout.end = 2;
  return layout;
}

}  // namespace

Result<std::optional<SentencePieceLayout>> sentence_piece_layout(const TokenizerConfig& config,
                                                                 int32_t pieces) {
  const std::string_view name = config.base_class();
  if (name == "PegasusTokenizer") {
    if (config.offset.value_or(kPegasusOffset) == kPegasusOffset) {
      return std::optional(pegasus_layout());
    }
    return unavailable("a PegasusTokenizer of the offset " + std::to_string(*config.offset) +
                       " without tokenizer.json; this program knows the models of offset " +
                       std::to_string(kPegasusOffset));
  }
  const std::optional<LanguageFrame> frame = language_frame(config);
  if (!frame) return std::optional<SentencePieceLayout>();
  const std::span<const std::string_view> languages(kLanguages);
  SentencePieceLayout layout =
      mbart_layout(frame->language_first ? languages : languages.first(kMbartLanguages), pieces);
  const auto found = layout.special.find(frame->language);
  if (found == layout.special.end() || found->second <= pieces) {
    return data_error("src_lang '" + frame->language + "' is no language of " + std::string(name));
  }
  layout.before = frame->before(found->second);
  layout.after = frame->after(found->second, layout.special.find(kSourceEnd)->second);
  return std::optional(std::move(layout));
}

}  // namespace qfs::tokenizers
