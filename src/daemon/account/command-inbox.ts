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
import type { PeakRelease } from '../../engine/lifecycle/release-drawdown.ts'
import { systemClock } from '../../lib/clock.ts'
import { randomHex } from '../../lib/entropy.ts'
import { messageOf } from '../../lib/failure.ts'
import { makeDirectory } from '../../lib/durable-file.ts'
import { describeCaller, describeFile } from '../../control/access/verified-caller.ts'
import { adviseRest } from '../../views/unattended.ts'
import { parseBoundedJson } from '../../lib/text/bounded-json.ts'

/** Commands that are looked at in one round; the rest waits for the next. */
const COMMANDS_MAX = 20
const COMMAND_BYTES_MAX = 4096
const COMMAND = '.json'
const ANSWER = '.answer'
/** Answers that nobody fetched; the oldest go first. */
const ANSWERS_MAX = 20
/** Of a reason, and of a scope, in characters. */
export const REASON_MAX = 500
export const SCOPE_MAX = 100

const ordered = { reason: z.string().min(1).max(REASON_MAX), by: z.string().min(1).max(200) }
/** An instrument, `strategy:ID`, or `*` for the account. */
const scope = z.string().min(1).max(SCOPE_MAX)

/** What an operator asks of a daemon from another process. */
const commandSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('restrict'),
    scope,
    mode: z.enum(['reducing', 'halted']),
    ...ordered,
  }),
  z.strictObject({ kind: z.literal('flatten'), scope, ...ordered }),
  /** What no strategy holds of the instrument goes to that strategy. */
  z.strictObject({ kind: z.literal('adopt'), scope, strategy: scope, ...ordered }),
  /** Without a scope the kill switch is released. */
  z.strictObject({
    kind: z.literal('release'),
    scope: scope.optional(),
    newPeak: z.boolean().optional(),
    unclaimed: z.boolean().optional(),
    ...ordered,
  }),
])

export type ControlCommand = z.infer<typeof commandSchema>

/** What a command has come to: every restriction that is held now, and those that it ended. */
export interface CommandAnswer {
  readonly held: readonly Restriction[]
  readonly lifted: readonly Restriction[]
  /** The files that kill here, gone when the kill is released; none where no kill stood when the command was read. */
  readonly killFiles: readonly string[]
  /** What is still held where a flatten was ended before it was done, by strategy and instrument. */
  readonly stillHeld: Readonly<Record<string, string>>
  /** The start has not read yet what was filled since the last run: `stillHeld` is what that one knew. */
  readonly isStarting?: true
  /** Whether it named a scope that is not configured, and so was refused. */
  readonly isScopeUnknown: boolean
  /** What a flatten does not close: of strategies that are not configured there any more. */
  readonly unclosable: Readonly<Record<string, string>>
  /** What no strategy holds in the scope of a release, by instrument. */
  readonly unclaimed?: Readonly<Record<string, string>>
  /** Why an adoption was refused; absent where it was not. */
  readonly refusal?: string
  /** That a strategy holds more than its limit with what it has taken over; absent where it does not. */
  readonly beyondLimit?: string
  /** Unix ms: a release came before then, and ended nothing (`risk.losses.coolDownMs`). */
  readonly coolsDownUntil?: number | undefined
  /** A release did this to the peaks of a drawdown, or why it was refused. */
  readonly peak?: PeakRelease
  /** By instrument: a release was refused, because a strategy would order this again. */
  readonly orderedAgain?: Readonly<Record<string, string>>
  /** The kill that stands was thrown, or the daemon was started, after this release was given: it ended nothing. */
  readonly isTooOld?: true
  /** A standby has read it, which obeys nothing: who writes the account, as the lease names it. */
  readonly standbyOf?: string
}

/** What a command that is not obeyed has come to: nothing, and why. */
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

/**
 * Why a release has ended nothing, in words.
 * @param configOption What a command needs to address the daemon's configuration: ` -c live.yaml`.
 */
export function describeRefusedRelease(
  named: string,
  answers: readonly CommandAnswer[],
  configOption: string,
): string {
  const until = answers.flatMap(({ coolsDownUntil }) => coolsDownUntil ?? [])
  const beyond = answers.flatMap(({ peak }) => (peak?.closesBelow === undefined ? [] : [peak]))
  if (beyond[0]) return describeBeyond(named, beyond[0])
  const again = answers.flatMap(({ orderedAgain }) => Object.entries(orderedAgain ?? {}))
  if (again.length > 0) return describeOrderedAgain(named, again, configOption)
  if (until.length === 0) return `not done: nothing that a release ends holds ${named}`
  const at = new Date(Math.max(...until)).toISOString()
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

/** From where the steps of a drawdown count after a release, in sentences. */
export function describePeak({ peak }: CommandAnswer): readonly string[] {
  if (peak === undefined || peak.closesBelow !== undefined) return []
  const { from, to, below, limits, lastUsed } = peak
  const moved = `counts from ${to} now, ${below} below the peak of ${from}`
  if (lastUsed === undefined) return [`peak: every step of the drawdown ${moved}: ${limits}`]
  return [
    `peak: the drawdown ${moved}; its last step, flatten, still counts from ${from}, and ${lastUsed} of it is used: ${limits}`,
  ]
}

/** What is still held of a flatten that a release has ended, in sentences. */
export function describeStillHeld({ stillHeld, isStarting }: CommandAnswer): readonly string[] {
  const asOf = isStarting ? ', as the last run knew it: what was filled since is being read' : ''
  return Object.entries(stillHeld).map(
    ([holder, size]) =>
      `the flatten was not done, and nothing closes it any more: ${holder} ${size}${asOf}`,
  )
}

/** What to do about what no flatten closes, in sentences. */
export function adviseUnclosable(unclosable: CommandAnswer['unclosable']): readonly string[] {
  return Object.entries(unclosable).map(
    ([holder, size]) =>
      `no flatten closes ${holder} ${size}, which is not configured any more: put the strategy back with that instrument, start again and flatten it, or close it by hand`,
  )
}

/**
 * What to do about what no strategy holds, in sentences.
 * @param configOption What a command needs to address the daemon's configuration: ` -c live.yaml`.
 */
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

/** Leaves a command for the daemon of a state directory, running or to come. Returns its file, gone when it was read. */
export function postCommand(directory: string, command: ControlCommand): string {
  const inbox = inboxOf(directory)
  makeDirectory(inbox, 0o700)
  const file = join(inbox, `${nextPlace(inbox)}-${command.kind}-${randomHex(8)}${COMMAND}`)
  const text = JSON.stringify(commandSchema.parse(command))
  try {
    writeFileSync(`${file}.new`, text, { mode: 0o600 })
    renameSync(`${file}.new`, file)
  } catch (error) {
    // A full disk takes the name of a file, and not its text.
    rmSync(`${file}.new`, { force: true })
    throw error
  }
  return file
}

/** Names are sorted: each begins with the time, Unix ms, or with a later number than those that wait already. */
function nextPlace(inbox: string): number {
  const last = Number.parseInt(basename(filesIn(inbox, COMMAND).at(-1) ?? ''), 10)
  return Math.max(systemClock.now(), Number.isNaN(last) ? 0 : last + 1)
}

/** Those that no daemon has read yet: `flatten BTCUSDT, by anna@host: enough`. */
export function listWaiting(directory: string): readonly string[] {
  try {
    return filesIn(inboxOf(directory), COMMAND).map(describeWaiting)
  } catch {
    return [] // Nobody ever left one here.
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

/** What the daemon has left for whoever posted that command, if it has; it is gone then. */
export function takeAnswer(file: string): CommandAnswer | undefined {
  try {
    const text = readFileSync(`${file}${ANSWER}`, 'utf8')
    rmSync(`${file}${ANSWER}`)
    return parseBoundedJson(text) as CommandAnswer
  } catch {
    return undefined
  }
}

/** Whether the daemon could not read that command, and has set it aside. */
export function wasUnreadable(file: string): boolean {
  return existsSync(unreadableOf(file))
}

export interface CommandInboxOptions {
  readonly directory: string
  /** Obeys; undefined when nobody can now: then the command waits. `givenAt`: Unix ms, clock of the machine. */
  readonly onCommand: (command: ControlCommand, givenAt: number) => CommandAnswer | undefined
  /** A file that is no command; it is set aside. */
  readonly onUnreadable: (file: string, reason: string) => void
}

/**
 * Commands that reach the daemon as files, so that they need no port, and wait for one that does not run yet.
 * Only the owner of the state directory can leave one. A command is removed after it has been obeyed: one that
 * is read twice, around a crash, changes nothing the second time.
 */
export class CommandInbox {
  readonly #options: CommandInboxOptions
  readonly #inbox: string
  /** What could neither be read nor set aside: it is not looked at again, and was logged once. */
  readonly #stuck = new Set<string>()

  /** Makes the place, so that it belongs to the daemon whoever leaves the first command. */
  constructor(options: CommandInboxOptions) {
    this.#options = options
    this.#inbox = inboxOf(options.directory)
    this.#try(this.#inbox, () => makeDirectory(this.#inbox, 0o700))
    // Whoever gave the commands of a run before has gone without their answers.
    this.#try(this.#inbox, () => removeAnswers(this.#inbox, 0))
  }

  /** Reads what has come in, in the order in which it came. One that cannot be read holds no other up. */
  empty(): void {
    const files = this.#try(this.#inbox, () => filesIn(this.#inbox, COMMAND)) ?? []
    for (const file of files.filter((one) => !this.#stuck.has(one)).slice(0, COMMANDS_MAX)) {
      const given = this.#read(file)
      const answer = given && this.#options.onCommand(given.command, given.at)
      if (answer === undefined) continue
      leaveAnswer(file, answer)
      this.#try(file, () => rmSync(file, { force: true }))
    }
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
      // Whoever left it has taken it back.
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

/** Where there is no room for an answer the log alone says what has happened. */
function leaveAnswer(file: string, answer: CommandAnswer): void {
  try {
    removeAnswers(dirname(file), ANSWERS_MAX)
    writeFileSync(`${file}${ANSWER}`, JSON.stringify(answer), { mode: 0o600 })
  } catch {}
}

/** The oldest go first. */
function removeAnswers(inbox: string, kept: number): void {
  const answers = filesIn(inbox, ANSWER)
  for (const old of answers.slice(0, Math.max(0, answers.length - kept)))
    rmSync(old, { force: true })
}

/** In the order in which they came. @throws where the inbox cannot be looked into. */
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
