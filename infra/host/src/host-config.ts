import { bool, int, list, secret, text, url } from "./config/fields.ts";
import { defineConfig } from "./config/define-config.ts";
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** Settings that every process has, regardless of its modules. */
export const hostConfig = defineConfig({
  logLevel: text({
    env: "TIDEMARK_LOG_LEVEL",
    default: "info",
    oneOf: ["debug", "info", "warn", "error", "silent"],
    help: "Least severe log level that is written.",
  }),
  databaseUrl: secret({
    env: "TIDEMARK_DATABASE_URL",
    optional: true,
    help: "postgres:// URL of the login role of this process, which may become the roles of its modules and needs no other right. connect_timeout=N in it: seconds until a request without a connection is answered with 503 (1).",
  }),
  ownerDatabaseUrl: secret({
    env: "TIDEMARK_OWNER_DATABASE_URL",
    optional: true,
    help: "postgres:// URL of the owner of the database, for migrations and for making login roles. A process that does not migrate needs none. Default: TIDEMARK_DATABASE_URL, which then has to be the owner's.",
  }),
  databaseConnectionsMax: int({
    env: "TIDEMARK_DATABASE_CONNECTIONS_MAX",
    default: 10,
    min: 1,
    max: 200,
    help: "Most database connections of each module of a process; its background work may use two more.",
  }),
  migrate: bool({
    env: "TIDEMARK_MIGRATE",
    default: true,
    help: "Bring the database up to date at start. Off where a separate job does it.",
  }),
  natsUrl: url({
    env: "TIDEMARK_NATS_URL",
    schemes: ["nats", "tls"],
    optional: true,
    help: "NATS server with JetStream. Without it events stay in the process, which suits one process only.",
  }),
  natsToken: secret({ env: "TIDEMARK_NATS_TOKEN", optional: true, help: "Token for NATS." }),
  blobDirectory: text({
    env: "TIDEMARK_BLOB_DIRECTORY",
    optional: true,
    help: "Folder for artifact bytes; used where no S3 endpoint is named.",
  }),
  s3Endpoint: url({
    env: "TIDEMARK_S3_ENDPOINT",
    optional: true,
    help: "S3 endpoint for artifact bytes, such as http://minio:9000.",
  }),
  s3PublicEndpoint: url({
    env: "TIDEMARK_S3_PUBLIC_ENDPOINT",
    optional: true,
    help: "The S3 endpoint as clients reach it, without a path; they upload files of versions to it, and see the access key. Without it uploads pass through the gateway.",
  }),
  s3Bucket: text({
    env: "TIDEMARK_S3_BUCKET",
    default: "tidemark",
    pattern: /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/,
    help: "Bucket for artifact bytes; made when it is missing.",
  }),
  s3AccessKey: secret({ env: "TIDEMARK_S3_ACCESS_KEY", optional: true, help: "Access key for the S3 endpoint." }),
  s3SecretKey: secret({ env: "TIDEMARK_S3_SECRET_KEY", optional: true, help: "Secret key for the S3 endpoint." }),
  internalHost: text({
    env: "TIDEMARK_INTERNAL_HOST",
    default: "127.0.0.1",
    help: "Address on which peers and probes reach this process.",
  }),
  internalPort: int({
    env: "TIDEMARK_INTERNAL_PORT",
    default: 0,
    min: 0,
    max: 65_535,
    help: "HTTP/1.1 port for peers (Connect), /livez and /readyz; 0 takes a free one.",
  }),
  metricsHost: text({
    env: "TIDEMARK_METRICS_HOST",
    default: "127.0.0.1",
    help: "Address on which Prometheus reaches this process.",
  }),
  metricsPort: int({
    env: "TIDEMARK_METRICS_PORT",
    default: 0,
    min: 0,
    max: 65_535,
    help: "HTTP/1.1 port for Prometheus /metrics and nothing else; 0 takes a free one.",
  }),
  grpcPort: int({
    env: "TIDEMARK_GRPC_PORT",
    default: 0,
    min: 0,
    max: 65_535,
    help: "HTTP/2 port for gRPC clients, with health and reflection; 0 takes a free one.",
  }),
  internalToken: secret({
    env: "TIDEMARK_INTERNAL_TOKEN",
    optional: true,
    lengthMin: 16,
    help: "What the processes of one installation present to each other; the same everywhere. A process that listens beyond loopback does not start without it, or with one that can be guessed: the examples of these documents, a common word, one of few characters. Random bytes are meant, such as openssl rand -base64 32.",
  }),
  peers: list({
    env: "TIDEMARK_PEERS",
    default: [],
    itemPattern: /^[a-z-]+=https?:\/\/[^\s,]+$/,
    help: "Where modules of other processes are: module=http://host:port, separated by commas.",
  }),
  drainSeconds: int({
    env: "TIDEMARK_DRAIN_SECONDS",
    default: 20,
    min: 0,
    max: 600,
    help: "How long requests in flight may take to end after SIGTERM.",
  }),
});

const manifest = join(import.meta.dirname, "../../../package.json");

/** The version of the product, from the manifest at the root: for the interface description, the start and the metrics. */
export const version = (JSON.parse(readFileSync(manifest, "utf8")) as { version: string }).version;
