import { resolve } from 'node:path'
import process from 'node:process'
import type { ConfigDocuments, DaemonConfig } from '../../config/load-config.ts'
import { type CheckedSection, checkSection } from '../../config/yaml/checked-file.ts'
import type { Problem } from '../../config/yaml/problem.ts'
import type { YamlSource } from '../../config/yaml/yaml-source.ts'
import type { Instrument } from '../../domain/instrument.ts'
import { Failure, headlineOf, messageOf } from '../../lib/failure.ts'
import { systemTimers } from '../../lib/timers.ts'
import type { Strategy } from '../../strategy/define-strategy.ts'
import { type ResolvedNeeds, resolveNeeds } from '../../strategy/needs.ts'
import { checkBinding, fileOfCode, loadStrategy } from '../../strategy/load-strategy.ts'
import { describeThrown, runAsStrategy, strategyAtFault } from '../../strategy/strategy-failure.ts'

interface CodeReading {
  readonly strategy: Strategy
  readonly params: unknown
  readonly needs: ResolvedNeeds
}

export async function readCode(
  moduleFile: string,
  source: YamlSource,
  instruments: readonly Instrument[],
): Promise<CodeReading | { readonly problems: readonly Problem[] }> {
  let strategy: Strategy
  try {
    strategy = await loadStrategy(moduleFile)
  } catch (error) {
    return { problems: [source.problem(['module'], messageOf(error))] }
  }
  const section = readParams(strategy, source)
  if (!section.ok) return { problems: section.problems }
  const params: unknown = section.value
  const objections = checkBinding({ strategy, params, instruments })
  if (objections.length > 0)
    return { problems: objections.map((text) => source.problem(['params'], text)) }
  const needs = readNeeds(strategy, params)
  if (typeof needs === 'string') return { problems: [source.problem(['params'], needs)] }
  return { strategy, params, needs }
}

/** The schema may run the strategy's code, which may throw. */
function readParams(strategy: Strategy, source: YamlSource): CheckedSection<unknown> {
  try {
    return runAsStrategy(strategy.name, () => checkSection(source, strategy.params, ['params']))
  } catch (error) {
    const text = `the schema of the strategy's params threw: ${describeThrown(error)}; ${SCHEMA_HINT}`
    return { ok: false, problems: [source.problem(['params'], text)] }
  }
}

const SCHEMA_HINT =
  'it has to be synchronous, and says what it does not take with ctx.addIssue or refine'

export function readNeeds(
  strategy: Parameters<typeof resolveNeeds>[0],
  params: unknown,
): ResolvedNeeds | string {
  try {
    return resolveNeeds(strategy, params)
  } catch (error) {
    const found = error instanceof Failure ? error.facts['found'] : undefined
    return found === undefined ? messageOf(error) : `${headlineOf(error)}: ${found}`
  }
}

export interface Strays {
  problemsOf(config: DaemonConfig, documents: ConfigDocuments): readonly Problem[]
}

const HINT = 'a strategy starts nothing of its own: take timers and promises out of its file'

export function describeStray(thrown: string): string {
  return `the strategy failed while it was being loaded: ${thrown}; ${HINT}`
}

export function catchStrays(): Strays {
  const caught = new Map<string, unknown>()
  const hear = (error: unknown): void => {
    const name = strategyAtFault()
    if (name !== undefined) caught.set(fileOfCode(name), error)
    else if (process.listenerCount('uncaughtException') === 1) {
      // Without this listener the error ends the process, as usual.
      process.off('uncaughtException', hear)
      systemTimers.after(0, () => {
        throw error
      })
    }
  }
  process.on('uncaughtException', hear)
  return {
    problemsOf({ strategies }, documents) {
      process.off('uncaughtException', hear)
      return strategies.flatMap(({ id, moduleFile }) => {
        const file = resolve(moduleFile)
        const source = caught.has(file) ? documents.strategies.get(id) : undefined
        const text = describeStray(describeThrown(caught.get(file)))
        return source === undefined ? [] : [source.problem(['module'], text)]
      })
    },
  }
}
