import { createServer, type AddressInfo } from "node:net";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { createLog } from "@tidemark/telemetry";
import type { SMTPServerOptions } from "smtp-server";
import { makeCertificate, startMailServer, type TestMailServer } from "./mail-server.fixture.ts";
import type { SmtpSettings } from "./mail.rules.ts";
import { type InvitationMessage, type Mail, createSmtpMail } from "./mail.ts";

const login = { user: "tidemark", password: "pass word" };
const message: InvitationMessage = {
  to: "a@b.co",
  organizationName: "Größe\r\nBcc: x@y.co",
  role: "admin",
  link: "https://tidemark.example/invite#token=tm_invite_0123456789",
  expiresAt: "2026-12-05T10:00:00.000Z",
  invitationId: "i1",
  orgId: "o1",
};

describe("mail by a mail server", () => {
  const [own, foreign] = [makeCertificate(), makeCertificate()];
  const trusted = getCACertificates("default");
  const servers: TestMailServer[] = [];
  let lines: string[];
  beforeAll(() => setDefaultCACertificates([...trusted, own.cert]));
  afterAll(() => setDefaultCACertificates(trusted));
  beforeEach(() => {
    lines = [];
  });
  afterEach(async () => {
    for (const server of servers.splice(0)) await server.close();
  });

  async function start(options: Parameters<typeof startMailServer>[0] = {}): Promise<TestMailServer> {
    const server = await startMailServer({ ...own, ...options });
    servers.push(server);
    return server;
  }
  function mailOf(port: number, settings: Partial<SmtpSettings> = {}, sendingMs?: number): Mail {
    const log = createLog({ level: "debug", service: "control", destination: { write: (line) => lines.push(line) } });
    const whole = { host: "localhost", port, tls: "start", login, from: "tidemark@example.org", ...settings } as const;
    return createSmtpMail(whole, { log, sendingMs });
  }

  test.each([
    ["TLS from the start", "start", login, { secure: true }, { user: "tidemark", isEncrypted: true }],
    ["STARTTLS", "upgrade", login, {}, { user: "tidemark", isEncrypted: true }],
    [
      "clear text without a sign-in",
      "none",
      undefined,
      { authOptional: true },
      { user: undefined, isEncrypted: false },
    ],
  ] as const)("sends by %s", async (_, tls, signIn, options, expected) => {
    const server = await start(options);
    expect(await mailOf(server.port, { tls, login: signIn }).sendInvitation(message)).toEqual({});
    expect(server.delivered).toMatchObject([{ from: "tidemark@example.org", to: ["a@b.co"], ...expected }]);
    expect(lines).toEqual([]);
  });

  test("sends subject and text, and no name can add a header", async () => {
    const server = await start({ secure: true });
    await mailOf(server.port).sendInvitation(message);
    const { content } = server.delivered[0]!;
    const [head = ""] = content.split("\r\n\r\n");
    const body = content.replaceAll("=\r\n", "").replaceAll("=3D", "=");
    expect(head).toMatch(/^From: Tidemark <tidemark@example\.org>$/m);
    expect(head).toMatch(/^To: a@b\.co$/m);
    expect(head).toMatch(/^Subject: =\?UTF-8\?Q\?Invitation_to_Gr=C3=B6=C3=9Fe_Bcc=3A_/m);
    expect(head).toMatch(/^Auto-Submitted: auto-generated$/m);
    expect(head).not.toMatch(/^Bcc:/m);
    expect(body).toContain("Tidemark as an admin.");
    expect(body).toContain(message.link);
  });

  test.each<[string, SMTPServerOptions, Partial<SmtpSettings>, string]>([
    ["a certificate that nothing vouches for", { ...foreign, secure: true }, {}, "self-signed certificate"],
    ["a certificate of another name", { secure: true }, { host: "127.0.0.1" }, "does not match"],
    ["STARTTLS with such a certificate", foreign, { tls: "upgrade" }, "self-signed certificate"],
    ["a server without STARTTLS", { disabledCommands: ["STARTTLS"] }, { tls: "upgrade" }, "STARTTLS"],
  ])("sends neither password nor message over %s", async (_, options, settings, reason) => {
    const server = await start({ ...options, allowInsecureAuth: true });
    await expect(mailOf(server.port, settings).sendInvitation(message)).rejects.toThrow(reason);
    expect([server.delivered, server.passwords]).toEqual([[], []]);
  });

  test.each([
    ["password", { login: { user: "tidemark", password: "hunter2" } }, {}, "EAUTH"],
    ["recipient", {}, { to: "gone@b.co" }, "EENVELOPE"],
  ] as const)(
    "a refused %s is an error, and the log names neither person nor secret",
    async (_, settings, to, code) => {
      const server = await start({ secure: true });
      const sent = mailOf(server.port, settings).sendInvitation({ ...message, ...to });
      await expect(sent).rejects.toMatchObject({ code });
      expect(server.delivered).toEqual([]);
      expect(JSON.parse(lines.join(""))).toMatchObject({
        level: "warn",
        org_id: "o1",
        invitation_id: "i1",
        smtp: { code, status: expect.any(Number) },
      });
      expect(lines.join("")).not.toMatch(/b\.co|tm_invite|hunter2|pass word/);
    },
  );

  test("a server that is not there, and one that is silent, are errors in time", async () => {
    const server = createServer(() => {});
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const sent = mailOf(port, { tls: "upgrade" }, 50).sendInvitation(message);
    await expect(sent).rejects.toMatchObject({ code: "EABORT" });
    await new Promise((resolve) => server.close(resolve));
    await expect(mailOf(port).sendInvitation(message)).rejects.toMatchObject({ code: "ESOCKET" });
  });
});
