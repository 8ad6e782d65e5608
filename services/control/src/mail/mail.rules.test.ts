import { expect, test } from "@jest/globals";
import { mailFaults, smtpSettingsOf, type MailConfig } from "./mail.rules.ts";

const whole: MailConfig = {
  mail: "smtp",
  mailFrom: "tidemark@example.org",
  smtpUrl: "smtps://tidemark:p%40ss@mail.example",
  smtpTls: "required",
};
const none = { mailFrom: undefined, smtpUrl: undefined };

test.each<[string, Partial<MailConfig>]>([
  ["a whole set", {}],
  ["STARTTLS at another port", { smtpUrl: "smtp://tidemark:pass@mail.example:2525" }],
  ["clear text without a sign-in", { smtpUrl: "smtp://localhost", smtpTls: "off" }],
  ["the log", { mail: "log", ...none }],
  ["nothing", { mail: "off", ...none }],
])("%s has no fault", (_, part) => {
  expect(mailFaults({ ...whole, ...part })).toEqual([]);
});

test.each<[string, Partial<MailConfig>, string[]]>([
  ["no server", { smtpUrl: undefined }, ["TIDEMARK_MAIL=smtp needs TIDEMARK_SMTP_URL"]],
  ["no address", { mailFrom: undefined }, ["TIDEMARK_MAIL=smtp needs TIDEMARK_MAIL_FROM"]],
  ["a server that is not used", { mail: "log" }, ["TIDEMARK_MAIL=smtp"]],
  ["no host", { smtpUrl: "smtp:mail.example" }, ["must name a server", "must end after the server"]],
  ["options behind the host", { smtpUrl: "smtp://mail.example?secure=false" }, ["must end after the server"]],
  ["a user without a password", { smtpUrl: "smtp://tidemark@mail.example" }, ["both a user and a password"]],
  ["contradicting words about TLS", { smtpUrl: "smtps://mail.example", smtpTls: "off" }, ["contradicts"]],
  ["a password in clear text", { smtpUrl: "smtp://a:b@mail.example", smtpTls: "off" }, ["clear text"]],
])("%s is a fault", (_, part, faults) => {
  expect(mailFaults({ ...whole, ...part })).toEqual(faults.map((text) => expect.stringContaining(text)));
});

test.each<[string, MailConfig["smtpTls"], object]>([
  ["smtps://tidemark:p%40ss@mail.example", "required", { host: "mail.example", port: 465, tls: "start" }],
  ["smtp://tidemark:p%40ss@mail.example", "required", { port: 587, tls: "upgrade" }],
  ["smtp://tidemark:p%40ss@[::1]:2525/", "required", { host: "::1", port: 2525, tls: "upgrade" }],
  ["smtp://localhost", "off", { port: 587, tls: "none", login: undefined }],
])("%s with TLS %s is read", (smtpUrl, smtpTls, expected) => {
  const login = smtpUrl.includes("@") ? { user: "tidemark", password: "p@ss" } : undefined;
  expect(smtpSettingsOf({ ...whole, smtpUrl, smtpTls })).toMatchObject({ login, from: whole.mailFrom, ...expected });
});

test("there is no mail server where none is set", () => {
  expect(smtpSettingsOf({ ...whole, mail: "log", ...none })).toBeUndefined();
});
