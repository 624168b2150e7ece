/** A price or size is a count of steps, which is exact, and a dozen times faster than a decimal. */
export interface Grid {
  readonly step: string
  readonly decimals: number
  readonly units: number
  readonly scale: number
}

const PLAIN_DECIMAL = /^(-?)(\d+)(?:\.(\d+))?$/

/** @throws when the step is not a positive plain decimal such as `0.1`, `5` or `0.00025` */
export function createGrid(step: string): Grid {
  const match = PLAIN_DECIMAL.exec(step)
  const fraction = (match?.[3] ?? '').replace(/0+$/, '')
  const units = Number((match?.[2] ?? '') + fraction)
  if (!match || match[1] === '-' || !(units > 0) || !Number.isSafeInteger(units)) {
    throw new RangeError(`a step must be a positive decimal such as 0.1, got "${step}"`)
  }
  return { step, decimals: fraction.length, units, scale: 10 ** fraction.length }
}

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

/** Counts up to here have exact products with the step. */
export function stepsMax(grid: Grid): number {
  return Math.floor(Number.MAX_SAFE_INTEGER / grid.units)
}

/** It never throws, for texts that people read. */
export function showOnGrid(grid: Grid, steps: number): string {
  const isWritable = Number.isInteger(steps) && Math.abs(steps) <= stepsMax(grid)
  return isWritable ? formatOnGrid(grid, steps) : `${steps} times ${grid.step}`
}

/** Undefined if the text is no number, or not on the grid. */
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

export function floatOnGrid(grid: Grid, steps: number): number {
  return (steps * grid.units) / grid.scale
}

/** Exact for floats parsed from texts on the grid. */
export function nearestStep(grid: Grid, value: number): number {
  return Math.round((value * grid.scale) / grid.units)
}

/** A float this near to a grid line counts as on it. */
const GRID_NOISE_STEPS = 1e-6

export function stepBelow(grid: Grid, value: number): number {
  return Math.floor((value * grid.scale) / grid.units + GRID_NOISE_STEPS)
}

export function stepAbove(grid: Grid, value: number): number {
  return Math.ceil((value * grid.scale) / grid.units - GRID_NOISE_STEPS)
}
