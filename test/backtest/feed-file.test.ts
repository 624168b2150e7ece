import { afterAll, describe, expect, test } from 'vitest'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import {
  formatFeedFile,
  loadFeedFile,
  nameFeedFile,
  parseFeedFile,
} from '../../src/backtest/feed-file.ts'

const directory = mkdtempSync(join(tmpdir(), 'feed-file-'))
afterAll(() => rmSync(directory, { recursive: true }))

const FEED = 'longShortRatio?symbol=BTCUSDT'
const HEAD = JSON.stringify({ feed: FEED, format: 1 })
const AT = Date.UTC(2025, 5, 1)
const ratioAt = (at: number, ratio: string) => [{ ts: String(at), longShortRatio: ratio }]

function parse(...lines: readonly string[]) {
  return parseFeedFile(Buffer.from(lines.join('\n')), 'ratio.jsonl')
}

describe('a file of a feed', () => {
  test('gives back what was written, plain and gzipped', async () => {
    const readings = [
      { readAt: AT, data: ratioAt(AT - 5, '1.5') },
      { readAt: AT + 60_000, data: [{ ts: '1', note: undefined }] },
    ]
    const text = formatFeedFile(FEED, readings)
    writeFileSync(join(directory, 'a.jsonl'), text)
    writeFileSync(join(directory, 'b.jsonl.gz'), gzipSync(text))

    const [plain, packed] = await Promise.all(
      ['a.jsonl', 'b.jsonl.gz'].map((name) => loadFeedFile(join(directory, name))),
    )
    expect([plain?.feed, plain?.readAt, plain?.source]).toEqual([
      FEED,
      [AT, AT + 60_000],
      'a.jsonl',
    ])
    expect([0, 1].map((index) => plain?.reading(index))).toEqual(readings)
    expect(packed?.sha256).toBe(plain?.sha256)
  })

  test('may have instants as ISO 8601, and empty lines', () => {
    const file = parse(
      HEAD,
      '{"readAt":"2025-06-01T00:00:00Z","data":1}',
      '',
      '{"readAt":"2025-06-01T02:00:00+01:00","data":2}',
    )

    expect(file.readAt).toEqual([AT, AT + 3_600_000])
    expect(file.reading(1).data).toBe(2)
  })

  test.each([
    ['no head', ['{"readAt":1748736000000,"data":1}'], 1, 'does not name the request'],
    ['another format', ['{"feed":"x","format":2}'], 1, 'its format is 2'],
    ['no reading', [HEAD], 1, 'it holds no reading'],
    ['no JSON', [HEAD, '{"readAt":1748736000000,'], 2, 'this line is no reading'],
    ['no data', [HEAD, '{"readAt":1748736000000}'], 2, 'this line is no reading'],
    ['seconds', [HEAD, '', '{"readAt":1748736000,"data":1}'], 3, '`readAt` is no instant'],
    ['no zone', [HEAD, '{"readAt":"2025-06-01T00:00:00","data":1}'], 2, '`readAt` is no instant'],
    [
      'an instant twice',
      [HEAD, `{"readAt":${AT},"data":1}`, `{"readAt":${AT},"data":2}`],
      3,
      'not read after the line',
    ],
  ])('%s is refused with its line', (_, lines, line, problem) => {
    expect(() => parse(...lines)).toThrow(
      new RegExp(`FEED_DAMAGED[^]*ratio\\.jsonl[^]*line +${line}\\b[^]*${problem}`),
    )
  })

  test('[STR2] a row that is younger than its reading is refused: it would show the future', () => {
    const line = (readAt: number) =>
      JSON.stringify({ readAt, data: ratioAt(AT + 3_600_000, '1.5') })

    expect(() => parse(HEAD, line(AT))).toThrow(
      /a row's ts \(2025-06-01T01:00:00\.000Z\) lies after/,
    )
    expect(parse(HEAD, line(AT + 3_600_000)).readAt).toHaveLength(1)
  })

  test.each([
    ['in seconds', (at: number) => [{ ts: at / 1000 }]],
    ['as a date', (at: number) => ({ uTime: new Date(at).toISOString() })],
    ['below a list', (at: number) => ({ list: [{ cTime: String(at) }] })],
  ])('[STR2] so is one whose instant stands %s', (_, dataAt) => {
    const line = JSON.stringify({ readAt: AT, data: dataAt(AT + 9 * 3_600_000) })

    expect(() => parse(HEAD, line)).toThrow(/lies after `readAt`/)
  })

  test('is named after its request', () => {
    expect(nameFeedFile(FEED)).toBe('longShortRatio-symbol-BTCUSDT.feed.jsonl')
  })
})

test('a file of signals has their ids, or names each by its instant, and may say times of its own', () => {
  const later = String(AT + 86_400_000)
  const text = formatFeedFile('signal:tv', [{ readAt: AT, id: 'a', data: { ts: later } }])
  const file = parse(...text.trim().split('\n'), `{"readAt":${AT + 1},"data":{"ts":1}}`)
  expect([0, 1].map((index) => file.reading(index))).toEqual([
    { readAt: AT, id: 'a', data: { ts: later } },
    { readAt: AT + 1, id: String(AT + 1), data: { ts: 1 } },
  ])
})
