import { create, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { expect, test } from "@jest/globals";
import {
  Health,
  HealthCheckRequestSchema,
  HealthCheckResponse_ServingStatus as Status,
  HealthCheckResponseSchema,
} from "../src/gen/grpc/health/v1/health_pb.js";
import {
  ServerReflection,
  ServerReflectionRequestSchema,
  ServerReflectionResponseSchema,
} from "../src/gen/grpc/reflection/v1/reflection_pb.js";

// The bytes follow from the field numbers that the public protocols fix: (number << 3 | wire type), length, content.
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

test.each([
  ["all of the server", "", ""],
  ["one service", "a", "0a0161"],
])("a health request for %s", (_what, service, bytes) => {
  expect(hex(toBinary(HealthCheckRequestSchema, create(HealthCheckRequestSchema, { service })))).toBe(bytes);
});

test.each([
  ["UNKNOWN", Status.UNKNOWN, ""],
  ["SERVING", Status.SERVING, "0801"],
  ["NOT_SERVING", Status.NOT_SERVING, "0802"],
  ["SERVICE_UNKNOWN", Status.SERVICE_UNKNOWN, "0803"],
])("the health status %s", (_name, status, bytes) => {
  expect(hex(toBinary(HealthCheckResponseSchema, create(HealthCheckResponseSchema, { status })))).toBe(bytes);
});

const extension = { containingType: "a", extensionNumber: 2 };

test.each([
  ["a file", { case: "fileByFilename", value: "a" } as const, "1a0161"],
  ["the file of a name", { case: "fileContainingSymbol", value: "a" } as const, "220161"],
  ["the file of an extension", { case: "fileContainingExtension", value: extension } as const, "2a050a01611002"],
  ["the extensions of a message", { case: "allExtensionNumbersOfType", value: "a" } as const, "320161"],
  ["all services", { case: "listServices", value: "a" } as const, "3a0161"],
])("a reflection request for %s", (_what, messageRequest, bytes) => {
  const request = create(ServerReflectionRequestSchema, { host: "h", messageRequest });
  expect(hex(toBinary(ServerReflectionRequestSchema, request))).toBe(`0a0168${bytes}`);
});

type Answer = MessageInitShape<typeof ServerReflectionResponseSchema>["messageResponse"];
const answers: readonly (readonly [what: string, messageResponse: Answer, bytes: string])[] = [
  ["files", { case: "fileDescriptorResponse", value: { fileDescriptorProto: [new Uint8Array([7])] } }, "22030a0107"],
  [
    "extensions",
    { case: "allExtensionNumbersResponse", value: { baseTypeName: "a", extensionNumber: [5] } },
    "2a060a0161120105",
  ],
  ["services", { case: "listServicesResponse", value: { service: [{ name: "a" }] } }, "32050a030a0161"],
  ["an error", { case: "errorResponse", value: { errorCode: 5, errorMessage: "a" } }, "3a050805120161"],
];

test.each(answers)("a reflection answer with %s", (_what, messageResponse, bytes) => {
  const init = { validHost: "h", originalRequest: { host: "h" }, messageResponse };
  const response = create(ServerReflectionResponseSchema, init);
  expect(hex(toBinary(ServerReflectionResponseSchema, response))).toBe(`0a016812030a0168${bytes}`);
});

test("methods have the names and kinds that clients ask for", () => {
  expect([Health.typeName, Health.method.check.name, Health.method.check.methodKind]).toEqual([
    "grpc.health.v1.Health",
    "Check",
    "unary",
  ]);
  expect([Health.method.watch.name, Health.method.watch.methodKind]).toEqual(["Watch", "server_streaming"]);
  const { serverReflectionInfo } = ServerReflection.method;
  expect([ServerReflection.typeName, serverReflectionInfo.name, serverReflectionInfo.methodKind]).toEqual([
    "grpc.reflection.v1.ServerReflection",
    "ServerReflectionInfo",
    "bidi_streaming",
  ]);
});
