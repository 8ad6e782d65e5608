import { configNames, defineConfig, text, secret } from "@tidemark/host/config";
import { configGroups } from "@tidemark/host";
import { moduleList } from "./module-list.ts";

/** Settings of the launcher and of the one-command start. */
const launchConfig = defineConfig({
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
  chromium: text({
    env: "TIDEMARK_CHROMIUM",
    optional: true,
    help: "Path of a Chromium for the tests of pages, instead of one from PATH.",
  }),
});

/** Settings of the migration job. */
export const loginConfig = defineConfig({
  loginUrls: secret({
    env: "TIDEMARK_LOGIN_URLS",
    optional: true,
    help: "The TIDEMARK_DATABASE_URL of each process, for the migration job, which makes the login roles that they name: module=postgres://..., separated by white space.",
  }),
});

/** Every setting, by group, in the order of the documentation. */
export const allConfigGroups = { launch: launchConfig, ...configGroups(moduleList), migrate: loginConfig };

// Names that clients read (examples/typescript): a shell that sets them may also start a server.
const clientNames = ["TIDEMARK_URL", "TIDEMARK_API_KEY"];

/** Every known TIDEMARK_* name, so that processes can share one environment. */
export const knownNames: readonly string[] = [...configNames(allConfigGroups), ...clientNames];
