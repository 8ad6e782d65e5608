import type { GenService } from "@bufbuild/protobuf/codegenv2";
import { AppError } from "@tidemark/errors";
import { EchoService } from "@tidemark/proto/testing/v1/echo";
import { createServer, type Server } from "node:http";
import type { Call } from "./call.ts";
import { implement, type Implementation } from "./service.ts";
import type { UnaryServer } from "./unary-server.ts";

export type EchoMethods = (typeof EchoService)["method"];

/** The calls and counts of an echo service. */
export type Echo = {
  readonly implementation: Implementation;
  /** The calls of `read` and `count`. */
  readonly seen: Call[];
  writes: number;
  /** Messages of streams. */
  counted: number;
  /** Streams that have ended. */
  ended: number;
  /** Lets hanging calls continue. */
  letGo: () => void;
};

/** Creates an echo service. */
export function createEcho(): Echo {
  const seen: Call[] = [];
  const echo: Echo = {
    implementation: implement(EchoService as GenService<EchoMethods>, {
      read: async (request, call) => {
        seen.push(call);
        return { text: request.text, numbers: request.numbers };
      },
      write: async (request) => {
        echo.writes += 1;
        return { text: request.text };
      },
      fail: async (request) => {
        if (request.text === "unknown") throw new Error("secret inner text");
        throw new AppError("run_search_invalid", "unknown status", { field: "q", position: 3, retryAfterSeconds: 7 });
      },
      hang: () => new Promise((resolve) => (echo.letGo = () => resolve({ text: "late" }))),
      count: async function* (request, call) {
        seen.push(call);
        try {
          for (const number of request.numbers) {
            echo.counted += 1;
            yield { text: request.text, numbers: [number] };
          }
          if (request.text === "fail") throw new AppError("not_found", "run not found", { field: "run_id" });
          if (request.text === "unknown") throw new Error("secret inner text");
          if (request.text === "hang") await new Promise<void>((resolve) => (echo.letGo = resolve));
        } finally {
          echo.ended += 1;
        }
      },
    }),
    seen,
    writes: 0,
    counted: 0,
    ended: 0,
    letGo: () => {},
  };
  return echo;
}

/** Serves on a port of this machine. */
export async function listen(unary: UnaryServer, port = 0): Promise<Server> {
  const made = createServer((request, response) => {
    if (!unary.handle(request, response)) response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => made.listen(port, "127.0.0.1", resolve));
  return made;
}
/** Returns the port of a server. */
export const portOf = (of: Server): number => (of.address() as { port: number }).port;
/** Closes a server and its connections. */
export const close = (of: Server): Promise<void> =>
  new Promise((resolve) => {
    of.close(() => resolve());
    of.closeAllConnections();
  });
