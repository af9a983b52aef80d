// The Python host printed in PROTOCOL.md is taken out of the document and run as it stands.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "harness/host/client.h"

namespace qfs::host {
namespace {

std::string python_block(const std::string& markdown) {
  const std::string open = "```python\n";
  const size_t begin = markdown.find(open) + open.size();
  return markdown.substr(begin, markdown.find("```", begin) - begin);
}

TEST(ProtocolDocument, ItsExampleHostDescribesItselfAndSummarizes) {
  std::ifstream file("harness/host/PROTOCOL.md");
  ASSERT_TRUE(file.good());
  std::stringstream text;
  text << file.rdbuf();
  ChildOptions child;
  child.command = {"python3", "-c", python_block(text.str())};
  child.environment = allowed_environment();
  child.log_path = "/dev/null";
  Result<HostClient> client = HostClient::start(child, {});
  ASSERT_TRUE(client.ok()) << client.error().to_string();

  const std::chrono::seconds timeout(20);
  Description description;
  const auto silent = client->describe(timeout, description);
  ASSERT_FALSE(silent.has_value()) << silent->error.to_string();
  EXPECT_EQ(description.name, "first_words");
  ASSERT_EQ(description.params.size(), 1u);
  EXPECT_EQ(std::get<int64_t>(*description.params[0].default_value), 30);

  OpenRequest open;
  open.method = "first_words";
  open.session.params.set("max_words", int64_t{2});
  ASSERT_FALSE(client->open(open, timeout).has_value());
  RunRequest run;
  run.examples.resize(1);
  run.examples[0].example.document = {{"one two three", ""}};
  UnitResults results;
  ASSERT_FALSE(client->run(run, {}, timeout, results).has_value());
  EXPECT_EQ(results.predictions.at(0).prediction.text, "one two");
}

}  // namespace
}  // namespace qfs::host
