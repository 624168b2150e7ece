import { type Command, InvalidArgumentError, Option } from 'commander'
import { type ConfigOptions, PAPER_CONFIG } from '../../config/config-request.ts'
import { isDatabaseInClear, objectToDatabase } from '../../config/server-checks.ts'
import type { Problem } from '../../config/yaml/problem.ts'
import { toShellWord } from '../../lib/text/shell-word.ts'

const UNITS_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
}

/** `500ms`, `30s`, `5m`, `2h`, `1d`. */
export function parseDuration(text: string): number {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(text)
  const unit = UNITS_MS[match?.[2] ?? '']
  if (!match || unit === undefined)
    throw new InvalidArgumentError('write a duration such as 500ms, 30s, 5m or 2h.')
  return Number(match[1]) * unit
}

export function durationOption(flags: string, what: string, defaultMs: number): Option {
  return new Option(flags, what)
    .argParser(parseDuration)
    .default(defaultMs, describeDuration(defaultMs))
}

function describeDuration(ms: number): string {
  const [unit, one] = Object.entries(UNITS_MS).findLast(([, size]) => ms % size === 0) ?? ['ms', 1]
  return `${ms / one}${unit}`
}

export function parseSpeed(text: string): number {
  const speed = Number(text)
  if (!(speed > 0 && speed <= 10_000))
    throw new InvalidArgumentError('write a number above 0, at most 10000.')
  return speed
}

export function parsePort(text: string): number {
  const port = Number(text)
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new InvalidArgumentError('write a port, 0 to 65535.')
  return port
}

export function parseCount(text: string): number {
  const count = Number(text)
  if (!Number.isSafeInteger(count) || count < 0 || text === '')
    throw new InvalidArgumentError('write a whole number.')
  return count
}

/** The option's parser would show the value, and so a password, in its errors (SEC1). */
export function assertDatabase(command: Command, flags: string, url: string | undefined): void {
  if (url === undefined) return
  const objection = objectToDatabase(url) ?? objectToClearText(url)
  if (objection !== undefined) command.error(`error: option '${flags}': ${objection}`)
}

/** Such an address has no settings beside it, so the choice is part of it. */
function objectToClearText(url: string): string | undefined {
  if (!isDatabaseInClear(url) || new URL(url).searchParams.get('sslmode') === 'disable')
    return undefined
  return 'this is another machine: write sslmode=verify-full behind the address, which checks the certificate, or sslmode=disable, and nothing is encrypted'
}

export function listOption(flags: string, what: string): Option {
  return new Option(flags, `${what}; may be given again`)
    .argParser((text: string, before: readonly string[]) => [...before, text])
    .default([], 'none')
}

export function addConfigOptions(command: Command, shipped = PAPER_CONFIG): Command {
  return command
    .option('-c, --config <file>', `the configuration (default: ${shipped})`)
    .addOption(listOption('--set <path=value>', 'override a setting of the main file'))
}

export function addParamOption(command: Command): Command {
  return command.addOption(
    listOption('--param <strategy.param=value>', 'override a parameter of a strategy'),
  )
}

/**
 * `check` for a daemon's files, `simulate` for the simulator's, which gets only the file since it
 * would start. Refused options are left out.
 */
export function adviseAgain(words: readonly string[], problems: readonly Problem[] = []): string {
  const refused = new Set(problems.flatMap(({ refusedWords = [] }) => refusedWords))
  const named = namedFile(words)
  const isRefused = named !== undefined && refused.has(named)
  if (words[0] === 'simulate')
    return `Start again with: intentd simulate${repeatOptions({ config: isRefused ? undefined : named, set: [] })}`
  const config = isRefused ? 'MAIN_FILE' : named
  const rest = repeatOptions({ config, set: valuesOf(words, '--set') })
  const params = valuesOf(words, '--param').map((param) => ` --param ${toShellWord(param)}`)
  const isPlayed = ['run', 'standby', 'check'].includes(words[0] ?? '')
  const played = ['--market', '--speed']
    .filter((option) => isPlayed && !refused.has(option))
    .flatMap((option) => valuesOf(words, option).map((value) => ` ${option} ${toShellWord(value)}`))
  return `Check again with: intentd check${[rest, ...params, ...played].join('')}`
}

export function repeatOptions({ config, set, state }: ConfigOptions): string {
  const words = [
    ...(config === undefined ? [] : ['-c', config]),
    ...set.flatMap((one) => ['--set', one]),
    ...(state === undefined ? [] : ['--state', state]),
  ]
  return words.map((word) => ` ${toShellWord(word)}`).join('')
}

function namedFile(words: readonly string[]): string | undefined {
  const at = words.findLastIndex((word) => /^(-c|--config)/.test(word))
  const [, inOne] = /^(?:--config=|-c=?)(.+)$/.exec(words[at] ?? '') ?? []
  if (at >= 0) return inOne ?? words[at + 1]
  // backtest, sweep and the like name the file without an option.
  return words
    .slice(1)
    .find((word, index) => /\.ya?ml$/.test(word) && words[index]?.startsWith('--') !== true)
}

function valuesOf(words: readonly string[], option: string): readonly string[] {
  return words.flatMap((word, index) => (index > 0 && words[index - 1] === option ? [word] : []))
}
