// The driver's client against hosts that behave and hosts that do not; the hosts are small Python
// programs that start from the same skeleton.
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>

#include "harness/host/client.h"

namespace qfs::host {
namespace {

using std::chrono::seconds;

/// A host whose answer to `run` and `measure` is the given Python statement block (variable
/// `request`, functions `reply` and `predict`).
std::string host_program(const std::string& on_run) {
  return R"(
import json, os, signal, sys, time
requests = os.fdopen(int(os.environ["QFS_REQUEST_FD"]), "r")
replies = os.fdopen(int(os.environ["QFS_REPLY_FD"]), "w")
def reply(request, **body):
    replies.write(json.dumps({"id": request["id"], **body}) + "\n"); replies.flush()
def predict(request, example, text="t"):
    reply(request, prediction={"ordinal": example["ordinal"], "text": text})
print("a stray print")
for line in requests:
    request = json.loads(line)
    if request["verb"] == "probe":
        reply(request, probe={"protocol": 1, "host": "h", "numerics": {"a": "b"}, "facts": {}})
    elif request["verb"] == "open": reply(request, opened=True)
    elif request["verb"] == "close": reply(request, closed=True)
    elif request["verb"] in ("run", "measure"):
)" + on_run;
}

class Client : public ::testing::Test {
 protected:
  Result<HostClient> start(const std::string& on_run, HostLimits limits = {}) {
    ChildOptions child;
    child.command = {"python3", "-c", host_program(on_run)};
    child.environment = allowed_environment();
    child.log_path = log_path_;
    return HostClient::start(child, limits);
  }

  /// Opens a session and runs examples 4 and 9 as one unit.
  std::optional<HostFailure> run(HostClient& client, seconds timeout = seconds(20),
                                 RunRequest request = {}) {
    if (auto failure = client.open({}, seconds(20))) return failure;
    request.examples.resize(2);
    request.examples[0].ordinal = 4;
    request.examples[1].ordinal = 9;
    return client.run(request, {}, timeout, results_);
  }

  HostFailure run_failing(const std::string& on_run, HostLimits limits = {},
                          seconds timeout = seconds(20)) {
    Result<HostClient> client = start(on_run, limits);
    EXPECT_TRUE(client.ok());
    auto failure = run(*client, timeout);
    EXPECT_TRUE(failure.has_value());
    return failure.value_or(HostFailure{});
  }

  std::string log_path_ = std::filesystem::temp_directory_path() / "qfs_test_client.log";
  UnitResults results_;
};

TEST_F(Client, ReturnsPredictionsInTheOrderOfTheRequest) {
  Result<HostClient> client = start(
      "        for e in reversed(request['examples']): predict(request, e, 'x%d' % e['ordinal'])\n"
      "        reply(request, phase={'name': 'decode', 'ns': 5, 'tokens': 2})\n"
      "        reply(request, heartbeat=True)\n"
      "        reply(request, done={'ns': 11})\n");
  ASSERT_TRUE(client.ok()) << client.error().to_string();
  ProbeReply probe;
  ASSERT_FALSE(client->probe({}, seconds(20), probe).has_value());
  EXPECT_EQ(probe.numerics.text, R"({"a":"b"})");
  ASSERT_FALSE(run(*client).has_value());
  ASSERT_EQ(results_.predictions.size(), 2u);
  EXPECT_EQ(results_.predictions[0].prediction.text, "x4");
  EXPECT_EQ(results_.predictions[1].prediction.text, "x9");
  EXPECT_EQ(results_.phases.at(0).name, "decode");
  EXPECT_EQ(results_.done.ns, 11);
  EXPECT_FALSE(client->close(seconds(20)).has_value());
}

TEST_F(Client, AHostThatIsKilledIsASignal) {
  const HostFailure failure = run_failing("        os.kill(os.getpid(), signal.SIGSEGV)\n");
  EXPECT_EQ(failure.verdict, Verdict::signal);
  EXPECT_FALSE(failure.host_usable);
  EXPECT_NE(failure.error.message.find("11"), std::string::npos) << failure.error.message;
}

TEST_F(Client, AHostThatExitsIsAMethodErrorWithItsCode) {
  const HostFailure failure = run_failing("        sys.exit(3)\n");
  EXPECT_EQ(failure.verdict, Verdict::method_error);
  EXPECT_NE(failure.error.message.find("3"), std::string::npos);
}

TEST_F(Client, AUnitThatDoesNotEndIsATimeout) {
  const HostFailure failure = run_failing("        time.sleep(60)\n", {}, seconds(1));
  EXPECT_EQ(failure.verdict, Verdict::timeout);
}

TEST_F(Client, AHostOverItsMemoryLimitIsKilledAsOutOfMemory) {
  const HostFailure failure =
      run_failing("        block = bytearray(b'x' * 400_000_000)\n        time.sleep(60)\n",
                  {.memory_bytes = 200'000'000});
  EXPECT_EQ(failure.verdict, Verdict::oom_host);
}

TEST_F(Client, MeasuringTheMachineBehindAUnitIsNoMemoryOfTheMethod) {
  const std::string fill =
      "        block = bytearray(b'x' * 400_000_000)\n        time.sleep(0.5)\n"
      "        del block\n";
  const std::string predictions = "        for e in request['examples']: predict(request, e)\n";
  const std::string done = "        reply(request, done={})\n";
  const RunRequest last{.measure = true, .limits = true};
  const auto verdict_of = [&](const std::string& on_run, const RunRequest& request) {
    Result<HostClient> client = start(on_run, {.memory_bytes = 200'000'000});
    EXPECT_TRUE(client.ok());
    const auto failure = run(*client, seconds(20), request);
    return failure ? std::optional(failure->verdict) : std::nullopt;
  };
  EXPECT_EQ(verdict_of(predictions + fill + done, last), std::nullopt);
  EXPECT_EQ(verdict_of(predictions + fill + done, {.measure = true}), Verdict::oom_host);
  EXPECT_EQ(verdict_of(fill + predictions + done, last), Verdict::oom_host);
  // The next unit is watched again.
  Result<HostClient> client = start(
      "        for e in request['examples']: predict(request, e)\n"
      "        if not request.get('limits'):\n            block = bytearray(b'x' * 400_000_000)\n"
      "            time.sleep(60)\n" +
          done,
      {.memory_bytes = 200'000'000});
  ASSERT_TRUE(client.ok());
  EXPECT_FALSE(run(*client, seconds(20), last).has_value());
  const auto failure = run(*client);
  ASSERT_TRUE(failure.has_value());
  EXPECT_EQ(failure->verdict, Verdict::oom_host);
}

TEST_F(Client, AnErrorReplyKeepsItsKind) {
  const HostFailure failure = run_failing(
      "        reply(request, error={'kind': 'out_of_memory', 'message': 'full'}, usable=True)\n");
  EXPECT_EQ(failure.verdict, Verdict::oom_device);
  EXPECT_TRUE(failure.host_usable);
  EXPECT_EQ(failure.error.message, "full");
}

TEST_F(Client, EveryExampleNeedsExactlyOnePrediction) {
  EXPECT_NE(run_failing("        predict(request, request['examples'][0])\n"
                        "        reply(request, done={})\n")
                .error.message.find("no prediction for example 9"),
            std::string::npos);
  EXPECT_NE(run_failing("        e = request['examples'][0]\n"
                        "        predict(request, e); predict(request, e)\n")
                .error.message.find("twice"),
            std::string::npos);
  EXPECT_NE(
      run_failing("        predict(request, {'ordinal': 5})\n").error.message.find("does not hold"),
      std::string::npos);
}

TEST_F(Client, NonsenseOnTheWireIsAMethodErrorNotAHang) {
  const HostFailure failure = run_failing("        replies.write('hello\\n'); replies.flush()\n");
  EXPECT_EQ(failure.verdict, Verdict::method_error);
  EXPECT_NE(failure.error.message.find("protocol violation"), std::string::npos);
}

TEST_F(Client, AHostThatHangsIsSeenByItsMissingHeartbeats) {
  const std::string beat_and_stop =
      "        reply(request, heartbeat=True)\n"
      "        os.kill(os.getpid(), signal.SIGSTOP)\n";
  const HostFailure failure = run_failing(beat_and_stop, {.silence = seconds(1)}, seconds(0));
  EXPECT_EQ(failure.verdict, Verdict::timeout);
  EXPECT_NE(failure.error.message.find("hangs"), std::string::npos) << failure.error.message;
}

TEST_F(Client, AHostThatComputesInSilenceDoesNotHang) {
  Result<HostClient> client = start(
      "        reply(request, heartbeat=True)\n"
      "        end = time.monotonic() + 4\n"
      "        while time.monotonic() < end: pass\n"
      "        for e in request['examples']: predict(request, e)\n"
      "        reply(request, done={})\n",
      {.silence = seconds(1)});
  ASSERT_TRUE(client.ok());
  EXPECT_FALSE(run(*client).has_value());
}

TEST_F(Client, AHostThatClosesItsPipeWasNotKilled) {
  const HostFailure failure = run_failing("        replies.close(); time.sleep(60)\n");
  EXPECT_EQ(failure.verdict, Verdict::method_error);
  EXPECT_NE(failure.error.message.find("closed its pipe"), std::string::npos)
      << failure.error.message;
}

TEST_F(Client, TheDeathOfAHostIsSeenAlthoughItsChildHoldsThePipe) {
  const auto start = std::chrono::steady_clock::now();
  const HostFailure failure = run_failing(
      "        predict(request, request['examples'][0], 'last words')\n"
      "        if os.fork() == 0: time.sleep(60)\n"
      "        os.kill(os.getpid(), signal.SIGKILL)\n");
  EXPECT_EQ(failure.verdict, Verdict::signal);
  EXPECT_LT(std::chrono::steady_clock::now() - start, seconds(10));
  ASSERT_EQ(results_.predictions.size(), 1u) << "what it said before is kept";
  EXPECT_EQ(results_.predictions[0].prediction.text, "last words");
}

TEST_F(Client, RowsAreHandedOnAsTheyArrive) {
  Result<HostClient> client = start(
      "        for e in request['examples']: predict(request, e)\n"
      "        reply(request, done={})\n");
  ASSERT_TRUE(client.ok());
  ASSERT_FALSE(client->open({}, seconds(20)).has_value());
  RunRequest request;
  request.examples.resize(2);
  request.examples[1].ordinal = 1;
  std::vector<int64_t> seen;
  auto failure =
      client->run(request, {}, seconds(20), results_, [&](const PredictionReply& row) -> Status {
        seen.push_back(row.ordinal);
        if (row.ordinal == 1) return store_error("the disk is full");
        return {};
      });
  EXPECT_EQ(seen, (std::vector<int64_t>{0, 1}));
  ASSERT_TRUE(failure.has_value()) << "what cannot be kept ends the unit";
}

TEST_F(Client, ALedgerNamesPlacesOfTheDocument) {
  const auto ledger = [this](const std::string& kept) {
    Result<HostClient> client = start(
        "        reply(request, prediction={'ordinal': 0, 'text': 't', 'truncation':"
        " {'document_tokens': 2, 'kept_tokens': 1, 'kept': " +
        kept + "}})\n        reply(request, done={})\n");
    EXPECT_TRUE(client.ok());
    EXPECT_FALSE(client->open({}, seconds(20)).has_value());
    RunRequest request;
    request.examples.resize(1);
    request.examples[0].example.document = {{"caf\xC3\xA9 noir", ""}, {"said", "Ann"}};
    return client->run(request, {}, seconds(20), results_);
  };
  EXPECT_FALSE(ledger("[[0, 0, 5], [0, 6, 10], [1, 0, 9]]").has_value());
  for (const char* kept : {"[[2, 0, 1]]", "[[0, 0, 11]]", "[[0, 3, 2]]", "[[0, 0, 4]]",
                           "[[0, 0, 3], [0, 2, 5]]", "[[1, 0, 2], [0, 0, 2]]"}) {
    EXPECT_TRUE(ledger(kept).has_value()) << kept;
  }
}

TEST_F(Client, AProgramThatIsNotThereIsAnErrorOfStart) {
  ChildOptions child;
  child.command = {"qfs-no-such-program"};
  child.log_path = log_path_;
  Result<HostClient> client = HostClient::start(child, {});
  ASSERT_FALSE(client.ok());
  EXPECT_NE(client.error().message.find("qfs-no-such-program"), std::string::npos);
}

}  // namespace
}  // namespace qfs::host
