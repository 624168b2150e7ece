import type { RiskierCommand } from '../../../src/control/powers.ts'
import { ACCOUNT, type ModeReason, TRADING_MODES } from '../../../src/domain/trading-mode.ts'
import { MANUAL } from '../../../src/domain/hand-order.ts'
import type { LoggedFact } from '../../../src/logging/logger.ts'
import type { ShownAccount } from '../../../src/views/shown-account.ts'

/** Only an operator ends these. A close of trades by hand ends by itself. */
const HELD_UNTIL_RELEASED: ReadonlySet<ModeReason> = new Set<ModeReason>([
  'operator',
  'flatten',
  'close',
  'kill',
  'dailyLoss',
  'contradiction',
  'foreignFills',
  'strategyFailed',
  'rejections',
  'recount',
])

interface Held {
  readonly scope: string
  readonly code: ModeReason
  readonly mode: string
  readonly at: number
}

/** What the account may lose, as far as callers can change it. */
export interface Exposure {
  /** Of the configuration: its limits, strategies and instruments stay while it runs. */
  readonly run: number
  readonly held: ReadonlyMap<string, Held>
  /** Entries of money that count as capital, by id. */
  readonly deposits: ReadonlyMap<string, string>
}

/** A right that a code has given, for what was shown with its proposal. */
export interface Grant {
  readonly order: RiskierCommand
  /** When it was proposed. */
  readonly shown: Exposure
}

export function readExposure({ book }: ShownAccount, run: number): Exposure {
  const held = [...book.restrictions]
    .filter(
      ([, { code, scope }]) =>
        HELD_UNTIL_RELEASED.has(code) && !(code === 'close' && scope === `strategy:${MANUAL}`),
    )
    .map(([key, { scope, code, mode, at }]) => [key, { scope, code, mode, at }] as const)
  const deposits = [...book.deposits].map(([id, { amount }]) => [id, amount] as const)
  return { run, held: new Map(held), deposits: new Map(deposits) }
}

/**
 * Compares what may be lost before and after each act, by the book of the running core and not by
 * what an answer says. Whatever has become riskier needs a grant for just that.
 */
export class ExposureWatch {
  readonly violations: string[] = []
  /** Raises with a grant, by kind. */
  readonly raised = new Map<string, number>()
  readonly #read: () => Exposure
  #before: Exposure
  #open: Grant[] = []
  /** Orders by hand and adoptions, since the last look. */
  #acts: { readonly kind: 'order' | 'adopt'; readonly key: string }[] = []
  /** Names of orders by hand that only close. */
  readonly #closing = new Set<string>()

  constructor(read: () => Exposure) {
    this.#read = read
    this.#before = read()
  }

  get exposure(): Exposure {
    return this.#read()
  }

  get isKilled(): boolean {
    return [...this.#read().held.values()].some(({ code }) => code === 'kill')
  }

  noteClosing(requestId: string): void {
    this.#closing.add(requestId)
  }

  hear({ event, fields }: LoggedFact): void {
    if (event === 'manual.ordered') this.#acts.push({ kind: 'order', key: String(fields['key']) })
    // A flatten takes over what it closes.
    const isFlattened = [...this.#read().held.values()].some(({ code }) => code === 'flatten')
    if (event === 'position.assigned' && !isFlattened)
      this.#acts.push({ kind: 'adopt', key: String(fields['symbol']) })
  }

  grant(grant: Grant): void {
    this.#open.push(grant)
  }

  /** @param what the act, for the report */
  check(what: string): void {
    const [before, now] = [this.#before, this.#read()]
    this.#before = now
    for (const raise of this.#listRaises(before, now)) {
      const index = this.#open.findIndex((grant) => covers(grant, raise))
      if (index < 0) this.violations.push(`${what}: ${raise.text} without a code for it`)
      else {
        this.raised.set(raise.kind, (this.raised.get(raise.kind) ?? 0) + 1)
        // One release ends all that is held there, and a kill's ends later.
        if (raise.kind !== 'release') this.#open.splice(index, 1)
      }
    }
    // What takes its time: a kill is proved first, a reload opens the account again.
    this.#open = this.#open.filter(({ order }) => ['releaseKill', 'reload'].includes(order.kind))
  }

  #listRaises(before: Exposure, now: Exposure): readonly Raise[] {
    const raises: Raise[] = []
    if (now.run !== before.run) raises.push({ kind: 'reload', text: 'another configuration runs' })
    for (const [key, was] of before.held) {
      const is = now.held.get(key)
      if (is !== undefined && strictness(is.mode) >= strictness(was.mode)) continue
      const kind = was.code === 'kill' ? 'releaseKill' : 'release'
      raises.push({ kind, was: { key, ...was }, text: `${key} of ${was.at} is held no more` })
    }
    for (const [id, amount] of now.deposits)
      if (!before.deposits.has(id) && !amount.startsWith('-'))
        raises.push({ kind: 'deposit', text: `a deposit of ${amount}` })
    for (const { kind, key } of this.#acts.splice(0))
      if (kind === 'adopt' || !this.#closing.delete(key))
        raises.push({ kind, text: `${kind} ${key}` })
    return raises
  }
}

interface Raise {
  readonly kind: 'reload' | 'release' | 'releaseKill' | 'deposit' | 'order' | 'adopt'
  readonly text: string
  readonly was?: Held & { readonly key: string }
}

function covers({ order, shown }: Grant, { kind, was }: Raise): boolean {
  switch (kind) {
    case 'release':
      return (
        order.kind === 'release' &&
        order.scope === was?.scope &&
        shown.held.get(was.key)?.at === was.at
      )
    case 'releaseKill':
      return order.kind === 'releaseKill' && was !== undefined && was.scope === ACCOUNT
    case 'deposit':
      return order.kind === 'deposit' || order.kind === 'correctDeposit'
    case 'reload':
    case 'order':
    case 'adopt':
      return order.kind === kind
  }
}

function strictness(mode: string): number {
  return TRADING_MODES.findIndex((one) => one === mode)
}
