import { didYouMean } from '../lib/did-you-mean.ts'
import type { ReadableFile } from './cross-checks.ts'
import type { DaemonFile } from './schema/daemon-schema.ts'
import type { StrategyFile } from './schema/strategy-schema.ts'
import type { Problem } from './yaml/problem.ts'
import type { PartialSettings } from './yaml/salvage.ts'

/** A minute's signals times the minutes for which they are kept. */
const IDS_MAX = 10_000

const OWN_FIELDS = ['secretField', 'idField', 'timeField'] as const

export function checkSignals({ source, settings }: ReadableFile<DaemonFile>): Problem[] {
  const { signals, control } = settings
  if (signals === undefined) return []
  const variables = new Map<string, string>()
  const problems: Problem[] = []
  const { port } = signals
  if (port !== undefined && port !== 0 && port === control?.port)
    problems.push(
      source.problem(['signals', 'port'], `${port} is the port of control: take another one`),
    )
  for (const [name, signal] of Object.entries(signals.accept ?? {})) {
    if (signal === undefined) continue
    const path = ['signals', 'accept', name]
    const { secretVariable: variable, perMinute = 0, windowMs = 0, fields = {} } = signal
    const other = variable === undefined ? undefined : variables.get(variable)
    if (other !== undefined)
      problems.push(
        source.problem(
          [...path, 'secretVariable'],
          `${other} has the same: each signal has a secret of its own`,
        ),
      )
    if (variable !== undefined) variables.set(variable, name)
    const ids = Math.ceil((perMinute * windowMs) / 60_000)
    if (ids > IDS_MAX)
      problems.push(
        source.problem(
          [...path, 'windowMs'],
          `${ids} signals could come within it, and ${IDS_MAX} are remembered: shorten it, or lower perMinute`,
        ),
      )
    const taken = new Set(Object.keys(fields))
    for (const own of OWN_FIELDS) {
      const field = signal[own]
      if (field === undefined) continue
      if (taken.has(field))
        problems.push(
          source.problem(
            [...path, own],
            `${field} has another meaning already: name another field`,
          ),
        )
      taken.add(field)
    }
    for (const [field, spec] of Object.entries(fields)) {
      if (spec?.type !== 'number' || spec.min === undefined || spec.max === undefined) continue
      if (spec.min > spec.max)
        problems.push(
          source.problem([...path, 'fields', field, 'max'], `${spec.max} is below min ${spec.min}`),
        )
    }
  }
  return problems
}

/** A signal must be taken by the main file, and have no feed's name. */
export function checkReadSignals(
  { source, settings }: ReadableFile<StrategyFile>,
  { signals }: PartialSettings<DaemonFile>,
): Problem[] {
  const listed = Object.keys(signals?.accept ?? {})
  const feeds = Object.keys(settings.feeds ?? {})
  const seen = new Set<string>()
  return (settings.signals ?? []).flatMap((name, index) => {
    if (name === undefined) return []
    const problem = (message: string) => [source.problem(['signals', index], message)]
    const isSecond = seen.has(name)
    seen.add(name)
    if (isSecond) return problem(`${name} is named twice`)
    if (feeds.includes(name)) return problem(`${name} is the name of a feed too: rename the feed`)
    if (listed.includes(name)) return []
    const guess = didYouMean(name, listed)
    const hint =
      listed.length === 0
        ? 'it takes none'
        : guess === undefined
          ? `those taken are ${listed.join(', ')}`
          : `did you mean ${guess}?`
    return problem(`${name} is not listed under signals.accept of the main file; ${hint}`)
  })
}
