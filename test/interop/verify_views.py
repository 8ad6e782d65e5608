"""Verifies exported workspace views with nothing but the standard library: reads a JSON list of files, as texts, from standard input, and prints a
JSON list that says for each whether the checksum is that of its payload."""

import hashlib
import json
import sys


class Digits(str):
    """A number as it stands in the file."""


def canonical(value):
    """Writes compact JSON with keys sorted by their code points at every level."""
    if isinstance(value, Digits):
        return str(value)
    if isinstance(value, dict):
        members = (f"{json.dumps(key, ensure_ascii=False)}:{canonical(value[key])}" for key in sorted(value))
        return "{" + ",".join(members) + "}"
    if isinstance(value, list):
        return "[" + ",".join(canonical(part) for part in value) + "]"
    return json.dumps(value, ensure_ascii=False)


def is_whole(text):
    view = json.loads(text, parse_int=Digits, parse_float=Digits)
    digest = hashlib.sha256(canonical(view["view"]["payload"]).encode("utf-8")).hexdigest()
    return digest == view["integrity"]["payload_sha256"]


print(json.dumps([is_whole(text) for text in json.load(sys.stdin)]))
