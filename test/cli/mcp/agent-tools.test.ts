import { expect, test } from 'vitest'
import type { z } from 'zod'
import { AGENT_TOOLS, toConfigWords, toolsFor } from '../../../src/cli/mcp/agent-tools.ts'
import { type Power, VERB_POWERS } from '../../../src/control/powers.ts'
import { createRandom } from '../../../src/lib/random.ts'

const CONFIG = toConfigWords({
  file: '/srv/trader/config/paper.yaml',
  set: ['onStop=leave'],
  strategies: '/srv/trader/drafts',
})

const namesFor = (...powers: readonly Power[]): readonly string[] =>
  toolsFor(new Set(powers)).map(({ name }) => name)

test('an assistant that may look gets tools that change nothing', () => {
  expect(namesFor('look')).toEqual([
    'status',
    'positions',
    'orders',
    'fills',
    'trades',
    'profit',
    'explain',
    'whatif',
    'instruments',
    'universe',
    'check',
    'plan',
  ])
  expect(namesFor('look', 'safer').slice(-5)).toEqual([
    'restrict',
    'flatten',
    'close',
    'cancel',
    'kill',
  ])
  expect(namesFor('look', 'research').slice(-4)).toEqual([
    'backtest',
    'sweep',
    'check_bias',
    'test',
  ])
  expect(
    toolsFor(new Set<Power>(['research']), { strategies: '/srv/drafts' }).map(({ name }) => name),
  ).toContain('new_strategy')
  expect(namesFor('riskier')).toEqual(['release', 'adopt', 'reload'])
})

test('no tool confirms, and none has a place for a code', () => {
  const verbs: readonly string[] = AGENT_TOOLS.map(({ verb }) => verb)
  for (const [verb, power] of Object.entries(VERB_POWERS))
    if (power === 'confirm' || power === 'machine') expect(verbs).not.toContain(verb)
  for (const { name, input } of AGENT_TOOLS) {
    expect(name).not.toMatch(/confirm|pair|code/)
    const { shape } = input as z.ZodObject
    expect(Object.keys(shape).filter((key) => /code|otp|token|secret|proposal/i.test(key))).toEqual(
      [],
    )
  }
})

/** A text that somebody might try to slip in, or a plausible one. */
const TEXTS = [
  'BTCUSDT',
  'strategy:grid-btc',
  '*',
  '7d',
  '2025-06-01',
  'fills of today',
  '--config=/etc/passwd',
  '-c',
  '--set=strategies=["/tmp/x.yaml"]',
  '../.env',
  '.env',
  '/etc/shadow',
  'prices/../../.env.csv',
  'prices/.hidden.csv',
  'BTCUSDT=/etc/passwd.csv',
  'prices/btc.csv',
  'sweeps/grid.yaml',
  '/etc/passwd.yaml',
  'sweeps/../../x.yaml',
  'BTCUSDT=prices/btc.csv',
  'grid.levels=4',
  'mine',
  'trend',
  '../mine',
  '--unclaimed',
  '$(reboot)',
  'a\n--release',
  '-10%',
  'BTCUSDT=-20%',
  '',
  'x'.repeat(5000),
]

test('whatever 20,000 calls ask for, a command line has the words that the tool knows, and no option slips in', () => {
  const random = createRandom('mcp')
  const pick = <Value>(values: readonly Value[]): Value =>
    values[Math.floor(random.next() * values.length)] as Value
  const OPTION =
    /^--(?:json|no-secrets|fill-all|(?:config|set|symbol|strategy|since|until|limit|by|move|market|days|from|to|params?|seed|model|trial|jobs|reason|to|dir|like)=[^]*)$/
  let taken = 0

  for (let call = 0; call < 20_000; call++) {
    const tool = pick(AGENT_TOOLS)
    const shape = (tool.input as z.ZodObject).shape
    const given = Object.fromEntries(
      Object.keys(shape).flatMap((key) => {
        const value: unknown = pick([
          undefined,
          pick(TEXTS),
          [pick(TEXTS)],
          pick([0, 1, 30, -1, 1e9, 0.5]),
          'halted',
          true,
        ])
        return value === undefined ? [] : [[key, value]]
      }),
    )
    const parsed = tool.input.safeParse(given)
    if (!parsed.success) continue
    taken += 1
    const rest = tool.words(parsed.data, CONFIG)
    for (const word of rest) {
      if (word.startsWith('-')) expect(word).toMatch(OPTION)
      else
        expect(word).toMatch(
          /^(?:\/srv\/trader\/config\/paper\.yaml|\/srv\/trader\/drafts\/[a-z][a-z0-9-]*\.(?:paper\.yaml|test\.ts)|\d{1,3}(?:\.\d{1,4})?%|[A-Za-z0-9*_][\w*:.#@/-]{0,199})$/,
        )
      expect(word).not.toMatch(/^--(?:market|params)=.*(?:\.\.|=\/|\/\.|=\.)/)
    }
    const isDraft = 'draft' in given && given['draft'] !== undefined
    if (isDraft)
      for (const word of rest.filter((one) => one.startsWith('--config=')))
        expect(word).toMatch(/^--config=\/srv\/trader\/drafts\/[a-z][a-z0-9-]*\.paper\.yaml$/)
    else
      expect(rest.filter((word) => /^--(?:config|set)=/.test(word))).toEqual(
        rest.filter((word) => CONFIG.asOption.includes(word)),
      )
    for (const word of rest.filter((one) => one.startsWith('--dir=')))
      expect(word).toBe('--dir=/srv/trader/drafts')
  }

  expect(taken).toBeGreaterThan(2000)
})
