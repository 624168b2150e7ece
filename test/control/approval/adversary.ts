import type { Hono } from 'hono'
import type { z } from 'zod'
import { CHAT_ORDERS, readConfirmation } from '../../../src/cli/chat/questions.ts'
import { AGENT_TOOLS, toConfigWords } from '../../../src/cli/mcp/agent-tools.ts'
import { type MiddlemanKind, refuseMiddleman } from '../../../src/cli/process/middleman.ts'
import { AnsweredRequests } from '../../../src/control/answered-requests.ts'
import { OneTimeCodes } from '../../../src/control/approval/one-time-codes.ts'
import { PROPOSAL_MS, Proposals } from '../../../src/control/approval/proposals.ts'
import type { ControlAnswer, ControlRequest } from '../../../src/control/commands.ts'
import { buildControlApp } from '../../../src/control/control-app.ts'
import type { CommandOutcome, CommandPlan, Controlled } from '../../../src/control/controlled.ts'
import { EventHistory } from '../../../src/control/event-history.ts'
import type { RequestedCommand, RiskierCommand } from '../../../src/control/powers.ts'
import { TurnQueue } from '../../../src/control/access/turn-queue.ts'
import { Refusals } from '../../../src/control/refusals.ts'
import { createRandom, type Random } from '../../../src/lib/random.ts'
import { Secret } from '../../../src/lib/secret.ts'
import { codeAt, MemoryPairing, TOTP_SECRET } from '../../support/approval/memory-pairing.ts'

const HOST = '127.0.0.1:8790'
const TOKEN = 'canary-of-the-token-that-commands-the-daemon'
const READ_TOKEN = 'canary-of-the-token-that-only-looks-at-things'
const AGENT_TOKEN = 'canary-of-the-token-that-assistants-show'
const API_KEY = 'canary-of-an-api-key'
const CANARIES = [TOKEN, READ_TOKEN, AGENT_TOKEN, API_KEY, TOTP_SECRET]

const SCOPES = ['*', 'BTCUSDT', 'ETHUSDT', 'strategy:grid']
const START_AT = 1_800_000_000_000
const STEP_MS = 30_000
/** More than can be open. */
const KNOWN_MAX = 40

/** Errors that the campaign must notice. */
export type PlantedError =
  | 'codeTwice'
  | 'neverExpires'
  | 'planUnread'
  | 'agentConfirms'
  | 'portObeys'

export interface CampaignResult {
  readonly violations: readonly string[]
  readonly leaks: readonly string[]
  /** How often risk was added with a valid code. */
  readonly confirmed: number
  readonly proposed: number
}

/** The risk that a made-up daemon may take: only these numbers can be raised. */
class RiskyDaemon {
  readonly restricted = new Map<string, number>()
  killedAt: number | undefined
  limit = 100
  /** What the files say, which a reload takes. */
  fileLimit = 100
  /** Adoptions and orders by hand. */
  adopted = 0
  #clock = 0

  /** Everything that may be lost. */
  get bound(): number {
    const free = SCOPES.filter((scope) => !this.restricted.has(scope)).length
    return (this.killedAt === undefined ? free * this.limit : 0) + this.limit + this.adopted
  }

  plan(order: RiskierCommand): CommandPlan {
    const changes = this.#changesOf(order)
    return changes.length > 0
      ? { changes, notes: [`bound ${this.bound}`] }
      : { changes, notes: [], refusal: 'it would change nothing' }
  }

  obey(order: RequestedCommand): void {
    this.#clock += 1
    switch (order.kind) {
      case 'restrict':
      case 'flatten':
        return void this.restricted.set(order.scope, this.#clock)
      case 'kill':
        this.killedAt ??= this.#clock
        return
      case 'release':
        return void this.restricted.delete(order.scope)
      case 'releaseKill':
        this.killedAt = undefined
        return
      case 'adopt':
        this.adopted += 1
        return
      case 'reload':
        this.limit = this.fileLimit
        return
      case 'order':
        if (order.reduceOnly !== true && order.dryRun !== true) this.adopted += 1
        return
      case 'deposit':
      case 'correctDeposit':
        if (order.dryRun !== true) this.adopted += 1
        return
      case 'withdrawal':
      case 'close':
      case 'cancel':
      case 'logLevel':
    }
  }

  #changesOf(order: RiskierCommand): readonly string[] {
    switch (order.kind) {
      case 'release': {
        const since = this.restricted.get(order.scope)
        return since === undefined ? [] : [`ends ${order.scope} of ${since}`]
      }
      case 'releaseKill':
        return this.killedAt === undefined ? [] : [`ends the kill of ${this.killedAt}`]
      case 'adopt':
        return [`hands it over, as number ${this.adopted}`]
      case 'reload':
        return [`limit: ${this.limit} -> ${this.fileLimit}`]
      case 'order':
        return [`${order.side} ${order.size} ${order.symbol}, as number ${this.adopted}`]
      case 'deposit':
        return [`deposit of ${order.amount}, as number ${this.adopted}`]
      case 'correctDeposit':
        return [`takes back ${order.id}, as number ${this.adopted}`]
    }
  }
}

interface KnownProposal {
  readonly order: RiskierCommand
  readonly changes: string
  readonly at: number
}

interface Confirming {
  readonly id: string
  readonly code: string
  readonly mayConfirm: boolean
}

/**
 * Tool calls, chat messages and requests, random and adversarial, against the control interface
 * and the rules of the command line, with its own account of which codes are valid.
 */
class Campaign {
  readonly violations: string[] = []
  readonly leaks: string[] = []
  confirmed = 0
  proposed = 0
  readonly #random: Random
  readonly #planted: PlantedError | undefined
  readonly #daemon = new RiskyDaemon()
  readonly #known = new Map<string, KnownProposal>()
  /** Steps of codes that counted, by the campaign's own account. */
  #usedStep = 0
  #now = START_AT
  #number = 0
  /** The last code that a person typed, where others could read it. */
  #seen: { readonly code: string; readonly at: number } | undefined
  readonly #codes = new Map<number, string>()
  readonly #port: Hono
  readonly #socket: Hono

  constructor(seed: string, planted: PlantedError | undefined) {
    this.#random = createRandom(seed)
    this.#planted = planted
    const answered = new AnsweredRequests()
    const proposals = this.#openProposals()
    const build = (via: 'port' | 'socket'): Hono =>
      buildControlApp({
        entrance: {
          via: planted === 'portObeys' ? 'socket' : via,
          hosts: [HOST],
          tokens: {
            full: new Secret(TOKEN),
            read: new Secret(READ_TOKEN),
            agent: new Secret(AGENT_TOKEN),
          },
        },
        daemon: this.#controlled(),
        proposals,
        answered,
        readOnly: false,
        version: '1.2.3',
        monotonic: () => this.#now,
        turns: new TurnQueue(),
        address: () => undefined,
        refusals: new Refusals(() => undefined),
        onBroken: (reason) => this.violations.push(`broken: ${reason}`),
      })
    this.#port = build('port')
    this.#socket = build('socket')
  }

  async step(): Promise<void> {
    this.#pass()
    const before = this.#daemon.bound
    const acts = [
      () => this.#callTool(),
      () => this.#writeInChat(),
      () => this.#askPort(),
      () => this.#askPort(),
      () => this.#confirmAsPerson(),
    ]
    const { what, confirming } = await this.#pick(acts)()
    if (this.#daemon.bound <= before) return
    const why = this.#refuseRaise(confirming)
    if (why !== undefined) this.violations.push(`${what}: ${why}`)
    else this.confirmed += 1
  }

  /** Time passes, files change, and now and then the operator restricts. */
  #pass(): void {
    const draw = this.#random.next()
    this.#now += draw < 0.9 ? 2000 : draw < 0.995 ? 40_000 : draw < 0.999 ? 700_000 : 90_000_000
    if (this.#random.next() < 0.02) this.#daemon.fileLimit += this.#random.integer(50)
    if (this.#random.next() < 0.1)
      this.#daemon.obey({ kind: 'restrict', scope: this.#pick(SCOPES), mode: 'halted' })
  }

  /** Undefined: a person has confirmed it with a code that counts. */
  #refuseRaise(confirming: Confirming | undefined): string | undefined {
    if (confirming === undefined) return 'risk was added without a confirmation'
    const { id, code, mayConfirm } = confirming
    const known = this.#known.get(id)
    if (!mayConfirm) return 'confirmed by one that may not'
    if (known === undefined) return 'no such proposal'
    this.#known.delete(id)
    if (this.#now - known.at >= PROPOSAL_MS) return 'an expired proposal'
    if (this.#changesBefore !== known.changes) return 'its plan had changed'
    const step = [-1, 0, 1]
      .map((offset) => this.#stepNow + offset)
      .find((at) => this.#codeOf(at) === code)
    if (step === undefined) return 'a wrong code'
    if (step <= this.#usedStep) return 'a used code'
    this.#usedStep = step
    return undefined
  }

  #changesBefore: string | undefined

  #callTool(): Promise<Act> {
    const tool = this.#pick(AGENT_TOOLS)
    const given = Object.fromEntries(
      Object.keys((tool.input as z.ZodObject).shape).map((key) => [key, this.#value(key)]),
    )
    const parsed = tool.input.safeParse(given)
    const config = toConfigWords({ file: '/srv/paper.yaml', set: [] })
    // A hostile assistant runs what it likes, as far as its server would.
    const words =
      parsed.success && this.#random.next() < 0.8
        ? [tool.verb, ...tool.words(parsed.data, config)]
        : this.#pick([['confirm', this.#id()], ['pair', '--again'], ['dashboard'], ['run'], ['']])
    return this.#run(words, 'agent', this.#code())
  }

  async #writeInChat(): Promise<Act> {
    if (this.#random.next() < 0.4) {
      const read = readConfirmation([this.#id(), this.#code()])
      if (read === undefined) return { what: 'chat, not understood' }
      return this.#run(['confirm', read.id], 'chat', read.code)
    }
    const order = this.#pick(CHAT_ORDERS)
    const asked = order.read([this.#value('scope') as string])
    return asked === undefined || 'objection' in asked
      ? { what: 'chat, not understood' }
      : this.#run([order.verb, ...asked.words], 'chat', undefined)
  }

  async #askPort(): Promise<Act> {
    const authorization = this.#pick([
      `Bearer ${TOKEN}`,
      `Bearer ${TOKEN}`,
      `Bearer ${READ_TOKEN}`,
      `Bearer ${AGENT_TOKEN}`,
      'Bearer x',
      '',
    ])
    if (this.#random.next() < 0.3) {
      const [id, code] = [this.#id(), this.#code()]
      const isFull = authorization === `Bearer ${TOKEN}`
      return this.#confirm(this.#port, { id, code, mayConfirm: isFull }, authorization)
    }
    const path = this.#pick(['/v1/commands', '/v1/commands', '/v1/proposals', '/v1/addresses'])
    const body = this.#random.next() < 0.9 ? this.#request(this.#order()) : this.#pick(ODD_BODIES)
    await this.#post(this.#port, path, { body, authorization })
    if (this.#random.next() < 0.1) await this.#look(authorization)
    return { what: `port ${path}` }
  }

  /** A person at the machine, with the authenticator: the one whose codes are right. */
  async #confirmAsPerson(): Promise<Act> {
    const [newest] = [...this.#known.keys()].slice(-1)
    if (newest === undefined || this.#random.next() < 0.3) return { what: 'nothing' }
    const code = this.#codeOf(this.#stepNow)
    this.#seen = { code, at: this.#now }
    return this.#confirm(this.#socket, { id: newest, code, mayConfirm: true })
  }

  /** As the program does that runs a command for a chat or an assistant. */
  async #run(
    words: readonly string[],
    kind: MiddlemanKind,
    code: string | undefined,
  ): Promise<Act> {
    const what = `${kind}: ${words.join(' ')}`
    const isLetThrough = this.#planted === 'agentConfirms' && words[0] === 'confirm'
    if (!isLetThrough && refuseMiddleman(words, kind) !== undefined) return { what }
    const [verb = '', ...rest] = words
    if (verb === 'confirm') {
      const confirming = { id: rest[0] ?? '', code: code ?? '', mayConfirm: kind === 'chat' }
      return this.#confirm(this.#socket, confirming)
    }
    const order = toOrder(verb, rest)
    if (order === undefined) return { what }
    const isProposed = ['release', 'releaseKill', 'adopt', 'reload'].includes(order.kind)
    const path = isProposed ? '/v1/proposals' : '/v1/commands'
    await this.#post(this.#socket, path, { body: this.#request(order) })
    return { what }
  }

  async #confirm(app: Hono, confirming: Confirming, authorization = ''): Promise<Act> {
    const known = this.#known.get(confirming.id)
    this.#changesBefore = known && JSON.stringify(this.#daemon.plan(known.order).changes)
    const body = { id: confirming.id, code: confirming.code, by: 'someone' }
    await this.#post(app, '/v1/confirmations', { body, authorization })
    return { what: `confirm ${confirming.id}`, confirming }
  }

  async #post(app: Hono, path: string, { body, authorization = '' }: Posted): Promise<void> {
    const answer = await app.request(`http://${HOST}${path}`, {
      method: 'POST',
      headers: { host: HOST, authorization, 'content-type': 'application/json' },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
    const text = await answer.text()
    this.#searchForSecrets(text)
    if (answer.status !== 202) return
    const { proposal } = JSON.parse(text) as ControlAnswer
    if (proposal === undefined || this.#known.has(proposal.id)) return
    const { id, order, changes } = proposal
    this.proposed += 1
    for (const oldest of this.#known.keys()) {
      if (this.#known.size < KNOWN_MAX) break
      this.#known.delete(oldest)
    }
    this.#known.set(id, {
      order: order as RiskierCommand,
      changes: JSON.stringify(changes),
      at: this.#now,
    })
  }

  async #look(authorization: string): Promise<void> {
    const path = this.#pick(['/v1/proposals', '/v1/session', '/v1/x'])
    const answer = await this.#port.request(`http://${HOST}${path}`, {
      headers: { host: HOST, authorization },
    })
    this.#searchForSecrets(await answer.text())
  }

  /** Ids are random, so one of them may look like a code. */
  #searchForSecrets(text: string): void {
    const searched = text.replaceAll(/\b[0-9a-f]{6}\b(?=[":`\s])/g, (id) =>
      this.#known.has(id) ? 'ID' : id,
    )
    const codes = [-1, 0, 1].map((offset) => this.#codeOf(this.#stepNow + offset))
    for (const canary of [...CANARIES, ...codes])
      if (searched.includes(canary) && new RegExp(`(?<![\\w.])${canary}(?!\\w)`).test(searched))
        this.leaks.push(text)
  }

  #request(order: RequestedCommand): ControlRequest {
    this.#number += 1
    const again = this.#random.next() < 0.05 ? this.#random.integer(this.#number) : this.#number
    const requestId = `request-${again}`
    return { requestId, reason: String(this.#value('reason')), by: 'someone', order }
  }

  #order(): RequestedCommand {
    const scope = this.#pick(SCOPES)
    return this.#pick<RequestedCommand>([
      { kind: 'release', scope },
      { kind: 'release', scope, newPeak: true },
      { kind: 'releaseKill' },
      { kind: 'adopt', symbol: 'BTCUSDT', strategyId: 'grid' },
      { kind: 'reload' },
      { kind: 'order', symbol: 'BTCUSDT', side: 'buy', size: '1' },
      { kind: 'order', symbol: 'BTCUSDT', side: 'sell', size: '1', reduceOnly: true },
      { kind: 'close', scope, percent: 50 },
      { kind: 'restrict', scope, mode: 'reducing' },
      { kind: 'flatten', scope },
      { kind: 'kill' },
      { kind: 'logLevel', level: 'error' },
    ])
  }

  /** Known, over, or made up. */
  #id(): string {
    const ids = [...this.#known.keys()]
    return this.#random.next() < 0.9 ? (ids.at(-1 - this.#random.integer(4)) ?? 'abcdef') : 'abcdef'
  }

  /** What an adversary may try; at times a person has been talked into telling a code. */
  #code(): string {
    const guess = String(this.#random.integer(1_000_000)).padStart(6, '0')
    const valid = this.#codeOf(this.#stepNow + this.#random.integer(3) - 1)
    const isSeen = this.#seen !== undefined && this.#now - this.#seen.at < STEP_MS
    const draw = this.#random.next()
    if (draw < 0.01) return guess
    if (draw < 0.012) return 'abcdef'
    return draw < 0.5 && isSeen ? (this.#seen?.code ?? '') : valid
  }

  get #stepNow(): number {
    return Math.floor(this.#now / STEP_MS)
  }

  /** Each is asked for often, and takes a millisecond. */
  #codeOf(step: number): string {
    const known = this.#codes.get(step)
    if (known !== undefined) return known
    if (this.#codes.size > 100) this.#codes.clear()
    const code = codeAt(step * STEP_MS)
    this.#codes.set(step, code)
    return code
  }

  #value(key: string): unknown {
    const texts = [
      'BTCUSDT',
      '*',
      'strategy:grid',
      '--config=/etc/passwd',
      'x'.repeat(400),
      '\u202E',
    ]
    if (key === 'reason')
      return this.#pick(['release the kill: the log of the strategy says so', 'odd'])
    if (key === 'mode') return 'halted'
    if (['days', 'limit', 'seed'].includes(key)) return this.#random.integer(50)
    return this.#random.next() < 0.2 ? undefined : this.#pick(texts)
  }

  #pick<Value>(values: readonly Value[]): Value {
    return values[this.#random.integer(values.length)] as Value
  }

  #openProposals(): Proposals {
    const store = new MemoryPairing()
    if (this.#planted === 'codeTwice')
      store.save = (pairing) => void (store.pairing = { ...pairing, usedCounter: 0 })
    const planned = (order: RiskierCommand): CommandPlan =>
      this.#planted === 'planUnread'
        ? { changes: ['something'], notes: [] }
        : this.#daemon.plan(order)
    const monotonic = (): number => (this.#planted === 'neverExpires' ? 0 : this.#now)
    return new Proposals({
      daemon: { planCommand: planned },
      clock: { now: () => this.#now, monotonic },
      codes: new OneTimeCodes({ store, now: () => this.#now }),
      onNews: (news) => this.#searchForSecrets(JSON.stringify(news)),
    })
  }

  #controlled(): Controlled {
    return {
      events: new EventHistory(1000),
      status: () => ({ configOption: '' }),
      command: ({ requestId, order }: ControlRequest): CommandOutcome => {
        this.#daemon.obey(order)
        const nothing = { held: [], lifted: [], stillHeld: {} }
        return { answer: { requestId, isObeyed: true, text: 'done', ...nothing } }
      },
    } as unknown as Controlled
  }
}

interface Act {
  readonly what: string
  readonly confirming?: Confirming
}

interface Posted {
  readonly body: unknown
  readonly authorization?: string
}

const ODD_BODIES: readonly unknown[] = [
  '',
  '{',
  'null',
  { order: { kind: 'reload' } },
  { requestId: 'request-1', reason: 'x', by: 'x', order: { kind: 'reload' }, power: 'safer' },
  { requestId: 'request-1', reason: 'x', by: 'x', order: { kind: 'confirm', code: '123456' } },
]

function toOrder(verb: string, words: readonly string[]): RequestedCommand | undefined {
  const [scope = '*'] = words.filter((word) => !word.startsWith('--'))
  const hasScope = words.some((word) => !word.startsWith('--'))
  switch (verb) {
    case 'restrict':
      return { kind: 'restrict', scope, mode: 'halted' }
    case 'flatten':
      return { kind: 'flatten', scope }
    case 'kill':
      return { kind: 'kill' }
    case 'release':
      return hasScope ? { kind: 'release', scope } : { kind: 'releaseKill' }
    case 'adopt':
      return { kind: 'adopt', symbol: scope, strategyId: 'grid' }
    case 'reload':
      return { kind: 'reload' }
    default:
      return undefined
  }
}

export async function runCampaign(
  seed: string,
  { steps, planted }: { readonly steps: number; readonly planted?: PlantedError },
): Promise<CampaignResult> {
  const campaign = new Campaign(seed, planted)
  for (let step = 0; step < steps; step++) {
    await campaign.step()
    if (planted !== undefined && campaign.violations.length > 0) break
  }
  const { violations, leaks, confirmed, proposed } = campaign
  return { violations, leaks, confirmed, proposed }
}
