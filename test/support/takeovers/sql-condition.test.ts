import { expect, test } from 'vitest'
import { evaluateSql } from './sql-condition.ts'

const VALUES = {
  'before.released': false,
  'before.at': 1000,
  place: 'here',
  gone: null,
  $1: 7,
  token: 7,
}

test.each([
  ['token = $1 AND NOT before.released AND gone IS NULL', true],
  ['token = $1 - 1 OR gone IS NOT NULL', false],
  [
    "CASE WHEN place <> place THEN '-infinity' WHEN token = 7 THEN before.at + interval '30 seconds' ELSE 0 END",
    31_000,
  ],
  ['CASE WHEN before.released OR (token = 6) THEN 1 ELSE before.at END', 1000],
] as const)('a condition comes to what it does on a server: %s', (sql, value) => {
  expect(evaluateSql(sql, VALUES)).toBe(value)
})

test.each([
  'elsewhere = 1',
  'token = 7 token',
  'coalesce(token, 1) = 7',
  'CASE WHEN token = 7 THEN 1 END',
])('what it does not know throws: %s', (sql) => {
  expect(() => evaluateSql(sql, VALUES)).toThrow('the model of the server does not know')
})
