import { madeInstrument, MOMENT_AT } from '../support/market-moment.ts'
import { type Answer } from '../../src/domain/answer.ts'
import { toStrategyId } from '../../src/domain/ids.ts'
import { type Book, createBook } from '../../src/engine/book/book.ts'
import { type Effect, type OutgoingBatch } from '../../src/engine/effect.ts'
import { type Engine } from '../../src/engine/engine.ts'
import { type EngineEvent } from '../../src/engine/event.ts'
import { type Grant } from '../../src/exchange/limiter/grant.ts'
import { Interpreter } from '../../src/interpreter/interpreter.ts'
import type { CallOptions } from '../../src/exchange/client/request-writer.ts'
import { type JournalPort, type OnAnswer, type Ports } from '../../src/interpreter/ports.ts'
import { type BatchResult } from '../../src/protocol/values.ts'
import { type DecisionMade } from '../../src/strategy/strategy-runner.ts'
import { accepted } from '../engine/engine-bench.ts'
import { ManualTime } from '../support/manual-time.ts'

export const NOTHING = accepted({ successList: [], failureList: [] })
export const STRATEGY = toStrategyId('quiet')
/** A strategy that wants nothing. */
const DECIDED: DecisionMade = {
  kind: 'decided',
  intents: [],
  denials: [],
  state: {},
  elapsedMs: 0,
  cpuMs: undefined,
  isSlow: false,
}

/** A call that the exchange was asked for: the test writes it, or answers. */
export interface AskedCall {
  readonly what: string
  readonly options: CallOptions
  readonly answer: (answer: Answer<BatchResult>) => void
}

type Script = Partial<Record<EngineEvent['kind'], readonly Effect[]>>

/** An interpreter of a core that wants what a script says, over ports that do what the test says. */
export class InterpreterBench {
  readonly time = new ManualTime(MOMENT_AT)
  /** Everything that was done, in order. */
  readonly done: string[] = []
  readonly calls: AskedCall[] = []
  /** The tickers behind each batch that left. */
  readonly leaving: (number | undefined)[] = []
  /** Commits that are not done yet, oldest first. */
  readonly commits: ((failure?: unknown) => void)[] = []
  readonly asked: string[] = []
  readonly granted: ((grant: Grant) => void)[] = []
  readonly broken: unknown[] = []
  readonly events: EngineEvent[] = []
  /** What the core wants on the next event of a kind; each list once. */
  script: Script = {}
  commitsAtOnce = false
  grantsAtOnce = false
  hasRoomForNote = true
  isRetreatSettled = false
  isKilled = false
  isClockSynchronised = true
  /** The body of the batch that the core holds back. */
  heldBack: string | undefined
  readonly book: Book
  readonly ports: Ports
  readonly engine: Engine
  readonly interpreter: Interpreter

  /** With a real journal, and the book that was read from it. */
  constructor({ journal, book }: { readonly journal?: JournalPort; readonly book?: Book } = {}) {
    this.book = book ?? createBook('one_way_mode')
    this.ports = { ...this.#createPorts(), ...(journal && { journal }) }
    this.engine = this.#createEngine()
    this.interpreter = new Interpreter(this.engine, this.ports)
  }

  /** The core hears an event and wants these effects. */
  step(kind: 'timePassed' | 'started', effects: readonly Effect[]): void {
    this.script = { ...this.script, [kind]: effects }
    this.interpreter.dispatch({ kind })
  }

  #createEngine(): Engine {
    const step: Engine['step'] = (event) => {
      this.events.push(event)
      const effects = this.script[event.kind] ?? []
      this.script = { ...this.script, [event.kind]: [] }
      return effects
    }
    const isRetreatSettled = () => this.isRetreatSettled
    return {
      step,
      book: this.book,
      settings: { instruments: new Map([['BTCUSDT', madeInstrument()]]) } as never,
      whyNotEvaluated: () => undefined,
      whyNotGone: () => undefined,
      phase: 'running',
      unproved: [],
      get isRetreatSettled() {
        return isRetreatSettled()
      },
      isTrading: true,
      isWaiting: false,
      silentCalls: () => [],
      losses: new Map(),
      distances: new Map(),
      nearestDistances: new Map(),
      worstCase: undefined,
      capitalUse: () => undefined,
      unrealisedOf: () => undefined,
      unrealisedOn: () => Number.NaN,
      disputes: new Map(),
      equity: undefined,
      equityNow: undefined,
      usedLossNow: () => undefined,
      kill: undefined,
      objectTo: (batch) =>
        'body' in batch && batch.body === this.heldBack
          ? 'trading was restricted meanwhile'
          : undefined,
      staleReadings: () => [],
      objectToAdoption: () => undefined,
      findOrderedAgain: () => undefined,
      planByHand: () => ({}),
      worstCaseUnder: () => undefined,
      objectToRelease: () => undefined,
      planPeakRelease: () => undefined,
      isCallHeldBack: () => this.heldBack === 'calls',
      missingCandles: [],
      endings: [],
      refusals: [],
      restrictions: [],
      fillsAskedAt: 0,
      positionReadAt: () => 0,
      instrument: () => undefined,
      denied: new Map(),
      standingDenials: () => [],
      write: () => '',
    }
  }

  /** Nothing is in the way of the calls: their first bytes leave. */
  writeCalls(): void {
    for (const { options } of this.calls) options.beforeWrite?.()
  }

  #createJournal(): JournalPort {
    return {
      append: (record) => this.done.push(`append ${record.kind}`),
      commit: (commitDone) => {
        if (this.commitsAtOnce) commitDone()
        else this.commits.push(commitDone)
      },
      flush: () => this.done.push('flush'),
      usedKeys: () => [],
      recordsSinceCheckpoint: 0,
      prepareCheckpoint: () => false,
      saveCheckpoint: () => this.done.push('checkpoint'),
    }
  }

  #createPorts(): Ports {
    const ask = (what: string, options: CallOptions, onAnswer: OnAnswer<BatchResult>): void => {
      this.done.push(what)
      this.calls.push({ what, options, answer: onAnswer })
    }
    return {
      clock: this.time,
      timers: this.time,
      journal: this.#createJournal(),
      grants: {
        request: (endpoint, _, onGranted) => {
          this.asked.push(endpoint)
          if (this.grantsAtOnce)
            onGranted({ endpoint, release: () => undefined, unused: () => undefined })
          else this.granted.push(onGranted)
          return { cancel: () => undefined }
        },
      },
      exchange: {
        placeBatch: (body, ...rest) => ask(`batch ${body}`, ...rest),
        cancelAll: (body, ...rest) => ask(`cancelAll ${body}`, ...rest),
        callAccount: ({ endpoint }, options, onAnswer) =>
          ask(`call ${endpoint}`, options, onAnswer),
        readFills: (sinceAt) => this.done.push(`fills since ${sinceAt}`),
        readPosition: (symbol) => this.done.push(`position ${symbol}`),
        listExits: (symbol) => this.done.push(`exits ${symbol}`),
      },
      safety: {
        isClockSynchronised: () => this.isClockSynchronised,
        isKilled: () => this.isKilled,
      },
      strategies: new Map([[STRATEGY, { decide: () => DECIDED }]]),
      announcements: {
        announce: ({ event }) => this.done.push(event),
        killState: (state) => this.done.push(`kill ${state}`),
        quiesced: () => this.done.push('quiesced'),
        stopped: (clean) => this.done.push(`stopped ${clean}`),
        broken: (error) => this.broken.push(error),
      },
      retreatNote: {
        leave: () => {
          if (this.hasRoomForNote) this.done.push('note')
          return this.hasRoomForNote
        },
        forget: () => this.done.push('note removed'),
      },
      listener: { batchLeaves: (tickersReadAt) => this.leaving.push(tickersReadAt) },
    }
  }
}

/** A record that changes nothing. */
export function recordEffect(kind: 'send' | 'cancel' | 'prune', durable = true): Effect {
  return { kind: 'record', record: { kind, at: MOMENT_AT } as never, durable }
}

/** What the core alone makes. */
export function batchEffect(body: string, change: Partial<OutgoingBatch> = {}): Effect {
  const batch = {
    batchId: 1,
    symbol: 'BTCUSDT',
    clientOids: [],
    body,
    validUntilAt: MOMENT_AT,
    ...change,
  }
  return { kind: 'sendBatch', batch: batch as never }
}

export function callEffect(
  endpoint: 'modifyPlanOrder' | 'isolatedBatchCancelOrders' | 'copyConfigSettingSymbols',
  callId = 1,
): Effect {
  const call = { callId, endpoint, body: '{}', validUntilAt: MOMENT_AT + 1000 }
  return { kind: 'sendCall', call: call as never }
}

export const CANCEL_ALL: Effect = { kind: 'sendCancelAll', cancelId: 1, body: 'all' }
