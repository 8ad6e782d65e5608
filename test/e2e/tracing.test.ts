import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "@jest/globals";
import { until } from "@tidemark/testkit";
import { describeOwnModes } from "../stack/modes.ts";

// A collector that understands only what it needs: the names of spans are plain text in the
// Protobuf that the exporter sends, their ids as bytes.
const received: Buffer[] = [];
const collector: Server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    received.push(Buffer.concat(chunks));
    response.writeHead(200, { "content-type": "application/x-protobuf" }).end();
  });
});
await new Promise<void>((resolve) => collector.listen(0, "127.0.0.1", resolve));
collector.unref();
const endpoint = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;

const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";

describeOwnModes(
  "traces",
  (stack) => {
    test("a caller's trace continues through the gateway into the service", async () => {
      const { api } = await stack().organization();
      const { id } = (await api.post("/runs", {})).json.run;
      received.length = 0;
      const traceparent = `00-${traceId}-00f067aa0ba902b7-01`;
      await api.post(`/runs/${id}/metrics`, { metrics: { loss: 1 }, step: 0 }, { headers: { traceparent } });
      const has = (text: string): boolean =>
        received.some((body) => body.includes(text) && body.includes(Buffer.from(traceId, "hex")));
      await until("both spans at the collector", () => has("POST /runs/{run_id}/metrics"));
      await until("the service's span", () => has("tidemark.ingest.v1.IngestService/AppendMetrics"));
      expect(Buffer.concat(received).includes(Buffer.from(traceId, "hex"))).toBe(true);
      expect(Buffer.concat(received).toString("latin1")).not.toMatch(/tm_[A-Za-z0-9]{12}_/);
    });
  },
  {
    settings: {
      OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
      OTEL_EXPORTER_OTLP_PROTOCOL: "http/protobuf",
      OTEL_EXPORTER_OTLP_COMPRESSION: "none",
      OTEL_BSP_SCHEDULE_DELAY: "100",
    },
  },
);
