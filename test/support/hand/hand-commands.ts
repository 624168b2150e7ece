import { MANUAL } from '../../../src/domain/hand-order.ts'
import { ACCOUNT, strategyScope } from '../../../src/domain/trading-mode.ts'
import { type EngineCommand } from '../../../src/engine/event.ts'
import { formatOnGrid } from '../../../src/lib/grid.ts'
import { createRandom, type Random } from '../../../src/lib/random.ts'
import { pick } from '../world/world-plan.ts'
import { capitalOf, type World, type WorldWatcher } from '../world/world.ts'

/** As shares of the price: further away than a world's prices go, and inside the collar. */
const EXIT_SHARES = [0.004, 0.006, 0.008] as const
/** Amounts of money that are moved, margin coin: small beside the capital. */
const AMOUNTS = ['0.5', '5', '-0.5', '-5'] as const
/** A withdrawal that would leave nothing. */
const TOO_MUCH = 5

interface Named {
  readonly symbol: string
  readonly key: string
  readonly reason: string
  readonly by: string
}

/** @param order an ordinary order by hand */
export function drawHandCommand(
  world: Pick<World, 'plan' | 'exchange' | 'settings' | 'facts'>,
  random: Random,
  { order, ...named }: Named & { readonly order: Extract<EngineCommand, { kind: 'order' }> },
): EngineCommand {
  const { plan } = world
  const { symbol, ...source } = named
  const owners = [...plan.strategies.map(({ id }) => id), MANUAL].map(strategyScope)
  const scope = pick(random, [ACCOUNT, ...plan.symbols, ...owners, strategyScope(MANUAL)])
  const share = pick(random, [0.3, 0.5, 0.8, 1])
  const close: EngineCommand = { kind: 'close', scope, share, ...source }
  const withExits = addExits(world, random, order)
  return pick<EngineCommand>(random, [
    withExits,
    withExits,
    withExits,
    withExits,
    order,
    close,
    { kind: 'cancel', what: pick(random, [symbol, MANUAL]), ...source },
    drawDeposit(world, random, source),
    drawDeposit(world, random, source),
    {
      kind: 'release',
      scope: ACCOUNT,
      newPeak: random.integer(2) === 0,
      unclaimed: true,
      ...source,
    },
  ])
}

function addExits(
  { exchange }: Pick<World, 'exchange'>,
  random: Random,
  order: Extract<EngineCommand, { kind: 'order' }>,
): EngineCommand {
  const grid = exchange.instruments.find(({ symbol }) => symbol === order.symbol)?.priceGrid
  if (grid === undefined || order.reduceOnly === true) return order
  const price = exchange.priceOf(order.symbol)
  const level = (way: number): string =>
    formatOnGrid(grid, Math.round(price * (1 + way * pick(random, EXIT_SHARES))))
  const way = order.side === 'buy' ? 1 : -1
  return {
    ...order,
    stopLoss: level(-way),
    ...(random.integer(3) === 0 && { takeProfit: level(way) }),
  }
}

/** A part of them is in another coin, which no limit counts. */
function drawDeposit(
  world: Pick<World, 'settings' | 'facts'>,
  random: Random,
  source: Omit<Named, 'symbol'>,
): EngineCommand {
  const tooMuch = String(-Math.round(TOO_MUCH * capitalOf(world)))
  const amount = pick(random, [...AMOUNTS, tooMuch, tooMuch])
  const coin = random.integer(6) === 0 ? { coin: 'BTC' } : {}
  return { kind: 'deposit', amount, ...coin, ...source }
}

/** Soon after a process has begun, before it has read everything. */
const BORN_MS_MAX = 1200

/** The person gives commands as soon as a process is there. */
export function commandAtBirth(world: World, command: (random: Random) => void): WorldWatcher {
  const { plan, faults, time } = world
  if (plan.isOfHands !== true) return {}
  let births = 0
  return {
    onBirth() {
      const random = createRandom(`${plan.seed}/birth/${births++}`)
      for (let index = 0; index < 3; index++)
        time.after(random.integer(BORN_MS_MAX), () => {
          if (faults.isOn) command(random)
        })
    },
  }
}
