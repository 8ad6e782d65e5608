import { issueCredential } from "@tidemark/credentials";
import { AppError } from "@tidemark/errors";
import { deviceLoginSeconds, hashUserCode, newUserCode, pollIntervalSeconds } from "../domain/device-logins.ts";
import { insertDeviceLogin } from "../store/insert-device-login.ts";
import { webAddress, type ControlDeps, type ControlHandlers } from "./deps.ts";

const attemptsMax = 5;

/** Begins a login that a signed-in person approves elsewhere. @throws service_unavailable when no free user code was found */
export function startDeviceLogin(deps: ControlDeps): ControlHandlers["startDeviceLogin"] {
  return async ({ clientName, clientVersion, baseUrl }) => {
    const now = deps.now();
    const device = issueCredential("device", deps.randomBytes);
    for (let attempt = 1; attempt <= attemptsMax; attempt += 1) {
      const userCode = newUserCode(deps.randomBytes);
      const made = await insertDeviceLogin(deps.db, {
        credentialId: device.id,
        hash: device.hash,
        userCodeHash: hashUserCode(userCode),
        clientName,
        clientVersion,
        now,
        expiresAt: new Date(now.getTime() + deviceLoginSeconds * 1000),
      });
      if (!made) continue;
      return {
        deviceCode: device.text,
        userCode,
        expiresInSeconds: deviceLoginSeconds,
        intervalSeconds: pollIntervalSeconds,
        verificationUri: `${webAddress(deps, baseUrl)}/auth/device`,
      };
    }
    throw new AppError("service_unavailable", "no login code is free; try again", { retryAfterSeconds: 1 });
  };
}
