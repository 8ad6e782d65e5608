import { createRegistry, toBinary, type DescFile } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { Code, type ConnectRouter } from "@connectrpc/connect";
import { ServerReflection, type ServerReflectionRequest } from "@tidemark/proto/grpc/reflection/v1/reflection";

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
