import type { Implementation } from "@tidemark/rpc";
import { formatTraceparent, isTracing, parseTraceparent, withSpan } from "@tidemark/telemetry";

/**
 * Returns the same service with a span around every call while traces are recorded: a child of the
 * caller's span, in any process. While they are not, a call costs one more comparison.
 */
export function traced({ service, handlers }: Implementation): Implementation {
  const wrapped = Object.entries(handlers).map(([name, handler]): [string, typeof handler] => {
    const method = service.method[name]?.name ?? name;
    const attributes = { "rpc.system": "connect_rpc", "rpc.service": service.typeName, "rpc.method": method };
    return [
      name,
      (request, call) => {
        if (!isTracing()) return handler(request, call);
        const parent = call.traceparent === undefined ? undefined : parseTraceparent(call.traceparent);
        return withSpan(
          `${service.typeName}/${method}`,
          attributes,
          (trace) => handler(request, { ...call, traceparent: formatTraceparent(trace) }),
          { parent, kind: "server" },
        );
      },
    ];
  });
  return { service, handlers: Object.fromEntries(wrapped) };
}
