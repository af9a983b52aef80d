// `qfs-bench rouge155`: the switches of ROUGE-1.5.5, its configuration files and its lines.
#include <CLI/CLI.hpp>
#include <cstdlib>
#include <memory>

#include "harness/cli/commands.h"
#include "harness/cli/output.h"
#include "harness/core/files.h"
#include "harness/core/log.h"
#include "harness/core/whole_number.h"
#include "metrics/rouge155/evaluation.h"

namespace qfs::cli {
namespace {

namespace r155 = metrics::rouge155;

constexpr uint64_t kMaxConfigurationBytes = uint64_t{1} << 30;

/// The switches as written; numbers stay text because their spelling is printed.
struct Switches {
  std::string configuration, system;
  std::string folder, exceptions, stop_words;
  std::string confidence = "95", bytes, words, max_n, samples = "1000", gap, weight;
  std::string formula = "A", alpha = "0.5", averaging = "0", list_format;
  bool all = false, per_instance = false, stem = false, stop = false, no_lcs = false;
  bool unigrams_only = false, unigrams_also = false, jackknife = false;
};

template <class Number>
Result<Number> number(const std::string& text, const std::string& option) {
  if (const auto value = whole_number<Number>(text)) return *value;
  return invalid_argument(option + " is '" + text + "', expected a number");
}

template <class Number, class Target>
Status read_into(Target& target, const std::string& text, const std::string& option) {
  if (text.empty()) return {};
  Result<Number> value = number<Number>(text, option);
  if (!value) return value.error();
  target = *value;
  return {};
}

Status read_scoring(const Switches& in, r155::Options& out) {
  if (Status s = read_into<int64_t>(out.max_n, in.max_n, "-n"); !s) return s;
  if (Status s = read_into<double>(out.alpha, in.alpha, "-p"); !s) return s;
  out.lcs = !in.no_lcs;
  if (in.formula != "A" && in.formula != "B") {
    return invalid_argument("-f is '" + in.formula + "', expected A or B");
  }
  out.formula = in.formula == "A" ? r155::Formula::average : r155::Formula::best;
  if (!in.weight.empty()) {
    out.weight = r155::Weight{0, in.weight};
    if (Status s = read_into<double>(out.weight->power, in.weight, "-w"); !s) return s;
  }
  if (!in.words.empty() && !in.bytes.empty()) {
    return invalid_argument("-l and -b exclude each other");
  }
  if (!in.words.empty() || !in.bytes.empty()) {
    out.limit.unit = in.words.empty() ? r155::LimitUnit::bytes : r155::LimitUnit::words;
    const bool words = !in.words.empty();
    if (Status s =
            read_into<int64_t>(out.limit.size, words ? in.words : in.bytes, words ? "-l" : "-b");
        !s) {
      return s;
    }
    if (out.limit.size == 0) out.limit = {};  // as upstream: no limit
  }
  if (in.gap.empty()) {
    if (in.unigrams_only || in.unigrams_also) {
      return invalid_argument("-u and -U extend ROUGE-S: give -2 GAP too");
    }
    return {};
  }
  out.skip = r155::SkipGrams{0, in.gap, r155::SkipUnigrams::none};
  if (in.unigrams_also) out.skip->unigrams = r155::SkipUnigrams::also;
  if (in.unigrams_only) out.skip->unigrams = r155::SkipUnigrams::only;
  return read_into<int64_t>(out.skip->gap, in.gap, "-2");
}

Result<r155::EvaluationOptions> read_options(const Switches& in) {
  r155::EvaluationOptions out;
  if (Status s = read_scoring(in, out.scoring); !s) return s.error();
  if (Status s = read_into<int64_t>(out.resampling.samples, in.samples, "-r"); !s) return s.error();
  if (Status s = read_into<double>(out.resampling.confidence, in.confidence, "-c"); !s) {
    return s.error();
  }
  out.confidence_text = in.confidence;
  if (in.averaging.size() != 1 || in.averaging < "0" || in.averaging > "2") {
    return invalid_argument("-t is '" + in.averaging + "', expected 0, 1 or 2");
  }
  out.averaging = static_cast<r155::Averaging>(in.averaging[0] - '0');
  out.per_instance = in.per_instance;
  if (in.per_instance && out.averaging != r155::Averaging::instances) {
    return invalid_argument("-d prints scores of evaluations and goes with -t 0 only");
  }
  if (Status s = r155::check(out.scoring); !s) return s.error();
  if (Status s = r155::check(out.resampling); !s) return s.error();
  return out;
}

/// -e, else the folder that the Perl script would take.
std::string data_folder(const Switches& in) {
  if (!in.folder.empty()) return in.folder;
  for (const char* name : {"ROUGE_EVAL_HOME", "RED_EVAL_HOME"}) {
    if (const char* value = std::getenv(name); value != nullptr && *value != '\0') return value;
  }
  return {};
}

Result<std::shared_ptr<const r155::Lexicon>> read_lexicon(const Switches& in) {
  auto lexicon = std::make_shared<r155::Lexicon>();
  lexicon->stem = in.stem;
  const std::string folder = data_folder(in);
  r155::DataFolder found;
  if (!folder.empty()) found = r155::look_into_data_folder(folder);
  std::string where = folder.empty() ? "" : " (nothing of that kind in " + folder + ")";
  if (in.stem && in.exceptions != "none") {
    const std::string path = in.exceptions.empty() ? found.exceptions : in.exceptions;
    if (path.empty()) {
      if (!found.warning.empty()) where = "; " + found.warning;
      return not_found(
          "-m looks words up in the WordNet 2.0 exception list first: give -e DIR or "
          "--exceptions FILE, or say --exceptions none" +
          where);
    }
    if (in.exceptions.empty() && !found.warning.empty()) log_warning(found.warning);
    Result<r155::ExceptionList> list = r155::read_exceptions(path);
    if (!list) return list.error();
    lexicon->exceptions = *std::move(list);
  }
  if (in.stop) {
    const std::string path = in.stop_words.empty() ? found.stop_words : in.stop_words;
    if (path.empty()) {
      return not_found("-s needs a list of stop words: give -e DIR or --stop-words FILE" + where);
    }
    Result<r155::StopWords> list = r155::read_stop_words(path);
    if (!list) return list.error();
    lexicon->stop_words = *std::move(list);
  }
  return std::shared_ptr<const r155::Lexicon>(std::move(lexicon));
}

/// Errors in files are errors of usage here: the user named them.
Error as_usage(Error error) {
  if (error.kind == ErrorKind::data) error.kind = ErrorKind::invalid_argument;
  return error;
}

Result<r155::Configuration> read_configuration(const Switches& in) {
  Result<std::string> text = read_file(in.configuration, kMaxConfigurationBytes);
  if (!text) return text.error();
  if (in.list_format.empty()) return r155::parse_configuration(*text, in.configuration);
  const std::optional<r155::InputFormat> format = r155::input_format_named(in.list_format);
  if (!format) {
    return invalid_argument("-z is '" + in.list_format + "', expected SPL, SEE or ISI");
  }
  return r155::parse_pair_list(*text, in.configuration, *format,
                               in.system.empty() ? "X" : in.system);
}

Result<ExitCode> run(const Switches& in) {
  Result<r155::EvaluationOptions> options = read_options(in);
  if (!options) return options.error();
  const bool all = in.all && in.list_format.empty();
  if (!all && in.system.empty() && in.list_format.empty()) {
    return invalid_argument("name the system to evaluate after the configuration file, or give -a");
  }
  Result<std::shared_ptr<const r155::Lexicon>> lexicon = read_lexicon(in);
  if (!lexicon) return as_usage(lexicon.error());
  Result<r155::Configuration> configuration = read_configuration(in);
  if (!configuration) return as_usage(configuration.error());
  if (in.jackknife) *configuration = r155::jackknifed(*configuration);
  const std::vector<std::string> systems =
      all || in.system.empty() ? configuration->systems : std::vector<std::string>{in.system};
  Result<r155::EvaluationReport> report =
      r155::evaluate(*configuration, systems, *options, *lexicon);
  if (!report) return as_usage(report.error());
  for (const std::string& warning : report->warnings) log_warning(warning);
  if (Status printed = print_result(report->lines); !printed) return printed.error();
  return ExitCode::ok;
}

void add_switches(CLI::App& command, Switches& to) {
  const auto text = [&](const char* name, std::string& target, const char* doc, const char* type) {
    command.add_option(name, target, doc)->type_name(type);
  };
  const auto flag = [&](const char* name, bool& target, const char* doc) {
    command.add_flag(name, target, doc);
  };
  command.add_option("CONFIG", to.configuration, "ROUGE's XML configuration, or a list with -z")
      ->required();
  command.add_option("SYSTEM", to.system, "The system to evaluate, without -a");
  flag("-a", to.all, "All systems");
  text("-n", to.max_n, "ROUGE-1 to ROUGE-N", "N");
  flag("-x", to.no_lcs, "No ROUGE-L");
  text("-w", to.weight, "ROUGE-W with this weight, such as 1.2", "POWER");
  text("-2", to.gap, "ROUGE-S with at most GAP words in between; -1: any number", "GAP");
  flag("-u", to.unigrams_only, "ROUGE-SU instead of ROUGE-S");
  flag("-U", to.unigrams_also, "ROUGE-S and ROUGE-SU");
  flag("-m", to.stem, "Stem (exception list, then Porter)");
  flag("-s", to.stop, "Leave stop words out");
  text("-l", to.words, "Only the first WORDS words of each text", "WORDS");
  text("-b", to.bytes, "Only the first BYTES bytes of each text", "BYTES");
  text("-c", to.confidence, "Confidence of the intervals, in percent (default: 95)", "PERCENT");
  text("-r", to.samples, "Bootstrap samples (default: 1000)", "COUNT");
  text("-f", to.formula, "A: references pooled (default); B: the best reference", "A|B");
  text("-p", to.alpha, "Weight of precision in F (default: 0.5)", "ALPHA");
  text("-t", to.averaging, "Average over 0: evaluations (default), 1: tokens; 2: print counts",
       "0|1|2");
  flag("-d", to.per_instance, "Also print the scores of each evaluation");
  text("-z", to.list_format, "CONFIG is a list: a candidate and its references on each line",
       "SPL|SEE|ISI");
  text("-e", to.folder, "Folder of the word lists (default: $ROUGE_EVAL_HOME)", "DIR");
  text("--exceptions", to.exceptions,
       "Exception list of the stemmer: 'form lemma' lines, WordNet's folder, or none", "PATH|none");
  text("--stop-words", to.stop_words, "Stop words, one per line", "FILE");
  flag("--jackknife", to.jackknife,
       "Replace each evaluation by M, each with one of the M references left out");
}

}  // namespace

void add_rouge155_command(const CommandLine& line) {
  CLI::App& command =
      add_subcommand(line.app, "rouge155",
                     "ROUGE-1.5.5: the Perl script's switches, files and lines, without Perl",
                     "qfs-bench rouge155 -e data -c 95 -r 1000 -n 2 -m -a config.xml\n"
                     "  ls refs | sed 's#.*#sys/& refs/&#' > pairs.txt && qfs-bench rouge155 -n 4 "
                     "-z SPL pairs.txt");
  auto switches = std::make_shared<Switches>();
  add_switches(command, *switches);
  command.callback(
      [switches, &chosen = line.chosen] { chosen = [switches] { return run(*switches); }; });
}

}  // namespace qfs::cli
