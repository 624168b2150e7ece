import { type StopPolicy } from '../../../src/engine/event.ts'
import { unreachable } from '../../../src/lib/unreachable.ts'
import { cancelOwn, tradeByApi } from './api-trader.ts'
import { MARKET_STEP_MS } from '../virtual/virtual-exchange.ts'
import { type OutagePlan } from '../faults/outages.ts'
import { type World } from '../world/world.ts'
import { type WorldPlan } from '../world/world-plan.ts'

type Jump = WorldPlan['jumps'][number]

/** Maximum duration of a stop before the quiet. */
const STOP_MS = 15_000
/** 00, 08 and 16 UTC. */
const FUNDING_MS = 8 * 3_600_000
/** An order is matched within this time. */
const MATCHED_MS = 200
/** A longer outage goes on at a slower pace. */
const BRISK_MS = 200_000
/** After an outage everything is resolved within this time. */
const HEALED_MS = 20_000
const STOP_POLICIES: readonly StopPolicy[] = ['leave', 'cancel', 'flatten']

export function passMonths(world: World): void {
  for (const [index, jump] of world.plan.jumps.entries()) {
    pass(world, jump.burstMs)
    if (isOver(world)) return
    if (jump.outage) passOutage(world, jump.outage)
    passQuiet(world, jump, index)
  }
}

/**
 * Nothing else goes wrong during an outage and for a while after it, until its remains are
 * resolved.
 */
function passOutage(world: World, outage: OutagePlan): void {
  const { network, faults, quiet, time } = world
  const isQuiet = faults.isQuiet
  faults.isQuiet = () => true
  network.outages.begin(outage)
  pass(world, Math.min(outage.forMs, BRISK_MS))
  if (network.outages.isOn) quiet.slowDown(network.outages.until - time.now)
  while (network.outages.isOn && !isOver(world)) {
    pass(world, Math.min(nextStepMs(world), network.outages.until - time.now))
    play(world)
  }
  pass(world, HEALED_MS)
  faults.isQuiet = isQuiet
}

function passQuiet(world: World, { quietMs, looks, way }: Jump, index: number): void {
  const { time, quiet, facts } = world
  prepare(world, { quietMs, way }, index)
  play(world)
  quiet.begin({ forMs: Math.max(quietMs, facts.restUntil - time.now), looks, way })
  pass(world, MARKET_STEP_MS)
  while (quiet.isOn && !isOver(world)) {
    pass(world, nextStepMs(world))
    play(world)
    if (!quiet.isBetweenLooks) continue
    tradeByApi(world)
    pass(world, MATCHED_MS)
    play(world)
  }
  cancelOwn(world)
}

/** Until the market moves or a holding pays funding, so that each payment is seen. */
function nextStepMs({ quiet, time, exchange }: World): number {
  const [isHolding] = exchange.truth.positions
  const stepMs = quiet.stretchStep(MARKET_STEP_MS, time.now)
  return isHolding ? Math.min(stepMs, FUNDING_MS - (time.now % FUNDING_MS)) : stepMs
}

/**
 * Steps of the market are seen when they happen: the exchange forgets ended orders after 20
 * minutes.
 */
function play({ exchange, process }: World): void {
  process.settleJournal()
  exchange.core.carryOut(exchange.now, () => undefined)
}

function prepare(
  world: World,
  { quietMs, way }: Pick<Jump, 'quietMs' | 'way'>,
  index: number,
): void {
  const { time, process, facts, faults } = world
  switch (way) {
    case 'trading':
    case 'idle':
      return
    case 'asleep':
      return process.sleep(quietMs)
    case 'down':
      facts.restUntil = time.now + quietMs
      return process.kill()
    case 'stopped':
      if (!process.isAlive || facts.isStopping) return
      facts.restUntil = time.now + STOP_MS + quietMs
      facts.isStopping = true
      process.stop(
        STOP_POLICIES[faults.delayMs('months/stop', 0, STOP_POLICIES.length, index)] ?? 'leave',
      )
      return time.runUntil(time.now + STOP_MS, () => !process.isAlive || isOver(world))
    default:
      return unreachable(way)
  }
}

function pass(world: World, forMs: number): void {
  world.time.runUntil(world.time.now + forMs, () => isOver(world))
}

function isOver({ violations }: World): boolean {
  return violations.length > 0
}
