import { expect, test } from 'vitest'
import { wrapForScreen, wrapWords } from '../../src/lib/text/wrap-words.ts'

test.each([
  ['one two three', 7, ['one two', 'three']],
  ['one two three', 13, ['one two three']],
  ['one', 2, ['one']],
  ['line\nbreaks \r\n  too', 20, ['line breaks too']],
  ['clears\u001B[2J the\tscreen', 40, ['clears [2J the screen']],
  ['a/long/path/of/a/file is', 8, ['a/long/path/of/a/file', 'is']],
])('%j in %d columns', (text, columns, lines) => {
  expect(wrapWords(text, columns)).toEqual(lines)
})

test('a line that does not fit goes on in the next one, below its own indent', () => {
  expect(wrapForScreen('short\n  hint  do this and then that', 18)).toBe(
    'short\n  hint  do this\n    and then that',
  )
})

test('a line that fits is left as it is', () => {
  expect(wrapForScreen('  a   b\n', 10)).toBe('  a   b\n')
})
