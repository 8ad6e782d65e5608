import type { AddressInfo } from "node:net";
import { SMTPServer, type SMTPServerOptions } from "smtp-server";
import { generateKeyPairSync, sign } from "node:crypto";

/** A message as the server got it. */
type Delivered = {
  readonly from: string;
  readonly to: readonly string[];
  /** Headers and body. */
  readonly content: string;
  readonly user: unknown;
  readonly isEncrypted: boolean;
};

/** A mail server on loopback; keeps what it accepts. */
export type TestMailServer = {
  readonly port: number;
  readonly delivered: readonly Delivered[];
  /** Passwords that clients sent. */
  readonly passwords: readonly string[];
  close(): Promise<void>;
};

/** Starts a mail server that knows the user `tidemark` with the password `pass word`, and refuses addresses that begin with "gone". */
export async function startMailServer(options: SMTPServerOptions): Promise<TestMailServer> {
  const delivered: Delivered[] = [];
  const passwords: string[] = [];
  const server = new SMTPServer({
    logger: false,
    disableReverseLookup: true,
    onAuth({ username, password }, _session, callback) {
      passwords.push(password ?? "");
      if (username === "tidemark" && password === "pass word") callback(null, { user: username });
      else callback(new Error("wrong password"));
    },
    onRcptTo({ address }, _session, callback) {
      callback(address.startsWith("gone") ? new Error("no such mailbox") : null);
    },
    onData(stream, { envelope, user, secure }, callback) {
      const content: Buffer[] = [];
      stream.on("data", (part: Buffer) => content.push(part));
      stream.on("end", () => {
        const from = envelope.mailFrom === false ? "" : (envelope.mailFrom?.address ?? "");
        const to = envelope.rcptTo.map(({ address }) => address);
        delivered.push({ from, to, content: Buffer.concat(content).toString(), user, isEncrypted: secure });
        callback();
      });
    },
    ...options,
  });
  // A client that ends a handshake is an error event here.
  server.on("error", () => {});
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.server.address() as AddressInfo).port,
    delivered,
    passwords,
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}

/** DER (ITU-T X.690): an element with a tag, and the bytes of its parts. */
function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(parts);
  const length = body.length < 128 ? [body.length] : [0x82, body.length >> 8, body.length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...length]), body]);
}
const sequence = (...parts: readonly Uint8Array[]): Buffer => der(0x30, ...parts);
const oid = (hex: string): Buffer => der(0x06, Buffer.from(hex, "hex"));
const octets = (part: Uint8Array): Buffer => der(0x04, part);
const time = (year: number): Buffer => der(0x18, Buffer.from(`${year}0101000000Z`));

/** Makes a certificate for `localhost` that signs itself (RFC 5280), and its key, both as PEM. */
export function makeCertificate(): { cert: string; key: string } {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const name = sequence(der(0x31, sequence(oid("550403"), der(0x0c, Buffer.from("localhost")))));
  const ecdsaWithSha256 = sequence(oid("2a8648ce3d040302"));
  const alternativeName = sequence(oid("551d11"), octets(sequence(der(0x82, Buffer.from("localhost")))));
  const isAuthority = sequence(oid("551d13"), octets(sequence(der(0x01, Buffer.from([0xff])))));
  const content = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([1])),
    ecdsaWithSha256,
    name,
    sequence(time(2020), time(2120)),
    name,
    publicKey.export({ type: "spki", format: "der" }),
    der(0xa3, sequence(alternativeName, isAuthority)),
  );
  const signature = der(0x03, Buffer.from([0]), sign("sha256", content, privateKey));
  const certificate = sequence(content, ecdsaWithSha256, signature).toString("base64");
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${certificate.replace(/.{64}/g, "$&\n")}\n-----END CERTIFICATE-----\n`,
    key: String(privateKey.export({ type: "pkcs8", format: "pem" })),
  };
}
