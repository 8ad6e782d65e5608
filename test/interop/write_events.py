"""Writes an event file as a training with TensorBoard does: scalars of the given steps."""

import sys

from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.summary.writer.event_file_writer import EventFileWriter

folder, first, last = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
writer = EventFileWriter(folder)
for step in range(first, last):
    values = [Summary.Value(tag=tag, simple_value=step * factor) for tag, factor in (("loss", 0.5), ("acc", 2.0))]
    writer.add_event(Event(wall_time=1_700_000_000.25 + step, step=step, summary=Summary(value=values)))
writer.close()
