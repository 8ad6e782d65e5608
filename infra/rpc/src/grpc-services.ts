import { Code, ConnectError, type ConnectRouter } from "@connectrpc/connect";
import { Health, HealthCheckResponse_ServingStatus as Status } from "@tidemark/proto/grpc/health/v1/health";
import { createRegistry, toBinary, type DescFile } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { ServerReflection, type ServerReflectionRequest } from "@tidemark/proto/grpc/reflection/v1/reflection";

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

/** Returns the file and everything that it imports, dependencies last. */
function withDependencies(file: DescFile, seen = new Set<DescFile>()): DescFile[] {
  if (seen.has(file)) return [];
  seen.add(file);
  return [file, ...file.dependencies.flatMap((dependency) => withDependencies(dependency, seen))];
}

function fileAnswer(file: DescFile) {
  return {
    case: "fileDescriptorResponse" as const,
    value: {
      fileDescriptorProto: withDependencies(file).map(({ proto }) => toBinary(FileDescriptorProtoSchema, proto)),
    },
  };
}

function missing(text: string) {
  return { case: "errorResponse" as const, value: { errorCode: Code.NotFound, errorMessage: text } };
}

/** Serves `grpc.reflection.v1.ServerReflection` for the given files, so that any gRPC tool can explore a process. */
export function addReflection(router: ConnectRouter, files: readonly DescFile[]): void {
  const all = files.flatMap((file) => withDependencies(file));
  const byName = new Map(all.map((file) => [file.proto.name, file]));
  const registry = createRegistry(...all);
  const services = files.flatMap((file) => file.services.map(({ typeName }) => ({ name: typeName })));

  const fileOf = (symbol: string): DescFile | undefined => {
    const found = registry.get(symbol) ?? registry.get(symbol.slice(0, symbol.lastIndexOf(".")));
    return found === undefined ? undefined : found.file;
  };

  const answer = ({ messageRequest: asked }: ServerReflectionRequest) => {
    switch (asked.case) {
      case "listServices":
        return { case: "listServicesResponse" as const, value: { service: services } };
      case "fileByFilename": {
        const file = byName.get(asked.value);
        return file === undefined ? missing(`no file ${asked.value}`) : fileAnswer(file);
      }
      case "fileContainingSymbol": {
        const file = fileOf(asked.value);
        return file === undefined ? missing(`no symbol ${asked.value}`) : fileAnswer(file);
      }
      default:
        return missing("there are no extensions here");
    }
  };

  router.service(ServerReflection, {
    async *serverReflectionInfo(requests) {
      for await (const request of requests) {
        yield { validHost: request.host, originalRequest: request, messageResponse: answer(request) };
      }
    },
  });
}
