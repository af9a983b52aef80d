#include "harness/plan/emit.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "harness/core/counted.h"

namespace qfs::plan {
namespace {

/// A word of a shell, whatever is in it.
std::string quoted(const std::string& word) {
  const bool plain = !word.empty() && std::ranges::all_of(word, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_-./=:,@%+").find(c) != std::string_view::npos;
  });
  if (plain) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

/// What stands in a comment: one line of it.
std::string comment(std::string text) {
  std::ranges::replace_if(
      text, [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
  return text;
}

std::string options_text(const EmitRequest& request) {
  std::string text = quoted(request.file);
  for (const std::string& option : request.options) text += " " + quoted(option);
  return text;
}

/// Machines that share nothing time on their own; workers beside each other would disturb it.
bool workers_measure(const EmitRequest& request) { return request.kind == EmitKind::slurm; }

/// A worker's arguments; `number` is its shard, in the script's own words.
std::string worker_arguments(const EmitRequest& request, const std::string& number) {
  const std::string count = std::to_string(request.shards.size());
  std::string text = "worker " + options_text(request) + " --manifest " + quoted(request.manifest) +
                     " --shard " + number + "/" + count + " --store " +
                     quoted(shards_folder(request.store)) + "/" + number + "-of-" + count +
                     ".sqlite";
  if (request.trained) text += " --trained-in " + quoted(request.store);
  if (request.measured && !workers_measure(request)) text += " --no-measure";
  return text;
}

/// What the script is, how it is used, and what it is expected to take.
std::string head(const EmitRequest& request, const std::string& usage) {
  size_t cells = 0;
  double longest = 0;
  for (const Shard& shard : request.shards) {
    cells += shard.cells.size();
    longest = std::max(longest, shard.seconds);
  }
  const auto minutes = static_cast<int64_t>(std::ceil(longest / 60));
  std::string text = "#!/bin/sh\n# " + comment(request.sweep) + ": " + counted(cells, "cell") +
                     " in " + counted(request.shards.size(), "shard") + ", the longest about " +
                     counted(minutes, "minute") +
                     ".\n#\n# Run it in the folder where it was made. " +
                     "Run it again after anything that stopped it: what is\n# done stays done. " +
                     "QFS_BENCH names another program.\n# " + usage + "\n";
  if (request.measured) {
    text += workers_measure(request)
                ? "# Cells are timed where they run: ask for whole nodes, or leave it to "
                  "'qfs-bench sweep'.\n"
                : "# Cells are timed at the end, with nothing beside them.\n";
  }
  return text + "set -u\nqfs=${QFS_BENCH:-qfs-bench}\nmkdir -p -- " +
         quoted(shards_folder(request.store)) + " || exit\n";
}

/// Takes the stores that are there into one; forgets the arguments.
std::string merge_text(const EmitRequest& request) {
  return "set --\nfor store in " + quoted(shards_folder(request.store)) + "/[0-9]*-of-" +
         std::to_string(request.shards.size()) +
         ".sqlite; do\n  if [ -f \"$store\" ]; then set -- \"$@\" \"$store\"; fi\ndone\n"
         "if [ $# -gt 0 ]; then \"$qfs\" merge " +
         quoted(request.store) + " \"$@\"; fi\n";
}

/// Merges, and where every worker came to its end, scores, times and prints.
std::string conclusion(const EmitRequest& request) {
  return "merge() {\n" + merge_text(request) +
         "}\nmerge || exit\nif [ \"$failed\" -ne 0 ]; then\n"
         "  why='its last lines above say why'\n"
         "  if [ \"$failed\" -ge 128 ]; then why='run this script again to continue'; fi\n"
         "  echo \"$0: a worker was stopped (exit $failed); $why\" >&2\n"
         "  exit \"$failed\"\nfi\nexec \"$qfs\" sweep " +
         options_text(request) + " --store " + quoted(request.store) + " \"$@\"\n";
}

std::string numbers(size_t count) {
  std::string text;
  for (size_t i = 1; i <= count; ++i) text += " " + std::to_string(i);
  return text;
}

std::string shell_script(const EmitRequest& request) {
  return head(request, "Arguments go to every worker and to the sweep at the end (--threads 1).") +
         R"(
worker() {
  shard=$1
  shift
  exec "$qfs" )" +
         worker_arguments(request, "\"$shard\"") + R"( "$@"
}

# Workers end with the example in hand. A terminal sends Ctrl-C to them as well.
stopped=0
pids=
trap 'stopped=130' INT
trap 'stopped=143; if [ -n "$pids" ]; then kill -TERM $pids; fi' TERM HUP
for shard in)" +
         numbers(request.shards.size()) + R"(; do
  worker "$shard" "$@" &
  pids="$pids $!"
done
failed=0
for pid in $pids; do
  wait "$pid"
  status=$?
  while kill -0 "$pid" 2>/dev/null; do  # a signal ended the wait, not the worker
    wait "$pid"
    status=$?
  done
  case $status in
    0 | 3) ;;  # 3: cells failed, which is a result
    *) failed=$status ;;
  esac
done
if [ "$stopped" -ne 0 ]; then failed=$stopped; fi
trap - INT TERM HUP

)" + conclusion(request);
}

std::string parallel_script(const EmitRequest& request) {
  return head(request,
              "PARALLEL holds options of GNU parallel (\"--jobs 4\"); arguments go to every worker "
              "and to\n# the sweep at the end (--threads 1).") +
         R"(
if ! command -v parallel >/dev/null; then
  echo "$0: GNU parallel is not installed; --emit shell needs nothing" >&2
  exit 5
fi
# A signal to parallel goes to the workers, which end with the example in hand.
stopped=0
trap 'stopped=130' INT
trap 'stopped=143' TERM HUP
parallel --will-cite --quote --halt never --termseq TERM,3600000,KILL,25 \
  --joblog )" +
         quoted(shards_folder(request.store) + "/joblog") + R"( \
  "$qfs" )" +
         worker_arguments(request, "{}") + R"( "$@" :::)" + numbers(request.shards.size()) + R"( &
pid=$!
wait "$pid"
failed=$?
while kill -0 "$pid" 2>/dev/null; do
  kill -TERM "$pid"  # starts no further shard
  sleep 1
  kill -TERM "$pid"  # and tells those that run
  wait "$pid"
  failed=$?
done
trap - INT TERM HUP
# parallel's log has an exit code a shard (column 7); 3 is a result.
if [ "$failed" -ne 0 ] && [ "$failed" -le 101 ]; then
  failed=$(awk 'NR > 1 && $8 != 0 { worst = 128 + $8 } NR > 1 && $7 != 0 && $7 != 3 { worst = $7 }
                END { print worst + 0 }' )" +
         quoted(shards_folder(request.store) + "/joblog") + R"()
fi
if [ "$stopped" -ne 0 ]; then failed=$stopped; fi

)" + conclusion(request);
}

std::string slurm_script(const EmitRequest& request) {
  const std::string folder = shards_folder(request.store);
  const std::string count = std::to_string(request.shards.size());
  std::string name = request.sweep;
  std::ranges::replace_if(
      name, [](char c) { return c <= ' ' || c == 0x7F || c == '"' || c == '\'' || c == '\\'; },
      '_');
  return head(request, "Arguments go to sbatch (--partition gpu --gres gpu:1 --time 4:00:00).") +
         R"(export qfs

# TERM two minutes before the end of a job's time: the worker ends with the example in hand.
jobs=$(sbatch --parsable "$@" <<'END'
#!/bin/sh
#SBATCH --job-name=)" +
         name + R"(
#SBATCH --array=1-)" +
         count + R"(
#SBATCH --signal=B:TERM@120
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=")" +
         folder + R"(/slurm-%a.log"
exec "${qfs:-qfs-bench}" )" +
         worker_arguments(request, "\"$SLURM_ARRAY_TASK_ID\"") + R"(
END
) || exit
jobs=${jobs%%;*}
merging=$(sbatch --parsable --dependency="afterany:$jobs" "$@" <<'END'
#!/bin/sh
#SBATCH --job-name=)" +
         name + R"(-merge
#SBATCH --open-mode=append
#SBATCH --output=")" +
         folder + R"(/slurm-merge.log"
: "${qfs:=qfs-bench}"
)" + merge_text(request) +
         "END\n) || exit\nprintf 'array job %s, merged by job %s; then: %s\\n' \"$jobs\" "
         "\"${merging%%;*}\" " +
         quoted("qfs-bench sweep " + options_text(request) + " --store " + quoted(request.store)) +
         "\n";
}

}  // namespace

std::string shards_folder(const std::string& store) {
  return std::filesystem::path(store).replace_extension(".shards").string();
}

std::string emitted_script(const EmitRequest& request) {
  switch (request.kind) {
    case EmitKind::shell:
      return shell_script(request);
    case EmitKind::parallel:
      return parallel_script(request);
    case EmitKind::slurm:
      return slurm_script(request);
  }
  return {};
}

}  // namespace qfs::plan
