import { describe, expect, test } from 'vitest'
import { formatProblem } from '../../src/config/yaml/problem.ts'
import { strategyFileSchema } from '../../src/config/schema/strategy-schema.ts'
import { YamlSource } from '../../src/config/yaml/yaml-source.ts'
import {
  mergeFeeds,
  overloadedEndpoints,
  planFeeds,
} from '../../src/assembly/strategies/strategies.ts'
import { writeStrategy } from '../support/made-limits.ts'

/** The lines of `feeds:` begin at line 5. */
const HEAD = writeStrategy({
  id: 'watcher',
  module: 'watcher.ts',
  instruments: ['BTCUSDT'],
})

function plan(feeds: string) {
  const source = new YamlSource(`${HEAD}feeds:\n${feeds}`, 'watcher.yaml')
  const file = strategyFileSchema.parse(source.read(strategyFileSchema))
  const { feeds: settings } = file
  return planFeeds({ feeds: settings, signals: [] }, source, 'one_way_mode')
}

const problemsOf = (feeds: string) => plan(feeds).problems.map(formatProblem)

describe('[CFG1] a feed that cannot be read is reported with its place', () => {
  test('an endpoint that does not exist, with the nearest that does', () => {
    expect(problemsOf('  ratio: { endpoint: longShortRate, everyMs: 1000 }\n')).toEqual([
      'watcher.yaml:6:22 feeds.ratio.endpoint: longShortRate is no endpoint for feeds; did you mean longShortRatio?',
    ])
  })

  test.each(['batchPlaceOrder', 'spotWithdrawal', 'modifyPlanOrder', 'gatewayTest'])(
    '%s, which is no read',
    (endpoint) => {
      const [problem] = problemsOf(`  wrong: { endpoint: ${endpoint}, everyMs: 1000 }\n`)

      expect(problem).toMatch(
        /^watcher\.yaml:6:22 feeds\.wrong\.endpoint: \w+ is no endpoint for feeds; /,
      )
    },
  )

  test.each(['tickers', 'orderFills', 'singlePosition'])(
    '%s, which the daemon reads itself',
    (endpoint) => {
      const [problem] = problemsOf(`  own: { endpoint: ${endpoint}, everyMs: 1000 }\n`)

      expect(problem).toContain(`${endpoint} is no endpoint for feeds`)
    },
  )

  test('a parameter that breaks a rule, one that is missing and one that does not exist', () => {
    const ratio = (params: string) =>
      problemsOf(
        `  ratio:\n    endpoint: longShortRatio\n    params: { ${params} }\n    everyMs: 1000\n`,
      )

    expect(ratio('symbol: BTCUSDT, period: 7d')).toEqual([
      'watcher.yaml:8:13 feeds.ratio.params: period: Invalid option: expected one of "24h"|"30d"',
    ])
    expect(ratio('period: 24h')).toEqual([
      expect.stringMatching(/:8:13 feeds\.ratio\.params: symbol: /),
    ])
    expect(ratio('symbol: BTCUSDT, span: 24h')).toEqual([
      expect.stringMatching(/:8:13 feeds\.ratio\.params: .*"span"/),
    ])
  })

  test('every mistake, and the feeds beside them are planned', () => {
    const { problems, names } = plan(
      '  one: { endpoint: nothing, everyMs: 1000 }\n' +
        '  two: { endpoint: longShortRatio, everyMs: 1000 }\n' +
        '  three: { endpoint: spotSymbols, everyMs: 1000 }\n',
    )

    expect(problems.map(({ line }) => line)).toEqual([6, 7])
    expect([...names]).toEqual([['three', 'spotSymbols?']])
  })
})

describe('feeds of several strategies', () => {
  const feeds = (text: string) => plan(text).feeds
  const RATIO = 'endpoint: longShortRatio, params: { symbol: BTCUSDT }'

  test('that ask for the same are one, as often as the most eager wants it', () => {
    const slow = feeds(`  ratio: { ${RATIO}, everyMs: 60000 }\n`)
    const quick = feeds(`  mood: { ${RATIO}, everyMs: 2000 }\n`)
    const other = feeds(
      '  eth: { endpoint: longShortRatio, params: { symbol: ETHUSDT }, everyMs: 5000 }\n',
    )

    const merged = mergeFeeds([...slow, ...quick, ...other])

    expect(merged.map(({ id, everyMs }) => [id, everyMs])).toEqual([
      ['longShortRatio?symbol=BTCUSDT', 2000],
      ['longShortRatio?symbol=ETHUSDT', 5000],
    ])
  })

  test('[LIM1] that together ask more than the documented limit are refused', () => {
    const one = feeds(`  a: { ${RATIO}, everyMs: 1000 }\n`)
    const same = feeds(`  b: { ${RATIO}, everyMs: 1000 }\n`)
    const other = feeds(
      '  c: { endpoint: longShortRatio, params: { symbol: ETHUSDT }, everyMs: 2000 }\n',
    )

    expect(overloadedEndpoints([...one, ...same])).toEqual([])
    expect(overloadedEndpoints([...one, ...same, ...other])).toEqual([
      'the feeds of longShortRatio ask 1.5 calls in 1000 ms, the limit is 1',
    ])
  })
})
