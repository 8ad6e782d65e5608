import type { AddressInfo } from "node:net";
import { SMTPServer, type SMTPServerOptions } from "smtp-server";

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
