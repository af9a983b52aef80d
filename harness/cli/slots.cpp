#include "harness/cli/slots.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <thread>

#include "harness/cli/exit_codes.h"
#include "harness/cli/plan_shards.h"
#include "harness/core/available_cores.h"
#include "harness/core/child_process.h"
#include "harness/core/counted.h"
#include "harness/core/files.h"
#include "harness/core/log.h"
#include "harness/plan/emit.h"
#include "harness/run/signals.h"
#include "harness/store/merge.h"
#include "harness/store/store.h"

namespace qfs::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kVisibleDevices = "CUDA_VISIBLE_DEVICES";

/// Those that the user left visible, or else all that the driver has a device file of.
std::vector<std::string> visible_devices() {
  std::vector<std::string> devices;
  if (const char* const given = std::getenv(kVisibleDevices)) {
    std::string rest = given;
    while (!rest.empty()) {
      const size_t comma = std::min(rest.find(','), rest.size());
      if (comma > 0) devices.push_back(rest.substr(0, comma));
      rest.erase(0, comma + 1);
    }
    return devices;
  }
  std::error_code ignored;
  while (fs::exists("/dev/nvidia" + std::to_string(devices.size()), ignored)) {
    devices.push_back(std::to_string(devices.size()));
  }
  return devices;
}

std::map<std::string, std::string> own_environment() {
  std::map<std::string, std::string> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const size_t equals = text.find('=');
    if (equals != text.npos) variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return variables;
}

/// One worker and where it writes.
struct SlotWorker {
  std::string name;  ///< "slot 2/4"
  std::string log_path;
  std::optional<ChildProcess> process;
  std::optional<ChildExit> exit;
};

std::vector<std::string> slot_stores(const std::string& folder) {
  std::vector<std::string> stores;
  std::error_code none;
  for (const fs::directory_entry& file : fs::directory_iterator(folder, none)) {
    const std::string name = file.path().filename().string();
    // An empty one was stopped before it was a store.
    std::error_code gone;
    if (name.starts_with("slot-") && file.path().extension() == ".sqlite" &&
        file.file_size(gone) > 0) {
      stores.push_back(file.path().string());
    }
  }
  std::ranges::sort(stores);
  return stores;
}

/// Takes the stores of all slots, those of an earlier run that was killed as well.
Status merge_slots(const std::string& folder, const std::string& store_path) {
  for (const std::string& source : slot_stores(folder)) {
    const Result<store::MergeOutcome> merged = store::merge_store(store_path, source);
    if (!merged) return merged.error();
    if (merged->conflicts > 0) {
      log_warning(fmt::format(
          "{}: {}; 'doctor' lists them", source,
          counted(merged->conflicts, "output was not reproduced", "outputs were not reproduced")));
    }
  }
  return {};
}

class Slots {
 public:
  Slots(std::string folder, std::string store_path, const SweepOptions& sweep)
      : folder_(std::move(folder)), store_path_(std::move(store_path)), sweep_(sweep) {}

  Status start(const MissingShards& missing, const std::string& manifest) {
    const std::vector<std::string> devices = visible_devices();
    for (size_t i = 0; i < missing.shards.size(); ++i) {
      const std::string number = fmt::format("{}/{}", i + 1, missing.shards.size());
      const std::string stem =
          fmt::format("{}/slot-{}-of-{}", folder_, i + 1, missing.shards.size());
      ChildOptions child;
      child.command = {executable_directory() + "/qfs-bench", "worker", sweep_.file};
      const std::vector<std::string> passed = options_of_workers(sweep_);
      child.command.insert(child.command.end(), passed.begin(), passed.end());
      for (const std::string& word :
           {std::string("--manifest"), manifest, std::string("--shard"), number,
            std::string("--store"), stem + ".sqlite", std::string("--no-measure")}) {
        child.command.push_back(word);
      }
      if (missing.trained) {
        child.command.insert(child.command.end(), {"--trained-in", store_path_});
      }
      child.environment = own_environment();
      if (!devices.empty()) child.environment[kVisibleDevices] = devices[i % devices.size()];
      child.log_path = stem + ".log";
      Result<ChildProcess> started = ChildProcess::start(child);
      if (!started) return started.error();
      workers_.push_back({"slot " + number, child.log_path, *std::move(started), {}});
    }
    return {};
  }

  /// Until all have ended; the first signal asks them to end with the unit in hand.
  int wait(const run::SignalWatch& signals) {
    constexpr std::chrono::milliseconds kPause{20};
    bool told = false;
    while (std::ranges::any_of(workers_, [](const SlotWorker& w) { return !w.exit; })) {
      if (signals.received() != 0 && !std::exchange(told, true)) {
        for (const SlotWorker& worker : workers_) {
          if (!worker.exit) ::kill(worker.process->pid(), SIGTERM);
        }
      }
      for (SlotWorker& worker : workers_) {
        if (worker.exit) continue;
        worker.exit = worker.process->wait(std::chrono::milliseconds(0));
        if (worker.exit) tell(worker, told);
      }
      std::this_thread::sleep_for(kPause);
    }
    return signals.received();
  }

 private:
  /// Cells that failed are results (3).
  static void tell(const SlotWorker& worker, bool told_to_end) {
    const bool sound =
        worker.exit->signal == 0 &&
        (worker.exit->code == 0 || worker.exit->code == static_cast<int>(ExitCode::incomplete));
    if (sound || told_to_end) {
      log_info(worker.name + ": ended");
    } else {
      log_warning(fmt::format("{} ended with {} ({}); its cells are left to this process",
                              worker.name, worker.exit->describe(), worker.log_path));
    }
  }

  std::string folder_;
  std::string store_path_;
  const SweepOptions& sweep_;
  std::vector<SlotWorker> workers_;
};

}  // namespace

Result<SlotsOutcome> run_in_slots(const plan::Plan& plan, const std::string& store_path,
                                  const run::RunOptions& run, const SweepOptions& sweep,
                                  size_t slots) {
  const std::string folder = plan::shards_folder(store_path);
  std::error_code none;
  if (!fs::exists(store_path, none) && !slot_stores(folder).empty()) {
    return store_error(
        fmt::format(
            "the store is gone, and '{0}' has what slots computed for it: remove that folder "
            "to begin anew, or take it: qfs-bench merge {1} {0}/slot-*.sqlite",
            folder, store_path),
        store_path);
  }
  // Before a slot begins, so that a store that is not there was removed.
  if (const auto made = store::Store::open(store_path); !made) return made.error();
  if (Status merged = merge_slots(folder, store_path); !merged) return merged.error();
  const Result<MissingShards> missing = missing_shards(plan, store_path, run, slots, false);
  if (!missing) return missing.error();
  if (missing->shards.empty()) return SlotsOutcome{};
  if (Status made = make_directories(folder); !made) return made.error();
  const std::string manifest = folder + "/slots.json";
  if (Status written = write_file(manifest, plan::shard_manifest(plan, missing->shards));
      !written) {
    return written.error();
  }
  size_t cells = 0;
  for (const plan::Shard& shard : missing->shards) cells += shard.cells.size();
  log_info(fmt::format("{} in {}, logs in {}", counted(cells, "cell"),
                       counted(missing->shards.size(), "slot"), folder));
  // Children have the signals as they were.
  const auto signals = run::SignalWatch::start([](int signal) {
    log_info(fmt::format("{}: stopping when the units in hand are done", run::signal_name(signal)));
  });
  if (!signals) return signals.error();
  Slots workers(folder, store_path, sweep);
  if (Status started = workers.start(*missing, manifest); !started) return started.error();
  SlotsOutcome outcome;
  outcome.interrupted_by = workers.wait(**signals);
  if (Status merged = merge_slots(folder, store_path); !merged) return merged.error();
  return outcome;
}

}  // namespace qfs::cli
