import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";

/** The result of a request: how many spans were refused, and why. If none were refused: 0 and an empty text. */
export type ExportAnswer = { readonly rejectedSpans: number; readonly message: string };

/** Returns an `ExportTraceServiceResponse` in JSON. */
export function writeJsonAnswer({ rejectedSpans, message }: ExportAnswer): string {
  if (rejectedSpans === 0) return "{}";
  return JSON.stringify({ partialSuccess: { rejectedSpans: String(rejectedSpans), errorMessage: message } });
}

/** Returns an `ExportTraceServiceResponse` in protobuf. */
export function writeProtobufAnswer({ rejectedSpans, message }: ExportAnswer): Buffer {
  const writer = new BinaryWriter();
  if (rejectedSpans > 0) {
    writer.tag(1, WireType.LengthDelimited).fork();
    writer.tag(1, WireType.Varint).int64(rejectedSpans);
    writer.tag(2, WireType.LengthDelimited).string(message);
    writer.join();
  }
  return Buffer.from(writer.finish());
}

/** Returns a `google.rpc.Status` in JSON, as which OTLP sends errors. `code` is a code of gRPC. */
export function writeJsonStatus(code: number, message: string): string {
  return JSON.stringify({ code, message });
}

/** Returns a `google.rpc.Status` in protobuf. */
export function writeProtobufStatus(code: number, message: string): Buffer {
  const writer = new BinaryWriter();
  writer.tag(1, WireType.Varint).int32(code);
  writer.tag(2, WireType.LengthDelimited).string(message);
  return Buffer.from(writer.finish());
}
