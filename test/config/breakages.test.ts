import { afterAll, beforeAll, expect, test } from 'vitest'
import { FILES, MAIN, replaceOnce, SIMULATOR_SECTION, Workspace } from './workspace.ts'

let workspace: Workspace
beforeAll(() => {
  workspace = new Workspace()
})
afterAll(() => workspace.remove())

type File = keyof typeof FILES
const main: File = 'config/main.yaml'
const grid: File = 'config/strategies/grid.yaml'
const trend: File = 'config/strategies/trend.yaml'

interface Breakage {
  readonly what: string
  readonly file: File
  /** Pairs of what is replaced and what it becomes. */
  readonly edits: readonly (readonly [from: string, to: string])[]
  readonly problems: readonly string[]
}

const live = (baseUrl: string): [string, string][] => [
  ['environment: simulator\n', `environment: live\nexchange: { baseUrl: "${baseUrl}" }\n`],
  [SIMULATOR_SECTION, ''],
]

const BREAKAGES: readonly Breakage[] = [
  // YAML itself
  {
    what: 'a tab as indentation',
    file: main,
    edits: [['  tickersMs: 250', '\ttickersMs: 250']],
    problems: ['config/main.yaml:12:1: a tab cannot indent YAML; use spaces'],
  },
  {
    what: 'a key that is indented deeper than the one above it',
    file: main,
    edits: [['  tickersMs: 250\n', '  tickersMs: 250\n    more: 1\n']],
    problems: [
      'config/main.yaml:12:14: the line below is indented deeper than this one, which has a value already; keys of one section begin in one column',
    ],
  },
  {
    what: 'a bracket that is not closed',
    file: main,
    edits: [['  tickersMs: 250\n', '  tickersMs: [250\n']],
    problems: ['config/main.yaml:12:14: this [ is not closed: a ] is missing'],
  },
  {
    what: 'a text with a colon in it',
    file: main,
    edits: [['  tickersMs: 250\n', '  tickersMs: a: b\n']],
    problems: [
      'config/main.yaml:12:14: a second ": " on this line; a text with ": " in it needs quotes',
    ],
  },
  {
    what: 'a quote that is not closed',
    file: grid,
    edits: [['openOrdersMax: 20\n', 'openOrdersMax: "20\n']],
    problems: [
      'config/strategies/grid.yaml:11:1: something is missing here: a quote, a bracket, a comma, a colon or a space after one',
    ],
  },
  {
    what: 'a key written twice',
    file: main,
    edits: [['  openOrdersMax: 100\n', '  openOrdersMax: 100\n  openOrdersMax: 200\n']],
    problems: ['config/main.yaml:17:3 risk.openOrdersMax: this key is written twice'],
  },
  {
    what: 'a section written twice',
    file: grid,
    edits: [['params:\n', 'params:\n  levels: 3\nparams:\n']],
    problems: ['config/strategies/grid.yaml:6:1 params: this key is written twice'],
  },
  {
    what: 'a second document',
    file: grid,
    edits: [['params:\n', '---\nparams:\n']],
    problems: ['config/strategies/grid.yaml:4:1: a second document begins here; a file holds one'],
  },
  {
    what: 'an alias without an anchor',
    file: main,
    edits: [['dataAgeMaxMs: 2000', 'dataAgeMaxMs: *age']],
    problems: ['config/main.yaml:14:17: this alias (*name) has no anchor (&name) above it'],
  },
  {
    what: 'a tag',
    file: main,
    edits: [['dataAgeMaxMs: 2000', 'dataAgeMaxMs: !ms 2000']],
    problems: ['config/main.yaml:14:17: this tag (!name) is not supported'],
  },
  {
    what: 'an older YAML',
    file: grid,
    edits: [['id: grid', '%YAML 1.1\n---\nid: grid']],
    problems: ['config/strategies/grid.yaml:1:1: only YAML 1.2 is read; remove the %YAML line'],
  },
  {
    what: 'an empty file',
    file: grid,
    edits: [[FILES[grid], '']],
    problems: ['config/strategies/grid.yaml:1:1: the file is empty'],
  },
  {
    what: 'a list instead of a mapping',
    file: grid,
    edits: [[FILES[grid], '# a list\n- id: grid\n']],
    problems: ['config/strategies/grid.yaml:2:1: expected a mapping of settings, got a list'],
  },
  {
    what: 'a key that could reach a prototype',
    file: grid,
    edits: [['params:\n', 'params:\n  __proto__: { levels: 1 }\n']],
    problems: ['config/strategies/grid.yaml:5:3 params.__proto__: this cannot be a key'],
  },
  // One setting
  {
    what: 'a missing strategy file',
    file: main,
    edits: [['strategies/trend.yaml', 'strategies/tren.yaml']],
    problems: [
      'config/main.yaml:28:5 strategies.1: no such file: config/strategies/tren.yaml; did you mean trend.yaml?',
    ],
  },
  {
    what: 'a missing module',
    file: grid,
    edits: [['grid.ts', 'gird.ts']],
    problems: [
      'config/strategies/grid.yaml:2:9 module: no such file: strategies/gird.ts; did you mean grid.ts?',
    ],
  },
  {
    what: 'an unknown key',
    file: main,
    edits: [['  grossNotionalMax: "20000"', '  grosNotionalMax: "20000"']],
    problems: [
      'config/main.yaml:18:3 risk.grosNotionalMax: unknown key; did you mean "grossNotionalMax"?',
    ],
  },
  {
    what: 'a section with a misspelt name',
    file: main,
    edits: [['simulator:\n', 'simulater:\n']],
    problems: ['config/main.yaml:21:1 simulater: unknown key; did you mean "simulator"?'],
  },
  {
    what: 'a misspelt key that others need',
    file: main,
    edits: [['startPrices:', 'startPrice:']],
    problems: [
      'config/main.yaml:25:5 simulator.market.startPrice: unknown key; did you mean "startPrices"?',
    ],
  },
  {
    what: 'a singular for a list that is missing, though it resembles another key more',
    file: main,
    edits: [['strategies:\n', 'strategy:\n']],
    problems: ['config/main.yaml:26:1 strategy: unknown key; did you mean "strategies"?'],
  },
  {
    what: 'a colon that is missing behind the name of a section',
    file: main,
    edits: [['simulator:\n', 'simulator\n']],
    problems: ['config/main.yaml:21:1: a colon is missing behind this key'],
  },
  {
    what: 'a key that is not indented, with three lines below it that are',
    file: main,
    edits: [['  productType: USDT-FUTURES', 'productType: USDT-FUTURES']],
    problems: [
      'config/main.yaml:4:14: the line below is indented deeper than this one, which has a value already; keys of one section begin in one column',
    ],
  },
  {
    what: 'a key of an earlier version',
    file: main,
    edits: [
      [
        'name: paper',
        'name: paper\nexchange:\n  shared: { redis: rediss://a.example:6379, members: 2, marketData: true }',
      ],
    ],
    problems: [
      'config/main.yaml:3:11 exchange.shared: limits are shared on the address of an exchange: set exchange.baseUrl, or remove this',
      'config/main.yaml:3:57 exchange.shared.marketData: this key is gone: each daemon reads its own tickers, within the shared limits. Remove it',
    ],
  },
  {
    what: 'an unknown key that resembles none',
    file: main,
    edits: [['name: paper', 'name: paper\nwebsocket: true']],
    problems: ['config/main.yaml:2:1 websocket: unknown key'],
  },
  {
    what: 'a missing section',
    file: main,
    edits: [['state:\n  directory: ../.intentd/paper\n', '']],
    problems: ['config/main.yaml:1:1: the key "state" is missing: expected a mapping of settings'],
  },
  {
    what: 'a section left empty',
    file: main,
    edits: [['  directory: ../.intentd/paper\n', '']],
    problems: ['config/main.yaml:19:7 state: expected a mapping of settings, got nothing'],
  },
  {
    what: 'text for a number',
    file: main,
    edits: [['tickersMs: 250', 'tickersMs: fast']],
    problems: [
      'config/main.yaml:12:14 polling.tickersMs: expected a whole number from 50 to 60000, got "fast"',
    ],
  },
  {
    what: 'a number out of range',
    file: main,
    edits: [['tickersMs: 250', 'tickersMs: 10']],
    problems: [
      'config/main.yaml:12:14 polling.tickersMs: expected a whole number from 50 to 60000, got 10',
    ],
  },
  {
    what: 'a fraction for a whole number',
    file: main,
    edits: [['openOrdersMax: 100', 'openOrdersMax: 1.5']],
    problems: [
      'config/main.yaml:16:18 risk.openOrdersMax: expected a whole number from 1 to 1000, got 1.5',
    ],
  },
  {
    what: 'no number at all',
    file: main,
    edits: [['priceCollarRatio: 0.05', 'priceCollarRatio: .nan']],
    problems: [
      'config/main.yaml:15:21 risk.priceCollarRatio: expected a number above 0 and of at most 1, got .nan',
    ],
  },
  {
    what: 'a per cent for a ratio',
    file: main,
    edits: [['priceCollarRatio: 0.05', 'priceCollarRatio: 5%']],
    problems: [
      'config/main.yaml:15:21 risk.priceCollarRatio: expected a number above 0 and of at most 1, got "5%": this is a share, and 5 % is 0.05',
    ],
  },
  {
    what: 'an exponent for a decimal',
    file: main,
    edits: [['grossNotionalMax: "20000"', 'grossNotionalMax: 2e4']],
    problems: [
      'config/main.yaml:18:21 risk.grossNotionalMax: expected a decimal above zero such as "0.001", got 2e4',
    ],
  },
  {
    what: 'a negative decimal',
    file: grid,
    edits: [['positionMax: "0.02"', 'positionMax: -0.02']],
    problems: [
      'config/strategies/grid.yaml:8:16 risk.positionMax: expected a decimal above zero such as "0.001", got -0.02',
    ],
  },
  {
    what: 'a zero step',
    file: main,
    edits: [['tickSize: "0.1"', 'tickSize: "0.0"']],
    problems: [
      'config/main.yaml:9:24 instruments.BTCUSDT.tickSize: expected a decimal above zero such as "0.001", below a million, with at most 9 places, or 12 if it is below 1, got "0.0"',
    ],
  },
  {
    what: 'a step with more places than are counted',
    file: main,
    edits: [['tickSize: "0.1"', 'tickSize: "0.0000000000001"']],
    problems: [
      'config/main.yaml:9:24 instruments.BTCUSDT.tickSize: expected a decimal above zero such as "0.001", below a million, with at most 9 places, or 12 if it is below 1, got "0.0000000000001"',
    ],
  },
  {
    what: 'an unknown choice',
    file: main,
    edits: [['positionMode: one_way_mode', 'positionMode: oneway']],
    problems: [
      'config/main.yaml:7:17 account.positionMode: expected "one_way_mode" or "hedge_mode", got "oneway"',
    ],
  },
  {
    what: 'a word for true or false',
    file: grid,
    edits: [['params:\n', 'enabled: yes\nparams:\n']],
    problems: ['config/strategies/grid.yaml:4:10 enabled: expected true or false, got "yes"'],
  },
  {
    what: 'a symbol in small letters',
    file: main,
    edits: [['  ETHUSDT: { tickSize', '  ethusdt: { tickSize']],
    problems: [
      'config/main.yaml:10:3 instruments.ethusdt: expected a symbol of capitals A to Z, digits, and perhaps _ and an ending, such as BTCUSDT or BTCUSDT_UMCBL (instruments with other characters in their name cannot be traded) as key, got "ethusdt"',
    ],
  },
  {
    what: 'a list for a text',
    file: grid,
    edits: [['id: grid', 'id: [grid]']],
    problems: [
      'config/strategies/grid.yaml:1:5 id: expected a name such as "grid-btc" (lower case letters, digits, -; at most 32), got a list of 1',
    ],
  },
  {
    what: 'no instrument',
    file: grid,
    edits: [['instruments: [BTCUSDT]', 'instruments: []']],
    problems: [
      'config/strategies/grid.yaml:3:14 instruments: expected at least one symbol, or universe with a rule that chooses them',
    ],
  },
  {
    what: 'a log line in an id',
    file: grid,
    edits: [['id: grid', 'id: "grid\\nerror: x"']],
    problems: [
      'config/strategies/grid.yaml:1:5 id: expected a name such as "grid-btc" (lower case letters, digits, -; at most 32), got "grid\\nerror: x"',
    ],
  },
  // Impossible combinations
  {
    what: 'live without its confirmation',
    file: main,
    edits: live('https://api.exchange.example'),
    problems: [
      'config/main.yaml:2:14 environment: live trades real money: say so with confirmLive: true',
    ],
  },
  {
    what: 'live without TLS',
    file: main,
    edits: [
      ...live('http://api.exchange.example'),
      ['name: paper', 'name: paper\nconfirmLive: true'],
    ],
    problems: ['config/main.yaml:4:22 exchange.baseUrl: environment live needs an https address'],
  },
  {
    what: 'live without an exchange',
    file: main,
    edits: [
      ['environment: simulator', 'environment: live\nconfirmLive: true'],
      [SIMULATOR_SECTION, ''],
    ],
    problems: [
      'config/main.yaml:2:14 environment: live needs the address of the exchange: set exchange.baseUrl',
    ],
  },
  {
    what: 'live with a simulator',
    file: main,
    edits: [
      [
        'environment: simulator',
        'environment: live\nconfirmLive: true\nexchange: { baseUrl: "https://api.exchange.example" }',
      ],
    ],
    problems: [
      'config/main.yaml:23:1 simulator: environment live has no use for a simulator: remove this section',
    ],
  },
  {
    what: 'live with a demo product',
    file: main,
    edits: [
      ...live('https://api.exchange.example'),
      ['name: paper', 'name: paper\nconfirmLive: true'],
      [
        'productType: USDT-FUTURES\n  marginCoin: USDT',
        'productType: SUSDT-FUTURES\n  marginCoin: SUSDT',
      ],
    ],
    problems: [
      'config/main.yaml:6:16 account.productType: SUSDT-FUTURES is a demo product; the environment is live',
    ],
  },
  {
    what: 'the simulator on another machine',
    file: main,
    edits: [
      [
        'environment: simulator',
        'environment: simulator\nexchange: { baseUrl: "http://10.0.0.1:8700" }',
      ],
      [SIMULATOR_SECTION, ''],
    ],
    problems: [
      'config/main.yaml:3:22 exchange.baseUrl: environment simulator may only speak to this machine (127.0.0.1, ::1, localhost)',
    ],
  },
  {
    what: 'an address with a path',
    file: main,
    edits: [
      ...live('https://api.exchange.example/v2'),
      ['name: paper', 'name: paper\nconfirmLive: true'],
    ],
    problems: [
      'config/main.yaml:4:22 exchange.baseUrl: expected an address with nothing but a host and a port',
    ],
  },
  {
    what: 'two exchanges',
    file: main,
    edits: [
      [
        'environment: simulator',
        'environment: simulator\nexchange: { baseUrl: "http://127.0.0.1:8700" }',
      ],
    ],
    problems: [
      'config/main.yaml:22:1 simulator: exchange.baseUrl names another exchange: remove this section or that address',
    ],
  },
  {
    what: 'no exchange',
    file: main,
    edits: [[SIMULATOR_SECTION, '']],
    problems: [
      'config/main.yaml:2:14 environment: the simulator inside the daemon needs the section simulator (or set exchange.baseUrl)',
    ],
  },
  {
    what: 'an instrument without a price',
    file: main,
    edits: [[', ETHUSDT: "3000"', ', SOLUSDT: "150"']],
    problems: [
      'config/main.yaml:24:3 simulator.market: ETHUSDT has neither a start price nor a recording: write simulator.market.startPrices.ETHUSDT, give its prices with --market, or take it out of instruments',
      'config/main.yaml:25:38 simulator.market.startPrices.SOLUSDT: SOLUSDT is not listed under instruments',
    ],
  },
  {
    what: 'a recording that is not there',
    file: main,
    edits: [['  market:\n', '  market:\n    recordings: { BTCUSDT: btc.csv.gz }\n']],
    problems: [
      'config/main.yaml:25:28 simulator.market.recordings.BTCUSDT: no such file, seen from the directory of this one',
    ],
  },
  {
    what: 'the wrong margin coin',
    file: main,
    edits: [['marginCoin: USDT', 'marginCoin: BTC']],
    problems: [
      'config/main.yaml:5:15 account.marginCoin: USDT-FUTURES takes USDT as margin, not BTC',
    ],
  },
  {
    what: 'a smallest size off the lots',
    file: main,
    edits: [['minSize: "0.01"', 'minSize: "0.015"']],
    problems: [
      'config/main.yaml:10:58 instruments.ETHUSDT.minSize: 0.015 is not a multiple of the lotSize 0.01',
    ],
  },
  {
    what: 'a bad cron pattern',
    file: main,
    edits: [['polling:', 'calendar: { funding: "5 0 0,8,26 * * *", dayRoll: "0 0" }\npolling:']],
    problems: [
      'config/main.yaml:11:22 calendar.funding: expected a cron pattern (0,8,26 is a invalid expression for hour)',
      'config/main.yaml:11:51 calendar.dayRoll: expected a cron pattern (expected 5 or 6 fields but got 2)',
    ],
  },
  {
    what: 'a bad time zone',
    file: main,
    edits: [['polling:', 'calendar: { timezone: Europe/Atlantis }\npolling:']],
    problems: [
      'config/main.yaml:11:23 calendar.timezone: expected a time zone such as UTC or Europe/Berlin',
    ],
  },
  {
    what: 'one order above the whole account',
    file: main,
    edits: [['orderNotionalMax: "2000"', 'orderNotionalMax: "20000.01"']],
    problems: [
      'config/main.yaml:17:21 risk.orderNotionalMax: 20000.01 for one order is above the grossNotionalMax 20000 of the account',
    ],
  },
  {
    what: 'orders below the smallest notional',
    file: main,
    edits: [['orderNotionalMax: "2000"', 'orderNotionalMax: 4.99']],
    problems: [
      'config/main.yaml:17:21 risk.orderNotionalMax: 4.99 is below the minNotional 5 of BTCUSDT: no order could be sent',
      'config/main.yaml:17:21 risk.orderNotionalMax: 4.99 is below the minNotional 5 of ETHUSDT: no order could be sent',
    ],
  },
  {
    what: 'data that is always too old',
    file: main,
    edits: [['dataAgeMaxMs: 2000', 'dataAgeMaxMs: 100']],
    problems: [
      'config/main.yaml:14:17 risk.dataAgeMaxMs: 100 ms is less than polling.tickersMs 250: all data would be too old',
    ],
  },
  {
    what: 'simulated prices that come too seldom',
    file: main,
    edits: [['  seed: 1\n', '  seed: 1\n  stepMs: 3000\n']],
    problems: [
      'config/main.yaml:14:17 risk.dataAgeMaxMs: 2000 ms is less than simulator.stepMs 3000: prices would often be too old',
    ],
  },
  {
    what: 'a taker collar outside the price collar',
    file: main,
    edits: [['polling:', 'execution: { takerCollarRatio: 0.06 }\npolling:']],
    problems: [
      'config/main.yaml:11:32 execution.takerCollarRatio: 0.06 is above risk.priceCollarRatio 0.05: such orders would all be denied',
    ],
  },
  {
    what: 'a recording that is neither switched on nor described',
    file: main,
    edits: [['polling:', 'record: sometimes\npolling:']],
    problems: ['config/main.yaml:11:9 record: expected true, false, or a section, got "sometimes"'],
  },
  {
    what: 'a recording without room for two of its files',
    file: main,
    edits: [['polling:', 'record: { segmentBytesMax: 1000000, totalBytesMax: 1500000 }\npolling:']],
    problems: [
      'config/main.yaml:11:52 record.totalBytesMax: 1500000 has no room for two files of record.segmentBytesMax 1000000',
    ],
  },
  {
    what: 'displaced orders that have to be back before their fate can be known',
    file: main,
    edits: [['polling:', 'execution: { displacedWithinMs: 3000 }\npolling:']],
    problems: [
      'config/main.yaml:11:33 execution.displacedWithinMs: 3000 is not above fillVisibilityMs 3000: nothing is placed before then',
    ],
  },
  {
    what: 'one strategy file twice',
    file: main,
    edits: [['strategies/trend.yaml', 'strategies/../strategies/grid.yaml']],
    problems: [
      'config/main.yaml:28:5 strategies.1: this file is already listed: config/strategies/grid.yaml',
    ],
  },
  {
    what: 'one id twice',
    file: trend,
    edits: [['id: trend', 'id: grid']],
    problems: [
      'config/strategies/trend.yaml:1:5 id: grid is already the id of config/strategies/grid.yaml',
    ],
  },
  {
    what: 'an instrument that is not listed',
    file: grid,
    edits: [['[BTCUSDT]', '[BTCUSD]']],
    problems: [
      'config/strategies/grid.yaml:3:15 instruments.0: BTCUSD is not listed under instruments of the main file; did you mean BTCUSDT?',
    ],
  },
  {
    what: 'an instrument named twice',
    file: grid,
    edits: [['[BTCUSDT]', '[BTCUSDT, BTCUSDT]']],
    problems: ['config/strategies/grid.yaml:3:24 instruments.1: BTCUSDT is named twice'],
  },
  {
    what: 'an order larger than the position',
    file: trend,
    edits: [['orderSizeMax: "0.4"', 'orderSizeMax: "0.5"']],
    problems: [
      'config/strategies/trend.yaml:6:17 risk.orderSizeMax: 0.5 is above the positionMax 0.4',
    ],
  },
  {
    what: 'a size off the lots',
    file: trend,
    edits: [['orderSizeMax: "0.4"', 'orderSizeMax: 0.355']],
    problems: [
      'config/strategies/trend.yaml:6:17 risk.orderSizeMax: 0.355 is not a multiple of the lotSize 0.01 of ETHUSDT',
    ],
  },
  {
    what: 'an order size off the lots, in the params',
    file: grid,
    edits: [['size: "0.002"', 'size: "0.0015"']],
    problems: [
      'config/strategies/grid.yaml:6:9 params.size: 0.0015 is not a multiple of the lotSize 0.001 of BTCUSDT',
    ],
  },
  {
    what: 'an order size off the lots, in the params and without quotes',
    file: grid,
    edits: [['size: "0.002"', 'size: 0.0015']],
    problems: [
      'config/strategies/grid.yaml:6:9 params.size: 0.0015 is not a multiple of the lotSize 0.001 of BTCUSDT',
    ],
  },
  {
    what: 'an order size above its limit, in the params',
    file: grid,
    edits: [['size: "0.002"', 'size: "0.003"']],
    problems: [
      'config/strategies/grid.yaml:6:9 params.size: 0.003 is above risk.orderSizeMax 0.002: every order would be denied',
    ],
  },
  {
    what: 'a strategy with more orders than the account',
    file: grid,
    edits: [['openOrdersMax: 20', 'openOrdersMax: 200']],
    problems: [
      'config/strategies/grid.yaml:10:18 risk.openOrdersMax: 200 is above risk.openOrdersMax 100 of the account',
    ],
  },
  {
    what: 'a capital that is more than all of the equity',
    file: grid,
    edits: [['params:\n', 'capital: 101 %\nparams:\n']],
    problems: [
      'config/strategies/grid.yaml:4:10 capital: expected a share of the equity such as 40 %, or an amount of the margin coin such as "4000", got "101 %"',
    ],
  },
  {
    what: 'the demo environment of an exchange that is inside the daemon',
    file: main,
    edits: [['name: paper', 'name: paper\nexchange: { demo: true }']],
    problems: [
      'config/main.yaml:2:19 exchange.demo: is for an exchange outside: set exchange.baseUrl',
    ],
  },
  // Secrets
  {
    what: 'a key of the exchange in YAML',
    file: main,
    edits: [['name: paper', 'name: paper\nexchange: { apiKey: bg_0123456789abcdef }']],
    problems: [
      'config/main.yaml:2:13 exchange.apiKey: secrets do not belong in YAML; set INTENTD_API_KEY in the environment or in .env',
    ],
  },
  {
    what: 'a passphrase among the params',
    file: grid,
    edits: [['params:\n', 'params:\n  pass-phrase: hunter2\n']],
    problems: [
      'config/strategies/grid.yaml:5:3 params.pass-phrase: secrets do not belong in YAML; set INTENTD_API_PASSPHRASE in the environment or in .env',
    ],
  },
]

test('[CFG1] shares of the equity are refused that add up to more than all of it', () => {
  const withCapital = (text: string, capital: string) =>
    replaceOnce(text, 'instruments:', `capital: ${capital}\ninstruments:`)
  const complainOf = (one: string, other: string) => {
    workspace.fill({
      [grid]: withCapital(FILES[grid], one),
      [trend]: withCapital(FILES[trend], other),
    })
    return workspace.complain()
  }

  expect(complainOf('60 %', '40%')).toEqual([])
  expect(complainOf('90 %', '4000')).toEqual([])
  expect(complainOf('60 %', '40.5 %')).toEqual([
    'config/strategies/trend.yaml:3:10 capital: with the strategies listed before it this is 100.5 % of the equity: 100 % is all there is',
  ])
})

test('the project that the breakages break is in order', () => {
  workspace.fill()

  expect(workspace.complain()).toEqual([])
})

test.each(BREAKAGES)('[CFG1] $what is reported where it stands', ({ file, edits, problems }) => {
  const broken = edits.reduce((text, [from, to]) => replaceOnce(text, from, to), FILES[file])
  workspace.fill({ [file]: broken })

  const found = workspace.complain([], { files: [], recorded: [], speed: undefined })

  expect(found).toEqual(problems)
})

test('[CFG1] the table of breakages stays long', () => {
  expect(BREAKAGES.length).toBeGreaterThanOrEqual(40)
})

test('[CFG1] the problems of all files are reported at once, in the order of files and lines', () => {
  workspace.fill({
    [main]: replaceOnce(
      replaceOnce(MAIN, 'tickersMs: 250', 'tickersMs: 1'),
      'name: paper',
      'name: Paper',
    ),
    [grid]: replaceOnce(
      replaceOnce(FILES[grid], '[BTCUSDT]', '[XRPUSDT]'),
      'openOrdersMax: 20',
      'openOrders: 20',
    ),
    [trend]: 'id: "trend\n',
  })

  const found = workspace.complain()

  expect(found.map((line) => line.split(' ')[0])).toEqual([
    'config/main.yaml:1:7',
    'config/main.yaml:12:14',
    'config/strategies/grid.yaml:3:15',
    'config/strategies/grid.yaml:10:3',
    'config/strategies/trend.yaml:2:1:',
  ])
})

test('[CFG1] a wrong field does not hide an impossible combination in the same section', () => {
  const wrong = replaceOnce(MAIN, 'openOrdersMax: 100', 'openOrdersMax: none')
  workspace.fill({
    [main]: replaceOnce(wrong, 'orderNotionalMax: "2000"', 'orderNotionalMax: "30000"'),
  })

  const found = workspace.complain()

  expect(found.map((line) => line.split(': ')[0])).toEqual([
    'config/main.yaml:16:18 risk.openOrdersMax',
    'config/main.yaml:17:21 risk.orderNotionalMax',
  ])
})
