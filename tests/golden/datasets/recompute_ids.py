"""Recomputes the pinned ids of the bundled sets (raw form) from the files, without the program.

Run in the source tree's root; prints dataset_id, first and last example hash of each pinned request.
"""
import hashlib
import json
import pathlib

MINI = pathlib.Path("datasets/mini")


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def canonical(value):
    return json.dumps(value, separators=(",", ":"), sort_keys=True).encode()


def digest(turns):
    parts = (text.encode() for turn in turns for text in turn)
    return sha256(b"".join(b"%d:%s" % (len(part), part) for part in parts))


def dataset(folder, split, view):
    files, examples = [], []
    for name in sorted(json.loads((folder / "splits.json").read_text())[split]):
        data = (folder / f"{name}.json").read_bytes()
        files.append(sha256(data))
        meeting = json.loads(data)
        turns = [(t["speaker"], t["content"]) for t in meeting["meeting_transcripts"]]
        for query in meeting["general_query_list"] + meeting["specific_query_list"]:
            document = turns
            if view == "golden" and "relevant_text_span" in query:
                spans = query["relevant_text_span"]
                document = [t for a, b in spans for t in turns[int(a):int(b) + 1]]
            examples.append(sha256(canonical({
                "document": digest(document), "query": sha256(query["query"].encode()),
                "references": [sha256(query["answer"].encode())]})))
    identity = {"reader": "qmsum@1", "split": split, "view": view, "text_form": "raw@1",
                "files": files, "examples": examples}
    return sha256(b"qfs-bench/1/dataset\n" + canonical(identity)), examples[0], examples[-1]


def stories(folder, split, view):
    files, examples = [], []
    for name in sorted(json.loads((folder / "splits.json").read_text())[split]):
        data = (folder / f"{name}.jsonl").read_bytes()
        files.append(sha256(data))
        story = json.loads(data)
        paragraphs = story["document"].split("\n\n")  # a blank line stays with what it follows
        segments = [(p + "\n" if i + 1 < len(paragraphs) else p, "")
                    for i, p in enumerate(paragraphs)]
        for question in story["questions"]:
            hashes = [sha256(r["response_text"].encode()) for r in question["responses"]]
            for references in [hashes] if view == "whole" else [[h] for h in hashes]:
                examples.append(sha256(canonical({
                    "document": digest([(speaker, text) for text, speaker in segments]),
                    "query": sha256(question["question_text"].encode()),
                    "references": references})))
    identity = {"reader": "squality@1", "split": split, "view": view, "text_form": "raw@1",
                "files": files, "examples": examples}
    return sha256(b"qfs-bench/1/dataset\n" + canonical(identity)), examples[0], examples[-1]


if __name__ == "__main__":
    for name in ("meetings", "zh"):
        for request in (("test", "whole"), ("test", "golden"), ("train", "whole")):
            print(name, *request, *dataset(MINI / name, *request))
    for request in (("test", "whole"), ("test", "per_reference"), ("train", "whole")):
        print("stories", *request, *stories(MINI / "stories", *request))
