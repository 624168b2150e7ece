import { describe, expect, it } from 'vitest'
import { type TickerTable } from '../../src/domain/ticker-table.ts'
import { TickerBuffers } from '../../src/market/ticker-buffers.ts'

/** One read: fills the spare table and publishes it. */
function publishPrice(buffers: TickerBuffers, price: number): TickerTable {
  const table = buffers.spare()
  if (table === undefined) throw new Error('no spare table')
  table.columns.lastPr[table.claimRow('BTCUSDT')] = price
  table.readAt = price
  buffers.publish(table)
  return table
}

describe('ticker buffers', () => {
  it('have nothing to look at before the first answer', () => {
    const buffers = new TickerBuffers()

    expect(buffers.current).toBeUndefined()
    expect(buffers.lend()).toBeUndefined()
  })

  it('[MKT2] never fill the newest table: what is looked at stays what it was', () => {
    const buffers = new TickerBuffers()
    const newest = publishPrice(buffers, 100)

    const spare = buffers.spare()
    spare?.claimRow('BTCUSDT')

    expect(spare).not.toBe(newest)
    expect(buffers.current?.read('BTCUSDT', 'lastPr')).toBe(100)
  })

  it('use two tables in turn while nobody holds one', () => {
    const buffers = new TickerBuffers()

    const tables = [1, 2, 3, 4, 5].map((price) => publishPrice(buffers, price))

    expect(new Set(tables).size).toBe(2)
    expect(buffers.current?.read('BTCUSDT', 'lastPr')).toBe(5)
  })

  it('[MKT2] leave a lent table alone, however many answers come in', () => {
    const buffers = new TickerBuffers()
    publishPrice(buffers, 1)
    const lease = buffers.lend()

    for (const price of [2, 3, 4, 5]) publishPrice(buffers, price)

    expect(lease?.tickers.read('BTCUSDT', 'lastPr')).toBe(1)
    expect(buffers.current?.read('BTCUSDT', 'lastPr')).toBe(5)
  })

  it('have no spare while readers hold all the others, and one again when a lease is given back', () => {
    const buffers = new TickerBuffers()
    publishPrice(buffers, 1)
    const first = buffers.lend()
    publishPrice(buffers, 2)
    const second = buffers.lend()
    publishPrice(buffers, 3)

    expect(buffers.spare()).toBeUndefined()
    second?.giveBack()

    expect(buffers.spare()).toBe(second?.tickers)
    expect(first?.tickers.read('BTCUSDT', 'lastPr')).toBe(1)
  })

  it('count each lease once, however often it is given back', () => {
    const buffers = new TickerBuffers()
    publishPrice(buffers, 1)
    const twice = buffers.lend()
    const other = buffers.lend()

    twice?.giveBack()
    twice?.giveBack()
    publishPrice(buffers, 2)

    expect(buffers.spare()).not.toBe(other?.tickers)
  })

  it('hand out an empty table, whatever an earlier or unfinished answer left in it', () => {
    const buffers = new TickerBuffers()
    publishPrice(buffers, 1)
    publishPrice(buffers, 2)

    const spare = buffers.spare()

    expect(spare?.symbols).toEqual([])
    expect(spare?.readAt).toBe(0)
    expect(spare?.columns.lastPr[spare.claimRow('ETHUSDT')]).toBeNaN()
    expect(buffers.spare()).toBe(spare)
    expect(spare?.symbols).toEqual([])
  })

  it('refuse to publish a table that is not a spare', () => {
    const buffers = new TickerBuffers()
    const newest = publishPrice(buffers, 1)
    const foreign = new TickerBuffers().spare()

    expect(() => buffers.publish(newest)).toThrow(RangeError)
    expect(() => foreign && buffers.publish(foreign)).toThrow(RangeError)
  })
})
