import { expect, test } from 'vitest'
import { YamlSource } from '../../src/config/yaml/yaml-source.ts'

/** A list of so many aliases under one anchor, a line each. */
function aliases(count: number): string {
  return `base: &base 1\nlist:\n${'  - *base\n'.repeat(count)}`
}

test('a hundred aliases are read', () => {
  expect(new YamlSource(aliases(100), 'a.yaml').check()).toEqual({ usable: true, problems: [] })
})

test.each([101, 8000, 18_000])(
  'of %d aliases the first too many is named, before any is resolved',
  (count) => {
    const { usable, problems } = new YamlSource(aliases(count), 'a.yaml').check()

    expect(usable).toBe(false)
    expect(problems).toEqual([
      {
        source: 'a.yaml',
        line: 103,
        column: 5,
        path: '',
        message: 'more than 100 aliases (*name) in one file',
      },
    ])
  },
)

test('an alias without its anchor is still named', () => {
  const { problems } = new YamlSource('one: *two\n', 'a.yaml').check()

  expect(problems[0]?.message).toBe('this alias (*name) has no anchor (&name) above it')
})
