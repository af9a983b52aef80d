"""One-file helper for summarization methods written in Python.

A method is a function from an example to a text:

    import qfs_method

    def summarize(example, params):
        return " ".join(example.text.split()[: params["max_words"]])

    qfs_method.serve(summarize, name="first_words", version=1,
                     params=[qfs_method.Param("max_words", "integer", default=40, minimum=1)])

`serve` speaks version 1 of the session protocol (harness/host/PROTOCOL.md) over the two pipes that
qfs-bench opens, so printing to the terminal is harmless: it goes to the cell's log. Python 3.8 or
newer, standard library only.
"""

import hashlib
import json
import os
import platform
import sys
import threading
import time
import traceback
from dataclasses import dataclass, field, replace
from typing import Any, Callable, Dict, List, Optional

PROTOCOL = 1
HEARTBEAT_SECONDS = 5.0


@dataclass
class Param:
    """A parameter of the method, as `list methods` shows it and sweeps may set it."""

    name: str
    type: str  # "boolean", "integer", "real" or "text"
    default: Any = None
    doc: str = ""
    unit: str = ""
    minimum: Optional[float] = None
    maximum: Optional[float] = None
    choices: List[str] = field(default_factory=list)
    required: bool = False
    stage: str = "predict"  # of a method that trains: "train" or "both", too
    numerics: bool = False  # how it is computed, not what is asked: a batch_size

    def __post_init__(self) -> None:
        types = ("boolean", "integer", "real", "text")
        if self.type not in types:
            raise ValueError(f"Param '{self.name}': type is one of {', '.join(types)}, not "
                             f"'{self.type}'")

    def declaration(self) -> Dict[str, Any]:
        given = {"name": self.name, "type": self.type, "doc": self.doc, "unit": self.unit,
                 "choices": self.choices, "required": self.required, "numerics": self.numerics}
        declared = {key: value for key, value in given.items() if value}
        # "", 0 and False are values: only None means that there is none.
        if self.stage != "predict":
            declared["stage"] = self.stage
        values = {"default": self.default, "minimum": self.minimum, "maximum": self.maximum}
        declared.update({key: value for key, value in values.items() if value is not None})
        return declared


@dataclass
class Example:
    """What the method may see of an example. `references` and `evidence` are empty unless the method
    asked for them when it was declared."""

    key: str
    document_id: str
    language: str
    query: str
    segments: List[Dict[str, str]]  # {"text": ..., "speaker": ...}; speaker may be absent
    references: List[str]
    evidence: List[List[int]]
    token_ends: List[List[int]] = field(default_factory=list, repr=False)  # see cut()

    @property
    def text(self) -> str:
        """The document as one string: "speaker: text" lines."""
        lines = []
        for segment in self.segments:
            speaker = segment.get("speaker")
            lines.append(f"{speaker}: {segment['text']}" if speaker else segment["text"])
        return "\n".join(lines)

    def cut(self, tokens: int) -> "Example":
        """The example with the first `tokens` document tokens, as the cell's tokenizer counts them.

        The document of a cell with `local_context` has been cut to that already; this is for reading
        still less of it, or part after part. Other cells have no tokenizer.
        """
        if not self.token_ends and self.segments:
            raise MethodError("cut() counts tokens by the cell's tokenizer, which it has only with "
                              "'local_context' in the sweep file")
        segments, ends = [], []
        for segment, own_ends in zip(self.segments, self.token_ends):
            if tokens <= 0:
                break
            ends.append(own_ends[:tokens])
            whole = len(own_ends) <= tokens
            segments.append(segment if whole else _first_bytes(segment, own_ends[tokens - 1]))
            tokens -= len(own_ends)
        last = len(segments) - 1
        evidence = [[first, min(end, last)] for first, end in self.evidence if first <= last]
        return replace(self, segments=segments, evidence=evidence, token_ends=ends)


def _first_bytes(segment: Dict[str, str], end: int) -> Dict[str, str]:
    """The segment up to byte `end` of "speaker: text", to the last whole character before it."""
    speaker = segment.get("speaker")
    name = f"{speaker}: ".encode() if speaker else b""
    shown = (name + segment["text"].encode())[:end]
    if not name or len(shown) <= len(name):
        return {"text": shown.decode(errors="ignore")}
    return {**segment, "text": shown[len(name):].decode(errors="ignore")}


class Training:
    """What a method learns from, and where it puts what it has learnt; given to `fit`.

    `folder` is this training's alone: a `fit` that was killed finds there what it had left. `steps`
    is how many optimiser steps this call may do (None: all); a fit that stops for it returns None.
    `init` has the paths of the files that it is to begin with, by role, if the user named some.
    """

    def __init__(self, folder: str, seed: int, steps: Optional[int], init: Dict[str, str],
                 train: List[Example], development: List[Example],
                 send: Callable[[Dict[str, Any]], None]) -> None:
        self.folder = folder
        self.seed = seed
        self.steps = steps
        self.init = init
        self.train = train
        self.development = development
        self._send = send

    def point(self, step: int, steps: int, **values: float) -> None:
        """A point of the curve: `training.point(40, 125, loss=2.31)`; `loss_part` is shown as
        "loss.part", and the words of a `warning_…` of the last point stand under tables."""
        named = {key.replace("_", ".", 1) if key.startswith(("loss_", "development_", "warning_")) else key:
                 float(value) for key, value in values.items()}
        self._send({"step": step, "steps": steps, "values": named})


class MethodError(Exception):
    """Raise it for input that the method cannot handle; the cell fails with this message."""

    def __init__(self, message: str, kind: str = "invalid_argument"):
        super().__init__(message)
        self.kind = kind


class _Channel:
    def __init__(self) -> None:
        try:
            request_fd = int(os.environ["QFS_REQUEST_FD"])
            reply_fd = int(os.environ["QFS_REPLY_FD"])
        except KeyError:
            sys.exit("this program is a method of qfs-bench; try: qfs-bench method check "
                     + " ".join(["python3"] + sys.argv))
        self.requests = os.fdopen(request_fd, "r", encoding="utf-8", newline="\n")
        self._replies = os.fdopen(reply_fd, "w", encoding="utf-8", errors="replace", newline="\n")
        self._lock = threading.Lock()

    def send(self, request_id: int, **body: Any) -> None:
        line = json.dumps({"id": request_id, **body}, ensure_ascii=False)
        with self._lock:
            self._replies.write(line + "\n")
            self._replies.flush()


class _Heartbeat:
    """Says every few seconds that a request is still being worked on."""

    def __init__(self, channel: _Channel, request_id: int) -> None:
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._beat, args=(channel, request_id), daemon=True)

    def _beat(self, channel: _Channel, request_id: int) -> None:
        while not self._stop.wait(HEARTBEAT_SECONDS):
            channel.send(request_id, heartbeat=True)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *unused: Any) -> None:
        self._stop.set()
        self._thread.join()


def _example(body: Dict[str, Any]) -> Example:
    return Example(body["key"], body["document_id"], body.get("language", "en"), body["query"],
                   body["document"], body.get("references", []), body.get("evidence", []),
                   body.get("token_ends", []))


def _peak_resident_bytes() -> int:
    try:
        with open("/proc/self/status", encoding="ascii") as status:
            for line in status:
                if line.startswith("VmHWM:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0


def _prediction(ordinal: int, result: Any) -> Dict[str, Any]:
    """A text, or a dict with "text" and other members of a prediction (see PROTOCOL.md)."""
    body = dict(result) if isinstance(result, dict) else {"text": result}
    if not isinstance(body.get("text"), str):
        raise MethodError(f"summarize returned {type(body.get('text')).__name__}, not a string")
    try:
        body["text"].encode("utf-8")
    except UnicodeEncodeError as error:
        raise MethodError(f"summarize returned a text that is no Unicode: {error.reason} at "
                          f"character {error.start}") from None
    return {"ordinal": ordinal, "finish": "stop", **body}


def _trained_files(folder: str, names: Dict[str, str]) -> List[Dict[str, Any]]:
    """What a fit returned, {"role": "file name"}, with sizes and digests."""
    files = []
    for role, name in sorted(names.items()):
        with open(os.path.join(folder, name), "rb") as file:
            content = file.read()
        files.append({"role": role, "name": name, "bytes": len(content),
                      "sha256": hashlib.sha256(content).hexdigest()})
    return files


def serve(summarize: Callable[[Example, Dict[str, Any]], Any], name: str, version: int,
          params: Optional[List[Param]] = None, doc: str = "", references: bool = False,
          evidence: bool = False, numerics: Optional[Dict[str, Any]] = None,
          setup: Optional[Callable[..., None]] = None, artifacts: Optional[List[str]] = None,
          fit: Optional[Callable[[Training, Dict[str, Any]], Optional[Dict[str, str]]]] = None
          ) -> None:
    """Answers qfs-bench until it hangs up.

    `version` is to be raised whenever equal parameters give other outputs. `numerics` are facts that
    change digits (library versions); the Python version is always among them. `setup(params, seed)`
    runs once per cell. With `references` or `evidence` the method sees the answers and is marked so
    in every table.

    A method that trains names the roles of its files in `artifacts` and gives `fit(training, params)`,
    which writes them into `training.folder` and returns {role: file name}. Its `setup` is then called
    as setup(params, seed, {role: path}).
    """
    channel = _Channel()
    facts = {"python": platform.python_version(), **(numerics or {})}
    cell_params: Dict[str, Any] = {}
    learnt: Dict[str, Any] = {}  # of the open training: seed, examples by split

    def train(request: Dict[str, Any]) -> Dict[str, Any]:
        if fit is None or not learnt:
            raise MethodError("'fit' without an open training")
        training = Training(request["folder"], learnt["seed"], request.get("steps"), learnt["init"],
                            learnt["train"], learnt["development"],
                            lambda point: channel.send(request["id"], point=point))
        start = time.perf_counter()
        names = fit(training, cell_params)
        cost = {"seconds": time.perf_counter() - start, "peak_bytes": _peak_resident_bytes()}
        learnt.clear()
        return {"fitted": {"files": _trained_files(training.folder, names or {}), "cost": cost}}

    def answer(request: Dict[str, Any]) -> Dict[str, Any]:
        verb = request["verb"]
        if verb == "probe":
            return {"probe": {"protocol": PROTOCOL, "host": name, "numerics": facts,
                              "facts": {"platform": platform.platform(terse=True)}}}
        if verb == "describe":
            return {"description": {
                "name": name, "version": version, "doc": doc, "references": references,
                "evidence": evidence, "params": [p.declaration() for p in params or []],
                "artifacts": artifacts or []}}
        if verb == "open":
            cell_params.clear()
            cell_params.update(request["params"])
            learnt.clear()
            files = {role: file["path"] for role, file in request.get("artifacts", {}).items()}
            if request.get("kind") == "train":
                learnt.update(seed=request["seed"], init=files, train=[], development=[])
            elif setup is not None:
                setup(cell_params, request["seed"], *([files] if artifacts else []))
            return {"opened": True}
        if verb == "learn":
            split = learnt["development" if request.get("development") else "train"]
            split.extend(_example(body) for body in request["examples"])
            return {"learned": len(split)}
        if verb == "fit":
            return train(request)
        if verb in ("run", "measure"):
            start = time.perf_counter_ns()
            for body in request["examples"]:
                result = summarize(_example(body), cell_params)
                channel.send(request["id"], prediction=_prediction(body["ordinal"], result))
            done = {"ns": time.perf_counter_ns() - start}
            if verb == "measure":
                done["peak_resident_bytes"] = _peak_resident_bytes()
            return {"done": done}
        if verb == "close":
            return {"closed": True}
        raise MethodError(f"this method does not offer '{verb}'", kind="unavailable")

    for line in channel.requests:
        request = json.loads(line)
        try:
            with _Heartbeat(channel, request["id"]):
                reply = answer(request)
        except MethodError as error:
            reply = {"error": {"kind": error.kind, "message": str(error)}, "usable": True}
        except MemoryError:
            reply = {"error": {"kind": "out_of_memory", "message": "MemoryError"}, "usable": False}
        except Exception as error:  # the log has the traceback, the store the last line
            traceback.print_exc()
            message = f"{type(error).__name__}: {error}"
            reply = {"error": {"kind": "internal", "message": message}, "usable": True}
        channel.send(request["id"], **reply)
