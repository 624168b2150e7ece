import type { LoadedConfig } from '../../config/load-config.ts'
import type { PlayedPrices } from '../../config/market-files.ts'
import type { Problem } from '../../config/yaml/problem.ts'
import { toInstruments } from '../../assembly/settings/engine-settings.ts'
import { toLiquidationSettings } from '../../assembly/settings/engine-settings.ts'
import { isInverse } from '../../domain/instrument.ts'
import { distanceTo, findLiquidationPrices, type Legs } from '../../risk/liquidation.ts'
import { findKnownPrices } from './position-values.ts'

/**
 * The whole capital backs a crossed position, so its value decides. Isolated margin is judged by
 * leverage.
 */
export async function warnOfLargePositions(
  loaded: LoadedConfig,
  played: PlayedPrices,
): Promise<readonly Problem[]> {
  const { config, documents } = loaded
  const { steps, rules } = toLiquidationSettings(config)
  if (steps === undefined || config.account.marginMode !== 'crossed') return []
  const capital = Number(config.account.capital ?? config.simulator?.startingBalance)
  const prices = await findKnownPrices(loaded, played)
  return [...toInstruments(config).values()].flatMap((instrument) => {
    const { symbol } = instrument
    const owners = config.strategies.filter(
      ({ enabled, instruments }) => enabled && instruments.includes(symbol),
    )
    const ofInstrument = rules.get(symbol)
    if (owners.length === 0) return []
    const place = (message: string): Problem =>
      documents.main.problemOfKey(['instruments', symbol], message)
    const missing = [
      ...(Number.isNaN(capital) ? ['account.capital'] : []),
      ...(ofInstrument === undefined ? [`instruments.${symbol}.maintenance`] : []),
    ]
    // In the live environment another warning asks for both.
    if (missing.length > 0 || ofInstrument === undefined)
      return config.environment === 'live'
        ? []
        : [
            place(
              `how far its positions begin from a liquidation is not known without ${missing.join(' and ')}: risk.liquidation only warns`,
            ),
          ]
    const price = prices.get(symbol)
    const largest = largestOf(config.risk, {
      capital,
      price,
      owners,
      isInverse: isInverse(instrument),
    })
    if (largest === undefined)
      return [
        place(
          'how far its largest position begins from a liquidation is not known without a price, or positionNotionalMax of its strategies',
        ),
      ]
    const at = price ?? 1
    const distanceOf = (value: number): number =>
      distanceAtOpening({
        value,
        price: at,
        behind: capital,
        rules: ofInstrument,
        isInverse: isInverse(instrument),
      })
    const distance = distanceOf(largest)
    if (distance >= steps.reduce) return []
    const most = findMost(largest, (value) => distanceOf(value) >= steps.reduce)
    const percent = (share: number): string => `${(share * 100).toFixed(1)} %`
    return [
      place(
        `its largest position by the limits, worth ${show(largest)}, begins ${percent(distance)} from its liquidation on a capital of ${show(capital)} ${config.account.marginCoin}, and risk.liquidation.reduce is ${percent(steps.reduce)}: what makes it larger than about ${show(most)} is denied (LIQUIDATION_NEAR); lower positionMax or positionNotionalMax of its strategies, or the steps`,
      ),
    ]
  })
}

interface LimitBasis {
  readonly capital: number
  readonly price: number | undefined
  readonly owners: LoadedConfig['config']['strategies']
  readonly isInverse: boolean
}

function largestOf(
  { grossNotionalMax, leverageMax = Number.POSITIVE_INFINITY }: LoadedConfig['config']['risk'],
  { capital, price, owners, isInverse: inBase }: LimitBasis,
): number | undefined {
  let sum = 0
  for (const { risk } of owners) {
    const bySize =
      price === undefined || risk.positionMax === undefined
        ? Number.POSITIVE_INFINITY
        : Number(risk.positionMax) * price
    sum += Math.min(bySize, Number(risk.positionNotionalMax ?? Number.POSITIVE_INFINITY))
  }
  // The capital of an inverse contract is in its base coin.
  const byLeverage = leverageMax * capital * (inBase ? (price ?? Number.NaN) : 1)
  if ((inBase && price === undefined) || !Number.isFinite(sum)) return undefined
  return Math.min(sum, Number(grossNotionalMax), byLeverage)
}

interface Opening extends Pick<Legs, 'behind' | 'rules' | 'isInverse'> {
  readonly value: number
  readonly price: number
}

function distanceAtOpening({ value, price, ...of }: Opening): number {
  const distances = (['long', 'short'] as const).map((holdSide) => {
    const legs = [{ holdSide, size: value / price, entryPrice: price }]
    const { below, above } = findLiquidationPrices({ ...of, legs }, price)
    return distanceTo(holdSide === 'long' ? below : above, price)
  })
  return Math.min(...distances)
}

function findMost(largest: number, passes: (value: number) => boolean): number {
  let [low, high] = [0, largest]
  for (let step = 0; step < HALVINGS; step++) {
    const middle = (low + high) / 2
    if (passes(middle)) low = middle
    else high = middle
  }
  return low
}

const HALVINGS = 40

const show = (amount: number): string =>
  amount.toLocaleString('en-US', { maximumSignificantDigits: 4 })
