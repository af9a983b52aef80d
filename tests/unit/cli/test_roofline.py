"""The machine's limits: `doctor --roofline`, and the fractions that timed cells of a tiny model store.

Usage: test_roofline.py QFS_BENCH
"""

import contextlib
import json
import math
import sqlite3
import statistics
import unittest

from tiny_model import HIDDEN, INNER, LAYERS, LED, VOCABULARY, ModelTest, led_shapes

LAYER_ELEMENTS = LAYERS * (4 * HIDDEN * HIDDEN + 3 * HIDDEN * INNER)


class Roofline(ModelTest):
    def ask_doctor(self, *arguments):
        return json.loads(self.assert_succeeds(self.run_bench("doctor", "--roofline", *arguments, "--json")))

    def assert_rate(self, rate):
        self.assertTrue(math.isfinite(rate["best"]))
        self.assertTrue(rate["best"] >= rate["median"] >= rate["worst"] > 0, rate)

    def assert_limits(self, answer):
        self.assertEqual(answer["schema"], "qfs-bench/doctor-roofline/1")
        self.assertEqual(answer["threads"], 1)
        self.assert_rate(answer["read"])
        self.assert_rate(answer["copy"])
        for product in answer["gemm"]["products"]:
            self.assert_rate(product["libtorch"])
            if answer["dtype"] == "float32":
                self.assert_rate(product["panels"])
        self.assertGreater(answer["gemm"]["flops"], 0)

    def test_doctor_measures_and_says_what_follows_for_a_model(self):
        self.write_model(max_position_embeddings=600)
        answer = self.ask_doctor("--backbone", "./tiny", "--threads", "1")
        self.assert_limits(answer)
        self.assertEqual(answer["model"]["kind"], "decoder")
        self.assertEqual(answer["model"]["layer_elements"], LAYER_ELEMENTS)
        # 2,048 tokens are more than the model reads; its weights are float32 as they are.
        self.assertEqual([(row["phase"], row.get("tokens"), row.get("batch"), row["weights"]) for row in answer["most"]],
                         [("prefill", 512, None, "as loaded"), ("decode", None, 1, "as loaded"),
                          ("decode", None, 8, "as loaded")])
        prefill, one, eight = answer["most"]
        self.assertEqual(prefill["flops"], 2 * LAYER_ELEMENTS * 512 + 4 * LAYERS * HIDDEN * 512 * 513 // 2
                         + 2 * VOCABULARY * HIDDEN)
        self.assertEqual(eight["bytes"] - one["bytes"], 7 * 512 * answer["model"]["cache_bytes_per_token"])
        seconds = max(one["flops"] / answer["gemm"]["flops"], one["bytes"] / answer["read"]["best"])
        self.assertAlmostEqual(one["tokens_per_second"] * seconds, 1, places=3)
        text = self.assert_succeeds(self.run_bench("doctor", "--roofline", "--backbone", "./tiny", "--context", "16"))
        self.assertIn("GB/s", text)
        self.assertIn("decode, batch 8, at 16 tokens", text)

    def test_weights_in_sixteen_bits_are_half_as_much_to_read(self):
        self.write_model(max_position_embeddings=600)
        whole, half = (self.ask_doctor("--backbone", "./tiny", "--threads", "1", "--dtype", dtype)
                       for dtype in ("float32", "bfloat16"))
        self.assert_limits(half)
        self.assertEqual(half["model"]["step_bytes"] * 2, whole["model"]["step_bytes"])
        self.assertEqual([(row["phase"], row["weights"]) for row in half["most"]][::3],
                         [("prefill", "bfloat16"), ("prefill", "float32")])

    def test_doctor_measures_general_shapes_without_a_model(self):
        answer = self.ask_doctor("--threads", "1")
        self.assert_limits(answer)
        self.assertNotIn("model", answer)
        self.assertEqual(answer["most"], [])

    def test_an_encoder_decoder_is_limited_by_its_source(self):
        self.write_model(led_shapes(), **LED)
        answer = self.ask_doctor("--backbone", "./tiny", "--threads", "1", "--prompt-tokens", "32", "--context", "64")
        self.assertEqual(answer["model"]["kind"], "encoder-decoder")
        self.assertEqual([row["phase"] for row in answer["most"]], ["prefill", "decode", "decode"])
        usual = self.ask_doctor("--backbone", "./tiny", "--threads", "1")  # shorter than the usual lengths
        self.assertEqual([row["phase"] for row in usual["most"]], ["prefill", "decode", "decode"])

    def test_what_cannot_be_measured_is_refused(self):
        self.write_model()
        self.assert_fails(2, self.run_bench("doctor", "--threads", "1"), "--roofline")
        self.assert_fails(2, self.run_bench("doctor", "--roofline", "--backbone", "./nowhere"), "./nowhere")
        self.assert_fails(2, self.run_bench("doctor", "--roofline", "--backbone", "./tiny", "--prompt-tokens", "65"),
                          "65 tokens", "1 to 64")
        self.assert_fails(5, self.run_bench("doctor", "--roofline", "--device", "cuda"), "libqfs_cuda.so")
        self.assert_fails(5, self.run_bench("doctor", "--roofline", "--dtype", "float16"), "float16")
        self.assert_fails(5, self.run_bench("doctor", "--roofline", environment={"QFS_HOST": "/nowhere/qfs-host"}),
                          "/nowhere/qfs-host")

    @staticmethod
    def fraction(store, phase):
        """The median over repetitions of the time that the machine's limits allow over the time it took."""
        def rows(name):
            query = "SELECT repetition, unit, tokens, ns FROM measurement WHERE phase = ?"
            return {(repetition, unit): (tokens, ns) for repetition, unit, tokens, ns in store.execute(query, [name])}

        gemm, read = (max(tokens * 1e9 / ns for tokens, ns in rows(f"machine.{name}").values())
                      for name in ("gemm", "read"))
        flops, read_bytes, taken = rows(f"{phase}.flops"), rows(f"{phase}.bytes"), rows(phase)
        fractions = []
        for wanted in {repetition for repetition, _ in taken}:
            units = [unit for unit in taken if unit[0] == wanted and taken[unit][0] > 0]
            least = sum(max(flops[unit][0] / gemm, read_bytes[unit][0] / read) for unit in units)
            fractions.append(least * 1e9 / sum(taken[unit][1] for unit in units))
        return statistics.median(fractions)

    def test_timed_cells_store_their_work_and_the_machines_limits(self):
        self.write_model(max_position_embeddings=600)
        self.write_data()
        model = {"method": "zero_shot", "backbone": "./tiny", "chat": False, "prompt": "{document} {query}",
                 "max_new_tokens": 8}
        sweep = self.write_sweep(methods=[{"method": "lead"}, model], grid={"local_context": [16]},
                                 measure={"examples": 3, "warmup": 1, "repetitions": 2, "protocol": "fixed_n"},
                                 report={"values": ["rouge1.f"]})
        self.assert_succeeds(self.run_bench("sweep", sweep, "--threads", "1"))
        values = ["decode_fraction", "prefill_fraction", "machine_read", "machine_copy", "machine_gemm"]
        run = self.run_bench("report", "--store", "small.sqlite", "--values", ",".join(values), "--format", "json")
        table = json.loads(self.assert_succeeds(run))
        lead, zero_shot = (row["cells"][0]["values"] for row in table["rows"])
        for value in values:
            self.assertEqual(lead[value]["status"], "not_applicable")
            self.assertEqual(zero_shot[value]["status"], "ok")
            self.assertTrue(math.isfinite(zero_shot[value]["value"]))
            self.assertGreater(zero_shot[value]["value"], 0)
        with contextlib.closing(sqlite3.connect(self.path("small.sqlite"))) as store:
            rows = store.execute("SELECT phase, count(*), min(tokens) FROM measurement WHERE phase LIKE '%.%'"
                                 " GROUP BY phase ORDER BY phase").fetchall()
            for phase in ("decode", "prefill"):
                self.assertAlmostEqual(zero_shot[f"{phase}_fraction"]["value"], self.fraction(store, phase))
        # Two repetitions, each of three units; the machine once.
        self.assertEqual([(phase, count) for phase, count, _ in rows],
                         [("decode.bytes", 6), ("decode.flops", 6), ("machine.copy", 1), ("machine.gemm", 1),
                          ("machine.read", 1), ("prefill.bytes", 6), ("prefill.flops", 6)])
        self.assertTrue(all(least > 0 for _, _, least in rows))

    def test_outputs_of_a_fixed_length_are_not_compared_with_those_that_ended(self):
        self.write_model(max_position_embeddings=600)
        self.write_data()
        model = {"method": "zero_shot", "backbone": "./tiny", "chat": False, "prompt": "{document} {query}",
                 "max_new_tokens": 8}

        def texts(name, **changes):
            measure = {"examples": 1, "warmup": 0, "repetitions": 1, "protocol": "fixed_n"}
            sweep = self.write_sweep(methods=[{**model, **changes}], grid={"local_context": [16]}, measure=measure)
            run = self.run_bench("sweep", sweep, "--store", name)
            self.assert_succeeds(run)
            with contextlib.closing(sqlite3.connect(self.path(name))) as store:
                return run.stderr, [text for text, in store.execute("SELECT text FROM output ORDER BY ordinal")]

        _, whole = texts("whole.sqlite")
        said, stopped = texts("stopped.sqlite", stop="s")
        self.assertIn("s", whole[0])
        self.assertEqual(stopped[0], whole[0].split("s")[0])
        self.assertNotIn("differ", said)


if __name__ == "__main__":
    unittest.main()
