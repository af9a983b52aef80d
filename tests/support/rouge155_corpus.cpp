#include "tests/support/rouge155_corpus.h"

namespace qfs::test {
namespace {

constexpr size_t kAllWords = 72;  // of rouge_texts.json; a test compares digests

size_t word_count(SplitMix64& rng) {
  const size_t sizes[] = {5, 20, kAllWords};
  return sizes[rng.below(3)];
}

std::string as_see(const std::string& text) {
  std::string html = "<html>\n<body>\n";
  size_t number = 0;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string i = std::to_string(++number);
    html += "<a name=\"" + i + "\">[" + i + "]</a> <a href=\"#" + i + "\" id=" + i + ">" +
            text.substr(begin, end - begin) + "</a>\n";
    begin = end + 1;
  }
  return html + "</body>\n</html>\n";
}

}  // namespace

std::vector<Rouge155Item> rouge155_corpus(uint64_t seed, bool anchor, size_t evaluations) {
  const RandomTexts texts;
  SplitMix64 rng(seed);
  std::vector<Rouge155Item> items(evaluations);
  for (Rouge155Item& item : items) {
    const size_t words = word_count(rng);
    const size_t count = 1 + rng.below(4);
    for (size_t i = 0; i < count; ++i) {
      item.references.push_back((anchor ? kRouge155Anchor : "") + texts.text(rng, words));
    }
    if (rng.below(6) == 0) item.references.back() = item.references.front();
    for (const std::string& system : kRouge155Systems) {
      std::string text = texts.text(rng, words);
      if (rng.below(8) != 0) item.candidates.emplace_back(system, std::move(text));
    }
  }
  return items;
}

std::vector<std::pair<std::string, std::string>> rouge155_pairs(uint64_t seed, size_t count) {
  const RandomTexts texts;
  SplitMix64 rng(seed);
  std::vector<std::pair<std::string, std::string>> pairs;
  for (size_t i = 0; i < count; ++i) {
    const size_t words = word_count(rng);
    std::string reference = kRouge155Anchor + texts.text(rng, words);
    pairs.emplace_back(std::move(reference), texts.text(rng, words));
  }
  return pairs;
}

std::string write_rouge155_corpus(const TemporaryFolder& folder,
                                  const std::vector<Rouge155Item>& items,
                                  const std::string& format) {
  const auto write = [&](const std::string& name, const std::string& text) {
    folder.write(name, format == "SEE" ? as_see(text) : text);
    return name;
  };
  std::string xml = "<ROUGE-EVAL version=\"1.55\">\n";
  for (size_t i = 0; i < items.size(); ++i) {
    const std::string number = std::to_string(i + 1);
    xml += "<EVAL ID=\"" + number + "\"><PEER-ROOT>" + folder.path() + "</PEER-ROOT>\n" +
           "<MODEL-ROOT>" + folder.path() + "</MODEL-ROOT><INPUT-FORMAT TYPE=\"" + format +
           "\"/>\n<PEERS>";
    for (const auto& [system, text] : items[i].candidates) {
      xml += "<P ID=\"" + system + "\">" + write(number + ".s" + system + ".txt", text) + "</P>";
    }
    xml += "</PEERS>\n<MODELS>";
    for (size_t k = 0; k < items[i].references.size(); ++k) {
      const std::string id = std::to_string(k);
      xml += "<M ID=\"" + id + "\">" + write(number + ".m" + id + ".txt", items[i].references[k]) +
             "</M>";
    }
    xml += "</MODELS></EVAL>\n";
  }
  return folder.write("config.xml", xml + "</ROUGE-EVAL>\n");
}

}  // namespace qfs::test
