// Money and sizes are exact decimals and stay text.

const MINUS = '\u2212'

export function number(value, digits = 2, least = 0) {
  if (value === null || value === undefined || value === '' || Number.isNaN(Number(value))) return '–'
  const text = Number(value).toLocaleString('en-US', {
    minimumFractionDigits: least,
    maximumFractionDigits: digits,
  })
  return (/[1-9]/.test(text) ? text : text.replace('-', '')).replace('-', MINUS)
}

/** Seven digits, as on the terminal: no tick is lost. */
export function price(value) {
  const size = Math.abs(Number(value))
  const needed = size > 0 ? 6 - Math.floor(Math.log10(size)) : 0
  return number(value, Math.min(20, Math.max(0, needed)))
}

/** Must equal `coin-amount.ts`: a hundredth of a bitcoin is a lot of money. */
const MONEY = /^S?USD[A-Z]?$|^(?:EUR|GBP|AUD|CHF|CAD|BRL|DAI|FDUSD|TUSD)$/

export function money(value, coin, least = 0) {
  const digits = Math.max(least, MONEY.test(coin) ? 2 : 8)
  return number(value, digits, digits)
}

export function signed(value, coin, least = 0) {
  const text = money(value, coin, least)
  return Number(value) > 0 && Number(text.replaceAll(',', '')) > 0 ? `+${text}` : text
}

export function exact(value) {
  if (value === null || value === undefined) return '–'
  const [whole = '', rest] = String(value).split('.')
  const grouped = whole.replace(/\B(?=(\d{3})+(?!\d))/g, ',').replace('-', MINUS)
  return rest === undefined ? grouped : `${grouped}.${rest}`
}

export function uncounted(profit) {
  if (!profit?.uncounted) return ''
  const { coins, feesMissing, profitsMissing, profitsOurs } = profit.uncounted
  const of = (what, count) =>
    count === 0 ? [] : [`the ${what} of ${number(count, 0)} ${count === 1 ? 'fill' : 'fills'}`]
  const parts = [
    ...Object.entries(coins).map(([coin, amount]) => `${exact(amount)} ${coin}`),
    ...of('fee', feesMissing),
    ...of('profit', profitsMissing),
  ]
  const ours = of('profit', profitsOurs).map((what) => `${what} by our own count`)
  return [...(parts.length > 0 ? [`+ ${parts.join(', ')} not counted`] : []), ...ours].join('; ')
}

export function percent(share, digits = 1) {
  return share === null || share === undefined ? '–' : `${number(100 * share, digits, digits)} %`
}

export function age(ms) {
  if (ms === null || ms === undefined) return 'never'
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`
  const minutes = Math.floor(ms / 60_000)
  if (minutes < 60) return `${minutes} min`
  const hours = Math.floor(minutes / 60)
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} days`
}

export function time(at) {
  const date = new Date(at)
  const clock = date.toTimeString().slice(0, 8)
  return date.toDateString() === new Date().toDateString() ? clock : `${day(at)} ${clock}`
}

export function day(at) {
  const date = new Date(at)
  return [date.getFullYear(), date.getMonth() + 1, date.getDate()]
    .map((part) => String(part).padStart(2, '0'))
    .join('-')
}

export function words(name) {
  return String(name).replace(/([a-z])([A-Z])/g, (_, before, letter) => `${before} ${letter.toLowerCase()}`)
}

/** In one-way mode the position decides what a sale does. */
export function orderWords({ action }) {
  const side = action === 'openLong' || action === 'closeShort' ? '▲ buy' : '▼ sell'
  return action.startsWith('close') ? `${side}, only reduces` : side
}
