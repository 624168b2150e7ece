import type { ReadableFile } from './cross-checks.ts'
import type { DaemonFile } from './schema/daemon-schema.ts'
import type { StrategyFile } from './schema/strategy-schema.ts'
import type { Problem } from './yaml/problem.ts'
import type { PartialSettings } from './yaml/salvage.ts'

type Strategy = ReadableFile<StrategyFile>

/** Keys that a strategy with a universe must not have, and others must. */
const SIZES = ['positionMax', 'orderSizeMax'] as const

const SIZE = 'a decimal above zero such as "0.001"'

/** A strategy names its instruments, or a rule chooses them and limits fit all. */
export function checkUniverse(strategy: Strategy, daemon: PartialSettings<DaemonFile>): Problem[] {
  const { source } = strategy
  if (!source.has(['universe'])) return checkNamed(strategy)
  return [...checkLimits(strategy), ...checkAccount(strategy, daemon)]
}

function checkNamed({ source, settings }: Strategy): Problem[] {
  const missing = SIZES.filter((name) => source.has(['risk']) && !source.has(['risk', name]))
  const hasNone = settings.instruments?.length === 0
  const problems = missing.map((name) =>
    source.problemOfKey(['risk'], `the key "${name}" is missing: expected ${SIZE}`),
  )
  if (!source.has(['instruments']))
    problems.push(
      source.problemOfKey(
        [],
        'the key "instruments" is missing: expected a list, or universe with a rule that chooses them',
      ),
    )
  else if (hasNone)
    problems.push(
      source.problem(
        ['instruments'],
        'expected at least one symbol, or universe with a rule that chooses them',
      ),
    )
  return problems
}

function checkLimits({ source }: Strategy): Problem[] {
  const written = SIZES.filter((name) => source.has(['risk', name]))
  const problems = written.map((name) =>
    source.problemOfKey(
      ['risk', name],
      'a size in the base coin means another amount on each instrument of a universe: remove it, positionNotionalMax limits them all',
    ),
  )
  if (!source.has(['risk', 'positionNotionalMax']) && source.has(['risk']))
    problems.push(
      source.problemOfKey(
        ['risk'],
        'a universe needs positionNotionalMax: the largest position on each of its instruments, in the quote coin',
      ),
    )
  return problems
}

function checkAccount(
  { source, settings }: Strategy,
  { exchange, simulator, environment, risk }: PartialSettings<DaemonFile>,
): Problem[] {
  const problems: Problem[] = []
  const isEmbedded = simulator !== undefined && exchange?.baseUrl === undefined
  if (!isEmbedded && environment !== undefined && exchange?.beyondDocument === false)
    problems.push(
      source.problemOfKey(
        ['universe'],
        'needs the contracts of the exchange, which the document has no call for: set exchange.beyondDocument: true in the main file',
      ),
    )
  if (!isEmbedded && risk?.survives !== undefined)
    problems.push(
      source.problemOfKey(
        ['universe'],
        'risk.survives of the main file needs the maintenance of every instrument, and the exchange does not state it for those that a rule chooses: remove one of the two',
      ),
    )
  const both = settings.universe?.exclude?.filter(
    (name) => name !== undefined && settings.universe?.include?.includes(name),
  )
  return [
    ...problems,
    ...(both ?? []).map((name) =>
      source.problem(['universe', 'include'], `${name} is excluded as well: it is never chosen`),
    ),
  ]
}
