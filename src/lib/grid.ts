/**
 * A grid of decimal numbers: every multiple of one step, such as 0.1 or 0.005.
 *
 * A value on the grid is held as the integer count of steps (a price in ticks, a size in lots): exact on
 * plain numbers, and a dozen times faster than a decimal library. Strings exist only on the wire.
 */
export interface Grid {
  /** The step as written, for example `0.5`. */
  readonly step: string
  /** Decimals of the step: 1 for `0.5`. */
  readonly decimals: number
  /** The step times 10^decimals: 5 for `0.5`. */
  readonly units: number
  /** 10^decimals. */
  readonly scale: number
}

const PLAIN_DECIMAL = /^(-?)(\d+)(?:\.(\d+))?$/

/** @throws when the step is not a positive plain decimal such as `0.1`, `5` or `0.00025`. */
export function createGrid(step: string): Grid {
  const match = PLAIN_DECIMAL.exec(step)
  const fraction = (match?.[3] ?? '').replace(/0+$/, '')
  const units = Number((match?.[2] ?? '') + fraction)
  if (!match || match[1] === '-' || !(units > 0) || !Number.isSafeInteger(units)) {
    throw new RangeError(`a step must be a positive decimal such as 0.1, got "${step}"`)
  }
  return { step, decimals: fraction.length, units, scale: 10 ** fraction.length }
}

/** Steps as a decimal string without trailing zeros: `1234.5`. Exact. */
export function formatOnGrid(grid: Grid, steps: number): string {
  const units = Math.abs(steps) * grid.units
  if (!Number.isSafeInteger(units))
    throw new RangeError(`${steps} steps of ${grid.step} are out of range`)
  const sign = steps < 0 ? '-' : ''
  const digits = String(units).padStart(grid.decimals + 1, '0')
  const whole = digits.slice(0, digits.length - grid.decimals)
  const fraction = digits.slice(digits.length - grid.decimals).replace(/0+$/, '')
  return sign + whole + (fraction === '' ? '' : `.${fraction}`)
}

/** The largest count of steps that {@link formatOnGrid} writes, and that a product with the step holds exactly. */
export function stepsMax(grid: Grid): number {
  return Math.floor(Number.MAX_SAFE_INTEGER / grid.units)
}

/** For people: as {@link formatOnGrid}, and never a throw, whatever was counted. */
export function showOnGrid(grid: Grid, steps: number): string {
  const isWritable = Number.isInteger(steps) && Math.abs(steps) <= stepsMax(grid)
  return isWritable ? formatOnGrid(grid, steps) : `${steps} times ${grid.step}`
}

/** Reads a decimal string that must lie on the grid; `undefined` when it does not, or is no number. Exact. */
export function parseOnGrid(grid: Grid, text: string): number | undefined {
  const match = PLAIN_DECIMAL.exec(text)
  if (!match) return undefined
  const fraction = (match[3] ?? '').replace(/0+$/, '')
  if (fraction.length > grid.decimals) return undefined
  const units = Number((match[2] ?? '') + fraction.padEnd(grid.decimals, '0'))
  if (!Number.isSafeInteger(units) || units % grid.units !== 0) return undefined
  const steps = units / grid.units
  return match[1] === '-' && steps !== 0 ? -steps : steps
}

/** Steps as a float, for indicators and display. */
export function floatOnGrid(grid: Grid, steps: number): number {
  return (steps * grid.units) / grid.scale
}

/**
 * The nearest step to a float that stands for a value written on the grid. Market data arrives as floats
 * that were parsed from such texts, and this undoes it exactly.
 */
export function nearestStep(grid: Grid, value: number): number {
  return Math.round((value * grid.scale) / grid.units)
}

/** How far a float may stand from a grid line and still be taken for it: far below half a step. */
const GRID_NOISE_STEPS = 1e-6

/** The largest step at or below the float; a float within 1e-6 step of a grid line counts as on it. */
export function stepBelow(grid: Grid, value: number): number {
  return Math.floor((value * grid.scale) / grid.units + GRID_NOISE_STEPS)
}

/** The smallest step at or above the float; a float within 1e-6 step of a grid line counts as on it. */
export function stepAbove(grid: Grid, value: number): number {
  return Math.ceil((value * grid.scale) / grid.units - GRID_NOISE_STEPS)
}
