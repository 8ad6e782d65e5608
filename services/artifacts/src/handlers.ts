import type { GenServiceMethods } from "@bufbuild/protobuf/codegenv2";
import type { Blob } from "@tidemark/blob";
import type { Db } from "@tidemark/pg";
import type { PlanGate } from "@tidemark/plan-limits";
import type { ArtifactsService } from "@tidemark/proto/artifacts/v1/artifacts";
import type { RunDirectory } from "@tidemark/requests";
import type { Handlers } from "@tidemark/rpc";
import { getCollection, listCollections, listVersions } from "./collections/list-collections.ts";
import { deleteAlias, setAlias } from "./collections/set-alias.ts";
import { createArtifact } from "./plain/create-artifact.ts";
import { importArtifacts } from "./plain/import-artifacts.ts";
import { deleteArtifact } from "./plain/delete-artifact.ts";
import { listArtifacts, locateArtifact } from "./plain/list-artifacts.ts";
import { measureRemoval } from "./removal/measure-removal.ts";
import { countArtifacts, pageArtifacts } from "./plain/page-artifacts.ts";
import { reserveObjects } from "./plain/reserve-objects.ts";
import { storeArtifact } from "./plain/store-artifact.ts";
import { getStorage } from "./storage/get-storage.ts";
import { sweepNow } from "./sweep/sweep-now.ts";
import { abortUpload } from "./uploads/abort-upload.ts";
import { beginUpload } from "./uploads/begin-upload.ts";
import { completeUpload } from "./uploads/complete-upload.ts";
import { locatePart } from "./uploads/locate-part.ts";
import type { PartAddresses } from "./uploads/part-addresses.ts";
import { renewParts } from "./uploads/renew-parts.ts";
import type { UploadJobs } from "./uploads/upload-jobs.ts";
import { addInput } from "./versions/add-input.ts";
import { deleteVersion } from "./versions/delete-version.ts";
import { getVersionLineage } from "./versions/get-version-lineage.ts";
import { getVersion } from "./versions/get-version.ts";
import { listEntries } from "./versions/list-entries.ts";
import { locateEntry } from "./versions/locate-entry.ts";
import { resolveVersion } from "./versions/resolve-version.ts";
import { setRetention } from "./versions/set-retention.ts";

/** What the handlers use. */
export type ArtifactsDeps = {
  readonly db: Db;
  /** As the worker's role, which sees what is due in all organizations. */
  readonly workerDb: Db;
  readonly blob: Blob;
  /** Verifies uploads. */
  readonly jobs: UploadJobs;
  /** Where parts are to be sent. */
  readonly addresses: PartAddresses;
  /** Signs addresses of parts that gateways take themselves. */
  readonly uploadSecret: () => Promise<Uint8Array>;
  readonly now: () => Date;
  /** Which runs exist, and in which projects. */
  readonly runs: RunDirectory;
  /** A new random UUID. */
  readonly newId: () => string;
  /** Days that the bytes of a deleted version are kept. */
  readonly graceDays: number;
  /** How answers call the store of bytes that are kept here: a folder is `local`, an S3 server is `r2`. */
  readonly storageBackend: "local" | "r2";
  /** Of the quota of storage. */
  readonly gate: PlanGate;
};

/** The handlers of this service by RPC. */
export type ArtifactsHandlers = Handlers<(typeof ArtifactsService)["method"] & GenServiceMethods>;

/** Every RPC of the service. */
export function artifactsHandlers(deps: ArtifactsDeps): ArtifactsHandlers {
  return {
    createArtifact: createArtifact(deps),
    importArtifacts: importArtifacts(deps),
    reserveObjects: reserveObjects(deps),
    storeArtifact: storeArtifact(deps),
    listArtifacts: listArtifacts(deps),
    countArtifacts: countArtifacts(deps),
    measureRemoval: measureRemoval(deps),
    pageArtifacts: pageArtifacts(deps),
    locateArtifact: locateArtifact(deps),
    deleteArtifact: deleteArtifact(deps),
    beginUpload: beginUpload(deps),
    renewParts: renewParts(deps),
    locatePart: locatePart(deps),
    completeUpload: completeUpload(deps),
    abortUpload: abortUpload(deps),
    listCollections: listCollections(deps),
    getCollection: getCollection(deps),
    listVersions: listVersions(deps),
    setAlias: setAlias(deps),
    deleteAlias: deleteAlias(deps),
    resolveVersion: resolveVersion(deps),
    getVersion: getVersion(deps),
    listEntries: listEntries(deps),
    locateEntry: locateEntry(deps),
    getVersionLineage: getVersionLineage(deps),
    setRetention: setRetention(deps),
    deleteVersion: deleteVersion(deps),
    addInput: addInput(deps),
    getStorage: getStorage(deps),
    sweep: sweepNow(deps),
  };
}
