export { createCall, type Call, type CallObserver } from "./call.ts";
export { connectPeer, createLocalClient, type Peer } from "./clients.ts";
export { fromRefusal, toRefusal } from "./error-wire.ts";
export { startGrpcServer, type GrpcServer } from "./grpc-server.ts";
export { implement, type Client, type Handler, type Handlers, type Implementation } from "./service.ts";
export { createUnaryServer, type UnaryServer } from "./unary-server.ts";
