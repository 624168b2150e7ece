/**
 * `BTCUSDT-1m-2025-01.zip`, `ETH-USDT-SWAP-trades-2025-06-01.zip`, `BINANCE_BTCUSDT.P, 1.csv`,
 * `BTC/USDT:USDT`. An ambiguous name gives a reason instead.
 */

/** Lower case without spaces, underscores and brackets. The last may also name a kind of market. */
export const INSTRUMENT_COLUMNS: readonly string[] = [
  'symbol',
  'instrumentname',
  'instid',
  'instrumentid',
  'instrument',
  'pair',
  'currencypair',
  'tradingpair',
  'symbolname',
  'symbolid',
  'productid',
  'marketid',
  'marketname',
  'marketsymbol',
  'contractcode',
  'contractname',
  'ticker',
  'tickersymbol',
  'rawsymbol',
  'sym',
  'coin',
  'coinname',
  'baseasset',
  'basecurrency',
  'basecoin',
  'base',
  'asset',
  'assetid',
  'assetname',
  'token',
  'crypto',
  'underlying',
  'security',
  'contract',
  'contracts',
  'product',
  'market',
  's',
]

export function plainTitle(title: string): string {
  return title.toLowerCase().replaceAll(/[ _<>()-]/g, '')
}

export interface InstrumentName {
  /** In capitals, with a delivery date if there is one: `BTCUSDT_250627`. */
  readonly symbol?: string
  readonly why?: string
  readonly market?: 'spot' | 'futures'
  /** In lower case. */
  readonly exchange?: string
  /** True for coin-margined contracts of Binance (`BTCUSD_PERP`) and swaps of OKX. */
  readonly countsContracts: boolean
}

const QUOTES = new Set(
  'USDT USDC USD EUR GBP BTC ETH BNB JPY KRW BRL AUD FDUSD TUSD BUSD USDE USD1 PERP'.split(' '),
)
/**
 * Ordinary words end in these, too (AUGUST, COUNTRY), so within a word they count only after one of
 * {@link COINS}.
 */
const RARE_QUOTES = new Set(
  'TRY CAD CHF DAI UST USDP PAX IDR BIDR RUB UAH ZAR PLN ARS MXN RON SOL XBT GUSD HUSD PYUSD EURI EURC SUSDT SUSDC SUSD'.split(
    ' ',
  ),
)
const COINS = new Set([
  ...QUOTES,
  ...RARE_QUOTES,
  ...'XBT SOL XRP ADA DOGE AVAX DOT LINK LTC BCH TRX MATIC POL UNI ATOM XLM ETC FIL APT ARB OP SUI NEAR'.split(
    ' ',
  ),
  ...'AAVE ALGO ICP HBAR INJ TON SHIB PEPE WIF BONK EOS XMR ZEC DASH XTZ MKR SAND MANA GALA FTM AXS'.split(
    ' ',
  ),
  ...'CRV COMP SNX LDO RUNE GRT HYPE ENA TIA SEI WLD ORDI STX IMX 1INCH C98 SUSHI YFI KSM NEO QTUM'.split(
    ' ',
  ),
  ...'WBTC CBBTC TBTC LBTC STETH WSTETH WETH RETH CBETH WEETH BETH METH'.split(' '),
])

const EXCHANGES = new Set([
  ...'binance binanceus bybit okx kraken coinbase bitstamp gemini bitfinex poloniex bitget kucoin gateio gate'.split(
    ' ',
  ),
  ...'huobi htx mexc bitmex deribit hyperliquid dydx ftx cme upbit bithumb phemex woo cryptocom itbit oanda'.split(
    ' ',
  ),
])
const EXCHANGE_ABBREVIATIONS: ReadonlyMap<string, string> = new Map([
  ['okex', 'okx'],
  ['gdax', 'coinbase'],
  ['binc', 'binance'],
  ['bfnx', 'bitfinex'],
  ['cbse', 'coinbase'],
  ['krkn', 'kraken'],
  ['stmp', 'bitstamp'],
])

/** In lower case. */
function exchangeNamed(text: string): string | undefined {
  const name = text.toLowerCase()
  return EXCHANGES.has(name) ? name : EXCHANGE_ABBREVIATIONS.get(name)
}

const WORDS =
  /^(?:(?:agg|my|all)?(?:trades?|candles?|candlesticks?|klines?|ohlcv?t?|bars?|quotes?|ticks?|data|prices?|histor(?:y|ical)|dump|export|file|fund(?:ing)?|rates?|fundingrates?|markets?|index|mark|premium|book|orderbook|spot|futures?|swap|perp(?:etual)?s?|linear|inverse|options?|crypto|test|new|old|backup|copy|from|to|in|vs|total|volume|minute|min|hour|hourly|day|daily|week|month|year)|\d+|[smhdwSMHDW]\d{1,4}|\d{1,4}(?:ms|mo|min|sec|hour|day|[smhdwSMHDW]))$/i

const FUTURES =
  /^(?:perp|perps|perpetual|perpetuals|swap|futures?|linear|inverse|um|cm|usdm|coinm|[udcs]mcbl)$/i
/** Month and year stand after the pair, as in `BTCUSDM25`; M15 and M30 may also be minutes. */
const MONTH_CODE = /^([A-Z0-9]+?)([FGHJKMNQUVXZ](?:1[7-9]|2\d))$/
const DELIVERY_WORD = /^\d{1,2}(?:JAN|FEB|MAR|APR|MAY|JUN|JUL|AUG|SEP|OCT|NOV|DEC)\d\d$/
const EXTENSION =
  /(?:\.(?:csv|tsv|txt|json|jsonl|feather|parquet|prices|gz|zip|zst|bz2|xz|dbn|hst|arrow))+$/i

interface Word {
  readonly text: string
  readonly before: string
}

interface NamedPair {
  readonly symbol: string
  readonly words: number
  readonly coins: readonly string[]
}

export function readInstrumentName(name: string): InstrumentName {
  const words = wordsOf(name)
  const found = findPairs(words)
  const exchanges = new Set(words.flatMap(({ text }) => exchangeNamed(text) ?? []))
  const [exchange] = exchanges
  const isFuture =
    found.some(({ isContract }) => isContract) || words.some(({ text }) => FUTURES.test(text))
  const market = isFuture
    ? 'futures'
    : words.some(({ text }) => /^(?:spot|spbl)$/i.test(text))
      ? 'spot'
      : undefined
  return {
    ...describePairs(found, words),
    ...(market && { market }),
    ...(exchanges.size === 1 && exchange !== undefined && { exchange }),
    countsContracts:
      /(?<![A-Za-z0-9])[A-Z0-9]+USD_(?:PERP|\d{6})(?![A-Za-z0-9])/.test(name) ||
      /-SWAP(?![A-Za-z0-9])/.test(name),
  }
}

/** `spot` or `Binance Futures` names a market or an exchange. */
export function isOfNoInstrument(cell: string): boolean {
  const words = wordsOf(cell)
  const isPlain = ({ text }: Word) =>
    /[A-Za-z]/.test(text) &&
    (WORDS.test(text) || FUTURES.test(text) || exchangeNamed(text) !== undefined)
  return words.length > 0 && words.every(isPlain)
}

/** A cell may name the coin alone: BTC in a file of BTCUSDT. */
export function agreesWithSymbol(cell: string, symbol: string): boolean {
  const named = readInstrumentName(cell).symbol
  if (named !== undefined) return named === symbol
  return (
    isOfNoInstrument(cell) || symbol.startsWith(cell.toUpperCase().replaceAll(/[^A-Z0-9]/g, ''))
  )
}

function wordsOf(name: string): readonly Word[] {
  // Bybit writes no separator before the date: BTCUSDT2020-03-25.csv.gz.
  const plain = name
    .replace(EXTENSION, '')
    .replace(/(?<=[A-Za-z0-9])((?:19|20)\d\d-\d\d(?!\d))/, ' $1')
  return [...plain.matchAll(/([^A-Za-z0-9]*)([A-Za-z0-9]+)/g)].map(
    ([, before = '', text = '']) => ({
      before,
      text,
    }),
  )
}

interface FoundPair {
  readonly symbol?: string
  readonly why?: string
  readonly isContract: boolean
}

function findPairs(words: readonly Word[]): readonly FoundPair[] {
  const found: FoundPair[] = []
  for (let at = 0; at < words.length; at++) {
    const pair = pairAt(words, at)
    if (!pair) continue
    found.push(readContract(pair, words.slice(at + pair.words, at + pair.words + 1)))
    at += pair.words - 1
    if (isSettleCoin(pair, words[at + 1])) at++
  }
  return found
}

/** `WBTC USDT` is a pair of WBTC: a base coin stands before a quote coin. */
function pairAt(words: readonly Word[], at: number): NamedPair | undefined {
  const [one, next] = [words[at], words[at + 1]]
  if (one === undefined) return undefined
  const single = pairInWord(one.text)
  const base = coinIn(one.text)
  const quote = next && /^[-_/ ]$/.test(next.before) ? next.text.toUpperCase() : ''
  const isQuote = (QUOTES.has(quote) && quote !== 'PERP') || RARE_QUOTES.has(quote)
  const isPair =
    isQuote && base !== undefined && base !== quote && isSameCase(one.text, next?.text ?? '')
  if (isPair && !(single && COINS.has(single.coins[0] ?? '') && !COINS.has(base)))
    return { symbol: `${base}${quote}`, words: 2, coins: [base, quote] }
  return single
}

const isSameCase = (one: string, other: string) => /[a-z]/.test(one) === /[a-z]/.test(other)

/** In lower case only known coins count. */
function coinIn(text: string): string | undefined {
  const coin = text.toUpperCase()
  if (COINS.has(coin)) return coin
  const isWord = WORDS.test(text) || exchangeNamed(text) !== undefined || !/[A-Z]/.test(text)
  return isWord || text !== coin ? undefined : coin
}

/** Bitfinex writes a t before its pairs: `tBTCUSD`. */
const BITFINEX_PAIR = /^t(?=[A-Z0-9]{6,}$)/

function pairInWord(named: string): NamedPair | undefined {
  const text = named.replace(BITFINEX_PAIR, '')
  const word = text.toUpperCase()
  const [, front = word, code = ''] = text === word ? (MONTH_CODE.exec(word) ?? []) : []
  if (COINS.has(word)) return undefined
  const quotes = [...QUOTES, ...RARE_QUOTES].toSorted((one, other) => other.length - one.length)
  for (const quote of quotes) {
    const base = front.slice(0, -quote.length)
    if (base === '' || !front.endsWith(quote) || !/[A-Z]/.test(base)) continue
    if (exchangeNamed(base) !== undefined || WORDS.test(base)) continue
    const perpetual = quote === 'PERP' ? pairInWord(base) : undefined
    if (perpetual) return perpetual
    const isKnown = COINS.has(base)
    if (!isKnown && (RARE_QUOTES.has(quote) || text !== word)) continue
    return { symbol: `${front}${code}`, words: 1, coins: [base, quote] }
  }
  return undefined
}

function isSettleCoin({ coins }: NamedPair, next: Word | undefined): boolean {
  return next !== undefined && /^[_:]$/.test(next.before) && coins.includes(next.text.toUpperCase())
}

function readContract(pair: NamedPair, [next]: readonly Word[]): FoundPair {
  const { symbol } = pair
  const isContract = isSettleCoin(pair, next)
  if (next === undefined || isContract) return { symbol, isContract }
  if (next.before === '.' && next.text === 'P') return { symbol, isContract: true }
  const isNear = /^[-_]$/.test(next.before)
  if (isNear && DELIVERY_WORD.test(next.text))
    return { symbol: `${symbol}_${next.text}`, isContract: true }
  const date = isNear ? deliveryDate(next.text) : undefined
  if (date !== undefined) {
    // Contracts are delivered on Fridays.
    if (date.getUTCDay() === 5) return { symbol: `${symbol}_${next.text}`, isContract: true }
    const why = `${next.text} may be the date of the file, or of the contract's delivery`
    return { why, isContract: false }
  }
  const coin = next.text.toUpperCase()
  if (/^[-_/]$/.test(next.before) && coin !== 'PERP' && COINS.has(coin))
    return { why: `it names ${symbol} and ${coin}`, isContract: false }
  return { symbol, isContract: FUTURES.test(next.text) }
}

/** `202506` is a month and no date of delivery. */
function deliveryDate(text: string): Date | undefined {
  const [, year = '', month = '', day = ''] = /^(\d\d)(\d\d)(\d\d)$/.exec(text) ?? []
  if (year === '') return undefined
  const date = new Date(Date.UTC(2000 + Number(year), Number(month) - 1, Number(day)))
  return date.getUTCMonth() === Number(month) - 1 && date.getUTCDate() === Number(day)
    ? date
    : undefined
}

function describePairs(
  found: readonly FoundPair[],
  words: readonly Word[],
): Pick<InstrumentName, 'symbol' | 'why'> {
  const unclear = found.find(({ why }) => why !== undefined)?.why
  if (unclear !== undefined) return { why: unclear }
  const symbols = [...new Set(found.flatMap(({ symbol }) => symbol ?? []))]
  const [symbol] = symbols
  if (symbols.length > 1) return { why: `it names ${symbols.join(' and ')}` }
  if (symbol !== undefined) return { symbol }
  const coin = words.find(({ text }) => text === text.toUpperCase() && COINS.has(text))?.text
  return {
    why:
      coin === undefined ? 'it names no pair of coins' : `it names ${coin} without a second coin`,
  }
}
