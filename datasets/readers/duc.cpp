// DUC 2005 to 2007, main task: a topic with a question, a cluster of newswire documents and model
// summaries of several people, in the files that NIST gives out to those who signed for them.
//
// topics.sgml has <topic> elements with <num>, <title> and <narr>; docs/NUM/* are articles with
// <TEXT>; models/NUM.M.LENGTH.SELECTOR.WRITER are the summaries, NUM without its last letter.
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "datasets/readers/file_set.h"
#include "datasets/readers/json_lines.h"
#include "datasets/segments.h"
#include "datasets/text_lines.h"

namespace qfs::datasets {
namespace {

/// A part of a text in SGML, which knows where it stands.
struct Sgml {
  std::string_view whole;
  std::string_view part;
  const std::string& path;

  std::string place() const {
    return line_place(whole, static_cast<size_t>(part.data() - whole.data()), path);
  }
};

/// What stands between <tag> and </tag> from `from` on, which moves behind it; std::nullopt when
/// there is no <tag>.
Result<std::optional<Sgml>> next_sgml_element(const Sgml& in, const std::string& tag,
                                              size_t& from) {
  const std::string open = "<" + tag + ">";
  const size_t begin = in.part.find(open, from);
  if (begin == std::string_view::npos) return std::optional<Sgml>();
  const size_t inside = begin + open.size();
  const size_t end = in.part.find("</" + tag + ">", inside);
  if (end == std::string_view::npos) {
    return data_error(open + " is never closed",
                      Sgml{in.whole, in.part.substr(begin), in.path}.place());
  }
  from = end + tag.size() + 3;
  return std::optional(Sgml{in.whole, in.part.substr(inside, end - inside), in.path});
}

Result<std::vector<Sgml>> sgml_elements(const Sgml& in, const std::string& tag) {
  std::vector<Sgml> found;
  for (size_t from = 0;;) {
    Result<std::optional<Sgml>> element = next_sgml_element(in, tag, from);
    if (!element) return element.error();
    if (!element->has_value()) return found;
    found.push_back(**element);
  }
}

/// Whatever the case: newswire has &AMP;, too. `lower` is in lower case.
bool begins_with(std::string_view text, std::string_view lower) {
  return text.size() >= lower.size() &&
         std::ranges::equal(text.substr(0, lower.size()), lower, {}, [](unsigned char c) {
           return static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
         });
}

/// Tags go, entities of markup are their characters, white space of any length is one blank.
std::string sgml_text(std::string_view text) {
  static constexpr std::pair<std::string_view, char> kEntities[] = {
      {"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}};
  const size_t last_end = text.find_last_of('>');  // behind it '<' begins no tag
  std::string out;
  const auto blank = [&] {
    if (!out.empty() && out.back() != ' ') out += ' ';
  };
  for (size_t i = 0; i < text.size();) {
    const std::string_view rest = text.substr(i);
    const auto entity = std::ranges::find_if(
        kEntities, [&](const auto& entity) { return begins_with(rest, entity.first); });
    const bool is_tag = text[i] == '<' && last_end != std::string_view::npos && i < last_end;
    if (entity != std::end(kEntities)) {
      out += entity->second;
      i += entity->first.size();
    } else if (is_tag) {
      blank();
      i += rest.find('>') + 1;
    } else {
      if (std::string_view(" \t\r\n").find(text[i]) != std::string_view::npos) {
        blank();
      } else {
        out += text[i];
      }
      ++i;
    }
  }
  while (out.ends_with(' ')) out.pop_back();
  return out;
}

struct DucTopic {
  std::string number;
  std::string question;
  std::string place;
};

Result<DucTopic> decode_topic(const Sgml& topic) {
  DucTopic decoded;
  decoded.place = topic.place();
  std::string title;
  std::string narrative;
  for (auto [tag, text] : {std::pair{"num", &decoded.number}, std::pair{"title", &title},
                           std::pair{"narr", &narrative}}) {
    Result<std::vector<Sgml>> found = sgml_elements(topic, tag);
    if (!found) return found.error();
    if (found->size() != 1) {
      return data_error(
          "a <topic> has one <" + std::string(tag) + ">, found " + std::to_string(found->size()),
          decoded.place);
    }
    *text = sgml_text(found->front().part);
    if (text->empty()) {
      return data_error("<" + std::string(tag) + "> is empty", found->front().place());
    }
  }
  const bool name = std::ranges::all_of(decoded.number, [](unsigned char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  });
  if (!name) {
    return data_error("expected a topic's number such as D0701A, found '" + decoded.number + "'",
                      decoded.place);
  }
  decoded.question = title + ": " + narrative;
  return decoded;
}

/// Appends the paragraphs of a document.
Status add_document(const LoadedFile& file, std::vector<Segment>& segments) {
  const size_t before = segments.size();
  Result<std::vector<Sgml>> texts = sgml_elements({file.bytes, file.bytes, file.path}, "TEXT");
  if (!texts) return texts.error();
  for (const Sgml& text : *texts) {
    Result<std::vector<Sgml>> paragraphs = sgml_elements(text, "P");
    if (!paragraphs) return paragraphs.error();
    std::vector<std::string> parts;
    const char* read = text.part.data();
    for (const Sgml& paragraph : *paragraphs) {
      parts.emplace_back(read, paragraph.part.data());  // what stands between two
      parts.emplace_back(paragraph.part);
      read = paragraph.part.data() + paragraph.part.size();
    }
    if (parts.empty()) {
      for (Segment& part : split_document(text.part)) parts.push_back(std::move(part.text));
    } else {
      parts.emplace_back(read, text.part.data() + text.part.size());
    }
    for (const std::string& part : parts) {
      std::string paragraph = sgml_text(part);
      if (!paragraph.empty()) segments.push_back({std::move(paragraph), ""});
    }
  }
  if (segments.size() == before) return data_error("a document without <TEXT>", file.path);
  return {};
}

/// Documents of a topic, one after the other; `extra` says where each begins.
Status add_cluster(SetFiles& files, const DucTopic& topic, Example& example) {
  Result<std::vector<std::string>> paths = files.matching("docs/" + topic.number + "/*");
  if (!paths) return paths.error();
  if (paths->empty()) {
    return data_error("no document of the topic in docs/" + topic.number, topic.place);
  }
  nlohmann::json documents = nlohmann::json::array();
  for (const std::string& path : *paths) {
    Result<LoadedFile> file = files.load(path);
    if (!file) return file.error();
    const size_t first = example.document.size();
    Status added = add_document(*file, example.document);
    if (!added) return added;
    documents.push_back({{"name", path.substr(path.rfind('/') + 1)}, {"first", first}});
  }
  example.extra.text = nlohmann::json{{"documents", std::move(documents)}}.dump();
  return {};
}

/// "D0701" of "D0701A" and of "models/D0701.M.250.A.B".
std::string topic_stem(std::string_view name) {
  std::string stem(name);
  std::ranges::transform(stem, stem.begin(), [](unsigned char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : static_cast<char>(c);
  });
  if (!stem.empty() && stem.back() >= 'A' && stem.back() <= 'Z') stem.pop_back();
  return stem;
}

/// Paths of model summaries by topic.
Result<std::map<std::string, std::vector<std::string>>> duc_models(const SetFiles& files) {
  Result<std::vector<std::string>> paths = files.matching("models/*.M.*");
  if (!paths) return paths.error();
  std::map<std::string, std::vector<std::string>> models;
  for (std::string& path : *paths) {
    const std::string_view name = std::string_view(path).substr(std::string_view("models/").size());
    models[topic_stem(name.substr(0, name.find('.')))].push_back(std::move(path));
  }
  return models;
}

Result<std::vector<Example>> read_duc(SetFiles& files, const DatasetRequest&) {
  Result<LoadedFile> list = files.load("topics.sgml");
  if (!list) return list.error();
  Result<std::vector<Sgml>> topics = sgml_elements({list->bytes, list->bytes, list->path}, "topic");
  if (!topics) return topics.error();
  if (topics->empty()) return data_error("no <topic>", list->path);
  Result<std::map<std::string, std::vector<std::string>>> models = duc_models(files);
  if (!models) return models.error();
  KeyedExamples examples;
  for (const Sgml& element : *topics) {
    Result<DucTopic> topic = decode_topic(element);
    if (!topic) return topic.error();
    Example example;
    example.key = topic->number;
    example.language = "en";
    example.query = topic->question;
    Status added = add_cluster(files, *topic, example);
    if (!added) return added.error();
    for (const std::string& path : (*models)[topic_stem(topic->number)]) {
      Result<LoadedFile> model = files.load(path);
      if (!model) return model.error();
      std::string text = model->bytes;
      std::erase(text, '\r');
      example.references.push_back(text.substr(0, text.find_last_not_of(" \n\t") + 1));
    }
    if (example.references.empty()) {
      return data_error("no model summary of the topic in models/", topic->place);
    }
    added = examples.add(std::move(example), {topic->place, ""});
    if (!added) return added.error();
  }
  return examples.take();
}

}  // namespace

std::vector<FileSet> duc_sets() {
  std::vector<FileSet> sets;
  for (const std::string year : {"2005", "2006", "2007"}) {
    sets.push_back({.info = {.name = "duc-" + year,
                             .doc = "clusters of news with a question, several model summaries",
                             .licence = "NIST's agreement",
                             .splits = {"test"},
                             .views = {"whole", "per_reference"},
                             .text_forms = {"raw"}},
                    .reader = "duc@2",
                    .examples = read_duc,
                    .folder = "duc-" + year,
                    .layout = "topics.sgml, docs/TOPIC/* and models/TOPIC.M.LENGTH.SELECTOR.WRITER",
                    .source = "https://duc.nist.gov/duc" + year,
                    .no_redistribution = true});
  }
  return sets;
}

}  // namespace qfs::datasets
