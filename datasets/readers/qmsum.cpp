#include "datasets/readers/qmsum.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "datasets/json_access.h"
#include "datasets/readers/meeting_set.h"
#include "datasets/registry.h"
#include "datasets/source_files.h"
#include "datasets/text_lines.h"

namespace qfs::datasets {
namespace {

constexpr std::string_view kProductRoles[] = {"Project Manager", "Marketing", "User Interface",
                                              "Industrial Designer"};
constexpr std::string_view kAcademicRoles[] = {"PhD", "Grad", "Professor", "Undergrad", "Postdoc"};

constexpr std::string_view kTrainFolder = "data/ALL/train/";

std::string three_digits(int64_t number) {
  std::string digits = std::to_string(number);
  return digits.size() < 3 ? std::string(3 - digits.size(), '0') + digits : digits;
}

/// Whether a pinned file holds meetings of `split`.
bool is_part_of(std::string_view path, const std::string& split) {
  if (split == "train") return path.starts_with(kTrainFolder) && path.ends_with(".json");
  return path == "data/ALL/jsonl/" + split + ".jsonl";
}

Status append_meetings(const LoadedFile& file, const std::string& split,
                       std::vector<Meeting>& meetings) {
  if (split != "train") {
    Result<std::vector<Meeting>> parsed = parse_meeting_lines(file.bytes, split, file.path);
    if (!parsed) return parsed.error();
    for (Meeting& meeting : *parsed) meetings.push_back(std::move(meeting));
    return {};
  }
  Result<nlohmann::json> value = parse_json(file.bytes, file.path);
  if (!value) return value.error();
  std::string id = std::filesystem::path(file.source.name).stem().string();
  Result<Meeting> meeting = decode_meeting(*value, std::move(id), {file.path, ""});
  if (!meeting) return meeting.error();
  meetings.push_back(*std::move(meeting));
  return {};
}

}  // namespace

Result<std::vector<Meeting>> parse_meeting_lines(std::string_view text, const std::string& prefix,
                                                 const std::string& path) {
  std::vector<Meeting> meetings;
  TextLines lines(text);
  while (std::optional<std::string_view> line = lines.next()) {
    std::string where = path + ":" + std::to_string(lines.number());
    Result<nlohmann::json> value = parse_json_line(*line, where);
    if (!value) return value.error();
    Result<Meeting> meeting =
        decode_meeting(*value, prefix + "-" + three_digits(lines.number()), {where, ""});
    if (!meeting) return meeting.error();
    meetings.push_back(*std::move(meeting));
  }
  return meetings;
}

MeetingDomain domain_of(const Meeting& meeting) {
  const auto all_speakers = [&](auto is) {
    return !meeting.turns.empty() && std::ranges::all_of(meeting.turns, is, &Segment::speaker);
  };
  const auto is_in = [](const auto& roles, std::string_view speaker) {
    return std::ranges::find(roles, speaker) != std::end(roles);
  };
  if (all_speakers([&](const std::string& speaker) { return is_in(kProductRoles, speaker); })) {
    return MeetingDomain::product;
  }
  const bool academic = all_speakers([&](std::string_view speaker) {
    const size_t blank = speaker.rfind(' ');
    return blank != std::string_view::npos && speaker.size() == blank + 2 &&
           speaker.back() >= 'A' && speaker.back() <= 'Z' &&
           is_in(kAcademicRoles, speaker.substr(0, blank));
  });
  return academic ? MeetingDomain::academic : MeetingDomain::committee;
}

DatasetInfo QmsumReader::info() const {
  struct Words {
    const char* name;
    const char* doc;
  };
  static constexpr Words kWords[] = {
      {"qmsum", "query-based meeting summarization: 232 long meetings, 1810 queries"},
      {"qmsum-product", "QMSum's 137 meetings of AMI: a team designs a product"},
      {"qmsum-academic", "QMSum's 59 meetings of ICSI: researchers"},
      {"qmsum-committee", "QMSum's 36 meetings of committees of parliaments"}};
  const Words& words = kWords[static_cast<size_t>(domain_)];
  return {.name = words.name,
          .doc = words.doc,
          .licence = "MIT",
          .splits = {"test", "train", "val"},
          .views = {"whole", "golden"},
          .text_forms = {"raw", "ideal", "dyle"},
          .bundled = false};
}

Result<Dataset> QmsumReader::read(const DatasetRequest& request) const {
  Result<RegistryEntry> entry = registry_entry(registry_path_, "qmsum");
  if (!entry) return entry.error();
  Result<std::string> folder = locate_set(*entry, roots_);
  if (!folder) return folder.error();

  DatasetManifest manifest = manifest_of(*entry);
  manifest.name = info().name;
  std::vector<Meeting> meetings;
  for (const PinnedFile& pinned : entry->files) {
    if (!is_part_of(pinned.path, request.split)) continue;
    Result<LoadedFile> file = load_pinned(entry->name, *folder, pinned);
    if (!file) return file.error();
    Status appended = append_meetings(*file, request.split, meetings);
    if (!appended) return appended.error();
    manifest.files.push_back(std::move(file->source));
  }
  if (domain_ != MeetingDomain::all) {
    std::erase_if(meetings, [&](const Meeting& meeting) { return domain_of(meeting) != domain_; });
  }
  return seal_meetings(request, std::move(manifest), std::move(meetings));
}

}  // namespace qfs::datasets
