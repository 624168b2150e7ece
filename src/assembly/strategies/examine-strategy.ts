import type { Problem } from '../../config/yaml/problem.ts'
import type { SourceCopy, YamlSource } from '../../config/yaml/yaml-source.ts'
import { formatInterval } from '../../domain/candles.ts'
import type { Instrument } from '../../domain/instrument.ts'
import { messageOf } from '../../lib/failure.ts'
import { SupervisedThread, type ThreadEnd } from '../../lib/supervised-thread.ts'
import type { ResolvedNeeds } from '../../strategy/needs.ts'
import { strategyFailure } from '../../strategy/strategy-failure.ts'
import { describeStray, readNeeds } from './read-code.ts'

/** Loading the program and then a file may take so long. */
const BEGIN_MS_MAX = 60_000
const LOAD_MS_MAX = 25_000
const MEMORY_MB = 512

export interface ExaminationTask {
  readonly moduleFile: string
  readonly source: SourceCopy
  readonly instruments: readonly (Omit<Instrument, 'notionalMin'> & {
    readonly notionalMin: string
  })[]
}

export type Examination =
  | { readonly name: string; readonly params: unknown; readonly needs: ResolvedNeeds }
  | { readonly problems: readonly Problem[] }

export type ExaminationNews =
  | { readonly kind: 'begun' }
  | {
      readonly kind: 'examined'
      readonly examination: Examination
      readonly strays: readonly string[]
    }

interface ExaminedFile {
  readonly moduleFile: string
  readonly source: YamlSource
  readonly instruments: readonly Instrument[]
}

/** Never throws. */
export async function examineStrategy({
  moduleFile,
  source,
  instruments,
}: ExaminedFile): Promise<Examination> {
  const task: ExaminationTask = {
    moduleFile,
    source: source.copy(),
    instruments: instruments.map((one) => ({ ...one, notionalMin: one.notionalMin.toString() })),
  }
  const news = await askThread(task)
  if (typeof news === 'string') return { problems: [source.problem(['module'], news)] }
  const strays = news.strays.map((text) => source.problem(['module'], describeStray(text)))
  const { examination } = news
  if ('problems' in examination) return { problems: [...examination.problems, ...strays] }
  if (strays.length > 0) return { problems: strays }
  const needs = readAgain(examination.name, examination.needs)
  if (typeof needs === 'string') return { problems: [source.problem(['params'], needs)] }
  return { ...examination, needs }
}

/** Checks the answer again, because a strategy may have tampered with our checks in its thread. */
function readAgain(
  name: string,
  { candles, indicators, decides }: ResolvedNeeds,
): ResolvedNeeds | string {
  const counts = [...candles].map(
    ([intervalMs, count]) => [formatInterval(intervalMs), count] as const,
  )
  const needs = { candles: Object.fromEntries(counts), indicators }
  return readNeeds({ name, needs, ...(decides && { decides }) }, undefined)
}

type ExaminationResult = Extract<ExaminationNews, { kind: 'examined' }>

async function askThread(task: ExaminationTask): Promise<ExaminationResult | string> {
  let examined: ExaminationResult | undefined
  const thread = new SupervisedThread<ExaminationNews>({
    file: './examination-thread',
    askedBy: import.meta.url,
    task,
    patienceMs: BEGIN_MS_MAX,
    isByCpu: true,
    growthMb: MEMORY_MB,
    onNews(news) {
      if (news.kind === 'examined') examined = news
      else thread.wait(LOAD_MS_MAX)
    },
  })
  const end = await thread.ended
  return examined ?? describeEnd(end, task.moduleFile)
}

function describeEnd(end: ThreadEnd, file: string): string {
  if (end.kind === 'late') return endless(file)
  if (end.kind === 'grown') return `it takes more than ${MEMORY_MB} MB of memory while it is loaded`
  if (end.kind === 'failed') return `it failed while it was being loaded: ${messageOf(end.error)}`
  return 'it ended its thread while it was being loaded'
}

function endless(file: string): string {
  return strategyFailure('STRATEGY_IMPORT_HANGS', {
    facts: { file },
    hint: 'look for an endless loop outside of decide, or an `await` at the top of the file that never ends',
  }).message
}
