import { PROPOSAL_MS } from '../../../src/control/approval/proposals.ts'
import type { RiskierCommand } from '../../../src/control/powers.ts'
import type { LoggedFact } from '../../../src/logging/logger.ts'
import { codeAt } from '../../support/approval/memory-pairing.ts'
import type { Exposure, Grant } from './exposure-watch.ts'

const STEP_MS = 30_000
const CODES_KEPT_MAX = 100
const PROPOSALS_KEPT_MAX = 60

export interface Confirming {
  readonly id: string
  readonly code: string
  readonly mayConfirm: boolean
}

interface KnownProposal extends Grant {
  readonly at: number
}

/** The campaign's own account of what was proposed, and of which codes count for it. */
export class KnownProposals {
  readonly #now: () => number
  readonly #exposure: () => Exposure
  readonly #known = new Map<string, KnownProposal>()
  readonly #codes = new Map<number, string>()
  #usedStep = 0
  proposed = 0

  constructor(options: { readonly now: () => number; readonly exposure: () => Exposure }) {
    this.#now = options.now
    this.#exposure = options.exposure
  }

  /** Newest last. */
  get ids(): readonly string[] {
    return [...this.#known.keys()]
  }

  /** The daemon says what was proposed at the moment it is. */
  hear({ event, fields }: LoggedFact): void {
    if (event !== 'control.proposed') return
    const {
      proposal,
      order: kind,
      by: _by,
      reason: _reason,
      wouldChange: _change,
      ...rest
    } = fields
    const order = { kind, ...rest } as unknown as RiskierCommand
    this.proposed += 1
    for (const oldest of this.#known.keys()) {
      if (this.#known.size < PROPOSALS_KEPT_MAX) break
      this.#known.delete(oldest)
    }
    this.#known.set(String(proposal), { order, shown: this.#exposure(), at: this.#now() })
  }

  /** What this confirmation would give a right to; undefined: to nothing. */
  grantOf({ id, code, mayConfirm }: Confirming): Grant | undefined {
    const known = this.#known.get(id)
    if (!mayConfirm || known === undefined || this.#now() - known.at >= PROPOSAL_MS)
      return undefined
    const step = this.#stepOf(code)
    return step === undefined || step <= this.#usedStep ? undefined : known
  }

  /** The daemon has taken the code: neither it nor the proposal counts again. */
  noteTaken({ id, code }: Confirming): void {
    this.#known.delete(id)
    this.#usedStep = Math.max(this.#usedStep, this.#stepOf(code) ?? 0)
  }

  codeNear(offset: number): string {
    return this.#codeOf(Math.floor(this.#now() / STEP_MS) + offset)
  }

  #stepOf(code: string): number | undefined {
    const step = Math.floor(this.#now() / STEP_MS)
    return [-1, 0, 1].map((offset) => step + offset).find((one) => this.#codeOf(one) === code)
  }

  /** Each is asked for often, and takes a millisecond. */
  #codeOf(step: number): string {
    const known = this.#codes.get(step)
    if (known !== undefined) return known
    if (this.#codes.size > CODES_KEPT_MAX) this.#codes.clear()
    const code = codeAt(step * STEP_MS)
    this.#codes.set(step, code)
    return code
  }
}
