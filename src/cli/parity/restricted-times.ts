import type { JournalRecord } from '../../domain/record.ts'
import { ACCOUNT, type Restriction, type Scope, strategyScope } from '../../domain/trading-mode.ts'
import { applyRecord } from '../../engine/book/apply-record.ts'
import { type Book, createBook } from '../../engine/book/book.ts'

export interface RestrictedTime extends Pick<Restriction, 'scope' | 'mode' | 'code'> {
  readonly fromAt: number
  /** Infinite if it lasted to the end. */
  readonly toAt: number
}

/** Volatile restrictions are not recorded. */
export class RestrictedTimes {
  readonly #ended: RestrictedTime[] = []
  readonly #open = new Map<string, RestrictedTime>()
  #book: Book = createBook('one_way_mode')

  get times(): readonly RestrictedTime[] {
    return [...this.#ended, ...this.#open.values()].toSorted(
      (one, other) => one.fromAt - other.fromAt,
    )
  }

  begin(book: Book, at: number): void {
    this.#book = book
    this.#follow(at)
  }

  recorded(record: JournalRecord): void {
    if (record.kind !== 'restricted' && record.kind !== 'released') return
    applyRecord(this.#book, record)
    this.#follow(record.at)
  }

  #follow(at: number): void {
    const { restrictions } = this.#book
    for (const [key, time] of this.#open) {
      if (restrictions.get(key)?.mode === time.mode) continue
      this.#open.delete(key)
      this.#ended.push({ ...time, toAt: at })
    }
    for (const [key, { scope, mode, code }] of restrictions) {
      if (this.#open.has(key)) continue
      this.#open.set(key, { scope, mode, code, fromAt: at, toAt: Number.POSITIVE_INFINITY })
    }
  }
}

export interface AloneTime extends RestrictedTime {
  readonly where: string
}

/** Two runs judge losses and obey releases at different moments. */
const APART_MS_MAX = 10_000

export function findAloneTimes(
  recorded: readonly RestrictedTime[],
  played: readonly RestrictedTime[],
): readonly AloneTime[] {
  const alone = [
    ...recorded
      .flatMap((time) => restsOf(time, played))
      .map((time) => ({ ...time, where: 'the recorded run' })),
    ...played
      .flatMap((time) => restsOf(time, recorded))
      .map((time) => ({ ...time, where: 'the backtest' })),
  ]
  return alone.toSorted((one, other) => one.fromAt - other.fromAt)
}

/** All of it if the other run has none, else what exceeds the tolerance. */
function restsOf(
  time: RestrictedTime,
  others: readonly RestrictedTime[],
): readonly RestrictedTime[] {
  const { scope, mode, code, fromAt, toAt } = time
  const shared = others.filter(
    (other) =>
      other.scope === scope &&
      other.mode === mode &&
      other.code === code &&
      other.fromAt < toAt &&
      fromAt < other.toAt,
  )
  if (shared.length === 0) return [time]
  const cut = (rest: RestrictedTime, other: RestrictedTime): readonly RestrictedTime[] => [
    { ...rest, toAt: Math.min(rest.toAt, other.fromAt) },
    { ...rest, fromAt: Math.max(rest.fromAt, other.toAt) },
  ]
  return shared
    .reduce<readonly RestrictedTime[]>(
      (rests, other) => rests.flatMap((rest) => cut(rest, other)),
      [time],
    )
    .filter((rest) => rest.toAt - rest.fromAt > APART_MS_MAX)
}

const TIMES_SHOWN = 20

export function describeTimes(name: string, times: readonly RestrictedTime[]): readonly string[] {
  return [
    ...times.slice(0, TIMES_SHOWN).map((time) => `${name} restricted: ${textOf(time)}`),
    ...(times.length > TIMES_SHOWN
      ? [`${name} restricted: and ${times.length - TIMES_SHOWN} times more`]
      : []),
  ]
}

function textOf({ scope, mode, code, fromAt, toAt }: RestrictedTime): string {
  const end = toAt === Number.POSITIVE_INFINITY ? 'its end' : new Date(toAt).toISOString()
  return `${scope} ${mode} (${code}) from ${new Date(fromAt).toISOString()} to ${end}`
}

export interface ConcernedParts {
  readonly at: number
  readonly symbols: readonly string[]
  readonly strategies: readonly string[]
}

export function explainByRestriction(
  alone: readonly AloneTime[],
  { at, symbols, strategies }: ConcernedParts,
): string | undefined {
  const scopes = new Set<Scope>([ACCOUNT, ...symbols, ...strategies.map(strategyScope)])
  const first = alone.find(({ scope, fromAt }) => fromAt <= at && scopes.has(scope))
  return first && `${first.where} alone was restricted before: ${textOf(first)}`
}
