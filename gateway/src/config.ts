import { defineConfig, int, list, secret, sharedFields, text, url } from "@tidemark/host/config";

/** Settings of the public HTTP server. */
export const gatewayConfig = defineConfig({
  host: text({ env: "TIDEMARK_HOST", default: "127.0.0.1", help: "Address that the public HTTP server listens on." }),
  port: int({
    env: "TIDEMARK_PORT",
    default: 8080,
    min: 0,
    max: 65_535,
    help: "Port of the public HTTP server; 0 takes a free one.",
  }),
  publicUrl: url({
    env: "TIDEMARK_PUBLIC_URL",
    optional: true,
    help: "URL under which clients reach the server, for links and cookies; otherwise what each request's Host says. With a path, such as https://host/tidemark, a proxy in front may pass that path on or remove it.",
  }),
  allowedOrigins: list({
    env: "TIDEMARK_ALLOWED_ORIGINS",
    default: [],
    itemPattern: /^https?:\/\/[^/\s]+$/,
    help: "Origins of front ends that may use browser sessions, besides the server's own and loopback ones.",
  }),
  trustedProxies: list({
    env: "TIDEMARK_TRUSTED_PROXIES",
    default: [],
    itemPattern: /^[0-9A-Fa-f.:]+(\/\d{1,3})?$/,
    help: "Addresses or CIDR ranges of proxies whose X-Forwarded-For, -Proto and -Host are believed.",
  }),
  limits: sharedFields.limits,
  plansFile: sharedFields.plansFile,
  bootstrapToken: secret({
    env: "TIDEMARK_BOOTSTRAP_TOKEN",
    optional: true,
    lengthMin: 16,
    help: "Token that opens the operator's routes. Without it they answer 401. A gateway that listens beyond loopback does not start with one that can be guessed (as TIDEMARK_INTERNAL_TOKEN).",
  }),
  dashboardDirectory: text({
    env: "TIDEMARK_DASHBOARD_DIRECTORY",
    optional: true,
    help: "Folder with the bundled dashboard. Images set it, and a local start bundles and sets it; without it there are no pages.",
  }),
  servicePlane: text({
    env: "TIDEMARK_SERVICE_PLANE",
    default: "combined",
    oneOf: ["combined", "control", "data"],
    help: "Which plane the gauges and the interface description name.",
  }),
  bodyMemoryMib: int({
    env: "TIDEMARK_BODY_MEMORY_MIB",
    default: 256,
    min: 1,
    max: 65_536,
    help: "Most MiB of request bodies and answers above 64 KiB held at the same time, bodies compressed and decoded; an organization has a quarter of them at most, an address a half. More are answered with 503.",
  }),
  exportDirectory: text({
    env: "TIDEMARK_EXPORT_DIRECTORY",
    optional: true,
    help: "Folder on a disk of this machine in which exports are written while they are sent. Their files have no names and end with the process. A local start has one in its data folder; default: tidemark-exports in the folder for temporary files.",
  }),
  exportSpoolMib: int({
    env: "TIDEMARK_EXPORT_SPOOL_MIB",
    default: 16_384,
    min: 1,
    max: 16_777_216,
    help: "Most MiB that exports take on that disk at the same time; those of an organization take a quarter of them at most, so that no export is larger. Exports that no one reads are kept for ten minutes where there is room.",
  }),
  connectionsMax: int({
    env: "TIDEMARK_CONNECTIONS_MAX",
    default: 10_000,
    min: 16,
    max: 1_000_000,
    help: "Most connections of the public HTTP server; a network of clients has a quarter of them at most. More are closed immediately.",
  }),
});
