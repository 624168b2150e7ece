import { expect, test } from 'vitest'
import { cleanData, cleanLine, cleanLines } from '../../src/lib/text/clean-text.ts'
import { toCsvCell } from '../../src/lib/text/csv-cell.ts'
import { HiddenTexts, Secret } from '../../src/lib/secret.ts'

test.each([
  ['\u001B[2J\u001B[31;1mred\u001B[0m', 'red'],
  ['\u009B31mred', 'red'],
  ['\u001B]0;title\u0007text', 'text'],
  ['\u001B]8;;http://evil.example\u001B\\link\u001B]8;;\u001B\\', 'link'],
  ['\u001BP1$r0m\u001B\\text', 'text'],
  ['\u001Bctext\u001B(0', 'text'],
  ['done\r\n2026-01-01 INFO order.filled', 'done 2026-01-01 INFO order.filled'],
  ['a\rb\tc\u0085d\u2028e', 'a b c d e'],
  ['abc\b\b\bxyz\u0000\u007F', 'abcxyz'],
  ['\u202Egnp.exe\u202C\u2066x\u2069', 'gnp.exex'],
  ['pass\u200Bphrase\u00AD\uFEFF\u2060\u{E0041}', 'passphrase'],
  ['Straße 中文 €5 – “ok”', 'Straße 中文 €5 – “ok”'],
])('a terminal obeys nothing of %j', (text, clean) => {
  expect(cleanLine(text)).toBe(clean)
})

test('line breaks stay where lines are meant, and a carriage return never does', () => {
  expect(cleanLines('one\ntwo\r\nthree\rfour\u001B[1A')).toBe('one\ntwo\nthreefour')
})

test('data is cleaned in every part, and given back as it is where nothing was to do', () => {
  const plain = { a: [1, 'x', { b: null }], c: undefined }
  const odd = { 'n\u001B[1m': ['\u200Bx', { y: 'a\u202Eb' }], z: 1 }

  expect(cleanData(plain)).toBe(plain)
  expect(cleanData(odd)).toEqual({ n: ['x', { y: 'ab' }], z: 1 })
})

test('[SEC1] a secret is found after cleaning, whatever came between its letters', () => {
  const hidden = new HiddenTexts()
  hidden.add(new Secret('s3cret-passphrase'))
  const echoed = 's3\u200Bcret\u001B[0m-pass\u0000phr\u202Dase'

  expect(hidden.remove(cleanLine(`you sent ${echoed}`))).toBe('you sent [hidden]')
})

test.each([
  ['=HYPERLINK("http://evil.example","x")', `"'=HYPERLINK(""http://evil.example"",""x"")"`],
  ['+1+cmd|x', "'+1+cmd|x"],
  ['-2+3', "'-2+3"],
  ['@SUM(A1)', "'@SUM(A1)"],
  ['\t=1', "' =1"],
  ['\r=1', "' =1"],
  ['\u200B=1', "'=1"],
  ['＝1', "'＝1"],
  ['-0.5', '-0.5'],
  ['+1e-7', '+1e-7'],
  ['-.5', '-.5'],
  [-3, '-3'],
  ['a,b', '"a,b"'],
  ['a"b', '"a""b"'],
  ['a\nb', 'a b'],
  ['BTCUSDT', 'BTCUSDT'],
  ['', ''],
])('a spreadsheet computes nothing of %j', (value, cell) => {
  expect(toCsvCell(value)).toBe(cell)
})
