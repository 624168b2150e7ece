import { dirname } from 'node:path'
import type { FleetAccount } from '../../journal/fleet/fleet-accounts.ts'
import type { KillRequestResult } from '../../journal/postgres/kill-request.ts'
import type { Fleet, FleetReader } from '../../journal/fleet/fleet-reader.ts'
import { messageOf } from '../../lib/failure.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Timers } from '../../lib/timers.ts'
import { age } from '../process/table.ts'
import { HOLDER } from '../operator/server-kill.ts'

const LOOK_MS = 250
/** A supervisor has restarted a writer by then. */
const NOBODY_AFTER_MS = 10_000
/** An account without a writer for so long is not waited for. */
const UNUSED_AFTER_MS = 60_000
const EXIT_NOT_PROVED = 75

export interface KillFleetOptions {
  readonly reader: Pick<FleetReader, 'read' | 'requestKills' | 'isRefusal'>
  readonly order: { readonly reason: string; readonly by: string }
  readonly withinMs: number
  readonly clock: Pick<Clock, 'monotonic'>
  readonly timers: Pick<Timers, 'after'>
  readonly print: (text: string) => void
}

/**
 * `proved` says that nothing rests, `none` that the account never traded, `failed` that no proof
 * will come now.
 */
export interface KillOutcome {
  readonly kind: 'proved' | 'none' | 'waiting' | 'failed'
  readonly text: string
  readonly advice?: string
}

export interface KilledDatabase {
  readonly name: string | undefined
  readonly reader: KillFleetOptions['reader'] & Pick<FleetReader, 'close'>
}

export type KillFleetsOptions = Omit<KillFleetOptions, 'reader'>

export async function killFleets(
  databases: readonly KilledDatabase[],
  options: KillFleetsOptions,
): Promise<number> {
  const codes = databases.map(async ({ name, reader }) => {
    const print = (text: string): void =>
      options.print(name === undefined ? text : `${name}: ${text}`)
    try {
      return await killFleet({ ...options, reader, print })
    } finally {
      await reader.close()
    }
  })
  return Math.max(...(await Promise.all(codes)))
}

/** Only the lease's holder can prove a kill. @returns the exit code */
async function killFleet(options: KillFleetOptions): Promise<number> {
  const { clock, timers, print, withinMs } = options
  const begunAt = clock.monotonic()
  const noted = new Map<string, KillRequestResult>()
  const said = new Map<string, string>()
  const say = (name: string, text: string): void => {
    if (said.get(name) === text) return
    said.set(name, text)
    print(`${name}: ${text}`)
  }
  let fleet: Fleet | undefined
  let trouble: string | undefined
  for (;;) {
    const tookMs = clock.monotonic() - begunAt
    try {
      trouble = await options.reader.requestKills(options.order, noted)
      fleet = await options.reader.read()
    } catch (error) {
      trouble = messageOf(error)
      if (noted.size === 0 && options.reader.isRefusal(error)) return reportRefusal(trouble, print)
    }
    if (trouble !== undefined) say('the server', `it is asked again, since it said: ${trouble}`)
    const outcomes = (fleet?.accounts ?? []).map((account) => ({
      account,
      outcome: judgeKill(account, noted.get(account.schema), tookMs >= NOBODY_AFTER_MS),
    }))
    for (const { account, outcome } of outcomes) say(account.schema, outcome.text)
    const isSettled =
      fleet !== undefined && outcomes.every(({ outcome }) => outcome.kind !== 'waiting')
    if ((isSettled && trouble === undefined) || tookMs >= withinMs)
      return report({ fleet, outcomes, noted, trouble, print })
    await new Promise<void>((resolve) => timers.after(LOOK_MS, resolve))
  }
}

/**
 * @param ordered undefined if the order could not be given yet @param isLate no writer is expected
 * any more
 */
export function judgeKill(
  account: FleetAccount,
  ordered: KillRequestResult | undefined,
  isLate: boolean,
): KillOutcome {
  const { state, kill, holder } = account
  if (state === 'moved' || ordered?.kind === 'moved') return judgeMoved(account)
  if (ordered?.kind === 'refused') {
    const text = `the server takes no order: ${ordered.reason}`
    if (state === 'writes') return { kind: 'failed', text, advice: adviseSilent(holder) }
    return {
      kind: 'failed',
      text: `${text}; nobody writes it: ${describeEnd(account)}`,
      advice: adviseGone(holder),
    }
  }
  if (ordered === undefined || kill === undefined || kill.number < ordered.number)
    return {
      kind: 'waiting',
      text: 'it is ordered',
      advice: 'the order could not be written: say it again',
    }
  if (kill.state === 'clean')
    return {
      kind: 'proved',
      text: `killed: nothing rests, twice confirmed; so says ${kill.answeredBy}`,
    }
  if (kill.state === 'released') {
    const advice = 'it trades: say the kill again, if it is meant'
    return {
      kind: 'failed',
      text: `somebody has released it meanwhile (${kill.answeredBy})`,
      advice,
    }
  }
  if (state === 'new')
    return {
      kind: 'none',
      text: 'nobody has ever traded it; who does is killed before its first order',
    }
  if (state === 'writes') {
    if (kill.state === 'asked')
      return {
        kind: 'waiting',
        text: `ordered; ${holder} hears of it`,
        advice: adviseSilent(holder),
      }
    const advice = 'it goes on; its log and the exchange say how far it is'
    return {
      kind: 'waiting',
      text: `seen by ${kill.answeredBy}; it cancels everything and proves it`,
      advice,
    }
  }
  return judgeWithoutWriter(account, isLate)
}

function judgeMoved({ movedTo = 'elsewhere' }: FleetAccount): KillOutcome {
  const { host, file = '' } = /^(?<host>\S+) (?<file>\/.+)$/.exec(movedTo)?.groups ?? {}
  const advice =
    host === undefined
      ? 'kill it where it is now'
      : `on ${host}: \`intentd kill --state ${dirname(file)}\``
  return { kind: 'failed', text: `its journal was moved to ${movedTo}`, advice }
}

function judgeWithoutWriter(account: FleetAccount, isLate: boolean): KillOutcome {
  const { holder, leaseLeftMs, standbys } = account
  const isUnused = -leaseLeftMs >= UNUSED_AFTER_MS
  const ended = describeEnd(account)
  const advice = adviseGone(holder) + (isUnused ? UNUSED : '')
  const next = standbys.find(({ isFollowing }) => isFollowing)
  if (next)
    return {
      kind: 'waiting',
      advice,
      text: `nobody writes it: ${ended}; ${next.holder} takes over, and obeys before anything trades`,
    }
  return {
    kind: isLate || isUnused ? 'failed' : 'waiting',
    text: `nobody writes it: ${ended}`,
    advice,
  }
}

function describeEnd({ state, holder, leaseLeftMs }: FleetAccount): string {
  const ago = -leaseLeftMs >= UNUSED_AFTER_MS ? ` ${age(-leaseLeftMs)} ago` : ''
  return state === 'ended'
    ? `${holder} has given its lease back${ago}`
    : `the lease of ${holder} ran out${ago}`
}

const UNUSED =
  '. Out of use? Such a journal is named until a kill of it was proved, or its schema is dropped (docs/scaling.md)'

function adviseSilent(holder: string): string {
  const { host, pid, directory } = HOLDER.exec(holder)?.groups ?? {}
  if (host === undefined) return `\`intentd kill\` where ${holder} runs`
  return `on ${host}: \`intentd kill --state ${directory}\`, which needs no database; if pid ${pid} hangs: kill -KILL ${pid}, and start it again`
}

function adviseGone(holder: string): string {
  const { host, directory } = HOLDER.exec(holder)?.groups ?? {}
  const where = host === undefined ? 'where it ran' : `on ${host}`
  const state = directory === undefined ? '' : ` --state ${directory}`
  return `orders may rest: start it, and it obeys before anything trades; or ${where}: \`intentd kill${state}\` cancels from there; or look at the exchange`
}

interface KillReport {
  readonly fleet: Fleet | undefined
  readonly noted: ReadonlyMap<string, KillRequestResult>
  readonly outcomes: readonly { readonly account: FleetAccount; readonly outcome: KillOutcome }[]
  readonly trouble: string | undefined
  readonly print: (text: string) => void
}

/** Repeating would fail the same way, so the trouble is said at once. */
function reportRefusal(trouble: string, print: (text: string) => void): number {
  print(`NOT killed: nothing was ordered, since the server cannot be asked: ${trouble}`)
  print('  mend that and say it again; without the server: `intentd kill` on each machine')
  return EXIT_NOT_PROVED
}

function report({ fleet, outcomes, noted, trouble, print }: KillReport): number {
  if (fleet === undefined) {
    const taken = [...noted.values()].filter(({ kind }) => kind === 'ordered').length
    if (taken === 0) print('NOT killed: the server did not answer, so nothing was ordered')
    else
      print(
        `NOT proved: the server has taken ${taken === 1 ? '1 order, which stands' : `${taken} orders, which stand`}, and did not answer since`,
      )
    print('  without it: `intentd kill` on each machine')
    return EXIT_NOT_PROVED
  }
  if (outcomes.length + fleet.unread.length === 0) {
    print('NOT killed: there is no journal in this database, so nothing was ordered')
    print('  look at its address; without it: `intentd kill` on each machine')
    return EXIT_NOT_PROVED
  }
  const unread = fleet.unread.map(({ schema, reason }) => {
    const taken = noted.get(schema)?.kind === 'ordered' ? '; the order was taken, and stands' : ''
    const advice = '`intentd kill` on the machine that trades it'
    return { schema, outcome: { text: `it cannot be read: ${reason}${taken}`, advice } }
  })
  const open = outcomes
    .filter(({ outcome: { kind } }) => kind === 'waiting' || kind === 'failed')
    .map(({ account: { schema }, outcome }) => ({ schema, outcome }))
  const proved = outcomes.filter(({ outcome }) => outcome.kind === 'proved').length
  print(`proved of ${proved} of ${outcomes.length + unread.length} accounts that nothing rests`)
  for (const { schema, outcome } of [...open, ...unread]) {
    print(`NOT killed: ${schema}: ${outcome.text}`)
    if (outcome.advice !== undefined) print(`  ${outcome.advice}`)
  }
  if (trouble !== undefined) print('the server did not answer last: orders that it has taken stand')
  if (open.length + unread.length > 0) return EXIT_NOT_PROVED
  if (proved > 0) print('each is released by its own `intentd release --reason ...`')
  return trouble === undefined ? 0 : EXIT_NOT_PROVED
}
