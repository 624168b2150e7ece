

/**
 * With `foreignFills: adopt` a fill of nobody through the API halts nothing. It may be of an order
 * that a lost run left resting, until a cancel-all of this run has listed what rests from before.
 * So one is sent (`resolution/older-state.ts`), and nothing is placed meanwhile.
 */

