/** A value of a run or a project, as `FindOperand` has it. */
export type FindOperand = { readonly of: string; readonly path: readonly string[]; readonly number: boolean };

/** Compares the first value that is there, as `FindCondition` does. */
type FindCondition = {
  readonly firstOf: readonly FindOperand[];
  readonly operator: string;
  readonly texts: readonly string[];
  readonly number?: number | undefined;
  readonly orMissing: boolean;
};

/** A part of an order, as `FindOrder` has it. */
export type FindOrder = { readonly firstOf: readonly FindOperand[]; readonly descending: boolean };

/** What a search wants, as `FindQuery` has it. */
export type FindQuery = {
  /** All of them hold. */
  readonly all: readonly { readonly any: readonly FindCondition[] }[];
  readonly orders: readonly FindOrder[];
  readonly view: string;
  readonly limit: number;
  readonly cursor: string;
};
