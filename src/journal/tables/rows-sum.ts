/**
 * The number of rows, and the sum of their digests modulo 2^128. A seal then costs only as much as
 * what has changed.
 */
export interface RowsSum {
  readonly rows: number
  readonly sum: bigint
}

export const NO_ROWS: RowsSum = { rows: 0, sum: 0n }

export function addDigest({ rows, sum }: RowsSum, digest: string): RowsSum {
  return { rows: rows + 1, sum: BigInt.asUintN(128, sum + toNumber(digest)) }
}

export function takeDigest({ rows, sum }: RowsSum, digest: string): RowsSum {
  return { rows: rows - 1, sum: BigInt.asUintN(128, sum - toNumber(digest)) }
}

export function toNumber(digest: string): bigint {
  return BigInt(`0x${digest}`)
}

export function sumToText({ sum }: RowsSum): string {
  return sum.toString(16).padStart(32, '0')
}
