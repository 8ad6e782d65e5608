"""Traces an agent with the OpenTelemetry SDK and exports the spans over OTLP/HTTP, then says which it made."""

import argparse
import json
import os
import time

from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.trace import Status, StatusCode


class CountingExporter(SpanExporter):
    """Passes batches on and keeps what became of them."""

    def __init__(self, exporter: SpanExporter) -> None:
        self.exporter = exporter
        self.exported: list[str] = []
        self.failed: list[str] = []

    def export(self, spans):
        result = self.exporter.export(spans)
        done = self.exported if result is SpanExportResult.SUCCESS else self.failed
        done.extend(format(span.context.span_id, "016x") for span in spans)
        return result

    def shutdown(self) -> None:
        self.exporter.shutdown()


parser = argparse.ArgumentParser()
parser.add_argument("--report", required=True)
parser.add_argument("--seconds", type=float, default=0, help="goes on making traces for so long")
args = parser.parse_args()

exporter = CountingExporter(OTLPSpanExporter(compression=Compression.Gzip))
provider = TracerProvider(resource=Resource.create({"tidemark.run_id": os.environ["RUN_ID"]}))
provider.add_span_processor(BatchSpanProcessor(exporter, schedule_delay_millis=200))
tracer = provider.get_tracer("agent")

until = time.monotonic() + args.seconds
traces = []
while True:
    with tracer.start_as_current_span("episode", attributes={"tidemark.kind": "rollout", "tidemark.step": len(traces)}) as root:
        with tracer.start_as_current_span(
            "chat small",
            attributes={
                "gen_ai.operation.name": "chat",
                "gen_ai.request.model": "small",
                "gen_ai.usage.input_tokens": 12,
                "gen_ai.usage.output_tokens": 5,
                "gen_ai.input.messages": '[{"role": "user", "content": "a secret question"}]',
            },
        ):
            pass
        with tracer.start_as_current_span("search", attributes={"openinference.span.kind": "TOOL"}) as tool:
            tool.record_exception(ValueError("no results"))
            tool.set_status(Status(StatusCode.ERROR, "no results"))
    traces.append(format(root.get_span_context().trace_id, "032x"))
    print(f"trace {len(traces)}", flush=True)
    if time.monotonic() >= until:
        break
    time.sleep(0.02)

provider.force_flush()
provider.shutdown()
with open(args.report, "w", encoding="utf-8") as report:
    json.dump({"traces": traces, "exported": exporter.exported, "failed": exporter.failed}, report)
