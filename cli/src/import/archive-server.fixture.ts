import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { decodeLine, type ArchiveLine, type LineOf } from "@tidemark/archive";

/** A server that restores archives as the service does, in memory. */
export type ArchiveServer = {
  readonly url: string;
  readonly runs: ReadonlyMap<string, LineOf<"run">>;
  readonly lines: readonly ArchiveLine[];
  readonly bytes: ReadonlyMap<string, Buffer>;
  /** Keys under which archives arrived, once for each request that was read to its end. */
  readonly keys: readonly string[];
  readonly requests: readonly string[];
  readonly stop: () => Promise<void>;
};

/** A fault that happens to a request. */
export type Accident = "break before" | "break after" | "busy" | undefined;

/** Starts one. `accidentOf` is called for each request. */
export async function startArchiveServer(
  accidentOf: (request: string) => Accident = () => undefined,
): Promise<ArchiveServer> {
  const runs = new Map<string, LineOf<"run">>();
  const bytes = new Map<string, Buffer>();
  const answers = new Map<string, string>();
  const [lines, keys, requests]: [ArchiveLine[], string[], string[]] = [[], [], []];

  const restore = (text: string): string => {
    const all = text
      .trimEnd()
      .split("\n")
      .map((line) => decodeLine(line) as ArchiveLine);
    const end = all.at(-1);
    if (end?.line !== "end") throw new Error("no end");
    lines.push(...all);
    const needed = new Set<string>();
    for (const line of all) {
      if (line.line === "run") runs.set(line.id, line);
      if (line.line === "artifact" && line.uri === undefined) needed.add(line.sha256!);
    }
    const missing = [...needed].filter((sha256) => !bytes.has(sha256));
    const id = "00000000-0000-4000-8000-000000000001";
    return JSON.stringify({ archive_id: id, counts: end.counts, replaced: [], missing_bytes: missing, warnings: [] });
  };

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = "", url = "" } = request;
    const say = (status: number, body: string): void => {
      response.writeHead(status, { "content-type": "application/json", "retry-after": "0" }).end(body);
    };
    const name = `${method} ${url}`;
    const accident = accidentOf(name);
    requests.push(name);
    if (accident === "break before") {
      request.once("data", () => request.socket.destroy());
      return;
    }
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    if (accident === "busy") return say(503, '{"error":"busy"}');
    let [status, text] = [200, "{}"];
    const put = /\/bytes\/([0-9a-f]{64})$/.exec(url)?.[1];
    if (method === "GET") [status, text] = runs.has(url.split(/[/?]/)[2]!) ? [200, "{}"] : [404, '{"error":"no run"}'];
    else if (put !== undefined) {
      if (createHash("sha256").update(body).digest("hex") === put) bytes.set(put, body);
      else [status, text] = [400, '{"error":"other bytes","code":"bad_request"}'];
    } else {
      const key = String(request.headers["idempotency-key"]);
      keys.push(key);
      text = answers.get(key) ?? restore(body.toString());
      answers.set(key, text);
    }
    if (accident === "break after") request.socket.destroy();
    else say(status, text);
  };

  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    runs,
    lines,
    bytes,
    keys,
    requests,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
