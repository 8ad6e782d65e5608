/** What a call of a dialect may name, as the dialect writes it. */
export type NamedIds = {
  /** A run of MLflow: 32 hexadecimal digits. */
  readonly mlflowRun: string;
  /** An experiment of MLflow: a number. */
  readonly mlflowExperiment: string;
  /** A logged model of MLflow: `m-` and 32 hexadecimal digits. */
  readonly mlflowModel: string;
  /** A registered model of MLflow, with a version 1. */
  readonly mlflowRegistered: string;
};

/** A request of a dialect, whose fields are sent as the query of a GET and as the body of other methods. */
export type DialectCall = {
  /** Makes the fields of a request that is accepted if the rows it names are the caller's own. */
  readonly fields: (ids: NamedIds) => Readonly<Record<string, unknown>>;
  /** It names rows by an id: of another organization they are answered as missing ones. */
  readonly namesRows: boolean;
  /** The status that every caller with a key gets, where it is neither 200 nor 404. */
  readonly status?: number;
};
