/**
 * Each brand is made in one file (`test/tidy.test.ts`), so code that bypasses risk or the journal
 * does not compile.
 */
declare const approved: unique symbol
declare const recorded: unique symbol

/** Only `risk/approve.ts` makes it. */
export type Approved<Value> = Value & { readonly [approved]: true }

/** Only `recordBefore` in `engine/state/core.ts` makes it. */
export type Recorded<Value> = Value & { readonly [recorded]: true }
