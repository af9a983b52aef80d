#include "tests/support/rouge155_switches.h"

#include <sstream>
#include <stdexcept>

namespace qfs::test {

namespace r155 = metrics::rouge155;

Rouge155Switches parse_rouge155_switches(const std::string& switches) {
  Rouge155Switches parsed;
  r155::Options& scoring = parsed.options.scoring;
  bool only = false;
  bool also = false;
  std::istringstream in(switches);
  const auto value = [&] {
    std::string text;
    in >> text;
    return text;
  };
  for (std::string name; in >> name;) {
    if (name == "-n")
      scoring.max_n = std::stoll(value());
    else if (name == "-x")
      scoring.lcs = false;
    else if (name == "-m")
      parsed.stem = true;
    else if (name == "-s")
      parsed.stop = true;
    else if (name == "-d")
      parsed.options.per_instance = true;
    else if (name == "-u")
      only = true;
    else if (name == "-U")
      also = true;
    else if (name == "-f")
      scoring.formula = value() == "B" ? r155::Formula::best : r155::Formula::average;
    else if (name == "-p")
      scoring.alpha = std::stod(value());
    else if (name == "-l")
      scoring.limit = {r155::LimitUnit::words, std::stoll(value())};
    else if (name == "-b")
      scoring.limit = {r155::LimitUnit::bytes, std::stoll(value())};
    else if (name == "-r")
      parsed.options.resampling.samples = std::stoll(value());
    else if (name == "-t")
      parsed.options.averaging = static_cast<r155::Averaging>(std::stoi(value()));
    else if (name == "-w") {
      const std::string text = value();
      scoring.weight = r155::Weight{std::stod(text), text};
    } else if (name == "-2") {
      const std::string text = value();
      scoring.skip = r155::SkipGrams{std::stoll(text), text, r155::SkipUnigrams::none};
    } else if (name == "-c") {
      parsed.options.confidence_text = value();
      parsed.options.resampling.confidence = std::stod(parsed.options.confidence_text);
    } else if (name != "-a") {
      throw std::invalid_argument("switch " + name);
    }
  }
  if (scoring.skip && (only || also)) {
    scoring.skip->unigrams = only ? r155::SkipUnigrams::only : r155::SkipUnigrams::also;
  }
  return parsed;
}

}  // namespace qfs::test
