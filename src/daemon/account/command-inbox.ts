import type { HandPlan } from '../../engine/lifecycle/trade-by-hand.ts'
import { cleanLine } from '../../lib/text/clean-text.ts'
import {
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { z } from 'zod'
import type { Restriction } from '../../domain/trading-mode.ts'
import type { PeakRelease } from '../../engine/lifecycle/release.ts'
import { systemClock } from '../../lib/clock.ts'
import { randomHex } from '../../lib/entropy.ts'
import { messageOf } from '../../lib/failure.ts'
import { makeDirectory } from '../../lib/durable-file.ts'
import { describeCaller, describeFile } from '../../control/access/verified-caller.ts'
import { adviseRest } from '../../views/unattended.ts'
import { parseBoundedJson } from '../../lib/text/bounded-json.ts'
import { showUtc } from '../../lib/text/show-utc.ts'

const COMMANDS_MAX = 20
const COMMAND_BYTES_MAX = 4096
const COMMAND = '.json'
const ANSWER = '.answer'
const UNWRITTEN = '.unwritten'
const ANSWERS_MAX = 20
export const REASON_MAX = 500
export const SCOPE_MAX = 100

const lineOf = (max: number) => z.string().overwrite(cleanLine).min(1).max(max)

const ordered = { reason: lineOf(REASON_MAX), by: lineOf(200) }
/** An instrument, `strategy:ID`, or `*` for the account. */
const scope = lineOf(SCOPE_MAX)

const commandSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('restrict'),
    scope,
    mode: z.enum(['reducing', 'halted']),
    ...ordered,
  }),
  z.strictObject({ kind: z.literal('flatten'), scope, ...ordered }),
  z.strictObject({ kind: z.literal('adopt'), scope, strategy: scope, ...ordered }),
  z.strictObject({
    kind: z.literal('release'),
    scope: scope.optional(),
    newPeak: z.boolean().optional(),
    unclaimed: z.boolean().optional(),
    ...ordered,
  }),
])

export type ControlCommand = z.infer<typeof commandSchema>

export interface CommandAnswer {
  readonly held: readonly Restriction[]
  readonly lifted: readonly Restriction[]
  /** Removed once the kill is released; empty without a kill. */
  readonly killFiles: readonly string[]
  readonly stillHeld: Readonly<Record<string, string>>
  /** `stillHeld` is as of the last run, because later fills are not read yet. */
  readonly isStarting?: true
  readonly isScopeUnknown: boolean
  /** A flatten does not close these: their strategies are no longer configured there. */
  readonly unclosable: Readonly<Record<string, string>>
  readonly unclaimed?: Readonly<Record<string, string>>
  readonly refusal?: string
  readonly detail?: string
  readonly holds?: HandPlan['holds']
  readonly beyondLimit?: string
  /** A release before this ends nothing (`risk.losses.coolDownMs`). */
  readonly coolsDownUntil?: number | undefined
  readonly peak?: PeakRelease
  /** Keyed by instrument: strategies would order these again, so the release was refused. */
  readonly orderedAgain?: Readonly<Record<string, string>>
  readonly isTooOld?: true
  /** Names the account's writer: a standby read the command, and carries out none. */
  readonly standbyOf?: string
}

export function refuseCommand(why: Pick<CommandAnswer, 'isTooOld' | 'standbyOf'>): CommandAnswer {
  return {
    held: [],
    lifted: [],
    killFiles: [],
    stillHeld: {},
    unclosable: {},
    isScopeUnknown: false,
    ...why,
  }
}

/** A new peak is taken also where nothing is restricted; a refused release has none. */
export function hasReleased({ lifted, peak }: Pick<CommandAnswer, 'lifted' | 'peak'>): boolean {
  return lifted.length > 0 || peak?.peak === 'new'
}

/** @param configOption addresses the daemon's configuration in a command: ` -c live.yaml` */
export function describeRefusedRelease(
  named: string,
  answers: readonly CommandAnswer[],
  configOption: string,
): string {
  const until = answers.flatMap(({ coolsDownUntil }) => coolsDownUntil ?? [])
  const beyond = answers.flatMap(({ peak }) => (peak?.closesBelow === undefined ? [] : [peak]))
  const refusals = answers.flatMap(({ refusal }) => refusal ?? [])
  if (refusals.length > 0) return `not done: ${refusals.join('; ')}`
  if (beyond[0]) return describeBeyond(named, beyond[0])
  const again = answers.flatMap(({ orderedAgain }) => Object.entries(orderedAgain ?? {}))
  if (again.length > 0) return describeOrderedAgain(named, again, configOption)
  if (until.length === 0) return `not done: nothing that a release ends holds ${named}`
  const at = showUtc(Math.max(...until))
  return `not done: ${named} cools down until ${at} (risk.losses.coolDownMs); release it then`
}

function describeBeyond(named: string, { from, to, below, closesBelow }: PeakRelease): string {
  return `not done: ${named} is at ${to}, ${below} below its peak of ${from}, and the last step of its drawdown (flatten at ${closesBelow}) would close everything again at once; release it when it is above that, or with --new-peak, which counts every step from ${to}`
}

function describeOrderedAgain(
  named: string,
  again: readonly (readonly [string, string])[],
  configOption: string,
): string {
  const found = again.map(([symbol, text]) => `of ${symbol}, ${text}`).join('; ')
  const first = again.map(([symbol]) => adviseRest(symbol, configOption)).join('; ')
  return `not done: released now, a strategy would order again what the account holds already: ${found}. First ${first}; then release ${named}, or at once with --unclaimed, if it is to stay with no strategy and be held beside the whole target`
}

export function describePeak({ peak }: CommandAnswer): readonly string[] {
  if (peak === undefined || peak.closesBelow !== undefined) return []
  const { from, to, below, limits, lastUsed } = peak
  const moved = `counts from ${to} now, ${below} below the peak of ${from}`
  if (lastUsed === undefined) return [`peak: every step of the drawdown ${moved}: ${limits}`]
  return [
    `peak: the drawdown ${moved}; its last step, flatten, still counts from ${from}, and ${lastUsed} of it is used: ${limits}`,
  ]
}

export function describeStillHeld({ stillHeld, isStarting }: CommandAnswer): readonly string[] {
  const asOf = isStarting ? ', as the last run knew it: what was filled since is being read' : ''
  return Object.entries(stillHeld).map(
    ([holder, size]) =>
      `the flatten was not done, and nothing closes it any more: ${holder} ${size}${asOf}`,
  )
}

export function adviseUnclosable(unclosable: CommandAnswer['unclosable']): readonly string[] {
  return Object.entries(unclosable).map(
    ([holder, size]) =>
      `no flatten closes ${holder} ${size}, which is not configured any more: put the strategy back with that instrument, start again and flatten it, or close it by hand`,
  )
}

export function adviseUnclaimed(
  { unclaimed = {} }: CommandAnswer,
  configOption: string,
): readonly string[] {
  return Object.entries(unclaimed).map(
    ([symbol, size]) => `no strategy holds ${symbol} ${size}: ${adviseRest(symbol, configOption)}`,
  )
}

function inboxOf(directory: string): string {
  return join(directory, 'operator')
}

/** @returns the command's file, which disappears once a daemon has read it */
export function postCommand(directory: string, command: ControlCommand): string {
  const inbox = inboxOf(directory)
  makeDirectory(inbox, 0o700)
  const file = join(inbox, `${nextPlace(inbox)}-${command.kind}-${randomHex(8)}${COMMAND}`)
  const text = JSON.stringify(commandSchema.parse(command))
  try {
    writeFileSync(`${file}.new`, text, { mode: 0o600 })
    renameSync(`${file}.new`, file)
  } catch (error) {
    rmSync(`${file}.new`, { force: true })
    throw error
  }
  return file
}

function nextPlace(inbox: string): number {
  const last = Number.parseInt(basename(filesIn(inbox, COMMAND).at(-1) ?? ''), 10)
  return Math.max(systemClock.now(), Number.isNaN(last) ? 0 : last + 1)
}

export function listWaiting(directory: string): readonly string[] {
  try {
    return filesIn(inboxOf(directory), COMMAND).map(describeWaiting)
  } catch {
    return []
  }
}

function describeWaiting(file: string): string {
  try {
    const command = commandSchema.parse(parseBoundedJson(readFileSync(file, 'utf8')))
    const { kind, scope: target = 'the kill switch', by, reason } = command
    const mode = command.kind === 'restrict' ? ` to ${command.mode}` : ''
    return `${kind} ${target}${mode}, by ${by}: ${reason}`
  } catch {
    return `${file}, which cannot be read`
  }
}

export function takeAnswer(file: string): CommandAnswer | undefined {
  try {
    const text = readFileSync(`${file}${ANSWER}`, 'utf8')
    rmSync(`${file}${ANSWER}`)
    return parseBoundedJson(text) as CommandAnswer
  } catch {
    return undefined
  }
}

export function wasUnreadable(file: string): boolean {
  return existsSync(unreadableOf(file))
}

/** A daemon acts on it, and its journal does not have it yet. */
export function isUnwritten(file: string): boolean {
  return existsSync(`${file}${UNWRITTEN}`)
}

export interface CommandInboxOptions {
  readonly directory: string
  /** Called back, at once or later, when all commands so far are durable; false: they may not be. */
  readonly whenWritten: (done: (isWritten: boolean) => void) => void
  /** Undefined if the command has to wait. `givenAt`: machine's clock. */
  readonly onCommand: (command: ControlCommand, givenAt: number) => CommandAnswer | undefined
  readonly onUnreadable: (file: string, reason: string) => void
}

/**
 * A command is a file, which needs no port and waits for a daemon; only the owner of the state
 * directory can leave one. It is answered and removed when its record is durable, so if the run
 * ends first the next one reads it again. A command that is carried out twice because of that
 * changes nothing the second time.
 */
export class CommandInbox {
  readonly #options: CommandInboxOptions
  readonly #inbox: string
  readonly #stuck = new Set<string>()
  readonly #unwritten = new Set<string>()

  constructor(options: CommandInboxOptions) {
    this.#options = options
    this.#inbox = inboxOf(options.directory)
    this.#try(this.#inbox, () => makeDirectory(this.#inbox, 0o700))
    this.#try(this.#inbox, () => removeAnswers(this.#inbox, 0))
    this.#try(this.#inbox, () => {
      for (const file of filesIn(this.#inbox, UNWRITTEN)) rmSync(file, { force: true })
    })
  }

  empty(): void {
    const files = this.#try(this.#inbox, () => filesIn(this.#inbox, COMMAND)) ?? []
    const isNew = (file: string): boolean => !this.#stuck.has(file) && !this.#unwritten.has(file)
    for (const file of files.filter(isNew).slice(0, COMMANDS_MAX)) {
      const given = this.#read(file)
      const answer = given && this.#options.onCommand(given.command, given.at)
      if (answer !== undefined) this.#conclude(file, answer)
    }
  }

  #conclude(file: string, answer: CommandAnswer): void {
    const note = `${file}${UNWRITTEN}`
    this.#unwritten.add(file)
    this.#options.whenWritten((isWritten) => {
      this.#unwritten.delete(file)
      this.#try(file, () => rmSync(note, { force: true }))
      if (!isWritten) return
      leaveAnswer(file, answer)
      this.#try(file, () => rmSync(file, { force: true }))
    })
    if (this.#unwritten.has(file)) this.#try(note, () => writeFileSync(note, '', { mode: 0o600 }))
  }

  #read(file: string): { readonly command: ControlCommand; readonly at: number } | undefined {
    try {
      const stats = statSync(file)
      const { size, mtimeMs } = stats
      if (size > COMMAND_BYTES_MAX) throw new Error(`more than ${COMMAND_BYTES_MAX} bytes`)
      const command = commandSchema.parse(parseBoundedJson(readFileSync(file, 'utf8')))
      const by = describeCaller(describeFile(stats), command.by)
      return { command: { ...command, by }, at: mtimeMs }
    } catch (error) {
      if (isMissing(error)) return undefined
      this.#options.onUnreadable(file, messageOf(error))
      this.#try(file, () => renameSync(file, unreadableOf(file)))
      return undefined
    }
  }

  #try<Result>(path: string, act: () => Result): Result | undefined {
    try {
      return act()
    } catch (error) {
      if (!this.#stuck.has(path)) this.#options.onUnreadable(path, messageOf(error))
      this.#stuck.add(path)
      return undefined
    }
  }
}

function leaveAnswer(file: string, answer: CommandAnswer): void {
  try {
    removeAnswers(dirname(file), ANSWERS_MAX)
    writeFileSync(`${file}${ANSWER}`, JSON.stringify(answer), { mode: 0o600 })
  } catch {} // Without room for an answer only the log has it.
}

function removeAnswers(inbox: string, kept: number): void {
  const answers = filesIn(inbox, ANSWER)
  for (const old of answers.slice(0, Math.max(0, answers.length - kept)))
    rmSync(old, { force: true })
}

function filesIn(inbox: string, ending: string): readonly string[] {
  const names = readdirSync(inbox).filter((name) => name.endsWith(ending))
  return names.toSorted().map((name) => join(inbox, name))
}

function unreadableOf(file: string): string {
  return `${file}.unreadable`
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}
