import { create } from "@bufbuild/protobuf";
import type { GenService, GenServiceMethods } from "@bufbuild/protobuf/codegenv2";
import { withinDeadline, observed, type CallObserver } from "./invoke.ts";
import { unaryMethods, type Client, type Implementation } from "./service.ts";

/**
 * Makes a client of a service in this process: the handler gets the message itself, nothing is
 * encoded. Errors arrive as the handler threw them, as they do over the network.
 */
export function createLocalClient<S extends GenServiceMethods>(
  service: GenService<S>,
  implementation: Implementation,
  observer?: CallObserver,
): Client<S> {
  const client: Record<string, unknown> = {};
  for (const [name, method] of unaryMethods(implementation.service)) {
    const handler = implementation.handlers[name];
    if (handler === undefined) throw new Error(`${service.typeName} has no handler for ${name}`);
    const facts = { service: service.typeName, method: method.name, side: "server" as const };
    client[name] = (request: object, call: Parameters<typeof handler>[1]) =>
      observed(observer, facts, () =>
        withinDeadline(call, async () =>
          create(method.output, (await handler(create(method.input, request as never) as never, call)) as never),
        ),
      );
  }
  return client as Client<S>;
}
