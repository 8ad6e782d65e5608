import { defineConfig, text } from "@tidemark/config";

/** What the launcher and the one-command start read from the environment. */
export const launchConfig = defineConfig({
  dataDirectory: text({
    env: "TIDEMARK_DATA_DIRECTORY",
    default: "data",
    help: "Folder of the one-command start: database, artifacts, API key. Also --data-dir.",
  }),
  cacheDirectory: text({
    env: "TIDEMARK_CACHE_DIR",
    optional: true,
    help: "Folder for what is downloaded or built once: Node, pnpm, servers. Default: tidemark below the user's cache folder.",
  }),
  natsServer: text({
    env: "TIDEMARK_NATS_SERVER",
    optional: true,
    help: "Path of nats-server for the split start and the tests, instead of one from PATH or the cache.",
  }),
  minio: text({
    env: "TIDEMARK_MINIO",
    optional: true,
    help: "Path of the MinIO server for the split start and the tests, instead of one from PATH or the cache.",
  }),
  grpcurl: text({
    env: "TIDEMARK_GRPCURL",
    optional: true,
    help: "Path of grpcurl for the tests, instead of one from PATH or the cache.",
  }),
  python: text({
    env: "TIDEMARK_PYTHON",
    optional: true,
    help: "Python 3.11 or newer for the tests that use it, instead of one from PATH.",
  }),
});
