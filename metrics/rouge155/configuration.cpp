#include "metrics/rouge155/configuration.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "metrics/rouge155/xml.h"

namespace qfs::metrics::rouge155 {
namespace {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

bool is_tag(const XmlElement& element, std::string_view upper) {
  return std::equal(element.name.begin(), element.name.end(), upper.begin(), upper.end(),
                    [](char a, char b) {
                      return (a >= 'a' && a <= 'z' ? static_cast<char>(a - 'a' + 'A') : a) == b;
                    });
}

/// An evaluation as its tags have filled it so far.
struct Draft {
  std::string id;
  std::string where;
  std::optional<InputFormat> format;
  std::string candidate_root;
  std::string reference_root;
  std::map<std::string, std::string, std::less<>> candidate_of;  ///< system to file
  std::vector<std::string> reference_ids;
  std::map<std::string, std::string, std::less<>> reference_of;  ///< id to file
};

class ConfigurationReader {
 public:
  explicit ConfigurationReader(std::string file) : file_(std::move(file)) {}

  Result<Configuration> read(const XmlElement& root) {
    if (Status status = visit(root, nullptr); !status) return status.error();
    Configuration configuration;
    for (const Draft& draft : drafts_) {
      Result<Evaluation> evaluation = finished(draft);
      if (!evaluation) return evaluation.error();
      configuration.evaluations.push_back(*std::move(evaluation));
    }
    configuration.systems.assign(systems_.begin(), systems_.end());
    return configuration;
  }

 private:
  Error error(const XmlElement& element, const std::string& message) const {
    return data_error(message, file_ + ":" + std::to_string(element.line));
  }

  Result<std::string> needed(const XmlElement& element, std::string_view attribute) const {
    if (const std::string* value = element.attribute(attribute)) return *value;
    return error(element, "<" + element.name + "> has no attribute " + std::string(attribute));
  }

  /// `draft`: index into drafts_ of the evaluation around `element`, if any.
  Status visit(const XmlElement& element, const size_t* draft) {
    if (is_tag(element, "EVAL")) return visit_evaluation(element);
    for (std::string_view tag : {"INPUT-FORMAT", "PEER-ROOT", "MODEL-ROOT", "PEERS", "MODELS"}) {
      if (!is_tag(element, tag)) continue;
      if (draft == nullptr) return error(element, "<" + element.name + "> is outside of <EVAL>");
      return fill(drafts_[*draft], element, tag);
    }
    for (const XmlElement& child : element.children) {
      if (Status status = visit(child, draft); !status) return status;
    }
    return {};
  }

  Status visit_evaluation(const XmlElement& element) {
    Result<std::string> id = needed(element, "ID");
    if (!id) return id.error();
    const auto [it, is_new] = draft_of_.emplace(*id, drafts_.size());
    if (is_new) {
      drafts_.emplace_back();
      drafts_.back().id = *id;
      drafts_.back().where = file_ + ":" + std::to_string(element.line);
    }
    const size_t draft = it->second;
    for (const XmlElement& child : element.children) {
      if (Status status = visit(child, &draft); !status) return status;
    }
    return {};
  }

  Status fill(Draft& draft, const XmlElement& element, std::string_view tag) {
    const std::string text(trimmed(element.last_text.value_or("")));
    if (tag == "PEER-ROOT") {
      draft.candidate_root = text;
    } else if (tag == "MODEL-ROOT") {
      draft.reference_root = text;
    } else if (tag == "INPUT-FORMAT") {
      Result<std::string> type = needed(element, "TYPE");
      if (!type) return type.error();
      draft.format = input_format_named(*type);
      if (!draft.format) {
        return error(element, "input format '" + *type + "', expected SPL, SEE or ISI");
      }
    } else {
      return add_files(draft, element, tag == "PEERS");
    }
    return {};
  }

  Status add_files(Draft& draft, const XmlElement& list, bool candidates) {
    for (const XmlElement& child : list.children) {
      if (!is_tag(child, candidates ? "P" : "M")) continue;
      Result<std::string> id = needed(child, "ID");
      if (!id) return id.error();
      if (candidates) systems_.insert(*id);
      if (!candidates) draft.reference_ids.push_back(*id);
      auto& file_of = candidates ? draft.candidate_of : draft.reference_of;
      if (child.last_text) file_of[*id] = trimmed(*child.last_text);
    }
    return {};
  }

  static Result<Evaluation> finished(const Draft& draft) {
    const auto error = [&](const std::string& message) {
      return data_error("evaluation '" + draft.id + "' has " + message, draft.where);
    };
    if (!draft.format) return error("no INPUT-FORMAT");
    if (draft.reference_ids.empty()) return error("no references (MODELS)");
    Evaluation evaluation{draft.id, *draft.format, {}, {}, draft.where};
    for (const auto& [system, file] : draft.candidate_of) {
      evaluation.candidates.push_back({system, draft.candidate_root + "/" + file});
    }
    for (const std::string& id : draft.reference_ids) {
      const auto file = draft.reference_of.find(id);
      if (file == draft.reference_of.end()) return error("no file for reference '" + id + "'");
      evaluation.references.push_back(draft.reference_root + "/" + file->second);
    }
    return evaluation;
  }

  std::string file_;
  std::vector<Draft> drafts_;
  std::map<std::string, size_t> draft_of_;
  std::set<std::string> systems_;
};

}  // namespace

const std::string* Evaluation::candidate_of(std::string_view system) const {
  for (const SystemFile& candidate : candidates) {
    if (candidate.system == system) return &candidate.path;
  }
  return nullptr;
}

Result<Configuration> parse_configuration(std::string_view xml, const std::string& name) {
  Result<XmlElement> root = parse_xml(xml, name);
  if (!root) return root.error();
  return ConfigurationReader(name).read(*root);
}

Result<Configuration> parse_pair_list(std::string_view text, const std::string& name,
                                      InputFormat format, const std::string& system) {
  Configuration configuration;
  configuration.systems = {system};
  size_t number = 0;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    if (line.starts_with('#')) continue;
    std::vector<std::string> files;
    for (line = trimmed(line); !line.empty(); line = trimmed(line)) {
      const auto blank = std::find_if(line.begin(), line.end(), is_blank);
      files.emplace_back(line.begin(), blank);
      line.remove_prefix(files.back().size());
    }
    if (files.empty()) continue;
    const std::string where = name + ":" + std::to_string(number);
    if (files.size() < 2) return data_error("expected a candidate and its references", where);
    Evaluation evaluation;
    evaluation.id = std::to_string(configuration.evaluations.size() + 1);
    evaluation.format = format;
    evaluation.candidates = {{system, files.front()}};
    evaluation.references.assign(files.begin() + 1, files.end());
    evaluation.where = where;
    configuration.evaluations.push_back(std::move(evaluation));
  }
  return configuration;
}

Configuration jackknifed(const Configuration& configuration) {
  Configuration expanded;
  expanded.systems = configuration.systems;
  for (const Evaluation& evaluation : configuration.evaluations) {
    const size_t count = evaluation.references.size();
    for (size_t left_out = 0; left_out < count; ++left_out) {
      Evaluation part = evaluation;
      if (count > 1) {
        part.id += "." + std::to_string(left_out + 1);
        part.references.erase(part.references.begin() + static_cast<ptrdiff_t>(left_out));
      }
      expanded.evaluations.push_back(std::move(part));
    }
  }
  return expanded;
}

}  // namespace qfs::metrics::rouge155
