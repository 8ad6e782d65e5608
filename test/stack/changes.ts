import { get, type IncomingMessage } from "node:http";
import { until } from "@tidemark/testkit";

/** An event of a stream of changes. */
export type ChangeEvent = {
  readonly id: string;
  readonly event: string;
  // oxlint-disable-next-line no-explicit-any -- tests look into data of every shape
  readonly data: any;
};

/** A stream of changes as a client reads it. */
export type ChangeStream = {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  /** Events that arrived, in order. */
  readonly events: readonly ChangeEvent[];
  /** Number of comments that arrived. */
  readonly comments: () => number;
  /** The id with which the client would reconnect. */
  readonly lastEventId: () => string;
  /** The body of an answer that is not a stream. */
  readonly text: () => string;
  readonly isOver: () => boolean;
  /** Resolves to the first event of a kind, of a run if one is named, among those from the `from`th on. */
  readonly next: (event: string, runId?: string, from?: number) => Promise<ChangeEvent>;
  readonly close: () => void;
};

/** Opens a stream; resolves when its headers have arrived. */
export function openChangeStream(
  baseUrl: string,
  projectId: string,
  headers: Readonly<Record<string, string>>,
): Promise<ChangeStream> {
  return new Promise((resolve, reject) => {
    const request = get(`${baseUrl}/api/projects/${projectId}/changes`, { headers, agent: false }, (response) => {
      const events: ChangeEvent[] = [];
      let comments = 0;
      let lastEventId = "";
      let text = "";
      let rest = "";
      let over = false;
      const take = (block: string): void => {
        const fields: Record<string, string> = {};
        for (const line of block.split("\n")) {
          if (line.startsWith(":")) comments += 1;
          else fields[line.slice(0, line.indexOf(":"))] = line.slice(line.indexOf(":") + 2);
        }
        if (fields["id"] !== undefined) lastEventId = fields["id"];
        if (fields["data"] === undefined) return;
        events.push({ id: lastEventId, event: fields["event"] ?? "message", data: JSON.parse(fields["data"]) });
      };
      response.setEncoding("utf8");
      response.on("data", (piece: string) => {
        text += piece;
        const blocks = (rest + piece).split("\n\n");
        rest = blocks.pop()!;
        if (response.statusCode === 200) blocks.forEach(take);
      });
      response.on("error", () => {});
      response.on("close", () => {
        over = true;
      });
      resolve({
        status: response.statusCode!,
        headers: response.headers,
        events,
        comments: () => comments,
        lastEventId: () => lastEventId,
        text: () => text,
        isOver: () => over,
        next: (event, runId, from = 0) =>
          until(`an event ${event}`, async () =>
            events.slice(from).find((one) => one.event === event && (runId === undefined || one.data.run_id === runId)),
          ),
        close: () => request.destroy(),
      });
    });
    request.on("error", reject);
  });
}
