import { createRandom, type Random } from '../../lib/random.ts'
import type { ServedName } from './served-rows.ts'

/**
 * What can go wrong between the exchange and its client. The order is that in which they are drawn: at
 * most one happens to a request.
 */
export const faultKinds = [
  /** The request never reaches the exchange, and nothing is ever answered. */
  'requestDropped',
  /** A gateway's HTML page with status 502; the request never reached the exchange. */
  'gatewayErrorBefore',
  /** HTTP 429 although no limit was met; the request was not carried out. */
  'tooManyRequests',
  /** The request is carried out, then the connection is reset before the first byte of the answer. */
  'answerLost',
  /** The request is carried out, then a gateway's HTML page with status 500 is answered. */
  'gatewayErrorAfter',
  /** The request is carried out; half of the answer comes, then the connection ends. */
  'truncatedBody',
  /** The request is carried out; the answer is HTTP 200 with a body that is no JSON. */
  'garbageBody',
  /** The request is carried out at once; the answer comes later than the usual delay. */
  'delayedAnswer',
] as const

export type FaultKind = (typeof faultKinds)[number]

export interface FaultSettings {
  /** Probability of each kind a request, 0 to 1. A kind that is left out never happens. */
  readonly probability: Readonly<Partial<Record<FaultKind, number>>>
  /** Bounds of `delayedAnswer`, ms. Default 1000 to 5000. */
  readonly delayMs?: { readonly min: number; readonly max: number }
  /** Where they happen; everywhere when left out. */
  readonly endpoints?: readonly ServedName[]
}

export interface Fault {
  readonly kind: FaultKind
  /** Of `delayedAnswer`; 0 for the others. */
  readonly delayMs: number
}

export const noFaults: FaultSettings = { probability: {} }

const DEFAULT_DELAY_MS = { min: 1000, max: 5000 }

/**
 * Draws faults from a seed. Each kind draws from a stream of its own, once a request, so that switching one
 * kind off leaves the others where they were.
 */
export class FaultPlan {
  readonly #endpoints: readonly ServedName[] | undefined
  readonly #delayMs: { readonly min: number; readonly max: number }
  readonly #streams: ReadonlyArray<{
    readonly kind: FaultKind
    readonly probability: number
    random: Random
  }>
  readonly #delays: Random
  readonly #injected = new Map<FaultKind, number>()

  /** @throws RangeError when a probability is outside 0 to 1, or the delays are not in order. */
  constructor(settings: FaultSettings, seed: string | number) {
    const random = createRandom(seed).fork('faults')
    const { endpoints, delayMs = DEFAULT_DELAY_MS } = settings
    const { min, max } = delayMs
    if (!(min >= 0 && max >= min))
      throw new RangeError(`delays must be in order, got ${min} to ${max}`)
    this.#endpoints = endpoints
    this.#delayMs = delayMs
    this.#delays = random.fork('delayMs')
    this.#streams = faultKinds.flatMap((kind) => {
      const probability = settings.probability[kind] ?? 0
      if (!(probability >= 0 && probability <= 1))
        throw new RangeError(`${kind} must be 0 to 1, got ${probability}`)
      return probability > 0 ? [{ kind, probability, random: random.fork(kind) }] : []
    })
  }

  /** What befalls the next request, of an endpoint or of an unknown path. */
  draw(endpoint: ServedName | undefined): Fault | undefined {
    const isMeant = this.#endpoints?.some((name) => name === endpoint) ?? true
    if (!isMeant) return undefined
    let drawn: FaultKind | undefined
    for (const { kind, probability, random } of this.#streams) {
      if (random.next() < probability) drawn ??= kind
    }
    if (drawn === undefined) return undefined
    this.#injected.set(drawn, (this.#injected.get(drawn) ?? 0) + 1)
    const { min, max } = this.#delayMs
    const delayMs =
      drawn === 'delayedAnswer' ? Math.round(min + this.#delays.next() * (max - min)) : 0
    return { kind: drawn, delayMs }
  }

  counts(): Readonly<Partial<Record<FaultKind, number>>> {
    return Object.fromEntries(this.#injected)
  }
}
