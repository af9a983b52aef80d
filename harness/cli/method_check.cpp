#include "harness/cli/method_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "harness/api/document_cutter.h"
#include "harness/cli/catalogs.h"
#include "harness/core/files.h"
#include "harness/core/log.h"
#include "harness/core/suggest.h"
#include "harness/core/whole_number.h"
#include "harness/host/client.h"
#include "harness/host/described_spec.h"
#include "harness/run/document_cutter.h"
#include "harness/run/launcher.h"

namespace qfs::cli {
namespace {

/// The last lines of the program's output, for errors.
std::string output_tail(const std::string& log_path) {
  constexpr size_t kMostBytes = 1500;
  Result<std::string> log = read_file(log_path, uint64_t{16} << 20);
  if (!log || log->empty()) return "";
  std::string tail = log->size() > kMostBytes ? log->substr(log->size() - kMostBytes) : *log;
  if (log->size() > kMostBytes) tail.erase(0, tail.find('\n') + 1);
  return "\nthe end of its output:\n" + tail;
}

Result<ParamValue> typed_value(const ParamSpec& spec, const std::string& text) {
  const auto bad = [&] {
    return invalid_argument(fmt::format("--param: '{}' of '{}' is not of type {}", text, spec.name,
                                        to_string(spec.type)));
  };
  switch (spec.type) {
    case ParamType::boolean:
      if (text != "true" && text != "false") return bad();
      return ParamValue(text == "true");
    case ParamType::integer: {
      const auto value = whole_number<int64_t>(text);
      return value ? ParamValue(*value) : Result<ParamValue>(bad());
    }
    case ParamType::real: {
      const auto value = whole_number<double>(text);
      return value ? ParamValue(*value) : Result<ParamValue>(bad());
    }
    case ParamType::text:
      return ParamValue(text);
  }
  return bad();
}

/// Document tokens where neither the program nor the command line says how many: less than a
/// bundled document has, so that cutting is tried, too.
constexpr int64_t kCheckedContext = 256;

/// Defaults with what was given; every required parameter must be given.
Result<Params> chosen_params(const MethodSpec& spec, const std::vector<std::string>& given) {
  Params params;
  params.set(std::string(kLocalContext), kCheckedContext);
  const std::vector<ParamSpec> specs = spec.params();
  std::vector<std::string> names;
  for (const ParamSpec& param : specs) {
    names.push_back(param.name);
    if (param.default_value) params.set(param.name, *param.default_value);
  }
  for (const std::string& text : given) {
    const size_t equals = text.find('=');
    const std::string name = text.substr(0, equals);
    const auto param = std::ranges::find(specs, name, &ParamSpec::name);
    if (equals == std::string::npos || param == specs.end()) {
      return invalid_argument(fmt::format("--param: the method has no parameter '{}'{}", name,
                                          suggestion(name, names)));
    }
    Result<ParamValue> value = typed_value(*param, text.substr(equals + 1));
    if (!value) return value.error();
    params.set(name, *std::move(value));
  }
  for (const ParamSpec& param : specs) {
    if (param.required && !params.has(param.name)) {
      return invalid_argument(
          fmt::format("the method's parameter '{}' ({}) has no default: give --param {}=VALUE",
                      param.name, to_string(param.type), param.name));
    }
  }
  return params;
}

/// One program on its way through the protocol.
class Check {
 public:
  Check(const MethodCheckOptions& options, std::string log_path)
      : options_(options), log_path_(std::move(log_path)), timeout_(options.timeout_seconds) {}

  Result<std::string> run(std::span<const NumberedExample> examples) {
    ChildOptions child = run::external_child({options_.command, {}, ""});
    child.log_path = log_path_;
    Result<host::HostClient> started = host::HostClient::start(child, {});
    if (!started) return explained("start", started.error());
    client_.emplace(*std::move(started));
    if (Status probed = probe(); !probed) return probed.error();
    if (Status described = describe(); !described) return described.error();
    if (Status opened = open(); !opened) return opened.error();
    for (const NumberedExample& example : examples) {
      if (Status ran = summarize(example); !ran) return ran.error();
    }
    if (Status repeated = repeat(examples.front()); !repeated) return repeated.error();
    if (Status timed = time(examples.front()); !timed) return timed.error();
    if (auto failure = client_->close(timeout_)) return explained("close", failure->error);
    return report_ +
           "\nThe program can be used as a method of a sweep:\n  {\"method\": \"external\", "
           "\"command\": [" +
           quoted_command() + "], \"fingerprint\": [\"the files it rests on\"]}\n";
  }

 private:
  Error explained(std::string_view step, Error error) const {
    error.message = fmt::format("{}: {}{}", step, error.message, output_tail(log_path_));
    // A program reports what it did not foresee as internal: its own defect, not ours.
    if (error.kind == ErrorKind::internal) error.kind = ErrorKind::data;
    return error;
  }

  Status probe() {
    host::ProbeReply reply;
    if (auto failure = client_->probe({}, timeout_, reply)) {
      return explained(
          "probe (the program must say which protocol it speaks and what changes digits)",
          failure->error);
    }
    report_ += fmt::format("probe: version {} of the protocol\n", reply.protocol);
    return {};
  }

  Status describe() {
    host::Description description;
    if (auto failure = client_->describe(timeout_, description)) {
      return explained("describe (the program must say its name, version and parameters)",
                       failure->error);
    }
    visibility_ = {.references = description.references, .evidence = description.evidence};
    Result<std::shared_ptr<const MethodSpec>> spec = host::make_described_spec(description);
    if (!spec) return explained("describe", spec.error());
    spec_ = *std::move(spec);
    report_ += fmt::format("describe: {} version {}, {}\n", spec_->name(), spec_->version(),
                           spec_->doc().empty() ? "no description" : spec_->doc());
    for (const ParamSpec& param : spec_->params()) {
      report_ += fmt::format("  parameter {} ({})\n", param.name, to_string(param.type));
    }
    if (visibility_.references || visibility_.evidence) {
      report_ += "  it sees references or evidence: tables mark its rows as an oracle\n";
    }
    return {};
  }

  Status open() {
    Result<Params> params = chosen_params(*spec_, options_.params);
    if (!params) return params.error();
    host::OpenRequest request;
    request.method = spec_->name();
    request.session.params = *params;
    if (Status prepared = prepare_cut(*std::move(params)); !prepared) return prepared;
    if (auto failure = client_->open(request, timeout_)) return explained("open", failure->error);
    report_ += "open: ok\n";
    return {};
  }

  /// Documents are cut as in a sweep whose tokenizer is `words`.
  Status prepare_cut(Params params) {
    const auto context = params.get<int64_t>(kLocalContext);
    const Result<Resource> words = Catalogs().methods().tokenizer("words");
    if (!words) return words.error();
    cell_.id = CellId("method-check");
    cell_.label = spec_->name();
    cell_.params = std::move(params);
    cell_.tokenizer = *words;
    cell_.external = ExternalCommand{options_.command, {}, ""};
    run::RunOptions options;
    options.programs.light = {executable_directory() + "/qfs-bench", "host"};
    launcher_.emplace(options, qfs::HostLimits{},
                      std::filesystem::path(log_path_).parent_path().string());
    cutter_.emplace(*launcher_);
    report_ += fmt::format("local_context: documents are cut to {} words here\n", context);
    return {};
  }

  Result<Prediction> predict(const NumberedExample& example) {
    host::UnitResults results;
    host::RunRequest request{.unit = 0, .measure = false, .examples = {example}};
    if (auto failure = cutter_->cut(cell_, request)) return explained("cut", failure->error);
    if (auto failure = client_->run(request, visibility_, timeout_, results)) {
      return explained(fmt::format("run (example {})", example.example.key), failure->error);
    }
    return results.predictions.front().prediction;
  }

  Status summarize(const NumberedExample& example) {
    Result<Prediction> prediction = predict(example);
    if (!prediction) return prediction.error();
    constexpr size_t kShownBytes = 160;
    report_ += fmt::format("run: {}: '{}'\n", example.example.key,
                           prediction->text.substr(0, kShownBytes));
    if (prediction->text.empty()) report_ += "  note: the summary is empty\n";
    if (first_.empty()) first_ = prediction->text;
    return {};
  }

  /// As for a sweep with "measure". A program without that verb cannot be timed and is no worse.
  Status time(const NumberedExample& example) {
    host::UnitResults results;
    const host::RunRequest request{.unit = 0, .measure = true, .examples = {example}};
    auto failure = client_->run(request, visibility_, timeout_, results);
    if (!failure) {
      report_ += fmt::format("measure: {:.3f} s, peak {} MiB\n",
                             static_cast<double>(results.done.ns) * 1e-9,
                             results.done.peak_resident_bytes >> 20);
      return {};
    }
    if (!failure->host_usable) return explained("measure", failure->error);
    report_ += fmt::format("measure: not offered ({}), so that it cannot be timed\n",
                           failure->error.message);
    return {};
  }

  Status repeat(const NumberedExample& example) {
    Result<Prediction> again = predict(example);
    if (!again) return again.error();
    report_ += again->text == first_
                   ? "run again: the same summary\n"
                   : "run again: ANOTHER summary; a store would report it as not deterministic\n";
    return {};
  }

  std::string quoted_command() const {
    return fmt::format("\"{}\"", fmt::join(options_.command, "\", \""));
  }

  const MethodCheckOptions& options_;
  std::string log_path_;
  std::chrono::seconds timeout_;
  std::optional<host::HostClient> client_;
  plan::Cell cell_;
  std::optional<run::HostLauncher> launcher_;
  std::optional<run::DocumentCutter> cutter_;
  host::Visibility visibility_;
  std::shared_ptr<const MethodSpec> spec_;
  std::string first_;
  std::string report_;
};

}  // namespace

Result<std::string> check_method(const MethodCheckOptions& options,
                                 std::span<const NumberedExample> examples) {
  if (options.command.empty()) {
    return invalid_argument(
        "which program? For instance: qfs-bench method check python3 my_method.py");
  }
  const Result<std::string> folder = run::shared_log_folder();
  if (!folder) return folder.error();
  const std::string log = *folder + "/method-check.log";
  std::error_code ignored;
  std::filesystem::remove(log, ignored);
  Result<std::string> report = Check(options, log).run(examples);
  if (!report) return report.error();
  return terminal_safe(*report);
}

}  // namespace qfs::cli
