// arXiv and PubMed papers with their abstracts (Cohan et al., NAACL 2018), in the JSON lines that
// the authors gave out: sentences of the article, "<S> … </S>" sentences of the abstract.
#include <nlohmann/json.hpp>

#include "datasets/readers/file_set.h"
#include "datasets/readers/json_lines.h"
#include "harness/core/text/unicode.h"

namespace qfs::datasets {
namespace {

/// An article or abstract with no more characters is left out by DYLE's release.
constexpr size_t kTooShort = 3;

/// "<S> text </S>" without its marks.
std::string unmarked(std::string_view sentence) {
  constexpr std::string_view kOpen = "<S>";
  constexpr std::string_view kClose = "</S>";
  if (sentence.starts_with(kOpen)) sentence.remove_prefix(kOpen.size());
  if (sentence.ends_with(kClose)) sentence.remove_suffix(kClose.size());
  while (sentence.starts_with(' ')) sentence.remove_prefix(1);
  while (sentence.ends_with(' ')) sentence.remove_suffix(1);
  return std::string(sentence);
}

Result<Example> decode_paper(const nlohmann::json& value, const JsonPlace& place) {
  Example example;
  example.language = "en";
  Result<std::string> id = text_member(value, "article_id", place);
  if (!id) return id.error();
  example.key = *std::move(id);
  Result<std::vector<std::string>> article = texts_member(value, "article_text", place);
  if (!article) return article.error();
  for (std::string& sentence : *article) example.document.push_back({std::move(sentence), ""});
  Result<std::vector<std::string>> abstract = texts_member(value, "abstract_text", place);
  if (!abstract) return abstract.error();
  for (std::string& sentence : *abstract) sentence = unmarked(sentence);
  example.references = {joined(*abstract, "\n")};
  return example;
}

FileSet papers_of(const std::string& archive, const std::string& doc) {
  return {.info = {.name = archive + "-summarization",
                   .doc = doc,
                   .licence = "none stated; texts: their authors",
                   .splits = {"test", "train", "val"},
                   .views = {"whole"},
                   .text_forms = {"raw", "dyle"}},
          .reader = "scientific_papers@1",
          .examples =
              [archive](SetFiles& files, const DatasetRequest& request) {
                return read_lines(files, archive + "-dataset/" + request.split + ".txt",
                                  decode_paper);
              },
          .folder = "scientific_papers",
          .layout = archive + "-dataset/train.txt, val.txt and test.txt of the authors' archive",
          .source = "https://github.com/armancohan/long-summarization",
          .left_out =
              [](const Example& paper, const Example&) {
                size_t characters = 0;
                for (const Segment& sentence : paper.document) {
                  characters += (characters > 0 ? 1 : 0) + to_code_points(sentence.text).size();
                }
                return characters <= kTooShort ||
                       to_code_points(paper.references.front()).size() <= kTooShort;
              }};
}

}  // namespace

std::vector<FileSet> scientific_papers_sets() {
  return {papers_of("arxiv", "papers of arXiv and their abstracts, without queries"),
          papers_of("pubmed", "papers of PubMed and their abstracts, without queries")};
}

}  // namespace qfs::datasets
