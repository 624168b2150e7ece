import { setTimeout as sleep } from 'node:timers/promises'
import { type Random } from '../../src/lib/random.ts'
import { type IntentdProcess } from '../daemon/intentd-process.ts'
import { type Policies } from './scenario.ts'

/** How far a run has come: until it says `recovery.started`, `daemon.running`, `daemon.stopping`, its end. */
export const MOMENTS = ['opening', 'recovering', 'trading', 'stopping'] as const
export type Moment = (typeof MOMENTS)[number]

/** Out of ten runs: where most can be lost, most die. */
const AIMS: readonly Moment[] = [
  'opening',
  ...Array.from({ length: 4 }, () => 'recovering' as const),
  ...Array.from({ length: 4 }, () => 'trading' as const),
  'stopping',
]

export function drawPolicies(random: Random): Policies {
  return {
    onRestart: pick(random, ['cancel', 'adopt']),
    onStop: pick(random, ['leave', 'cancel', 'flatten']),
  }
}

/**
 * Lets a run come somewhere, waits for a while that nobody chose, and kills it.
 * @returns where it was then; undefined when it had stopped in good order before.
 * @throws when it ended in any other way: it has broken.
 */
export async function killSoon(run: IntentdProcess, random: Random): Promise<Moment | undefined> {
  const aim = pick(random, AIMS)
  const came = comeTo(aim, run, random)
  came.catch(() => undefined) // Where nobody waits for it any more, its end is the kill's.
  await Promise.race([came, sleep(COMES_MS_MAX, undefined, { ref: false })])
  await sleep(random.integer(STAYS_MS[aim]))
  const { code } = await run.stop('SIGKILL')
  if (code === null) return momentOf(run)
  if (aim === 'stopping' && code === 0) return undefined
  throw new Error(`a run ended with ${code}: ${run.stderr.slice(-5).join('\n')}`)
}

/** On a busy machine, against an exchange that loses answers, a run may not come far: it is killed where it is. */
const COMES_MS_MAX = 20_000

/** As long as most runs stay there: some are killed a moment later than they were to be, which is as well. */
const STAYS_MS: Readonly<Record<Moment, number>> = {
  opening: 1600,
  recovering: 3500,
  trading: 400,
  stopping: 1500,
}

async function comeTo(aim: Moment, run: IntentdProcess, random: Random): Promise<void> {
  switch (aim) {
    case 'opening':
      return
    case 'recovering':
      await run.untilEvent('recovery.started')
      return
    case 'trading':
      return trade(run, 1 + random.integer(12))
    case 'stopping':
      await trade(run, 1 + random.integer(6))
      run.kill('SIGTERM')
      await run.untilEvent('daemon.stopping')
  }
}

function trade(run: IntentdProcess, orders: number): Promise<void> {
  return run.until(`${orders} orders`, () => run.events('order.sent').length >= orders)
}

function momentOf(run: IntentdProcess): Moment {
  const has = (event: string) => run.events(event).length > 0
  if (has('daemon.stopping')) return 'stopping'
  if (has('daemon.running')) return 'trading'
  return has('recovery.started') ? 'recovering' : 'opening'
}

function pick<Item>(random: Random, items: readonly Item[]): Item {
  const item = items[random.integer(items.length)]
  if (item === undefined) throw new Error('there is nothing to pick from')
  return item
}
