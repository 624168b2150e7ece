import { showUtc } from '../../lib/text/show-utc.ts'
import { cleanLine } from '../../lib/text/clean-text.ts'
import type { Clock } from '../../lib/clock.ts'
import { sha256Hex } from '../../lib/digest.ts'
import { randomHex } from '../../lib/entropy.ts'
import { describeCaller } from '../access/verified-caller.ts'
import type { ControlAnswer, ControlRequest, ProposalView } from '../commands.ts'
import type { Approval, Controlled, CommandPlan } from '../controlled.ts'
import { isRiskier, type RiskierCommand } from '../powers.ts'
import type { CodeVerdict, OneTimeCodes } from './one-time-codes.ts'

export const PROPOSAL_MS = 600_000
/** Counted for each entrance, so that a flood from the port leaves the socket free. */
const OPEN_MAX = 8
const KEPT_MAX = 50
/** An id is short enough for a phone, and no secret. */
const ID_BYTES = 3

const UNPAIRED =
  'this can add risk, so it needs a one-time code, and no authenticator is paired: run `intentd pair` at the machine, or give the command there'

export interface ProposalsOptions {
  readonly daemon: Pick<Controlled, 'planCommand'>
  readonly codes: Pick<OneTimeCodes, 'isPaired' | 'use'>
  readonly clock: Pick<Clock, 'now' | 'monotonic'>
  readonly onNews: (news: ProposalNews) => void
}

export type ProposalNews =
  | { readonly kind: 'proposed'; readonly proposal: ProposalView }
  | { readonly kind: 'refused'; readonly id: string; readonly by: string; readonly why: string }
  | { readonly kind: 'locked'; readonly by: string; readonly until: number }

export interface Refused {
  readonly kind: 'refused'
  readonly status: 400 | 403 | 404 | 409 | 410 | 429
  readonly why: string
}

export type Proposed =
  | Refused
  | { readonly kind: 'proposed'; readonly proposal: ProposalView }
  /** The order would be refused at the machine, too. */
  | { readonly kind: 'impossible'; readonly why: string }

export type Confirmed = Refused | { readonly kind: 'acted' } | ConfirmedBefore

/** Its request was handed to the daemon by an earlier confirmation. */
export interface ConfirmedBefore {
  readonly kind: 'before'
  readonly why: string
  readonly request: ControlRequest
  /** Undefined if the daemon had answered the request before. */
  readonly lasting: Lasting
}

/** The answer that lasts. */
export type Lasting = Promise<ControlAnswer> | undefined

interface OverProposal {
  readonly why: string
  readonly confirmed?: Pick<ConfirmedBefore, 'request' | 'lasting'>
}

interface Caller {
  readonly entrance: 'socket' | 'port'
  /** `port:control.token` */
  readonly verified: string
}

interface OpenProposal {
  readonly view: ProposalView
  readonly request: ControlRequest & { readonly order: RiskierCommand }
  readonly entrance: Caller['entrance']
  readonly verified: string
  readonly planDigest: string
  readonly requestDigest: string
  /** Monotonic ms. */
  readonly until: number
}

export interface Confirmation {
  readonly id: string
  readonly code: string
  readonly by: string
}

/**
 * Proposals of acts that may add risk are only in memory, so that none is confirmed by accident in
 * a later run.
 */
export class Proposals {
  readonly #options: ProposalsOptions
  readonly #open = new Map<string, OpenProposal>()
  readonly #over = new Map<string, OverProposal>()

  constructor(options: ProposalsOptions) {
    this.#options = options
  }

  /** Open proposals, the newest first. */
  list(): readonly ProposalView[] {
    this.#expire()
    return [...this.#open.values()].map(({ view }) => view).toReversed()
  }

  async propose(request: ControlRequest, caller: Caller): Promise<Proposed> {
    const { order } = request
    if (!isRiskier(order))
      return refuse(400, 'this adds no risk: give it as a command, and it is done at once')
    if (!this.#options.codes.isPaired) return refuse(403, UNPAIRED)
    const requestDigest = digestOf(request)
    const again = this.#findRequest(request.requestId)
    if (again)
      return again.requestDigest === requestDigest
        ? { kind: 'proposed', proposal: again.view }
        : refuse(
            409,
            'this request id (--key at the command line) was used for another command or another reason',
          )
    const plan = await this.#options.daemon.planCommand(order)
    if (plan.refusal !== undefined) return { kind: 'impossible', why: plan.refusal }
    this.#expire()
    const alike = [...this.#open.values()].filter(({ entrance }) => entrance === caller.entrance)
    if (alike.length >= OPEN_MAX)
      return refuse(429, `${OPEN_MAX} proposals wait already: confirm one, or let them expire`)
    const view = this.#view(request, plan, caller)
    this.#open.set(view.id, {
      view,
      request: { ...request, order },
      ...caller,
      planDigest: digestOf(plan.changes),
      requestDigest,
      until: this.#options.clock.monotonic() + PROPOSAL_MS,
    })
    this.#options.onNews({ kind: 'proposed', proposal: view })
    return { kind: 'proposed', proposal: view }
  }

  /**
   * A proposal that was confirmed before needs no code: its outcome is only told again.
   *
   * @param act carries it out
   * @throws if the pairing can be neither read nor written
   */
  async confirm(
    { id, code, by }: Confirmation,
    { verified }: Pick<Caller, 'verified'>,
    act: (request: ControlRequest, verified: string, approval: Approval) => Lasting,
  ): Promise<Confirmed> {
    const confirmer = describeCaller(verified, by)
    const found = this.#find(id)
    if ('kind' in found) return this.#noteClosed(found, id, confirmer)
    const plan = await this.#options.daemon.planCommand(found.request.order)
    // From here on nothing is awaited, so neither plan nor proposal can change.
    const open = this.#find(id)
    if ('kind' in open) return this.#noteClosed(open, id, confirmer)
    if (plan.refusal !== undefined || digestOf(plan.changes) !== open.planDigest) {
      this.#close(id, 'its plan has changed')
      const why = `not done: what it would do has changed since it was proposed (${plan.refusal ?? plan.changes.join('; ')}): look, and propose it again`
      return this.#note(refuse(409, why), id, confirmer)
    }
    const verdict = this.#options.codes.use(code)
    if (verdict.kind !== 'right') {
      if (verdict.kind === 'locked' && verdict.isNew)
        this.#options.onNews({ kind: 'locked', by: confirmer, until: verdict.until })
      return this.#note(refuse(403, describeVerdict(verdict)), id, confirmer)
    }
    const text = `proposal ${id} confirmed by ${confirmer} with code ${verdict.counter}`
    const why = `it was confirmed with code ${verdict.counter}`
    this.#close(id, why)
    const { request } = open
    const lasting = act(request, open.verified, { text, changes: plan.changes })
    this.#over.set(id, { why, confirmed: { request, lasting } })
    return { kind: 'acted' }
  }

  #view(
    { order, reason, by }: ControlRequest,
    { changes, notes }: CommandPlan,
    { verified }: Caller,
  ): ProposalView {
    const now = this.#options.clock.now()
    return {
      id: this.#newId(),
      order,
      reason: cleanLine(reason),
      by: describeCaller(verified, by),
      proposedAt: now,
      expiresAt: now + PROPOSAL_MS,
      changes: changes.map(cleanLine),
      notes: notes.map(cleanLine),
    }
  }

  #find(id: string): OpenProposal | Refused | ConfirmedBefore {
    this.#expire()
    const open = this.#open.get(id)
    if (open) return open
    const over = this.#over.get(id)
    if (over === undefined)
      return refuse(404, 'not done: no such proposal waits; a restart or a reload drops them')
    const { why, confirmed } = over
    return confirmed
      ? { kind: 'before', why: `this proposal is over: ${why}`, ...confirmed }
      : refuse(410, `not done: this proposal is over: ${why}`)
  }

  #findRequest(requestId: string): OpenProposal | undefined {
    this.#expire()
    return [...this.#open.values()].find(({ request }) => request.requestId === requestId)
  }

  #expire(): void {
    const now = this.#options.clock.monotonic()
    for (const [id, { until }] of this.#open)
      if (now >= until) this.#close(id, 'its ten minutes passed')
  }

  #close(id: string, why: string): void {
    this.#open.delete(id)
    this.#over.set(id, { why })
    for (const oldest of this.#over.keys()) {
      if (this.#over.size <= KEPT_MAX) break
      this.#over.delete(oldest)
    }
  }

  #newId(): string {
    for (;;) {
      const id = randomHex(ID_BYTES)
      if (!this.#open.has(id) && !this.#over.has(id)) return id
    }
  }

  #noteClosed<Closed extends Refused | ConfirmedBefore>(closed: Closed, id: string, by: string) {
    if (closed.kind === 'refused') this.#note(closed, id, by)
    return closed
  }

  #note(refused: Refused, id: string, by: string): Refused {
    this.#options.onNews({ kind: 'refused', id, by, why: refused.why })
    return refused
  }
}

function digestOf(value: unknown): string {
  return sha256Hex([JSON.stringify(value)])
}

function refuse(status: Refused['status'], why: string): Refused {
  return { kind: 'refused', status, why }
}

function describeVerdict(verdict: Exclude<CodeVerdict, { kind: 'right' }>): string {
  switch (verdict.kind) {
    case 'unpaired':
      return UNPAIRED
    case 'used':
      return 'not done: this code, or a later one, was used already: wait for the next one (30 s)'
    case 'wrong':
      return `not done: a wrong code; ${verdict.left} more, and codes are locked. If the authenticator shows it, compare the time of phone and machine`
    case 'locked':
      return `not done: too many wrong codes, so codes are locked until ${showUtc(verdict.until)}; at the machine, the command itself needs no code`
  }
}
