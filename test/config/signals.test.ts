import { afterEach, beforeEach, expect, test } from 'vitest'
import { GRID, MAIN, Workspace } from './workspace.ts'

let workspace: Workspace
beforeEach(() => {
  workspace = new Workspace()
})
afterEach(() => workspace.remove())

const FIELDS = 'fields: { action: { type: oneOf, values: [long, short] } }'
const TV = `tv: { secretVariable: INTENTD_SIGNAL_TV, maxAgeMs: 60000, ${FIELDS} }`

/** The problems of the whole configuration with this section at its end, without their files. */
function complaints(lines: readonly string[], strategy = ''): readonly string[] {
  workspace.fill({
    'config/main.yaml': `${MAIN}${lines.join('\n')}\n`,
    'config/strategies/grid.yaml': `${GRID}${strategy}\n`,
  })
  return workspace.complain()
}

const section = (...signals: readonly string[]) => [
  'signals:',
  '  port: 8791',
  '  accept:',
  ...signals.map((one) => `    ${one}`),
]

test('a whole section is read, and a strategy reads what it takes', () => {
  const whole = `whole: { secretVariable: INTENTD_SIGNAL_B, secretField: key, idField: id, timeField: time, windowMs: 5000, maxAgeMs: 1000, perMinute: 600, fields: { price: { type: number, min: 0, max: 1 }, note: { type: text, optional: true }, isHard: { type: boolean } } }`
  expect(complaints(section(TV, whole), 'signals: [tv, whole]')).toEqual([])
})

test('[CFG1] what cannot be meant is reported, each in its place', () => {
  const lines = section(
    TV,
    `same: { secretVariable: INTENTD_SIGNAL_TV, maxAgeMs: 60000, ${FIELDS} }`,
    `many: { secretVariable: INTENTD_SIGNAL_M, maxAgeMs: 60000, perMinute: 600, windowMs: 3600000, ${FIELDS} }`,
    `own: { secretVariable: INTENTD_SIGNAL_O, maxAgeMs: 60000, secretField: action, idField: id, timeField: id, ${FIELDS} }`,
    'range: { secretVariable: INTENTD_SIGNAL_R, maxAgeMs: 60000, fields: { price: { type: number, min: 2, max: 1 } } }',
    'keyed: { secretVariable: OTHER, maxAgeMs: 60000, fields: { __proto__: { type: number }, at: { type: date } } }',
  )
  expect(complaints(['control: { port: 8791 }', ...lines], 'signals: [tv, tw, tv]'))
    .toMatchInlineSnapshot(`
    [
      "config/main.yaml:31:9 signals.port: 8791 is the port of control: take another one",
      "config/main.yaml:34:29 signals.accept.same.secretVariable: tv has the same: each signal has a secret of its own",
      "config/main.yaml:35:90 signals.accept.many.windowMs: 36000 signals could come within it, and 10000 are remembered: shorten it, or lower perMinute",
      "config/main.yaml:36:76 signals.accept.own.secretField: action has another meaning already: name another field",
      "config/main.yaml:36:108 signals.accept.own.timeField: id has another meaning already: name another field",
      "config/main.yaml:37:111 signals.accept.range.fields.price.max: 1 is below min 2",
      "config/main.yaml:38:30 signals.accept.keyed.secretVariable: expected the name of a variable such as "INTENTD_SIGNAL_TV", got a value that is not shown",
      "config/main.yaml:38:64 signals.accept.keyed.fields.__proto__: this cannot be a key",
      "config/main.yaml:38:105 signals.accept.keyed.fields.at.type: expected "number" or "text" or "oneOf" or "boolean", got "date"",
      "config/strategies/grid.yaml:11:15 signals.1: tw is not listed under signals.accept of the main file; did you mean tv?",
      "config/strategies/grid.yaml:11:19 signals.2: tv is named twice",
    ]
  `)
})

test('[CFG1] a name is a feed or a signal, and a main file without signals takes none', () => {
  const feed =
    'feeds: { tv: { endpoint: longShortRatio, params: { symbol: BTCUSDT }, everyMs: 1000 } }'
  expect(complaints(section(TV), `${feed}\nsignals: [tv]`)).toMatchInlineSnapshot(`
    [
      "config/strategies/grid.yaml:12:11 signals.0: tv is the name of a feed too: rename the feed",
    ]
  `)
  expect(complaints([], 'signals: [tv]')).toMatchInlineSnapshot(`
    [
      "config/strategies/grid.yaml:11:11 signals.0: tv is not listed under signals.accept of the main file; it takes none",
    ]
  `)
})
