#include "metrics/rouge155/rouge155_entry.h"

#include <cstdlib>
#include <memory>

#include "harness/core/files.h"
#include "harness/core/whole_number.h"
#include "metrics/punkt/punkt_files.h"
#include "metrics/rouge155/resampling.h"
#include "metrics/rouge155/rouge155_metric.h"

namespace qfs::metrics::rouge155 {
namespace {

using Type = MetricOption::Type;

std::vector<MetricOption> declared_options() {
  return {
      {"n", Type::integer, {}, "2", "ROUGE-1 to ROUGE-n (-n)", 0, kMaxN},
      flag_option("lcs", true, "ROUGE-L (off: -x)"),
      {"weight", Type::text, {"off", "POWER"}, "off", "ROUGE-W with this weight, such as 1.2 (-w)"},
      {"skip", Type::text, {"off", "GAP", "any"}, "off", "ROUGE-S with this gap, such as 4 (-2)"},
      {"skip_unigrams",
       Type::choice,
       {"none", "only", "also"},
       "none",
       "ROUGE-S, ROUGE-SU (-u) or both (-U)"},
      flag_option("stem", false, "exception list, then Lin's Porter stemmer (-m)"),
      {"exceptions",
       Type::text,
       {"wordnet", "none", "PATH"},
       "wordnet",
       "irregular forms: WordNet 2.0's out of the data folder, none (as with an empty database), "
       "or "
       "'form lemma' lines"},
      {"stop_words",
       Type::text,
       {"none", "smart", "PATH"},
       "none",
       "words left out (-s): SMART's of the data folder, or a file with one per line"},
      {"words", Type::integer, {}, "0", "only the first words of each text (-l); 0: all", 0},
      {"bytes", Type::integer, {}, "0", "only the first bytes of each text (-b); 0: all", 0},
      {"formula", Type::choice, {"A", "B"}, "A", "references pooled, or the best recall (-f)"},
      flag_option("jackknife", false, "mean over the references of the scores without that one"),
      {"alpha", Type::real, {}, "0.5", "weight of precision in F (-p)"},
      {"sentences",
       Type::choice,
       {"lines", "see", "see-escaped", "files2rouge", "dyle"},
       "lines",
       "how texts become sentences: lines; lines in SEE, with or without escaping '<'; "
       "files2rouge; plain text as DYLE's release cuts it (word_tokenize, sent_tokenize of NLTK "
       "3.6.2), then see-escaped"},
      {"punkt",
       Type::text,
       {},
       "",
       "sentences=dyle: Punkt's data, a punkt_tab folder or Python module (empty: QFS_PUNKT, "
       "cache, NLTK's)"},
      {"average",
       Type::choice,
       {"bootstrap", "mean"},
       "bootstrap",
       "corpus value: mean of the bootstrap means, as printed, or of the items"},
      {"samples", Type::integer, {}, "1000", "bootstrap samples (-r)", 1, kMaxSamples},
  };
}

/// Word lists are known by the beginning of their digest, so that no path gets into a store.
constexpr size_t kDigestDigits = 12;

bool is_short_digest(std::string_view text) {
  return text.size() == kDigestDigits &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

/// "rouge-1.5.5" and what differs from the defaults, in the order of declaration; reading it again
/// gives the same metric where the data folder holds the same lists.
std::string canonical_name(const MetricOptionValues& values, const Lexicon& lexicon) {
  std::string name;
  for (const MetricOption& option : declared_options()) {
    std::string value = values.text(option.name);
    if (value == option.default_value || option.name == "punkt") continue;
    if (option.name == "exceptions" && value != "none" && lexicon.stem) {
      value = lexicon.exceptions.digest.substr(0, kDigestDigits);
    }
    if (option.name == "stop_words" && value != "smart") {
      value = lexicon.stop_words.digest.substr(0, kDigestDigits);
    }
    name += (name.empty() ? ":" : ",") + option.name + "=" + value;
  }
  return "rouge-1.5.5" + name;
}

template <class Number>
Result<Number> number(const MetricOptionValues& values, const std::string& option) {
  const std::string& text = values.text(option);
  if (const auto value = whole_number<Number>(text)) return *value;
  return invalid_argument("option " + option + " is '" + text + "', expected a number or off");
}

Result<Options> read_scoring(const MetricOptionValues& values) {
  Options options;
  options.max_n = values.integer("n");
  options.lcs = values.on("lcs");
  options.alpha = values.real("alpha");
  options.formula = values.text("formula") == "A" ? Formula::average : Formula::best;
  if (values.text("weight") != "off") {
    Result<double> power = number<double>(values, "weight");
    if (!power) return power.error();
    options.weight = Weight{*power, values.text("weight")};
  }
  const std::string& unigrams = values.text("skip_unigrams");
  if (values.text("skip") == "any") {
    options.skip = SkipGrams{-1, "*", SkipUnigrams::none};
  } else if (values.text("skip") != "off") {
    Result<int64_t> gap = number<int64_t>(values, "skip");
    if (!gap) return gap.error();
    options.skip = SkipGrams{*gap, values.text("skip"), SkipUnigrams::none};
  } else if (unigrams != "none") {
    return invalid_argument("skip_unigrams=" + unigrams + " needs skip=GAP");
  }
  if (options.skip && unigrams == "only") options.skip->unigrams = SkipUnigrams::only;
  if (options.skip && unigrams == "also") options.skip->unigrams = SkipUnigrams::also;
  const int64_t words = values.integer("words");
  const int64_t bytes = values.integer("bytes");
  if (words > 0 && bytes > 0) return invalid_argument("options words and bytes exclude each other");
  if (words > 0) options.limit = {LimitUnit::words, words};
  if (bytes > 0) options.limit = {LimitUnit::bytes, bytes};
  if (Status status = check(options); !status) return status.error();
  if (variants(options).empty()) return invalid_argument("the options leave nothing to compute");
  return options;
}

std::string data_folder() {
  for (const char* name : {"QFS_ROUGE155_DATA", "ROUGE_EVAL_HOME"}) {
    if (const char* value = std::getenv(name); value != nullptr && *value != '\0') return value;
  }
  return cache_directory() + "/rouge155";
}

Error absent_list(const std::string& what, const std::string& option, const std::string& folder) {
  return not_found(what + " not found in " + folder + "; set QFS_ROUGE155_DATA to a folder that " +
                   "holds it or say " + option + "=PATH or " + option + "=none");
}

/// The list that an option names: `standard` ("wordnet", "smart") or a digest of the data folder's
/// file, or a path.
template <class List>
Result<List> read_list(const std::string& value, std::string_view standard,
                       const std::string& in_folder, const Error& absent,
                       Result<List> (*read)(const std::string&)) {
  const bool by_digest = is_short_digest(value);
  const bool from_folder = by_digest || value == standard;
  if (from_folder && in_folder.empty()) return absent;
  const std::string& path = from_folder ? in_folder : value;
  Result<List> list = read(path);
  if (list && by_digest && !list->digest.starts_with(value)) {
    return data_error("the list in " + path + " has digest " +
                      list->digest.substr(0, kDigestDigits) + ", expected " + value);
  }
  return list;
}

Result<std::shared_ptr<const Lexicon>> read_lexicon(const MetricOptionValues& values) {
  auto lexicon = std::make_shared<Lexicon>();
  lexicon->stem = values.on("stem");
  const std::string folder = data_folder();
  const DataFolder found = look_into_data_folder(folder);
  const std::string& exceptions = values.text("exceptions");
  if (lexicon->stem && exceptions != "none") {
    Result<ExceptionList> list = read_list<ExceptionList>(
        exceptions, "wordnet", found.exceptions,
        absent_list("WordNet's exception list is", "exceptions", folder), read_exceptions);
    if (!list) return list.error();
    lexicon->exceptions = *std::move(list);
  }
  const std::string& stop_words = values.text("stop_words");
  if (stop_words != "none") {
    Result<StopWords> list = read_list<StopWords>(
        stop_words, "smart", found.stop_words,
        absent_list("SMART's stop words are", "stop_words", folder), read_stop_words);
    if (!list) return list.error();
    lexicon->stop_words = *std::move(list);
  }
  return std::shared_ptr<const Lexicon>(std::move(lexicon));
}

Result<std::shared_ptr<const Metric>> make(const MetricOptionValues& values) {
  MetricSettings settings;
  Result<Options> scoring = read_scoring(values);
  if (!scoring) return scoring.error();
  settings.scoring = *std::move(scoring);
  Result<std::shared_ptr<const Lexicon>> lexicon = read_lexicon(values);
  if (!lexicon) return lexicon.error();
  settings.lexicon = *std::move(lexicon);
  settings.name = canonical_name(values, *settings.lexicon);
  const std::string& sentences = values.text("sentences");
  if (sentences == "dyle") {
    Result<std::shared_ptr<const PunktModel>> model = load_punkt(values.text("punkt"));
    if (!model) return model.error();
    settings.dyle = std::make_shared<PunktSplitter>(*std::move(model), PunktRules::nltk_3_6);
  } else if (!values.text("punkt").empty()) {
    return invalid_argument("option punkt belongs to sentences=dyle, not to sentences=" +
                            sentences);
  }
  settings.form = sentences == "see"           ? SummaryForm::see
                  : sentences == "see-escaped" ? SummaryForm::see_escaped
                  : sentences == "dyle"        ? SummaryForm::see_escaped
                  : sentences == "files2rouge" ? SummaryForm::files2rouge
                                               : SummaryForm::lines;
  settings.jackknife = values.on("jackknife");
  settings.samples = values.text("average") == "mean" ? 0 : values.integer("samples");
  return std::shared_ptr<const Metric>(std::make_shared<RougeMetric155>(std::move(settings)));
}

}  // namespace

MetricEntry rouge155_entry() {
  MetricEntry entry;
  entry.name = "rouge-1.5.5";
  entry.aliases = {
      {"files2rouge", "stem=on,exceptions=none,sentences=files2rouge",
       "files2rouge d3d09c8: -c 95 -r 1000 -n 2 -m, ' .' ends a sentence, its exception database "
       "is empty"},
      {"dyle-rouge", "stem=on,sentences=see-escaped",
       "DYLE and MatchSum: pyrouge with -c 95 -r 1000 -n 2 -m on escaped lines, one sentence each; "
       "sentences=dyle makes the lines of plain text"},
  };
  entry.options = declared_options();
  entry.make = make;
  return entry;
}

}  // namespace qfs::metrics::rouge155
