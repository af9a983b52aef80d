// Readers and scorer of ROUGE-1.5.5 on arbitrary bytes: no crash, errors with a place, scores in
// 0..1.
#include <cstdlib>

#include "metrics/rouge155/configuration.h"
#include "metrics/rouge155/scorer.h"
#include "metrics/rouge155/summary_form.h"
#include "tests/support/fuzz.h"

namespace r155 = qfs::metrics::rouge155;

namespace {

void check(bool promise) {
  if (!promise) std::abort();
}

void read_files(std::string_view text) {
  const auto configuration = r155::parse_configuration(text, "f");
  if (configuration) {
    for (const r155::Evaluation& one : configuration->evaluations) check(!one.references.empty());
    const size_t before = configuration->evaluations.size();
    check(r155::jackknifed(*configuration).evaluations.size() >= before);
  } else {
    check(configuration.error().where.starts_with("f"));
  }
  const auto list = r155::parse_pair_list(text, "f", r155::InputFormat::spl, "X");
  if (!list) check(list.error().where.starts_with("f:"));
  for (auto format : {r155::InputFormat::spl, r155::InputFormat::see, r155::InputFormat::isi}) {
    for (std::string_view sentence : r155::read_sentences(text, format)) check(!sentence.empty());
  }
}

/// The first bytes choose options, the rest is candidate and reference around a NUL.
void score(std::string_view text) {
  if (text.size() < 4) return;
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  r155::Options options;
  options.max_n = byte(0) % 5;
  options.skip = r155::SkipGrams{byte(1) % 7 - 1, "x", r155::SkipUnigrams::also};
  if (byte(1) & 0x80U) options.weight = r155::Weight{1.2, "1.2"};
  options.limit.unit = static_cast<r155::LimitUnit>(byte(2) % 3);
  options.limit.size = 1 + byte(3) % 32;
  options.formula = byte(3) & 0x80U ? r155::Formula::best : r155::Formula::average;
  auto lexicon = std::make_shared<r155::Lexicon>();
  lexicon->stem = byte(0) & 0x80U;
  const auto form = static_cast<r155::SummaryForm>(byte(0) % 4);
  r155::Scorer scorer(options, lexicon);
  text.remove_prefix(4);
  const size_t middle = std::min(text.find('\0'), text.size());
  const std::string_view right = text.substr(std::min(middle + 1, text.size()));
  std::string storage;
  const r155::Summary candidate =
      scorer.encode(r155::sentences_of(text.substr(0, middle), form, storage));
  const std::vector<r155::Summary> references = {
      scorer.encode(r155::sentences_of(right, form, storage)), candidate};
  const auto counts = scorer.counts(candidate, references);
  if (!counts) return;
  for (size_t v = 0; v < scorer.variants().size(); ++v) {
    const r155::Triple triple = scorer.triple(scorer.variants()[v], (*counts)[v]);
    for (double value : {triple.recall, triple.precision, triple.f}) check(value >= 0);
    if (scorer.variants()[v].kind == r155::Variant::Kind::ngram) check(triple.recall <= 1);
  }
}

}  // namespace

std::vector<std::string> fuzz_seeds() {
  return {
      "<?xml version=\"1.0\"?><ROUGE-EVAL><EVAL ID=\"1\"><PEER-ROOT>p</PEER-ROOT><MODEL-ROOT>m"
      "</MODEL-ROOT><INPUT-FORMAT TYPE=\"SPL\"/><PEERS><P ID=\"a\">x&#65;<!-- c -->y</P></PEERS>"
      "<MODELS><M ID=\"1\">r<![CDATA[&]]></M></MODELS></EVAL></ROUGE-EVAL>",
      "<a size=\"9\" name=\"1\">[1]</a> <a href=\"#1\" id=1>the <unk> cat</a>\n",
      "<S SNTNO=\"1a\">the cat</S>\n", "# list\nc r1 r2\nd r3\n",
      std::string("\x83\x85\x02\x10the arguments of commissioners\nthe cat the cat") + '\0' +
          "an argument of a commission\nthe cat sat"};
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  read_files(text);
  score(text);
  return 0;
}
