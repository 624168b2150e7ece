import { expect, test } from 'vitest'
import { TickerTable } from '../../src/domain/ticker-table.ts'

function fill(table: TickerTable, symbols: readonly string[]): void {
  table.clear()
  for (const symbol of symbols)
    table.columns.lastPr[table.claimRow(symbol)] = Number(symbol.slice(1))
}

test('a symbol that an answer leaves out has no row, whatever stood there before', () => {
  const table = new TickerTable(3)
  fill(table, ['S1', 'S2', 'S3'])
  fill(table, ['S3', 'S1'])

  expect(table.symbols).toEqual(['S3', 'S1'])
  expect(['S1', 'S2', 'S3'].map((symbol) => table.rowOf(symbol))).toEqual([1, -1, 0])
  expect(['S1', 'S2', 'S3'].map((symbol) => table.read(symbol, 'lastPr'))).toEqual([
    1,
    Number.NaN,
    3,
  ])
  expect(table.claimRow('S1')).toBe(1)
})

test('[BND1] it takes as many symbols at a time as it has rows, and any number one after the other', () => {
  const table = new TickerTable(2)
  for (let number = 1; number < 100; number++) {
    fill(table, [`S${number}`, `S${number + 1}`])
    expect(table.read(`S${number + 1}`, 'lastPr')).toBe(number + 1)
    expect(table.rowOf(`S${number - 1}`)).toBe(-1)
  }
  expect(() => table.claimRow('S0')).toThrow(RangeError)
})
