export interface PlotPoint {
  readonly symbol: string
  readonly name: string
  readonly value: number
}

export const PLOT_NAMES_MAX = 8
const PLOT_NAME_LENGTH_MAX = 24

export function isPlotName(name: unknown): name is string {
  return (
    typeof name === 'string' &&
    name !== '' &&
    name.length <= PLOT_NAME_LENGTH_MAX &&
    name.isWellFormed() &&
    !/[\p{Cc}\u2028\u2029]|^\s|\s$/u.test(name)
  )
}
