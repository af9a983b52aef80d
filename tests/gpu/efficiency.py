"""The efficiency report of a model on a device: the settings in which the papers give speed, memory and work, run with
the model that is there. Texts are pseudo-random words; adapters are trained for one step, so that outputs mean nothing.

Usage: efficiency.py QFS_BENCH MODEL FOLDER [--device cuda] [--tokens 1024] [--new-tokens 128] [--examples 8]
       [--train-tokens 3800] [--steps 5] [--shots 1,2,4,8,16,32,64,128] [--longest 131072] [--inputs 2048,…,65536] [--batch 8] [--memory-mib N]
FOLDER receives efficiency.md, the sweep files, data and stores. A part that fails is in the report with its reason; exit
code 1 then, 0 otherwise.
"""

import argparse
import json
import pathlib
import random
import subprocess
import sys

TABLE_3 = ("IDEAL, Table 3", "Trainable parameters by shapes alone, beside the printed ones.")
TABLE_6 = ("IDEAL, Table 6", "The largest local context that fits, by trying, one document at a time.")
MEMORY = ("IDEAL, memory", "One document of so many tokens, read by LoRA through a window of {half} tokens with a query-focused memory behind it, and "
          "through a window that holds all of it, which is full attention.")
TABLE_7 = ("SelfCP, Table 7", "Sequences of {tokens} tokens and {new} generated ones whatever the model says, one at a time. Operations of "
           "compression are counted by the paper's formula (eager) and as they are needed (lean).")
FIGURE_6 = ("SelfCP, Figure 6", "Demonstrations in front of a query: as memory out of a bank, compressed anew each time, and as the "
            "tokens that a backbone without compression reads; {batch} queries at a time. What does not fit ends its line.")
TRAINING = ("Training", "{steps} steps of a sequence of {learned} tokens, the first one with all that it has to prepare, beside what the device does at "
            "most. Utilisation is operations of the model (4NT + 3.5A of what is frozen, scores of attention computed again) by their time, as a share of the matrix products that the "
            "same kind of process reached.")

FIELDS = {"id": "id", "document": "document", "query": "query", "references": "references"}


class Report:
    def __init__(self, args):
        self.args = args
        self.folder = args.folder
        self.parts = []
        self.failed = False

    def run(self, *arguments):
        run = subprocess.run([str(self.args.program), *arguments], cwd=self.folder, text=True, capture_output=True)
        with open(self.folder / "efficiency.log", "a", encoding="utf-8") as log:
            log.write(f"$ qfs-bench {' '.join(arguments)}\n{run.stderr}\n")
        return run

    def part(self, text, *steps):
        """A heading with what the last of the steps prints. Exit code 3 is that of cells that ran out of memory, too."""
        heading, sentence = text
        args = self.args
        self.parts += [f"## {heading}", sentence.format(tokens=args.tokens, half=args.tokens // 2, new=args.new_tokens, batch=args.batch,
                                                        steps=args.steps, learned=args.train_tokens)]
        for step in steps:
            run = self.run(*step)
            if run.returncode not in (0, 3) or "incomplete" in run.stdout:
                self.failed = True
                last = (run.stderr.strip() or "no message").splitlines()[-1]
                self.parts.append(f"Failed with exit code {run.returncode}; efficiency.log says more: {last}")
                return
        lines = [line for line in run.stdout.splitlines() if not line.startswith("#")]
        self.parts.append("\n".join(lines).strip())

    def utilisation(self, store):
        """Of each row that was trained: utilisation (no layer is computed again, nothing evaluated)."""
        run = self.run("report", "--store", store, "--format", "json", "--columns", "values", "--values",
                       "train_flops,train_seconds,machine_gemm")
        if run.returncode != 0:
            self.failed = True
            self.parts.append(f"No utilisation: exit code {run.returncode}; efficiency.log says more")
            return
        for row in json.loads(run.stdout).get("rows", []):
            values = {name: cell.get("value", 0) for name, cell in row["cells"][0]["values"].items()}
            if values["train_flops"] > 0 and values["machine_gemm"] == 0:
                self.failed = True
                self.parts.append(f"No utilisation of {row['labels']['method']}: matrix products were not measured")
            elif values["train_flops"] > 0:
                share = values["train_flops"] / (values["train_seconds"] * values["machine_gemm"])
                self.parts.append(f"Utilisation of {row['labels']['method']}: {100 * share:.2f} %")

    def write_data(self):
        generator = random.Random(7)
        words = ["budget", "remote", "meeting", "design", "cost", "button", "market", "user", "panel", "week"]

        def record(i, count):
            text = " ".join(generator.choice(words) for _ in range(count))
            return {"id": f"e{i}", "document": text, "query": f"What was said of item {i}?", "references": [text[:80]]}

        for name, records, count in (("test", self.args.examples, 2 * self.args.tokens), ("train", 2 * self.shots(), 40), ("learned", self.args.steps, self.args.train_tokens),
                                     ("long", 1, self.args.longest)):
            lines = (json.dumps(record(f"{name}-{i}", count)) + "\n" for i in range(records))
            (self.folder / f"{name}.jsonl").write_text("".join(lines), encoding="utf-8")

    def shots(self):
        return max(self.args.shots)

    def sweep(self, name, methods, data="test", learned="train", **members):
        model = str(self.args.model.resolve())
        trained = {"steps": 1, "train_batch": self.args.batch, "train_tokens": self.args.tokens, "label_tokens": 16,
                   "evaluate_every": 0, "train_dtype": "float32" if self.args.device == "cpu" else "bfloat16",
                   "training": {"train": {"path": f"{learned}.jsonl", "fields": FIELDS}}}
        entries = []
        for method in methods:
            learns = method["method"] != "zero_shot"
            entries.append({"backbone": model, "chat": False, "prompt": "{query}\n{document}\n", **(trained if learns else {}), **method})
        text = {"name": name, "tokenizer": model, "datasets": [{"path": f"{data}.jsonl", "fields": FIELDS}],
                "methods": entries, **members}
        if self.args.memory_mib:
            text["limits"] = {"memory_mib" if self.args.device == "cpu" else "device_memory_mib": self.args.memory_mib}
        (self.folder / f"{name}.json").write_text(json.dumps(text, indent=1), encoding="utf-8")
        return [f"{name}.json", "--device", self.args.device]

    def make(self):
        tokens, new, batch = self.args.tokens, self.args.new_tokens, self.args.batch
        half = tokens // 2
        writing = {"max_new_tokens": new, "batch_size": 1}
        measure = {"examples": min(4, self.args.examples), "warmup": 1, "repetitions": 3, "protocol": "fixed_n"}
        speed = ["prefill_tokens_per_second", "tokens_per_second", "prefill_fraction", "decode_fraction", "peak_memory"]
        self.part(TABLE_3, ["report", "--table", "ideal.table3"])
        adapted = [{"method": "zero_shot", "label": "backbone"}, {"method": "lora", "rank": 16}, {"method": "ideal", "rank": 16}]
        longest = self.sweep("ideal_table6", [{**method, **writing, "max_new_tokens": 1} for method in adapted], "long",
                             grid={"local_context": [half]})
        self.part(TABLE_6, ["train", *longest], ["frontier", *longest, "--from", str(half), "--to", str(self.args.longest)])
        reading = {"method": "lora", "rank": 8, "memory": "qf_infini", "train_segment": half, "positions": max(self.args.inputs) + tokens, **writing}
        memory = self.sweep("ideal_memory", [{**reading, "label": f"{name}, {length}", "local_context": window, "input_tokens": length}
                                             for length in self.args.inputs
                                             for name, window in (("memory", half), ("full attention", length + half))], "long",
                            measure={"examples": 1, "warmup": 1, "repetitions": 3, "protocol": "fixed_n"},
                            report={"rows": ["method"], "columns": ["values"],
                                    "values": ["prefill_tokens_per_second", "tokens_per_second", "peak_memory"]})
        self.part(MEMORY, ["sweep", *memory, "--quiet"])
        compared = [{"method": "zero_shot", "label": f"backbone {half}", "local_context": half},
                    {"method": "zero_shot", "label": f"backbone {tokens}", "local_context": tokens},
                    {"method": "lora", "label": f"LoRA {half}", "rank": 32, "local_context": half},
                    {"method": "lora", "label": f"LoRA {tokens}", "rank": 32, "local_context": tokens},
                    {"method": "selfcp", "label": "SelfCP 12 to 1", "local_context": half, "input_tokens": tokens, "ratio": 12},
                    {"method": "ideal", "label": "IDEAL (LoRA)", "rank": 16, "local_context": half}]
        seventh = self.sweep("selfcp_table7", [{**method, **writing} for method in compared], measure=measure,
                             report={"rows": ["method"], "columns": ["values"],
                                     "values": [*speed, "fact.compression.flops_eager", "fact.compression.flops_lean"]})
        self.part(TABLE_7, ["sweep", *seventh, "--quiet"])
        learning = {"steps": self.args.steps, "train_batch": 1, "train_tokens": self.args.train_tokens, "local_context": half, "max_new_tokens": 1}
        training = self.sweep("training", [{"method": "lora", "rank": 8, **learning}, {"method": "ideal", "rank": 16, **learning}],
                              learned="learned", measure=measure, report={"rows": ["method"], "columns": ["values"], "values": [
                                  "train_tokens", "train_seconds", "train_peak_memory", "trainable_parameters", "machine_gemm", "machine_read"]})
        self.part(TRAINING, ["sweep", *training, "--quiet"])
        self.utilisation("training.sqlite")
        bank = {"method": "selfcp", "local_context": half, "input_tokens": half, "ratio": 12, "bank": self.shots(),
                "max_new_tokens": 1, "batch_size": batch, "bank_ratio": 12}
        forms = [{**bank, "label": form, "shots_as": form} for form in ("memory", "recomputed", "tokens")]
        sixth = self.sweep("selfcp_figure6", forms, grid={"shots": self.args.shots}, measure=measure,
                           out_of_memory={"implied_by": "shots"},
                           report={"rows": ["method"], "columns": ["shots"], "values": ["seconds_per_example", "peak_memory"]})
        self.part(FIGURE_6, ["sweep", *sixth, "--quiet"])
        version = self.run("--version").stdout.strip()
        head = f"# Efficiency\n\n{version}, `{self.args.model.name}` on `{self.args.device}`"
        (self.folder / "efficiency.md").write_text("\n\n".join([head, *self.parts]) + "\n", encoding="utf-8")


def numbers(text):
    return [int(part) for part in text.split(",")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("model", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--tokens", type=int, default=1024)
    parser.add_argument("--train-tokens", type=int, default=3800)
    parser.add_argument("--steps", type=int, default=5, help="of a training whose time counts")
    parser.add_argument("--new-tokens", type=int, default=128)
    parser.add_argument("--examples", type=int, default=8)
    parser.add_argument("--shots", type=numbers, default=[1, 2, 4, 8, 16, 32, 64, 128])
    parser.add_argument("--longest", type=int, default=131072)
    parser.add_argument("--inputs", type=numbers, default=[2048, 4096, 8192, 16384, 32768, 65536], help="tokens of the document behind a memory")
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--memory-mib", type=int, help="that a host may take on a CPU, or its allocator of the device")
    args = parser.parse_args()
    if max(args.inputs) > args.longest:
        parser.error(f"--inputs {max(args.inputs)}: the longest document has {args.longest} words (--longest)")
    args.program = args.program.resolve()
    args.folder.mkdir(parents=True, exist_ok=True)
    report = Report(args)
    report.write_data()
    report.make()
    sys.exit(1 if report.failed else 0)


if __name__ == "__main__":
    main()
