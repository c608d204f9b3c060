# SPDX-License-Identifier: GPL-2.0-or-later
"""results.schema.json: what results.json may hold, as a JSON Schema (draft 7) for other programs.

Made from the classes of `results.py` and the rows of `stored.py`; a test demands that the file
beside this module is what `python -m x25shark.results_schema` writes. The rows of a run are lists,
so their places have names here only in the descriptions.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from .results import FORMAT, FORMAT_VERSION, CaseResult, CounterReading, RunInfo, write_whole
from .verdicts import Verdict

FILE = Path(__file__).with_name("results.schema.json")

_Schema = dict[str, Any]

# The number of a text in `texts`, or of a packet, a frame, an octet.
_TEXT: _Schema = {"type": "integer", "minimum": 0, "description": "number in texts"}
_NUMBER: _Schema = {"type": "integer", "minimum": 0}
_MAYBE: _Schema = {"type": ["integer", "null"], "minimum": 0}
_SIDE: _Schema = {"type": "string", "description": "side of the tester: A, B, or B2"}
_FLAG: _Schema = {"type": "boolean"}


def _row(*places: tuple[str, _Schema], least: int | None = None) -> _Schema:
    """A list with these places in this order; those from `least` on may be left out."""
    return {
        "type": "array",
        "items": [{"title": name, **schema} for name, schema in places],
        "additionalItems": False,
        "minItems": len(places) if least is None else least,
    }


def _fields(kind: type) -> _Schema:
    """The object of a class whose fields are all written."""
    made: _Schema = TypeAdapter(kind).json_schema(mode="serialization")
    made.pop("$defs", None)
    for value in made["properties"].values():
        value.pop("default", None)
        value.pop("title", None)
    return {
        "description": (kind.__doc__ or "").split("\n", 1)[0],
        "type": "object",
        "properties": made["properties"],
        "required": sorted(made["properties"]),
        "additionalProperties": False,
    }


def _reading() -> _Schema:
    same = (("offset", _MAYBE), ("saw", _TEXT))
    place = (("met", _FLAG), ("frame", _MAYBE), ("k", _MAYBE))
    return {
        "description": "what a judge says: met, frame and k only where they are not those of the "
        "expectation",
        "anyOf": [{"type": "null"}, _row(*same), _row(*place, *same)],
    }


def _filter() -> _Schema:
    return {
        "description": "[T], [T, U] or [T, k, offset, U] for T && x25s.offset#k == offset && U",
        "anyOf": [
            _row(("T", _TEXT)),
            _row(("T", _TEXT), ("U", _TEXT)),
            _row(("T", _TEXT), ("k", _NUMBER), ("offset", _NUMBER), ("U", _TEXT)),
        ],
    }


def _expectation() -> _Schema:
    reading = {"$ref": "#/definitions/reading"}
    return _row(
        ("text", _TEXT),
        ("side", _SIDE),
        ("clause", _TEXT),
        ("filter", {"$ref": "#/definitions/filter"}),
        ("frame", _MAYBE),
        ("k", _MAYBE),
        ("judge_one", reading),
        ("stimulus_frame", _MAYBE),
        ("met", _FLAG),
        ("preamble", _FLAG),
        ("locator", _MAYBE),
        ("judge_two", {"anyOf": [{"const": "same"}, reading]}),
        ("counter", {"anyOf": [{"type": "null"}, {"$ref": "#/definitions/counter"}]}),
        least=8,
    )


def _packet() -> _Schema:
    return _row(
        ("time", {"type": "number"}),
        ("frame", _NUMBER),
        ("k", _NUMBER),
        ("side", _SIDE),
        ("sent", {"enum": [0, 1]}),
        ("connection", _NUMBER),
        ("offset", _NUMBER),
        ("text", _TEXT),
    )


def schema() -> _Schema:
    """The JSON Schema of results.json."""
    verdicts = [verdict.value for verdict in Verdict]
    case = _fields(CaseResult)
    case["properties"] |= {
        "verdict": {"enum": verdicts},
        "expectations": {"type": "array", "items": {"$ref": "#/definitions/expectation"}},
        "packets": {"type": "array", "items": {"$ref": "#/definitions/packet"}},
    }
    whole = {
        "format": {"const": FORMAT},
        "version": {"const": FORMAT_VERSION},
        "run": {"$ref": "#/definitions/run"},
        "summary": {
            "type": "object",
            "properties": dict.fromkeys(verdicts, _NUMBER),
            "required": verdicts,
            "additionalProperties": False,
        },
        "exit_status": {"type": "integer"},
        "cases": {"type": "array", "items": {"$ref": "#/definitions/case"}},
        "texts": {"type": "array", "items": {"$ref": "#/definitions/text"}},
    }
    return {
        "$comment": "SPDX-License-Identifier: GPL-2.0-or-later",
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": f"{FORMAT}, version {FORMAT_VERSION}",
        "type": "object",
        "properties": whole,
        "required": list(whole),
        "additionalProperties": False,
        "definitions": {
            "run": _fields(RunInfo),
            "case": case,
            "expectation": _expectation(),
            "packet": _packet(),
            "counter": _fields(CounterReading),
            "reading": _reading(),
            "filter": _filter(),
            "text": {
                "description": "a text; or number, head, middle, tail: so many characters at the "
                "beginning and the end of that earlier text, and what stands between them",
                "anyOf": [
                    {"type": "string"},
                    _row(
                        ("number", _TEXT),
                        ("head", _NUMBER),
                        ("middle", {"type": "string"}),
                        ("tail", _NUMBER),
                    ),
                ],
            },
        },
    }


def text() -> str:
    """The schema as the file holds it."""
    return json.dumps(schema(), indent=1) + "\n"


if __name__ == "__main__":
    write_whole(FILE, text())
