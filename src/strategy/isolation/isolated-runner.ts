import { readFileSync } from 'node:fs'
import { MessageChannel, type MessagePort, receiveMessageOnPort } from 'node:worker_threads'
import { DENIAL_CODES, type DenialCode } from '../../domain/denial.ts'
import type { Intent } from '../../domain/intent.ts'
import { type StrategyWait, WAIT_LENGTH_MAX } from '../../domain/strategy-wait.ts'
import { isPlotName, type PlotPoint } from '../../domain/plot.ts'
import type { Snapshot } from '../../domain/snapshot.ts'
import { sha256Hex } from '../../lib/digest.ts'
import { messageOf } from '../../lib/failure.ts'
import { isRecord } from '../../lib/plain-data.ts'
import { SupervisedThread, type ThreadEnd, watchGrowth } from '../../lib/supervised-thread.ts'
import type { Timers } from '../../lib/timers.ts'
import type { ResolvedNeeds } from '../needs.ts'
import { type IntentDenial, readIntents } from '../read-intents.ts'
import {
  STRATEGY_FAILURES,
  strategyFailure,
  type StrategyFailureCode,
} from '../strategy-failure.ts'
import {
  type SaidLine,
  type DecisionMade,
  type DecisionResult,
  type DecisionTime,
  readState,
  SLOW_MS,
  type StrategyRunnerOptions,
} from '../strategy-runner.ts'
import {
  ANSWERED,
  ASKED,
  CONTROL_LENGTH,
  CPU_US,
  HEADER_LENGTH,
  REPEATS,
  ROW_LENGTH,
  type StrategyThreadData,
  toCrossingInstrument,
} from './thread-messages.ts'
import { MomentWriter } from './write-moment.ts'

const READY_MS_MAX = 60_000
/** The pause before a new thread doubles up to the maximum. */
const PAUSE_MS = 1000
const PAUSE_MS_MAX = 60_000
/** After so many losses in a row every decision fails. */
const LOST_IN_ROW_MAX = 5
const CALM_MS = 600_000
const TOO_MUCH_MEMORY = 'it takes too much memory'
const MEMORY_LOOKED_AT_MS = 20

interface IsolatedRunnerOptions extends Omit<StrategyRunnerOptions, 'strategy'> {
  readonly moduleFile: string
  readonly needs: Pick<ResolvedNeeds, 'candles'>
  readonly budgetMs: number
  readonly heapMb: number
  readonly membersMax?: number | undefined
  readonly timers: Timers
  readonly onThreadLost: (reason: string) => void
  /** Called while a thread ends, since some code cannot be stopped and runs on. */
  readonly onEnding?: (isEnding: boolean) => void
}

export async function openIsolatedRunner(options: IsolatedRunnerOptions): Promise<IsolatedRunner> {
  const runner = new IsolatedRunner(options)
  const reason = await runner.start()
  if (reason === undefined) return runner
  await runner.stop()
  throw strategyFailure('STRATEGY_THREAD', {
    facts: { strategy: options.strategyId, found: reason },
  })
}

/**
 * The daemon waits for each answer, at most for the budget. So decisions keep their order, and one
 * that never returns costs the others one budget.
 *
 *     starting ──ready──► idle ──decide──► idle
 *                           └── no answer in time, or the thread has ended ──► paused ──► starting
 */
export class IsolatedRunner {
  readonly strategyId: string
  readonly #options: IsolatedRunnerOptions
  readonly #control = new Int32Array(
    new SharedArrayBuffer(CONTROL_LENGTH * Int32Array.BYTES_PER_ELEMENT),
  )
  readonly #numbers: SharedArrayBuffer
  readonly #writer: MomentWriter
  #thread: SupervisedThread<'ready'> | undefined
  #port: MessagePort | undefined
  #isReady = false
  #isStopped = false
  #lostInRow = 0
  #lostAt = Number.NEGATIVE_INFINITY
  #pausedFor: string | undefined
  /** The next decision reports why the thread ended by itself. */
  #unsaid: string | undefined
  #stateText: string | undefined
  readonly #digest: string | undefined
  #state: unknown
  #intents: readonly Intent[] = []
  readonly #ending = new Set<SupervisedThread<'ready'>>()

  constructor(options: IsolatedRunnerOptions) {
    const { instruments, membersMax = 0, needs } = options
    const numbers = HEADER_LENGTH + (instruments.length + membersMax) * ROW_LENGTH
    this.strategyId = options.strategyId
    this.#options = options
    this.#stateText = options.stateText
    this.#digest = readDigest(options.moduleFile)
    this.#numbers = new SharedArrayBuffer(numbers * Float64Array.BYTES_PER_ELEMENT)
    const symbols = instruments.map(({ symbol }) => symbol)
    this.#writer = new MomentWriter(this.#numbers, symbols, needs.candles.keys())
  }

  start(): Promise<string | undefined> {
    const { port1, port2 } = new MessageChannel()
    this.#port = port1
    this.#writer.forget()
    return new Promise((resolve) => {
      const thread = new SupervisedThread<'ready'>({
        file: './strategy-thread',
        askedBy: import.meta.url,
        task: this.#threadData(port2),
        transfer: [port2],
        isSilent: true,
        isBackground: true,
        patienceMs: READY_MS_MAX,
        isByCpu: true,
        onNews: () => {
          thread.wait(undefined)
          this.#isReady = true
          this.#pausedFor = undefined
          resolve(undefined)
        },
      })
      this.#thread = thread
      void thread.ended.then((end) => {
        resolve(reasonOf(end))
        if (end.kind !== 'stopped') this.#loseByItself(thread, reasonOf(end))
      })
    })
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#thread?.end()
  }

  get pausedFor(): string | undefined {
    return this.#pausedFor
  }

  get isEnding(): boolean {
    return this.#ending.size > 0
  }

  breakDown(error: unknown): void {
    const thread = this.#thread
    if (thread) this.#loseByItself(thread, messageOf(error))
  }

  /** Undefined while its thread is paused or starting. */
  decide(snapshot: Snapshot): DecisionResult | undefined {
    const thread = this.#thread
    const { clock, budgetMs, heapMb } = this.#options
    const startedAt = clock.monotonic()
    if (!thread || !this.#isReady) {
      const unsaid = this.#unsaid
      this.#unsaid = undefined
      if (unsaid === undefined && this.#lostInRow < LOST_IN_ROW_MAX) return undefined
      const found = unsaid ?? `lost ${this.#lostInRow} times in a row`
      return { ...failed('STRATEGY_THREAD', { found }), ...NO_TIME, isPaused: true }
    }
    const news = this.#writer.write(snapshot)
    if (news) this.#port?.postMessage(news)
    const asked = Atomics.add(this.#control, ASKED, 1) + 1
    Atomics.notify(this.#control, ASKED)
    const awaited = this.#await(asked, budgetMs)
    const time = this.#timeOf(clock.monotonic() - startedAt, awaited === 'answered')
    if (awaited === 'answered') {
      const answer = this.#readAnswer()
      if (answer.kind !== 'failed' || answer.code !== 'STRATEGY_MEMORY')
        return { ...answer, ...time }
      this.#lose(thread, TOO_MUCH_MEMORY)
      return { ...answer, ...time, isPaused: true }
    }
    if (awaited === 'grown') {
      this.#lose(thread, TOO_MUCH_MEMORY)
      return { ...failed('STRATEGY_MEMORY', { heapMb }), ...time, isPaused: true }
    }
    this.#lose(thread, `no answer within ${budgetMs} ms`)
    return { ...failed('STRATEGY_HANGS', { budgetMs }), ...time, isPaused: true }
  }

  #timeOf(elapsedMs: number, isAnswered: boolean): DecisionTime {
    const isSlow = elapsedMs > SLOW_MS
    const cpuUs = isSlow && isAnswered ? Atomics.load(this.#control, CPU_US) : -1
    return { elapsedMs, cpuMs: cpuUs < 0 ? undefined : cpuUs / 1000, isSlow }
  }

  #threadData(port: MessagePort): StrategyThreadData {
    const { moduleFile, strategyId, params, instruments, membersMax = 0 } = this.#options
    this.#control.fill(0)
    return {
      port,
      heapMb: this.#options.heapMb,
      moduleFile,
      strategyId,
      params,
      instruments: instruments.map(toCrossingInstrument),
      membersMax,
      numbers: this.#numbers,
      control: this.#control.buffer,
      stateText: this.#state === undefined ? this.#stateText : JSON.stringify(this.#state),
    }
  }

  #await(asked: number, budgetMs: number): 'answered' | 'late' | 'grown' {
    const { clock, heapMb } = this.#options
    const endAt = clock.monotonic() + budgetMs
    const isGrown = watchGrowth(heapMb)
    for (;;) {
      const answered = Atomics.load(this.#control, ANSWERED)
      if (answered === asked) return 'answered'
      const leftMs = endAt - clock.monotonic()
      if (leftMs <= 0) return 'late'
      const woken = Atomics.wait(
        this.#control,
        ANSWERED,
        answered,
        Math.min(leftMs, MEMORY_LOOKED_AT_MS),
      )
      if (woken === 'timed-out' && isGrown()) return 'grown'
    }
  }

  #readAnswer(): Omit<DecisionMade, keyof DecisionTime> | ReturnType<typeof failed> {
    if (Atomics.load(this.#control, REPEATS) === 1) {
      return { kind: 'decided', intents: this.#intents, denials: [], state: this.#state }
    }
    try {
      const message: unknown = this.#port && receiveMessageOnPort(this.#port)?.message
      const answer = readAnswer(this.strategyId, message)
      for (const line of answer.said) this.#options.onSaid?.(line)
      if (answer.failure) return { kind: 'failed', ...answer.failure }
      const { intents, denials } = readIntents(this.strategyId, answer.intents, this.#intents)
      this.#state = readState(answer.state, this.#state)
      this.#intents = intents
      return {
        kind: 'decided',
        intents,
        denials: [...answer.denials, ...denials],
        state: this.#state,
        ...(answer.plots.length > 0 && { plots: answer.plots }),
        ...(answer.waits && { waits: answer.waits }),
      }
    } catch (error) {
      return failed('STRATEGY_NO_DECISION', { found: messageOf(error) })
    }
  }

  #loseByItself(thread: SupervisedThread<'ready'>, reason: string): void {
    if (thread === this.#thread && this.#isReady) this.#unsaid = reason
    this.#lose(thread, reason)
  }

  #lose(thread: SupervisedThread<'ready'>, reason: string): void {
    if (thread !== this.#thread) return
    const wasReady = this.#isReady
    this.#thread = undefined
    this.#isReady = false
    this.#end(thread)
    // If the thread was never ready, the caller of `start` reports that.
    if (wasReady) this.#pause(reason)
  }

  #end(thread: SupervisedThread<'ready'>): void {
    const { onEnding } = this.#options
    this.#ending.add(thread)
    onEnding?.(true)
    void thread.end().then(() => {
      this.#ending.delete(thread)
      if (this.#ending.size === 0) onEnding?.(false)
    })
  }

  #pause(reason: string): void {
    if (this.#isStopped) return
    const { timers, clock, onThreadLost } = this.#options
    const now = clock.monotonic()
    if (now - this.#lostAt > CALM_MS) this.#lostInRow = 0
    this.#lostAt = now
    const pauseMs = Math.min(PAUSE_MS_MAX, PAUSE_MS * 2 ** this.#lostInRow++)
    this.#pausedFor = reason
    onThreadLost(reason)
    timers.after(pauseMs, () => void this.#begin())
  }

  /** Starts only the accepted code, because the file may have changed since without a check. */
  async #begin(): Promise<void> {
    if (this.#isStopped) return
    if (this.isEnding) return void this.#options.timers.after(PAUSE_MS, () => void this.#begin())
    const isOther = readDigest(this.#options.moduleFile) !== this.#digest
    const reason = isOther
      ? 'its file has changed since it was accepted: reload, or restart'
      : await this.start()
    if (reason === undefined) return
    this.#thread = undefined
    this.#pause(reason)
  }
}

function reasonOf(end: ThreadEnd): string {
  if (end.kind === 'late') return 'it does not come to its end while it is loaded'
  return end.kind === 'failed' ? messageOf(end.error) : 'its thread has ended'
}

const NO_TIME: DecisionTime = { elapsedMs: 0, cpuMs: undefined, isSlow: false }

function readDigest(file: string): string | undefined {
  try {
    return sha256Hex([readFileSync(file, 'utf8')])
  } catch {
    return undefined
  }
}

function failed(
  code: StrategyFailureCode,
  facts: Readonly<Record<string, string | number>>,
): { readonly kind: 'failed'; readonly code: StrategyFailureCode; readonly message: string } {
  return { kind: 'failed', code, message: strategyFailure(code, { facts }).message }
}

const LINES_MAX = 11
const FIELDS_MAX = 20
const DENIALS_MAX = 501
const TEXT_MAX = 500
const PLOTS_MAX = 1000
const WAITS_MAX = 1000
const MESSAGE_MAX = 4000

interface AnswerReading {
  readonly said: readonly SaidLine[]
  readonly denials: readonly IntentDenial[]
  readonly failure: { readonly code: StrategyFailureCode; readonly message: string } | undefined
  readonly plots: readonly PlotPoint[]
  readonly waits: readonly StrategyWait[] | undefined
  readonly intents: readonly unknown[]
  readonly state: unknown
}

/**
 * A strategy can patch what our code calls in its thread, so the answer may contain anything.
 * @throws Error if it is no answer
 */
export function readAnswer(strategyId: string, message: unknown): AnswerReading {
  if (!isRecord(message)) throw new Error('an answer without words')
  const { kind, intents, state } = message
  if (kind !== 'decided' && kind !== 'failed') throw new Error('an answer of no kind')
  if (kind === 'decided' && !Array.isArray(intents)) throw new Error('an answer without intents')
  return {
    said: listOf(message['said'], LINES_MAX).map(readLine),
    denials: listOf(message['denials'], DENIALS_MAX).flatMap((one) => readDenial(strategyId, one)),
    plots: listOf(message['plots'], PLOTS_MAX).flatMap(readPlot),
    waits:
      message['waits'] === undefined
        ? undefined
        : listOf(message['waits'], WAITS_MAX).flatMap(readWait),
    failure: kind === 'failed' ? readFailure(message) : undefined,
    intents: Array.isArray(intents) ? intents : [],
    state,
  }
}

function readPlot(point: unknown): readonly PlotPoint[] {
  const { symbol, name, value } = isRecord(point) ? point : {}
  const isWhole = isPlotName(name) && typeof value === 'number' && Number.isFinite(value)
  return isWhole ? [{ symbol: textOf(symbol), name, value }] : []
}

function readWait(wait: unknown): readonly StrategyWait[] {
  const { symbol, what } = isRecord(wait) ? wait : {}
  return [{ symbol: textOf(symbol), what: textOf(what, WAIT_LENGTH_MAX) }]
}

function readFailure({
  code,
  message,
}: Readonly<Record<string, unknown>>): AnswerReading['failure'] {
  const isKnown = typeof code === 'string' && Object.hasOwn(STRATEGY_FAILURES, code)
  return {
    code: isKnown ? (code as StrategyFailureCode) : 'STRATEGY_NO_DECISION',
    message: textOf(message, MESSAGE_MAX),
  }
}

function readLine(line: unknown): SaidLine {
  const { message, facts } = isRecord(line) ? line : {}
  const shown = Object.entries(isRecord(facts) ? facts : {}).slice(0, FIELDS_MAX)
  return {
    message: textOf(message),
    facts: Object.fromEntries(shown.map(([name, value]) => [textOf(name), readFact(value)])),
  }
}

function readFact(value: unknown): unknown {
  return typeof value === 'number' || typeof value === 'boolean' ? value : textOf(value)
}

function readDenial(strategyId: string, value: unknown): readonly IntentDenial[] {
  if (!isRecord(value)) return []
  const { index, symbol, code, detail } = value
  if (typeof code !== 'string' || !Object.hasOwn(DENIAL_CODES, code)) return []
  return [
    {
      index: typeof index === 'number' ? index : 0,
      strategyId,
      symbol: textOf(symbol),
      code: code as DenialCode,
      detail: textOf(detail),
    },
  ]
}

function listOf(value: unknown, max: number): readonly unknown[] {
  return Array.isArray(value) ? value.slice(0, max) : []
}

function textOf(value: unknown, max = TEXT_MAX): string {
  return typeof value === 'string' ? value.slice(0, max) : ''
}
