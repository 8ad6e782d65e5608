import { Code, ConnectError, type ConnectRouter } from "@connectrpc/connect";
import { Health, HealthCheckResponse_ServingStatus as Status } from "@tidemark/proto/grpc/health/v1/health";

const WATCH_EVERY_MS = 1000;

/**
 * Serves `grpc.health.v1.Health`: the whole server under the empty name and each service under its
 * own; all of them are serving exactly when `ready` returns true.
 */
export function addHealth(router: ConnectRouter, services: readonly string[], ready: () => Promise<boolean>): void {
  const known = new Set(["", Health.typeName, ...services]);
  const state = async () => ({ status: (await ready().catch(() => false)) ? Status.SERVING : Status.NOT_SERVING });
  router.service(Health, {
    check(request) {
      if (!known.has(request.service)) throw new ConnectError("unknown service", Code.NotFound);
      return state();
    },
    async *watch(request, context) {
      let last: Status | undefined;
      while (!context.signal.aborted) {
        const now = known.has(request.service) ? await state() : { status: Status.SERVICE_UNKNOWN };
        if (now.status !== last) yield now;
        last = now.status;
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, WATCH_EVERY_MS);
          context.signal.addEventListener("abort", () => (clearTimeout(timer), resolve()), { once: true });
        });
      }
    },
  });
}
