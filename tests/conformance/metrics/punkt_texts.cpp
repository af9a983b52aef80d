#include "tests/conformance/metrics/punkt_texts.h"

#include <array>

#include "harness/core/byte_source.h"

namespace qfs::test {
namespace {

/// Strings of a JSON value in the order of the file, keys left out.
struct Strings : nlohmann::json_sax<nlohmann::json> {
  std::vector<std::string>* texts = nullptr;
  bool null() override { return true; }
  bool boolean(bool /*value*/) override { return true; }
  bool number_integer(number_integer_t /*value*/) override { return true; }
  bool number_unsigned(number_unsigned_t /*value*/) override { return true; }
  bool number_float(number_float_t /*value*/, const string_t& /*text*/) override { return true; }
  bool string(string_t& value) override {
    texts->push_back(value);
    return true;
  }
  bool binary(binary_t& /*value*/) override { return true; }
  bool start_object(std::size_t /*size*/) override { return true; }
  bool key(string_t& /*key*/) override { return true; }
  bool end_object() override { return true; }
  bool start_array(std::size_t /*size*/) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(std::size_t at, const std::string& /*token*/,
                   const nlohmann::detail::exception& error) override {
    ADD_FAILURE() << "byte " << at << ": " << error.what();
    return false;
  }
};

std::string whole_file(const std::string& path) {
  std::string text;
  auto source = open_byte_source(path);
  if (!source.ok()) return text;
  std::array<char, 1 << 16> buffer;
  while (true) {
    const Result<size_t> size = (*source)->read(buffer);
    if (!size.ok() || *size == 0) return text;
    text.append(buffer.data(), *size);
  }
}

}  // namespace

std::shared_ptr<const metrics::PunktModel> small_punkt_model() {
  const nlohmann::json model = expected_values("punkt_texts.json").at("model");
  metrics::PunktTables tables;
  model.at("abbreviations").get_to(tables.abbreviations);
  model.at("collocations").get_to(tables.collocations);
  model.at("sentence_starters").get_to(tables.sentence_starters);
  model.at("orthography").get_to(tables.orthography);
  return std::make_shared<metrics::PunktModel>(tables);
}

std::vector<std::string> generated_punkt_texts() {
  const nlohmann::json all = expected_values("punkt_expected.json");
  const nlohmann::json pieces = expected_values("punkt_texts.json");
  SplitMix64 rng(all.at("seed").get<uint64_t>());
  std::vector<std::string> texts;
  for (size_t i = 0; i < all.at("count").get<size_t>(); ++i) {
    std::string text;
    for (size_t left = rng.below(24); left > 0; --left) {
      for (const char* kind : {"pieces", "separators"}) {
        const nlohmann::json& list = pieces.at(kind);
        text += list[rng.below(list.size())].get_ref<const std::string&>();
      }
    }
    texts.push_back(std::move(text));
  }
  return texts;
}

std::vector<std::string> all_strings(const std::string& path) {
  const std::string text = whole_file(path);
  std::vector<std::string> texts;
  Strings strings;
  strings.texts = &texts;
  const bool lines = text.find("}\n{") != std::string::npos;
  if (path.ends_with(".json") && !lines) {
    nlohmann::json::sax_parse(text, &strings);
    return texts;
  }
  const bool json = text.starts_with('{');
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    if (!json) {
      texts.push_back(line);
    } else if (line.find_first_not_of(" \t\r") != std::string::npos) {
      nlohmann::json::sax_parse(line, &strings);
    }
    begin = end + 1;
  }
  if (!json) texts.push_back(text);
  return texts;
}

}  // namespace qfs::test
