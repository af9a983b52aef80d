#include "datasets/readers/meeting_set.h"

#include <set>
#include <utility>

#include "datasets/identity.h"

namespace qfs::datasets {

Result<Dataset> seal_meetings(const DatasetRequest& request, DatasetManifest manifest,
                              std::vector<Meeting> meetings) {
  std::optional<MeetingView> view = meeting_view(request.view);
  const TextForm* form = find_text_form(request.text_form);
  if (!view || form == nullptr) {
    return internal_error("unresolved request: view '" + request.view + "', text form '" +
                          request.text_form + "'");
  }
  Dataset dataset;
  dataset.manifest = std::move(manifest);
  dataset.manifest.reader = kMeetingReader;
  dataset.manifest.split = request.split;
  dataset.manifest.view = request.view;
  dataset.manifest.text_form = form->versioned_name();

  std::set<std::string> ids;
  for (Meeting& meeting : meetings) {
    if (!ids.insert(meeting.id).second) {
      return data_error("meeting '" + meeting.id + "' is there twice", dataset.manifest.name);
    }
    apply_text_form(*form, meeting);
    append_examples(meeting, *view, dataset.examples);
  }
  Status sealed = seal(dataset);
  if (!sealed) return sealed.error();
  return dataset;
}

}  // namespace qfs::datasets
