// Adapters of rows are generated once for each instruction.
#include <gtest/gtest.h>

#include "methods/ideal/session_rows.h"
#include "methods/ideal/session_train.h"
#include "methods/ideal/sessions.h"
#include "methods/ideal/specs.h"
#include "tests/support/trained_session.h"

namespace qfs::ideal {
namespace {

class RowAdaptersTest : public qfs::test::TrainedSessionTest {
 protected:
  RowAdaptersTest() : TrainedSessionTest(IdealSpec(), session_factories().back()) {
    use_llama({.layers = 4}, "Q: {query}\nD: {document}\nA:");
    auto opened = prompted::open_prompted_model(request_, cache_);
    EXPECT_TRUE(opened.ok()) << opened.error().to_string();
    model_ = std::make_unique<prompted::PromptedModel>(*std::move(opened));
  }

  RowAdapters generating() const {
    const nn::LayerWidths& widths = model_->prompts.backbone->network->shape().widths;
    return {peft::new_layer_adapter(config_of("ideal", request_.params, widths), widths, 1), false};
  }
  const nn::Adapters* made(RowAdapters& rows, const NumberedExample& asked) {
    const auto prompt = model_->prompts.maker.prepare(asked.example, 8);
    EXPECT_TRUE(prompt.ok()) << prompt.error().to_string();
    auto addition = rows.of(asked.example, prompt->input, *model_);
    EXPECT_TRUE(addition.ok()) << addition.error().to_string();
    kept_.push_back(addition->adapters);  // so that no other takes its place
    return kept_.back().get();
  }

  ResourceCache cache_;
  std::unique_ptr<prompted::PromptedModel> model_;
  std::vector<std::shared_ptr<const nn::Adapters>> kept_;
};

TEST_F(RowAdaptersTest, EqualInstructionsShareThemWhateverTheDocument) {
  RowAdapters rows = generating();
  const nn::Adapters* const first = made(rows, example(1, "why?"));
  const nn::Adapters* const other = made(rows, example(1, "who was there?"));
  EXPECT_NE(other, first);
  EXPECT_EQ(made(rows, example(2, "why?")), first);
  EXPECT_EQ(made(rows, example(5, "who was there?")), other);
}

TEST_F(RowAdaptersTest, TheOldestAreMadeAnew) {
  RowAdapters rows = generating();
  const nn::Adapters* const first = made(rows, example(1, "why?"));
  // The request for any summary, which likeness_to_general is told of, is kept, too.
  const auto asked = [](size_t i) { return example(1, "number " + std::to_string(i) + "?"); };
  for (size_t i = 0; i + 2 < RowAdapters::kMostKept; ++i) made(rows, asked(i));
  EXPECT_EQ(made(rows, example(1, "why?")), first);
  made(rows, asked(RowAdapters::kMostKept));
  made(rows, asked(RowAdapters::kMostKept + 1));
  EXPECT_NE(made(rows, example(1, "why?")), first);
}

}  // namespace
}  // namespace qfs::ideal
