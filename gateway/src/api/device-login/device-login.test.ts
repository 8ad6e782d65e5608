import { describe, expect, test } from "@jest/globals";
import { create } from "@bufbuild/protobuf";
import { PollDeviceLoginResponseSchema, StartDeviceLoginResponseSchema } from "@tidemark/proto/control/v1/control";
import { id, key, organization, user } from "../accounts.fixture.ts";
import { describeBody } from "../route-input.fixture.ts";
import {
  decodeConfirmDeviceLogin,
  decodePollDeviceLogin,
  decodeStartDeviceLogin,
  encodePollDeviceLogin,
  encodeStartDeviceLogin,
} from "./routes.ts";

const baseUrl = "http://127.0.0.1:8080";

const noClient = { clientName: "", clientVersion: "", baseUrl };
describeBody(
  "POST /api/auth/device-code/start",
  decodeStartDeviceLogin,
  [
    ["nothing", {}, noClient],
    ["null", { client_info: null }, noClient],
    [
      "what the device is",
      { client_info: { name: "cli", version: "1" } },
      { ...noClient, clientName: "cli", clientVersion: "1" },
    ],
  ],
  [
    ["a device that is not an object", { client_info: "cli" }, "client_info"],
    ["a device that is a list", { client_info: [] }, "client_info"],
    ["a name that is not a text", { client_info: { name: 1 } }, "name"],
  ],
);

describeBody(
  "POST /api/auth/device-code/poll",
  decodePollDeviceLogin,
  [["a code", { device_code: " c " }, { deviceCode: "c" }]],
  [["nothing", {}, "device_code"]],
);
describeBody(
  "POST /api/auth/device-code/confirm",
  decodeConfirmDeviceLogin,
  [["a code", { user_code: "c" }, { userCode: "c" }]],
  [["nothing", {}, "user_code"]],
);

describe("a device login", () => {
  test("starts with its codes and the page to go to", () => {
    const login = create(StartDeviceLoginResponseSchema, {
      deviceCode: "d",
      userCode: "ABCD-EFGH",
      expiresInSeconds: 900,
      intervalSeconds: 5,
      verificationUri: "http://x/auth/device",
    });
    expect(encodeStartDeviceLogin(login).body).toEqual({
      device_code: "d",
      user_code: "ABCD-EFGH",
      verification_uri: "http://x/auth/device",
      verification_uri_complete: "http://x/auth/device?code=ABCD-EFGH",
      expires_in: 900,
      interval: 5,
    });
  });

  test("shows its status alone until it is authorized", () => {
    expect(encodePollDeviceLogin(create(PollDeviceLoginResponseSchema, { status: "pending" })).body).toEqual({
      status: "pending",
    });
  });

  test("ends with the key, its organization and who approved", () => {
    const answer = create(PollDeviceLoginResponseSchema, {
      status: "authorized",
      created: { plaintext: "tm_x", key },
      organization,
      user,
    });
    expect(encodePollDeviceLogin(answer).body).toEqual({
      status: "authorized",
      api_key: { plaintext: "tm_x", prefix: "tm_0123456789a", id },
      org: { id, name: "Acme", slug: "acme" },
      user: { primary_email: "a@b.co", display_name: null },
    });
  });
});
