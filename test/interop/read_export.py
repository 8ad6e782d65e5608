"""Reads an export as CSV from standard input with Python's csv module and prints its rows as JSON."""

import csv
import io
import json
import sys

text = sys.stdin.buffer.read().decode("utf-8")
csv.field_size_limit(1 << 30)
rows = list(csv.DictReader(io.StringIO(text, newline=""), strict=True))
if any(None in row or None in row.values() for row in rows):
    raise SystemExit("a line has another number of cells than the first one")
json.dump(rows, sys.stdout)
