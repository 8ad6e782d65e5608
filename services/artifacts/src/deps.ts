import type { GenServiceMethods } from "@bufbuild/protobuf/codegenv2";
import type { Blob } from "@tidemark/blob";
import type { Db } from "@tidemark/pg";
import type { PlanGate, RunDirectory } from "@tidemark/requests";
import type { ArtifactsService } from "@tidemark/proto/artifacts/v1/artifacts";
import type { ModelsService } from "@tidemark/proto/artifacts/v1/models";
import type { RegistryService } from "@tidemark/proto/artifacts/v1/registry";
import type { Handlers } from "@tidemark/rpc";
import type { PartAddresses } from "./uploads/part-addresses.ts";
import type { UploadJobs } from "./uploads/upload-jobs.ts";

/** Dependencies of the handlers. */
export type ArtifactsDeps = {
  readonly db: Db;
  /** With the worker's role, which sees due work of all organizations. */
  readonly workerDb: Db;
  readonly blob: Blob;
  /** Verifies uploads. */
  readonly jobs: UploadJobs;
  /** Returns the addresses that parts are sent to. */
  readonly addresses: PartAddresses;
  /** Signs addresses of parts that gateways receive themselves. */
  readonly uploadSecret: () => Promise<Uint8Array>;
  readonly now: () => Date;
  /** Which runs exist, and in which projects. */
  readonly runs: RunDirectory;
  /** A new random UUID. */
  readonly newId: () => string;
  /** Days that the bytes of a deleted version are kept. */
  readonly graceDays: number;
  /** The name in answers of the store of bytes that are kept here: a folder is `local`, an S3 server is `r2`. */
  readonly storageBackend: "local" | "r2";
  /** Enforces the storage quota. */
  readonly gate: PlanGate;
};

/** The handlers of this service by RPC. */
export type ArtifactsHandlers = Handlers<(typeof ArtifactsService)["method"] & GenServiceMethods>;

/** The handlers of ModelsService by RPC. */
export type ModelsHandlers = Handlers<(typeof ModelsService)["method"] & GenServiceMethods>;

/** The handlers of RegistryService by RPC. */
export type RegistryHandlers = Handlers<(typeof RegistryService)["method"] & GenServiceMethods>;
