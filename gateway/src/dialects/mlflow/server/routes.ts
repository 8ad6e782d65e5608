import type { Route } from "../../../route.ts";
import { mlflowRoute } from "../route.ts";

/** What clients ask before downloads and large uploads: files are sent in one piece through this server. */
export const serverRoutes: readonly Route[] = [
  mlflowRoute({
    method: "GET",
    path: "/api/3.0/mlflow/server-info",
    use: "probe",
    handle: () =>
      Promise.resolve({
        body: {
          store_type: "SqlStore",
          workspaces_enabled: false,
          multipart_uploads_enabled: false,
          multipart_downloads_enabled: false,
        },
      }),
  }),
];
