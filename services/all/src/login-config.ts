import { defineConfig, secret } from "@tidemark/host/config";

/** Settings of the migration job. */
export const loginConfig = defineConfig({
  loginUrls: secret({
    env: "TIDEMARK_LOGIN_URLS",
    optional: true,
    help: "The TIDEMARK_DATABASE_URL of each process, for the migration job, which makes the login roles that they name: module=postgres://..., separated by white space.",
  }),
});
