"""Reads a Parquet file of an export with pandas and with DuckDB and prints what each of them sees as JSON.

Numbers are printed as the 16 hexadecimal digits of their bytes, so that -0, NaN and the last bit count.
"""

import json
import struct
import sys

import duckdb
import pandas

path = sys.argv[1]
columns = ["run_id", "run_name", "key", "step", "value", "timestamp", "created_at"]


def bits(number):
    return struct.pack(">d", number).hex()


def micros(time):
    return None if time is None or pandas.isna(time) else time.value // 1000


frame = pandas.read_parquet(path)
if list(frame.columns) != columns:
    raise SystemExit(f"the columns are {list(frame.columns)}")
kinds = [str(frame[name].dtype) for name in ("step", "value", "timestamp", "created_at")]
by_pandas = [
    [row.run_id, row.run_name, row.key, bits(row.step), bits(row.value), micros(row.timestamp), micros(row.created_at)]
    for row in frame.itertuples(index=False)
]
by_duckdb = [
    [run_id, run_name, key, bits(step), bits(value), timestamp, created_at]
    for run_id, run_name, key, step, value, timestamp, created_at in duckdb.execute(
        "SELECT run_id, run_name, key, step, value, epoch_us(timestamp), epoch_us(created_at) FROM read_parquet(?)",
        [path],
    ).fetchall()
]
json.dump({"kinds": kinds, "pandas": by_pandas, "duckdb": by_duckdb}, sys.stdout)
