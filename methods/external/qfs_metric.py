"""Helper for metrics written in Python: a metric is a function from an item to a number.

    import qfs_metric

    def score(item):
        return len(item.prediction) / max(1, len(item.references[0]))

    qfs_metric.serve(score, name="length_ratio", version=1, columns=["length_ratio"])

`serve` speaks version 1 of the session protocol (harness/host/PROTOCOL.md) over the two pipes that
qfs-bench opens, so printing to the terminal is harmless: it goes to the metric's log. An exception is
the error of the metric, never a 0. Python 3.8 or newer, standard library and qfs_method.py only.
"""

import json
import math
import os
import platform
import sys
import traceback
from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Optional, Sequence, Union

import qfs_method
from qfs_method import MethodError as MetricError  # raise it for an item that cannot be scored

NEEDS = ("references", "document", "query")


@dataclass
class Item:
    """A prediction with what the metric needs of its example; the rest is empty."""

    ordinal: int
    prediction: str
    references: List[str]
    document: str
    query: str
    language: str


def _values(result: Any, columns: Sequence[str], ordinal: int) -> Dict[str, float]:
    values = result if isinstance(result, dict) else {columns[0]: result} if len(columns) == 1 else None
    if values is None or sorted(values) != sorted(columns):
        raise MetricError(f"item {ordinal}: score must return a number for each of {', '.join(columns)}", "data")
    for column, value in values.items():
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
            raise MetricError(f"item {ordinal}: {column} is {value!r}, not a finite number", "data")
    return {column: float(value) for column, value in values.items()}


def serve(score: Callable[[Item], Union[float, Dict[str, float]]], name: str, version: int,
          columns: Sequence[str], needs: Sequence[str] = ("references",), doc: str = "",
          setup: Optional[Callable[[], None]] = None) -> None:
    """Answers qfs-bench until it hangs up.

    `version` is to be raised whenever equal items give other values. `columns` are the names of the
    values in tables; one that ends in ".p", ".r" or ".f" is a share in 0..1. `needs` are the fields
    that an item must have: references, document, query. `setup` runs once, before the first item.
    """
    unknown = [field for field in needs if field not in NEEDS]
    if unknown:
        sys.exit(f"needs={unknown}: a metric can need {', '.join(NEEDS)}")
    if "QFS_REQUEST_FD" not in os.environ:
        sys.exit("this program is a metric of qfs-bench: a sweep file declares it in external_metrics")
    channel = qfs_method._Channel()

    def answer(request: Dict[str, Any]) -> Dict[str, Any]:
        verb = request["verb"]
        if verb == "probe":
            return {"probe": {"protocol": qfs_method.PROTOCOL, "host": name,
                              "numerics": {"python": platform.python_version()}, "facts": {}}}
        if verb == "describe":
            return {"description": {"name": name, "version": version, "doc": doc,
                                    "metric": {"columns": list(columns), "needs": list(needs)}}}
        if verb == "open":
            if setup is not None:
                setup()
            return {"opened": True}
        if verb == "score":
            for body in request["items"]:
                item = Item(body["ordinal"], body["prediction"], body.get("references", []),
                            body.get("document", ""), body.get("query", ""), body.get("language", ""))
                try:
                    values = _values(score(item), columns, item.ordinal)
                except MetricError:
                    raise
                except Exception as error:
                    traceback.print_exc()
                    raise MetricError(f"item {item.ordinal}: {type(error).__name__}: {error}", "data") from error
                channel.send(request["id"], score={"ordinal": item.ordinal, "values": values})
            return {"done": {"ns": 0}}
        if verb == "close":
            return {"closed": True}
        raise MetricError(f"this metric does not offer '{verb}'", kind="unavailable")

    for line in channel.requests:
        request = json.loads(line)
        try:
            with qfs_method._Heartbeat(channel, request["id"]):
                reply = answer(request)
        except MetricError as error:
            reply = {"error": {"kind": error.kind, "message": str(error)}, "usable": True}
        except MemoryError:
            reply = {"error": {"kind": "out_of_memory", "message": "MemoryError"}, "usable": False}
        except Exception as error:  # the log has the traceback
            traceback.print_exc()
            message = f"{type(error).__name__}: {error}"
            reply = {"error": {"kind": "internal", "message": message}, "usable": True}
        channel.send(request["id"], **reply)
