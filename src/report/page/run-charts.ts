import type { PriceColumns } from '../collect/equity-series.ts'
import type { RunReport } from '../run-report.ts'
import { type ChartOptions, type ChartSeries, renderChart } from './chart.ts'
import { renderSection } from './html.ts'

function frameOf(
  run: RunReport,
  index: number,
): Pick<ChartOptions, 'startAt' | 'stepMs' | 'count' | 'group'> {
  const { startAt, stepMs, close } = run.series
  return { startAt, stepMs, count: close.length, group: `run${index}` }
}

export function renderRunCharts(run: RunReport, index: number, coin: string): string {
  return [
    renderSection('Equity and drawdown', renderEquity(run, index, coin)),
    renderSection(
      'Prices, fills and resting orders',
      Object.keys(run.prices)
        .map((symbol) => renderPrices(run, index, symbol))
        .join(''),
      'A dot is the mean price of what was bought or sold in its stretch of time; the lines are the nearest own orders at its end.',
    ),
    renderSection('Exposure', renderExposure(run, index)),
  ].join('')
}

function renderEquity(run: RunReport, index: number, coin: string): string {
  const frame = frameOf(run, index)
  const { close, low, high, drawdown, buyAndHold } = run.series
  const path = (name: string): string => `runs/${index}/series/${name}`
  const equity = renderChart({
    ...frame,
    title: `Equity, ${coin}`,
    heightPx: 240,
    unit: 'money',
    series: [
      {
        name: 'low to high',
        colour: '--blue',
        kind: 'band',
        values: low,
        upper: high,
      },
      {
        name: 'equity',
        colour: '--blue',
        kind: 'line',
        values: close,
        path: path('close'),
      },
      {
        name: 'buy and hold',
        colour: '--grey',
        kind: 'line',
        values: buyAndHold,
        path: path('buyAndHold'),
      },
    ],
  })
  const under = renderChart({
    ...frame,
    title: 'Below the last peak',
    heightPx: 110,
    unit: 'share',
    series: [
      {
        name: 'drawdown',
        colour: '--red',
        kind: 'area',
        path: path('drawdown'),
        values: drawdown.map((depth) => (Number.isNaN(depth) ? Number.NaN : -depth)),
      },
    ],
  })
  return equity + under
}

function renderPrices(run: RunReport, index: number, symbol: string): string {
  const columns = run.prices[symbol]
  if (columns === undefined) return ''
  const path = (name: string): string => `runs/${index}/prices/${symbol}/${name}`
  const plots = toPlotSeries(run, index, symbol)
  const isBeside = (plot: ChartSeries): boolean => isPriceLike(plot.values, columns)
  const prices = renderChart({
    ...frameOf(run, index),
    title: symbol,
    heightPx: 240,
    unit: 'price',
    series: [
      {
        name: 'low to high',
        colour: '--grey',
        kind: 'band',
        values: columns.low,
        upper: columns.high,
      },
      {
        name: 'price',
        colour: '--grey',
        kind: 'line',
        values: columns.close,
        path: path('close'),
      },
      {
        name: 'resting buy',
        colour: '--teal',
        kind: 'line',
        values: columns.restingBuy,
        path: path('restingBuy'),
      },
      {
        name: 'resting sell',
        colour: '--orange',
        kind: 'line',
        values: columns.restingSell,
        path: path('restingSell'),
      },
      {
        name: 'bought at',
        colour: '--teal',
        kind: 'dots',
        values: columns.boughtAt,
        path: path('boughtAt'),
      },
      {
        name: 'sold at',
        colour: '--orange',
        kind: 'dots',
        values: columns.soldAt,
        path: path('soldAt'),
      },
      ...plots.filter(isBeside),
    ],
  })
  const others = plots.filter((plot) => !isBeside(plot))
  if (others.length === 0) return prices
  const title = `${symbol}, plotted by its strategies`
  const frame = frameOf(run, index)
  return prices + renderChart({ ...frame, title, heightPx: 130, unit: 'number', series: others })
}

const PLOT_COLOURS = ['--violet', '--magenta', '--olive', '--blue']

function toPlotSeries(run: RunReport, index: number, symbol: string): readonly ChartSeries[] {
  return Object.entries(run.plots?.[symbol] ?? {}).map(([name, values], place) => ({
    name,
    colour: PLOT_COLOURS[place % PLOT_COLOURS.length] ?? '--blue',
    kind: 'line',
    values,
    path: `runs/${index}/plots/${symbol}/${place}`,
  }))
}

function isPriceLike(values: ChartSeries['values'], { low, high }: PriceColumns): boolean {
  const known = (column: ChartSeries['values']): number[] =>
    column.filter((value) => value !== null && !Number.isNaN(value)).map(Number)
  const [lowest, highest] = [Math.min(...known(low)), Math.max(...known(high))]
  const plotted = known(values)
  return plotted.every((value) => value >= lowest * 0.5 && value <= highest * 2)
}

function renderExposure(run: RunReport, index: number): string {
  const path = (name: string): string => `runs/${index}/series/${name}`
  return renderChart({
    ...frameOf(run, index),
    title: 'Value of the positions over the equity',
    heightPx: 130,
    unit: 'number',
    series: [
      {
        name: 'long + short',
        colour: '--violet',
        kind: 'area',
        values: run.series.gross,
        path: path('gross'),
      },
      {
        name: 'long - short',
        colour: '--blue',
        kind: 'line',
        values: run.series.net,
        path: path('net'),
      },
    ],
  })
}

const COLOURS = ['--blue', '--orange', '--teal', '--violet', '--magenta', '--olive']

export function renderEquities(
  runs: readonly RunReport[],
  names: readonly string[],
  coin: string,
): string {
  const [first] = runs
  if (first === undefined) return ''
  return renderChart({
    ...frameOf(first, 0),
    title: `Equity, ${coin}`,
    heightPx: 240,
    unit: 'money',
    group: 'all',
    series: runs.map((run, index) => ({
      name: names[index] ?? '',
      kind: 'line',
      values: run.series.close,
      path: `runs/${index}/series/close`,
      colour: COLOURS[index % COLOURS.length] ?? '--blue',
    })),
  })
}

export function renderRolling(run: RunReport, index: number): string {
  const [first] = run.rollingSharpe
  if (first === undefined || run.rollingSharpe.length < 2) return ''
  return renderChart({
    title: 'Sharpe of the last 30 days (per day)',
    heightPx: 120,
    unit: 'number',
    startAt: first.startAt,
    stepMs: 864e5,
    count: run.rollingSharpe.length,
    group: `rolling${index}`,
    series: [
      {
        name: 'mean / sd of daily returns',
        colour: '--blue',
        kind: 'line',
        values: run.rollingSharpe.map(({ value }) => value),
      },
    ],
  })
}
