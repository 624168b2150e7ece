import { createRandom, type Random } from '../../lib/random.ts'
import type { ServedName } from './served-rows.ts'

/**
 * Faults are drawn in this order, at most one a request. Those before `answerLost` happen before
 * execution.
 */
export const faultKinds = [
  'requestDropped',
  /** An HTML page of a gateway, status 502. */
  'gatewayErrorBefore',
  'tooManyRequests',
  /** The connection is reset before the answer. */
  'answerLost',
  /** An HTML page of a gateway, status 500. */
  'gatewayErrorAfter',
  'truncatedBody',
  'garbageBody',
  'delayedAnswer',
] as const

export type FaultKind = (typeof faultKinds)[number]

export interface FaultSettings {
  readonly probability: Readonly<Partial<Record<FaultKind, number>>>
  readonly delayMs?: { readonly min: number; readonly max: number }
  readonly endpoints?: readonly ServedName[]
}

export interface Fault {
  readonly kind: FaultKind
  readonly delayMs: number
}

export const noFaults: FaultSettings = { probability: {} }

const DEFAULT_DELAY_MS = { min: 1000, max: 5000 }

/**
 * Each kind has its own random stream and draws once a request, so that removing one does not
 * change the others.
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
