// qfs_bench._native: the metrics library for Python. Conversions only; what users see is the Python
// package beside this file.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "harness/core/build_info.h"
#include "harness/core/utf8.h"
#include "harness/score/run_signature.h"
#include "harness/score/text_scorer.h"
#include "metrics/catalog.h"
#include "metrics/rouge/ngram_score.h"
#include "metrics/rouge/rouge_scorer.h"
#include "metrics/stats/bootstrap.h"

namespace py = pybind11;

namespace {

using qfs::metrics::EncodedText;
using qfs::metrics::Prf;
using qfs::metrics::TokenId;

/// Becomes qfs_bench.Error.
struct PythonError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

template <class T>
T value_of(qfs::Result<T> result) {
  if (!result.ok()) throw PythonError(result.error().to_string());
  return *std::move(result);
}

/// `what` names the text in errors: a str may hold lone surrogates, which no UTF-8 has.
std::string utf8(const py::handle& text, const std::string& what) {
  if (!PyUnicode_Check(text.ptr())) {
    throw py::type_error(what + " is a " +
                         std::string(py::str(py::type::of(text).attr("__name__"))) +
                         ", expected a str");
  }
  Py_ssize_t size = 0;
  const char* bytes = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
  if (bytes == nullptr) {
    PyErr_Clear();
    throw PythonError(what + " has a lone surrogate, which is no text");
  }
  return {bytes, static_cast<size_t>(size)};
}

/// What score() of the Python package passes on.
struct ScoreRequest {
  std::string metric;
  py::list predictions;
  py::list references;  ///< of lists
  py::list documents;   ///< empty, or one an item; likewise below
  py::list queries;
  py::list clusters;
  std::string language;
  std::string unit;
  int64_t resamples = 0;  ///< 0: no intervals
  unsigned threads = 0;
};

/// One metric over all items, as Python reads it.
class Scores {
 public:
  explicit Scores(const ScoreRequest& request) {
    const auto metric = value_of(qfs::metrics::BuiltinMetrics().make(request.metric));
    const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
    qfs::score::TextScorer scorer({metric},
                                  {.threads = request.threads == 0 ? cores : request.threads});
    for (size_t i = 0; i < request.predictions.size(); ++i) add(request, i, scorer);
    {
      const py::gil_scoped_release release;
      auto finished = scorer.finish();
      if (!finished.ok()) throw PythonError(finished.error().to_string());
      score_ = std::move(finished->front());
    }
    notes_ = scorer.notes().lines();
    facts_.items = request.predictions.size();
    facts_.unit = request.unit;
    facts_.version = std::string(qfs::build_info().version);
    facts_.intervals = "none";
    if (request.resamples > 0) estimate(request.resamples);
  }

  std::string name() const { return std::string(score_.metric->name()); }
  std::string signature() const { return qfs::score::long_signature(*score_.metric, facts_); }
  std::string short_signature() const {
    return qfs::score::short_signature(*score_.metric, facts_);
  }
  std::vector<std::string> columns() const { return score_.columns; }
  std::vector<std::string> notes() const { return notes_; }
  double value(size_t column) const { return score_.values.at(column).value; }
  std::vector<double> items(size_t column) const {
    std::vector<double> values;
    values.reserve(score_.statistics.size());
    for (const qfs::Statistics& row : score_.statistics) values.push_back(row.at(column));
    return values;
  }
  std::optional<std::pair<double, double>> interval(size_t column) const {
    if (intervals_.empty() || !intervals_.at(column).available()) return std::nullopt;
    return std::pair(intervals_.at(column).low, intervals_.at(column).high);
  }

 private:
  void add(const ScoreRequest& request, size_t i, qfs::score::TextScorer& scorer) {
    const std::string where = "item " + std::to_string(i);
    const auto optional_text = [&](const py::list& list, const char* what) {
      return list.empty() ? std::nullopt : std::optional(utf8(list[i], where + ": " + what));
    };
    qfs::ScoreItem item;
    item.candidate = utf8(request.predictions[i], where + ": the prediction");
    for (const py::handle& reference : request.references[i]) {
      item.references.push_back(utf8(reference, where + ": a reference"));
      if (item.references.back().empty()) ++facts_.empty_references;
    }
    item.document = optional_text(request.documents, "the document");
    item.query = optional_text(request.queries, "the query");
    item.cluster = optional_text(request.clusters, "the cluster").value_or(std::to_string(i));
    item.group = item.cluster;
    item.language = request.language;
    if (item.candidate.empty()) ++facts_.empty_predictions;
    const size_t count = item.references.size();
    facts_.fewest_references = i == 0 ? count : std::min(facts_.fewest_references, count);
    facts_.most_references = std::max(facts_.most_references, count);
    clusters_.push_back(item.cluster);
    if (const qfs::Status added = scorer.add(std::move(item), where); !added.ok()) {
      throw PythonError(added.error().to_string());
    }
  }

  void estimate(int64_t resamples) {
    const qfs::metrics::BootstrapOptions options{.resamples = resamples};
    facts_.intervals = qfs::metrics::bootstrap_signature(options);
    const py::gil_scoped_release release;
    intervals_ = value_of(qfs::metrics::bootstrap_means(score_.statistics, clusters_, options,
                                                        qfs::metrics::values_of(*score_.metric)));
  }

  qfs::score::TextScore score_;
  qfs::score::RunFacts facts_;
  std::vector<std::string> clusters_;
  std::vector<std::string> notes_;
  std::vector<qfs::metrics::Interval> intervals_;
};

/// Precision, recall and F, the order of rouge_score's Score.
py::tuple to_python(const Prf& prf) { return py::make_tuple(prf.precision, prf.recall, prf.f); }

py::dict to_python(const qfs::metrics::RougeScores& scores) {
  py::dict values;
  values["rouge1"] = to_python(scores.rouge1);
  values["rouge2"] = to_python(scores.rouge2);
  values["rougeL"] = to_python(scores.rougeL);
  values["rougeLsum"] = to_python(scores.rougeLsum);
  return values;
}

/// Pairs of texts, for the compat package. Keeps its vocabulary between calls.
class PairScorer {
 public:
  PairScorer(bool stem, bool punkt) : split_(punkt_split(punkt)), scorer_(options(stem, split_)) {}

  /// Text of the compat package: rouge_score takes a lone surrogate for a separator, as any other
  /// character that is no word; its ill-formed bytes are read as such a character.
  static std::string any_text(const py::str& text) {
    return py::bytes(text.attr("encode")("utf-8", "surrogatepass"));
  }

  /// Where the sentences of split_summaries begin and end, in code points. `text` has no lone
  /// surrogate.
  std::vector<std::pair<size_t, size_t>> sentences(const py::str& text) const {
    const std::string bytes = utf8(text, "the text");
    std::vector<std::pair<size_t, size_t>> spans;
    size_t at = 0;
    size_t points = 0;
    const auto advance = [&](const char* to) {
      const auto end = static_cast<size_t>(to - bytes.data());
      points +=
          static_cast<size_t>(qfs::count_code_points(std::string_view(bytes).substr(at, end - at)));
      at = end;
      return points;
    };
    for (const std::string_view sentence : split_.punkt->split(bytes)) {
      const size_t begin = advance(sentence.data());
      spans.emplace_back(begin, advance(sentence.data() + sentence.size()));
    }
    return spans;
  }

  py::dict score(const py::str& reference, const py::str& candidate,
                 const std::vector<size_t>& orders) {
    const EncodedText target = scorer_.encode(any_text(reference));
    const EncodedText prediction = scorer_.encode(any_text(candidate));
    py::dict values = to_python(scorer_.score(target, prediction));
    for (const size_t n : orders) {
      values[py::str("rouge" + std::to_string(n))] =
          to_python(qfs::metrics::ngram_score(target.tokens, prediction.tokens, n));
    }
    return values;
  }

 private:
  static qfs::metrics::SentenceSplit punkt_split(bool punkt) {
    if (!punkt) return {};
    return value_of(qfs::metrics::make_sentence_split(
        qfs::MetricOptionValues({{"split", "punkt"}, {"nltk", "3.10"}, {"punkt", ""}})));
  }

  static qfs::metrics::RougeOptions options(bool stem, const qfs::metrics::SentenceSplit& split) {
    qfs::metrics::RougeOptions options;
    options.stem = stem;
    options.split = split;
    return options;
  }

  qfs::metrics::SentenceSplit split_;
  qfs::metrics::RougeScorer scorer_;
};

using Lines = std::vector<std::vector<TokenId>>;

EncodedText encoded(const Lines& lines) {
  EncodedText text;
  for (const std::vector<TokenId>& line : lines) {
    text.tokens.insert(text.tokens.end(), line.begin(), line.end());
    text.line_ends.push_back(text.tokens.size());
  }
  return text;
}

/// Texts that a user's tokenizer has cut, as dense ids: one line of all tokens for ROUGE-N and -L,
/// or the sentences of summary-level ROUGE-L.
py::dict score_tokens(const Lines& reference, const Lines& candidate,
                      const std::vector<size_t>& orders) {
  const EncodedText target = encoded(reference);
  const EncodedText prediction = encoded(candidate);
  qfs::metrics::PreparedReference prepared;
  prepared.assign(target);
  py::dict values = to_python(prepared.score(prediction));
  for (const size_t n : orders) {
    values[py::str("rouge" + std::to_string(n))] =
        to_python(qfs::metrics::ngram_score(target.tokens, prediction.tokens, n));
  }
  return values;
}

std::vector<std::string> tokenize(const py::str& text, bool stem) {
  qfs::metrics::Vocabulary vocabulary(stem);
  std::vector<std::string> tokens;
  for (const TokenId id : vocabulary.encode(PairScorer::any_text(text)).tokens) {
    tokens.emplace_back(vocabulary.text(id));
  }
  return tokens;
}

std::vector<std::string> metric_names() {
  std::vector<std::string> names;
  for (const qfs::MetricEntry& entry : qfs::metrics::metric_entries()) {
    names.push_back(entry.name);
    for (const qfs::MetricAlias& alias : entry.aliases) names.push_back(alias.name);
  }
  return names;
}

}  // namespace

PYBIND11_MODULE(_native, module) {
  module.attr("__version__") = std::string(qfs::build_info().version);
  py::register_exception<PythonError>(module, "Error", PyExc_ValueError);
  module.def("metric_names", &metric_names);
  module.def("tokenize", &tokenize);
  module.def("score_tokens", &score_tokens);
  py::class_<PairScorer>(module, "PairScorer")
      .def(py::init<bool, bool>())
      .def("score", &PairScorer::score)
      .def("sentences", &PairScorer::sentences);
  py::class_<Scores>(module, "Scores")
      .def(
          py::init([](std::string metric, py::list predictions, py::list references,
                      py::list documents, py::list queries, py::list clusters, std::string language,
                      std::string unit, int64_t resamples, unsigned threads) {
            return std::make_unique<Scores>(
                ScoreRequest{std::move(metric), std::move(predictions), std::move(references),
                             std::move(documents), std::move(queries), std::move(clusters),
                             std::move(language), std::move(unit), resamples, threads});
          }))
      .def_property_readonly("name", &Scores::name)
      .def_property_readonly("signature", &Scores::signature)
      .def_property_readonly("short_signature", &Scores::short_signature)
      .def_property_readonly("columns", &Scores::columns)
      .def_property_readonly("notes", &Scores::notes)
      .def("value", &Scores::value)
      .def("items", &Scores::items)
      .def("interval", &Scores::interval);
}
