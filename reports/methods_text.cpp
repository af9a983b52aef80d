#include "reports/methods_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "harness/core/counted.h"
#include "harness/core/log.h"
#include "reports/escape.h"
#include "reports/format.h"
#include "reports/methods_facts.h"
#include "reports/signature.h"

namespace qfs::reports {
namespace {

using Places = std::vector<const PlaceFacts*>;
using Texts = std::vector<std::string>;

std::string list(const Texts& texts, const char* separator = ", ") {
  return fmt::format("{}", fmt::join(texts, separator));
}

std::string sentence(const std::string& text) { return text.ends_with('.') ? text : text + "."; }

/// "; licence CC BY 4.0", or nothing.
std::string more(const char* what, const std::string& value) {
  return value.empty() ? "" : fmt::format("; {} {}", what, value);
}

class Describer {
 public:
  Describer(store::Reader& reader, const SweepFacts& facts, const Places& places,
            const Table& table)
      : reader_(reader), facts_(facts), places_(places), table_(table) {}

  Result<MethodsText> describe() {
    if (Status done = datasets(); !done) return done.error();
    methods();
    seeds();
    metrics();
    uncertainty();
    for (auto part : {&Describer::machines, &Describer::training, &Describer::trouble}) {
      if (Status done = (this->*part)(); !done) return done.error();
    }
    check("Hyper-parameters",
          "every parameter is given above; how they were chosen is not recorded");
    check("Store", fmt::format("sweep {}, digest {}{}", facts_.sweep.name, facts_.sweep.id.hex(),
                               table_.store.empty() ? "" : ", in " + table_.store));
    return std::move(text_);
  }

 private:
  void say(const std::string& text) { text_.sentences.push_back(sentence(text)); }
  void check(const char* item, const std::string& answer) {
    text_.checklist.emplace_back(item, sentence(answer));
  }

  Status datasets() {
    std::map<std::pair<DatasetId, std::vector<int64_t>>, const PlaceFacts*> shown;
    for (const PlaceFacts* place : places_) {
      shown.emplace(std::pair(place->cell.dataset, place->cell.ordinals), place);
    }
    Texts said;
    Texts left_out;
    Texts licences;
    for (const auto& [examples, place] : shown) {
      const DatasetId& id = examples.first;
      const store::DatasetRow& dataset = facts_.datasets.at(id);
      const DatasetManifest& manifest = dataset.manifest;
      const auto documents = documents_of(reader_, place->cell);
      if (!documents) return documents.error();
      const auto n = static_cast<int64_t>(place->cell.ordinals.size());
      std::string text = fmt::format("{} (split {}, view {}", manifest.name,
                                     manifest.split.empty() ? "not recorded" : manifest.split,
                                     manifest.view.empty() ? "not recorded" : manifest.view);
      if (!manifest.text_form.empty()) text += ", text " + manifest.text_form;
      said.push_back(text + fmt::format("): {} of {} about {}, digest {}", n,
                                        counted(dataset.examples, "example"),
                                        counted(*documents, "document"), id.short_hex()));
      left_out.push_back(fmt::format("{}: {} of {}", manifest.name, dataset.examples - n,
                                     counted(dataset.examples, "example")));
      std::string files;
      for (const SourceFile& file : manifest.files) {
        files += fmt::format("; {} SHA-256 {}", file.name, file.sha256);
      }
      licences.push_back(
          manifest.name + ": " +
          (manifest.licence.empty() ? "licence not recorded" : "licence " + manifest.licence) +
          more("source", manifest.source) + files);
    }
    say("Data: " + list(said, "; "));
    check("Data and licences", list(licences, ". "));
    check("Examples left out", list(left_out, "; "));
    return {};
  }

  void methods() {
    Texts said;
    Texts oracles;
    Texts long_texts;
    for (const MethodFacts& method : methods_of(places_)) {
      std::string text = method.label;
      if (method.label != method.method) text += fmt::format(" (method {})", method.method);
      Texts values;
      for (const auto& [name, shown] : method.params)
        values.push_back(name + " " + list(shown, "/"));
      if (!values.empty()) text += ": " + list(values);
      if (!method.layers.empty()) text += " (code " + list(method.layers) + ")";
      said.push_back(std::move(text));
      if (method.oracle) oracles.push_back(method.label);
      for (const std::string& whole : method.texts) {
        if (std::ranges::count(long_texts, whole) == 0) long_texts.push_back(whole);
      }
    }
    say("Methods: " + list(said, "; "));
    if (!long_texts.empty()) check("Prompts and other texts", list(long_texts, "; "));
    check("Answers seen by a method",
          oracles.empty() ? "by none" : "references or evidence by " + list(oracles));
  }

  void seeds() {
    std::map<Texts, Texts> methods;  // by seeds; none: they do not matter
    for (const MethodFacts& method : methods_of(places_)) {
      methods[method.another_seed ? Texts{} : method.seeds].push_back(method.label);
    }
    Texts said;
    for (const auto& [seeds, labels] : methods) {
      said.push_back(
          seeds.empty()
              ? fmt::format("one of {}, to which the seed does not matter", list(labels))
              : fmt::format("{} of {} (seed {})", seeds.size(), list(labels), list(seeds)));
    }
    say("Runs: " + list(said, "; "));
    check("Number of runs", list(said, "; "));
  }

  void metrics() {
    if (table_.signatures.empty()) return;
    std::string text = "Metrics, with what decides their digits: " + list(table_.signatures, "; ");
    const Texts chain = postprocess_of(facts_);
    if (!chain.empty()) text += "; outputs were scored after " + list(chain, ", then ");
    say(text);
    check("Metrics", list(table_.signatures, "; "));
  }

  void uncertainty() {
    Texts bars;
    for (const std::string& method : table_.interval_methods) {
      bars.push_back("in brackets, intervals: " + interval_words(method));
    }
    if (std::ranges::any_of(table_.cells, shows_repetitions)) {
      bars.emplace_back("in parentheses, smallest and largest of the repetitions");
    }
    const bool seeds = std::ranges::any_of(
        table_.cells, [](const TableCell& c) { return !c.seeds.empty() && !c.difference; });
    if (seeds) bars.emplace_back("behind ±, the standard deviation (n − 1) over seeds");
    if (!bars.empty()) say("Uncertainty: " + list(bars, "; "));
    check("Error bars", bars.empty() ? "none in this table" : list(bars, "; "));
    std::string tests = "none in this table";
    if (table_.against) {
      tests = fmt::format(
          "each score against that of {} on the same examples, two-sided, at {}, "
          "adjusted after Holm over {}: {}",
          table_.against->method, table_.against->level, counted(table_.against->tests, "test"),
          table_.against->test);
      if (table_.against->differences) {
        say(fmt::format("In place of the scores of other methods stand those of {} minus theirs",
                        table_.against->method));
      }
      say("Significance: " + tests);
    }
    check("Significance tests", tests);
  }

  Status machines() {
    const auto made = environments_of(reader_, places_, store::ResultKind::predict);
    if (!made) return made.error();
    check("Software", made->programs.empty() ? "not recorded" : list(made->programs, "; "));
    check("Machines that made the outputs",
          made->machines.empty() ? "not recorded" : list(made->machines, "; "));
    if (!made->programs.empty()) say("Outputs were made by " + list(made->programs, "; "));
    const bool shows = std::ranges::any_of(table_.values, [](const TableValue& value) {
      return value.group == ValueGroup::performance;
    });
    if (!shows) return {};
    const auto timed = environments_of(reader_, places_, store::ResultKind::measure);
    if (!timed) return timed.error();
    if (timed->machines.empty()) return {};
    say(fmt::format("Speed and memory were measured on {}{}", list(timed->machines, "; "),
                    timed->protocols.empty() ? "" : ": " + list(timed->protocols, "; ")));
    check("Machines that were timed", list(timed->machines, "; "));
    return {};
  }

  Status training() {
    const auto trainings = trainings_of(reader_, places_);
    if (!trainings) return trainings.error();
    if (trainings->empty()) return {};
    say("Training: " + list(*trainings, "; "));
    check("Training", list(*trainings, "; "));
    return {};
  }

  Status trouble() {
    Texts incomplete;
    std::set<std::string> telling =
        compare::telling_dimensions(compare::Cells(places_.begin(), places_.end()));
    telling.erase("cell");
    for (const PlaceFacts* place : places_) {
      const bool done = place->predict && place->predict->status == store::Completeness::complete;
      if (!done) incomplete.push_back(compare::cell_name(*place, telling));
    }
    check("Failed or incomplete",
          incomplete.empty() ? fmt::format("none of {}", counted(places_.size(), "cell"))
                             : fmt::format("{} of {}: {}", incomplete.size(),
                                           counted(places_.size(), "cell"), list(incomplete)));
    const auto conflicts = conflicts_of(reader_, places_);
    if (!conflicts) return conflicts.error();
    check("Determinism", fmt::format("outputs on record that came out differently when computed "
                                     "again: {}",
                                     *conflicts));
    return {};
  }

  store::Reader& reader_;
  const SweepFacts& facts_;
  const Places& places_;
  const Table& table_;
  MethodsText text_;
};

}  // namespace

Result<MethodsText> methods_text(store::Reader& reader, const SweepFacts& facts,
                                 const std::vector<const PlaceFacts*>& places, const Table& table) {
  return Describer(reader, facts, places, table).describe();
}

std::string write_methods_markdown(const MethodsText& text) {
  std::string paragraph;
  for (const std::string& sentence : text.sentences) {
    paragraph += (paragraph.empty() ? "" : " ") + markdown_text(sentence);
  }
  std::string written = "**Evaluation.** " + paragraph + "\n\n**Reproducibility checklist**\n\n";
  for (const auto& [item, answer] : text.checklist) {
    written += fmt::format("- {}: {}\n", markdown_text(item), markdown_text(answer));
  }
  return written;
}

std::string write_methods_latex(const MethodsText& text) {
  std::string written = "\\paragraph{Evaluation}\n";
  for (const std::string& sentence : text.sentences) written += latex_text(sentence) + "\n";
  written += "\n\\paragraph{Reproducibility checklist}\n\\begin{itemize}\n";
  for (const auto& [item, answer] : text.checklist) {
    written += fmt::format("\\item \\textbf{{{}}}: {}\n", latex_text(item), latex_text(answer));
  }
  return with_latex_preamble(written + "\\end{itemize}\n");
}

std::string write_methods_json(const MethodsText& text) {
  nlohmann::json checklist = nlohmann::json::array();
  for (const auto& [item, answer] : text.checklist) {
    checklist.push_back({{"item", item}, {"answer", answer}});
  }
  const nlohmann::json written = {{"schema", "qfs-bench/methods/1"},
                                  {"sentences", text.sentences},
                                  {"checklist", std::move(checklist)}};
  return terminal_safe_json(written.dump(2, ' ', false, nlohmann::json::error_handler_t::replace)) +
         "\n";
}

}  // namespace qfs::reports
