export { createCall, type Call } from "./call.ts";
export { fromRefusal, toRefusal } from "./error-wire.ts";
export { startGrpcServer, type GrpcServer } from "./grpc-server.ts";
export type { CallObserver } from "./invoke.ts";
export { createLocalClient } from "./local-client.ts";
export { connectPeer, type Peer } from "./network-client.ts";
export {
  implement,
  type Client,
  type Handler,
  type Handlers,
  type Implementation,
  type StreamHandler,
} from "./service.ts";
export { createUnaryServer, type UnaryServer } from "./unary-server.ts";
