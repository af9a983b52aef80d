"""The method `endpoint` through the whole program, against a server that misbehaves.

Usage: test_endpoint.py QFS_BENCH
"""

import glob
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))

from misbehaving_server import (MisbehavingServer, answer_of, completion, error, huge, raw,
                                reset_in_the_middle, send, slow)

QFS_BENCH = os.path.abspath(sys.argv.pop(1))
KEY = "sk-TOP/secret+0123456789"

RECORDS = [
    {"id": f"q{i}", "context": f"The harbour was closed on day {i}. Nobody knows who did it.",
     "question": f"When was it closed, {i}?", "answers": [f"SECRET-ANSWER-{i}"], "gold": "SECRET-NOTE"}
    for i in range(3)
]


class Endpoint(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="qfs_endpoint_")
        self.addCleanup(self.folder.cleanup)
        self.server = MisbehavingServer()
        self.server.__enter__()
        self.addCleanup(self.server.__exit__)
        self.write_data(RECORDS)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write_data(self, records):
        with open(self.path("data.jsonl"), "w", encoding="utf-8") as data:
            data.writelines(json.dumps(record) + "\n" for record in records)

    def write_sweep(self, name="served", values=("rouge1.f",), methods=None, **params):
        entry = {"method": "endpoint", "base_url": self.server.url, "model": "m", "revision": "r1",
                 "backoff": 0.01, "retries": 2, **params}
        sweep = {
            "name": name,
            "datasets": [{"path": "data.jsonl",
                          "fields": {"id": "id", "document": "context", "query": "question",
                                     "references": "answers"}}],
            "tokenizer": "words", "methods": methods or [entry], "metrics": ["rouge"],
            "report": {"rows": ["method"], "columns": ["dataset"], "values": list(values)},
        }
        with open(self.path(name + ".json"), "w", encoding="utf-8") as file:
            json.dump(sweep, file)

    def sweep(self, *options, name="served", allow=True, environment=None):
        command = [QFS_BENCH, "sweep", self.path(name + ".json"), "--store", self.path("store.sqlite"),
                   *(["--allow-external"] if allow else []), *options]
        return subprocess.run(command, capture_output=True, text=True, cwd=self.folder.name,
                              env={**os.environ, **(environment or {})})

    def rows(self, query):
        connection = sqlite3.connect(self.path("store.sqlite"))
        try:
            return connection.execute(query).fetchall()
        finally:
            connection.close()

    def ledgers(self):
        """[document tokens, kept tokens, query tokens, query whole, segment, begin, end, …] by row."""
        return [json.loads(text) for (text,) in self.rows("SELECT truncation FROM output")]

    def outputs(self):
        """(text, finish, facts) by ordinal."""
        return [(text, finish, {**json.loads(extra)["endpoint"], **json.loads(extra)["observed"]})
                for text, finish, extra in
                self.rows("SELECT text, finish, extra FROM output ORDER BY ordinal")]

    def succeed(self, *options, **arguments):
        run = self.sweep(*options, **arguments)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        return run

    # ---- what is asked, and of whom --------------------------------------------------------------

    def test_it_is_refused_unless_allowed(self):
        self.write_sweep()
        run = self.sweep(allow=False)
        self.assertEqual(run.returncode, 2, run.stderr)
        self.assertIn("--allow-external", run.stderr)
        self.assertEqual(self.server.requests, [])

    def test_a_request_holds_the_prompt_and_no_answer(self):
        self.write_sweep(system="Be brief.", stop="\n\n", top_p=0.9,
                         extra_body={"temperature": None, "eos_token": "x", "schema": {"password": {"type": "string"}}, "chat_template_kwargs": {"enable_thinking": False}})
        self.succeed()
        asked = self.server.asked()
        self.assertEqual(len(asked), 3)
        for body in asked:
            self.assertEqual([m["role"] for m in body["messages"]], ["system", "user"])
            self.assertIn("The harbour was closed", body["messages"][1]["content"])
            self.assertIn("When was it closed", body["messages"][1]["content"])
            self.assertEqual((body["model"], body["max_tokens"], body["seed"], body["top_p"], body["stop"]),
                             ("m", 128, 0, 0.9, ["\n\n"]))
            self.assertNotIn("temperature", body)
            self.assertEqual(body["chat_template_kwargs"], {"enable_thinking": False})
        self.assertNotIn("SECRET", json.dumps(asked))
        text, finish, facts = self.outputs()[0]
        self.assertEqual((text, finish), ("A summary.", "stop"))
        self.assertEqual((facts["model"], facts["model_list"], facts["model_root"], facts["window_tokens"]),
                         ("served-name", "listed", "org/m", 4096))
        self.assertEqual(facts["usage"]["prompt_tokens"], 40)
        self.assertEqual(self.rows("SELECT tokens_in, tokens_out FROM output"), [(40, 7)] * 3)

    def test_plain_completions(self):
        self.write_sweep(api="completions", prompt="D: {document} Q: {query}")
        self.server.replies = [completion("It was.", chat=False, system_fingerprint="fp_1")]
        self.succeed()
        self.assertEqual(self.server.asked()[0]["prompt"][:14], "D: The harbour")
        self.assertNotIn("messages", self.server.asked()[0])
        text, _, facts = self.outputs()[2]
        self.assertEqual((text, facts["system_fingerprint"]), ("It was.", "fp_1"))

    def test_the_document_is_cut_by_a_local_tokenizer(self):
        self.write_sweep(local_context=3)
        self.succeed()
        self.assertIn("\nThe harbour was\n", self.server.asked()[0]["messages"][0]["content"])
        self.assertEqual(self.ledgers()[0], [12, 3, 5, 1, 0, 0, 15])

    def test_the_document_is_cut_by_the_servers_tokenizer(self):
        def count(handler, body):  # words, as vLLM says it
            words = json.loads(body)["prompt"].split()
            send(handler, 200, {"count": len(words), "max_model_len": 4096, "tokens": [1] * len(words)})

        def pieces(handler, body):  # as llama.cpp's server says it
            send(handler, 200, {"tokens": [1] * len(json.loads(body)["content"].split())})
        for tokenize, policy, kept in ((count, "head", "The harbour was"), (pieces, "tail", "who did it."),
                                       (count, "middle", "The harbour\nit.")):
            self.server.tokenize = tokenize
            self.server.requests.clear()
            self.write_sweep(local_context=3, count_by="server", truncate=policy, max_in_flight=1)
            self.succeed()
            document = self.server.asked()[0]["messages"][0]["content"].split("Document:")[1].split("Request:")[0]
            self.assertEqual([part.strip() for part in document.strip().split("\n")], kept.split("\n"))
            self.assertEqual(self.server.requests[1][0], "/tokenize")
            for document_tokens, kept_tokens, *_ in self.ledgers():
                self.assertEqual((document_tokens, kept_tokens), (12, 3))

    def test_a_server_that_cannot_count_says_so(self):
        self.write_sweep(local_context=3, count_by="server")
        run = self.sweep()
        self.assertEqual(run.returncode, 3, run.stderr)
        self.assertIn("name a tokenizer", run.stderr)

    def test_requests_are_made_at_a_time_and_not_more(self):
        def late(handler, body):
            time.sleep(0.2)
            completion()(handler, body)
        self.write_data([{**RECORDS[0], "id": str(i)} for i in range(9)])
        self.server.replies = [late]
        self.write_sweep(max_in_flight=3)
        self.succeed()
        self.assertEqual(self.server.most_at_once, 3)

    def test_the_rate_is_kept(self):
        self.write_sweep(requests_per_minute=240, max_in_flight=8)  # one in 0.25 s
        start = time.monotonic()
        self.succeed()
        self.assertGreaterEqual(time.monotonic() - start, 0.75)  # list of models and three rows

    # ---- failures that pass ----------------------------------------------------------------------

    def test_a_failure_that_passes_is_tried_again(self):
        for bad in (error(429, {"error": {"message": "slow down"}}), error(500, b"oops"), error(503, {}),
                    reset_in_the_middle, slow(5), raw(b'{"choices": [{"mess'), raw(b"<html>"),
                    raw({"choices": []}), raw({"choices": [{"message": {"content": 7}}]})):
            with self.subTest(bad=bad):
                for file in glob.glob(self.path("store.sqlite*")):
                    os.remove(file)
                self.server.replies = [bad, completion()]
                self.write_sweep(max_in_flight=1, timeout=0.4)
                self.succeed()
                self.assertEqual([facts["tries"] for _, _, facts in self.outputs()], [2, 1, 1])

    def test_retry_after_is_obeyed(self):
        self.server.replies = [error(429, {}, ("Retry-After", "1")), completion()]
        self.write_sweep(max_in_flight=1)
        start = time.monotonic()
        self.succeed()
        self.assertGreaterEqual(time.monotonic() - start, 1.0)

    def test_a_retry_after_that_is_too_long_leaves_the_rest_for_the_next_sweep(self):
        self.server.replies = [completion(), error(429, {}, ("Retry-After", "86400"))]
        self.write_sweep(max_in_flight=1)
        run = self.sweep()
        self.assertEqual(run.returncode, 3, run.stderr)
        self.assertIn("asks for a pause of 86400 s", run.stderr)
        self.server.replies = [completion()]
        self.server.requests.clear()
        self.succeed()
        self.assertEqual(len(self.server.asked()), 2)  # what was answered is not asked again

    def test_only_what_failed_is_asked_again(self):
        def fail_second(handler, body):
            if b"closed, 1?" in body:
                send(handler, 500, {"error": {"message": "no luck"}})
            else:
                completion()(handler, body)
        self.server.replies = [fail_second]
        self.write_sweep(max_in_flight=2)
        run = self.sweep()
        self.assertEqual(run.returncode, 3, run.stderr)
        self.assertIn("example 'q1'", run.stderr)
        self.assertIn("no luck", run.stderr)
        self.assertIn("after 3 tries", run.stderr)
        self.assertEqual(self.rows("SELECT ordinal FROM output ORDER BY ordinal"), [(0,), (2,)])
        self.server.replies = [completion()]
        self.server.requests.clear()
        self.succeed()
        self.assertEqual(["closed, 1?" in json.dumps(b) for b in self.server.asked()], [True])

    def test_a_server_that_is_away_is_asked_again_by_the_next_sweep(self):
        self.write_sweep(base_url="http://127.0.0.1:1/v1", retries=1)
        run = self.sweep()
        self.assertEqual(run.returncode, 3, run.stderr)
        self.assertIn("cannot be asked", run.stderr)
        self.assertIn("left for the next sweep", run.stderr)
        self.write_sweep()  # the address is in no id
        self.succeed()
        self.assertEqual(self.rows("SELECT count(*) FROM cell"), [(1,)])

    # ---- failures that stay ----------------------------------------------------------------------

    def fails(self, expected, **params):
        self.write_sweep(**{"max_in_flight": 1, **params})
        run = self.sweep()
        self.assertEqual(run.returncode, 3, run.stderr)
        self.assertIn(expected, run.stderr)
        return run

    def test_answers_that_are_none(self):
        for body, expected in ((b'{"choices": [{"mess', "is no JSON"), (b"[" * 100000, "is no JSON"),
                               ({"id": 1}, "no list 'choices'"), ({"choices": {}}, "no list 'choices'"),
                               ({"choices": ["a"]}, "no object 'message'"),
                               ({"error": {"message": "overloaded"}}, "overloaded"),
                               ({"choices": [{"message": {"content": 7}}]}, "'content' of the answer"),
                               ({"choices": [{"message": {"content": "a"}, "finish_reason": 7}]},
                                "'finish_reason'")):
            with self.subTest(expected=expected):
                for file in glob.glob(self.path("store.sqlite*")):
                    os.remove(file)
                self.server.replies = [raw(body)]
                self.fails(expected, retries=0)
                self.assertEqual(self.rows("SELECT failure_kind FROM attempt"), [("data_error",)])

    def test_a_huge_body_is_bounded(self):
        self.server.replies = [huge(64)]
        self.fails("longer than 33554432 bytes")

    def test_a_redirect_is_not_followed(self):
        self.server.replies = [error(307, {}, ("Location", "http://127.0.0.1:9/evil"))]
        self.fails("sends requests on to 'http://127.0.0.1:9/evil'")

    def test_a_refused_request_is_explained(self):
        self.server.replies = [error(400, {"error": {"message": "bad \u202etop_p"}})]
        run = self.fails("HTTP 400")
        self.assertNotIn("\u202e", run.stderr)

    def test_ill_formed_text_is_repaired_and_counted(self):
        body = json.dumps(answer_of("caf@ noir")).encode().replace(b"@", b"\xff")
        self.server.replies = [raw(body)]
        self.write_sweep()
        self.succeed()
        self.assertEqual(self.rows("SELECT text, repaired_bytes FROM output WHERE ordinal = 0"),
                         [("caf\ufffd noir", 1)])

    # ---- ways to end -----------------------------------------------------------------------------

    def test_a_context_length_refusal_is_overlength(self):
        openai = {"error": {"message": "This model's maximum context length is 8192 tokens. However, your "
                            "messages resulted in 9000 tokens.", "type": "invalid_request_error",
                            "param": "messages", "code": "context_length_exceeded"}}
        vllm = {"object": "error", "message": "This model's maximum context length is 4096 tokens. However, "
                "you requested 5000 tokens (4500 in the messages, 500 in the completion).",
                "type": "BadRequestError", "param": None, "code": 400}
        prompt = {"error": {"message": "The decoder prompt (length 21535) is longer than the maximum model "
                            "length of 16384.", "type": "BadRequestError", "code": 400}}
        llama = {"error": {"code": 400, "message": "the request exceeds the available context size. try "
                           "increasing the context size or enable context shift",
                           "type": "exceed_context_size_error", "n_prompt_tokens": 1407, "n_ctx": 256}}
        for status, body in ((400, openai), (400, vllm), (400, prompt), (400, llama), (500, llama), (200, llama)):
            with self.subTest(status=status, body=body):
                for file in glob.glob(self.path("store.sqlite*")):
                    os.remove(file)
                self.server.requests.clear()
                self.server.replies = [error(status, body), completion()]
                self.write_sweep(max_in_flight=1, values=["rouge1.f", "tokens_in"])
                run = self.sweep()
                self.assertIn("refused inputs as too long (overlength)", run.stderr)
                self.assertRegex(run.stdout, r"\| +40\.0 \|")  # tokens of those that were answered
                self.assertEqual([(t, f) for t, f, _ in self.outputs()],
                                 [("", "overlength"), ("A summary.", "stop"), ("A summary.", "stop")])
                self.assertEqual(len(self.server.asked()), 3)
                self.assertIn("context" if body is not prompt else "maximum model",
                              self.outputs()[0][2]["refusal"])

    def test_how_answers_end(self):
        spent = {"completion_tokens_details": {"reasoning_tokens": 128}, "prompt_tokens": 1,
                 "completion_tokens": 128}
        for reply, expected in (
                (completion("", finish="length", message={"reasoning_content": "Hmm, "}), ("", "reasoning")),
                (completion(None, finish="length", usage=spent), ("", "reasoning")),
                (completion("A sum", finish="length", usage=spent), ("A sum", "length")),
                (completion("", finish="length"), ("", "length")),
                (completion("", finish="content_filter"), ("", "filtered")),
                (completion(None, message={"refusal": "I'm sorry"}), ("", "filtered")),
                (completion([{"type": "text", "text": "A "}, {"type": "text", "text": "b"}]), ("A b", "stop"))):
            with self.subTest(expected=expected):
                for file in glob.glob(self.path("store.sqlite*")):
                    os.remove(file)
                self.server.replies = [reply]
                self.write_sweep()
                self.succeed()
                self.assertEqual(self.outputs()[0][:2], expected)

    # ---- keys and certificates -------------------------------------------------------------------

    def test_a_key_is_sent_and_kept_nowhere(self):
        # The server repeats it wherever it can: in errors, answers and facts.
        self.server.replies = [error(500, {"error": {"message": f"Incorrect API key provided: {KEY}"}}),
                               completion(f"My key is {KEY}.", system_fingerprint=KEY, model=KEY),
                               error(400, {"error": {"message": f"never heard of {KEY}"}})]
        self.write_sweep(api_key_env="QFS_TEST_KEY", max_in_flight=1,
                         headers={"X-Api-Key": {"env": "QFS_TEST_KEY"}, "X-Team": "blue"})
        environment = {"QFS_TEST_KEY": KEY}
        run = self.sweep(environment=environment)
        self.assertIn("never heard of [secret]", run.stderr)
        headers = self.server.requests[-1][1]
        self.assertEqual((headers["Authorization"], headers["X-Api-Key"], headers["X-Team"]),
                         ("Bearer " + KEY, KEY, "blue"))
        self.assertEqual(self.outputs()[0][0], "My key is [secret].")
        said = [run.stdout + run.stderr]
        for command in (["report", "--format", "json"], ["show", "--example", "0", "--json"], ["list", "cells", "--json"]):
            run = subprocess.run([QFS_BENCH, *command, "--store", self.path("store.sqlite")],
                                 capture_output=True, text=True, env={**os.environ, **environment})
            said.append(run.stdout + run.stderr)
        self.assertIn("My key is [secret].", "".join(said))
        files = [path for path in glob.glob(self.path("**"), recursive=True) if os.path.isfile(path)]
        self.assertGreaterEqual(len(files), 2)
        for path in files:
            with open(path, "rb") as file:
                content = file.read()
            for form in (KEY, json.dumps(KEY)[1:-1], KEY.replace("/", "\\/")):
                self.assertNotIn(form.encode(), content, path)
        for text in said:
            self.assertNotIn(KEY, text)

    def test_a_key_that_is_missing_or_written_out_is_refused(self):
        self.write_sweep(api_key_env="QFS_NO_SUCH_KEY")
        run = self.sweep()
        self.assertEqual(run.returncode, 3)
        self.assertIn("environment variable QFS_NO_SUCH_KEY", run.stderr)
        self.assertEqual(self.server.requests, [])
        self.write_sweep(api_key_env="QFS_BROKEN_KEY")
        run = self.sweep(environment={"QFS_BROKEN_KEY": KEY + "\r"})
        self.assertEqual(run.returncode, 3)
        self.assertIn("holds line ends", run.stderr)
        self.assertNotIn(KEY, run.stderr)
        self.succeed(environment={"QFS_BROKEN_KEY": KEY})  # a fault of the environment is no result
        for params in ({"api_key_env": KEY}, {"headers": {"Authorization": "Bearer " + KEY}},
                       {"headers": {"x-api-key": KEY}}, {"extra_body": {"api_key": KEY}},
                       {"extra_body": {"a": [{"Token": KEY}]}}, {"base_url": f"http://user:{KEY}@127.0.0.1/v1"}):
            self.write_sweep(**params)
            run = self.sweep()
            self.assertEqual(run.returncode, 2, run.stderr)
            self.assertNotIn(KEY, run.stderr)

    def test_a_refused_key_is_explained_and_tried_again_later(self):
        self.server.replies = [error(401, {"error": {"message": "Invalid token", "code": "invalid_api_key"}})]
        self.fails("'api_key_env'")
        self.assertEqual(len(self.server.asked()), 1)
        self.server.replies = [completion()]
        self.succeed()

    def test_a_certificate_must_be_trusted(self):
        if not shutil.which("openssl"):
            self.skipTest("no openssl to make a certificate with")
        files = (self.path("cert.pem"), self.path("key.pem"))
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj",
                        "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-out", files[0],
                        "-keyout", files[1]], check=True, capture_output=True)
        with MisbehavingServer(certificate=files) as server:
            self.fails("'ca_file'", base_url=server.url, timeout=5)
            self.write_sweep(base_url=server.url, ca_file=files[0], timeout=5)
            self.succeed()
            self.assertEqual(len(server.asked()), 3)

    # ---- models and identity ---------------------------------------------------------------------

    def test_a_model_that_is_not_listed_is_an_error_unless_told_otherwise(self):
        self.server.models = raw({"data": [{"id": "mm"}, {"id": "other"}]})
        self.fails("does not list 'm'")
        self.assertEqual(self.server.asked(), [])
        self.write_sweep(check_model=False)
        self.succeed()
        self.assertEqual(self.outputs()[0][2]["model_list"], "not listed")

    def test_a_server_without_a_list_of_models(self):
        for models in (error(404, {"error": "no"}), raw(b"hello"), raw({"data": 7}), raw({"data": [7, {"id": 8}]})):
            self.server.models = models
            self.write_sweep(check_model=False)
            self.succeed("--rerun", "method=endpoint")
        self.server.models = error(404, {})
        self.write_sweep(label="again", temperature=1)
        self.succeed()
        self.assertEqual(self.outputs()[-1][2]["model_list"], "none")

    def test_equal_answers_are_no_conflict_however_long_they_took(self):
        self.write_sweep()
        self.succeed()
        self.succeed("--rerun", "method=endpoint")
        self.assertEqual(len(self.server.asked()), 6)
        self.assertEqual(self.rows("SELECT count(*) FROM output_conflict"), [(0,)])
        self.server.replies = [completion("Another summary.")]
        self.succeed("--rerun", "method=endpoint")
        self.assertEqual(self.rows("SELECT count(*) FROM output_conflict"), [(3,)])

    def test_a_live_model_is_asked_anew_by_another_sweep(self):
        for revision, requests in (("live", 3), ("2026-11-01", 0)):
            for name in ("first", "second"):
                self.server.requests.clear()
                self.write_sweep(name=name, revision=revision)
                self.succeed(name=name)
            self.assertEqual(len(self.server.asked()), requests)
            self.server.requests.clear()
            self.succeed(name="second")  # the same sweep again finds its own outputs
            self.assertEqual(self.server.asked(), [])

    def test_addresses_limits_and_prices_are_in_no_id(self):
        self.write_sweep()
        self.succeed()
        self.server.requests.clear()
        self.write_sweep(max_in_flight=2, timeout=9, price_in=1, price_out=2.5, base_url=self.server.url + "/",
                         values=["latency_p50_ms", "latency_p95_ms", "tokens_in", "tokens_out", "cost"])
        self.succeed()
        self.assertEqual(self.server.asked(), [])
        report = subprocess.run([QFS_BENCH, "report", "--store", self.path("store.sqlite"), "--format", "json"],
                                capture_output=True, text=True, check=True)
        self.assertIn("0.0001725", report.stdout)  # 3 x (40 x 1 + 7 x 2.5) / 1e6
        for value in ("latency_p50_ms", "tokens_in"):
            self.assertIn(value, report.stdout)


if __name__ == "__main__":
    unittest.main(verbosity=2)
