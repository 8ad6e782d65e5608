import { expect, test } from "@jest/globals";
import { JsonTraceSerializer, ProtobufTraceSerializer } from "@opentelemetry/otlp-transformer";
import { writeJsonAnswer, writeJsonStatus, writeProtobufAnswer, writeProtobufStatus } from "./answers.ts";

// The exporters of the OpenTelemetry SDK read the answers.

test.each([
  [
    "JSON",
    (answer: { rejectedSpans: number; message: string }) => Buffer.from(writeJsonAnswer(answer)),
    JsonTraceSerializer,
  ],
  ["protobuf", writeProtobufAnswer, ProtobufTraceSerializer],
] as const)("spans that were refused are told in %s", (_encoding, write, serializer) => {
  const answer = serializer.deserializeResponse(write({ rejectedSpans: 3, message: "no run" }));
  expect(Number(answer.partialSuccess?.rejectedSpans)).toBe(3);
  expect(answer.partialSuccess?.errorMessage).toBe("no run");
  expect(serializer.deserializeResponse(write({ rejectedSpans: 0, message: "" })).partialSuccess).toBeUndefined();
});

test("nothing refused: nothing is said", () => {
  expect(writeProtobufAnswer({ rejectedSpans: 0, message: "" })).toHaveLength(0);
  expect(writeJsonAnswer({ rejectedSpans: 0, message: "" })).toBe("{}");
});

test("errors are a status with a code of gRPC", () => {
  expect(JSON.parse(writeJsonStatus(16, "invalid API key"))).toEqual({ code: 16, message: "invalid API key" });
  expect(writeProtobufStatus(16, "no").toString("hex")).toBe("0810" + "12026e6f");
});
