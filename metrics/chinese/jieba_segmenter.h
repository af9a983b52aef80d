// JiebaSegmenter: jieba 0.42.1's words, from its dictionary and tables as they lie on this machine.
//
// Called through segmenter_options. Made with the files' digests, which are in the signature; the
// files are read at the first text, so that a metric that is only listed costs nothing.
// Thread-safe. A file that has changed since, or is malformed, is a `data` error.
#pragma once

#include <memory>

#include "metrics/chinese/jieba_files.h"
#include "metrics/chinese/segmenter.h"

namespace qfs::metrics {

class JiebaSegmenter final : public Segmenter {
 public:
  explicit JiebaSegmenter(JiebaFiles files);
  ~JiebaSegmenter() override;

  std::string signature() const override;
  Status segment(std::string_view text, std::vector<std::string_view>& words) const override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace qfs::metrics
