import { getCollection, listCollections, listVersions } from "./collections/list-collections.ts";
import { deleteAlias, setAlias } from "./collections/aliases.ts";
import { createArtifact, reserveObjects, storeArtifact } from "./plain/store-artifact.ts";
import { deleteFiles, listFolder, locateFile } from "./plain/files.ts";
import { importArtifacts } from "./plain/import-artifacts.ts";
import {
  deleteArtifact,
  countArtifacts,
  listArtifacts,
  locateArtifact,
  exportArtifactsHandler,
} from "./plain/artifacts.ts";
import { measureRemoval } from "./removal/remove-artifacts.ts";
import { getStorage } from "./storage/get-storage.ts";
import { sweepNow } from "./sweep/sweep.ts";
import { abortUpload, completeUpload } from "./uploads/end-upload.ts";
import { beginUpload } from "./uploads/begin-upload.ts";
import { locatePart, renewParts } from "./uploads/renew-parts.ts";
import { addInput, resolveVersion } from "./versions/resolve-version.ts";
import { deleteVersion, setRetention } from "./versions/retention.ts";
import { getLineageGraph } from "./versions/get-graph.ts";
import {
  getVersion,
  getVersionLineage,
  listEntries,
  listVersionsOfRunHandler,
  locateEntry,
} from "./versions/get-version.ts";
import type { ArtifactsArchiveService } from "@tidemark/proto/artifacts/v1/archive";
import type { ArtifactsRestoreService } from "@tidemark/proto/artifacts/v1/restore";
import type { Handlers } from "@tidemark/rpc";
import { restoreCollectionHandler } from "./collections/restore-collection.ts";
import { restoreBytesHandlers } from "./objects/restore-bytes.ts";
import { restoreArtifactsHandlers } from "./plain/restore-artifacts.ts";
import { exportVersionsHandler } from "./versions/export-versions.ts";
import { restoreVersionsHandlers } from "./versions/restore-versions.ts";
import {
  deleteModelFiles,
  listModelFiles,
  locateModelFile,
  reserveModelObjects,
  storeModelFile,
} from "./models/model-files.ts";
import { logModelMetrics } from "./models/model-metrics.ts";
import { createModel, deleteModel, getModel, updateModel } from "./models/models.ts";
import { searchModels } from "./models/search-models.ts";
import { setRegisteredAlias } from "./registry/registered-aliases.ts";
import {
  createRegisteredModel,
  deleteRegisteredModel,
  getRegisteredModel,
  updateRegisteredModel,
} from "./registry/registered-models.ts";
import {
  createRegisteredVersion,
  deleteRegisteredVersion,
  getRegisteredVersion,
  updateRegisteredVersion,
} from "./registry/registered-versions.ts";
import { searchRegisteredModels, searchRegisteredVersions } from "./registry/search-registry.ts";
import type { ArtifactsDeps, ArtifactsHandlers, ModelsHandlers, RegistryHandlers } from "./deps.ts";

/** Returns the handlers of ArtifactsService. */
export function artifactsHandlers(deps: ArtifactsDeps): ArtifactsHandlers {
  return {
    createArtifact: createArtifact(deps),
    importArtifacts: importArtifacts(deps),
    reserveObjects: reserveObjects(deps),
    storeArtifact: storeArtifact(deps),
    listArtifacts: listArtifacts(deps),
    countArtifacts: countArtifacts(deps),
    measureRemoval: measureRemoval(deps),
    locateArtifact: locateArtifact(deps),
    deleteArtifact: deleteArtifact(deps),
    listFolder: listFolder(deps),
    locateFile: locateFile(deps),
    deleteFiles: deleteFiles(deps),
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
    getLineageGraph: getLineageGraph(deps),
    listVersionsOfRun: listVersionsOfRunHandler(deps),
    setRetention: setRetention(deps),
    deleteVersion: deleteVersion(deps),
    addInput: addInput(deps),
    getStorage: getStorage(deps),
    sweep: sweepNow(deps),
  };
}

/** Returns the handlers of ArtifactsArchiveService. */
export function archiveHandlers(
  deps: Pick<ArtifactsDeps, "db" | "runs" | "storageBackend">,
): Handlers<(typeof ArtifactsArchiveService)["method"]> {
  return { exportArtifacts: exportArtifactsHandler(deps), exportVersions: exportVersionsHandler(deps) };
}

/** Returns the handlers of ArtifactsRestoreService. */
export function restoreHandlers(
  deps: Pick<ArtifactsDeps, "db" | "runs" | "newId" | "storageBackend" | "gate">,
): Handlers<(typeof ArtifactsRestoreService)["method"]> {
  return {
    ...restoreBytesHandlers(deps),
    ...restoreArtifactsHandlers(deps),
    ...restoreVersionsHandlers(deps),
    restoreCollection: restoreCollectionHandler(deps),
  };
}

/** Returns the handlers of ModelsService. */
export function modelsHandlers(deps: Pick<ArtifactsDeps, "db" | "runs" | "newId" | "gate" | "blob">): ModelsHandlers {
  return {
    createModel: createModel(deps),
    getModel: getModel(deps),
    searchModels: searchModels(deps),
    updateModel: updateModel(deps),
    deleteModel: deleteModel(deps),
    logModelMetrics: logModelMetrics(deps),
    reserveModelObjects: reserveModelObjects(deps),
    storeModelFile: storeModelFile(deps),
    listModelFiles: listModelFiles(deps),
    locateModelFile: locateModelFile(deps),
    deleteModelFiles: deleteModelFiles(deps),
  };
}

/** Returns the handlers of RegistryService. */
export function registryHandlers(deps: Pick<ArtifactsDeps, "db" | "runs" | "newId" | "gate">): RegistryHandlers {
  return {
    createRegisteredModel: createRegisteredModel(deps),
    getRegisteredModel: getRegisteredModel(deps),
    updateRegisteredModel: updateRegisteredModel(deps),
    deleteRegisteredModel: deleteRegisteredModel(deps),
    searchRegisteredModels: searchRegisteredModels(deps),
    setRegisteredAlias: setRegisteredAlias(deps),
    createRegisteredVersion: createRegisteredVersion(deps),
    getRegisteredVersion: getRegisteredVersion(deps),
    updateRegisteredVersion: updateRegisteredVersion(deps),
    deleteRegisteredVersion: deleteRegisteredVersion(deps),
    searchRegisteredVersions: searchRegisteredVersions(deps),
  };
}
