import { cleanLine } from '../../lib/text/clean-text.ts'
import { existsSync } from 'node:fs'
import { type Command, InvalidArgumentError } from 'commander'
import type { ConfigOptions, DaemonConfig } from '../../config/load-config.ts'
import {
  adviseUnclaimed,
  adviseUnclosable,
  type CommandAnswer,
  type ControlCommand,
  isUnwritten,
  postCommand,
  REASON_MAX,
  SCOPE_MAX,
  takeAnswer,
  wasUnreadable,
  describePeak,
  describeRefusedRelease,
  describeStillHeld,
  hasReleased,
} from '../../daemon/account/command-inbox.ts'
import { killFileOf } from '../../assembly/state/kill-switch.ts'
import { readRunningConfig } from '../../assembly/state/running-config.ts'
import { listHolders } from '../../assembly/state/state-directory.ts'
import { MANUAL } from '../../domain/hand-order.ts'
import { listScopes, type Restriction, type Scope } from '../../domain/trading-mode.ts'
import { didYouMeanEnd } from '../../lib/did-you-mean.ts'
import { type RequestedCommand, isRiskier } from '../../control/powers.ts'
import { unreachable } from '../../lib/unreachable.ts'
import { addOperatedOptions, loadOperated } from './operated-config.ts'
import { listPerhapsMeant, type OtherDaemon, shownDefault } from './other-daemons.ts'
import { proposeCommand } from './propose-command.ts'
import {
  adviseServerRelease,
  describeServerKill,
  findServerKill,
  type KilledAccount,
} from './server-kill.ts'
import {
  explainSilence,
  leaveCommand,
  lookFor,
  operatorName,
  print,
  printResult,
} from '../process/operator.ts'
import { middlemanKind } from '../process/middleman.ts'
import { durationOption, repeatOptions } from '../process/options.ts'
import { showUtc } from '../../lib/text/show-utc.ts'
import { toShellWord } from '../../lib/text/shell-word.ts'

const READ_WITHIN_MS = 10_000
const EXIT_NOT_DONE = 1
const EXIT_USAGE = 64
const EXIT_WAITING = 75
/** A writer learns of a kill when it renews its lease, four times in its term. */
const RENEWALS = 4
const UNCONFIGURED =
  'what a strategy holds that is not configured any more nothing closes (position.unattended at the start lists it): put it back, start again and flatten it, or close it by hand'

export interface CommandOptions extends ConfigOptions {
  readonly reason: string
  readonly wait: number
}

type OperatorCommand<Whole = ControlCommand> = Whole extends unknown
  ? Omit<Whole, 'reason' | 'by'>
  : never

const ANY_SCOPE = "an instrument, a strategy (ID or strategy:ID), or '*' for the account"
const SCOPES = {
  '<scope>': ANY_SCOPE,
  '[scope]': ANY_SCOPE,
  '<symbol>': 'an instrument',
}

export function addOperatorCommand(
  program: Command,
  verb: string,
  scope: keyof typeof SCOPES,
): Command {
  return addOperatedOptions(program.command(verb))
    .argument(scope, SCOPES[scope])
    .requiredOption('--reason <text>', 'why; kept in the journal', parseReason)
    .addOption(
      durationOption('--wait <duration>', 'how long to wait for the daemon', READ_WITHIN_MS),
    )
}

export function addUnclaimedOption(command: Command): Command {
  return command.option(
    '--unclaimed',
    'release also where a strategy would order again what no strategy holds; without it that is refused',
  )
}

export interface ReleaseOptions extends CommandOptions {
  readonly unclaimed?: boolean
}

function parseReason(text: string): string {
  if (text !== '' && text.length <= REASON_MAX) return text
  throw new InvalidArgumentError(`write 1 to ${REASON_MAX} characters.`)
}

/**
 * A release without a scope concerns the kill switch.
 * @returns the exit code
 */
export async function commandDaemon(
  given: OperatorCommand,
  options: CommandOptions,
): Promise<number> {
  const config = loadOperated(options)
  const { directory } = config.state
  if (given.scope !== undefined && !isScope(given.scope)) return EXIT_USAGE
  const meant = listPerhapsMeant(config, options)
  if (meant.length > 0) return printChoice(meant, given, options.reason)
  const scopes = scopesAt(config)
  const order = withWholeScope(given, scopes)
  const isKnown = order.scope === undefined || scopes.includes(order.scope)
  // A restricted scope need not be configured any more.
  const isHeld = listHolders(directory).length > 0
  if (!isKnown && (order.kind !== 'release' || !isHeld))
    return printUnconfigured(config, String(order.scope))
  if (!isHeld && order.kind === 'release' && order.scope !== undefined)
    return printUnreleased(directory)
  if (!isHeld && order.kind === 'adopt') return printUnadopted(directory)
  if (!isHeld && order.kind === 'release' && (await isForElsewhere(config, options)))
    return EXIT_WAITING
  const asked = toRequestedCommand(order)
  if (middlemanKind() !== undefined && isRiskier(asked))
    return proposeCommand(config, { order: asked, reason: options.reason })
  const file = leaveCommand(directory, () =>
    postCommand(directory, { ...order, reason: options.reason, by: operatorName() }),
  )
  if (!isHeld) print(`no daemon runs here now (${directory}): waiting for one`)
  const { isObeyed, answer } = await waitFor({ file, order, directory, withinMs: options.wait })
  if (existsSync(file)) {
    if (isUnwritten(file) && listHolders(directory).length > 0) return printUnwritten(file)
    explainSilence(directory)
    print(
      `no daemon has read it yet; the next one that starts here will, unless you remove ${file}`,
    )
    return EXIT_WAITING
  }
  if (answer?.standbyOf !== undefined) return printAtStandby(answer.standbyOf)
  const isOfKill = order.scope === undefined
  if (answer?.isTooOld && !isOfKill) return printTooOld()
  if (answer === undefined && !(isOfKill && isObeyed)) return printNoAnswer(file)
  if (answer && !isKnown && !hasReleased(answer))
    return printUnconfigured(config, String(order.scope))
  return answer && !isOfKill
    ? printAnswer(order, answer, repeatOptions(options))
    : await printOfKill({
        isObeyed,
        answer,
        findOrdered: () => findServerKill(config, options),
        heardWithinMs: (config.journal?.leaseMs ?? 0) / RENEWALS,
      })
}

/** A file for the usual daemon would be obeyed at its next start, which nobody asked for. */
function printChoice(
  others: readonly OtherDaemon[],
  order: OperatorCommand,
  reason: string,
): number {
  const count = others.length === 1 ? 'another daemon' : `${others.length} other daemons`
  printResult(
    `not done, and nothing was left: ${shownDefault()} does not run, and ${count} of this folder ${others.length === 1 ? 'does' : 'do'}. If meant:`,
  )
  for (const { options, words } of others)
    printResult(`  intentd ${toVerb(order)}${options} --reason ${toShellWord(reason)}    ${words}`)
  return EXIT_WAITING
}

function toVerb(order: OperatorCommand): string {
  const scope = order.scope === undefined ? '' : ` ${toShellWord(order.scope)}`
  switch (order.kind) {
    case 'restrict':
      return `mode${scope} ${order.mode}`
    case 'flatten':
      return `flatten${scope}`
    case 'adopt':
      return `adopt${scope} --to ${toShellWord(order.strategy)}`
    case 'release':
      return `release${scope}${order.newPeak ? ' --new-peak' : ''}${order.unclaimed ? ' --unclaimed' : ''}`
    default:
      return unreachable(order)
  }
}

function toRequestedCommand(order: OperatorCommand): RequestedCommand {
  switch (order.kind) {
    case 'restrict':
    case 'flatten':
      return order
    case 'adopt':
      return { kind: 'adopt', symbol: order.scope, strategyId: order.strategy }
    case 'release': {
      const { scope, newPeak, unclaimed } = order
      if (scope === undefined) return { kind: 'releaseKill' }
      return {
        kind: 'release',
        scope,
        ...(newPeak !== undefined && { newPeak }),
        ...(unclaimed !== undefined && { unclaimed }),
      }
    }
    default:
      return unreachable(order)
  }
}

/** Without a daemon here, a kill that stands on the server has to end all the same. */
async function isForElsewhere(config: DaemonConfig, options: CommandOptions): Promise<boolean> {
  const killed = await findServerKill(config, options)
  if (killed === undefined) return false
  const advice = adviseServerRelease(killed, config.state.directory)
  if (advice === undefined) print(describeServerKill(killed))
  else printResult(`not done: ${describeServerKill(killed)}; ${advice}`)
  return advice !== undefined
}

/** Nothing is left for a later daemon, which may have reasons that no person has seen. */
function printUnreleased(directory: string): number {
  print(
    `not done: no daemon runs here (${directory}), and nothing was left for the next one: start it, look at what is restricted then, and release it`,
  )
  return EXIT_WAITING
}

function printUnadopted(directory: string): number {
  print(
    `not done: no daemon runs here (${directory}), and only one that runs knows what no strategy holds`,
  )
  return EXIT_WAITING
}

function printUnwritten(file: string): number {
  print(
    `not confirmed: the daemon acts on it already, and its journal does not have it yet; if the daemon ends first, the next one that starts here reads it again from ${file}, and one on another machine does not know of it`,
  )
  return EXIT_WAITING
}

interface PostedOrder {
  readonly file: string
  readonly order: OperatorCommand
  readonly directory: string
  readonly withinMs: number
}

/** A kill is over when all kill files are gone. */
async function waitFor({ file, order, directory, withinMs }: PostedOrder) {
  const found: { answer?: CommandAnswer | undefined } = {}
  const isObeyed = (): boolean => {
    if (existsSync(file)) return false
    found.answer ??= takeAnswer(file)
    const { killFiles = [killFileOf(directory)], isTooOld } = found.answer ?? {}
    if (isTooOld) return true
    return order.scope !== undefined || !killFiles.some((killFile) => existsSync(killFile))
  }
  const obeyed = await lookFor(() => isObeyed() || undefined, withinMs)
  return { isObeyed: obeyed === true, answer: found.answer }
}

function printAtStandby(writer: string): number {
  const where = writer === '' ? '' : `, which is ${writer}`
  printResult(
    `not done: a standby has read this, and obeys nothing: give it to whoever writes the account${where}`,
  )
  return EXIT_NOT_DONE
}

function printTooOld(): number {
  printResult(
    'not done: the daemon was started after this release was given; look at what is restricted now, and say it again',
  )
  return EXIT_NOT_DONE
}

interface KillRelease {
  readonly isObeyed: boolean
  readonly answer: CommandAnswer | undefined
  readonly findOrdered: () => Promise<KilledAccount | undefined>
  readonly heardWithinMs: number
}

async function printOfKill({
  isObeyed,
  answer,
  findOrdered,
  heardWithinMs,
}: KillRelease): Promise<number> {
  if (answer?.isTooOld) {
    printResult(
      'not done: the kill that stands was thrown after this release was given; say it again, if this kill is to end',
    )
    return EXIT_NOT_DONE
  }
  if (answer?.killFiles.length === 0) {
    const ordered = await findOrdered()
    if (ordered === undefined || ordered.kill.state === 'clean')
      printResult('not done: no kill stands; name the scope that is to be released')
    else
      printResult(
        `not done: ${describeServerKill(ordered)}; the daemon here hears of it within ${Math.ceil(heardWithinMs / 1000)} s: say this again then`,
      )
    printHeld(answer)
    return EXIT_NOT_DONE
  }
  const proof =
    'the daemon has read it, and releases the switch once it is proved that nothing rests'
  printResult(isObeyed ? 'released: the kill switch' : proof)
  return isObeyed ? 0 : EXIT_WAITING
}

function isScope(scope: Scope): boolean {
  if (scope !== '' && scope.length <= SCOPE_MAX) return true
  print(
    `a scope has 1 to ${SCOPE_MAX} characters: an instrument, strategy:ID, or * for the account`,
  )
  return false
}

function scopesAt(config: DaemonConfig): readonly Scope[] {
  // The running daemon may trade a scope that is no longer in the file.
  const running =
    listHolders(config.state.directory).length > 0 ? readRunningConfig(config) : undefined
  return [...scopesOf(config), ...(running ? scopesOf(running) : [])]
}

/** A strategy is named without `strategy:` only where no instrument has its name. */
function withWholeScope(order: OperatorCommand, scopes: readonly Scope[]): OperatorCommand {
  if (order.kind === 'adopt' || order.scope === undefined) return order
  return { ...order, scope: toWholeScope(order.scope, scopes) }
}

function toWholeScope(scope: Scope, scopes: readonly Scope[]): Scope {
  const ofStrategy = `strategy:${scope}`
  return !scopes.includes(scope) && scopes.includes(ofStrategy) ? ofStrategy : scope
}

/** @returns undefined if the scope may exist */
export function objectToScope(scope: Scope, options: ConfigOptions): string | undefined {
  const config = loadOperated(options)
  const scopes = scopesAt(config)
  return scopes.includes(toWholeScope(scope, scopes)) ? undefined : wordUnconfigured(config, scope)
}

function wordUnconfigured(config: DaemonConfig, scope: Scope): string {
  const scopes = scopesOf(config)
  return `not in this configuration: ${scope}${didYouMeanEnd(scope, scopes)}\nscopes: ${scopes.join(', ')}`
}

function printUnconfigured(config: DaemonConfig, scope: Scope): number {
  print(wordUnconfigured(config, scope))
  if (scope.startsWith('strategy:')) print(UNCONFIGURED)
  return EXIT_USAGE
}

function scopesOf({ instruments, strategies, manual }: DaemonConfig): readonly Scope[] {
  const ids = strategies.filter(({ enabled }) => enabled).map(({ id }) => id)
  if (manual !== undefined) ids.push(MANUAL)
  return listScopes(Object.keys(instruments), ids)
}

function printNoAnswer(file: string): number {
  if (wasUnreadable(file)) {
    print(
      'not done: the daemon could not read the command; does it run as another user? Its log says why',
    )
    return EXIT_NOT_DONE
  }
  print('the daemon took the command and left no answer; its log says what it did')
  return EXIT_WAITING
}

function printAnswer(order: OperatorCommand, answer: CommandAnswer, repeated: string): number {
  const { kind, scope } = order
  const { held, lifted } = answer
  if (kind === 'adopt') return printAdoption(order, answer)
  const code = kind === 'flatten' ? 'flatten' : 'operator'
  const own = held.find((one) => one.scope === scope && one.code === code)
  const mode = kind === 'restrict' ? order.mode : 'halted'
  const isDone =
    kind === 'release' ? hasReleased(answer) : !answer.isScopeUnknown && own?.mode === mode
  if (isDone && kind === 'flatten')
    printResult('obeyed; its log says flatten.done when nothing is left to close')
  else if (!isDone && kind === 'release')
    printResult(describeRefusedRelease(String(scope), [answer], repeated))
  else if (!isDone && own && !answer.isScopeUnknown)
    printResult(
      `not done: a restriction never loosens; \`intentd release ${toShellWord(scope ?? '')}${repeated} --reason ...\` first`,
    )
  else if (!isDone)
    printResult(`not done: the daemon runs with another configuration, without ${scope}`)
  for (const advice of adviseUnclosable(answer.unclosable)) printResult(advice)
  for (const restriction of lifted) printResult(`lifted: ${wordsOf(restriction)}`)
  if (isDone) for (const sentence of describePeak(answer)) printResult(sentence)
  for (const sentence of describeStillHeld(answer)) printResult(sentence)
  if (answer.orderedAgain === undefined)
    for (const advice of adviseUnclaimed(answer, repeated)) printResult(advice)
  printHeld(answer)
  return isDone ? 0 : EXIT_NOT_DONE
}

function printAdoption(
  order: Extract<OperatorCommand, { kind: 'adopt' }>,
  answer: CommandAnswer,
): number {
  const { scope, strategy } = order
  const { refusal, beyondLimit } = answer
  if (refusal !== undefined) printResult(`not done: ${refusal}`)
  else printResult(`done: ${strategy} holds now what no strategy held of ${scope}`)
  if (refusal === undefined && beyondLimit !== undefined) printResult(beyondLimit)
  return refusal === undefined ? 0 : EXIT_NOT_DONE
}

function printHeld({ held }: CommandAnswer): void {
  for (const restriction of held) printResult(`held: ${wordsOf(restriction)}`)
}

function wordsOf({ scope, mode, code, reason, by, at }: Restriction): string {
  return cleanLine(`${scope} ${mode} since ${showUtc(at)} (${code}): ${reason}, by ${by}`)
}
