/**
 * Proofs that a step was not skipped. Each brand is made in exactly one file (`test/tidy.test.ts` holds
 * that), so going round risk or the journal does not compile.
 */
declare const approved: unique symbol
declare const recorded: unique symbol

/** The risk checks passed. Made in `risk/approve.ts` alone. */
export type Approved<Value> = Value & { readonly [approved]: true }

/** Its record was handed to the journal before it. Made by `recordBefore` in `engine/state/core.ts` alone. */
export type Recorded<Value> = Value & { readonly [recorded]: true }
