import { isDeepStrictEqual } from 'node:util'
import type { Instrument } from '../../domain/instrument.ts'
import { messageOf } from '../../lib/failure.ts'
import { SupervisedThread, type ThreadEnd } from '../../lib/supervised-thread.ts'
import type { Strategy } from '../define-strategy.ts'
import { checkPurity, type PurityCheck } from './check-purity.ts'

const LIMIT_MS = 10_000
const LOAD_MS_MAX = 90_000
const MEMORY_MB = 512

export interface Binding {
  readonly name: string
  readonly strategy?: Strategy
  readonly isGuarded: boolean
  readonly moduleFile: string
  readonly params: unknown
  readonly instruments: readonly Instrument[]
}

export interface PurityData {
  readonly isGuarded: boolean
  /** Folders whose code is not loaded without the guard. */
  readonly drafts: readonly string[]
  readonly bindings: readonly {
    readonly moduleFile: string
    readonly params: unknown
    readonly instruments: readonly (Omit<Instrument, 'notionalMin'> & {
      readonly notionalMin: string
    })[]
  }[]
}

export type PurityNews =
  | { readonly kind: 'begun' }
  | { readonly kind: 'checked'; readonly check: PurityCheck }

interface PurityOptions {
  readonly limitMs?: number
  readonly drafts?: readonly string[]
}

/** A strategy that exceeds the limit, ends its thread or fills the memory has a problem. */
export async function checkPurities(
  bindings: readonly Binding[],
  { limitMs = LIMIT_MS, drafts = [] }: PurityOptions = {},
): Promise<readonly PurityCheck[]> {
  const checks: PurityCheck[] = []
  while (checks.length < bindings.length) {
    const rest = bindings.slice(checks.length)
    const [next] = rest as [Binding]
    const { strategy, params, instruments } = next
    if (strategy === undefined || isPlain(params))
      checks.push(...(await checkInThread(rest, { limitMs, drafts })))
    else checks.push(checkPurity(strategy, params, instruments))
  }
  return checks
}

function isPlain(params: unknown): boolean {
  try {
    return isDeepStrictEqual(structuredClone(params), params)
  } catch {
    return false
  }
}

function checkInThread(
  bindings: readonly Binding[],
  { limitMs, drafts }: Required<PurityOptions>,
): Promise<readonly PurityCheck[]> {
  const isGuarded = bindings[0]?.isGuarded ?? true
  const end = bindings.findIndex((one) => one.isGuarded !== isGuarded || !isPlain(one.params))
  const crossing = end < 0 ? bindings : bindings.slice(0, end)
  const task: PurityData = {
    isGuarded,
    drafts,
    bindings: crossing.map(({ moduleFile, params, instruments }) => ({
      moduleFile,
      params,
      instruments: instruments.map((one) => ({
        ...one,
        notionalMin: one.notionalMin.toString(),
      })),
    })),
  }
  return watch(task, { names: crossing.map(({ name }) => name), limitMs })
}

async function watch(
  task: PurityData,
  { names, limitMs }: { readonly names: readonly string[]; readonly limitMs: number },
): Promise<readonly PurityCheck[]> {
  const checks: PurityCheck[] = []
  let waitedMs = LOAD_MS_MAX
  const thread = new SupervisedThread<PurityNews>({
    file: './purity-thread',
    askedBy: import.meta.url,
    task,
    patienceMs: waitedMs,
    isByCpu: true,
    growthMb: MEMORY_MB,
    onNews(news) {
      if (news.kind === 'checked') checks.push(news.check)
      waitedMs = news.kind === 'begun' ? limitMs : LOAD_MS_MAX
      thread.wait(waitedMs)
    },
  })
  const problem = describeEnd(await thread.ended, waitedMs)
  const name = names[checks.length]
  if (name !== undefined) checks.push({ problems: [`${name} ${problem}`], failing: [], notes: [] })
  return checks
}

function describeEnd(end: ThreadEnd, waitedMs: number): string {
  if (end.kind === 'late')
    return `did not come back on made-up prices within ${waitedMs / 1000} s; look for an endless loop`
  if (end.kind === 'grown') return `takes more than ${MEMORY_MB} MB of memory on made-up prices`
  if (end.kind === 'failed') return `failed on made-up prices: ${messageOf(end.error)}`
  return 'ended its thread on made-up prices; a strategy may not end anything'
}
