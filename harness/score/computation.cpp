#include "harness/score/computation.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <set>

#include "harness/api/metric_entry.h"
#include "harness/core/postprocess.h"
#include "harness/core/suggest.h"
#include "harness/score/option_values.h"

namespace qfs::score {
namespace {

/// How far a signature is from the wanted one: fields that differ, then words in them that do.
struct Distance {
  size_t fields = std::numeric_limits<size_t>::max();
  size_t words = 0;
  friend auto operator<=>(const Distance&, const Distance&) = default;
};

/// What a tool's signature says of the run, not of the metric.
constexpr std::string_view kToolRunKeys[] = {"nrefs", "bs", "seed", "version"};

/// A tool's signature with its first part, "chrF2++", as a field, and without the run.
Result<SignatureFields> tool_fields(std::string_view text) {
  Result<SignatureFields> signature = split_signature(text);
  if (!signature) return signature;
  SignatureFields::Fields fields = {{"metric", std::move(signature->metric)}};
  for (auto& field : signature->fields) {
    const bool of_run = std::ranges::count(kToolRunKeys, field.first) > 0;
    (of_run ? signature->run : fields).push_back(std::move(field));
  }
  signature->metric.clear();
  signature->fields = std::move(fields);
  return signature;
}

/// What a metric's signature is compared with: its own, or that of its tool.
Result<SignatureFields> fields_of(const Metric& metric, bool of_tool) {
  return of_tool ? tool_fields(metric.tool_signature(1, 1)) : split_signature(metric.signature());
}

/// "BLEU" of "BLEU|…", "chrF" of "chrF2++|…".
std::string_view letters_of(std::string_view signature) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  return signature.substr(
      0, static_cast<size_t>(std::ranges::find_if_not(signature, is_letter) - signature.begin()));
}

std::string_view without_label(std::string_view text) {
  if (!text.starts_with("as ")) return text;
  const size_t colon = text.find(": ");
  return colon == text.npos ? text : text.substr(colon + 2);
}

/// Words that only one of the two values has.
size_t differing_words(std::string_view a, std::string_view b) {
  const std::set<std::string> of_a = words_of(a);
  const std::set<std::string> of_b = words_of(b);
  std::vector<std::string> different;
  std::ranges::set_symmetric_difference(of_a, of_b, std::back_inserter(different));
  return different.size();
}

Distance distance(const SignatureFields& made, const SignatureFields& wanted) {
  Distance sum{0, 0};
  const auto add = [&](std::string_view a, std::string_view b) {
    if (a == b) return;
    ++sum.fields;
    sum.words += differing_words(a, b);
  };
  add(made.metric, wanted.metric);
  for (const auto& [key, value] : wanted.fields) add(made.value(key), value);
  for (const auto& [key, value] : made.fields) {
    if (!wanted.has(key)) add(value, "");
  }
  return sum;
}

/// Descends to the options with which a metric has the wanted signature: one option at a time takes
/// the first value that brings the signature nearer, if need be with another option back at its
/// default, and two at a time where one is not enough. Words of a field count, because several
/// options may make it ("variants:1,2,L,S4,SU4").
class Search {
 public:
  /// `of_tool`: `wanted` is of the metric's tool, see tool_fields.
  Search(const MetricEntry& entry, const SignatureFields& wanted, const MetricCatalog& catalog,
         bool of_tool = false)
      : entry_(entry), wanted_(wanted), catalog_(catalog), of_tool_(of_tool) {
    best_.metric = entry.name;
    for (const MetricOption& option : entry.options) best_.declared.push_back(option.name);
  }

  /// Starts over from these options where they are nearer than the best so far.
  void look_at(std::map<std::string, std::string> options) {
    for (const MetricOption& option : entry_.options) {
      const auto given = options.find(option.name);
      if (given != options.end() && given->second == option.default_value) options.erase(given);
    }
    Computation there = best_;
    there.options = std::move(options);
    consider(there);
  }

  void descend() {
    for (bool nearer = true; nearer && nearest_.fields > 0;) {
      nearer = false;
      for (const MetricOption& option : entry_.options) nearer |= improve(option);
      nearer = nearer || improve_by_two();
    }
  }

  bool found() const { return nearest_.fields == 0; }
  const Computation& best() const { return best_; }
  Distance nearest() const { return nearest_; }

  Error not_found() const {
    std::string message = "the metric '" + wanted_.metric + "' cannot be computed here";
    if (const auto made = catalog_.make(best_.name())) {
      const auto fields = fields_of(**made, of_tool_);
      for (const auto& [key, value] : wanted_.fields) {
        if (!fields || fields->value(key) == value) continue;
        message += "; " + key_in_words(key) + ": the signature has '" + value +
                   "', this machine and version have '" + std::string(fields->value(key)) + "'";
      }
    }
    for (const std::string& reason : reasons_) message += "; " + reason;
    return unavailable(message +
                       "; a metric's name with options, as --metric takes it, can stand "
                       "in place of a signature");
  }

 private:
  bool improve(const MetricOption& option) {
    bool nearer = false;
    for (const std::string& value : likely_values(option, wanted_)) {
      Computation there = best_;
      there.options[option.name] = value;
      nearer |= consider(there);
      for (const auto& [other, unused] : std::map(best_.options)) {
        there = best_;
        there.options.erase(other);
        there.options[option.name] = value;
        nearer |= consider(there);
      }
      if (nearest_.fields == 0) return true;
    }
    return nearer;
  }

  /// Only names are tried in pairs: numbers and columns belong to options that show alone.
  bool improve_by_two() {
    const Computation from = best_;
    for (size_t i = 0; i < entry_.options.size(); ++i) {
      for (const std::string& first : names_for(entry_.options[i])) {
        for (size_t j = i + 1; j < entry_.options.size(); ++j) {
          for (const std::string& second : names_for(entry_.options[j])) {
            Computation there = from;
            there.options[entry_.options[i].name] = first;
            there.options[entry_.options[j].name] = second;
            if (consider(there)) return true;
          }
        }
      }
    }
    return false;
  }

  /// Values of a choice or a text, without those that are absent on this machine.
  std::vector<std::string> names_for(const MetricOption& option) const {
    if (option.type == MetricOption::Type::integer || option.type == MetricOption::Type::real) {
      return {};
    }
    std::vector<std::string> values = likely_values(option, wanted_);
    std::erase_if(values, [&](const std::string& value) {
      return std::ranges::find(option.choices, value) == option.choices.end() ||
             absent_.contains({option.name, value});
    });
    return values;
  }

  bool consider(const Computation& there) {
    if (!seen_.insert(there.name()).second) return false;
    const auto metric = catalog_.make(there.name());
    if (!metric) {
      // Values that are no values ("n=0.5") are no reason; what is absent on this machine is one.
      if (metric.error().kind == ErrorKind::invalid_argument) return false;
      note_absent(there, metric.error().to_string());
      return false;
    }
    const auto fields = fields_of(**metric, of_tool_);
    if (!fields) return false;
    const Distance here = distance(*fields, wanted_);
    if (!(here < nearest_)) return false;
    nearest_ = here;
    best_ = there;
    return true;
  }

  void note_absent(const Computation& there, std::string reason) {
    const std::string prefix = "metric '" + there.name() + "': ";
    if (reason.starts_with(prefix)) reason.erase(0, prefix.size());
    if (reasons_.size() < kMaxReasons) reasons_.insert(std::move(reason));
    std::vector<std::pair<std::string, std::string>> added;
    std::ranges::set_difference(there.options, best_.options, std::back_inserter(added));
    if (added.size() == 1) absent_.insert(added.front());
  }

  static constexpr size_t kMaxReasons = 2;

  const MetricEntry& entry_;
  const SignatureFields& wanted_;
  const MetricCatalog& catalog_;
  bool of_tool_;
  Computation best_;
  Distance nearest_;
  std::set<std::string> seen_;
  std::set<std::string> reasons_;
  std::set<std::pair<std::string, std::string>> absent_;
};

std::string_view before(std::string_view text, char separator) {
  return text.substr(0, text.find(separator));
}

/// The entry that a name, an alias or the first word of a signature means, and the alias's options.
struct Named {
  const MetricEntry* entry = nullptr;
  std::string options;
};

Named named(const std::vector<MetricInfo>& metrics, std::string_view name) {
  for (const MetricInfo& info : metrics) {
    if (info.entry.name == name) return {&info.entry, ""};
    for (const MetricAlias& alias : info.entry.aliases) {
      if (alias.name == name) return {&info.entry, alias.options};
    }
  }
  return {};
}

Result<Computation> metric_of(const SignatureFields& signature, const MetricCatalog& catalog) {
  const std::vector<MetricInfo> metrics = catalog.list();
  const std::string_view given = before(signature.name, ':');
  const Named base = named(metrics, given.empty() ? before(signature.metric, '|') : given);
  if (base.entry == nullptr) {
    return unavailable(
        "the metric '" + signature.metric +
        "' cannot be computed from its signature: only the program that made it can");
  }
  Search search(*base.entry, signature, catalog);
  if (!signature.name.empty()) {
    auto options = parsed_options(base.options);
    const size_t colon = signature.name.find(':');
    if (colon != std::string::npos) {
      for (auto& [key, value] :
           parsed_options(std::string_view(signature.name).substr(colon + 1))) {
        options[key] = value;
      }
    }
    search.look_at(std::move(options));
  } else {
    search.look_at({});
    for (const MetricAlias& alias : base.entry->aliases) {
      if (!search.found()) search.look_at(parsed_options(alias.options));
    }
  }
  search.descend();
  if (search.found()) return search.best();
  if (signature.name.empty()) return search.not_found();
  return Computation{signature.name, {}, {}, Json{"[]"}};
}

}  // namespace

std::string Computation::name() const {
  std::string text = metric;
  char separator = ':';
  for (const auto& [option, value] : options) {
    text += separator + option + '=';
    for (char c : value) {
      if (c == ',') text += '\\';
      text += c;
    }
    separator = ',';
  }
  return text;
}

Result<Computation> computation_of(const SignatureFields& signature, const MetricCatalog& catalog) {
  Result<Computation> computation = metric_of(signature, catalog);
  if (!computation) return computation;
  const std::string_view chain = signature.run_value("post");
  if (!chain.empty()) {
    computation->postprocess = Json{std::string(chain)};
    const Result<Postprocess> made = Postprocess::of_chain(computation->postprocess);
    if (!made) return made.error();
  }
  return computation;
}

bool is_tool_signature(std::string_view text) {
  const std::string_view first = letters_of(without_label(text));
  const bool capital = std::ranges::any_of(first, [](char c) { return c >= 'A' && c <= 'Z'; });
  return capital && text.find('|') != text.npos;
}

Result<SignatureFields> read_tool_signature(std::string_view text, const MetricCatalog& catalog) {
  text = without_label(text);
  const Result<SignatureFields> wanted = tool_fields(text);
  if (!wanted) return wanted;
  std::vector<std::string> known;
  for (const MetricInfo& info : catalog.list()) {
    const std::string theirs = info.metric ? info.metric->tool_signature(1, 1) : "";
    if (theirs.find('|') == theirs.npos) continue;
    known.emplace_back(letters_of(theirs));
    if (known.back() != letters_of(text)) continue;
    Search search(info.entry, *wanted, catalog, true);
    search.look_at({});
    search.descend();
    if (!search.found()) return search.not_found();
    const auto metric = catalog.make(search.best().name());
    if (!metric) return metric.error();
    Result<SignatureFields> fields = split_signature((*metric)->signature());
    if (!fields) return fields;
    fields->of_tool = true;
    fields->run = wanted->run;
    const std::string made = (*metric)->tool_signature(1, 1);
    fields->version_here = made.ends_with("|version:" + std::string(wanted->run_value("version")));
    return fields;
  }
  return qfs::not_found("no metric gives the digits of '" + std::string(letters_of(text)) + "'" +
                        suggestion(std::string(letters_of(text)), known));
}

}  // namespace qfs::score
