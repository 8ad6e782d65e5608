/** The limits of MLflow that its clients know; characters are code points. */
export const MLFLOW_LIMITS = {
  batch: { metrics: 1000, params: 100, tags: 100, together: 1000 },
  keyCharacters: 250,
  /** Longer values are cut. */
  paramCharacters: 6000,
  tagCharacters: 8000,
  experimentNameCharacters: 500,
  experimentTagCharacters: 20_000,
  historyPageRows: 25_000,
} as const;
