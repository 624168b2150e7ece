import { hash } from 'node:crypto'
import fs, { readFileSync, realpathSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ReportedBacktest } from '../../backtest/reported-backtest.ts'
import type { PlayOptions } from '../../backtest/opening/play-options.ts'
import type { PreparedBacktest } from '../../backtest/opening/prepare-backtest.ts'
import type { PlayWatcher } from '../../backtest/playing/thread-protocol.ts'
import { ProgressBar } from '../../backtest/playing/progress-bar.ts'
import {
  markDecisions,
  openBacktest,
  playRun,
  watchForEnd,
} from '../../backtest/playing/play-in-thread.ts'
import type { Effect } from '../../engine/effect.ts'
import type { Step } from '../../interpreter/ports.ts'
import { systemClock } from '../../lib/clock.ts'
import { sha256 } from '../../lib/digest.ts'
import { writeValue } from '../../lib/value-text.ts'
import { showTime } from '../../report/text/figures.ts'
import { strategyAtFault } from '../../strategy/strategy-failure.ts'

export interface BiasOptions extends PlayOptions {
  readonly cuts: number
}

export interface BiasTask {
  readonly config: string | undefined
  readonly options: BiasOptions
  readonly version: string
}

/** A whole number of hours, so that both runs read prices at the same moments. */
const GRID_MS = 3_600_000
/** A share of the run; as much again is warm-up. */
const LATER_SHARE = 0.25

interface PlayedCheck {
  readonly prepared: PreparedBacktest
  readonly log: EffectLog
}

/** @throws Failure for a strategy whose code failed outside of decide */
export async function checkBias(
  { config, options, version }: BiasTask,
  watcher: PlayWatcher,
): Promise<BiasCheck> {
  const { marks, isTTY, post } = watcher
  const watch = watchForEnd(marks)
  const reads = new Map<string, OpenedFile>()
  const forget = watchReads((strategy, file) =>
    reads.set(`${strategy} ${file}`, { strategy, file }),
  )
  const progress = new ProgressBar(
    { isTTY, write: (text) => post({ kind: 'progress', text }) },
    systemClock,
  )
  let done = 0
  const play = async (
    range: Pick<PlayOptions, 'from' | 'to'>,
    label: string,
  ): Promise<PlayedCheck> => {
    const { prepared } = await openBacktest(config, { ...options, ...range }, version, { watcher })
    const log = new EffectLog()
    const model =
      options.model === undefined || options.model === 'all' ? prepared.fillModel : options.model
    const opened = markDecisions(prepared.optionsFor(model, undefined), marks)
    const run = new ReportedBacktest({ ...opened, onStep: (step) => log.stepped(step) })
    await playRun(run, watch, (at) => {
      marks.beat(at)
      const share = (at - prepared.fromAt) / (prepared.toAt - prepared.fromAt)
      progress.show((done + share) / (options.cuts + 2), label)
    })
    if (watch.ended?.failure !== undefined) throw watch.ended.failure
    done += 1
    return { prepared, log }
  }
  try {
    const whole = await play(options, 'the whole')
    const future = await checkFuture(whole, options.cuts, (to) =>
      play({ ...rangeOf(whole), to }, 'the future cut off'),
    )
    const past = await checkPast(whole, (from) =>
      play({ ...rangeOf(whole), from }, 'a later start'),
    )
    const files = judgeOutsideFiles(whole.prepared, {
      opened: [...reads.values()],
      played: [...options.market, ...(options.feed ?? [])],
    })
    return {
      isBiased: future.isBiased || files.isBiased,
      lines: [...future.lines, ...files.lines, '', ...past],
    }
  } finally {
    forget()
    watch.forget()
    progress.clear()
  }
}

function rangeOf({ prepared: { fromAt, toAt } }: PlayedCheck): {
  readonly from: number
  readonly to: number
} {
  return { from: fromAt, to: toAt }
}

function hourAt({ prepared: { fromAt, toAt } }: PlayedCheck, share: number): number {
  const grid = (toAt - fromAt) * share < GRID_MS ? GRID_MS / 60 : GRID_MS
  return fromAt + Math.floor(((toAt - fromAt) * share) / grid) * grid
}

async function checkFuture(
  whole: PlayedCheck,
  cuts: number,
  play: (to: number) => Promise<PlayedCheck>,
): Promise<BiasCheck> {
  const lines: string[] = []
  let isBiased = false
  for (let cut = 1; cut <= cuts; cut++) {
    const to = hourAt(whole, cut / (cuts + 1))
    if (to <= whole.prepared.fromAt) continue
    const part = await play(to)
    const difference = firstDifference(
      whole.log.steps,
      part.log.steps,
      Math.min(to, part.prepared.toAt),
    )
    isBiased ||= difference !== undefined
    lines.push(
      difference === undefined
        ? `without what came after ${showTime(to)}: the same effects to the byte`
        : `without what came after ${showTime(to)}: other effects, from ${new Date(difference.at).toISOString()} on, ${nameOf(difference.strategyId)}`,
    )
  }
  lines.push(
    isBiased
      ? 'biased: what was done hangs on prices that were not there yet, or on an earlier run of the same process'
      : 'no effect changed: nothing was decided on prices that were not there yet',
  )
  return { isBiased, lines }
}

function nameOf(strategyId: string): string {
  return strategyId === '' ? 'first seen in what no strategy decided' : `of strategy ${strategyId}`
}

async function checkPast(
  whole: PlayedCheck,
  play: (from: number) => Promise<PlayedCheck>,
): Promise<readonly string[]> {
  const from = hourAt(whole, LATER_SHARE)
  const warmAt = hourAt(whole, 2 * LATER_SHARE)
  if (from <= whole.prepared.fromAt) return []
  const later = await play(from)
  const agreements = compareDecisions(whole.log.decisions, later.log.decisions, {
    fromAt: warmAt,
    gridMs: whole.prepared.polling.tickersMs,
  })
  return [
    `begun at ${showTime(from)} instead, decisions from ${showTime(warmAt)} on:`,
    ...[...agreements].map(
      ([strategyId, agreement]) => `  ${strategyId}: ${describeAgreement(agreement)}`,
    ),
  ]
}

function describeAgreement({ compared, same, firstAt, lastAt }: Agreement): string {
  if (firstAt === undefined || lastAt === undefined)
    return `all ${compared} the same: nothing hangs on where the history began`
  return `${same} of ${compared} the same; the first other one at ${showTime(firstAt)}, the last at ${showTime(lastAt)}: its state or its orders hang on where the history began`
}

interface StepEffects {
  readonly at: number
  readonly digest: number
  readonly strategyId: string
}

interface TracedDecision {
  readonly at: number
  readonly strategyId: string
  readonly digest: number
}

const DIGEST_BYTES = 6

/** Keeps digests of effects and not their texts, so that memory grows by a few words a step. */
class EffectLog {
  readonly steps: StepEffects[] = []
  readonly decisions: TracedDecision[] = []

  stepped({ at, event, effects }: Step): void {
    if (event.kind === 'decided') {
      const { strategyId, intents } = event
      this.decisions.push({ at, strategyId, digest: digestOf(intents) })
    }
    const kept = effects.filter(isKept)
    if (kept.length > 0)
      this.steps.push({ at, digest: digestOf(kept), strategyId: strategyOf(event, kept) })
  }
}

function isKept({ kind }: Effect): boolean {
  return (
    kind === 'record' || kind === 'sendBatch' || kind === 'sendCall' || kind === 'sendCancelAll'
  )
}

function strategyOf(event: Step['event'], effects: readonly Effect[]): string {
  if ('strategyId' in event) return event.strategyId
  for (const effect of effects) {
    if (effect.kind === 'record' && effect.record.kind === 'send')
      return effect.record.orders[0]?.strategyId ?? ''
  }
  return ''
}

function digestOf(value: unknown): number {
  return sha256([writeValue(value)]).readUIntBE(0, DIGEST_BYTES)
}

export function firstDifference(
  one: readonly StepEffects[],
  other: readonly StepEffects[],
  beforeAt: number,
): StepEffects | undefined {
  for (let index = 0; ; index++) {
    const [left, right] = [one[index], other[index]].map((step) =>
      step !== undefined && step.at < beforeAt ? step : undefined,
    )
    if (left === undefined && right === undefined) return undefined
    if (left?.at === right?.at && left?.digest === right?.digest) continue
    return [left, right].flatMap((step) => step ?? []).toSorted((a, b) => a.at - b.at)[0]
  }
}

interface Agreement {
  readonly compared: number
  readonly same: number
  readonly firstAt: number | undefined
  readonly lastAt: number | undefined
}

/** @param gridMs decisions within one step of this grid are compared */
export function compareDecisions(
  one: readonly TracedDecision[],
  other: readonly TracedDecision[],
  { fromAt, gridMs }: { readonly fromAt: number; readonly gridMs: number },
): ReadonlyMap<string, Agreement> {
  const keyOf = ({ strategyId, at }: TracedDecision): string =>
    `${strategyId} ${Math.floor(at / gridMs)}`
  const known = new Map(
    one.filter(({ at }) => at >= fromAt).map((decision) => [keyOf(decision), decision.digest]),
  )
  const agreements = new Map<string, Agreement>()
  for (const decision of other) {
    const digest = decision.at >= fromAt ? known.get(keyOf(decision)) : undefined
    if (digest === undefined) continue
    const { strategyId, at } = decision
    const before = agreements.get(strategyId) ?? {
      compared: 0,
      same: 0,
      firstAt: undefined,
      lastAt: undefined,
    }
    const isSame = digest === decision.digest
    agreements.set(strategyId, {
      compared: before.compared + 1,
      same: before.same + (isSame ? 1 : 0),
      firstAt: isSame ? before.firstAt : (before.firstAt ?? at),
      lastAt: isSame ? before.lastAt : at,
    })
  }
  return agreements
}

interface BiasCheck {
  readonly isBiased: boolean
  readonly lines: readonly string[]
}

interface OpenedFile {
  readonly strategy: string
  readonly file: string
}

interface OutsideFiles {
  readonly opened: readonly OpenedFile[]
  readonly played: readonly string[]
}

type CheckedRun = Pick<PreparedBacktest, 'code' | 'config' | 'coverage' | 'feeds'>

const PROGRAM = fileURLToPath(new URL('../../', import.meta.url))

/**
 * Other files may hold prices from after the cut. A person must judge those that hold no played
 * price.
 */
function judgeOutsideFiles(run: CheckedRun, { opened, played }: OutsideFiles): BiasCheck {
  const own = new Set(Object.keys(run.code).flatMap((id) => codePaths(run, id)))
  const places = new Set(played.map((spec) => realPath(spec.replace(/^[\w.-]+=/, ''))))
  const contents = new Set([...run.coverage, ...run.feeds].flatMap((file) => file.sha256 || []))
  const others = opened.filter(
    ({ file }) => !own.has(realPath(file)) && !realPath(file).startsWith(PROGRAM),
  )
  const reads = others.map(({ strategy, file }) => ({
    isPlayed: places.has(realPath(file)) || contents.has(fileDigestOf(file)),
    text: `${strategy} ${file}`,
  }))
  const imports = Object.entries(run.code).flatMap(([id, { files }]) =>
    files.slice(1).map(({ name, text }) => ({
      isPlayed: contents.has(hash('sha256', text)),
      text: `${id} ${name}`,
    })),
  )
  return {
    isBiased: [...reads, ...imports].some(({ isPlayed }) => isPlayed),
    lines: [
      ...reads.map((one) => describe(one, 'reads')),
      ...imports.map((one) => describe(one, 'imports')),
      ...describePackages(run),
    ],
  }
}

function describe({ isPlayed, text }: { isPlayed: boolean; text: string }, verb: string): string {
  return isPlayed
    ? `biased: a strategy ${verb} the prices of the future from their file: ${text}`
    : `note: a strategy ${verb} a file; look whether anything of the future stands in it: ${text}`
}

function describePackages({ code }: CheckedRun): readonly string[] {
  return Object.entries(code).flatMap(([id, { packages }]) =>
    Object.entries(packages).map(
      ([name, version]) =>
        `note: a strategy imports a package; look whether it holds prices or loads any: ${id} ${name} ${version}`,
    ),
  )
}

function codePaths({ code, config }: CheckedRun, id: string): readonly string[] {
  const main = config.strategies.find((strategy) => strategy.id === id)?.moduleFile
  if (main === undefined) return []
  const folder = dirname(realPath(main))
  const imported = (code[id]?.files ?? []).slice(1).map(({ name }) => join(folder, name))
  return [main, ...imported].map(realPath)
}

function fileDigestOf(file: string): string {
  try {
    return hash('sha256', readFileSync(file))
  } catch {
    return ''
  }
}

function realPath(file: string): string {
  try {
    return realpathSync(resolve(file))
  } catch {
    return resolve(file)
  }
}

const OPENERS = ['openSync', 'readFileSync', 'open', 'readFile', 'createReadStream'] as const
const PROMISED = ['open', 'readFile'] as const

const PACKAGES = /[\\/]node_modules[\\/]|\.node$|[\\/]package\.json$/

function watchReads(onRead: (strategy: string, file: string) => void): () => void {
  const restores = [
    ...OPENERS.map((name) => watchOpening(fs, name, onRead)),
    ...PROMISED.map((name) => watchOpening(fs.promises, name, onRead)),
  ]
  syncBuiltinESMExports()
  return () => {
    for (const restore of restores) restore()
    syncBuiltinESMExports()
  }
}

function watchOpening(
  holder: object,
  name: string,
  onRead: (strategy: string, file: string) => void,
): () => void {
  const original: unknown = Reflect.get(holder, name)
  if (typeof original !== 'function') return () => undefined
  Reflect.set(holder, name, function watched(this: unknown, ...args: readonly unknown[]): unknown {
    const strategy = strategyAtFault()
    const file = strategy === undefined ? undefined : pathOf(args[0])
    if (strategy !== undefined && file !== undefined && !PACKAGES.test(file)) onRead(strategy, file)
    return Reflect.apply(original, this, args) as unknown
  })
  return () => Reflect.set(holder, name, original)
}

function pathOf(argument: unknown): string | undefined {
  if (argument instanceof URL) return fileURLToPath(argument)
  return typeof argument === 'string' ? resolve(argument) : undefined
}
