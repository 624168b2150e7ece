import {
  AreaSeries,
  CandlestickSeries,
  ColorType,
  createChart,
  createSeriesMarkers,
  LineSeries,
  LineStyle,
} from 'lightweight-charts'
import { useEffect, useRef } from 'preact/hooks'
import { drawdownsOf } from './drawdowns.js'
import { html } from './parts.js'

const MINUTES_WEST = new Date().getTimezoneOffset()

function chartTime(at) {
  return Math.floor(at / 1000) - 60 * MINUTES_WEST
}

function colours() {
  const style = getComputedStyle(document.documentElement)
  const read = (name) => style.getPropertyValue(name).trim()
  return {
    text: read('--soft'),
    edge: read('--edge'),
    accent: read('--accent'),
    up: read('--gain'),
    down: read('--loss'),
    fill: read('--accent-fill'),
    clear: read('--accent-clear'),
    lossFill: read('--loss-fill'),
    lossClear: read('--loss-clear'),
  }
}

function optionsOf({ text, edge }) {
  return {
    autoSize: true,
    // The licence's attribution is at the foot of the page.
    layout: {
      attributionLogo: false,
      background: { type: ColorType.Solid, color: 'transparent' },
      textColor: text,
      fontSize: 12,
      fontFamily: 'system-ui, sans-serif',
      panes: { separatorColor: edge, enableResize: false },
    },
    grid: { vertLines: { visible: false }, horzLines: { color: edge } },
    rightPriceScale: { borderVisible: false, entireTextOnly: true },
    timeScale: { borderVisible: false, timeVisible: true, secondsVisible: true },
    handleScroll: { mouseWheel: false, vertTouchDrag: false },
    handleScale: { mouseWheel: false },
  }
}

/** Colours are part of a chart, so a change recreates it. */
function useChart(build, draw, inputs) {
  const place = useRef(null)
  const drawn = useRef(undefined)
  const make = (element) => {
    const palette = colours()
    const chart = createChart(element, optionsOf(palette))
    drawn.current = { chart, ...build(chart, palette) }
    draw(drawn.current)
  }
  const remove = () => {
    drawn.current?.chart.remove()
    drawn.current = undefined
  }
  const latest = useRef(make)
  latest.current = make
  useEffect(() => {
    // If colours and screen change together, the reference is empty; this element is not.
    const element = place.current
    if (element === null) return
    const scheme = matchMedia('(prefers-color-scheme: dark)')
    const again = () => {
      remove()
      latest.current(element)
    }
    make(element)
    scheme.addEventListener('change', again)
    return () => {
      scheme.removeEventListener('change', again)
      remove()
    }
  }, [])
  useEffect(() => {
    if (drawn.current) draw(drawn.current)
  }, inputs)
  return place
}

function toPoints(at, values) {
  const points = []
  for (const [index, instant] of at.entries()) {
    const value = values[index]
    const time = chartTime(instant)
    if (value === null || value === undefined || points.at(-1)?.time >= time) continue
    points.push({ time, value })
  }
  return points
}

/** Half a time label on each side, which would be cut at the edge of the chart. */
const LABEL_PX = 32

function fitWithLabels(timeScale, count) {
  const free = timeScale.width() - 2 * LABEL_PX
  if (count === 0) return
  if (free <= 2 * LABEL_PX || count === 1) return timeScale.fitContent()
  const margin = ((count - 1) * LABEL_PX) / free
  timeScale.setVisibleLogicalRange({ from: -margin, to: count - 1 + margin })
}

/**
 * @param gains what was made: a fall of the lower curve is a loss, and no withdrawal
 * @param peak highest gain before the first, if known
 */
export function CurveChart({ at, values, gains, peak, label }) {
  const place = useChart(
    (chart, { accent, fill, clear, down, lossFill, lossClear }) => {
      const price = { priceLineVisible: false, priceFormat: { type: 'price', precision: 2, minMove: 0.01 } }
      const curve = chart.addSeries(AreaSeries, {
        ...price,
        lineColor: accent,
        topColor: fill,
        bottomColor: clear,
        lineWidth: 2,
      })
      const under = chart.addSeries(
        AreaSeries,
        {
          ...price,
          lineColor: down,
          topColor: lossClear,
          bottomColor: lossFill,
          lineWidth: 1,
          invertFilledArea: true,
          lastValueVisible: false,
        },
        1,
      )
      chart.panes()[0].setStretchFactor(3)
      chart.panes()[1].setStretchFactor(1)
      // The price scale takes its room after the range was set.
      chart.applyOptions({ timeScale: { lockVisibleTimeRangeOnResize: true } })
      return { curve, under }
    },
    ({ chart, curve, under }) => {
      const points = toPoints(at, values)
      curve.setData(points)
      const drawdowns = drawdownsOf(gains, peak)
      const falls = drawdowns.some((one) => one < 0) ? toPoints(at, drawdowns) : []
      under.setData(falls)
      fitWithLabels(chart.timeScale(), Math.max(points.length, falls.length))
    },
    [at, values],
  )
  return html`<div class="chart" ref=${place} role="img" aria-label=${label}></div>`
}

const STATES_MARKED = { unknown: '? ', quarantined: '? ', queued: '… ', sent: '… ' }
const LINES_MAX = 60
/** Candles that fill the width: most and least. */
const CANDLES_SHOWN = 180
const CANDLES_LEAST = 40
const NEAREST = 3

/** @param orders resting ones, with `isDisplaced` after another strategy's cancel-all */
export function CandleChart({ candles, orders, fills, plots, digits, label }) {
  const place = useChart(
    (chart, { up, down }) => {
      const series = chart.addSeries(CandlestickSeries, {
        priceLineStyle: LineStyle.Solid,
        upColor: 'transparent',
        borderUpColor: up,
        wickUpColor: up,
        downColor: down,
        borderDownColor: down,
        wickDownColor: down,
        priceFormat: { type: 'price', precision: digits, minMove: 10 ** -digits },
      })
      const markers = createSeriesMarkers(series, [])
      const near = { prices: [] }
      series.applyOptions({ autoscaleInfoProvider: (original) => widen(original(), near.prices) })
      return {
        chart,
        series,
        markers,
        near,
        lines: new Map(),
        plotted: new Map(),
        palette: colours(),
        count: 0,
      }
    },
    (drawn) => {
      const { chart, series, markers, lines, palette } = drawn
      const { length } = candles
      const isAtEnd = !((chart.timeScale().getVisibleLogicalRange()?.to ?? Infinity) < drawn.count - 1)
      drawn.near.prices = nearestPrices(orders, candles.at(-1)?.close)
      series.setData(candles.map(({ at, ...prices }) => ({ time: chartTime(at), ...prices })))
      if (isAtEnd || length > drawn.count + 3) {
        const range = { from: Math.max(0, length - CANDLES_SHOWN), to: Math.max(length + 2, CANDLES_LEAST) }
        chart.timeScale().setVisibleLogicalRange(range)
        drawn.count = length
      }
      drawLines(series, lines, orders, palette)
      drawPlots(drawn, plots, candles)
      const first = candles[0]?.at ?? 0
      const shown = fills.filter(({ at }) => at >= first).toReversed()
      markers.setMarkers(
        shown.map(({ at, side, size }) => {
          const isBuy = side === 'buy'
          return {
            time: chartTime(candles.findLast((candle) => candle.at <= at)?.at ?? first),
            position: isBuy ? 'belowBar' : 'aboveBar',
            shape: isBuy ? 'arrowUp' : 'arrowDown',
            color: isBuy ? palette.up : palette.down,
            text: shown.length > 12 ? '' : size,
          }
        }),
      )
    },
    [candles, orders, fills, plots],
  )
  return html`<div class="chart tall" ref=${place} role="img" aria-label=${label}></div>`
}

const PLOT_COLOURS = ['#8b5cf6', '#d946ef', '#84cc16', '#0ea5e9']

function drawPlots({ chart, plotted }, plots, candles) {
  const close = candles.at(-1)?.close
  const wanted = new Map(plots.map((plot) => [`${plot.strategy} ${plot.name}`, plot]))
  for (const [key, line] of plotted) {
    if (wanted.has(key)) continue
    chart.removeSeries(line)
    plotted.delete(key)
  }
  for (const [key, { name, points }] of wanted) {
    const value = points.at(-1)?.value
    if (value === undefined || close === undefined) continue
    const isBeside = value > close / 2 && value < close * 2
    if (!plotted.has(key)) {
      const color = PLOT_COLOURS[plotted.size % PLOT_COLOURS.length]
      const options = { color, lineWidth: 1, title: name, priceLineVisible: false }
      plotted.set(key, chart.addSeries(LineSeries, options, isBeside ? 0 : 1))
    }
    plotted.get(key).setData(alongCandles(points, candles))
  }
}

/** A value holds until the next. */
function alongCandles(points, candles) {
  let [next, value] = [0, undefined]
  return candles.flatMap(({ at }, index) => {
    const end = candles[index + 1]?.at ?? Infinity
    while (next < points.length && points[next].at < end) value = points[next++].value
    return value === undefined ? [] : [{ time: chartTime(at), value }]
  })
}

/** The chart has no room for a whole ladder. */
function nearestPrices(orders, last) {
  if (last === undefined) return []
  const prices = orders.flatMap(({ price }) => (price === null ? [] : [Number(price)]))
  const above = prices.filter((price) => price >= last).toSorted((one, other) => one - other)
  const below = prices.filter((price) => price < last).toSorted((one, other) => other - one)
  return [...above.slice(0, NEAREST), ...below.slice(0, NEAREST)]
}

function widen(info, prices) {
  if (!info?.priceRange || prices.length === 0) return info
  const { minValue, maxValue } = info.priceRange
  return {
    ...info,
    priceRange: { minValue: Math.min(minValue, ...prices), maxValue: Math.max(maxValue, ...prices) },
  }
}

function drawLines(series, lines, orders, { up, down, text }) {
  const wanted = new Map(
    orders
      .filter(({ price }) => price !== null)
      .slice(0, LINES_MAX)
      .map((order) => [`${order.clientOid} ${order.state} ${order.isDisplaced}`, order]),
  )
  for (const [key, line] of lines) {
    if (wanted.has(key)) continue
    series.removePriceLine(line)
    lines.delete(key)
  }
  for (const [key, { price, action, size, state, isDisplaced }] of wanted) {
    if (lines.has(key)) continue
    const isBuy = action === 'openLong' || action === 'closeShort'
    const isPlain = state === 'live' && !isDisplaced
    const mark = isDisplaced ? '↻ ' : (STATES_MARKED[state] ?? '')
    lines.set(
      key,
      series.createPriceLine({
        price: Number(price),
        color: isPlain ? (isBuy ? up : down) : text,
        lineWidth: 1,
        lineStyle: isPlain ? LineStyle.Dotted : LineStyle.LargeDashed,
        axisLabelVisible: wanted.size <= 12,
        title: wanted.size <= 24 ? `${mark}${isBuy ? 'buy' : 'sell'} ${size}` : mark,
      }),
    )
  }
}

export function Sparkline({ values, label }) {
  const known = values.filter((value) => value !== null && Number.isFinite(value))
  if (known.length < 2) return html`<span class="soft">no curve yet</span>`
  const [low, high] = [Math.min(...known), Math.max(...known)]
  const step = Math.max(1, Math.floor(known.length / 200))
  const thinned = known.filter((_, index) => index % step === 0 || index === known.length - 1)
  const points = thinned.map((value, index) => {
    const y = high === low ? 20 : 38 - (36 * (value - low)) / (high - low)
    return `${((200 * index) / (thinned.length - 1)).toFixed(1)},${y.toFixed(1)}`
  })
  return html`<svg
    class="spark"
    viewBox="0 0 200 40"
    preserveAspectRatio="none"
    role="img"
    aria-label=${label}
  >
    <polyline points=${points.join(' ')} />
  </svg>`
}
