export { createApp, type AppOptions, type AppSettings } from "./app.ts";
export type { Clients } from "./clients.ts";
export { gatewayConfig } from "./config.ts";
export { gatewayModule } from "./module.ts";
export { buildOpenApi, type OpenApiDocument, type OpenApiFacts } from "./openapi/build-openapi.ts";
export type { Callers, RateClass, Role, Route, Scope } from "./route.ts";
export { allRoutes } from "./routes/index.ts";
