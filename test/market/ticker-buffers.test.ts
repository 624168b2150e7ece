import { describe, expect, it } from 'vitest'
import { TickerBuffers, type TickerTable } from '../../src/domain/ticker-table.ts'

/** One read: fills the spare table and publishes it. */
function publishPrice(buffers: TickerBuffers, price: number): TickerTable {
  const table = buffers.spare()
  table.columns.lastPr[table.claimRow('BTCUSDT')] = price
  table.readAt = price
  buffers.publish(table)
  return table
}

describe('ticker buffers', () => {
  it('have nothing to look at before the first answer', () => {
    const buffers = new TickerBuffers()

    expect(buffers.current).toBeUndefined()
  })

  it('[MKT2] never fill the newest table: what is looked at stays what it was', () => {
    const buffers = new TickerBuffers()
    const newest = publishPrice(buffers, 100)

    const spare = buffers.spare()
    spare.claimRow('BTCUSDT')

    expect(spare).not.toBe(newest)
    expect(buffers.current?.read('BTCUSDT', 'lastPr')).toBe(100)
  })

  it('use two tables in turn', () => {
    const buffers = new TickerBuffers()

    const tables = [1, 2, 3, 4, 5].map((price) => publishPrice(buffers, price))

    expect(new Set(tables).size).toBe(2)
    expect(buffers.current?.read('BTCUSDT', 'lastPr')).toBe(5)
  })

  it('hand out the same table until it is published', () => {
    const buffers = new TickerBuffers()
    publishPrice(buffers, 1)

    const spare = buffers.spare()

    expect(buffers.spare()).toBe(spare)
    expect(buffers.current).not.toBe(spare)
  })

  it('refuse to publish a table that is not a spare', () => {
    const buffers = new TickerBuffers()
    const newest = publishPrice(buffers, 1)
    const foreign = new TickerBuffers().spare()

    expect(() => buffers.publish(newest)).toThrow(RangeError)
    expect(() => foreign && buffers.publish(foreign)).toThrow(RangeError)
  })
})
