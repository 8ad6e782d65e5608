"""Logs rich objects of a run in every way that the published SDK has."""

from __future__ import annotations

import argparse
import json
import struct
import wave
import zlib
from pathlib import Path

import instantml


def png(path: str) -> str:
    """Writes an image of one black pixel."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)
    pixel = zlib.compress(b"\0\0")
    Path(path).write_bytes(
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixel) + chunk(b"IEND", b"")
    )
    return path


def wav(path: str) -> str:
    with wave.open(path, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(8000)
        sound.writeframes(b"\0\0" * 100)
    return path


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--report", required=True)
    arguments = parser.parse_args()
    init = {"project": "objects", "name": "rich", "config": {}, "tags": []}
    run = instantml.Client(timeout=30).init(**init, system_metrics=False, source_tracking=False, upload_mode="sync")
    table = run.log_table_object(
        "eval/samples", ["question", "score", "seed"], [["what?", 0.5, 12345678901234567890], ["é", None, 2]], step=1
    )
    empty = run.log_table_object("eval/none", ["a"], [], step=1)
    image = run.log_image("eval/frame", png("frame.png"), step=2, caption="a pixel")
    audio = run.log_audio("eval/sound", wav("sound.wav"), step=2)
    Path("clip.mp4").write_bytes(b"not really a video")
    video = run.log_video_object("eval/clip", "clip.mp4", step=2)
    histograms = run.log_objects({"grads": instantml.Histogram.from_values([1, 2, 2, 3], bins=3)}, step=3)
    run.log_histogram("weights", {"bins": [0, 1, 2], "counts": [3, 4]}, step=4)
    evaluation = run.log_classification_eval(
        "validation",
        y_true=["no", "yes", "yes", "no"],
        y_score=[0.1, 0.9, 0.4, 0.6],
        class_names=["no", "yes"],
        positive_label="yes",
        predictions=[{"id": "first"}],
        step=5,
    )
    run.log({"mixed": instantml.Table(columns=["a"], rows=[{"a": 1}]), "loss": 0.5}, step=6)
    run.log_config({"lr": 0.001})
    run.log_text({"notes": "hello"}, step=7)
    run.finish()
    logged = {
        "table": table,
        "empty": empty,
        "image": image,
        "audio": audio,
        "video": video,
        "histogram": histograms[0],
        "evaluation": evaluation,
    }
    with open(arguments.report, "w", encoding="utf-8") as file:
        json.dump({"run_id": run.run_id, "init": init, "calls": [], "objects": logged}, file)


if __name__ == "__main__":
    main()
