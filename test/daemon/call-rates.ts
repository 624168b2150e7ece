import { type EndpointName, endpointNamed } from '../../src/protocol/endpoints.ts'

/** A call as the exchange saw it. */
export interface Arrival {
  /** Unix ms. */
  readonly at: number
  /** Its name, or the path that no row has. */
  readonly endpoint: string
  readonly status: number
}

/** Calls of one limit. */
export interface CallRate {
  readonly name: string
  readonly calls: number
  readonly perMs: number
  readonly arrivals: readonly Arrival[]
}

/** Beyond the document: of all endpoints together, a minute and address. */
const OVERALL = { calls: 6000, perMs: 60_000 }

/** What counts by address, and all together, the last. */
export function ratesOf(arrivals: readonly Arrival[]): readonly CallRate[] {
  const sorted = arrivals.toSorted((one, other) => one.at - other.at)
  const byAddress = (['tickers', 'spotSymbols', 'longShortRatio'] as const).map((name) => ({
    name,
    ...limitOf(name),
    arrivals: sorted.filter(({ endpoint }) => endpoint === name),
  }))
  return [...byAddress, { name: 'all together', ...OVERALL, arrivals: sorted }]
}

function limitOf(name: EndpointName): { readonly calls: number; readonly perMs: number } {
  const { calls, perMs } = endpointNamed(name).limit
  return { calls, perMs }
}

/** Most of them in any window, wherever it begins. */
export function mostInWindow({ arrivals, perMs }: CallRate): number {
  let first = 0
  let most = 0
  for (const [place, { at }] of arrivals.entries()) {
    while ((arrivals[first]?.at ?? at) <= at - perMs) first++
    most = Math.max(most, place - first + 1)
  }
  return most
}

/** What share of the calls that may be made was made, between two instants. */
export function usedShare({ arrivals, calls, perMs }: CallRate, from: number, to: number): number {
  const made = arrivals.filter(({ at }) => at >= from && at < to).length
  return made / ((calls * (to - from)) / perMs)
}
