import { bool, defineConfig, sharedFields, text, url } from "@tidemark/config";

/** Settings of the control service. */
export const controlConfig = defineConfig({
  devAuth: bool({
    env: "TIDEMARK_DEV_AUTH",
    default: false,
    help: "Whether anybody on this machine may sign in by an e-mail address alone, under a loopback name and through no proxy. For development only.",
  }),
  webUrl: url({
    env: "TIDEMARK_WEB_URL",
    optional: true,
    help: "Where people's pages are, for links in invitations and device logins; otherwise where the request came in.",
  }),
  mail: text({
    env: "TIDEMARK_MAIL",
    default: "log",
    oneOf: ["log", "off"],
    help: "How invitations are sent: log gives the link to the person who invites, off refuses invitations.",
  }),
  deletionGraceDays: sharedFields.deletionGraceDays,
  limits: sharedFields.limits,
  removalSeconds: sharedFields.removalSeconds,
  plansFile: sharedFields.plansFile,
});
